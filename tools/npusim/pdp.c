// SPDX-License-Identifier: MIT
/*
 * PDP: pooling.  A row of the input is pooled along the width as it comes; the line buffer
 * then pools those rows along the height.  A wide cube can be split into vertical parts that
 * run one after the other, each with all surfaces.
 */
#include <stdlib.h>

#include "pdp_internal.h"
#include "stream.h"

/* More atoms than this are refused: no real layer has so many, garbage registers have. */
#define ATOMS_MAX ((u64)1 << 26)

#define KERNEL_MAX 8

struct pdp {
	struct npusim *sim;
	struct pdp_shape shape;
	enum pdp_method method;
	bool memory; /* the input comes from memory, not from SDP */
	u32 recip_width, recip_height;
	s32 pad_table[KERNEL_MAX]; /* what n missing elements add, by n */

	u64 source, source_line, source_surface;
	u64 destination, destination_line, destination_surface;

	s8 *line; /* of the input */
	s16 *rows[KERNEL_MAX]; /* input rows pooled along the width */
	s16 *results; /* a row of the output before its last steps */
	s8 *out;
};

static struct pdp_axis decode_axis(u32 in, u32 out, u32 kernel, u32 stride, u32 before, u32 after)
{
	return (struct pdp_axis){
		.in = in + 1,
		.out = out + 1,
		.kernel = (kernel & 7) + 1, /* the counters have 3 bits of the field's 4 */
		.stride = stride + 1,
		.before = before,
		.after = after,
	};
}

struct pdp_shape pdp_decode_shape(const struct npusim *sim, const struct npusim_regs *r)
{
	struct pdp_shape s = {
		.x = decode_axis(SIM_FIELD(r, PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH),
				 SIM_FIELD(r, PDP, D_DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH),
				 SIM_FIELD(r, PDP, D_POOLING_KERNEL_CFG, KERNEL_WIDTH),
				 SIM_FIELD(r, PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH),
				 SIM_FIELD(r, PDP, D_POOLING_PADDING_CFG, PAD_LEFT),
				 SIM_FIELD(r, PDP, D_POOLING_PADDING_CFG, PAD_RIGHT)),
		.y = decode_axis(SIM_FIELD(r, PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT),
				 SIM_FIELD(r, PDP, D_DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT),
				 SIM_FIELD(r, PDP, D_POOLING_KERNEL_CFG, KERNEL_HEIGHT),
				 SIM_FIELD(r, PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT),
				 SIM_FIELD(r, PDP, D_POOLING_PADDING_CFG, PAD_TOP),
				 SIM_FIELD(r, PDP, D_POOLING_PADDING_CFG, PAD_BOTTOM)),
		.surfaces = SIM_FIELD(r, PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL) /
				    sim_config(sim)->atom +
			    1,
		.parts = SIM_FIELD(r, PDP, D_OPERATION_MODE_CFG, SPLIT_NUM) + 1,
		.first = { SIM_FIELD(r, PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST) + 1,
			   SIM_FIELD(r, PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST) + 1 },
		.middle = { SIM_FIELD(r, PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_MID) + 1,
			    SIM_FIELD(r, PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_MID) + 1 },
		.last = { SIM_FIELD(r, PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST) + 1,
			  SIM_FIELD(r, PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST) + 1 },
	};

	return s;
}

struct pdp_part pdp_first_part(const struct pdp_shape *shape)
{
	if (shape->parts == 1)
		return (struct pdp_part){ .axis = shape->x };
	return (struct pdp_part){
		.axis = { .in = shape->first.in,
			  .out = shape->first.out,
			  .kernel = shape->x.kernel,
			  .stride = shape->x.stride,
			  .before = shape->x.before },
	};
}

/* A part begins where its first window does: before the end of the last, or after it. */
struct pdp_part pdp_next_part(const struct pdp_shape *shape, const struct pdp_part *part)
{
	u32 index = part->index + 1;
	bool last = index == shape->parts - 1;
	const struct pdp_width *w = last ? &shape->last : &shape->middle;
	s32 overlap = (s32)shape->x.kernel - (s32)shape->x.stride;
	u32 step = part->index ? shape->middle.in : shape->first.in;

	return (struct pdp_part){
		.index = index,
		.start_in = part->start_in + (s32)step - (part->index ? 0 : overlap),
		.start_out = part->start_out + part->axis.out,
		.axis = { .in = (u32)max((s32)w->in + overlap, 0),
			  .out = w->out,
			  .kernel = shape->x.kernel,
			  .stride = shape->x.stride,
			  .after = last ? shape->x.after : 0 },
	};
}

