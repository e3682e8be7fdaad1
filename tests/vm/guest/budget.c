// SPDX-License-Identifier: MIT
/*
 * The live budget: reservations are the owner's floor and the others' ceiling, every change counts
 * the generation up, what was accepted runs to its end, a client that dies gives its share back.
 *
 * vm-test: kernel=all timeout=200
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

static int fd;
static u32 total;

static int reserve(int file, u32 banks, u64 *generation)
{
	struct drm_nvdla_reserve reserve = { .banks = banks };
	int err = guest_ioctl(file, DRM_IOCTL_NVDLA_RESERVE, &reserve);

	if (generation)
		*generation = reserve.generation;
	return err;
}

static bool seen(int file, u32 available, u32 reserved, u32 own)
{
	struct drm_nvdla_budget b = guest_budget(file);
	bool good = b.banks_total == total && b.banks_available == available &&
		    b.banks_reserved == reserved && b.banks_own == own;

	if (!good)
		printf("# total %u usable %u limit %u available %u reserved %u own %u\n",
		       b.banks_total, b.banks_usable, b.banks_limit, b.banks_available,
		       b.banks_reserved, b.banks_own);
	return good;
}

static void check_idle(void)
{
	struct drm_nvdla_budget b = guest_budget(fd);

	total = b.banks_total;
	tap(total == guest_config(fd)->banks && b.banks_usable == total && b.banks_limit == total,
	    "%u banks, all usable and allowed", total);
	tap(seen(fd, total, 0, 0), "nobody has reserved any");
}

static void check_reserve(void)
{
	int other = guest_open();
	u64 g0 = guest_budget(fd).generation, g1, g2;

	tap(!reserve(fd, total / 4, &g1) && g1 > g0, "a quarter is reserved");
	tap(guest_budget(fd).generation == g1, "the generation is that of the call");
	tap(seen(fd, total, total / 4, total / 4), "its owner sees all of it");
	tap(seen(other, total - total / 4, total / 4, 0), "others less");
	tap(!reserve(fd, total / 4, &g2) && g2 == g1, "the same again changes nothing");
	tap(reserve(other, total, NULL) == -ENOSPC, "another cannot have all");
	tap(guest_budget(fd).generation == g1, "which changes nothing");
	tap(!reserve(other, total - total / 4, NULL), "but the rest");
	tap(seen(fd, total / 4, total, total / 4) &&
		    seen(other, total - total / 4, total, total - total / 4),
	    "then each has its own");
	tap(!reserve(fd, 0, NULL) && seen(fd, total / 4, total - total / 4, 0),
	    "one gives its share back");
	close(other);
	tap(seen(fd, total, 0, 0), "the other's goes with its file");
}

/* A chain is refused by what it needs, not by the generation that it was planned for. */
static void check_admission(void)
{
	struct guest_work_shape shape = { .tasks = 1, .data_banks = total - 1 };
	struct guest_work large, small;
	int other = guest_open();
	u32 failed;
	struct drm_nvdla_job job;

	guest_work_new(fd, &shape, &large);
	tap(large.banks == total, "a chain claims all banks");
	shape.data_banks = 1;
	guest_work_new(fd, &shape, &small);
	tap(guest_work_run(&large, 1), "it runs while all are there");
	NEED(!reserve(other, 1, NULL), "another client reserves a bank");
	job = guest_work_job(&large);
	tap(guest_submit(fd, &job, 1, &failed) == -ENOSPC && failed == 0, "then it is refused");
	tap(guest_work_run(&small, 2), "one that needs less runs, whatever it was planned for");
	NEED(!reserve(other, 0, NULL), "the bank is given back");
	tap(guest_work_run(&large, 3), "the same chain runs again");
	guest_work_free(&large);
	guest_work_free(&small);
	close(other);
}

/* What was accepted keeps its claim, whoever reserves in the meantime. */
static void check_accepted(void)
{
	struct guest_work_shape shape = { .tasks = 1, .data_banks = total - 1 };
	struct guest_work large;
	int other = guest_open(), err;

	guest_work_new(fd, &shape, &large);
	guest_work_fill(&large, 4);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, 300);
	NEED(!guest_work_submit(&large), "a chain with all banks is accepted");
	err = reserve(other, total / 2, NULL);
	tap(!err || err == -ENOSPC, "a reservation meanwhile: %s", strerror(-err));
	tap(!guest_work_wait(&large, GUEST_WAIT_MS) && guest_work_right(&large),
	    "the accepted chain ends right");
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(!reserve(other, total / 2, NULL), "afterwards the reservation stands");
	guest_work_free(&large);
	close(other);
}

/* A process that is killed: its share comes back, its job in flight does no harm. */
static void check_killed(bool busy)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct guest_work work;
	int ready[2], status, i;
	char byte;
	pid_t child;

	NEED(!pipe(ready), "a pipe is made");
	child = fork();
	if (!child) {
		int own = guest_open();

		guest_work_new(own, &shape, &work);
		guest_work_fill(&work, 5);
		if (reserve(own, total / 2, NULL))
			_exit(1);
		if (busy) {
			guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, 300);
			guest_work_submit(&work);
		}
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	NEED(child > 0 && read(ready[0], &byte, 1) == 1, "a second process reserves half");
	tap(seen(fd, total - total / 2, total / 2, 0), "the other half is left");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	for (i = 0; i < GUEST_WAIT_MS / 10 && guest_budget(fd).banks_available != total; i++)
		guest_sleep_ms(10);
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(seen(fd, total, 0, 0), "killed%s: all is there again after %d ms",
	    busy ? " with a job in flight" : "", i * 10);
	close(ready[0]);
	close(ready[1]);
}

/* Many clients at once: the sum never exceeds what there is, and nothing is lost. */
static void check_race(void)
{
	enum { CLIENTS = 8, ROUNDS = 300 };
	u32 i, k, bad = 0;
	int status;

	for (i = 0; i < CLIENTS; i++) {
		if (fork())
			continue;
		{
			int own = guest_open();
			u32 state = i + 1;

			for (k = 0; k < ROUNDS; k++) {
				struct drm_nvdla_budget b;

				state = state * 1664525u + 1013904223u;
				reserve(own, (state >> 20) % (total + 2), NULL);
				b = guest_budget(own);
				if (b.banks_reserved > total || b.banks_available > total ||
				    b.banks_own > b.banks_available)
					_exit(1);
			}
			_exit(0);
		}
	}
	for (i = 0; i < CLIENTS; i++)
		if (wait(&status) < 0 || status)
			bad++;
	tap(!bad, "eight clients reserve at random: never more than there is");
	tap(seen(fd, total, 0, 0), "afterwards nothing is reserved");
}

int main(void)
{
	fd = guest_open();
	check_idle();
	check_reserve();
	check_admission();
	check_accepted();
	check_killed(false);
	check_killed(true);
	check_race();
	close(fd);
	return tap_end();
}
