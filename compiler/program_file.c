// SPDX-License-Identifier: MIT
/*
 * The format of compiled files.  One function for each struct reads and writes
 * it, so the two cannot differ.  All numbers are little endian, in the order of
 * the struct's fields; arrays follow their count; constants and weights start at
 * multiples of 64 bytes of the file and are used where they lie.
 */
#include "program.h"
#include "text.h"

#include <stdlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are read as they lie in memory");

#define BLOB_ALIGN 64u

/**
 * struct codec - position in a file that is being read or written
 * @out: where to write; NULL while it is only counted how much that will be
 * @in: contents (reading)
 * @bytes: of @in, or written
 * @at: reading position
 * @capacity: of @out
 * @arena: memory for what is read
 * @error: first one; nothing more happens then
 */
struct codec {
	bool writing;
	u8 *out;
	const u8 *in;
	size_t bytes, at, capacity;
	struct npu_arena *arena;
	int error;
};

static void fail(struct codec *c, int error)
{
	if (!c->error)
		c->error = error;
}

static void write_bytes(struct codec *c, const void *data, size_t bytes)
{
	if (c->out && bytes > c->capacity - c->bytes)
		fail(c, -EINVAL);
	if (c->error)
		return;
	if (c->out && bytes)
		memcpy(c->out + c->bytes, data, bytes);
	c->bytes += bytes;
}

/* The next @bytes of the file where they lie; NULL beyond its end. */
static const void *take(struct codec *c, size_t bytes)
{
	const void *at = c->in + c->at;

	if (c->error || bytes > c->bytes - c->at) {
		fail(c, -EINVAL);
		return NULL;
	}
	c->at += bytes;
	return at;
}

static void code_bytes(struct codec *c, void *data, size_t bytes)
{
	const void *from;

	if (c->writing) {
		write_bytes(c, data, bytes);
		return;
	}
	from = take(c, bytes);
	if (from && bytes)
		memcpy(data, from, bytes);
}

static void code_u32(struct codec *c, u32 *value)
{
	code_bytes(c, value, sizeof(*value));
}

static void code_s32(struct codec *c, s32 *value)
{
	code_bytes(c, value, sizeof(*value));
}

static void code_u64(struct codec *c, u64 *value)
{
	code_bytes(c, value, sizeof(*value));
}

static void code_float(struct codec *c, float *value)
{
	code_bytes(c, value, sizeof(*value));
}

/* Fields of type bool and enum, whatever their size. */
#define CODE_NUMBER(c, field)                             \
	do {                                              \
		u32 number_ = (u32)(field);               \
		code_u32(c, &number_);                    \
		if (!(c)->writing)                        \
			(field) = (typeof(field))number_; \
	} while (0)

static void code_bool(struct codec *c, bool *value)
{
	u32 number = *value;

	code_u32(c, &number);
	if (number > 1)
		fail(c, -EINVAL);
	*value = number;
}

/* Memory for an array of @count elements, each of which takes at least @encoded bytes of the file. */
static void *code_array(struct codec *c, const void *array, u32 *count, size_t size, size_t encoded)
{
	void *memory;

	code_u32(c, count);
	if (c->writing)
		return (void *)array;
	if (c->error || *count > (c->bytes - c->at) / encoded) {
		fail(c, -EINVAL);
		*count = 0;
		return NULL;
	}
	memory = npu_arena_array(c->arena, max(*count, 1u), size);
	if (!memory) {
		fail(c, -ENOMEM);
		*count = 0;
	}
	return memory;
}

/* An array of plain 32-bit numbers. */
#define CODE_NUMBERS(c, array, count)                                                        \
	do {                                                                                 \
		typeof(*(array)) *numbers_ =                                                 \
			code_array(c, array, &(count), sizeof(*(array)), sizeof(*(array)));  \
		_Static_assert(sizeof(*(array)) == 4, "32-bit numbers");                     \
		if (numbers_)                                                                \
			code_bytes(c, (void *)numbers_, (size_t)(count) * sizeof(*(array))); \
		(array) = numbers_;                                                          \
	} while (0)

/* Text with its terminating zero; NULL is kept apart from empty. */
static void code_text(struct codec *c, const char **text)
{
	u32 length = *text ? (u32)strlen(*text) + 1 : 0;
	const char *from;

	code_u32(c, &length);
	if (c->writing) {
		write_bytes(c, *text, length);
		return;
	}
	*text = NULL;
	from = length ? take(c, length) : NULL;
	if (from && (from[length - 1] || !npu_text_is_clean(from)))
		fail(c, -EINVAL);
	else
		*text = from;
}

