// SPDX-License-Identifier: MIT
/*
 * The compute side of a convolution: CSC's start and changes of banks, kernel group after
 * kernel group through CMAC and CACC, and SDP (and PDP) behind them.
 */
#include <stdlib.h>

#include "conv.h"
#include "post.h"

/* Cycles that CSC waits at the end of an operation for its pipeline to run empty. */
#define CSC_FLUSH 50

static const struct npusim_regs *csc_regs(const struct npusim *sim)
{
	return &sim->unit[SIM_CSC].regs;
}

static void give_back(struct npusim *sim, struct sim_ring *ring, u64 when, u32 entries)
{
	if (entries && sim_releases_push(&ring->releases, when, entries))
		sim_no_memory(sim);
}

/* Have @needed lines of input available; false when they have not been fetched. */
static bool await_lines(struct npusim *sim, u32 needed)
{
	struct sim_conv *c = &sim->conv;
	struct sim_release r;

	while (c->slices < needed) {
		if (!sim_releases_pop(&c->lines, &r))
			return false;
		c->slices += r.entries;
		c->slices_ready = max(c->slices_ready, r.when);
	}
	return true;
}

/* What the operation before has kept and this one does not want goes back to CDMA. */
static void release_leftovers(struct npusim *sim, const struct sim_csc_shape *s, u32 mode)
{
	struct sim_conv *c = &sim->conv;
	u32 data_size = sim_bank_entries(sim, s->data_bank);
	u32 weight_size = sim_bank_entries(sim, s->weight_bank);

	if ((!s->data_reuse || mode != c->csc_last_mode) && c->csc_last_slices) {
		await_lines(sim, c->csc_last_slices);
		c->slices -= min(c->csc_last_slices, c->slices);
		c->data.read = sim_ring_wrap(c->data.read + c->csc_last_slice_entries, data_size);
		give_back(sim, &c->data, sim->now, c->csc_last_slice_entries);
	}
	if (!s->weight_reuse && c->csc_last_skip_weight) {
		c->kernels -= (s32)c->csc_last_kernels;
		c->weight.read =
			sim_ring_wrap(c->weight.read + c->csc_last_weight_entries, weight_size);
		give_back(sim, &c->weight, sim->now, c->csc_last_weight_entries);
	}
}

static void csc_start(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;
	struct sim_csc_shape s;

	sim_unit_start(sim, SIM_CSC);
	sim_csc_shape(sim, csc_regs(sim), &s);
	release_leftovers(sim, &s, s.pixel ? SIM_MODE_PIXEL : SIM_MODE_FEATURE);
	c->csc_pending = s.data_bank != c->csc_last_data_bank ||
			 s.weight_bank != c->csc_last_weight_bank;
	c->csc_free = sim->now;
	c->computing = false;
}

/* A change of banks: CSC and CDMA agree, and the rings start again. */
static bool agree_on_banks(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;
	bool data = SIM_FIELD(csc_regs(sim), CSC, D_BANK, DATA_BANK) != c->csc_last_data_bank;

	if (!c->csc_pending || !sim->unit[SIM_CDMA].busy || c->wt != SIM_FETCH_PENDING ||
	    (data && c->dat != SIM_FETCH_PENDING))
		return false;
	if (data) {
		c->data.write = c->data.read = c->data.held = 0;
		sim_releases_clear(&c->data.releases);
		sim_releases_clear(&c->lines);
		c->slices = 0;
		c->dat = SIM_FETCH_BUSY;
		c->dat_front = max(c->dat_front, sim->now + sim_cdma_head(sim, false));
		c->dat_since = c->dat_front;
	}
	c->weight.write = c->weight.read = 0;
	c->kernels = 0;
	sim_releases_clear(&c->arrivals);
	c->wt = SIM_FETCH_BUSY;
	c->wt_front = max(c->wt_front, sim->now + sim_cdma_head(sim, true));
	c->csc_pending = false;
	return true;
}

/* Take note of the next kernel group that has arrived or will, without more fetching. */
static bool next_arrival(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;
	struct sim_release r;

	if (!sim_releases_pop(&c->arrivals, &r))
		return false;
	c->kernels += (s32)r.entries;
	c->kernels_ready = max(c->kernels_ready, r.when);
	return true;
}

