// SPDX-License-Identifier: MIT
/*
 * Recognises hand-written digits by OpenCL:
 *
 *	classify MODEL DIGITS
 *
 * A model file is a program, the network its kernel, inputs and outputs are the kernel's arguments.
 */
#include "../../demo/digit_images.h"
#include "sample.h"

static void describe(cl_device_id device, cl_kernel kernel)
{
	char name[128], type[64];
	cl_ulong on_chip;
	cl_uint count, i;

	sample_check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL), "device");
	sample_check(clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(on_chip), &on_chip,
				     NULL),
		     "device");
	printf("%s, %llu KiB of on-chip buffer now\n", name, (unsigned long long)on_chip / 1024);
	sample_check(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL),
		     "kernel");
	sample_check(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL),
		     "kernel");
	printf("kernel %s(", name);
	for (i = 0; i < count; i++) {
		sample_check(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof(name), name,
						NULL),
			     "argument");
		sample_check(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof(type),
						type, NULL),
			     "argument");
		printf("%s%s %s", i ? ", " : "", type, name);
	}
	printf(")\n");
}

/* One image there and its scores back; the blocking read waits for all three. */
static int classify(cl_command_queue queue, cl_kernel kernel, cl_mem in, cl_mem out,
		    const struct digit *digit)
{
	const size_t one = 1;
	int8_t image[DIGIT_IMAGE_BYTES], score[DIGIT_CLASSES];

	digit_enlarge(digit, image);
	sample_check(clEnqueueWriteBuffer(queue, in, CL_FALSE, 0, sizeof(image), image, 0, NULL,
					  NULL),
		     "write");
	sample_check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
		     "kernel");
	sample_check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(score), score, 0, NULL,
					 NULL),
		     "read");
	return digit_best(score);
}

static cl_mem new_buffer(cl_context context, cl_kernel kernel, cl_uint argument, size_t bytes)
{
	cl_int error;
	cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);

	sample_check(error, "buffer");
	sample_check(clSetKernelArg(kernel, argument, sizeof(mem), &mem), "argument");
	return mem;
}

int main(int argc, char **argv)
{
	cl_device_id device;
	cl_command_queue queue;
	struct digit *digits;
	cl_context context;
	cl_program program;
	cl_kernel kernel;
	size_t count, i, right = 0;
	cl_mem in, out;
	cl_int error;

	if (argc != 3) {
		fprintf(stderr, "usage: classify MODEL DIGITS\n");
		return 2;
	}
	if (digits_read(argv[2], &digits, &count)) {
		fprintf(stderr, "%s: not a file of digits\n", argv[2]);
		return 1;
	}
	device = sample_device();
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	sample_check(error, "context");
	queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
	sample_check(error, "queue");
	program = sample_program(context, device, argv[1]);
	kernel = sample_kernel(program);
	describe(device, kernel);
	in = new_buffer(context, kernel, 0, DIGIT_IMAGE_BYTES);
	out = new_buffer(context, kernel, 1, DIGIT_CLASSES);
	for (i = 0; i < count; i++)
		right += classify(queue, kernel, in, out, &digits[i]) == digits[i].label;
	printf("accuracy: %zu of %zu held-out digits recognised\n", right, count);
	clReleaseMemObject(in);
	clReleaseMemObject(out);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	free(digits);
	return sample_end();
}
