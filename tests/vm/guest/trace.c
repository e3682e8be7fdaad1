// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"
#include "trace.h"

#define TRACING "/sys/kernel/tracing/"
#define MAX_EVENTS 400000

static const struct {
	const char *name;
	enum trace_kind kind;
} names[] = {
	{ "nvdla_submit: ", TRACE_SUBMIT },  { "nvdla_task_start: ", TRACE_START },
	{ "nvdla_task_done: ", TRACE_DONE }, { "nvdla_job_done: ", TRACE_JOB_DONE },
	{ "sched_switch: ", TRACE_SLEEP },
};

bool guest_trace_begin(s32 pid)
{
	char filter[64];

	/* Interruptible or not; who only loses its processor has another bit. */
	snprintf(filter, sizeof(filter), "prev_pid == %d && prev_state & 3", pid);
	guest_file_write(TRACING "tracing_on", "0");
	guest_file_write(TRACING "buffer_size_kb", "8192");
	guest_file_write(TRACING "trace", "");
	guest_file_write(TRACING "events/sched/sched_switch/filter", filter);
	return guest_file_write(TRACING "events/sched/sched_switch/enable", "1") == 0 &&
	       guest_file_write(TRACING "events/nvdla/enable", "1") == 0 &&
	       guest_file_write(TRACING "tracing_on", "1") == 0;
}

static u64 field(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static bool parse(const char *line, struct trace_event *event)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const char *at = strstr(line, names[i].name);

		if (!at)
			continue;
		*event = (struct trace_event){
			.kind = names[i].kind,
			.client = field(at, " client="),
			.job = field(at, " job="),
			.segment = (u32)field(at, " segment="),
			.task = (u32)field(at, " task="),
		};
		return true;
	}
	return false;
}

size_t guest_trace_end(struct trace_event **events)
{
	char line[512];
	size_t count = 0;
	FILE *file;

	guest_file_write(TRACING "tracing_on", "0");
	guest_file_write(TRACING "events/nvdla/enable", "0");
	guest_file_write(TRACING "events/sched/sched_switch/enable", "0");
	guest_file_write(TRACING "events/sched/sched_switch/filter", "0");
	*events = calloc(MAX_EVENTS, sizeof(**events));
	file = fopen(TRACING "trace", "r");
	while (file && *events && count < MAX_EVENTS && fgets(line, sizeof(line), file))
		count += parse(line, &(*events)[count]);
	if (file)
		fclose(file);
	guest_file_write(TRACING "trace", "");
	return count;
}

/*
 * What others had from the sleep behind the submission at @i to its first task.  False where it never
 * began.
 */
static bool wait_of(const struct trace_event *events, size_t count, size_t i,
		    struct trace_wait *wait)
{
	const struct trace_event *own = &events[i], *last = NULL, *e;
	bool asleep = false;

	for (e = own; e < events + count; e++) {
		if (e->kind == TRACE_START && e->client == own->client && e->job == own->job)
			return true;
		asleep = asleep || e->kind == TRACE_SLEEP;
		if (!asleep || e->kind != TRACE_DONE || e->client == own->client)
			continue;
		wait->tasks++;
		if (!last || last->job != e->job || last->segment != e->segment)
			wait->segments++;
		last = e;
	}
	return false;
}

/* Has the client another job that is not done when it submits the one at @i? */
static bool has_another(const struct trace_event *events, size_t i)
{
	u64 client = events[i].client;
	s64 open = 0;
	size_t k;

	for (k = 0; k < i; k++)
		if (events[k].client == client)
			open += (events[k].kind == TRACE_SUBMIT) -
				(events[k].kind == TRACE_JOB_DONE);
	return open > 0;
}

struct trace_wait guest_trace_wait(const struct trace_event *events, size_t count, u64 client)
{
	struct trace_wait worst = { 0 };
	size_t i;

	for (i = 0; i < count; i++) {
		struct trace_wait wait = { 0 };

		if (events[i].kind != TRACE_SUBMIT || events[i].client != client ||
		    has_another(events, i) || !wait_of(events, count, i, &wait))
			continue;
		worst.submissions++;
		worst.segments = max(worst.segments, wait.segments);
		worst.tasks = max(worst.tasks, wait.tasks);
	}
	return worst;
}
