// SPDX-License-Identifier: MIT
/*
 * The netlink family: what it answers, who may change the limit, who hears of what, also in other
 * namespaces.
 *
 * vm-test: kernel=all config=nv_small,nv_large
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "netlink.h"

#define NOBODY 65534
#define EVENT_MS 3000 /* an event has come by then */
#define SILENCE_MS 300 /* none has come in that time */

static struct guest_genl family;
static u32 device, total;

/* ---- requests ---- */

/* A request that names @number in attribute 1, as all of the family do. */
static int ask(struct guest_genl *g, u8 cmd, u32 number)
{
	u8 request[16];
	u32 size = guest_attr_put(request, 1, &number, sizeof(number));

	return guest_genl_call(g, cmd, NLM_F_ACK, request, size);
}

static u64 answer(const struct guest_genl *g, u16 type)
{
	u32 bytes;
	const struct nlattr *attrs = guest_genl_attrs(g, &bytes);

	return guest_attr_number(guest_attr(attrs, bytes, type));
}

static bool answer_is(const struct guest_genl *g, u16 type, const char *text)
{
	u32 bytes;
	const struct nlattr *attrs = guest_genl_attrs(g, &bytes);
	const struct nlattr *attr = guest_attr(attrs, bytes, type);

	return attr && !strncmp((const char *)(attr + 1), text, attr->nla_len - sizeof(*attr));
}

/* A number inside of a nested budget. */
static u64 banks(const struct guest_genl *g, u16 nest, u16 type)
{
	u32 bytes, size;
	const struct nlattr *attrs = guest_genl_attrs(g, &bytes);
	const struct nlattr *inner = guest_attr_nest(guest_attr(attrs, bytes, nest), &size);

	return guest_attr_number(guest_attr(inner, size, type));
}

static void check_device(int fd)
{
	const struct nvdla_config *config = guest_config(fd);

	tap(!ask(&family, NVDLA_CMD_GET_DEVICES, device), "get-devices answers");
	tap(answer(&family, NVDLA_A_DEVICE_ID) == device &&
		    answer_is(&family, NVDLA_A_DEVICE_CONFIG, config->name),
	    "it is device %u, %s", device, config->name);
	tap(answer(&family, NVDLA_A_DEVICE_BANKS) == config->banks &&
		    answer(&family, NVDLA_A_DEVICE_ENTRIES_PER_BANK) == config->entries &&
		    answer(&family, NVDLA_A_DEVICE_ENTRY_BYTES) == config->entry_bytes,
	    "with that geometry");
	tap(ask(&family, NVDLA_CMD_GET_DEVICES, device + 1) == -ENODEV &&
		    ask(&family, NVDLA_CMD_GET_BUDGET, device + 1) == -ENODEV &&
		    ask(&family, NVDLA_CMD_GET_STATS, ~0u) == -ENODEV &&
		    guest_genl_limit(&family, device + 1, 1) == -ENODEV,
	    "a device that is not there");
	tap(guest_genl_call(&family, NVDLA_CMD_GET_DEVICES, 0, NULL, 0) == -EINVAL &&
		    guest_genl_call(&family, NVDLA_CMD_SET_LIMIT, 0, NULL, 0) == -EINVAL,
	    "no device is named");
}

static void check_budget(int fd)
{
	struct drm_nvdla_budget b = guest_budget(fd);
	const struct {
		u16 type;
		u64 value;
	} fields[] = {
		{ NVDLA_A_BANKS_GENERATION, b.generation },
		{ NVDLA_A_BANKS_TOTAL, b.banks_total },
		{ NVDLA_A_BANKS_USABLE, b.banks_usable },
		{ NVDLA_A_BANKS_LIMIT, b.banks_limit },
		{ NVDLA_A_BANKS_RESERVED, b.banks_reserved },
		{ NVDLA_A_BANKS_AVAILABLE, b.banks_available },
		{ NVDLA_A_BANKS_UNUSABLE, 0 },
	};
	u32 i, wrong = 0;

	NEED(!ask(&family, NVDLA_CMD_GET_BUDGET, device), "get-budget answers");
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		wrong += banks(&family, NVDLA_A_BUDGET_NOW, fields[i].type) != fields[i].value;
	tap(!wrong, "the budget is that of DEV_QUERY");
	total = b.banks_total;
}

