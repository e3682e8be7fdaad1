/* SPDX-License-Identifier: MIT */
/*
 * The frame's own state: register file, events, DMA and the convolution pipeline.
 * Data paths of SDP, PDP and CDP see only npusim_internal.h.
 */
#ifndef NPUSIM_STATE_H
#define NPUSIM_STATE_H

#include "glb.h"
#include "npusim_internal.h"

#define SIM_NEVER UINT64_MAX

/* Cycles that one CSB access takes. */
#define SIM_CSB_CYCLES 4

/*
 * Units with two register groups.  Each has its own consumer pointer.  Columns: unit,
 * register base.
 */
enum sim_unit_id {
	SIM_CDMA,
	SIM_CSC,
	SIM_CMAC_A,
	SIM_CMAC_B,
	SIM_CACC,
	SIM_SDP_RDMA,
	SIM_SDP,
	SIM_PDP_RDMA,
	SIM_PDP,
	SIM_CDP_RDMA,
	SIM_CDP,
	SIM_UNITS
};

/**
 * struct sim_unit - ping-pong state of one unit
 * @enabled: D_OP_ENABLE of each group: set by software, cleared when the operation ends
 * @consumer: group that runs, or runs next
 * @producer: group that software's D_ accesses reach
 * @busy: the consumer's operation has started
 * @since: cycle at which the current operation could start (enable, or the end of the last one)
 * @enabled_at: cycle of the enabling write of each group
 * @regs: latched when the operation starts
 */
struct sim_unit {
	bool enabled[2];
	u8 consumer;
	u8 producer;
	bool busy;
	u64 since;
	u64 enabled_at[2];
	struct npusim_regs regs;
};

/*
 * What an operation writes, kept until it ends: an operation that starts before that must not
 * see it.  Records of address, length and bytes, one after the other.
 */
struct sim_writes {
	u8 *data;
	size_t used, capacity;
};

enum sim_event_kind {
	SIM_EVENT_INTR, /* arg: bit of S_INTR_STATUS */
	SIM_EVENT_DONE, /* arg: enum sim_unit_id: the operation ends, the consumer flips */
	SIM_EVENT_WAKE, /* look again at what waits */
};

struct sim_event {
	u64 when;
	u64 order; /* events of one cycle happen in the order they were made */
	enum sim_event_kind kind;
	u32 arg;
	struct sim_task_stats stats; /* of a DONE event */
	struct sim_writes writes; /* that become visible with a DONE event */
};

#define SIM_EVENTS_MAX 256

/* Entries that CSC gives back to CDMA at a future cycle. */
struct sim_release {
	u64 when;
	u32 entries;
};

/* A queue of future releases, oldest first. */
struct sim_releases {
	struct sim_release *item;
	u32 count;
	u32 capacity;
	u32 head;
};

/* What one side of CDMA (data or weights) is doing. */
enum sim_fetch { SIM_FETCH_IDLE, SIM_FETCH_PENDING, SIM_FETCH_BUSY, SIM_FETCH_DONE };

/**
 * struct sim_ring - one region of CBUF (data or weights) as a ring of entries
 * @write: CDMA's next entry; @read: first entry that CSC holds (relative to the region)
 * @held: entries that are written and not yet released, as CDMA sees it
 * @releases: entries that will be given back
 */
struct sim_ring {
	u32 write;
	u32 read;
	u32 held;
	struct sim_releases releases;
};

/**
 * struct sim_conv - the convolution pipeline
 * @cbuf: contents, banks * entries * entry_bytes
 * @data, @weight: the two rings
 * @data_ready: cycle at which the whole input of the newest fetch is in CBUF
 * @slices: slices in CBUF for CSC
 */
struct sim_conv {
	u8 *cbuf;
	u32 cbuf_entries;

	struct sim_ring data;
	struct sim_ring weight;

	/* CDMA */
	enum sim_fetch dat;
	enum sim_fetch wt;
	u32 dat_last_bank;
	u32 wt_last_data_bank;
	u32 wt_last_weight_bank;
	bool last_skip_data;
	bool last_skip_weight;
	u32 last_mode; /* kind of the operation before: feature or pixel */
	u32 rows_fetched; /* of the current data fetch */
	u32 weights_fetched; /* entries of the current weight fetch */
	u32 weights_requested; /* atoms asked for, some of which may wait for room */
	u32 groups_fetched; /* kernel groups announced to CSC */
	u64 dat_since; /* cycle since which data are read without a break */
	u32 dat_share_256; /* its beats for each beat of weights, times 256 */
	u64 dat_front; /* cycle at which the data fetch has come so far */
	u64 wt_front;

