// SPDX-License-Identifier: MIT
/* Between real and stored values (reference/quantize.h, requantize.h, dequantize.h). */
#include "kernels.h"

int ref_quantize(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	struct ref_scale scale = ref_scale_of((double)in.scale / (double)out.scale);
	struct ref_range range = ref_range(run);
	size_t i, elements = npu_tensor_elements(out.tensor);

	for (i = 0; i < elements; i++)
		if (ref_is_float(&in))
			ref_store(run, &out, range, i,
				  (s64)ref_round(((const float *)in.data)[i] / out.scale) +
					  out.zero);
		else
			ref_store(run, &out, range, i,
				  (s64)ref_multiply(ref_load(&in, i) - in.zero, scale) + out.zero);
	return 0;
}

int ref_dequantize(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	size_t i, elements = npu_tensor_elements(out.tensor);

	for (i = 0; i < elements; i++)
		((float *)out.data)[i] = (float)((double)in.scale * (ref_load(&in, i) - in.zero));
	return 0;
}
