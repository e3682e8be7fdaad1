/* SPDX-License-Identifier: MIT */
/*
 * The driver's tracepoints, read back as a list.
 */
#ifndef GUEST_TRACE_H
#define GUEST_TRACE_H

#include "nvdla_types.h"

/* TRACE_SLEEP: the process that is watched went to sleep. */
enum trace_kind { TRACE_SUBMIT, TRACE_START, TRACE_DONE, TRACE_JOB_DONE, TRACE_SLEEP };

struct trace_event {
	enum trace_kind kind;
	u64 client, job;
	u32 segment, task;
};

/* Begins to record, also when process @pid sleeps; false where the driver has no tracepoints. */
bool guest_trace_begin(s32 pid);

/* Ends; *@events, to be freed, receives @return of them in their order. */
size_t guest_trace_end(struct trace_event **events);

/**
 * struct trace_wait - what submissions of one client waited for, at the most
 * @submissions: that were looked at: those of which the client had no other job in flight
 * @tasks: of other clients that end between a submission and its first task
 * @segments: that these belong to
 *
 * It counts from the moment when the client sleeps: on an emulated machine a process may be held up
 * anywhere, also before the scheduler knows of its job.
 */
struct trace_wait {
	u32 submissions, segments, tasks;
};

struct trace_wait guest_trace_wait(const struct trace_event *events, size_t count, u64 client);

#endif /* GUEST_TRACE_H */
