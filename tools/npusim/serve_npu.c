// SPDX-License-Identifier: MIT
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "glb.h"
#include "serve_npu.h"

/* Register writes that may wait: several batch windows. */
#define QUEUE_PAIRS (4 * NVDLA_PCI_BATCH_PAIRS)

/* So many are taken out of the queue at once. */
#define CHUNK_PAIRS 64

/* Refused DMA accesses that are told on standard error; a guest can make any number. */
#define TOLD_FAULTS 32

/* CBUF is flushed within a few ten thousand cycles of a reset. */
#define FLUSH_STEP_CYCLES 1024
#define FLUSH_STEPS 1024

enum question { ASK_NONE, ASK_REGISTER, ASK_DIAGNOSIS };

/**
 * struct serve_npu - the model and its thread
 * @sim: only the thread touches it
 * @read_latency: without a fault
 * @lock: guards what follows; never held while the model works
 * @work: something for the thread; @done: something is finished
 * @glb: interrupt registers as software sees them: they change when a write arrives, and at each
 *	interrupt, however long the model's thread is busy with something else
 * @pin: level of the interrupt pin
 * @queue, @head, @count: a ring of register writes
 * @working: the thread is inside of the model
 * @idle: nothing is pending in the model
 * @resetting: from the command until the model has come out of its reset
 * @question, @reg, @value, @text: what the caller wants to know of the model
 * @gate: time before which no task may end (NVDLA_PCI_FAULT_SLOW_TASKS), in ns
 * @ended: tasks that ended, to set the gate
 * @told: refused accesses told
 */
struct serve_npu {
	struct npusim *sim;
	u32 read_latency;
	struct vfio_user_dma *dma;
	struct serve_irq *irq;
	struct serve_fault *fault;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_cond_t done;
	struct sim_glb glb;
	bool pin;
	struct nvdla_pci_pair queue[QUEUE_PAIRS];
	u32 head;
	u32 count;
	bool working;
	bool idle;
	bool resetting;
	bool stop;
	enum question question;
	u32 reg;
	u32 value;
	char text[512];
	u64 gate;
	u32 status;
	struct serve_counters counters;

	bool ended;
	u32 told;
};

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* ---- what the model calls, in the thread, without the lock --------------------------- */

static int dma_result(struct serve_npu *npu, int error)
{
	if (!error)
		return 0;
	pthread_mutex_lock(&npu->lock);
	npu->status |= NVDLA_PCI_STATUS_DMA_ERROR;
	if (error == -EFAULT) {
		npu->status |= NVDLA_PCI_STATUS_STRAY_DMA;
		npu->counters.stray_dma++;
	} else {
		npu->counters.dma_errors++;
	}
	pthread_mutex_unlock(&npu->lock);
	return error;
}

static int dma_read(void *context, u64 address, void *buf, size_t len)
{
	struct serve_npu *npu = context;

	if (serve_fault_is(npu->fault, NVDLA_PCI_FAULT_DEAD, NULL))
		return -ENODEV;
	if (serve_fault_take_dma(npu->fault, false))
		return dma_result(npu, -EIO);
	return dma_result(npu, vfio_user_dma_read(npu->dma, address, buf, len));
}

static int dma_write(void *context, u64 address, const void *buf, size_t len)
{
	struct serve_npu *npu = context;

	if (serve_fault_is(npu->fault, NVDLA_PCI_FAULT_DEAD, NULL))
		return -ENODEV;
	if (serve_fault_take_dma(npu->fault, true))
		return dma_result(npu, -EIO);
	return dma_result(npu, vfio_user_dma_write(npu->dma, address, buf, len));
}

/* The pin follows the registers; @again: a level that stays high is told once more. */
static void update_pin(struct serve_npu *npu, bool again)
{
	bool high = sim_glb_pin(&npu->glb);

	if (high && (again || !npu->pin))
		serve_irq_send(npu->irq);
	npu->pin = high;
}

/* Units of which an interrupt means that a task has ended. */
static bool ends_task(u32 bit)
{
	return bit < NVDLA_INTR_PDP + 2;
}

