// SPDX-License-Identifier: MIT
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "npusim.h"
#include "record.h"

#define MAX_RECORDINGS 1000000

struct npu_recording {
	struct npusim_recorder *script;
	bool reset_done;
	u32 status; /* bits of GLB.S_INTR_STATUS that were seen and not cleared yet */
	u32 chains;
	u32 loaded; /* bit of each region that only is read and was loaded already */
};

static int make_dir(const char *path)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return npu_fail(-errno, "%s: cannot make the directory: %s", path, strerror(errno));
	return 0;
}

/* Makes DIR/CONFIG/TITLE-N with the first N that is free. */
static int make_test_dir(const char *dir, const char *config, const char *title,
			 char path[PATH_MAX])
{
	char above[PATH_MAX];
	int err, i;

	if (snprintf(above, sizeof(above), "%s/%s", dir, config) >= (int)sizeof(above))
		return npu_fail(-ENAMETOOLONG, "%s: name is too long", dir);
	err = make_dir(dir);
	if (!err)
		err = make_dir(above);
	for (i = 0; !err && i < MAX_RECORDINGS; i++) {
		if (snprintf(path, PATH_MAX, "%s/%s-%04d", above, title, i) >= PATH_MAX)
			return npu_fail(-ENAMETOOLONG, "%s: name is too long", dir);
		if (mkdir(path, 0777) == 0)
			return 0;
		if (errno != EEXIST)
			err = npu_fail(-errno, "%s: cannot make the directory: %s", path,
				       strerror(errno));
	}
	return err ? err : npu_fail(-EEXIST, "%s: too many recordings", above);
}

int npu_record_begin(const char *dir, const char *config, const char *title,
		     struct npu_recording **out)
{
	struct npu_recording *recording;
	char path[PATH_MAX];
	int err = make_test_dir(dir, config, title, path);

	if (err)
		return err;
	recording = calloc(1, sizeof(*recording));
	if (!recording)
		return npu_fail(-ENOMEM, "out of memory");
	recording->script = npusim_record_open(path, title, &err);
	if (!recording->script) {
		free(recording);
		return npu_fail(err ? err : -EIO, "%s: cannot record: %s", path,
				strerror(err ? -err : EIO));
	}
	*out = recording;
	return 0;
}

int npu_record_end(struct npu_recording *recording)
{
	int err = npusim_record_close(recording->script);

	free(recording);
	return err ? npu_fail(err, "cannot write the recording: %s", strerror(-err)) : 0;
}

bool npu_record_needs_reset(struct npu_recording *recording)
{
	bool needed = recording && !recording->reset_done;

	if (needed)
		recording->reset_done = true;
	return needed;
}

void npu_record_read(struct npu_recording *recording, u32 reg, u32 value)
{
	if (!recording)
		return;
	if (reg == NVDLA_GLB_S_INTR_STATUS)
		recording->status |= value;
	else if (reg == NVDLA_CDMA_S_CBUF_FLUSH_STATUS && (value & 1))
		npusim_record_poll(recording->script, reg, 1, 1);
}

/*
 * Bits that were seen set and are cleared now become a wait for these bits, which clears them
 * itself: on hardware that is slower or faster than the model the script still holds.
 */
void npu_record_write(struct npu_recording *recording, u32 reg, u32 value)
{
	if (!recording)
		return;
	if (reg != NVDLA_GLB_S_INTR_STATUS || !value || (value & ~recording->status)) {
		npusim_record_write(recording->script, reg, value);
		return;
	}
	npusim_record_wait(recording->script, value);
	recording->status &= ~value;
}

static void record_region(struct npu_recording *recording, u32 i,
			  const struct nvdla_chain_region *extent, const struct npu_buffer *buffer,
			  u64 base)
{
	u64 start = extent->read_start, end = extent->read_end;

	if (!extent->write_end) {
		/* Only read: all of it, once; another chain may read another part. */
		if (recording->loaded & (1u << i))
			return;
		recording->loaded |= 1u << i;
		start = 0;
		end = buffer->bytes;
	} else if (extent->read_end) {
		start = min(start, extent->write_start);
		end = max(end, extent->write_end);
	} else {
		start = extent->write_start;
		end = extent->write_end;
	}
	if (end > start)
		npusim_record_load(recording->script, base + start, (u8 *)buffer->data + start,
				   end - start);
}

void npu_record_chain(struct npu_recording *recording, const struct nvdla_chain *chain,
		      const struct npu_buffer *region, const u64 *base)
{
	char name[32];
	u32 i;

	if (!recording)
		return;
	for (i = 0; i < chain->region_count; i++)
		record_region(recording, i, &chain->region[i], &region[i], base[i]);
	snprintf(name, sizeof(name), "chain%u", recording->chains);
	npusim_record_mark(recording->script, name);
}

void npu_record_results(struct npu_recording *recording, const struct nvdla_chain *chain,
			const struct npu_buffer *region, const u64 *base)
{
	char name[32];
	u32 i;

	if (!recording)
		return;
	snprintf(name, sizeof(name), "chain%u_end", recording->chains);
	npusim_record_mark(recording->script, name);
	for (i = 0; i < chain->region_count; i++) {
		const struct nvdla_chain_region *extent = &chain->region[i];

		if (extent->write_end <= extent->write_start)
			continue;
		snprintf(name, sizeof(name), "chain%u_region%u", recording->chains, i);
		npusim_record_dump(recording->script, name, base[i] + extent->write_start,
				   (u8 *)region[i].data + extent->write_start,
				   extent->write_end - extent->write_start);
	}
	recording->chains++;
}
