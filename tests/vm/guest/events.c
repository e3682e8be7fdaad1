// SPDX-License-Identifier: MIT
/*
 * libnpu hears of each change of the budget: at once by netlink, and where it cannot have a socket by
 * looking from time to time.
 *
 * vm-test: timeout=120
 */
#include <pthread.h>
#include <sys/resource.h>

#include "internal.h"
#include "lib.h"
#include "../../../libnpu/netlink.h"

#define SETTLED_MS 1500 /* before the change */
#define AT_ONCE_MS 5000 /* a wait that listens looks by itself after ten seconds only */

struct waiter {
	struct npu_device *npu;
	u64 generation;
	u64 woken_ns;
	int err;
};

static void *wait_for_change(void *context)
{
	struct waiter *w = context;

	w->err = npu_device_budget_wait(w->npu, w->generation, 20000, NULL);
	w->woken_ns = guest_now_ns();
	return NULL;
}

/* Milliseconds from a change to the end of a wait that has lasted for some time; negative: error. */
static int latency_ms(struct npu_device *npu, u32 banks)
{
	struct npu_device_budget budget = { .size = sizeof(budget) };
	struct waiter w = { .npu = npu };
	pthread_t thread;
	u64 changed_ns;
	int err;

	npu_device_budget(npu, &budget);
	w.generation = budget.generation;
	if (pthread_create(&thread, NULL, wait_for_change, &w))
		return -EAGAIN;
	guest_sleep_ms(SETTLED_MS);
	changed_ns = guest_now_ns();
	err = npu_reserve(npu, banks);
	pthread_join(thread, NULL);
	if (err || w.err)
		return err ? err : w.err;
	return w.woken_ns > changed_ns ? (int)((w.woken_ns - changed_ns) / 1000000) : 0;
}

int main(void)
{
	struct rlimit files = { 0 };
	struct npu_device *npu;
	struct nl_sock *sock;
	int most = 0, i, ms;

	NEED(!npu_open(NULL, &npu), "the NPU opens: %s", npu_error());
	sock = npu_netlink_listen();
	tap(sock, "the kernel has the group of budget changes");
	npu_netlink_close(sock);
	for (i = 0; i < 5; i++) {
		ms = latency_ms(npu, 4 + i);
		most = ms < 0 ? ms : max(most, ms);
		if (ms < 0)
			break;
	}
	tap(most >= 0 && most < AT_ONCE_MS, "five changes are heard by netlink within %d ms", most);
	tap(npu_device_budget_wait(npu, ~0ull, 0, NULL) == 0, "a generation of long ago");
	/* No descriptor is left for a socket. */
	setrlimit(RLIMIT_NOFILE, &files);
	tap(!npu_netlink_listen(), "no socket is left");
	ms = latency_ms(npu, 16);
	tap(ms >= 0, "without netlink a change is seen after %d ms", ms);
	npu_close(npu);
	return tap_end();
}