static void on_interrupt(void *context, u32 bit, u64 when)
{
	struct serve_npu *npu = context;

	(void)when;
	pthread_mutex_lock(&npu->lock);
	if (ends_task(bit)) {
		npu->counters.tasks++;
		npu->ended = true;
	}
	/* What comes out of an operation that is about to be reset is nobody's. */
	if (!npu->resetting) {
		sim_glb_raise(&npu->glb, bit);
		update_pin(npu, false);
	}
	pthread_mutex_unlock(&npu->lock);
}

/* ---- what the thread does; called with the lock, which is given up meanwhile --------- */

static u32 slow_tasks_ms(struct serve_npu *npu)
{
	u32 milliseconds;

	return serve_fault_is(npu->fault, NVDLA_PCI_FAULT_SLOW_TASKS, &milliseconds) ? milliseconds
										     : 0;
}

static void enter(struct serve_npu *npu)
{
	u32 more;

	npu->working = true;
	npu->ended = false;
	pthread_mutex_unlock(&npu->lock);
	if (!serve_fault_is(npu->fault, NVDLA_PCI_FAULT_SLOW_MEMORY, &more))
		more = 0;
	if (check_add_overflow(npu->read_latency, more, &more))
		more = UINT32_MAX;
	npusim_set_read_latency(npu->sim, more);
}

static void tell_faults(struct serve_npu *npu)
{
	if (!npusim_fault(npu->sim)->error)
		return;
	if (npu->told < TOLD_FAULTS)
		fprintf(stderr, "npusim: %s%s\n", npusim_diagnosis(npu->sim),
			npu->told + 1 == TOLD_FAULTS ? " (no more of these are told)" : "");
	npu->told++;
	npusim_clear_fault(npu->sim);
}

static void leave(struct serve_npu *npu)
{
	bool was_idle = npu->idle;
	u32 delay = slow_tasks_ms(npu);

	tell_faults(npu);
	pthread_mutex_lock(&npu->lock);
	npu->working = false;
	npu->idle = npusim_idle(npu->sim);
	npu->counters.cycles = npusim_now(npu->sim);
	if (delay && !npu->idle && (was_idle || npu->ended))
		npu->gate = now_ns() + (u64)delay * 1000000u;
	pthread_cond_broadcast(&npu->done);
}

/* Time that passes while nothing is pending is idle time. */
static u64 idle_since(struct serve_npu *npu, bool idle, u64 before)
{
	return idle ? npusim_now(npu->sim) - before : 0;
}

static bool do_reset(struct serve_npu *npu)
{
	u32 i;

	if (!npu->resetting)
		return false;
	enter(npu);
	npusim_reset(npu->sim);
	for (i = 0; i < FLUSH_STEPS && !npusim_read(npu->sim, NVDLA_CDMA_S_CBUF_FLUSH_STATUS); i++)
		npusim_run(npu->sim, FLUSH_STEP_CYCLES);
	leave(npu);
	sim_glb_reset(&npu->glb);
	npu->pin = false;
	npu->gate = 0;
	npu->counters.resets++;
	npu->resetting = false;
	pthread_cond_broadcast(&npu->done);
	return true;
}

/* Is a task kept from ending?  Whoever asks for a register does not wait for that. */
static bool held(const struct serve_npu *npu)
{
	return npu->gate && npu->question == ASK_NONE;
}

static bool do_writes(struct serve_npu *npu)
{
	struct nvdla_pci_pair chunk[CHUNK_PAIRS];
	u32 i, n = min(npu->count, slow_tasks_ms(npu) ? 1u : CHUNK_PAIRS);
	u64 idle = 0;

	if (!n || held(npu))
		return false;
	for (i = 0; i < n; i++)
		chunk[i] = npu->queue[(npu->head + i) % QUEUE_PAIRS];
	npu->head = (npu->head + n) % QUEUE_PAIRS;
	npu->count -= n;
	enter(npu);
	for (i = 0; i < n; i++) {
		bool was_idle = npusim_idle(npu->sim);
		u64 before = npusim_now(npu->sim);

		npusim_write(npu->sim, chunk[i].reg, chunk[i].value);
		idle += idle_since(npu, was_idle, before);
	}
	leave(npu);
	npu->counters.idle_cycles += idle;
	return true;
}

