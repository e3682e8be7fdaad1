// SPDX-License-Identifier: MIT
/* Programs: loading by content, planning again, and compiled files, whole and damaged. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MODEL "tools/demo/digits.tflite"

static struct npu_program *load(const char *config)
{
	struct npu_program *program = NULL;
	struct npu_diag diag = { 0 };
	int error = npu_program_load(MODEL, NULL, nvdla_config_find(config), NULL, &program, &diag);

	if (error)
		print_error("%s\n", diag.text);
	assert_int_equal(error, 0);
	return program;
}

static char *dump(const struct npu_program *program, bool plan)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	npu_graph_dump(program->net->graph, NPU_DUMP_TEXT, out);
	npu_net_dump(program->net, NPU_DUMP_TEXT, out);
	if (plan)
		npu_plan_dump(program->net, program->plan, NPU_DUMP_TEXT, out);
	fclose(out);
	return text;
}

static void assert_same_steps(const struct npu_program *a, const struct npu_program *b)
{
	u32 i;

	assert_int_equal(a->step_count, b->step_count);
	for (i = 0; i < a->step_count; i++) {
		assert_int_equal(a->step[i].cpu, b->step[i].cpu);
		assert_int_equal(a->step[i].stream_bytes, b->step[i].stream_bytes);
		if (!a->step[i].cpu)
			assert_memory_equal(a->step[i].stream, b->step[i].stream,
					    a->step[i].stream_bytes);
	}
}

/* A compiled file has everything that the program had. */
static void test_round_trip(void **state)
{
	u32 i;

	for (i = 0; i < nvdla_config_count; i++) {
		struct npu_program *made = load(nvdla_configs[i].name), *read = NULL;
		struct npu_diag diag = { 0 };
		struct npu_budget budget;
		struct npu_net *net;
		char *want, *got;
		void *data, *again;
		size_t bytes, bytes_again;

		assert_int_equal(
			npu_file_encode(made->net, &made->plan->budget, &data, &bytes, &diag), 0);
		assert_int_equal(npu_program_load_memory(data, bytes, MODEL, NULL, NULL, NULL,
							 &read, &diag),
				 0);
		want = dump(made, true);
		got = dump(read, true);
		assert_string_equal(got, want);
		assert_int_equal(made->net->weights_bytes, read->net->weights_bytes);
		assert_memory_equal(made->net->weights, read->net->weights,
				    made->net->weights_bytes);
		assert_same_steps(made, read);
		assert_int_equal(npu_file_decode(data, bytes, "again", NULL, &net, &budget, &diag),
				 0);
		assert_int_equal(npu_file_encode(net, &budget, &again, &bytes_again, &diag), 0);
		assert_int_equal(bytes_again, bytes);
		assert_memory_equal(again, data, bytes);
		npu_net_free(net);
		free(again);
		free(want);
		free(got);
		npu_program_free(read);
		npu_program_free(made);
		free(data);
	}
}

/* The budget of its plan is in the file; another one can be asked for. */
static void test_budget(void **state)
{
	struct npu_program *program = load("nv_small"), *read;
	struct npu_budget budget = npu_budget_full(program->net->config);
	const u8 *weights = program->net->weights;
	struct npu_diag diag = { 0 };
	char path[] = "/tmp/test_program.XXXXXX";
	int file = mkstemp(path);

	assert_true(file >= 0);
	close(file);
	budget.banks = 8;
	budget.generation = 7;
	assert_int_equal(npu_program_replan(program, &budget, &diag), 0);
	assert_int_equal(program->plan->budget.banks, 8);
	assert_int_equal(program->plan->budget.generation, 7);
	assert_true(program->plan->banks <= 8);
	assert_ptr_equal(program->net->weights, weights);
	assert_int_equal(npu_program_save(program, path, &diag), 0);
	assert_int_equal(npu_program_load(path, NULL, NULL, NULL, &read, &diag), 0);
	assert_int_equal(read->plan->budget.banks, 8);
	npu_program_free(read);
	budget.banks = 4;
	assert_int_equal(npu_program_load(path, NULL, nvdla_config_find("nv_small"), &budget, &read,
					  &diag),
			 0);
	assert_int_equal(read->plan->budget.banks, 4);
	npu_program_free(read);
	npu_program_free(program);
	unlink(path);
}

