// SPDX-License-Identifier: MIT
/*
 * Layout conversion against memcpy() of the same tensor and against the plain
 * loop that follows the definition of the feature format.
 */
#include "bench.h"
#include "layout.h"

struct work {
	struct npu_cube cube;
	u8 *linear;
	u8 *feature;
};

static void to_feature(void *context)
{
	struct work *work = context;

	npu_layout_to_feature(work->feature, work->linear, &work->cube, true);
	bench_keep(work->feature);
}

static void from_feature(void *context)
{
	struct work *work = context;

	npu_layout_from_feature(work->linear, work->feature, &work->cube, true);
	bench_keep(work->linear);
}

static void plain(void *context)
{
	struct work *work = context;
	const struct npu_cube *cube = &work->cube;
	u32 y, x, c;

	for (y = 0; y < cube->h; y++)
		for (x = 0; x < cube->w; x++)
			for (c = 0; c < cube->c; c++)
				work->feature[(size_t)(c / cube->atom) * cube->surface_stride +
					      (size_t)y * cube->line_stride +
					      (size_t)x * cube->atom + c % cube->atom] =
					work->linear[((size_t)y * cube->w + x) * cube->c + c] ^
					0x80;
	bench_keep(work->feature);
}

static void copy(void *context)
{
	struct work *work = context;

	memcpy(work->feature, work->linear, (size_t)work->cube.h * work->cube.w * work->cube.c);
	bench_keep(work->feature);
}

static void measure(u32 h, u32 w, u32 c, u32 atom)
{
	struct work work = { { h, w, c, atom, w * atom, h * w * atom }, NULL, NULL };
	size_t linear = (size_t)h * w * c;
	double gb = (double)linear / 1e9, memory, loop;
	char name[64];

	work.linear = calloc(1, linear);
	work.feature = calloc(DIV_ROUND_UP(c, atom), (size_t)h * w * atom);
	if (!work.linear || !work.feature)
		abort();
	memory = gb / bench_median(copy, &work);
	loop = gb / bench_median(plain, &work);
	snprintf(name, sizeof(name), "layout %ux%ux%u atom %u to feature", h, w, c, atom);
	bench_report(name, gb / bench_median(to_feature, &work), "GB/s", "plain loop", loop);
	bench_report(name, gb / bench_median(to_feature, &work), "GB/s", "memcpy", memory);
	snprintf(name, sizeof(name), "layout %ux%ux%u atom %u to NHWC", h, w, c, atom);
	bench_report(name, gb / bench_median(from_feature, &work), "GB/s", "plain loop", loop);
	bench_report(name, gb / bench_median(from_feature, &work), "GB/s", "memcpy", memory);
	free(work.linear);
	free(work.feature);
}

int main(void)
{
	static const u32 shape[][3] = {
		{ 224, 224, 3 }, { 320, 320, 1 }, { 112, 112, 64 }, { 28, 28, 100 }
	};
	u32 i, atom;

	for (i = 0; i < ARRAY_SIZE(shape); i++)
		for (atom = 8; atom <= 32; atom *= 2)
			measure(shape[i][0], shape[i][1], shape[i][2], atom);
	return 0;
}
