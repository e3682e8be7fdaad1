// SPDX-License-Identifier: MIT
/*
 * CDMA's pixel input: lines of pixels, with the padding of both sides, conversion and means, to
 * consecutive bytes of CBUF.  Source: nvdla/hw, cmod and vmod, CDMA_IMG (pixel formats).
 */
#include "conv.h"

#define F(reg, field) SIM_FIELD(&sim->unit[SIM_CDMA].regs, CDMA, reg, field)
#define SF(reg, field) SIM_SFIELD(&sim->unit[SIM_CDMA].regs, CDMA, reg, field)

/**
 * struct pixel_format - bytes of a pixel in memory and their order in CBUF
 * @bytes: of the first plane; @uv_bytes: of the second plane, 0: none
 * @order: which byte of the pixel becomes element 0, 1, ... (second plane after the first)
 */
struct pixel_format {
	u8 bytes;
	u8 uv_bytes;
	u8 order[4];
};

/* Formats of 8 bits by number; what an INT8 build does not know it takes as bytes in order. */
static const struct pixel_format formats[64] = {
	[0x00] = { 1, 0, { 0 } }, /* R8 */
	[0x0c] = { 4, 0, { 0, 1, 2, 3 } }, /* A8B8G8R8 */
	[0x0d] = { 4, 0, { 2, 1, 0, 3 } }, /* A8R8G8B8 */
	[0x0e] = { 4, 0, { 1, 2, 3, 0 } }, /* B8G8R8A8 */
	[0x0f] = { 4, 0, { 3, 2, 1, 0 } }, /* R8G8B8A8 */
	[0x10] = { 4, 0, { 0, 1, 2, 3 } }, /* X8B8G8R8 */
	[0x11] = { 4, 0, { 2, 1, 0, 3 } }, /* X8R8G8B8 */
	[0x12] = { 4, 0, { 1, 2, 3, 0 } }, /* B8G8R8X8 */
	[0x13] = { 4, 0, { 3, 2, 1, 0 } }, /* R8G8B8X8 */
	[0x1a] = { 4, 0, { 2, 1, 0, 3 } }, /* A8Y8U8V8 */
	[0x1b] = { 4, 0, { 1, 2, 3, 0 } }, /* V8U8Y8A8 */
	[0x1c] = { 1, 2, { 0, 2, 1 } }, /* Y8, U8V8 */
	[0x1d] = { 1, 2, { 0, 1, 2 } }, /* Y8, V8U8 */
};

static struct pixel_format pixel_format(const struct npusim *sim)
{
	static const struct pixel_format plain = { 4, 0, { 0, 1, 2, 3 } };
	const struct pixel_format *f = &formats[F(D_DATAIN_FORMAT, PIXEL_FORMAT)];

	return f->bytes ? *f : plain;
}

/**
 * struct plane - one plane of the picture
 * @base: of the line at hand, aligned to the bus
 * @skip: pixels before the first one of interest
 */
struct plane {
	u64 base;
	u32 bytes; /* of a pixel */
	u32 skip;
};

static struct plane first_plane(const struct npusim *sim, const struct pixel_format *f, u32 row)
{
	u64 align = ~(u64)(sim->config->atom - 1);
	u64 base = (u64)F(D_DAIN_ADDR_HIGH_0, DATAIN_ADDR_HIGH_0) << 32 |
		   F(D_DAIN_ADDR_LOW_0, DATAIN_ADDR_LOW_0);
	u64 stride = F(D_LINE_STRIDE, LINE_STRIDE) & align;

	return (struct plane){ (base & align) + stride * row, f->bytes,
			       F(D_PIXEL_OFFSET, PIXEL_X_OFFSET) };
}

static struct plane second_plane(const struct npusim *sim, const struct pixel_format *f, u32 row)
{
	u64 align = ~(u64)(sim->config->atom - 1);
	u64 base = (u64)F(D_DAIN_ADDR_HIGH_1, DATAIN_ADDR_HIGH_1) << 32 |
		   F(D_DAIN_ADDR_LOW_1, DATAIN_ADDR_LOW_1);
	u64 stride = F(D_LINE_UV_STRIDE, UV_LINE_STRIDE) & align;
	u32 mask = sim->config->atom / f->uv_bytes - 1;

	return (struct plane){ (base & align) + stride * row, f->uv_bytes,
			       F(D_PIXEL_OFFSET, PIXEL_X_OFFSET) & mask };
}

