/* SPDX-License-Identifier: MIT */
/*
 * npu.h - run neural networks on an NPU.
 *
 *	struct npu_device *device;
 *	struct npu_model *model;
 *
 *	npu_open(NULL, &device);
 *	npu_model_load(device, "model.tflite", NULL, &model);
 *	npu_run(model, inputs, 1, outputs, 1, NULL);
 *	npu_model_free(model);
 *	npu_close(device);
 *
 * Errors.  Functions that can fail return 0 or a negative errno; npu_error() has the text of the
 * last failure in the calling thread.
 *
 * Processes.  A child of fork() opens the NPU itself; it does not use its parent's handles.
 *
 * Handles.  NULL for a device, model or job, or for what a function needs or gives back, is -EINVAL;
 * counts of it are 0, and closing or freeing it does nothing.
 *
 * Threads.  Every function may be called from every thread at any time.  Runs share the NPU chain by
 * chain.  Freeing an object while another thread still uses it is the one thing that the caller has to
 * prevent.
 *
 * Growth.  Structs that begin with @size grow at their end in later versions: set @size to
 * sizeof(struct) and everything else to zero before the call.  The library reads and writes no more
 * than @size bytes; a field that is zero has its default.  A size that was not set is -EINVAL.
 */
#ifndef NPU_H
#define NPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NPU_API __attribute__((visibility("default")))
#else
#define NPU_API
#endif

struct npu_device;
struct npu_model;
struct npu_job;

/* Version of the library that runs, "0.1.0".  Never freed. */
NPU_API const char *npu_version(void);

/*
 * What the last failing call in this thread failed of: one sentence that names the file, layer,
 * register or limit.  "" when nothing has failed yet.  Valid until the next call in this thread.
 */
NPU_API const char *npu_error(void);

/* ---- devices ------------------------------------------------------------------------------- */

/**
 * npu_open() - open an NPU
 * @name: "accelN" or "/dev/accel/accelN": a real NPU behind the kernel driver nvdla; "sim:CONFIG" or
 *	"sim:CONFIG:INSTANCE": the software NPU of that configuration; "sim": sim:nv_small.  NULL:
 *	what the environment variable NPU_DEVICE names, else the first real NPU, else "sim"
 * @device: receives the device; npu_close() it
 *
 * Handles of the same simulated NPU (same name, same user), in this or other processes, share its
 * live budget.
 *
 * Return: 0; -ENODEV: no such device, or its kernel module is not loaded; -EACCES: no permission to
 * open its node; -ENOTSUP: library and kernel driver do not suit each other; -EUCLEAN: the shared
 * budget is damaged; -ENOMEM; other errno of the system.  The text tells what to do.
 */
NPU_API int npu_open(const char *name, struct npu_device **device);

/* Models keep their device alive: it goes when the last of them is freed.  NULL is allowed. */
NPU_API void npu_close(struct npu_device *device);

/*
 * Name of the @index'th device that npu_open() knows of, from 0; NULL behind the last.  Never freed.
 */
NPU_API const char *npu_device_name(unsigned index);

/**
 * struct npu_device_info - what an NPU is; does not change while it is open
 * @size: set by the caller
 * @name: as npu_open() takes it
 * @config: hardware configuration, e.g. "nv_small"
 * @banks, @entries_per_bank, @entry_bytes: geometry of the on-chip convolution buffer
 * @sram_bytes: on-chip memory behind the second memory interface; 0: none
 * @channels_per_cycle, @kernels_per_cycle: multiply-accumulate array (atomic C and atomic K)
 * @atom_bytes: channels that lie side by side in the NPU's feature format
 * @is_pci: 1: it is a function of a PCI device, and the next four say which
 */
struct npu_device_info {
	size_t size;
	char name[64];
	char config[32];
	uint32_t banks;
	uint32_t entries_per_bank;
	uint32_t entry_bytes;
	uint32_t channels_per_cycle;
	uint32_t kernels_per_cycle;
	uint32_t atom_bytes;
	uint64_t sram_bytes;
	uint32_t is_pci;
	uint32_t pci_domain;
	uint32_t pci_bus;
	uint32_t pci_device;
	uint32_t pci_function;
};

NPU_API int npu_device_info(struct npu_device *device, struct npu_device_info *info);

/**
 * struct npu_device_budget - how much of the on-chip buffer may be used now
 * @size: set by the caller
 * @banks_total: of the hardware
 * @banks_cap: what the administrator allows
 * @banks_reserved: sum of all clients' reservations
 * @banks_available: what this handle may use now: the cap less other clients' reservations, and
 *	its own reservation at the least
 * @sram_bytes: available
 * @generation: counts the changes of the budget
 * @banks_usable: banks below the lowest one that is marked unusable
 */
