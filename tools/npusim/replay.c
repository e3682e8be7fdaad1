// SPDX-License-Identifier: MIT
/* Finds tests in directories, plays them, and prints a line for each. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "player.h"
#include "replay_table.h"

/* The last component of a path, and the one before it, in buffers of @size. */
static void path_tail(const char *path, char *name, char *parent, size_t size)
{
	size_t n = strlen(path), end, start;

	while (n > 1 && path[n - 1] == '/')
		n--;
	end = n;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	snprintf(name, size, "%.*s", (int)(end - start), path + start);
	while (start > 0 && path[start - 1] == '/')
		start--;
	end = start;
	for (; start > 0 && path[start - 1] != '/'; start--)
		;
	snprintf(parent, size, "%.*s", (int)(end - start), path + start);
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
 */
struct run {
	const struct npusim_replay_options *options;
	FILE *out;
	u32 passed, failed;
	struct replay_table table; /* of the configuration at hand */
	struct replay_errors errors;
};

static void print_timing(struct run *run, const struct player *p, const struct replay_row *row,
			 const char *config, const char *name, bool trace)
{
	u64 started = trace ? p->last_enable : p->first_enable;
	u64 model = p->ended > started ? p->ended - started : 0;

	if (!run->options->timing || !row || row->cycles <= 0)
		return;
	fprintf(run->out, "# %s/%s measured %lld model %llu error %+.1f %%\n", config, name,
		row->cycles, (unsigned long long)model,
		100.0 * ((double)model - (double)row->cycles) / (double)row->cycles);
	replay_errors_add(&run->errors, config, (double)row->cycles, (double)model);
}

static int play_test(struct run *run, const char *dir, const char *script, bool trace)
{
	char name[256], parent[256], path[4096];
	const struct nvdla_config *config;
	const struct replay_row *row;
	struct player p;
	int error;

	path_tail(dir, name, parent, sizeof(name));
	config = nvdla_config_find(run->options->config ? run->options->config : parent);
	if (!config) {
		fprintf(run->out, "not ok %u - %s/%s # no configuration of that name\n",
			run->passed + ++run->failed, parent, name);
		return 0;
	}
	error = player_open(&p, config, dir, script);
	if (error) {
		player_close(&p);
		return error;
	}
	p.check = true;
	p.keep = run->options->keep;
	if (player_path(path, sizeof(path), dir, script)) {
		if (trace)
			trace_play(&p, path);
		else
			script_play(&p, path);
	}
	row = replay_table_find(&run->table, dir, config->name, name);
	check_bytes(&p, row);
	if (npusim_fault(p.sim)->error)
		player_fail(&p, "%s", npusim_diagnosis(p.sim));
	if (p.reason[0])
		fprintf(run->out, "not ok %u - %s/%s # %s\n", run->passed + ++run->failed,
			config->name, name, p.reason);
	else
		fprintf(run->out, "ok %u - %s/%s\n", ++run->passed + run->failed, config->name,
			name);
	fflush(run->out);
	print_timing(run, &p, row, config->name, name, trace);
	player_close(&p);
	return 0;
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

	if (options->timing)
		replay_errors_print(&run.errors, run.out);
	replay_table_clear(&run.table);
	replay_errors_clear(&run.errors);
	*passed = run.passed;
	*failed = run.failed;
	return error;
}

int npusim_run_script(const struct npusim_replay_options *options, const char *path)
{
	char dir[4096], name[256], parent[256];
	const char *slash = strrchr(path, '/');
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
	error = player_open(&p, config, dir, path);
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
	fflush(p.log_file);
	if (p.log && p.log[0] && p.out)
		fputs(p.log, p.out);
	if (npusim_fault(p.sim)->error)
		player_fail(&p, "%s", npusim_diagnosis(p.sim));
	if (p.reason[0]) {
		fprintf(stderr, "npusim: %s\n", p.reason);
		error = error ? error : -EIO;
	}
	player_close(&p);
	return error;
}
