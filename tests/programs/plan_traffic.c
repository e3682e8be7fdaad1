// SPDX-License-Identifier: MIT
/*
 * Traffic of plans at real sizes: ResNet-50, VGG-16 and MobileNet v1 at every number
 * of banks, and how much the search for them looks at.
 *
 *	plan_traffic		$NPU_SHARED or ../shared holds the layer list and the models
 */
#include <inttypes.h>
#include <stdlib.h>

#include "npu_compiler.h"

#include "../common/shared_models.h"
#include "../common/whole_file.h"

/* ---- topologies ------------------------------------------------------------------- */

static const char header[] = "name\top\tc\th\tw\tk\tr\ts\tsy\tsx\tpt\tpl\tpb\tpr\tdy\tdx\tgroups\n";

/* A convolution with "same" padding, as the networks here have it. */
static void put_conv(FILE *out, const char *name, u32 c, u32 size, u32 k, u32 r, u32 stride,
		     u32 groups)
{
	u32 total = r > stride ? r - stride : 0;

	fprintf(out, "%s\tconv\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t1\t1\t%u\n", name,
		c, size, size, k, r, r, stride, stride, total / 2, total / 2, total - total / 2,
		total - total / 2, groups);
}

static void put_pool(FILE *out, const char *name, u32 c, u32 size)
{
	fprintf(out, "%s\tpool_max\t%u\t%u\t%u\t%u\t2\t2\t2\t2\t0\t0\t0\t0\t1\t1\t1\n", name, c,
		size, size, c);
}

static void put_fc(FILE *out, const char *name, u32 c, u32 k)
{
	fprintf(out, "%s\tfc\t%u\t1\t1\t%u\t1\t1\t1\t1\t0\t0\t0\t0\t1\t1\t1\n", name, c, k);
}

static void put_vgg16(FILE *out)
{
	static const u32 kernels[] = { 64, 128, 256, 512, 512 }, counts[] = { 2, 2, 3, 3, 3 };
	u32 stage, i, c = 3, size = 224;
	char name[32];

	for (stage = 0; stage < 5; stage++, size /= 2) {
		for (i = 0; i < counts[stage]; i++) {
			snprintf(name, sizeof(name), "conv%u_%u", stage + 1, i + 1);
			put_conv(out, name, c, size, kernels[stage], 3, 1, 1);
			c = kernels[stage];
		}
		snprintf(name, sizeof(name), "pool%u", stage + 1);
		put_pool(out, name, c, size);
	}
	put_fc(out, "fc6", 25088, 4096);
	put_fc(out, "fc7", 4096, 4096);
	put_fc(out, "fc8", 4096, 1000);
}

static void put_mobilenet_v1(FILE *out)
{
	static const u32 kernels[] = { 64,  128, 128, 256, 256,	 512, 512,
				       512, 512, 512, 512, 1024, 1024 };
	static const u32 strides[] = { 1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1 };
	u32 i, c = 32, size = 112;
	char name[32];

	put_conv(out, "conv1", 3, 224, 32, 3, 2, 1);
	for (i = 0; i < 13; i++) {
		snprintf(name, sizeof(name), "dw%u", i + 1);
		put_conv(out, name, c, size, c, 3, strides[i], c);
		size /= strides[i];
		snprintf(name, sizeof(name), "pw%u", i + 1);
		put_conv(out, name, c, size, kernels[i], 1, 1, 1);
		c = kernels[i];
	}
	put_fc(out, "fc", 1024, 1001);
}

static char *make_text(void (*put)(FILE *out), size_t *bytes)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);

	if (!out)
		return NULL;
	fputs(header, out);
	put(out);
	fclose(out);
	return text;
}

/* ---- figures ----------------------------------------------------------------------- */

static struct npu_net *net_from(const char *text, size_t bytes, const char *name,
				const struct nvdla_config *config)
{
	struct npu_diag diag = { "" };
	struct npu_net *net = NULL;

	if (npu_net_from_tsv(text, bytes, name, config, &net, &diag))
		tap(false, "%s for %s: %s", name, config->name, diag.text);
	return net;
}

