// SPDX-License-Identifier: MIT
/*
 * FlatBuffers front to back: a table is written with room for its fields, then
 * what it refers to, then the offset between the two is filled in.
 */
#include "tflite_writer.h"

#include <stdlib.h>

/* Bytes from one inline field to the next: all fields have the room of the largest. */
#define SLOT 8
#define ALIGN 16

struct writer {
	u8 *data;
	size_t bytes, capacity;
	bool failed;
};

/* Room for @bytes so that what lies @lead bytes behind its start is aligned. */
static size_t reserve(struct writer *w, size_t bytes, size_t lead)
{
	size_t start = w->bytes;

	while ((start + lead) % ALIGN)
		start++;
	if (start + bytes > w->capacity && !w->failed) {
		size_t capacity = 2 * (start + bytes);
		u8 *data = realloc(w->data, capacity);

		w->failed = !data;
		if (data) {
			memset(data + w->capacity, 0, capacity - w->capacity);
			w->data = data;
			w->capacity = capacity;
		}
	}
	if (w->failed)
		return 0;
	w->bytes = start + bytes;
	return start;
}

static void put(struct writer *w, size_t at, u64 value, u32 bytes)
{
	for (; !w->failed && bytes--; value >>= 8)
		w->data[at++] = value;
}

static size_t table(struct writer *w, u32 fields)
{
	size_t vtable_bytes = 4 + 2 * (size_t)fields;
	size_t vtable = reserve(w, vtable_bytes + SLOT + fields * (size_t)SLOT, vtable_bytes);
	size_t at = vtable + vtable_bytes;

	put(w, vtable, vtable_bytes, 2);
	put(w, vtable + 2, SLOT + fields * SLOT, 2);
	put(w, at, at - vtable, 4);
	return at;
}

/* Marks a field as present; where its value goes. */
static size_t field_of(struct writer *w, size_t at, u32 field)
{
	size_t vtable;

	if (w->failed)
		return 0;
	vtable = at - (w->data[at] | (size_t)w->data[at + 1] << 8);
	put(w, vtable + 4 + 2 * (size_t)field, SLOT + field * SLOT, 2);
	return at + SLOT + field * (size_t)SLOT;
}

static void set(struct writer *w, size_t at, u32 field, u64 value)
{
	put(w, field_of(w, at, field), value, SLOT);
}

static void refer(struct writer *w, size_t from, size_t to)
{
	put(w, from, to - from, 4);
}

static void set_reference(struct writer *w, size_t at, u32 field, size_t to)
{
	refer(w, field_of(w, at, field), to);
}

static size_t vector(struct writer *w, u32 count, u32 element_bytes, const void *elements)
{
	size_t at = reserve(w, 4 + (size_t)count * element_bytes + 1, 4);

	put(w, at, count, 4);
	if (!w->failed && elements && count)
		memcpy(w->data + at + 4, elements, (size_t)count * element_bytes);
	return at;
}

static void set_vector(struct writer *w, size_t at, u32 field, u32 count, u32 element_bytes,
		       const void *elements)
{
	set_reference(w, at, field, vector(w, count, element_bytes, elements));
}

static size_t read_reference(const struct writer *w, size_t from)
{
	size_t offset = 0;
	u32 i;

	for (i = 4; !w->failed && i--;)
		offset = offset << 8 | w->data[from + i];
	return from + offset;
}

static size_t write_quantization(struct writer *w, const struct tw_tensor *t)
{
	size_t at = table(w, 7);

	set_vector(w, at, 2, t->scales, 4, t->scale);
	set_vector(w, at, 3, t->scales, 8, t->zero);
	set(w, at, 6, t->axis);
	return at;
}

/* Buffer 0 is the empty one; a constant of tensor i is in buffer i + 1. */
static void write_tensor(struct writer *w, size_t from, u32 i, const struct tw_tensor *t)
{
	size_t at = table(w, t->variable ? 6 : 5);

	refer(w, from, at);
	if (t->variable)
		set(w, at, 5, 1);
	set(w, at, 1, (u8)t->type);
	set(w, at, 2, t->data ? i + 1 : 0);
	set_vector(w, at, 0, t->rank, 4, t->dim);
	set_vector(w, at, 3, strlen(t->name), 1, t->name);
}

