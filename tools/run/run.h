/* SPDX-License-Identifier: MIT */
/* What npu-run is made of: a run, its options, what is printed and written of it. */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/tensor_file.h"
#include "npu.h"

#define RUN_NAME "npu-run"
#define RUN_MAX_TENSORS 64
#define RUN_MAX_FIGURES 32

enum run_format { RUN_FORMAT_RAW, RUN_FORMAT_NPY, RUN_FORMAT_NPZ, RUN_FORMAT_COUNT };

struct run_options {
	const char *model;
	const char *input[RUN_MAX_TENSORS];
	unsigned input_count;
	const char *output;
	const char *device;
	const char *labels;
	const char *record;
	const char *input_shapes;
	const char *pixels;
	uint32_t top;
	uint32_t repeat;
	struct tool_input_options read;
	enum run_format format;
	bool format_given;
	bool top_given;
	bool stats;
	bool json;
	bool real;
	bool values;
};

/* Names of classes; all in one block of text. */
struct run_labels {
	char *text;
	char **name;
	size_t count;
};

struct run {
	const struct run_options *options;
	struct npu_device *device;
	struct npu_model *model;
	struct npu_tensor_info in_info[RUN_MAX_TENSORS];
	struct npu_tensor_info out_info[RUN_MAX_TENSORS];
	struct npu_input input[RUN_MAX_TENSORS];
	struct npu_output output[RUN_MAX_TENSORS];
	unsigned input_count, output_count;
	struct run_labels labels;
	struct npu_run_stats stats; /* of the last run */
	uint64_t total_ns; /* of all runs */
	uint32_t replans; /* of all runs */
};

/* Every figure that is printed, once: for people and for JSON. */
struct run_figure {
	const char *name; /* JSON */
	const char *text;
	uint64_t value;
	bool measured; /* not by every kind of NPU: left out where it is zero */
};

/* Reads @path, a name a line, cleaned as tool_clean_text() has it.  The caller frees both pointers. */
int run_load_labels(const char *path, struct run_labels *labels);
const char *run_label(const struct run_labels *labels, uint64_t index); /* or NULL */

/* The largest element below (value, index) in the order of rank; false behind the last. */
bool run_next_best(const struct npu_tensor_info *info, const void *data, double *value,
		   uint64_t *index);
/* Is it a vector of class scores, of which the largest say something? */
bool run_is_ranked(const struct run *run, const struct npu_tensor_info *info);

unsigned run_list_figures(const struct run *run, const struct npu_model_info *model,
			  struct run_figure figure[RUN_MAX_FIGURES]);

void run_print_outputs(const struct run *run);
void run_print_stats(const struct run *run, const struct npu_model_info *model);
void run_print_json(const struct run *run, const struct npu_model_info *model);

/* Writes every output to the directory that --output names; a status of tool.h. */
int run_write_outputs(const struct run *run);

#endif
