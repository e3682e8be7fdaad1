// SPDX-License-Identifier: MIT
/*
 * npu-budget: how much of an NPU's buffer may be used, who changes it, and the
 * administrator's limit.  The kernel's NPUs are asked by netlink, so no permission to
 * open them is needed; simulated ones through libnpu.
 */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel_budget.h"
#include "common/tool.h"
#include "npu.h"

#define NAME "npu-budget"

static const char help[] =
	"usage: npu-budget [OPTION]... get\n"
	"       npu-budget [OPTION]... set-limit BANKS\n"
	"       npu-budget [OPTION]... watch\n"
	"Show how many banks of its on-chip buffer an NPU lets be used, let all clients\n"
	"together use BANKS banks from now on, or print each change.\n"
	"\n"
	"  --device NAME   this NPU: accel0, or a simulated one, e.g. sim:nv_small (default:\n"
	"                  $NPU_DEVICE, else the kernel's first NPU, else sim)\n"
	"  --json          print a JSON object for each line\n"
	"  --help          print this\n"
	"  --version       print the version\n"
	"\n"
	"The limit of the kernel's NPUs is the administrator's: set-limit needs CAP_NET_ADMIN\n"
	"for them.  Jobs that were accepted go on; networks that are loaded in any process are\n"
	"planned again by themselves.  Exit status: 0, 1 on failure, 2 for wrong usage.\n";

/**
 * struct target - the NPU that a command is for
 * @name: as it is printed
 * @sim: simulated: its handle; NULL: the kernel's
 * @number: N of accelN
 * @json: how to print
 */
struct target {
	char name[64];
	struct npu_device *sim;
	u32 number;
	bool json;
};

static int failed(void)
{
	return tool_error(NAME, "%s", npu_error());
}

/* ---- printing ---- */

static void print_banks(const struct tool_banks *banks)
{
	printf("%u of %u banks available (limit %u, usable %u, reserved %u), generation %llu",
	       banks->available, banks->total, banks->limit, banks->usable, banks->reserved,
	       (unsigned long long)banks->generation);
}

