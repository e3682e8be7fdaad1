// SPDX-License-Identifier: MIT
/*
 * Reading, writing and copying buffers, in a row or in boxes: all of them are one copy of rows and
 * slices between two places.
 */
#include <string.h>

#include "external_memory.h"
#include "ocl.h"

static cl_int run_copy(struct ocl_command *command, struct ocl_times *times)
{
	const struct ocl_copy *copy = &command->copy;
	size_t y, z;

	(void)times;
	for (z = 0; z < copy->region[2]; z++)
		for (y = 0; y < copy->region[1]; y++)
			memcpy(copy->to + z * copy->to_pitch.slice + y * copy->to_pitch.row,
			       copy->from + z * copy->from_pitch.slice + y * copy->from_pitch.row,
			       copy->region[0]);
	return CL_SUCCESS;
}

enum copy_kind { READ, WRITE, COPY, READ_RECT, WRITE_RECT, COPY_RECT };

static const struct ocl_command_ops copy_ops[] = {
	[READ] = { CL_COMMAND_READ_BUFFER, run_copy },
	[WRITE] = { CL_COMMAND_WRITE_BUFFER, run_copy },
	[COPY] = { CL_COMMAND_COPY_BUFFER, run_copy },
	[READ_RECT] = { CL_COMMAND_READ_BUFFER_RECT, run_copy },
	[WRITE_RECT] = { CL_COMMAND_WRITE_BUFFER_RECT, run_copy },
	[COPY_RECT] = { CL_COMMAND_COPY_BUFFER_RECT, run_copy },
};

void ocl_command_release(struct ocl_command *command)
{
	size_t i;

	if (command->ops && command->ops->release)
		command->ops->release(command);
	for (i = 0; i < OCL_COUNT(command->mem); i++)
		ocl_put(command->mem[i]);
	*command = (struct ocl_command){ 0 };
}

/* ---- where a box lies ---- */

/**
 * struct box - rows and slices of a buffer or of the host's memory
 * @first: offset of its first byte
 * @end: offset behind its last byte
 */
struct box {
	struct ocl_pitch pitch;
	size_t first, end;
};

static bool multiply_add(size_t a, size_t b, size_t c, size_t *sum)
{
	return !__builtin_mul_overflow(a, b, sum) && !__builtin_add_overflow(*sum, c, sum);
}

/* Pitches of 0 are those of a box without gaps. */
static bool set_pitches(struct box *box, struct ocl_pitch pitch, const size_t *region)
{
	box->pitch = pitch;
	if (!box->pitch.row)
		box->pitch.row = region[0];
	if (box->pitch.row < region[0])
		return false;
	if (!box->pitch.slice && !multiply_add(region[1], box->pitch.row, 0, &box->pitch.slice))
		return false;
	return box->pitch.slice / box->pitch.row >= region[1] &&
	       box->pitch.slice % box->pitch.row == 0;
}

static bool set_extent(struct box *box, const size_t *origin, const size_t *region)
{
	size_t end;

	return multiply_add(origin[1], box->pitch.row, origin[0], &box->first) &&
	       multiply_add(origin[2], box->pitch.slice, box->first, &box->first) &&
	       multiply_add(region[1] - 1, box->pitch.row, region[0], &end) &&
	       multiply_add(region[2] - 1, box->pitch.slice, end, &end) &&
	       !__builtin_add_overflow(box->first, end, &box->end);
}

/* One side of a rect copy; @bytes: of the buffer, SIZE_MAX for the host's memory. */
static cl_int make_box(cl_context context, const char *what, const size_t *origin,
		       const size_t *region, struct ocl_pitch pitch, size_t bytes, struct box *box)
{
	if (!origin || !region || !region[0] || !region[1] || !region[2])
		return ocl_fail(context, CL_INVALID_VALUE, "%s: no origin or an empty region",
				what);
	if (!set_pitches(box, pitch, region))
		return ocl_fail(
			context, CL_INVALID_VALUE,
			"%s: row pitch %zu or slice pitch %zu does not suit %zu x %zu bytes", what,
			pitch.row, pitch.slice, region[0], region[1]);
	if (!set_extent(box, origin, region) || box->end > bytes)
		return ocl_fail(context, CL_INVALID_VALUE, "%s: the region lies outside", what);
	return CL_SUCCESS;
}

static void set_region(struct ocl_copy *copy, const size_t *region, const struct box *to,
		       const struct box *from)
{
	memcpy(copy->region, region, sizeof(copy->region));
	copy->to_pitch = to->pitch;
	copy->from_pitch = from->pitch;
}

/* ---- copies ---- */

static cl_int check_buffer(cl_context context, cl_mem mem)
{
	if (!ocl_is(mem, OCL_MEM))
		return ocl_fail(context, CL_INVALID_MEM_OBJECT, "the buffer is not valid");
	if (mem->context != context)
		return ocl_fail(context, CL_INVALID_CONTEXT, "the buffer is of another context");
	return CL_SUCCESS;
}

