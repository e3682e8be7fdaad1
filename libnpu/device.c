// SPDX-License-Identifier: MIT
/*
 * Devices by name: which kinds there are, and what is the same for all of them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

/* Real devices stand before simulated ones: the first that is there is the default. */
static const struct npu_device_kind *const kinds[] = {
	&npu_device_drm,
	&npu_device_sim,
};

const char *npu_device_name(unsigned index)
{
	unsigned kind, i;
	const char *name;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		for (i = 0; (name = kinds[kind]->name(i)); i++)
			if (index-- == 0)
				return name;
	}
	return NULL;
}

static bool owns(const struct npu_device_kind *kind, const char *name)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(kind->prefix) && kind->prefix[i]; i++)
		if (strncmp(name, kind->prefix[i], strlen(kind->prefix[i])) == 0)
			return true;
	return false;
}

int npu_open(const char *name, struct npu_device **device)
{
	unsigned kind;

	if (!device)
		return npu_fail(-EINVAL, "npu_open: no place for the device");
	*device = NULL;
	if (!name || !*name)
		name = getenv("NPU_DEVICE");
	if (!name || !*name)
		name = npu_device_name(0);
	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++)
		if (owns(kinds[kind], name))
			return kinds[kind]->open(name, device);
	return npu_fail(-ENODEV, "%s: no such NPU", name);
}

void npu_device_get(struct npu_device *device)
{
	atomic_fetch_add(&device->references, 1);
}

void npu_device_put(struct npu_device *device)
{
	if (atomic_fetch_sub(&device->references, 1) == 1)
		device->ops->destroy(device);
}

void npu_close(struct npu_device *device)
{
	if (device)
		npu_device_put(device);
}

static void describe(const struct npu_device *device, struct npu_device_info *info)
{
	const struct nvdla_config *config = device->config;

	*info = (struct npu_device_info){
		.banks = config->banks,
		.entries_per_bank = config->entries,
		.entry_bytes = config->entry_bytes,
		.channels_per_cycle = config->atomic_c,
		.kernels_per_cycle = config->atomic_k,
		.atom_bytes = config->atom,
		.sram_bytes = device->sram_bytes,
		.is_pci = device->pci.valid,
		.pci_domain = device->pci.domain,
		.pci_bus = device->pci.bus,
		.pci_device = device->pci.device,
		.pci_function = device->pci.function,
	};

	snprintf(info->name, sizeof(info->name), "%s", device->name);
	snprintf(info->config, sizeof(info->config), "%s", config->name);
}

int npu_device_info(struct npu_device *device, struct npu_device_info *info)
{
	struct npu_device_info own;
	int err = npu_check_handle(device, "device");

	if (err)
		return err;
	describe(device, &own);
	return npu_copy_out(info, &own, sizeof(own));
}

int npu_device_budget(struct npu_device *device, struct npu_device_budget *budget)
{
	struct npu_device_budget own = { 0 };
	int err = npu_check_handle(device, "device");

	if (!err)
		err = device->ops->budget(device, &own);
	return err ? err : npu_copy_out(budget, &own, sizeof(own));
}

int npu_device_budget_wait(struct npu_device *device, uint64_t generation, int timeout_ms,
			   struct npu_device_budget *budget)
{
	int err = npu_check_handle(device, "device");

	if (!err && budget)
		err = npu_check_size(budget);
	if (err)
		return err;
	err = device->ops->budget_wait(device, generation, timeout_ms);
	if (budget && (!err || err == -ETIMEDOUT)) {
		int read_err = npu_device_budget(device, budget);

		if (read_err)
			return read_err;
	}
	return err == -ETIMEDOUT ? npu_fail(err, "the budget has not changed in %d ms", timeout_ms)
				 : err;
}

int npu_reserve(struct npu_device *device, uint32_t banks)
{
	int err = npu_check_handle(device, "device");

	return err ? err : device->ops->reserve(device, banks);
}

static int check_priority(enum npu_priority priority)
{
	if ((unsigned)priority <= NPU_PRIORITY_HIGH)
		return 0;
	return npu_fail(-EINVAL, "there is no priority %u", (unsigned)priority);
}

int npu_set_priority(struct npu_device *device, enum npu_priority priority)
{
	int err = npu_check_handle(device, "device");

	if (!err)
		err = check_priority(priority);
	return err ? err : device->ops->set_priority(device, priority);
}

static __thread enum npu_priority thread_priority;
static __thread bool thread_has_priority;

int npu_set_thread_priority(enum npu_priority priority)
{
	int err = check_priority(priority);

	if (err)
		return err;
	thread_priority = priority;
	thread_has_priority = true;
	return 0;
}

enum npu_priority npu_thread_priority(enum npu_priority otherwise)
{
	return thread_has_priority ? thread_priority : otherwise;
}

int npu_device_set_cap(struct npu_device *device, uint32_t banks)
{
	int err = npu_check_handle(device, "device");

	return err ? err : device->ops->set_cap(device, banks);
}

int npu_device_reservation(struct npu_device *device, unsigned index,
			   struct npu_reservation *reservation)
{
	struct npu_reservation own = { 0 };
	int err = npu_check_handle(device, "device");

	if (!err)
		err = npu_check_size(reservation);
	if (!err)
		err = device->ops->reservation(device, index, &own);
	if (err == -ENOENT)
		return npu_fail(err, "%s: there is no reservation %u", device->name, index);
	return err ? err : npu_copy_out(reservation, &own, sizeof(own));
}

int npu_device_plan_budget(struct npu_device *device, u32 max_banks, struct npu_budget *budget)
{
	struct npu_device_budget live = { 0 };
	int err = device->ops->budget(device, &live);

	if (err)
		return err;
	*budget = npu_budget_full(device->config);
	budget->banks = live.banks_available;
	if (max_banks && max_banks < budget->banks)
		budget->banks = max_banks;
	budget->sram_bytes = live.sram_bytes;
	budget->generation = live.generation;
	return 0;
}
