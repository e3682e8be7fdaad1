// SPDX-License-Identifier: MIT
/*
 * A topology without weights: a list of layers as tab-separated text.  Each line
 * is a layer; it reads what the line before writes where the shapes agree, else a
 * value of its own.
 */
#include "../net.h"
#include "../text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "axis.h"
#include "split.h"

enum column { NAME, OP, C, H, W, K, R, S, SY, SX, PT, PL, PB, PR, DY, DX, GROUPS, COLUMNS };

static const char *const column_names[COLUMNS] = {
	"name", "op", "c",  "h",  "w",	"k",  "r",  "s",      "sy",
	"sx",	"pt", "pl", "pb", "pr", "dy", "dx", "groups",
};

enum op { OP_CONV, OP_FC, OP_POOL_MAX, OP_POOL_AVG, OP_ADD, OP_COUNT };

static const char *const op_names[OP_COUNT] = { "conv", "fc", "pool_max", "pool_avg", "add" };

#define MAX_LAYERS 4096u
#define MAX_EXTENT 8192u /* of a cube: 13 bits, minus one */
#define MAX_KERNEL_BYTES (1u << 18)
#define MAX_FEATURES (1u << 20) /* of a fully connected layer */
#define WEIGHT_ALIGNMENT 256u /* what CDMA asks for at a time, at most */

/* What the registers of convolutions (0) and of pooling (1) can say. */
struct limit {
	enum column column;
	u32 low;
	u32 high[2];
};

static const struct limit limits[] = {
	{ H, 1, { MAX_EXTENT, MAX_EXTENT } },
	{ W, 1, { MAX_EXTENT, MAX_EXTENT } },
	{ R, 1, { 32, 8 } },
	{ S, 1, { 32, 8 } },
	{ SY, 1, { 8, 16 } },
	{ SX, 1, { 8, 16 } },
	{ PT, 0, { 31, 7 } },
	{ PL, 0, { 31, 7 } },
	{ PB, 0, { 31, 7 } },
	{ PR, 0, { 31, 7 } },
	{ DY, 1, { 32, 1 } },
	{ DX, 1, { 32, 1 } },
};

struct reader {
	const char *file;
	const char *at, *end;
	u32 line;
	const struct nvdla_config *config;
	struct npu_net *net;
	struct npu_diag *diag;
	u32 layer_room, value_room;
	u64 weights; /* where the next layer's weights would be */
};

/* One line under way. */
struct row {
	const char *field[COLUMNS];
	size_t length[COLUMNS];
	u32 value[COLUMNS];
	enum op op;
};

static int nomem(struct reader *r)
{
	return npu_diag_set(r->diag, -ENOMEM, "%s: out of memory", r->file);
}

static int beyond(struct reader *r, const struct row *row, enum column column, u32 low, u32 high)
{
	return npu_diag_set(r->diag, -EINVAL, "%s:%u: column %s: %u is not between %u and %u",
			    r->file, r->line, column_names[column], row->value[column], low, high);
}

/* Fields of the next line; false at the end. */
static bool next_line(struct reader *r, struct row *row, u32 *fields)
{
	const char *end, *field;

	*row = (struct row){ 0 };
	*fields = 0;
	if (r->at == r->end)
		return false;
	r->line++;
	end = memchr(r->at, '\n', (size_t)(r->end - r->at));
	if (!end)
		end = r->end;
	field = r->at;
	r->at = end == r->end ? end : end + 1;
	if (end > field && end[-1] == '\r')
		end--;
	while (*fields < COLUMNS + 1) {
		const char *tab = memchr(field, '\t', (size_t)(end - field));
		const char *stop = tab ? tab : end;

		if (*fields < COLUMNS) {
			row->field[*fields] = field;
			row->length[*fields] = (size_t)(stop - field);
		}
		(*fields)++;
		if (!tab)
			break;
		field = tab + 1;
	}
	return true;
}

static bool is(const struct row *row, u32 column, const char *text)
{
	return row->length[column] == strlen(text) &&
	       !memcmp(row->field[column], text, row->length[column]);
}