u32 pdp_windows(const struct pdp_axis *axis)
{
	u32 padded = axis->in + axis->before + axis->after;

	return padded < axis->kernel ? 0 : (padded - axis->kernel) / axis->stride + 1;
}

/* Rows that are under way at once, which share the line buffer's eight banks. */
static u32 line_buffer_width(const struct pdp_axis *y)
{
	u32 lines = DIV_ROUND_UP(y->kernel, y->stride);

	if (lines == 1)
		return 128;
	if (lines == 2)
		return 64;
	return lines <= 4 ? 32 : 16;
}

static s32 sext(s32 v, u32 bits)
{
	return sim_sext((u32)v, bits);
}

/* The valid elements of a window: [*from, *to). */
static void window(const struct pdp_axis *axis, u32 index, u32 *from, u32 *to)
{
	s32 start = (s32)(index * axis->stride) - (s32)axis->before;
	s32 end = min(start + (s32)axis->kernel, (s32)axis->in);

	*from = (u32)max(start, 0);
	*to = (u32)max(end, (s32)*from);
}

/* What an average of @columns instead of a whole kernel lacks; sums keep 11 bits. */
static void pad_columns(const struct pdp *pdp, u32 columns, s16 *atom)
{
	s32 pad = pdp->pad_table[(pdp->shape.x.kernel - columns) & 7];
	u32 lanes = sim_config(pdp->sim)->atom, i;

	if (pdp->method == PDP_AVERAGE && columns != pdp->shape.x.kernel)
		for (i = 0; i < lanes; i++)
			atom[i] = (s16)sext(atom[i] + pad, 11);
}

/* One window along the width for all lanes. */
static void pool_width(const struct pdp *pdp, const struct pdp_axis *axis, u32 index, s16 *out)
{
	u32 lanes = sim_config(pdp->sim)->atom, from, to, x, i;

	window(axis, index, &from, &to);
	for (i = 0; i < lanes; i++)
		out[i] = from < to ? pdp->line[(size_t)from * lanes + i] : 0;
	for (x = from + 1; x < to; x++)
		for (i = 0; i < lanes; i++)
			out[i] = pdp_combine(pdp->method, out[i], pdp->line[(size_t)x * lanes + i]);
	pad_columns(pdp, to - from, out);
}

/*
 * v * recip >> 16, ties away from zero, cut to @bits; a positive value loses the bit below
 * the sign before the carry of the rounding comes in.  @v times @recip has @width bits.
 */
static s32 scale(s32 v, u32 recip, u32 width, u32 bits)
{
	s64 product = (s64)((u64)((s64)v * recip) << (64 - width)) >> (64 - width);
	u32 fraction = (u32)product & 0xffff;
	s32 whole = (s32)(product >> 16);

	if (product < 0)
		return sext(whole + (fraction > 0x8000), bits);
	return sext((whole & ((1 << (bits - 1)) - 1)) + (fraction >> 15), bits);
}

static s8 average(const struct pdp *pdp, s32 sum)
{
	s32 v = scale(sum, pdp->recip_width, 31, 11);

	return (s8)scale(v, pdp->recip_height, 28, 8);
}

/* What @missing rows add to an average. */
static s32 row_padding(const struct pdp *pdp, u32 missing)
{
	return sext(pdp->pad_table[missing & 7] * (s32)pdp->shape.x.kernel, 14);
}

static s8 finish(const struct pdp *pdp, s16 v, s32 padding)
{
	return pdp->method == PDP_AVERAGE ? average(pdp, v + padding) : (s8)v;
}

/* One row of the output from rows that are pooled along the width. */
static void pool_height(const struct pdp *pdp, u32 index, u32 elements)
{
	const struct pdp_axis *axis = &pdp->shape.y;
	u32 from, to, y, i;
	s32 padding;

	window(axis, index, &from, &to);
	padding = row_padding(pdp, axis->kernel - (to - from));
	for (i = 0; i < elements; i++) {
		s16 v = from < to ? pdp->rows[from % KERNEL_MAX][i] : 0;

		for (y = from + 1; y < to; y++)
			v = pdp_combine(pdp->method, v, pdp->rows[y % KERNEL_MAX][i]);
		pdp->results[i] = v;
		pdp->out[i] = finish(pdp, v, padding);
	}
	pdp_left_keep(pdp->sim, &pdp->shape, index, pdp->results);
}