static bool do_question(struct serve_npu *npu)
{
	enum question question = npu->question;
	bool was_idle;
	u64 before, idle;
	u32 value = 0;

	if (question == ASK_NONE)
		return false;
	enter(npu);
	was_idle = npusim_idle(npu->sim);
	before = npusim_now(npu->sim);
	if (question == ASK_REGISTER)
		value = npusim_read(npu->sim, npu->reg);
	else
		snprintf(npu->text, sizeof(npu->text), "%s", npusim_diagnosis(npu->sim));
	idle = idle_since(npu, was_idle, before);
	leave(npu);
	npu->counters.idle_cycles += idle;
	npu->value = value;
	npu->question = ASK_NONE;
	pthread_cond_broadcast(&npu->done);
	return true;
}

static bool do_event(struct serve_npu *npu)
{
	if (npu->idle || npu->gate)
		return false;
	enter(npu);
	npusim_step(npu->sim);
	leave(npu);
	return true;
}

static void wait_for_work(struct serve_npu *npu)
{
	struct timespec until = { npu->gate / 1000000000u, npu->gate % 1000000000u };

	if (npu->gate)
		pthread_cond_timedwait(&npu->work, &npu->lock, &until);
	else
		pthread_cond_wait(&npu->work, &npu->lock);
}

static bool do_something(struct serve_npu *npu)
{
	if (npu->gate && (now_ns() >= npu->gate || !slow_tasks_ms(npu)))
		npu->gate = 0;
	return do_reset(npu) || do_writes(npu) || do_question(npu) || do_event(npu);
}

static void *run(void *context)
{
	struct serve_npu *npu = context;

	pthread_mutex_lock(&npu->lock);
	while (!npu->stop)
		if (!do_something(npu))
			wait_for_work(npu);
	pthread_mutex_unlock(&npu->lock);
	return NULL;
}

/* ---- what the device's owner calls ----------------------------------------------------- */

/* A write that starts the last unit of a task: without it the task never ends. */
static bool launches(u32 reg, u32 value)
{
	return (value & 1) && (reg == NVDLA_SDP_D_OP_ENABLE || reg == NVDLA_PDP_D_OP_ENABLE ||
			       reg == NVDLA_CDP_D_OP_ENABLE);
}

static void write_locked(struct serve_npu *npu, u32 reg, u32 value)
{
	while (npu->resetting || npu->count == QUEUE_PAIRS)
		pthread_cond_wait(&npu->done, &npu->lock);
	npu->counters.reg_writes++;
	if (launches(reg, value) && serve_fault_take_hang(npu->fault))
		return;
	if (sim_glb_owns(reg)) {
		sim_glb_write(&npu->glb, reg, value);
		update_pin(npu, reg != NVDLA_GLB_S_INTR_SET);
	}
	npu->queue[(npu->head + npu->count++) % QUEUE_PAIRS] =
		(struct nvdla_pci_pair){ reg, value };
}

void serve_npu_write(struct serve_npu *npu, const struct nvdla_pci_pair *pairs, u32 count)
{
	u32 i;

	pthread_mutex_lock(&npu->lock);
	for (i = 0; i < count; i++) {
		write_locked(npu, le32toh(pairs[i].reg), le32toh(pairs[i].value));
		/* A full queue must be seen by the thread before this one waits. */
		pthread_cond_signal(&npu->work);
	}
	pthread_mutex_unlock(&npu->lock);
}

/* Called with the lock. */
static void ask(struct serve_npu *npu, enum question question, u32 reg)
{
	npu->reg = reg;
	npu->question = question;
	pthread_cond_signal(&npu->work);
	while (npu->question != ASK_NONE)
		pthread_cond_wait(&npu->done, &npu->lock);
}

static void wait_reset(struct serve_npu *npu)
{
	while (npu->resetting)
		pthread_cond_wait(&npu->done, &npu->lock);
}

