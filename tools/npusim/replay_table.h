/* SPDX-License-Identifier: MIT */
/* Measured cycles and bytes of tests: META.tsv and TIMING.tsv of the vectors, rtl-*.tsv of traces. */
#ifndef NPUSIM_REPLAY_TABLE_H
#define NPUSIM_REPLAY_TABLE_H

#include <stdio.h>

#include "npusim.h"

struct replay_row {
	char name[96];
	char dram[16]; /* memory setting: "rlat8", "bpc2"; "": the usual one */
	long long cycles, read_bytes, write_bytes; /* -1: not known */
};

struct replay_table {
	char path[512]; /* the file that is loaded */
	struct replay_row *row;
	u32 count;
};

/* The row of a test; loads the table beside the test when it is another one.  NULL: none. */
const struct replay_row *replay_table_find(struct replay_table *table, const char *dir,
					   const char *config, const char *name);

/* All rows of TIMING.tsv, the same test under several memory settings; may be empty. */
void replay_table_timing(struct replay_table *table, const char *dir);

void replay_table_clear(struct replay_table *table);

/* Errors of the cycle model, to print their median and 90th percentile. */
struct replay_errors {
	struct replay_error {
		char config[32];
		double measured, error; /* error: relative */
	} * item;
	u32 count, capacity;
};

void replay_errors_add(struct replay_errors *e, const char *config, double measured, double model);
void replay_errors_print(const struct replay_errors *e, FILE *out);
void replay_errors_clear(struct replay_errors *e);

#endif /* NPUSIM_REPLAY_TABLE_H */
