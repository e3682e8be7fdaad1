// SPDX-License-Identifier: MIT
/*
 * Real networks through libnpu and the kernel while the budget changes: halved, restored, reserved by
 * a second process that is then killed.  Outputs are those of the simulated device, bit for bit.
 *
 *	models [RUNS [MODEL]]	inferences of each model; default: 50 of MNIST, 2 of each larger one
 *
 * vm-test: kernel=all config=all timeout=400 file=models/tflite,models/golden/tflite
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "pair.h"

static u32 banks_available(struct npu_device *npu)
{
	struct npu_device_budget budget = { .size = sizeof(budget) };

	return npu_device_budget(npu, &budget) ? 0 : budget.banks_available;
}

/* A second process that reserves @banks and then sleeps; 0 where it could not. */
static pid_t reserve_elsewhere(u32 banks)
{
	int ready[2];
	char byte = 0;
	pid_t child;

	if (pipe(ready))
		return 0;
	child = fork();
	if (!child) {
		struct npu_device *npu;

		if (!npu_open(NULL, &npu) && !npu_reserve(npu, banks) &&
		    write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (child > 0 && read(ready[0], &byte, 1) != 1) {
		waitpid(child, NULL, 0);
		child = 0;
	}
	close(ready[0]);
	return child;
}

/* What happens to the budget before a run. */
enum change { NOTHING, HALVE, RESTORE, RESERVE, KILL };

struct disturbance {
	struct npu_device *npu;
	u32 total;
	pid_t other;
};

static bool disturb(struct disturbance *d, enum change change)
{
	int i;

	switch (change) {
	case HALVE:
		return !npu_device_set_cap(d->npu, d->total / 2) &&
		       banks_available(d->npu) == d->total / 2;
	case RESTORE:
		return !npu_device_set_cap(d->npu, d->total) && banks_available(d->npu) == d->total;
	case RESERVE:
		d->other = reserve_elsewhere(d->total - d->total / 4);
		return d->other > 0 && banks_available(d->npu) == d->total / 4;
	case KILL:
		kill(d->other, SIGKILL);
		waitpid(d->other, NULL, 0);
		d->other = 0;
		for (i = 0; i < GUEST_WAIT_MS / 10 && banks_available(d->npu) != d->total; i++)
			guest_sleep_ms(10);
		return banks_available(d->npu) == d->total;
	default:
		return true;
	}
}

/* @at[i] is done before run i * runs / @count. */
static void check_model(const struct shared_model *model, u32 runs, const enum change *at,
			u32 count)
{
	struct npu_device_info info = { .size = sizeof(info) };
	struct disturbance d = { 0 };
	u32 i, right = 0, disturbed = 0, replans = 0;
	u32 smallest = ~0u, step = max(runs / count, 1u);
	struct pair pair;

	if (!pair_open(&pair, model)) {
		tap(false, "%s loads", model->name);
		return;
	}
	npu_device_info(pair.npu, &info);
	d = (struct disturbance){ .npu = pair.npu, .total = info.banks };
	for (i = 0; i < runs; i++) {
		if (i % step == 0 && i / step < count)
			disturbed += disturb(&d, at[i / step]);
		right += pair_run(&pair, i);
		replans += pair.stats.replans;
		smallest = min(smallest, pair.stats.plan_banks);
	}
	tap(right == runs, "%s: %u of %u inferences as on the simulated device", model->name, right,
	    runs);
	tap(disturbed == count, "%s: the budget changed as it should, %u of %u times", model->name,
	    disturbed, count);
	printf("# %s: planned again %u times, for %u banks at the least\n", model->name, replans,
	       smallest);
	if (d.other)
		disturb(&d, KILL);
	npu_device_set_cap(pair.npu, info.banks);
	pair_close(&pair);
}

int main(int argc, char **argv)
{
	static const enum change all[] = { NOTHING, HALVE, RESTORE, RESERVE, KILL };
	static const enum change halve[] = { NOTHING, HALVE };
	u32 runs = argc > 1 ? (u32)atoi(argv[1]) : 0;
	const char *only = argc > 2 ? argv[2] : NULL;
	size_t i;

	setenv("NPU_SIM_DIR", "-", 1);
	if (!shared_there())
		return 0;
	for (i = 0; i < SHARED_MODEL_COUNT; i++) {
		bool mnist = !strcmp(shared_models[i].name, "tvm_mnist_int8");
		u32 n = runs ? runs : mnist ? 50 : 2;

		if (!only || !strcmp(only, shared_models[i].name))
			check_model(&shared_models[i], n, n > 4 ? all : halve,
				    n > 4 ? ARRAY_SIZE(all) : ARRAY_SIZE(halve));
	}
	return tap_end();
}
