// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The walk over an untrusted stream: structure, tables, then the rules of the units.
 */
#include "nvdla_cbuf.h"
#include "nvdla_rules.h"
#include "nvdla_validate.h"

#define ROUND_UP_8(x) (((x) + 7) & ~(size_t)7)

/* The entries of look-up tables LE and LO. */
static const u32 lut_entries[NVDLA_LUT_TABLES] = { NVDLA_LUT_LE_ENTRIES, NVDLA_LUT_LO_ENTRIES };

/* What is carried from task to task of a chain; too large for a kernel's stack. */
struct walk {
	struct nvdla_chain *chain;
	struct nvdla_conv_state conv;
	u32 run; /* tasks so far from the first on that left content of CBUF for this one */
	u32 table_task[2][NVDLA_LUT_TABLES]; /* of SDP and CDP: who loaded it last in this chain */
	u32 last_done; /* of the task before */
	struct nvdla_access_list
		list[2]; /* DMA of this task and the one before, by number modulo 2 */
	struct nvdla_chain_access access[2][NVDLA_CHAIN_MAX_ACCESSES];
};

/* Units of a kind that always run, and that may. */
static const struct kind_units {
	u32 always;
	u32 allowed;
} kind_units[] = {
	[NVDLA_CHAIN_CONV] = { NVDLA_UNIT_BIT(CDMA) | NVDLA_UNIT_BIT(CSC) | NVDLA_UNIT_BIT(CMAC_A) |
				       NVDLA_UNIT_BIT(CMAC_B) | NVDLA_UNIT_BIT(CACC) |
				       NVDLA_UNIT_BIT(SDP),
			       NVDLA_UNIT_BIT(SDP_RDMA) | NVDLA_UNIT_BIT(PDP) },
	[NVDLA_CHAIN_SDP] = { NVDLA_UNIT_BIT(SDP_RDMA) | NVDLA_UNIT_BIT(SDP), NVDLA_UNIT_BIT(PDP) },
	[NVDLA_CHAIN_PDP] = { NVDLA_UNIT_BIT(PDP_RDMA) | NVDLA_UNIT_BIT(PDP), 0 },
	[NVDLA_CHAIN_CDP] = { NVDLA_UNIT_BIT(CDP_RDMA) | NVDLA_UNIT_BIT(CDP), 0 },
};

static bool kind_known(u32 kind)
{
	return kind < ARRAY_SIZE(kind_units) && kind_units[kind].always;
}

/* Does SDP_RDMA fetch operands for a convolution? */
static bool fetches_operands(const struct nvdla_task_view *v)
{
	return nvdla_view_names(v, NVDLA_SDP_RDMA_BASE) &&
	       (!VIEW(v, SDP_RDMA, D_BRDMA_CFG, BRDMA_DISABLE) ||
		!VIEW(v, SDP_RDMA, D_NRDMA_CFG, NRDMA_DISABLE) ||
		!VIEW(v, SDP_RDMA, D_ERDMA_CFG, ERDMA_DISABLE));
}

static u32 running_units(const struct nvdla_task_view *v)
{
	u32 units = kind_units[v->kind].always;

	if (v->kind == NVDLA_CHAIN_CONV && fetches_operands(v))
		units |= NVDLA_UNIT_BIT(SDP_RDMA);
	if ((units & NVDLA_UNIT_BIT(SDP)) && VIEW(v, SDP, D_FEATURE_MODE_CFG, OUTPUT_DST))
		units |= NVDLA_UNIT_BIT(PDP);
	return units;
}

static u32 done_bits(u32 units)
{
	u32 done = 0;

	if (units & NVDLA_UNIT_BIT(SDP))
		done |= 1u << NVDLA_INTR_SDP;
	if (units & NVDLA_UNIT_BIT(PDP))
		done |= 1u << NVDLA_INTR_PDP;
	if (units & NVDLA_UNIT_BIT(CDP))
		done |= 1u << NVDLA_INTR_CDP;
	return done;
}

