/* SPDX-License-Identifier: MIT */
/*
 * npusim: a register-accurate model of the NVDLA 2 family.
 *
 * What is modelled: the CSB register file, DMA to memory through callbacks, the
 * interrupt pin, and virtual time in core clock cycles.  The model knows nothing
 * of chains or plans: whoever can program the hardware can program the model,
 * and what hangs on the hardware hangs here, with a diagnosis.
 *
 * One npusim is used by one thread at a time; several may live side by side.
 */
#ifndef NPUSIM_H
#define NPUSIM_H

#include "nvdla_config.h"
#include "nvdla_regs.h"

struct npusim;

/* The engines that move data to and from memory: what bytes and faults are counted by. */
enum npusim_engine {
	NPUSIM_CDMA_DATA,
	NPUSIM_CDMA_WEIGHT,
	NPUSIM_SDP_READ, /* SDP_RDMA, main input (MRDMA) */
	NPUSIM_SDP_BS, /* SDP_RDMA, operands of BS (BRDMA) */
	NPUSIM_SDP_BN, /* SDP_RDMA, operands of BN (NRDMA) */
	NPUSIM_SDP_EW, /* SDP_RDMA, operands of EW (ERDMA) */
	NPUSIM_SDP_WRITE,
	NPUSIM_PDP_READ,
	NPUSIM_PDP_WRITE,
	NPUSIM_CDP_READ,
	NPUSIM_CDP_WRITE,
	NPUSIM_ENGINE_COUNT
};

/* "CDMA_DATA", "SDP_WRITE", ...; never NULL. */
const char *npusim_engine_name(enum npusim_engine engine);

/**
 * struct npusim_memory - the memory that the model's DMA sees
 * @context: first argument of the callbacks
 * @read, @write: move @len bytes at device address @addr; 0 or a negative errno
 * @map: optional (may be NULL): a pointer to @len bytes at @addr that stays valid until
 *	the memory changes hands, or NULL where there is none; saves copies
 */
struct npusim_memory {
	void *context;
	int (*read)(void *context, u64 addr, void *buf, size_t len);
	int (*write)(void *context, u64 addr, const void *buf, size_t len);
	void *(*map)(void *context, u64 addr, size_t len);
};

/**
 * struct npusim_options - how to build a model
 * @config: the configuration; must outlive the model
 * @read_latency: cycles from a read address to its first beat (0: 32)
 * @write_latency: cycles from the last beat of a write to its response (0: 8)
 * @bytes_per_cycle: DRAM bandwidth shared by reads and writes (0: a beat a cycle each way)
 * @clock_gated: model the leaked weight entries of clock-gated silicon
 * @max_cycles: an operation that would take longer is not begun: it hangs, with a diagnosis
 *	(0: 2^36); bounds the time that wrong registers can cost
 */
struct npusim_options {
	const struct nvdla_config *config;
	u32 read_latency;
	u32 write_latency;
	u32 bytes_per_cycle;
	bool clock_gated;
	u64 max_cycles;
};

/* A model after reset; NULL when out of memory. */
struct npusim *npusim_create(const struct npusim_options *options,
			     const struct npusim_memory *memory);
void npusim_destroy(struct npusim *sim);

/* Power-on state: registers, CBUF, pointers, diagnosis; time, counters and guard stay. */
void npusim_reset(struct npusim *sim);

/* Slower or faster memory, from the next operation on: npusim_options.read_latency. */
void npusim_set_read_latency(struct npusim *sim, u32 cycles);
u32 npusim_read_latency(const struct npusim *sim);

/* CSB accesses; @reg is a byte offset in the register file.  A write takes about 4 cycles. */
void npusim_write(struct npusim *sim, u32 reg, u32 value);
u32 npusim_read(struct npusim *sim, u32 reg);

/* Let @cycles of virtual time pass. */
void npusim_run(struct npusim *sim, u64 cycles);

/*
 * Let time pass until the next thing happens in a unit; false when nothing is pending, as
 * npusim_idle() says.
 */
bool npusim_step(struct npusim *sim);

/*
 * Let time pass until the interrupt pin is high (an unmasked bit of GLB.S_INTR_STATUS).
 * False, with npusim_diagnosis(), when nothing in flight could ever raise it.
 */
bool npusim_wait(struct npusim *sim);

/* Is the interrupt pin high now? */
bool npusim_irq(const struct npusim *sim);

/* Virtual time since creation, in core clock cycles. */
u64 npusim_now(const struct npusim *sim);

/* True when no event is pending: whatever is enabled now waits for ever. */
bool npusim_idle(const struct npusim *sim);

/* What hangs or what DMA was refused, as text; "" when all is well. */
const char *npusim_diagnosis(struct npusim *sim);

