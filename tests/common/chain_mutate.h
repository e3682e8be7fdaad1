/* SPDX-License-Identifier: MIT */
/*
 * A mutator of chain streams, for fuzzers.  It knows the format: it makes well-formed tasks, copies
 * tasks with reuse flags, and changes single fields, often in both of the registers that have to
 * agree.
 *
 * What it changes is one byte that selects the configuration, one that is the fuzzer's, then the
 * stream.
 */
#ifndef CHAIN_MUTATE_H
#define CHAIN_MUTATE_H

#include "chain_tasks.h"
#include "nvdla_rules.h"

#define CHAIN_MUTATE_HEAD 2
#define CHAIN_MUTATE_TASKS 4
#define CHAIN_MUTATE_REGS 320
#define CHAIN_MUTATE_LUTS 2

static __thread u32 random_state;

static u32 random_below(u32 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return n ? random_state % n : 0;
}

static u32 random_from(u32 low, u32 high)
{
	return low + random_below(high - low + 1);
}

static bool one_in(u32 n)
{
	return random_below(n) == 0;
}

/* A task taken apart, to be changed and put together again. */
struct task_copy {
	struct nvdla_chain_task head;
	struct nvdla_chain_reg reg[CHAIN_MUTATE_REGS];
	struct nvdla_chain_addr addr[16];
	struct nvdla_chain_lut lut[CHAIN_MUTATE_LUTS];
};

struct stream_copy {
	u8 head[CHAIN_MUTATE_HEAD];
	struct nvdla_chain_header header;
	struct task_copy task[CHAIN_MUTATE_TASKS + 1];
	u32 tasks;
};

static bool take(const u8 **p, size_t *left, void *to, size_t bytes)
{
	if (*left < bytes)
		return false;
	memcpy(to, *p, bytes);
	*p += bytes;
	*left -= bytes;
	return true;
}

static bool take_task(const u8 **p, size_t *left, struct task_copy *t)
{
	return take(p, left, &t->head, sizeof(t->head)) && t->head.reg_count <= CHAIN_MUTATE_REGS &&
	       t->head.addr_count <= ARRAY_SIZE(t->addr) &&
	       t->head.lut_count <= CHAIN_MUTATE_LUTS &&
	       take(p, left, t->reg, t->head.reg_count * sizeof(t->reg[0])) &&
	       take(p, left, t->addr, t->head.addr_count * sizeof(t->addr[0])) &&
	       take(p, left, t->lut, t->head.lut_count * sizeof(t->lut[0]));
}

/* As much of the input as makes sense. */
static void take_apart(struct stream_copy *s, const u8 *data, size_t size)
{
	memset(s->head, 0, CHAIN_MUTATE_HEAD);
	memset(&s->header, 0, sizeof(s->header));
	s->tasks = 0;
	if (!take(&data, &size, s->head, CHAIN_MUTATE_HEAD) ||
	    !take(&data, &size, &s->header, sizeof(s->header)))
		return;
	while (s->tasks < CHAIN_MUTATE_TASKS && take_task(&data, &size, &s->task[s->tasks]))
		s->tasks++;
}

static size_t put_together(struct stream_copy *s, u8 *data, size_t max_size)
{
	static __thread struct chain_build b;
	size_t size = 0;
	u32 i;

	s->header = (struct nvdla_chain_header){
		.magic = NVDLA_CHAIN_MAGIC,
		.version = NVDLA_CHAIN_VERSION,
		.task_count = s->tasks,
		.region_count = TASK_REGIONS,
	};
	b.size = 0;
	chain_append(&b, s->head, CHAIN_MUTATE_HEAD);
	chain_append(&b, &s->header, sizeof(s->header));
	for (i = 0; i < s->tasks; i++) {
		struct task_copy *t = &s->task[i];

		t->head.size = (u32)(sizeof(t->head) + t->head.reg_count * sizeof(t->reg[0]) +
				     t->head.addr_count * sizeof(t->addr[0]) +
				     t->head.lut_count * sizeof(t->lut[0]));
		chain_append(&b, &t->head, sizeof(t->head));
		chain_append(&b, t->reg, t->head.reg_count * sizeof(t->reg[0]));
		chain_append(&b, t->addr, t->head.addr_count * sizeof(t->addr[0]));
		chain_append(&b, t->lut, t->head.lut_count * sizeof(t->lut[0]));
	}
	s->header.size = (u32)(b.size - CHAIN_MUTATE_HEAD);
	memcpy(b.data + CHAIN_MUTATE_HEAD, &s->header, sizeof(s->header));
	size = b.size <= max_size ? b.size : 0;
	memcpy(data, b.data, size);
	return size;
}