/* Head of the task at @offset: it and its lists lie inside of the stream. */
static int open_task(struct nvdla_task_view *v, const struct nvdla_chain *chain, size_t offset,
		     size_t *end)
{
	const u8 *task = (const u8 *)chain->stream + offset;
	size_t left = chain->bytes - offset, size;
	u64 want;

	if (left < sizeof(struct nvdla_chain_task))
		return nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "the stream holds every task", left,
				    sizeof(struct nvdla_chain_task));
	/* The lists are pointers only until their counts are known to fit. */
	v->kind = nvdla_le32(task + offsetof(struct nvdla_chain_task, kind));
	v->label = nvdla_le32(task + offsetof(struct nvdla_chain_task, label));
	size = nvdla_le32(task + offsetof(struct nvdla_chain_task, size));
	if (!kind_known(v->kind))
		return nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "a known kind of task", v->kind,
				    NVDLA_CHAIN_CDP);
	if (size > left)
		return nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "the stream holds every task", size,
				    left);
	want = sizeof(struct nvdla_chain_task) +
	       (u64)nvdla_le32(task + offsetof(struct nvdla_chain_task, reg_count)) *
		       sizeof(struct nvdla_chain_reg) +
	       (u64)nvdla_le32(task + offsetof(struct nvdla_chain_task, addr_count)) *
		       sizeof(struct nvdla_chain_addr) +
	       (u64)nvdla_le32(task + offsetof(struct nvdla_chain_task, lut_count)) *
		       sizeof(struct nvdla_chain_lut);
	if (size != want)
		return nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "size of the task and its lists", size,
				    want);
	nvdla_view_lists(v, task);
	*end = offset + size;
	return 0;
}

static int check_field(const struct nvdla_task_view *v, const struct nvdla_field_rule *r, u32 value)
{
	u32 x = value >> r->lsb & (u32)((1ull << r->width) - 1);

	if (x >= r->low && x <= r->high)
		return 0;
	if (!r->feature)
		return nvdla_refuse(v, r->reg, r->rule, x, r->high);
	if (v->cfg->features & r->feature)
		return 0;
	return nvdla_refuse_missing(v, r->reg, r->rule, x, r->high);
}

/* All rows of one register, from @rule on: returns the first row behind them. */
static int check_value(const struct nvdla_task_view *v, u32 *rule, u32 value)
{
	u32 reg = nvdla_field_rules[*rule].reg, mask = 0;

	for (; *rule < nvdla_field_rule_count && nvdla_field_rules[*rule].reg == reg; ++*rule) {
		const struct nvdla_field_rule *r = &nvdla_field_rules[*rule];
		int err = check_field(v, r, value);

		if (err)
			return err;
		mask |= (u32)(((1ull << r->width) - 1) << r->lsb);
	}
	if (value & ~mask)
		return nvdla_refuse(v, reg, "bits outside of the fields are zero", value, mask);
	return 0;
}

/* Registers that are not named, from @rule up to @reg, are zero: may they be, where they count? */
static int check_unnamed(const struct nvdla_task_view *v, u32 *rule, u32 reg)
{
	while (*rule < nvdla_field_rule_count && nvdla_field_rules[*rule].reg < reg) {
		if (nvdla_view_runs(v, nvdla_unit_of(nvdla_field_rules[*rule].reg))) {
			int err = check_field(v, &nvdla_field_rules[*rule], 0);

			if (err)
				return err;
		}
		++*rule;
	}
	return 0;
}

