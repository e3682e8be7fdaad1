// SPDX-License-Identifier: MIT
/* Names of others: what is kept, what becomes a question mark; names that no message holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "program.h"
#include "text.h"

static const struct {
	const char *text, *clean;
} cases[] = {
	{ "", "" },
	{ "conv1/Relu;bias \"<&>\\", "conv1/Relu;bias \"<&>\\" },
	{ "\xc3\xa4 \xe5\x90\x8d \xf0\x9f\x98\x80", "\xc3\xa4 \xe5\x90\x8d \xf0\x9f\x98\x80" },
	{ "a\x1b[31m\n\x7f", "a?[31m??" },
	{ "\xc2\x9b" /* the control character CSI */, "??" },
	{ "\xff\xfe", "??" },
	{ "\xc0\xaf" /* overlong */, "??" },
	{ "\xe0\x80\xaf", "???" },
	{ "\xed\xa0\x80" /* a surrogate */, "???" },
	{ "\xf4\x90\x80\x80" /* beyond U+10FFFF */, "????" },
	{ "x\xe5\x90" /* cut off */, "x??" },
	{ "\xf0\x9f\x98", "???" },
};

static void test_clean(void **state)
{
	struct npu_arena arena = { 0 };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *clean = npu_text_clean(&arena, cases[i].text);

		assert_non_null(clean);
		assert_string_equal(clean, cases[i].clean);
		assert_true(npu_text_is_clean(clean));
		assert_int_equal(clean == cases[i].text, npu_text_is_clean(cases[i].text));
	}
	npu_arena_free(&arena);
}

/* The names of a list's layers are clean however the list has them. */
static void test_layer_list(void **state)
{
	static const char list[] =
		"name\top\tc\th\tw\tk\tr\ts\tsy\tsx\tpt\tpl\tpb\tpr\tdy\tdx\tgroups\n"
		"a\x1b\xff"
		"b\tconv\t8\t8\t8\t8\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n";
	struct npu_program *program;
	struct npu_diag diag = { "" };

	assert_int_equal(npu_program_load_memory(list, sizeof(list) - 1, "list", NULL,
						 nvdla_config_find("nv_small"), NULL, &program,
						 &diag),
			 0);
	assert_string_equal(program->net->layer[0].name, "a??b");
	npu_program_free(program);
}

static void format(char *to, size_t size, const char *how, ...)
{
	va_list args;

	va_start(args, how);
	npu_message_format(to, size, how, args);
	va_end(args);
}

/* Of a name that is too long the middle is left out: what went wrong is said. */
static void test_long_messages(void **state)
{
	char name[5000], text[32], all[40];
	size_t length;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	format(text, sizeof(text), "%s: no such file", name);
	assert_string_equal(text, "xxxxxxxxxx...xxxx: no such file");
	for (length = 0; length < sizeof(text) + 4; length++) {
		memset(text, '!', sizeof(text));
		snprintf(all, sizeof(all), "%.*s", (int)length, name);
		format(text, sizeof(text), "%s", all);
		assert_int_equal(strlen(text), min(length, sizeof(text) - 1));
		assert_int_equal(strchr(text, '.') != NULL, length >= sizeof(text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_layer_list),
		cmocka_unit_test(test_long_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
