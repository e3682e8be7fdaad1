// SPDX-License-Identifier: GPL-2.0-only
#include <linux/dma-fence.h>
#include <linux/jiffies.h>
#include <linux/kobject.h>
#include <linux/ktime.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "nvdla_client.h"
#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_job.h"
#include "nvdla_kchain.h"
#include "nvdla_sched.h"
#include "nvdla_trace.h"

/*
 * How often the queue is looked at while it works: an interrupt that was lost costs this much, and
 * a time-out is noticed this much later at the most.
 */
#define TICK msecs_to_jiffies(100)

/* When the device goes away: how long what waits may take to fail by itself before it is killed. */
#define DRAIN_TIME (2 * HZ)

static struct nvdla_device *sched_to_nvdla(struct drm_gpu_scheduler *base)
{
	return container_of(base, struct nvdla_device, sched.base);
}

static const char *fence_driver_name(struct dma_fence *fence)
{
	return "nvdla";
}

static const char *fence_timeline_name(struct dma_fence *fence)
{
	return "npu";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_driver_name,
	.get_timeline_name = fence_timeline_name,
	.release = NVDLA_COMPAT_FENCE_RELEASE,
};

/* ---- what happens to segments; hw_lock is held ---- */

/* The job has failed, or its last segment is done: its result comes before its fence. */
static void account(struct nvdla_job_segment *segment)
{
	struct nvdla_job *job = segment->job;

	if (segment->error && !job->error)
		job->error = segment->error;
	if (nvdla_job_segment_is_last(segment))
		nvdla_job_finish(job);
}

/* A fence that nobody but us keeps alive while it signals. */
static void signal(struct nvdla_job_segment *segment)
{
	struct dma_fence *fence = dma_fence_get(&segment->fence);

	if (segment->error)
		dma_fence_set_error(fence, segment->error);
	dma_fence_signal(fence);
	dma_fence_put(fence);
}

/* The hardware is done with a segment; so is the one that failed behind it. */
static void segment_done(struct nvdla_device *nvdla, struct nvdla_job_segment *segment, int error)
{
	struct nvdla_sched *sched = &nvdla->sched;
	struct nvdla_job_segment *behind = NULL;
	struct nvdla_job *job = segment->job;

	if (sched->behind && sched->behind->job == job)
		swap(sched->behind, behind);
	if (!segment->error)
		segment->error = error;
	job->stat.register_writes += segment->hw.writes;
	nvdla_budget_stop(&job->claim);
	account(segment);
	signal(segment);
	if (behind) {
		account(behind);
		signal(behind);
	}
	if (!nvdla->hw.segment[0])
		wake_up_all(&sched->drained);
}

static void segments_done(struct nvdla_device *nvdla, struct nvdla_segment *done[NVDLA_SEGMENTS],
			  int error)
{
	u32 i;

	for (i = 0; i < NVDLA_SEGMENTS; i++)
		if (done[i])
			segment_done(nvdla, done[i]->owner, error);
}

/* Everything in flight fails; the device is of no use until a reset brings it back. */
static void give_up(struct nvdla_device *nvdla, int error)
{
	struct nvdla_segment *lost[NVDLA_SEGMENTS];

	if (nvdla_sequence_abort(&nvdla->hw, lost))
		WRITE_ONCE(nvdla->lost, true);
	segments_done(nvdla, lost, error);
}

static void recover(struct nvdla_device *nvdla, int error);

/* The hardware does not do what it is told.  A device that is lost has said so. */
static void fail(struct nvdla_device *nvdla)
{
	if (nvdla->lost)
		give_up(nvdla, -EIO);
	else
		recover(nvdla, -EIO);
}

static void push(struct nvdla_device *nvdla, struct nvdla_segment *segment)
{
	if (nvdla_sequence_push(&nvdla->hw, segment))
		fail(nvdla);
}

static pid_t segment_pid(const struct nvdla_segment *segment)
{
	const struct nvdla_job_segment *owner = segment->owner;

	return owner->job->client->pid;
}

static void count_reset(struct nvdla_device *nvdla, pid_t pid, int ret)
{
	atomic64_inc(&nvdla->stats.resets);
	nvdla_health_report(nvdla, NVDLA_HEALTH_KIND_RESET, pid, -ret);
	if (!ret)
		return;
	drm_err(&nvdla->drm, "reset failed: %d\n", ret);
	WRITE_ONCE(nvdla->lost, true);
	schedule_work(&nvdla->sched.wedged);
}