static cl_int check_buffers(cl_context context, cl_mem src, cl_mem dst)
{
	cl_int error = check_buffer(context, src);

	return error ? error : check_buffer(context, dst);
}

cl_int ocl_build_copy(cl_context context, cl_mem src, cl_mem dst, size_t src_offset,
		      size_t dst_offset, size_t bytes, struct ocl_command *command)
{
	cl_int error = check_buffers(context, src, dst);

	if (error)
		return error;
	if (!ocl_mem_holds(src, src_offset, bytes) || !ocl_mem_holds(dst, dst_offset, bytes))
		return ocl_fail(context, CL_INVALID_VALUE,
				"%zu bytes at %zu of %zu to %zu of %zu: outside, or none", bytes,
				src_offset, src->size, dst_offset, dst->size);
	if (ocl_mem_overlap(src, src_offset, dst, dst_offset, bytes))
		return ocl_fail(context, CL_MEM_COPY_OVERLAP, "source and destination overlap");
	*command = (struct ocl_command){
		.ops = &copy_ops[COPY],
		.mem = { ocl_get(src), ocl_get(dst) },
		.copy = { dst->data + dst_offset, src->data + src_offset, { bytes, 1, 1 } },
	};
	return CL_SUCCESS;
}

static const uint8_t *row_at(const uint8_t *first, struct ocl_pitch pitch, const size_t *region,
			     size_t row)
{
	return first + row / region[1] * pitch.slice + row % region[1] * pitch.row;
}

/* Do two boxes share a byte?  The rows of each come in the order of their addresses: one walk finds out. */
static bool rows_overlap(const struct ocl_copy *copy)
{
	const size_t *region = copy->region;
	size_t rows = region[1] * region[2], i = 0, j = 0;

	while (i < rows && j < rows) {
		const uint8_t *to = row_at(copy->to, copy->to_pitch, region, i);
		const uint8_t *from = row_at(copy->from, copy->from_pitch, region, j);

		if (to < from + region[0] && from < to + region[0])
			return true;
		if (to < from)
			i++;
		else
			j++;
	}
	return false;
}

cl_int ocl_build_copy_rect(cl_context context, cl_mem src, cl_mem dst, const size_t *src_origin,
			   const size_t *dst_origin, const size_t *region,
			   struct ocl_pitch src_pitch, struct ocl_pitch dst_pitch,
			   struct ocl_command *command)
{
	cl_int error = check_buffers(context, src, dst);
	struct box from, to;
	struct ocl_copy copy;

	if (!error)
		error = make_box(context, "source", src_origin, region, src_pitch, src->size,
				 &from);
	if (!error)
		error = make_box(context, "destination", dst_origin, region, dst_pitch, dst->size,
				 &to);
	if (error)
		return error;
	if (src == dst && (from.pitch.row != to.pitch.row || from.pitch.slice != to.pitch.slice))
		return ocl_fail(context, CL_INVALID_VALUE,
				"a copy within one buffer has one row and one slice pitch");
	copy = (struct ocl_copy){ .to = dst->data + to.first, .from = src->data + from.first };
	set_region(&copy, region, &to, &from);
	if (copy.to < src->data + from.end && copy.from < dst->data + to.end && rows_overlap(&copy))
		return ocl_fail(context, CL_MEM_COPY_OVERLAP, "source and destination overlap");
	*command = (struct ocl_command){
		.ops = &copy_ops[COPY_RECT],
		.mem = { ocl_get(src), ocl_get(dst) },
		.copy = copy,
	};
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem src, cl_mem dst,
						    size_t src_offset, size_t dst_offset,
						    size_t bytes, cl_uint wait_count,
						    const cl_event *wait_list, cl_event *event)
{
	struct ocl_command command;
	cl_int error;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	error = ocl_build_copy(queue->context, src, dst, src_offset, dst_offset, bytes, &command);
	return error ? error : ocl_enqueue(queue, &command, OCL_WAIT(wait_count, wait_list, event));
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem src,
							cl_mem dst, const size_t *src_origin,
							const size_t *dst_origin,
							const size_t *region, size_t src_row,
							size_t src_slice, size_t dst_row,
							size_t dst_slice, cl_uint wait_count,
							const cl_event *wait_list, cl_event *event)
{
	struct ocl_command command;
	cl_int error;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	error = ocl_build_copy_rect(queue->context, src, dst, src_origin, dst_origin, region,
				    (struct ocl_pitch){ src_row, src_slice },
				    (struct ocl_pitch){ dst_row, dst_slice }, &command);
	return error ? error : ocl_enqueue(queue, &command, OCL_WAIT(wait_count, wait_list, event));
}

/* ---- reads and writes ---- */

/* What the host must not do with a buffer, by kind of command. */
static const cl_mem_flags forbidden[] = {
	[READ] = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS,
	[WRITE] = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
	[READ_RECT] = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS,
	[WRITE_RECT] = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
};

