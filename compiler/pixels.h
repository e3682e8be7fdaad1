/* SPDX-License-Identifier: MIT */
/*
 * Images as cameras and decoders have them, in place of a model's input: the order
 * of bytes, and what a byte stands for, become an operator in front of the graph.
 */
#ifndef NPU_PIXELS_H
#define NPU_PIXELS_H

#include "graph.h"

/**
 * struct npu_pixel_format - where the bytes of an image lie
 * @name: as options have it
 * @hardware: number of CDMA's pixel format
 * @bytes: of a pixel where applications have fewer than the hardware: the rest is put behind; 0: as many
 * @order: which byte of a pixel is channel 0, 1, ...; those of a second plane behind those of the first
 */
struct npu_pixel_format {
	const char *name;
	u32 hardware;
	u8 bytes;
	u8 order[NPU_MAX_PIXEL_CHANNELS];
};

extern const struct npu_pixel_format npu_pixel_formats[NPU_PIXELS_ORDER_COUNT];

/* Bytes of a pixel in the first plane as applications have it, and in the second one: 0: there is none. */
u32 npu_pixel_bytes(enum npu_pixel_order order);
/* In the first plane as the NPU reads it. */
u32 npu_pixel_memory_bytes(enum npu_pixel_order order);
u32 npu_pixel_uv_bytes(enum npu_pixel_order order);

/* The format of that name; NPU_PIXELS_ORDER_COUNT: there is none. */
enum npu_pixel_order npu_pixel_order_find(const char *name);

/**
 * struct npu_pixel_input - an input of a model that is to take an image
 * @input: which input of the graph
 * @order: of its bytes
 * @given: @mean and @scale count; else a byte is what it is without: UINT8 the byte, INT8 the byte less
 *         128, float32 the byte divided by 255
 * @mean, @scale: real = (byte - mean) * scale
 */
struct npu_pixel_input {
	u32 input;
	enum npu_pixel_order order;
	bool given;
	float mean[NPU_MAX_PIXEL_CHANNELS];
	float scale[NPU_MAX_PIXEL_CHANNELS];
};

/**
 * npu_graph_take_pixels() - an input becomes an image: UINT8 [1, height, width, bytes of a pixel];
 *	of two planes [1, 3 * height, width, 1]
 * @graph: changed; after an error it can only be freed
 *
 * The input has to be one image of INT8, UINT8 or float32, channels last, or first where a transpose
 * follows.  A quantisation that follows is done with it.
 *
 * Return: 0, -EINVAL, -ENOTSUP, -ENOMEM with the message in @diag.
 */
int npu_graph_take_pixels(struct npu_graph *graph, const struct npu_pixel_input *pixels,
			  struct npu_diag *diag);

/**
 * npu_graph_even_pixels() - one scale for all channels of an image, as CDMA wants it
 * @graph: of float32; weights of the convolutions that read the image take the difference
 * @pixels: its scales become equal
 * @factor: receives what elements of each channel of the input have to be multiplied with from now on;
 *	all 1 where nothing was changed
 *
 * Nothing is changed where others than convolutions without groups read the image, or where nothing is
 * to be changed.
 *
 * Return: 0; -ENOMEM.
 */
int npu_graph_even_pixels(struct npu_graph *graph, struct npu_pixel_input *pixels,
			  float factor[NPU_MAX_PIXEL_CHANNELS]);

/* Multiplies the elements of each channel of a float32 input that is an image, channels first or last. */
void npu_pixels_scale(const struct npu_graph *graph, u32 input,
		      const float factor[NPU_MAX_PIXEL_CHANNELS], float *data);

/* The byte of pixel (@y, @x) that is channel @c, of an image @width wide and @height high. */
static inline size_t npu_pixel_at(enum npu_pixel_order order, u32 height, u32 width, u32 y, u32 x,
				  u32 c)
{
	u32 byte = npu_pixel_formats[order].order[c], bytes = npu_pixel_bytes(order);
	size_t pixel = (size_t)y * width + x;

	if (byte < bytes)
		return pixel * bytes + byte;
	return (size_t)height * width * bytes + pixel * npu_pixel_uv_bytes(order) + byte - bytes;
}

#endif /* NPU_PIXELS_H */
