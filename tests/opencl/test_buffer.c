// SPDX-License-Identifier: MIT
/*
 * Buffers: creation and its errors, parts, copies of rows and boxes against a byte-by-byte model, fills, mappings,
 * the host's functions.
 */
#include "opencl.h"

static cl_int create(struct cl *cl, cl_mem_flags flags, size_t size, void *host)
{
	cl_int error = 4711;
	cl_mem mem = clCreateBuffer(cl->context, flags, size, host, &error);

	assert_int_equal(!mem, error != CL_SUCCESS);
	if (mem)
		assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	return error;
}

static void creation(void **state)
{
	const cl_mem_properties unknown[] = { 0x4711, 1, 0 };
	cl_ulong most;
	char host[64];
	cl_int error;
	struct cl cl;

	cl_begin(&cl);
	assert_int_equal(create(&cl, 0, 1, NULL), CL_SUCCESS);
	assert_int_equal(create(&cl, CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, 64, NULL),
			 CL_SUCCESS);
	assert_int_equal(create(&cl, CL_MEM_USE_HOST_PTR, 64, host), CL_SUCCESS);
	assert_int_equal(create(&cl, CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, host),
			 CL_SUCCESS);
	assert_int_equal(create(&cl, 0, 0, NULL), CL_INVALID_BUFFER_SIZE);
	assert_int_equal(clGetDeviceInfo(cl.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most),
					 &most, NULL),
			 CL_SUCCESS);
	assert_int_equal(create(&cl, 0, (size_t)most + 1, NULL), CL_INVALID_BUFFER_SIZE);
	assert_int_equal(create(&cl, 0, 64, host), CL_INVALID_HOST_PTR);
	assert_int_equal(create(&cl, CL_MEM_USE_HOST_PTR, 64, NULL), CL_INVALID_HOST_PTR);
	assert_int_equal(create(&cl, CL_MEM_COPY_HOST_PTR, 64, NULL), CL_INVALID_HOST_PTR);
	assert_int_equal(create(&cl, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(create(&cl, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, host),
			 CL_INVALID_VALUE);
	assert_int_equal(create(&cl, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 64, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(create(&cl, (cl_mem_flags)1 << 40, 64, NULL), CL_INVALID_VALUE);
	assert_null(clCreateBufferWithProperties(cl.context, unknown, 0, 64, NULL, &error));
	assert_int_equal(error, CL_INVALID_PROPERTY);
	assert_null(clCreateBuffer((cl_context)cl.queue, 0, 64, NULL, &error));
	assert_int_equal(error, CL_INVALID_CONTEXT);
	cl_end(&cl);
}

static uint64_t ask(cl_mem mem, cl_mem_info name, size_t bytes)
{
	uint64_t value = 0;
	size_t size;

	assert_int_equal(clGetMemObjectInfo(mem, name, sizeof(value), &value, &size), CL_SUCCESS);
	assert_int_equal(size, bytes);
	return value;
}

static void queries(void **state)
{
	const cl_buffer_region region = { 128, 64 };
	char host[512];
	cl_mem mem, part;
	cl_int error;
	struct cl cl;

	cl_begin(&cl);
	mem = clCreateBuffer(cl.context, CL_MEM_USE_HOST_PTR | CL_MEM_HOST_READ_ONLY, sizeof(host),
			     host, &error);
	part = clCreateSubBuffer(mem, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region,
				 &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(ask(mem, CL_MEM_TYPE, 4), CL_MEM_OBJECT_BUFFER);
	assert_int_equal(ask(mem, CL_MEM_FLAGS, 8),
			 CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR | CL_MEM_HOST_READ_ONLY);
	assert_int_equal(ask(part, CL_MEM_FLAGS, 8),
			 CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_HOST_READ_ONLY);
	assert_int_equal(ask(mem, CL_MEM_SIZE, sizeof(size_t)), sizeof(host));
	assert_int_equal(ask(part, CL_MEM_SIZE, sizeof(size_t)), 64);
	assert_int_equal(ask(part, CL_MEM_OFFSET, sizeof(size_t)), 128);
	assert_int_equal(ask(mem, CL_MEM_HOST_PTR, sizeof(void *)), (uintptr_t)host);
	assert_int_equal(ask(part, CL_MEM_HOST_PTR, sizeof(void *)), (uintptr_t)(host + 128));
	assert_int_equal(ask(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(void *)), (uintptr_t)mem);
	assert_int_equal(ask(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(void *)), 0);
	assert_int_equal(ask(mem, CL_MEM_CONTEXT, sizeof(void *)), (uintptr_t)cl.context);
	assert_int_equal(ask(mem, CL_MEM_REFERENCE_COUNT, 4), 1);
	assert_int_equal(ask(mem, CL_MEM_MAP_COUNT, 4), 0);
	assert_int_equal(clReleaseMemObject(part), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	cl_end(&cl);
}

static cl_int create_part(cl_mem mem, cl_mem_flags flags, size_t origin, size_t size)
{
	const cl_buffer_region region = { origin, size };
	cl_int error;
	cl_mem part = clCreateSubBuffer(mem, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);

	if (part)
		assert_int_equal(clReleaseMemObject(part), CL_SUCCESS);
	return error;
}

static void parts(void **state)
{
	const cl_buffer_region region = { 128, 128 };
	cl_mem mem, readable, part;
	unsigned char bytes[512], read[512];
	cl_int error;
	struct cl cl;
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	cl_begin(&cl);
	mem = cl_buffer(&cl, sizeof(bytes), bytes);
	readable = clCreateBuffer(cl.context, CL_MEM_READ_ONLY, 512, NULL, &error);
	assert_int_equal(create_part(mem, 0, 0, 512), CL_SUCCESS);
	assert_int_equal(create_part(mem, 0, 256, 257), CL_INVALID_VALUE);
	assert_int_equal(create_part(mem, 0, 512, 1), CL_INVALID_VALUE);
	assert_int_equal(create_part(mem, 0, (size_t)-128, 256), CL_INVALID_VALUE);
	assert_int_equal(create_part(mem, 0, 128, 0), CL_INVALID_BUFFER_SIZE);
	assert_int_equal(create_part(mem, 0, 4, 4), CL_MISALIGNED_SUB_BUFFER_OFFSET);
	assert_int_equal(create_part(mem, CL_MEM_COPY_HOST_PTR, 0, 4), CL_INVALID_VALUE);
	assert_int_equal(create_part(readable, CL_MEM_READ_WRITE, 0, 4), CL_INVALID_VALUE);
	assert_null(clCreateSubBuffer(mem, 0, 0x4711, &region, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	part = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
	assert_int_equal(create_part(part, 0, 0, 4), CL_INVALID_MEM_OBJECT);
	/* The part keeps the whole. */
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	assert_int_equal(clEnqueueReadBuffer(cl.queue, part, CL_TRUE, 0, 128, read, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_memory_equal(read, bytes + 128, 128);
	assert_int_equal(clReleaseMemObject(part), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(readable), CL_SUCCESS);
	cl_end(&cl);
}

static char calls[8];

static void CL_CALLBACK destroyed(cl_mem mem, void *data)
{
	strcat(calls, data);
}

static void destructors(void **state)
{
	cl_mem mem;
	struct cl cl;

	cl_begin(&cl);
	mem = cl_buffer(&cl, 64, NULL);
	calls[0] = 0;
	assert_int_equal(clSetMemObjectDestructorCallback(mem, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(clSetMemObjectDestructorCallback(mem, destroyed, "a"), CL_SUCCESS);
	assert_int_equal(clSetMemObjectDestructorCallback(mem, destroyed, "b"), CL_SUCCESS);
	assert_int_equal(clRetainMemObject(mem), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	assert_string_equal(calls, "");
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	assert_string_equal(calls, "ba");
	cl_end(&cl);
}

/* ---- copies ---- */

static void rows(void **state)
{
	unsigned char from[256], to[256];
	cl_mem a, b;
	struct cl cl;
	size_t i;

	for (i = 0; i < sizeof(from); i++)
		from[i] = (unsigned char)(255 - i);
	cl_begin(&cl);
	a = cl_buffer(&cl, 256, NULL);
	b = cl_buffer(&cl, 256, NULL);
	assert_int_equal(clEnqueueWriteBuffer(cl.queue, a, CL_FALSE, 0, 256, from, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_int_equal(clEnqueueCopyBuffer(cl.queue, a, b, 16, 32, 200, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_int_equal(clEnqueueReadBuffer(cl.queue, b, CL_TRUE, 32, 200, to, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_memory_equal(to, from + 16, 200);
	assert_int_equal(clEnqueueCopyBuffer(cl.queue, a, a, 0, 100, 101, 0, NULL, NULL),
			 CL_MEM_COPY_OVERLAP);
	assert_int_equal(clEnqueueCopyBuffer(cl.queue, a, a, 0, 100, 100, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_int_equal(clEnqueueCopyBuffer(cl.queue, a, b, 200, 0, 57, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clEnqueueReadBuffer(cl.queue, b, CL_TRUE, 1, 256, to, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clEnqueueReadBuffer(cl.queue, b, CL_TRUE, 1, SIZE_MAX, to, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clEnqueueReadBuffer(cl.queue, b, CL_TRUE, 0, 0, to, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clEnqueueWriteBuffer(cl.queue, b, CL_TRUE, 0, 4, NULL, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clReleaseMemObject(a), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(b), CL_SUCCESS);
	cl_end(&cl);
}

/* A box in memory, for the byte-by-byte model. */
struct box {
	size_t origin[3], row, slice;
};

static size_t at(const struct box *box, size_t x, size_t y, size_t z)
{
	return (box->origin[2] + z) * box->slice + (box->origin[1] + y) * box->row +
	       box->origin[0] + x;
}

static uint32_t random_state = 1;

static size_t below(size_t limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % limit;
}

#define BOX_BYTES 4096

static void random_box(struct box *box, const size_t *region)
{
	int i;

	for (i = 0; i < 3; i++)
		box->origin[i] = below(4);
	box->row = region[0] + below(6);
	box->slice = box->row * (region[1] + below(4));
}

/* Does the box lie within its memory, as the pitches say that it does? */
static int fits(const struct box *box, const size_t *region)
{
	return at(box, region[0] - 1, region[1] - 1, region[2] - 1) < BOX_BYTES;
}

static void model_copy(unsigned char *to, const struct box *to_box, const unsigned char *from,
		       const struct box *from_box, const size_t *region)
{
	size_t x, y, z;

	for (z = 0; z < region[2]; z++)
		for (y = 0; y < region[1]; y++)
			for (x = 0; x < region[0]; x++)
				to[at(to_box, x, y, z)] = from[at(from_box, x, y, z)];
}

/* Writes, copies and reads random boxes; each result is what single bytes give. */
static void boxes(void **state)
{
	static unsigned char host[BOX_BYTES], back[BOX_BYTES], a[BOX_BYTES], b[BOX_BYTES];
	cl_mem mem_a, mem_b;
	unsigned round, done = 0;
	struct cl cl;
	size_t i;

	cl_begin(&cl);
	mem_a = cl_buffer(&cl, BOX_BYTES, a);
	mem_b = cl_buffer(&cl, BOX_BYTES, b);
	for (round = 0; round < 300; round++) {
		size_t region[3] = { 1 + below(12), 1 + below(6), 1 + below(5) };
		struct box h, p, q;

		random_box(&h, region);
		random_box(&p, region);
		random_box(&q, region);
		if (!fits(&h, region) || !fits(&p, region) || !fits(&q, region))
			continue;
		done++;
		for (i = 0; i < BOX_BYTES; i++)
			host[i] = (unsigned char)below(256);
		memcpy(back, host, BOX_BYTES);
		assert_int_equal(clEnqueueWriteBufferRect(cl.queue, mem_a, CL_FALSE, p.origin,
							  h.origin, region, p.row, p.slice, h.row,
							  h.slice, host, 0, NULL, NULL),
				 CL_SUCCESS);
		model_copy(a, &p, host, &h, region);
		assert_int_equal(clEnqueueCopyBufferRect(cl.queue, mem_a, mem_b, p.origin, q.origin,
							 region, p.row, p.slice, q.row, q.slice, 0,
							 NULL, NULL),
				 CL_SUCCESS);
		model_copy(b, &q, a, &p, region);
		assert_int_equal(clEnqueueReadBufferRect(cl.queue, mem_b, CL_TRUE, q.origin,
							 h.origin, region, q.row, q.slice, h.row,
							 h.slice, host, 0, NULL, NULL),
				 CL_SUCCESS);
		model_copy(back, &h, b, &q, region);
		assert_memory_equal(host, back, BOX_BYTES);
		assert_int_equal(clEnqueueReadBuffer(cl.queue, mem_b, CL_TRUE, 0, BOX_BYTES, back,
						     0, NULL, NULL),
				 CL_SUCCESS);
		assert_memory_equal(back, b, BOX_BYTES);
	}
	assert_true(done > 200);
	assert_int_equal(clReleaseMemObject(mem_a), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(mem_b), CL_SUCCESS);
	cl_end(&cl);
}

static int share_bytes(const struct box *p, const struct box *q, const size_t *region)
{
	static unsigned char touched[BOX_BYTES];
	size_t x, y, z;

	memset(touched, 0, sizeof(touched));
	for (z = 0; z < region[2]; z++)
		for (y = 0; y < region[1]; y++)
			for (x = 0; x < region[0]; x++)
				touched[at(p, x, y, z)] = 1;
	for (z = 0; z < region[2]; z++)
		for (y = 0; y < region[1]; y++)
			for (x = 0; x < region[0]; x++)
				if (touched[at(q, x, y, z)])
					return 1;
	return 0;
}

/* A copy within one buffer is refused where, and only where, a byte is in both boxes. */
static void box_overlap(void **state)
{
	unsigned round, overlaps = 0, apart = 0;
	cl_mem mem;
	struct cl cl;

	cl_begin(&cl);
	mem = cl_buffer(&cl, BOX_BYTES, NULL);
	for (round = 0; round < 2000; round++) {
		size_t region[3] = { 1 + below(4), 1 + below(4), 1 + below(3) };
		struct box p = { .row = region[0] + below(8) };
		struct box q;
		cl_int error;
		int shared;

		p.slice = p.row * (region[1] + below(5));
		q = p;
		p.origin[0] = below(8);
		p.origin[1] = below(8);
		q.origin[0] = below(8);
		q.origin[1] = below(8);
		q.origin[2] = below(3);
		if (!fits(&p, region) || !fits(&q, region))
			continue;
		shared = share_bytes(&p, &q, region);
		error = clEnqueueCopyBufferRect(cl.queue, mem, mem, p.origin, q.origin, region,
						p.row, p.slice, q.row, q.slice, 0, NULL, NULL);
		assert_int_equal(error, shared ? CL_MEM_COPY_OVERLAP : CL_SUCCESS);
		overlaps += shared != 0;
		apart += !shared;
	}
	assert_true(overlaps > 100 && apart > 100);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	cl_end(&cl);
}

static void box_errors(void **state)
{
	const size_t zero[3] = { 0 }, region[3] = { 8, 4, 2 }, empty[3] = { 8, 0, 2 };
	const size_t far[3] = { 0, 0, SIZE_MAX / 16 };
	unsigned char host[4096];
	cl_mem mem;
	struct cl cl;

	cl_begin(&cl);
	mem = cl_buffer(&cl, 64, NULL);
#define READ(origin, region, row, slice)                                                        \
	clEnqueueReadBufferRect(cl.queue, mem, CL_TRUE, origin, zero, region, row, slice, 0, 0, \
				host, 0, NULL, NULL)
	assert_int_equal(READ(zero, region, 0, 0), CL_SUCCESS);
	assert_int_equal(READ(zero, empty, 0, 0), CL_INVALID_VALUE);
	assert_int_equal(READ(zero, region, 7, 0), CL_INVALID_VALUE);
	assert_int_equal(READ(zero, region, 8, 31), CL_INVALID_VALUE);
	assert_int_equal(READ(zero, region, 8, 36), CL_INVALID_VALUE);
	assert_int_equal(READ(zero, region, 9, 0), CL_INVALID_VALUE);
	assert_int_equal(READ(far, region, 0, 0), CL_INVALID_VALUE);
	assert_int_equal(READ(NULL, region, 0, 0), CL_INVALID_VALUE);
	assert_int_equal(READ(zero, NULL, 0, 0), CL_INVALID_VALUE);
#undef READ
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	cl_end(&cl);
}

static void fills(void **state)
{
	const unsigned char pattern[128] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	unsigned char expected[512] = { 0 }, read[512];
	cl_mem mem;
	struct cl cl;
	size_t size, i;

	cl_begin(&cl);
	mem = cl_buffer(&cl, sizeof(expected), expected);
	for (size = 1; size <= 128; size *= 2) {
		for (i = 128; i < 384; i++)
			expected[i] = pattern[(i - 128) % size];
		assert_int_equal(clEnqueueFillBuffer(cl.queue, mem, pattern, size, 128, 256, 0,
						     NULL, NULL),
				 CL_SUCCESS);
		assert_int_equal(clEnqueueReadBuffer(cl.queue, mem, CL_TRUE, 0, 512, read, 0, NULL,
						     NULL),
				 CL_SUCCESS);
		assert_memory_equal(read, expected, 512);
	}
#define FILL(pattern, size, offset, bytes) \
	clEnqueueFillBuffer(cl.queue, mem, pattern, size, offset, bytes, 0, NULL, NULL)
	assert_int_equal(FILL(NULL, 4, 0, 4), CL_INVALID_VALUE);
	assert_int_equal(FILL(pattern, 0, 0, 4), CL_INVALID_VALUE);
	assert_int_equal(FILL(pattern, 3, 0, 6), CL_INVALID_VALUE);
	assert_int_equal(FILL(pattern, 256, 0, 256), CL_INVALID_VALUE);
	assert_int_equal(FILL(pattern, 4, 2, 4), CL_INVALID_VALUE);
	assert_int_equal(FILL(pattern, 4, 0, 6), CL_INVALID_VALUE);
	assert_int_equal(FILL(pattern, 4, 512, 4), CL_INVALID_VALUE);
#undef FILL
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	cl_end(&cl);
}

/* ---- the host ---- */

static void mappings(void **state)
{
	unsigned char host[256] = { 0 }, read[256];
	unsigned char *first, *second;
	cl_event event;
	cl_mem mem;
	cl_int error;
	struct cl cl;

	cl_begin(&cl);
	mem = clCreateBuffer(cl.context, CL_MEM_USE_HOST_PTR, sizeof(host), host, &error);
	first = clEnqueueMapBuffer(cl.queue, mem, CL_TRUE, CL_MAP_WRITE, 64, 64, 0, NULL, &event,
				   &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
	/* With CL_MEM_USE_HOST_PTR it is the host's own memory. */
	assert_ptr_equal(first, host + 64);
	second = clEnqueueMapBuffer(cl.queue, mem, CL_TRUE, CL_MAP_READ, 0, 256, 0, NULL, NULL,
				    &error);
	assert_int_equal(ask(mem, CL_MEM_MAP_COUNT, 4), 2);
	memset(first, 5, 64);
	assert_int_equal(clEnqueueUnmapMemObject(cl.queue, mem, first, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(clEnqueueUnmapMemObject(cl.queue, mem, first, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clEnqueueUnmapMemObject(cl.queue, mem, second, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(ask(mem, CL_MEM_MAP_COUNT, 4), 0);
	assert_int_equal(clEnqueueReadBuffer(cl.queue, mem, CL_TRUE, 0, 256, read, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_int_equal(read[63] + read[64] + read[127] + read[128], 10);
	assert_null(clEnqueueMapBuffer(cl.queue, mem, CL_TRUE, CL_MAP_READ, 200, 57, 0, NULL, NULL,
				       &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(clEnqueueMapBuffer(cl.queue, mem, CL_TRUE,
				       CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 4, 0, NULL,
				       NULL, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	cl_end(&cl);
}

/* A mapping that is never undone goes with its buffer. */
static void forgotten_mapping(void **state)
{
	cl_mem mem;
	cl_int error;
	struct cl cl;

	cl_begin(&cl);
	mem = cl_buffer(&cl, 64, NULL);
	assert_non_null(clEnqueueMapBuffer(cl.queue, mem, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL,
					   NULL, &error));
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	cl_end(&cl);
}

static void host_access(void **state)
{
	char byte = 0;
	cl_mem writable, readable, none;
	cl_int error;
	struct cl cl;

	cl_begin(&cl);
	writable = clCreateBuffer(cl.context, CL_MEM_HOST_WRITE_ONLY, 64, NULL, &error);
	readable = clCreateBuffer(cl.context, CL_MEM_HOST_READ_ONLY, 64, NULL, &error);
	none = clCreateBuffer(cl.context, CL_MEM_HOST_NO_ACCESS, 64, NULL, &error);
#define READ(mem) clEnqueueReadBuffer(cl.queue, mem, CL_TRUE, 0, 1, &byte, 0, NULL, NULL)
#define WRITE(mem) clEnqueueWriteBuffer(cl.queue, mem, CL_TRUE, 0, 1, &byte, 0, NULL, NULL)
	assert_int_equal(READ(writable), CL_INVALID_OPERATION);
	assert_int_equal(WRITE(writable), CL_SUCCESS);
	assert_int_equal(READ(readable), CL_SUCCESS);
	assert_int_equal(WRITE(readable), CL_INVALID_OPERATION);
	assert_int_equal(READ(none), CL_INVALID_OPERATION);
	assert_int_equal(WRITE(none), CL_INVALID_OPERATION);
#undef READ
#undef WRITE
	assert_null(clEnqueueMapBuffer(cl.queue, writable, CL_TRUE, CL_MAP_READ, 0, 1, 0, NULL,
				       NULL, &error));
	assert_int_equal(error, CL_INVALID_OPERATION);
	assert_null(clEnqueueMapBuffer(cl.queue, none, CL_TRUE, CL_MAP_WRITE, 0, 1, 0, NULL, NULL,
				       &error));
	assert_int_equal(error, CL_INVALID_OPERATION);
	assert_int_equal(clReleaseMemObject(writable), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(readable), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(none), CL_SUCCESS);
	cl_end(&cl);
}

static void migration(void **state)
{
	cl_mem mem[2];
	cl_event event;
	struct cl cl;

	cl_begin(&cl);
	mem[0] = cl_buffer(&cl, 64, NULL);
	mem[1] = cl_buffer(&cl, 64, NULL);
	assert_int_equal(clEnqueueMigrateMemObjects(cl.queue, 2, mem, CL_MIGRATE_MEM_OBJECT_HOST, 0,
						    NULL, &event),
			 CL_SUCCESS);
	assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
	assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
	assert_int_equal(clEnqueueMigrateMemObjects(cl.queue, 0, mem, 0, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clEnqueueMigrateMemObjects(cl.queue, 2, mem, 0x4711, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clReleaseMemObject(mem[0]), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(mem[1]), CL_SUCCESS);
	cl_end(&cl);
}

struct native_args {
	int add;
	unsigned char *bytes; /* the handle of a buffer until the function runs */
};

static void CL_CALLBACK add_to_all(void *data)
{
	const struct native_args *args = data;
	int i;

	for (i = 0; i < 64; i++)
		args->bytes[i] = (unsigned char)(args->bytes[i] + args->add);
}

static void native_kernels(void **state)
{
	unsigned char bytes[64] = { 3, 4 }, read[64];
	struct native_args args = { .add = 2 };
	const void *place = &args.bytes, *outside = &bytes;
	cl_mem mem;
	struct cl cl;

	cl_begin(&cl);
	mem = cl_buffer(&cl, 64, bytes);
	assert_int_equal(clEnqueueNativeKernel(cl.queue, add_to_all, &args, sizeof(args), 1, &mem,
					       &place, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_int_equal(clEnqueueReadBuffer(cl.queue, mem, CL_TRUE, 0, 64, read, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_int_equal(read[0], 5);
	assert_int_equal(read[1], 6);
	assert_int_equal(clEnqueueNativeKernel(cl.queue, add_to_all, &args, sizeof(args), 1, &mem,
					       &outside, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clEnqueueNativeKernel(cl.queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL,
					       NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	cl_end(&cl);
}

/* Buffers of one context mean nothing in another. */
static void other_contexts(void **state)
{
	char byte;
	struct cl cl, other;
	cl_mem mine, theirs;

	cl_begin(&cl);
	cl_begin(&other);
	mine = cl_buffer(&cl, 64, NULL);
	theirs = cl_buffer(&other, 64, NULL);
	assert_int_equal(clEnqueueReadBuffer(cl.queue, theirs, CL_TRUE, 0, 1, &byte, 0, NULL, NULL),
			 CL_INVALID_CONTEXT);
	assert_int_equal(clEnqueueCopyBuffer(cl.queue, mine, theirs, 0, 0, 1, 0, NULL, NULL),
			 CL_INVALID_CONTEXT);
	assert_int_equal(clEnqueueFillBuffer(cl.queue, theirs, &byte, 1, 0, 1, 0, NULL, NULL),
			 CL_INVALID_CONTEXT);
	assert_int_equal(clEnqueueMigrateMemObjects(cl.queue, 1, &theirs, 0, 0, NULL, NULL),
			 CL_INVALID_CONTEXT);
	assert_int_equal(clReleaseMemObject(mine), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(theirs), CL_SUCCESS);
	cl_end(&cl);
	cl_end(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(creation),
		cmocka_unit_test(queries),
		cmocka_unit_test(parts),
		cmocka_unit_test(destructors),
		cmocka_unit_test(rows),
		cmocka_unit_test(boxes),
		cmocka_unit_test(box_overlap),
		cmocka_unit_test(box_errors),
		cmocka_unit_test(fills),
		cmocka_unit_test(mappings),
		cmocka_unit_test(forgotten_mapping),
		cmocka_unit_test(host_access),
		cmocka_unit_test(migration),
		cmocka_unit_test(native_kernels),
		cmocka_unit_test(other_contexts),
	};

	return cmocka_run_group_tests_name("opencl_buffer", tests, NULL, NULL);
}
