// SPDX-License-Identifier: MIT
/*
 * Queues and events: order, dependencies across queues, user events, errors that go on, callbacks, profiling, and
 * what happens to those that the application lets go of early.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "opencl.h"

static cl_event user_event(struct cl *cl)
{
	cl_int error;
	cl_event event = clCreateUserEvent(cl->context, &error);

	assert_int_equal(error, CL_SUCCESS);
	return event;
}

static void release(cl_event event)
{
	assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
}

/* ---- a trace of what ran: native kernels that write a letter ---- */

struct trace {
	pthread_mutex_t lock;
	char text[256];
	size_t length;
};

struct letter {
	struct trace *trace;
	char letter;
};

static void CL_CALLBACK write_letter(void *data)
{
	const struct letter *letter = data;

	pthread_mutex_lock(&letter->trace->lock);
	if (letter->trace->length < sizeof(letter->trace->text) - 1)
		letter->trace->text[letter->trace->length++] = letter->letter;
	pthread_mutex_unlock(&letter->trace->lock);
}

static void begin_trace(struct trace *trace)
{
	memset(trace, 0, sizeof(*trace));
	pthread_mutex_init(&trace->lock, NULL);
}

static void enqueue_letter(cl_command_queue queue, struct trace *trace, char letter,
			   cl_uint wait_count, const cl_event *wait, cl_event *event)
{
	struct letter args = { trace, letter };

	assert_int_equal(clEnqueueNativeKernel(queue, write_letter, &args, sizeof(args), 0, NULL,
					       NULL, wait_count, wait, event),
			 CL_SUCCESS);
}

/* ---- order ---- */

static void in_order(void **state)
{
	struct trace trace;
	cl_event gate;
	struct cl cl;
	char c;

	cl_begin(&cl);
	begin_trace(&trace);
	gate = user_event(&cl);
	enqueue_letter(cl.queue, &trace, 'a', 1, &gate, NULL);
	for (c = 'b'; c <= 'z'; c++)
		enqueue_letter(cl.queue, &trace, c, 0, NULL, NULL);
	assert_int_equal(clFlush(cl.queue), CL_SUCCESS);
	assert_int_equal(trace.length, 0);
	assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	assert_int_equal(clFinish(cl.queue), CL_SUCCESS);
	assert_string_equal(trace.text, "abcdefghijklmnopqrstuvwxyz");
	release(gate);
	cl_end(&cl);
}

/* What waits lets others pass; a barrier does not. */
static void out_of_order(void **state)
{
	struct trace trace;
	cl_event gate, b, marker;
	cl_command_queue queue;
	struct cl cl;

	cl_begin(&cl);
	begin_trace(&trace);
	queue = cl_out_of_order(&cl);
	gate = user_event(&cl);
	enqueue_letter(queue, &trace, 'a', 1, &gate, NULL);
	enqueue_letter(queue, &trace, 'b', 0, NULL, &b);
	assert_int_equal(clWaitForEvents(1, &b), CL_SUCCESS);
	assert_int_equal(clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker), CL_SUCCESS);
	assert_int_equal(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL), CL_SUCCESS);
	enqueue_letter(queue, &trace, 'c', 0, NULL, NULL);
	usleep(20000);
	assert_true(cl_event_status(marker) > CL_COMPLETE);
	assert_string_equal(trace.text, "b");
	assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	assert_int_equal(clFinish(queue), CL_SUCCESS);
	assert_int_equal(cl_event_status(marker), CL_COMPLETE);
	assert_string_equal(trace.text, "bac");
	release(gate);
	release(b);
	release(marker);
	assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
	cl_end(&cl);
}

/* A barrier with a wait list waits for that alone, and holds back what comes after it. */
static void barrier_with_wait_list(void **state)
{
	struct trace trace;
	cl_event gate, other;
	cl_command_queue queue;
	struct cl cl;

	cl_begin(&cl);
	begin_trace(&trace);
	queue = cl_out_of_order(&cl);
	gate = user_event(&cl);
	other = user_event(&cl);
	enqueue_letter(queue, &trace, 'a', 1, &other, NULL);
	assert_int_equal(clEnqueueBarrierWithWaitList(queue, 1, &gate, NULL), CL_SUCCESS);
	enqueue_letter(queue, &trace, 'b', 0, NULL, NULL);
	usleep(20000);
	assert_string_equal(trace.text, "");
	assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	while (1) {
		pthread_mutex_lock(&trace.lock);
		if (trace.length)
			break;
		pthread_mutex_unlock(&trace.lock);
		usleep(1000);
	}
	pthread_mutex_unlock(&trace.lock);
	assert_string_equal(trace.text, "b");
	assert_int_equal(clSetUserEventStatus(other, CL_COMPLETE), CL_SUCCESS);
	assert_int_equal(clFinish(queue), CL_SUCCESS);
	assert_string_equal(trace.text, "ba");
	release(gate);
	release(other);
	assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
	cl_end(&cl);
}

