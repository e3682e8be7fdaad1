// SPDX-License-Identifier: MIT
/*
 * Between stored and real values, and from one quantisation to another
 * (reference/quantize.h, requantize.h, dequantize.h).
 */
#include <math.h>

#include "fixed.h"

static void from_float(const struct npu_cpu_view *in, const struct npu_cpu_view *out,
		       struct npu_clamp clamp)
{
	const float *real = in->data;
	size_t i;

	for (i = 0; i < out->elements; i++) {
		float units = roundf(npu_single_div(real[i], out->scale));

		/* Not-a-number becomes the lower bound. */
		units = fmaxf(fminf(units, 2e9f), -2e9f);
		npu_store(out, i, npu_clamped((s64)units + out->zero, clamp));
	}
}

int npu_cpu_quantize(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const struct npu_clamp clamp = npu_clamp_of(call->op, &out);
	struct npu_factor factor;
	size_t i;

	if (in.tensor->dtype == NPU_F32) {
		from_float(&in, &out, clamp);
		return 0;
	}
	factor = npu_factor_of((double)in.scale / (double)out.scale);
	for (i = 0; i < out.elements; i++)
		npu_store(&out, i,
			  npu_clamped((s64)npu_scale(npu_load(&in, i) - in.zero, factor) + out.zero,
				      clamp));
	return 0;
}

int npu_cpu_dequantize(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	float *real = out.data;
	size_t i;

	for (i = 0; i < out.elements; i++)
		real[i] = (float)((double)in.scale * (npu_load(&in, i) - in.zero));
	return 0;
}