/* Bytes that are used where they lie in the file. */
static void code_blob(struct codec *c, const void **data, u64 *bytes)
{
	static const u8 zeros[BLOB_ALIGN];
	size_t padding;

	code_u64(c, bytes);
	padding = (BLOB_ALIGN - (c->writing ? c->bytes : c->at) % BLOB_ALIGN) % BLOB_ALIGN;
	if (c->writing) {
		write_bytes(c, zeros, padding);
		write_bytes(c, *data, *bytes);
		return;
	}
	take(c, padding);
	*data = take(c, *bytes);
}

static void code_quant(struct codec *c, struct npu_quant *quant)
{
	u32 scales = quant->count, zeros = quant->count;

	code_u32(c, &quant->axis);
	CODE_NUMBERS(c, quant->scale, scales);
	CODE_NUMBERS(c, quant->zero, zeros);
	if (scales != zeros)
		fail(c, -EINVAL);
	quant->count = scales;
}

static void code_tensor(struct codec *c, struct npu_tensor *t)
{
	bool constant = t->data;
	u64 bytes = t->bytes;

	code_text(c, &t->name);
	CODE_NUMBER(c, t->dtype);
	code_u32(c, &t->rank);
	code_bytes(c, t->dim, sizeof(t->dim));
	code_quant(c, &t->quant);
	code_bool(c, &constant);
	if (constant)
		code_blob(c, &t->data, &bytes);
	else
		code_u64(c, &bytes);
	t->bytes = bytes;
}

static void code_window(struct codec *c, struct npu_window *w)
{
	code_u32(c, &w->r);
	code_u32(c, &w->s);
	code_u32(c, &w->stride_y);
	code_u32(c, &w->stride_x);
	code_u32(c, &w->dilation_y);
	code_u32(c, &w->dilation_x);
	code_u32(c, &w->pad_top);
	code_u32(c, &w->pad_left);
	code_u32(c, &w->pad_bottom);
	code_u32(c, &w->pad_right);
}

static void code_op(struct codec *c, struct npu_op *op)
{
	CODE_NUMBER(c, op->kind);
	code_text(c, &op->name);
	CODE_NUMBERS(c, op->input, op->input_count);
	CODE_NUMBERS(c, op->output, op->output_count);
	CODE_NUMBER(c, op->activation);
	code_window(c, &op->window);
	code_u32(c, &op->groups);
	code_s32(c, &op->axis);
	CODE_NUMBER(c, op->function);
	code_float(c, &op->alpha);
	code_float(c, &op->beta);
	code_float(c, &op->gamma);
	code_u32(c, &op->size);
	code_u32(c, &op->axes);
	code_bytes(c, op->begin, sizeof(op->begin));
	code_bytes(c, op->end, sizeof(op->end));
	code_bytes(c, op->step, sizeof(op->step));
	code_bool(c, &op->align_corners);
	code_bool(c, &op->half_pixel_centers);
	CODE_NUMBER(c, op->pixels);
	code_bytes(c, op->pixel_mean, sizeof(op->pixel_mean));
	code_bytes(c, op->pixel_scale, sizeof(op->pixel_scale));
}

static void code_graph(struct codec *c, struct npu_graph *g)
{
	u32 i;

	g->tensor = code_array(c, g->tensor, &g->tensor_count, sizeof(*g->tensor), 64);
	for (i = 0; i < g->tensor_count && !c->error; i++)
		code_tensor(c, &g->tensor[i]);
	g->op = code_array(c, g->op, &g->op_count, sizeof(*g->op), 64);
	for (i = 0; i < g->op_count && !c->error; i++)
		code_op(c, &g->op[i]);
	CODE_NUMBERS(c, g->input, g->input_count);
	CODE_NUMBERS(c, g->output, g->output_count);
}

static void code_value(struct codec *c, struct npu_value *v)
{
	code_text(c, &v->name);
	code_u32(c, &v->tensor);
	code_u32(c, &v->h);
	code_u32(c, &v->w);
	code_u32(c, &v->c);
	CODE_NUMBER(c, v->dtype);
	CODE_NUMBER(c, v->layout);
	code_float(c, &v->scale);
	code_s32(c, &v->zero);
	code_u32(c, &v->line_stride);
	code_u32(c, &v->surface_stride);
	code_u32(c, &v->pixel_bytes);
	code_u64(c, &v->bytes);
	code_u32(c, &v->alias);
	code_u64(c, &v->alias_offset);
}

