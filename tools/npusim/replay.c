// SPDX-License-Identifier: MIT
/* Finds tests in directories, plays them, and prints a line for each. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "player.h"
#include "replay_table.h"

/*
 * The last component of the directory's own path, and the one before it, in buffers of @size: "." and
 * ".." have names too.
 */
static void path_tail(const char *dir, char *name, char *parent, size_t size)
{
	char *path = realpath(dir, NULL);
	char *last = path ? strrchr(path, '/') : NULL, *before = NULL;

	if (last) {
		*last++ = '\0';
		before = strrchr(path, '/');
	}
	snprintf(name, size, "%s", last ? last : dir);
	snprintf(parent, size, "%s", before ? before + 1 : "");
	free(path);
}

static bool is_file(const char *dir, const char *name)
{
	char path[4096];
	struct stat st;

	return player_path(path, sizeof(path), dir, name) && !stat(path, &st) &&
	       S_ISREG(st.st_mode);
}

/* The script of a test directory, run.nv or the first *.cfg; false where there is none. */
static bool find_script(const char *dir, char *script, size_t size, bool *trace)
{
	struct dirent *e;
	DIR *d;
	bool found = false;

	*trace = false;
	if (is_file(dir, "run.nv")) {
		snprintf(script, size, "run.nv");
		return true;
	}
	d = opendir(dir);
	if (!d)
		return false;
	while (!found && (e = readdir(d))) {
		size_t n = strlen(e->d_name);

		if (n > 4 && n < size && strcmp(e->d_name + n - 4, ".cfg") == 0) {
			memcpy(script, e->d_name, n + 1);
			*trace = found = true;
		}
	}
	closedir(d);
	return found;
}

/* Bytes must be those of the table, where it has the test. */
static void check_bytes(struct player *p, const struct replay_row *row)
{
	struct npusim_counters c;
	u64 read, written;

	if (!row || row->read_bytes < 0)
		return;
	npusim_counters(p->sim, &c);
	read = npusim_bytes_read(&c);
	written = npusim_bytes_written(&c);
	if (read != (u64)row->read_bytes || written != (u64)row->write_bytes)
		player_fail(p, "bytes read %llu written %llu, not %lld and %lld",
			    (unsigned long long)read, (unsigned long long)written, row->read_bytes,
			    row->write_bytes);
}

/**
 * struct run - the state of one replay
 * @table, @timing: measured figures of the directory at hand
 */
struct run {
	const struct npusim_replay_options *options;
	FILE *out;
	u32 passed, failed;
	struct replay_table table;
	struct replay_table timing;
	struct replay_errors errors;
};

/**
 * struct test - one test directory
 */
struct test {
	const char *dir;
	const char *script;
	bool trace;
	char name[256], parent[256];
	const struct nvdla_config *config;
};

/* Cycles of traces were taken when the script had seen and cleared the interrupt. */
#define TRACE_HANDLED 17

static u64 model_cycles(const struct player *p, bool trace)
{
	u64 started = trace ? p->last_enable : p->first_enable;

	if (p->ended <= started)
		return 0;
	return p->ended - started + (trace ? TRACE_HANDLED : 0);
}

static void print_timing(struct run *run, const struct test *t, const struct replay_row *row,
			 u64 model)
{
	fprintf(run->out, "# %s/%s%s%s measured %lld model %llu error %+.1f %%\n", t->config->name,
		t->name, row->dram[0] ? " " : "", row->dram, row->cycles, (unsigned long long)model,
		100.0 * ((double)model - (double)row->cycles) / (double)row->cycles);
	replay_errors_add(&run->errors, t->config->name, (double)row->cycles, (double)model);
}

/* Play into @p, which the caller closes. */
static int play(struct player *p, const struct test *t, const struct npusim_options *options,
		const char *keep)
{
	char path[4096];
	int error = player_open(p, options, t->dir, t->script);

	if (error)
		return error;
	p->check = true;
	p->keep = keep;
	if (!player_path(path, sizeof(path), t->dir, t->script))
		player_fail(p, "bad file name");
	else if (t->trace)
		trace_play(p, path);
	else
		script_play(p, path);
	if (npusim_fault(p->sim)->error)
		player_fail(p, "%s", npusim_diagnosis(p->sim));
	return 0;
}

/* The memory of a row of TIMING.tsv: "rlat8" or "bpc2"; false where it is the usual one. */
static bool dram_options(const struct replay_row *row, struct npusim_options *options)
{
	u32 n;

	if (sscanf(row->dram, "rlat%u", &n) == 1 && n != 32)
		options->read_latency = n;
	else if (sscanf(row->dram, "bpc%u", &n) == 1)
		options->bytes_per_cycle = n;
	else
		return false;
	return true;
}

/* The same test under other memory settings. */
static int play_dram(struct run *run, const struct test *t)
{
	u32 i;

	replay_table_timing(&run->timing, t->dir);
	for (i = 0; i < run->timing.count; i++) {
		const struct replay_row *row = &run->timing.row[i];
		struct npusim_options options = { .config = t->config };
		struct player p;
		int error;

		if (strcmp(row->name, t->name) != 0 || !dram_options(row, &options))
			continue;
		error = play(&p, t, &options, NULL);
		if (!error)
			print_timing(run, t, row, model_cycles(&p, t->trace));
		player_close(&p);
		if (error)
			return error;
	}
	return 0;
}