static int read_header(struct reader *r)
{
	struct row row;
	u32 fields, i;

	if (!next_line(r, &row, &fields))
		return npu_diag_set(r->diag, -EINVAL, "%s: empty", r->file);
	for (i = 0; i < COLUMNS; i++)
		if (i >= fields || !is(&row, i, column_names[i]))
			return npu_diag_set(r->diag, -EINVAL, "%s:1: column %u is not called %s",
					    r->file, i + 1, column_names[i]);
	if (fields != COLUMNS)
		return npu_diag_set(r->diag, -EINVAL, "%s:1: more than %u columns", r->file,
				    COLUMNS);
	return 0;
}

static int read_number(struct reader *r, struct row *row, u32 column)
{
	u64 value = 0;
	size_t i;

	for (i = 0; i < row->length[column]; i++) {
		u32 digit = (u32)(u8)row->field[column][i] - '0';

		if (digit > 9)
			break;
		value = value * 10 + digit;
		if (value > UINT32_MAX)
			break;
	}
	if (!row->length[column] || i != row->length[column])
		return npu_diag_set(r->diag, -EINVAL, "%s:%u: column %s: '%.*s' is not a number",
				    r->file, r->line, column_names[column],
				    (int)min(row->length[column], (size_t)40), row->field[column]);
	row->value[column] = (u32)value;
	return 0;
}

static bool is_pool(enum op op)
{
	return op == OP_POOL_MAX || op == OP_POOL_AVG;
}

/* An average over more than PDP's kernel is a convolution with a kernel of ones. */
static bool by_conv(const struct row *row)
{
	return row->op == OP_CONV || row->op == OP_FC ||
	       (row->op == OP_POOL_AVG && (row->value[R] > 8 || row->value[S] > 8));
}

static int check_limits(struct reader *r, const struct row *row)
{
	u32 which = is_pool(row->op) && !by_conv(row), i;
	u32 channels = row->op == OP_FC ? MAX_FEATURES : MAX_EXTENT;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct limit *l = &limits[i];

		if (row->value[l->column] < l->low || row->value[l->column] > l->high[which])
			return beyond(r, row, l->column, l->low, l->high[which]);
	}
	if (!row->value[C] || row->value[C] > channels)
		return beyond(r, row, C, 1, channels);
	if (row->op == OP_CONV || row->op == OP_FC) {
		if (!row->value[K] || row->value[K] > MAX_EXTENT)
			return beyond(r, row, K, 1, MAX_EXTENT);
		if (!row->value[GROUPS] || row->value[GROUPS] > row->value[C])
			return beyond(r, row, GROUPS, 1, row->value[C]);
		if (row->value[C] % row->value[GROUPS] || row->value[K] % row->value[GROUPS])
			return npu_diag_set(r->diag, -EINVAL,
					    "%s:%u: column groups: %u does not divide c and k",
					    r->file, r->line, row->value[GROUPS]);
	} else if (row->value[K] && row->value[K] != row->value[C]) {
		return npu_diag_set(r->diag, -EINVAL,
				    "%s:%u: column k: %u channels from %u, %s cannot change them",
				    r->file, r->line, row->value[K], row->value[C],
				    op_names[row->op]);
	}
	return 0;
}

static int read_row(struct reader *r, struct row *row, u32 fields)
{
	u32 i;

	if (fields != COLUMNS)
		return npu_diag_set(r->diag, -EINVAL, "%s:%u: %s than %u columns", r->file, r->line,
				    fields < COLUMNS ? "less" : "more", COLUMNS);
	if (!row->length[NAME] || row->length[NAME] > 200)
		return npu_diag_set(r->diag, -EINVAL,
				    "%s:%u: column name: %s, at most 200 characters", r->file,
				    r->line, row->length[NAME] ? "too long" : "empty");
	for (i = 0; i < OP_COUNT; i++)
		if (is(row, OP, op_names[i]))
			break;
	if (i == OP_COUNT)
		return npu_diag_set(
			r->diag, -EINVAL,
			"%s:%u: column op: '%.*s' is not conv, fc, pool_max, pool_avg or add",
			r->file, r->line, (int)min(row->length[OP], (size_t)40), row->field[OP]);
	row->op = (enum op)i;
	for (i = OP + 1; i < COLUMNS; i++)
		if (read_number(r, row, i))
			return -EINVAL;
	return check_limits(r, row);
}