static u64 random_offset(const struct nvdla_config *cfg)
{
	return random_below(0x2000) / cfg->atom * cfg->atom;
}

/* Padded sizes for @out windows. */
static u32 input_for(u32 out, u32 kernel, u32 dilation, u32 stride, u32 *before, u32 *after)
{
	u32 reach = (kernel - 1) * dilation + 1;
	u32 need = (out - 1) * stride + reach + random_below(stride);

	*before = one_in(2) ? random_below(min(reach, 4u)) : 0;
	*after = one_in(2) ? random_below(min(reach, 4u)) : 0;
	while (*before + *after >= need) {
		*before /= 2;
		*after /= 2;
	}
	return need - *before - *after;
}

/* A kernel group that fills its banks, nearly or by a little more. */
static void tight_weights(const struct nvdla_config *cfg, struct conv_shape *n)
{
	u32 bank = (u32)cfg->entries * cfg->entry_bytes / cfg->atomic_k;

	n->c = (bank + random_below(5)) / (n->r * n->s) - random_below(2);
	n->k = random_from(1, cfg->atomic_k + 8);
	n->w = n->s;
	n->h = n->r + random_below(2);
	n->stride_x = n->stride_y = n->dilation_x = n->dilation_y = 1;
	n->pad_left = n->pad_right = n->pad_top = n->pad_bottom = 0;
}

/* Input lines that fill their banks. */
static void tight_data(const struct nvdla_config *cfg, struct conv_shape *n)
{
	u32 lines;

	n->stride_y = 8;
	n->dilation_y = 1;
	n->k = random_from(1, 3);
	lines = cfg->entries / conv_eps(cfg, n) + random_below(3);
	if (lines > 1 + n->r)
		n->h = lines - 1;
}

static void random_conv_shape(const struct nvdla_config *cfg, struct conv_shape *n)
{
	static const u8 formats[] = { 0, 12, 13, 15, 16, 19, 26, 27, 28, 29 };

	*n = (struct conv_shape){
		.c = one_in(4) ? random_from(1, 70) : random_from(1, 16),
		.k = one_in(4) ? random_from(1, 70) : random_from(1, 12),
		.r = random_from(1, 3),
		.s = random_from(1, 3),
		.stride_x = one_in(3) ? random_from(1, 4) : 1,
		.stride_y = one_in(3) ? random_from(1, 4) : 1,
		.dilation_x = one_in(6) ? 2 : 1,
		.dilation_y = one_in(6) ? 2 : 1,
		.in = random_offset(cfg),
		.out = random_offset(cfg),
		.weights = random_offset(cfg),
	};
	if (one_in(4)) {
		n->image = true;
		n->dilation_x = 1;
		n->pixel_format = formats[random_below(ARRAY_SIZE(formats))];
		n->c = n->pixel_format == 0 ? 1 : n->pixel_format >= 28 ? 3 : 4;
		n->pixel_offset = one_in(3) ? 1 : 0;
		n->y_extension = one_in(4) ? random_from(1, 2) : 0;
	}
	n->w = input_for(random_from(1, 4), n->s, n->dilation_x, n->stride_x, &n->pad_left,
			 &n->pad_right);
	n->h = input_for(random_from(1, 4), n->r, n->dilation_y, n->stride_y, &n->pad_top,
			 &n->pad_bottom);
	if (!n->image && one_in(10))
		tight_weights(cfg, n);
	else if (one_in(10))
		tight_data(cfg, n);
	n->data_banks = conv_data_banks(cfg, n) + (one_in(2) ? random_below(3) : 0);
	n->weight_banks = conv_weight_banks(cfg, n) + (one_in(2) ? random_below(2) : 0);
}