static void code_stage(struct codec *c, struct npu_sdp_stage *s)
{
	code_bool(c, &s->bypass);
	CODE_NUMBER(c, s->alu_from);
	CODE_NUMBER(c, s->alu_op);
	code_s32(c, &s->alu_value);
	code_u32(c, &s->alu_shift);
	CODE_NUMBER(c, s->mul_from);
	code_s32(c, &s->mul_value);
	code_u32(c, &s->mul_shift);
	code_bool(c, &s->prelu);
	code_bool(c, &s->relu);
	code_u64(c, &s->table);
	code_u32(c, &s->value);
}

static void code_ew(struct codec *c, struct npu_sdp_ew *ew)
{
	CODE_NUMBER(c, ew->mul_from);
	code_s32(c, &ew->mul_zero);
	code_u32(c, &ew->value);
}

static void code_cdp(struct codec *c, struct npu_cdp *cdp)
{
	code_u32(c, &cdp->sum);
	code_s32(c, &cdp->zero);
	code_u64(c, &cdp->lut);
	code_s32(c, &cdp->start);
	code_u32(c, &cdp->le_shift);
	code_u32(c, &cdp->lo_shift);
	code_s32(c, &cdp->cvt_offset);
	code_s32(c, &cdp->cvt_scale);
	code_u32(c, &cdp->cvt_shift);
}

static void code_layer(struct codec *c, struct npu_layer *l)
{
	CODE_NUMBER(c, l->kind);
	code_u32(c, &l->op);
	code_u32(c, &l->last_op);
	CODE_NUMBERS(c, l->group, l->group_count);
	code_text(c, &l->name);
	code_u32(c, &l->input);
	code_u32(c, &l->output);
	code_window(c, &l->window);
	code_u32(c, &l->c);
	code_u32(c, &l->k);
	code_u32(c, &l->blocks);
	code_u32(c, &l->block_stride_c);
	code_bool(c, &l->repeat_surface);
	code_u64(c, &l->weights);
	code_u64(c, &l->weight_bytes);
	code_u64(c, &l->weight_stride);
	code_s32(c, &l->pad_value);
	code_bool(c, &l->pixels.used);
	code_u32(c, &l->pixels.format);
	code_bytes(c, l->pixels.mean, sizeof(l->pixels.mean));
	code_s32(c, &l->pixels.scale);
	code_u32(c, &l->pixels.shift);
	code_stage(c, &l->sdp.bs);
	code_stage(c, &l->sdp.bn);
	code_ew(c, &l->sdp.ew);
	code_s32(c, &l->sdp.cvt_offset);
	code_s32(c, &l->sdp.cvt_scale);
	code_u32(c, &l->sdp.cvt_shift);
	code_bool(c, &l->has_pool);
	code_u32(c, &l->unpooled);
	CODE_NUMBER(c, l->pool.kind);
	code_window(c, &l->pool.window);
	code_s32(c, &l->pool.pad_value);
	code_cdp(c, &l->cdp);
	CODE_NUMBERS(c, l->patch, l->patch_count);
	code_text(c, &l->cpu_reason);
}

static void code_net(struct codec *c, struct npu_net *net)
{
	u32 tensors = net->graph ? net->graph->tensor_count : 0;
	const void *weights = net->weights;
	u32 i;

	net->value = code_array(c, net->value, &net->value_count, sizeof(*net->value), 64);
	for (i = 0; i < net->value_count && !c->error; i++)
		code_value(c, &net->value[i]);
	net->layer = code_array(c, net->layer, &net->layer_count, sizeof(*net->layer), 64);
	for (i = 0; i < net->layer_count && !c->error; i++)
		code_layer(c, &net->layer[i]);
	CODE_NUMBERS(c, net->tensor_value, tensors);
	if (tensors != net->graph->tensor_count)
		fail(c, -EINVAL);
	CODE_NUMBERS(c, net->input, net->input_count);
	CODE_NUMBERS(c, net->output, net->output_count);
	if (net->input_count != net->graph->input_count ||
	    net->output_count != net->graph->output_count)
		fail(c, -EINVAL);
	code_blob(c, &weights, &net->weights_bytes);
	net->weights = weights;
}

struct header {
	u32 magic;
	u32 version;
	u64 bytes; /* of the whole file */
};

static void code_budget(struct codec *c, struct npu_budget *budget)
{
	code_u32(c, &budget->banks);
	code_u32(c, &budget->entry_bytes);
	code_u32(c, &budget->entries);
	code_u64(c, &budget->sram_bytes);
}