/* Both lists ascend, so one walk over them does. */
static int check_registers(const struct nvdla_task_view *v)
{
	u32 allowed = kind_units[v->kind].always | kind_units[v->kind].allowed;
	u32 i, rule = 0, last = 0;
	int err;

	for (i = 0; i < v->reg_count; i++) {
		const u8 *p = v->regs + (size_t)i * sizeof(struct nvdla_chain_reg);
		u32 reg = nvdla_le32(p);

		if (i && reg <= last)
			return nvdla_refuse(v, reg, "registers in ascending order", reg, last);
		last = reg;
		if (reg >= NVDLA_REGS_BYTES || !(allowed & 1u << nvdla_unit_of(reg)))
			return nvdla_refuse(v, reg, "registers of the task's units only", reg, 0);
		err = check_unnamed(v, &rule, reg);
		if (err)
			return err;
		if (rule == nvdla_field_rule_count || nvdla_field_rules[rule].reg != reg)
			return nvdla_refuse(v, reg, "a register that a chain may set", reg, 0);
		err = check_value(v, &rule, nvdla_le32(p + 4));
		if (err)
			return err;
	}
	return check_unnamed(v, &rule, NVDLA_REGS_BYTES);
}

static u32 field_of(const struct nvdla_task_view *v, u32 reg, u32 lsb, u32 width)
{
	return nvdla_view_reg(v, reg) >> lsb & (u32)((1ull << width) - 1);
}

static int check_equal(const struct nvdla_task_view *v)
{
	u32 i;

	for (i = 0; i < nvdla_equal_rule_count; i++) {
		const struct nvdla_equal_rule *r = &nvdla_equal_rules[i];
		u32 a, b;

		if (!nvdla_view_runs(v, nvdla_unit_of(r->a_reg)) ||
		    !nvdla_view_runs(v, nvdla_unit_of(r->b_reg)))
			continue;
		a = field_of(v, r->a_reg, r->a_lsb, r->a_width);
		b = field_of(v, r->b_reg, r->b_lsb, r->b_width);
		if (a != b)
			return nvdla_refuse(v, r->a_reg, r->rule, a, b);
	}
	return 0;
}

static int list_accesses(const struct nvdla_task_view *v, struct nvdla_access_list *list,
			 struct nvdla_conv_state *conv, struct nvdla_chain_task_info *info)
{
	int err = 0;

	if (v->kind == NVDLA_CHAIN_CONV)
		err = nvdla_check_conv(v, list, conv, info);
	if (!err && nvdla_view_runs(v, NVDLA_UNIT_SDP))
		err = nvdla_check_sdp(v, list);
	if (!err && nvdla_view_runs(v, NVDLA_UNIT_PDP))
		err = nvdla_check_pdp(v, list);
	if (!err && nvdla_view_runs(v, NVDLA_UNIT_CDP))
		err = nvdla_check_cdp(v, list);
	return err;
}

/* Addresses that nothing reads or writes are a mistake of whoever made the stream. */
static int check_addresses(const struct nvdla_task_view *v, const struct nvdla_chain *chain,
			   const struct nvdla_access_list *list)
{
	u32 i;

	for (i = 0; i < v->addr_count; i++) {
		const u8 *p = v->addrs + i * sizeof(struct nvdla_chain_addr);
		u32 reg = nvdla_le32(p + offsetof(struct nvdla_chain_addr, reg));
		u32 region = nvdla_le32(p + offsetof(struct nvdla_chain_addr, region));
		u32 k = 0;

		while (k < list->count && list->access[k].reg != reg)
			k++;
		if (k == list->count)
			return nvdla_refuse(v, reg, "addresses of the task's DMA only", reg, 0);
		if (region >= chain->region_count)
			return nvdla_refuse(v, reg, "a region of the chain", region,
					    chain->region_count - 1);
	}
	return 0;
}

static void grow(u64 *start, u64 *end, const struct nvdla_chain_access *a)
{
	if (*start == *end) {
		*start = a->offset;
		*end = a->offset + a->bytes;
		return;
	}
	*start = min(*start, a->offset);
	*end = max(*end, a->offset + a->bytes);
}

static void grow_regions(struct nvdla_chain *chain, const struct nvdla_access_list *list)
{
	u32 i;

	for (i = 0; i < list->count; i++) {
		const struct nvdla_chain_access *a = &list->access[i];
		struct nvdla_chain_region *r = &chain->region[a->region];

		if (a->write)
			grow(&r->write_start, &r->write_end, a);
		else
			grow(&r->read_start, &r->read_end, a);
		r->ports |= a->second_port ? NVDLA_REGION_SECOND_PORT : NVDLA_REGION_MEMORY;
	}
}

