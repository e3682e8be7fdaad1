// SPDX-License-Identifier: MIT
/*
 * The software NPU: the device model in process, driven by the same validator
 * and sequencer that the kernel driver has, with the DMA guard on exactly what
 * the validator found each chain to touch.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "budget.h"
#include "chain_run.h"
#include "internal.h"
#include "npusim.h"
#include "record.h"

#define PREFIX "sim"
#define DRAM_BASE 0x80000000u /* device address of the first region */
#define REGION_GAP 0x10000u /* device addresses between two regions that belong to nobody */
#define BUFFER_ALIGN 4096

struct sim_chain {
	struct npu_chain base;
	struct nvdla_chain chain;
	void *stream; /* a copy of our own */
	void *storage;
};

/* One region of the chain that runs, in the model's address space. */
struct sim_region {
	u64 address;
	u64 bytes;
	u8 *data;
};

struct sim_device {
	struct npu_device base;
	struct npu_sim_budget *budget;
	atomic_uint priority;
	pthread_mutex_t lock;
	pthread_cond_t turn_over;
	bool busy; /* somebody has the model and everything below; of the lock */
	u32 waiting[NPU_PRIORITY_HIGH + 1]; /* for it, by priority; of the lock */
	struct npusim *sim;
	struct nvdla_hw hw;
	struct sim_region region[NVDLA_CHAIN_MAX_REGIONS];
	u32 region_count;
	struct npu_recording *recording; /* of the chain that runs, or NULL */
};

static struct sim_device *to_sim(struct npu_device *device)
{
	return (struct sim_device *)device;
}

/* ---- whose turn it is ---- */

/* With the lock held. */
static bool more_urgent_waits(const struct sim_device *sim, enum npu_priority priority)
{
	u32 i;

	for (i = priority + 1; i < ARRAY_SIZE(sim->waiting); i++)
		if (sim->waiting[i])
			return true;
	return false;
}

static void take_turn(struct sim_device *sim, enum npu_priority priority)
{
	pthread_mutex_lock(&sim->lock);
	sim->waiting[priority]++;
	while (sim->busy || more_urgent_waits(sim, priority))
		pthread_cond_wait(&sim->turn_over, &sim->lock);
	sim->waiting[priority]--;
	sim->busy = true;
	pthread_mutex_unlock(&sim->lock);
}

static void give_turn(struct sim_device *sim)
{
	pthread_mutex_lock(&sim->lock);
	sim->busy = false;
	pthread_cond_broadcast(&sim->turn_over);
	pthread_mutex_unlock(&sim->lock);
}

/* Between two chains of a submission. */
static void let_pass(struct sim_device *sim, enum npu_priority priority)
{
	bool passes;

	pthread_mutex_lock(&sim->lock);
	passes = more_urgent_waits(sim, priority);
	pthread_mutex_unlock(&sim->lock);
	if (!passes)
		return;
	give_turn(sim);
	take_turn(sim, priority);
}

/* ---- the model's memory: the regions of the chain that runs ---- */

static void *sim_map(void *context, u64 address, size_t length)
{
	struct sim_device *sim = context;
	u32 i;

	for (i = 0; i < sim->region_count; i++) {
		struct sim_region *region = &sim->region[i];
		u64 offset = address - region->address;

		if (address >= region->address && offset <= region->bytes &&
		    length <= region->bytes - offset)
			return region->data + offset;
	}
	return NULL;
}

static int sim_read(void *context, u64 address, void *buf, size_t length)
{
	void *data = sim_map(context, address, length);

	if (!data)
		return -EFAULT;
	memcpy(buf, data, length);
	return 0;
}

static int sim_write(void *context, u64 address, const void *buf, size_t length)
{
	void *data = sim_map(context, address, length);

	if (!data)
		return -EFAULT;
	memcpy(data, buf, length);
	return 0;
}

/* ---- its registers ---- */

static u32 reg_read(void *context, u32 reg)
{
	struct sim_device *sim = context;
	u32 value = npusim_read(sim->sim, reg);

	npu_record_read(sim->recording, reg, value);
	return value;
}

static void reg_write(void *context, u32 reg, u32 value)
{
	struct sim_device *sim = context;

	npu_record_write(sim->recording, reg, value);
	npusim_write(sim->sim, reg, value);
}

