// SPDX-License-Identifier: MIT
/*
 * Banks that go bad: the buffer ends below the lowest of them; what runs is waited for, what waits
 * and needs them fails, what needs less goes on.
 *
 * vm-test: kernel=all
 */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

#define SLOW_MS 2000 /* of a task on the slow device; the guest may be slow too */

static int fd;
static u32 total;
static char file[256];

static bool find_file(void)
{
	glob_t found;
	bool good = glob("/sys/kernel/debug/accel/*/unusable_banks", 0, NULL, &found) == 0;

	if (good)
		snprintf(file, sizeof(file), "%s", found.gl_pathv[0]);
	globfree(&found);
	return good;
}

static int set_unusable(u64 mask)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%llx\n", (unsigned long long)mask);
	return guest_file_write(file, text);
}

static void check_prefix(void)
{
	struct drm_nvdla_budget before = guest_budget(fd), b;

	tap(!set_unusable(1ull << (total / 2) | 1ull << (total - 1)), "two banks are bad");
	b = guest_budget(fd);
	tap(b.banks_usable == total / 2 && b.banks_available == total / 2 &&
		    b.banks_limit == total && b.generation == before.generation + 1,
	    "those below the lower one are left");
	tap(set_unusable(1ull << total) == -EINVAL && guest_budget(fd).generation == b.generation,
	    "a bank that is not there cannot be bad");
	tap(!set_unusable(1) && guest_budget(fd).banks_available == 0,
	    "without bank 0 none is left");
	tap(!set_unusable(0) && guest_budget(fd).banks_available == total, "all are well again");
}

static void check_admission(void)
{
	struct guest_work_shape shape = { .tasks = 1, .data_banks = total / 2 };
	struct guest_work large, small;
	struct drm_nvdla_job job;

	guest_work_new(fd, &shape, &large);
	shape.data_banks = 1;
	guest_work_new(fd, &shape, &small);
	NEED(!set_unusable(1ull << (total / 2)), "a bank is bad");
	job = guest_work_job(&large);
	tap(guest_submit(fd, &job, 1, NULL) == -ENOSPC, "a chain that needs it is refused");
	tap(guest_work_run(&small, 1), "one that needs less runs");
	NEED(!set_unusable(0), "it is well again");
	tap(guest_work_run(&large, 2), "then the chain runs");
	guest_work_free(&large);
	guest_work_free(&small);
}

/* Four chains are accepted, then banks go.  Two may be with the NPU by then; those behind fail. */
static void check_loss(void)
{
	struct guest_work_shape shape = { .tasks = 1, .data_banks = total - 1 };
	struct guest_work work[4], small;
	u64 begin;
	u32 i;
	int err;

	for (i = 0; i < ARRAY_SIZE(work); i++) {
		guest_work_new(fd, &shape, &work[i]);
		guest_work_fill(&work[i], 3 + i);
	}
	shape.data_banks = 1;
	guest_work_new(fd, &shape, &small);
	guest_work_fill(&small, 9);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, SLOW_MS);
	for (i = 0; i < ARRAY_SIZE(work); i++)
		NEED(!guest_work_submit(&work[i]), "a chain with all banks is accepted");
	NEED(!guest_work_submit(&small), "one that needs less too");
	guest_sleep_ms(SLOW_MS / 10);
	begin = guest_now_ns();
	tap(!set_unusable(1ull << 2), "banks go while the first one runs");
	tap(guest_now_ns() - begin > SLOW_MS / 4 * 1000000ull, "that waits for it");
	tap(!guest_work_wait(&work[0], GUEST_WAIT_MS) && guest_work_right(&work[0]),
	    "it ends right");
	err = guest_work_wait(&work[1], GUEST_WAIT_MS);
	tap(err == -EIO || (!err && guest_work_right(&work[1])),
	    "the next one ends right or fails");
	for (i = 2; i < ARRAY_SIZE(work); i++)
		tap(guest_work_wait(&work[i], GUEST_WAIT_MS) == -EIO, "one that waited fails");
	tap(!guest_work_wait(&small, GUEST_WAIT_MS) && guest_work_right(&small),
	    "one that needs less ends right");
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	NEED(!set_unusable(0), "all are well again");
	for (i = 0; i < ARRAY_SIZE(work); i++) {
		tap(guest_work_run(&work[i], 20 + i), "then it runs");
		guest_work_free(&work[i]);
	}
	guest_work_free(&small);
}

int main(void)
{
	fd = guest_open();
	total = guest_config(fd)->banks;
	NEED(find_file(), "debugfs has unusable_banks");
	check_prefix();
	check_admission();
	check_loss();
	close(fd);
	return tap_end();
}
