// SPDX-License-Identifier: MIT
/*
 * Queues.  All commands of a context are a graph: an event waits for those of its wait list, for the
 * command before it where its queue is in order, and for the last barrier where it is not.  What waits
 * for nothing is ready, and the threads of its queue take what is ready: one thread for a queue in
 * order, a few for one out of order.  A thread never waits for an event, so nothing can block it.
 */
#include <stdlib.h>

#include "ocl.h"

/* Threads of a queue out of order: one may wait for the NPU while the others move data. */
#define WORKERS_OUT_OF_ORDER 3

static bool out_of_order(cl_command_queue queue)
{
	return queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
}

static void destroy_queue(void *object)
{
	cl_command_queue queue = object;

	pthread_cond_destroy(&queue->wake);
	free(queue->property_list);
	ocl_put(queue->context);
}

/* Commands that are in it still end; then its threads do. */
static void release_queue(void *object)
{
	cl_command_queue queue = object;

	ocl_flush(queue);
	pthread_mutex_lock(&queue->context->lock);
	queue->closing = true;
	pthread_cond_broadcast(&queue->wake);
	pthread_mutex_unlock(&queue->context->lock);
}

const struct ocl_class ocl_queue_class = {
	OCL_QUEUE,     sizeof(struct _cl_command_queue), CL_INVALID_COMMAND_QUEUE, release_queue,
	destroy_queue,
};

/* ---- workers ---- */

static void run_event(cl_event event)
{
	struct ocl_times times = { 0 };
	cl_int status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

	if (!event->failed)
		status = ocl_command_run(&event->command, &times);
	/* What the command held is free before anybody hears that it ended. */
	ocl_command_release(&event->command);
	event->submissions = times.submissions;
	if (times.start > event->time[OCL_STARTED])
		event->time[OCL_STARTED] = times.start;
	if (times.end > event->time[OCL_STARTED])
		event->time[OCL_ENDED] = times.end;
	ocl_event_end(event, status);
	ocl_put(event);
}

static cl_event take_ready(cl_command_queue queue)
{
	cl_event event = queue->ready;

	if (event) {
		queue->ready = event->next_ready;
		if (!queue->ready)
			queue->ready_last = NULL;
	}
	return event;
}

/* A hint: where the driver does not allow the priority, the queue has the usual one. */
static enum npu_priority priority_of(cl_command_queue queue)
{
	switch (queue->priority) {
	case CL_QUEUE_PRIORITY_HIGH_KHR:
		return NPU_PRIORITY_HIGH;
	case CL_QUEUE_PRIORITY_LOW_KHR:
		return NPU_PRIORITY_LOW;
	}
	return NPU_PRIORITY_NORMAL;
}

static void *worker(void *data)
{
	cl_command_queue queue = data;
	pthread_mutex_t *lock = &queue->context->lock;
	struct ocl_callback *due;
	cl_event event;

	npu_set_thread_priority(priority_of(queue));
	pthread_mutex_lock(lock);
	for (;;) {
		event = take_ready(queue);
		if (!event && queue->closing && !queue->first)
			break;
		if (!event) {
			queue->idle++;
			pthread_cond_wait(&queue->wake, lock);
			queue->idle--;
			continue;
		}
		due = NULL;
		ocl_event_reach(event, CL_RUNNING, &due);
		pthread_mutex_unlock(lock);
		ocl_call_due(due);
		run_event(event);
		pthread_mutex_lock(lock);
	}
	queue->workers--;
	pthread_mutex_unlock(lock);
	ocl_put(queue);
	return NULL;
}

/* Of the context's lock.  At least one thread has to be there before a command is. */
static cl_int start_worker(cl_command_queue queue)
{
	const unsigned most = out_of_order(queue) ? WORKERS_OUT_OF_ORDER : 1;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	if (queue->workers == most || queue->idle)
		return CL_SUCCESS;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, worker, ocl_get(queue));
	pthread_attr_destroy(&attr);
	if (!err) {
		queue->workers++;
		return CL_SUCCESS;
	}
	ocl_put(queue);
	return queue->workers ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

/* ---- the graph ---- */