static void random_pool_shape(const struct nvdla_config *cfg, struct pool_shape *p)
{
	*p = (struct pool_shape){
		.c = random_from(1, 20),
		.kernel_w = random_from(1, one_in(4) ? 8 : 3),
		.kernel_h = random_from(1, one_in(4) ? 8 : 3),
		.stride_w = random_from(1, one_in(4) ? 5 : 2),
		.stride_h = random_from(1, one_in(4) ? 5 : 2),
		.method = random_below(3),
		.in = random_offset(cfg),
		.out = random_offset(cfg),
	};
	p->w = input_for(random_from(1, 6), p->kernel_w, 1, p->stride_w, &p->pad_left,
			 &p->pad_right);
	p->h = input_for(random_from(1, 3), p->kernel_h, 1, p->stride_h, &p->pad_top,
			 &p->pad_bottom);
	if (one_in(3) && pool_out_w(p) >= 2) {
		p->parts = 2;
		p->first_out = random_from(1, pool_out_w(p) - 1);
	}
}

/* A stage of SDP: any operation on registers, or with operands from memory. */
static void random_stage(struct chain_build *b, u32 stage, u32 w, u32 h, u32 c,
			 const struct nvdla_config *cfg)
{
	static const struct {
		u32 cfg, alu, mul, rdma, low, line, surface;
	} regs[] = {
		{ NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_ALU_CFG, NVDLA_SDP_D_DP_BS_MUL_CFG,
		  NVDLA_SDP_RDMA_D_BRDMA_CFG, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW,
		  NVDLA_SDP_RDMA_D_BS_LINE_STRIDE, NVDLA_SDP_RDMA_D_BS_SURFACE_STRIDE },
		{ NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_ALU_CFG, NVDLA_SDP_D_DP_BN_MUL_CFG,
		  NVDLA_SDP_RDMA_D_NRDMA_CFG, NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW,
		  NVDLA_SDP_RDMA_D_BN_LINE_STRIDE, NVDLA_SDP_RDMA_D_BN_SURFACE_STRIDE },
		{ NVDLA_SDP_D_DP_EW_CFG, NVDLA_SDP_D_DP_EW_ALU_CFG, NVDLA_SDP_D_DP_EW_MUL_CFG,
		  NVDLA_SDP_RDMA_D_ERDMA_CFG, NVDLA_SDP_RDMA_D_EW_BASE_ADDR_LOW,
		  NVDLA_SDP_RDMA_D_EW_LINE_STRIDE, NVDLA_SDP_RDMA_D_EW_SURFACE_STRIDE },
	};
	u32 use = random_below(4), two_bytes = random_below(2), element = random_below(2);
	u32 atom = cfg->atom * (two_bytes + 1) * (use == 2 ? 2 : 1);

	chain_set(b, regs[stage].cfg,
		  NVDLA_SET(SDP, D_DP_BS_CFG, BS_ALU_ALGO, random_below(3)) |
			  NVDLA_SET(SDP, D_DP_BS_CFG, BS_MUL_PRELU, one_in(4)) |
			  NVDLA_SET(SDP, D_DP_BS_CFG, BS_RELU_BYPASS, stage == 2 || one_in(2)));
	chain_set(b, regs[stage].alu, use == 1 || use == 2);
	chain_set(b, regs[stage].mul, use == 0 || use == 2);
	if (use == 3)
		return;
	chain_set(b, regs[stage].rdma,
		  NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_USE, use) |
			  NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_SIZE, two_bytes) |
			  NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_MODE, element) |
			  NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_RAM_TYPE, 1));
	chain_set(b, regs[stage].line, w * atom);
	chain_set(b, regs[stage].surface, w * h * atom);
	chain_addr(b, regs[stage].low, TASK_WEIGHTS, random_offset(cfg));
}

