// SPDX-License-Identifier: MIT
/*
 * Local response normalisation by CDP.  With x an element minus its zero point, and S the sum of the
 * squares of the x around it, the output is x * f(S) in other units, where
 *
 *	f(S) = (gamma + alpha * scale^2 * S)^-beta
 *
 * falls (or rises) without bends.  CDP asks its two tables for f(S) in fixed point: LO reaches as far
 * as S does in 256 equal steps, LE has 64 smaller ones in front, where the curve is steepest; which
 * ones is tried out.
 */
#include "binary.h"

#include <math.h>

/* Tables and conversions may be off by so much of a unit of the output, so that it is off by one at most. */
#define TOLERANCE 0.45

#define FACTOR_BITS 16 /* an entry of a table, signed */
#define FRACTION_BITS 16 /* between two entries */
#define SCALE_BITS 15 /* of the output conversion, without its sign */

/* Places between two entries where a table is compared with the curve. */
#define PROBES 8u

/**
 * struct lrn - an operator in the units of CDP
 * @gain: of alpha * S: scale^2
 * @most: largest |x|
 * @top: largest S
 * @ratio: units of the output for one of x
 * @zero: of the output
 */
struct lrn {
	double gamma, alpha, beta, gain;
	u32 most, top;
	double ratio;
	s32 zero;
};

static struct lrn lrn_of(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(opt->graph, op, 0);
	const struct npu_tensor *out = npu_op_output(opt->graph, op);
	double scale = in->quant.scale[0];
	s32 zero = npu_stored_zero(in);
	struct lrn lrn = {
		.gamma = (double)op->gamma,
		.alpha = (double)op->alpha,
		.beta = (double)op->beta,
		.gain = scale * scale,
		.most = (u32)max(127 - zero, zero + 128),
		.ratio = scale / (double)out->quant.scale[0],
		.zero = npu_stored_zero(out),
	};

	lrn.top = lrn.most * lrn.most * op->size;
	return lrn;
}

static double base(const struct lrn *lrn, double sum)
{
	return lrn->gamma + lrn->alpha * lrn->gain * sum;
}

static double curve(const struct lrn *lrn, double sum)
{
	return pow(base(lrn, sum), -lrn->beta);
}

/**
 * struct tables - what CDP is given
 * @cdp: all but where the entries lie
 * @unit: of the entries: f(S) = entry * unit
 */
struct tables {
	struct npu_cdp cdp;
	double unit;
	s16 entry[NPU_CDP_ENTRIES];
};

/* The finest unit in which the curve's ends fit. */
static bool set_unit(const struct lrn *lrn, struct tables *tables)
{
	double peak = fmax(curve(lrn, 0), curve(lrn, lrn->top));
	int exponent;

	if (!(base(lrn, 0) > 0 && base(lrn, lrn->top) > 0) || !isfinite(peak) || peak <= 0)
		return false;
	frexp(peak / (INT16_MAX + 0.5), &exponent);
	tables->unit = ldexp(1, exponent);
	return true;
}

/* (y - offset) * scale >> shift is y * unit * ratio + zero. */
static bool set_conversion(const struct lrn *lrn, struct tables *tables)
{
	double multiplier = tables->unit * lrn->ratio, offset;
	struct npu_cdp *cdp = &tables->cdp;
	int exponent, shift;
	double scale = round(ldexp(frexp(multiplier, &exponent), SCALE_BITS));

	if (!isfinite(multiplier) || multiplier <= 0)
		return false;
	if (scale > INT16_MAX) {
		scale /= 2;
		exponent++;
	}
	shift = SCALE_BITS - exponent;
	offset = round(ldexp(-lrn->zero, shift) / scale);
	if (shift < 0 || shift > (int)NPU_CDP_MAX_CVT_SHIFT || offset < -NPU_CDP_MAX_OFFSET ||
	    offset >= NPU_CDP_MAX_OFFSET)
		return false;
	cdp->cvt_scale = (s32)scale;
	cdp->cvt_shift = (u32)shift;
	cdp->cvt_offset = (s32)offset;
	return true;
}

static void fill(const struct lrn *lrn, double unit, u32 shift, u32 count, s16 *entry)
{
	u32 i;

	/* Behind the largest sum the curve may leave the range, or end. */
	for (i = 0; i < count; i++)
		entry[i] = (s16)fmin(round(curve(lrn, i << shift) / unit), INT16_MAX);
}