/*
 * After a reset CDMA clears the buffer, at least an entry a cycle.  That is no run's time: the device
 * waits for it before it takes work.
 */
static void wait_for_flush(struct npusim *sim, const struct nvdla_config *config)
{
	npusim_run(sim, (u64)config->banks * config->entries);
}

static int hw_reset(void *context)
{
	struct sim_device *sim = context;

	npusim_reset(sim->sim);
	wait_for_flush(sim->sim, sim->base.config);
	return 0;
}

struct npusim *npu_sim_model(struct npu_device *device)
{
	return to_sim(device)->sim;
}

/* ---- names ---- */

#define MAX_NAMES 32

static char names[MAX_NAMES][64];

static void fill_names(void)
{
	u32 i;

	for (i = 0; i < nvdla_config_count && i < MAX_NAMES; i++)
		snprintf(names[i], sizeof(names[i]), PREFIX ":%s", nvdla_configs[i].name);
}

static const char *sim_name(unsigned index)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill_names);
	return index < MAX_NAMES && names[index][0] ? names[index] : NULL;
}

#define MAX_INSTANCE 24

static bool is_instance(const char *text)
{
	size_t length;

	for (length = 0; text[length]; length++)
		if (!isalnum((unsigned char)text[length]) && !strchr("_-", text[length]))
			return false;
	return length >= 1 && length <= MAX_INSTANCE;
}

/* "sim[:CONFIG[:INSTANCE]]"; the instance tells several NPUs of one configuration apart. */
static int parse_name(const char *name, const struct nvdla_config **config, char *file, size_t size)
{
	const char *rest = name + strlen(PREFIX), *instance;
	char wanted[32] = "nv_small";

	if (*rest && *rest != ':')
		return npu_fail(-ENODEV, "%s: no such NPU", name);
	if (*rest) {
		rest++;
		snprintf(wanted, sizeof(wanted), "%.*s", (int)strcspn(rest, ":"), rest);
	}
	*config = nvdla_config_find(wanted);
	if (!*config)
		return npu_fail(-ENODEV, "%s: there is no NPU configuration \"%s\"", name, wanted);
	instance = strchr(rest, ':');
	if (instance && !is_instance(instance + 1))
		return npu_fail(-ENODEV, "%s: an instance is 1 to %d letters and digits", name,
				MAX_INSTANCE);
	snprintf(file, size, "sim-%s%s%s", wanted, instance ? "." : "",
		 instance ? instance + 1 : "");
	return 0;
}

/* ---- life of a device ---- */

static void sim_destroy(struct npu_device *device)
{
	struct sim_device *sim = to_sim(device);

	npu_sim_budget_close(sim->budget);
	npusim_destroy(sim->sim);
	pthread_cond_destroy(&sim->turn_over);
	pthread_mutex_destroy(&sim->lock);
	free(sim);
}

static int sim_start(struct sim_device *sim)
{
	const struct npusim_options options = { .config = sim->base.config };
	const struct npusim_memory memory = { sim, sim_read, sim_write, sim_map };
	const struct nvdla_io io = {
		.context = sim,
		.read = reg_read,
		.write = reg_write,
		.reset = hw_reset,
	};
	int err;

	sim->sim = npusim_create(&options, &memory);
	if (!sim->sim)
		return npu_fail(-ENOMEM, "%s: out of memory", sim->base.name);
	wait_for_flush(sim->sim, sim->base.config);
	err = nvdla_hw_init(&sim->hw, &io, sim->base.config);
	return err ? npu_fail(err, "%s: cannot take over the device", sim->base.name) : 0;
}

static const struct npu_device_ops sim_ops;

static int sim_open(const char *name, struct npu_device **device)
{
	const struct nvdla_config *config = NULL;
	struct sim_device *sim;
	char file[80];
	int err = parse_name(name, &config, file, sizeof(file));

	if (err)
		return err;
	sim = calloc(1, sizeof(*sim));
	if (!sim)
		return npu_fail(-ENOMEM, "%s: out of memory", name);
	sim->base.ops = &sim_ops;
	sim->base.config = config;
	snprintf(sim->base.name, sizeof(sim->base.name), "%s%s", name,
		 name[strlen(PREFIX)] ? "" : ":nv_small");
	atomic_init(&sim->base.references, 1);
	sim->base.max_jobs = NPU_MAX_JOBS;
	atomic_init(&sim->priority, NPU_PRIORITY_NORMAL);
	pthread_mutex_init(&sim->lock, NULL);
	pthread_cond_init(&sim->turn_over, NULL);
	err = npu_sim_budget_open(file, config->banks, &sim->budget);
	if (!err)
		err = sim_start(sim);
	if (err) {
		sim_destroy(&sim->base);
		return err;
	}
	*device = &sim->base;
	return 0;
}

