// SPDX-License-Identifier: MIT
#include "calibrate.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "npu_compiler.h"
#include "pixels.h"
#include "tensor_file.h"
#include "tool.h"

#define MAX_MODEL ((size_t)1 << 31)
#define MAX_CALIBRATION ((size_t)1 << 28)

/* How many samples of noise. */
#define RANDOM_SAMPLES 8

/* What leaves the default: nearly no element is cut off, and a single outlier does not count. */
#define DEFAULT_PERCENTILE 99.99

/* ---- options ---- */

static int parse_percentile(const char *text, double *percentile, struct npu_diag *diag)
{
	char *end;

	*percentile = DEFAULT_PERCENTILE;
	if (!*text)
		return 0;
	*percentile = *text == ':' ? strtod(text + 1, &end) : 0;
	if (!(*percentile > 50 && *percentile <= 100) || *end)
		return npu_diag_set(diag, -EINVAL,
				    "a percentile is above 50 and at most 100, not '%s'", text + 1);
	return 0;
}

static int parse_options(const struct tool_calibration *asked, struct npu_calibrate_options *o,
			 struct npu_diag *diag)
{
	static const char *const equalise[] = { "depthwise", "all", "none" };
	const char *percentile = npu_range_method_names[NPU_RANGE_PERCENTILE];
	size_t length = strlen(percentile);
	u32 i;

	*o = (struct npu_calibrate_options){ .method = NPU_RANGE_MINMAX,
					     .percentile = DEFAULT_PERCENTILE,
					     .equalise = NPU_EQUALISE_DEPTHWISE };
	for (i = 0; asked->equalise && i < ARRAY_SIZE(equalise); i++)
		if (!strcmp(asked->equalise, equalise[i]))
			break;
	if (i == ARRAY_SIZE(equalise))
		return npu_diag_set(diag, -EINVAL,
				    "equalisation is depthwise, all or none, not '%s'",
				    asked->equalise);
	o->equalise = (enum npu_equalise)i;
	if (!asked->method)
		return 0;
	if (!strncmp(asked->method, percentile, length) &&
	    (!asked->method[length] || asked->method[length] == ':')) {
		o->method = NPU_RANGE_PERCENTILE;
		return parse_percentile(asked->method + length, &o->percentile, diag);
	}
	for (i = 0; i < NPU_RANGE_METHOD_COUNT; i++)
		if (!strcmp(asked->method, npu_range_method_names[i]))
			break;
	o->method = (enum npu_range_method)i;
	if (i == NPU_RANGE_METHOD_COUNT)
		return npu_diag_set(diag, -EINVAL,
				    "a method is minmax, percentile[:P], kl or mse, not '%s'",
				    asked->method);
	return 0;
}

int tool_calibration_check(const struct tool_calibration *asked, struct npu_diag *diag)
{
	struct npu_calibrate_options options;

	return parse_options(asked, &options, diag);
}

/* ---- samples ---- */

struct sample_files {
	const struct npu_graph *graph;
	const struct tool_input_options *options;
	const struct npu_pixel_input *pixels; /* or NULL */
	const float *factor; /* of its channels */
	char **path;
	u32 count;
};

/* One sample that is damaged would spoil the ranges of all: it is named. */
static int check_finite(const char *path, const struct npu_tensor *tensor, const float *value,
			struct npu_diag *diag)
{
	size_t i;

	for (i = 0; tensor->dtype == NPU_F32 && i < npu_tensor_elements(tensor); i++)
		if (!isfinite(value[i]))
			return npu_diag_set(diag, -EINVAL,
					    "%.200s: element %zu is not a finite number", path, i);
	return 0;
}

static int load_input(const struct sample_files *files, u32 input, const char *path, void *to,
		      struct npu_diag *diag)
{
	const struct npu_tensor *tensor = &files->graph->tensor[files->graph->input[input]];
	/* Both enumerations have the same order. */
	struct npu_tensor_info info = { .size = sizeof(info),
					.name = tensor->name,
					.type = (enum npu_type)tensor->dtype,
					.rank = tensor->rank,
					.bytes = tensor->bytes };
	char text[200];
	void *data;
	int error;

	memcpy(info.shape, tensor->dim, tensor->rank * sizeof(tensor->dim[0]));
	error = tool_load_tensor(path, &info, input, files->options, &data, text);
	if (error)
		return npu_diag_set(diag, error, "%.200s: %s", path, text);
	memcpy(to, data, tensor->bytes);
	free(data);
	error = check_finite(path, tensor, to, diag);
	if (error)
		return error;
	if (files->pixels && files->pixels->input == input)
		/* The weights have taken over what is missing. */
		npu_pixels_scale(files->graph, input, files->factor, to);
	return 0;
}