/* Have @needed kernels available; false when they never come. */
static bool await_kernels(struct npusim *sim, u32 needed)
{
	struct sim_conv *c = &sim->conv;

	while (c->kernels < (s32)needed)
		if (!next_arrival(sim) && !sim_cdma_weights(sim))
			return false;
	return true;
}

/* The smallest multiple of SIM_LANES that holds a kernel. */
static u32 lane_stride(const struct sim_csc_shape *s)
{
	return (s->length + SIM_LANES - 1) / SIM_LANES * SIM_LANES;
}

/* Groups whose weights are held unpacked at once, to build the input lanes seldom. */
#define HELD_BYTES (1u << 20)

static u32 groups_at_once(const struct npusim *sim, const struct sim_csc_shape *s)
{
	u64 bytes = (u64)lane_stride(s) * sizeof(s16) * sim->config->atomic_k;
	u64 n = HELD_BYTES / bytes;

	return (u32)min(n ? n : 1, (u64)s->groups);
}

/**
 * struct conv_job - one operation being computed
 * @out: [group][position][lane]
 */
struct conv_job {
	struct sim_csc_shape s;
	u32 stride; /* lanes of one kernel, padded */
	u32 at_once;
	u32 truncate;
	bool mac_a, mac_b;
	u32 saturated;
	s16 *weights;
	s16 *patches;
	u32 patch_count;
	s32 *out;
	struct sim_conv_clock clock;
	struct sim_sdp_rate rate;
	u32 done_groups;
};

/* Sums longer than this may not fit 32 bits. */
#define SUM32_LANES 131072u

/* CACC's accumulator. */
static s64 saturate_34(s64 sum)
{
	const s64 limit = 1ll << 33;

	return sum >= limit ? limit - 1 : sum < -limit ? -limit : sum;
}

/* One output, block after block as the accumulator sees them. */
static s64 long_sum(const struct sim_csc_shape *s, const s16 *x, const s16 *w)
{
	u32 block, step, tap, i;
	s64 sum = 0;

	for (block = 0; block < s->blocks; block++)
		for (step = 0; step < s->steps; step++)
			for (tap = 0; tap < s->taps; tap++) {
				u32 lanes = block + 1 == s->blocks ? s->last_lanes : s->block_lanes;

				lanes *= step + 1 == s->steps ? s->last_rows : s->rows;
				for (i = 0; i < lanes; i++)
					sum += *x++ * *w++;
				sum = saturate_34(sum);
			}
	return sum;
}

/* Lanes without a kernel, and those of a MAC array that is off, hold zero. */
static void clear_lanes(const struct conv_job *j, s32 *out, u32 count, u32 k_max, u32 kernels)
{
	u32 first = j->mac_a ? 0 : k_max / 2, p, k;
	u32 end = min(kernels, j->mac_b ? k_max : k_max / 2);

	if (first == 0 && end == k_max)
		return;
	for (p = 0; p < count; p++, out += k_max)
		for (k = 0; k < k_max; k++)
			if (k < first || k >= end)
				out[k] = 0;
}

/* Sums that may not fit 32 bits, once more and with the saturation of the accumulator. */
static void long_sums(struct conv_job *j, u32 held, u32 count, s32 *out, u32 k_max, u32 kernels)
{
	u32 p, k;

	for (p = 0; p < count; p++)
		for (k = 0; k < kernels; k++) {
			s64 sum = long_sum(&j->s, j->patches + (size_t)p * j->stride,
					   j->weights + ((size_t)held * k_max + k) * j->stride);

			out[(size_t)p * k_max + k] = sim_cacc_clip(sum, j->truncate, &j->saturated);
		}
}

/* Compute the groups that are held: first_group .. first_group + held - 1. */
static void compute_held(struct npusim *sim, struct conv_job *j, u32 first_group, u32 held)
{
	u32 k_max = sim->config->atomic_k, first, count, g;

	for (first = 0; first < j->s.positions; first += count) {
		count = min(j->patch_count, j->s.positions - first);
		sim_csc_patches(sim, &j->s, first, count, j->patches, j->stride);
		for (g = 0; g < held; g++) {
			u32 group = first_group + g;
			u32 kernels = sim_csc_group_kernels(sim, &j->s, group);
			s32 *out = j->out + ((size_t)group * j->s.positions + first) * k_max;

			if (j->s.length < SUM32_LANES) {
				sim_cmac(j->patches, count,
					 j->weights + (size_t)g * k_max * j->stride, kernels,
					 j->stride, out, k_max);
				sim_cacc_round(out, (size_t)count * k_max, j->truncate);
			} else {
				long_sums(j, g, count, out, k_max, kernels);
			}
			clear_lanes(j, out, count, k_max, kernels);
		}
	}
}