static void check_stats(int fd)
{
	static const struct guest_work_shape shape = { .tasks = 3 };
	u64 jobs = guest_genl_stat(&family, device, NVDLA_A_STATS_JOBS);
	u64 tasks = guest_genl_stat(&family, device, NVDLA_A_STATS_TASKS);
	u64 busy = guest_genl_stat(&family, device, NVDLA_A_STATS_BUSY_NS);
	struct guest_work work;

	guest_work_new(fd, &shape, &work);
	NEED(guest_work_run(&work, 1), "a job of three tasks runs");
	tap(guest_genl_stat(&family, device, NVDLA_A_STATS_JOBS) == jobs + 1 &&
		    guest_genl_stat(&family, device, NVDLA_A_STATS_TASKS) == tasks + 3,
	    "it is counted, and its tasks");
	tap(guest_genl_stat(&family, device, NVDLA_A_STATS_BUSY_NS) > busy, "and their time");
	tap(guest_genl_stat(&family, device, NVDLA_A_STATS_TIMEOUTS) == 0, "no timeout");
	guest_work_free(&work);
}

/* ---- changes ---- */

/* The next event of @listener is about that change. */
static bool event_is(struct guest_genl *listener, u32 cause, u32 old_available, u32 available)
{
	const struct nlattr *attrs;
	u32 bytes;

	if (guest_genl_receive(listener, EVENT_MS) ||
	    guest_genl_cmd(listener) != NVDLA_CMD_BUDGET_NTF)
		return false;
	attrs = guest_genl_attrs(listener, &bytes);
	/* Nothing but the four attributes: not who did it. */
	return attrs && answer(listener, NVDLA_A_BUDGET_DEVICE) == device &&
	       answer(listener, NVDLA_A_BUDGET_CAUSE) == cause &&
	       !guest_attr(attrs, bytes, NVDLA_A_BUDGET_LIMIT) &&
	       !guest_attr(attrs, bytes, NVDLA_A_BUDGET_MAX + 1) &&
	       banks(listener, NVDLA_A_BUDGET_OLD, NVDLA_A_BANKS_AVAILABLE) == old_available &&
	       banks(listener, NVDLA_A_BUDGET_NOW, NVDLA_A_BANKS_AVAILABLE) == available &&
	       banks(listener, NVDLA_A_BUDGET_NOW, NVDLA_A_BANKS_GENERATION) ==
		       banks(listener, NVDLA_A_BUDGET_OLD, NVDLA_A_BANKS_GENERATION) + 1;
}

static bool silent(struct guest_genl *listener)
{
	return guest_genl_receive(listener, SILENCE_MS) == -ETIMEDOUT;
}

static void check_changes(struct guest_genl *listener)
{
	struct drm_nvdla_reserve reserve = { .banks = 2 };
	int own = guest_open();

	tap(!guest_genl_limit(&family, device, total / 2), "the limit is halved");
	tap(event_is(listener, NVDLA_BUDGET_CAUSE_LIMIT, total, total / 2), "which is told");
	tap(guest_budget(own).banks_available == total / 2, "and holds");
	tap(!guest_genl_limit(&family, device, total / 2) && silent(listener),
	    "the same again is no change");
	tap(guest_genl_limit(&family, device, 0) == -ERANGE &&
		    guest_genl_limit(&family, device, total + 1) == -EINVAL &&
		    guest_genl_limit(&family, device, ~0u) == -EINVAL && silent(listener),
	    "limits that cannot be");
	tap(!guest_genl_limit(&family, device, total), "it is lifted");
	tap(event_is(listener, NVDLA_BUDGET_CAUSE_LIMIT, total / 2, total), "which is told");
	NEED(!guest_ioctl(own, DRM_IOCTL_NVDLA_RESERVE, &reserve), "a client reserves two banks");
	tap(event_is(listener, NVDLA_BUDGET_CAUSE_RESERVE, total, total - 2), "which is told");
	close(own);
	tap(event_is(listener, NVDLA_BUDGET_CAUSE_CLIENT_EXIT, total - 2, total),
	    "that it goes is told too");
}

/* Five hundred changes, read only afterwards: those that are there are in order. */
static void check_burst(struct guest_genl *listener)
{
	struct drm_nvdla_reserve reserve = { 0 };
	u64 last = 0, generation;
	u32 i, seen = 0, wrong = 0;
	int own = guest_open();

	for (i = 0; i < 500; i++) {
		reserve.banks = 1 + i % 2;
		NEED(!guest_ioctl(own, DRM_IOCTL_NVDLA_RESERVE, &reserve), "a client reserves");
	}
	close(own);
	for (;;) {
		int err = guest_genl_receive(listener, EVENT_MS);

		/* The socket had no room for all of them. */
		if (err == -ENOBUFS)
			continue;
		if (err)
			break;
		generation = banks(listener, NVDLA_A_BUDGET_NOW, NVDLA_A_BANKS_GENERATION);
		wrong += generation <= last;
		last = generation;
		seen++;
		if (answer(listener, NVDLA_A_BUDGET_CAUSE) == NVDLA_BUDGET_CAUSE_CLIENT_EXIT)
			break;
	}
	tap(seen && !wrong, "a burst of changes: %u events, in order", seen);
}

