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
	u32 task;
};

/* Begins to record, also when process @pid sleeps; false where the driver has no tracepoints. */
bool guest_trace_begin(s32 pid);

/* Ends; *@events, to be freed, receives @return of them in their order. */
size_t guest_trace_end(struct trace_event **events);

/*
 * How many tasks of other clients were handed to the NPU between a submission of @client and the first
 * task of it, at the most.  It counts from the moment when the client sleeps: on an emulated machine
 * a process may be held up anywhere, also before the scheduler knows of its job.  @jobs: receives how
 * many submissions were looked at.
 */
u32 guest_trace_wait(const struct trace_event *events, size_t count, u64 client, u32 *jobs);

#endif /* GUEST_TRACE_H */
