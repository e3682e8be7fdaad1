// SPDX-License-Identifier: MIT
/*
 * Nodes that only read constants: exporters leave the arithmetic on shapes and scales to whoever reads
 * the model.  Numbers are computed as whole ones of 64 bits or in double precision, and have to fit the
 * type of the result.
 */
#include "onnx.h"

#include <math.h>

typedef bool (*whole_function)(s64 a, s64 b, s64 *result);
typedef double (*real_function)(double a, double b);

static bool whole_add(s64 a, s64 b, s64 *result)
{
	return !check_add_overflow(a, b, result);
}

static bool whole_sub(s64 a, s64 b, s64 *result)
{
	return !check_sub_overflow(a, b, result);
}

static bool whole_mul(s64 a, s64 b, s64 *result)
{
	return !check_mul_overflow(a, b, result);
}

static bool whole_div(s64 a, s64 b, s64 *result)
{
	if (!b || (a == INT64_MIN && b == -1))
		return false;
	*result = a / b;
	return true;
}

/* The remainder has the divisor's sign. */
static bool whole_mod(s64 a, s64 b, s64 *result)
{
	if (!b || b == -1) {
		*result = 0;
		return b;
	}
	*result = a % b;
	if (*result && (*result < 0) != (b < 0))
		*result += b;
	return true;
}

static bool whole_min(s64 a, s64 b, s64 *result)
{
	*result = min(a, b);
	return true;
}

static bool whole_max(s64 a, s64 b, s64 *result)
{
	*result = max(a, b);
	return true;
}

static bool whole_neg(s64 a, s64 b, s64 *result)
{
	return !check_sub_overflow((s64)0, a, result);
}

static bool whole_abs(s64 a, s64 b, s64 *result)
{
	*result = a;
	return a >= 0 || whole_neg(a, b, result);
}

#define WHOLE(name, expression)                             \
	static bool whole_##name(s64 a, s64 b, s64 *result) \
	{                                                   \
		*result = (expression);                     \
		return true;                                \
	}
WHOLE(equal, a == b)
WHOLE(less, a < b)
WHOLE(less_or_equal, a <= b)
WHOLE(greater, a > b)
WHOLE(greater_or_equal, a >= b)
WHOLE(and, a &&b)
WHOLE(or, a || b)
WHOLE(xor, !a != !b)
WHOLE(not, !a)

#define REAL(name, expression)                        \
	static double real_##name(double a, double b) \
	{                                             \
		return (expression);                  \
	}
REAL(add, a + b)
REAL(sub, a - b)
REAL(mul, a *b)
REAL(div, a / b)
REAL(mod, fmod(a, b))
REAL(pow, pow(a, b))
REAL(min, fmin(a, b))
REAL(max, fmax(a, b))
REAL(neg, -a)
REAL(abs, fabs(a))
REAL(floor, floor(a))
REAL(ceil, ceil(a))
REAL(round, rint(a))
REAL(sqrt, sqrt(a))
REAL(exp, exp(a))
REAL(log, log(a))
REAL(reciprocal, 1 / a)
REAL(equal, a == b)
REAL(less, a < b)
REAL(less_or_equal, a <= b)
REAL(greater, a > b)
REAL(greater_or_equal, a >= b)

