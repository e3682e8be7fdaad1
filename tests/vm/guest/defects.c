// SPDX-License-Identifier: MIT
/*
 * Faults that an earlier driver for this hardware is known to have, one check each, where no other test
 * looks at it.  README.md has the list, with the other tests.
 *
 * vm-test: kernel=all timeout=200
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

static int fd;
static const struct nvdla_config *config;

/* Where the @i'th address of the first task is in a stream. */
static struct nvdla_chain_addr *address(struct chain_build *b, u32 i)
{
	struct nvdla_chain_task *task =
		(struct nvdla_chain_task *)(b->data + sizeof(struct nvdla_chain_header));

	return (struct nvdla_chain_addr *)((u8 *)(task + 1) +
					   task->reg_count * sizeof(struct nvdla_chain_reg)) +
	       i;
}

static u32 *reg(struct chain_build *b, u32 offset)
{
	struct nvdla_chain_task *task =
		(struct nvdla_chain_task *)(b->data + sizeof(struct nvdla_chain_header));
	struct nvdla_chain_reg *r = (struct nvdla_chain_reg *)(task + 1);
	u32 i;

	for (i = 0; i < task->reg_count; i++)
		if (r[i].reg == offset)
			return &r[i].value;
	NEED(false, "the stream names register 0x%x", offset);
	return NULL;
}

static int create(struct chain_build *b, struct drm_nvdla_chain_region *region)
{
	struct drm_nvdla_chain_create answer;
	char message[WORK_MESSAGE];
	int err =
		guest_chain_new(fd, b->data, (u32)b->size, &answer, region, TASK_REGIONS, message);

	if (!err)
		guest_chain_free(fd, answer.handle);
	return err;
}

/* Defect 2: an index one behind the last, or negative, leads out of the table of addresses. */
static void check_index(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	static const u32 wrong[] = { TASK_REGIONS, TASK_REGIONS + 1, 0x7fffffff, 0x80000000,
				     0xffffffff };
	struct chain_build b;
	u32 i, k, refused = 0;

	guest_work_stream(&b, config, &shape);
	for (i = 0; i < 3; i++)
		for (k = 0; k < ARRAY_SIZE(wrong); k++) {
			u32 old = address(&b, i)->region;

			address(&b, i)->region = wrong[k];
			refused += create(&b, NULL) == -EINVAL;
			address(&b, i)->region = old;
		}
	tap(refused == 3 * ARRAY_SIZE(wrong) && !create(&b, NULL),
	    "2: addresses in regions that there are not: %u refused", refused);
	chain_free(&b);
}

/* Defect 4: a surface that ends behind its buffer, by one byte or by far. */
static void check_extent(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct drm_nvdla_chain_region region[TASK_REGIONS];
	struct guest_work work;
	struct drm_nvdla_job job;
	struct chain_build b;
	u64 whole;
	int err;

	guest_work_new(fd, &shape, &work);
	whole = work.region[TASK_OUTPUT].size;
	job = guest_work_job(&work);
	work.binding[TASK_OUTPUT].size = whole - 1;
	err = guest_submit(fd, &job, 1, NULL);
	tap(err == -EINVAL, "4: one byte too few is refused: %s", strerror(-err));
	work.binding[TASK_OUTPUT].size = whole;
	work.binding[TASK_OUTPUT].offset = (work.bo[TASK_OUTPUT].size - whole + 4096) / 4096 * 4096;
	err = guest_submit(fd, &job, 1, NULL);
	tap(err == -EINVAL, "4: the same, from the other end: %s", strerror(-err));
	guest_work_stream(&b, config, &shape);
	*reg(&b, NVDLA_SDP_D_DST_SURFACE_STRIDE) *= 16;
	err = create(&b, region);
	tap(!err && (region[TASK_OUTPUT].size > whole ||
		     DIV_ROUND_UP(WORK_KERNELS, (u32)config->atom) == 1),
	    "4: strides count: %llu bytes become %llu", (unsigned long long)whole,
	    (unsigned long long)region[TASK_OUTPUT].size);
	address(&b, 0)->offset = ~0ull - 7;
	err = create(&b, region);
	tap(err == -EINVAL, "4: an offset that wraps is refused: %s", strerror(-err));
	chain_free(&b);
	work.binding[TASK_OUTPUT].offset = 0;
	tap(guest_work_run(&work, 1), "4: the right size is right");
	guest_work_free(&work);
}

/* Defect 5: numbers of banks are stored minus one; their sum may exceed what there is. */
static void check_banks(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct chain_build b;
	u32 data, weight, wrong = 0;

	guest_work_stream(&b, config, &shape);
	for (data = 0; data < 32; data++)
		for (weight = 0; weight < 32; weight++) {
			u32 value = NVDLA_SET(CDMA, D_BANK, DATA_BANK, data) |
				    NVDLA_SET(CDMA, D_BANK, WEIGHT_BANK, weight);

			*reg(&b, NVDLA_CDMA_D_BANK) = value;
			*reg(&b, NVDLA_CSC_D_BANK) = value;
			if ((data + 1) + (weight + 1) > config->banks)
				wrong += create(&b, NULL) != -EINVAL;
		}
	tap(!wrong, "5: every sum of banks beyond %u is refused", config->banks);
	chain_free(&b);
}

