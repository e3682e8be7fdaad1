// SPDX-License-Identifier: MIT
/*
 * Devices that cannot give memory in one large piece: every network gives the same
 * bytes with its weights and activations cut into pieces, no buffer is larger
 * than the device allows, and what cannot be cut is refused by name.
 *
 *	regions_run [COUNT [FIRST SEED]]	of random networks; the real models follow
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/shared_models.h"
#include "internal.h"
#include "random_model.h"

#define DEFAULT_COUNT 120

static char directory[] = "/tmp/regions-run-XXXXXX";

/* What stands in front of the device's own buffer_create. */
static struct {
	const struct npu_device_ops *ops;
	size_t limit;
	size_t largest;
	unsigned buffers, refused;
} memory;

static int limited_create(struct npu_device *device, size_t bytes, enum npu_buffer_use use,
			  struct npu_buffer *buffer)
{
	if (bytes > memory.limit) {
		memory.refused++;
		return npu_fail(-ENOMEM, "no %zu bytes in one piece", bytes);
	}
	memory.buffers++;
	memory.largest = max(memory.largest, bytes);
	return memory.ops->buffer_create(device, bytes, use, buffer);
}

/* What the device says it can have, and what it really has. */
static void limit_device(struct npu_device *device, struct npu_device_ops *own, u64 told,
			 size_t limit)
{
	if (!memory.ops)
		memory.ops = device->ops;
	*own = *memory.ops;
	own->buffer_create = limited_create;
	memory.limit = limit;
	memory.largest = memory.buffers = memory.refused = 0;
	device->ops = own;
	device->region_bytes = told;
}

/* Pages that hold the largest value: with less the plan may have to say no. */
static u64 least_region(const struct npu_model *model)
{
	const struct npu_net *net = model->program->net;
	u64 most = 1;
	u32 i;

	for (i = 0; i < net->value_count; i++)
		most = max(most, net->value[i].bytes);
	return DIV_ROUND_UP(most, (u64)4096) * 4096;
}

static u32 pieces(const struct npu_model *model)
{
	return model->buffer_count[NPU_REGION_WEIGHTS] + model->buffer_count[NPU_REGION_ARENA];
}

static bool run(struct npu_model *model, struct shared_io *io)
{
	return npu_run(model, io->input, io->input_count, io->output, io->output_count, NULL) == 0;
}

static bool same_outputs(const struct shared_io *a, const struct shared_io *b)
{
	unsigned i;

	for (i = 0; i < a->output_count; i++)
		if (memcmp(a->output[i].data, b->output[i].data, a->output[i].bytes))
			return false;
	return true;
}

/* One network with pieces of at most @told bytes, of which the device has @limit. */
static bool run_cut(struct npu_device *device, const char *path, uint32_t banks, u64 told,
		    u64 limit, const struct shared_io *whole, u32 *cut, char *why)
{
	struct npu_model_options options = { .size = sizeof(options), .max_banks = banks };
	struct npu_device_ops own;
	struct npu_model *model = NULL;
	struct shared_io io;
	bool good = false;
	unsigned i;
	int err;

	limit_device(device, &own, told, (size_t)limit);
	err = npu_model_load(device, path, &options, &model);
	*cut = 0;
	if (err) {
		snprintf(why, 256, "%s", npu_error());
		/* Weights of one layer can need larger pieces, or too many, and are named then. */
		good = err == -ENOMEM && strstr(why, "piece");
	} else {
		shared_io_make(model, &io);
		for (i = 0; i < io.input_count; i++)
			memcpy((void *)(uintptr_t)io.input[i].data, whole->input[i].data,
			       io.input[i].bytes);
		good = run(model, &io) && same_outputs(&io, whole) &&
		       memory.largest <= max(told, limit);
		snprintf(why, 256, "%u pieces, the largest of %zu bytes", pieces(model),
			 memory.largest);
		*cut = pieces(model);
		shared_io_free(&io);
	}
	npu_model_free(model);
	limit_device(device, &own, 0, SIZE_MAX);
	device->ops = memory.ops;
	return good;
}