/* Operators on whole numbers, real ones or both; comparisons say yes or no. */
static const struct computation {
	const char *name;
	u32 operands;
	bool compares;
	whole_function whole;
	real_function real;
} computations[] = {
	{ "Abs", 1, false, whole_abs, real_abs },
	{ "Add", 2, false, whole_add, real_add },
	{ "And", 2, true, whole_and, NULL },
	{ "Ceil", 1, false, NULL, real_ceil },
	{ "Div", 2, false, whole_div, real_div },
	{ "Equal", 2, true, whole_equal, real_equal },
	{ "Exp", 1, false, NULL, real_exp },
	{ "Floor", 1, false, NULL, real_floor },
	{ "Greater", 2, true, whole_greater, real_greater },
	{ "GreaterOrEqual", 2, true, whole_greater_or_equal, real_greater_or_equal },
	{ "Less", 2, true, whole_less, real_less },
	{ "LessOrEqual", 2, true, whole_less_or_equal, real_less_or_equal },
	{ "Log", 1, false, NULL, real_log },
	{ "Max", 2, false, whole_max, real_max },
	{ "Min", 2, false, whole_min, real_min },
	{ "Mod", 2, false, whole_mod, real_mod },
	{ "Mul", 2, false, whole_mul, real_mul },
	{ "Neg", 1, false, whole_neg, real_neg },
	{ "Not", 1, true, whole_not, NULL },
	{ "Or", 2, true, whole_or, NULL },
	{ "Pow", 2, false, NULL, real_pow },
	{ "Reciprocal", 1, false, NULL, real_reciprocal },
	{ "Round", 1, false, NULL, real_round },
	{ "Sqrt", 1, false, NULL, real_sqrt },
	{ "Sub", 2, false, whole_sub, real_sub },
	{ "Xor", 2, true, whole_xor, NULL },
};

static const struct computation *find_computation(const struct onnx *o)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(computations); i++)
		if (!*o->row->domain && !strcmp(computations[i].name, o->row->name))
			return &computations[i];
	return NULL;
}

static bool is_whole(enum npu_dtype dtype)
{
	return dtype == NPU_I64 || dtype == NPU_I32 || dtype == NPU_BOOL;
}

static const struct npu_tensor *operand(const struct onnx *o, u32 i)
{
	const struct npu_tensor *t = !o->in[i] || o->in[i]->empty ? NULL
								  : onnx_constant(o, o->in[i]);

	return t && (t->dtype == NPU_F32 || is_whole(t->dtype)) ? t : NULL;
}

static s64 whole_at(const struct npu_tensor *t, u64 i)
{
	if (t->dtype == NPU_BOOL)
		return ((const u8 *)t->data)[i] != 0;
	return t->dtype == NPU_I64 ? ((const s64 *)t->data)[i] : ((const s32 *)t->data)[i];
}

static double real_at(const struct npu_tensor *t, u64 i)
{
	return t->dtype == NPU_F32 ? (double)((const float *)t->data)[i] : (double)whole_at(t, i);
}

static bool set_whole(enum npu_dtype dtype, void *data, u64 i, s64 value)
{
	if (dtype == NPU_BOOL)
		((u8 *)data)[i] = value != 0;
	else if (dtype == NPU_I64)
		((s64 *)data)[i] = value;
	else
		((s32 *)data)[i] = (s32)value;
	return dtype != NPU_I32 || value == (s32)value;
}

/* Towards zero; what has no place in the type has no value. */
static bool set_real(enum npu_dtype dtype, void *data, u64 i, double value)
{
	if (dtype == NPU_F32) {
		((float *)data)[i] = (float)value;
		return true;
	}
	if (dtype == NPU_BOOL)
		return set_whole(dtype, data, i, value != 0);
	return value > -9.2e18 && value < 9.2e18 && set_whole(dtype, data, i, (s64)value);
}

/* Memory for a result of this shape; broadcasting and ranges can make much of little. */
static int define(struct onnx *o, enum npu_dtype dtype, u32 rank, const u32 *dim, void **data)
{
	u64 bytes = npu_dtype_bytes[dtype];
	u32 d;
	int error;

	for (d = 0; d < rank; d++)
		if (check_mul_overflow(bytes, (u64)dim[d], &bytes) || bytes > INT32_MAX)
			return onnx_fail(o, -ENOTSUP, "the result is larger than 2 GiB");
	error = onnx_expand(o, bytes);
	return error ? error : onnx_define_constant(o, dtype, rank, dim, data);
}