static int sim_budget(struct npu_device *device, struct npu_device_budget *budget)
{
	return npu_sim_budget_read(to_sim(device)->budget, budget);
}

static int sim_budget_wait(struct npu_device *device, u64 generation, int timeout_ms)
{
	return npu_sim_budget_wait(to_sim(device)->budget, generation, timeout_ms);
}

static int sim_reserve(struct npu_device *device, u32 banks)
{
	return npu_sim_budget_reserve(to_sim(device)->budget, banks);
}

static int sim_set_priority(struct npu_device *device, enum npu_priority priority)
{
	/* A handle has a model of its own: it goes before nobody but the handle's own threads. */
	atomic_store(&to_sim(device)->priority, priority);
	return 0;
}

static int sim_set_cap(struct npu_device *device, u32 banks)
{
	return npu_sim_budget_set_cap(to_sim(device)->budget, banks);
}

static int sim_reservation(struct npu_device *device, unsigned index, struct npu_reservation *out)
{
	return npu_sim_budget_reservation(to_sim(device)->budget, index, out);
}

/* ---- buffers ---- */

static int sim_buffer_create(struct npu_device *device, size_t bytes, enum npu_buffer_use use,
			     struct npu_buffer *buffer)
{
	size_t rounded;

	if (__builtin_add_overflow(bytes ? bytes : 1, BUFFER_ALIGN - 1, &rounded))
		return npu_fail(-ENOMEM, "%s: a buffer of %zu bytes is too large", device->name,
				bytes);
	rounded &= ~(size_t)(BUFFER_ALIGN - 1);
	buffer->data = aligned_alloc(BUFFER_ALIGN, rounded);
	if (!buffer->data)
		return npu_fail(-ENOMEM, "%s: no memory for a buffer of %zu bytes", device->name,
				bytes);
	memset(buffer->data, 0, rounded);
	buffer->bytes = bytes;
	return 0;
}

static void sim_buffer_destroy(struct npu_device *device, struct npu_buffer *buffer)
{
	free(buffer->data);
	buffer->data = NULL;
	buffer->bytes = 0;
}

/* ---- chains ---- */

static void sim_chain_destroy(struct npu_device *device, struct npu_chain *base)
{
	struct sim_chain *chain = (struct sim_chain *)base;

	if (!chain)
		return;
	free(chain->stream);
	free(chain->storage);
	free(chain);
}

static int sim_validate(struct npu_device *device, struct sim_chain *chain, size_t bytes)
{
	size_t storage_bytes = nvdla_chain_storage_bytes(chain->stream, bytes);
	struct nvdla_chain_error error = { 0 };
	char text[256];
	int err;

	if (!storage_bytes)
		return npu_fail(-EINVAL, "%s: not a chain stream", device->name);
	chain->storage = calloc(1, storage_bytes);
	if (!chain->storage)
		return npu_fail(-ENOMEM, "%s: out of memory", device->name);
	err = nvdla_chain_validate(device->config, chain->stream, bytes, chain->storage,
				   storage_bytes, &chain->chain, &error);
	if (err) {
		nvdla_chain_error_text(&error, text, sizeof(text));
		return npu_fail(err, "%s: chain refused: %s", device->name, text);
	}
	return 0;
}

static int sim_chain_create(struct npu_device *device, const void *stream, size_t bytes,
			    struct npu_chain **out)
{
	struct sim_chain *chain = calloc(1, sizeof(*chain));
	int err;

	if (!chain)
		return npu_fail(-ENOMEM, "%s: out of memory", device->name);
	chain->stream = malloc(bytes ? bytes : 1);
	if (!chain->stream) {
		sim_chain_destroy(device, &chain->base);
		return npu_fail(-ENOMEM, "%s: out of memory", device->name);
	}
	memcpy(chain->stream, stream, bytes);
	err = sim_validate(device, chain, bytes);
	if (err) {
		sim_chain_destroy(device, &chain->base);
		return err;
	}
	chain->base.banks = chain->chain.banks;
	chain->base.tasks = chain->chain.task_count;
	*out = &chain->base;
	return 0;
}

