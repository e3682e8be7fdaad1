/* SPDX-License-Identifier: MIT */
/*
 * What the parts of libnpu share: errors, the device operations that each kind
 * of device fills in, models, and the hook with which tests look at a run.
 */
#ifndef LIBNPU_INTERNAL_H
#define LIBNPU_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "npu.h"
#include "npu_compiler.h"

/* ---- error.c ---- */

/* Stores the text for npu_error() of this thread; returns @error, a negative errno. */
int npu_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What to do where the driver is not there; a part of such texts. */
#define NPU_LOAD_MODULE "as root: modprobe nvdla (where it is not installed: make modules_install)"

/* Has the caller given a device, model or job (@kind)?  0 or -EINVAL. */
int npu_check_handle(const void *handle, const char *kind);

/* Has the caller set the size that its struct begins with?  0 or -EINVAL. */
int npu_check_size(const void *object);

/*
 * Copies at most the caller's @size bytes; the caller's size field stays as it is.  0, or -EINVAL
 * where it was not set.
 */
int npu_copy_out(void *to, const void *from, size_t own_size);

/* CLOCK_MONOTONIC in nanoseconds. */
u64 npu_now_ns(void);

/* A monotonic deadline in @timeout_ms (negative: none, false is returned). */
bool npu_deadline(int timeout_ms, struct timespec *deadline);

/* ---- devices ---- */

/* How the CPU uses a buffer. */
enum npu_buffer_use {
	NPU_BUFFER_STREAMED, /* writes it once, in order; reads little */
	NPU_BUFFER_SHARED, /* reads and writes it between chains */
};

/**
 * struct npu_buffer - memory that the NPU can reach
 * @data: where the CPU sees it; NULL: none
 * @bytes: at least what was asked for
 * @handle: real NPUs: the kernel's name of it
 * @cached: real NPUs: caches have to be synchronised around each chain
 */
struct npu_buffer {
	void *data;
	size_t bytes;
	u32 handle;
	bool cached;
};

/* A chain that a device has validated and owns. */
struct npu_chain {
	u32 banks; /* that it needs */
	u32 tasks;
};

/* What one submission took; what a device cannot tell is 0. */
struct npu_chain_stats {
	u64 cycles;
	u64 busy_ns;
	u64 start_ns, end_ns;
	u64 feature_bytes, weight_bytes, operand_bytes, output_bytes;
	u64 register_writes;
};

struct npu_recording;

/* Most chains of one submission, and most buffers that are bound to all of them together. */
#define NPU_MAX_JOBS 64
#define NPU_MAX_BINDINGS 256

/**
 * struct npu_device_job - one run of a chain
 * @chain: of the device
 * @region, @region_count: buffers bound to its regions
 * @stats: filled where it is done
 */
struct npu_device_job {
	struct npu_chain *chain;
	const struct npu_buffer *region;
	u32 region_count;
	struct npu_chain_stats stats;
};

/**
 * struct npu_submission - chains that are handed to the device at once: all of them, or none
 * @job, @count: 1 to NPU_MAX_JOBS, in the order in which they run
 * @recording: NULL: none
 * @done: returned: so many were done from the first on, and their memory is the CPU's again
 * @failed: returned where it fails: the job that is to blame; what came behind it counts for nothing.
 *	@count where it is none in particular
 */
struct npu_submission {
	struct npu_device_job *job;
	u32 count;
	struct npu_recording *recording;
	u32 done, failed;
};

/**
 * struct npu_device_ops - what a kind of device can do
 * @destroy: free everything
 * @budget: read the live budget (all fields but size)
 * @budget_wait: until generation differs; -ETIMEDOUT
 * @reserve, @set_cap, @reservation: as in npu.h
 * @set_priority: a valid one
 * @buffer_create: zeroed memory, aligned for any chain
 * @chain_create: copy, validate and own a stream; errors have their text
 * @submit: run chains and wait; -ENOSPC: one needs more banks than this client may use now; -EIO: it
 *	hangs or did what it must not
 * @record_begin, @record_end: record submissions in between; NULL: cannot
 */
