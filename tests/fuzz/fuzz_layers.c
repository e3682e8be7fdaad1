// SPDX-License-Identifier: MIT
/*
 * Layer lists from anywhere: each is refused with a message, or planned for some
 * budget, with memory as a whole and in pieces, and the plan holds.  The first byte says the configuration, the second the banks.
 */
#include <stdlib.h>
#include <string.h>

#include "npu_compiler.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Larger outputs take long to plan and to verify, and show nothing that small ones do not. */
#define MAX_PLANE (1u << 18)

static bool is_small(const struct npu_net *net)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < net->value_count; i++)
		sum += net->value[i].bytes;
	return sum < 64 * MAX_PLANE && net->layer_count <= 8;
}

static void plan(const struct npu_net *net, u32 banks, u64 region_bytes)
{
	struct npu_budget budget = npu_budget_full(net->config);
	struct npu_diag diag = { "" };
	struct npu_plan *p;

	budget.banks = banks;
	budget.region_bytes = region_bytes;
	if (npu_plan_net(net, &budget, &p, &diag)) {
		if (!diag.text[0])
			abort();
		return;
	}
	if (npu_plan_verify(net, p, &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		abort();
	}
	npu_plan_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct nvdla_config *config;
	struct npu_diag diag = { "" };
	struct npu_net *net;
	char *text;
	u32 pages;

	if (size < 2)
		return 0;
	config = &nvdla_configs[data[0] % nvdla_config_count];
	text = malloc(size - 1);
	if (!text)
		return 0;
	memcpy(text, data + 2, size - 2);
	if (npu_net_from_tsv(text, size - 2, "list", config, &net, &diag)) {
		if (!diag.text[0])
			abort();
	} else {
		/* Names were copied: the text may go. */
		memset(text, 0, size - 2);
		for (pages = 0; pages < 64 && is_small(net); pages = 7 * pages + 1)
			plan(net, data[1] % (config->banks + 1), pages * 4096ull);
		npu_net_free(net);
	}
	free(text);
	return 0;
}
