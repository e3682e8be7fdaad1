// SPDX-License-Identifier: MIT
/* Where the elements of a value lie: the one owner of this arithmetic. */
#include "../plan.h"

const struct npu_band *npu_plan_band(const struct npu_plan *plan, u32 value, u32 row)
{
	const struct npu_place *place = &plan->place[value];
	u32 i = place->count - 1;

	while (i && place->band[i].first > row)
		i--;
	return &place->band[i];
}

u32 npu_band_rows(const struct npu_net *net, const struct npu_plan *plan, u32 value, u32 index)
{
	const struct npu_place *place = &plan->place[value];
	u32 end = index + 1 < place->count ? place->band[index + 1].first : net->value[value].h;

	return end - place->band[index].first;
}

u64 npu_band_bytes(const struct npu_net *net, const struct npu_plan *plan, u32 value, u32 index)
{
	if (plan->place[value].count == 1)
		return net->value[value].bytes;
	return npu_band_rows(net, plan, value, index) * npu_row_bytes(net, value);
}

u64 npu_row_bytes(const struct npu_net *net, u32 value)
{
	const struct npu_value *v = &net->value[value];

	if (v->layout == NPU_LINEAR)
		return (u64)v->w * v->c * npu_dtype_bytes[v->dtype];
	return (u64)npu_value_surfaces(net->config, v) * v->line_stride;
}

u64 npu_plan_offset(const struct npu_net *net, const struct npu_plan *plan, u32 value, u32 y, u32 x,
		    u32 c)
{
	const struct npu_band *band = npu_plan_band(plan, value, y);
	const struct npu_value *v = &net->value[value];
	u32 atom = net->config->atom;

	if (v->layout == NPU_LINEAR)
		return band->offset + (y - band->first) * npu_row_bytes(net, value) +
		       ((u64)x * v->c + c) * npu_dtype_bytes[v->dtype];
	/* Of pixels, @c is the plane. */
	if (v->layout == NPU_PIXELS)
		return band->offset + (u64)c * band->surface_stride +
		       (u64)(y - band->first) * v->line_stride +
		       (u64)x * (c ? v->c - v->pixel_bytes : v->pixel_bytes);
	return band->offset + (u64)(c / atom) * band->surface_stride +
	       (u64)(y - band->first) * v->line_stride + (u64)x * atom + c % atom;
}