/* A plan that cannot be made leaves the old one. */
static void test_failed_plan(void **state)
{
	struct npu_program *program = load("nv_small");
	struct npu_budget budget = npu_budget_full(program->net->config);
	struct npu_plan *plan = program->plan;
	struct npu_step *step = program->step;
	struct npu_diag diag = { 0 };

	budget.entries++;
	assert_int_equal(npu_program_replan(program, &budget, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "bank"));
	assert_ptr_equal(program->plan, plan);
	assert_ptr_equal(program->step, step);
	npu_program_free(program);
}

static void replan(struct npu_program *program, u32 banks)
{
	struct npu_budget budget = npu_budget_full(program->net->config);
	struct npu_diag diag = { 0 };

	budget.banks = banks;
	if (npu_program_replan(program, &budget, &diag) ||
	    npu_plan_verify(program->net, program->plan, &diag))
		fail_msg("%u banks: %s", banks, diag.text);
}

static u32 unit_operators(const struct npu_program *program)
{
	u32 i, count = 0;

	for (i = 0; i < program->plan->unit_count; i++)
		count += program->plan->unit[i].op_count;
	return count;
}

/* A bank alone holds no pass: the CPU does all convolutions, and more banks bring them back. */
static void test_too_few_banks(void **state)
{
	struct npu_program *program = load("nv_small");
	const struct npu_net *net = program->net;
	u32 all = net->config->banks, convolutions = 0, tasks, steps, i;
	char *before = dump(program, true), *after, why[NPU_WHY_BYTES];

	tasks = program->plan->task_count;
	steps = program->step_count;
	for (i = 0; i < net->layer_count; i++)
		convolutions += net->layer[i].kind == NPU_LAYER_CONV;
	replan(program, 1);
	assert_int_equal(program->plan->unit_count, convolutions);
	assert_true(unit_operators(program) >= convolutions);
	assert_int_equal(program->plan->banks, 0);
	assert_true(program->plan->task_count < tasks && program->step_count > steps);
	for (i = 0; i < net->layer_count; i++) {
		const struct npu_layer_plan *lp = &program->plan->layer[i];

		if (net->layer[i].kind != NPU_LAYER_CONV)
			continue;
		assert_true(lp->on_cpu && npu_plan_on_cpu(net, program->plan, i));
		assert_int_equal(lp->task_count, 0);
		npu_plan_why(net, program->plan, i, why, sizeof(why));
		assert_non_null(strstr(why, "for want of banks"));
		assert_non_null(strstr(why, net->layer[i].name));
		assert_non_null(strstr(why, "needs 2 banks"));
		assert_non_null(strstr(why, "1 are available"));
	}
	replan(program, all);
	assert_int_equal(program->plan->unit_count, 0);
	after = dump(program, true);
	assert_string_equal(before, after);
	free(before);
	free(after);
	npu_program_free(program);
}

static void assert_refused(const void *data, size_t bytes, const struct nvdla_config *config,
			   int error, const char *words)
{
	struct npu_program *program = NULL;
	struct npu_diag diag = { 0 };
	int got = npu_program_load_memory(data, bytes, "some file", NULL, config, NULL, &program,
					  &diag);

	if (got != error || !strstr(diag.text, words))
		print_error("%d: %s\n", got, diag.text);
	assert_int_equal(got, error);
	assert_non_null(strstr(diag.text, "some file"));
	assert_non_null(strstr(diag.text, words));
}

static void test_refused(void **state)
{
	const struct nvdla_config *small = nvdla_config_find("nv_small");
	struct npu_program *program = load("nv_small");
	struct npu_diag diag = { 0 };
	size_t bytes;
	u32 *data;

	assert_int_equal(npu_file_encode(program->net, &program->plan->budget, (void **)&data,
					 &bytes, &diag),
			 0);
	assert_refused(data, bytes, nvdla_config_find("nv_large"), -ENOTSUP,
		       "compiled for nv_small");
	assert_refused(data, bytes - 1, small, -EINVAL, "bytes");
	data[1]++;
	assert_refused(data, bytes, small, -ENOTSUP, "version");
	assert_refused("no model at all, but some text", 30, small, -EINVAL, "neither");
	assert_refused("", 0, small, -EINVAL, "neither");
	assert_refused("\0\0\0\0TFL3", 8, NULL, -EINVAL, "no configuration");
	free(data);
	npu_program_free(program);
}