struct npu_device_budget {
	size_t size;
	uint32_t banks_total;
	uint32_t banks_cap;
	uint32_t banks_reserved;
	uint32_t banks_available;
	uint64_t sram_bytes;
	uint64_t generation;
	uint32_t banks_usable;
};

NPU_API int npu_device_budget(struct npu_device *device, struct npu_device_budget *budget);

/**
 * npu_device_budget_wait() - sleep until the budget's generation is not @generation any more
 * @timeout_ms: at most so long; negative: for ever
 * @budget: receives the budget, also on time-out; may be NULL
 *
 * Real NPUs wake it by netlink; where the kernel has none, it looks every half second at the latest.
 *
 * Return: 0; -ETIMEDOUT; the errors of npu_device_budget().
 */
NPU_API int npu_device_budget_wait(struct npu_device *device, uint64_t generation, int timeout_ms,
				   struct npu_device_budget *budget);

/**
 * npu_reserve() - reserve banks for this handle
 * @banks: from now on; replaces an earlier reservation; 0 gives it back
 *
 * A reservation is an admission contract: other clients may plan with no more than what is left.
 * It ends with the handle or the process, however that ends.
 *
 * Return: 0; -ENOSPC: less is available; -EBUSY: too many clients hold reservations.
 */
NPU_API int npu_reserve(struct npu_device *device, uint32_t banks);

/**
 * npu_device_set_cap() - administrative: how many banks all clients together may use
 * @banks: 1 .. banks_total
 *
 * Chains that run now end undisturbed; models plan again by themselves.  Real NPUs: by netlink.
 *
 * Return: 0; -EINVAL: out of range; -EPERM: not allowed, real NPUs ask for CAP_NET_ADMIN; -ENOTSUP:
 * the kernel driver has no netlink family.
 */
NPU_API int npu_device_set_cap(struct npu_device *device, uint32_t banks);

/**
 * struct npu_reservation - one client's reservation
 * @size: set by the caller
 * @pid: process; 0: other processes together, of which the kernel does not tell more
 * @banks: reserved
 */
struct npu_reservation {
	size_t size;
	int64_t pid;
	uint32_t banks;
};

/* The @index'th reservation, from 0.  Return: 0; -ENOENT behind the last; other errno. */
NPU_API int npu_device_reservation(struct npu_device *device, unsigned index,
				   struct npu_reservation *reservation);

enum npu_priority {
	NPU_PRIORITY_LOW, /* when nobody else wants the NPU */
	NPU_PRIORITY_NORMAL, /* of a new handle */
	NPU_PRIORITY_HIGH, /* real NPUs ask for CAP_SYS_NICE */
};

/**
 * npu_set_priority() - priority of this handle's chains against those of other handles
 * @priority: for chains submitted from now on
 *
 * Strict: a chain waits until none of higher priority is ready.  Of simulated NPUs each handle has its
 * own: there it counts against npu_set_thread_priority() of the handle's other threads.
 *
 * Return: 0; -EINVAL: there is no such priority; -EACCES: not permitted; other errno.
 */
NPU_API int npu_set_priority(struct npu_device *device, enum npu_priority priority);

/**
 * npu_set_thread_priority() - priority of the runs that this thread makes from now on
 * @priority: goes before that of the handle
 *
 * For npu_run().  Where the kernel does not permit it, that of the handle stays.
 *
 * Return: 0; -EINVAL: there is no such priority.
 */
NPU_API int npu_set_thread_priority(enum npu_priority priority);

/* ---- models -------------------------------------------------------------------------------- */

/**
 * struct npu_model_options - how to load a model
 * @size: set by the caller
 * @max_banks: plan for at most so many banks even if more are available; 0: all that are available
 * @record_dir: record each run as a script with memory images under this directory; NULL: what the
 *	environment variable NPU_RECORD names, else none.  Simulated NPUs only
 * @input_shapes: "[NAME:]1x3x48x192", several separated by commas: shapes of inputs that the model's
 *	file leaves open; NULL: none
 * @pixels: the model's first input takes images of such bytes: "r8"; "rgb", "bgr"; "rgba", "bgra",
 *	"argb", "abgr": so many bytes a pixel in that order in memory, of which models of three channels
 *	leave out a;
 *	"nv24", "nv42": a plane of Y and one of U, V or V, U pairs, as many as pixels.  Red or Y is the
 *	model's first channel.  NULL: it takes what the model says.  Not of compiled files
 * @pixel_mean, @pixel_scale: what a byte of the model's channel stands for: (byte - mean) * scale.
 *	All scales 0: UINT8 inputs take the byte, INT8 the byte less 128, float32 the byte / 255
 */
