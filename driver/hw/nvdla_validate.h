/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Inside of the validator: what its files share.  Users include nvdla_chain_check.h.
 */
#ifndef NVDLA_VALIDATE_H
#define NVDLA_VALIDATE_H

#include "nvdla_chain_check.h"

/**
 * struct nvdla_task_view - one task of a stream, taken apart
 * @cfg: configuration
 * @index: of the task in its chain
 * @kind, @label: as in the stream
 * @reg_count, @addr_count, @lut_count: entries of the three lists
 * @regs, @addrs, @luts: where these start
 * @units: bit (1 << enum nvdla_unit) for each unit that runs
 * @error: where a refusal is put
 */
struct nvdla_task_view {
	const struct nvdla_config *cfg;
	u32 index;
	u32 kind;
	u32 label;
	u32 reg_count;
	u32 addr_count;
	u32 lut_count;
	const u8 *regs;
	const u8 *addrs;
	const u8 *luts;
	u32 units;
	struct nvdla_chain_error *error;
};

#define NVDLA_UNIT_BIT(unit) (1u << NVDLA_UNIT_##unit)

static inline u32 nvdla_le32(const u8 *p)
{
	return p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24;
}

static inline u64 nvdla_le64(const u8 *p)
{
	return nvdla_le32(p) | (u64)nvdla_le32(p + 4) << 32;
}

/* Take apart the task at @offset of a validated stream. */
void nvdla_view_open(struct nvdla_task_view *v, const struct nvdla_chain *chain, u32 task);

/* Take apart the lists of a task whose head and size are known to lie inside of the stream. */
void nvdla_view_lists(struct nvdla_task_view *v, const u8 *task);

/* Does the task name any register of this 4 KiB block? */
bool nvdla_view_names(const struct nvdla_task_view *v, u32 base);

/* Value of a register: 0 where the task does not name it. */
u32 nvdla_view_reg(const struct nvdla_task_view *v, u32 reg);

/* A field of a register, and a size that the hardware stores minus one. */
#define VIEW(v, unit, reg, field) \
	NVDLA_GET(unit, reg, field, nvdla_view_reg(v, NVDLA_##unit##_##reg))
#define VIEW_SIZE(v, unit, reg, field) (VIEW(v, unit, reg, field) + 1)

static inline bool nvdla_view_runs(const struct nvdla_task_view *v, u32 unit)
{
	return v->units & 1u << unit;
}

/* Does the task use the look-up tables of SDP or CDP? */
bool nvdla_view_uses_lut(const struct nvdla_task_view *v);

/* Fill in the error.  Returns -EINVAL. */
int nvdla_refuse(const struct nvdla_task_view *v, u32 reg, const char *rule, u64 value, u64 limit);

/* The same where the configuration lacks something.  Returns -EOPNOTSUPP. */
int nvdla_refuse_missing(const struct nvdla_task_view *v, u32 reg, const char *rule, u64 value,
			 u64 limit);

/* List of DMA streams of one task. */
struct nvdla_access_list {
	struct nvdla_chain_access *access;
	u32 count;
};

/**
 * struct nvdla_access_want - one DMA stream that the registers of a task ask for
 * @low: register of the address's low half
 * @line_reg, @surface_reg: registers of the strides, for errors
 * @port_reg: register that selects the memory interface, for errors
 * @port: its value: 1 memory, 0 the second interface
 * @write: or else read
 * @surface: which bytes
 */
struct nvdla_access_want {
	u32 low;
	u32 line_reg;
	u32 surface_reg;
	u32 port_reg;
	u32 port;
	bool write;
	struct nvdla_surface surface;
};

/* Check a stream's address and strides and put it on the list. */
int nvdla_access_add(const struct nvdla_task_view *v, struct nvdla_access_list *list,
		     const struct nvdla_access_want *want);

/**
 * struct nvdla_conv_state - what a convolution leaves in CBUF for the next one
 * @valid: there was a convolution
 * @image: it had pixel input
 * @width, @channels, @eps: of the input's lines
 * @pad_left, @pad_right: padding stored with lines of pixels
 * @kept: lines that stay
 * @whole: all lines stay and are not fetched again (SKIP_DATA_RLS)
 * @weights_kept: the weights stay (SKIP_WEIGHT_RLS)
 * @data_banks, @weight_banks: its split
 * @kernels, @kernel_bytes: its weights
 */
struct nvdla_conv_state {
	bool valid;
	bool image;
	bool whole;
	bool weights_kept;
	u32 width;
	u32 channels;
	u32 eps;
	u32 pad_left;
	u32 pad_right;
	u32 kept;
	u32 data_banks;
	u32 weight_banks;
	u32 kernels;
	u32 kernel_bytes;
};

/*
 * Geometry and DMA of the units that run; @info is NULL where only the list is wanted.
 * nvdla_check_conv() takes and updates what CBUF holds; @state is NULL likewise.
 */
int nvdla_check_conv(const struct nvdla_task_view *v, struct nvdla_access_list *list,
		     struct nvdla_conv_state *state, struct nvdla_chain_task_info *info);
int nvdla_check_sdp(const struct nvdla_task_view *v, struct nvdla_access_list *list);
int nvdla_check_pdp(const struct nvdla_task_view *v, struct nvdla_access_list *list);
int nvdla_check_cdp(const struct nvdla_task_view *v, struct nvdla_access_list *list);

#endif /* NVDLA_VALIDATE_H */
