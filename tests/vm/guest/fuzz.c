// SPDX-License-Identifier: MIT
/*
 * Hostile clients: processes whose threads make calls with mutated chains and arguments, send netlink
 * messages, close files, disturb the device, and are killed at any moment; now and then the driver
 * loses its device.  Memory that is not theirs stays as it was, and in the end the NPU still computes.
 *
 *	fuzz [SECONDS [SEED]]	NPU_TEST_FUZZ_SECONDS and NPU_TEST_FUZZ_SEED in the environment do the same
 *
 * vm-test: kernel=all iommu=both timeout=600 smp=2
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz_ops.h"
#include "plug.h"

enum {
	CLIENTS = 4, /* processes at a time */
	THREADS = 2, /* of each */
	CANARIES = 64, /* buffers of a client that does nothing else */
	CANARY_BYTES = 16384,
	PLAIN_BYTES = 24 << 20, /* memory that no device ever saw */
};

/* ---- memory that has to stay as it is ---- */

struct canaries {
	int fd;
	struct guest_bo bo[CANARIES];
	u64 *plain;
};

static u64 canary_word(u64 i)
{
	return (i + 1) * 0x9e3779b97f4a7c15ull;
}

static void canary_bo_new(struct canaries *c, u32 i)
{
	u64 k;

	if (guest_bo_new(c->fd, CANARY_BYTES, i & 1 ? DRM_NVDLA_BO_CACHED : 0, &c->bo[i]))
		return;
	for (k = 0; k < CANARY_BYTES / 8; k++)
		((u64 *)c->bo[i].data)[k] = canary_word(k + i);
}

static bool canary_bo_whole(const struct canaries *c, u32 i)
{
	u64 k;

	for (k = 0; c->bo[i].data && k < CANARY_BYTES / 8; k++)
		if (((u64 *)c->bo[i].data)[k] != canary_word(k + i))
			return false;
	return true;
}

static void canaries_open(struct canaries *c)
{
	u32 i;

	c->fd = guest_open();
	for (i = 0; i < CANARIES; i++)
		canary_bo_new(c, i);
}

