// SPDX-License-Identifier: MIT
/*
 * npu-info: which NPUs there are and how much of their buffer may be used now.
 */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"
#include "npu.h"

#define NAME "npu-info"

static const char help[] =
	"usage: npu-info [OPTION]...\n"
	"Show NPUs, their geometry and the budget of their on-chip buffer as it is now.\n"
	"\n"
	"  --device NAME   only this NPU, e.g. accel0 or sim:nv_small (default: all; of --watch\n"
	"                  and --set-banks $NPU_DEVICE, else the first real one, else sim)\n"
	"  --watch         go on and print each change of the budget\n"
	"  --set-banks N   let all clients together use N banks from now on\n"
	"  --json          print as JSON: an array of all NPUs, or one object for the NPU\n"
	"                  asked for and one for each change\n"
	"  --help          print this\n"
	"  --version       print the version\n"
	"\n"
	"Real NPUs (accelN) need the kernel driver nvdla; --set-banks there asks for "
	"CAP_NET_ADMIN.\n"
	"Simulated NPUs keep their budgets in $NPU_SIM_DIR, else $XDG_RUNTIME_DIR/npu, else\n"
	"/tmp/npu-UID.  Exit status: 0, 1 on failure, 2 for wrong usage.\n";

struct options {
	const char *device;
	const char *set_banks;
	bool watch;
	bool json;
};

/* All that is printed about one NPU. */
struct state {
	struct npu_device_info info;
	struct npu_device_budget budget;
};

static int failed(void)
{
	return tool_error(NAME, "%s", npu_error());
}

/* ---- text ---- */

static void print_budget(const struct npu_device_budget *budget)
{
	printf("  budget: %u of %u banks available (cap %u, reserved %u", budget->banks_available,
	       budget->banks_total, budget->banks_cap, budget->banks_reserved);
	if (budget->banks_usable < budget->banks_total)
		printf(", only %u usable", budget->banks_usable);
	printf("), generation %llu\n", (unsigned long long)budget->generation);
}

static void print_text(struct npu_device *device, const struct state *state)
{
	const struct npu_device_info *info = &state->info;
	struct npu_reservation reservation = { .size = sizeof(reservation) };
	unsigned i;

	printf("%s\n", info->name);
	printf("  configuration: %s, %u x %u MACs, %u-byte atoms\n", info->config,
	       info->channels_per_cycle, info->kernels_per_cycle, info->atom_bytes);
	printf("  buffer: %u banks x %u entries x %u bytes = %u KiB\n", info->banks,
	       info->entries_per_bank, info->entry_bytes,
	       info->banks * info->entries_per_bank * info->entry_bytes / 1024);
	print_budget(&state->budget);
	for (i = 0; npu_device_reservation(device, i, &reservation) == 0; i++) {
		printf("  reservation: %u banks, ", reservation.banks);
		if (reservation.pid)
			printf("process %lld\n", (long long)reservation.pid);
		else
			printf("other processes\n");
	}
}

/* ---- JSON ---- */

static void add_int(struct json_object *object, const char *name, uint64_t value)
{
	json_object_object_add(object, name, json_object_new_int64((int64_t)value));
}

static struct json_object *json_reservations(struct npu_device *device)
{
	struct npu_reservation reservation = { .size = sizeof(reservation) };
	struct json_object *array = json_object_new_array();
	unsigned i;

	for (i = 0; npu_device_reservation(device, i, &reservation) == 0; i++) {
		struct json_object *entry = json_object_new_object();

		add_int(entry, "pid", (uint64_t)reservation.pid);
		add_int(entry, "banks", reservation.banks);
		json_object_array_add(array, entry);
	}
	return array;
}