static void write_row(const struct pdp *pdp, const struct pdp_part *part, u32 surface, u32 y)
{
	u32 lanes = sim_config(pdp->sim)->atom;
	u64 address = pdp->destination + (u64)part->start_out * lanes +
		      surface * pdp->destination_surface + y * pdp->destination_line;

	sim_dma_write(pdp->sim, NPUSIM_PDP_WRITE, sim_beat_address(pdp->sim, address), pdp->out,
		      (size_t)part->axis.out * lanes);
}

static void read_row(const struct pdp *pdp, const struct sim_cube8 *flying,
		     const struct pdp_part *part, u32 surface, u32 y)
{
	u32 lanes = sim_config(pdp->sim)->atom;
	size_t bytes = (size_t)part->axis.in * lanes;
	u64 address = pdp->source + (u64)(s64)part->start_in * lanes +
		      surface * pdp->source_surface + y * pdp->source_line;

	if (!pdp->memory)
		memcpy(pdp->line, flying->data + ((size_t)surface * pdp->shape.y.in + y) * bytes,
		       bytes);
	else
		sim_dma_read(pdp->sim, NPUSIM_PDP_READ, sim_beat_address(pdp->sim, address),
			     pdp->line, bytes);
}

static void run_surface(const struct pdp *pdp, const struct sim_cube8 *flying,
			const struct pdp_part *part, u32 surface)
{
	const struct pdp_axis *axis = &pdp->shape.y;
	u32 lanes = sim_config(pdp->sim)->atom, y, x, next = 0, from, to;

	for (y = 0; y < axis->in; y++) {
		read_row(pdp, flying, part, surface, y);
		for (x = 0; x < part->axis.out; x++)
			pool_width(pdp, &part->axis, x,
				   pdp->rows[y % KERNEL_MAX] + (size_t)x * lanes);
		for (; next < axis->out; next++) {
			window(axis, next, &from, &to);
			if (to > y + 1 || (from == to && y + 1 < axis->in))
				break;
			pool_height(pdp, next, part->axis.out * lanes);
			write_row(pdp, part, surface, next);
		}
	}
}

/* The cube in parts, each with all surfaces. */
static void run_parts(const struct pdp *pdp, const struct sim_cube8 *flying)
{
	struct pdp_part part = pdp_first_part(&pdp->shape);
	u32 surface;

	for (;;) {
		for (surface = 0; surface < pdp->shape.surfaces; surface++)
			run_surface(pdp, flying, &part, surface);
		if (part.index + 1 == pdp->shape.parts)
			break;
		part = pdp_next_part(&pdp->shape, &part);
	}
}

/**
 * struct late - an operation that began with a result of the one before
 * @done: atoms of results that have come
 */
struct late {
	const struct pdp *pdp;
	struct pdp_line_buffer buffer;
	struct pdp_part part;
	u64 done, wanted;
};

static void take_late(struct late *l, const s16 *atom)
{
	const struct pdp *pdp = l->pdp;
	u32 lanes = sim_config(pdp->sim)->atom, width = pdp->shape.x.out, missing, i;
	u32 column = (u32)(l->done % width);
	u64 row = l->done / width;
	s16 result[SIM_PDP_LANES];

	if (!pdp_line_buffer_take(&l->buffer, pdp->method, atom, result, &missing) ||
	    l->done == l->wanted)
		return;
	for (i = 0; i < lanes; i++)
		pdp->out[column * lanes + i] = finish(pdp, result[i], row_padding(pdp, missing));
	l->done++;
	if (column == width - 1)
		write_row(pdp, &l->part, (u32)(row / pdp->shape.y.out),
			  (u32)(row % pdp->shape.y.out));
}

static int run_late(const struct pdp *pdp, const struct sim_cube8 *flying)
{
	struct late l = { .pdp = pdp, .part = pdp_first_part(&pdp->shape) };
	struct sim_pdp_left *left = sim_pdp_left(pdp->sim);
	u32 surface, y, x;

	l.wanted = (u64)pdp->shape.x.out * pdp->shape.y.out * pdp->shape.surfaces;
	pdp_line_buffer_open(&l.buffer, pdp->sim, &pdp->shape);
	/* It has been pooled, but is padded by this operation's rules. */
	pad_columns(pdp, left->columns, left->atom);
	take_late(&l, left->atom);
	for (surface = 0; surface < pdp->shape.surfaces; surface++)
		for (y = 0; y < pdp->shape.y.in; y++) {
			read_row(pdp, flying, &l.part, surface, y);
			for (x = 0; x < pdp->shape.x.out; x++) {
				pool_width(pdp, &l.part.axis, x, pdp->rows[0]);
				take_late(&l, pdp->rows[0]);
			}
		}
	if (l.done < l.wanted)
		return sim_hang(pdp->sim, "PDP",
				"a result of the operation before got in, and %llu are missing",
				(unsigned long long)(l.wanted - l.done));
	return 0;
}