/* ---- values and layers ---------------------------------------------------------------- */

static void *grow(struct npu_arena *arena, void *old, u32 count, u32 *room, size_t bytes)
{
	u32 larger = max(2 * *room, 16u);
	void *grown;

	if (count < *room)
		return old;
	grown = npu_arena_array(arena, larger, bytes);
	if (!grown)
		return NULL;
	if (count)
		memcpy(grown, old, count * bytes);
	*room = larger;
	return grown;
}

static u32 add_value(struct reader *r, const char *name, u32 h, u32 w, u32 c)
{
	struct npu_net *net = r->net;
	struct npu_value *v;

	v = grow(&net->arena, net->value, net->value_count, &r->value_room, sizeof(*v));
	if (!v)
		return NPU_NONE;
	net->value = v;
	v += net->value_count;
	*v = (struct npu_value){ .name = name, .tensor = NPU_NONE, .alias = NPU_NONE, .scale = 1 };
	npu_value_set_feature(v, r->config, h, w, c);
	return net->value_count++;
}

/* The output of the line before where it has that shape, else a new value. */
static u32 input_value(struct reader *r, const char *name, u32 h, u32 w, u32 c)
{
	const struct npu_net *net = r->net;
	u32 last;

	if (net->layer_count) {
		const struct npu_value *v;

		last = net->layer[net->layer_count - 1].output;
		v = &net->value[last];
		if (v->h == h && v->w == w && v->c == c)
			return last;
	}
	return add_value(r, name, h, w, c);
}

/* One direction: the number of outputs; takes back padding that no window reaches. */
static int outputs(struct reader *r, const struct row *row, enum column size, enum column kernel,
		   enum column stride, enum column dilation, enum column before, u32 *after,
		   u32 *count)
{
	u32 in = row->value[size], k = row->value[kernel], d = row->value[dilation];
	u32 n = npu_window_outputs(in, row->value[before], *after, k, d, row->value[stride]);
	u64 span = npu_dilated(k, d), need, have = (u64)row->value[before] + in + *after;

	if (!n)
		return npu_diag_set(r->diag, -EINVAL,
				    "%s:%u: column %s: the kernel is larger than its padded input",
				    r->file, r->line, column_names[kernel]);
	if (row->value[before] >= span || *after >= span)
		return npu_diag_set(r->diag, -EINVAL,
				    "%s:%u: column %s: padding is not smaller than the kernel",
				    r->file, r->line, column_names[before]);
	need = (u64)(n - 1) * row->value[stride] + span;
	*after -= (u32)min(have - need, (u64)*after);
	*count = n;
	return 0;
}

static int make_window(struct reader *r, const struct row *row, struct npu_window *w, u32 *high,
		       u32 *wide)
{
	*w = (struct npu_window){
		.r = row->value[R],
		.s = row->value[S],
		.stride_y = row->value[SY],
		.stride_x = row->value[SX],
		.dilation_y = row->value[DY],
		.dilation_x = row->value[DX],
		.pad_top = row->value[PT],
		.pad_left = row->value[PL],
		.pad_bottom = row->value[PB],
		.pad_right = row->value[PR],
	};
	if (outputs(r, row, H, R, SY, DY, PT, &w->pad_bottom, high))
		return -EINVAL;
	return outputs(r, row, W, S, SX, DX, PL, &w->pad_right, wide);
}

/*
 * More features than the registers hold channels: the same bytes are as well a column of several
 * atoms under a kernel of that height; only the order of the weights differs.
 */
