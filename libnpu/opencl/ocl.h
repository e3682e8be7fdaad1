/* SPDX-License-Identifier: MIT */
/*
 * What the files of the OpenCL ICD share.  Documentation/opencl.md has the whole picture; in short:
 *
 *  - Every handle is an object (struct ocl_object first): dispatch table, magic word, two counts.
 *  - Every command is a struct ocl_command: what to do and what it holds.  An enqueue gives it an
 *    event and puts it into the graph (queue.c); a command buffer keeps it and runs it again and again.
 *  - One lock for each context guards its queues, events and their graph.  Commands and callbacks run
 *    without it.
 */
#ifndef LIBNPU_OPENCL_OCL_H
#define LIBNPU_OPENCL_OCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <CL/cl_icd.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl_npu.h"
#include "npu.h"

#define OCL_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- objects (object.c) -------------------------------------------------------------------------- */

/* The magic word of an object; anything else in its place is no handle of ours. */
enum ocl_kind {
	OCL_NONE, /* freed */
	OCL_PLATFORM = 0x4e505501,
	OCL_DEVICE,
	OCL_CONTEXT,
	OCL_QUEUE,
	OCL_MEM,
	OCL_PROGRAM,
	OCL_KERNEL,
	OCL_EVENT,
	OCL_COMMAND_BUFFER,
	OCL_MUTABLE_COMMAND,
};

struct ocl_object;

/**
 * struct ocl_class - what the objects of a kind have in common
 * @kind: magic word
 * @size: bytes of the whole object
 * @invalid: error for a handle that is none of this kind
 * @released: the application let go for the last time; the object may be in use inside; may be NULL
 * @destroy: nobody uses it any more: free what it owns, not the object itself
 */
struct ocl_class {
	enum ocl_kind kind;
	size_t size;
	cl_int invalid;
	void (*released)(void *object);
	void (*destroy)(void *object);
};

/**
 * struct ocl_object - how every object begins
 * @dispatch: for the ICD loader; has to be first
 * @kind: magic word
 * @class: of the kind
 * @handles: references of the application: what CL_..._REFERENCE_COUNT tells
 * @references: those of objects and commands inside, and one for all handles together
 * @watchers: who still looks whether it is there, and one for all references together
 */
struct ocl_object {
	const cl_icd_dispatch *dispatch;
	enum ocl_kind kind;
	const struct ocl_class *class;
	atomic_uint handles;
	atomic_uint references;
	atomic_uint watchers;
};

/* Zeroed, with one handle.  NULL: out of memory. */
void *ocl_new(const struct ocl_class *class);

/* Is it a handle of this kind that the application may use?  NULL is allowed and is none. */
bool ocl_is(const void *handle, enum ocl_kind kind);

/* References from inside.  NULL is allowed. */
void *ocl_get(void *object);
void ocl_put(void *object);

/*
 * Memory of the object itself stays as long as somebody watches it, what it owns does not.  ocl_get_watched(): a
 * reference; NULL: it has been destroyed.  NULL is allowed.
 */
void *ocl_watch(void *object);
void ocl_unwatch(void *object);
void *ocl_get_watched(void *object);

/* A handle for the application where it may have none any more; ocl_release() takes it back. */
void ocl_lend(void *object);

/*
 * A lock that its holder may take again: where a call fails, ocl_fail() has the context's notification called, and
 * that may ask the same object.
 */
void ocl_lock_init(pthread_mutex_t *lock);

/* clRetain... and clRelease...: CL_SUCCESS or the class's error. */
cl_int ocl_retain(void *handle, const struct ocl_class *class);
cl_int ocl_release(void *handle, const struct ocl_class *class);

extern const cl_icd_dispatch ocl_dispatch;

/* ---- errors (error.c) ---------------------------------------------------------------------------- */

/* A negative errno of libnpu in OpenCL's terms. */
cl_int ocl_errno(int err);

/**
 * ocl_fail() - tell why a call fails
 * @context: its notification function hears the text; may be NULL
 * @error: OpenCL's error
 *
 * The text is also what CL_PLATFORM_LAST_ERROR_NPU returns in this thread, and is printed to stderr where
 * the environment variable NPU_OPENCL_DEBUG is set.
 *
 * Return: @error.
 */