static void canaries_begin(struct canaries *c)
{
	u64 k;

	c->plain = mmap(NULL, PLAIN_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	NEED(c->plain != MAP_FAILED, "memory");
	for (k = 0; k < PLAIN_BYTES / 8; k++)
		c->plain[k] = canary_word(k);
	canaries_open(c);
}

/* Looks at some, and makes them anew between the buffers of the others. */
static u32 canaries_move(struct canaries *c, struct fuzz_thread *t)
{
	u32 n, broken = 0;

	for (n = 0; n < 4; n++) {
		u32 i = fuzz_random(t, CANARIES);

		broken += !canary_bo_whole(c, i);
		guest_bo_free(c->fd, &c->bo[i]);
		canary_bo_new(c, i);
	}
	return broken;
}

static u32 canaries_close(struct canaries *c)
{
	u32 i, broken = 0;

	for (i = 0; i < CANARIES; i++) {
		broken += !canary_bo_whole(c, i);
		guest_bo_free(c->fd, &c->bo[i]);
	}
	close(c->fd);
	return broken;
}

static u32 canaries_end(struct canaries *c)
{
	u32 broken = canaries_close(c);
	u64 k;

	for (k = 0; k < PLAIN_BYTES / 8; k++)
		broken += c->plain[k] != canary_word(k);
	munmap(c->plain, PLAIN_BYTES);
	return broken;
}

/* ---- clients ---- */

static void *thread_main(void *arg)
{
	for (;;)
		fuzz_step(arg);
	return NULL;
}

static void client_main(struct fuzz_counters *counters, u32 seed)
{
	static struct fuzz_client client;
	static struct fuzz_thread thread[THREADS];
	u32 i;

	fuzz_client_open(&client, counters, true);
	for (i = 0; i < THREADS; i++) {
		thread[i].client = &client;
		thread[i].genl.fd = -1;
		thread[i].random = (seed * THREADS + i) * 2654435761u | 1;
		if (pthread_create(&thread[i].thread, NULL, thread_main, &thread[i]))
			_exit(1);
	}
	pthread_join(thread[0].thread, NULL);
	_exit(0);
}

static pid_t client_new(struct fuzz_counters *counters, u32 seed)
{
	pid_t child = fork();

	if (!child)
		client_main(counters, seed);
	NEED(child > 0, "a process is made: %s", strerror(errno));
	return child;
}

/* ---- the device goes and comes ---- */

/*
 * The driver is taken from its device while all are busy, and gets it back.  No interrupt is late then:
 * QEMU would deliver it to an address that is not set any more, as no device does.
 */
static bool replug(struct fuzz_counters *counters, struct fuzz_thread *t)
{
	u64 begin;
	int err;

	fuzz_faults_lock(counters);
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	guest_sleep_ms(100);
	begin = guest_now_ns();
	err = guest_unbind();
	printf("# unbound in %llu ms\n", (unsigned long long)(guest_now_ns() - begin) / 1000000);
	guest_sleep_ms(fuzz_random(t, 50));
	if (!err)
		err = guest_bind();
	pthread_mutex_unlock(&counters->faults);
	return !err;
}

/* The canaries' own file is of the device before: they begin anew. */
static u32 replug_round(struct fuzz_counters *counters, struct fuzz_thread *t,
			struct canaries *canaries, u32 *failed)
{
	u32 result = canaries_close(canaries);

	*failed += !replug(counters, t);
	canaries_open(canaries);
	return result;
}

/* A while in which the clients get something done, on slow machines too. */
static void let_work(const struct fuzz_counters *counters, struct fuzz_thread *t)
{
	u64 until = guest_now_ns() + 3000000000ull;
	unsigned long long enough = counters->calls + 100 + fuzz_random(t, 600);

	do {
		guest_sleep_ms(20 + fuzz_random(t, 100));
	} while (counters->calls < enough && guest_now_ns() < until);
}

/* A client that was killed keeps its reservation until the NPU is done with its last job. */
static struct drm_nvdla_budget budget_at_rest(int fd)
{
	struct drm_nvdla_budget budget = guest_budget(fd);
	u32 i;

	for (i = 0; i < GUEST_WAIT_MS / 10 && budget.banks_reserved; i++) {
		guest_sleep_ms(10);
		budget = guest_budget(fd);
	}
	return budget;
}

static u32 environment(const char *name, u32 otherwise)
{
	const char *text = getenv(name);

	return text && *text ? (u32)strtoul(text, NULL, 0) : otherwise;
}

static void report(const struct fuzz_counters *n, u64 seconds)
{
	printf("# %llu s: %llu calls (%llu refused), chains %llu good %llu refused, %llu jobs, "
	       "%llu waits, %llu messages\n",
	       (unsigned long long)seconds, n->calls, n->refused, n->chains, n->chains_refused,
	       n->jobs, n->jobs_done, n->messages);
	fflush(stdout);
}

static u32 broken, killed, replugs, replug_failed;

/* Kills and replaces clients until the time is over. */
static void campaign(struct fuzz_counters *counters, u32 seconds, u32 seed)
{
	static struct fuzz_thread t;
	static struct canaries canaries;
	u64 begin = guest_now_ns(), end = begin + seconds * 1000000000ull, told = begin;
	u64 next_replug = begin + 8000000000ull;
	pid_t client[CLIENTS];
	u32 i, born = 0;

	t.random = seed * 2654435761u | 1;
	canaries_begin(&canaries);
	for (i = 0; i < CLIENTS; i++)
		client[i] = client_new(counters, seed + born++);
	while (guest_now_ns() < end) {
		let_work(counters, &t);
		i = fuzz_random(&t, CLIENTS);
		kill(client[i], SIGKILL);
		waitpid(client[i], NULL, 0);
		client[i] = client_new(counters, seed + born++);
		killed++;
		broken += canaries_move(&canaries, &t);
		if (guest_now_ns() > next_replug) {
			broken += replug_round(counters, &t, &canaries, &replug_failed);
			replugs++;
			next_replug = guest_now_ns() + 10000000000ull;
		}
		if (guest_now_ns() - told > 10000000000ull) {
			told = guest_now_ns();
			report(counters, (told - begin) / 1000000000u);
		}
	}
	for (i = 0; i < CLIENTS; i++) {
		kill(client[i], SIGKILL);
		waitpid(client[i], NULL, 0);
	}
	broken += canaries_end(&canaries);
}

int main(int argc, char **argv)
{
	static const struct guest_work_shape shape = { .tasks = 5 };
	u32 seconds = argc > 1 ? (u32)atoi(argv[1]) : environment("NPU_TEST_FUZZ_SECONDS", 25);
	u32 seed = argc > 2 ? (u32)atoi(argv[2]) : environment("NPU_TEST_FUZZ_SEED", 1);
	struct fuzz_counters *counters = fuzz_counters_new();
	struct drm_nvdla_budget budget;
	struct guest_work work;
	struct guest_genl genl;
	u32 device = 0;
	int fd, err;

	guest_device_name(); /* found while it is there */
	guest_ctrl_read(NVDLA_PCI_CTRL_ID); /* children inherit the mapping */
	printf("# %u seconds, seed %u\n", seconds, seed);
	campaign(counters, seconds, seed);
	report(counters, seconds);
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(counters->chains > 0 && counters->jobs > 0, "chains were accepted and jobs ran");
	tap(!broken, "nobody's memory was written to");
	tap(!replug_failed, "%u clients were killed, the device went and came %u times", killed,
	    replugs);
	err = guest_genl_open(&genl);
	if (!err)
		err = guest_genl_device(&genl, &device);
	tap(!err, "the netlink family answers: %s", strerror(-err));
	fd = guest_open();
	budget = guest_budget(fd);
	/* The administrator's limit may be anything now. */
	err = guest_genl_limit(&genl, device, budget.banks_total);
	tap(!err, "the limit is set back: %s", strerror(-err));
	budget = budget_at_rest(fd);
	tap(!budget.banks_reserved && budget.banks_available == budget.banks_usable,
	    "no reservation is left over: %u", budget.banks_reserved);
	guest_work_new(fd, &shape, &work);
	tap(guest_work_run(&work, 1) && guest_work_run(&work, 2), "the NPU computes right");
	guest_work_free(&work);
	close(fd);
	tap(!guest_ctrl_read(NVDLA_PCI_CTRL_STRAY_DMA),
	    "the device made no access outside of what is mapped for it: %u",
	    guest_ctrl_read(NVDLA_PCI_CTRL_STRAY_DMA));
	return tap_end();
}
