// SPDX-License-Identifier: MIT
/*
 * The same as classify.c, double-buffered: while the NPU works on one image, the next one is brought and the
 * scores of the one before are fetched.
 *
 *	pipeline MODEL DIGITS
 *
 * Two queues, one that moves data and one that computes, and two sets of buffers.  Events say what waits for
 * what: the kernel for its image, the next image in the same buffer for the kernel that still reads the old one,
 * the fetch for the kernel, the next kernel for the fetch that still reads the old scores.
 */
#include "../../demo/digit_images.h"
#include "sample.h"

enum { SETS = 2 };

/**
 * struct set - buffers of one image on its way
 * @kernel: with these buffers as its arguments
 * @image, @score: the host's side
 * @computed, @fetched: of the image that the set had before; NULL: none yet
 * @index: of that image
 */
struct set {
	cl_mem in, out;
	cl_kernel kernel;
	int8_t image[DIGIT_IMAGE_BYTES];
	int8_t score[DIGIT_CLASSES];
	cl_event computed, fetched;
	size_t index;
};

struct pipeline {
	cl_context context;
	cl_program program;
	cl_command_queue move, compute;
	struct set set[SETS];
};

static cl_command_queue new_queue(cl_context context, cl_device_id device)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES,
						   CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0 };
	cl_int error;
	cl_command_queue queue =
		clCreateCommandQueueWithProperties(context, device, properties, &error);

	sample_check(error, "queue");
	return queue;
}

static cl_mem new_buffer(cl_context context, cl_kernel kernel, cl_uint argument, size_t bytes)
{
	cl_int error;
	cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);

	sample_check(error, "buffer");
	sample_check(clSetKernelArg(kernel, argument, sizeof(mem), &mem), "argument");
	return mem;
}

static void begin(struct pipeline *p, const char *model)
{
	cl_device_id device = sample_device();
	cl_int error;
	int i;

	p->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	sample_check(error, "context");
	p->move = new_queue(p->context, device);
	p->compute = new_queue(p->context, device);
	p->program = sample_program(p->context, device, model);
	for (i = 0; i < SETS; i++) {
		struct set *set = &p->set[i];

		set->kernel = sample_kernel(p->program);
		set->in = new_buffer(p->context, set->kernel, 0, DIGIT_IMAGE_BYTES);
		set->out = new_buffer(p->context, set->kernel, 1, DIGIT_CLASSES);
	}
}

/* Waits for the scores of the set's image and frees the set for the next one. */
static int take_answer(struct set *set)
{
	sample_check(clWaitForEvents(1, &set->fetched), "wait");
	return digit_best(set->score);
}

/* Puts three commands into the queues; none of them is waited for. */
static void start(struct pipeline *p, struct set *set, const struct digit *digit, size_t index)
{
	cl_event before[2] = { set->computed, set->fetched }, brought;
	const cl_uint waits = set->computed ? 1 : 0;
	const size_t one = 1;

	digit_enlarge(digit, set->image);
	set->index = index;
	sample_check(clEnqueueWriteBuffer(p->move, set->in, CL_FALSE, 0, sizeof(set->image),
					  set->image, waits, waits ? &before[0] : NULL, &brought),
		     "write");
	if (waits) {
		const cl_event both[2] = { brought, before[1] };

		sample_check(clEnqueueNDRangeKernel(p->compute, set->kernel, 1, NULL, &one, NULL, 2,
						    both, &set->computed),
			     "kernel");
		clReleaseEvent(before[0]);
		clReleaseEvent(before[1]);
	} else {
		sample_check(clEnqueueNDRangeKernel(p->compute, set->kernel, 1, NULL, &one, NULL, 1,
						    &brought, &set->computed),
			     "kernel");
	}
	sample_check(clEnqueueReadBuffer(p->move, set->out, CL_FALSE, 0, sizeof(set->score),
					 set->score, 1, &set->computed, &set->fetched),
		     "read");
	clReleaseEvent(brought);
	sample_check(clFlush(p->move), "flush");
	sample_check(clFlush(p->compute), "flush");
}

static size_t run(struct pipeline *p, const struct digit *digits, size_t count)
{
	size_t i, right = 0;

	for (i = 0; i < count; i++) {
		struct set *set = &p->set[i % SETS];

		if (i >= SETS)
			right += take_answer(set) == digits[set->index].label;
		start(p, set, &digits[i], i);
	}
	for (i = 0; i < SETS && i < count; i++)
		right += take_answer(&p->set[i]) == digits[p->set[i].index].label;
	return right;
}

static void end(struct pipeline *p)
{
	int i;

	for (i = 0; i < SETS; i++) {
		struct set *set = &p->set[i];

		if (set->computed) {
			clReleaseEvent(set->computed);
			clReleaseEvent(set->fetched);
		}
		clReleaseMemObject(set->in);
		clReleaseMemObject(set->out);
		clReleaseKernel(set->kernel);
	}
	clReleaseProgram(p->program);
	clReleaseCommandQueue(p->move);
	clReleaseCommandQueue(p->compute);
	clReleaseContext(p->context);
}

int main(int argc, char **argv)
{
	static struct pipeline pipeline;
	struct digit *digits;
	size_t count, right;

	if (argc != 3) {
		fprintf(stderr, "usage: pipeline MODEL DIGITS\n");
		return 2;
	}
	if (digits_read(argv[2], &digits, &count)) {
		fprintf(stderr, "%s: not a file of digits\n", argv[2]);
		return 1;
	}
	begin(&pipeline, argv[1]);
	right = run(&pipeline, digits, count);
	printf("accuracy: %zu of %zu held-out digits recognised\n", right, count);
	end(&pipeline);
	free(digits);
	return sample_end();
}
