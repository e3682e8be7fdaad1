// SPDX-License-Identifier: MIT
/*
 * Inferences of one model in flight against one after the other.  The NPU is a stand-in that computes
 * nothing and takes as long as the plan's cycles at a given clock, so that the CPU has time for its own
 * steps as it has beside real hardware; the CPU's steps are real.
 *
 *	bench_lanes [MODEL [MHZ]]
 */
#include <errno.h>

#include "bench.h"
#include "internal.h"

#define JOBS 24

static struct {
	struct npu_model *model;
	double npu_seconds; /* of one inference */
	u32 chains;
	struct npu_input *input;
	struct npu_output *output;
	u32 inputs, outputs;
} work;

static pthread_mutex_t npu = PTHREAD_MUTEX_INITIALIZER;

/* One client after the other, as on hardware. */
static int stand_in(struct npu_device *device, struct npu_submission *submission)
{
	double seconds = work.npu_seconds / work.chains * submission->count;
	struct timespec left = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };

	pthread_mutex_lock(&npu);
	while (nanosleep(&left, &left) && errno == EINTR)
		;
	pthread_mutex_unlock(&npu);
	submission->done = submission->count;
	return 0;
}

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "%s\n", npu_error());
	exit(1);
}

static void one_by_one(void *context)
{
	u32 i;

	for (i = 0; i < JOBS; i++)
		check(npu_run(work.model, work.input, work.inputs, work.output, work.outputs,
			      NULL));
}

static void in_flight(void *context)
{
	struct npu_job *job[JOBS];
	u32 i;

	for (i = 0; i < JOBS; i++)
		check(npu_submit(work.model, work.input, work.inputs, work.output, work.outputs,
				 &job[i]));
	for (i = 0; i < JOBS; i++) {
		check(npu_job_wait(job[i], -1));
		npu_job_free(job[i]);
	}
}

/* Inputs of zeros; outputs are not looked at. */
static void make_tensors(void)
{
	struct npu_tensor_info info = { .size = sizeof(info) };
	u32 i;

	work.inputs = npu_model_input_count(work.model);
	work.outputs = npu_model_output_count(work.model);
	work.input = calloc(work.inputs, sizeof(*work.input));
	work.output = calloc(work.outputs, sizeof(*work.output));
	if (!work.input || !work.output)
		abort();
	for (i = 0; i < work.inputs; i++) {
		check(npu_model_input(work.model, i, &info));
		work.input[i] = (struct npu_input){ calloc(1, info.bytes), info.bytes };
	}
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "tools/demo/digits.tflite";
	double mhz = argc > 2 ? atof(argv[2]) : 1000, alone, overlapped, cpu;
	struct npu_model_info info = { .size = sizeof(info) };
	struct npu_device_ops ops;
	struct npu_device *device;
	u32 i;

	check(npu_open("sim:nv_small", &device));
	check(npu_model_load(device, path, NULL, &work.model));
	check(npu_model_info(work.model, &info));
	make_tensors();
	work.chains = max(info.chains, 1u);
	ops = *device->ops;
	ops.submit = stand_in;
	device->ops = &ops;
	cpu = bench_median(one_by_one, NULL) / JOBS;
	work.npu_seconds = info.cycles / (mhz * 1e6);
	printf("%s: CPU %.3f ms, NPU %.3f ms at %.0f MHz, %u steps of the CPU\n", path, cpu * 1e3,
	       work.npu_seconds * 1e3, mhz, info.cpu_steps);
	alone = JOBS / bench_median(one_by_one, NULL);
	overlapped = JOBS / bench_median(in_flight, NULL);
	bench_report("inferences in flight", overlapped, "/s", "one by one", alone);
	bench_report("inferences in flight", overlapped, "/s", "bound",
		     1 / (cpu > work.npu_seconds ? cpu : work.npu_seconds));
	for (i = 0; i < work.inputs; i++)
		free((void *)(uintptr_t)work.input[i].data);
	free(work.input);
	free(work.output);
	npu_model_free(work.model);
	npu_close(device);
	return 0;
}