/*
 * The oldest segment hangs or failed.  Its job fails with @error; what else is in flight is of the
 * same job and fails with it, or has not begun and is pushed again.  If that fails, too, there is
 * nothing behind it: recovery is not asked for a third time.
 */
static void recover(struct nvdla_device *nvdla, int error)
{
	struct nvdla_segment *lost[NVDLA_SEGMENTS];
	struct nvdla_segment *other;
	u64 run;
	int ret;

	ret = nvdla_sequence_abort(&nvdla->hw, lost);
	count_reset(nvdla, segment_pid(lost[0]), ret);
	run = lost[0]->run;
	segment_done(nvdla, lost[0]->owner, error);
	other = lost[1];
	if (!other)
		return;
	if (other->run == run || other->enabled)
		segment_done(nvdla, other->owner, error);
	else if (ret)
		segment_done(nvdla, other->owner, -EIO);
	else
		push(nvdla, other);
}

/* The task that everything waits for made no progress for too long. */
static void hang(struct nvdla_device *nvdla)
{
	const struct nvdla_hw *hw = &nvdla->hw;
	const struct nvdla_hw_task *t = &hw->task[hw->completed % NVDLA_GROUPS];
	const struct nvdla_chain_task_info *info = &t->segment->chain->task[t->task];
	const struct nvdla_job_segment *segment = t->segment->owner;

	drm_dbg(&nvdla->drm, "task %u (layer %u) of job %llu, process %d, hangs\n", t->task,
		info->label, t->segment->run, segment->job->client->pid);
	atomic64_inc(&nvdla->stats.timeouts);
	nvdla_health_report(nvdla, NVDLA_HEALTH_KIND_TIMEOUT, segment_pid(t->segment), t->task);
	nvdla_coredump_take(nvdla, t);
	recover(nvdla, -ETIMEDOUT);
}

/* Is a task over its time? */
static bool overdue(const struct nvdla_device *nvdla)
{
	return nvdla_hw_running(&nvdla->hw) && time_after_eq(jiffies, nvdla->sched.deadline);
}

/* Takes in what the hardware has done. */
static void look(struct nvdla_device *nvdla)
{
	struct nvdla_segment *done[NVDLA_SEGMENTS];
	int ret;

	if (!nvdla->hw.segment[0])
		return;
	ret = nvdla_sequence_interrupt(&nvdla->hw, done);
	segments_done(nvdla, done, 0);
	if (nvdla->lost || (ret && nvdla->hw.segment[0]))
		fail(nvdla);
}

/* ---- progress ---- */

static void begin_wait(struct nvdla_sched *sched, const struct nvdla_job *job, u64 now)
{
	sched->busy_since = now;
	sched->deadline = jiffies + job->timeout;
}

static void task_enabled(struct nvdla_device *nvdla, const struct nvdla_segment *hw, u32 task)
{
	struct nvdla_job_segment *segment = hw->owner;
	struct nvdla_job *job = segment->job;
	u64 now = ktime_get_ns();

	trace_nvdla_task_start(job, hw->first, task);
	if (!job->stat.start_ns)
		job->stat.start_ns = now;
	if (nvdla_hw_running(&nvdla->hw) == 1)
		begin_wait(&nvdla->sched, job, now);
}

/*
 * Failed accesses to memory leave a mark on the device, not on a task.  Only this run has had tasks
 * there since it was asked for last, as long as it is asked before another one's begin.
 */
static bool memory_failed(struct nvdla_device *nvdla, const struct nvdla_segment *segment)
{
	const struct nvdla_segment *next = nvdla->hw.segment[1];

	if (!nvdla->glue->dma_failed || segment->completed != segment->count)
		return false;
	if (next && next != segment && next->run == segment->run)
		return false;
	return nvdla->glue->dma_failed(nvdla);
}