void ocl_queue_ready(cl_event event, struct ocl_callback **due)
{
	cl_command_queue queue = event->queue;

	if (event->status == CL_QUEUED)
		ocl_event_reach(event, CL_SUBMITTED, due);
	event->next_ready = NULL;
	if (queue->ready_last)
		queue->ready_last->next_ready = event;
	else
		queue->ready = event;
	queue->ready_last = event;
	pthread_cond_signal(&queue->wake);
}

void ocl_queue_remove(cl_event event)
{
	cl_command_queue queue = event->queue;

	if (event->before)
		event->before->after = event->after;
	else
		queue->first = event->after;
	if (event->after)
		event->after->before = event->before;
	else
		queue->last = event->before;
	if (queue->barrier == event)
		queue->barrier = NULL;
	if (queue->closing && !queue->first)
		pthread_cond_broadcast(&queue->wake);
}

static void append(cl_command_queue queue, cl_event event)
{
	event->number = ++queue->count;
	event->before = queue->last;
	if (queue->last)
		queue->last->after = event;
	else
		queue->first = event;
	queue->last = event;
	if (event->holds_back)
		queue->barrier = event;
}

static void add_edge(cl_event from, cl_event to, bool explicit)
{
	struct ocl_edge *edge = &to->edge[to->blockers];

	if (from->status <= CL_COMPLETE) {
		to->failed |= explicit && from->status < 0;
		return;
	}
	*edge = (struct ocl_edge){ from->edges, to, explicit };
	from->edges = edge;
	to->blockers++;
}

/* Markers and barriers without a wait list wait for all that is before them. */
static bool waits_for_all(cl_event event, cl_uint wait_count)
{
	return (event->type == CL_COMMAND_MARKER || event->type == CL_COMMAND_BARRIER) &&
	       !wait_count && out_of_order(event->queue);
}

static void add_implicit_edges(cl_event event, bool all)
{
	cl_command_queue queue = event->queue;
	cl_event at;

	if (!out_of_order(queue) && queue->last)
		add_edge(queue->last, event, false);
	if (out_of_order(queue) && !all && queue->barrier)
		add_edge(queue->barrier, event, false);
	for (at = all ? queue->first : NULL; at; at = at->after)
		add_edge(at, event, false);
}

/* Of the context's lock: from here on the event is in the graph. */
static cl_int link_event(cl_event event, struct ocl_wait wait, struct ocl_callback **due)
{
	cl_command_queue queue = event->queue;
	bool all = waits_for_all(event, wait.count);
	size_t edges = (size_t)wait.count + 1;
	cl_event at;
	cl_uint i;

	for (at = all ? queue->first : NULL; at; at = at->after)
		edges++;
	if (edges > OCL_COUNT(event->few)) {
		event->edge = calloc(edges, sizeof(*event->edge));
		if (!event->edge)
			return CL_OUT_OF_HOST_MEMORY;
	}
	add_implicit_edges(event, all);
	for (i = 0; i < wait.count; i++)
		add_edge(wait.list[i], event, true);
	append(queue, event);
	if (!event->blockers)
		ocl_queue_ready(event, due);
	return CL_SUCCESS;
}

static cl_int put_into_graph(cl_event event, struct ocl_wait wait)
{
	struct ocl_callback *due = NULL;
	cl_int error;

	pthread_mutex_lock(&event->context->lock);
	error = start_worker(event->queue);
	if (!error)
		error = link_event(event, wait, &due);
	pthread_mutex_unlock(&event->context->lock);
	ocl_call_due(due);
	return error;
}

static cl_int await_event(cl_event event)
{
	cl_int status;

	ocl_flush(event->queue);
	pthread_mutex_lock(&event->context->lock);
	while (event->status > CL_COMPLETE)
		ocl_await_change(event->context);
	status = event->status;
	pthread_mutex_unlock(&event->context->lock);
	return status;
}

static cl_event new_event(cl_command_queue queue, struct ocl_command *command, bool wanted)
{
	cl_event event = ocl_new_event(queue->context, command->ops->type);

	if (!event)
		return NULL;
	event->queue = ocl_get(queue);
	event->command = *command;
	event->holds_back = event->type == CL_COMMAND_BARRIER;
	event->status = CL_QUEUED;
	event->time[OCL_QUEUED] = ocl_now();
	if (!wanted)
		atomic_store(&event->base.handles, 0);
	return event;
}

