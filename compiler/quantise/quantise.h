/* SPDX-License-Identifier: MIT */
/*
 * Post-training quantisation: a graph of float32 tensors becomes the integer graph
 * that the optimiser takes (Documentation/calibration.md).
 *
 *	npu_quantise_prepare()   a copy that is easier to quantise
 *	npu_calibrate()          ranges of its tensors over samples, or npu_calibration_read()
 *	npu_quantise()           INT8 features and weights, INT32 biases
 *	npu_quantise_report()    signal to quantisation noise, layer by layer
 */
#ifndef NPU_QUANTISE_H
#define NPU_QUANTISE_H

#include <stdio.h>

#include "graph.h"

/* How a range is chosen from what a tensor's elements were. */
enum npu_range_method {
	NPU_RANGE_MINMAX, /* all of them */
	NPU_RANGE_PERCENTILE, /* all but a share at each end */
	NPU_RANGE_KL, /* least relative entropy of the distributions before and after */
	NPU_RANGE_MSE, /* least mean squared error */
	NPU_RANGE_METHOD_COUNT
};

extern const char *const npu_range_method_names[NPU_RANGE_METHOD_COUNT];

/* Which neighbouring convolutions share their channels' ranges out. */
enum npu_equalise { NPU_EQUALISE_DEPTHWISE, NPU_EQUALISE_ALL, NPU_EQUALISE_NONE };

/**
 * struct npu_calibrate_options - how ranges are found
 * @percentile: of NPU_RANGE_PERCENTILE: per cent of the elements inside, at each end
 */
struct npu_calibrate_options {
	enum npu_range_method method;
	double percentile;
	enum npu_equalise equalise;
};

/**
 * struct npu_samples - inputs that are typical of a network
 * @count: how many
 * @load: fills @input (a buffer of the tensor's bytes for each input of the graph) with sample @i;
 *	0 or a negative errno with the message in @diag
 */
struct npu_samples {
	u32 count;
	int (*load)(const struct npu_samples *samples, u32 i, void *const *input,
		    struct npu_diag *diag);
	void *context;
};

/**
 * struct npu_range - what is known about the elements of one tensor
 * @name: of the tensor, or of the operator that computes it
 * @min, @max: range to be covered
 * @scale, @zero: where @scale is not 0: the mapping itself, @min and @max do not count
 * @channels: of @mean
 * @mean: for each index of the last dimension, for bias correction; NULL: not known
 * @equalise_count, @equalise: what the channels were divided by; NULL: nothing
 */
struct npu_range {
	const char *name;
	float min, max;
	float scale;
	s32 zero;
	u32 channels;
	float *mean;
	u32 equalise_count;
	float *equalise;
};

/**
 * struct npu_calibration - ranges by name
 * @method: name of the method, or where they come from
 * @samples: how many samples were seen
 */
struct npu_calibration {
	struct npu_arena arena;
	const char *method;
	u32 samples;
	struct npu_range *range;
	u32 count;
	u32 capacity;
};

/* Whether an operator computes in float32, so that there is something to calibrate. */
bool npu_graph_is_float(const struct npu_graph *graph);

/**
 * npu_quantise_prepare() - a copy without activations and scales of their own
 * @graph: stays as it is; file contents that it refers to are copied
 *
 * Activations behind an operator are fused into it; multiplications and additions of a constant
 * for each channel are folded into the convolution in front.
 *
 * Return: 0 or -ENOMEM.
 */
int npu_quantise_prepare(const struct npu_graph *graph, struct npu_graph **prepared,
			 struct npu_diag *diag);

/**
 * npu_calibrate() - ranges of all tensors over @samples
 * @prepared: becomes the equalised graph
 * @calibration: free with npu_calibration_free()
 *
 * The same samples in the same order give the same ranges.
 *
 * Return: 0, -EINVAL for values that are no numbers, -ENOTSUP for an operator that cannot be
 * computed, -ENOMEM, or what @samples->load returned.
 */
int npu_calibrate(struct npu_graph *prepared, const struct npu_samples *samples,
		  const struct npu_calibrate_options *options, struct npu_calibration **calibration,
		  struct npu_diag *diag);

/* Does to another prepared copy of the same graph what equalisation did for @calibration. */
int npu_calibration_equalise(struct npu_graph *prepared, const struct npu_calibration *calibration,
			     struct npu_diag *diag);

/**
 * npu_quantise() - the integer graph
 * @prepared: after equalisation
 * @calibration: has a range for each tensor that needs one
 * @quantised: receives the graph, which refers to nothing of @prepared
 *
 * Inputs and outputs stay float32: the first and the last step convert.  Tensors of @prepared
 * have the same indices in @quantised.
 *
 * Return: 0, -EINVAL with the layer's name where there is no range for it, -ENOMEM.
 */
int npu_quantise(const struct npu_graph *prepared, const struct npu_calibration *calibration,
		 struct npu_graph **quantised, struct npu_diag *diag);

/* Prints a row for each layer: how far the integer graph's values are from the float graph's. */
int npu_quantise_report(const struct npu_graph *prepared, const struct npu_graph *quantised,
			const struct npu_samples *samples, FILE *out, struct npu_diag *diag);

/* The range of that name, or NULL. */
const struct npu_range *npu_calibration_find(const struct npu_calibration *calibration,
					     const char *name);

/* What a tensor is called in calibrations: its name, with its number where others have it too. */
const char *npu_calibration_name(struct npu_arena *arena, const struct npu_graph *graph,
				 u32 tensor);

/* An empty one; NULL when out of memory. */
struct npu_calibration *npu_calibration_new(void);

/* One more range, zero but for its name, which has to live in the arena; NULL: out of memory. */
struct npu_range *npu_calibration_add(struct npu_calibration *calibration, const char *name);

void npu_calibration_free(struct npu_calibration *calibration);

/**
 * npu_calibration_read() - a calibration from JSON text
 * @text, @bytes: our own format, or a table of the NVDLA compiler (scale, or min and max, by layer)
 * @name: of the file, for messages
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int npu_calibration_read(const char *text, size_t bytes, const char *name,
			 struct npu_calibration **calibration, struct npu_diag *diag);

/* As JSON; 0 or a negative errno. */
int npu_calibration_write(const struct npu_calibration *calibration, const char *path,
			  struct npu_diag *diag);

#endif /* NPU_QUANTISE_H */
