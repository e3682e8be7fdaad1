// SPDX-License-Identifier: MIT
/*
 * What OpenCL costs: from clEnqueueNDRangeKernel() until the NPU has the work, beside npu_submit() of the same
 * network in the same run; a command buffer beside as many enqueues; and PoCL's numbers for a kernel of its own
 * that does nothing, where PoCL is installed.
 *
 *	bench_opencl [libnpu|opencl|enqueues|buffer N]
 *
 * With a word: that alone, N times, for a counter outside (tests/bench/instructions): npu_submit() of a layer, a
 * kernel of it, COMMANDS of these, or a command buffer of as many.
 */
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include "../common/dense_layer.h"
#include "bench.h"
#include "cl_npu_command_buffer.h"
#include "internal.h"

#define RUNS 2001
#define COMMANDS 100
#define POCL_VENDOR "/etc/OpenCL/vendors/pocl.icd"

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "bench_opencl: %s: error %d\n", what, error);
	exit(1);
}

/* ---- instructions of the whole process ---- */

static int counter = -1;

static void open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.inherit = 1,
		.exclude_kernel = 1,
	};

	counter = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
	if (counter < 0)
		printf("instructions are not counted: this system has no counter for them; "
		       "processor time stands for them\n");
}

static double instructions(void)
{
	unsigned long long count = 0;

	if (counter < 0 || read(counter, &count, sizeof(count)) != sizeof(count))
		return 0;
	return (double)count;
}

static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* ---- both sides ---- */

struct cost {
	double latency; /* seconds from the call until the NPU has the first task; median */
	double processor; /* seconds of the process for one, all of its threads */
	double instructions; /* likewise; 0: not counted */
};

/* A network of one small layer, as a compiled file for both sides. */
static void *make_file(struct npu_device *device, size_t *bytes)
{
	static const int8_t weights[64 * 64];
	struct npu_model *model;
	void *data;

	check(dense_layer(device, 64, weights, NULL, &model), npu_error());
	check(npu_model_save_memory(model, &data, bytes), npu_error());
	npu_model_free(model);
	return data;
}

struct both {
	struct npu_device *device;
	struct npu_model *model;
	cl_device_id cl_device;
	cl_context context;
	cl_command_queue queue;
	cl_kernel kernel;
	cl_mem in, out;
};

static u64 start_by_libnpu(struct both *b)
{
	static int8_t in[64], out[64];
	const struct npu_input input = { in, sizeof(in) };
	const struct npu_output output = { out, sizeof(out) };
	struct npu_run_stats stats = { .size = sizeof(stats) };
	struct npu_job *job;

	check(npu_submit(b->model, &input, 1, &output, 1, &job), "npu_submit");
	check(npu_job_wait(job, -1), "npu_job_wait");
	check(npu_job_stats(job, &stats), "npu_job_stats");
	npu_job_free(job);
	return stats.start_ns;
}

static u64 start_by_opencl(struct both *b)
{
	const size_t one = 1;
	cl_event event;
	cl_ulong start;

	check(clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &one, NULL, 0, NULL, &event),
	      "clEnqueueNDRangeKernel");
	check(clWaitForEvents(1, &event), "clWaitForEvents");
	check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start), &start,
				      NULL),
	      "profiling");
	check(clReleaseEvent(event), "clReleaseEvent");
	return start;
}

static struct cost measure(struct both *b, u64 (*start)(struct both *b))
{
	static double latency[RUNS];
	struct cost cost;
	double processor, count;
	int i;

	for (i = 0; i < 100; i++)
		start(b);
	processor = processor_seconds();
	count = instructions();
	for (i = 0; i < RUNS; i++) {
		u64 before = npu_now_ns();

		latency[i] = (double)(start(b) - before) * 1e-9;
	}
	cost.processor = (processor_seconds() - processor) / RUNS;
	cost.instructions = (instructions() - count) / RUNS;
	qsort(latency, RUNS, sizeof(latency[0]), bench_compare);
	cost.latency = latency[RUNS / 2];
	return cost;
}

static void compare_submission(struct both *b)
{
	/* One behind the other, twice: what else the machine does concerns both. */
	struct cost libnpu = measure(b, start_by_libnpu), opencl = measure(b, start_by_opencl);

	libnpu = measure(b, start_by_libnpu);
	opencl = measure(b, start_by_opencl);
	bench_report("clEnqueueNDRangeKernel to the NPU", opencl.latency * 1e6, "us",
		     "npu_submit to the NPU", libnpu.latency * 1e6);
	bench_report("a small kernel, processor time", opencl.processor * 1e6, "us", "npu_submit",
		     libnpu.processor * 1e6);
	if (counter >= 0)
		bench_report("a small kernel, instructions", opencl.instructions / 1e3, "1000",
			     "npu_submit", libnpu.instructions / 1e3);
}

/* ---- command buffers ---- */

struct many {
	struct both *both;
	cl_npu_enqueue_command_buffer *enqueue;
	cl_command_buffer_khr buffer;
	cl_kernel kernel;
};