/* The whole network first, then cut at several sizes and budgets; false: a failure was printed. */
static bool try_file(struct npu_device *device, const char *path, const char *name,
		     const struct shared_model *real, struct random *random, u64 *cuts)
{
	static const uint32_t budgets[] = { 0, 12, 6 };
	struct npu_model *model;
	struct shared_io io;
	char why[256] = "";
	bool good = true;
	u64 least;
	u32 cut, i;

	if (npu_model_load(device, path, NULL, &model))
		return real ? tap(false, "%s: %s", name, npu_error()) : true;
	least = least_region(model);
	shared_io_make(model, &io);
	for (i = 0; i < io.input_count; i++)
		shared_random_bytes((void *)(uintptr_t)io.input[i].data, io.input[i].bytes,
				    random_pick(random, 0, 1000) + i);
	good = run(model, &io);
	for (i = 0; good && i < ARRAY_SIZE(budgets); i++) {
		struct npu_model_options options = { .size = sizeof(options),
						     .max_banks = budgets[i] };
		u64 bytes = least + 4096 * random_pick(random, 0, 3);
		struct npu_model *planned;

		if (npu_model_load(device, path, &options, &planned))
			continue; /* too few banks for any plan */
		npu_model_free(planned);
		good = run_cut(device, path, budgets[i], bytes, bytes, &io, &cut, why);
		*cuts += cut > 2;
	}
	/* A device that promises more than it has, and one that has more than it promises. */
	if (good)
		good = run_cut(device, path, 0, 64 * least, least, &io, &cut, why);
	if (good)
		good = run_cut(device, path, 0, 4096, 2 * least, &io, &cut, why);
	if (!good)
		tap(false, "%s: %s", name, why);
	else if (real)
		tap(true, "%s: %s", name, why);
	npu_model_free(model);
	shared_io_free(&io);
	return good;
}

static bool write_file(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");

	if (!file)
		return false;
	return (fwrite(data, 1, bytes, file) == bytes) & (fclose(file) == 0);
}

static void run_random(struct npu_device *device, u64 first, u64 count)
{
	struct random random = { first };
	u64 seed, good = 0, cuts = 0;
	char path[96], name[64];

	for (seed = first; seed < first + count; seed++) {
		struct random_model file;

		snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
		snprintf(path, sizeof(path), "%s/random.tflite", directory);
		if (!random_model_make(seed, &file) || !write_file(path, file.data, file.bytes))
			abort();
		free(file.data);
		good += try_file(device, path, name, NULL, &random, &cuts);
	}
	unlink(path);
	tap(good == count, "%s: %llu of %llu random networks, cut or whole", device->name,
	    (unsigned long long)good, (unsigned long long)count);
	tap(cuts > count / 4, "%s: %llu of these runs had memory in pieces", device->name,
	    (unsigned long long)cuts);
}

static void run_real(struct npu_device *device)
{
	struct random random = { 1 };
	u64 cuts = 0;
	char path[512], name[128];
	u32 i;

	for (i = 0; i < SHARED_MODEL_COUNT; i++) {
		shared_model_path(shared_models[i].name, path);
		snprintf(name, sizeof(name), "%s %s", device->name, shared_models[i].name);
		try_file(device, path, name, &shared_models[i], &random, &cuts);
	}
	tap(cuts > 0, "%s: %llu of these runs had memory in pieces", device->name,
	    (unsigned long long)cuts);
}

/* The error has the value's name and both sizes. */
static void refuse(struct npu_device *device)
{
	struct npu_device_ops own;
	struct npu_model *model = NULL;
	int err;

	limit_device(device, &own, 4096, 16384);
	err = npu_model_load(device, "tools/demo/digits.tflite", NULL, &model);
	tap(err == -ENOMEM && strstr(npu_error(), "in one piece"),
	    "memory only in small pieces: %s", npu_error());
	npu_model_free(model);
	device->ops = memory.ops;
	device->region_bytes = 0;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "sim:nv_small", "sim:nv_large" };
	u64 count = argc > 1 ? strtoull(argv[1], NULL, 0) : DEFAULT_COUNT;
	u64 first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	u32 i;

	if (!mkdtemp(directory))
		return 1;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct npu_device *device;

		if (npu_open(names[i], &device)) {
			tap(false, "%s", npu_error());
			continue;
		}
		refuse(device);
		run_random(device, first, count);
		if (shared_there())
			run_real(device);
		npu_close(device);
	}
	rmdir(directory);
	return tap_end();
}
