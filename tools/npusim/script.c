// SPDX-License-Identifier: MIT
/*
 * The script dialect of the golden vectors: load, fill, zero, w, r, poll, wait_intr, run,
 * cycles, mark, dump.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "player.h"
#include "save.h"

#define WORDS_MAX 8
#define CHUNK (1u << 16)

struct command {
	const char *name;
	u32 args;
	int (*run)(struct player *p, char **word);
};

static int number(struct player *p, const char *word, u64 *out)
{
	char *end;

	errno = 0;
	*out = strtoull(word, &end, 0);
	if (errno || end == word || *end || *word == '-')
		return player_error(p, "'%s' is not a number", word);
	return 0;
}

static int number32(struct player *p, const char *word, u32 *out)
{
	u64 value;
	int error = number(p, word, &value);

	*out = 0;
	if (error)
		return error;
	if (value > UINT32_MAX)
		return player_error(p, "'%s' does not fit 32 bits", word);
	*out = (u32)value;
	return 0;
}

static int do_load(struct player *p, char **word)
{
	char path[4096];
	u64 addr;
	size_t size;
	u8 *data;
	int error = number(p, word[1], &addr);

	if (error)
		return error;
	if (!player_path(path, sizeof(path), p->dir, word[2]))
		return player_error(p, "bad file name '%s'", word[2]);
	data = player_file(path, &size);
	if (!data)
		return player_error(p, "cannot read %s: %s", path, strerror(errno));
	error = sparse_write(p->mem, addr, data, size);
	free(data);
	return error ? player_error(p, "out of memory") : 0;
}

static int fill(struct player *p, const char *addr_word, const char *len_word, u32 byte)
{
	u64 addr, len;

	if (number(p, addr_word, &addr) || number(p, len_word, &len))
		return -EINVAL;
	if (len > PLAYER_MAX_BYTES)
		return player_error(p, "more than 1 GiB to fill");
	return sparse_fill(p->mem, addr, len, (u8)byte) ? player_error(p, "out of memory") : 0;
}

static int do_fill(struct player *p, char **word)
{
	u32 byte;

	return number32(p, word[3], &byte) ? -EINVAL : fill(p, word[1], word[2], byte);
}

static int do_zero(struct player *p, char **word)
{
	return fill(p, word[1], word[2], 0);
}

static int do_write(struct player *p, char **word)
{
	u32 reg, value;

	if (number32(p, word[1], &reg) || number32(p, word[2], &value))
		return -EINVAL;
	player_write(p, reg, value);
	return 0;
}

static int do_read(struct player *p, char **word)
{
	u32 reg, value;

	if (number32(p, word[1], &reg))
		return -EINVAL;
	value = npusim_read(p->sim, reg);
	fprintf(p->log_file, "r 0x%04x = 0x%08x\n", reg, value);
	if (p->out)
		fprintf(p->out, "r 0x%04x = 0x%08x\n", reg, value);
	return 0;
}

/* Is there a file of what the script is expected to print? */
static bool has_expected_log(const struct player *p)
{
	char path[4096];

	return player_path(path, sizeof(path), p->dir, "expect.txt") && !access(path, R_OK);
}

static int timeout(struct player *p, const char *what, u32 mask)
{
	const char *why = npusim_diagnosis(p->sim);

	if (!why[0])
		why = "no unit is at work";
	if (p->check && !has_expected_log(p))
		player_fail(p, "line %u: %s never ends: %s", p->line, what, why);
	fprintf(p->log_file, "TIMEOUT %s 0x%x\n", what, mask);
	if (p->out)
		fprintf(p->out, "TIMEOUT %s 0x%x # %s\n", what, mask, why);
	return 0;
}

static int do_poll(struct player *p, char **word)
{
	u32 reg, mask, value;

	if (number32(p, word[1], &reg) || number32(p, word[2], &mask) ||
	    number32(p, word[3], &value))
		return -EINVAL;
	return player_poll(p, reg, mask, value) ? 0 : timeout(p, "poll", mask);
}

static int do_wait(struct player *p, char **word)
{
	u32 mask;

	if (number32(p, word[1], &mask))
		return -EINVAL;
	if (!player_await(p, mask))
		return timeout(p, "wait_intr", mask);
	npusim_write(p->sim, NVDLA_GLB_S_INTR_STATUS, mask);
	return 0;
}

static int do_run(struct player *p, char **word)
{
	u64 cycles;

	if (number(p, word[1], &cycles))
		return -EINVAL;
	npusim_run(p->sim, cycles);
	return 0;
}

static int do_cycles(struct player *p, char **word)
{
	if (p->out)
		fprintf(p->out, "cycles %llu\n", (unsigned long long)npusim_now(p->sim));
	return 0;
}

/* Cycles and bytes since the mark before. */
static int do_mark(struct player *p, char **word)
{
	u64 cycles = npusim_now(p->sim), read, written;
	struct npusim_counters c;

	npusim_counters(p->sim, &c);
	read = npusim_bytes_read(&c);
	written = npusim_bytes_written(&c);
	if (p->out)
		fprintf(p->out, "mark %s cycles %llu read %llu write %llu\n", word[1],
			(unsigned long long)(cycles - p->marked_cycles),
			(unsigned long long)(read - p->marked_read),
			(unsigned long long)(written - p->marked_written));
	p->marked_cycles = cycles;
	p->marked_read = read;
	p->marked_written = written;
	return 0;
}