struct npu_device_ops {
	void (*destroy)(struct npu_device *device);
	int (*budget)(struct npu_device *device, struct npu_device_budget *budget);
	int (*budget_wait)(struct npu_device *device, u64 generation, int timeout_ms);
	int (*reserve)(struct npu_device *device, u32 banks);
	int (*set_priority)(struct npu_device *device, enum npu_priority priority);
	int (*set_cap)(struct npu_device *device, u32 banks);
	int (*reservation)(struct npu_device *device, unsigned index, struct npu_reservation *out);
	int (*buffer_create)(struct npu_device *device, size_t bytes, enum npu_buffer_use use,
			     struct npu_buffer *buffer);
	void (*buffer_destroy)(struct npu_device *device, struct npu_buffer *buffer);
	int (*chain_create)(struct npu_device *device, const void *stream, size_t bytes,
			    struct npu_chain **chain);
	void (*chain_destroy)(struct npu_device *device, struct npu_chain *chain);
	int (*submit)(struct npu_device *device, struct npu_submission *submission);
	int (*record_begin)(struct npu_device *device, const char *dir, const char *title,
			    struct npu_recording **recording);
	int (*record_end)(struct npu_device *device, struct npu_recording *recording);
};

/* Where a device is on PCI; @valid: it is there. */
struct npu_pci_address {
	bool valid;
	u32 domain, bus, device, function;
};

/* One open handle. Kinds of devices embed it as their first member. */
struct npu_device {
	const struct npu_device_ops *ops;
	const struct nvdla_config *config;
	u64 region_bytes; /* largest buffer that can be had; 0: no limit */
	u64 sram_bytes; /* on-chip memory behind the second memory interface */
	u32 max_jobs; /* of one submission */
	struct npu_pci_address pci;
	char name[64];
	atomic_uint references; /* the handle and its models */
};

/**
 * struct npu_device_kind - a family of devices that npu_open() knows
 * @prefix: of the names that belong to it; NULL behind the last
 * @name: the @index'th device that is there, NULL behind the last
 * @open: by full name
 */
struct npu_device_kind {
	const char *prefix[2];
	const char *(*name)(unsigned index);
	int (*open)(const char *name, struct npu_device **device);
};

extern const struct npu_device_kind npu_device_drm;
extern const struct npu_device_kind npu_device_sim;

/* The device model behind a simulated NPU, for tests that disturb it; nobody else may run. */
struct npusim *npu_sim_model(struct npu_device *device);

/* What npu_set_thread_priority() said in this thread, else @otherwise. */
enum npu_priority npu_thread_priority(enum npu_priority otherwise);

void npu_device_get(struct npu_device *device);
void npu_device_put(struct npu_device *device);

/* The live budget in the compiler's terms, at most @max_banks (0: no limit). */
int npu_device_plan_budget(struct npu_device *device, u32 max_banks, struct npu_budget *budget);

/* ---- models ---- */

/**
 * npu_step_hook - called after each step of a run
 * @step: index in program->step
 *
 * The model's arena holds the values that are live after the step.  For tests: per-layer comparison.
 */
typedef void (*npu_step_hook)(void *context, struct npu_model *model, u32 step);

/* A region in device memory: a buffer for each of the plan's spans. */
struct npu_memory {
	struct npu_buffer *buffer;
	u32 count;
};

/* Runs of one model that can be under way at once: while one computes on the CPU, another has the NPU. */
#define NPU_MODEL_LANES 2

/*
 * With further lanes, runs of one model go to the NPU in one submission: so many, as long as their arenas
 * together have no more than so many bytes.
 */
#define NPU_FURTHER_LANES (NPU_MAX_JOBS - 1)
#define NPU_FURTHER_BYTES (4u << 20)

/**
 * struct npu_lane - what a run of a model has for itself
 * @arena: activations; made when the lane is first used
 * @busy: a run has it
 * @plan: the plan that the run goes by: the model's count of replans
 */
struct npu_lane {
	struct npu_model *model;
	struct npu_memory arena;
	bool busy;
	u64 plan;
};

/**
 * struct npu_model - a loaded model
 * @lock: of everything down to @hook_context, held during a replan and when its plan is looked at
 * @changed: a lane or the plan is free again
 * @lane: of which a run takes a free one of the first NPU_MODEL_LANES, and those that join another run in its
 *	submission one behind these; the first always has its arena
 * @running: runs that use the plan at this moment, without the lock
 * @planners: runs that wait for them to end, to plan again; no other run begins then
 * @program: layers, plan and streams
 * @chain: device chains, one for each step that is one
 * @weights: on the device
 * @region_bytes: largest buffer to ask for; 0: no limit
 * @weights_for: region_bytes when the weights were copied to the device
 * @planned_for: the live budget at the last planning
 * @queue_lock: of everything below
 * @worker, @workers: threads of npu_submit(), one for each lane, started as jobs come
 * @idle: workers that wait for a job
 * @queued: jobs that wait for a worker
 * @first, @last: queue of jobs that have not begun; @wake: something changed there
 * @stopping: the model is being freed
 */