static int check_part(const struct pdp *pdp, const struct pdp_part *part)
{
	u32 limit = line_buffer_width(&pdp->shape.y);

	if (part->axis.in == 0 || part->start_in < 0)
		return sim_hang(pdp->sim, "PDP", "part %u of the split has no input", part->index);
	if (pdp_windows(&part->axis) < part->axis.out)
		return sim_hang(pdp->sim, "PDP", "%u columns give %u windows, not %u",
				part->axis.in, pdp_windows(&part->axis), part->axis.out);
	if (pdp->shape.y.kernel > 1 && part->axis.out > limit)
		return sim_hang(pdp->sim, "PDP",
				"%u columns of output do not fit the line buffer, %u do",
				part->axis.out, limit);
	return 0;
}

/* Look at all parts first: an operation that hangs late would still have written. */
static int check(const struct pdp *pdp, const struct npusim_regs *rdma,
		 const struct sim_cube8 *flying)
{
	const struct pdp_shape *s = &pdp->shape;
	struct pdp_part part = pdp_first_part(s);
	u64 atoms = 0;
	u32 i;

	if (pdp_windows(&s->y) < s->y.out)
		return sim_hang(pdp->sim, "PDP", "%u rows give %u windows, not %u", s->y.in,
				pdp_windows(&s->y), s->y.out);
	for (i = 0;; i++) {
		int err = check_part(pdp, &part);

		if (err)
			return err;
		atoms += (u64)part.axis.in * s->y.in * s->surfaces;
		if (i + 1 == s->parts)
			break;
		part = pdp_next_part(s, &part);
	}
	if (atoms > ATOMS_MAX)
		return sim_hang(pdp->sim, "PDP",
				"a cube of %llu atoms is more than the model takes",
				(unsigned long long)atoms);
	if (!pdp->memory && s->parts > 1)
		return sim_hang(pdp->sim, "PDP", "input from SDP cannot be split");
	if (!pdp->memory && (!flying || flying->atoms < atoms))
		return sim_hang(pdp->sim, "PDP", "its input ends after %llu of %llu atoms",
				(unsigned long long)(flying ? flying->atoms : 0),
				(unsigned long long)atoms);
	if (pdp->memory && SIM_FIELD(rdma, PDP_RDMA, D_FLYING_MODE, FLYING_MODE) == 0)
		return sim_hang(pdp->sim, "PDP", "PDP_RDMA does not read the input");
	return 0;
}

/* PDP_RDMA has its own copy of the cube's shape; the two must agree. */
static int check_rdma(const struct pdp *pdp, const struct npusim_regs *pdp_regs,
		      const struct npusim_regs *r)
{
	const struct pdp_shape *s = &pdp->shape;

	if (SIM_FIELD(r, PDP_RDMA, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH) + 1 != s->x.in ||
	    SIM_FIELD(r, PDP_RDMA, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT) + 1 != s->y.in ||
	    SIM_FIELD(r, PDP_RDMA, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL) /
				    sim_config(pdp->sim)->atom +
			    1 !=
		    s->surfaces ||
	    SIM_FIELD(r, PDP_RDMA, D_OPERATION_MODE_CFG, SPLIT_NUM) + 1 != s->parts ||
	    (s->parts > 1 && SIM_REG(r, PDP_RDMA, D_PARTIAL_WIDTH_IN) !=
				     SIM_REG(pdp_regs, PDP, D_PARTIAL_WIDTH_IN)))
		return sim_hang(pdp->sim, "PDP", "PDP_RDMA reads another cube than PDP expects");
	return 0;
}

static int alloc_rows(struct pdp *pdp)
{
	const struct pdp_shape *s = &pdp->shape;
	size_t lanes = sim_config(pdp->sim)->atom;
	size_t in = max(s->x.in, max(s->first.in, max(s->middle.in, s->last.in))) + KERNEL_MAX;
	size_t out = max(s->x.out, max(s->first.out, max(s->middle.out, s->last.out)));
	u32 i;

	pdp->line = malloc(in * lanes);
	pdp->out = malloc(out * lanes);
	pdp->results = malloc(out * lanes * sizeof(*pdp->results));
	for (i = 0; i < KERNEL_MAX; i++) {
		pdp->rows[i] = malloc(out * lanes * sizeof(*pdp->rows[i]));
		if (!pdp->rows[i])
			return -ENOMEM;
	}
	return pdp->line && pdp->out && pdp->results ? 0 : -ENOMEM;
}