/* "out0.out.bin" is compared with "out0.expect.bin". */
static bool expect_path(struct player *p, const char *name, char *path, size_t size)
{
	char stem[256];
	size_t n = strlen(name);

	if (n > 8 && strcmp(name + n - 8, ".out.bin") == 0)
		n -= 8;
	if (n + sizeof(".expect.bin") > sizeof(stem))
		return false;
	memcpy(stem, name, n);
	strcpy(stem + n, ".expect.bin");
	return player_path(path, size, p->dir, stem);
}

static void compare(struct player *p, const char *name, const u8 *got, const u8 *want, u64 len)
{
	u64 i, first = len, count = 0;

	for (i = 0; i < len; i++)
		if (got[i] != want[i]) {
			first = count++ ? first : i;
		}
	if (count)
		player_fail(p, "%s: %llu of %llu bytes differ, first at %llu: 0x%02x, not 0x%02x",
			    name, (unsigned long long)count, (unsigned long long)len,
			    (unsigned long long)first, got[first], want[first]);
}

static void keep_dump(struct player *p, const char *name, const u8 *data, size_t len)
{
	char path[4096];
	int error;

	if (!player_path(path, sizeof(path), p->keep, name)) {
		player_fail(p, "bad file name %s", name);
		return;
	}
	if (mkdir(p->keep, 0777) && errno != EEXIST) {
		player_fail(p, "%s: %s", p->keep, strerror(errno));
		return;
	}
	error = npusim_save(path, data, len);
	if (error)
		player_fail(p, "%s: %s", path, strerror(-error));
}

static void check_dump(struct player *p, const char *name, const u8 *got, u64 len)
{
	char path[4096];
	size_t size;
	u8 *want;

	if (!expect_path(p, name, path, sizeof(path))) {
		player_fail(p, "bad file name %s", name);
		return;
	}
	want = player_file(path, &size);
	if (!want)
		player_fail(p, "%s: %s", path, strerror(errno));
	else if (size != len)
		player_fail(p, "%s: %zu bytes expected, %llu dumped", name, size,
			    (unsigned long long)len);
	else
		compare(p, name, got, want, len);
	free(want);
}

static int do_dump(struct player *p, char **word)
{
	u64 addr, len;
	u8 *got;

	if (number(p, word[1], &addr) || number(p, word[2], &len))
		return -EINVAL;
	if (len > PLAYER_MAX_BYTES)
		return player_error(p, "dump of more than 1 GiB");
	got = malloc(len ? (size_t)len : 1);
	if (!got || sparse_read(p->mem, addr, got, (size_t)len)) {
		free(got);
		return player_error(p, "out of memory");
	}
	if (p->keep)
		keep_dump(p, word[3], got, (size_t)len);
	if (p->check)
		check_dump(p, word[3], got, len);
	free(got);
	return 0;
}

static const struct command commands[] = {
	{ "load", 2, do_load }, { "fill", 3, do_fill },	     { "zero", 2, do_zero },
	{ "w", 2, do_write },	{ "r", 1, do_read },	     { "poll", 3, do_poll },
	{ "run", 1, do_run },	{ "wait_intr", 1, do_wait }, { "cycles", 0, do_cycles },
	{ "mark", 1, do_mark }, { "dump", 3, do_dump },
};

/* Cut a line into words, up to a comment; -1 when there are too many. */
static int split(char *line, char **word)
{
	int n = 0;

	for (;;) {
		while (isspace((unsigned char)*line))
			line++;
		if (!*line || *line == '#')
			return n;
		if (n == WORDS_MAX)
			return -1;
		word[n++] = line;
		while (*line && !isspace((unsigned char)*line))
			line++;
		if (*line)
			*line++ = '\0';
	}
}

static int run_line(struct player *p, char *line)
{
	char *word[WORDS_MAX];
	int n = split(line, word);
	u32 i;

	if (n == 0)
		return 0;
	if (n < 0)
		return player_error(p, "too many words");
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, word[0]) != 0)
			continue;
		if ((u32)n != commands[i].args + 1)
			return player_error(p, "%s takes %u arguments", word[0], commands[i].args);
		return commands[i].run(p, word);
	}
	return player_error(p, "unknown command '%s'", word[0]);
}

/* What was read must be what the hardware printed; a TIMEOUT line only by its first word. */
static void check_log(struct player *p)
{
	char path[4096], *want, *a, *b, *save_a = NULL, *save_b = NULL;
	size_t size;

	fflush(p->log_file);
	if (!player_path(path, sizeof(path), p->dir, "expect.txt"))
		return;
	want = (char *)player_file(path, &size);
	if (!want)
		return;
	b = realloc(want, size + 1);
	if (!b) {
		free(want);
		return;
	}
	want = b;
	want[size] = '\0';
	a = strtok_r(p->log, "\n", &save_a);
	b = strtok_r(want, "\n", &save_b);
	while (a || b) {
		bool same = a && b &&
			    (strcmp(a, b) == 0 ||
			     (!strncmp(a, "TIMEOUT", 7) && !strncmp(b, "TIMEOUT", 7)));
		if (!same) {
			player_fail(p, "printed '%s', expected '%s'", a ? a : "nothing",
				    b ? b : "nothing");
			break;
		}
		a = strtok_r(NULL, "\n", &save_a);
		b = strtok_r(NULL, "\n", &save_b);
	}
	free(want);
}

int script_play(struct player *p, const char *path)
{
	int error = player_lines(p, path, run_line);

	if (!error && p->check)
		check_log(p);
	return error;
}
