// SPDX-License-Identifier: MIT
/*
 * The simulated NPU's live budget: caps and reservations over handles, threads
 * and processes, clients that die, and files that are damaged or not ours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "budget.h"

#define TOTAL 32

static char dir[64];

static int set_up(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/npu-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	return setenv("NPU_SIM_DIR", dir, 1);
}

static void file_path(char path[128])
{
	snprintf(path, 128, "%s/t.budget", dir);
}

static int tear_down(void **state)
{
	char path[128];

	file_path(path);
	unlink(path);
	return rmdir(dir);
}

static struct npu_sim_budget *open_budget(void)
{
	struct npu_sim_budget *budget;

	assert_int_equal(npu_sim_budget_open("t", TOTAL, &budget), 0);
	return budget;
}

static struct npu_device_budget look(struct npu_sim_budget *budget)
{
	struct npu_device_budget now = { 0 };

	assert_int_equal(npu_sim_budget_read(budget, &now), 0);
	return now;
}

static void test_fresh(void **state)
{
	struct npu_sim_budget *budget = open_budget();
	struct npu_device_budget now = look(budget);

	assert_int_equal(now.banks_total, TOTAL);
	assert_int_equal(now.banks_cap, TOTAL);
	assert_int_equal(now.banks_available, TOTAL);
	assert_int_equal(now.banks_reserved, 0);
	assert_int_not_equal(now.generation, 0);
	npu_sim_budget_close(budget);
}

static void test_cap(void **state)
{
	struct npu_sim_budget *a = open_budget(), *b = open_budget();
	u64 generation = look(a).generation;

	assert_int_equal(npu_sim_budget_set_cap(a, 12), 0);
	assert_int_equal(look(b).banks_available, 12);
	assert_int_equal(look(b).generation, generation + 1);
	/* The same again changes nothing. */
	assert_int_equal(npu_sim_budget_set_cap(b, 12), 0);
	assert_int_equal(look(a).generation, generation + 1);
	assert_int_equal(npu_sim_budget_set_cap(a, 0), -EINVAL);
	assert_int_equal(npu_sim_budget_set_cap(a, TOTAL + 1), -EINVAL);
	npu_sim_budget_close(a);
	npu_sim_budget_close(b);
	/* A cap is the device's, not the handle's. */
	a = open_budget();
	assert_int_equal(look(a).banks_cap, 12);
	npu_sim_budget_close(a);
}

static void test_reservations(void **state)
{
	struct npu_sim_budget *a = open_budget(), *b = open_budget(), *c = open_budget();

	assert_int_equal(npu_sim_budget_reserve(a, 20), 0);
	assert_int_equal(look(a).banks_available, TOTAL);
	assert_int_equal(look(b).banks_available, 12);
	assert_int_equal(npu_sim_budget_reserve(b, 13), -ENOSPC);
	assert_int_equal(npu_sim_budget_reserve(b, 12), 0);
	assert_int_equal(look(a).banks_available, 20);
	assert_int_equal(look(c).banks_available, 0);
	assert_int_equal(look(c).banks_reserved, TOTAL);
	/* The cap falls below what is promised: each keeps its own, as far as there is any. */
	assert_int_equal(npu_sim_budget_set_cap(c, 16), 0);
	assert_int_equal(look(a).banks_available, 16);
	assert_int_equal(look(b).banks_available, 12);
	assert_int_equal(look(c).banks_available, 0);
	/* Giving some back is always possible. */
	assert_int_equal(npu_sim_budget_reserve(a, 2), 0);
	assert_int_equal(look(c).banks_available, 2);
	npu_sim_budget_close(b);
	assert_int_equal(look(c).banks_available, 14);
	npu_sim_budget_close(a);
	assert_int_equal(look(c).banks_available, 16);
	npu_sim_budget_close(c);
}

static void test_many_clients(void **state)
{
	struct npu_sim_budget *client[65];
	struct npu_reservation found;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(client); i++)
		assert_int_equal(npu_sim_budget_open("t", 1000, &client[i]), 0);
	for (i = 0; i < 64; i++)
		assert_int_equal(npu_sim_budget_reserve(client[i], 1), 0);
	assert_int_equal(npu_sim_budget_reserve(client[64], 1), -EBUSY);
	for (i = 0; i < 64; i++) {
		assert_int_equal(npu_sim_budget_reservation(client[64], i, &found), 0);
		assert_int_equal(found.pid, getpid());
		assert_int_equal(found.banks, 1);
	}
	assert_int_equal(npu_sim_budget_reservation(client[64], 64, &found), -ENOENT);
	for (i = 0; i < ARRAY_SIZE(client); i++)
		npu_sim_budget_close(client[i]);
}