/* Through all kernel groups whose weights come. */
static void run_groups(struct npusim *sim, struct conv_job *j)
{
	struct sim_conv *c = &sim->conv;
	u32 k_max = sim->config->atomic_k, held = 0, first = 0, g;
	u32 size = sim_bank_entries(sim, j->s.weight_bank);
	u32 index = c->weight.read, byte = 0, needed = 0;

	for (g = 0; g < j->s.groups; g++) {
		u32 kernels = sim_csc_group_kernels(sim, &j->s, g), before = index;
		u32 rest = byte;
		u64 entries;

		needed = j->s.skip_weight ? needed + kernels : kernels;
		if (!await_kernels(sim, needed))
			break;
		sim_csc_weights(sim, &j->s, g, index, j->weights + (size_t)held * k_max * j->stride,
				j->stride, &byte);
		entries = ((u64)rest + (u64)kernels * j->s.length) / sim->config->entry_bytes;
		index = (u32)((before + entries) % size);
		sim_conv_clock_group(sim, &j->s, c->kernels_ready, j->rate.atom_256, &j->clock);
		if (!j->s.skip_weight) {
			/* An entry that a group shares with the next is given back with it. */
			u64 used = entries + (byte ? 1 : 0) - (rest ? 1 : 0);

			c->kernels -= (s32)kernels;
			give_back(sim, &c->weight, j->clock.compute, (u32)used);
			c->weight.read = sim_ring_wrap((u32)((c->weight.read + used) % size), size);
		}
		if (++held == j->at_once || g + 1 == j->s.groups) {
			compute_held(sim, j, first, held);
			first += held;
			held = 0;
		}
	}
	if (held)
		compute_held(sim, j, first, held);
	j->done_groups = g;
}

/* CSC is through: what it keeps and what it gives back. */
static void csc_finish(struct npusim *sim, const struct conv_job *j)
{
	struct sim_conv *c = &sim->conv;
	const struct sim_csc_shape *s = &j->s;
	u32 size = sim_bank_entries(sim, s->data_bank);
	u64 release = (u64)s->eps * s->release_slices;

	if (!s->skip_data) {
		c->slices -= min(s->release_slices, c->slices);
		c->data.read = sim_ring_wrap((u32)((c->data.read + release) % size), size);
		give_back(sim, &c->data, j->clock.compute, (u32)min(release, (u64)UINT32_MAX));
		c->csc_last_slices = s->height > s->release_slices ? s->height - s->release_slices
								   : 0;
	} else {
		c->csc_last_slices = s->height;
	}
	c->csc_last_slice_entries = s->eps * c->csc_last_slices;
	c->csc_last_kernels = s->kernels;
	c->csc_last_skip_weight = s->skip_weight;
	c->csc_last_weight_entries = SIM_FIELD(csc_regs(sim), CSC, D_WEIGHT_BYTES, WEIGHT_BYTES) /
				     sim->config->entry_bytes;
	c->csc_last_data_bank = s->data_bank;
	c->csc_last_weight_bank = s->weight_bank;
	c->csc_last_mode = s->pixel ? SIM_MODE_PIXEL : SIM_MODE_FEATURE;
	/* The MAC arrays first: CSC may start its next operation at once, and that one needs them. */
	if (j->mac_a)
		sim_event_add(sim, j->clock.compute + CSC_FLUSH, SIM_EVENT_DONE, SIM_CMAC_A, NULL);
	if (j->mac_b)
		sim_event_add(sim, j->clock.compute + CSC_FLUSH, SIM_EVENT_DONE, SIM_CMAC_B, NULL);
	sim_event_add(sim, j->clock.compute + CSC_FLUSH, SIM_EVENT_DONE, SIM_CSC, NULL);
}