/* Entries behind the last one of a table. */
static bool padding_is_zero(const u8 *lut, u32 count)
{
	const u8 *entry = lut + offsetof(struct nvdla_chain_lut, entry);
	size_t i;

	for (i = count * sizeof(s16); i < sizeof(((struct nvdla_chain_lut *)0)->entry); i++)
		if (entry[i])
			return false;
	return true;
}

/* Tables that the task brings, and those that it needs: loaded in this chain, whole. */
static int check_luts(const struct nvdla_task_view *v, struct walk *w,
		      struct nvdla_chain_task_info *info)
{
	bool cdp = v->kind == NVDLA_CHAIN_CDP, uses = nvdla_view_uses_lut(v);
	u32 access = cdp ? NVDLA_CDP_S_LUT_ACCESS_CFG : NVDLA_SDP_S_LUT_ACCESS_CFG;
	u32 *loaded = w->table_task[cdp];
	u32 i, missing = 0;

	if (v->lut_count && !cdp && !(v->cfg->features & NVDLA_HAS_SDP_LUT))
		return nvdla_refuse_missing(v, access, "no look-up tables", v->lut_count, 0);
	if (v->lut_count && !cdp && !nvdla_view_runs(v, NVDLA_UNIT_SDP))
		return nvdla_refuse(v, access, "tables for SDP or CDP only", v->lut_count, 0);
	for (i = 0; i < v->lut_count; i++) {
		const u8 *p = v->luts + (size_t)i * sizeof(struct nvdla_chain_lut);
		u32 table = nvdla_le32(p + offsetof(struct nvdla_chain_lut, table));
		u32 count = nvdla_le32(p + offsetof(struct nvdla_chain_lut, count));

		if (table >= ARRAY_SIZE(lut_entries))
			return nvdla_refuse(v, access, "table 0 (LE) or 1 (LO)", table, 1);
		if (count != lut_entries[table])
			return nvdla_refuse(v, access, "the table's number of entries", count,
					    lut_entries[table]);
		if (!padding_is_zero(p, count))
			return nvdla_refuse(v, access, "padding is zero", 0, 0);
		if (loaded[table] == v->index)
			return nvdla_refuse(v, access, "each table once", 2, 1);
		loaded[table] = v->index;
	}
	for (i = 0; i < NVDLA_LUT_TABLES; i++) {
		info->table_task[i] = loaded[i];
		missing += loaded[i] == NVDLA_CHAIN_NO_TASK;
	}
	if (uses && missing)
		return nvdla_refuse(v, access, "both tables loaded earlier in the chain",
				    NVDLA_LUT_TABLES - missing, NVDLA_LUT_TABLES);
	if (uses || v->lut_count)
		info->flags |= NVDLA_TASK_LUT;
	return 0;
}

/*
 * May the task run while the one before does?  It must not read what that one writes.  What both
 * write, or the other one reads, is in order by itself where the same unit writes last in both.
 */
static bool independent(const struct walk *w, u32 task, u32 done)
{
	const struct nvdla_access_list *last = &w->list[~task & 1], *list = &w->list[task & 1];
	u32 i, k;

	for (i = 0; i < last->count; i++) {
		for (k = 0; k < list->count; k++) {
			const struct nvdla_chain_access *a = &last->access[i],
							*b = &list->access[k];

			if (a->region != b->region || !(a->write || b->write))
				continue;
			if (b->write && done == w->last_done)
				continue;
			if (nvdla_surface_overlap(&a->surface, a->offset, &b->surface, b->offset))
				return false;
		}
	}
	return true;
}

/*
 * CACC loses the end of an operation whose last atom leaves its delivery buffer in the cycle in
 * which the next operation's last atom enters it; SDP then waits for ever (seen on the RTL).  That
 * takes a convolution whose atoms all fit beside one that is left: four times the kernel group at
 * most.
 */