struct npu_model_options {
	size_t size;
	uint32_t max_banks;
	const char *record_dir;
	const char *input_shapes;
	const char *pixels;
	float pixel_mean[4];
	float pixel_scale[4];
};

/**
 * npu_model_load() - load a model file (.tflite, .onnx, .prototxt) or a compiled file (.npu)
 * @device: where it will run; kept alive by the model
 * @path: file
 * @options: NULL: defaults
 * @model: receives the model; npu_model_free() it
 *
 * The model is planned for the budget that is available now and planned again by itself when that
 * changes.
 *
 * Return: 0; -ENOENT and other errno of opening the file; -EINVAL: damaged; -ENOTSUP: an operator or
 * the compiled configuration does not suit; -ENOSPC: a layer fits in no way, and the CPU
 * cannot do it either; -ENOMEM.
 */
NPU_API int npu_model_load(struct npu_device *device, const char *path,
			   const struct npu_model_options *options, struct npu_model **model);

/**
 * npu_model_load_memory() - npu_model_load() from memory
 * @data, @bytes: contents of a file; copied, the caller may free them afterwards
 * @name: what messages and recordings call the model
 */
NPU_API int npu_model_load_memory(struct npu_device *device, const void *data, size_t bytes,
				  const char *name, const struct npu_model_options *options,
				  struct npu_model **model);

enum npu_file_kind {
	NPU_FILE_UNKNOWN,
	NPU_FILE_MODEL, /* of a framework: compiled when it is loaded */
	NPU_FILE_COMPILED, /* .npu of any version and configuration */
};

/* What contents of a file are, by their first bytes alone. */
NPU_API enum npu_file_kind npu_file_kind(const void *data, size_t bytes);

/**
 * npu_model_save_memory() - a model as the contents of a compiled file (.npu)
 * @data, @bytes: receive them; free() @data
 *
 * What npuc writes: the network, packed for the device's configuration.  It is planned when it is
 * loaded, so it does not depend on today's budget.
 *
 * Return: 0; -ENOMEM.
 */
NPU_API int npu_model_save_memory(struct npu_model *model, void **data, size_t *bytes);

/* Cancels jobs that have not begun, waits for the one that runs.  NULL is allowed. */
NPU_API void npu_model_free(struct npu_model *model);

enum npu_type {
	NPU_TYPE_INT8,
	NPU_TYPE_UINT8,
	NPU_TYPE_INT16,
	NPU_TYPE_INT32,
	NPU_TYPE_INT64,
	NPU_TYPE_FLOAT16,
	NPU_TYPE_FLOAT32,
	NPU_TYPE_BOOL,
};

#define NPU_RANK_MAX 6

/**
 * struct npu_tensor_info - an input or output of a model
 * @size: set by the caller
 * @name: owned by the model
 * @type: of an element, host byte order
 * @rank, @shape: dimensions, the last one is contiguous; images are NHWC
 * @bytes: of all elements
 * @scale, @zero_point: real = scale * (stored - zero_point); @scale is 0 where it is not quantised
 * @pixels: an input that takes images: the order of their bytes, as in struct npu_model_options, the
 *	shape is [1, height, width, bytes], of two planes [1, 3 * height, width, 1]; else NULL
 */
struct npu_tensor_info {
	size_t size;
	const char *name;
	enum npu_type type;
	uint32_t rank;
	uint32_t shape[NPU_RANK_MAX];
	uint64_t bytes;
	float scale;
	int32_t zero_point;
	const char *pixels;
};

/* "int8", "float32", ...; "?" for an unknown type. */
NPU_API const char *npu_type_name(enum npu_type type);

NPU_API unsigned npu_model_input_count(const struct npu_model *model);
NPU_API unsigned npu_model_output_count(const struct npu_model *model);

/* Return: 0; -EINVAL: there is no such tensor. */
NPU_API int npu_model_input(const struct npu_model *model, unsigned index,
			    struct npu_tensor_info *info);
NPU_API int npu_model_output(const struct npu_model *model, unsigned index,
			     struct npu_tensor_info *info);

/* ---- models of one operator ---------------------------------------------------------------- */

enum npu_operator_kind {
	NPU_OPERATOR_CONV_2D, /* weights [K][R][S][C / groups] */
	NPU_OPERATOR_FULLY_CONNECTED, /* weights [K][C] */
	NPU_OPERATOR_MAX_POOL_2D,
	NPU_OPERATOR_AVERAGE_POOL_2D, /* padding does not count */
	NPU_OPERATOR_ADD, /* two inputs */
	NPU_OPERATOR_QUANTIZE, /* float32 or another scale to INT8 or UINT8 */
	NPU_OPERATOR_DEQUANTIZE, /* to float32 */
	NPU_OPERATOR_TRANSPOSE, /* of any type */
};