static int load_files(const struct npu_samples *samples, u32 i, void *const *input,
		      struct npu_diag *diag)
{
	const struct sample_files *files = samples->context;
	const struct npu_graph *graph = files->graph;
	u32 j;
	int error = 0;

	for (j = 0; j < graph->input_count && !error; j++)
		error = load_input(files, j, files->path[i * graph->input_count + j], input[j],
				   diag);
	return error;
}

/* Noise from -1 to 1, the same in every run; indices and the like stay 0. */
static int load_noise(const struct npu_samples *samples, u32 i, void *const *input,
		      struct npu_diag *diag)
{
	const struct npu_graph *graph = samples->context;
	u64 state = 0x9e3779b97f4a7c15u * (i + 1);
	size_t e;
	u32 j;

	for (j = 0; j < graph->input_count; j++) {
		const struct npu_tensor *tensor = &graph->tensor[graph->input[j]];

		for (e = 0; tensor->dtype == NPU_F32 && e < tensor->bytes / sizeof(float); e++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			((float *)input[j])[e] = (float)(state >> 40) / (float)(1 << 23) - 1;
		}
	}
	return 0;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Takes @path over; one that leads nowhere is an error, or the others would make wrong samples. */
static int add_file(struct sample_files *files, char *path, struct npu_diag *diag)
{
	struct stat status;
	int error = stat(path, &status) ? -errno : 0;

	if (error)
		npu_diag_set(diag, error, "%.200s: %s", path, strerror(-error));
	if (!error && S_ISREG(status.st_mode))
		files->path[files->count++] = path;
	else
		free(path);
	return error;
}

static int list_folder(const char *folder, struct sample_files *files, struct npu_diag *diag)
{
	struct dirent **entry;
	int count = scandir(folder, &entry, visible, by_name), i, error = 0;

	if (count < 0) {
		error = -errno;
		return npu_diag_set(diag, error, "%.200s: %s", folder, strerror(-error));
	}
	files->path = calloc((size_t)count + 1, sizeof(*files->path));
	if (!files->path)
		error = npu_diag_set(diag, -ENOMEM, "%.200s: out of memory", folder);
	for (i = 0; i < count; i++) {
		char *path = NULL;

		if (!error && asprintf(&path, "%s/%s", folder, entry[i]->d_name) < 0)
			error = npu_diag_set(diag, -ENOMEM, "%.200s: out of memory", folder);
		else if (!error)
			error = add_file(files, path, diag);
		free(entry[i]);
	}
	free(entry);
	return error;
}

static void free_files(struct sample_files *files)
{
	u32 i;

	for (i = 0; i < files->count; i++)
		free(files->path[i]);
	free(files->path);
}

static int list_samples(const char *source, struct sample_files *files, struct npu_diag *diag)
{
	u32 inputs = files->graph->input_count;
	struct stat status;
	int error = stat(source, &status) ? -errno : 0;

	if (!error && S_ISDIR(status.st_mode)) {
		error = list_folder(source, files, diag);
		if (error)
			return error;
	} else if (!error) {
		files->path = calloc(1, sizeof(*files->path));
		if (files->path)
			files->path[0] = strdup(source);
		files->count = files->path && files->path[0];
		error = files->count ? 0 : -ENOMEM;
	}
	if (error)
		return npu_diag_set(diag, error, "%.200s: %s", source, strerror(-error));
	if (!files->count)
		return npu_diag_set(diag, -EINVAL, "%.200s: there are no samples in it", source);
	if (files->count % inputs)
		return npu_diag_set(diag, -EINVAL,
				    "%.200s: %u files, the model has %u inputs: that is no whole "
				    "number of samples",
				    source, files->count, inputs);
	return 0;
}

/* ---- quantising ---- */

/* Ranges from a file; -ENOENT: it is no calibration file. */
static int read_calibration(const char *path, struct npu_calibration **calibration,
			    struct npu_diag *diag)
{
	struct stat status;
	uint8_t *data;
	size_t bytes, start;
	int error;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return -ENOENT;
	error = tool_read_file(path, MAX_CALIBRATION, &data, &bytes);
	if (error)
		return npu_diag_set(diag, error, "%.200s: %s", path, strerror(-error));
	for (start = 0; start < bytes && strchr(" \t\r\n", data[start]); start++)
		;
	if (start < bytes && data[start] == '{')
		error = npu_calibration_read((const char *)data, bytes, path, calibration, diag);
	else
		error = -ENOENT;
	free(data);
	return error;
}

static int finish(const struct tool_calibration *asked, const struct npu_graph *prepared,
		  const struct npu_calibration *calibration, const struct npu_samples *samples,
		  struct npu_graph **quantised, struct npu_diag *diag)
{
	int error = npu_quantise(prepared, calibration, quantised, diag);

