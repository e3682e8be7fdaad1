// SPDX-License-Identifier: MIT
/* Reports and sweeps: complete, readable by others, and nothing half-written on failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npu_compiler.h"
#include "report/report.h"

static const char list[] =
	"name\top\tc\th\tw\tk\tr\ts\tsy\tsx\tpt\tpl\tpb\tpr\tdy\tdx\tgroups\n"
	"<first> & \"one\"\tconv\t64\t56\t56\t64\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n"
	"pool\tpool_max\t64\t56\t56\t64\t2\t2\t2\t2\t0\t0\t0\t0\t1\t1\t1\n"
	"twice\tadd\t64\t28\t28\t64\t1\t1\t1\t1\t0\t0\t0\t0\t1\t1\t1\n"
	"twice\tconv\t64\t28\t28\t512\t1\t1\t2\t2\t0\t0\t0\t0\t1\t1\t1\n";

static char dir[] = "/tmp/npu-report-XXXXXX";

static struct npu_program *load(void)
{
	struct npu_program *program = NULL;
	struct npu_diag diag = { "" };

	if (npu_program_load_memory(list, strlen(list), "list.tsv", NULL,
				    nvdla_config_find("nv_small"), NULL, &program, &diag))
		fail_msg("%s", diag.text);
	return program;
}

static void path_of(const char *name, char path[256])
{
	snprintf(path, 256, "%s/%s", dir, name);
}

static char *contents(const char *name)
{
	char path[256], *text = calloc(1, 1 << 20);
	FILE *file;

	path_of(name, path);
	file = fopen(path, "r");
	if (!file || !text)
		fail_msg("%s: %s", path, strerror(errno));
	text[fread(text, 1, (1 << 20) - 1, file)] = 0;
	fclose(file);
	return text;
}

static u32 files_in(void)
{
	DIR *d = opendir(dir);
	u32 n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void clean(void)
{
	static const char *const names[] = { "summary.json", "layers.csv", "layers.json",
					     "report.html",  "s.csv",	   "s.svg" };
	char path[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		path_of(names[i], path);
		if (unlink(path))
			rmdir(path);
	}
}

static u64 number(struct json_object *object, const char *name)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, name, &value))
		fail_msg("no %s", name);
	return (u64)json_object_get_int64(value);
}

static void test_summary(void **unused)
{
	static const char *const names[] = { "compulsory_bytes", "bound_cycles",
					     "arena_lower_bound", "compile_us", "replan_us" };
	struct npu_program *program = load();
	struct npu_diag diag = { "" };
	struct json_object *object;
	char *text;
	size_t i;

	assert_int_equal(npu_report_write(program, dir, &diag), 0);
	assert_int_equal(files_in(), 4);
	text = contents("summary.json");
	object = json_tokener_parse(text);
	assert_non_null(object);
	assert_int_equal(number(object, "dram_bytes"), npu_cost_bytes(&program->plan->cost));
	assert_int_equal(number(object, "feature_bytes") + number(object, "weight_bytes") +
				 number(object, "operand_bytes") + number(object, "output_bytes"),
			 number(object, "dram_bytes"));
	assert_int_equal(number(object, "cycles"), program->plan->cost.cycles);
	assert_int_equal(number(object, "tasks"), program->plan->task_count);
	assert_int_equal(number(object, "arena_bytes"), program->plan->arena_bytes);
	assert_int_equal(number(object, "banks"), 32);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		number(object, names[i]);
	json_object_put(object);
	free(text);
	clean();
	npu_program_free(program);
}

static void test_layers(void **unused)
{
	struct npu_program *program = load();
	struct npu_diag diag = { "" };
	struct json_object *array, *first, *name;
	char *json, *csv, *html;
	u64 sum = 0;
	size_t i;

	assert_int_equal(npu_report_write(program, dir, &diag), 0);
	json = contents("layers.json");
	csv = contents("layers.csv");
	html = contents("report.html");
	array = json_tokener_parse(json);
	assert_int_equal(json_object_array_length(array), 4);
	for (i = 0; i < 4; i++)
		sum += number(json_object_array_get_idx(array, i), "dram_bytes");
	assert_int_equal(sum, npu_cost_bytes(&program->plan->cost));
	first = json_object_array_get_idx(array, 0);
	assert_true(json_object_object_get_ex(first, "name", &name));
	assert_string_equal(json_object_get_string(name), "<first> & \"one\"");
	assert_true(number(first, "pieces") > 1);
	assert_non_null(strstr(csv, "layer,name,kind,mode,banks,"));
	assert_non_null(strstr(csv, "\"<first> & \"\"one\"\"\""));
	assert_non_null(strstr(html, "&lt;first&gt; &amp; &quot;one&quot;"));
	assert_null(strstr(html, "<first>"));
	assert_null(strstr(html, "http"));
	json_object_put(array);
	free(json);
	free(csv);
	free(html);
	clean();
	npu_program_free(program);
}

static void test_why(void **unused)
{
	struct npu_program *program = load();
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(npu_report_why(program, "twice", out), 0);
	assert_int_equal(npu_report_why(program, "thrice", out), -ENOENT);
	fclose(out);
	assert_non_null(strstr(text, "element by element"));
	assert_non_null(strstr(text, "legal splits"));
	assert_non_null(strstr(text, "only every 2. line is fetched"));
	free(text);
	npu_program_free(program);
}

/* One file cannot be written: none of the temporary ones stays. */
static void test_failure(void **unused)
{
	struct npu_program *program = load();
	struct npu_diag diag = { "" };
	char path[256];

	path_of("layers.json", path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(npu_report_write(program, dir, &diag) < 0);
	assert_non_null(strstr(diag.text, "layers.json"));
	clean();
	assert_int_equal(files_in(), 0);
	diag.text[0] = 0;
	assert_true(npu_report_write(program, "/nonexistent/report", &diag) < 0);
	assert_non_null(strstr(diag.text, "/nonexistent/report"));
	npu_program_free(program);
}

static void test_sweep(void **unused)
{
	struct npu_program *program = load();
	u32 banks = program->plan->budget.banks, lines = 0;
	char csv_path[256], svg_path[256], *csv, *svg, *at;
	struct npu_diag diag = { "" };
	u64 last = UINT64_MAX;

	path_of("s.csv", csv_path);
	path_of("s.svg", svg_path);
	assert_int_equal(npu_sweep(program, csv_path, svg_path, &diag), 0);
	assert_int_equal(program->plan->budget.banks, banks);
	csv = contents("s.csv");
	svg = contents("s.svg");
	for (at = strchr(csv, '\n') + 1; *at; at = strchr(at, '\n') + 1, lines++) {
		unsigned int n, legal;
		unsigned long long bytes;

		assert_true(sscanf(at, "%u,%*u,%u", &n, &legal) == 2);
		assert_int_equal(n, lines + 1);
		if (!legal) {
			assert_true(last == UINT64_MAX);
			continue;
		}
		assert_true(sscanf(at, "%*u,%*u,%*u,%llu", &bytes) == 1);
		assert_true(bytes <= last);
		last = bytes;
	}
	assert_int_equal(lines, 32);
	assert_int_equal(last, npu_cost_bytes(&program->plan->cost));
	assert_non_null(strstr(svg, "every byte once"));
	assert_non_null(strstr(svg, "every layer at its optimum"));
	free(csv);
	free(svg);
	clean();
	diag.text[0] = 0;
	assert_true(npu_sweep(program, "/nonexistent/s.csv", svg_path, &diag) < 0);
	assert_int_equal(files_in(), 0);
	npu_program_free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary), cmocka_unit_test(test_layers),
		cmocka_unit_test(test_why),	cmocka_unit_test(test_failure),
		cmocka_unit_test(test_sweep),
	};
	int failed;

	if (!mkdtemp(dir))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return failed;
}