cl_int ocl_fail(cl_context context, cl_int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The last text of ocl_fail() in this thread, "" if there is none. */
const char *ocl_last_error(void);

/* Stores @error where the caller of a clCreate... function wants it. */
static inline void ocl_result(cl_int *errcode_ret, cl_int error)
{
	if (errcode_ret)
		*errcode_ret = error;
}

/* ---- queries (query.c) --------------------------------------------------------------------------- */

/**
 * struct ocl_answer - value of a query
 * @data, @bytes: the value; lives at least until the query returns
 * @word: room for a small one
 * @owned: freed after the copy; NULL: nothing
 * @error: CL_SUCCESS, or why there is none
 */
struct ocl_answer {
	const void *data;
	size_t bytes;
	uint64_t word[8];
	void *owned;
	cl_int error;
};

enum ocl_query_how { OCL_BY_VALUE, OCL_BY_FIELD, OCL_BY_TEXT, OCL_BY_CALL };

/**
 * struct ocl_query - one parameter name that a clGet...Info knows
 * @name: CL_..._...
 * @how: which of the rest tells the value
 * @bytes: of a value or field
 * @value: constant
 * @offset: of the field in the object
 * @text: constant string
 * @get: works it out
 */
struct ocl_query {
	cl_uint name;
	enum ocl_query_how how;
	size_t bytes;
	uint64_t value;
	size_t offset;
	const char *text;
	void (*get)(const void *object, struct ocl_answer *answer);
};

#define OCL_VALUE(name, type, value)                                \
	{                                                           \
		name, OCL_BY_VALUE, sizeof(type), (uint64_t)(value) \
	}
#define OCL_FIELD(name, object, field)                                                       \
	{                                                                                    \
		name, OCL_BY_FIELD, sizeof(((object *)0)->field), 0, offsetof(object, field) \
	}
#define OCL_TEXT(name, text)                                \
	{                                                   \
		name, OCL_BY_TEXT, sizeof(text), 0, 0, text \
	}
#define OCL_CALL(name, get)                           \
	{                                             \
		name, OCL_BY_CALL, 0, 0, 0, NULL, get \
	}

/* CL_..._REFERENCE_COUNT of every kind. */
void ocl_query_handles(const void *object, struct ocl_answer *answer);

/* Values for OCL_CALL rows. */
void ocl_answer_word(struct ocl_answer *answer, uint64_t value, size_t bytes);
void ocl_answer_handle(struct ocl_answer *answer, const void *handle);
void ocl_answer_text(struct ocl_answer *answer, const char *text);
void ocl_answer_data(struct ocl_answer *answer, const void *data, size_t bytes);

/* The tail of every clGet...Info: finds the row, checks the caller's size, copies. */
cl_int ocl_query(const struct ocl_query *rows, size_t count, const void *object, cl_uint name,
		 size_t size, void *value, size_t *size_ret);

/* ---- platform and devices (platform.c, device.c) -------------------------------------------------- */

struct _cl_platform_id {
	struct ocl_object base;
};

extern struct _cl_platform_id ocl_platform;

/* As clGetPlatformIDs has it: NULL is our platform too. */
static inline bool ocl_is_platform(cl_platform_id platform)
{
	return !platform || platform == &ocl_platform;
}

#define OCL_MAX_DEVICES 16

/* Buffers begin at multiples of this, and so do sub-buffers. */
#define OCL_BUFFER_ALIGN 128

/**
 * struct _cl_device_id - an NPU
 * @npu: open handle; NULL: it could not be opened, CL_DEVICE_AVAILABLE is false
 * @info: of the hardware
 * @type: CL_DEVICE_TYPE_ACCELERATOR, or _CUSTOM where the environment asks for it
 * @name: as npu_open() takes it
 * @problem: why it could not be opened
 */
struct _cl_device_id {
	struct ocl_object base;
	struct npu_device *npu;
	struct npu_device_info info;
	cl_device_type type;
	char name[64];
	char problem[256];
};

/* Devices of a type, as clGetDeviceIDs() has it.  @room: of @list.  Returns how many there are. */
cl_uint ocl_devices_of_type(cl_device_type type, cl_device_id *list, cl_uint room);
bool ocl_is_device_type(cl_device_type type);

/* All devices of the platform; opens them the first time. */
unsigned ocl_devices(struct _cl_device_id **first);

/* What the handle may use of the on-chip buffer now, in bytes; 0 where the device does not tell. */
uint64_t ocl_device_on_chip_bytes(cl_device_id device);

/* CL_DEVICE_MAX_MEM_ALLOC_SIZE of every device. */
uint64_t ocl_largest_buffer(void);

/* ---- contexts (context.c) ------------------------------------------------------------------------- */

struct ocl_destructor {
	struct ocl_destructor *next;
	union {
		void(CL_CALLBACK *context)(cl_context context, void *user_data);
		void(CL_CALLBACK *mem)(cl_mem memobj, void *user_data);
	};
	void *user_data;
};

/**
 * struct _cl_context - devices that share buffers and events
 * @lock: of the graph: queues' lists, events' states, mapping counts
 * @changed: some event ended; @waiting: threads that want to know
 * @properties, @property_count: as given, with the closing 0; 0: none
 * @notify, @notify_data: hears errors
 * @destructor: called in the reverse order of registration
 */
struct _cl_context {
	struct ocl_object base;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned waiting;
	cl_device_id device[OCL_MAX_DEVICES];
	cl_uint device_count;
	cl_context_properties *properties;
	size_t property_count;
	void(CL_CALLBACK *notify)(const char *errinfo, const void *private_info, size_t cb,
				  void *user_data);
	void *notify_data;
	struct ocl_destructor *destructor;
};

extern const struct ocl_class ocl_context_class;

bool ocl_context_has(cl_context context, cl_device_id device);

/* A copy of a list of pairs that ends with a 0; *@count elements with the 0.  NULL: no list or no memory. */
void *ocl_copy_properties(const void *list, size_t element, size_t *count);

/* ---- memory (buffer.c) ---------------------------------------------------------------------------- */

/**
 * struct _cl_mem - a buffer or a part of one
 * @flags: as clGetMemObjectInfo() tells them, defaults and inheritance resolved
 * @size: bytes
 * @data: its first byte; does not move while the object lives
 * @owned: @data is freed with the object
 * @host_ptr: of CL_MEM_USE_HOST_PTR, else NULL
 * @parent, @origin: of a sub-buffer
 * @properties, @property_count: as given, with the closing 0; 0: none
 * @map_count: mappings that have not been unmapped; of the context's lock
 * @destructor: called in the reverse order of registration
 * @external: what external_memory.c keeps of imported memory; NULL: it is not
 */
struct _cl_mem {
	struct ocl_object base;
	cl_context context;
	cl_mem_flags flags;
	size_t size;
	uint8_t *data;
	bool owned;
	void *host_ptr;
	cl_mem parent;
	size_t origin;
	cl_mem_properties *properties;
	size_t property_count;
	cl_uint map_count;
	struct ocl_mapping *mapping;
	struct ocl_destructor *destructor;
	struct ocl_external *external;
};

extern const struct ocl_class ocl_mem_class;

/* Frees the records of mappings that were never undone. */
void ocl_forget_mappings(cl_mem mem);

/* Do @offset and @bytes lie in the buffer, and is there at least one byte? */
bool ocl_mem_holds(cl_mem mem, size_t offset, size_t bytes);

/* Does a range of one buffer share bytes with one of the other?  Sees through sub-buffers. */
bool ocl_mem_overlap(cl_mem a, size_t a_offset, cl_mem b, size_t b_offset, size_t bytes);

/* ---- commands ------------------------------------------------------------------------------------- */

/*
 * When the device began and ended, CLOCK_MONOTONIC in ns, 0: the worker's own clock is taken; and how often
 * work was handed to it.
 */
struct ocl_times {
	cl_ulong start, end;
	cl_uint submissions;
};

#define OCL_MAX_PATTERN 128

/* Rows and slices of bytes, as the ...BufferRect functions have them. */
struct ocl_pitch {
	size_t row, slice;
};

/**
 * struct ocl_copy - region[0] bytes in region[1] rows in region[2] slices
 */
struct ocl_copy {
	uint8_t *to;
	const uint8_t *from;
	size_t region[3];
	struct ocl_pitch to_pitch, from_pitch;
};

struct ocl_fill {
	uint8_t *to;
	size_t bytes;
	size_t pattern_bytes;
	uint8_t pattern[OCL_MAX_PATTERN];
};

struct ocl_command;
struct ocl_launch;

/**
 * struct ocl_command_ops - a kind of command
 * @type: CL_COMMAND_...
 * @run: do it; may be called again; without any lock.  Returns CL_SUCCESS or the event's error.  NULL: there is
 *	nothing to do
 * @release: let go of what the command holds besides @mem; may be NULL
 */
struct ocl_command_ops {
	cl_command_type type;
	cl_int (*run)(struct ocl_command *command, struct ocl_times *times);
	void (*release)(struct ocl_command *command);
};

/**
 * struct ocl_command - something to do, with everything that it needs
 * @ops: its kind
 * @mem: buffers that it keeps alive
 *
 * May be moved by assignment.  ocl_command_release() it, or hand it to ocl_enqueue().
 */
struct ocl_command {
	const struct ocl_command_ops *ops;
	cl_mem mem[2];
	union {
		struct ocl_copy copy;
		struct ocl_fill *fill;
		struct ocl_launch *launch;
		struct ocl_native *native;
		struct ocl_mapping *mapping;
		struct ocl_migration *migration;
		void *other; /* what another file's ops know */
	};
};

void ocl_command_release(struct ocl_command *command);

static inline cl_int ocl_command_run(struct ocl_command *command, struct ocl_times *times)
{
	return command->ops->run ? command->ops->run(command, times) : CL_SUCCESS;
}

/* Builders: check the arguments as the clEnqueue... function has to and make the command. */
cl_int ocl_build_copy(cl_context context, cl_mem src, cl_mem dst, size_t src_offset,
		      size_t dst_offset, size_t bytes, struct ocl_command *command);
cl_int ocl_build_copy_rect(cl_context context, cl_mem src, cl_mem dst, const size_t *src_origin,
			   const size_t *dst_origin, const size_t *region,
			   struct ocl_pitch src_pitch, struct ocl_pitch dst_pitch,
			   struct ocl_command *command);
cl_int ocl_build_fill(cl_context context, cl_mem mem, const void *pattern, size_t pattern_bytes,
		      size_t offset, size_t bytes, struct ocl_command *command);
/* @may_wait: arguments that are not set are no error, but it cannot run yet. */
cl_int ocl_build_launch(cl_context context, cl_device_id device, cl_kernel kernel, cl_uint work_dim,
			const size_t *offset, const size_t *global, const size_t *local,
			bool may_wait, struct ocl_command *command);

/* A command that does nothing, for markers, barriers and the like: CL_COMMAND_MARKER or _BARRIER. */
void ocl_build_nothing(cl_command_type type, struct ocl_command *command);

/* ---- queues and events (queue.c, event.c) ---------------------------------------------------------- */

/**
 * struct ocl_edge - an event that another one waits for
 * @next: other edges that start at the same event
 * @to: the event that waits
 * @explicit: of the wait list: an error goes on to @to
 */
struct ocl_edge {
	struct ocl_edge *next;
	cl_event to;
	bool explicit;
};

/**
 * struct ocl_callback - a function to call when an event reaches a state
 * @at: CL_COMPLETE, CL_RUNNING or CL_SUBMITTED
 * @event, @status: what to call it with, once it is due
 */
struct ocl_callback {
	struct ocl_callback *next;
	cl_event event;
	cl_int at, status;
	void(CL_CALLBACK *notify)(cl_event event, cl_int status, void *user_data);
	void *user_data;
};

/* Index into an event's times, in the order of CL_PROFILING_COMMAND_QUEUED and so on. */
enum ocl_time { OCL_QUEUED, OCL_SUBMITTED, OCL_STARTED, OCL_ENDED, OCL_TIMES };

/**
 * struct _cl_event - a command on its way, or a user event
 * @context, @queue: where it belongs; @queue is NULL for user events
 * @type: CL_COMMAND_...
 * @command: what to do; ops is NULL for user events and after the end
 * @holds_back: a barrier: later commands of the queue wait for it
 *
 * Of the context's lock:
 * @status: as clGetEventInfo() tells it
 * @time: CLOCK_MONOTONIC in ns, by enum ocl_time
 * @submissions: to the NPU
 * @blockers: events that it waits for
 * @failed: one that it waits for by its wait list failed
 * @edges: edges that start here
 * @edge: memory of the edges that end here; @few: for most events
 * @number: counts the commands of the queue
 * @before, @after: in the queue's list of commands that have not ended
 * @next_ready: in the queue's list of commands that may run
 * @callbacks: not called yet
 */
struct _cl_event {
	struct ocl_object base;
	cl_context context;
	cl_command_queue queue;
	cl_command_type type;
	struct ocl_command command;
	bool holds_back;

	bool failed;
	cl_int status;
	cl_ulong time[OCL_TIMES];
	cl_uint submissions;
	unsigned blockers;
	struct ocl_edge *edges;
	struct ocl_edge *edge;
	struct ocl_edge few[3];
	uint64_t number;
	cl_event before, after;
	cl_event next_ready;
	struct ocl_callback *callbacks;
};

extern const struct ocl_class ocl_event_class;

/**
 * struct _cl_command_queue - commands of one device
 * @properties: CL_QUEUE_...
 * @property_list, @property_count: as given, with the closing 0; 0: none
 * @priority: of cl_khr_priority_hints, CL_QUEUE_PRIORITY_..._KHR
 *
 * Of the context's lock:
 * @first, @last: commands that have not ended, in the order of their enqueueing
 * @ready, @ready_last: those of them that may run now
 * @barrier: the last barrier that has not ended; later commands wait for it
 * @count: commands enqueued so far
 * @workers, @idle: threads, and how many of them have nothing to do
 * @closing: the application let go; workers end when nothing is left
 * @wake: something became ready, or the queue closes
 */
struct _cl_command_queue {
	struct ocl_object base;
	cl_context context;
	cl_device_id device;
	cl_command_queue_properties properties;
	cl_queue_properties *property_list;
	size_t property_count;
	cl_uint priority;

	cl_event first, last;
	cl_event ready, ready_last;
	cl_event barrier;
	uint64_t count;
	unsigned workers, idle;
	bool closing;
	pthread_cond_t wake;
};

extern const struct ocl_class ocl_queue_class;

/* The arguments with which every clEnqueue... function ends. */
struct ocl_wait {
	cl_uint count;
	const cl_event *list;
	cl_event *event; /* receives the event; NULL: not wanted */
	bool blocking; /* return when the command has ended */
};

#define OCL_WAIT(count, list, event) ((struct ocl_wait){ count, list, event, false })

/* NULL and 0 agree, every entry is an event, of @context. */
cl_int ocl_check_wait_list(cl_context context, cl_uint count, const cl_event *list);

/**
 * ocl_enqueue() - put a command into a queue
 * @queue: valid
 * @command: owned from here on, also where the call fails
 *
 * Return: CL_SUCCESS; with a blocking wait the event's error; CL_INVALID_EVENT_WAIT_LIST and the like.
 */
cl_int ocl_enqueue(cl_command_queue queue, struct ocl_command *command, struct ocl_wait wait);

/* An event without a queue, in the state CL_SUBMITTED.  NULL: out of memory. */
cl_event ocl_new_event(cl_context context, cl_command_type type);

/* Of the context's lock: the event's state changes.  Callbacks that become due go to @due. */
void ocl_event_reach(cl_event event, cl_int status, struct ocl_callback **due);

/* Without the lock: calls and frees them. */
void ocl_call_due(struct ocl_callback *due);

/* Of the context's lock: sleeps until some event of the context ended. */
void ocl_await_change(cl_context context);

/* The event ended: tells everybody who waits.  @status: CL_COMPLETE or an error. */
void ocl_event_end(cl_event event, cl_int status);

/* What clFlush() does; for waits, which flush first. */
void ocl_flush(cl_command_queue queue);

/* Of the context's lock: it may run now. */
void ocl_queue_ready(cl_event event, struct ocl_callback **due);

/* Of the context's lock: it has ended. */
void ocl_queue_remove(cl_event event);

/* CLOCK_MONOTONIC in ns. */
cl_ulong ocl_now(void);

/* ---- programs and kernels (program*.c, kernel.c, launch.c) ------------------------------------------ */

/* Bytes of the largest argument that is no buffer. */
#define OCL_MAX_SCALAR 16

/**
 * struct ocl_arg - an argument of a kernel
 * @name: owned by the program
 * @type_name: "char*", "uint", ...
 * @scalar_bytes: size of its value; 0: it is a buffer
 * @output: the kernel writes it; it may be left out (NULL)
 * @optional: the kernel reads it and it may be left out
 * @early: the kernel reads it before its turn, when its inference is asked for
 * @bytes: that the buffer has to have at least; 0: it depends on other arguments
 * @tensor: of a model's argument; size is 0 where there is none
 */
struct ocl_arg {
	const char *name;
	const char *type_name;
	size_t scalar_bytes;
	bool output;
	bool optional;
	bool early;
	uint64_t bytes;
	struct npu_tensor_info tensor;
};

/**
 * struct ocl_entry_ops - how kernels of an entry point run
 * @prepare: at enqueue or record: check values against each other, set launch->prepared; an error tells its
 *	reason by ocl_fail().  May be NULL
 * @run: any number of times, also at the same time in several threads; NULL: the kernel is an inference
 * @release: undo @prepare; may be NULL
 * @forget: the kernel is being destroyed: free its @state; may be NULL
 * @begin: of an inference: says which, all but the statistics; called as @run is.  An error tells its reason
 * @end: of an inference: it is over, whatever came of it; may be NULL
 */
struct ocl_entry_ops {
	cl_int (*prepare)(struct ocl_launch *launch);
	cl_int (*run)(struct ocl_launch *launch, struct ocl_times *times);
	void (*release)(struct ocl_launch *launch);
	void (*forget)(cl_kernel kernel);
	cl_int (*begin)(struct ocl_launch *launch, struct npu_call *call);
	void (*end)(struct ocl_launch *launch, const struct npu_call *call);
};

/**
 * struct ocl_entry - an entry point of a program, the same on all devices it is built for
 * @attributes: CL_KERNEL_ATTRIBUTES; NULL: ""
 * @any_range: it takes any number of work-items; others are one work-item
 */
struct ocl_entry {
	const char *name;
	const char *attributes;
	bool any_range;
	cl_uint arg_count;
	const struct ocl_arg *arg;
	const struct ocl_entry_ops *ops;
};

/**
 * struct ocl_build - a program on one device
 * @file, @file_bytes: what was given: a model or compiled file; NULL: none
 * @status: CL_BUILD_...
 * @binary_type: CL_PROGRAM_BINARY_TYPE_...
 * @options, @log: of the last build; NULL: ""
 * @model: loaded; NULL: not built, or a built-in program
 * @saved, @saved_bytes: the model as a compiled file, once somebody asked
 * @host: code of host kernels (test builds alone)
 */
struct ocl_build {
	cl_device_id device;
	void *file;
	size_t file_bytes;
	cl_build_status status;
	cl_program_binary_type binary_type;
	char *options;
	char *log;
	struct npu_model *model;
	void *saved;
	size_t saved_bytes;
	void *host;
};

/**
 * struct _cl_program - one or more entry points for one or more devices
 * @lock: of the builds
 * @source: of clCreateProgramWithSource(), which cannot be built; NULL: none
 * @builtin: made of built-in kernels
 * @entry, @entry_count: known after the build; @own_entries, @own_args: freed with the program
 * @kernels: kernels that exist; a program with kernels cannot be built again
 */
struct _cl_program {
	struct ocl_object base;
	cl_context context;
	pthread_mutex_t lock;
	char *source;
	bool builtin;
	struct ocl_build build[OCL_MAX_DEVICES];
	cl_uint build_count;
	const struct ocl_entry **entry;
	cl_uint entry_count;
	struct ocl_entry *own_entries;
	struct ocl_arg *own_args;
	atomic_uint kernels;
};

extern const struct ocl_class ocl_program_class;

/* How the entry point of a model runs (launch.c). */
extern const struct ocl_entry_ops ocl_model_ops;

/*
 * Host kernels: code for the host as a program, so that suites whose kernels are in OpenCL C can try our queues and
 * command buffers.  In test builds alone (make HOST_KERNELS=1), since a program then runs anything.
 */
#define OCL_WEAK __attribute__((weak))
OCL_WEAK bool ocl_host_is(const void *data, size_t bytes);
/* Loads the build's file and adds its entry points, if the program has none.  NULL, or what is wrong. */
OCL_WEAK const char *ocl_host_build(cl_program program, struct ocl_build *build);
OCL_WEAK void ocl_host_forget(struct ocl_build *build);

/* The program's build for a device; NULL: it has none. */
struct ocl_build *ocl_program_build(cl_program program, cl_device_id device);

/* Loads the build's file, for at most so many banks (0: as many as there are); 0 or libnpu's error. */
int ocl_program_load(struct ocl_build *build, uint32_t max_banks);

/* Is the build's file code for the host?  Never in what is installed. */
bool ocl_program_is_host(const struct ocl_build *build);

/* Before it is built again: all that a build has made, but for the file; all entry points. */
void ocl_program_forget_build(struct ocl_build *build);
void ocl_program_forget_entries(cl_program program);

/* Built-in kernels: a table that ends with a NULL name (builtin.c). */
extern const struct ocl_entry *const ocl_builtin[];

/* An argument's value. @set: clSetKernelArg() was called. */
struct ocl_value {
	bool set;
	cl_mem mem; /* of a kernel: watched; of a launch: referenced; NULL: left out */
	uint8_t scalar[OCL_MAX_SCALAR];
};

/**
 * struct _cl_kernel - an entry point with arguments
 * @value: of its arguments
 * @state: what the entry's ops keep from one launch to the next; a clone begins without
 */
struct _cl_kernel {
	struct ocl_object base;
	cl_program program;
	const struct ocl_entry *entry;
	struct ocl_value *value;
	void *state;
};

extern const struct ocl_class ocl_kernel_class;

/* Who has values: a kernel watches its buffers, as OpenCL wants it; a launch keeps them. */
struct ocl_hold {
	void *(*take)(void *mem);
	void (*leave)(void *mem);
};

extern const struct ocl_hold ocl_keeps;

/* Checks and stores one argument, as clSetKernelArg(); also for mutable dispatch. */
cl_int ocl_set_value(const struct ocl_entry *entry, struct ocl_value *values,
		     const struct ocl_hold *hold, cl_context context, cl_uint index, size_t size,
		     const void *value);

/* The work-items of a launch; 1 in dimensions that it has not. */
struct ocl_range {
	size_t offset[3];
	size_t global[3];
};

/**
 * struct ocl_launch - a kernel with the values that it had when it was enqueued or recorded
 * @kernel: referenced, and with it the program
 * @build: of the device
 * @range: work-items
 * @may_wait: arguments may be set when it has been recorded
 * @complete: all of them are set, and it is prepared
 * @prepared: of the entry's ops
 */
struct ocl_launch {
	cl_kernel kernel;
	cl_device_id device;
	struct ocl_build *build;
	const struct ocl_entry *entry;
	struct ocl_range range;
	bool may_wait, complete;
	void *prepared;
	struct ocl_value value[];
};

/* The same kernel, device and values, not prepared.  NULL: out of memory. */
struct ocl_launch *ocl_launch_copy(const struct ocl_launch *launch);
void ocl_launch_free(struct ocl_launch *launch);

/* A command that owns a prepared launch. */
void ocl_launch_command(struct ocl_launch *launch, struct ocl_command *command);

/* All arguments are set, if they may not wait, and large enough, and the entry's ops accept them. */
cl_int ocl_launch_prepare(struct ocl_launch *launch);

/* Inferences that go to the NPU together at most. */
#define OCL_MAX_TOGETHER 64

/* The launch that a command is; NULL: it is none. */
struct ocl_launch *ocl_command_launch(const struct ocl_command *command);

/* The same if it is an inference; else NULL. */
struct ocl_launch *ocl_command_inference(const struct ocl_command *command);

/* Runs inferences of one device, in order up to one that fails; OCL_MAX_TOGETHER at most. */
cl_int ocl_run_inferences(struct ocl_launch *const *launch, cl_uint count, struct ocl_times *times);

#endif /* LIBNPU_OPENCL_OCL_H */
