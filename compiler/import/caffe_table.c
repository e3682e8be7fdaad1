// SPDX-License-Identifier: MIT
/* Which types of layers are read, and how. */
#include "caffe.h"

#define V1(type) CAFFE__V1_LAYER__LAYER_TYPE__##type
#define ANY NPU_MAX_INPUTS
#define ONE          \
	{            \
		1, 1 \
	}
#define JOINS CAFFE_JOINS
#define BOXES CAFFE_TAKES_BOXES

static const struct caffe_row rows[] = {
	{ "AbsVal", V1(ABSVAL), ONE, ONE, 0, NPU_OP_FUNCTION, caffe_read_unary },
	{ "ArgMax", V1(ARGMAX), ONE, ONE, 0, NPU_OP_ARG_MAX, caffe_read_argmax },
	{ "Axpy", V1(NONE), { 3, 3 }, ONE, 0, NPU_OP_MUL, caffe_read_axpy },
	{ "BNLL", V1(BNLL), ONE, ONE, 0, NPU_OP_FUNCTION, caffe_read_unary },
	{ "BatchNorm", V1(NONE), ONE, ONE, JOINS, NPU_OP_MUL, caffe_read_batch_norm },
	{ "Bias", V1(NONE), { 1, 2 }, ONE, JOINS, NPU_OP_ADD, caffe_read_bias },
	{ "Concat", V1(CONCAT), { 1, ANY }, ONE, BOXES, NPU_OP_CONCAT, caffe_read_concat },
	{ "Convolution", V1(CONVOLUTION), ONE, ONE, 0, NPU_OP_CONV, caffe_read_convolution },
	{ "ConvolutionDepthwise", V1(NONE), ONE, ONE, 0, NPU_OP_CONV, caffe_read_depthwise },
	{ "Crop", V1(NONE), { 2, 2 }, ONE, 0, NPU_OP_SLICE, caffe_read_crop },
	{ "Deconvolution", V1(DECONVOLUTION), ONE, ONE, 0, NPU_OP_TRANSPOSE_CONV,
	  caffe_read_deconvolution },
	{ "DepthwiseConvolution", V1(NONE), ONE, ONE, 0, NPU_OP_CONV, caffe_read_depthwise },
	{ "Dropout", V1(DROPOUT), ONE, ONE, 0, NPU_OP_RESHAPE, caffe_read_same },
	{ "ELU", V1(NONE), ONE, ONE, 0, NPU_OP_FUNCTION, caffe_read_elu },
	{ "Eltwise", V1(ELTWISE), { 2, ANY }, ONE, 0, NPU_OP_ADD, caffe_read_eltwise },
	{ "Exp", V1(EXP), ONE, ONE, JOINS, NPU_OP_FUNCTION, caffe_read_exp },
	{ "Flatten", V1(FLATTEN), ONE, ONE, 0, NPU_OP_RESHAPE, caffe_read_flatten },
	{ "InnerProduct", V1(INNER_PRODUCT), ONE, ONE, 0, NPU_OP_FULLY_CONNECTED,
	  caffe_read_inner_product },
	{ "Interp", V1(NONE), ONE, ONE, 0, NPU_OP_RESIZE_BILINEAR, caffe_read_interp },
	{ "LRN", V1(LRN), ONE, ONE, 0, NPU_OP_LRN, caffe_read_lrn },
	{ "Log", V1(NONE), ONE, ONE, JOINS, NPU_OP_FUNCTION, caffe_read_log },
	{ "MVN", V1(MVN), ONE, ONE, 0, NPU_OP_MUL, caffe_read_mvn },
	{ "Normalize", V1(NONE), ONE, ONE, 0, NPU_OP_MUL, caffe_read_normalize },
	{ "PReLU", V1(NONE), ONE, ONE, 0, NPU_OP_PRELU, caffe_read_prelu },
	{ "Permute", V1(NONE), ONE, ONE, 0, NPU_OP_TRANSPOSE, caffe_read_permute },
	{ "Pooling", V1(POOLING), ONE, ONE, 0, NPU_OP_MAX_POOL, caffe_read_pooling },
	{ "Power", V1(POWER), ONE, ONE, JOINS, NPU_OP_MUL, caffe_read_power },
	{ "ReLU", V1(RELU), ONE, ONE, 0, NPU_OP_RELU, caffe_read_relu },
	{ "ReLU6", V1(NONE), ONE, ONE, 0, NPU_OP_RELU, caffe_read_relu6 },
	{ "Reduction", V1(NONE), ONE, ONE, 0, NPU_OP_MEAN, caffe_read_reduction },
	{ "Reshape", V1(NONE), ONE, ONE, 0, NPU_OP_RESHAPE, caffe_read_reshape },
	{ "Scale", V1(NONE), { 1, 2 }, ONE, JOINS, NPU_OP_MUL, caffe_read_scale },
	{ "ShuffleChannel", V1(NONE), ONE, ONE, 0, NPU_OP_TRANSPOSE, caffe_read_shuffle },
	{ "Sigmoid", V1(SIGMOID), ONE, ONE, 0, NPU_OP_LOGISTIC, caffe_read_unary },
	{ "Slice", V1(SLICE), ONE, { 1, CAFFE_MAX_TOPS }, 0, NPU_OP_SLICE, caffe_read_slice },
	{ "Softmax", V1(SOFTMAX), ONE, ONE, 0, NPU_OP_SOFTMAX, caffe_read_softmax },
	{ "Split", V1(SPLIT), ONE, { 1, CAFFE_MAX_TOPS }, 0, NPU_OP_RESHAPE, caffe_read_same },
	{ "TanH", V1(TANH), ONE, ONE, 0, NPU_OP_TANH, caffe_read_unary },
	{ "Tile", V1(NONE), ONE, ONE, 0, NPU_OP_CONCAT, caffe_read_tile },
	{ "Upsample", V1(NONE), ONE, ONE, 0, NPU_OP_RESIZE_NEAREST, caffe_read_upsample },
};

