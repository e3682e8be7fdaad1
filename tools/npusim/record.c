// SPDX-License-Identifier: MIT
/*
 * Recorder: writes what a driver does as a script in the format of the golden vectors, with
 * the memory that it needs and the memory that must come out.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npusim.h"
#include "save.h"

struct npusim_recorder {
	char dir[4096];
	FILE *script;
	u32 loads;
	int error; /* the first one */
};

/* Up to this length, memory of one byte's value is a `fill` line. */
static bool is_uniform(const u8 *data, size_t len)
{
	size_t i;

	for (i = 1; i < len; i++)
		if (data[i] != data[0])
			return false;
	return true;
}

static void note(struct npusim_recorder *rec, int error)
{
	if (!rec->error)
		rec->error = error;
}

/* Write DIR/NAME; errors are noted. */
static void write_file(struct npusim_recorder *rec, const char *name, const void *data, size_t len)
{
	char path[4352];
	int error;

	snprintf(path, sizeof(path), "%s/%s", rec->dir, name);
	error = npusim_save(path, data, len);
	if (error)
		note(rec, error);
}

static void __attribute__((format(printf, 2, 3)))
line(struct npusim_recorder *rec, const char *fmt, ...)
{
	va_list args;

	if (rec->error)
		return;
	va_start(args, fmt);
	if (vfprintf(rec->script, fmt, args) < 0)
		note(rec, -errno);
	va_end(args);
}

/* The first line, whatever is in the title: a comment ends with it. */
static void record_title(struct npusim_recorder *rec, const char *title)
{
	char text[256];
	char *p;

	snprintf(text, sizeof(text), "%s", title);
	for (p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	line(rec, "# %s\n", text);
}

struct npusim_recorder *npusim_record_open(const char *dir, const char *title, int *error)
{
	struct npusim_recorder *rec = calloc(1, sizeof(*rec));
	char path[4352];

	*error = -ENOMEM;
	if (!rec)
		return NULL;
	if (snprintf(rec->dir, sizeof(rec->dir), "%s", dir) >= (int)sizeof(rec->dir)) {
		*error = -ENAMETOOLONG;
		free(rec);
		return NULL;
	}
	if (mkdir(dir, 0777) && errno != EEXIST) {
		*error = -errno;
		free(rec);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/run.nv", dir);
	rec->script = fopen(path, "w");
	if (!rec->script) {
		*error = -errno;
		free(rec);
		return NULL;
	}
	*error = 0;
	record_title(rec, title);
	return rec;
}

void npusim_record_fill(struct npusim_recorder *rec, u64 addr, size_t len, u8 byte)
{
	if (len)
		line(rec, "fill 0x%llx %zu 0x%02x\n", (unsigned long long)addr, len, byte);
}

void npusim_record_load(struct npusim_recorder *rec, u64 addr, const void *data, size_t len)
{
	char name[32];

	if (!len || rec->error)
		return;
	if (is_uniform(data, len)) {
		npusim_record_fill(rec, addr, len, *(const u8 *)data);
		return;
	}
	snprintf(name, sizeof(name), "mem%u.bin", rec->loads++);
	write_file(rec, name, data, len);
	line(rec, "load 0x%llx %s\n", (unsigned long long)addr, name);
}

void npusim_record_write(struct npusim_recorder *rec, u32 reg, u32 value)
{
	const struct nvdla_reg_info *info = nvdla_reg_find(reg);

	if (info)
		line(rec, "w 0x%04x 0x%x # %s.%s\n", reg, value, info->unit, info->name);
	else
		line(rec, "w 0x%04x 0x%x\n", reg, value);
}

void npusim_record_poll(struct npusim_recorder *rec, u32 reg, u32 mask, u32 value)
{
	line(rec, "poll 0x%04x 0x%x 0x%x\n", reg, mask, value);
}

void npusim_record_wait(struct npusim_recorder *rec, u32 mask)
{
	line(rec, "wait_intr 0x%x\n", mask);
}

void npusim_record_mark(struct npusim_recorder *rec, const char *name)
{
	line(rec, "mark %s\n", name);
}

/* Names become files of the script's directory and words of its lines. */
static bool good_name(const char *name)
{
	const char *p;

	for (p = name; *p; p++)
		if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') &&
		    !(*p >= '0' && *p <= '9') && *p != '_' && *p != '-')
			return false;
	return p != name && p - name < 128;
}

void npusim_record_dump(struct npusim_recorder *rec, const char *name, u64 addr, const void *data,
			size_t len)
{
	char file[160];

	if (rec->error)
		return;
	if (!good_name(name)) {
		note(rec, -EINVAL);
		return;
	}
	snprintf(file, sizeof(file), "%s.expect.bin", name);
	write_file(rec, file, data, len);
	line(rec, "dump 0x%llx %zu %s.out.bin\n", (unsigned long long)addr, len, name);
}

int npusim_record_close(struct npusim_recorder *rec)
{
	char path[4352];
	int error;

	if (!rec)
		return 0;
	if (fclose(rec->script))
		note(rec, -errno);
	error = rec->error;
	/* A folder without a script is no recording: nobody replays a part of one. */
	if (error && snprintf(path, sizeof(path), "%s/run.nv", rec->dir) < (int)sizeof(path))
		unlink(path);
	free(rec);
	return error;
}
