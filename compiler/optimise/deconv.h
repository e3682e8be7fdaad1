/* SPDX-License-Identifier: MIT */
/* A transposed convolution, whoever asks for it, as convolutions of its phases. */
#ifndef NPU_DECONV_H
#define NPU_DECONV_H

#include "conv.h"

/**
 * struct npu_deconv - a transposed convolution
 * @op: operator for which it is
 * @window: strides, dilations and padding in front; sizes are those of @kernels
 * @kernels: [K][R][S][C/groups]
 * @weights, @bias, @multiplier, @raw: as struct npu_conv has them
 * @input, @output: values, of which the output has as many pixels as are computed
 */
struct npu_deconv {
	u32 op;
	struct npu_window window;
	struct npu_kernels kernels;
	const struct npu_tensor *weights, *bias;
	double multiplier;
	bool raw;
	u32 input, output;
};

/* Appends its layers, the last of which completes the operator; errors as lowering has them. */
int npu_opt_deconv(struct npu_opt *opt, const struct npu_deconv *deconv);

#endif /* NPU_DECONV_H */
