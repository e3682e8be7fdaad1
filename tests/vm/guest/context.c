// SPDX-License-Identifier: MIT
/*
 * Priorities: what CONTEXT takes from whom, and that a client of higher priority waits for the task
 * that runs and at most one more, or for as many as share content of the convolution buffer.
 *
 * vm-test: kernel=all timeout=200
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "trace.h"

static int context(int fd, u32 op, u64 *value)
{
	struct drm_nvdla_context context = { .op = op, .value = *value };
	int err = guest_ioctl(fd, DRM_IOCTL_NVDLA_CONTEXT, &context);

	*value = context.value;
	return err;
}

static int set_priority(int fd, u64 priority)
{
	return context(fd, DRM_NVDLA_CONTEXT_SET, &priority);
}

static u64 get_priority(int fd)
{
	u64 value = 99;

	return context(fd, DRM_NVDLA_CONTEXT_GET, &value) ? 100 : value;
}

static void check_values(void)
{
	int fd = guest_open(), status;
	u64 p;

	tap(get_priority(fd) == DRM_NVDLA_PRIORITY_NORMAL, "a client begins at normal priority");
	for (p = DRM_NVDLA_PRIORITY_LOW; p <= DRM_NVDLA_PRIORITY_HIGH; p++)
		tap(!set_priority(fd, p) && get_priority(fd) == p, "priority %llu is set",
		    (unsigned long long)p);
	tap(set_priority(fd, 3) == -EINVAL && set_priority(fd, 1ull << 32) == -EINVAL &&
		    get_priority(fd) == DRM_NVDLA_PRIORITY_HIGH,
	    "others are refused");
	set_priority(fd, DRM_NVDLA_PRIORITY_NORMAL);
	if (!fork()) {
		int err = setgid(65534) || setuid(65534) ? -1 : 0;

		_exit(err ? 1 : -set_priority(fd, DRM_NVDLA_PRIORITY_HIGH));
	}
	NEED(wait(&status) > 0 && WIFEXITED(status), "a process without privileges ran");
	tap(WEXITSTATUS(status) == EACCES, "high priority asks for a capability: %s",
	    strerror(WEXITSTATUS(status)));
	if (!fork()) {
		int err = setgid(65534) || setuid(65534) ? 1 : 0;

		_exit(err ? 1 : -set_priority(fd, DRM_NVDLA_PRIORITY_LOW));
	}
	NEED(wait(&status) > 0, "another ran");
	tap(!status && get_priority(fd) == DRM_NVDLA_PRIORITY_LOW, "low priority does not");
	close(fd);
}

/*
 * Tasks of others that begin between a job's submission and its own first task.  @run of them share
 * content of the buffer.
 */
static void check_wait(u64 low, u64 high, u32 run)
{
	const struct guest_work_shape many = { .tasks = 24, .run = run }, one = { .tasks = 1 };
	enum { TASK_MS = 30, TRIES = 4 };
	u32 most = max(run, 2u);
	int background = guest_open(), urgent = guest_open();
	struct trace_event *events;
	struct trace_wait worst;
	u32 i, right = 0;
	struct guest_work work[2], quick;
	size_t count;

	NEED(!set_priority(background, low) && !set_priority(urgent, high), "priorities are set");
	for (i = 0; i < 2; i++)
		guest_work_new(background, &many, &work[i]);
	guest_work_new(urgent, &one, &quick);
	tap(work[0].segments == many.tasks / run, "%u tasks are %u segments", many.tasks,
	    work[0].segments);
	NEED(guest_trace_begin(getpid()), "the tracepoints are on");
	for (i = 0; i < TRIES; i++) {
		guest_work_fill(&work[0], i);
		guest_work_fill(&work[1], i);
		guest_work_fill(&quick, i);
		guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, TASK_MS);
		NEED(!guest_work_submit(&work[0]) && !guest_work_submit(&work[1]),
		     "background work is accepted");
		guest_sleep_ms(TASK_MS * 2 + TASK_MS / 2 + i * 7);
		NEED(!guest_work_submit(&quick), "urgent work is accepted");
		right += !guest_work_wait(&quick, GUEST_WAIT_MS) && guest_work_right(&quick);
		guest_fault(NVDLA_PCI_FAULT_NONE, 0);
		right += !guest_work_wait(&work[0], GUEST_WAIT_MS) && guest_work_right(&work[0]);
		right += !guest_work_wait(&work[1], GUEST_WAIT_MS) && guest_work_right(&work[1]);
	}
	count = guest_trace_end(&events);
	worst = guest_trace_wait(events, count, (u64)guest_fdinfo(urgent, "drm-client-id"));
	free(events);
	tap(right == 3 * TRIES, "all results are right");
	tap(worst.tasks <= most && worst.submissions == TRIES,
	    "priority %llu waits for at most %u tasks of priority %llu: %u",
	    (unsigned long long)high, most, (unsigned long long)low, worst.tasks);
	for (i = 0; i < 2; i++)
		guest_work_free(&work[i]);
	guest_work_free(&quick);
	close(background);
	close(urgent);
}

/* Jobs of one client run in the order of their submission, whatever their length. */
static void check_fifo(void)
{
	static const struct guest_work_shape one = { .tasks = 1 }, ten = { .tasks = 10 };
	struct guest_work work[6];
	int fd = guest_open();
	bool ordered = true;
	u32 i;

	for (i = 0; i < 6; i++) {
		guest_work_new(fd, i & 1 ? &one : &ten, &work[i]);
		guest_work_fill(&work[i], i);
	}
	for (i = 0; i < 6; i++)
		NEED(!guest_work_submit(&work[i]), "work is accepted");
	for (i = 0; i < 6; i++)
		ordered = !guest_work_wait(&work[i], GUEST_WAIT_MS) && guest_work_right(&work[i]) &&
			  ordered;
	for (i = 0; i < 5; i++) {
		const struct drm_nvdla_job_result *a = work[i].result.data,
						  *b = work[i + 1].result.data;

		ordered = ordered && a->end_ns <= b->end_ns && a->start_ns <= b->start_ns;
	}
	tap(ordered, "six jobs of one client run in their order");
	for (i = 0; i < 6; i++)
		guest_work_free(&work[i]);
	close(fd);
}

int main(void)
{
	check_values();
	check_fifo();
	check_wait(DRM_NVDLA_PRIORITY_NORMAL, DRM_NVDLA_PRIORITY_HIGH, 1);
	check_wait(DRM_NVDLA_PRIORITY_LOW, DRM_NVDLA_PRIORITY_NORMAL, 1);
	check_wait(DRM_NVDLA_PRIORITY_LOW, DRM_NVDLA_PRIORITY_HIGH, 2);
	check_wait(DRM_NVDLA_PRIORITY_LOW, DRM_NVDLA_PRIORITY_HIGH, NVDLA_CHAIN_MAX_RUN);
	return tap_end();
}
