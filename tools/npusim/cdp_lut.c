// SPDX-License-Identifier: MIT
/* CDP's look-up tables: LE, exponential or linear, and LO, linear. */
#include "cdp_internal.h"

/* Width of the comparison with a table's start, and of the distance from it. */
#define INDEX_BITS 22

#define FRACTION_BITS 16

static s64 sext64(u64 v, u32 bits)
{
	return (s64)(v << (64 - bits)) >> (64 - bits);
}

static s64 bound(u32 high, u32 low)
{
	return sext64((u64)high << 32 | low, 38);
}

struct cdp_lut cdp_decode_lut(const struct npusim_regs *r, const struct sim_lut *lut)
{
	return (struct cdp_lut){
		.le = {
			.entry = lut->le,
			.entries = SIM_LUT_LE,
			.exponent = !SIM_FIELD(r, CDP, S_LUT_CFG, LUT_LE_FUNCTION),
			.start = bound(SIM_REG(r, CDP, S_LUT_LE_START_HIGH),
				       SIM_REG(r, CDP, S_LUT_LE_START_LOW)),
			.end = bound(SIM_REG(r, CDP, S_LUT_LE_END_HIGH),
				     SIM_REG(r, CDP, S_LUT_LE_END_LOW)),
			.index_offset = SIM_SFIELD(r, CDP, S_LUT_INFO, LUT_LE_INDEX_OFFSET),
			.index_select = SIM_FIELD(r, CDP, S_LUT_INFO, LUT_LE_INDEX_SELECT),
			.under = { SIM_SFIELD(r, CDP, S_LUT_LE_SLOPE_SCALE,
					      LUT_LE_SLOPE_UFLOW_SCALE),
				   SIM_SFIELD(r, CDP, S_LUT_LE_SLOPE_SHIFT,
					      LUT_LE_SLOPE_UFLOW_SHIFT) },
			.over = { SIM_SFIELD(r, CDP, S_LUT_LE_SLOPE_SCALE,
					     LUT_LE_SLOPE_OFLOW_SCALE),
				  SIM_SFIELD(r, CDP, S_LUT_LE_SLOPE_SHIFT,
					     LUT_LE_SLOPE_OFLOW_SHIFT) },
		},
		.lo = {
			.entry = lut->lo,
			.entries = SIM_LUT_LO,
			.start = bound(SIM_REG(r, CDP, S_LUT_LO_START_HIGH),
				       SIM_REG(r, CDP, S_LUT_LO_START_LOW)),
			.end = bound(SIM_REG(r, CDP, S_LUT_LO_END_HIGH),
				     SIM_REG(r, CDP, S_LUT_LO_END_LOW)),
			.index_select = SIM_FIELD(r, CDP, S_LUT_INFO, LUT_LO_INDEX_SELECT),
			.under = { SIM_SFIELD(r, CDP, S_LUT_LO_SLOPE_SCALE,
					      LUT_LO_SLOPE_UFLOW_SCALE),
				   SIM_SFIELD(r, CDP, S_LUT_LO_SLOPE_SHIFT,
					      LUT_LO_SLOPE_UFLOW_SHIFT) },
			.over = { SIM_SFIELD(r, CDP, S_LUT_LO_SLOPE_SCALE,
					     LUT_LO_SLOPE_OFLOW_SCALE),
				  SIM_SFIELD(r, CDP, S_LUT_LO_SLOPE_SHIFT,
					     LUT_LO_SLOPE_OFLOW_SHIFT) },
		},
		.lo_on_underflow = SIM_FIELD(r, CDP, S_LUT_CFG, LUT_UFLOW_PRIORITY),
		.lo_on_overflow = SIM_FIELD(r, CDP, S_LUT_CFG, LUT_OFLOW_PRIORITY),
		.lo_on_hybrid = SIM_FIELD(r, CDP, S_LUT_CFG, LUT_HYBRID_PRIORITY),
	};
}

/* Where a value falls in a table. */
struct place {
	u32 index;
	u32 fraction; /* of FRACTION_BITS */
	bool under;
	bool over;
};