/* Gives every region an address and checks that it is large enough. */
static int bind_regions(struct sim_device *sim, const struct nvdla_chain *chain,
			const struct npu_buffer *region, u32 region_count, u64 *base)
{
	u64 address = DRAM_BASE;
	u32 i;

	if (chain->region_count > region_count)
		return npu_fail(-EINVAL, "%s: the chain has %u regions, %u are bound",
				sim->base.name, chain->region_count, region_count);
	for (i = 0; i < chain->region_count; i++) {
		const struct nvdla_chain_region *extent = &chain->region[i];

		if (max(extent->read_end, extent->write_end) > region[i].bytes)
			return npu_fail(
				-EINVAL, "%s: region %u has %zu bytes, the chain needs %llu",
				sim->base.name, i, region[i].bytes,
				(unsigned long long)max(extent->read_end, extent->write_end));
		base[i] = address;
		sim->region[i].address = address;
		sim->region[i].bytes = region[i].bytes;
		sim->region[i].data = region[i].data;
		address += region[i].bytes + REGION_GAP;
		address &= ~(u64)(BUFFER_ALIGN - 1);
	}
	sim->region_count = chain->region_count;
	return 0;
}

static int set_guard(struct sim_device *sim, const struct nvdla_chain *chain)
{
	struct npusim_range range[2 * NVDLA_CHAIN_MAX_REGIONS];
	u32 i, count = 0;

	for (i = 0; i < chain->region_count; i++) {
		const struct nvdla_chain_region *extent = &chain->region[i];
		u64 base = sim->region[i].address;

		if (extent->read_end > extent->read_start)
			range[count++] =
				(struct npusim_range){ base + extent->read_start,
						       extent->read_end - extent->read_start,
						       NPUSIM_GUARD_READ };
		if (extent->write_end > extent->write_start)
			range[count++] =
				(struct npusim_range){ base + extent->write_start,
						       extent->write_end - extent->write_start,
						       NPUSIM_GUARD_WRITE };
	}
	return npusim_guard(sim->sim, range, count);
}

static int check_fault(struct sim_device *sim)
{
	const struct npusim_fault *fault = npusim_fault(sim->sim);

	if (!fault->error)
		return 0;
	return npu_fail(-EIO, "%s: %s, register group %u: %s of %llu bytes at 0x%llx refused: %s",
			sim->base.name, npusim_engine_name(fault->engine), fault->group,
			fault->write ? "write" : "read", (unsigned long long)fault->length,
			(unsigned long long)fault->address, strerror(-fault->error));
}

/* Interrupt after interrupt until the chain is done; the device is reset when it fails. */
static int run_to_end(struct sim_device *sim, struct chain_run *run, int state)
{
	int err = 0;

	while (state == CHAIN_RUN_GOES_ON && !err) {
		bool came = npusim_wait(sim->sim);

		if (npusim_out_of_memory(sim->sim))
			err = npu_fail(-ENOMEM, "%s: out of memory for task %u of the chain",
				       sim->base.name, chain_run_completed(run));
		else if (!came)
			err = npu_fail(-EIO, "%s: task %u of the chain hangs: %s", sim->base.name,
				       chain_run_completed(run), npusim_diagnosis(sim->sim));
		else
			state = chain_run_interrupt(run);
		if (!err)
			err = check_fault(sim);
	}
	if (!err && state < 0)
		err = npu_fail(-EIO, "%s: %s", sim->base.name, strerror(-state));
	if (err)
		chain_run_abort(run);
	return err;
}

static void fill_stats(struct sim_device *sim, u64 start, u64 writes, struct npu_chain_stats *stats)
{
	struct npusim_counters counters;

	npusim_counters(sim->sim, &counters);
	stats->cycles = npusim_now(sim->sim) - start;
	stats->feature_bytes = counters.bytes[NPUSIM_CDMA_DATA] + counters.bytes[NPUSIM_SDP_READ] +
			       counters.bytes[NPUSIM_PDP_READ] + counters.bytes[NPUSIM_CDP_READ];
	stats->weight_bytes = counters.bytes[NPUSIM_CDMA_WEIGHT];
	stats->operand_bytes = counters.bytes[NPUSIM_SDP_BS] + counters.bytes[NPUSIM_SDP_BN] +
			       counters.bytes[NPUSIM_SDP_EW];
	stats->output_bytes = npusim_bytes_written(&counters);
	stats->register_writes = writes;
}

