// SPDX-License-Identifier: MIT
/*
 * Events: their states, who waits for them, and the functions that hear of them.
 */
#include <stdlib.h>
#include <time.h>

#include "ocl.h"

cl_ulong ocl_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (cl_ulong)now.tv_sec * 1000000000u + (cl_ulong)now.tv_nsec;
}

static void destroy_event(void *object)
{
	cl_event event = object;
	struct ocl_callback *next;

	while (event->callbacks) {
		next = event->callbacks->next;
		free(event->callbacks);
		event->callbacks = next;
	}
	ocl_command_release(&event->command);
	if (event->edge != event->few)
		free(event->edge);
	ocl_put(event->queue);
	ocl_put(event->context);
}

/* A user event that nobody can set any more would keep its dependents for ever. */
static void release_event(void *object)
{
	cl_event event = object;

	if (event->type == CL_COMMAND_USER)
		ocl_event_end(event, CL_INVALID_EVENT);
}

const struct ocl_class ocl_event_class = {
	OCL_EVENT, sizeof(struct _cl_event), CL_INVALID_EVENT, release_event, destroy_event,
};

cl_event ocl_new_event(cl_context context, cl_command_type type)
{
	cl_event event = ocl_new(&ocl_event_class);

	if (!event)
		return NULL;
	event->context = ocl_get(context);
	event->type = type;
	event->edge = event->few;
	event->status = CL_SUBMITTED;
	return event;
}

/* ---- states ---- */

/* Index of the time at which a state was reached. */
static enum ocl_time time_of(cl_int status)
{
	switch (status) {
	case CL_QUEUED:
		return OCL_QUEUED;
	case CL_SUBMITTED:
		return OCL_SUBMITTED;
	case CL_RUNNING:
		return OCL_STARTED;
	}
	return OCL_ENDED;
}

/* An error is below every state, so all that wait for one hear of it. */
static void take_due(cl_event event, struct ocl_callback **due)
{
	struct ocl_callback **at = &event->callbacks, *callback;

	while (*due)
		due = &(*due)->next;
	while ((callback = *at)) {
		if (callback->at < event->status) {
			at = &callback->next;
			continue;
		}
		*at = callback->next;
		callback->next = NULL;
		callback->event = ocl_get(event);
		callback->status = event->status < 0 ? event->status : callback->at;
		*due = callback;
		due = &callback->next;
	}
}

void ocl_event_reach(cl_event event, cl_int status, struct ocl_callback **due)
{
	cl_ulong *time = &event->time[time_of(status)];

	event->status = status;
	if (!*time)
		*time = ocl_now();
	if (event->callbacks)
		take_due(event, due);
}

void ocl_call_due(struct ocl_callback *due)
{
	struct ocl_callback *next;

	for (; due; due = next) {
		next = due->next;
		/* The event is the function's to ask, also where the application let go of it. */
		ocl_lend(due->event);
		due->notify(due->event, due->status, due->user_data);
		ocl_release(due->event, &ocl_event_class);
		ocl_put(due->event);
		free(due);
	}
}

void ocl_await_change(cl_context context)
{
	context->waiting++;
	pthread_cond_wait(&context->changed, &context->lock);
	context->waiting--;
}

static void release_dependents(cl_event event, struct ocl_callback **due)
{
	struct ocl_edge *edge, *next;

	for (edge = event->edges; edge; edge = next) {
		next = edge->next;
		edge->to->failed |= edge->explicit && event->status < 0;
		if (!--edge->to->blockers)
			ocl_queue_ready(edge->to, due);
	}
	event->edges = NULL;
}

void ocl_event_end(cl_event event, cl_int status)
{
	cl_context context = event->context;
	struct ocl_callback *due = NULL;

	pthread_mutex_lock(&context->lock);
	if (event->status <= CL_COMPLETE) {
		pthread_mutex_unlock(&context->lock);
		return;
	}
	ocl_event_reach(event, status, &due);
	release_dependents(event, &due);
	if (event->queue)
		ocl_queue_remove(event);
	if (context->waiting)
		pthread_cond_broadcast(&context->changed);
	pthread_mutex_unlock(&context->lock);
	ocl_call_due(due);
}

/* ---- user events ---- */

