// SPDX-License-Identifier: MIT
/*
 * Contexts.
 */
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

static void destroy_context(void *object)
{
	cl_context context = object;
	struct ocl_destructor *next;

	while (context->destructor) {
		next = context->destructor->next;
		context->destructor->context(context, context->destructor->user_data);
		free(context->destructor);
		context->destructor = next;
	}
	pthread_cond_destroy(&context->changed);
	pthread_mutex_destroy(&context->lock);
	free(context->properties);
}

const struct ocl_class ocl_context_class = {
	OCL_CONTEXT, sizeof(struct _cl_context), CL_INVALID_CONTEXT, NULL, destroy_context,
};

bool ocl_context_has(cl_context context, cl_device_id device)
{
	cl_uint i;

	for (i = 0; i < context->device_count; i++)
		if (context->device[i] == device)
			return true;
	return false;
}

static bool is_zero(const char *bytes, size_t count)
{
	while (count && !*bytes)
		bytes++, count--;
	return !count;
}

void *ocl_copy_properties(const void *list, size_t element, size_t *count)
{
	const char *bytes = list;
	void *copy;
	size_t n = 0;

	*count = 0;
	if (!list)
		return NULL;
	while (!is_zero(bytes + n * element, element))
		n += 2;
	copy = malloc((n + 1) * element);
	if (copy) {
		memcpy(copy, list, (n + 1) * element);
		*count = n + 1;
	}
	return copy;
}

/* ---- creation ---- */

static cl_int check_property(cl_context_properties name, cl_context_properties value)
{
	switch (name) {
	case CL_CONTEXT_PLATFORM:
		if ((cl_platform_id)value == &ocl_platform)
			return CL_SUCCESS;
		return ocl_fail(NULL, CL_INVALID_PLATFORM, "the context's platform is not ours");
	case CL_CONTEXT_INTEROP_USER_SYNC:
		if (value == CL_TRUE || value == CL_FALSE)
			return CL_SUCCESS;
		break;
	}
	return ocl_fail(NULL, CL_INVALID_PROPERTY, "context property 0x%llx or its value",
			(unsigned long long)name);
}

static cl_int check_properties(const cl_context_properties *list)
{
	const cl_context_properties *at, *other;
	cl_int error = CL_SUCCESS;

	for (at = list; at && *at && !error; at += 2) {
		error = check_property(at[0], at[1]);
		for (other = list; other < at; other += 2)
			if (*other == *at)
				error = ocl_fail(NULL, CL_INVALID_PROPERTY,
						 "context property 0x%llx is there twice",
						 (unsigned long long)*at);
	}
	return error;
}

static cl_int add_devices(cl_context context, cl_uint count, const cl_device_id *devices)
{
	cl_uint i;

	for (i = 0; i < count; i++) {
		if (!ocl_is(devices[i], OCL_DEVICE))
			return ocl_fail(NULL, CL_INVALID_DEVICE, "device %u is not valid", i);
		if (!devices[i]->npu)
			return ocl_fail(NULL, CL_DEVICE_NOT_AVAILABLE, "%s: %s", devices[i]->name,
					devices[i]->problem);
		if (!ocl_context_has(context, devices[i]))
			context->device[context->device_count++] = devices[i];
	}
	return CL_SUCCESS;
}

static cl_int init_context(cl_context context, const cl_context_properties *properties,
			   cl_uint count, const cl_device_id *devices)
{
	cl_int error = check_properties(properties);

	if (!error)
		error = add_devices(context, count, devices);
	if (error)
		return error;
	context->properties =
		ocl_copy_properties(properties, sizeof(*properties), &context->property_count);
	if (properties && !context->properties)
		return ocl_fail(NULL, CL_OUT_OF_HOST_MEMORY, "out of memory");
	return CL_SUCCESS;
}

CL_API_ENTRY cl_context CL_API_CALL
clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
		void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
		void *user_data, cl_int *errcode_ret)
{
	cl_context context;
	cl_int error;

	if (!count || !devices || (!notify && user_data)) {
		ocl_result(errcode_ret,
			   ocl_fail(NULL, CL_INVALID_VALUE, "no devices, or data for no function"));
		return NULL;
	}
	context = ocl_new(&ocl_context_class);
	if (!context) {
		ocl_result(errcode_ret, CL_OUT_OF_HOST_MEMORY);
		return NULL;
	}
	context->notify = notify;
	context->notify_data = user_data;
	pthread_mutex_init(&context->lock, NULL);
	pthread_cond_init(&context->changed, NULL);
	error = init_context(context, properties, count, devices);
	if (error) {
		ocl_put(context);
		context = NULL;
	}
	ocl_result(errcode_ret, error);
	return context;
}

CL_API_ENTRY cl_context CL_API_CALL
clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
			void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
			void *user_data, cl_int *errcode_ret)
{
	cl_device_id devices[OCL_MAX_DEVICES];
	cl_uint count;
	cl_int error = CL_SUCCESS;

	if (!ocl_is_device_type(type))
		error = ocl_fail(NULL, CL_INVALID_DEVICE_TYPE, "0x%llx is no type of device",
				 (unsigned long long)type);
	if (!error)
		error = check_properties(properties);
	if (error) {
		ocl_result(errcode_ret, error);
		return NULL;
	}
	count = ocl_devices_of_type(type, devices, OCL_MAX_DEVICES);
	if (!count) {
		ocl_result(errcode_ret,
			   ocl_fail(NULL, CL_DEVICE_NOT_FOUND, "no NPU is of the wanted type"));
		return NULL;
	}
	return clCreateContext(properties, count, devices, notify, user_data, errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainContext(cl_context context)
{
	return ocl_retain(context, &ocl_context_class);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseContext(cl_context context)
{
	return ocl_release(context, &ocl_context_class);
}

CL_API_ENTRY cl_int CL_API_CALL clSetContextDestructorCallback(
	cl_context context, void(CL_CALLBACK *notify)(cl_context context, void *user_data),
	void *user_data)
{
	struct ocl_destructor *destructor;

	if (!ocl_is(context, OCL_CONTEXT))
		return ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");
	if (!notify)
		return ocl_fail(context, CL_INVALID_VALUE, "no function to call");
	destructor = malloc(sizeof(*destructor));
	if (!destructor)
		return ocl_fail(context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	destructor->context = notify;
	destructor->user_data = user_data;
	pthread_mutex_lock(&context->lock);
	destructor->next = context->destructor;
	context->destructor = destructor;
	pthread_mutex_unlock(&context->lock);
	return CL_SUCCESS;
}

/* ---- queries ---- */

static void query_devices(const void *object, struct ocl_answer *answer)
{
	const struct _cl_context *context = object;

	ocl_answer_data(answer, context->device, context->device_count * sizeof(cl_device_id));
}

static void query_properties(const void *object, struct ocl_answer *answer)
{
	const struct _cl_context *context = object;

	ocl_answer_data(answer, context->properties,
			context->property_count * sizeof(cl_context_properties));
}

static const struct ocl_query queries[] = {
	OCL_CALL(CL_CONTEXT_REFERENCE_COUNT, ocl_query_handles),
	OCL_FIELD(CL_CONTEXT_NUM_DEVICES, struct _cl_context, device_count),
	OCL_CALL(CL_CONTEXT_DEVICES, query_devices),
	OCL_CALL(CL_CONTEXT_PROPERTIES, query_properties),
};

CL_API_ENTRY cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info name,
						 size_t size, void *value, size_t *size_ret)
{
	if (!ocl_is(context, OCL_CONTEXT))
		return ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");
	return ocl_query(queries, OCL_COUNT(queries), context, name, size, value, size_ret);
}
