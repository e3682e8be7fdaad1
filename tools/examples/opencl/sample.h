/* SPDX-License-Identifier: MIT */
/*
 * What both samples begin with: the NPU among the OpenCL platforms, and a program from a model file.  Nothing here
 * is peculiar to the NPU but its name: any OpenCL program does the same.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program where a call failed. */
static inline void sample_check(cl_int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: OpenCL error %d\n", what, error);
	exit(1);
}

/* The exit status of a program that has done all: what it printed has to arrive. */
static inline int sample_end(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	fprintf(stderr, "cannot write to standard output\n");
	return 1;
}

/* The first device of the platform "NPU". */
static inline cl_device_id sample_device(void)
{
	cl_platform_id platform[16];
	cl_device_id device;
	cl_uint count = 0, i;
	cl_int error = clGetPlatformIDs(16, platform, &count);
	char name[64];

	/* Loaders say so where there is no platform at all. */
	if (error != CL_PLATFORM_NOT_FOUND_KHR)
		sample_check(error, "platforms");
	for (i = 0; i < count && i < 16; i++) {
		sample_check(clGetPlatformInfo(platform[i], CL_PLATFORM_NAME, sizeof(name), name,
					       NULL),
			     "platform");
		if (strcmp(name, "NPU") != 0)
			continue;
		sample_check(clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL),
			     "devices");
		return device;
	}
	fprintf(stderr, "the OpenCL loader finds no NPU: is its vendor file installed?\n");
	exit(1);
}

static inline unsigned char *sample_read(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	unsigned char *data = NULL;
	long size = -1;

	if (file && !fseek(file, 0, SEEK_END))
		size = ftell(file);
	if (size > 0)
		data = malloc((size_t)size);
	if (data) {
		rewind(file);
		if (fread(data, 1, (size_t)size, file) == (size_t)size) {
			fclose(file);
			*bytes = (size_t)size;
			return data;
		}
	}
	perror(path);
	exit(1);
}

/* A model file or a compiled file; what the compiler says of it is printed where it does not like it. */
static inline cl_program sample_program(cl_context context, cl_device_id device, const char *path)
{
	static char log[4096];
	size_t bytes;
	unsigned char *file = sample_read(path, &bytes);
	const unsigned char *binary = file;
	cl_program program;
	cl_int error;

	program = clCreateProgramWithBinary(context, 1, &device, &bytes, &binary, NULL, &error);
	sample_check(error, path);
	free(file);
	error = clBuildProgram(program, 1, &device, NULL, NULL, NULL);
	if (error &&
	    !clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL))
		fprintf(stderr, "%s\n", log);
	sample_check(error, path);
	return program;
}

/* A model's program has one kernel. */
static inline cl_kernel sample_kernel(cl_program program)
{
	cl_kernel kernel;

	sample_check(clCreateKernelsInProgram(program, 1, &kernel, NULL), "kernel");
	return kernel;
}

#endif /* SAMPLE_H */