	if (error)
		return error;
	if (asked->save)
		error = npu_calibration_write(calibration, asked->save, diag);
	if (!error && asked->report && samples)
		error = npu_quantise_report(prepared, *quantised, samples, asked->report, diag);
	if (error)
		npu_graph_free(*quantised);
	return error;
}

static int use_file(const struct tool_calibration *asked, struct npu_graph *prepared,
		    const struct npu_calibration *calibration, struct npu_graph **quantised,
		    struct npu_diag *diag)
{
	int error = npu_calibration_equalise(prepared, calibration, diag);

	return error ? error : finish(asked, prepared, calibration, NULL, quantised, diag);
}

static int use_samples(const struct tool_calibration *asked, struct npu_graph *prepared,
		       const struct npu_samples *samples, struct npu_graph **quantised,
		       struct npu_diag *diag)
{
	struct npu_calibrate_options options;
	struct npu_calibration *calibration;
	int error = parse_options(asked, &options, diag);

	if (!error)
		error = npu_calibrate(prepared, samples, &options, &calibration, diag);
	if (error)
		return error;
	error = finish(asked, prepared, calibration, samples, quantised, diag);
	npu_calibration_free(calibration);
	return error;
}

static int quantise(const struct tool_calibration *asked, const struct npu_pixel_input *pixels,
		    const float *factor, struct npu_graph *prepared, struct npu_graph **quantised,
		    struct npu_diag *diag)
{
	struct sample_files files = {
		.graph = prepared, .options = &asked->input, .pixels = pixels, .factor = factor
	};
	struct npu_samples samples = { .count = RANDOM_SAMPLES,
				       .load = load_noise,
				       .context = prepared };
	struct npu_calibration *calibration;
	int error;

	if (asked->random)
		return use_samples(asked, prepared, &samples, quantised, diag);
	error = read_calibration(asked->source, &calibration, diag);
	if (!error) {
		if (asked->method || asked->equalise)
			error = npu_diag_set(diag, -EINVAL,
					     "%.200s: ranges that are given: --method and "
					     "--equalise are for samples",
					     asked->source);
		else
			error = use_file(asked, prepared, calibration, quantised, diag);
		npu_calibration_free(calibration);
		return error;
	}
	if (error != -ENOENT)
		return error;
	error = list_samples(asked->source, &files, diag);
	if (!error) {
		samples = (struct npu_samples){ .count = files.count / prepared->input_count,
						.load = load_files,
						.context = &files };
		error = use_samples(asked, prepared, &samples, quantised, diag);
	}
	free_files(&files);
	return error;
}

static int prepare(const char *path, const struct npu_import_options *import, const uint8_t *data,
		   size_t bytes, struct npu_graph **prepared, struct npu_diag *diag)
{
	struct npu_import_options own = import ? *import : (struct npu_import_options){ 0 };
	struct npu_graph *graph;
	int error;

	own.pixels = NULL;
	error = npu_import(data, bytes, path, &own, &graph, diag);

	if (error)
		return error;
	if (npu_graph_is_float(graph))
		error = npu_quantise_prepare(graph, prepared, diag);
	else
		error = npu_diag_set(diag, -EINVAL,
				     "%.200s: there is nothing to calibrate: nothing in it "
				     "computes with real numbers",
				     path);
	npu_graph_free(graph);
	return error;
}

/* The input becomes an image behind the calibration, whose samples are what the model takes. */
static int quantise_image(const struct tool_calibration *asked, const struct npu_pixel_input *given,
			  struct npu_graph *prepared, struct npu_graph **quantised,
			  struct npu_diag *diag)
{
	struct npu_pixel_input pixels = *given;
	float factor[NPU_MAX_PIXEL_CHANNELS];
	int error = npu_graph_even_pixels(prepared, &pixels, factor);

	if (error)
		return npu_diag_set(diag, error, "out of memory");
	error = quantise(asked, &pixels, factor, prepared, quantised, diag);
	if (error)
		return error;
	error = npu_graph_take_pixels(*quantised, &pixels, diag);
	if (error)
		npu_graph_free(*quantised);
	return error;
}

int tool_calibrate(const char *path, const struct npu_import_options *import,
		   const struct tool_calibration *asked, struct npu_graph **quantised,
		   struct npu_diag *diag)
{
	struct npu_graph *prepared;
	uint8_t *data;
	size_t bytes;
	int error = tool_read_file(path, MAX_MODEL, &data, &bytes);

	if (error)
		return npu_diag_set(diag, error, "%.200s: %s", path, strerror(-error));
	error = prepare(path, import, data, bytes, &prepared, diag);
	free(data);
	if (error)
		return error;
	if (import && import->pixels)
		error = quantise_image(asked, import->pixels, prepared, quantised, diag);
	else
		error = quantise(asked, NULL, NULL, prepared, quantised, diag);
	npu_graph_free(prepared);
	return error;
}