/* A chain through three queues, tied at its begin. */
static void across_queues(void **state)
{
	struct trace trace;
	cl_command_queue queue[3];
	cl_event gate, last, next;
	struct cl cl;
	int i;

	cl_begin(&cl);
	begin_trace(&trace);
	queue[0] = cl_out_of_order(&cl);
	queue[1] = cl_out_of_order(&cl);
	queue[2] = cl.queue;
	gate = last = user_event(&cl);
	assert_int_equal(clRetainEvent(gate), CL_SUCCESS);
	for (i = 0; i < 30; i++) {
		enqueue_letter(queue[i % 3], &trace, (char)('A' + i), 1, &last, &next);
		release(last);
		last = next;
	}
	assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	assert_int_equal(clWaitForEvents(1, &last), CL_SUCCESS);
	assert_int_equal(trace.length, 30);
	for (i = 0; i < 30; i++)
		assert_int_equal(trace.text[i], 'A' + i);
	release(last);
	release(gate);
	assert_int_equal(clReleaseCommandQueue(queue[0]), CL_SUCCESS);
	assert_int_equal(clReleaseCommandQueue(queue[1]), CL_SUCCESS);
	cl_end(&cl);
}

/* ---- errors ---- */

static void errors_go_on(void **state)
{
	struct trace trace;
	cl_event gate, first, second, third;
	cl_command_queue queue;
	struct cl cl;
	char byte;
	cl_mem mem;

	cl_begin(&cl);
	begin_trace(&trace);
	queue = cl_out_of_order(&cl);
	mem = cl_buffer(&cl, 64, NULL);
	gate = user_event(&cl);
	enqueue_letter(queue, &trace, 'a', 1, &gate, &first);
	enqueue_letter(queue, &trace, 'b', 1, &first, &second);
	enqueue_letter(queue, &trace, 'c', 0, NULL, &third);
	assert_int_equal(clSetUserEventStatus(gate, -42), CL_SUCCESS);
	assert_int_equal(clWaitForEvents(1, &first), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	assert_int_equal(clWaitForEvents(1, &second), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	assert_int_equal(clWaitForEvents(1, &third), CL_SUCCESS);
	assert_int_equal(cl_event_status(gate), -42);
	assert_true(cl_event_status(second) < 0);
	assert_string_equal(trace.text, "c");
	/* Late comers hear of it too, and blocking calls return it. */
	assert_int_equal(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 1, &byte, 1, &second, NULL),
			 CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	assert_int_equal(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 1, &byte, 1, &third, NULL),
			 CL_SUCCESS);
	release(gate);
	release(first);
	release(second);
	release(third);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
	cl_end(&cl);
}

static void wait_lists(void **state)
{
	cl_event event, theirs;
	struct cl cl, other;

	cl_begin(&cl);
	cl_begin(&other);
	event = user_event(&cl);
	theirs = user_event(&other);
#define MARK(count, list) clEnqueueMarkerWithWaitList(cl.queue, count, list, NULL)
	assert_int_equal(MARK(1, NULL), CL_INVALID_EVENT_WAIT_LIST);
	assert_int_equal(MARK(0, &event), CL_INVALID_EVENT_WAIT_LIST);
	assert_int_equal(MARK(1, (cl_event *)&cl.context), CL_INVALID_EVENT_WAIT_LIST);
	assert_int_equal(MARK(1, &theirs), CL_INVALID_CONTEXT);
#undef MARK
	assert_int_equal(clWaitForEvents(0, &event), CL_INVALID_VALUE);
	assert_int_equal(clWaitForEvents(1, NULL), CL_INVALID_VALUE);
	assert_int_equal(clWaitForEvents(1, (cl_event *)&cl.context), CL_INVALID_EVENT);
	assert_int_equal(clWaitForEvents(2, (cl_event[2]){ event, theirs }), CL_INVALID_CONTEXT);
	release(event);
	release(theirs);
	cl_end(&cl);
	cl_end(&other);
}

static void user_events(void **state)
{
	cl_event event, command;
	struct cl cl;
	cl_uint count;

	cl_begin(&cl);
	event = user_event(&cl);
	assert_int_equal(cl_event_status(event), CL_SUBMITTED);
	assert_int_equal(clSetUserEventStatus(event, CL_RUNNING), CL_INVALID_VALUE);
	assert_int_equal(clSetUserEventStatus(event, CL_COMPLETE), CL_SUCCESS);
	assert_int_equal(clSetUserEventStatus(event, CL_COMPLETE), CL_INVALID_OPERATION);
	assert_int_equal(clRetainEvent(event), CL_SUCCESS);
	assert_int_equal(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(count), &count,
					NULL),
			 CL_SUCCESS);
	assert_int_equal(count, 2);
	release(event);
	release(event);
	assert_int_equal(clEnqueueMarkerWithWaitList(cl.queue, 0, NULL, &command), CL_SUCCESS);
	assert_int_equal(clSetUserEventStatus(command, CL_COMPLETE), CL_INVALID_EVENT);
	release(command);
	cl_end(&cl);
}