static void task_done(struct nvdla_device *nvdla, struct nvdla_segment *hw, u32 task)
{
	struct nvdla_job_segment *segment = hw->owner;
	struct nvdla_job *job = segment->job;
	u64 now = ktime_get_ns();
	u64 busy = now - nvdla->sched.busy_since;

	trace_nvdla_task_done(job, hw->first, task);
	job->stat.tasks++;
	job->stat.end_ns = now;
	job->stat.busy_ns += busy;
	atomic64_inc(&job->client->tasks);
	atomic64_add(busy, &job->client->busy_ns);
	atomic64_inc(&nvdla->stats.tasks);
	atomic64_add(busy, &nvdla->stats.busy_ns);
	/* What has been enabled behind it is of the same job. */
	begin_wait(&nvdla->sched, job, now);
	if (memory_failed(nvdla, hw)) {
		drm_dbg(&nvdla->drm, "an access to memory of job %llu failed\n", job->run);
		segment->error = -EIO;
	}
}

void nvdla_sched_event(struct nvdla_hw *hw, struct nvdla_segment *segment, u32 task,
		       enum nvdla_sequence_event event)
{
	struct nvdla_device *nvdla = container_of(hw, struct nvdla_device, hw);

	if (event == NVDLA_SEQ_TASK_ENABLED)
		task_enabled(nvdla, segment, task);
	else
		task_done(nvdla, segment, task);
}

/* ---- the scheduler's calls ---- */

/* May the segment go to the hardware?  It has a claim that runs then. */
static int admit(struct nvdla_device *nvdla, struct nvdla_job *job)
{
	if (job->error)
		return job->error;
	if (nvdla->sched.dead)
		return -ENODEV;
	if (nvdla->lost)
		return -EIO;
	return nvdla_budget_start(&job->claim);
}

static bool in_flight(const struct nvdla_device *nvdla, u64 run)
{
	u32 i;

	for (i = 0; i < NVDLA_SEGMENTS; i++)
		if (nvdla->hw.segment[i] && nvdla->hw.segment[i]->run == run)
			return true;
	return false;
}

static struct dma_fence *make_fence(struct nvdla_sched *sched, struct nvdla_job_segment *segment)
{
	nvdla_compat_fence_begin();
	dma_fence_init(&segment->fence, &fence_ops, &segment->fence_lock, sched->fence_context,
		       ++sched->fence_seqno);
	segment->armed = true;
	return dma_fence_get(&segment->fence);
}

/* The segment will not run.  Its fence must not signal while an earlier one of its job runs. */
static struct dma_fence *refuse(struct nvdla_device *nvdla, struct nvdla_job_segment *segment,
				int error)
{
	struct nvdla_sched *sched = &nvdla->sched;

	segment->error = error;
	if (in_flight(nvdla, segment->job->run)) {
		sched->behind = segment;
		return make_fence(sched, segment);
	}
	account(segment);
	/* Segments that fail at once must not put off the time-out of the one that hangs. */
	if (overdue(nvdla))
		drm_sched_fault(&sched->base);
	return ERR_PTR(error);
}

static struct dma_fence *run_locked(struct nvdla_device *nvdla, struct nvdla_job_segment *segment)
{
	struct dma_fence *fence;
	int ret;

	ret = admit(nvdla, segment->job);
	if (ret)
		return refuse(nvdla, segment, ret);
	fence = make_fence(&nvdla->sched, segment);
	push(nvdla, &segment->hw);
	return fence;
}

static struct dma_fence *run_job(struct drm_sched_job *base)
{
	struct nvdla_device *nvdla = sched_to_nvdla(base->sched);
	bool cookie = dma_fence_begin_signalling();
	struct dma_fence *fence;

	mutex_lock(&nvdla->sched.hw_lock);
	fence = run_locked(nvdla, to_nvdla_job_segment(base));
	mutex_unlock(&nvdla->sched.hw_lock);
	dma_fence_end_signalling(cookie);
	return fence;
}

/* The scheduler's time-out is our tick: each job has its own, which starts anew with each task. */
static enum drm_gpu_sched_stat timedout_job(struct drm_sched_job *base)
{
	struct nvdla_device *nvdla = sched_to_nvdla(base->sched);
	bool cookie = dma_fence_begin_signalling();

	mutex_lock(&nvdla->sched.hw_lock);
	look(nvdla);
	if (overdue(nvdla))
		hang(nvdla);
	mutex_unlock(&nvdla->sched.hw_lock);
	dma_fence_end_signalling(cookie);
	return nvdla_compat_sched_keep(base);
}

