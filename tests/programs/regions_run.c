// SPDX-License-Identifier: MIT
/*
 * Devices that cannot give memory in one large piece: every network gives the same
 * bytes with its weights and activations cut into pieces, and its values into bands
 * where they are larger, no buffer is larger than the device allows, and what cannot
 * be cut is refused by name.
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
#define PAGE 4096u

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

/* What the compiler may say, and nothing else. */
static struct refusal {
	const char *text, *what;
	unsigned seen;
} refusals[] = {
	{ "the weights of one pass need", "weights of one kernel group" },
	{ "no row suits all of its layers",
	  "a value of parts or of CPU steps without a row to cut it at" },
	{ "cannot cut", "a layer that cannot cut its values" },
	{ "more pieces of memory than the", "a layer of more pieces than a chain names" },
};

/* What the runs were like. */
static struct {
	unsigned runs, pieces, banded, refused;
} seen;

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

static u64 whole_pages(u64 bytes)
{
	return max(DIV_ROUND_UP(bytes, (u64)PAGE), (u64)1) * PAGE;
}

static u64 largest_value(const struct npu_model *model)
{
	const struct npu_net *net = model->program->net;
	u64 most = 1;
	u32 i;

	for (i = 0; i < net->value_count; i++)
		most = max(most, net->value[i].bytes);
	return most;
}

static u32 pieces(const struct npu_model *model)
{
	return model->weights.count + model->lane[0].arena.count;
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

static bool known_refusal(int err, const char *why)
{
	u32 i;

	for (i = 0; err == -ENOMEM && i < ARRAY_SIZE(refusals); i++)
		if (strstr(why, refusals[i].text)) {
			refusals[i].seen++;
			seen.refused++;
			return true;
		}
	return false;
}

static bool verify(const struct npu_model *model, char *why)
{
	struct npu_diag diag = { "" };
	bool good = !npu_plan_verify(model->program->net, model->program->plan, &diag);

	if (!good)
		snprintf(why, 256, "%.250s", diag.text);
	return good;
}

/* One network with pieces of at most @told bytes, of which the device has @limit. */
static bool run_cut(struct npu_device *device, const char *path, uint32_t banks, u64 told,
		    u64 limit, const struct shared_io *whole, char *why)
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
	seen.runs++;
	if (err) {
		snprintf(why, 256, "pieces of %llu bytes: %.200s", (unsigned long long)limit,
			 npu_error());
		good = known_refusal(err, why);
	} else if (verify(model, why)) {
		shared_io_make(model, &io);
		for (i = 0; i < io.input_count; i++)
			memcpy((void *)(uintptr_t)io.input[i].data, whole->input[i].data,
			       io.input[i].bytes);
		good = run(model, &io) && same_outputs(&io, whole) &&
		       memory.largest <= max(told, limit);
		snprintf(why, 256, "%u pieces, the largest of %zu bytes, %u values in bands",
			 pieces(model), memory.largest, model->program->plan->cut_values);
		seen.pieces += pieces(model) > NPU_REGION_COUNT;
		seen.banded += model->program->plan->cut_values > 0;
		shared_io_free(&io);
	}
	npu_model_free(model);
	limit_device(device, &own, 0, SIZE_MAX);
	device->ops = memory.ops;
	return good;
}

/* All sizes of pieces for one budget, from the largest value's down to a quarter of it. */
static bool try_sizes(struct npu_device *device, const char *path, uint32_t banks, u64 largest,
		      struct random *random, const struct shared_io *whole, char *why)
{
	const u64 sizes[] = {
		whole_pages(largest) + PAGE * random_pick(random, 0, 3),
		whole_pages(largest / 2),
		whole_pages(largest / 4),
		whole_pages(random_pick(random, 1, (u32)largest)),
	};
	bool good = true;
	u32 i;

	for (i = 0; good && i < ARRAY_SIZE(sizes); i++)
		good = run_cut(device, path, banks, sizes[i], sizes[i], whole, why);
	return good;
}

/* The whole network first, then cut at several sizes and budgets; false: a failure was printed. */
static bool try_file(struct npu_device *device, const char *path, const char *name, bool real,
		     struct random *random)
{
	static const uint32_t budgets[] = { 0, 12, 6 };
	struct npu_model *model;
	struct shared_io io;
	char why[256] = "";
	bool good = true;
	u64 largest;
	u32 i;

	if (npu_model_load(device, path, NULL, &model))
		return real ? tap(false, "%s: %s", name, npu_error()) : true;
	largest = largest_value(model);
	shared_io_make(model, &io);
	for (i = 0; i < io.input_count; i++)
		shared_random_bytes((void *)(uintptr_t)io.input[i].data, io.input[i].bytes,
				    random_pick(random, 0, 1000) + i);
	good = run(model, &io);
	for (i = 0; good && i < ARRAY_SIZE(budgets); i++) {
		struct npu_model_options options = { .size = sizeof(options),
						     .max_banks = budgets[i] };
		struct npu_model *planned;

		if (npu_model_load(device, path, &options, &planned))
			continue; /* too few banks for any plan */
		npu_model_free(planned);
		good = try_sizes(device, path, budgets[i], largest, random, &io, why);
	}
	/* A device that promises more than it has, and one that has more than it promises. */
	if (good)
		good = run_cut(device, path, 0, 64 * whole_pages(largest), whole_pages(largest),
			       &io, why);
	if (good)
		good = run_cut(device, path, 0, PAGE, 2 * whole_pages(largest), &io, why);
	if (!good)
		tap(false, "%s: %s", name, why);
	npu_model_free(model);
	shared_io_free(&io);
	return good;
}