static int play_test(struct run *run, const char *dir, const char *script, bool trace)
{
	struct test t = { .dir = dir, .script = script, .trace = trace };
	struct npusim_options options = { 0 };
	const struct replay_row *row;
	struct player p;
	int error;

	path_tail(dir, t.name, t.parent, sizeof(t.name));
	t.config = nvdla_config_find(run->options->config ? run->options->config : t.parent);
	if (!t.config) {
		run->failed++;
		fprintf(run->out, "not ok %u - %s/%s # no configuration of that name\n",
			run->passed + run->failed, t.parent, t.name);
		return 0;
	}
	options.config = t.config;
	error = play(&p, &t, &options, run->options->keep);
	if (error) {
		player_close(&p);
		return error;
	}
	row = replay_table_find(&run->table, dir, t.config->name, t.name);
	check_bytes(&p, row);
	if (p.reason[0]) {
		run->failed++;
		fprintf(run->out, "not ok %u - %s/%s # %s\n", run->passed + run->failed,
			t.config->name, t.name, p.reason);
	} else {
		run->passed++;
		fprintf(run->out, "ok %u - %s/%s\n", run->passed + run->failed, t.config->name,
			t.name);
	}
	fflush(run->out);
	if (run->options->timing && row && row->cycles > 0)
		print_timing(run, &t, row, model_cycles(&p, trace));
	player_close(&p);
	return run->options->timing ? play_dram(run, &t) : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a directory, sorted; NULL-terminated, to be freed with its strings. */
static char **list(const char *dir, u32 *count)
{
	char **names = NULL, **more;
	u32 n = 0, capacity = 0;
	struct dirent *e;
	DIR *d = opendir(dir);

	*count = 0;
	if (!d)
		return NULL;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (n == capacity) {
			capacity = capacity ? capacity * 2 : 64;
			more = realloc(names, capacity * sizeof(*names));
			if (!more)
				break;
			names = more;
		}
		names[n] = strdup(e->d_name);
		if (names[n])
			n++;
	}
	closedir(d);
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	*count = n;
	return names;
}

static int walk(struct run *run, const char *dir, u32 depth)
{
	char script[256], path[4096];
	struct stat st;
	bool trace;
	char **names;
	u32 count, i;
	int error = 0;

	if (find_script(dir, script, sizeof(script), &trace))
		return play_test(run, dir, script, trace);
	if (depth == 0)
		return 0;
	names = list(dir, &count);
	if (!names && depth == 4)
		error = -ENOENT;
	for (i = 0; i < count; i++) {
		if (!error && player_path(path, sizeof(path), dir, names[i]) && !stat(path, &st) &&
		    S_ISDIR(st.st_mode))
			error = walk(run, path, depth - 1);
		free(names[i]);
	}
	free(names);
	return error;
}

int npusim_replay(const struct npusim_replay_options *options, const char *dir, u32 *passed,
		  u32 *failed)
{
	struct run run = {
		.options = options, .out = options->out, .passed = *passed, .failed = *failed
	};
	int error = walk(&run, dir, 4);

	if (error == -ENOENT || (!error && run.passed + run.failed == *passed + *failed)) {
		run.failed++;
		fprintf(run.out, "not ok %u - %s # no test there\n", run.passed + run.failed, dir);
		error = 0;
	}
	if (options->timing)
		replay_errors_print(&run.errors, run.out);
	replay_table_clear(&run.table);
	replay_table_clear(&run.timing);
	replay_errors_clear(&run.errors);
	*passed = run.passed;
	*failed = run.failed;
	return error;
}

int npusim_run_script(const struct npusim_replay_options *options, const char *path)
{
	char dir[4096], name[256], parent[256];
	const char *slash = strrchr(path, '/');
	struct npusim_options sim_options = { 0 };
	const struct nvdla_config *config;
	struct player p;
	size_t n;
	int error;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	path_tail(dir, name, parent, sizeof(name));
	config = nvdla_config_find(options->config ? options->config : parent);
	if (!config && !options->config)
		config = nvdla_config_find("nv_small");
	if (!config) {
		fprintf(stderr, "npusim: no configuration '%s'\n", options->config);
		return -EINVAL;
	}
	sim_options.config = config;
	error = player_open(&p, &sim_options, dir, path);
	if (error) {
		player_close(&p);
		return error;
	}
	p.out = options->out;
	p.keep = options->keep;
	p.check = !options->keep;
	n = strlen(path);
	if (n > 4 && strcmp(path + n - 4, ".cfg") == 0)
		error = trace_play(&p, path);
	else
		error = script_play(&p, path);
	if (npusim_fault(p.sim)->error)
		player_fail(&p, "%s", npusim_diagnosis(p.sim));
	if (p.reason[0]) {
		fprintf(stderr, "npusim: %s\n", p.reason);
		error = error ? error : -EIO;
	}
	player_close(&p);
	return error;
}