/* A kernel group that the weight banks cannot hold never arrives as a whole. */
static bool impossible(struct npusim *sim, const struct sim_csc_shape *s)
{
	u64 bytes = (u64)s->length * min(s->kernels, (u32)sim->config->atomic_k);
	u64 cycles = (u64)s->steps * s->taps * s->blocks * s->groups * s->positions;

	if (bytes > (u64)sim_bank_entries(sim, s->weight_bank) * sim->config->entry_bytes)
		return sim_hang(sim, "CSC",
				"needs %llu bytes for a kernel group, more than its banks",
				(unsigned long long)bytes);
	if (SIM_FIELD(csc_regs(sim), CSC, D_WEIGHT_FORMAT, WEIGHT_FORMAT))
		return sim_hang(sim, "CSC", "is asked for compressed weights, not built in");
	if (cycles > sim->options.max_cycles)
		return sim_hang(sim, "CSC", "would need more than %llu cycles",
				(unsigned long long)sim->options.max_cycles);
	return false;
}

/* Sums of one operation that the model has room for: 1 GiB. */
#define CONV_SUMS_MAX (1ull << 28)

static int job_memory(struct npusim *sim, struct conv_job *j)
{
	u32 k_max = sim->config->atomic_k;
	u64 patch = (u64)j->stride * sizeof(s16);
	u64 atoms = (u64)j->s.groups * j->s.positions;
	u64 left = sim->conv.left_atoms;

	j->patch_count = (u32)max(min((256u << 10) / patch, (u64)j->s.positions), (u64)1);
	j->weights = sim_scratch(sim, 1, (size_t)(patch * k_max * j->at_once));
	j->patches = sim_scratch(sim, 2, (size_t)(patch * j->patch_count));
	if (atoms + left > CONV_SUMS_MAX / k_max)
		return -ENOMEM;
	if (sim->conv.left_capacity < atoms + left) {
		s32 *p = realloc(sim->conv.left, (size_t)(atoms + left) * k_max * sizeof(s32));

		if (!p)
			return sim_no_memory(sim);
		sim->conv.left = p;
		sim->conv.left_capacity = atoms + left;
	}
	if (!j->weights || !j->patches)
		return -ENOMEM;
	memset(j->weights, 0, (size_t)(patch * k_max * j->at_once));
	j->out = sim->conv.left + left * k_max;
	return 0;
}

/*
 * SDP takes atoms, delivered until @when; the interrupt comes with the last one.  From @bus_free
 * on, nothing but SDP uses the bus.
 */
static void deliver(struct npusim *sim, u64 when, u64 bus_free)
{
	struct sim_conv *c = &sim->conv;
	u32 k_max = sim->config->atomic_k;
	struct sim_cube32 flying = {
		.width = c->left_width,
		.height = c->left_height,
		.surfaces = (u32)DIV_ROUND_UP(c->left_atoms, (u64)c->left_width * c->left_height),
		.atoms = c->left_atoms,
		.lanes = k_max,
		.data = c->left,
	};
	u64 taken = sim_post_flying(sim, &flying, when, bus_free);

	c->left_atoms -= taken;
	memmove(c->left, c->left + taken * k_max, (size_t)c->left_atoms * k_max * sizeof(s32));
	if (!c->left_atoms && c->left_intr) {
		c->left_intr = false;
		sim_event_add(sim, when, SIM_EVENT_INTR, NVDLA_INTR_CACC + c->left_group, NULL);
	}
}

/* Set the job up; false when the hardware, or this model, cannot do it. */
static bool job_init(struct npusim *sim, struct conv_job *j)
{
	sim_csc_shape(sim, csc_regs(sim), &j->s);
	j->mac_a = sim_unit_ready(sim, SIM_CMAC_A);
	j->mac_b = sim_unit_ready(sim, SIM_CMAC_B);
	if (impossible(sim, &j->s))
		return false;
	if (!j->mac_a && !j->mac_b) {
		sim_hang(sim, "CSC", "has sent its input to MAC arrays that were not enabled");
		return false;
	}
	j->stride = lane_stride(&j->s);
	j->at_once = groups_at_once(sim, &j->s);
	if (job_memory(sim, j)) {
		sim_hang(sim, "CSC", "asks for more output than the model has memory for");
		return false;
	}
	return true;
}

static void start_compute_units(struct npusim *sim, const struct conv_job *j)
{
	if (j->mac_a)
		sim_unit_start(sim, SIM_CMAC_A);
	if (j->mac_b)
		sim_unit_start(sim, SIM_CMAC_B);
	sim_unit_start(sim, SIM_CACC);
}

