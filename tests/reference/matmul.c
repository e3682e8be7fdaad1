// SPDX-License-Identifier: MIT
/* Products of matrices, element by element of the result. */
#include "kernels.h"

/* The element of an operand: @row and @column of the matrix for result element @i. */
static size_t place(const struct npu_tensor *out, const struct npu_tensor *in, size_t i, u32 row,
		    u32 column)
{
	const u32 *dim = in->dim + in->rank - 2;
	struct npu_tensor matrices_out = *out, matrices_in = *in;
	size_t matrix = i / ((size_t)out->dim[out->rank - 1] * out->dim[out->rank - 2]);

	matrices_out.rank -= 2;
	matrices_in.rank -= 2;
	return (ref_broadcast(&matrices_out, &matrices_in, matrix) * dim[0] + row) * dim[1] +
	       column;
}

/* Row and column of result element @i give its two vectors. */
static void add_up(const struct ref_view *a, const struct ref_view *b, const struct ref_view *out,
		   size_t i, double *real, u32 *stored)
{
	const u32 *dim = out->tensor->dim + out->tensor->rank - 2;
	u32 column = i % dim[1], row = i / dim[1] % dim[0], k;

	*real = 0;
	*stored = 0;
	for (k = 0; k < a->tensor->dim[a->tensor->rank - 1]; k++) {
		size_t x = place(out->tensor, a->tensor, i, row, k);
		size_t y = place(out->tensor, b->tensor, i, k, column);

		if (ref_is_float(out))
			*real += (double)((const float *)a->data)[x] *
				 (double)((const float *)b->data)[y];
		else
			*stored += (u32)((ref_load(a, x) - a->zero) * (ref_load(b, y) - b->zero));
	}
}

int ref_matmul(const struct ref_run *run)
{
	struct ref_view a = ref_input(run, 0), b = ref_input(run, 1), out = ref_output(run);
	volatile float product = a.scale * b.scale;
	struct ref_scale scale = ref_scale_of((double)product / (double)out.scale);
	size_t i, elements = npu_tensor_elements(out.tensor);

	for (i = 0; i < elements; i++) {
		double real;
		u32 stored;

		add_up(&a, &b, &out, i, &real, &stored);
		if (ref_is_float(&out))
			((float *)out.data)[i] = ref_clamp_float(run, (float)real);
		else
			ref_store(run, &out, ref_range(run), i,
				  (s64)ref_multiply((s32)stored, scale) + out.zero);
	}
	return 0;
}