static int fold_features(struct reader *r, struct row *row)
{
	u32 n = 1, c = row->value[C];

	if (c <= MAX_EXTENT)
		return 0;
	while (n <= limits[2].high[0] && (c % n || c / n > MAX_EXTENT || c / n % r->config->atom))
		n++;
	if (n > limits[2].high[0] || row->value[H] != 1 || row->value[W] != 1 ||
	    row->value[R] != 1 || row->value[S] != 1)
		return beyond(r, row, C, 1, MAX_EXTENT);
	row->value[H] = row->value[R] = n;
	row->value[C] = c / n;
	return 0;
}

/* Channels and kernels of a block: as many groups as fill whole atoms. */
static void set_blocks(const struct reader *r, const struct row *row, struct npu_layer *l)
{
	bool pool = is_pool(row->op);
	u32 groups = pool ? row->value[C] : row->value[GROUPS];
	u32 channels = row->value[C] / groups;
	u32 kernels = (pool ? row->value[C] : row->value[K]) / groups;
	u32 atom = r->config->atom, n = 1;

	while (n < groups && ((n * channels) % atom || (n * kernels) % atom))
		n++;
	n = groups == 1 ? 1 : n;
	l->blocks = DIV_ROUND_UP(groups, n);
	l->c = n * channels;
	l->k = n * kernels;
	l->block_stride_c = l->blocks > 1 ? l->c : 0;
}

/* Bias and multiplier for every kernel, as a quantised network has them. */
static const struct npu_sdp conv_sdp = {
	.bs = { .alu_from = NPU_OPERAND_KERNEL,
		.alu_op = NPU_ALU_SUM,
		.mul_from = NPU_OPERAND_KERNEL,
		.relu = true },
	.bn = { .bypass = true },
	.cvt_scale = 1,
};

static int add_conv(struct reader *r, struct row *row, struct npu_layer *l)
{
	u32 high, wide, k = is_pool(row->op) ? row->value[C] : row->value[K];
	u64 kernel;

	if (row->op == OP_FC && fold_features(r, row))
		return -EINVAL;
	if (make_window(r, row, &l->window, &high, &wide))
		return -EINVAL;
	set_blocks(r, row, l);
	kernel = (u64)l->c * l->window.r * l->window.s;
	if (kernel > MAX_KERNEL_BYTES)
		return npu_diag_set(r->diag, -EINVAL,
				    "%s:%u: column c: a kernel of %" PRIu64
				    " bytes, the registers hold %u",
				    r->file, r->line, kernel, MAX_KERNEL_BYTES);
	l->kind = NPU_LAYER_CONV;
	l->weights = r->weights;
	l->weight_bytes = kernel * l->k;
	l->weight_stride = DIV_ROUND_UP(l->weight_bytes, WEIGHT_ALIGNMENT) * WEIGHT_ALIGNMENT;
	r->weights += l->weight_stride * l->blocks;
	l->sdp = conv_sdp;
	l->input = input_value(r, l->name, row->value[H], row->value[W], row->value[C]);
	l->output = add_value(r, l->name, high, wide, k);
	return 0;
}

static int add_pool(struct reader *r, const struct row *row, struct npu_layer *l)
{
	u32 high, wide;

	if (make_window(r, row, &l->pool.window, &high, &wide))
		return -EINVAL;
	l->kind = NPU_LAYER_PDP;
	l->pool.kind = row->op == OP_POOL_MAX ? NPU_POOL_MAX : NPU_POOL_AVERAGE;
	l->input = input_value(r, l->name, row->value[H], row->value[W], row->value[C]);
	l->output = add_value(r, l->name, high, wide, row->value[C]);
	return 0;
}