/* Nobody can set it any more: who waits for it fails instead of waiting for ever. */
static void forgotten_user_event(void **state)
{
	cl_event event, command;
	struct cl cl;

	cl_begin(&cl);
	event = user_event(&cl);
	assert_int_equal(clEnqueueMarkerWithWaitList(cl.queue, 1, &event, &command), CL_SUCCESS);
	release(event);
	assert_int_equal(clWaitForEvents(1, &command),
			 CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	release(command);
	cl_end(&cl);
}

/* ---- callbacks ---- */

struct heard {
	atomic_int submitted, running, complete, error;
};

static void CL_CALLBACK hear(cl_event event, cl_int status, void *data)
{
	struct heard *heard = data;

	if (status < 0)
		atomic_fetch_add(&heard->error, 1);
	else
		atomic_fetch_add(status == CL_SUBMITTED ? &heard->submitted
				 : status == CL_RUNNING ? &heard->running
							: &heard->complete,
				 1);
}

static void listen_to(cl_event event, struct heard *heard)
{
	assert_int_equal(clSetEventCallback(event, CL_SUBMITTED, hear, heard), CL_SUCCESS);
	assert_int_equal(clSetEventCallback(event, CL_RUNNING, hear, heard), CL_SUCCESS);
	assert_int_equal(clSetEventCallback(event, CL_COMPLETE, hear, heard), CL_SUCCESS);
}

static void await(atomic_int *number, int value)
{
	int i;

	for (i = 0; i < 5000 && atomic_load(number) != value; i++)
		usleep(1000);
	assert_int_equal(atomic_load(number), value);
}

static void callbacks(void **state)
{
	struct heard heard = { 0 }, late = { 0 }, failed = { 0 };
	cl_event gate, bad, good, wrong;
	struct cl cl;

	cl_begin(&cl);
	gate = user_event(&cl);
	bad = user_event(&cl);
	assert_int_equal(clEnqueueMarkerWithWaitList(cl.queue, 1, &gate, &good), CL_SUCCESS);
	assert_int_equal(clEnqueueMarkerWithWaitList(cl.queue, 1, &bad, &wrong), CL_SUCCESS);
	listen_to(good, &heard);
	listen_to(wrong, &failed);
	assert_int_equal(clSetEventCallback(good, 4711, hear, NULL), CL_INVALID_VALUE);
	assert_int_equal(clSetEventCallback(good, CL_COMPLETE, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(clFlush(cl.queue), CL_SUCCESS);
	await(&heard.submitted, 1);
	assert_int_equal(atomic_load(&heard.running) + atomic_load(&heard.complete), 0);
	assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	await(&heard.complete, 1);
	assert_int_equal(atomic_load(&heard.running), 1);
	/* Who comes late is called at once. */
	listen_to(good, &late);
	assert_int_equal(atomic_load(&late.submitted) + atomic_load(&late.running) +
				 atomic_load(&late.complete),
			 3);
	assert_int_equal(clSetUserEventStatus(bad, -1), CL_SUCCESS);
	await(&failed.error, 1);
	assert_int_equal(atomic_load(&failed.complete), 0);
	release(gate);
	release(bad);
	release(good);
	release(wrong);
	cl_end(&cl);
}

struct chain {
	struct cl *cl;
	struct trace *trace;
	atomic_int left;
};

/* A callback may enqueue the next command. */
static void CL_CALLBACK enqueue_next(cl_event event, cl_int status, void *data)
{
	struct chain *chain = data;
	cl_event next;

	if (atomic_fetch_sub(&chain->left, 1) <= 1)
		return;
	enqueue_letter(chain->cl->queue, chain->trace, 'n', 0, NULL, &next);
	clSetEventCallback(next, CL_COMPLETE, enqueue_next, chain);
	clReleaseEvent(next);
}

static void callbacks_enqueue(void **state)
{
	struct trace trace;
	struct chain chain;
	cl_event first;
	struct cl cl;

	cl_begin(&cl);
	begin_trace(&trace);
	chain.cl = &cl;
	chain.trace = &trace;
	atomic_init(&chain.left, 5);
	assert_int_equal(clEnqueueMarkerWithWaitList(cl.queue, 0, NULL, &first), CL_SUCCESS);
	assert_int_equal(clSetEventCallback(first, CL_COMPLETE, enqueue_next, &chain), CL_SUCCESS);
	await(&chain.left, 0);
	assert_int_equal(clFinish(cl.queue), CL_SUCCESS);
	assert_string_equal(trace.text, "nnnn");
	release(first);
	cl_end(&cl);
}

struct asked {
	atomic_int calls;
	cl_int status, answer, profiling, kept;
};

static void CL_CALLBACK ask(cl_event event, cl_int status, void *data)
{
	struct asked *asked = data;
	cl_ulong start;

	asked->answer = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
				       sizeof(asked->status), &asked->status, NULL);
	asked->profiling = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start),
						   &start, NULL);
	asked->kept = clRetainEvent(event);
	if (!asked->kept)
		asked->kept = clReleaseEvent(event);
	atomic_fetch_add(&asked->calls, 1);
}