static void free_job(struct drm_sched_job *base)
{
	struct nvdla_job_segment *segment = to_nvdla_job_segment(base);
	struct nvdla_device *nvdla = segment->job->nvdla;
	struct nvdla_job *job = segment->job;

	/* It was killed while it waited: nobody told its result. */
	if (nvdla_job_segment_is_last(segment) && !job->finished) {
		if (!job->error)
			job->error = base->s_fence->finished.error;
		nvdla_job_finish(job);
	}
	nvdla_job_segment_free(segment);
	/* nvdla_sched_fini() waits for this lock before the device may go. */
	spin_lock_irq(&nvdla->sched.empty.lock);
	if (atomic_dec_and_test(&nvdla->sched.segments))
		wake_up_locked(&nvdla->sched.empty);
	spin_unlock_irq(&nvdla->sched.empty.lock);
}

static const struct drm_sched_backend_ops sched_ops = {
	.run_job = run_job,
	.timedout_job = timedout_job,
	.free_job = free_job,
};

/* ---- interrupt ---- */

irqreturn_t nvdla_sched_irq(int irq, void *data)
{
	return IRQ_WAKE_THREAD;
}

irqreturn_t nvdla_sched_irq_thread(int irq, void *data)
{
	struct nvdla_device *nvdla = data;
	bool cookie = dma_fence_begin_signalling();
	bool busy;

	mutex_lock(&nvdla->sched.hw_lock);
	busy = nvdla->hw.segment[0];
	look(nvdla);
	mutex_unlock(&nvdla->sched.hw_lock);
	dma_fence_end_signalling(cookie);
	return busy ? IRQ_HANDLED : IRQ_NONE;
}

/* ---- life ---- */

/*
 * What drm_dev_wedged_event() does, where there is one: it tells it of the primary node, which
 * devices of the accel subsystem have not, and does not look whether it is there.
 */
static void tell_wedged(struct work_struct *work)
{
	struct nvdla_sched *sched = container_of(work, struct nvdla_sched, wedged);
	struct nvdla_device *nvdla = container_of(sched, struct nvdla_device, sched);
	char wedged[] = "WEDGED=rebind", *event[] = { wedged, NULL };
	int cookie;

	if (!drm_dev_enter(&nvdla->drm, &cookie))
		return;
	kobject_uevent_env(&nvdla->drm.accel->kdev->kobj, KOBJ_CHANGE, event);
	drm_dev_exit(cookie);
}

int nvdla_sched_init(struct nvdla_device *nvdla)
{
	struct nvdla_sched *sched = &nvdla->sched;
	int ret;

	/* There is no place for more. */
	BUILD_BUG_ON(NVDLA_SCHED_CREDITS > NVDLA_SEGMENTS);

	mutex_init(&sched->hw_lock);
	mutex_init(&sched->clients_lock);
	INIT_LIST_HEAD(&sched->clients);
	init_waitqueue_head(&sched->drained);
	init_waitqueue_head(&sched->empty);
	INIT_WORK(&sched->wedged, tell_wedged);
	sched->fence_context = dma_fence_context_alloc(1);
	sched->release_wq = alloc_workqueue("nvdla-%s", WQ_UNBOUND, 0, dev_name(nvdla->dev));
	if (!sched->release_wq)
		return -ENOMEM;
	ret = nvdla_coredump_init(nvdla);
	if (ret)
		goto destroy;
	ret = nvdla_compat_sched_init(&sched->base, &sched_ops, NVDLA_SCHED_CREDITS, TICK,
				      dev_name(nvdla->dev), nvdla->dev);
	if (ret)
		goto fini_coredump;
	return 0;

fini_coredump:
	nvdla_coredump_fini(nvdla);
destroy:
	destroy_workqueue(sched->release_wq);
	return ret;
}

/* Segments change places under the lock: a look without it may miss one that runs. */
static bool is_drained(struct nvdla_device *nvdla)
{
	guard(mutex)(&nvdla->sched.hw_lock);
	return !nvdla->hw.segment[0];
}

/* Nothing new goes to the hardware.  The tick goes on: this ends, by a reset if need be. */
static void wait_drained(struct nvdla_device *nvdla)
{
	do {
		wait_event(nvdla->sched.drained, !READ_ONCE(nvdla->hw.segment[0]));
	} while (!is_drained(nvdla));
}

static bool is_empty(struct nvdla_sched *sched)
{
	return !atomic_read(&sched->segments);
}

