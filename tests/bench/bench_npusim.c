// SPDX-License-Identifier: MIT
/*
 * Speed of the device model's direct convolution: GMAC/s through the whole model (registers to
 * memory), against a plain reference loop and the compiler's best vector loop in the same run.
 */
#include "bench.h"
#include "../common/sim_conv.h"

#define INPUT 0x0
#define WEIGHTS 0x1000000
#define OUTPUT 0x4000000
#define MEMORY_BYTES 0x8000000

struct shape {
	const char *config;
	u32 c, h, w, k, r, s;
};

static const struct shape shapes[] = {
	{ "nv_small", 64, 28, 28, 64, 3, 3 },	{ "nv_small", 128, 14, 14, 128, 3, 3 },
	{ "nv_small", 256, 14, 14, 256, 1, 1 }, { "nv_small_256", 128, 14, 14, 128, 3, 3 },
	{ "nv_large", 128, 28, 28, 128, 3, 3 }, { "nv_large", 256, 14, 14, 512, 1, 1 },
};

/* Time of this process alone: the figures hold on a busy machine too. */
static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

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

/* The plain loop: what one would write without thinking of speed. */
static double reference_rate(const struct shape *p)
{
	u32 rows = 4, y, x, k, c, r, s;
	const s8 *in = (const s8 *)memory, *wt = (const s8 *)memory + WEIGHTS;
	volatile s32 sink;
	double t = cpu_seconds();

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
	return 4.0 * rows * p->w * p->c * p->r * p->s / (cpu_seconds() - t) / 1e9;
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
	double t = cpu_seconds();

	for (i = 0; i < n; i++)
		sink = vector_loop(a, b, ARRAY_SIZE(a));
	(void)sink;
	return (double)n * ARRAY_SIZE(a) / (cpu_seconds() - t) / 1e9;
}

static int bench(const struct shape *p, double vector)
{
	const struct nvdla_config *cfg = nvdla_config_find(p->config);
	struct npusim_options options = { .config = cfg };
	struct npusim_memory mem = { NULL, mem_read, mem_write, NULL };
	struct npusim *sim = npusim_create(&options, &mem);
	double macs = (double)p->c * p->h * p->w * p->k * p->r * p->s, t, rate, reference;
	const struct conv_shape conv = { p->c, p->h,	 p->w, p->k,  p->r,    p->s,
					 1,    p->r / 2, 10,   INPUT, WEIGHTS, OUTPUT };
	u32 i, n = (u32)(1e9 / macs) + 1;

	if (!sim)
		return 1;
	t = cpu_seconds();
	for (i = 0; i < n; i++) {
		conv_start(sim, cfg, &conv, i & 1, cfg->banks - conv_data_banks(cfg, &conv));
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
	rate = macs * n / (cpu_seconds() - t) / 1e9;
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