/* @sdp: SDP is ready; else the result fits CACC and stays there. */
static void conv_run(struct npusim *sim, bool sdp)
{
	struct sim_conv *c = &sim->conv;
	struct sim_task_stats stats = { 0 };
	struct conv_job j = { 0 };

	c->computing = true;
	if (!job_init(sim, &j))
		return;
	start_compute_units(sim, &j);
	j.truncate = SIM_FIELD(&sim->unit[SIM_CACC].regs, CACC, D_CLIP_CFG, CLIP_TRUNCATE);
	j.clock.compute = max(c->csc_free, c->slices_ready);
	if (sdp) {
		j.rate = sim_post_rate(sim);
		j.clock.deliver = sim_post_since(sim) + j.rate.head;
	}
	run_groups(sim, &j);
	sim->counters.macs += (u64)j.s.length * j.s.kernels * j.s.positions;

	c->left_atoms += (u64)j.done_groups * j.s.positions;
	c->left_width = j.s.out_width;
	c->left_height = j.s.out_height;
	c->left_when = j.clock.deliver;
	c->left_intr = j.done_groups == j.s.groups;
	c->left_group = sim->unit[SIM_CACC].consumer;
	if (sdp)
		deliver(sim, max(j.clock.deliver, sim->now), max(c->kernels_ready, sim->now));

	if (j.done_groups < j.s.groups) {
		sim_hang(sim, "CSC", "waits for the weights of kernel group %u of %u",
			 j.done_groups, j.s.groups);
		return;
	}
	if (c->left_atoms > sim_cacc_capacity(sim)) {
		sim_hang(sim, "CSC", "has %llu atoms that SDP does not take",
			 (unsigned long long)c->left_atoms);
		return;
	}
	csc_finish(sim, &j);
	sim_stat(&stats, NVDLA_CACC_D_OUT_SATURATION, j.saturated);
	sim_event_add(sim, j.clock.deliver, SIM_EVENT_DONE, SIM_CACC, &stats);
}

/* Input and the first weights of CSC's operation are there, and CACC is enabled? */
static bool conv_has_input(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;
	u32 height = SIM_FIELD(csc_regs(sim), CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT) + 1;
	u64 ready;

	if (!sim->unit[SIM_CSC].busy || c->csc_pending || c->computing)
		return false;
	if (!await_lines(sim, height)) {
		sim_hang(sim, "CSC", "waits for %u lines of input, has %u", height, c->slices);
		return false;
	}
	if (c->kernels <= 0 && !next_arrival(sim)) {
		sim_hang(sim, "CSC", "waits for weights");
		return false;
	}
	ready = max(c->slices_ready, c->kernels_ready);
	if (ready > sim->now) {
		if (c->wake != ready)
			sim_event_add(sim, ready, SIM_EVENT_WAKE, 0, NULL);
		c->wake = ready;
		return false;
	}
	return sim_unit_ready(sim, SIM_CACC);
}

/* The result is so small that CSC need not wait for SDP? */
static bool fits_cacc(const struct npusim *sim)
{
	struct sim_csc_shape s;

	sim_csc_shape(sim, csc_regs(sim), &s);
	return (u64)s.groups * s.positions + sim->conv.left_atoms <= sim_cacc_capacity(sim);
}

/* What an operation has left in CACC goes on when SDP is ready for all of its own. */
static bool deliver_left(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;
	u64 end;

	if (!c->left_atoms || !sim_post_flying_ready(sim) || sim_post_atoms(sim) > c->left_atoms)
		return false;
	end = max(c->left_when, sim->now + (c->left_atoms * sim_post_rate(sim).atom_256 >> 8));
	deliver(sim, end, sim->now);
	return true;
}

bool sim_conv_step(struct npusim *sim)
{
	bool moved = sim_cdma_step(sim), sdp;

	if (sim_unit_ready(sim, SIM_CSC)) {
		csc_start(sim);
		moved = true;
	}
	moved |= agree_on_banks(sim);
	moved |= deliver_left(sim);
	if (conv_has_input(sim)) {
		sdp = sim_post_flying_ready(sim);
		if (sdp || fits_cacc(sim)) {
			conv_run(sim, sdp);
			moved = true;
		}
	}
	return moved;
}