static int broadcast(struct onnx *o, u32 first, u32 count, u32 *rank, u32 *dim)
{
	u32 i, d;

	*rank = 0;
	for (i = 0; i < count; i++)
		*rank = max(*rank, operand(o, first + i)->rank);
	for (d = 0; d < *rank; d++)
		dim[d] = 1;
	for (i = 0; i < count; i++) {
		const struct npu_tensor *t = operand(o, first + i);

		for (d = 0; d < t->rank; d++) {
			u32 *to = &dim[*rank - t->rank + d];

			if (*to != 1 && t->dim[d] != 1 && *to != t->dim[d])
				return onnx_fail(o, -EINVAL, "shapes do not broadcast: %u and %u",
						 *to, t->dim[d]);
			*to = max(*to, t->dim[d]);
		}
	}
	return 0;
}

/* Where element @i of a result of this shape comes from. */
static u64 source_of(const struct npu_tensor *t, u32 rank, const u32 *dim, u64 i)
{
	u64 at = 0, step = 1;
	u32 d;

	for (d = 0; d < t->rank; d++) {
		u32 own = t->dim[t->rank - 1 - d], size = dim[rank - 1 - d];

		at += (own == 1 ? 0 : i % size) * step;
		step *= own;
		i /= size;
	}
	return at;
}

static u64 elements_of(u32 rank, const u32 *dim)
{
	u64 elements = 1;

	while (rank--)
		elements *= dim[rank];
	return elements;
}

static int compute(struct onnx *o, const struct computation *c)
{
	const struct npu_tensor a = *operand(o, 0), b = *operand(o, c->operands - 1);
	const enum npu_dtype dtype = c->compares ? NPU_BOOL : a.dtype;
	u32 rank, dim[NPU_MAX_RANK];
	u64 elements, i;
	void *data = NULL;
	int error = broadcast(o, 0, c->operands, &rank, dim);

	if (!error)
		error = define(o, dtype, rank, dim, &data);
	elements = error ? 0 : elements_of(rank, dim);
	for (i = 0; i < elements; i++) {
		u64 ia = source_of(&a, rank, dim, i), ib = source_of(&b, rank, dim, i);
		s64 whole = 0;
		bool good;

		if (a.dtype == NPU_F32)
			good = set_real(dtype, data, i, c->real(real_at(&a, ia), real_at(&b, ib)));
		else
			good = c->whole(whole_at(&a, ia), whole_at(&b, ib), &whole) &&
			       set_whole(dtype, data, i, whole);
		if (!good)
			return onnx_fail(o, -ENOTSUP, "cannot be computed of constants");
	}
	return error;
}

static int compute_where(struct onnx *o)
{
	const struct npu_tensor condition = *operand(o, 0), a = *operand(o, 1), b = *operand(o, 2);
	u32 rank, dim[NPU_MAX_RANK];
	u64 elements, i;
	void *data = NULL;
	int error = broadcast(o, 0, 3, &rank, dim);

	if (!error && (condition.dtype != NPU_BOOL || a.dtype != b.dtype))
		error = onnx_fail(o, -EINVAL, "operands of %s, %s and %s",
				  npu_dtype_names[condition.dtype], npu_dtype_names[a.dtype],
				  npu_dtype_names[b.dtype]);
	if (!error)
		error = define(o, a.dtype, rank, dim, &data);
	elements = error ? 0 : elements_of(rank, dim);
	for (i = 0; i < elements; i++) {
		const struct npu_tensor *from =
			whole_at(&condition, source_of(&condition, rank, dim, i)) ? &a : &b;
		const u32 bytes = npu_dtype_bytes[a.dtype];

		memcpy((u8 *)data + i * bytes,
		       (const u8 *)from->data + source_of(from, rank, dim, i) * bytes, bytes);
	}
	return error;
}

