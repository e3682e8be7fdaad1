/* SPDX-License-Identifier: MIT */
/*
 * The driver's tracepoints, read back as a list.
 */
#ifndef GUEST_TRACE_H
#define GUEST_TRACE_H

#include "nvdla_types.h"

enum trace_kind { TRACE_SUBMIT, TRACE_START, TRACE_DONE, TRACE_JOB_DONE };

struct trace_event {
	enum trace_kind kind;
	u64 client, job;
	u32 task;
};

/* Begins to record; false where the driver has no tracepoints. */
bool guest_trace_begin(void);

/* Ends; *@events, to be freed, receives @return of them in their order. */
size_t guest_trace_end(struct trace_event **events);

/*
 * How many tasks of other clients ended between a submission of @client and the first task of it, at
 * the most.  @jobs: receives how many submissions were looked at.
 */
u32 guest_trace_wait(const struct trace_event *events, size_t count, u64 client, u32 *jobs);

#endif /* GUEST_TRACE_H */