cl_int ocl_enqueue(cl_command_queue queue, struct ocl_command *command, struct ocl_wait wait)
{
	cl_int error = ocl_check_wait_list(queue->context, wait.count, wait.list);
	cl_event event = error ? NULL : new_event(queue, command, wait.event != NULL);

	if (!event) {
		ocl_command_release(command);
		return error ? error
			     : ocl_fail(queue->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	}
	/* One reference is the queue's, one is the application's handle, one is ours while we wait. */
	ocl_get(event);
	if (wait.blocking)
		ocl_get(event);
	error = put_into_graph(event, wait);
	if (error) {
		if (wait.blocking)
			ocl_put(event);
		ocl_put(event);
		ocl_put(event);
		return ocl_fail(queue->context, error,
				"a thread or memory for a command is missing");
	}
	if (wait.event)
		*wait.event = event;
	else
		ocl_put(event);
	if (!wait.blocking)
		return CL_SUCCESS;
	error = await_event(event);
	ocl_put(event);
	return error;
}

void ocl_flush(cl_command_queue queue)
{
	struct ocl_callback *due = NULL;
	cl_event event;

	pthread_mutex_lock(&queue->context->lock);
	for (event = queue->first; event; event = event->after)
		if (event->status == CL_QUEUED)
			ocl_event_reach(event, CL_SUBMITTED, &due);
	pthread_mutex_unlock(&queue->context->lock);
	ocl_call_due(due);
}

CL_API_ENTRY cl_int CL_API_CALL clFlush(cl_command_queue queue)
{
	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	ocl_flush(queue);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clFinish(cl_command_queue queue)
{
	uint64_t last;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	ocl_flush(queue);
	pthread_mutex_lock(&queue->context->lock);
	last = queue->count;
	while (queue->first && queue->first->number <= last)
		ocl_await_change(queue->context);
	pthread_mutex_unlock(&queue->context->lock);
	return CL_SUCCESS;
}

/* ---- creation ---- */

#define QUEUE_PROPERTIES                                                                           \
	(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE | \
	 CL_QUEUE_ON_DEVICE_DEFAULT)

static cl_int set_properties(cl_command_queue queue, cl_command_queue_properties properties)
{
	if (properties & ~(cl_command_queue_properties)QUEUE_PROPERTIES)
		return ocl_fail(queue->context, CL_INVALID_VALUE, "queue properties 0x%llx",
				(unsigned long long)properties);
	if (properties & (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT))
		return ocl_fail(queue->context, CL_INVALID_QUEUE_PROPERTIES,
				"an NPU has no queues of its own");
	queue->properties = properties;
	return CL_SUCCESS;
}

static cl_int set_priority(cl_command_queue queue, cl_queue_properties priority)
{
	if (priority != CL_QUEUE_PRIORITY_LOW_KHR && priority != CL_QUEUE_PRIORITY_MED_KHR &&
	    priority != CL_QUEUE_PRIORITY_HIGH_KHR)
		return ocl_fail(queue->context, CL_INVALID_VALUE, "%llu is no priority",
				(unsigned long long)priority);
	queue->priority = (cl_uint)priority;
	return CL_SUCCESS;
}

static cl_int apply_property(cl_command_queue queue, cl_queue_properties name,
			     cl_queue_properties value)
{
	switch (name) {
	case CL_QUEUE_PROPERTIES:
		return set_properties(queue, value);
	case CL_QUEUE_PRIORITY_KHR:
		return set_priority(queue, value);
	case CL_QUEUE_SIZE:
		return ocl_fail(queue->context, CL_INVALID_QUEUE_PROPERTIES,
				"only queues on the device have a size");
	}
	return ocl_fail(queue->context, CL_INVALID_VALUE, "there is no queue property 0x%llx",
			(unsigned long long)name);
}

static cl_int apply_list(cl_command_queue queue, const cl_queue_properties *list)
{
	cl_int error = CL_SUCCESS;

	queue->property_list = ocl_copy_properties(list, sizeof(*list), &queue->property_count);
	if (list && !queue->property_list)
		return ocl_fail(queue->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	for (; list && *list && !error; list += 2)
		error = apply_property(queue, list[0], list[1]);
	return error;
}

static cl_command_queue create_queue(cl_context context, cl_device_id device, cl_int *error)
{
	cl_command_queue queue;

	*error = CL_SUCCESS;
	if (!ocl_is(context, OCL_CONTEXT))
		*error = ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");
	else if (!ocl_is(device, OCL_DEVICE) || !ocl_context_has(context, device))
		*error = ocl_fail(context, CL_INVALID_DEVICE, "the device is not the context's");
	if (*error)
		return NULL;
	queue = ocl_new(&ocl_queue_class);
	if (!queue) {
		*error = ocl_fail(context, CL_OUT_OF_HOST_MEMORY, "out of memory");
		return NULL;
	}
	queue->context = ocl_get(context);
	queue->device = device;
	queue->priority = CL_QUEUE_PRIORITY_MED_KHR;
	pthread_cond_init(&queue->wake, NULL);
	return queue;
}

static cl_command_queue finish_creation(cl_command_queue queue, cl_int error, cl_int *errcode_ret)
{
	if (error) {
		ocl_put(queue);
		queue = NULL;
	}
	ocl_result(errcode_ret, error);
	return queue;
}

CL_API_ENTRY cl_command_queue CL_API_CALL
clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
				   const cl_queue_properties *properties, cl_int *errcode_ret)
{
	cl_int error;
	cl_command_queue queue = create_queue(context, device, &error);

	if (queue)
		error = apply_list(queue, properties);
	return finish_creation(queue, error, errcode_ret);
}

CL_API_ENTRY cl_command_queue CL_API_CALL
clCreateCommandQueue(cl_context context, cl_device_id device,
		     cl_command_queue_properties properties, cl_int *errcode_ret)
{
	cl_int error;
	cl_command_queue queue = create_queue(context, device, &error);

	if (queue)
		error = set_properties(queue, properties);
	return finish_creation(queue, error, errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue)
{
	return ocl_retain(queue, &ocl_queue_class);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue)
{
	return ocl_release(queue, &ocl_queue_class);
}

CL_API_ENTRY cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue queue,
							  cl_command_queue_properties properties,
							  cl_bool enable,
							  cl_command_queue_properties *old)
{
	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	return ocl_fail(queue->context, CL_INVALID_OPERATION,
			"a queue's properties are set when it is created");
}

CL_API_ENTRY cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context,
							       cl_device_id device,
							       cl_command_queue queue)
{
	if (!ocl_is(context, OCL_CONTEXT))
		return ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");
	if (!ocl_is(device, OCL_DEVICE) || !ocl_context_has(context, device))
		return ocl_fail(context, CL_INVALID_DEVICE, "the device is not the context's");
	return ocl_fail(context, CL_INVALID_OPERATION, "an NPU has no queues of its own");
}

/* ---- queries ---- */

static void query_property_list(const void *object, struct ocl_answer *answer)
{
	const struct _cl_command_queue *queue = object;

	ocl_answer_data(answer, queue->property_list,
			queue->property_count * sizeof(cl_queue_properties));
}

/* What only a queue on the device has. */
static void query_size(const void *object, struct ocl_answer *answer)
{
	(void)object;
	answer->error =
		ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "only queues on the device have a size");
}

static const struct ocl_query queries[] = {
	OCL_FIELD(CL_QUEUE_CONTEXT, struct _cl_command_queue, context),
	OCL_FIELD(CL_QUEUE_DEVICE, struct _cl_command_queue, device),
	OCL_CALL(CL_QUEUE_REFERENCE_COUNT, ocl_query_handles),
	OCL_FIELD(CL_QUEUE_PROPERTIES, struct _cl_command_queue, properties),
	OCL_CALL(CL_QUEUE_PROPERTIES_ARRAY, query_property_list),
	OCL_CALL(CL_QUEUE_SIZE, query_size),
	OCL_VALUE(CL_QUEUE_DEVICE_DEFAULT, void *, 0),
	OCL_FIELD(CL_QUEUE_PRIORITY_KHR, struct _cl_command_queue, priority),
};

CL_API_ENTRY cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue,
						      cl_command_queue_info name, size_t size,
						      void *value, size_t *size_ret)
{
	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	return ocl_query(queries, OCL_COUNT(queries), queue, name, size, value, size_ret);
}
