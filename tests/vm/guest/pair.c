// SPDX-License-Identifier: MIT
#include "pair.h"

static bool load(struct pair *pair)
{
	struct npu_device_info info = { .size = sizeof(info) };
	char path[512], name[128];
	int err;

	shared_model_path(pair->model->name, path);
	err = npu_open(NULL, &pair->npu);
	if (!err)
		err = npu_device_info(pair->npu, &info);
	snprintf(name, sizeof(name), "sim:%s", info.config);
	if (!err)
		err = npu_open(name, &pair->sim);
	if (!err)
		err = npu_model_load(pair->npu, path, NULL, &pair->on_npu);
	if (!err)
		err = npu_model_load(pair->sim, path, NULL, &pair->on_sim);
	return !err;
}

bool pair_open(struct pair *pair, const struct shared_model *model)
{
	memset(pair, 0, sizeof(*pair));
	pair->model = model;
	if (!load(pair)) {
		printf("# %s: %s\n", model->name, npu_error());
		pair_close(pair);
		return false;
	}
	shared_io_make(pair->on_npu, &pair->out);
	return true;
}

void pair_close(struct pair *pair)
{
	unsigned i;

	shared_io_free(&pair->out);
	for (i = 0; i < PAIR_INPUTS; i++)
		shared_io_free(&pair->expect[i]);
	npu_model_free(pair->on_npu);
	npu_model_free(pair->on_sim);
	npu_close(pair->npu);
	npu_close(pair->sim);
	memset(pair, 0, sizeof(*pair));
}

static int run(struct pair *pair, struct npu_model *model, struct shared_io *io, u32 seed)
{
	pair->stats = (struct npu_run_stats){ .size = sizeof(pair->stats) };
	if (!shared_io_fill(pair->model, io, seed))
		return -1;
	return npu_run(model, io->input, io->input_count, io->output, io->output_count,
		       &pair->stats);
}

/* What the simulated device makes of an input. */
static struct shared_io *expected(struct pair *pair, u32 input)
{
	struct shared_io *io = &pair->expect[input];

	if (!pair->known[input]) {
		shared_io_make(pair->on_sim, io);
		if (run(pair, pair->on_sim, io, input))
			return NULL;
		pair->known[input] = true;
	}
	return io;
}

bool pair_run(struct pair *pair, u32 n)
{
	const struct shared_io *expect = expected(pair, n % PAIR_INPUTS);
	unsigned i;

	if (!expect || run(pair, pair->on_npu, &pair->out, n % PAIR_INPUTS)) {
		printf("# %s: %s\n", pair->model->name, npu_error());
		return false;
	}
	for (i = 0; i < pair->out.output_count; i++)
		if (memcmp(pair->out.output[i].data, expect->output[i].data,
			   pair->out.output[i].bytes)) {
			printf("# %s: output %u differs\n", pair->model->name, i);
			return false;
		}
	return true;
}

const struct shared_model *pair_model(const char *name)
{
	size_t i;

	for (i = 0; i < SHARED_MODEL_COUNT; i++)
		if (!strcmp(shared_models[i].name, name))
			return &shared_models[i];
	return NULL;
}