static void place_exponent(const struct cdp_table *table, u32 distance, struct place *p)
{
	u32 log2 = 31 - (u32)__builtin_clz(distance);
	u32 below = distance & ((1u << log2) - 1);
	s32 index = (s32)log2 - table->index_offset;

	p->fraction = log2 > FRACTION_BITS ? below >> (log2 - FRACTION_BITS)
					   : below << (FRACTION_BITS - log2);
	p->under = index < 0;
	p->index = p->under ? 0 : (u32)index;
}

/* The shift is a 6-bit two's complement number: left when negative. */
static void place_linear(const struct cdp_table *table, u32 distance, struct place *p)
{
	s32 shift = sim_sext(table->index_select, 6);
	u64 wide = (u64)distance << FRACTION_BITS;

	if (shift < 0) {
		u64 index = (u64)distance << -shift;

		p->index = index > UINT32_MAX ? UINT32_MAX : (u32)index;
		return;
	}
	p->index = distance >> shift;
	p->fraction = (u32)(wide >> shift) & ((1u << FRACTION_BITS) - 1);
}

static struct place place_in(const struct cdp_table *table, s32 x)
{
	struct place p = { .under = false };
	/* Start has 38 bits, but only the low ones are compared. */
	s32 start = (s32)sext64((u64)table->start, INDEX_BITS);

	if (x <= start) {
		p.under = true;
		return p;
	}
	if (table->exponent)
		place_exponent(table, (u32)(x - start), &p);
	else
		place_linear(table, (u32)(x - start), &p);
	if (p.index >= table->entries - 1) {
		p.index = table->entries - 1;
		p.over = true;
	}
	return p;
}

s64 cdp_shift_round(s64 v, u32 shift, u32 bits)
{
	s64 high = ((s64)1 << (bits - 1)) - 1;

	if (shift) {
		u64 magnitude = v < 0 ? -(u64)v : (u64)v;

		magnitude = (magnitude >> shift) + (magnitude >> (shift - 1) & 1);
		v = v < 0 ? -(s64)magnitude : (s64)magnitude;
	}
	if (v > high)
		return high;
	return v < -high - 1 ? -high - 1 : v;
}

/* y + (delta * scale >> shift), saturated to 16 bits; a negative shift goes left. */
static s16 line(s32 y, s64 delta, s32 scale, s32 shift)
{
	s64 v = delta * scale; /* 40 and 17 bits */

	/* Sums beyond 2^40 saturate anyway, which leaves room for the shift. */
	if (shift >= 0)
		v = cdp_shift_round(v, (u32)shift, 60);
	else
		v = cdp_shift_round(v, 0, 41) * ((s64)1 << -shift);
	return (s16)cdp_shift_round(y + v, 0, 16);
}

static s16 value(const struct cdp_table *table, const struct place *p, s32 x)
{
	const s16 *y = &table->entry[p->index];
	s64 from = table->start;

	if (p->over)
		return line(table->entry[table->entries - 1], x - table->end, table->over.scale,
			    table->over.shift);
	if (!p->under)
		return line(y[0], y[1] - y[0], (s32)p->fraction, FRACTION_BITS);
	/* The sum with the first entry's distance has 39 bits. */
	if (table->exponent && table->index_offset >= 0 && table->index_offset < 39)
		from = sext64((u64)from + (1ull << table->index_offset), 39);
	return line(table->entry[0], x - from, table->under.scale, table->under.shift);
}

s16 cdp_look_up(const struct cdp_lut *lut, s32 x, struct cdp_counts *counts)
{
	struct place le = place_in(&lut->le, x), lo = place_in(&lut->lo, x);
	bool le_miss = le.under || le.over, lo_miss = lo.under || lo.over;
	bool use_lo;

	if (le.under && lo.under) {
		use_lo = lut->lo_on_underflow;
		counts->under++;
	} else if (le.over && lo.over) {
		use_lo = lut->lo_on_overflow;
		counts->over++;
	} else if (le_miss == lo_miss) {
		use_lo = lut->lo_on_hybrid;
		counts->hybrid++;
	} else {
		use_lo = le_miss;
		counts->lo_hit += use_lo;
		counts->le_hit += !use_lo;
	}
	return use_lo ? value(&lut->lo, &lo, x) : value(&lut->le, &le, x);
}
