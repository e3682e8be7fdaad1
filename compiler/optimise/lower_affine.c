// SPDX-License-Identifier: MIT
/* Sums and products with constants of the channels, slopes of negative values, products of two values. */
#include "binary.h"
#include "requant.h"

/* Operand tables of 16 bits start where those of convolutions do. */
#define TABLE_ALIGN 64u

/* Rounding may be off by so much of a unit of the output. */
#define TOLERANCE 0.45

int npu_opt_add_operands(struct npu_opt *opt, const s16 *operand, u32 count, u64 *table)
{
	u32 padded = DIV_ROUND_UP(count, (u32)opt->config->atom) * opt->config->atom;
	u8 *memory = npu_opt_add_weights(opt, (u64)padded * sizeof(*operand), TABLE_ALIGN, table);

	if (!memory)
		return npu_opt_nomem(opt);
	memcpy(memory, operand, count * sizeof(*operand));
	return 0;
}

/* Numbers and operands for each channel, in one allocation. */
struct channels {
	u32 count;
	double *multiplier, *offset;
	s16 *mul, *add;
};

static int make_channels(struct npu_opt *opt, u32 op, struct channels *channels)
{
	struct npu_arena *arena = &opt->net->arena;
	u32 nhwc[4];

	npu_tensor_nhwc(npu_op_output(opt->graph, &opt->graph->op[op]), nhwc);
	channels->count = nhwc[3];
	channels->multiplier = npu_arena_array(arena, channels->count, 2 * sizeof(double));
	channels->mul = npu_arena_array(arena, channels->count, 2 * sizeof(s16));
	if (!channels->multiplier || !channels->mul)
		return npu_opt_nomem(opt);
	channels->offset = channels->multiplier + channels->count;
	channels->add = channels->mul + channels->count;
	return 0;
}

/* in * multiplier + offset of each channel. */
static void set_numbers(const struct npu_graph *graph, const struct npu_op *op,
			const struct npu_binary *binary, struct channels *channels)
{
	const struct npu_tensor *in = npu_op_input(graph, op, binary->main);
	const struct npu_tensor *constant = npu_op_input(graph, op, binary->other);
	double out_scale = npu_op_output(graph, op)->quant.scale[0];
	double scale = in->quant.scale[0] / out_scale;
	bool sub = op->kind == NPU_OP_SUB;
	u32 c;

	for (c = 0; c < channels->count; c++) {
		double real = npu_constant_at(constant, c) * (double)constant->quant.scale[0];

		if (op->kind == NPU_OP_MUL) {
			channels->multiplier[c] = scale * real;
			channels->offset[c] = 0;
			continue;
		}
		channels->multiplier[c] = sub && binary->main == 1 ? -scale : scale;
		channels->offset[c] = (sub && binary->other == 1 ? -real : real) / out_scale;
	}
}

static int add_tables(struct npu_opt *opt, struct npu_sdp *sdp, const struct channels *channels)
{
	int error = 0;

	if (sdp->bs.mul_from == NPU_OPERAND_KERNEL)
		error = npu_opt_add_operands(opt, channels->mul, channels->count, &sdp->bs.table);
	if (!error && sdp->bn.alu_from == NPU_OPERAND_KERNEL)
		error = npu_opt_add_operands(opt, channels->add, channels->count, &sdp->bn.table);
	if (!error && sdp->bn.mul_from == NPU_OPERAND_KERNEL)
		error = npu_opt_add_operands(opt, channels->mul, channels->count, &sdp->bn.table);
	return error;
}

int npu_lower_affine(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	struct npu_affine affine = { .zero_out = npu_stored_zero(npu_op_output(graph, o)) };
	struct channels channels;
	struct npu_binary binary;
	struct npu_layer *layer;
	struct npu_sdp sdp;
	double worst;
	int error = make_channels(opt, op, &channels);

	if (error)
		return error;
	npu_binary_of(graph, o, &binary);
	set_numbers(graph, o, &binary, &channels);
	affine.multiplier = channels.multiplier;
	affine.offset = channels.offset;
	affine.count = channels.count;
	affine.zero_in = npu_stored_zero(npu_op_input(graph, o, binary.main));
	affine.mul = channels.mul;
	affine.add = channels.add;
	worst = npu_requant_affine(&sdp, &affine);
	if (worst < 0 || worst > TOLERANCE)
		return -ERANGE;
	error = add_tables(opt, &sdp, &channels);
	if (error)
		return error;
	layer = npu_opt_add_sdp(opt, op, binary.main);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->sdp = sdp;
	return npu_opt_clamp(opt, op);
}

int npu_lower_slope(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	const struct npu_tensor *in = npu_op_input(graph, o, 0), *out = npu_op_output(graph, o);
	const struct npu_tensor *slope = npu_op_input(graph, o, 1);
	struct channels channels;
	struct npu_layer *layer;
	struct npu_sdp sdp;
	double worst;
	u32 c;
	int error = make_channels(opt, op, &channels);

	if (error)
		return error;
	for (c = 0; c < channels.count; c++)
		channels.multiplier[c] =
			slope ? npu_constant_at(slope, c) * (double)slope->quant.scale[0]
			      : (double)o->alpha;
	worst = npu_requant_prelu(&sdp, (double)in->quant.scale[0] / out->quant.scale[0],
				  channels.multiplier, channels.count, npu_stored_zero(in),
				  npu_stored_zero(out), channels.mul);
	if (worst < 0 || worst > TOLERANCE)
		return slope ? -ERANGE : npu_lower_table(opt, op);
	error = add_tables(opt, &sdp, &channels);
	if (error)
		return error;
	layer = npu_opt_add_sdp(opt, op, 0);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->sdp = sdp;
	return npu_opt_clamp(opt, op);
}

int npu_lower_mul(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	const struct npu_tensor *out = npu_op_output(graph, o), *a, *b;
	struct npu_binary binary;
	struct npu_layer *layer;
	struct npu_sdp sdp;
	double worst;

	npu_binary_of(graph, o, &binary);
	if (binary.constant)
		return npu_lower_affine(opt, op);
	/* The operand without a zero point is the one that BS can multiply with. */
	if (binary.from == NPU_OPERAND_ELEMENT &&
	    !npu_stored_zero(npu_op_input(graph, o, binary.main))) {
		u32 main = binary.main;

		binary.main = binary.other;
		binary.other = main;
	}
	a = npu_op_input(graph, o, binary.main);
	b = npu_op_input(graph, o, binary.other);
	worst = npu_requant_product(
		&sdp, (double)a->quant.scale[0] * b->quant.scale[0] / out->quant.scale[0],
		npu_stored_zero(a), npu_stored_zero(b), npu_stored_zero(out), binary.from,
		opt->config->features & NVDLA_HAS_EW);
	if (worst < 0 || worst > TOLERANCE)
		return -ERANGE;
	layer = npu_opt_add_sdp(opt, op, binary.main);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->sdp = sdp;
	if (layer->sdp.ew.mul_from != NPU_OPERAND_NONE)
		layer->sdp.ew.value = npu_opt_value(opt, o->input[binary.other]);
	else
		layer->sdp.bs.value = npu_opt_value(opt, o->input[binary.other]);
	return npu_opt_clamp(opt, op);
}