static void print_json(struct npu_device *device, const struct state *state)
{
	const struct npu_device_budget *budget = &state->budget;
	const struct npu_device_info *info = &state->info;
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "device", json_object_new_string(info->name));
	json_object_object_add(object, "config", json_object_new_string(info->config));
	add_int(object, "banks", info->banks);
	add_int(object, "entries_per_bank", info->entries_per_bank);
	add_int(object, "entry_bytes", info->entry_bytes);
	add_int(object, "channels_per_cycle", info->channels_per_cycle);
	add_int(object, "kernels_per_cycle", info->kernels_per_cycle);
	add_int(object, "atom_bytes", info->atom_bytes);
	add_int(object, "sram_bytes", info->sram_bytes);
	add_int(object, "banks_usable", budget->banks_usable);
	add_int(object, "banks_cap", budget->banks_cap);
	add_int(object, "banks_reserved", budget->banks_reserved);
	add_int(object, "banks_available", budget->banks_available);
	add_int(object, "sram_available", budget->sram_bytes);
	add_int(object, "generation", budget->generation);
	json_object_object_add(object, "reservations", json_reservations(device));
	printf("%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_SPACED));
	json_object_put(object);
}

/* ---- what is asked for ---- */

static int get_state(struct npu_device *device, struct state *state)
{
	state->info.size = sizeof(state->info);
	state->budget.size = sizeof(state->budget);
	if (npu_device_info(device, &state->info) || npu_device_budget(device, &state->budget))
		return failed();
	return TOOL_OK;
}

static int show(struct npu_device *device, const struct options *options)
{
	struct state state;
	int status = get_state(device, &state);

	if (status)
		return status;
	if (options->json)
		print_json(device, &state);
	else
		print_text(device, &state);
	return TOOL_OK;
}

static int watch(struct npu_device *device, const struct options *options)
{
	struct state state;
	int status = get_state(device, &state);

	while (!status && fflush(stdout) == 0 && !ferror(stdout)) {
		if (npu_device_budget_wait(device, state.budget.generation, -1, NULL))
			return failed();
		status = get_state(device, &state);
		if (status)
			break;
		if (options->json)
			print_json(device, &state);
		else
			print_budget(&state.budget);
	}
	return status ? status : tool_error(NAME, "cannot write: %s", strerror(errno));
}

static int set_banks(struct npu_device *device, const char *text)
{
	struct npu_device_info info = { .size = sizeof(info) };
	uint32_t banks;

	if (npu_device_info(device, &info))
		return failed();
	if (!tool_number(text, 1, info.banks, &banks))
		return tool_usage(NAME, "--set-banks: %s has 1 to %u banks, not \"%s\"", info.name,
				  info.banks, text);
	return npu_device_set_cap(device, banks) ? failed() : TOOL_OK;
}

static int one_device(const char *name, const struct options *options)
{
	struct npu_device *device;
	int status = TOOL_OK;

	if (npu_open(name, &device))
		return failed();
	if (options->set_banks)
		status = set_banks(device, options->set_banks);
	if (!status)
		status = show(device, options);
	if (!status && options->watch)
		status = watch(device, options);
	npu_close(device);
	return status;
}

/* One that cannot be opened is told, and does not hide the others. */
static int all_devices(const struct options *options)
{
	const char *name, *separator = "";
	int status = TOOL_OK, one;
	unsigned i;

	if (options->json)
		printf("[\n");
	for (i = 0; (name = npu_device_name(i)); i++) {
		struct npu_device *device;

		if (npu_open(name, &device)) {
			status = failed();
			continue;
		}
		if (options->json)
			printf("%s", separator);
		separator = ",\n";
		one = show(device, options);
		status = one ? one : status;
		npu_close(device);
	}
	if (options->json)
		printf("]\n");
	return status;
}

static int run_tool(int argc, char **argv)
{
	static const struct option known[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "watch", no_argument, NULL, 'w' },
		{ "set-banks", required_argument, NULL, 'b' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	struct options options = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 'd':
			options.device = optarg;
			break;
		case 'w':
			options.watch = true;
			break;
		case 'b':
			options.set_banks = optarg;
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
	/* A change or a watch is of one NPU: the default one where none is named. */
	if (options.device || options.watch || options.set_banks)
		return one_device(options.device, &options);
	return all_devices(&options);
}

int main(int argc, char **argv)
{
	return tool_main(NAME, run_tool, argc, argv);
}
