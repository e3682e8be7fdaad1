// SPDX-License-Identifier: MIT
/* The element-wise unit of SDP (EW, also called Y): multiply, ALU, look-up tables. */
#include "sdp_internal.h"

/* Bits of the fraction between two table entries. */
#define FRACTION_BITS 35

static s64 saturate(s64 v, u32 bits)
{
	s64 high = ((s64)1 << (bits - 1)) - 1;

	if (v > high)
		return high;
	return v < -high - 1 ? -high - 1 : v;
}

s64 sdp_shift_round(s64 v, u32 shift, u32 width, u32 bits)
{
	u64 magnitude, half;

	if (shift >= width || shift >= 64)
		return 0;
	if (shift) {
		magnitude = v < 0 ? -(u64)v : (u64)v;
		half = 1ull << (shift - 1);
		magnitude = (magnitude >> shift) + ((magnitude & half) != 0);
		v = v < 0 ? -(s64)magnitude : (s64)magnitude;
	}
	return saturate(v, bits);
}

void sdp_convert_row(const struct sdp_convert *convert, const s16 *in, s32 *out, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		s64 v = in[i];

		if (!convert->bypass)
			v = sdp_shift_round((v - convert->offset) * convert->scale, convert->shift,
					    49, 32);
		out[i] = (s32)v;
	}
}

/* Where a value falls in a table. */
struct place {
	u32 index;
	u64 fraction;
	bool under;
	bool over;
};

/* Entries at start + (1 << (index_offset + i)). */
static struct place place_exponent(const struct sdp_table *table, s32 x)
{
	struct place p = { .under = true };
	u32 distance, log2;
	s32 index;

	if (x <= table->start)
		return p;
	distance = (u32)x - (u32)table->start;
	log2 = 31 - (u32)__builtin_clz(distance);
	index = (s32)log2 - table->index_offset;
	if (index < 0)
		return p;
	p.under = false;
	p.fraction = (u64)(distance & ((1u << log2) - 1)) << (FRACTION_BITS - log2);
	p.over = (u32)index >= table->entries - 1;
	p.index = p.over ? table->entries - 1 : (u32)index;
	return p;
}

/* Entries at start + (i << index_select); a negative select means steps below one. */
static struct place place_linear(const struct sdp_table *table, s32 x)
{
	struct place p = { .under = x <= table->start };
	s32 select = table->index_select;
	u64 distance, index;

	if (p.under)
		return p;
	distance = (u32)x - (u32)table->start;
	if (select < 0) {
		index = -select >= 9 ? (distance ? 511 : 0) : distance << -select;
	} else if (select <= FRACTION_BITS) {
		index = distance >> select;
		p.fraction = (distance & ((1ull << select) - 1)) << (FRACTION_BITS - select);
	} else {
		index = 0;
		p.fraction = select - FRACTION_BITS > 31 ? 0 : distance >> (select - FRACTION_BITS);
	}
	p.over = index >= table->entries - 1;
	p.index = p.over ? table->entries - 1 : (u32)index;
	return p;
}

static struct place place_in(const struct sdp_table *table, s32 x)
{
	return table->exponent ? place_exponent(table, x) : place_linear(table, x);
}

/* A right shift by -16..15 bits, saturated to 32. */
static s64 slope_shift(s64 v, s32 shift)
{
	if (shift >= 0)
		return sdp_shift_round(v, (u32)shift, 50, 32);
	v = saturate(v, 47); /* more would saturate anyway, and this cannot overflow below */
	return saturate(v * ((s64)1 << -shift), 32);
}

/* The line through an end of the table. */
static s32 extrapolate(const struct sdp_table *table, const struct place *p, s32 x)
{
	const struct sdp_slope *slope = p->under ? &table->under : &table->over;
	s64 from = p->under ? table->start : table->end;

	if (p->under && table->exponent && table->index_offset >= 0 && table->index_offset < 32)
		from += (s64)1 << table->index_offset;
	return (s32)saturate(
		table->entry[p->index] + slope_shift((x - from) * slope->scale, slope->shift), 32);
}

static s32 interpolate(const struct sdp_table *table, const struct place *p)
{
	s64 rest = ((s64)1 << FRACTION_BITS) - (s64)p->fraction;
	s64 sum = table->entry[p->index] * rest + table->entry[p->index + 1] * (s64)p->fraction;

	return (s32)sdp_shift_round(sum, FRACTION_BITS, 53, 32);
}

static bool choose_lo(const struct sdp_lut *lut, const struct place *le, const struct place *lo)
{
	bool le_hit = !le->under && !le->over, lo_hit = !lo->under && !lo->over;

	if (le->under && lo->under)
		return lut->lo_on_underflow;
	if (le->over && lo->over)
		return lut->lo_on_overflow;
	if (le_hit == lo_hit)
		return lut->lo_on_hybrid;
	return lo_hit;
}

static s32 look_up(const struct sdp_lut *lut, s32 x, struct sdp_counts *counts)
{
	struct place le = place_in(&lut->le, x), lo = place_in(&lut->lo, x);
	bool use_lo = choose_lo(lut, &le, &lo);
	const struct sdp_table *table = use_lo ? &lut->lo : &lut->le;
	const struct place *p = use_lo ? &lo : &le;

	counts->le_hit += !le.under && !le.over;
	counts->lo_hit += !lo.under && !lo.over;
	counts->under += p->under;
	counts->over += p->over;
	counts->inside += !p->under && !p->over;
	if (p->under || p->over)
		return extrapolate(table, p, x);
	return interpolate(table, p);
}

static s32 multiply(const struct sdp_ew_stage *stage, s32 x, s32 operand)
{
	if (stage->mul == SDP_MUL_NONE || (stage->mul == SDP_MUL_PRELU && x >= 0))
		return x;
	return (s32)sdp_shift_round((s64)x * operand, stage->shift, 64, 32);
}

static s32 alu(enum sdp_alu algo, s32 x, s32 operand)
{
	switch (algo) {
	case SDP_ALU_MAX:
		return max(x, operand);
	case SDP_ALU_MIN:
		return min(x, operand);
	case SDP_ALU_SUM:
		return (s32)saturate((s64)x + operand, 32);
	case SDP_ALU_EQL:
		return x != operand;
	case SDP_ALU_NONE:
		break;
	}
	return x;
}

void sdp_ew_row(const struct sdp_ew_stage *stage, s32 *x, const s32 *alu_operand,
		const s32 *mul_operand, u32 n, struct sdp_counts *counts)
{
	u32 i;

	for (i = 0; i < n; i++) {
		s32 v = multiply(stage, x[i], mul_operand[i]);

		v = alu(stage->alu, v, alu_operand[i]);
		x[i] = stage->lut.enabled ? look_up(&stage->lut, v, counts) : v;
	}
}
