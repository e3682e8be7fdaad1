// SPDX-License-Identifier: MIT
/*
 * Errors: OpenCL has a number for each, we have a sentence too.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

static __thread char last_error[1024];

static const struct {
	int err;
	cl_int error;
} errors[] = {
	{ -ENOMEM, CL_OUT_OF_HOST_MEMORY },   { -ENOSPC, CL_OUT_OF_RESOURCES },
	{ -EIO, CL_OUT_OF_RESOURCES },	      { -ENODEV, CL_DEVICE_NOT_AVAILABLE },
	{ -EACCES, CL_DEVICE_NOT_AVAILABLE }, { -EPERM, CL_DEVICE_NOT_AVAILABLE },
	{ -EINVAL, CL_INVALID_VALUE },	      { -ENOTSUP, CL_INVALID_OPERATION },
};

cl_int ocl_errno(int err)
{
	size_t i;

	if (err >= 0)
		return CL_SUCCESS;
	for (i = 0; i < OCL_COUNT(errors); i++)
		if (errors[i].err == err)
			return errors[i].error;
	return CL_OUT_OF_RESOURCES;
}

cl_int ocl_fail(cl_context context, cl_int error, const char *format, ...)
{
	/* Arguments may point into last_error, and calls from the notification may fail too. */
	char text[sizeof(last_error)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	memcpy(last_error, text, sizeof(text));
	if (getenv("NPU_OPENCL_DEBUG"))
		fprintf(stderr, "npu-opencl: error %d: %s\n", error, text);
	if (context && context->notify)
		context->notify(text, NULL, 0, context->notify_data);
	return error;
}

const char *ocl_last_error(void)
{
	return last_error;
}