bool npu_file_is_compiled(const void *data, size_t bytes)
{
	struct header header;

	if (bytes < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	return header.magic == NPU_FILE_MAGIC;
}

/* A layer list has no weights. */
static bool is_topology(const struct npu_net *net)
{
	u32 i;

	for (i = 0; i < net->layer_count && !net->weights; i++)
		if (net->layer[i].kind == NPU_LAYER_CONV)
			return true;
	return !net->graph;
}

static void write_file(struct codec *c, const struct npu_net *net, const struct npu_budget *budget,
		       u64 bytes)
{
	struct header header = { NPU_FILE_MAGIC, NPU_FILE_VERSION, bytes };
	/* Writing changes nothing; the same functions read into these when they read. */
	struct npu_net copy = *net;
	struct npu_budget planned = *budget;
	const char *config = net->config->name;

	code_bytes(c, &header, sizeof(header));
	code_text(c, &config);
	code_budget(c, &planned);
	code_graph(c, copy.graph);
	code_net(c, &copy);
}

int npu_file_encode(const struct npu_net *net, const struct npu_budget *budget, void **data,
		    size_t *bytes, struct npu_diag *diag)
{
	struct codec count = { .writing = true }, write = { .writing = true };

	if (is_topology(net))
		return npu_diag_set(diag, -EINVAL, "a topology without weights cannot be saved");
	write_file(&count, net, budget, 0);
	write.capacity = count.bytes;
	write.out = malloc(count.bytes);
	if (!write.out)
		return npu_diag_set(diag, -ENOMEM, "out of memory");
	write_file(&write, net, budget, count.bytes);
	*data = write.out;
	*bytes = write.bytes;
	return 0;
}

static int check_header(const void *data, size_t bytes, const char *name, struct npu_diag *diag)
{
	struct header header;

	if (!npu_file_is_compiled(data, bytes))
		return npu_diag_set(diag, -EINVAL, "%s: not a compiled file", name);
	memcpy(&header, data, sizeof(header));
	if (header.version != NPU_FILE_VERSION)
		return npu_diag_set(
			diag, -ENOTSUP,
			"%s: compiled file of version %u, this is version %u: compile the "
			"model again",
			name, header.version, NPU_FILE_VERSION);
	if (header.bytes != bytes)
		return npu_diag_set(diag, -EINVAL, "%s: %zu bytes, should have %llu", name, bytes,
				    (unsigned long long)header.bytes);
	return 0;
}

/* What the printed message of a later check needs: which file it was. */
static int name_file(struct npu_diag *diag, const char *name, int error)
{
	struct npu_diag inner;

	if (!error || !diag)
		return error;
	inner = *diag;
	diag->text[0] = 0;
	return npu_diag_set(diag, error, "%s: %.400s", name,
			    inner.text[0] ? inner.text : "damaged compiled file");
}

int npu_file_decode(const void *data, size_t bytes, const char *name,
		    const struct nvdla_config *config, struct npu_net **result,
		    struct npu_budget *budget, struct npu_diag *diag)
{
	struct codec c = { .in = data, .bytes = bytes, .at = sizeof(struct header) };
	int error = check_header(data, bytes, name, diag);
	const char *text = NULL;
	struct npu_net *net;

	if (error)
		return error;
	net = calloc(1, sizeof(*net));
	if (net)
		net->graph = npu_graph_new(name);
	if (!net || !net->graph) {
		npu_net_free(net);
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", name);
	}
	c.arena = &net->arena;
	code_text(&c, &text);
	net->config = text ? nvdla_config_find(text) : NULL;
	if (!net->config || (config && net->config != config)) {
		npu_net_free(net);
		return npu_diag_set(diag, -ENOTSUP, "%s: compiled for %.40s%s%s", name,
				    text ? text : "nothing", config ? ", not for " : "",
				    config ? config->name : "");
	}
	*budget = (struct npu_budget){ 0 };
	code_budget(&c, budget);
	code_graph(&c, net->graph);
	if (!c.error)
		code_net(&c, net);
	if (!c.error && c.at != bytes)
		c.error = -EINVAL;
	error = c.error ? c.error : npu_graph_verify(net->graph, diag);
	if (!error)
		error = npu_net_verify(net, diag);
	if (error) {
		error = name_file(diag, name, error);
		npu_net_free(net);
		return error;
	}
	*result = net;
	return 0;
}