static bool fits_delivery(const struct nvdla_task_view *v)
{
	u64 atoms = (u64)VIEW_SIZE(v, CACC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH) *
		    VIEW_SIZE(v, CACC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT) *
		    DIV_ROUND_UP(VIEW_SIZE(v, CACC, D_DATAOUT_SIZE_1, DATAOUT_CHANNEL),
				 (u32)v->cfg->atomic_k);

	return v->kind == NVDLA_CHAIN_CONV && atoms < 4u * v->cfg->atomic_k;
}

static int check_task(struct nvdla_task_view *v, struct walk *w, size_t offset)
{
	struct nvdla_chain *chain = w->chain;
	struct nvdla_chain_task_info *info = &chain->task[v->index];
	struct nvdla_access_list *list = &w->list[v->index & 1];
	int err;

	list->access = w->access[v->index & 1];
	list->count = 0;
	if (v->addr_count > NVDLA_CHAIN_MAX_ACCESSES)
		return nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "addresses of the task's DMA only",
				    v->addr_count, NVDLA_CHAIN_MAX_ACCESSES);
	v->units = running_units(v);
	*info = (struct nvdla_chain_task_info){
		.offset = (u32)offset,
		.units = v->units,
		.done = done_bits(v->units),
		.kind = v->kind,
		.label = v->label,
	};
	err = check_registers(v);
	if (!err)
		err = check_equal(v);
	if (!err)
		err = list_accesses(v, list, &w->conv, info);
	if (!err)
		err = check_addresses(v, chain, list);
	if (!err)
		err = check_luts(v, w, info);
	if (err)
		return err;
	grow_regions(chain, list);
	chain->banks = max(chain->banks, (u32)info->data_banks + info->weight_banks);
	if (v->index && !(info->flags & NVDLA_TASK_LUT) && !fits_delivery(v) &&
	    independent(w, v->index, info->done))
		info->flags |= NVDLA_TASK_OVERLAPS;
	w->last_done = info->done;
	return 0;
}

/*
 * Nobody else's task can run before the last of those that share content of CBUF.  Convolutions
 * that keep something are in the run until one keeps nothing, and so is all that runs between.
 */
static int check_run(const struct nvdla_task_view *v, struct walk *w)
{
	if (++w->run > NVDLA_CHAIN_MAX_RUN) {
		nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "tasks in a row that share content of CBUF",
			     w->run, NVDLA_CHAIN_MAX_RUN);
		return -E2BIG;
	}
	if (!w->conv.kept && !w->conv.weights_kept)
		w->run = 0;
	return 0;
}

/* What stays in CBUF would be seen by whoever runs next. */
static int check_end(const struct nvdla_task_view *v, const struct walk *w)
{
	u32 i;

	if (!w->conv.valid || (!w->conv.kept && !w->conv.weights_kept))
		return 0;
	/* Blame the convolution that left it. */
	for (i = w->chain->task_count; i-- > 0;) {
		struct nvdla_task_view last = *v;

		if (w->chain->task[i].kind != NVDLA_CHAIN_CONV)
			continue;
		last.index = i;
		last.label = w->chain->task[i].label;
		return nvdla_refuse(&last, NVDLA_CSC_D_RELEASE,
				    "the last convolution of a chain releases all data and weights",
				    w->conv.kept, 0);
	}
	return 0;
}

static int check_header(const struct nvdla_task_view *v, const u8 *p, size_t bytes,
			struct nvdla_chain *chain)
{
	u32 size, pad;