static cl_int check_host_copy(cl_command_queue queue, cl_mem mem, const void *host,
			      enum copy_kind kind)
{
	cl_int error;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	error = check_buffer(queue->context, mem);
	if (error)
		return error;
	if (!host)
		return ocl_fail(queue->context, CL_INVALID_VALUE, "no memory of the host");
	if (mem->flags & forbidden[kind])
		return ocl_fail(queue->context, CL_INVALID_OPERATION,
				"the buffer's flags 0x%llx forbid the host to do this",
				(unsigned long long)mem->flags);
	return CL_SUCCESS;
}

/* @host: its first byte that is read or written. */
static cl_int enqueue_host_copy(cl_command_queue queue, cl_mem mem, enum copy_kind kind,
				struct ocl_copy *copy, size_t offset, void *host,
				struct ocl_wait wait)
{
	bool reads = kind == READ || kind == READ_RECT;
	struct ocl_command command = { .ops = &copy_ops[kind], .mem = { ocl_get(mem) } };

	copy->to = reads ? host : mem->data + offset;
	copy->from = reads ? mem->data + offset : host;
	command.copy = *copy;
	return ocl_enqueue(queue, &command, wait);
}

static cl_int host_copy(cl_command_queue queue, cl_mem mem, enum copy_kind kind, size_t offset,
			size_t bytes, void *host, struct ocl_wait wait)
{
	struct ocl_copy copy = { .region = { bytes, 1, 1 } };
	cl_int error = check_host_copy(queue, mem, host, kind);

	if (error)
		return error;
	if (!ocl_mem_holds(mem, offset, bytes))
		return ocl_fail(queue->context, CL_INVALID_VALUE,
				"%zu bytes at %zu of %zu: outside, or none", bytes, offset,
				mem->size);
	return enqueue_host_copy(queue, mem, kind, &copy, offset, host, wait);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem,
						    cl_bool blocking, size_t offset, size_t bytes,
						    void *host, cl_uint wait_count,
						    const cl_event *wait_list, cl_event *event)
{
	return host_copy(queue, mem, READ, offset, bytes, host,
			 (struct ocl_wait){ wait_count, wait_list, event, blocking });
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem,
						     cl_bool blocking, size_t offset, size_t bytes,
						     const void *host, cl_uint wait_count,
						     const cl_event *wait_list, cl_event *event)
{
	return host_copy(queue, mem, WRITE, offset, bytes, (void *)host,
			 (struct ocl_wait){ wait_count, wait_list, event, blocking });
}

static cl_int host_copy_rect(cl_command_queue queue, cl_mem mem, enum copy_kind kind,
			     const size_t *buffer_origin, const size_t *host_origin,
			     const size_t *region, struct ocl_pitch buffer_pitch,
			     struct ocl_pitch host_pitch, void *host, struct ocl_wait wait)
{
	cl_int error = check_host_copy(queue, mem, host, kind);
	struct ocl_copy copy = { 0 };
	struct box buffer_box, host_box;

	if (!error)
		error = make_box(queue->context, "buffer", buffer_origin, region, buffer_pitch,
				 mem->size, &buffer_box);
	if (!error)
		error = make_box(queue->context, "host", host_origin, region, host_pitch, SIZE_MAX,
				 &host_box);
	if (error)
		return error;
	if (kind == READ_RECT)
		set_region(&copy, region, &host_box, &buffer_box);
	else
		set_region(&copy, region, &buffer_box, &host_box);
	return enqueue_host_copy(queue, mem, kind, &copy, buffer_box.first,
				 (uint8_t *)host + host_box.first, wait);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBufferRect(
	cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t *buffer_origin,
	const size_t *host_origin, const size_t *region, size_t buffer_row, size_t buffer_slice,
	size_t host_row, size_t host_slice, void *host, cl_uint wait_count,
	const cl_event *wait_list, cl_event *event)
{
	return host_copy_rect(queue, mem, READ_RECT, buffer_origin, host_origin, region,
			      (struct ocl_pitch){ buffer_row, buffer_slice },
			      (struct ocl_pitch){ host_row, host_slice }, host,
			      (struct ocl_wait){ wait_count, wait_list, event, blocking });
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBufferRect(
	cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t *buffer_origin,
	const size_t *host_origin, const size_t *region, size_t buffer_row, size_t buffer_slice,
	size_t host_row, size_t host_slice, const void *host, cl_uint wait_count,
	const cl_event *wait_list, cl_event *event)
{
	return host_copy_rect(queue, mem, WRITE_RECT, buffer_origin, host_origin, region,
			      (struct ocl_pitch){ buffer_row, buffer_slice },
			      (struct ocl_pitch){ host_row, host_slice }, (void *)host,
			      (struct ocl_wait){ wait_count, wait_list, event, blocking });
}
