// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "element.h"

uint64_t tool_elements(const struct npu_tensor_info *info)
{
	uint64_t elements = 1;
	uint32_t i;

	for (i = 0; i < info->rank; i++)
		elements *= info->shape[i];
	return elements;
}

double tool_from_half(uint16_t half)
{
	int exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
	double magnitude;

	if (exponent == 0x1f)
		magnitude = fraction ? (double)NAN : (double)INFINITY;
	else if (exponent)
		magnitude = ldexp(fraction | 0x400, exponent - 25);
	else
		magnitude = ldexp(fraction, -24);
	return half & 0x8000 ? -magnitude : magnitude;
}

uint16_t tool_to_half(double number)
{
	uint16_t sign = signbit(number) ? 0x8000 : 0;
	double magnitude = fabs(number);
	int exponent;

	if (isnan(number))
		return sign | 0x7e00;
	if (magnitude >= 65520) /* half a unit above the largest */
		return sign | 0x7c00;
	if (magnitude < 0x1p-14)
		return sign | (uint16_t)nearbyint(magnitude * 0x1p24);
	magnitude = nearbyint(frexp(magnitude, &exponent) * 2048);
	/* A fraction that was rounded up to 2048 carries into the exponent, as it should. */
	return sign | (uint16_t)(((exponent + 13) << 10) + (int)magnitude);
}

double tool_stored(const struct npu_tensor_info *info, const void *data, uint64_t i)
{
	switch (info->type) {
	case NPU_TYPE_INT8:
		return ((const int8_t *)data)[i];
	case NPU_TYPE_INT16:
		return ((const int16_t *)data)[i];
	case NPU_TYPE_INT32:
		return ((const int32_t *)data)[i];
	case NPU_TYPE_INT64:
		return (double)((const int64_t *)data)[i];
	case NPU_TYPE_FLOAT16:
		return tool_from_half(((const uint16_t *)data)[i]);
	case NPU_TYPE_FLOAT32:
		return (double)((const float *)data)[i];
	default:
		return ((const uint8_t *)data)[i];
	}
}

double tool_real(const struct npu_tensor_info *info, const void *data, uint64_t i)
{
	double stored = tool_stored(info, data, i);

	return info->scale > 0 ? (stored - info->zero_point) * (double)info->scale : stored;
}

static double limited(double number, double low, double high)
{
	return isnan(number) ? 0 : fmax(fmin(round(number), high), low);
}

void tool_store(const struct npu_tensor_info *info, void *data, uint64_t i, double number)
{
	switch (info->type) {
	case NPU_TYPE_INT8:
		((int8_t *)data)[i] = (int8_t)limited(number, INT8_MIN, INT8_MAX);
		return;
	case NPU_TYPE_INT16:
		((int16_t *)data)[i] = (int16_t)limited(number, INT16_MIN, INT16_MAX);
		return;
	case NPU_TYPE_INT32:
		((int32_t *)data)[i] = (int32_t)limited(number, INT32_MIN, INT32_MAX);
		return;
	case NPU_TYPE_INT64:
		/* The largest double below 2^63. */
		((int64_t *)data)[i] = (int64_t)limited(number, -0x1p63, 0x1.fffffffffffffp62);
		return;
	case NPU_TYPE_FLOAT16:
		((uint16_t *)data)[i] = tool_to_half(number);
		return;
	case NPU_TYPE_FLOAT32:
		((float *)data)[i] = (float)number;
		return;
	case NPU_TYPE_BOOL:
		((uint8_t *)data)[i] = number != 0;
		return;
	case NPU_TYPE_UINT8:
		((uint8_t *)data)[i] = (uint8_t)limited(number, 0, UINT8_MAX);
		return;
	}
}

static bool is_floating(const struct npu_tensor_info *info)
{
	return info->type == NPU_TYPE_FLOAT16 || info->type == NPU_TYPE_FLOAT32;
}

bool tool_takes_real(const struct npu_tensor_info *info)
{
	return is_floating(info) || info->scale > 0;
}

void tool_store_real(const struct npu_tensor_info *info, void *data, uint64_t i, double real)
{
	if (is_floating(info))
		tool_store(info, data, i, real);
	else if (isnan(real))
		tool_store(info, data, i, info->zero_point);
	else
		tool_store(info, data, i, round(real / (double)info->scale) + info->zero_point);
}