/* The event of a callback is valid, also where the application let go of it long before. */
static void callbacks_of_released_events(void **state)
{
	struct asked asked = { 0 }, refused = { 0 };
	cl_event gate, command, user;
	struct cl cl;

	cl_begin(&cl);
	gate = user_event(&cl);
	assert_int_equal(clEnqueueMarkerWithWaitList(cl.queue, 1, &gate, &command), CL_SUCCESS);
	assert_int_equal(clSetEventCallback(command, CL_COMPLETE, ask, &asked), CL_SUCCESS);
	release(command);
	assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	await(&asked.calls, 1);
	assert_int_equal(asked.answer, CL_SUCCESS);
	assert_int_equal(asked.status, CL_COMPLETE);
	assert_int_equal(asked.profiling, CL_SUCCESS);
	assert_int_equal(asked.kept, CL_SUCCESS);
	release(gate);
	user = user_event(&cl);
	assert_int_equal(clSetEventCallback(user, CL_COMPLETE, ask, &refused), CL_SUCCESS);
	release(user);
	await(&refused.calls, 1);
	assert_int_equal(refused.answer, CL_SUCCESS);
	assert_true(refused.status < 0);
	assert_int_equal(refused.profiling, CL_PROFILING_INFO_NOT_AVAILABLE);
	cl_end(&cl);
}

/* ---- profiling ---- */

static cl_ulong time_of(cl_event event, cl_profiling_info name)
{
	cl_ulong time = 0;

	assert_int_equal(clGetEventProfilingInfo(event, name, sizeof(time), &time, NULL),
			 CL_SUCCESS);
	return time;
}

