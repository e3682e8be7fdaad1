/* SPDX-License-Identifier: MIT */
/* What the two script dialects share: a model, its memory, and the outcome. */
#ifndef NPUSIM_PLAYER_H
#define NPUSIM_PLAYER_H

#include <stdio.h>

#include "npusim.h"
#include "sparse.h"

/* Most bytes that one line of a script may name: 1 GiB. */
#define PLAYER_MAX_BYTES (1u << 30)

/**
 * struct player - one script being played
 * @dir: where the script's files are
 * @script: its name, for messages
 * @keep: directory for dumps, or NULL
 * @reason: the first thing that was not as expected; "" so far
 * @log: what the script's `r` lines print and waits that never ended
 * @check: compare dumps and @log with what is expected
 * @marked: cycles and bytes at the first enable and at the last completion
 */
struct player {
	const char *dir;
	const char *script;
	const char *keep;
	u32 line;
	struct npusim *sim;
	struct sparse *mem;
	FILE *out; /* prints of the script, or NULL */
	bool check;
	char reason[4608]; /* the longest path and what is wrong with it */
	char *log;
	size_t log_size;
	FILE *log_file;
	u64 marked_cycles, marked_read, marked_written; /* counters at the last mark */
	u64 first_enable, last_enable; /* cycles of enabling writes; 0: none yet */
	u64 ended; /* cycle of the last interrupt of SDP, PDP or CDP */
};

int player_open(struct player *p, const struct npusim_options *options, const char *dir,
		const char *script);
void player_close(struct player *p);

/* Note a deviation, printf style; only the first is kept. */
void player_fail(struct player *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* An error of the script itself: file, line and text; returns -EINVAL. */
int player_error(struct player *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Reads the file at @path and gives @run each of its lines, counted in @p; ends at its first error.  A line with a
 * zero byte is one: it is no text.
 */
int player_lines(struct player *p, const char *path, int (*run)(struct player *p, char *line));

/* "DIR/NAME" in a buffer; false when it does not fit or NAME leaves the directory. */
bool player_path(char *buf, size_t size, const char *dir, const char *name);

/* A whole file; NULL with errno.  *size bytes, to be freed. */
u8 *player_file(const char *path, size_t *size);

/* Write a register, with the bookkeeping of when the work began. */
void player_write(struct player *p, u32 reg, u32 value);

/* Wait until all bits of @mask are set; false when they never come. */
bool player_await(struct player *p, u32 mask);
bool player_poll(struct player *p, u32 reg, u32 mask, u32 value);

/* script.c: the vectors' dialect; trace.c: that of NVDLA's traces.  0 or a negative errno. */
int script_play(struct player *p, const char *path);
int trace_play(struct player *p, const char *path);

#endif /* NPUSIM_PLAYER_H */
