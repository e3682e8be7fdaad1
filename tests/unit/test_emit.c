// SPDX-License-Identifier: MIT
/*
 * Chains that the emitter makes: the validator accepts each of them at every budget that has a plan,
 * grants no byte outside of weights and arena, and agrees on the banks.
 */
#include "npu_compiler.h"
#include "nvdla_chain_check.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emit/stream.h"

#define MODEL "tools/demo/digits.tflite"

static void check_step(const struct npu_program *program, const struct npu_step *step)
{
	const struct nvdla_config *config = program->net->config;
	size_t bytes = nvdla_chain_storage_bytes(step->stream, step->stream_bytes);
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	void *storage = malloc(bytes ? bytes : 1);
	char text[256];
	u32 i;

	assert_non_null(storage);
	if (nvdla_chain_validate(config, step->stream, step->stream_bytes, storage, bytes, &chain,
				 &error)) {
		nvdla_chain_error_text(&error, text, sizeof(text));
		print_error("%s, %u banks, layer %s: %s\n", config->name,
			    program->plan->budget.banks, program->net->layer[error.label].name,
			    text);
		fail();
	}
	assert_int_equal(chain.task_count, step->task_count);
	assert_int_equal(chain.region_count, NPU_REGION_COUNT);
	assert_true(chain.banks <= program->plan->budget.banks);
	assert_true(chain.banks <= program->plan->banks);
	assert_true(chain.region[NPU_REGION_WEIGHTS].read_end <= program->net->weights_bytes);
	assert_int_equal(chain.region[NPU_REGION_WEIGHTS].write_end, 0);
	assert_true(chain.region[NPU_REGION_ARENA].read_end <= program->plan->arena_bytes);
	assert_true(chain.region[NPU_REGION_ARENA].write_end <= program->plan->arena_bytes);
	for (i = 0; i < chain.task_count; i++)
		assert_int_equal(chain.task[i].label,
				 program->plan->task[step->first_task + i].layer);
	free(storage);
}

/* Steps cover all layers in order. */
static void check_program(const struct npu_program *program)
{
	u32 i, task = 0;

	for (i = 0; i < program->step_count; i++) {
		const struct npu_step *step = &program->step[i];

		if (step->cpu) {
			assert_true(npu_plan_on_cpu(program->net, program->plan, step->layer));
			continue;
		}
		assert_int_equal(step->first_task, task);
		task += step->task_count;
		check_step(program, step);
	}
	assert_int_equal(task, program->plan->task_count);
}

/* Few banks, and all budgets in steps of @step: what does not fit is the CPU's. */
static void check_model(const char *path, const struct nvdla_config *config, u32 step)
{
	struct npu_program *program;
	struct npu_diag diag = { 0 };
	struct npu_budget budget = npu_budget_full(config);

	if (npu_program_load(path, NULL, config, NULL, &program, &diag)) {
		print_error("%s\n", diag.text);
		fail();
	}
	for (budget.banks = 1; budget.banks <= config->banks;
	     budget.banks += budget.banks < step ? 1 : step) {
		if (npu_program_replan(program, &budget, &diag))
			fail_msg("%s", diag.text);
		check_program(program);
	}
	npu_program_free(program);
}

static void test_digits(void **state)
{
	u32 i;

	for (i = 0; i < nvdla_config_count; i++)
		check_model(MODEL, &nvdla_configs[i], 1);
}

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);

	return a >= b && !strcmp(text + a - b, end);
}

static void test_models(void **state)
{
	const char *shared = getenv("NPU_SHARED");
	u32 i, models = 0;
	char folder[512], path[800];
	struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s/models/tflite", shared ? shared : "../shared");
	dir = opendir(folder);
	if (!dir) {
		print_message("SKIP no %s\n", folder);
		assert_null(getenv("CI"));
		return;
	}
	while ((entry = readdir(dir))) {
		if (!ends_with(entry->d_name, ".tflite") || ends_with(entry->d_name, "_f32.tflite"))
			continue;
		models++;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		for (i = 0; i < nvdla_config_count; i++)
			check_model(path, &nvdla_configs[i], nvdla_configs[i].banks / 4u);
	}
	closedir(dir);
	assert_true(models > 0);
}

