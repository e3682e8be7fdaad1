// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Reading a task of a stream, and refusing it.
 */
#include "nvdla_validate.h"

int nvdla_refuse(const struct nvdla_task_view *v, u32 reg, const char *rule, u64 value, u64 limit)
{
	if (v->error)
		*v->error = (struct nvdla_chain_error){
			.task = v->index,
			.label = v->label,
			.reg = reg,
			.rule = rule,
			.value = value,
			.limit = limit,
		};
	return -EINVAL;
}

int nvdla_refuse_missing(const struct nvdla_task_view *v, u32 reg, const char *rule, u64 value,
			 u64 limit)
{
	nvdla_refuse(v, reg, rule, value, limit);
	return -EOPNOTSUPP;
}

/* Index of the first register at or after @reg. */
static u32 lower_bound(const struct nvdla_task_view *v, u32 reg)
{
	u32 low = 0, high = v->reg_count;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (nvdla_le32(v->regs + mid * sizeof(struct nvdla_chain_reg)) < reg)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

u32 nvdla_view_reg(const struct nvdla_task_view *v, u32 reg)
{
	u32 i = lower_bound(v, reg);
	const u8 *p = v->regs + i * sizeof(struct nvdla_chain_reg);

	return i < v->reg_count && nvdla_le32(p) == reg ? nvdla_le32(p + 4) : 0;
}

bool nvdla_view_names(const struct nvdla_task_view *v, u32 base)
{
	return lower_bound(v, base) < lower_bound(v, base + NVDLA_UNIT_BYTES);
}

bool nvdla_view_uses_lut(const struct nvdla_task_view *v)
{
	if (v->kind == NVDLA_CHAIN_CDP)
		return true;
	return nvdla_view_runs(v, NVDLA_UNIT_SDP) && !VIEW(v, SDP, D_DP_EW_CFG, EW_BYPASS) &&
	       !VIEW(v, SDP, D_DP_EW_CFG, EW_LUT_BYPASS);
}

void nvdla_view_lists(struct nvdla_task_view *v, const u8 *task)
{
	v->kind = nvdla_le32(task + offsetof(struct nvdla_chain_task, kind));
	v->label = nvdla_le32(task + offsetof(struct nvdla_chain_task, label));
	v->reg_count = nvdla_le32(task + offsetof(struct nvdla_chain_task, reg_count));
	v->addr_count = nvdla_le32(task + offsetof(struct nvdla_chain_task, addr_count));
	v->lut_count = nvdla_le32(task + offsetof(struct nvdla_chain_task, lut_count));
	v->regs = task + sizeof(struct nvdla_chain_task);
	v->addrs = v->regs + (size_t)v->reg_count * sizeof(struct nvdla_chain_reg);
	v->luts = v->addrs + (size_t)v->addr_count * sizeof(struct nvdla_chain_addr);
}

void nvdla_view_open(struct nvdla_task_view *v, const struct nvdla_chain *chain, u32 task)
{
	const struct nvdla_chain_task_info *info = &chain->task[task];

	*v = (struct nvdla_task_view){
		.cfg = chain->config,
		.index = task,
		.units = info->units,
	};
	nvdla_view_lists(v, (const u8 *)chain->stream + info->offset);
}
