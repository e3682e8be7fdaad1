// SPDX-License-Identifier: MIT
/*
 * Speed of the device model's direct convolution: GMAC/s through the whole model (registers to
 * memory), against a plain reference loop and the compiler's best vector loop in the same run.
 */
#include "bench.h"
#include "npusim.h"

#define INPUT 0x0ull
#define WEIGHTS 0x1000000ull
#define OUTPUT 0x4000000ull
#define MEMORY_BYTES 0x8000000ull

struct shape {
	const char *config;
	u32 c, h, w, k, r, s;
};

static const struct shape shapes[] = {
	{ "nv_small", 64, 28, 28, 64, 3, 3 },	{ "nv_small", 128, 14, 14, 128, 3, 3 },
	{ "nv_small", 256, 14, 14, 256, 1, 1 }, { "nv_small_256", 128, 14, 14, 128, 3, 3 },
	{ "nv_large", 128, 28, 28, 128, 3, 3 }, { "nv_large", 256, 14, 14, 512, 1, 1 },
};

static u8 *memory;

static int mem_read(void *context, u64 addr, void *buf, size_t len)
{
	if (addr > MEMORY_BYTES || len > MEMORY_BYTES - addr)
		return -EFAULT;
	memcpy(buf, memory + addr, len);
	return 0;
}

static int mem_write(void *context, u64 addr, const void *buf, size_t len)
{
	if (addr > MEMORY_BYTES || len > MEMORY_BYTES - addr)
		return -EFAULT;
	memcpy(memory + addr, buf, len);
	return 0;
}

static u32 round_up(u32 n, u32 to)
{
	return (n + to - 1) / to * to;
}

