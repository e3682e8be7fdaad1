// SPDX-License-Identifier: MIT
/* The functions of one element: their names and values. */
#include "graph.h"

#include <math.h>

const char *const npu_function_names[NPU_FN_COUNT] = {
	[NPU_FN_ABS] = "abs",
	[NPU_FN_NEG] = "neg",
	[NPU_FN_SIGN] = "sign",
	[NPU_FN_FLOOR] = "floor",
	[NPU_FN_CEIL] = "ceil",
	[NPU_FN_ROUND] = "round",
	[NPU_FN_POWER] = "power",
	[NPU_FN_EXP] = "exp",
	[NPU_FN_LOG] = "log",
	[NPU_FN_SIN] = "sin",
	[NPU_FN_COS] = "cos",
	[NPU_FN_TAN] = "tan",
	[NPU_FN_ASIN] = "asin",
	[NPU_FN_ACOS] = "acos",
	[NPU_FN_ATAN] = "atan",
	[NPU_FN_SINH] = "sinh",
	[NPU_FN_COSH] = "cosh",
	[NPU_FN_ASINH] = "asinh",
	[NPU_FN_ACOSH] = "acosh",
	[NPU_FN_ATANH] = "atanh",
	[NPU_FN_ERF] = "erf",
	[NPU_FN_ELU] = "elu",
	[NPU_FN_SOFTPLUS] = "softplus",
	[NPU_FN_SOFTSIGN] = "softsign",
	[NPU_FN_SILU] = "silu",
	[NPU_FN_GELU] = "gelu",
	[NPU_FN_GELU_TANH] = "gelu_tanh",
	[NPU_FN_MISH] = "mish",
	[NPU_FN_HARD_SIGMOID] = "hard_sigmoid",
	[NPU_FN_THRESHOLD] = "threshold",
	[NPU_FN_SHRINK] = "shrink",
};

/* log(1 + exp(x)); the exponential of large numbers is out of range. */
static double softplus(double x)
{
	return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double gelu_tanh(double x)
{
	return 0.5 * x * (1 + tanh(M_SQRT2 * M_2_SQRTPI / 2 * (x + 0.044715 * x * x * x)));
}

static double shrink(double x, double width, double bias)
{
	if (x < -width)
		return x + bias;
	return x > width ? x - bias : 0;
}

/* Those with parameters. */
static double value_with(const struct npu_op *op, double x)
{
	double a = (double)op->alpha, b = (double)op->beta, c = (double)op->gamma;

	switch (op->function) {
	case NPU_FN_POWER:
		return pow(a * x + b, c);
	case NPU_FN_ELU:
		return c * (x >= 0 ? x : a * expm1(b * x));
	case NPU_FN_SILU:
		return x / (1 + exp(-a * x));
	case NPU_FN_HARD_SIGMOID:
		return isnan(x) ? x : fmax(fmin(a * x + b, 1), 0);
	case NPU_FN_THRESHOLD:
		return x > a ? x : 0;
	default:
		return shrink(x, a, b);
	}
}

double npu_function_value(const struct npu_op *op, double x)
{
	switch (op->function) {
	case NPU_FN_ABS:
		return fabs(x);
	case NPU_FN_NEG:
		return -x;
	case NPU_FN_SIGN:
		return (x > 0) - (x < 0);
	case NPU_FN_FLOOR:
		return floor(x);
	case NPU_FN_CEIL:
		return ceil(x);
	case NPU_FN_ROUND:
		return rint(x);
	case NPU_FN_EXP:
		return exp(x);
	case NPU_FN_LOG:
		return log(x);
	case NPU_FN_SIN:
		return sin(x);
	case NPU_FN_COS:
		return cos(x);
	case NPU_FN_TAN:
		return tan(x);
	case NPU_FN_ASIN:
		return asin(x);
	case NPU_FN_ACOS:
		return acos(x);
	case NPU_FN_ATAN:
		return atan(x);
	case NPU_FN_SINH:
		return sinh(x);
	case NPU_FN_COSH:
		return cosh(x);
	case NPU_FN_ASINH:
		return asinh(x);
	case NPU_FN_ACOSH:
		return acosh(x);
	case NPU_FN_ATANH:
		return atanh(x);
	case NPU_FN_ERF:
		return erf(x);
	case NPU_FN_SOFTPLUS:
		return softplus(x);
	case NPU_FN_SOFTSIGN:
		return x / (1 + fabs(x));
	case NPU_FN_GELU:
		return 0.5 * x * erfc(-x * M_SQRT1_2);
	case NPU_FN_GELU_TANH:
		return gelu_tanh(x);
	case NPU_FN_MISH:
		return x * tanh(softplus(x));
	default:
		return value_with(op, x);
	}
}

double npu_binary_value(enum npu_op_kind kind, double a, double b)
{
	switch (kind) {
	case NPU_OP_ADD:
		return a + b;
	case NPU_OP_SUB:
		return a - b;
	case NPU_OP_MUL:
		return a * b;
	case NPU_OP_DIV:
		return a / b;
	case NPU_OP_MINIMUM:
		return fmin(a, b);
	default:
		return fmax(a, b);
	}
}