/* ---- who may ---- */

/* Runs @test in a process of its own, which says whether all was well. */
static bool in_child(int (*test)(void))
{
	int status;
	pid_t child = fork();

	if (!child) {
		status = test();
		if (status)
			printf("# step %d failed\n", status);
		fflush(stdout);
		_exit(status);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* What anyone may do and what not; 0, or the number of the step that was otherwise. */
static int outsider(void)
{
	struct guest_genl g;

	if (guest_genl_open(&g))
		return 2;
	if (ask(&g, NVDLA_CMD_GET_BUDGET, device) || ask(&g, NVDLA_CMD_GET_STATS, device))
		return 3;
	if (guest_genl_limit(&g, device, 1) != -EPERM)
		return 4;
	return guest_genl_join(&g, g.budget) ? 5 : 0;
}

static int as_nobody(void)
{
	struct guest_genl g;

	if (setgid(NOBODY) || setuid(NOBODY))
		return 1;
	if (guest_genl_open(&g) || guest_genl_join(&g, g.health) != -EPERM)
		return 6;
	return outsider();
}

/*
 * Root of namespaces that it made itself: has CAP_NET_ADMIN there, and is an outsider all the same.
 * Hears of budgets and of no fault.
 */
static int as_root_of_namespaces(void)
{
	struct guest_genl budget, health;
	int ready[2], err, status;
	pid_t child;
	char byte;

	if (pipe(ready))
		return 1;
	child = fork();
	if (!child) {
		if (setgid(NOBODY) || setuid(NOBODY) || unshare(CLONE_NEWUSER | CLONE_NEWNET))
			_exit(7);
		err = outsider();
		if (err)
			_exit(err);
		if (guest_genl_open(&budget) || guest_genl_join(&budget, budget.budget))
			_exit(8);
		/* The group may be joined there; nothing is sent to it. */
		if (guest_genl_open(&health) || guest_genl_join(&health, health.health))
			_exit(9);
		if (write(ready[1], "x", 1) != 1)
			_exit(10);
		if (!event_is(&budget, NVDLA_BUDGET_CAUSE_LIMIT, total, total - 1))
			_exit(11);
		_exit(silent(&health) ? 0 : 12);
	}
	close(ready[1]);
	if (child < 0)
		return 13;
	if (read(ready[0], &byte, 1) == 1) {
		struct drm_nvdla_chain_create create;
		u8 nonsense[64] = { 0 };
		int fd = guest_open();

		guest_chain_new(fd, nonsense, sizeof(nonsense), &create, NULL, 0, NULL);
		close(fd);
		guest_genl_limit(&family, device, total - 1);
	}
	waitpid(child, &status, 0);
	guest_genl_limit(&family, device, total);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 14;
}

/* ---- faults ---- */

static void check_health(int fd)
{
	struct drm_nvdla_chain_create create;
	struct guest_genl listener;
	u8 nonsense[64] = { 0 };

	NEED(!guest_genl_open(&listener) && !guest_genl_join(&listener, listener.health),
	     "root joins the health group");
	tap(guest_chain_new(fd, nonsense, sizeof(nonsense), &create, NULL, 0, NULL) == -EINVAL,
	    "a chain is refused");
	tap(!guest_genl_receive(&listener, EVENT_MS) &&
		    guest_genl_cmd(&listener) == NVDLA_CMD_HEALTH_NTF &&
		    answer(&listener, NVDLA_A_HEALTH_DEVICE) == device &&
		    answer(&listener, NVDLA_A_HEALTH_KIND) == NVDLA_HEALTH_KIND_REFUSED_CHAIN &&
		    answer(&listener, NVDLA_A_HEALTH_PID) == (u64)getpid() &&
		    answer(&listener, NVDLA_A_HEALTH_TIME_NS) > 0,
	    "which is told, and whose it was");
	guest_genl_close(&listener);
}

int main(void)
{
	struct guest_genl listener;
	int fd = guest_open();

	NEED(!guest_genl_open(&family) && !guest_genl_device(&family, &device),
	     "the family knows a device");
	check_device(fd);
	check_budget(fd);
	check_stats(fd);
	NEED(!guest_genl_open(&listener) && !guest_genl_join(&listener, listener.budget),
	     "anyone joins the budget group");
	check_changes(&listener);
	check_burst(&listener);
	guest_genl_close(&listener);
	check_health(fd);
	tap(in_child(as_nobody), "without privileges: questions, no limit, no faults");
	tap(in_child(as_root_of_namespaces),
	    "root of its own namespaces: the same, and events of budgets");
	guest_genl_close(&family);
	close(fd);
	return tap_end();
}