static void test_no_such_file(void **state)
{
	struct npu_program *program;
	struct npu_diag diag = { 0 };

	assert_int_equal(npu_program_load("/no/such/file", NULL, nvdla_configs, NULL, &program,
					  &diag),
			 -ENOENT);
	assert_non_null(strstr(diag.text, "/no/such/file"));
	diag.text[0] = 0;
	assert_int_equal(npu_program_load("/", NULL, nvdla_configs, NULL, &program, &diag),
			 -EINVAL);
	diag.text[0] = 0;
	program = load("nv_small");
	assert_int_equal(npu_program_save(program, "/no/such/folder/file", &diag), -ENOENT);
	npu_program_free(program);
}

/* Damage is an error or harmless, never worse (the sanitizers look on). */
static void test_damaged(void **state)
{
	struct npu_program *program = load("nv_small"), *read;
	struct npu_diag diag = { 0 };
	u32 random = 1, i, refused = 0;
	size_t bytes, length;
	u8 *data, *copy;

	assert_int_equal(npu_file_encode(program->net, &program->plan->budget, (void **)&data,
					 &bytes, &diag),
			 0);
	npu_program_free(program);
	copy = malloc(bytes);
	assert_non_null(copy);
	/* Cut off anywhere, with a header that agrees. */
	for (length = 16; length < bytes; length += 1 + length / 20) {
		u64 claimed = length;

		memcpy(copy, data, length);
		memcpy(copy + 8, &claimed, sizeof(claimed));
		diag.text[0] = 0;
		assert_int_not_equal(npu_program_load_memory(copy, length, "cut", NULL, NULL, NULL,
							     &read, &diag),
				     0);
	}
	/* One to three bytes changed, most of them in front, where the structure is. */
	for (i = 0; i < 3000; i++) {
		u32 changes = 1 + i % 3;

		memcpy(copy, data, bytes);
		while (changes--) {
			random = random * 1664525u + 1013904223u;
			copy[16 + (random >> 8) % (i % 4 ? 6000 : bytes - 16)] = (u8)(random >> 24);
		}
		diag.text[0] = 0;
		if (npu_program_load_memory(copy, bytes, "changed", NULL, NULL, NULL, &read, &diag))
			refused++;
		else
			npu_program_free(read);
	}
	print_message("%u of 3000 refused\n", refused);
	assert_true(refused > 100);
	free(copy);
	free(data);
}

static void assert_values_exist(const struct npu_net *net, const struct npu_layer *layer)
{
	u32 values[2 * NPU_LAYER_MAX_VALUES], count = npu_layer_reads(net, layer, values);

	count += npu_layer_writes(net, layer, values + count);
	while (count--)
		assert_true(values[count] < net->value_count);
}

/* Whatever kind a layer says that it is: if verified, then it reads and writes only what exists. */
static void test_values_of_layers(void **state)
{
	struct npu_program *program = load("nv_small");
	struct npu_net *net = program->net;
	struct npu_diag diag = { 0 };
	u32 i, kind, field, verified = 0;

	for (i = 0; i < net->layer_count; i++) {
		const struct npu_layer layer = net->layer[i];
		struct npu_layer *l = &net->layer[i];
		u32 *index[] = { &l->input, &l->output, &l->unpooled, &l->sdp.bs.value,
				 &l->sdp.bn.value };

		for (kind = NPU_LAYER_CONV; kind <= NPU_LAYER_CPU; kind++) {
			for (field = 0; field < ARRAY_SIZE(index); field++) {
				*l = layer;
				l->kind = kind;
				l->sdp.bs.bypass = false;
				l->sdp.bs.alu_from = NPU_OPERAND_ELEMENT;
				l->sdp.bs.value = l->output;
				l->sdp.bn = l->sdp.bs;
				*index[field] = net->value_count;
				if (npu_net_verify(net, &diag))
					continue;
				verified++;
				assert_values_exist(net, l);
			}
		}
		*l = layer;
	}
	assert_true(verified);
	npu_program_free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),	 cmocka_unit_test(test_budget),
		cmocka_unit_test(test_failed_plan),	 cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_such_file),	 cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_values_of_layers), cmocka_unit_test(test_too_few_banks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
