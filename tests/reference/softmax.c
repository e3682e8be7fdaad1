// SPDX-License-Identifier: MIT
/* Softmax over the last dimension (reference/softmax.h). */
#include "kernels.h"

#include <math.h>

#define DIFF_BITS 5 /* integer bits of scaled differences */
#define SUM_BITS 12 /* integer bits of the sum of exponentials */

/* How a difference of stored values becomes the argument of exp(). */
struct argument {
	struct ref_scale scale;
	s32 least; /* differences below count as exp() = 0 */
};

static struct argument argument_of(double beta, double scale)
{
	double factor = fmin(beta * scale * (1 << (31 - DIFF_BITS)), 2147483647.0);
	struct argument argument = { .scale = ref_scale_of(factor) };
	double radius = ((1 << DIFF_BITS) - 1) * (double)(1LL << (31 - DIFF_BITS)) /
			(double)(1LL << max(argument.scale.shift, 0));

	argument.least = -(s32)floor(radius);
	return argument;
}

static s32 exponential(const struct argument *argument, s32 difference)
{
	s64 shifted = (s64)difference * (1LL << max(argument->scale.shift, 0));

	return ref_exp_negative(ref_high_mul((s32)shifted, argument->scale.multiplier));
}

static void softmax_row(const struct ref_run *run, const struct ref_view *in,
			const struct ref_view *out, size_t first, u32 depth)
{
	struct argument argument = argument_of((double)run->op->alpha, (double)in->scale);
	struct ref_range range = ref_range(run);
	s32 most = INT32_MIN, sum = 0, reciprocal, difference;
	int shift;
	u32 c;

	for (c = 0; c < depth; c++)
		most = max(most, ref_load(in, first + c));
	for (c = 0; c < depth; c++) {
		difference = ref_load(in, first + c) - most;
		if (difference >= argument.least)
			sum += ref_divide_by_power(exponential(&argument, difference), SUM_BITS);
	}
	reciprocal = ref_reciprocal(sum, SUM_BITS, &shift);
	for (c = 0; c < depth; c++) {
		s32 value = range.least;

		difference = ref_load(in, first + c) - most;
		if (difference >= argument.least)
			value += ref_divide_by_power(
				ref_high_mul(reciprocal, exponential(&argument, difference)),
				shift + 31 - 8);
		ref_store(run, out, range, first + c, value);
	}
}

static void softmax_row_float(const struct ref_run *run, const float *in, float *out, u32 depth)
{
	float most = -INFINITY, sum = 0;
	u32 c;

	for (c = 0; c < depth; c++)
		most = fmaxf(most, in[c]);
	for (c = 0; c < depth; c++) {
		out[c] = expf((in[c] - most) * run->op->alpha);
		sum += out[c];
	}
	for (c = 0; c < depth; c++)
		out[c] /= sum;
}

int ref_softmax(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	u32 depth = in.tensor->dim[in.tensor->rank - 1];
	size_t first, elements = npu_tensor_elements(in.tensor);

	for (first = 0; first < elements; first += depth)
		if (ref_is_float(&in))
			softmax_row_float(run, (float *)in.data + first, (float *)out.data + first,
					  depth);
		else
			softmax_row(run, &in, &out, first, depth);
	return 0;
}