static struct npu_plan *plan_for(const struct npu_net *net, u32 banks, struct npu_diag *diag)
{
	struct npu_budget budget = npu_budget_full(net->config);
	struct npu_plan *plan;

	budget.banks = banks;
	return npu_plan_net(net, &budget, &plan, diag) ? NULL : plan;
}

/* Traffic in bytes for every number of banks from the first legal one up; verified. */
static void test_every_bank(const struct npu_net *net, const char *name, u32 legal_from)
{
	u64 last = UINT64_MAX;
	bool monotone = true, verified = true;
	u32 banks, first = 0;

	for (banks = 1; banks <= net->config->banks; banks++) {
		struct npu_diag diag = { "" };
		struct npu_plan *plan = plan_for(net, banks, &diag);
		u64 bytes;

		if (!plan) {
			monotone = monotone && last == UINT64_MAX;
			continue;
		}
		bytes = npu_cost_bytes(&plan->cost);
		first = first ? first : banks;
		if (bytes > last)
			monotone = false;
		if (npu_plan_verify(net, plan, &diag)) {
			verified = false;
			printf("# %s, %u banks: %s\n", name, banks, diag.text);
		}
		last = bytes;
		printf("# %s on %s, %2u banks: %9.3f MB, %8.3f M cycles, %5u tasks\n", name,
		       net->config->name, banks, (double)bytes / 1e6,
		       (double)plan->cost.cycles / 1e6, plan->task_count);
		npu_plan_free(plan);
	}
	tap(monotone && first, "%s on %s: more banks never move more, at every number of banks",
	    name, net->config->name);
	tap(verified, "%s on %s: every plan passes the verifier", name, net->config->name);
	if (legal_from)
		tap(first == legal_from, "%s on %s: legal from %u banks (%u)", name,
		    net->config->name, legal_from, first);
}

static void test_below(const struct npu_net *net, const char *name, u32 banks, double megabytes)
{
	struct npu_diag diag = { "" };
	struct npu_plan *plan = plan_for(net, banks, &diag);
	double have = plan ? (double)npu_cost_bytes(&plan->cost) / 1e6 : 0;

	tap(plan && have <= megabytes, "%s on %s, %u banks: %.3f MB, at most %.1f", name,
	    net->config->name, banks, have, megabytes);
	npu_plan_free(plan);
}

/* Layers that the hardware's own compiler refuses. */
static void test_vgg_layers(const struct npu_net *net)
{
	struct npu_diag diag = { "" };
	struct npu_plan *plan = plan_for(net, 32, &diag);
	u32 i, planned = 0;

	for (i = 0; plan && i < net->layer_count; i++) {
		const char *name = net->layer[i].name;

		if (strncmp(name, "conv4_", 6) && strncmp(name, "conv5_", 6))
			continue;
		planned += plan->layer[i].task_count > 0;
		printf("# %s: %s, %u tasks, %.3f MB\n", name, plan->layer[i].mode,
		       plan->layer[i].task_count,
		       (double)npu_cost_bytes(&plan->layer[i].cost) / 1e6);
	}
	tap(planned == 6, "VGG-16 conv4_1 to conv5_3 are planned for 32 banks of nv_small");
	npu_plan_free(plan);
}

/* One kernel group of fc6 is larger than most buffers: it is the CPU's there, whatever the budget. */
static void test_vgg_fc6(void)
{
	size_t bytes = 0, i;
	char *text = make_text(put_vgg16, &bytes);

	for (i = 0; text && i < nvdla_config_count; i++) {
		const struct nvdla_config *config = &nvdla_configs[i];
		struct npu_net *net = net_from(text, bytes, "VGG-16", config);
		u64 group = (u64)config->atomic_k * 25088;
		const struct npu_layer *fc6 = NULL;
		u32 j;

		for (j = 0; net && j < net->layer_count; j++)
			if (!strcmp(net->layer[j].name, "fc6"))
				fc6 = &net->layer[j];
		tap(fc6 && (fc6->kind == NPU_LAYER_CONV) == (group < nvdla_cbuf_bytes(config)) &&
			    (fc6->kind == NPU_LAYER_CONV) == !fc6->cpu_reason,
		    "VGG-16 fc6 on %s, a kernel group of %" PRIu64 " bytes: %s", config->name,
		    group, fc6 && fc6->cpu_reason ? fc6->cpu_reason : "on the NPU");
		npu_net_free(net);
	}
	free(text);
}

