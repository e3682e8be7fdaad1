// SPDX-License-Identifier: MIT
/*
 * npu-top: who uses the real NPUs, how much of their time, memory and buffer.
 */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clients.h"
#include "common/tool.h"
#include "internal.h"
#include "netlink.h"

#define NAME "npu-top"
#define MAX_DEVICES 16

static const char help[] =
	"usage: npu-top [OPTION]...\n"
	"Show who uses the real NPUs: share of their time, memory, reserved banks, queued jobs.\n"
	"\n"
	"  --device NAME     only this NPU, e.g. accel0 (default: all)\n"
	"  --interval MS     milliseconds between two looks (default: 1000)\n"
	"  --once            look twice, print once\n"
	"  --json            print a JSON object in a line for each look\n"
	"  --help            print this\n"
	"  --version         print the version\n"
	"\n"
	"Clients are read from /proc/PID/fdinfo: without privileges those of one's own processes;\n"
	"how many processes could not be looked at is said.  Exit status: 0, 1 on failure, 2 for\n"
	"wrong usage.\n";

struct options {
	const char *device;
	uint32_t interval_ms;
	bool once;
	bool json;
};

/**
 * struct watched - an NPU
 * @number: N of accelN
 * @has_stats: netlink answers
 * @stats, @stats_before: at this look and the one before
 */
struct watched {
	struct npu_device *device;
	struct npu_device_info info;
	struct npu_device_budget budget;
	uint32_t number;
	bool has_stats;
	struct npu_netlink_stats stats, stats_before;
};

/* Everything at one moment, and the look before it. */
struct look {
	uint64_t time_ns, time_before_ns;
	struct watched npu[MAX_DEVICES];
	unsigned npu_count;
	struct tool_clients clients, clients_before;
};

/* ---- looking ---- */

static int failed(void)
{
	return tool_error(NAME, "%s", npu_error());
}

static int watch_device(struct look *look, const char *name)
{
	struct watched *npu = &look->npu[look->npu_count];

	if (look->npu_count == MAX_DEVICES)
		return tool_error(NAME, "more than %d NPUs: choose one with --device", MAX_DEVICES);
	if (npu_open(name, &npu->device))
		return failed();
	look->npu_count++;
	npu->info.size = sizeof(npu->info);
	npu->budget.size = sizeof(npu->budget);
	if (npu_device_info(npu->device, &npu->info))
		return failed();
	if (sscanf(npu->info.name, "accel%u", &npu->number) != 1)
		return tool_error(NAME, "%s is no real NPU: the kernel knows no clients of it",
				  npu->info.name);
	return TOOL_OK;
}

/* All real NPUs; where there is none, the reason. */
static int watch_all(struct look *look)
{
	const char *name;
	int status = TOOL_OK;
	unsigned i;

	for (i = 0; !status && (name = npu_device_name(i)); i++)
		if (strncmp(name, "accel", 5) == 0)
			status = watch_device(look, name);
	if (!status && !look->npu_count)
		status = watch_device(look, "accel0");
	return status;
}

static int take_look(struct look *look)
{
	unsigned i;
	int err;

	tool_clients_free(&look->clients_before);
	look->clients_before = look->clients;
	look->time_before_ns = look->time_ns;
	look->clients = (struct tool_clients){ 0 };
	look->time_ns = npu_now_ns();
	err = tool_clients_read("/proc", &look->clients);
	if (err)
		return tool_error(NAME, "/proc: %s", strerror(-err));
	for (i = 0; i < look->npu_count; i++) {
		struct watched *npu = &look->npu[i];

		npu->stats_before = npu->stats;
		npu->has_stats = npu_netlink_stats(npu->number, &npu->stats) == 0;
		if (npu_device_budget(npu->device, &npu->budget))
			return failed();
	}
	return TOOL_OK;
}

static void forget(struct look *look)
{
	unsigned i;

	for (i = 0; i < look->npu_count; i++)
		npu_close(look->npu[i].device);
	tool_clients_free(&look->clients);
	tool_clients_free(&look->clients_before);
}