static void write_tensors(struct writer *w, size_t subgraph, const struct tw_model *m)
{
	size_t items = vector(w, m->tensors, 4, NULL), quant = 0;
	u32 i;

	set_reference(w, subgraph, 0, items);
	for (i = 0; i < m->tensors; i++)
		write_tensor(w, items + 4 + 4 * (size_t)i, i, &m->tensor[i]);
	if (m->shared)
		quant = write_quantization(w, m->shared);
	for (i = 0; i < m->tensors; i++) {
		size_t at = read_reference(w, items + 4 + 4 * (size_t)i);

		if (m->tensor[i].scales)
			set_reference(w, at, 4, write_quantization(w, &m->tensor[i]));
		else if (m->shared)
			set_reference(w, at, 4, quant);
	}
}

static void write_op(struct writer *w, size_t from, u32 i, const struct tw_op *op)
{
	size_t at = table(w, 5), options;
	u32 j;

	refer(w, from, at);
	set(w, at, 0, i);
	set_vector(w, at, 1, op->inputs, 4, op->input);
	set_vector(w, at, 2, op->outputs, 4, op->output);
	if (!op->options_type)
		return;
	set(w, at, 3, op->options_type);
	options = table(w, 8);
	set_reference(w, at, 4, options);
	for (j = 0; j < op->options; j++)
		set(w, options, op->option[j].field, op->option[j].value);
}

static void write_subgraph(struct writer *w, size_t model, const struct tw_model *m)
{
	size_t list = vector(w, 1, 4, NULL), at = table(w, 4), items;
	u32 i;

	set_reference(w, model, 2, list);
	refer(w, list + 4, at);
	write_tensors(w, at, m);
	set_vector(w, at, 1, m->inputs, 4, m->input);
	set_vector(w, at, 2, m->outputs, 4, m->output);
	items = vector(w, m->ops, 4, NULL);
	set_reference(w, at, 3, items);
	for (i = 0; i < m->ops; i++)
		write_op(w, items + 4 + 4 * (size_t)i, i, &m->op[i]);
}

/* An operator code for each operator: simple, and the format allows repetition. */
static void write_codes(struct writer *w, size_t model, const struct tw_model *m)
{
	size_t list = vector(w, m->ops, 4, NULL);
	u32 i;

	set_reference(w, model, 1, list);
	for (i = 0; i < m->ops; i++) {
		size_t at = table(w, 4);

		refer(w, list + 4 + 4 * (size_t)i, at);
		set(w, at, m->old_codes ? 0 : 3, m->op[i].code);
		if (m->op[i].custom)
			set_vector(w, at, 1, strlen(m->op[i].custom), 1, m->op[i].custom);
	}
}

static void write_buffers(struct writer *w, size_t model, const struct tw_model *m)
{
	size_t list = vector(w, m->tensors + 1, 4, NULL);
	u32 i;

	set_reference(w, model, 4, list);
	for (i = 0; i <= m->tensors; i++) {
		size_t at = table(w, 1);

		refer(w, list + 4 + 4 * (size_t)i, at);
		if (i && m->tensor[i - 1].data)
			set_vector(w, at, 0, m->tensor[i - 1].bytes, 1, m->tensor[i - 1].data);
	}
}

u8 *tw_write(const struct tw_model *model, size_t *bytes)
{
	struct writer w = { 0 };
	size_t header = reserve(&w, 8, 0), root = table(&w, 5);

	refer(&w, header, root);
	put(&w, header + 4, 'T' | 'F' << 8 | 'L' << 16 | '3' << 24, 4);
	set(&w, root, 0, model->version);
	write_codes(&w, root, model);
	write_subgraph(&w, root, model);
	write_buffers(&w, root, model);
	if (w.failed) {
		free(w.data);
		return NULL;
	}
	*bytes = w.bytes;
	return w.data;
}