/* All of them have to find their banks now: what has been accepted keeps them. */
static int admit(struct sim_device *sim, struct npu_submission *submission)
{
	struct npu_device_budget budget;
	int err = npu_sim_budget_read(sim->budget, &budget);
	u32 i;

	for (i = 0; i < submission->count && !err; i++) {
		u32 banks = submission->job[i].chain->banks;

		if (banks <= budget.banks_available)
			continue;
		submission->failed = i;
		err = npu_fail(-ENOSPC, "%s: the chain needs %u banks, %u are available",
			       sim->base.name, banks, budget.banks_available);
	}
	return err;
}

static int run_chain(struct sim_device *sim, struct npu_device_job *job)
{
	const struct nvdla_chain *chain = &((struct sim_chain *)job->chain)->chain;
	u64 base[NVDLA_CHAIN_MAX_REGIONS];
	struct chain_run run;
	int err, state;
	u64 start;

	err = bind_regions(sim, chain, job->region, job->region_count, base);
	if (err)
		return err;
	if (set_guard(sim, chain))
		return npu_fail(-ENOMEM, "%s: out of memory", sim->base.name);
	npusim_clear_fault(sim->sim);
	npusim_clear_counters(sim->sim);
	npu_record_chain(sim->recording, chain, job->region, base);
	job->stats.start_ns = npu_now_ns();
	start = npusim_now(sim->sim);
	state = chain_run_start(&run, &sim->hw, chain, base, false);
	err = run_to_end(sim, &run, state);
	if (err)
		return err;
	job->stats.end_ns = npu_now_ns();
	npu_record_results(sim->recording, chain, job->region, base);
	fill_stats(sim, start, run.writes, &job->stats);
	return 0;
}

static int run_job(struct sim_device *sim, struct npu_device_job *job,
		   struct npu_recording *recording)
{
	const struct nvdla_io io = sim->hw.io;
	int err = 0;

	sim->recording = recording;
	/* A recording begins where the hardware that replays it begins. */
	if (npu_record_needs_reset(recording))
		err = nvdla_hw_init(&sim->hw, &io, sim->base.config);
	if (err)
		npu_fail(err, "%s: cannot reset", sim->base.name);
	else
		err = run_chain(sim, job);
	sim->recording = NULL;
	sim->region_count = 0;
	return err;
}

static int sim_submit(struct npu_device *device, struct npu_submission *submission)
{
	struct sim_device *sim = to_sim(device);
	enum npu_priority priority = npu_thread_priority(atomic_load(&sim->priority));
	int err;

	submission->done = 0;
	submission->failed = submission->count;
	err = admit(sim, submission);
	if (err)
		return err;
	take_turn(sim, priority);
	while (!err && submission->done < submission->count) {
		if (submission->done)
			let_pass(sim, priority);
		err = run_job(sim, &submission->job[submission->done], submission->recording);
		submission->done += !err;
	}
	if (err)
		submission->failed = submission->done;
	give_turn(sim);
	return err;
}

static int sim_record_begin(struct npu_device *device, const char *dir, const char *title,
			    struct npu_recording **recording)
{
	return npu_record_begin(dir, device->config->name, title, recording);
}

static int sim_record_end(struct npu_device *device, struct npu_recording *recording)
{
	return npu_record_end(recording);
}

static const struct npu_device_ops sim_ops = {
	.destroy = sim_destroy,
	.budget = sim_budget,
	.budget_wait = sim_budget_wait,
	.reserve = sim_reserve,
	.set_priority = sim_set_priority,
	.set_cap = sim_set_cap,
	.reservation = sim_reservation,
	.buffer_create = sim_buffer_create,
	.buffer_destroy = sim_buffer_destroy,
	.chain_create = sim_chain_create,
	.chain_destroy = sim_chain_destroy,
	.submit = sim_submit,
	.record_begin = sim_record_begin,
	.record_end = sim_record_end,
};

const struct npu_device_kind npu_device_sim = { { PREFIX }, sim_name, sim_open };
