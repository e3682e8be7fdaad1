// SPDX-License-Identifier: MIT
/* Functions of one element. */
#include "onnx.h"

#include <math.h>

/* A parameter: an attribute and its default, or a number where there is no attribute. */
struct parameter {
	const char *attribute;
	float value;
};

#define NUMBER(x)       \
	{               \
		NULL, x \
	}

static const struct {
	const char *name;
	enum npu_function function;
	struct parameter alpha, beta, gamma;
} functions[] = {
	{ "Abs", NPU_FN_ABS },
	{ "Acos", NPU_FN_ACOS },
	{ "Acosh", NPU_FN_ACOSH },
	{ "Asin", NPU_FN_ASIN },
	{ "Asinh", NPU_FN_ASINH },
	{ "Atan", NPU_FN_ATAN },
	{ "Atanh", NPU_FN_ATANH },
	{ "Ceil", NPU_FN_CEIL },
	{ "Cos", NPU_FN_COS },
	{ "Cosh", NPU_FN_COSH },
	{ "Elu", NPU_FN_ELU, { "alpha", 1 }, NUMBER(1), NUMBER(1) },
	{ "Erf", NPU_FN_ERF },
	{ "Exp", NPU_FN_EXP },
	{ "Floor", NPU_FN_FLOOR },
	{ "HardSigmoid", NPU_FN_HARD_SIGMOID, { "alpha", 0.2f }, { "beta", 0.5f } },
	{ "Log", NPU_FN_LOG },
	{ "Mish", NPU_FN_MISH },
	{ "Neg", NPU_FN_NEG },
	{ "QuickGelu", NPU_FN_SILU, { "alpha", 1.702f } },
	{ "Reciprocal", NPU_FN_POWER, NUMBER(1), NUMBER(0), NUMBER(-1) },
	{ "Round", NPU_FN_ROUND },
	{ "Selu",
	  NPU_FN_ELU,
	  { "alpha", 1.67326319217681884765625f },
	  NUMBER(1),
	  { "gamma", 1.05070102214813232421875f } },
	{ "Shrink", NPU_FN_SHRINK, { "lambd", 0.5f }, { "bias", 0 } },
	{ "Sign", NPU_FN_SIGN },
	{ "Sin", NPU_FN_SIN },
	{ "Sinh", NPU_FN_SINH },
	{ "Softplus", NPU_FN_SOFTPLUS },
	{ "Softsign", NPU_FN_SOFTSIGN },
	{ "Sqrt", NPU_FN_POWER, NUMBER(1), NUMBER(0), NUMBER(0.5f) },
	{ "Swish", NPU_FN_SILU, { "alpha", 1 } },
	{ "Tan", NPU_FN_TAN },
	{ "ThresholdedRelu", NPU_FN_THRESHOLD, { "alpha", 1 } },
};

static float parameter(const struct onnx *o, const struct parameter *p)
{
	return p->attribute ? onnx_float(o, p->attribute, p->value) : p->value;
}

static void set_function(struct npu_op *op, enum npu_function function, float alpha, float beta,
			 float gamma)
{
	op->function = function;
	op->alpha = alpha;
	op->beta = beta;
	op->gamma = gamma;
}

int onnx_add_function(struct onnx *o, enum npu_function function, float alpha, float beta,
		      float gamma, u32 in, u32 out)
{
	struct npu_op *op = onnx_add_op(o, NPU_OP_FUNCTION, &in, 1, out);

	if (!op)
		return -ENOMEM;
	set_function(op, function, alpha, beta, gamma);
	return 0;
}

/* Of input 0, as result 0. */
static int add_function(struct onnx *o, enum npu_function function, float alpha, float beta,
			float gamma)
{
	int error;
	struct npu_op *op = onnx_add_unary(o, NPU_OP_FUNCTION, &error);

	if (op)
		set_function(op, function, alpha, beta, gamma);
	return error;
}

int onnx_read_function(struct onnx *o)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strcmp(functions[i].name, o->row->name))
			return add_function(o, functions[i].function,
					    parameter(o, &functions[i].alpha),
					    parameter(o, &functions[i].beta),
					    parameter(o, &functions[i].gamma));
	return onnx_fail(o, -ENOTSUP, "this function");
}

/* ELU whose argument is divided by its factor. */
int onnx_read_celu(struct onnx *o)
{
	float alpha = onnx_float(o, "alpha", 1);

	if (alpha == 0)
		return onnx_fail(o, -EINVAL, "alpha is 0");
	return add_function(o, NPU_FN_ELU, alpha, 1 / alpha, 1);
}

int onnx_read_gelu(struct onnx *o)
{
	bool tanh = onnx_text_is(o, "approximate", "tanh", false);

	return add_function(o, tanh ? NPU_FN_GELU_TANH : NPU_FN_GELU, 0, 0, 0);
}

/* The exponent is one constant number. */
int onnx_read_pow(struct onnx *o)
{
	const struct npu_tensor *t = onnx_constant(o, o->in[1]);
	float exponent;

	if (!t || npu_tensor_elements(t) != 1 || t->rank > o->in[0]->rank)
		return onnx_fail(o, -ENOTSUP, "the exponent is not one constant number");
	if (t->dtype == NPU_F32)
		exponent = *(const float *)t->data;
	else if (t->dtype == NPU_I32)
		exponent = (float)*(const s32 *)t->data;
	else if (t->dtype == NPU_I64)
		exponent = (float)*(const s64 *)t->data;
	else
		return onnx_fail(o, -ENOTSUP, "an exponent of type %s", npu_dtype_names[t->dtype]);
	return add_function(o, NPU_FN_POWER, 1, 0, exponent);
}