/* EW through its tables. */
static void random_lut(struct chain_build *b)
{
	chain_set(b, NVDLA_SDP_D_DP_EW_CFG,
		  chain_get(b, NVDLA_SDP_D_DP_EW_CFG) &
			  ~NVDLA_MASK(SDP, D_DP_EW_CFG, EW_LUT_BYPASS));
	CHAIN_SET(b, SDP, S_LUT_CFG, random_below(2));
	CHAIN_SET(b, SDP, S_LUT_INFO, random_below(5) << 8 | random_below(5) << 16);
	CHAIN_SET(b, SDP, S_LUT_LE_START, 0u - random_below(64));
	CHAIN_SET(b, SDP, S_LUT_LE_END, random_below(1000));
	CHAIN_SET(b, SDP, S_LUT_LO_START, 0u - random_below(200));
	CHAIN_SET(b, SDP, S_LUT_LO_END, random_below(4000));
	if (!one_in(4))
		task_tables(b);
}

static void random_stages(struct chain_build *b, const struct nvdla_config *cfg, u32 w, u32 h,
			  u32 c, bool flying)
{
	u32 stage, stages = cfg->features & NVDLA_HAS_EW ? 3 : 2;

	if (flying && one_in(2))
		task_sdp_rdma(b, w, h, c, true);
	if (!chain_has(b, NVDLA_SDP_RDMA_D_BRDMA_CFG))
		return;
	for (stage = 0; stage < stages; stage++)
		if (one_in(2))
			random_stage(b, stage, w, h, c, cfg);
	if (cfg->features & NVDLA_HAS_SDP_LUT && one_in(4) &&
	    !(chain_get(b, NVDLA_SDP_D_DP_EW_CFG) & 1))
		random_lut(b);
}

/* The task that @b holds, taken apart. */
static void finish_task(struct chain_build *b, struct task_copy *t)
{
	const u8 *p;
	size_t left;

	chain_task_end(b);
	p = b->data + sizeof(struct nvdla_chain_header);
	left = b->size - sizeof(struct nvdla_chain_header);
	if (!take_task(&p, &left, t))
		abort();
	chain_free(b);
}

static void random_conv(const struct nvdla_config *cfg, struct task_copy *t)
{
	static __thread struct chain_build b;
	struct conv_shape n;

	chain_begin(&b);
	random_conv_shape(cfg, &n);
	chain_conv(&b, cfg, &n, 0);
	random_stages(&b, cfg, conv_out_w(&n), conv_out_h(&n), n.k, true);
	if (one_in(6)) {
		struct pool_shape p = {
			.w = conv_out_w(&n),
			.h = conv_out_h(&n),
			.c = n.k,
			.kernel_w = 1,
			.kernel_h = 1,
			.stride_w = 1,
			.stride_h = 1,
			.method = random_below(3),
			.out = random_offset(cfg),
		};

		p.kernel_w = random_from(1, min(p.w, 8u));
		p.kernel_h = random_from(1, min(p.h, 8u));
		task_pool_behind(&b, cfg, &p);
	}
	finish_task(&b, t);
}

static void random_task(const struct nvdla_config *cfg, struct task_copy *t)
{
	static __thread struct chain_build b;
	u32 w = random_from(1, 5), h = random_from(1, 5), c = random_from(1, one_in(4) ? 70 : 20);
	struct pool_shape p;

	switch (random_below(6)) {
	case 0:
		chain_begin(&b);
		chain_sdp(&b, cfg, w, h, c, random_offset(cfg), random_offset(cfg), 0);
		random_stages(&b, cfg, w, h, c, false);
		break;
	case 1:
		chain_begin(&b);
		random_pool_shape(cfg, &p);
		chain_pdp(&b, cfg, &p, 0);
		break;
	case 2:
		chain_begin(&b);
		chain_cdp(&b, cfg, w, h, c, random_offset(cfg), random_offset(cfg), !one_in(4), 0);
		break;
	default:
		random_conv(cfg, t);
		return;
	}
	finish_task(&b, t);
}

static u32 *find_reg(struct task_copy *t, u32 reg)
{
	u32 i;

	for (i = 0; i < t->head.reg_count; i++)
		if (t->reg[i].reg == reg)
			return &t->reg[i].value;
	return NULL;
}

