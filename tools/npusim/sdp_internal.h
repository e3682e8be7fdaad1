/* SPDX-License-Identifier: MIT */
/*
 * Inside of SDP: the decoded operation and the row functions of its stages.
 *
 * SDP is a stream processor.  Atoms come from CACC or from memory (SDP_RDMA), run through
 * BS, BN, EW and the output conversion, and go to memory or to PDP.  Each operand is a
 * stream of its own that keeps step with the atoms.  The model moves runs of elements
 * through the stages, so that each stage is one loop over a run.
 */
#ifndef SDP_INTERNAL_H
#define SDP_INTERNAL_H

#include "npusim_internal.h"

/* Elements of a run: small enough for the first-level cache, a multiple of any vector. */
#define SDP_RUN 2048

/* What ALU does; values of D_DP_*_CFG.*_ALU_ALGO. */
enum sdp_alu { SDP_ALU_MAX, SDP_ALU_MIN, SDP_ALU_SUM, SDP_ALU_EQL, SDP_ALU_NONE };

enum sdp_mul { SDP_MUL_NONE, SDP_MUL, SDP_MUL_PRELU };

/* Where an operand comes from. */
struct sdp_operand {
	bool memory;
	s32 value; /* of the register, when not from memory */
};

/**
 * struct sdp_x_stage - BS or BN
 * @alu_shift: the ALU's operand is shifted left by this and saturated to 32 bits
 * @shift: right shift after the multiplier, also when there is none
 */
struct sdp_x_stage {
	bool enabled;
	enum sdp_alu alu;
	enum sdp_mul mul;
	bool relu;
	u8 alu_shift;
	u8 shift;
	struct sdp_operand alu_operand;
	struct sdp_operand mul_operand;
};

/* (x - offset) * scale >> shift, the conversion of EW operands and of the output. */
struct sdp_convert {
	bool bypass;
	s32 offset;
	s32 scale;
	u32 shift;
};

struct sdp_slope {
	s32 scale;
	s32 shift;
};

/* One of the two tables. */
struct sdp_table {
	const s16 *entry;
	u32 entries;
	bool exponent; /* LE only: entries at powers of two */
	s32 start;
	s32 end;
	s32 index_offset;
	s32 index_select;
	struct sdp_slope under;
	struct sdp_slope over;
};

struct sdp_lut {
	bool enabled;
	struct sdp_table le;
	struct sdp_table lo;
	bool lo_on_underflow;
	bool lo_on_overflow;
	bool lo_on_hybrid;
};

struct sdp_ew_stage {
	bool enabled;
	enum sdp_alu alu;
	enum sdp_mul mul;
	u32 shift;
	struct sdp_operand alu_operand;
	struct sdp_operand mul_operand;
	struct sdp_convert alu_convert;
	struct sdp_convert mul_convert;
	struct sdp_lut lut;
};

/* Counters that D_PERF_* registers show. */
struct sdp_counts {
	u32 saturated;
	u32 under;
	u32 over;
	u32 inside; /* LUT_HYBRID: neither under nor over */
	u32 le_hit;
	u32 lo_hit;
};

/* sdp_row.c: one run of @n elements through BS or BN; @x is replaced. */
void sdp_x_row(const struct sdp_x_stage *stage, s32 *x, const s32 *alu, const s32 *mul, u32 n);

/* The output conversion to bytes; saturates to the 8 bits of INT8. */
void sdp_out_row(const struct sdp_convert *convert, const s32 *x, s8 *out, u32 n);

/* The same to 16 bits, as OUT_PRECISION INT16 has them. */
void sdp_out_row16(const struct sdp_convert *convert, const s32 *x, s16 *out, u32 n);

/* How many of the run the output conversion counts as saturated: those beyond 17 bits. */
u32 sdp_out_saturated(const struct sdp_convert *convert, const s32 *x, u32 n);

/* Operands of the ALU of BS and BN: 16 bits shifted left, saturated to 32. */
void sdp_alu_operand_row(const s16 *in, s32 *out, u32 shift, u32 n);
void sdp_widen_row(const s16 *in, s32 *out, u32 n);

/* sdp_ew.c: one run through EW. */
void sdp_ew_row(const struct sdp_ew_stage *stage, s32 *x, const s32 *alu, const s32 *mul, u32 n,
		struct sdp_counts *counts);

/* (in - offset) * scale >> shift, saturated to 32 bits. */
void sdp_convert_row(const struct sdp_convert *convert, const s16 *in, s32 *out, u32 n);

/*
 * v >> shift with ties away from zero, saturated to @bits; 0 where the shift is not smaller
 * than @width, the width of the shifter's input.
 */
s64 sdp_shift_round(s64 v, u32 shift, u32 width, u32 bits);

#endif /* SDP_INTERNAL_H */