static void add_banks(struct json_object *object, const struct tool_banks *banks)
{
	const struct {
		const char *name;
		u64 value;
	} fields[] = {
		{ "generation", banks->generation },   { "banks_total", banks->total },
		{ "banks_usable", banks->usable },     { "banks_limit", banks->limit },
		{ "banks_reserved", banks->reserved }, { "banks_available", banks->available },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		json_object_object_add(object, fields[i].name,
				       json_object_new_int64((int64_t)fields[i].value));
}

static void print_json(struct json_object *object)
{
	printf("%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_SPACED));
	json_object_put(object);
}

static void show(const struct target *target, const struct tool_banks *banks)
{
	struct json_object *object;

	if (!target->json) {
		printf("%s: ", target->name);
		print_banks(banks);
		printf("\n");
		return;
	}
	object = json_object_new_object();
	json_object_object_add(object, "device", json_object_new_string(target->name));
	add_banks(object, banks);
	print_json(object);
}

static void show_change(const struct target *target, const struct tool_change *change)
{
	struct json_object *object, *old, *now;

	if (!target->json) {
		printf("%s: %s: %u -> ", target->name, change->cause, change->old.available);
		print_banks(&change->now);
		printf("\n");
		return;
	}
	object = json_object_new_object();
	old = json_object_new_object();
	now = json_object_new_object();
	add_banks(old, &change->old);
	add_banks(now, &change->now);
	json_object_object_add(object, "device", json_object_new_string(target->name));
	json_object_object_add(object, "cause", json_object_new_string(change->cause));
	json_object_object_add(object, "old", old);
	json_object_object_add(object, "now", now);
	print_json(object);
}

/* ---- both kinds of NPU ---- */

static int read_sim(struct npu_device *device, struct tool_banks *banks)
{
	struct npu_device_budget budget = { .size = sizeof(budget) };
	int err = npu_device_budget(device, &budget);

	if (err)
		return err;
	*banks = (struct tool_banks){
		.generation = budget.generation,
		.total = budget.banks_total,
		.usable = budget.banks_usable,
		.limit = budget.banks_cap,
		.reserved = budget.banks_reserved,
		.available = budget.banks_available,
	};
	return 0;
}

static int read_banks(const struct target *target, struct tool_banks *banks)
{
	return target->sim ? read_sim(target->sim, banks)
			   : tool_kernel_budget(target->number, banks);
}

/* Simulated NPUs tell that something changed, not why. */
static int next_sim_change(struct npu_device *device, struct tool_change *change)
{
	int err = npu_device_budget_wait(device, change->now.generation, -1, NULL);

	change->cause = "unknown";
	change->old = change->now;
	return err ? err : read_sim(device, &change->now);
}

static int open_target(const char *name, struct target *target)
{
	struct npu_device_info info = { .size = sizeof(info) };

	if (!name)
		name = getenv("NPU_DEVICE");
	if (name ? tool_kernel_device(name, &target->number) : tool_kernel_first(&target->number)) {
		snprintf(target->name, sizeof(target->name), "accel%u", target->number);
		return TOOL_OK;
	}
	if (npu_open(name ? name : "sim", &target->sim) || npu_device_info(target->sim, &info))
		return failed();
	memcpy(target->name, info.name, sizeof(target->name));
	return TOOL_OK;
}

/* ---- commands ---- */

static int get(const struct target *target, const char *unused)
{
	struct tool_banks banks;

	if (read_banks(target, &banks))
		return failed();
	show(target, &banks);
	return TOOL_OK;
}

static int set_limit(const struct target *target, const char *text)
{
	struct tool_banks banks;
	uint32_t limit;
	int err;

	if (read_banks(target, &banks))
		return failed();
	if (!tool_number(text, 1, banks.total, &limit))
		return tool_usage(NAME, "%s has 1 to %u banks, not \"%s\"", target->name,
				  banks.total, text);
	err = target->sim ? npu_device_set_cap(target->sim, limit)
			  : npu_netlink_set_limit(target->number, limit);
	return err ? failed() : get(target, NULL);
}

/* The socket listens before the budget is read: nothing happens unseen in between. */
static int watch_kernel(const struct target *target)
{
	struct nl_sock *sock = npu_netlink_listen();
	struct tool_change change = { 0 };
	int err = 0, status = get(target, NULL);

	if (!status && !sock)
		status = tool_error(NAME, "%s: cannot listen to netlink", target->name);
	while (!status && fflush(stdout) == 0 && !ferror(stdout)) {
		err = tool_kernel_next_change(sock, target->number, &change);
		if (!err)
			show_change(target, &change);
		else if (err == -ENOBUFS)
			status = get(target, NULL);
		else
			status = failed();
	}
	npu_netlink_close(sock);
	return status ? status : tool_error(NAME, "cannot write: %s", strerror(errno));
}

static int watch_sim(const struct target *target)
{
	struct tool_change change = { 0 };
	int status = TOOL_OK;

	if (read_sim(target->sim, &change.now))
		return failed();
	show(target, &change.now);
	while (!status && fflush(stdout) == 0 && !ferror(stdout)) {
		if (next_sim_change(target->sim, &change))
			status = failed();
		else
			show_change(target, &change);
	}
	return status ? status : tool_error(NAME, "cannot write: %s", strerror(errno));
}

static int watch(const struct target *target, const char *unused)
{
	return target->sim ? watch_sim(target) : watch_kernel(target);
}

static const struct command {
	const char *name;
	int arguments;
	int (*run)(const struct target *target, const char *argument);
} commands[] = {
	{ "get", 0, get },
	{ "set-limit", 1, set_limit },
	{ "watch", 0, watch },
};

static int run_command(int count, char **words, const char *device, bool json)
{
	struct target target = { .json = json };
	const struct command *command = NULL;
	int status;
	u32 i;

	if (!count)
		return tool_usage(NAME, "get, set-limit or watch?");
	for (i = 0; i < ARRAY_SIZE(commands) && !command; i++)
		if (strcmp(words[0], commands[i].name) == 0)
			command = &commands[i];
	if (!command)
		return tool_usage(NAME, "\"%s\" is no command", words[0]);
	if (count - 1 != command->arguments)
		return tool_usage(NAME, "%s takes %s", command->name,
				  command->arguments ? "a number of banks" : "no argument");
	status = open_target(device, &target);
	if (!status)
		status = command->run(&target, words[1]);
	npu_close(target.sim);
	return status;
}

static int run_tool(int argc, char **argv)
{
	static const struct option known[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	const char *device = NULL;
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 'd':
			device = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			fputs(help, stdout);
			return TOOL_OK;
		case 'v':
			printf(NAME " %s\n", npu_version());
			return TOOL_OK;
		default:
			return tool_usage(NAME, "wrong options");
		}
	}
	return run_command(argc - optind, argv + optind, device, json);
}

int main(int argc, char **argv)
{
	return tool_main(NAME, run_tool, argc, argv);
}
