/* SPDX-License-Identifier: MIT */
/*
 * A float model with what npuc's options say about calibration becomes an integer
 * graph.
 */
#ifndef TOOL_CALIBRATE_H
#define TOOL_CALIBRATE_H

#include "quantise/quantise.h"
#include "tensor_file.h"

/**
 * struct tool_calibration - what was asked for
 * @source: folder of samples, one sample, or a calibration file; NULL: none
 * @input: how samples are read
 * @random: samples of noise
 * @method: "minmax", "percentile", "percentile:P", "kl" or "mse"; NULL: the default
 * @equalise: "depthwise", "all" or "none"; NULL: the default
 * @save: calibration file to write; NULL: none
 * @report: where the table of signal to quantisation noise goes, if there are samples; NULL: none is made
 */
struct tool_calibration {
	const char *source;
	struct tool_input_options input;
	bool random;
	const char *method;
	const char *equalise;
	const char *save;
	FILE *report;
};

/* Whether @method and @equalise have values that they take: 0, or -EINVAL with the message in @diag. */
int tool_calibration_check(const struct tool_calibration *asked, struct npu_diag *diag);

/**
 * tool_calibrate() - quantises a model
 * @path: a model with float32 arithmetic
 * @import: what its file leaves open
 * @quantised: free with npu_graph_free()
 *
 * Samples of a folder are its files in the order of their names (C locale), hidden ones left out; of a
 * model with n inputs n files one after the other are a sample.
 *
 * Return: 0 or a negative errno with the message in @diag.
 */
int tool_calibrate(const char *path, const struct npu_import_options *import,
		   const struct tool_calibration *asked, struct npu_graph **quantised,
		   struct npu_diag *diag);

#endif /* TOOL_CALIBRATE_H */