/* The value of a register, which is named from now on. */
static u32 *name_reg(struct task_copy *t, u32 reg)
{
	u32 at = t->head.reg_count, *value = find_reg(t, reg);

	if (value || at == CHAIN_MUTATE_REGS)
		return value;
	while (at && t->reg[at - 1].reg > reg) {
		t->reg[at] = t->reg[at - 1];
		at--;
	}
	t->head.reg_count++;
	t->reg[at] = (struct nvdla_chain_reg){ reg, 0 };
	return &t->reg[at].value;
}

/* Does the task name any register of the unit? */
static bool names_unit_of(const struct task_copy *t, u32 reg)
{
	u32 i;

	for (i = 0; i < t->head.reg_count; i++)
		if (nvdla_unit_of(t->reg[i].reg) == nvdla_unit_of(reg))
			return true;
	return false;
}

static void set_bits(struct task_copy *t, u32 reg, u32 mask, u32 value)
{
	u32 *p = find_reg(t, reg);

	if (p)
		*p = (*p & ~mask) | (value & mask);
}

static u32 get_bits(struct task_copy *t, u32 reg, u32 lsb, u32 width)
{
	u32 *p = find_reg(t, reg);

	return p ? *p >> lsb & (u32)((1ull << width) - 1) : 0;
}

static void set_misc(struct task_copy *t, u32 mask, u32 value)
{
	set_bits(t, NVDLA_CDMA_D_MISC_CFG, mask, value);
	set_bits(t, NVDLA_CSC_D_MISC_CFG, mask, value);
}

/* A copy of a convolution that uses what that one keeps: all data, its last lines, or its weights. */
static void link_copies(struct task_copy *from, struct task_copy *to)
{
	const u32 skip_data = NVDLA_MASK(CDMA, D_MISC_CFG, SKIP_DATA_RLS);
	const u32 reuse_data = NVDLA_MASK(CDMA, D_MISC_CFG, DATA_REUSE);
	const u32 skip_weight = NVDLA_MASK(CDMA, D_MISC_CFG, SKIP_WEIGHT_RLS);
	const u32 reuse_weight = NVDLA_MASK(CDMA, D_MISC_CFG, WEIGHT_REUSE);
	u32 rows = get_bits(from, NVDLA_CSC_D_DATAIN_SIZE_EXT_0, 16, 13) + 1, keep;

	*to = *from;
	if (one_in(2)) {
		set_misc(from, skip_weight, skip_weight);
		set_misc(to, skip_weight | reuse_weight, reuse_weight);
	}
	switch (random_below(3)) {
	case 0:
		set_misc(from, skip_data, skip_data);
		set_bits(from, NVDLA_CSC_D_RELEASE, 0xfff, rows - 1);
		set_misc(to, skip_data | reuse_data, reuse_data);
		break;
	case 1:
		if (rows < 2)
			break;
		/* The copy has as many lines: some kept, the others fetched. */
		keep = random_from(1, rows - 1);
		set_bits(from, NVDLA_CSC_D_RELEASE, 0xfff, rows - keep - 1);
		set_misc(to, skip_data | reuse_data, reuse_data);
		set_bits(to, NVDLA_CDMA_D_DATAIN_SIZE_0, 0x1fff0000, (rows - keep - 1) << 16);
		set_bits(to, NVDLA_CDMA_D_DATAIN_SIZE_EXT_0, 0x1fff0000, (rows - keep - 1) << 16);
		break;
	default:
		break;
	}
}

/* A new value for a field: near the old one, or anything. */
static u32 new_value(u32 old, u32 width)
{
	switch (random_below(4)) {
	case 0:
		return old + 1;
	case 1:
		return old - 1;
	case 2:
		return old ^ 1u << random_below(width);
	default:
		return random_below(0xffffffff) >> random_below(32);
	}
}

