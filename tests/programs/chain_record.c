// SPDX-License-Identifier: MIT
/*
 * Chains of the fuzzer as scripts in the format of the golden vectors, for the simulated RTL: what
 * the validator accepts must end there too, with the bytes of the model.
 *
 *	chain_record DIR INPUT...	DIR/<configuration>/chain_<input>/run.nv with its images
 *
 * An input is what fuzz_chain reads.  Inputs that are refused, too large, or whose result depends on
 * time (a task that writes what it reads) are counted and left out.
 * Without arguments it records one chain of its own into a scratch directory, runs the script on the
 * model and removes it again.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/chain_device.h"
#include "../common/chain_tasks.h"

#define MEMORY_BASE 0x80000000ull
#define MEMORY_BYTES (64u << 10)

#define DONE_BITS (3u << NVDLA_INTR_SDP | 3u << NVDLA_INTR_PDP | 3u << NVDLA_INTR_CDP)

/* A device whose registers are written down. */
struct taped {
	struct chain_device dev;
	struct npusim_recorder *rec;
};

static u32 taped_read(void *context, u32 reg)
{
	struct taped *t = context;
	u32 value = npusim_read(t->dev.sim, reg);

	if (!t->rec)
		return value;
	if (reg == NVDLA_CDMA_S_CBUF_FLUSH_STATUS && value)
		npusim_record_poll(t->rec, reg, 1, 1);
	if (reg == NVDLA_GLB_S_INTR_STATUS && (value & DONE_BITS))
		npusim_record_wait(t->rec, value & DONE_BITS);
	return value;
}

static void taped_write(void *context, u32 reg, u32 value)
{
	struct taped *t = context;

	npusim_write(t->dev.sim, reg, value);
	/* The script's wait clears what it waited for. */
	if (t->rec && (reg != NVDLA_GLB_S_INTR_STATUS || value == 0xffffffff))
		npusim_record_write(t->rec, reg, value);
}

static void make_path(const char *path)
{
	if (mkdir(path, 0777) && errno != EEXIST) {
		perror(path);
		exit(2);
	}
}

/* 1: recorded, 0: left out, negative: fails. */
static int record_chain(const char *dir, const char *name, const struct nvdla_config *config,
			const u8 *stream, size_t size, bool same_place)
{
	static u64 storage[8192];
	static struct taped t;
	struct nvdla_io io = { .context = &t, .read = taped_read, .write = taped_write };
	u64 base[NVDLA_CHAIN_MAX_REGIONS];
	struct nvdla_chain chain;
	char path[4096];
	size_t bytes;
	int err;

	if (nvdla_chain_storage_bytes(stream, size) > sizeof(storage) ||
	    nvdla_chain_validate(config, stream, size, storage, sizeof(storage), &chain, NULL))
		return 0;
	t.rec = NULL;
	chain_device_open(&t.dev, config, MEMORY_BASE, MEMORY_BYTES);
	if (!chain_device_place(&t.dev, &chain, same_place, base, &bytes) ||
	    chain_writes_own_input(&chain, base)) {
		chain_device_close(&t.dev);
		return 0;
	}
	snprintf(path, sizeof(path), "%s/%s", dir, config->name);
	make_path(path);
	snprintf(path, sizeof(path), "%s/%s/chain_%s", dir, config->name, name);
	t.rec = npusim_record_open(path, "a chain that the validator accepts", &err);
	if (!t.rec)
		return err;
	chain_device_pattern(t.dev.memory, bytes);
	npusim_record_load(t.rec, MEMORY_BASE, t.dev.memory, bytes);
	nvdla_hw_init(&t.dev.hw, &io, config);
	err = chain_device_run(&t.dev, &chain, base, false);
	npusim_record_dump(t.rec, "memory", MEMORY_BASE, t.dev.memory, bytes);
	if (!err)
		err = npusim_record_close(t.rec);
	else
		npusim_record_close(t.rec);
	chain_device_close(&t.dev);
	return err ? err : 1;
}

static int record_file(const char *dir, const char *path)
{
	static u8 data[1 << 16];
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	FILE *f = fopen(path, "rb");
	size_t size;

	if (!f)
		return -errno;
	size = fread(data, 1, sizeof(data), f);
	fclose(f);
	if (size < 2)
		return 0;
	return record_chain(dir, name, &nvdla_configs[data[0] % nvdla_config_count], data + 2,
			    size - 2, data[1] & 1);
}

/* Removes what the self-test wrote. */
static void remove_files(const char *dir)
{
	struct dirent **entry;
	char path[4096];
	int i, n = scandir(dir, &entry, NULL, NULL);

	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry[i]->d_name);
		if (strcmp(entry[i]->d_name, ".") && strcmp(entry[i]->d_name, "..")) {
			if (entry[i]->d_type == DT_DIR)
				remove_files(path);
			else
				unlink(path);
		}
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	rmdir(dir);
}

/* Two convolutions that overlap and a pooling of what they write. */
static int self_test(void)
{
	struct conv_shape n = { .w = 6, .h = 5, .c = 9, .k = 10, .r = 3, .s = 3 };
	struct pool_shape p = { .w = 4,
				.h = 3,
				.c = 10,
				.kernel_w = 2,
				.kernel_h = 3,
				.stride_w = 2,
				.stride_h = 1,
				.method = 1,
				.out = 0x2000 };
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	struct npusim_replay_options options = { .config = "nv_small", .out = stdout };
	char dir[] = "/tmp/chain_record.XXXXXX", path[64];
	static struct chain_build b;
	u32 passed = 0, failed = 0, i;
	int err;

	if (!mkdtemp(dir))
		return 2;
	chain_begin(&b);
	chain_conv(&b, cfg, &n, 0);
	chain_task_end(&b);
	n.out = 0x400;
	chain_conv(&b, cfg, &n, 1);
	chain_task_end(&b);
	chain_pdp(&b, cfg, &p, 2);
	for (i = 0; i < b.addr_count; i++)
		b.addr[i].region = TASK_OUTPUT;
	chain_task_end(&b);
	chain_end(&b, TASK_REGIONS);
	err = record_chain(dir, "self", cfg, b.data, b.size, false);
	chain_free(&b);
	snprintf(path, sizeof(path), "%s/nv_small/chain_self", dir);
	if (err == 1)
		err = npusim_replay(&options, path, &passed, &failed);
	remove_files(dir);
	if (err || passed != 1 || failed)
		printf("not ok 1 - chain_record (%d)\n", err);
	printf("1..1\n%u passed, %u failed\n", passed, err || failed || !passed);
	return err || failed || !passed;
}

int main(int argc, char **argv)
{
	u32 recorded = 0, left_out = 0, failed = 0;
	int i;

	if (argc == 1)
		return self_test();
	make_path(argv[1]);
	for (i = 2; i < argc; i++) {
		int err = record_file(argv[1], argv[i]);

		if (err < 0)
			fprintf(stderr, "%s: %s\n", argv[i], strerror(-err));
		recorded += err > 0;
		left_out += err == 0;
		failed += err < 0;
	}
	printf("%u recorded, %u left out, %u failed\n", recorded, left_out, failed);
	return failed != 0;
}
