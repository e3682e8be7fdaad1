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

	snprintf(filter, sizeof(filter), "prev_pid == %d && prev_state != 0", pid);
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

/* Tasks of others from the sleep behind the submission at @i to its first task; ~0: it never began. */
static u32 wait_of(const struct trace_event *events, size_t count, size_t i)
{
	u64 client = events[i].client, job = events[i].job;
	bool asleep = false;
	u32 waited = 0;

	for (; i < count; i++) {
		if (events[i].kind == TRACE_START && events[i].client == client &&
		    events[i].job == job)
			return waited;
		asleep = asleep || events[i].kind == TRACE_SLEEP;
		waited += asleep && events[i].kind == TRACE_START && events[i].client != client;
	}
	return ~0u;
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

u32 guest_trace_wait(const struct trace_event *events, size_t count, u64 client, u32 *jobs)
{
	u32 worst = 0, waited;
	size_t i;

	*jobs = 0;
	for (i = 0; i < count; i++) {
		if (events[i].kind != TRACE_SUBMIT || events[i].client != client ||
		    has_another(events, i))
			continue;
		waited = wait_of(events, count, i);
		if (waited == ~0u)
			continue;
		worst = max(worst, waited);
		++*jobs;
	}
	return worst;
}
