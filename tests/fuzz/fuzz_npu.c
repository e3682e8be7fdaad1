// SPDX-License-Identifier: MIT
/*
 * Fuzzer of compiled files: whatever is accepted can be planned, emitted and printed, planned for
 * memory in pieces or refused, and written again to a file that is read as the same.
 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

static void print_all(const struct npu_program *program, FILE *out)
{
	npu_graph_dump(program->net->graph, NPU_DUMP_DOT, out);
	npu_net_dump(program->net, NPU_DUMP_TEXT, out);
	npu_plan_dump(program->net, program->plan, NPU_DUMP_TEXT, out);
}

static void check_rewrite(const struct npu_program *program)
{
	struct npu_program *again;
	struct npu_diag diag = { 0 };
	size_t bytes;
	void *data;

	if (npu_file_encode(program->net, &program->plan->budget, &data, &bytes, &diag))
		abort();
	if (npu_program_load_memory(data, bytes, "again", NULL, NULL, NULL, &again, &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		abort();
	}
	npu_program_free(again);
	free(data);
}

static void check_plan(const struct npu_program *program)
{
	struct npu_diag diag = { 0 };

	if (npu_plan_verify(program->net, program->plan, &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		abort();
	}
}

/* Pieces of one page, and of so many that few values are larger. */
static void check_pieces(struct npu_program *program)
{
	struct npu_budget budget = program->plan->budget;
	struct npu_diag diag = { 0 };

	for (budget.region_bytes = 4096; budget.region_bytes <= 4096 << 8;
	     budget.region_bytes <<= 4)
		if (!npu_program_replan(program, &budget, &diag))
			check_plan(program);
}

/* What does not fit is the CPU's, or refused. */
static void check_one_bank(struct npu_program *program)
{
	struct npu_budget budget = program->plan->budget;
	struct npu_diag diag = { 0 };

	budget.region_bytes = 0;
	budget.banks = 1;
	if (!npu_program_replan(program, &budget, &diag))
		check_plan(program);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	static FILE *nowhere;
	struct npu_program *program;
	struct npu_diag diag = { 0 };
	u8 *copy;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!npu_file_is_compiled(data, bytes))
		return 0;
	copy = malloc(bytes);
	if (!copy)
		return 0;
	memcpy(copy, data, bytes);
	/* What the header has against truncation and other versions the fuzzer need not learn. */
	memcpy(copy + 4, &(u32){ NPU_FILE_VERSION }, sizeof(u32));
	memcpy(copy + 8, &(u64){ bytes }, sizeof(u64));
	if (!npu_program_load_memory(copy, bytes, "input", NULL, NULL, NULL, &program, &diag)) {
		check_plan(program);
		print_all(program, nowhere);
		check_rewrite(program);
		check_pieces(program);
		check_one_bank(program);
		npu_program_free(program);
	}
	free(copy);
	return 0;
}