enum npu_operator_clamp {
	NPU_OPERATOR_CLAMP_NONE,
	NPU_OPERATOR_CLAMP_RELU, /* real values of 0 and more */
	NPU_OPERATOR_CLAMP_RELU6, /* 0 to 6 */
	NPU_OPERATOR_CLAMP_RELU_N1_TO_1, /* -1 to 1 */
};

/**
 * struct npu_operator - what a model of one operator computes
 * @size: set by the caller
 * @kind: operator
 * @clamp: of the result; convolution, fully connected, pooling, addition
 * @input: one or two tensors; names are not used
 * @output: result; its shape has to follow from the inputs'
 * @weights: convolution, fully connected: type, shape and scale
 * @weight_data: their elements
 * @weight_scales: a scale for each kernel; NULL: that of @weights for all
 * @bias: a number for each kernel, in units of input scale times weight scale; NULL: none
 * @window: pooling: rows and columns; a convolution's are those of its weights
 * @stride, @dilation: rows, columns; 0: 1
 * @pad: top, left, bottom, right
 * @groups: convolution; 0: 1
 * @permutation: transpose: input dimension of each output dimension
 */
struct npu_operator {
	size_t size;
	enum npu_operator_kind kind;
	enum npu_operator_clamp clamp;
	const struct npu_tensor_info *input[2];
	const struct npu_tensor_info *output;
	const struct npu_tensor_info *weights;
	const void *weight_data;
	const float *weight_scales;
	const int32_t *bias;
	uint32_t window[2];
	uint32_t stride[2];
	uint32_t dilation[2];
	uint32_t pad[4];
	uint32_t groups;
	uint32_t permutation[NPU_RANK_MAX];
};

/**
 * npu_model_of_operator() - a model of one operator, compiled as one from a file is
 * @op: copied, with weights and bias
 * @name: what messages call the model
 *
 * Arithmetic is that of TensorFlow Lite; what the NPU does not do, the CPU does.
 *
 * Return: 0; -EINVAL: what @op says does not fit together; -ENOTSUP: neither NPU nor CPU does it;
 * the errors of npu_model_load().
 */
NPU_API int npu_model_of_operator(struct npu_device *device, const struct npu_operator *op,
				  const char *name, const struct npu_model_options *options,
				  struct npu_model **model);

/* ---- plans --------------------------------------------------------------------------------- */

/**
 * struct npu_model_info - how a model is planned now
 * @size: set by the caller
 * @layers: of the optimised network
 * @npu_tasks: passes of the hardware in one run
 * @cpu_steps: operators that the CPU does in one run
 * @chains: submissions to the NPU in one run
 * @plan_banks: banks that the present plan was made for
 * @used_banks: most that a task of it claims
 * @plan_generation: of the budget that it was made for
 * @dram_bytes, @cycles: of one run, as planned
 * @weight_bytes, @arena_bytes: device memory
 * @compile_ns, @plan_ns: time to compile, and to plan (the last time)
 * @replans: plans since loading, without the first
 */
struct npu_model_info {
	size_t size;
	uint32_t layers;
	uint32_t npu_tasks;
	uint32_t cpu_steps;
	uint32_t chains;
	uint32_t plan_banks;
	uint32_t used_banks;
	uint64_t plan_generation;
	uint64_t dram_bytes;
	uint64_t cycles;
	uint64_t weight_bytes;
	uint64_t arena_bytes;
	uint64_t compile_ns;
	uint64_t plan_ns;
	uint64_t replans;
};

NPU_API int npu_model_info(struct npu_model *model, struct npu_model_info *info);

/* ---- runs ---------------------------------------------------------------------------------- */

/* Memory of the caller: an input tensor's or an output tensor's elements. */
struct npu_input {
	const void *data;
	size_t bytes; /* exactly the tensor's */
};

struct npu_output {
	void *data; /* NULL: this output is not wanted */
	size_t bytes; /* exactly the tensor's */
};

