// SPDX-License-Identifier: MIT
/*
 * Weights of each kernel by a symmetric scale of its own; biases in units of input
 * scale times weight scale, corrected by what rounded weights do to the mean.
 */
#include <math.h>

#include "quantise/rewrite.h"

/* Largest weight as stored. */
#define MOST 127

/* Biases stay below: there has to be room for the sum. */
#define MOST_BIAS (1 << 30)

/* Without weights, the scale is what the bias needs. */
#define BIAS_BITS 20

struct kernel {
	const float *real;
	s8 *stored;
	size_t count;
	float scale;
};

static float kernel_scale(const struct kernel *kernel, float bias, float in_scale)
{
	float most = 0, least = fabsf(bias) / in_scale / MOST_BIAS;
	size_t i;

	for (i = 0; i < kernel->count; i++)
		most = max(most, fabsf(kernel->real[i]));
	if (most > 0)
		return max(max(most / MOST, least), 1e-30f);
	return bias != 0 ? max(ldexpf(fabsf(bias) / in_scale, -BIAS_BITS), 1e-30f) : 1;
}

static void store_kernel(const struct kernel *kernel)
{
	size_t i;

	for (i = 0; i < kernel->count; i++) {
		float units = roundf(kernel->real[i] / kernel->scale);

		kernel->stored[i] = (s8)max(min(units, (float)MOST), -(float)MOST);
	}
}

/* By how much rounding moves the mean of what the kernel computes.  Padding counts as input. */
static double mean_error(const struct kernel *kernel, const struct npu_range *input, u32 first,
			 u32 depth)
{
	double error = 0;
	size_t i;

	for (i = 0; i < kernel->count; i++) {
		double difference =
			(double)kernel->stored[i] * (double)kernel->scale - (double)kernel->real[i];

		error += difference * (double)input->mean[(first + i % depth) % input->channels];
	}
	return error;
}

static s32 store_bias(double bias, double unit)
{
	double units = round(bias / unit);

	return (s32)max(min(units, (double)MOST_BIAS), -(double)MOST_BIAS);
}

static bool mean_fits(const struct npu_op *op, const struct npu_tensor *weights,
		      const struct npu_tensor *in, const struct npu_range *input)
{
	u32 channels = in->rank ? in->dim[in->rank - 1] : 1;

	if (!input || !input->mean || input->channels != channels)
		return false;
	return op->kind != NPU_OP_FULLY_CONNECTED || weights->dim[1] % channels == 0;
}

int npu_quantise_weights(struct npu_graph *graph, const struct npu_graph *from,
			 const struct npu_op *op, float in_scale, const struct npu_range *input,
			 u32 index[2])
{
	const struct npu_tensor *weights = npu_op_input(from, op, 1);
	const struct npu_tensor *bias = npu_op_input(from, op, 2);
	u32 kernels = weights->dim[0], depth = weights->dim[weights->rank - 1], k;
	size_t each = npu_tensor_elements(weights) / kernels;
	struct npu_arena *arena = &graph->arena;
	s8 *stored = npu_arena_array(arena, kernels, each);
	s32 *biases = npu_arena_array(arena, kernels, sizeof(*biases));
	s32 *zero = npu_arena_array(arena, kernels, sizeof(*zero));
	float *scale = npu_arena_array(arena, kernels, sizeof(*scale));
	char *weights_name = npu_arena_string(arena, weights->name, strlen(weights->name));
	char *bias_name = npu_arena_printf(arena, "%s/bias", op->name);
	bool correct = mean_fits(op, weights, npu_op_input(from, op, 0), input);

	if (!stored || !biases || !zero || !scale || !weights_name || !bias_name)
		return -ENOMEM;
	for (k = 0; k < kernels; k++) {
		double b = bias ? (double)((const float *)bias->data)[k] : 0;
		struct kernel kernel = { .real = (const float *)weights->data + k * each,
					 .stored = stored + k * each,
					 .count = each };
		u32 first = k / max(kernels / op->groups, 1u) * depth;

		kernel.scale = scale[k] = kernel_scale(&kernel, (float)b, in_scale);
		store_kernel(&kernel);
		if (correct)
			b -= mean_error(&kernel, input, first, depth);
		biases[k] = store_bias(b, (double)in_scale * (double)scale[k]);
	}
	index[0] = npu_graph_add_tensor(graph, weights_name, NPU_I8, weights->rank, weights->dim);
	index[1] = npu_graph_add_tensor(graph, bias_name, NPU_I32, 1, &kernels);
	if (index[0] == NPU_NONE || index[1] == NPU_NONE)
		return -ENOMEM;
	graph->tensor[index[0]].data = stored;
	graph->tensor[index[0]].quant = (struct npu_quant){ kernels, 0, scale, zero };
	graph->tensor[index[1]].data = biases;
	return 0;
}
