// SPDX-License-Identifier: MIT
/* The driver's clients as npu-top finds them, in a /proc of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../tools/common/clients.h"

static const char full[] = "pos:\t0\n"
			   "drm-driver:\tnvdla\n"
			   "drm-client-id:\t17\n"
			   "drm-pdev:\t0000:00:04.0\n"
			   "drm-engine-npu:\t123456789 ns\n"
			   "drm-total-memory:\t2 MiB\n"
			   "drm-resident-memory:\t12 KiB\n"
			   "drm-total-cbuf:\t32 KiB\n"
			   "nvdla-reserved-banks:\t8\n"
			   "nvdla-queued-jobs:\t3\n"
			   "nvdla-tasks:\t77\n"
			   "nvdla-pinned-memory:\t16 KiB\n"
			   "nvdla-priority:\thigh\n";

static char proc[] = "/tmp/npu-test-XXXXXX";

static void test_parse(void **state)
{
	struct tool_client client = { 0 };

	assert_true(tool_client_parse(full, &client));
	assert_int_equal(client.id, 17);
	assert_int_equal(client.busy_ns, 123456789);
	assert_int_equal(client.memory, 2 << 20);
	assert_int_equal(client.resident, 12 << 10);
	assert_int_equal(client.cbuf, 32 << 10);
	assert_int_equal(client.pinned, 16 << 10);
	assert_int_equal(client.tasks, 77);
	assert_int_equal(client.banks, 8);
	assert_int_equal(client.jobs, 3);
	assert_string_equal(client.priority, "high");
}

static void test_parse_less(void **state)
{
	struct tool_client client = { 0 };

	assert_true(tool_client_parse("drm-driver:\tnvdla\ndrm-client-id:\t1", &client));
	assert_int_equal(client.id, 1);
	assert_int_equal(client.busy_ns, 0);
	assert_string_equal(client.priority, "");
	assert_false(tool_client_parse("", &client));
	assert_false(tool_client_parse("pos:\t0\n", &client));
	assert_false(tool_client_parse("drm-driver:\tnvdla\n", &client));
	assert_false(tool_client_parse("drm-driver:\tnvdla2\ndrm-client-id:\t1\n", &client));
	assert_false(tool_client_parse("drm-driver:\tivpu\ndrm-client-id:\t1\n", &client));
	assert_false(tool_client_parse("xdrm-driver:\tnvdla\ndrm-client-id:\t1\n", &client));
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
}

/* Process @pid has file @fd open, a node of that name with that fdinfo. */
static void open_file(int pid, int fd, const char *target, const char *info)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d", proc, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%d/comm", proc, pid);
	write_text(path, "\033[2J\377npu\n"); /* as a process may name itself */
	snprintf(path, sizeof(path), "%s/%d/fd", proc, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%d/fd/%d", proc, pid, fd);
	assert_int_equal(symlink(target, path), 0);
	snprintf(path, sizeof(path), "%s/%d/fdinfo", proc, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%d/fdinfo/%d", proc, pid, fd);
	write_text(path, info);
}

static void test_read(void **state)
{
	struct tool_clients clients;

	assert_int_equal(tool_clients_read("/nowhere", &clients), -2);
	assert_int_equal(tool_clients_read(proc, &clients), 0);
	assert_int_equal(clients.count, 0);
	open_file(200, 4, "/dev/accel/accel0", full);
	open_file(30, 7, "/dev/accel/accel0", full); /* the same file, inherited */
	open_file(30, 8, "/dev/accel/accel0", "drm-driver:\tnvdla\ndrm-client-id:\t9\n");
	open_file(30, 9, "/dev/accel/accel1", "drm-driver:\tnvdla\ndrm-client-id:\t2\n");
	open_file(31, 3, "/dev/accel/accel2", "drm-driver:\tivpu\ndrm-client-id:\t5\n");
	open_file(31, 4, "/dev/null", full);
	open_file(31, 5, "/dev/accel/accel", full);
	assert_int_equal(tool_clients_read(proc, &clients), 0);
	assert_int_equal(clients.count, 3);
	assert_int_equal(clients.client[0].id, 9);
	assert_int_equal(clients.client[1].id, 17);
	assert_int_equal(clients.client[1].pid, 30);
	assert_string_equal(clients.client[1].name, "?[2J?npu");
	assert_int_equal(clients.client[1].memory, 2 << 20);
	assert_int_equal(clients.client[2].device, 1);
	tool_clients_free(&clients);
}

static int set_up(void **state)
{
	return mkdtemp(proc) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", proc);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_less),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests_name("clients", tests, set_up, tear_down);
}
