// SPDX-License-Identifier: MIT
/*
 * Compiling and planning again, for the demo's network, the models and ResNet-50's topology of
 * ../shared (NPU_SHARED): time against reading the file once, the slowest plan of all budgets against
 * its limit, peak memory against three times the file plus the packed weights.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "npu_compiler.h"

#define DEMO "tools/demo/digits.tflite"

struct work {
	const char *path;
	const struct nvdla_config *config;
	size_t bytes; /* of the file */
	const void *data;
};

static struct npu_program *load(const struct work *work)
{
	struct npu_budget budget = npu_budget_full(work->config);
	struct npu_program *program = NULL;
	struct npu_diag diag = { 0 };

	if (npu_program_load(work->path, NULL, work->config, &budget, &program, &diag))
		printf("# %s\n", diag.text);
	return program;
}

static void compile(void *context)
{
	npu_program_free(load(context));
}

static void read_once(void *context)
{
	const struct work *work = context;
	const u8 *data = work->data;
	u32 sum = 0;
	size_t i;

	for (i = 0; i < work->bytes; i++)
		sum += data[i];
	bench_keep(&sum);
}

/* Time of this processor thread: other processes do not count. */
static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Median of the slowest budget's planning times, emission included. */
static double slowest_plan(const struct work *work, struct npu_program *program, u32 *banks)
{
	struct npu_budget budget = npu_budget_full(work->config);
	double slowest = 0;

	for (; budget.banks; budget.banks--) {
		double seconds[BENCH_RUNS];
		struct npu_diag diag = { 0 };
		int i;

		for (i = 0; i < BENCH_RUNS; i++) {
			double start = processor_seconds();

			if (npu_program_replan(program, &budget, &diag))
				return slowest; /* fewer banks hold no legal split */
			seconds[i] = processor_seconds() - start;
		}
		qsort(seconds, BENCH_RUNS, sizeof(seconds[0]), bench_compare);
		if (seconds[BENCH_RUNS / 2] > slowest) {
			slowest = seconds[BENCH_RUNS / 2];
			*banks = budget.banks;
		}
	}
	return slowest;
}

/*
 * What loading adds to the peak of a process that has compiled the demo's network before (so that
 * the compiler's own pages are there), in bytes; 0 where that cannot be measured.
 */
static double peak_bytes(const struct work *work)
{
	struct work warm = { DEMO, work->config, 0, NULL };
	struct rusage before, after;
	double peak = 0;
	int ends[2];

	fflush(stdout);
	if (pipe(ends))
		return 0;
	if (!fork()) {
		compile(&warm);
		getrusage(RUSAGE_SELF, &before);
		compile((void *)work);
		getrusage(RUSAGE_SELF, &after);
		peak = (after.ru_maxrss - before.ru_maxrss) * 1024.0;
		_exit(write(ends[1], &peak, sizeof(peak)) != sizeof(peak));
	}
	close(ends[1]);
	if (read(ends[0], &peak, sizeof(peak)) != sizeof(peak))
		peak = 0;
	close(ends[0]);
	wait(NULL);
	return peak;
}

static void measure(const char *path, const char *name, double plan_limit_us)
{
	struct work work = { path, nvdla_config_find("nv_small"), 0, NULL };
	struct npu_program *program;
	double compiled, slowest, limit;
	struct stat status;
	char what[80];
	u32 banks = 0;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0 || fstat(file, &status)) {
		printf("# SKIP %s: %s\n", path, strerror(errno));
		if (file >= 0)
			close(file);
		return;
	}
	work.bytes = status.st_size;
	work.data = mmap(NULL, work.bytes, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	program = work.data == MAP_FAILED ? NULL : load(&work);
	if (program) {
		compiled = bench_median(compile, &work);
		snprintf(what, sizeof(what), "%.24s: compile", name);
		bench_report(what, compiled * 1e3, "ms", "reading the file",
			     bench_median(read_once, &work) * 1e3);
		slowest = slowest_plan(&work, program, &banks);
		snprintf(what, sizeof(what), "%.20s: slowest plan (%u)", name, banks);
		bench_report(what, slowest * 1e6, "us", "limit", plan_limit_us);
		limit = 3.0 * work.bytes + program->net->weights_bytes;
		snprintf(what, sizeof(what), "%.24s: peak memory", name);
		bench_report(what, peak_bytes(&work) / 1e6, "MB", "3 files + weights", limit / 1e6);
	}
	npu_program_free(program);
	if (work.data != MAP_FAILED)
		munmap((void *)work.data, work.bytes);
}

static int is_model(const struct dirent *entry)
{
	/* The one network of floating point is not for the NPU. */
	return strstr(entry->d_name, ".tflite") && !strstr(entry->d_name, "_f32");
}

int main(void)
{
	const char *shared = getenv("NPU_SHARED") ?: "../shared";
	struct dirent **models = NULL;
	char path[512];
	int i, count;

	measure(DEMO, "digits", 1000);
	snprintf(path, sizeof(path), "%s/models/tflite", shared);
	count = scandir(path, &models, is_model, alphasort);
	if (count < 0)
		printf("# SKIP %s: %s\n", path, strerror(errno));
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/models/tflite/%s", shared, models[i]->d_name);
		measure(path, models[i]->d_name, 1000);
		free(models[i]);
	}
	free(models);
	snprintf(path, sizeof(path), "%s/models/structure/resnet50-convs.tsv", shared);
	measure(path, "resnet50-convs", 10000);
	return 0;
}
