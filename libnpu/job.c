// SPDX-License-Identifier: MIT
/*
 * Runs in the background: a queue for each model, and a worker thread for each run that it can have
 * under way, started as jobs come: what one computes on the CPU passes while another has the NPU.  A job has two
 * owners, the application and the queue; whoever lets go last frees it, so neither has to wait for the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE };

struct npu_job {
	struct npu_job *next; /* in the queue */
	struct npu_input *input;
	struct npu_output *output;
	unsigned input_count, output_count;
	int event; /* eventfd: readable when the job has ended */

	pthread_mutex_t lock; /* of everything below */
	pthread_cond_t done;
	unsigned references;
	enum job_state state;
	bool abandoned; /* freed by the application before it began */
	int result;
	char text[256];
	struct npu_run_stats stats;
};

static void destroy_job(struct npu_job *job)
{
	if (job->event >= 0)
		close(job->event);
	pthread_cond_destroy(&job->done);
	pthread_mutex_destroy(&job->lock);
	free(job->input);
	free(job->output);
	free(job);
}

/* Called with the lock held, which it gives back. */
static void put_job(struct npu_job *job)
{
	bool last = --job->references == 0;

	pthread_mutex_unlock(&job->lock);
	if (last)
		destroy_job(job);
}

static void *copy_array(const void *from, size_t count, size_t size)
{
	void *to = calloc(count ? count : 1, size);

	if (to && count)
		memcpy(to, from, count * size);
	return to;
}

static struct npu_job *create_job(const struct npu_input *inputs, unsigned input_count,
				  const struct npu_output *outputs, unsigned output_count)
{
	struct npu_job *job = calloc(1, sizeof(*job));
	pthread_condattr_t attr;

	if (!job)
		return NULL;
	job->references = 2;
	pthread_mutex_init(&job->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&job->done, &attr);
	pthread_condattr_destroy(&attr);
	job->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	job->input = copy_array(inputs, input_count, sizeof(*inputs));
	job->output = copy_array(outputs, output_count, sizeof(*outputs));
	job->input_count = input_count;
	job->output_count = output_count;
	if (job->event < 0 || !job->input || !job->output) {
		destroy_job(job);
		return NULL;
	}
	return job;
}

/* Tells the application and lets go of the queue's reference. */
static void finish_job(struct npu_job *job, int result)
{
	const u64 one = 1;

	pthread_mutex_lock(&job->lock);
	job->state = JOB_DONE;
	job->result = result;
	if (result)
		snprintf(job->text, sizeof(job->text), "%s",
			 result == -ECANCELED ? "the model was freed before the job began"
					      : npu_error());
	/* Cannot fail: the counter is zero. */
	if (write(job->event, &one, sizeof(one)) != sizeof(one))
		job->result = result ? result : -EIO;
	pthread_cond_broadcast(&job->done);
	put_job(job);
}

static void run_job(struct npu_model *model, struct npu_job *job)
{
	struct npu_run_stats stats = { .size = sizeof(stats) };
	int result;

	pthread_mutex_lock(&job->lock);
	if (job->abandoned) {
		put_job(job);
		return;
	}
	job->state = JOB_RUNNING;
	pthread_mutex_unlock(&job->lock);
	result = npu_run(model, job->input, job->input_count, job->output, job->output_count,
			 &stats);
	pthread_mutex_lock(&job->lock);
	job->stats = stats;
	pthread_mutex_unlock(&job->lock);
	finish_job(job, result);
}

static struct npu_job *pop_job(struct npu_model *model)
{
	struct npu_job *job = model->first;

	if (job) {
		model->first = job->next;
		if (!model->first)
			model->last = NULL;
		model->queued--;
	}
	return job;
}

static void *worker(void *context)
{
	struct npu_model *model = context;
	struct npu_job *job;

	pthread_mutex_lock(&model->queue_lock);
	while (!model->stopping) {
		job = pop_job(model);
		if (!job) {
			model->idle++;
			pthread_cond_wait(&model->wake, &model->queue_lock);
			model->idle--;
			continue;
		}
		pthread_mutex_unlock(&model->queue_lock);
		run_job(model, job);
		pthread_mutex_lock(&model->queue_lock);
	}
	pthread_mutex_unlock(&model->queue_lock);
	return NULL;
}