	/* CSC */
	bool csc_pending; /* waits for CDMA to agree to a change of banks */
	u32 csc_last_data_bank;
	u32 csc_last_weight_bank;
	u32 csc_last_slices; /* kept by the operation before */
	u32 csc_last_slice_entries;
	u32 csc_last_kernels;
	u32 csc_last_weight_entries;
	bool csc_last_skip_weight;
	u32 csc_last_mode;
	u32 slices; /* that CSC has taken note of */
	u64 slices_ready; /* cycle at which the last of them came */
	struct sim_releases lines; /* more of them: count and cycle of arrival */
	s32 kernels; /* available to CSC, may be more than an operation needs */
	u64 kernels_ready; /* cycle at which the last of them came */
	u64 csc_free; /* cycle at which CSC can work */
	bool computing; /* the operation at hand has begun */
	u64 wake; /* cycle of the event that looks whether it can begin */
	/* arrival of kernel groups: kernels and cycle */
	struct sim_releases arrivals;

	/* CACC: atoms that SDP has not taken, and the interrupt owed when it has taken them */
	s32 *left;
	u64 left_atoms;
	u64 left_capacity;
	u32 left_width, left_height;
	u64 left_when; /* cycle at which SDP could have had the last of them */
	bool left_intr;
	u32 left_group;
};

/* The whole device. */
struct npusim {
	struct npusim_options options;
	const struct nvdla_config *config;
	struct npusim_memory memory;

	u64 now;
	u64 epoch; /* cycle of the last reset */

	/* Registers: D_ ones in both rows, S_ ones in row 0. */
	u32 reg[2][NVDLA_REGS_BYTES / 4];
	u8 attr[NVDLA_REGS_BYTES / 4]; /* SIM_ATTR_* */
	u32 mask[NVDLA_REGS_BYTES / 4]; /* bits that hold a field */

	struct sim_glb glb;

	struct sim_unit unit[SIM_UNITS];
	struct sim_event event[SIM_EVENTS_MAX];
	u32 events;
	u64 event_order;

	struct sim_conv conv;
	struct sim_lut sdp_lut;
	struct sim_lut cdp_lut;
	struct sim_pdp_left pdp_left;

	/* What a unit that never ends has said, by unit. */
	char hang[SIM_UNITS][160];

	struct npusim_range *guard;
	u32 guard_count;
	struct npusim_fault fault;
	char diagnosis[512];
	bool no_memory; /* see sim_no_memory() */

	struct npusim_counters counters;
	u64 counters_since;
	u32 dma_group; /* register group of the operation at work, for faults */
	bool hold_writes; /* an operation is at work whose writes wait for its end */
	struct sim_writes writes; /* of that operation */

	npusim_event_fn event_fn;
	void *event_context;

	/* Scratch of the MAC array, kept between operations. */
	void *scratch[4];
	size_t scratch_size[4];
};

#define SIM_ATTR_EXISTS 1u
#define SIM_ATTR_DUAL 2u
#define SIM_ATTR_WRITABLE 4u

/* Where the registers of a unit are. */
struct sim_unit_info {
	const char *name;
	u32 base;
	u32 op_enable; /* offset of D_OP_ENABLE in the register file */
};

extern const struct sim_unit_info sim_unit_info[SIM_UNITS];

/* csb.c */
void sim_csb_init(struct npusim *sim);
void sim_csb_reset(struct npusim *sim);
int sim_unit_of(u32 reg); /* enum sim_unit_id, or -1 */
/* Latch the consumer group's registers and mark the unit busy. */
const struct npusim_regs *sim_unit_start(struct npusim *sim, enum sim_unit_id id);
/* Enabled in the consumer group and not yet started? */
bool sim_unit_ready(const struct npusim *sim, enum sim_unit_id id);

/* dma.c: from begin on, writes are held; they go to memory with commit, or with a DONE event. */
void sim_writes_begin(struct npusim *sim);
void sim_writes_commit(struct npusim *sim, struct sim_writes *writes);
void sim_writes_drop(struct sim_writes *writes);

/* event.c */
void sim_event_add(struct npusim *sim, u64 when, enum sim_event_kind kind, u32 arg,
		   const struct sim_task_stats *stats);
/* The end of the operation at work, with the writes held for it. */
void sim_event_add_end(struct npusim *sim, u64 when, enum sim_unit_id unit,
		       const struct sim_task_stats *stats);
void sim_events_clear(struct npusim *sim);
void sim_advance(struct npusim *sim, u64 until);

/* post.c: SDP, PDP and CDP without a convolution; returns true when something started */
bool sim_post_step(struct npusim *sim);

/* conv.c: everything from CDMA to CACC; returns true when something moved */
bool sim_conv_step(struct npusim *sim);
void sim_conv_reset(struct npusim *sim);
void sim_conv_destroy(struct npusim *sim);

/* Start all that can start. */
void sim_step(struct npusim *sim);

/* Scratch memory number @slot of at least @size bytes; NULL when out of memory. */
void *sim_scratch(struct npusim *sim, u32 slot, size_t size);

#endif /* NPUSIM_STATE_H */