/* ---- what is shown ---- */

/* Part of the time between the looks, in percent. */
static double percent(const struct look *look, uint64_t now, uint64_t before)
{
	uint64_t time = look->time_ns - look->time_before_ns;

	return time && now > before ? 100.0 * (double)(now - before) / (double)time : 0;
}

/* A client that came in between had done nothing before. */
static double client_percent(const struct look *look, const struct tool_client *client)
{
	uint64_t before = 0;
	size_t i;

	for (i = 0; i < look->clients_before.count; i++) {
		const struct tool_client *other = &look->clients_before.client[i];

		if (other->id == client->id && other->device == client->device)
			before = other->busy_ns;
	}
	return percent(look, client->busy_ns, before);
}

/* Clients of the NPU, without this program itself. */
static bool is_shown(const struct watched *npu, const struct tool_client *client)
{
	return client->device == npu->number && client->pid != getpid();
}

static void print_npu(const struct look *look, const struct watched *npu)
{
	const struct npu_device_budget *budget = &npu->budget;

	printf("%s (%s)", npu->info.name, npu->info.config);
	if (npu->has_stats)
		printf(" %5.1f %% busy",
		       percent(look, npu->stats.busy_ns, npu->stats_before.busy_ns));
	printf(", %u of %u banks available (limit %u, usable %u, reserved %u)\n",
	       budget->banks_available, budget->banks_total, budget->banks_cap,
	       budget->banks_usable, budget->banks_reserved);
	if (npu->has_stats)
		printf("  %llu jobs, %llu tasks, %llu time-outs, %llu resets, %llu refused "
		       "chains\n",
		       (unsigned long long)npu->stats.jobs, (unsigned long long)npu->stats.tasks,
		       (unsigned long long)npu->stats.timeouts,
		       (unsigned long long)npu->stats.resets,
		       (unsigned long long)npu->stats.refused_chains);
	else
		printf("  no statistics: the kernel driver's netlink family does not answer\n");
}

static void print_clients(const struct look *look, const struct watched *npu)
{
	size_t i, shown = 0;

	for (i = 0; i < look->clients.count; i++) {
		const struct tool_client *client = &look->clients.client[i];

		if (!is_shown(npu, client))
			continue;
		if (!shown++)
			printf("  %8s %-16s %6s %11s %6s %6s %s\n", "PID", "COMMAND", "NPU %",
			       "MEMORY KiB", "BANKS", "QUEUE", "PRIORITY");
		printf("  %8lld %-16s %6.1f %11llu %6u %6u %s\n", (long long)client->pid,
		       client->name, client_percent(look, client),
		       (unsigned long long)client->memory >> 10, client->banks, client->jobs,
		       client->priority);
	}
	if (!shown)
		printf("  no clients\n");
}

static void print_text(const struct look *look)
{
	unsigned i;

	if (isatty(STDOUT_FILENO))
		printf("\033[H\033[J"); /* home, clear: what every terminal has */
	for (i = 0; i < look->npu_count; i++) {
		print_npu(look, &look->npu[i]);
		print_clients(look, &look->npu[i]);
	}
	if (look->clients.unreadable)
		printf("%u processes of other users could not be looked at: run as root\n",
		       look->clients.unreadable);
	printf("\n");
}

static void add_int(struct json_object *object, const char *name, uint64_t value)
{
	json_object_object_add(object, name, json_object_new_int64((int64_t)value));
}

static struct json_object *json_client(const struct look *look, const struct tool_client *client)
{
	struct json_object *object = json_object_new_object();

	add_int(object, "pid", (uint64_t)client->pid);
	json_object_object_add(object, "command", json_object_new_string(client->name));
	add_int(object, "client", client->id);
	json_object_object_add(object, "npu_percent",
			       json_object_new_double(client_percent(look, client)));
	add_int(object, "npu_ns", client->busy_ns);
	add_int(object, "memory_bytes", client->memory);
	add_int(object, "resident_bytes", client->resident);
	add_int(object, "pinned_bytes", client->pinned);
	add_int(object, "tasks", client->tasks);
	add_int(object, "banks_reserved", client->banks);
	add_int(object, "jobs_queued", client->jobs);
	json_object_object_add(object, "priority", json_object_new_string(client->priority));
	return object;
}