u32 serve_npu_read(struct serve_npu *npu, u32 reg)
{
	u32 value;

	pthread_mutex_lock(&npu->lock);
	wait_reset(npu);
	if (sim_glb_owns(reg)) {
		value = sim_glb_read(&npu->glb, reg);
	} else {
		ask(npu, ASK_REGISTER, reg);
		value = npu->value;
	}
	pthread_mutex_unlock(&npu->lock);
	return value;
}

void serve_npu_diagnosis(struct serve_npu *npu, char *text, size_t size)
{
	pthread_mutex_lock(&npu->lock);
	wait_reset(npu);
	ask(npu, ASK_DIAGNOSIS, 0);
	snprintf(text, size, "%s", npu->text);
	pthread_mutex_unlock(&npu->lock);
}

void serve_npu_reset(struct serve_npu *npu)
{
	pthread_mutex_lock(&npu->lock);
	npu->resetting = true;
	npu->count = 0;
	pthread_cond_signal(&npu->work);
	pthread_mutex_unlock(&npu->lock);
}

bool serve_npu_resetting(struct serve_npu *npu)
{
	bool resetting;

	pthread_mutex_lock(&npu->lock);
	resetting = npu->resetting;
	pthread_mutex_unlock(&npu->lock);
	return resetting;
}

void serve_npu_wait_reset(struct serve_npu *npu)
{
	pthread_mutex_lock(&npu->lock);
	wait_reset(npu);
	pthread_mutex_unlock(&npu->lock);
}

void serve_npu_fault_changed(struct serve_npu *npu)
{
	pthread_mutex_lock(&npu->lock);
	pthread_cond_signal(&npu->work);
	pthread_mutex_unlock(&npu->lock);
}

u32 serve_npu_status(struct serve_npu *npu)
{
	u32 status;

	pthread_mutex_lock(&npu->lock);
	status = npu->status;
	if (npu->count || npu->working || npu->resetting || !npu->idle)
		status |= NVDLA_PCI_STATUS_BUSY;
	pthread_mutex_unlock(&npu->lock);
	return status;
}

void serve_npu_clear_status(struct serve_npu *npu, u32 bits)
{
	pthread_mutex_lock(&npu->lock);
	npu->status &= ~bits;
	pthread_mutex_unlock(&npu->lock);
}

void serve_npu_counters(struct serve_npu *npu, struct serve_counters *counters)
{
	pthread_mutex_lock(&npu->lock);
	*counters = npu->counters;
	pthread_mutex_unlock(&npu->lock);
}

static int start_thread(struct serve_npu *npu)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&npu->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&npu->work, &attr);
	pthread_cond_init(&npu->done, NULL);
	pthread_condattr_destroy(&attr);
	return pthread_create(&npu->thread, NULL, run, npu);
}

struct serve_npu *serve_npu_create(const struct npusim_options *options, struct vfio_user_dma *dma,
				   struct serve_irq *irq, struct serve_fault *fault)
{
	struct serve_npu *npu = calloc(1, sizeof(*npu));
	struct npusim_memory memory = { .context = npu, .read = dma_read, .write = dma_write };

	if (!npu)
		return NULL;
	npu->dma = dma;
	npu->irq = irq;
	npu->fault = fault;
	npu->resetting = true;
	npu->sim = npusim_create(options, &memory);
	if (!npu->sim) {
		free(npu);
		return NULL;
	}
	npu->read_latency = npusim_read_latency(npu->sim);
	npusim_set_event_hook(npu->sim, on_interrupt, npu);
	if (start_thread(npu)) {
		npusim_destroy(npu->sim);
		free(npu);
		return NULL;
	}
	return npu;
}

void serve_npu_destroy(struct serve_npu *npu)
{
	if (!npu)
		return;
	pthread_mutex_lock(&npu->lock);
	npu->stop = true;
	pthread_cond_signal(&npu->work);
	pthread_mutex_unlock(&npu->lock);
	pthread_join(npu->thread, NULL);
	pthread_cond_destroy(&npu->done);
	pthread_cond_destroy(&npu->work);
	pthread_mutex_destroy(&npu->lock);
	npusim_destroy(npu->sim);
	free(npu);
}