/* Registers of one convolution with "same" padding, as a driver would write them. */
static void program(struct npusim *sim, const struct nvdla_config *cfg, const struct shape *p,
		    u32 group)
{
	u32 pad_y = p->r / 2, pad_x = p->s / 2, a = cfg->atom;
	u32 per_entry = cfg->entry_bytes / a, surfaces = round_up(p->c, a) / a;
	u32 eps = round_up(surfaces, per_entry) / per_entry * p->w;
	u32 data_banks = round_up(eps * p->h, cfg->entries) / cfg->entries;
	u32 kernel_bytes = p->c * p->r * p->s;
	u32 weight_bytes = round_up(kernel_bytes * p->k, cfg->entry_bytes);
	u32 size = (p->h - 1) << 16 | (p->w - 1);
	u32 bank = (cfg->banks - data_banks - 1) << 16 | (data_banks - 1);
	const struct {
		u32 reg, value;
	} list[] = {
		{ NVDLA_SDP_S_POINTER, group },
		{ NVDLA_SDP_D_DATA_CUBE_WIDTH, p->w - 1 },
		{ NVDLA_SDP_D_DATA_CUBE_HEIGHT, p->h - 1 },
		{ NVDLA_SDP_D_DATA_CUBE_CHANNEL, p->k - 1 },
		{ NVDLA_SDP_D_DST_BASE_ADDR_LOW, OUTPUT },
		{ NVDLA_SDP_D_DST_LINE_STRIDE, p->w * a },
		{ NVDLA_SDP_D_DST_SURFACE_STRIDE, p->w * p->h * a },
		{ NVDLA_SDP_D_DP_BS_CFG, 0x53 },
		{ NVDLA_SDP_D_DP_BN_CFG, 0x53 },
		{ NVDLA_SDP_D_DP_EW_CFG, 0x1 },
		{ NVDLA_SDP_D_FEATURE_MODE_CFG, 1 },
		{ NVDLA_SDP_D_DST_DMA_CFG, 1 },
		{ NVDLA_SDP_D_CVT_SCALE, 1 },
		{ NVDLA_SDP_D_CVT_SHIFT, 10 },
		{ NVDLA_CDMA_S_POINTER, group },
		{ NVDLA_CSC_S_POINTER, group },
		{ NVDLA_CMAC_A_S_POINTER, group },
		{ NVDLA_CMAC_B_S_POINTER, group },
		{ NVDLA_CACC_S_POINTER, group },
		{ NVDLA_CDMA_D_MISC_CFG, 0 },
		{ NVDLA_CDMA_D_DATAIN_FORMAT, 0 },
		{ NVDLA_CDMA_D_DATAIN_SIZE_0, size },
		{ NVDLA_CDMA_D_DATAIN_SIZE_1, p->c - 1 },
		{ NVDLA_CDMA_D_DAIN_RAM_TYPE, 1 },
		{ NVDLA_CDMA_D_DAIN_ADDR_LOW_0, INPUT },
		{ NVDLA_CDMA_D_LINE_STRIDE, p->w * a },
		{ NVDLA_CDMA_D_SURF_STRIDE, p->w * p->h * a },
		{ NVDLA_CDMA_D_ENTRY_PER_SLICE, eps - 1 },
		{ NVDLA_CDMA_D_WEIGHT_SIZE_0, kernel_bytes - 1 },
		{ NVDLA_CDMA_D_WEIGHT_SIZE_1, p->k - 1 },
		{ NVDLA_CDMA_D_WEIGHT_RAM_TYPE, 1 },
		{ NVDLA_CDMA_D_WEIGHT_ADDR_LOW, WEIGHTS },
		{ NVDLA_CDMA_D_WEIGHT_BYTES, weight_bytes },
		{ NVDLA_CDMA_D_CVT_SCALE, 1 },
		{ NVDLA_CDMA_D_BANK, bank },
		{ NVDLA_CSC_D_MISC_CFG, 0 },
		{ NVDLA_CSC_D_DATAIN_SIZE_EXT_0, size },
		{ NVDLA_CSC_D_DATAIN_SIZE_EXT_1, p->c - 1 },
		{ NVDLA_CSC_D_ENTRY_PER_SLICE, eps - 1 },
		{ NVDLA_CSC_D_WEIGHT_SIZE_EXT_0, (p->r - 1) << 16 | (p->s - 1) },
		{ NVDLA_CSC_D_WEIGHT_SIZE_EXT_1, (p->k - 1) << 16 | (p->c - 1) },
		{ NVDLA_CSC_D_WEIGHT_BYTES, weight_bytes },
		{ NVDLA_CSC_D_DATAOUT_SIZE_0, size },
		{ NVDLA_CSC_D_DATAOUT_SIZE_1, p->k - 1 },
		{ NVDLA_CSC_D_ATOMICS, p->w * p->h - 1 },
		{ NVDLA_CSC_D_RELEASE, p->h - 1 },
		{ NVDLA_CSC_D_ZERO_PADDING, pad_y << 16 | pad_x },
		{ NVDLA_CSC_D_BANK, bank },
		{ NVDLA_CMAC_A_D_MISC_CFG, 0 },
		{ NVDLA_CMAC_B_D_MISC_CFG, 0 },
		{ NVDLA_CACC_D_MISC_CFG, 0 },
		{ NVDLA_CACC_D_DATAOUT_SIZE_0, size },
		{ NVDLA_CACC_D_DATAOUT_SIZE_1, p->k - 1 },
		{ NVDLA_SDP_D_OP_ENABLE, 1 },
		{ NVDLA_CACC_D_OP_ENABLE, 1 },
		{ NVDLA_CMAC_A_D_OP_ENABLE, 1 },
		{ NVDLA_CMAC_B_D_OP_ENABLE, 1 },
		{ NVDLA_CSC_D_OP_ENABLE, 1 },
		{ NVDLA_CDMA_D_OP_ENABLE, 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		npusim_write(sim, list[i].reg, list[i].value);
}

/* The plain loop: what one would write without thinking of speed. */
static double reference_rate(const struct shape *p)
{
	u32 rows = 4, y, x, k, c, r, s;
	const s8 *in = (const s8 *)memory, *wt = (const s8 *)memory + WEIGHTS;
	volatile s32 sink;
	double t = bench_seconds();

	for (k = 0; k < 4; k++)
		for (y = 0; y < rows; y++)
			for (x = 0; x < p->w; x++) {
				s32 sum = 0;

				for (c = 0; c < p->c; c++)
					for (r = 0; r < p->r; r++)
						for (s = 0; s < p->s; s++)
							sum += in[(c * p->h + y + r) * p->w + x +
								  s] *
							       wt[((k * p->c + c) * p->r + r) *
									  p->s +
								  s];
				sink = sum;
			}
	(void)sink;
	return 4.0 * rows * p->w * p->c * p->r * p->s / (bench_seconds() - t) / 1e9;
}

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O3")))
#endif
#if defined(__x86_64__)
__attribute__((target_clones("arch=cascadelake", "avx2", "default")))
#endif
s32 vector_loop(const s16 *a, const s16 *b, u32 n);

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O3")))
#endif
#if defined(__x86_64__)
__attribute__((target_clones("arch=cascadelake", "avx2", "default")))
#endif
s32 vector_loop(const s16 *a, const s16 *b, u32 n)
{
	s32 sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* The sum of products over arrays in the first-level cache. */
static double vector_rate(void)
{
	static s16 a[2048], b[2048];
	u32 i, n = 200000;
	volatile s32 sink;
	double t = bench_seconds();

	for (i = 0; i < n; i++)
		sink = vector_loop(a, b, ARRAY_SIZE(a));
	(void)sink;
	return (double)n * ARRAY_SIZE(a) / (bench_seconds() - t) / 1e9;
}

static int bench(const struct shape *p, double vector)
{
	const struct nvdla_config *cfg = nvdla_config_find(p->config);
	struct npusim_options options = { .config = cfg };
	struct npusim_memory mem = { NULL, mem_read, mem_write, NULL };
	struct npusim *sim = npusim_create(&options, &mem);
	double macs = (double)p->c * p->h * p->w * p->k * p->r * p->s, t, rate, reference;
	u32 i, n = (u32)(1e9 / macs) + 1;

	if (!sim)
		return 1;
	t = bench_seconds();
	for (i = 0; i < n; i++) {
		program(sim, cfg, p, i & 1);
		do {
			if (!npusim_wait(sim)) {
				fprintf(stderr, "hang: %s\n", npusim_diagnosis(sim));
				npusim_destroy(sim);
				return 1;
			}
			rate = npusim_read(sim, NVDLA_GLB_S_INTR_STATUS);
			npusim_write(sim, NVDLA_GLB_S_INTR_STATUS, UINT32_MAX);
		} while (!((u32)rate & 3));
	}
	rate = macs * n / (bench_seconds() - t) / 1e9;
	reference = reference_rate(p);
	printf("%-12s %4ux%ux%u k%u %ux%u: %6.1f GMAC/s, plain loop %.2f (ratio %.1f), "
	       "vector loop %.1f (ratio %.2f)\n",
	       p->config, p->c, p->h, p->w, p->k, p->r, p->s, rate, reference, rate / reference,
	       vector, rate / vector);
	npusim_destroy(sim);
	return 0;
}

int main(void)
{
	double vector = vector_rate();
	u32 i;
	int failed = 0;

	memory = malloc(MEMORY_BYTES);
	if (!memory)
		return 1;
	srand(1);
	for (i = 0; i < 0x2000000; i++)
		memory[i] = (u8)rand();
	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		failed |= bench(&shapes[i], vector);
	free(memory);
	return failed;
}