/* Seven layers of some 10,000 tasks each are more than one chain may hold: two chains, whole layers in each. */
static void test_long(void **state)
{
	static const char head[] =
		"name\top\tc\th\tw\tk\tr\ts\tsy\tsx\tpt\tpl\tpb\tpr\tdy\tdx\tgroups\n";
	static const char row[] = "a\tconv\t512\t28\t28\t512\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n";
	const struct nvdla_config *config = nvdla_config_find("nv_small");
	struct npu_budget budget = npu_budget_full(config);
	char list[sizeof(head) + 7 * sizeof(row)] = "";
	struct npu_program *program;
	struct npu_diag diag = { "" };
	u32 i, tasks = 0;

	strcat(list, head);
	for (i = 0; i < 7; i++)
		strcat(list, row);
	budget.banks = 11;
	assert_int_equal(npu_program_load_memory(list, strlen(list), "list", NULL, config, &budget,
						 &program, &diag),
			 0);
	assert_true(program->plan->task_count > NVDLA_CHAIN_MAX_TASKS);
	assert_int_equal(program->step_count, 2);
	for (i = 0; i < program->step_count; i++) {
		const struct npu_step *step = &program->step[i];
		struct nvdla_chain_header header;

		memcpy(&header, step->stream, sizeof(header));
		assert_int_equal(header.task_count, step->task_count);
		assert_true(step->task_count <= NVDLA_CHAIN_MAX_TASKS);
		assert_int_equal(step->first_task, tasks);
		if (i)
			assert_int_not_equal(program->plan->task[tasks].layer,
					     program->plan->task[tasks - 1].layer);
		tasks += step->task_count;
	}
	assert_int_equal(tasks, program->plan->task_count);
	npu_program_free(program);
}

/* Registers that are zero are left out; addresses follow registers; sizes are right. */
static void test_stream(void **state)
{
	struct npu_stream stream;
	struct nvdla_chain_header header;
	struct nvdla_chain_task task;
	struct nvdla_chain_reg reg;
	struct nvdla_chain_addr address;
	u32 bytes;
	u8 *data;

	npu_stream_begin(&stream);
	npu_stream_task(&stream, NVDLA_CHAIN_SDP, 17);
	npu_stream_address(&stream, NVDLA_SDP_D_DST_BASE_ADDR_LOW, 1, 0x1122334455ull);
	npu_stream_reg(&stream, NVDLA_SDP_D_DATA_CUBE_WIDTH, 0);
	npu_stream_reg(&stream, NVDLA_SDP_D_DATA_CUBE_HEIGHT, 5);
	npu_stream_task_end(&stream);
	assert_int_equal(npu_stream_end(&stream, 2, (void **)&data, &bytes), 0);
	assert_int_equal(bytes, sizeof(header) + sizeof(task) + sizeof(reg) + sizeof(address));
	memcpy(&header, data, sizeof(header));
	memcpy(&task, data + sizeof(header), sizeof(task));
	memcpy(&reg, data + sizeof(header) + sizeof(task), sizeof(reg));
	memcpy(&address, data + bytes - sizeof(address), sizeof(address));
	assert_int_equal(header.magic, NVDLA_CHAIN_MAGIC);
	assert_int_equal(header.size, bytes);
	assert_int_equal(header.task_count, 1);
	assert_int_equal(header.region_count, 2);
	assert_int_equal(task.kind, NVDLA_CHAIN_SDP);
	assert_int_equal(task.size, bytes - sizeof(header));
	assert_int_equal(task.label, 17);
	assert_int_equal(task.reg_count, 1);
	assert_int_equal(task.addr_count, 1);
	assert_int_equal(reg.reg, NVDLA_SDP_D_DATA_CUBE_HEIGHT);
	assert_int_equal(reg.value, 5);
	assert_int_equal(address.region, 1);
	assert_true(address.offset == 0x1122334455ull);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_digits),
		cmocka_unit_test(test_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