static void release(struct pdp *pdp)
{
	u32 i;

	for (i = 0; i < KERNEL_MAX; i++)
		free(pdp->rows[i]);
	free(pdp->line);
	free(pdp->results);
	free(pdp->out);
}

static void decode(struct pdp *pdp, struct npusim *sim, const struct npusim_regs *r,
		   const struct npusim_regs *rdma)
{
	const struct npusim_regs none = { .group = 0 };

	if (!rdma)
		rdma = &none;
	*pdp = (struct pdp){
		.sim = sim,
		.shape = pdp_decode_shape(sim, r),
		.method = SIM_FIELD(r, PDP, D_OPERATION_MODE_CFG, POOLING_METHOD),
		.memory = sim_pdp_needs_rdma(sim, r),
		.recip_width = SIM_FIELD(r, PDP, D_RECIP_KERNEL_WIDTH, RECIP_KERNEL_WIDTH),
		.recip_height = SIM_FIELD(r, PDP, D_RECIP_KERNEL_HEIGHT, RECIP_KERNEL_HEIGHT),
		.pad_table = {
			0,
			SIM_SFIELD(r, PDP, D_POOLING_PADDING_VALUE_1_CFG, PAD_VALUE_1X),
			SIM_SFIELD(r, PDP, D_POOLING_PADDING_VALUE_2_CFG, PAD_VALUE_2X),
			SIM_SFIELD(r, PDP, D_POOLING_PADDING_VALUE_3_CFG, PAD_VALUE_3X),
			SIM_SFIELD(r, PDP, D_POOLING_PADDING_VALUE_4_CFG, PAD_VALUE_4X),
			SIM_SFIELD(r, PDP, D_POOLING_PADDING_VALUE_5_CFG, PAD_VALUE_5X),
			SIM_SFIELD(r, PDP, D_POOLING_PADDING_VALUE_6_CFG, PAD_VALUE_6X),
			SIM_SFIELD(r, PDP, D_POOLING_PADDING_VALUE_7_CFG, PAD_VALUE_7X),
		},
		.source = (u64)SIM_REG(rdma, PDP_RDMA, D_SRC_BASE_ADDR_HIGH) << 32 |
			  SIM_REG(rdma, PDP_RDMA, D_SRC_BASE_ADDR_LOW),
		.source_line = SIM_REG(rdma, PDP_RDMA, D_SRC_LINE_STRIDE),
		.source_surface = SIM_REG(rdma, PDP_RDMA, D_SRC_SURFACE_STRIDE),
		.destination = (u64)SIM_REG(r, PDP, D_DST_BASE_ADDR_HIGH) << 32 |
			       SIM_REG(r, PDP, D_DST_BASE_ADDR_LOW),
		.destination_line = SIM_REG(r, PDP, D_DST_LINE_STRIDE),
		.destination_surface = SIM_REG(r, PDP, D_DST_SURFACE_STRIDE),
	};
}

bool sim_pdp_needs_rdma(const struct npusim *sim, const struct npusim_regs *pdp)
{
	return SIM_FIELD(pdp, PDP, D_OPERATION_MODE_CFG, FLYING_MODE);
}

int sim_pdp_run(struct npusim *sim, const struct npusim_regs *regs, const struct npusim_regs *rdma,
		const struct sim_cube8 *flying, struct sim_task_stats *stats)
{
	bool late = pdp_left_take(sim);
	struct pdp pdp;
	int err;

	decode(&pdp, sim, regs, rdma);
	err = check(&pdp, rdma, flying);
	if (!err && pdp.memory)
		err = check_rdma(&pdp, regs, rdma);
	if (!err)
		err = alloc_rows(&pdp);
	if (!err && late && pdp.shape.parts == 1) {
		err = run_late(&pdp, flying);
	} else if (!err) {
		run_parts(&pdp, flying);
		if (pdp.memory)
			pdp_left_end(sim, &pdp.shape,
				     npusim_now(sim) + sim_pdp_cycles(sim, regs, rdma, 0),
				     pdp.rows[(pdp.shape.y.in - 1) % KERNEL_MAX]);
	}
	release(&pdp);
	return err;
}