CL_API_ENTRY cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int *errcode_ret)
{
	cl_event event;

	if (!ocl_is(context, OCL_CONTEXT)) {
		ocl_result(errcode_ret,
			   ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid"));
		return NULL;
	}
	event = ocl_new_event(context, CL_COMMAND_USER);
	ocl_result(errcode_ret, event ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
	return event;
}

CL_API_ENTRY cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int status)
{
	bool set;

	if (!ocl_is(event, OCL_EVENT) || event->type != CL_COMMAND_USER)
		return ocl_fail(NULL, CL_INVALID_EVENT, "the event is no user event");
	if (status > CL_COMPLETE)
		return ocl_fail(event->context, CL_INVALID_VALUE,
				"a user event ends with CL_COMPLETE or an error, not with %d",
				status);
	pthread_mutex_lock(&event->context->lock);
	set = event->status <= CL_COMPLETE || event->failed;
	event->failed = true; /* who comes second comes too late */
	pthread_mutex_unlock(&event->context->lock);
	if (set)
		return ocl_fail(event->context, CL_INVALID_OPERATION,
				"the user event was set before");
	ocl_event_end(event, status);
	return CL_SUCCESS;
}

/* ---- waiting ---- */

cl_int ocl_check_wait_list(cl_context context, cl_uint count, const cl_event *list)
{
	cl_uint i;

	if (!count != !list)
		return ocl_fail(context, CL_INVALID_EVENT_WAIT_LIST,
				"a wait list of %u events that is %s", count,
				list ? "there" : "NULL");
	for (i = 0; i < count; i++) {
		if (!ocl_is(list[i], OCL_EVENT))
			return ocl_fail(context, CL_INVALID_EVENT_WAIT_LIST,
					"event %u of the wait list is not valid", i);
		if (list[i]->context != context)
			return ocl_fail(context, CL_INVALID_CONTEXT,
					"event %u of the wait list is of another context", i);
	}
	return CL_SUCCESS;
}

static cl_int check_wait(cl_uint count, const cl_event *list)
{
	cl_uint i;

	if (!count || !list)
		return ocl_fail(NULL, CL_INVALID_VALUE, "no events to wait for");
	for (i = 0; i < count; i++)
		if (!ocl_is(list[i], OCL_EVENT))
			return ocl_fail(NULL, CL_INVALID_EVENT, "event %u is not valid", i);
	for (i = 1; i < count; i++)
		if (list[i]->context != list[0]->context)
			return ocl_fail(NULL, CL_INVALID_CONTEXT, "event %u is of another context",
					i);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event *list)
{
	cl_int error = check_wait(count, list);
	bool failed = false;
	cl_uint i;

	if (error)
		return error;
	for (i = 0; i < count; i++)
		if (list[i]->queue)
			ocl_flush(list[i]->queue);
	pthread_mutex_lock(&list[0]->context->lock);
	for (i = 0; i < count; i++) {
		while (list[i]->status > CL_COMPLETE)
			ocl_await_change(list[0]->context);
		failed |= list[i]->status < 0;
	}
	pthread_mutex_unlock(&list[0]->context->lock);
	return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clSetEventCallback(
	cl_event event, cl_int at,
	void(CL_CALLBACK *notify)(cl_event event, cl_int status, void *user_data), void *user_data)
{
	struct ocl_callback *callback, **last, *due = NULL;

	if (!ocl_is(event, OCL_EVENT))
		return ocl_fail(NULL, CL_INVALID_EVENT, "the event is not valid");
	if (!notify || (at != CL_COMPLETE && at != CL_RUNNING && at != CL_SUBMITTED))
		return ocl_fail(event->context, CL_INVALID_VALUE,
				"no function, or no state to call it at");
	callback = calloc(1, sizeof(*callback));
	if (!callback)
		return ocl_fail(event->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	callback->at = at;
	callback->notify = notify;
	callback->user_data = user_data;
	pthread_mutex_lock(&event->context->lock);
	for (last = &event->callbacks; *last; last = &(*last)->next)
		;
	*last = callback;
	take_due(event, &due);
	pthread_mutex_unlock(&event->context->lock);
	ocl_call_due(due);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainEvent(cl_event event)
{
	return ocl_retain(event, &ocl_event_class);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseEvent(cl_event event)
{
	return ocl_release(event, &ocl_event_class);
}

/* ---- queries ---- */

static void query_status(const void *object, struct ocl_answer *answer)
{
	const struct _cl_event *event = object;
	cl_int status;

	pthread_mutex_lock(&event->context->lock);
	status = event->status;
	pthread_mutex_unlock(&event->context->lock);
	ocl_answer_word(answer, (uint32_t)status, sizeof(status));
}

static const struct ocl_query queries[] = {
	OCL_FIELD(CL_EVENT_COMMAND_QUEUE, struct _cl_event, queue),
	OCL_FIELD(CL_EVENT_CONTEXT, struct _cl_event, context),
	OCL_FIELD(CL_EVENT_COMMAND_TYPE, struct _cl_event, type),
	OCL_CALL(CL_EVENT_COMMAND_EXECUTION_STATUS, query_status),
	OCL_CALL(CL_EVENT_REFERENCE_COUNT, ocl_query_handles),
};

CL_API_ENTRY cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info name, size_t size,
					       void *value, size_t *size_ret)
{
	if (!ocl_is(event, OCL_EVENT))
		return ocl_fail(NULL, CL_INVALID_EVENT, "the event is not valid");
	return ocl_query(queries, OCL_COUNT(queries), event, name, size, value, size_ret);
}

/* A command without children is complete when it has ended. */
static const struct ocl_query times[] = {
	OCL_FIELD(CL_PROFILING_COMMAND_QUEUED, struct _cl_event, time[OCL_QUEUED]),
	OCL_FIELD(CL_PROFILING_COMMAND_SUBMIT, struct _cl_event, time[OCL_SUBMITTED]),
	OCL_FIELD(CL_PROFILING_COMMAND_START, struct _cl_event, time[OCL_STARTED]),
	OCL_FIELD(CL_PROFILING_COMMAND_END, struct _cl_event, time[OCL_ENDED]),
	OCL_FIELD(CL_PROFILING_COMMAND_COMPLETE, struct _cl_event, time[OCL_ENDED]),
	OCL_FIELD(CL_PROFILING_SUBMISSIONS_NPU, struct _cl_event, submissions),
};

CL_API_ENTRY cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info name,
							size_t size, void *value, size_t *size_ret)
{
	cl_int status;

	if (!ocl_is(event, OCL_EVENT))
		return ocl_fail(NULL, CL_INVALID_EVENT, "the event is not valid");
	pthread_mutex_lock(&event->context->lock);
	status = event->status;
	pthread_mutex_unlock(&event->context->lock);
	if (!event->queue || !(event->queue->properties & CL_QUEUE_PROFILING_ENABLE) ||
	    status != CL_COMPLETE)
		return ocl_fail(NULL, CL_PROFILING_INFO_NOT_AVAILABLE,
				"no profiling in this queue, or the command has not completed");
	return ocl_query(times, OCL_COUNT(times), event, name, size, value, size_ret);
}
