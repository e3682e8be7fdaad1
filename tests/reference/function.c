// SPDX-License-Identifier: MIT
/* Functions on real numbers, of single elements or of rows of channels. */
#include "kernels.h"

#include <math.h>

double ref_real(const struct ref_view *in, size_t i)
{
	if (ref_is_float(in))
		return (double)((const float *)in->data)[i];
	return (double)in->scale * (ref_load(in, i) - in->zero);
}

void ref_store_real(const struct ref_run *run, const struct ref_view *out, size_t i, double real)
{
	double units = round(real / (double)out->scale);

	if (ref_is_float(out))
		((float *)out->data)[i] = ref_clamp_float(run, (float)real);
	else
		ref_store(run, out, ref_range(run), i,
			  isnan(units) ? out->zero : (s64)fmin(fmax(units, -1e9), 1e9) + out->zero);
}

int ref_lrn(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	const struct npu_op *op = run->op;
	const s64 depth = in.nhwc[3], before = (op->size - 1) / 2;
	size_t i, elements = npu_tensor_elements(out.tensor);

	for (i = 0; i < elements; i++) {
		s64 c = (s64)(i % (u64)depth), n;
		double squares = 0;

		for (n = c - before; n < c - before + op->size && n < depth; n++)
			if (n >= 0)
				squares += pow(ref_real(&in, i - c + n), 2);
		ref_store_real(run, &out, i,
			       ref_real(&in, i) /
				       pow((double)op->alpha * squares + (double)op->gamma,
					   (double)op->beta));
	}
	return 0;
}