static int add_sum(struct reader *r, const struct row *row, struct npu_layer *l)
{
	u32 h = row->value[H], w = row->value[W], c = row->value[C];

	l->kind = NPU_LAYER_SDP;
	l->input = input_value(r, l->name, h, w, c);
	l->sdp = (struct npu_sdp){
		.bs = { .alu_op = NPU_ALU_SUM,
			.alu_from = NPU_OPERAND_REGISTER,
			.mul_from = NPU_OPERAND_REGISTER },
		.bn = { .alu_from = NPU_OPERAND_ELEMENT,
			.alu_op = NPU_ALU_SUM,
			.mul_from = NPU_OPERAND_REGISTER },
		.cvt_scale = 1,
	};
	l->sdp.bn.value = add_value(r, l->name, h, w, c);
	l->output = add_value(r, l->name, h, w, c);
	return l->sdp.bn.value == NPU_NONE ? nomem(r) : 0;
}

static int add_layer(struct reader *r, struct row *row)
{
	struct npu_net *net = r->net;
	struct npu_layer *l;
	int err;

	if (net->layer_count == MAX_LAYERS)
		return npu_diag_set(r->diag, -EINVAL, "%s:%u: more than %u layers", r->file,
				    r->line, MAX_LAYERS);
	l = grow(&net->arena, net->layer, net->layer_count, &r->layer_room, sizeof(*l));
	if (!l)
		return nomem(r);
	net->layer = l;
	l += net->layer_count;
	*l = (struct npu_layer){
		.op = NPU_NONE, .last_op = NPU_NONE, .blocks = 1, .unpooled = NPU_NONE
	};
	l->name = npu_arena_string(&net->arena, row->field[NAME], row->length[NAME]);
	if (l->name)
		l->name = npu_text_clean(&net->arena, l->name);
	if (!l->name)
		return nomem(r);
	if (by_conv(row))
		err = add_conv(r, row, l);
	else
		err = is_pool(row->op) ? add_pool(r, row, l) : add_sum(r, row, l);
	if (err)
		return err;
	if (l->input == NPU_NONE || l->output == NPU_NONE)
		return nomem(r);
	net->layer_count++;
	return 0;
}

static int read_rows(struct reader *r)
{
	struct row row;
	u32 fields;
	int err;

	while (next_line(r, &row, &fields)) {
		if (fields == 1 && !row.length[0])
			continue;
		err = read_row(r, &row, fields);
		if (!err)
			err = add_layer(r, &row);
		if (err)
			return err;
	}
	if (!r->net->layer_count)
		return npu_diag_set(r->diag, -EINVAL, "%s: no layers", r->file);
	return 0;
}

/* The first layer's input and the last one's output. */
static int set_ends(struct reader *r)
{
	struct npu_net *net = r->net;

	net->input = npu_arena_array(&net->arena, 2, sizeof(*net->input));
	if (!net->input)
		return nomem(r);
	net->output = net->input + 1;
	net->input[0] = net->layer[0].input;
	net->output[0] = net->layer[net->layer_count - 1].output;
	net->input_count = net->output_count = 1;
	return 0;
}

/* As with a model file: what fits in no way is the CPU's, whatever the budget. */
static void place(struct npu_net *net)
{
	u32 i;

	for (i = 0; i < net->layer_count; i++) {
		struct npu_layer *layer = &net->layer[i];

		if (layer->kind != NPU_LAYER_CONV || npu_split_fits(net, layer))
			continue;
		layer->kind = NPU_LAYER_CPU;
		layer->cpu_reason = NPU_SPLIT_TOO_LARGE;
	}
}

int npu_net_from_tsv(const void *data, size_t bytes, const char *file,
		     const struct nvdla_config *config, struct npu_net **result,
		     struct npu_diag *diag)
{
	struct reader r = {
		.file = file,
		.at = data,
		.end = (const char *)data + bytes,
		.config = config,
		.net = calloc(1, sizeof(*r.net)),
		.diag = diag,
	};
	int err;

	if (!r.net)
		return nomem(&r);
	r.net->config = config;
	err = read_header(&r);
	if (!err)
		err = read_rows(&r);
	if (!err)
		err = set_ends(&r);
	if (!err)
		err = npu_net_verify(r.net, diag);
	if (!err)
		place(r.net);
	if (err) {
		npu_net_free(r.net);
		return err;
	}
	*result = r.net;
	return 0;
}