static int compute_cast(struct onnx *o, enum npu_dtype dtype)
{
	const struct npu_tensor in = *operand(o, 0);
	u64 elements = npu_tensor_elements(&in), i;
	void *data = NULL;
	int error = define(o, dtype, in.rank, in.dim, &data);

	for (i = 0; !error && i < elements; i++)
		if (in.dtype == NPU_F32 || dtype == NPU_F32
			    ? !set_real(dtype, data, i, real_at(&in, i))
			    : !set_whole(dtype, data, i, whole_at(&in, i)))
			return onnx_fail(o, -ENOTSUP, "element %llu has no value of type %s",
					 (unsigned long long)i, npu_dtype_names[dtype]);
	return error;
}

/* From the first number on, in steps of the third, up to the second. */
static int compute_range(struct onnx *o)
{
	const struct npu_tensor *t[3];
	double from, to, step, count;
	u32 size, i;
	void *data = NULL;
	int error;

	for (i = 0; i < 3; i++) {
		t[i] = operand(o, i);
		if (npu_tensor_elements(t[i]) != 1 || t[i]->dtype != t[0]->dtype)
			return onnx_fail(o, -EINVAL,
					 "input %u is not one number, or of another type", i);
	}
	from = real_at(t[0], 0);
	to = real_at(t[1], 0);
	step = real_at(t[2], 0);
	count = ceil((to - from) / step);
	if (!(count >= 1 && count < INT32_MAX))
		return onnx_fail(o, -ENOTSUP, "from %g to %g in steps of %g", from, to, step);
	size = (u32)count;
	error = define(o, o->in[0]->dtype, 1, &size, &data);
	for (i = 0; !error && i < size; i++)
		if (!set_real(o->in[0]->dtype, data, i, from + i * step))
			error = onnx_fail(o, -ENOTSUP, "cannot be computed of constants");
	return error;
}

static bool is_name(const struct onnx *o, const char *name)
{
	return !*o->row->domain && !strcmp(o->row->name, name);
}

static bool reads_constants(const struct onnx *o, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (!operand(o, i))
			return false;
	/* The axis is that of operands before opset 7; fmod asks for the dividend's sign. */
	return o->in_count == count && o->out_count == 1 && !o->quantised &&
	       !onnx_attribute(o, "axis") && !onnx_int(o, "fmod", 0);
}

int onnx_compute(struct onnx *o, bool *computed)
{
	const struct computation *c = find_computation(o);
	const s64 to = is_name(o, "Cast") ? onnx_int(o, "to", 0) : 0;
	const int dtype = to > 0 && to < INT32_MAX ? onnx_dtype((s32)to) : -1;

	*computed = true;
	if (c && reads_constants(o, c->operands) &&
	    o->in[0]->dtype == o->in[c->operands - 1]->dtype &&
	    (o->in[0]->dtype == NPU_F32 ? c->real != NULL : c->whole != NULL))
		return compute(o, c);
	if (is_name(o, "Where") && reads_constants(o, 3))
		return compute_where(o);
	if (is_name(o, "Range") && reads_constants(o, 3))
		return compute_range(o);
	if ((dtype == NPU_F32 || (dtype >= 0 && is_whole((enum npu_dtype)dtype))) &&
	    reads_constants(o, 1))
		return compute_cast(o, (enum npu_dtype)dtype);
	*computed = false;
	return 0;
}

int onnx_read_computed(struct onnx *o)
{
	u32 i;

	for (i = 0; i < o->in_count; i++)
		if (o->in[i] && !onnx_constant(o, o->in[i]))
			return onnx_fail(o, -ENOTSUP,
					 "supported of constants alone, and input %u (%.100s) is "
					 "computed",
					 i, o->in[i]->name);
	return onnx_fail(o, -ENOTSUP, "constants of %s", npu_dtype_names[o->in[0]->dtype]);
}

/* The number of elements, which is known. */
int onnx_read_size(struct onnx *o)
{
	s64 elements = 1;
	void *data = NULL;
	u32 d;
	int error = onnx_define_constant(o, NPU_I64, 0, NULL, &data);

	for (d = 0; d < o->in[0]->rank; d++)
		elements *= o->in[0]->empty ? 0 : o->in[0]->dim[d];
	if (!error)
		*(s64 *)data = elements;
	return error;
}