/* A child that reserves, tells so, and sleeps until it is killed. */
static pid_t start_client(u32 banks)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct npu_sim_budget *budget;

		if (npu_sim_budget_open("t", TOTAL, &budget) ||
		    npu_sim_budget_reserve(budget, banks) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void kill_client(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_dead_client(void **state)
{
	struct npu_sim_budget *budget = open_budget();
	pid_t pid = start_client(30);
	u64 generation;

	assert_int_equal(look(budget).banks_available, 2);
	generation = look(budget).generation;
	kill_client(pid);
	assert_int_equal(look(budget).banks_available, TOTAL);
	assert_int_equal(look(budget).generation, generation + 1);
	npu_sim_budget_close(budget);
}

static void test_wait(void **state)
{
	struct npu_sim_budget *budget = open_budget();
	struct npu_device_budget now = look(budget);
	u64 before = npu_now_ns();
	pid_t pid;

	assert_int_equal(npu_sim_budget_wait(budget, now.generation, 20), -ETIMEDOUT);
	assert_true(npu_now_ns() - before >= 20000000);
	assert_int_equal(npu_sim_budget_wait(budget, now.generation, 0), -ETIMEDOUT);
	assert_int_equal(npu_sim_budget_wait(budget, now.generation - 1, -1), 0);

	/* A change from another process, which then dies. */
	pid = start_client(7);
	assert_int_equal(npu_sim_budget_wait(budget, now.generation, 5000), 0);
	now = look(budget);
	assert_int_equal(now.banks_available, TOTAL - 7);
	kill_client(pid);
	assert_int_equal(npu_sim_budget_wait(budget, now.generation, 5000), 0);
	assert_int_equal(look(budget).banks_available, TOTAL);
	npu_sim_budget_close(budget);
}

static void *change_often(void *argument)
{
	struct npu_sim_budget *budget = argument;
	u32 i;

	/* Two at the least: room for the reservation of each of the two processes below. */
	for (i = 0; i < 200; i++)
		if (npu_sim_budget_set_cap(budget, 2 + i % (TOTAL - 1)))
			return argument;
	return NULL;
}

/* Threads that share a handle, and processes besides: no change is lost. */
static void test_contention(void **state)
{
	struct npu_sim_budget *budget = open_budget();
	pthread_t thread[4];
	pid_t pid[2];
	void *failed;
	int status;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(pid); i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (pid[i] == 0) {
			struct npu_sim_budget *own;

			if (npu_sim_budget_open("t", TOTAL, &own))
				_exit(1);
			for (k = 1; k <= 200; k++)
				if (npu_sim_budget_reserve(own, k % 2))
					_exit(1);
			npu_sim_budget_close(own);
			_exit(0);
		}
	}
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		assert_int_equal(pthread_create(&thread[i], NULL, change_often, budget), 0);
	for (i = 0; i < ARRAY_SIZE(thread); i++) {
		assert_int_equal(pthread_join(thread[i], &failed), 0);
		assert_null(failed);
	}
	for (i = 0; i < ARRAY_SIZE(pid); i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(look(budget).banks_reserved, 0);
	/* Each process changed 200 times; how often threads set an equal cap is chance. */
	assert_true(look(budget).generation > 400);
	npu_sim_budget_close(budget);
}

/* Every byte of the file matters: any change of one is noticed. */
static void test_damage(void **state)
{
	struct npu_sim_budget *budget = open_budget(), *late;
	struct npu_device_budget now;
	char path[128];
	struct stat st;
	off_t i;
	int fd;
	u8 byte;

	file_path(path);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(st.st_size > 1000);
	for (i = 0; i < st.st_size; i += 7) {
		assert_int_equal(pread(fd, &byte, 1, i), 1);
		byte ^= 0x41;
		assert_int_equal(pwrite(fd, &byte, 1, i), 1);
		assert_int_equal(npu_sim_budget_read(budget, &now), -EUCLEAN);
		assert_non_null(strstr(npu_error(), path));
		assert_int_equal(npu_sim_budget_open("t", TOTAL, &late), -EUCLEAN);
		byte ^= 0x41;
		assert_int_equal(pwrite(fd, &byte, 1, i), 1);
	}
	assert_int_equal(npu_sim_budget_read(budget, &now), 0);
	/* Cut short while it is open and mapped. */
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(npu_sim_budget_read(budget, &now), -EUCLEAN);
	assert_int_equal(npu_sim_budget_wait(budget, 1, 10), -EUCLEAN);
	assert_int_equal(ftruncate(fd, st.st_size + 1), 0);
	assert_int_equal(npu_sim_budget_read(budget, &now), -EUCLEAN);
	close(fd);
	npu_sim_budget_close(budget);
}

/* The disk is full when the record is made: that is nobody else's trouble afterwards. */
static void test_no_room(void **state)
{
	struct npu_sim_budget *budget;
	struct rlimit limit;
	rlim_t bytes;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	for (bytes = 0; bytes < 1500; bytes += 100) {
		const struct rlimit small = { bytes, limit.rlim_max };

		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		assert_true(npu_sim_budget_open("t", TOTAL, &budget) < 0);
		assert_non_null(strstr(npu_error(), "cannot write"));
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	}
	signal(SIGXFSZ, SIG_DFL);
	budget = open_budget();
	assert_int_equal(look(budget).banks_available, TOTAL);
	npu_sim_budget_close(budget);
}

static void test_other_device(void **state)
{
	struct npu_sim_budget *budget = open_budget(), *other;

	assert_int_equal(npu_sim_budget_open("t", TOTAL / 2, &other), -EUCLEAN);
	npu_sim_budget_close(budget);
}

static void test_not_ours(void **state)
{
	struct npu_sim_budget *budget;
	char path[128], target[128];

	/* A link that leads elsewhere is not followed. */
	file_path(path);
	snprintf(target, sizeof(target), "%s/elsewhere", dir);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(npu_sim_budget_open("t", TOTAL, &budget), -ELOOP);
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(unlink(path), 0);
	/* Neither a file nor a directory that others may write. */
	budget = open_budget();
	npu_sim_budget_close(budget);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(npu_sim_budget_open("t", TOTAL, &budget), -EUCLEAN);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(npu_sim_budget_open("t", TOTAL, &budget), -EUCLEAN);
	assert_int_equal(chmod(dir, 0700), 0);
	assert_int_equal(setenv("NPU_SIM_DIR", "/proc/none/such", 1), 0);
	assert_int_equal(npu_sim_budget_open("t", TOTAL, &budget), -ENOENT);
}

/* A runtime directory that was inherited but is not there does not keep the NPU from opening. */
static void test_default_places(void **state)
{
	char path[128], own[64];
	struct npu_sim_budget *budget;

	assert_int_equal(unsetenv("NPU_SIM_DIR"), 0);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", dir, 1), 0);
	budget = open_budget();
	npu_sim_budget_close(budget);
	snprintf(path, sizeof(path), "%s/npu/t.budget", dir);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/npu", dir);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", "/proc/none/such", 1), 0);
	assert_int_equal(npu_sim_budget_open("unit-test", TOTAL, &budget), 0);
	npu_sim_budget_close(budget);
	snprintf(own, sizeof(own), "/tmp/npu-%u/unit-test.budget", (unsigned)geteuid());
	assert_int_equal(unlink(own), 0);
}

static void test_private(void **state)
{
	struct npu_sim_budget *a, *b;

	assert_int_equal(setenv("NPU_SIM_DIR", "-", 1), 0);
	a = open_budget();
	b = open_budget();
	assert_int_equal(npu_sim_budget_set_cap(a, 3), 0);
	assert_int_equal(look(a).banks_available, 3);
	assert_int_equal(look(b).banks_available, TOTAL);
	npu_sim_budget_close(a);
	npu_sim_budget_close(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fresh),	   TEST(test_cap),
		TEST(test_reservations),   TEST(test_many_clients),
		TEST(test_dead_client),	   TEST(test_wait),
		TEST(test_contention),	   TEST(test_damage),
		TEST(test_other_device),   TEST(test_not_ours),
		TEST(test_default_places), TEST(test_private),
		TEST(test_no_room),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