static void clear_seen(void)
{
	u32 i;

	memset(&seen, 0, sizeof(seen));
	for (i = 0; i < ARRAY_SIZE(refusals); i++)
		refusals[i].seen = 0;
}

/* Shares are told of any number of networks, and demanded of enough of them. */
static void report_seen(const struct npu_device *device, const char *what, bool enough)
{
	u32 i;

	tap(!enough || (seen.pieces > seen.runs / 4 && seen.banded > seen.runs / 8 &&
			seen.refused < seen.runs / 2),
	    "%s, %s: of %u runs %u had memory in pieces, %u values in bands, %u were refused",
	    device->name, what, seen.runs, seen.pieces, seen.banded, seen.refused);
	for (i = 0; i < ARRAY_SIZE(refusals); i++)
		printf("# refused %u: %s\n", refusals[i].seen, refusals[i].what);
}

static bool write_file(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");
	bool good;

	if (!file)
		return false;
	good = fwrite(data, 1, bytes, file) == bytes;
	return fclose(file) == 0 && good;
}

static void run_random(struct npu_device *device, u64 first, u64 count)
{
	struct random random = { first };
	u64 seed, good = 0;
	char path[96], name[64];

	clear_seen();
	for (seed = first; seed < first + count; seed++) {
		struct random_model file;

		snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
		snprintf(path, sizeof(path), "%s/random.tflite", directory);
		if (!random_model_make(seed, &file) || !write_file(path, file.data, file.bytes))
			abort();
		free(file.data);
		good += try_file(device, path, name, false, &random);
	}
	unlink(path);
	tap(good == count, "%s: %llu of %llu random networks, cut or whole", device->name,
	    (unsigned long long)good, (unsigned long long)count);
	report_seen(device, "random networks", count >= DEFAULT_COUNT);
}

static void run_real(struct npu_device *device)
{
	struct random random = { 1 };
	char path[512], name[128];
	u32 i;

	clear_seen();
	for (i = 0; i < SHARED_MODEL_COUNT; i++) {
		unsigned banded = seen.banded, refused = seen.refused;

		shared_model_path(shared_models[i].name, path);
		snprintf(name, sizeof(name), "%s %s", device->name, shared_models[i].name);
		if (try_file(device, path, name, true, &random))
			tap(true, "%s: %u runs with values in bands, %u refused", name,
			    seen.banded - banded, seen.refused - refused);
	}
	report_seen(device, "real networks", true);
}

/* A compiled file whose first input takes images; false: it cannot be made. */
static bool compile_image(struct npu_device *device, const char *model, const char *pixels,
			  const char *path)
{
	struct npu_model_options options = { .size = sizeof(options), .pixels = pixels };
	struct npu_model *made = NULL;
	bool good = false;
	void *data;
	size_t bytes;

	if (!npu_model_load(device, model, &options, &made) &&
	    made->program->net->layer[0].pixels.used &&
	    !npu_model_save_memory(made, &data, &bytes)) {
		good = write_file(path, data, bytes);
		free(data);
	}
	npu_model_free(made);
	return good;
}

/* The image is the largest value: it is cut. */
static void run_images(struct npu_device *device)
{
	static const char *const orders[] = { "rgba", "nv24" };
	struct random random = { 1 };
	char model[512], path[96], name[128];
	u32 i;

	shared_model_path("mlperf_vww_mbv1_025_96_int8", model);
	snprintf(path, sizeof(path), "%s/image.npu", directory);
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		snprintf(name, sizeof(name), "%s images of %s", device->name, orders[i]);
		clear_seen();
		if (!compile_image(device, model, orders[i], path))
			tap(false, "%s: %s", name, npu_error());
		else if (try_file(device, path, name, true, &random))
			tap(seen.banded > 0, "%s: %u runs with values in bands, %u refused", name,
			    seen.banded, seen.refused);
	}
	unlink(path);
}

/* The error has the layer's name. */
static void refuse(struct npu_device *device)
{
	struct npu_device_ops own;
	struct npu_model *model = NULL;
	int err;

	limit_device(device, &own, PAGE, PAGE);
	err = npu_model_load(device, "tools/demo/digits.tflite", NULL, &model);
	tap(err == -ENOMEM && strstr(npu_error(), "digits: layer "), "memory only in pages: %s",
	    npu_error());
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
		if (shared_there()) {
			run_real(device);
			run_images(device);
		}
		npu_close(device);
	}
	rmdir(directory);
	return tap_end();
}