/* Defect 6: two processes at a time spoil each other's work. */
static void check_two(void)
{
	enum { PROCESSES = 6, RUNS = 15 };
	u32 i, k, bad = 0;
	int status;

	for (i = 0; i < PROCESSES; i++)
		if (!fork()) {
			struct guest_work_shape shape = { .tasks = 1 + i, .dependent = i & 1 };
			struct guest_work work;
			int own = guest_open();

			guest_work_new(own, &shape, &work);
			for (k = 0; k < RUNS; k++)
				if (!guest_work_run(&work, i * RUNS + k))
					_exit(1);
			_exit(0);
		}
	while (wait(&status) > 0)
		bad += status != 0;
	tap(!bad, "6: six processes at once, each result is its own");
}

static void on_alarm(int signal)
{
}

/* Defect 7: a wait that nothing ends. */
static void check_wait(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	const struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval timer = { .it_value.tv_usec = 100000 };
	struct drm_nvdla_bo_wait wait = { .timeout_ns = 0x7fffffffffffffffll };
	struct guest_work work;
	struct drm_nvdla_job job;
	u64 begin;
	int err;

	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 1);
	job = guest_work_job(&work);
	job.timeout_ms = 800;
	guest_fault(NVDLA_PCI_FAULT_HANG, 0);
	NEED(!guest_submit(fd, &job, 1, NULL), "a job that hangs is accepted");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	wait.handle = work.bo[TASK_OUTPUT].handle;
	begin = guest_now_ns();
	err = ioctl(fd, DRM_IOCTL_NVDLA_BO_WAIT, &wait) ? -errno : 0;
	tap(err == -EINTR && guest_now_ns() - begin < 700000000u,
	    "7: a signal ends a wait: %s after %llu ms", strerror(-err),
	    (unsigned long long)(guest_now_ns() - begin) / 1000000);
	err = guest_work_wait(&work, GUEST_WAIT_MS);
	tap(err == -ETIMEDOUT, "7: the time-out ends the job: %s", strerror(-err));
	tap(guest_work_run(&work, 2), "7: the device was reset");
	guest_work_free(&work);
}

static volatile bool flipping;

/* Changes the stream while the kernel may look at it. */
static void *flip(void *arg)
{
	struct chain_build *b = arg;
	volatile u32 *region = &address(b, 1)->region;
	u32 good = *region;

	while (flipping) {
		*region = 0x7fffffff;
		*region = good;
	}
	return NULL;
}

/* Defect 9: what user space can change is looked at again; the kernel writes into it. */
static void check_copy(void)
{
	enum { TRIES = 400 };
	static const struct guest_work_shape shape = { .tasks = 4 };
	struct drm_nvdla_chain_create answer;
	u32 i, accepted = 0, refused = 0, other = 0, right = 0;
	struct guest_work work;
	struct chain_build b;
	pthread_t thread;
	size_t pages;
	u32 old;
	void *page;
	int err;

	guest_work_new(fd, &shape, &work);
	guest_work_stream(&b, config, &shape);
	flipping = true;
	NEED(!pthread_create(&thread, NULL, flip, &b), "a thread");
	old = work.chain;
	for (i = 0; i < TRIES; i++) {
		err = guest_chain_new(fd, b.data, (u32)b.size, &answer, NULL, 0, NULL);
		accepted += !err;
		refused += err == -EINVAL;
		other += err && err != -EINVAL;
		if (err)
			continue;
		work.chain = answer.handle;
		if (accepted <= 10)
			right += guest_work_run(&work, i);
		guest_chain_free(fd, answer.handle);
	}
	flipping = false;
	pthread_join(thread, NULL);
	work.chain = old;
	tap(!other && right == min(accepted, 10u),
	    "9: a stream that changes under the kernel's eyes: %u accepted, %u refused, those "
	    "right",
	    accepted, refused);
	/* Memory that cannot be written is as good. */
	pages = (b.size + 4095) / 4096 * 4096;
	page = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(page != MAP_FAILED, "memory");
	guest_work_stream(&b, config, &shape);
	memcpy(page, b.data, b.size);
	mprotect(page, pages, PROT_READ);
	err = guest_chain_new(fd, page, (u32)b.size, &answer, NULL, 0, NULL);
	work.chain = answer.handle;
	tap(!err && guest_work_run(&work, 1) && guest_work_run(&work, 2) &&
		    !memcmp(page, b.data, b.size),
	    "9: a stream that cannot be written runs twice");
	guest_chain_free(fd, answer.handle);
	work.chain = old;
	munmap(page, pages);
	chain_free(&b);
	guest_work_free(&work);
}

/* Lines in the kernel's log. */
static u32 log_lines(void)
{
	static char text[1 << 20];
	int bytes = klogctl(3 /* read all */, text, sizeof(text));
	u32 lines = 0;
	int i;

	for (i = 0; i < bytes; i++)
		lines += text[i] == '\n';
	return lines;
}

/* Defect 11: printing in the path of every job. */
static void check_quiet(void)
{
	static const struct guest_work_shape shape = { .tasks = 3 };
	struct guest_work work;
	u32 before, i, right = 0;

	guest_work_new(fd, &shape, &work);
	right += guest_work_run(&work, 0);
	before = log_lines();
	for (i = 0; i < 30; i++)
		right += guest_work_run(&work, i);
	tap(right == 31 && log_lines() == before, "11: thirty jobs print nothing");
	guest_work_free(&work);
}

int main(void)
{
	fd = guest_open();
	config = guest_config(fd);
	check_index();
	check_extent();
	check_banks();
	check_two();
	check_wait();
	check_copy();
	check_quiet();
	close(fd);
	return tap_end();
}
