// SPDX-License-Identifier: MIT
/*
 * The dialect of NVDLA's own traces: NAME.cfg with calls like reg_write(UNIT.REGISTER_0, value),
 * and .dat files of "offset, size, payload" lines.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "player.h"

#define ARGS_MAX 8

/* Bytes of one line of a .dat file, at most. */
#define DAT_BYTES 256

struct call {
	const char *name;
	u32 args; /* at least */
	int (*run)(struct player *p, char **arg, u32 n);
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

/* NVDLA_CDMA.D_BANK_0 or NVDLA_CDMA_D_BANK_0: the offset of the register. */
static int reg_offset(struct player *p, const char *word, u32 *reg)
{
	size_t n = strlen(word);
	u32 i;

	if (strncmp(word, "NVDLA_", 6) == 0 && n > 8 && strcmp(word + n - 2, "_0") == 0) {
		word += 6;
		n -= 8;
		for (i = 0; i < nvdla_reg_count; i++) {
			const struct nvdla_reg_info *r = &nvdla_reg_table[i];
			size_t u = strlen(r->unit);

			if (n == u + 1 + strlen(r->name) && strncmp(word, r->unit, u) == 0 &&
			    (word[u] == '.' || word[u] == '_') &&
			    strncmp(word + u + 1, r->name, n - u - 1) == 0) {
				*reg = r->offset;
				return 0;
			}
		}
	}
	return player_error(p, "unknown register '%s'", word);
}

static int do_mem_init(struct player *p, char **arg, u32 n)
{
	u64 addr, len;
	u8 byte = 0;

	if (number(p, arg[1], &addr) || number(p, arg[2], &len))
		return -EINVAL;
	if (n > 3 && strcmp(arg[3], "ALL_ZERO") != 0) {
		if (strcmp(arg[3], "ALL_ONE") == 0)
			byte = 0xff;
		else
			return player_error(p, "unknown pattern '%s'", arg[3]);
	}
	return sparse_fill(p->mem, addr, len, byte) ? player_error(p, "out of memory") : 0;
}

/* The number after @key in a .dat line; false where there is none. */
static bool field(const char *line, const char *key, char **end, u64 *out)
{
	const char *at = strstr(line, key);

	if (!at)
		return false;
	at += strlen(key);
	errno = 0;
	*out = strtoull(at, end, 0);
	return !errno && *end != at;
}

/* What is done with each run of bytes of a .dat file. */
typedef int (*dat_fn)(struct player *p, u64 addr, const u8 *data, size_t size);

static int dat_store(struct player *p, u64 addr, const u8 *data, size_t size)
{
	return sparse_write(p->mem, addr, data, size);
}

static int dat_compare(struct player *p, u64 addr, const u8 *data, size_t size)
{
	u8 got[DAT_BYTES];
	int error = sparse_read(p->mem, addr, got, size);

	if (!error && memcmp(got, data, size) != 0)
		player_fail(p, "line %u: memory differs near 0x%llx", p->line,
			    (unsigned long long)addr);
	return error;
}

/* One line: {offset:0x0, size:4, payload:0x05 0x76 0x00 0xba} , */
static int dat_line(struct player *p, u64 base, const char *line, dat_fn fn)
{
	u64 offset, size, byte, i;
	u8 data[DAT_BYTES];
	char *end;

	if (!field(line, "offset:", &end, &offset))
		return 0;
	if (!field(line, "size:", &end, &size) || size > sizeof(data) ||
	    !field(line, "payload:", &end, &byte))
		return -EINVAL;
	for (i = 0; i < size; i++) {
		data[i] = (u8)byte;
		if (i + 1 < size) {
			char *from = end;

			byte = strtoull(from, &end, 0);
			if (end == from)
				return -EINVAL;
		}
	}
	return fn(p, base + offset, data, (size_t)size);
}

static void strip_quotes(char *word)
{
	size_t n = strlen(word);

	if (n >= 2 && word[0] == '"' && word[n - 1] == '"') {
		memmove(word, word + 1, n - 2);
		word[n - 2] = '\0';
	}
}

/* Each line of a .dat file, @name possibly in quotes, placed from @base on. */
static int dat_file(struct player *p, u64 base, char *name, dat_fn fn)
{
	char path[4096], *line = NULL;
	u32 number_of_line = 0;
	size_t capacity = 0;
	int error = 0;
	FILE *f;

	strip_quotes(name);
	if (!player_path(path, sizeof(path), p->dir, name))
		return player_error(p, "bad file name '%s'", name);
	f = fopen(path, "r");
	if (!f)
		return player_error(p, "cannot read %s: %s", path, strerror(errno));
	while (!error && getline(&line, &capacity, f) >= 0) {
		number_of_line++;
		error = dat_line(p, base, line, fn);
	}
	free(line);
	fclose(f);
	return error ? player_error(p, "%s:%u: bad line", name, number_of_line) : 0;
}

static int do_mem_load(struct player *p, char **arg, u32 n)
{
	u64 addr;

	return number(p, arg[1], &addr) ? -EINVAL : dat_file(p, addr, arg[2], dat_store);
}

/* check_file(sync, memory, address, length, "NAME.dat") */
static int do_check_file(struct player *p, char **arg, u32 n)
{
	u64 addr;

	return number(p, arg[2], &addr) ? -EINVAL : dat_file(p, addr, arg[4], dat_compare);
}

static int do_reg_write(struct player *p, char **arg, u32 n)
{
	u64 value;
	u32 reg;

	if (reg_offset(p, arg[0], &reg) || number(p, arg[1], &value))
		return -EINVAL;
	player_write(p, reg, (u32)value);
	return 0;
}

static int do_poll(struct player *p, char **arg, u32 n)
{
	u64 value;
	u32 reg;

	if (reg_offset(p, arg[0], &reg) || number(p, arg[1], &value))
		return -EINVAL;
	if (!player_poll(p, reg, UINT32_MAX, (u32)value))
		player_fail(p, "line %u: %s never becomes %s", p->line, arg[0], arg[1]);
	return 0;
}

static int do_reg_read_check(struct player *p, char **arg, u32 n)
{
	u64 value;
	u32 reg, got;

	if (reg_offset(p, arg[0], &reg) || number(p, arg[1], &value))
		return -EINVAL;
	got = npusim_read(p->sim, reg);
	if (got != (u32)value)
		player_fail(p, "line %u: %s is 0x%x, not %s", p->line, arg[0], got, arg[1]);
	return 0;
}

/* The interrupt bit of "SDP_0", "CDMA_DAT_1", ... */
static int intr_bit(struct player *p, const char *name, u32 *bit)
{
	static const struct {
		const char *name;
		u32 bit;
	} units[] = {
		{ "SDP", NVDLA_INTR_SDP },	   { "CDP", NVDLA_INTR_CDP },
		{ "PDP", NVDLA_INTR_PDP },	   { "CDMA_DAT", NVDLA_INTR_CDMA_DAT },
		{ "CDMA_WT", NVDLA_INTR_CDMA_WT }, { "CACC", NVDLA_INTR_CACC },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		size_t u = strlen(units[i].name);

		if (strncmp(name, units[i].name, u) == 0 && name[u] == '_' &&
		    (name[u + 1] == '0' || name[u + 1] == '1') && !name[u + 2]) {
			*bit = units[i].bit + (u32)(name[u + 1] - '0');
			return 0;
		}
	}
	return player_error(p, "unknown interrupt '%s'", name);
}

static int do_intr_notify(struct player *p, char **arg, u32 n)
{
	u32 bit = 0;

	if (intr_bit(p, arg[0], &bit))
		return -EINVAL;
	if (!player_await(p, 1u << bit)) {
		player_fail(p, "%s never comes: %s", arg[0], npusim_diagnosis(p->sim));
		return 0;
	}
	npusim_write(p->sim, NVDLA_GLB_S_INTR_STATUS, 1u << bit);
	return 0;
}

/* zlib's CRC-32. */
static u32 crc32_of(const u8 *data, size_t len)
{
	u32 crc = UINT32_MAX, i;

	while (len--) {
		crc ^= *data++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static int read_range(struct player *p, const char *addr_word, const char *len_word, u8 **data,
		      u64 *len)
{
	u64 addr;

	if (number(p, addr_word, &addr) || number(p, len_word, len))
		return -EINVAL;
	if (*len > PLAYER_MAX_BYTES)
		return player_error(p, "a range of more than 1 GiB");
	*data = malloc(*len ? (size_t)*len : 1);
	if (!*data || sparse_read(p->mem, addr, *data, (size_t)*len)) {
		free(*data);
		return player_error(p, "out of memory");
	}
	return 0;
}

static int do_check_crc(struct player *p, char **arg, u32 n)
{
	u64 len, want;
	u8 *data = NULL;
	u32 got;

	if (number(p, arg[4], &want) || read_range(p, arg[2], arg[3], &data, &len))
		return -EINVAL;
	got = crc32_of(data, (size_t)len);
	free(data);
	if (got != (u32)want)
		player_fail(p, "line %u: CRC is 0x%08x, not %s", p->line, got, arg[4]);
	return 0;
}

/* Commands of the original's threads that mean nothing when all is done in order. */
static int do_nothing(struct player *p, char **arg, u32 n)
{
	return 0;
}

static const struct call calls[] = {
	{ "mem_init", 3, do_mem_init },
	{ "mem_load", 3, do_mem_load },
	{ "reg_write", 2, do_reg_write },
	{ "poll_reg_equal", 2, do_poll },
	{ "reg_read_check", 2, do_reg_read_check },
	{ "intr_notify", 1, do_intr_notify },
	{ "check_crc", 5, do_check_crc },
	{ "check_file", 5, do_check_file },
	{ "check_nothing", 1, do_nothing },
	{ "sync_wait", 1, do_nothing },
	{ "sync_notify", 1, do_nothing },
	{ "mem_reserve", 1, do_nothing },
	{ "mem_release", 1, do_nothing },
};

static char *trim(char *word)
{
	char *end;

	while (isspace((unsigned char)*word))
		word++;
	end = word + strlen(word);
	while (end > word && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return word;
}

/* The arguments between the parentheses; -1 when there are too many. */
static int split_args(char *text, char **arg)
{
	int n = 0;
	char *comma;

	for (;;) {
		comma = strchr(text, ',');
		if (comma)
			*comma = '\0';
		if (n == ARGS_MAX)
			return -1;
		arg[n++] = trim(text);
		if (!comma)
			return n;
		text = comma + 1;
	}
}

static int run_call(struct player *p, char *text)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')'), *arg[ARGS_MAX];
	int n;
	u32 i;

	if (!open || !close || close < open)
		return player_error(p, "not a command: '%s'", text);
	*open = *close = '\0';
	n = split_args(open + 1, arg);
	text = trim(text);
	if (n < 0)
		return player_error(p, "too many arguments");
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (strcmp(calls[i].name, text) != 0)
			continue;
		if ((u32)n < calls[i].args)
			return player_error(p, "%s takes %u arguments", text, calls[i].args);
		return calls[i].run(p, arg, (u32)n);
	}
	return player_error(p, "unknown command '%s'", text);
}

/* A line holds any number of commands, each ended by a semicolon, and a // comment. */
static int run_line(struct player *p, char *line)
{
	char *comment = strstr(line, "//"), *semicolon;
	int error = 0;

	if (comment)
		*comment = '\0';
	while (!error) {
		line = trim(line);
		if (!*line)
			break;
		semicolon = strchr(line, ';');
		if (semicolon)
			*semicolon = '\0';
		error = *line ? run_call(p, line) : 0;
		if (!semicolon)
			break;
		line = semicolon + 1;
	}
	return error;
}

int trace_play(struct player *p, const char *path)
{
	return player_lines(p, path, run_line);
}