static void change_field(struct task_copy *t)
{
	const struct nvdla_field_rule *r;
	u32 *value, mask, x, i;

	if (!t->head.reg_count)
		return;
	r = &nvdla_field_rules[random_below(nvdla_field_rule_count)];
	value = names_unit_of(t, r->reg) || one_in(50) ? name_reg(t, r->reg) : NULL;
	if (!value)
		return;
	mask = (u32)((1ull << r->width) - 1);
	x = new_value(*value >> r->lsb & mask, r->width) & mask;
	*value = (*value & ~(mask << r->lsb)) | x << r->lsb;
	if (one_in(4))
		return;
	/* And the field that has to agree. */
	for (i = 0; i < nvdla_equal_rule_count; i++) {
		const struct nvdla_equal_rule *e = &nvdla_equal_rules[i];
		u32 e_mask = (u32)((1ull << e->a_width) - 1);

		if (e->b_reg == r->reg && e->b_lsb == r->lsb)
			set_bits(t, e->a_reg, e_mask << e->a_lsb, x << e->a_lsb);
		else if (e->a_reg == r->reg && e->a_lsb == r->lsb)
			set_bits(t, e->b_reg, e_mask << e->b_lsb, x << e->b_lsb);
	}
}

static void change_address(struct task_copy *t, const struct nvdla_config *cfg)
{
	struct nvdla_chain_addr *a;

	if (!t->head.addr_count)
		return;
	a = &t->addr[random_below(t->head.addr_count)];
	switch (random_below(8)) {
	case 0:
		a->region = random_below(TASK_REGIONS + 1);
		break;
	case 1:
		a->offset ^= 1ull << random_below(64);
		break;
	case 2:
		a->reg = nvdla_address_regs[random_below(nvdla_address_count)].low;
		break;
	default:
		a->region = random_below(TASK_REGIONS);
		a->offset = random_offset(cfg);
	}
}

/* Take a register out: it counts as zero then. */
static void drop_register(struct task_copy *t)
{
	u32 at = random_below(t->head.reg_count);

	if (!t->head.reg_count)
		return;
	t->head.reg_count--;
	memmove(&t->reg[at], &t->reg[at + 1], (t->head.reg_count - at) * sizeof(t->reg[0]));
}

static void change_stream(struct stream_copy *s)
{
	const struct nvdla_config *cfg = &nvdla_configs[s->head[0] % nvdla_config_count];
	u32 at = random_below(s->tasks);

	if (!s->tasks || (s->tasks < CHAIN_MUTATE_TASKS && one_in(4))) {
		random_task(cfg, &s->task[s->tasks++]);
		return;
	}
	switch (random_below(14)) {
	case 0:
		s->head[0] = (u8)random_below(nvdla_config_count);
		s->tasks = 0;
		random_task(&nvdla_configs[s->head[0]], &s->task[s->tasks++]);
		break;
	case 1:
		s->head[1] = (u8)random_below(256);
		break;
	case 2:
		s->tasks--;
		memmove(&s->task[at], &s->task[at + 1], (s->tasks - at) * sizeof(s->task[0]));
		break;
	case 3:
	case 4:
	case 5:
		if (s->tasks < CHAIN_MUTATE_TASKS &&
		    s->task[s->tasks - 1].head.kind == NVDLA_CHAIN_CONV) {
			link_copies(&s->task[s->tasks - 1], &s->task[s->tasks]);
			s->tasks++;
		}
		break;
	case 6:
		random_task(cfg, &s->task[at]);
		break;
	case 7:
	case 8:
	case 9:
		change_address(&s->task[at], cfg);
		break;
	case 10:
		drop_register(&s->task[at]);
		break;
	default:
		change_field(&s->task[at]);
	}
}

static inline void chain_mutate_seed(u32 seed)
{
	random_state = seed * 2654435761u | 1;
	random_below(1);
}

/* Changes the @size bytes at @data.  Returns how many there are then, at most @max_size. */
static inline size_t chain_mutate(u8 *data, size_t size, size_t max_size)
{
	static __thread struct stream_copy s;
	size_t bytes;
	u32 rounds;

	take_apart(&s, data, size);
	for (rounds = random_from(1, 3); rounds; rounds--)
		change_stream(&s);
	bytes = put_together(&s, data, max_size);
	return bytes ? bytes : size;
}

#endif /* CHAIN_MUTATE_H */