	if (bytes < sizeof(struct nvdla_chain_header) ||
	    nvdla_le32(p + offsetof(struct nvdla_chain_header, magic)) != NVDLA_CHAIN_MAGIC)
		return nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "a chain stream", bytes, 0);
	if (nvdla_le32(p + offsetof(struct nvdla_chain_header, version)) != NVDLA_CHAIN_VERSION)
		return nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "a version that this driver knows",
				    nvdla_le32(p + offsetof(struct nvdla_chain_header, version)),
				    NVDLA_CHAIN_VERSION);
	size = nvdla_le32(p + offsetof(struct nvdla_chain_header, size));
	if (size != bytes)
		return nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "bytes of the stream", size, bytes);
	pad = nvdla_le32(p + offsetof(struct nvdla_chain_header, pad));
	if (pad)
		return nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "padding is zero", pad, 0);
	chain->task_count = nvdla_le32(p + offsetof(struct nvdla_chain_header, task_count));
	chain->region_count = nvdla_le32(p + offsetof(struct nvdla_chain_header, region_count));
	if (bytes > NVDLA_CHAIN_MAX_BYTES || chain->task_count > NVDLA_CHAIN_MAX_TASKS ||
	    chain->region_count > NVDLA_CHAIN_MAX_REGIONS) {
		nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "limits of the format", chain->task_count,
			     NVDLA_CHAIN_MAX_TASKS);
		return -E2BIG;
	}
	if (!chain->task_count || !chain->region_count)
		return nvdla_refuse(v, NVDLA_CHAIN_NO_REG, "at least one task and one region", 0,
				    1);
	return 0;
}

static size_t tasks_bytes(u32 tasks)
{
	return ROUND_UP_8(tasks * sizeof(struct nvdla_chain_task_info));
}

size_t nvdla_chain_storage_bytes(const void *stream, size_t bytes)
{
	u32 tasks;

	if (bytes < sizeof(struct nvdla_chain_header))
		return 0;
	tasks = nvdla_le32((const u8 *)stream + offsetof(struct nvdla_chain_header, task_count));
	if (!tasks || tasks > NVDLA_CHAIN_MAX_TASKS)
		return 0;
	return tasks_bytes(tasks) + sizeof(struct walk);
}

int nvdla_chain_validate(const struct nvdla_config *config, const void *stream, size_t bytes,
			 void *storage, size_t storage_bytes, struct nvdla_chain *chain,
			 struct nvdla_chain_error *error)
{
	struct nvdla_task_view v = { .cfg = config, .index = NVDLA_CHAIN_NO_TASK, .error = error };
	struct walk *w;
	size_t offset = sizeof(struct nvdla_chain_header);
	u32 i;
	int err;

	*chain = (struct nvdla_chain){
		.config = config,
		.stream = stream,
		.bytes = bytes,
		.alignment = nvdla_region_alignment(config),
		.task = storage,
	};
	err = check_header(&v, stream, bytes, chain);
	if (err)
		return err;
	if (storage_bytes < nvdla_chain_storage_bytes(stream, bytes)) {
		nvdla_refuse(&v, NVDLA_CHAIN_NO_REG, "storage for the tasks", storage_bytes,
			     nvdla_chain_storage_bytes(stream, bytes));
		return -ENOSPC;
	}
	w = (struct walk *)((u8 *)storage + tasks_bytes(chain->task_count));
	memset(w, 0, sizeof(*w));
	memset(w->table_task, 0xff, sizeof(w->table_task)); /* NVDLA_CHAIN_NO_TASK */
	w->chain = chain;
	for (i = 0; i < chain->task_count; i++) {
		size_t end = offset;

		v.index = i;
		v.label = 0;
		err = open_task(&v, chain, offset, &end);
		if (!err)
			err = check_task(&v, w, offset);
		if (!err)
			err = check_run(&v, w);
		if (err)
			return err;
		offset = end;
		cond_resched();
	}
	if (offset != bytes)
		return nvdla_refuse(&v, NVDLA_CHAIN_NO_REG, "no bytes behind the last task",
				    bytes - offset, 0);
	return check_end(&v, w);
}

u32 nvdla_chain_accesses(const struct nvdla_chain *chain, u32 task,
			 struct nvdla_chain_access access[NVDLA_CHAIN_MAX_ACCESSES])
{
	struct nvdla_access_list list = { .access = access };
	struct nvdla_task_view v;

	nvdla_view_open(&v, chain, task);
	return list_accesses(&v, &list, NULL, NULL) ? 0 : list.count;
}
