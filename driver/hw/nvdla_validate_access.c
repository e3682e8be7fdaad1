// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DMA streams of a task: an address each, strides that fit, and bytes that can be reached.
 */
#include "nvdla_validate.h"

/* The address that the task names for a register; NULL: none, or more than one. */
static const u8 *find_addr(const struct nvdla_task_view *v, u32 low)
{
	const u8 *found = NULL;
	u32 i;

	for (i = 0; i < v->addr_count; i++) {
		const u8 *p = v->addrs + i * sizeof(struct nvdla_chain_addr);

		if (nvdla_le32(p + offsetof(struct nvdla_chain_addr, reg)) != low)
			continue;
		if (found)
			return NULL;
		found = p;
	}
	return found;
}

/* Strides: whole atoms, and lines that do not overlap (one surface may be read many times). */
static int check_strides(const struct nvdla_task_view *v, const struct nvdla_access_want *want)
{
	const struct nvdla_surface *s = &want->surface;
	u32 atom = v->cfg->atom;

	if (s->line_stride % atom)
		return nvdla_refuse(v, want->line_reg, "stride in whole memory atoms",
				    s->line_stride, atom);
	if (s->surface_stride % atom)
		return nvdla_refuse(v, want->surface_reg, "stride in whole memory atoms",
				    s->surface_stride, atom);
	if (s->lines > 1 && s->line_stride < s->line_bytes)
		return nvdla_refuse(v, want->line_reg, "stride of at least a line's bytes",
				    s->line_stride, s->line_bytes);
	if (want->write && !nvdla_surface_disjoint(s))
		return nvdla_refuse(v, want->surface_reg, "lines of the output that do not overlap",
				    s->surface_stride, (u64)s->lines * s->line_stride);
	return 0;
}

int nvdla_access_add(const struct nvdla_task_view *v, struct nvdla_access_list *list,
		     const struct nvdla_access_want *want)
{
	const u8 *addr = find_addr(v, want->low);
	u32 atom = v->cfg->atom, beat = v->cfg->dbb_bytes, align = max(atom, beat);
	u64 offset, bytes, end;
	u32 region;
	int err;

	if (!addr)
		return nvdla_refuse(v, want->low, "one address for each DMA of the task", 0, 1);
	if (!want->port && !(v->cfg->features & NVDLA_HAS_CVIF))
		return nvdla_refuse_missing(v, want->port_reg, "no second memory interface: 1",
					    want->port, 1);
	err = check_strides(v, want);
	if (err)
		return err;
	region = nvdla_le32(addr + offsetof(struct nvdla_chain_addr, region));
	offset = nvdla_le64(addr + offsetof(struct nvdla_chain_addr, offset));
	/* Weights need a bus beat only, which is what an atom is on all configurations so far. */
	if (want->low == NVDLA_CDMA_D_WEIGHT_ADDR_LOW)
		align = v->cfg->dbb_bytes;
	if (offset & (align - 1))
		return nvdla_refuse(v, want->low, "address in whole memory atoms", offset, align);
	if (!nvdla_surface_span(&want->surface, &bytes) ||
	    check_add_overflow(offset, bytes, &end) || end > nvdla_address_limit(v->cfg))
		return nvdla_refuse(v, want->low, "bytes that an address can reach", offset,
				    nvdla_address_limit(v->cfg));
	list->access[list->count++] = (struct nvdla_chain_access){
		.reg = want->low,
		.region = region,
		.offset = offset,
		.bytes = bytes,
		.second_port = !want->port,
		.write = want->write,
		.surface = want->surface,
	};
	return 0;
}
