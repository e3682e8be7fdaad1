// SPDX-License-Identifier: MIT
#include "split.h"

bool npu_split_fits(const struct npu_net *net, const struct npu_layer *layer)
{
	struct npu_conv_shape shape;
	u32 data, weights;

	/* What contradicts itself is the planner's to tell. */
	return npu_conv_shape(net, layer, false, &shape) ||
	       npu_split_least_banks(net->config, &shape, &data, &weights) <= net->config->banks;
}
