// SPDX-License-Identifier: MIT
/*
 * CDMA: brings input and weights into CBUF as far as entries are free.
 * Source: nvdla/hw, vmod, CDMA_dc (order of atoms in entries), CDMA_wt (kernel groups),
 * CDMA_status (free entries, changes of banks).
 */
#include "conv.h"

#define F(reg, field) SIM_FIELD(cdma_regs(sim), CDMA, reg, field)

static const struct npusim_regs *cdma_regs(const struct npusim *sim)
{
	return &sim->unit[SIM_CDMA].regs;
}

static u32 cdma_mode(const struct npusim *sim)
{
	return F(D_DATAIN_FORMAT, DATAIN_FORMAT) ? SIM_MODE_PIXEL : SIM_MODE_FEATURE;
}

static u32 data_rows(const struct npusim *sim)
{
	return F(D_DATAIN_SIZE_0, DATAIN_HEIGHT) + 1;
}

static u32 data_eps(const struct npusim *sim)
{
	return F(D_ENTRY_PER_SLICE, ENTRIES) + 1;
}

/* Lines that are fetched together: only packed lines can be. */
static u32 data_grain(const struct npusim *sim)
{
	if (cdma_mode(sim) == SIM_MODE_PIXEL)
		return F(D_FETCH_GRAIN, GRAINS) + 1;
	return F(D_DAIN_MAP, LINE_PACKED) ? F(D_FETCH_GRAIN, GRAINS) + 1 : 1;
}

static struct sim_convert data_convert(const struct npusim *sim)
{
	return (struct sim_convert){
		.enabled = F(D_CVT_CFG, CVT_EN),
		.scale = SIM_SFIELD(cdma_regs(sim), CDMA, D_CVT_SCALE, CVT_SCALE),
		.truncate = F(D_CVT_CFG, CVT_TRUNCATE),
		.offset = SIM_SFIELD(cdma_regs(sim), CDMA, D_CVT_OFFSET, CVT_OFFSET),
	};
}

static u64 data_address(const struct npusim *sim)
{
	u64 high = F(D_DAIN_ADDR_HIGH_0, DATAIN_ADDR_HIGH_0);

	return high << 32 | F(D_DAIN_ADDR_LOW_0, DATAIN_ADDR_LOW_0);
}

/* Whole entries, one for each atom, in as few pieces as the ends of region and CBUF allow. */
static void store_entries(struct npusim *sim, const s8 *from, u32 count, u32 index, u32 size)
{
	u32 bytes = sim->config->entry_bytes;

	while (count) {
		u32 first = sim_ring_wrap(index, size);
		u32 run = min(count, sim->conv.cbuf_entries - first % sim->conv.cbuf_entries);

		if (first < size)
			run = min(run, size - first);
		memcpy(sim_cbuf_entry(sim, first), from, (size_t)run * bytes);
		from += (size_t)run * bytes;
		index += run;
		count -= run;
	}
}

/*
 * Put one line of one surface, @width atoms at @from, into CBUF at slice entry @index.  The last
 * surfaces of a line, when they do not fill an entry, put 2 or 4 columns into one.
 */
static void store_line(struct npusim *sim, const s8 *from, u32 width, u32 surfaces, u32 surface,
		       u32 index)
{
	const struct nvdla_config *c = sim->config;
	u32 size = sim_bank_entries(sim, F(D_BANK, DATA_BANK)), atom = c->atom, x;
	u32 per_entry = c->entry_bytes / atom, last = surfaces % per_entry, columns = 1;

	index += surface / per_entry * width;
	if (per_entry == 1) {
		store_entries(sim, from, width, index, size);
		return;
	}
	if (surface >= surfaces - last && last != 3)
		columns = per_entry / last;
	for (x = 0; x < width; x++) {
		u8 *entry = sim_cbuf_entry(sim, sim_ring_wrap(index + x / columns, size));

		memcpy(entry + (surface % per_entry + x % columns * last) * atom,
		       from + (size_t)x * atom, atom);
	}
}

/**
 * struct feature - the cube as CDMA reads it
 * @line: bytes between lines inside a grain (packed lines follow each other)
 */
struct feature {
	u64 base;
	u32 width, surfaces, grain;
	u32 line_stride, surface_stride, line;
};