/*
 * Another worker where none waits for the job that is about to come.  A worker that was woken counts as idle until
 * it has taken its job, which then still counts as queued.
 */
static int start_worker(struct npu_model *model)
{
	int err;

	if (model->idle > model->queued || model->workers == NPU_MODEL_LANES)
		return 0;
	err = pthread_create(&model->worker[model->workers], NULL, worker, model);
	if (!err)
		model->workers++;
	/* One is enough. */
	if (!model->workers)
		return npu_fail(-err, "%s: cannot start a thread: %s", model->name, strerror(err));
	return 0;
}

void npu_model_stop_jobs(struct npu_model *model)
{
	struct npu_job *job;
	u32 i;

	pthread_mutex_lock(&model->queue_lock);
	model->stopping = true;
	pthread_cond_broadcast(&model->wake);
	pthread_mutex_unlock(&model->queue_lock);
	for (i = 0; i < model->workers; i++)
		pthread_join(model->worker[i], NULL);
	while ((job = pop_job(model)))
		finish_job(job, -ECANCELED);
}

int npu_submit(struct npu_model *model, const struct npu_input *inputs, unsigned input_count,
	       const struct npu_output *outputs, unsigned output_count, struct npu_job **out)
{
	struct npu_job *job;
	int err;

	if (!out)
		return npu_fail(-EINVAL, "npu_submit: no place for the job");
	*out = NULL;
	err = npu_model_check_io(model, inputs, input_count, outputs, output_count);
	if (err)
		return err;
	job = create_job(inputs, input_count, outputs, output_count);
	if (!job)
		return npu_fail(-ENOMEM, "%s: no memory or no file descriptor for a job",
				model->name);
	pthread_mutex_lock(&model->queue_lock);
	err = start_worker(model);
	if (!err) {
		if (model->last)
			model->last->next = job;
		else
			model->first = job;
		model->last = job;
		model->queued++;
		pthread_cond_signal(&model->wake);
	}
	pthread_mutex_unlock(&model->queue_lock);
	if (err)
		destroy_job(job);
	else
		*out = job;
	return err;
}

int npu_job_wait(struct npu_job *job, int timeout_ms)
{
	struct timespec deadline;
	bool limited = npu_deadline(timeout_ms, &deadline);
	int err = npu_check_handle(job, "job");

	if (err)
		return err;
	pthread_mutex_lock(&job->lock);
	while (job->state != JOB_DONE && !err) {
		if (limited)
			err = pthread_cond_timedwait(&job->done, &job->lock, &deadline);
		else
			pthread_cond_wait(&job->done, &job->lock);
	}
	if (job->state != JOB_DONE)
		err = npu_fail(-ETIMEDOUT, "the job has not ended in %d ms", timeout_ms);
	else
		err = job->result ? npu_fail(job->result, "%s", job->text) : 0;
	pthread_mutex_unlock(&job->lock);
	return err;
}

int npu_job_fd(const struct npu_job *job)
{
	int err = npu_check_handle(job, "job");

	return err ? err : job->event;
}

int npu_job_stats(struct npu_job *job, struct npu_run_stats *stats)
{
	int err = npu_check_handle(job, "job");

	if (!err)
		err = npu_check_size(stats);
	if (err)
		return err;
	pthread_mutex_lock(&job->lock);
	if (job->state == JOB_DONE)
		err = npu_copy_out(stats, &job->stats, sizeof(job->stats));
	else
		err = npu_fail(-EBUSY, "the job has not ended");
	pthread_mutex_unlock(&job->lock);
	return err;
}

void npu_job_free(struct npu_job *job)
{
	if (!job)
		return;
	pthread_mutex_lock(&job->lock);
	if (job->state == JOB_QUEUED)
		job->abandoned = true;
	while (job->state == JOB_RUNNING)
		pthread_cond_wait(&job->done, &job->lock);
	put_job(job);
}