static void stop_clients(struct nvdla_sched *sched)
{
	struct nvdla_client *client;

	mutex_lock(&sched->clients_lock);
	list_for_each_entry(client, &sched->clients, node)
		nvdla_client_stop(client);
	mutex_unlock(&sched->clients_lock);
}

void nvdla_sched_stop(struct nvdla_device *nvdla)
{
	bool cookie = dma_fence_begin_signalling();

	mutex_lock(&nvdla->sched.hw_lock);
	WRITE_ONCE(nvdla->sched.dead, true);
	if (nvdla->powered && nvdla->glue->reset)
		give_up(nvdla, -ENODEV);
	mutex_unlock(&nvdla->sched.hw_lock);
	dma_fence_end_signalling(cookie);
	/* Without a reset it goes on writing to memory, which others get next. */
	wait_drained(nvdla);
}

void nvdla_sched_fini(struct nvdla_device *nvdla)
{
	struct nvdla_sched *sched = &nvdla->sched;

	/* What only waited for its turn fails now; what waits for others is killed. */
	wait_event_timeout(sched->empty, is_empty(sched), DRAIN_TIME);
	stop_clients(sched);
	wait_event(sched->empty, is_empty(sched));
	spin_lock_irq(&sched->empty.lock);
	spin_unlock_irq(&sched->empty.lock);
	drm_sched_fini(&sched->base);
	destroy_workqueue(sched->release_wq);
	nvdla_coredump_fini(nvdla);
	cancel_work_sync(&sched->wedged);
}

void nvdla_sched_suspend(struct nvdla_device *nvdla)
{
	drm_sched_wqueue_stop(&nvdla->sched.base);
	wait_drained(nvdla);
}

void nvdla_sched_resume(struct nvdla_device *nvdla)
{
	drm_sched_wqueue_start(&nvdla->sched.base);
}

int nvdla_sched_alive(struct nvdla_device *nvdla)
{
	if (READ_ONCE(nvdla->sched.dead))
		return -ENODEV;
	if (READ_ONCE(nvdla->lost))
		nvdla_device_revive(nvdla);
	return READ_ONCE(nvdla->lost) ? -EIO : 0;
}

u64 nvdla_sched_new_run(struct nvdla_device *nvdla)
{
	return atomic64_inc_return(&nvdla->sched.runs);
}

void nvdla_sched_add_client(struct nvdla_device *nvdla, struct nvdla_client *client)
{
	mutex_lock(&nvdla->sched.clients_lock);
	list_add_tail(&client->node, &nvdla->sched.clients);
	mutex_unlock(&nvdla->sched.clients_lock);
}

void nvdla_sched_del_client(struct nvdla_device *nvdla, struct nvdla_client *client)
{
	mutex_lock(&nvdla->sched.clients_lock);
	list_del(&client->node);
	mutex_unlock(&nvdla->sched.clients_lock);
}

/* ---- debugfs ---- */

static void print_segment(const struct nvdla_segment *segment, struct drm_printer *p)
{
	const struct nvdla_job_segment *owner = segment->owner;

	drm_printf(p, "  job %llu of process %d: tasks %u to %u:", segment->run,
		   owner->job->client->pid, segment->first, segment->first + segment->count - 1);
	drm_printf(p, " %u programmed, %u enabled, %u done\n", segment->programmed,
		   segment->enabled, segment->completed);
}

static void print_client(struct nvdla_client *client, struct drm_printer *p)
{
	drm_printf(p, "  client %llu of process %d: priority %u, %d jobs, %d segments\n",
		   client->id, client->pid, READ_ONCE(client->priority), atomic_read(&client->jobs),
		   atomic_read(&client->segments));
}

void nvdla_sched_print(struct nvdla_device *nvdla, struct drm_printer *p)
{
	struct nvdla_sched *sched = &nvdla->sched;
	struct nvdla_client *client;
	u32 i;

	mutex_lock(&sched->clients_lock);
	drm_printf(p, "clients:\n");
	list_for_each_entry(client, &sched->clients, node)
		print_client(client, p);
	mutex_unlock(&sched->clients_lock);
	mutex_lock(&sched->hw_lock);
	drm_printf(p, "with the hardware%s:\n", nvdla->lost ? ", which is lost" : "");
	for (i = 0; i < NVDLA_SEGMENTS; i++)
		if (nvdla->hw.segment[i])
			print_segment(nvdla->hw.segment[i], p);
	mutex_unlock(&sched->hw_lock);
}