static struct feature feature_shape(const struct npusim *sim)
{
	const struct nvdla_config *c = sim->config;
	u32 width = F(D_DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
	u32 surfaces = DIV_ROUND_UP(F(D_DATAIN_SIZE_1, DATAIN_CHANNEL) + 1, (u32)c->atom);
	bool one_by_one = width == 1 && data_rows(sim) == 1 && F(D_DAIN_MAP, SURF_PACKED);
	u32 align = ~(u32)(c->atom - 1);
	struct feature f = {
		.base = data_address(sim) & ~(u64)(c->atom - 1),
		.width = one_by_one ? surfaces : width,
		.surfaces = one_by_one ? 1 : surfaces,
		.grain = data_grain(sim),
		.line_stride = F(D_LINE_STRIDE, LINE_STRIDE) & align,
		.surface_stride = F(D_SURF_STRIDE, SURF_STRIDE) & align,
	};

	f.line = F(D_DAIN_MAP, LINE_PACKED) ? f.width * c->atom : f.line_stride;
	return f;
}

/* Lines first .. first + count - 1, a whole grain, in the order of the hardware. */
static int feature_fetch(struct npusim *sim, const struct feature *f, u32 first, u32 count,
			 u32 index)
{
	struct sim_convert cvt = data_convert(sim);
	u32 size = sim_bank_entries(sim, F(D_BANK, DATA_BANK));
	u32 bytes = f->width * sim->config->atom, s, y, i;
	s8 *line = sim_scratch(sim, 0, bytes);

	if (!line)
		return -ENOMEM;
	for (s = 0; s < f->surfaces; s++)
		for (y = 0; y < count; y++) {
			u64 addr = f->base + (u64)s * f->surface_stride +
				   (u64)first * f->line_stride + (u64)y * f->line;

			sim_dma_read(sim, NPUSIM_CDMA_DATA, addr, line, bytes);
			for (i = 0; cvt.enabled && i < bytes; i++)
				line[i] = sim_convert(&cvt, line[i], cvt.offset);
			store_line(sim, line, f->width, f->surfaces, s,
				   sim_ring_wrap(index + y * data_eps(sim), size));
		}
	return 0;
}

/* Take back entries until @need are free; false when that never happens by itself. */
static bool make_room(struct sim_ring *ring, u32 size, u32 need, u64 *front)
{
	struct sim_release r;

	while (ring->held > size || size - ring->held < need) {
		if (!sim_releases_pop(&ring->releases, &r))
			return false;
		ring->held -= min(r.entries, ring->held);
		*front = max(*front, r.when);
	}
	return true;
}

static void data_done(struct npusim *sim, u64 when)
{
	sim->conv.dat = SIM_FETCH_DONE;
	sim->conv.dat_front = max(when, sim->now);
	sim_event_add(sim, sim->conv.dat_front, SIM_EVENT_INTR,
		      NVDLA_INTR_CDMA_DAT + sim->unit[SIM_CDMA].consumer, NULL);
}

/* Data and weights come through the same port? */
static bool shared_port(const struct npusim *sim)
{
	return !(sim->config->features & NVDLA_HAS_CVIF) ||
	       F(D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE) == F(D_WEIGHT_RAM_TYPE, WEIGHT_RAM_TYPE);
}

/* Beats of weights that can be read while the data are, as far as they find room. */
static u64 weight_beats_beside(const struct npusim *sim)
{
	const struct sim_conv *c = &sim->conv;
	u32 size = sim_bank_entries(sim, F(D_BANK, WEIGHT_BANK));
	u64 entries = min(F(D_WEIGHT_BYTES, WEIGHT_BYTES) / sim->config->entry_bytes,
			  size - min(size, c->weight.held));

	if (c->wt == SIM_FETCH_DONE || c->wt == SIM_FETCH_IDLE || !shared_port(sim))
		return 0;
	return entries * sim->config->entry_bytes / sim->config->dbb_bytes;
}

/* Beats of one line of one surface, or of a line of pixels. */
static u32 line_width(const struct npusim *sim, const struct feature *f)
{
	if (cdma_mode(sim) == SIM_MODE_PIXEL)
		return sim_pixel_line_beats(sim) / sim->config->dbb_bytes;
	return f->width;
}

/* Cycles for @count of the @rows lines. */
static u64 line_cycles(const struct npusim *sim, const struct feature *f, u32 rows, u32 count,
		       u64 weight_beats)
{
	u32 width = line_width(sim, f);
	u64 cycles =
		cdma_mode(sim) == SIM_MODE_PIXEL
			? sim_pixel_cycles(sim, width, sim_pixel_planes(sim), rows, weight_beats)
			: sim_data_cycles(sim, width, f->surfaces, rows, weight_beats);

	return cycles * count / rows;
}

/* Fetch grain after grain while entries are free; true when something moved. */
static bool data_step(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;
	u32 rows = data_rows(sim), eps = data_eps(sim);
	u32 size = sim_bank_entries(sim, F(D_BANK, DATA_BANK));
	struct feature f = feature_shape(sim);
	u32 start = c->rows_fetched;
	u64 weight_beats = weight_beats_beside(sim), waited;

	c->dat_share_256 = sim_data_share_256(sim, line_width(sim, &f));
	sim->dma_group = sim->unit[SIM_CDMA].consumer;
	while (c->rows_fetched < rows) {
		u32 count = min(data_grain(sim), rows - c->rows_fetched), y;
		u64 entries = (u64)count * eps;

		waited = c->dat_front;
		if (entries > size || !make_room(&c->data, size, (u32)entries, &c->dat_front)) {
			sim_hang(sim, "CDMA",
				 "waits for %llu free entries in %u data bank(s), line %u of %u",
				 (unsigned long long)entries, F(D_BANK, DATA_BANK) + 1,
				 c->rows_fetched, rows);
			break;
		}
		if (cdma_mode(sim) == SIM_MODE_FEATURE)
			feature_fetch(sim, &f, c->rows_fetched, count, c->data.write);
		else
			for (y = 0; y < count; y++)
				sim_pixel_fetch(sim, c->rows_fetched + y,
						sim_ring_wrap(c->data.write + y * eps, size), size);
		c->data.write = sim_ring_wrap(c->data.write + (u32)entries, size);
		c->data.held += (u32)entries;
		c->rows_fetched += count;
		if (c->dat_front != waited)
			c->dat_since = c->dat_front;
		c->dat_front += line_cycles(sim, &f, rows, count, weight_beats);
		if (sim_releases_push(&c->lines, c->dat_front, count))
			sim_no_memory(sim);
	}
	if (c->rows_fetched == rows) {
		data_done(sim, c->dat_front);
		return true;
	}
	return c->rows_fetched != start;
}

/* Entries that the weights take; a rest below an entry is never complete. */
static u32 weight_entries(const struct npusim *sim)
{
	const struct nvdla_config *c = sim->config;

	return F(D_WEIGHT_BYTES, WEIGHT_BYTES) / c->atom * c->atom / c->entry_bytes;
}

static u32 weight_groups(const struct npusim *sim)
{
	return F(D_WEIGHT_SIZE_1, WEIGHT_KERNEL) / sim->config->atomic_k + 1;
}

/* Bytes that must be in CBUF before CSC is told of kernel group @group. */
static u64 group_end(const struct npusim *sim, u32 group)
{
	u64 bytes = (u64)(F(D_WEIGHT_SIZE_0, BYTE_PER_KERNEL) + 1) * sim->config->atomic_k;

	if (group + 1 == weight_groups(sim))
		return F(D_WEIGHT_BYTES, WEIGHT_BYTES);
	return bytes * (group + 1);
}

static u32 group_kernels(const struct npusim *sim, u32 group)
{
	u32 k = F(D_WEIGHT_SIZE_1, WEIGHT_KERNEL);

	return group + 1 == weight_groups(sim) ? k % sim->config->atomic_k + 1
					       : sim->config->atomic_k;
}

/* Announce to CSC every kernel group that is complete. */
static bool announce_groups(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;
	u64 bytes = (u64)c->weights_fetched * sim->config->entry_bytes;
	bool moved = false;

	while (c->groups_fetched < weight_groups(sim) &&
	       group_end(sim, c->groups_fetched) <= bytes) {
		if (sim_releases_push(&c->arrivals, c->wt_front,
				      group_kernels(sim, c->groups_fetched)))
			sim_no_memory(sim);
		c->groups_fetched++;
		moved = true;
	}
	return moved;
}

static void store_weights(struct npusim *sim, u32 entries)
{
	struct sim_conv *c = &sim->conv;
	u32 bytes = sim->config->entry_bytes;
	u32 base = sim_bank_entries(sim, F(D_BANK, DATA_BANK));
	u32 size = sim_bank_entries(sim, F(D_BANK, WEIGHT_BANK));
	u64 addr = (u64)F(D_WEIGHT_ADDR_HIGH, WEIGHT_ADDR_HIGH) << 32 |
		   F(D_WEIGHT_ADDR_LOW, WEIGHT_ADDR_LOW);

	addr = (addr & ~(u64)(sim->config->atom - 1)) + (u64)c->weights_fetched * bytes;
	while (entries) {
		u32 first = (base + c->weight.write) % c->cbuf_entries;
		u32 run = min(entries, size - c->weight.write);

		run = min(run, c->cbuf_entries - first);
		sim_dma_fetch(sim, NPUSIM_CDMA_WEIGHT, addr, sim_cbuf_entry(sim, first),
			      (size_t)run * bytes);
		c->weight.write = sim_ring_wrap(c->weight.write + run, size);
		addr += (u64)run * bytes;
		entries -= run;
	}
}

/* The next entries that can be fetched in one go: up to the next group's end. */
static u32 next_weights(const struct npusim *sim)
{
	const struct sim_conv *c = &sim->conv;
	u64 bytes = sim->config->entry_bytes;
	u64 total = weight_entries(sim), end = total;

	if (c->groups_fetched < weight_groups(sim))
		end = min(end, DIV_ROUND_UP(group_end(sim, c->groups_fetched), bytes));
	if (end <= c->weights_fetched)
		end = total;
	return (u32)(end - c->weights_fetched);
}

/*
 * Ask for more weights, 8 atoms a request and aligned to that, while what is asked for and not
 * released fits the banks and a little more.
 */
static void request_weights(struct npusim *sim, u32 size)
{
	struct sim_conv *c = &sim->conv;
	const struct nvdla_config *cfg = sim->config;
	u32 per_entry = cfg->entry_bytes / cfg->atom;
	u32 total = F(D_WEIGHT_BYTES, WEIGHT_BYTES) / cfg->atom;
	u64 limit = (u64)size * per_entry + 8 * cfg->atom / cfg->atomic_c;
	u64 sum = (u64)c->weight.held * per_entry + c->weights_requested -
		  (u64)c->weights_fetched * per_entry;

	while (c->weights_requested < total) {
		u32 address = F(D_WEIGHT_ADDR_LOW, WEIGHT_ADDR_LOW) / cfg->atom;
		u32 run = 8 - (address + c->weights_requested) % 8;

		run = min(run, total - c->weights_requested);
		if (sum + run > limit)
			break;
		sum += run;
		c->weights_requested += run;
		sim_dma_count(sim, NPUSIM_CDMA_WEIGHT, (u64)run * cfg->atom);
	}
}

/* Entries that can be fetched now, after taking back what is needed for at least one. */
static u32 room_for_weights(struct npusim *sim, u32 size)
{
	struct sim_conv *c = &sim->conv;
	u32 per_entry = sim->config->entry_bytes / sim->config->atom, asked;
	u32 need = 1;

	for (;;) {
		if (!make_room(&c->weight, size, need, &c->wt_front))
			return 0;
		request_weights(sim, size);
		asked = c->weights_requested / per_entry - c->weights_fetched;
		if (asked)
			return min(asked, size - c->weight.held);
		need = size - c->weight.held + 1;
	}
}

/* Cycles for @entries from wt_front on: in turns with the data while they are read. */
static u64 weight_cycles(const struct npusim *sim, u32 entries)
{
	const struct sim_conv *c = &sim->conv;
	u64 beats = (u64)entries * sim->config->entry_bytes / sim->config->dbb_bytes;
	u64 beat_256 = sim_beat_cycles_256(sim), slow = 0, window;

	if (shared_port(sim) && c->wt_front + SIM_WEIGHTS_AHEAD >= c->dat_since &&
	    c->wt_front < c->dat_front) {
		window = ((c->dat_front - c->wt_front) << 8) / beat_256;
		slow = min(beats, (window << 8) / (256 + c->dat_share_256));
	}
	return (beats + (slow * c->dat_share_256 >> 8)) * beat_256 >> 8;
}

bool sim_cdma_weights(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;
	u32 size = sim_bank_entries(sim, F(D_BANK, WEIGHT_BANK));
	bool moved = false;

	if (c->wt != SIM_FETCH_BUSY)
		return false;
	sim->dma_group = sim->unit[SIM_CDMA].consumer;
	while (c->weights_fetched < weight_entries(sim)) {
		u32 want = next_weights(sim), room = room_for_weights(sim, size);
		u32 run = min(want, room);

		if (!run) {
			sim_hang(sim, "CDMA",
				 "waits for free entries in %u weight bank(s), entry %u of %u",
				 F(D_BANK, WEIGHT_BANK) + 1, c->weights_fetched,
				 weight_entries(sim));
			return moved;
		}
		store_weights(sim, run);
		c->weight.held += run;
		c->weights_fetched += run;
		c->wt_front += weight_cycles(sim, run);
		if (announce_groups(sim))
			return true;
		moved = true;
	}
	if (c->groups_fetched < weight_groups(sim)) {
		sim_hang(sim, "CDMA", "has %u weight bytes, but kernel group %u ends at %llu",
			 F(D_WEIGHT_BYTES, WEIGHT_BYTES), c->groups_fetched,
			 (unsigned long long)group_end(sim, c->groups_fetched));
		return moved;
	}
	c->wt = SIM_FETCH_DONE;
	sim_event_add(sim, c->wt_front, SIM_EVENT_INTR,
		      NVDLA_INTR_CDMA_WT + sim->unit[SIM_CDMA].consumer, NULL);
	return true;
}

/*
 * With clock gating, CDMA's weight side has no clock between two operations: what CSC gives back
 * then is never counted as free again.
 */
static void lose_releases(struct npusim *sim)
{
	struct sim_releases *q = &sim->conv.weight.releases;
	u64 idle_since = sim->unit[SIM_CDMA].since;
	u32 i;

	for (i = q->head; i < q->count; i++)
		if (q->item[i].when > idle_since && q->item[i].when < sim->now)
			q->item[i].entries = 0;
}

static void cdma_start(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;
	u32 data_bank, weight_bank, mode;
	bool data_reuse, weight_reuse;

	sim_unit_start(sim, SIM_CDMA);
	if (sim->options.clock_gated)
		lose_releases(sim);
	data_bank = F(D_BANK, DATA_BANK);
	weight_bank = F(D_BANK, WEIGHT_BANK);
	mode = cdma_mode(sim);
	data_reuse = F(D_MISC_CFG, DATA_REUSE) && c->last_skip_data && c->last_mode == mode;
	weight_reuse = F(D_MISC_CFG, WEIGHT_REUSE) && c->last_skip_weight;
	c->rows_fetched = c->weights_fetched = c->groups_fetched = 0;
	c->weights_requested = 0;
	c->dat_front = c->dat_since = sim->now + sim_cdma_head(sim, false);
	c->wt_front = sim->now + sim_cdma_head(sim, true);

	if (data_bank != c->dat_last_bank)
		c->dat = SIM_FETCH_PENDING;
	else if (data_reuse)
		data_done(sim, sim->now);
	else
		c->dat = SIM_FETCH_BUSY;

	if (data_bank != c->wt_last_data_bank || weight_bank != c->wt_last_weight_bank) {
		c->wt = SIM_FETCH_PENDING;
	} else if (weight_reuse) {
		c->wt = SIM_FETCH_DONE;
		c->wt_front = sim->now;
		sim_event_add(sim, sim->now, SIM_EVENT_INTR,
			      NVDLA_INTR_CDMA_WT + sim->unit[SIM_CDMA].consumer, NULL);
	} else {
		c->wt = SIM_FETCH_BUSY;
	}

	c->dat_last_bank = c->wt_last_data_bank = data_bank;
	c->wt_last_weight_bank = weight_bank;
	c->last_skip_data = F(D_MISC_CFG, SKIP_DATA_RLS);
	c->last_skip_weight = F(D_MISC_CFG, SKIP_WEIGHT_RLS);
	c->last_mode = mode;
}

static u64 data_atoms(const struct npusim *sim)
{
	struct feature f = feature_shape(sim);

	return (u64)f.width * f.surfaces * data_rows(sim);
}

/* An input that is never fetched: not built in, or beyond what the model takes on. */
static bool no_input(struct npusim *sim)
{
	if (F(D_MISC_CFG, CONV_MODE))
		return sim_hang(sim, "CDMA", "is asked for Winograd, which is not built in");
	if (data_atoms(sim) > sim->options.max_cycles)
		return sim_hang(sim, "CDMA", "would need more than %llu cycles for its input",
				(unsigned long long)sim->options.max_cycles);
	return false;
}

bool sim_cdma_step(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;
	bool moved = false;

	if (sim_unit_ready(sim, SIM_CDMA)) {
		cdma_start(sim);
		moved = true;
	}
	if (!sim->unit[SIM_CDMA].busy)
		return moved;
	if (c->dat == SIM_FETCH_BUSY && !no_input(sim))
		moved |= data_step(sim);
	if (c->wt == SIM_FETCH_BUSY)
		moved |= sim_cdma_weights(sim);
	if (c->dat == SIM_FETCH_DONE && c->wt == SIM_FETCH_DONE) {
		c->dat = c->wt = SIM_FETCH_IDLE;
		sim_event_add(sim, max(c->dat_front, c->wt_front) + 1, SIM_EVENT_DONE, SIM_CDMA,
			      NULL);
		moved = true;
	}
	return moved;
}