static void profiling(void **state)
{
	cl_ulong before, after, queued, submitted, start, end;
	cl_command_queue plain;
	cl_event event, unprofiled, gate;
	cl_int error;
	struct cl cl;

	cl_begin(&cl);
	gate = user_event(&cl);
	assert_int_equal(clGetHostTimer(cl.device, &before), CL_SUCCESS);
	assert_int_equal(clEnqueueMarkerWithWaitList(cl.queue, 1, &gate, &event), CL_SUCCESS);
	assert_int_equal(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end,
						 NULL),
			 CL_PROFILING_INFO_NOT_AVAILABLE);
	usleep(5000);
	assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
	assert_int_equal(clGetHostTimer(cl.device, &after), CL_SUCCESS);
	queued = time_of(event, CL_PROFILING_COMMAND_QUEUED);
	submitted = time_of(event, CL_PROFILING_COMMAND_SUBMIT);
	start = time_of(event, CL_PROFILING_COMMAND_START);
	end = time_of(event, CL_PROFILING_COMMAND_END);
	assert_true(before <= queued && queued <= submitted && submitted <= start && start <= end &&
		    end <= after);
	assert_true(submitted - queued >= 5000000);
	assert_int_equal(time_of(event, CL_PROFILING_COMMAND_COMPLETE), end);
	assert_int_equal(clGetEventProfilingInfo(gate, CL_PROFILING_COMMAND_END, sizeof(end), &end,
						 NULL),
			 CL_PROFILING_INFO_NOT_AVAILABLE);
	plain = clCreateCommandQueueWithProperties(cl.context, cl.device, NULL, &error);
	assert_int_equal(clEnqueueMarkerWithWaitList(plain, 0, NULL, &unprofiled), CL_SUCCESS);
	assert_int_equal(clFinish(plain), CL_SUCCESS);
	assert_int_equal(clGetEventProfilingInfo(unprofiled, CL_PROFILING_COMMAND_END, sizeof(end),
						 &end, NULL),
			 CL_PROFILING_INFO_NOT_AVAILABLE);
	release(event);
	release(unprofiled);
	release(gate);
	assert_int_equal(clReleaseCommandQueue(plain), CL_SUCCESS);
	cl_end(&cl);
}

/* ---- creation and queries ---- */

static cl_int create(struct cl *cl, const cl_queue_properties *properties)
{
	cl_int error = 4711;
	cl_command_queue queue =
		clCreateCommandQueueWithProperties(cl->context, cl->device, properties, &error);

	if (queue)
		assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
	return error;
}

static void creation(void **state)
{
	const cl_queue_properties none[] = { 0 };
	const cl_queue_properties high[] = { CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_HIGH_KHR, 0 };
	const cl_queue_properties both[] = { CL_QUEUE_PRIORITY_KHR,
					     CL_QUEUE_PRIORITY_HIGH_KHR | CL_QUEUE_PRIORITY_LOW_KHR,
					     0 };
	const cl_queue_properties on_device[] = {
		CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0
	};
	const cl_queue_properties bits[] = { CL_QUEUE_PROPERTIES, 1 << 20, 0 };
	const cl_queue_properties unknown[] = { 0x4711, 1, 0 };
	cl_queue_properties list[8];
	cl_command_queue_properties old;
	cl_command_queue queue;
	size_t size;
	cl_int error;
	struct cl cl;

	cl_begin(&cl);
	assert_int_equal(create(&cl, NULL), CL_SUCCESS);
	assert_int_equal(create(&cl, none), CL_SUCCESS);
	assert_int_equal(create(&cl, high), CL_SUCCESS);
	assert_int_equal(create(&cl, both), CL_INVALID_VALUE);
	assert_int_equal(create(&cl, on_device), CL_INVALID_QUEUE_PROPERTIES);
	assert_int_equal(create(&cl, bits), CL_INVALID_VALUE);
	assert_int_equal(create(&cl, unknown), CL_INVALID_VALUE);
	queue = clCreateCommandQueueWithProperties(cl.context, cl.device, high, &error);
	assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof(list), list,
					       &size),
			 CL_SUCCESS);
	assert_int_equal(size, sizeof(high));
	assert_memory_equal(list, high, sizeof(high));
	assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, sizeof(list), list, NULL),
			 CL_INVALID_COMMAND_QUEUE);
	assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
	queue = clCreateCommandQueue(cl.context, cl.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
				     &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(old), &old, NULL),
			 CL_SUCCESS);
	assert_int_equal(old, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &size),
			 CL_SUCCESS);
	assert_int_equal(size, 0);
	assert_int_equal(clSetCommandQueueProperty(queue, 0, CL_TRUE, &old), CL_INVALID_OPERATION);
	assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
	assert_null(clCreateCommandQueueWithProperties(cl.context, (cl_device_id)cl.queue, NULL,
						       &error));
	assert_int_equal(error, CL_INVALID_DEVICE);
	cl_end(&cl);
}

static void event_queries(void **state)
{
	cl_command_queue queue;
	cl_command_type type;
	cl_context context;
	cl_event event;
	struct cl cl;

	cl_begin(&cl);
	assert_int_equal(clEnqueueBarrierWithWaitList(cl.queue, 0, NULL, &event), CL_SUCCESS);
	assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(queue), &queue, NULL),
			 CL_SUCCESS);
	assert_ptr_equal(queue, cl.queue);
	assert_int_equal(clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof(context), &context, NULL),
			 CL_SUCCESS);
	assert_ptr_equal(context, cl.context);
	assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL),
			 CL_SUCCESS);
	assert_int_equal(type, CL_COMMAND_BARRIER);
	release(event);
	event = user_event(&cl);
	assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(queue), &queue, NULL),
			 CL_SUCCESS);
	assert_null(queue);
	release(event);
	cl_end(&cl);
}

