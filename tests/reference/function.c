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

/* Written down as the operators' documentation has them, apart from the compiler's own. */
static double value(const struct npu_op *op, double x)
{
	const double a = (double)op->alpha, b = (double)op->beta, c = (double)op->gamma;
	const double normal = 0.5 * (1 + erf(x / sqrt(2)));
	double whole;

	switch (op->function) {
	case NPU_FN_ABS:
		return x < 0 ? -x : x;
	case NPU_FN_NEG:
		return 0 - x;
	case NPU_FN_SIGN:
		return x > 0 ? 1 : x < 0 ? -1 : 0;
	case NPU_FN_FLOOR:
		whole = trunc(x);
		return x < whole ? whole - 1 : whole;
	case NPU_FN_CEIL:
		whole = trunc(x);
		return x > whole ? whole + 1 : whole;
	case NPU_FN_ROUND:
		whole = round(x);
		return fabs(x - trunc(x)) == 0.5 ? 2 * round(x / 2) : whole;
	case NPU_FN_POWER:
		return c == 0.5 ? sqrt(a * x + b) : pow(a * x + b, c);
	case NPU_FN_EXP:
		return exp(x);
	case NPU_FN_LOG:
		return log(x);
	case NPU_FN_SIN:
		return sin(x);
	case NPU_FN_COS:
		return cos(x);
	case NPU_FN_TAN:
		return sin(x) / cos(x);
	case NPU_FN_ASIN:
		return asin(x);
	case NPU_FN_ACOS:
		return M_PI_2 - asin(x);
	case NPU_FN_ATAN:
		return atan(x);
	case NPU_FN_SINH:
		return sinh(x);
	case NPU_FN_COSH:
		return (exp(x) + exp(-x)) / 2;
	case NPU_FN_ASINH:
		return copysign(log(fabs(x) + sqrt(x * x + 1)), x);
	case NPU_FN_ACOSH:
		return log(x + sqrt(x * x - 1));
	case NPU_FN_ATANH:
		return log((1 + x) / (1 - x)) / 2;
	case NPU_FN_ERF:
		return erf(x);
	case NPU_FN_ELU:
		return c * (x > 0 ? x : a * (exp(b * x) - 1));
	case NPU_FN_SOFTPLUS:
		return x > 500 ? x : log(1 + exp(x));
	case NPU_FN_SOFTSIGN:
		return x >= 0 ? x / (1 + x) : x / (1 - x);
	case NPU_FN_SILU:
		return x * (1 / (1 + exp(-a * x)));
	case NPU_FN_GELU:
		return x * normal;
	case NPU_FN_GELU_TANH:
		return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * pow(x, 3))));
	case NPU_FN_MISH:
		return x * tanh(x > 500 ? x : log(1 + exp(x)));
	case NPU_FN_HARD_SIGMOID:
		return a * x + b > 1 ? 1 : a * x + b < 0 ? 0 : a * x + b;
	case NPU_FN_THRESHOLD:
		return x > a ? x : 0;
	case NPU_FN_SHRINK:
		return x < -a ? x + b : x > a ? x - b : 0;
	default:
		return NAN;
	}
}

int ref_function(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	size_t i, elements = npu_tensor_elements(out.tensor);

	for (i = 0; i < elements; i++)
		ref_store_real(run, &out, i, value(run->op, ref_real(&in, i)));
	return 0;
}