/*
 * Did the model lack memory (of this machine) since the last reset?  Then results are not to be
 * trusted and what hangs might not hang on the hardware.
 */
bool npusim_out_of_memory(const struct npusim *sim);

/* What an entry of the DMA guard allows. */
#define NPUSIM_GUARD_READ 1u
#define NPUSIM_GUARD_WRITE 2u

struct npusim_range {
	u64 address;
	u64 length;
	u32 access; /* NPUSIM_GUARD_* */
};

/*
 * From now on each DMA access must lie inside one of @ranges that allows it.  A refused
 * access reads zeros or writes nothing, and npusim_fault() tells it.  NULL and 0: off.
 * Returns 0 or -ENOMEM.
 */
int npusim_guard(struct npusim *sim, const struct npusim_range *ranges, u32 count);

/**
 * struct npusim_fault - the first refused or failed DMA access since npusim_clear_fault()
 * @error: negative errno: -EACCES from the guard, else what the memory callback returned; 0: none
 */
struct npusim_fault {
	int error;
	enum npusim_engine engine;
	u32 group; /* register group */
	u64 address;
	u64 length;
	bool write;
};

const struct npusim_fault *npusim_fault(const struct npusim *sim);
void npusim_clear_fault(struct npusim *sim);

/**
 * struct npusim_counters - since creation or npusim_clear_counters()
 * @bytes: DRAM bytes by engine: whole beats for reads, strobed bytes for writes
 * @cycles: virtual time that passed
 * @macs: multiply-accumulate operations that the MAC array did (without padding lanes)
 * @tasks: operations completed, by unit that raised their last interrupt: SDP, PDP, CDP
 */
struct npusim_counters {
	u64 bytes[NPUSIM_ENGINE_COUNT];
	u64 cycles;
	u64 macs;
	u32 sdp_tasks;
	u32 pdp_tasks;
	u32 cdp_tasks;
	u32 conv_tasks;
};

void npusim_counters(const struct npusim *sim, struct npusim_counters *counters);
void npusim_clear_counters(struct npusim *sim);

/* Sums of bytes[]. */
u64 npusim_bytes_read(const struct npusim_counters *counters);
u64 npusim_bytes_written(const struct npusim_counters *counters);

/* Called at each interrupt source's event: @bit of GLB.S_INTR_STATUS, at cycle @when. */
typedef void (*npusim_event_fn)(void *context, u32 bit, u64 when);
void npusim_set_event_hook(struct npusim *sim, npusim_event_fn fn, void *context);

/*
 * Recorder (record.c): an inference as a script in the format of the golden vectors, with
 * its memory images, so that npusim or the real RTL can replay it.  Errors stick: every call
 * after a failure does nothing, and npusim_record_close() returns the first error and leaves no
 * script.
 */
struct npusim_recorder;

/* Start a script DIR/run.nv (DIR is made if missing).  NULL with *error = -errno. */
struct npusim_recorder *npusim_record_open(const char *dir, const char *title, int *error);

/* Memory contents before the next command (runs of one byte become `fill`). */
void npusim_record_load(struct npusim_recorder *rec, u64 addr, const void *data, size_t len);
void npusim_record_fill(struct npusim_recorder *rec, u64 addr, size_t len, u8 byte);

void npusim_record_write(struct npusim_recorder *rec, u32 reg, u32 value);
void npusim_record_poll(struct npusim_recorder *rec, u32 reg, u32 mask, u32 value);

/* Wait until all bits of @mask are set in GLB.S_INTR_STATUS, then clear them. */
void npusim_record_wait(struct npusim_recorder *rec, u32 mask);
void npusim_record_mark(struct npusim_recorder *rec, const char *name);

/* The memory as it must be at this point: NAME.out.bin, with NAME.expect.bin written here. */
void npusim_record_dump(struct npusim_recorder *rec, const char *name, u64 addr, const void *data,
			size_t len);
int npusim_record_close(struct npusim_recorder *rec);

/*
 * Replay (replay.c), used by the command line and by tests.
 *
 * struct npusim_replay_options
 * @config: configuration name; NULL: the name of the directory above the test
 * @out: where TAP-like lines go
 * @timing: also compare cycles with META.tsv, TIMING.tsv and rtl-nv_small.tsv
 * @keep: NULL, or a directory to store the dumps in
 */
struct npusim_replay_options {
	const char *config;
	void *out; /* FILE * */
	bool timing;
	const char *keep;
};

/* A test, a configuration or a whole tree; adds to the sums.  0 or a negative errno. */
int npusim_replay(const struct npusim_replay_options *options, const char *dir, u32 *passed,
		  u32 *failed);

/* One script of the vectors' format; 0, or a negative errno with the text printed to stderr. */
int npusim_run_script(const struct npusim_replay_options *options, const char *path);

#endif /* NPUSIM_H */