/* ---- letting go early ---- */

static void CL_CALLBACK gone(cl_context context, void *data)
{
	atomic_store((atomic_int *)data, 1);
}

/* All handles are released while commands wait: they still end, and then everything goes. */
static void released_before_the_end(void **state)
{
	atomic_int context_gone = 0;
	struct trace trace;
	cl_event gate;
	struct cl cl;
	int i;

	cl_begin(&cl);
	begin_trace(&trace);
	gate = user_event(&cl);
	assert_int_equal(clSetContextDestructorCallback(cl.context, gone, &context_gone),
			 CL_SUCCESS);
	for (i = 0; i < 10; i++)
		enqueue_letter(cl.queue, &trace, 'r', 1, &gate, NULL);
	assert_int_equal(clReleaseCommandQueue(cl.queue), CL_SUCCESS);
	assert_int_equal(clReleaseContext(cl.context), CL_SUCCESS);
	assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	release(gate);
	await(&context_gone, 1);
	assert_string_equal(trace.text, "rrrrrrrrrr");
}

/* ---- many threads ---- */

#define THREADS 4
#define COMMANDS 200

struct crowd {
	struct cl *cl;
	cl_command_queue shared;
	cl_mem mem;
	atomic_int *failed;
	unsigned seed;
};

static void *join_crowd(void *data)
{
	struct crowd *crowd = data;
	unsigned char byte = 1;
	cl_event event[2] = { NULL, NULL };
	int i;

	for (i = 0; i < COMMANDS; i++) {
		cl_command_queue queue = i % 2 ? crowd->shared : crowd->cl->queue;
		cl_int error = clEnqueueFillBuffer(queue, crowd->mem, &byte, 1,
						   (crowd->seed * 64 + i) % 256, 1,
						   event[0] ? 1 : 0, event[0] ? event : NULL,
						   &event[1]);

		if (error)
			atomic_fetch_add(crowd->failed, 1);
		if (event[0])
			clReleaseEvent(event[0]);
		event[0] = event[1];
		if (i % 50 == 49 && clFinish(queue))
			atomic_fetch_add(crowd->failed, 1);
	}
	if (clWaitForEvents(1, event))
		atomic_fetch_add(crowd->failed, 1);
	clReleaseEvent(event[0]);
	return NULL;
}

static void threads(void **state)
{
	atomic_int failed = 0;
	struct crowd crowd[THREADS];
	pthread_t thread[THREADS];
	cl_command_queue shared;
	cl_mem mem;
	struct cl cl;
	unsigned i;

	cl_begin(&cl);
	shared = cl_out_of_order(&cl);
	mem = cl_buffer(&cl, 256 * THREADS, NULL);
	for (i = 0; i < THREADS; i++) {
		const cl_buffer_region region = { i * 256, 256 };
		cl_int error;

		crowd[i] = (struct crowd){ &cl, shared, NULL, &failed, i };
		crowd[i].mem =
			clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
		assert_int_equal(pthread_create(&thread[i], NULL, join_crowd, &crowd[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(clReleaseMemObject(crowd[i].mem), CL_SUCCESS);
	}
	assert_int_equal(atomic_load(&failed), 0);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	assert_int_equal(clFinish(shared), CL_SUCCESS);
	assert_int_equal(clReleaseCommandQueue(shared), CL_SUCCESS);
	cl_end(&cl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(out_of_order),
		cmocka_unit_test(barrier_with_wait_list),
		cmocka_unit_test(across_queues),
		cmocka_unit_test(errors_go_on),
		cmocka_unit_test(wait_lists),
		cmocka_unit_test(user_events),
		cmocka_unit_test(forgotten_user_event),
		cmocka_unit_test(callbacks),
		cmocka_unit_test(callbacks_enqueue),
		cmocka_unit_test(callbacks_of_released_events),
		cmocka_unit_test(profiling),
		cmocka_unit_test(creation),
		cmocka_unit_test(event_queries),
		cmocka_unit_test(released_before_the_end),
		cmocka_unit_test(threads),
	};

	return cmocka_run_group_tests_name("opencl_queue", tests, NULL, NULL);
}
