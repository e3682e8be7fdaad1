// SPDX-License-Identifier: MIT
/*
 * Eight processes with a network each, of three priorities, on one NPU: every output is that of the
 * simulated device, and the one of high priority waits for no more than two tasks of others.
 *
 *	clients [RUNS]	inferences of each process, default 6
 *
 * vm-test: kernel=all config=nv_small,nv_large timeout=400 file=models/tflite,models/golden/tflite
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "pair.h"
#include "trace.h"

/* Few tasks first: its waits are counted. */
static const struct {
	const char *model;
	u64 priority;
} clients[] = {
	{ "tvm_mnist_int8", DRM_NVDLA_PRIORITY_HIGH },
	{ "mlperf_ic_resnet8_int8", DRM_NVDLA_PRIORITY_NORMAL },
	{ "mlperf_kws_dscnn_int8", DRM_NVDLA_PRIORITY_NORMAL },
	{ "mlperf_vww_mbv1_025_96_int8", DRM_NVDLA_PRIORITY_NORMAL },
	{ "mlperf_ad_autoencoder_int8", DRM_NVDLA_PRIORITY_NORMAL },
	{ "tflm_micro_speech_int8", DRM_NVDLA_PRIORITY_LOW },
	{ "coral_mobilenet_v1_025_128_u8", DRM_NVDLA_PRIORITY_LOW },
	{ "tflm_person_detect_int8_repaired", DRM_NVDLA_PRIORITY_LOW },
};

/* What a process tells; @stop: the others are done. */
struct answer {
	u64 client;
	u32 right, runs;
	bool opened, prioritised;
	volatile bool done;
};

/* The library's own file of the NPU. */
static int library_file(void)
{
	struct dirent *entry;
	char path[64], target[64];
	DIR *dir = opendir("/proc/self/fd");
	int found = -1;

	while (dir && found < 0 && (entry = readdir(dir))) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%.20s", entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = 0;
		if (!strcmp(target, guest_node()))
			found = atoi(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * The one that is watched gets a processor at once, too: what is counted is the wait for the NPU, from
 * the driver's record of the submission on.
 */
static bool prioritise(u64 priority, u64 *client)
{
	struct drm_nvdla_context context = { .op = DRM_NVDLA_CONTEXT_SET, .value = priority };
	struct sched_param processor = { .sched_priority = 60 };
	int file = library_file();

	if (priority == DRM_NVDLA_PRIORITY_HIGH && sched_setscheduler(0, SCHED_FIFO, &processor))
		return false;

	if (file < 0)
		return false;
	*client = (u64)guest_fdinfo(file, "drm-client-id");
	return !guest_ioctl(file, DRM_IOCTL_NVDLA_CONTEXT, &context);
}

/* Are those of lower priority still at work? */
static bool others_work(const struct answer *answers)
{
	size_t i;

	for (i = 1; i < ARRAY_SIZE(clients); i++)
		if (!answers[i].done)
			return true;
	return false;
}

static void client_main(struct answer *answers, u32 i, u32 runs, int go)
{
	struct answer *own = &answers[i];
	struct pair pair;
	char byte;

	own->opened = pair_open(&pair, pair_model(clients[i].model));
	if (own->opened) {
		own->prioritised = prioritise(clients[i].priority, &own->client);
		if (read(go, &byte, 1) == 1)
			/* The one that is watched goes on as long as there is somebody to wait for. */
			while (i ? own->runs < runs : others_work(answers)) {
				own->right += pair_run(&pair, own->runs);
				own->runs++;
			}
		pair_close(&pair);
	}
	own->done = true;
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	u32 runs = argc > 1 ? (u32)atoi(argv[1]) : 6, i;
	struct trace_wait wait_high, wait_low;
	struct trace_event *events;
	struct answer *answers;
	size_t count, bytes = sizeof(*answers) * ARRAY_SIZE(clients);
	int go[2], status, crashed = 0;

	setenv("NPU_SIM_DIR", "-", 1);
	if (!shared_there())
		return 0;
	answers = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	NEED(answers != MAP_FAILED && !pipe(go), "memory and a pipe");
	for (i = 0; i < ARRAY_SIZE(clients); i++) {
		pid_t child = fork();

		if (!child)
			client_main(answers, i, runs, go[0]);
		if (!i)
			tap(guest_trace_begin(child), "the tracepoints are on");
	}
	NEED(write(go[1], "eightgo!", 8) == 8, "all begin");
	while (wait(&status) > 0)
		crashed += status != 0;
	count = guest_trace_end(&events);
	tap(!crashed, "all eight processes ended well");
	for (i = 0; i < ARRAY_SIZE(clients); i++)
		tap(answers[i].opened && answers[i].prioritised &&
			    answers[i].runs >= min(runs, 1u) && answers[i].right == answers[i].runs,
		    "%s at priority %llu: %u of %u inferences right", clients[i].model,
		    (unsigned long long)clients[i].priority, answers[i].right, answers[i].runs);
	wait_high = guest_trace_wait(events, count, answers[0].client);
	printf("# %zu events; high priority: %u submissions, at most %u segments of %u tasks\n",
	       count, wait_high.submissions, wait_high.segments, wait_high.tasks);
	tap(wait_high.submissions > 10 && wait_high.tasks <= 2,
	    "high priority waited for %u tasks of others at the most", wait_high.tasks);
	wait_low = guest_trace_wait(events, count, answers[7].client);
	printf("# low priority: %u tasks, %u submissions\n", wait_low.tasks, wait_low.submissions);
	free(events);
	return tap_end();
}
