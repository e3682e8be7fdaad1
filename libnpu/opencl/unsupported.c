// SPDX-License-Identifier: MIT
/*
 * What NPUs have not: images, samplers, pipes, shared virtual memory, OpenGL.  Each function checks the handle
 * that it gets and then returns the specification's error for a device without the feature.
 */
#include "ocl.h"

/* ---- how they fail ---- */

static cl_int no_create(cl_context context, const char *what, cl_int *errcode_ret)
{
	cl_int error = ocl_is(context, OCL_CONTEXT)
			       ? ocl_fail(context, CL_INVALID_OPERATION, "NPUs have no %s", what)
			       : ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");

	ocl_result(errcode_ret, error);
	return error;
}

static cl_int no_enqueue(cl_command_queue queue, const char *what)
{
	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	return ocl_fail(queue->context, CL_INVALID_OPERATION, "NPUs have no %s", what);
}

#define NO_OBJECT(context, what, errcode_ret) (no_create(context, what, errcode_ret), NULL)

/* ---- images ---- */

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
					      const cl_image_format *format,
					      const cl_image_desc *desc, void *host,
					      cl_int *errcode_ret)
{
	return NO_OBJECT(context, "images", errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImageWithProperties(
	cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
	const cl_image_format *format, const cl_image_desc *desc, void *host, cl_int *errcode_ret)
{
	return NO_OBJECT(context, "images", errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
						const cl_image_format *format, size_t width,
						size_t height, size_t row_pitch, void *host,
						cl_int *errcode_ret)
{
	return NO_OBJECT(context, "images", errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
						const cl_image_format *format, size_t width,
						size_t height, size_t depth, size_t row_pitch,
						size_t slice_pitch, void *host, cl_int *errcode_ret)
{
	return NO_OBJECT(context, "images", errcode_ret);
}

static bool is_image_type(cl_mem_object_type type)
{
	return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

/* A list of formats, which is empty. */
CL_API_ENTRY cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
							   cl_mem_object_type type, cl_uint room,
							   cl_image_format *formats, cl_uint *count)
{
	if (!ocl_is(context, OCL_CONTEXT))
		return ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");
	if (!is_image_type(type) || (formats && !room))
		return ocl_fail(context, CL_INVALID_VALUE, "0x%x is no type of image, or no room",
				type);
	if (count)
		*count = 0;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info name, size_t size,
					       void *value, size_t *size_ret)
{
	return ocl_fail(NULL, CL_INVALID_MEM_OBJECT, "NPUs have no images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image,
						   cl_bool blocking, const size_t *origin,
						   const size_t *region, size_t row_pitch,
						   size_t slice_pitch, void *host,
						   cl_uint wait_count, const cl_event *wait_list,
						   cl_event *event)
{
	return no_enqueue(queue, "images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image,
						    cl_bool blocking, const size_t *origin,
						    const size_t *region, size_t row_pitch,
						    size_t slice_pitch, const void *host,
						    cl_uint wait_count, const cl_event *wait_list,
						    cl_event *event)
{
	return no_enqueue(queue, "images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image,
						   const void *color, const size_t *origin,
						   const size_t *region, cl_uint wait_count,
						   const cl_event *wait_list, cl_event *event)
{
	return no_enqueue(queue, "images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem src, cl_mem dst,
						   const size_t *src_origin,
						   const size_t *dst_origin, const size_t *region,
						   cl_uint wait_count, const cl_event *wait_list,
						   cl_event *event)
{
	return no_enqueue(queue, "images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImageToBuffer(
	cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *origin, const size_t *region,
	size_t offset, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
	return no_enqueue(queue, "images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferToImage(
	cl_command_queue queue, cl_mem src, cl_mem dst, size_t offset, const size_t *origin,
	const size_t *region, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
	return no_enqueue(queue, "images");
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image,
						 cl_bool blocking, cl_map_flags flags,
						 const size_t *origin, const size_t *region,
						 size_t *row_pitch, size_t *slice_pitch,
						 cl_uint wait_count, const cl_event *wait_list,
						 cl_event *event, cl_int *errcode_ret)
{
	ocl_result(errcode_ret, no_enqueue(queue, "images"));
	return NULL;
}

/* ---- samplers ---- */

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized,
						    cl_addressing_mode addressing,
						    cl_filter_mode filter, cl_int *errcode_ret)
{
	return NO_OBJECT(context, "samplers", errcode_ret);
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSamplerWithProperties(
	cl_context context, const cl_sampler_properties *properties, cl_int *errcode_ret)
{
	return NO_OBJECT(context, "samplers", errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainSampler(cl_sampler sampler)
{
	return ocl_fail(NULL, CL_INVALID_SAMPLER, "NPUs have no samplers");
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler)
{
	return ocl_fail(NULL, CL_INVALID_SAMPLER, "NPUs have no samplers");
}

CL_API_ENTRY cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info name,
						 size_t size, void *value, size_t *size_ret)
{
	return ocl_fail(NULL, CL_INVALID_SAMPLER, "NPUs have no samplers");
}

/* ---- pipes ---- */

CL_API_ENTRY cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags flags,
					     cl_uint packet_size, cl_uint max_packets,
					     const cl_pipe_properties *properties,
					     cl_int *errcode_ret)
{
	return NO_OBJECT(context, "pipes", errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clGetPipeInfo(cl_mem pipe, cl_pipe_info name, size_t size,
					      void *value, size_t *size_ret)
{
	return ocl_fail(NULL, CL_INVALID_MEM_OBJECT, "NPUs have no pipes");
}

/* ---- shared virtual memory ---- */

CL_API_ENTRY void *CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size,
					  cl_uint alignment)
{
	return NULL;
}

CL_API_ENTRY void CL_API_CALL clSVMFree(cl_context context, void *pointer)
{
}

CL_API_ENTRY cl_int CL_API_CALL
clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void *pointers[],
		 void(CL_CALLBACK *notify)(cl_command_queue queue, cl_uint count, void *pointers[],
					   void *user_data),
		 void *user_data, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
	return no_enqueue(queue, "shared virtual memory");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking,
						   void *dst, const void *src, size_t size,
						   cl_uint wait_count, const cl_event *wait_list,
						   cl_event *event)
{
	return no_enqueue(queue, "shared virtual memory");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void *pointer,
						    const void *pattern, size_t pattern_size,
						    size_t size, cl_uint wait_count,
						    const cl_event *wait_list, cl_event *event)
{
	return no_enqueue(queue, "shared virtual memory");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking,
						cl_map_flags flags, void *pointer, size_t size,
						cl_uint wait_count, const cl_event *wait_list,
						cl_event *event)
{
	return no_enqueue(queue, "shared virtual memory");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void *pointer,
						  cl_uint wait_count, const cl_event *wait_list,
						  cl_event *event)
{
	return no_enqueue(queue, "shared virtual memory");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count,
						       const void **pointers, const size_t *sizes,
						       cl_mem_migration_flags flags,
						       cl_uint wait_count,
						       const cl_event *wait_list, cl_event *event)
{
	return no_enqueue(queue, "shared virtual memory");
}

/* ---- OpenGL, whose functions stand in the loaders' core table ---- */

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLBuffer(cl_context context, cl_mem_flags flags,
						     cl_GLuint object, cl_int *errcode_ret)
{
	return NO_OBJECT(context, "OpenGL", errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLTexture(cl_context context, cl_mem_flags flags,
						      cl_GLenum target, cl_GLint level,
						      cl_GLuint texture, cl_int *errcode_ret)
{
	return NO_OBJECT(context, "OpenGL", errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLTexture2D(cl_context context, cl_mem_flags flags,
							cl_GLenum target, cl_GLint level,
							cl_GLuint texture, cl_int *errcode_ret)
{
	return NO_OBJECT(context, "OpenGL", errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLTexture3D(cl_context context, cl_mem_flags flags,
							cl_GLenum target, cl_GLint level,
							cl_GLuint texture, cl_int *errcode_ret)
{
	return NO_OBJECT(context, "OpenGL", errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLRenderbuffer(cl_context context, cl_mem_flags flags,
							   cl_GLuint renderbuffer,
							   cl_int *errcode_ret)
{
	return NO_OBJECT(context, "OpenGL", errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clGetGLObjectInfo(cl_mem mem, cl_gl_object_type *type,
						  cl_GLuint *name)
{
	return ocl_fail(NULL, ocl_is(mem, OCL_MEM) ? CL_INVALID_GL_OBJECT : CL_INVALID_MEM_OBJECT,
			"NPUs have no OpenGL");
}

CL_API_ENTRY cl_int CL_API_CALL clGetGLTextureInfo(cl_mem mem, cl_gl_texture_info name, size_t size,
						   void *value, size_t *size_ret)
{
	return clGetGLObjectInfo(mem, NULL, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueAcquireGLObjects(cl_command_queue queue, cl_uint count,
							  const cl_mem *list, cl_uint wait_count,
							  const cl_event *wait_list,
							  cl_event *event)
{
	return no_enqueue(queue, "OpenGL");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReleaseGLObjects(cl_command_queue queue, cl_uint count,
							  const cl_mem *list, cl_uint wait_count,
							  const cl_event *wait_list,
							  cl_event *event)
{
	return no_enqueue(queue, "OpenGL");
}