/* What is no operator, and what is known only to help whoever has the wrong file. */
static const struct caffe_row others[] = {
	{ "Accuracy", V1(ACCURACY), { 0, ANY }, { 0, ANY }, 0, NPU_OP_COUNT, caffe_read_training },
	{ "Data", V1(DATA), { 0, ANY }, { 0, ANY }, 0, NPU_OP_COUNT, caffe_read_data },
	{ "DetectionOutput",
	  V1(NONE),
	  { 3, 5 },
	  ONE,
	  BOXES,
	  NPU_OP_COUNT,
	  caffe_read_detection_output },
	{ "DummyData", V1(DUMMY_DATA), { 0, ANY }, { 0, ANY }, 0, NPU_OP_COUNT, caffe_read_data },
	{ "EuclideanLoss",
	  V1(EUCLIDEAN_LOSS),
	  { 0, ANY },
	  { 0, ANY },
	  0,
	  NPU_OP_COUNT,
	  caffe_read_training },
	{ "HDF5Data", V1(HDF5_DATA), { 0, ANY }, { 0, ANY }, 0, NPU_OP_COUNT, caffe_read_data },
	{ "HDF5Output",
	  V1(HDF5_OUTPUT),
	  { 0, ANY },
	  { 0, ANY },
	  0,
	  NPU_OP_COUNT,
	  caffe_read_training },
	{ "HingeLoss",
	  V1(HINGE_LOSS),
	  { 0, ANY },
	  { 0, ANY },
	  0,
	  NPU_OP_COUNT,
	  caffe_read_training },
	{ "ImageData", V1(IMAGE_DATA), { 0, ANY }, { 0, ANY }, 0, NPU_OP_COUNT, caffe_read_data },
	{ "InfogainLoss",
	  V1(INFOGAIN_LOSS),
	  { 0, ANY },
	  { 0, ANY },
	  0,
	  NPU_OP_COUNT,
	  caffe_read_training },
	{ "Input", V1(NONE), { 0, 0 }, { 1, CAFFE_MAX_TOPS }, 0, NPU_OP_COUNT, caffe_read_input },
	{ "MemoryData",
	  V1(MEMORY_DATA),
	  { 0, 0 },
	  { 1, 2 },
	  0,
	  NPU_OP_COUNT,
	  caffe_read_memory_data },
	{ "PriorBox", V1(NONE), { 2, 2 }, ONE, 0, NPU_OP_COUNT, caffe_read_prior_box },
	{ "Silence", V1(SILENCE), { 1, ANY }, { 0, 0 }, BOXES, NPU_OP_COUNT, caffe_read_silence },
	{ "SoftmaxWithLoss",
	  V1(SOFTMAX_LOSS),
	  { 0, ANY },
	  { 0, ANY },
	  0,
	  NPU_OP_COUNT,
	  caffe_read_training },
	{ "WindowData", V1(WINDOW_DATA), { 0, ANY }, { 0, ANY }, 0, NPU_OP_COUNT, caffe_read_data },
};
const struct caffe_row *caffe_find_row(const char *type)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, type))
			return &rows[i];
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(others[i].name, type))
			return &others[i];
	return NULL;
}

const char *caffe_v1_type(Caffe__V1Layer__LayerType type)
{
	u32 i;

	if (type == V1(NONE))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].v1 == type)
			return rows[i].name;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].v1 == type)
			return others[i].name;
	return NULL;
}

bool npu_caffe_layer(u32 i, struct npu_framework_operator *op)
{
	if (i >= ARRAY_SIZE(rows))
		return false;
	*op = (struct npu_framework_operator){ rows[i].name, "", rows[i].kind };
	return true;
}
