// SPDX-License-Identifier: MIT
/* Outputs as files: raw elements, .npy, .npz. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../common/element.h"
#include "../common/tensor_file.h"
#include "../common/tool.h"
#include "output_file.h"
#include "run.h"

static int save(const char *dir, const char *name, const void *data, size_t bytes)
{
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return tool_error(RUN_NAME, "out of memory");
	err = npu_output_file_save(path, data, bytes);
	if (err)
		tool_error(RUN_NAME, "%s: %s", path, strerror(-err));
	free(path);
	return err ? TOOL_FAILED : TOOL_OK;
}

/* Real numbers of an output; NULL: out of memory. */
static float *real_numbers(const struct npu_tensor_info *info, const void *data)
{
	uint64_t count = tool_elements(info), i;
	float *real = calloc(count ? count : 1, sizeof(*real));

	for (i = 0; real && i < count; i++)
		real[i] = (float)tool_real(info, data, i);
	return real;
}

static int write_raw_output(const struct run *run, unsigned output)
{
	const struct npu_tensor_info *info = &run->out_info[output];
	const void *data = run->output[output].data;
	char name[32];
	float *real;
	int status;

	snprintf(name, sizeof(name), "output_%u.bin", output);
	if (!run->options->real)
		return save(run->options->output, name, data, info->bytes);
	real = real_numbers(info, data);
	if (!real)
		return tool_error(RUN_NAME, "no memory for output %u", output);
	status = save(run->options->output, name, real, tool_elements(info) * sizeof(*real));
	free(real);
	return status;
}

static int write_raw(const struct run *run)
{
	int status = TOOL_OK;
	unsigned i;

	for (i = 0; i < run->output_count && !status; i++)
		status = write_raw_output(run, i);
	return status;
}

/* Tensors of one name are told apart by their number. */
static const char *member_name(const struct run *run, unsigned output, char text[32])
{
	const char *name = run->out_info[output].name;
	unsigned i;

	for (i = 0; i < run->output_count; i++)
		if (!*name || (i != output && strcmp(run->out_info[i].name, name) == 0)) {
			snprintf(text, 32, "arr_%u", output);
			return text;
		}
	return name;
}

static int write_npz(const struct run *run, const struct tool_npz_member *npy)
{
	struct tool_npz_member member[RUN_MAX_TENSORS];
	char text[RUN_MAX_TENSORS][32];
	uint8_t *npz;
	size_t bytes;
	unsigned i;
	int status;

	for (i = 0; i < run->output_count; i++) {
		member[i] = npy[i];
		member[i].name = member_name(run, i, text[i]);
	}
	if (tool_npz_encode(member, run->output_count, &npz, &bytes))
		return tool_error(RUN_NAME, "cannot make an .npz of the outputs: out of memory");
	status = save(run->options->output, "outputs.npz", npz, bytes);
	free(npz);
	return status;
}

static int write_npy(const struct run *run, const struct tool_npz_member *npy)
{
	char name[32];
	unsigned i;

	for (i = 0; i < run->output_count; i++) {
		snprintf(name, sizeof(name), "output_%u.npy", i);
		if (save(run->options->output, name, npy[i].npy, npy[i].bytes))
			return TOOL_FAILED;
	}
	return TOOL_OK;
}

static int write_numpy(const struct run *run)
{
	struct tool_npz_member npy[RUN_MAX_TENSORS] = { 0 };
	int status = TOOL_OK;
	unsigned i;

	for (i = 0; i < run->output_count && !status; i++) {
		uint8_t *data;

		if (tool_npy_encode(&run->out_info[i], run->output[i].data, run->options->real,
				    &data, &npy[i].bytes))
			status = tool_error(RUN_NAME, "no memory for output %u", i);
		else
			npy[i].npy = data;
	}
	if (!status)
		status = run->options->format == RUN_FORMAT_NPZ ? write_npz(run, npy)
								: write_npy(run, npy);
	while (i--)
		free((void *)(uintptr_t)npy[i].npy);
	return status;
}

int run_write_outputs(const struct run *run)
{
	const char *dir = run->options->output;

	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		return tool_error(RUN_NAME, "%s: %s", dir, strerror(errno));
	return run->options->format == RUN_FORMAT_RAW ? write_raw(run) : write_numpy(run);
}