/**
 * struct npu_run_stats - what one run took
 * @size: set by the caller
 * @wall_ns: from start to end
 * @npu_ns, @cpu_ns, @convert_ns: parts of it: waiting for the NPU, CPU steps (their conversions
 *	included), conversion of inputs and outputs
 * @chains, @tasks: submitted to the NPU and done
 * @cpu_steps: operators done by the CPU
 * @cycles: virtual time of the model; 0 for real NPUs, which do not count
 * @feature_bytes, @weight_bytes, @operand_bytes, @output_bytes: DRAM traffic as the model measured
 *	it; 0 for real NPUs
 * @register_writes: to the NPU
 * @replans: plans made for this run, because the budget had changed
 * @restarts: times it began again since a chain was refused
 * @plan_banks, @plan_generation: of the plan that was run in the end
 * @busy_ns: sum of the times in which a task of the run had the NPU; 0 for simulated NPUs
 * @start_ns, @end_ns: CLOCK_MONOTONIC when the NPU got the run's first task and had done its last;
 *	of a run without tasks: of its steps
 * @submissions: to the NPU, of one or more chains; one that has chains of several runs counts for the run of
 *	the first
 */
struct npu_run_stats {
	size_t size;
	uint64_t wall_ns;
	uint64_t npu_ns;
	uint64_t cpu_ns;
	uint64_t convert_ns;
	uint32_t chains;
	uint32_t tasks;
	uint32_t cpu_steps;
	uint32_t plan_banks;
	uint64_t cycles;
	uint64_t feature_bytes;
	uint64_t weight_bytes;
	uint64_t operand_bytes;
	uint64_t output_bytes;
	uint64_t register_writes;
	uint32_t replans;
	uint32_t restarts;
	uint64_t plan_generation;
	uint64_t busy_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t submissions;
};

/**
 * npu_run() - run a model once and wait for the results
 * @inputs, @input_count: one for each input of the model, in its order
 * @outputs, @output_count: one for each output
 * @stats: filled where not NULL
 *
 * Return: 0; -EINVAL: number or size of the tensors; -ENOSPC: the budget shrinks faster than plans
 * follow it, or is too small for a layer that the CPU cannot do; -EIO: the NPU failed or hangs (it is
 * reset, the model stays usable); -ENOMEM.
 */
NPU_API int npu_run(struct npu_model *model, const struct npu_input *inputs, unsigned input_count,
		    const struct npu_output *outputs, unsigned output_count,
		    struct npu_run_stats *stats);

/**
 * struct npu_call - one run of several
 * @inputs, @input_count, @outputs, @output_count: as for npu_run()
 * @stats: filled where not NULL, of runs that were done and of the one that failed
 */
struct npu_call {
	struct npu_model *model;
	const struct npu_input *inputs;
	unsigned input_count;
	const struct npu_output *outputs;
	unsigned output_count;
	struct npu_run_stats *stats;
};

/**
 * npu_run_calls() - run models one after another and wait for the results
 * @calls, @count: in their order
 * @done: receives how many were done, also where it fails: the run behind these is the one that failed; may
 *	be NULL
 *
 * Results are those of as many npu_run().  What comes one behind the other on one NPU without a step of the CPU
 * between, and without an input that an earlier call writes, is handed to it at once: the NPU goes from one
 * chain to the next without the library.  A budget that shrinks is followed as npu_run() does.  Memory that is
 * mapped twice has to have the same address in all calls.
 *
 * Return: as npu_run(), of the first run that failed.  Numbers and sizes of all calls are looked at first.
 */
NPU_API int npu_run_calls(const struct npu_call *calls, unsigned count, unsigned *done);

/**
 * npu_submit() - run a model in the background
 * @job: receives a handle; npu_job_free() it
 *
 * The arrays are copied; the tensors' memory has to stay until the job has ended.  Jobs of one model
 * run in the order of their submission.
 *
 * Return: as npu_run(), as far as it can be told in advance.
 */
NPU_API int npu_submit(struct npu_model *model, const struct npu_input *inputs,
		       unsigned input_count, const struct npu_output *outputs,
		       unsigned output_count, struct npu_job **job);

/**
 * npu_job_wait() - wait for the end of a job
 * @timeout_ms: at most so long; 0: only look; negative: for ever
 *
 * Return: the run's result as npu_run() has it, its text in npu_error(); -ETIMEDOUT: not yet;
 * -ECANCELED: the model was freed first.
 */
NPU_API int npu_job_wait(struct npu_job *job, int timeout_ms);

/* A file descriptor that polls readable when the job has ended.  Owned by the job. */
NPU_API int npu_job_fd(const struct npu_job *job);

/* Statistics of a job that has ended.  Return: 0; -EBUSY: it has not. */
NPU_API int npu_job_stats(struct npu_job *job, struct npu_run_stats *stats);

/* A job that has not begun is taken back; one that runs is waited for.  NULL is allowed. */
NPU_API void npu_job_free(struct npu_job *job);

#ifdef __cplusplus
}
#endif

#endif /* NPU_H */
