/* SPDX-License-Identifier: MIT */
/* The numbers of the reports: one list for JSON, CSV and the page. */
#ifndef NPU_REPORT_COLUMNS_H
#define NPU_REPORT_COLUMNS_H

#include "../npu_compiler.h"

/* A number of the whole program. */
struct npu_total {
	const char *name;
	u64 (*number)(const struct npu_program *program);
};

/* A number (or else a text, which may be written into @room) of a layer. */
struct npu_column {
	const char *name;
	u64 (*number)(const struct npu_program *program, u32 layer);
	const char *(*text)(const struct npu_program *program, u32 layer, char room[NPU_WHY_BYTES]);
};

extern const struct npu_total npu_totals[];
extern const u32 npu_total_count;
extern const struct npu_column npu_columns[];
extern const u32 npu_column_count;

/* What the program was made of. */
const char *npu_program_name(const struct npu_program *program);

/* The first pass of a layer; NULL where it has none. */
const struct npu_task *npu_layer_task(const struct npu_program *program, u32 layer);

/* Sums over all layers. */
u64 npu_plan_compulsory_bytes(const struct npu_plan *plan, u32 layers);
u64 npu_plan_bound_bytes(const struct npu_plan *plan, u32 layers);
u64 npu_plan_bound_cycles(const struct npu_plan *plan, u32 layers);

#endif /* NPU_REPORT_COLUMNS_H */