/* ---- effort ------------------------------------------------------------------------- */

/* What the search looks at for the whole buffer: the same on every machine; bench_compile has the times. */
static void test_effort(const char *path, const char *name, u64 limit)
{
	struct npu_diag diag = { "" };
	struct npu_program *program;
	u64 effort = 0;
	u32 i;

	if (npu_program_load(path, NULL, nvdla_config_find("nv_small"), NULL, &program, &diag)) {
		tap(false, "%s: %s", name, diag.text);
		return;
	}
	for (i = 0; i < program->net->layer_count; i++)
		effort += program->plan->layer[i].effort;
	tap(effort <= limit, "%s: looks at %" PRIu64 " splits, tiles and passes, at most %" PRIu64,
	    name, effort, limit);
	npu_program_free(program);
}

/* ---- all of it ---------------------------------------------------------------------- */

static void test_resnet(const char *shared)
{
	static const struct {
		u32 banks;
		double megabytes;
	} limits[] = { { 32, 50.0 }, { 24, 55.7 }, { 16, 67.8 } };
	const struct nvdla_config *config = nvdla_config_find("nv_small");
	char path[1024];
	size_t bytes, i;
	struct npu_net *net;
	char *text;

	snprintf(path, sizeof(path), "%s/models/structure/resnet50-convs.tsv", shared);
	text = whole_file(path, &bytes);
	if (!text) {
		if (getenv("CI"))
			tap(false, "%s is missing", path);
		else
			printf("ok - ResNet-50 # SKIP %s is missing\n", path);
		return;
	}
	net = net_from(text, bytes, "ResNet-50", config);
	if (net) {
		for (i = 0; i < ARRAY_SIZE(limits); i++)
			test_below(net, "ResNet-50", limits[i].banks, limits[i].megabytes);
		test_every_bank(net, "ResNet-50", 11);
		npu_net_free(net);
	}
	for (i = 1; i < nvdla_config_count; i++) {
		net = net_from(text, bytes, "ResNet-50", &nvdla_configs[i]);
		if (net)
			test_every_bank(net, "ResNet-50", 0);
		npu_net_free(net);
	}
	test_effort(path, "ResNet-50", 400000);
	free(text);
}

static void test_built(const char *name, void (*put)(FILE *out))
{
	size_t bytes = 0, i;
	char *text = make_text(put, &bytes);

	for (i = 0; text && i < nvdla_config_count; i++) {
		struct npu_net *net = net_from(text, bytes, name, &nvdla_configs[i]);

		if (!net)
			continue;
		test_every_bank(net, name, 0);
		if (put == put_vgg16 && !i)
			test_vgg_layers(net);
		npu_net_free(net);
	}
	tap(text, "%s is made", name);
	free(text);
}

static void test_model_efforts(const char *shared)
{
	size_t i;

	for (i = 0; i < SHARED_MODEL_COUNT; i++) {
		char path[1024];
		FILE *file;

		snprintf(path, sizeof(path), "%s/models/tflite/%s.tflite", shared,
			 shared_models[i].name);
		file = fopen(path, "rb");
		if (!file && !getenv("CI")) {
			printf("ok - %s # SKIP %s is missing\n", shared_models[i].name, path);
			continue;
		}
		if (file)
			fclose(file);
		test_effort(path, shared_models[i].name, 25000);
	}
}

int main(void)
{
	const char *shared = shared_root();

	test_resnet(shared);
	test_built("VGG-16", put_vgg16);
	test_vgg_fc6();
	test_built("MobileNet v1", put_mobilenet_v1);
	test_model_efforts(shared);
	return tap_end();
}