static s32 answer(const s16 *entry, u32 shift, u32 sum)
{
	u32 index = sum >> shift, rest = sum & ((1u << shift) - 1);
	s64 slope = (s64)entry[index + 1] - entry[index];
	s64 product = slope * ((s64)rest << FRACTION_BITS >> shift);
	s64 half = (s64)1 << (FRACTION_BITS - 1);

	/* Halves go away from zero. */
	return entry[index] + (s32)(product < 0 ? -((half - product) >> FRACTION_BITS)
						: (product + half) >> FRACTION_BITS);
}

/* How far the output is off at most, at the sum @sum: the element is no larger than its root. */
static double error_at(const struct lrn *lrn, const struct tables *tables, s32 factor, u32 sum)
{
	const struct npu_cdp *cdp = &tables->cdp;
	double x = fmin(sqrt(sum), lrn->most), want = curve(lrn, sum) * lrn->ratio;
	double made = ldexp(cdp->cvt_scale, -(int)cdp->cvt_shift);
	double offset = fabs(cdp->cvt_offset * made + lrn->zero);

	/* What is further from zero than the whole range saturates, whichever it is. */
	x = fmin(x, 256 / fmin(want, factor * made));
	return x * fabs(factor * made - want) + offset;
}

/* The worst between the entries from @first on. */
static double worst_of(const struct lrn *lrn, const struct tables *tables, const s16 *entry,
		       u32 shift, u32 first, u32 count)
{
	double worst = 0;
	u32 i, probe;

	for (i = first; i < count - 1; i++)
		for (probe = 0; probe < PROBES; probe++) {
			u32 sum = (i << shift) + ((probe << shift) / PROBES);

			if (sum > lrn->top)
				return worst;
			worst = fmax(worst, error_at(lrn, tables, answer(entry, shift, sum), sum));
		}
	return worst;
}

/* The steps of LE that leave the smallest error; LE of the largest ones makes LO needless. */
static double choose_tables(const struct lrn *lrn, struct tables *tables)
{
	struct npu_cdp *cdp = &tables->cdp;
	s16 *le = tables->entry, *lo = le + NPU_CDP_LE_ENTRIES;
	double best = INFINITY, worst;
	u32 shift, chosen = 0;

	while ((NPU_CDP_LO_ENTRIES - 1) << cdp->lo_shift <= lrn->top)
		cdp->lo_shift++;
	fill(lrn, tables->unit, cdp->lo_shift, NPU_CDP_LO_ENTRIES, lo);
	for (shift = 0; shift <= cdp->lo_shift; shift++) {
		u32 behind = (NPU_CDP_LE_ENTRIES - 1) >> (cdp->lo_shift - shift);

		fill(lrn, tables->unit, shift, NPU_CDP_LE_ENTRIES, le);
		worst = fmax(worst_of(lrn, tables, le, shift, 0, NPU_CDP_LE_ENTRIES),
			     worst_of(lrn, tables, lo, cdp->lo_shift, behind, NPU_CDP_LO_ENTRIES));
		if (worst < best) {
			best = worst;
			chosen = shift;
		}
	}
	cdp->le_shift = chosen;
	fill(lrn, tables->unit, chosen, NPU_CDP_LE_ENTRIES, le);
	return best;
}

int npu_lower_lrn(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct lrn lrn = lrn_of(opt, o);
	struct tables tables = {
		.cdp = { .sum = o->size, .zero = npu_stored_zero(npu_op_input(opt->graph, o, 0)) }
	};
	struct npu_layer *layer;
	int error;

	if (o->size == 1)
		return npu_lower_table(opt, op);
	if (!set_unit(&lrn, &tables) || !set_conversion(&lrn, &tables) ||
	    !(choose_tables(&lrn, &tables) <= TOLERANCE))
		return -EDOM;
	error = npu_opt_add_operands(opt, tables.entry, NPU_CDP_ENTRIES, &tables.cdp.lut);
	if (error)
		return error;
	layer = npu_opt_add_cdp(opt, op);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->cdp = tables.cdp;
	return npu_opt_clamp(opt, op);
}