static void enqueue_many(void *context)
{
	struct many *many = context;
	const size_t one = 1;
	int i;

	for (i = 0; i < COMMANDS; i++)
		check(clEnqueueNDRangeKernel(many->both->queue, many->kernel, 1, NULL, &one, NULL,
					     0, NULL, NULL),
		      "clEnqueueNDRangeKernel");
	check(clFinish(many->both->queue), "clFinish");
}

static void enqueue_buffer(void *context)
{
	struct many *many = context;

	check(many->enqueue(0, NULL, many->buffer, 0, NULL, NULL), "clEnqueueCommandBufferKHR");
	check(clFinish(many->both->queue), "clFinish");
}

static void *function(cl_platform_id platform, const char *name)
{
	void *found = clGetExtensionFunctionAddressForPlatform(platform, name);

	check(!found, name);
	return found;
}

static void record(struct many *many, cl_platform_id platform)
{
	cl_npu_create_command_buffer *create = function(platform, "clCreateCommandBufferKHR");
	cl_npu_command_nd_range_kernel *add = function(platform, "clCommandNDRangeKernelKHR");
	cl_npu_of_command_buffer *finalize = function(platform, "clFinalizeCommandBufferKHR");
	const size_t one = 1;
	cl_int error;
	int i;

	many->buffer = create(1, &many->both->queue, NULL, &error);
	check(error, "clCreateCommandBufferKHR");
	for (i = 0; i < COMMANDS; i++)
		check(add(many->buffer, NULL, NULL, many->kernel, 1, NULL, &one, NULL, 0, NULL,
			  NULL, NULL),
		      "clCommandNDRangeKernelKHR");
	check(finalize(many->buffer), "clFinalizeCommandBufferKHR");
	many->enqueue = function(platform, "clEnqueueCommandBufferKHR");
}

static cl_kernel copy_kernel(struct both *b)
{
	const cl_ulong bytes = 64;
	cl_program program;
	cl_kernel kernel;
	cl_int error;

	program =
		clCreateProgramWithBuiltInKernels(b->context, 1, &b->cl_device, "npu_copy", &error);
	check(error, "npu_copy");
	kernel = clCreateKernel(program, "npu_copy", &error);
	check(error, "npu_copy");
	check(clSetKernelArg(kernel, 0, sizeof(b->in), &b->in), "argument");
	check(clSetKernelArg(kernel, 1, sizeof(b->out), &b->out), "argument");
	check(clSetKernelArg(kernel, 2, sizeof(bytes), &bytes), "argument");
	clReleaseProgram(program);
	return kernel;
}

/* Returns the seconds of as many enqueues. */
static double compare_command_buffer(struct both *b, cl_platform_id platform, cl_kernel kernel,
				     const char *what)
{
	cl_npu_of_command_buffer *release = function(platform, "clReleaseCommandBufferKHR");
	struct many many = { .both = b, .kernel = kernel };
	double one_by_one, at_once;
	char text[64];

	record(&many, platform);
	one_by_one = bench_median(enqueue_many, &many);
	at_once = bench_median(enqueue_buffer, &many);
	snprintf(text, sizeof(text), "command buffer of 100 %s", what);
	bench_report(text, at_once * 1e6, "us", "100 enqueues", one_by_one * 1e6);
	check(release(many.buffer), "clReleaseCommandBufferKHR");
	return one_by_one;
}

/* ---- for a counter outside ---- */

static void alone(struct both *b, cl_platform_id platform, const char *what, long times)
{
	struct many many = { .both = b, .kernel = b->kernel };

	record(&many, platform);
	for (; times > 0; times--) {
		if (!strcmp(what, "libnpu"))
			start_by_libnpu(b);
		else if (!strcmp(what, "opencl"))
			start_by_opencl(b);
		else if (!strcmp(what, "enqueues"))
			enqueue_many(&many);
		else if (!strcmp(what, "buffer"))
			enqueue_buffer(&many);
		else
			check(1, what);
	}
	check(((cl_npu_of_command_buffer *)function(platform, "clReleaseCommandBufferKHR"))(
		      many.buffer),
	      "clReleaseCommandBufferKHR");
}

/* ---- PoCL ---- */

static void compare_pocl(cl_platform_id platform, double ours)
{
	const char *source = "kernel void nothing(void) {}";
	struct both pocl = { 0 };
	struct many many = { .both = &pocl };
	cl_program program;
	cl_int error;

	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &pocl.cl_device, NULL), "PoCL");
	pocl.context = clCreateContext(NULL, 1, &pocl.cl_device, NULL, NULL, &error);
	check(error, "PoCL");
	pocl.queue = clCreateCommandQueueWithProperties(pocl.context, pocl.cl_device, NULL, &error);
	check(error, "PoCL");
	program = clCreateProgramWithSource(pocl.context, 1, &source, NULL, &error);
	check(error, "PoCL");
	check(clBuildProgram(program, 1, &pocl.cl_device, NULL, NULL, NULL), "PoCL");
	many.kernel = clCreateKernel(program, "nothing", &error);
	check(error, "PoCL");
	bench_report("100 enqueues of npu_copy", ours * 1e6, "us",
		     "PoCL, 100 of a kernel that does nothing",
		     bench_median(enqueue_many, &many) * 1e6);
	clReleaseKernel(many.kernel);
	clReleaseProgram(program);
	clReleaseCommandQueue(pocl.queue);
	clReleaseContext(pocl.context);
}