struct npu_model {
	struct npu_device *device;
	pthread_mutex_t lock;
	struct npu_program *program;
	struct npu_chain **chain;
	u32 chain_count;
	pthread_cond_t changed;
	struct npu_lane lane[NPU_MODEL_LANES + NPU_FURTHER_LANES];
	u32 running, planners;
	struct npu_memory weights;
	u64 region_bytes;
	u64 weights_for;
	u32 max_banks;
	struct npu_budget planned_for;
	u64 replans;
	char *name;
	char *record_dir;
	npu_step_hook hook;
	void *hook_context;

	pthread_mutex_t queue_lock;
	pthread_cond_t wake;
	pthread_t worker[NPU_MODEL_LANES];
	u32 workers, idle, queued;
	bool stopping;
	struct npu_job *first, *last;
};

/* The live budget in the compiler's terms, for this model. */
int npu_model_read_budget(const struct npu_model *model, struct npu_budget *budget);

/* After loading: adopts the program's plan, or another one where memory comes in pieces. */
int npu_model_first_plan(struct npu_model *model);

/* Would another plan be needed, or pay, for the live budget?  Its errors have their text. */
int npu_model_needs_plan(struct npu_model *model, bool *needed);

/* Plans for what is there now, whatever was before; no run may use the plan.  Adds to @replans. */
int npu_model_replan(struct npu_model *model, u32 *replans);

/* Makes a lane's arena fit the present plan. */
int npu_model_fit_lane(struct npu_lane *lane);

/* Makes the device ready for the streams and the arena of the program's present plan. */
int npu_model_adopt_plan(struct npu_model *model);

/* Gives back all that the model has on the device: at its end. */
void npu_model_drop_plan(struct npu_model *model);

/* Number and sizes of the caller's tensors. */
int npu_model_check_io(const struct npu_model *model, const struct npu_input *inputs,
		       unsigned input_count, const struct npu_output *outputs,
		       unsigned output_count);

/* ---- lanes (lane.c) ---- */

/**
 * npu_lane_enter() - begin a run: a lane, with a plan for the live budget and an arena for it
 * @refused: NULL, or which plan was refused: the lane's @plan of then
 * @stats: counts replans, receives the plan's budget
 *
 * Waits for a lane and, where it has to plan, for the runs that use the old plan: the caller must not have
 * entered any.
 *
 * Return: 0; errors of planning, with their text.
 */
int npu_lane_enter(struct npu_model *model, const u64 *refused, struct npu_run_stats *stats,
		   struct npu_lane **lane);

/* The same where it can be had without waiting and planning.  NULL: it cannot. */
struct npu_lane *npu_lane_join(struct npu_model *model, struct npu_run_stats *stats);

/* The run has ended. */
void npu_lane_leave(struct npu_lane *lane);

/* Is this model recorded or watched step by step?  Its runs go one by one. */
bool npu_model_is_watched(const struct npu_model *model);

/* Ends the worker and cancels what it has not begun. */
void npu_model_stop_jobs(struct npu_model *model);

void npu_model_set_hook(struct npu_model *model, npu_step_hook hook, void *context);

/* The graph of one operator (operator.c); to be freed by the caller.  Errors have their text. */
int npu_operator_graph(const struct npu_operator *op, const char *name, struct npu_graph **graph);

/* ---- values (value.c) ---- */

/* Where an element of a value lies in the arena's buffers; the rest of its row lies behind it. */
u8 *npu_value_at(const struct npu_lane *lane, u32 value, u32 y, u32 x, u32 c);

/* Bytes of a value's elements without gaps. */
size_t npu_value_linear_bytes(const struct npu_value *value);

/*
 * The value's elements in NHWC order without gaps, as a tensor of type @dtype has them: a value that is
 * stored as INT8 may stand for UINT8 elements (element - 128) and the reverse.
 */
void npu_value_read(const struct npu_lane *lane, u32 value, enum npu_dtype dtype, void *linear);
void npu_value_write(const struct npu_lane *lane, u32 value, enum npu_dtype dtype,
		     const void *linear);

/* ---- CPU steps (cpu_step.c) ---- */

/* A layer of the CPU, or the unit of the plan that begins with @layer. */
int npu_cpu_step(struct npu_lane *lane, u32 layer);

/* Can this CPU layer be done?  Called once, when the model is loaded. */
int npu_cpu_check_layer(const struct npu_model *model, const struct npu_layer *layer);

#endif /* LIBNPU_INTERNAL_H */