/* Bytes of one line of a plane that are read: whole atoms. */
static u32 plane_bytes(const struct npusim *sim, const struct plane *p)
{
	u32 pixels = F(D_DATAIN_SIZE_0, DATAIN_WIDTH) + 1 + p->skip;

	return DIV_ROUND_UP(pixels * p->bytes, (u32)sim->config->atom) * sim->config->atom;
}

u32 sim_pixel_line_beats(const struct npusim *sim)
{
	struct pixel_format f = pixel_format(sim);
	struct plane a = first_plane(sim, &f, 0);
	u32 bytes = plane_bytes(sim, &a);

	if (f.uv_bytes) {
		struct plane b = second_plane(sim, &f, 0);

		bytes += plane_bytes(sim, &b);
	}
	return bytes;
}

u32 sim_pixel_planes(const struct npusim *sim)
{
	return pixel_format(sim).uv_bytes ? 2 : 1;
}

struct means {
	struct sim_convert cvt;
	s32 mean[4];
	bool is_signed;
};

static struct means pixel_means(const struct npusim *sim)
{
	bool use = F(D_MEAN_FORMAT, MEAN_FORMAT);
	s32 offset = SF(D_CVT_OFFSET, CVT_OFFSET);

	return (struct means){
		.cvt = { .enabled = F(D_CVT_CFG, CVT_EN),
			 .scale = SF(D_CVT_SCALE, CVT_SCALE),
			 .truncate = F(D_CVT_CFG, CVT_TRUNCATE) },
		.mean = { use ? SF(D_MEAN_GLOBAL_0, MEAN_RY) : offset,
			  use ? SF(D_MEAN_GLOBAL_0, MEAN_GU) : offset,
			  use ? SF(D_MEAN_GLOBAL_1, MEAN_BV) : offset,
			  use ? SF(D_MEAN_GLOBAL_1, MEAN_AX) : offset },
		.is_signed = F(D_DATAIN_FORMAT, PIXEL_SIGN_OVERRIDE),
	};
}

/* Put @bytes into CBUF from slice entry @index on, a whole entry at a time. */
static void store_bytes(struct npusim *sim, const s8 *from, u32 bytes, u32 index, u32 size)
{
	u32 entry_bytes = sim->config->entry_bytes;

	while (bytes) {
		u32 run = min(bytes, entry_bytes);

		memcpy(sim_cbuf_entry(sim, sim_ring_wrap(index, size)), from, run);
		index++;
		from += run;
		bytes -= run;
	}
}

/* One pixel of both planes as elements in CBUF's order. */
static void convert_pixel(const struct pixel_format *f, const struct means *m, const u8 *first,
			  const u8 *second, s8 *out)
{
	u32 elements = f->bytes + f->uv_bytes, i;

	for (i = 0; i < elements; i++) {
		u32 o = f->order[i];
		u8 raw = o < f->bytes ? first[o] : second[o - f->bytes];

		out[i] = sim_convert(&m->cvt, m->is_signed ? (s8)raw : raw, m->mean[i]);
	}
}

int sim_pixel_fetch(struct npusim *sim, u32 row, u32 index, u32 size)
{
	struct pixel_format f = pixel_format(sim);
	struct means means = pixel_means(sim);
	struct plane a = first_plane(sim, &f, row), b = { 0 };
	u32 elements = f.bytes + f.uv_bytes, width = F(D_DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
	u32 left = F(D_ZERO_PADDING, PAD_LEFT), right = F(D_ZERO_PADDING, PAD_RIGHT);
	u32 a_bytes = plane_bytes(sim, &a), b_bytes = 0, line = (left + width + right) * elements;
	s8 pad = (s8)F(D_ZERO_PADDING_VALUE, PAD_VALUE);
	u8 *raw;
	s8 *out;
	u32 x;

	if (f.uv_bytes) {
		b = second_plane(sim, &f, row);
		b_bytes = plane_bytes(sim, &b);
	}
	raw = sim_scratch(sim, 0, (size_t)a_bytes + b_bytes + line);
	if (!raw)
		return -ENOMEM;
	out = (s8 *)raw + a_bytes + b_bytes;
	sim_dma_read(sim, NPUSIM_CDMA_DATA, a.base, raw, a_bytes);
	if (b_bytes)
		sim_dma_read(sim, NPUSIM_CDMA_DATA, b.base, raw + a_bytes, b_bytes);
	memset(out, pad, line);
	for (x = 0; x < width; x++)
		convert_pixel(&f, &means, raw + (size_t)(a.skip + x) * a.bytes,
			      raw + a_bytes + (size_t)(b.skip + x) * b.bytes,
			      out + (size_t)(left + x) * elements);
	store_bytes(sim, out, line, index, size);
	return 0;
}