/* The loader looks into one folder: ours beside PoCL's, where that is installed. */
static void show_pocl(char *folder)
{
	const char *vendors = getenv("OCL_ICD_VENDORS");
	char from[512], to[512];

	if (!vendors || access(POCL_VENDOR, R_OK) || !mkdtemp(folder))
		return;
	snprintf(from, sizeof(from), "%s/npu.icd", vendors);
	snprintf(to, sizeof(to), "%s/npu.icd", folder);
	check(symlink(from, to), to);
	snprintf(to, sizeof(to), "%s/pocl.icd", folder);
	check(symlink(POCL_VENDOR, to), to);
	setenv("OCL_ICD_VENDORS", folder, 1);
}

static void remove_folder(const char *folder)
{
	static const char *const files[] = { "npu.icd", "pocl.icd" };
	char path[512];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		unlink(path);
	}
	rmdir(folder);
}

/* NULL: there is no such platform. */
static cl_platform_id find_platform(const char *wanted)
{
	cl_platform_id platform[16];
	cl_uint count = 0, i;
	char name[128];

	check(clGetPlatformIDs(16, platform, &count), "clGetPlatformIDs");
	for (i = 0; i < count && i < 16; i++) {
		check(clGetPlatformInfo(platform[i], CL_PLATFORM_NAME, sizeof(name), name, NULL),
		      "clGetPlatformInfo");
		if (!strcmp(name, wanted))
			return platform[i];
	}
	return NULL;
}

static void open_both(struct both *b, cl_platform_id platform)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
						   0 };
	const unsigned char *binary;
	cl_program program;
	size_t bytes;
	cl_int error;
	void *file;

	check(npu_open(NULL, &b->device), npu_error());
	file = make_file(b->device, &bytes);
	check(npu_model_load_memory(b->device, file, bytes, "layer", NULL, &b->model), npu_error());
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &b->cl_device, NULL), "device");
	b->context = clCreateContext(NULL, 1, &b->cl_device, NULL, NULL, &error);
	check(error, "context");
	b->queue = clCreateCommandQueueWithProperties(b->context, b->cl_device, properties, &error);
	check(error, "queue");
	binary = file;
	program = clCreateProgramWithBinary(b->context, 1, &b->cl_device, &bytes, &binary, NULL,
					    &error);
	check(error, "program");
	check(clBuildProgram(program, 1, &b->cl_device, NULL, NULL, NULL), "build");
	check(clCreateKernelsInProgram(program, 1, &b->kernel, NULL), "kernel");
	clReleaseProgram(program);
	free(file);
	b->in = clCreateBuffer(b->context, CL_MEM_READ_WRITE, 64, NULL, &error);
	check(error, "buffer");
	b->out = clCreateBuffer(b->context, CL_MEM_READ_WRITE, 64, NULL, &error);
	check(error, "buffer");
	check(clSetKernelArg(b->kernel, 0, sizeof(b->in), &b->in), "argument");
	check(clSetKernelArg(b->kernel, 1, sizeof(b->out), &b->out), "argument");
}

static void close_both(struct both *b)
{
	clReleaseMemObject(b->in);
	clReleaseMemObject(b->out);
	clReleaseKernel(b->kernel);
	clReleaseCommandQueue(b->queue);
	clReleaseContext(b->context);
	npu_model_free(b->model);
	npu_close(b->device);
}

static void compare_all(struct both *both, cl_platform_id npu)
{
	cl_platform_id pocl = find_platform("Portable Computing Language");
	double one_by_one;
	cl_kernel copy;

	compare_submission(both);
	compare_command_buffer(both, npu, both->kernel, "layers");
	copy = copy_kernel(both);
	one_by_one = compare_command_buffer(both, npu, copy, "npu_copy");
	clReleaseKernel(copy);
	if (pocl)
		compare_pocl(pocl, one_by_one);
	else
		printf("PoCL is not installed\n");
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/bench-opencl-XXXXXX";
	bool all = argc != 3;
	struct both both = { 0 };
	cl_platform_id npu;

	setenv("NPU_SIM_DIR", "-", 0);
	if (all) {
		show_pocl(folder);
		open_counter();
	}
	npu = find_platform("NPU");
	if (!npu) {
		fprintf(stderr, "bench_opencl: the loader does not find the NPU\n");
		return 1;
	}
	open_both(&both, npu);
	if (all)
		compare_all(&both, npu);
	else
		alone(&both, npu, argv[1], strtol(argv[2], NULL, 10));
	close_both(&both);
	if (all)
		remove_folder(folder);
	return 0;
}
