// SPDX-License-Identifier: MIT
/*
 * Networks whose memory is not to be had in one piece: libnpu asks the kernel for many small buffers,
 * and binds them to as many regions of its chains.  Outputs are those of the simulated device.
 *
 * vm-test: kernel=packaged iommu=both timeout=300 file=models/tflite,models/golden/tflite
 */
#include "../../common/shared_models.h"
#include "internal.h"
#include "pair.h"

static const struct {
	const char *model;
	u64 region_bytes; /* as if the kernel had said so */
} cases[] = {
	{ "tvm_mnist_int8", 16384 },
	{ "mlperf_ic_resnet8_int8", 32768 },
	{ "mlperf_vww_mbv1_025_96_int8", 65536 },
	{ "coral_mobilenet_v1_025_128_u8", 65536 },
};

static u32 pieces(const struct npu_model *model)
{
	return model->weights.count + model->lane[0].arena.count;
}

static bool run(struct npu_model *model, const struct shared_model *what, struct shared_io *io)
{
	shared_io_make(model, io);
	shared_io_fill(what, io, 0);
	return !npu_run(model, io->input, io->input_count, io->output, io->output_count, NULL);
}

static bool same(const struct shared_io *a, const struct shared_io *b)
{
	u32 i;

	for (i = 0; i < a->output_count; i++)
		if (memcmp(a->output[i].data, b->output[i].data, a->output[i].bytes))
			return false;
	return true;
}

/* Once with the whole budget, once with a quarter of it. */
static void check_runs(struct npu_device *npu, struct npu_model *on_npu, struct npu_model *on_sim,
		       const struct shared_model *what)
{
	struct npu_device_info info = { .size = sizeof(info) };
	struct shared_io out = { 0 }, expect = { 0 };
	u32 part;

	npu_device_info(npu, &info);
	for (part = 1; part <= 4; part *= 4) {
		bool good = !npu_device_set_cap(npu, info.banks / part) &&
			    run(on_npu, what, &out) && run(on_sim, what, &expect);

		tap(good && same(&out, &expect), "%s in %u pieces, 1/%u of the banks: %s",
		    what->name, pieces(on_npu), part, good ? "the same outputs" : npu_error());
		shared_io_free(&out);
		shared_io_free(&expect);
	}
	npu_device_set_cap(npu, info.banks);
}

static void check_case(u32 i)
{
	const struct shared_model *what = pair_model(cases[i].model);
	struct npu_device *npu = NULL, *sim = NULL;
	struct npu_model *on_npu = NULL, *on_sim = NULL;
	char path[512], name[64];

	shared_model_path(what->name, path);
	if (npu_open(NULL, &npu)) {
		tap(false, "the NPU opens: %s", npu_error());
		return;
	}
	tap(npu->region_bytes >= 1 << 20, "the kernel has pieces of %llu bytes",
	    (unsigned long long)npu->region_bytes);
	npu->region_bytes = cases[i].region_bytes;
	snprintf(name, sizeof(name), "sim:%s", npu->config->name);
	if (npu_model_load(npu, path, NULL, &on_npu) || npu_open(name, &sim) ||
	    npu_model_load(sim, path, NULL, &on_sim)) {
		tap(false, "%s loads: %s", what->name, npu_error());
	} else {
		tap(pieces(on_npu) > 2, "%s needs %u pieces", what->name, pieces(on_npu));
		check_runs(npu, on_npu, on_sim, what);
	}
	npu_model_free(on_npu);
	npu_model_free(on_sim);
	npu_close(npu);
	npu_close(sim);
}

int main(void)
{
	u32 i;

	setenv("NPU_SIM_DIR", "-", 1);
	if (!shared_there())
		return 0;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(i);
	return tap_end();
}