static void add_stats(struct json_object *object, const struct look *look,
		      const struct watched *npu)
{
	json_object_object_add(object, "busy_percent",
			       json_object_new_double(percent(look, npu->stats.busy_ns,
							      npu->stats_before.busy_ns)));
	add_int(object, "busy_ns", npu->stats.busy_ns);
	add_int(object, "jobs", npu->stats.jobs);
	add_int(object, "tasks", npu->stats.tasks);
	add_int(object, "timeouts", npu->stats.timeouts);
	add_int(object, "resets", npu->stats.resets);
	add_int(object, "refused_chains", npu->stats.refused_chains);
}

static struct json_object *json_npu(const struct look *look, const struct watched *npu)
{
	struct json_object *object = json_object_new_object();
	struct json_object *clients = json_object_new_array();
	size_t i;

	json_object_object_add(object, "device", json_object_new_string(npu->info.name));
	json_object_object_add(object, "config", json_object_new_string(npu->info.config));
	add_int(object, "banks", npu->budget.banks_total);
	add_int(object, "banks_usable", npu->budget.banks_usable);
	add_int(object, "banks_cap", npu->budget.banks_cap);
	add_int(object, "banks_reserved", npu->budget.banks_reserved);
	add_int(object, "banks_available", npu->budget.banks_available);
	add_int(object, "generation", npu->budget.generation);
	if (npu->has_stats)
		add_stats(object, look, npu);
	for (i = 0; i < look->clients.count; i++)
		if (is_shown(npu, &look->clients.client[i]))
			json_object_array_add(clients, json_client(look, &look->clients.client[i]));
	json_object_object_add(object, "clients", clients);
	return object;
}

static void print_json(const struct look *look)
{
	struct json_object *object = json_object_new_object();
	struct json_object *npus = json_object_new_array();
	unsigned i;

	for (i = 0; i < look->npu_count; i++)
		json_object_array_add(npus, json_npu(look, &look->npu[i]));
	json_object_object_add(object, "devices", npus);
	add_int(object, "unreadable_processes", look->clients.unreadable);
	printf("%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_SPACED));
	json_object_put(object);
}

/* ---- what is asked for ---- */

static int show(struct look *look, const struct options *options)
{
	int status = take_look(look);

	while (!status) {
		usleep(options->interval_ms * 1000);
		status = take_look(look);
		if (status)
			break;
		if (options->json)
			print_json(look);
		else
			print_text(look);
		if (fflush(stdout) || ferror(stdout))
			return tool_error(NAME, "cannot write: %s", strerror(errno));
		if (options->once)
			break;
	}
	return status;
}

static int run(const struct options *options)
{
	struct look look = { 0 };
	int status;

	status = options->device ? watch_device(&look, options->device) : watch_all(&look);
	if (!status)
		status = show(&look, options);
	forget(&look);
	return status;
}

static int run_tool(int argc, char **argv)
{
	static const struct option known[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "interval", required_argument, NULL, 'i' },
		{ "once", no_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	struct options options = { .interval_ms = 1000 };
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 'd':
			options.device = optarg;
			break;
		case 'i':
			if (!tool_number(optarg, 10, 3600000, &options.interval_ms))
				return tool_usage(
					NAME, "--interval: 10 to 3600000 milliseconds, not \"%s\"",
					optarg);
			break;
		case 'o':
			options.once = true;
			break;
		case 'j':
			options.json = true;
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
	if (optind < argc)
		return tool_usage(NAME, "\"%s\" is not expected", argv[optind]);
	return run(&options);
}

int main(int argc, char **argv)
{
	return tool_main(NAME, run_tool, argc, argv);
}
