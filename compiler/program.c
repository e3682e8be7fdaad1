// SPDX-License-Identifier: MIT
/* From a file to a planned program, and from one plan to the next. */
#include "pixels.h"
#include "program.h"
#include "output_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static u64 now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (u64)time.tv_sec * 1000000000u + (u64)time.tv_nsec;
}

struct npu_budget npu_budget_full(const struct nvdla_config *config)
{
	return (struct npu_budget){
		.banks = config->banks,
		.entry_bytes = config->entry_bytes,
		.entries = config->entries,
	};
}

u32 npu_program_cpu_steps(const struct npu_program *program)
{
	u32 i, steps = 0;

	for (i = 0; i < program->step_count; i++)
		steps += program->step[i].cpu;
	return steps;
}

void npu_program_free(struct npu_program *program)
{
	u32 i;

	if (!program)
		return;
	for (i = 0; i < program->step_count; i++)
		free(program->step[i].stream);
	free(program->step);
	npu_plan_free(program->plan);
	npu_net_free(program->net);
	if (program->mapping)
		munmap(program->mapping, program->mapping_bytes);
	free(program);
}

int npu_program_replan(struct npu_program *program, const struct npu_budget *budget,
		       struct npu_diag *diag)
{
	struct npu_plan *old = program->plan, *plan;
	u64 start = now_ns();
	int error;

	error = npu_plan_again(program->net, program->plan, budget, &plan, diag);
	if (error)
		return error;
	program->plan = plan;
	error = npu_emit(program, diag);
	if (error) {
		program->plan = old;
		npu_plan_free(plan);
		return error;
	}
	npu_plan_free(old);
	program->plan_ns = now_ns() - start;
	return 0;
}

/* The identifier of FlatBuffers files lies behind the offset of the root table. */
static bool is_tflite(const void *data, size_t bytes)
{
	return bytes >= 8 && memcmp((const u8 *)data + 4, "TFL3", 4) == 0;
}

/* A layer list starts with its header line. */
static bool is_layer_list(const void *data, size_t bytes)
{
	static const char header[] = "name\top\t";

	return bytes >= sizeof(header) - 1 && memcmp(data, header, sizeof(header) - 1) == 0;
}

/*
 * An ONNX model is a message whose first field is the version of the format, a small number; files
 * have no other sign.
 */
static bool is_onnx(const void *data, size_t bytes)
{
	const u8 *at = data;

	return bytes >= 4 && at[0] == 0x08 && at[1] > 0 && at[1] < 0x80;
}

const struct npu_framework npu_frameworks[] = {
	{ "TensorFlow Lite", is_tflite, npu_import_tflite, npu_tflite_operator, false },
	{ "ONNX", is_onnx, npu_import_onnx, npu_onnx_operator, false },
	{ "Caffe", npu_is_caffe, npu_import_caffe, npu_caffe_layer, true },
};

const u32 npu_framework_count = ARRAY_SIZE(npu_frameworks);

static const struct npu_framework *framework_of(const void *data, size_t bytes)
{
	u32 i;

	for (i = 0; i < npu_framework_count; i++)
		if (npu_frameworks[i].is(data, bytes))
			return &npu_frameworks[i];
	return NULL;
}

/* An option that was not followed would be one that the user believes in. */
static int check_options(const struct npu_framework *framework, const char *name,
			 const struct npu_import_options *options, struct npu_diag *diag)
{
	if (!options || framework->weights_apart || (!options->weights && !options->random_weights))
		return 0;
	return npu_diag_set(diag, -EINVAL,
			    "%s: a %s model has its weights, those of a Caffe network alone can be "
			    "given or made up",
			    name, framework->name);
}

static int import_as(const struct npu_framework *framework, const void *data, size_t bytes,
		     const char *name, const struct npu_import_options *options,
		     struct npu_graph **graph, struct npu_diag *diag)
{
	int error = check_options(framework, name, options, diag);

	if (!error)
		error = framework->import(data, bytes, name, options, graph, diag);

	if (error || !options || !options->pixels)
		return error;
	error = npu_graph_take_pixels(*graph, options->pixels, diag);
	if (error)
		npu_graph_free(*graph);
	return error;
}

int npu_import(const void *data, size_t bytes, const char *name,
	       const struct npu_import_options *options, struct npu_graph **graph,
	       struct npu_diag *diag)
{
	const struct npu_framework *framework = framework_of(data, bytes);

	if (framework)
		return import_as(framework, data, bytes, name, options, graph, diag);
	return npu_diag_set(diag, -EINVAL,
			    "%s: neither a TensorFlow Lite, ONNX or Caffe model nor a compiled "
			    "file nor a layer list",
			    name);
}

enum npu_contents npu_program_contents(const void *data, size_t bytes)
{
	if (npu_file_is_compiled(data, bytes))
		return NPU_CONTENTS_COMPILED;
	return framework_of(data, bytes) ? NPU_CONTENTS_MODEL : NPU_CONTENTS_UNKNOWN;
}

/* The network owns the graph; on an error it is freed here. */
static int compile_graph(struct npu_graph *graph, const struct nvdla_config *config,
			 struct npu_net **net, struct npu_diag *diag)
{
	int error = npu_optimise(graph, config, net, diag);

	if (error)
		npu_graph_free(graph);
	return error;
}

static int compile_model(const void *data, size_t bytes, const char *name,
			 const struct npu_import_options *options,
			 const struct nvdla_config *config, struct npu_net **net,
			 struct npu_diag *diag)
{
	struct npu_graph *graph;
	int error = npu_import(data, bytes, name, options, &graph, diag);

	return error ? error : compile_graph(graph, config, net, diag);
}

static int make_net(const void *data, size_t bytes, const char *name,
		    const struct npu_import_options *options, const struct nvdla_config *config,
		    struct npu_net **net, struct npu_budget *budget, struct npu_diag *diag)
{
	bool compiled = npu_file_is_compiled(data, bytes);

	if (options && (compiled || is_layer_list(data, bytes)) &&
	    (options->input_shapes || options->weights || options->random_weights))
		return npu_diag_set(
			diag, -EINVAL,
			"%s: shapes of inputs and weights can be given for a model, not "
			"for a compiled file or a layer list",
			name);
	if (options && options->pixels && (compiled || is_layer_list(data, bytes)))
		return npu_diag_set(diag, -EINVAL,
				    "%s: only a model's input can become an image, not that of a "
				    "compiled file or a layer list",
				    name);
	if (compiled)
		return npu_file_decode(data, bytes, name, config, net, budget, diag);
	if (!config)
		return npu_diag_set(diag, -EINVAL,
				    "%s: not a compiled file, and no configuration "
				    "to compile it for",
				    name);
	*budget = npu_budget_full(config);
	if (is_layer_list(data, bytes))
		return npu_net_from_tsv(data, bytes, name, config, net, diag);
	return compile_model(data, bytes, name, options, config, net, diag);
}

int npu_program_load_memory(const void *data, size_t bytes, const char *name,
			    const struct npu_import_options *options,
			    const struct nvdla_config *config, const struct npu_budget *budget,
			    struct npu_program **result, struct npu_diag *diag)
{
	struct npu_program *program = calloc(1, sizeof(*program));
	struct npu_budget own = { 0 };
	u64 start = now_ns();
	int error;

	if (!program)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", name);
	error = make_net(data, bytes, name, options, config, &program->net, &own, diag);
	if (!error) {
		program->compile_ns = now_ns() - start;
		error = npu_program_replan(program, budget ? budget : &own, diag);
	}
	if (error) {
		npu_program_free(program);
		return error;
	}
	*result = program;
	return 0;
}

/* Maps a whole file. */
static int map_file(const char *path, void **data, size_t *bytes, struct npu_diag *diag)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	struct stat status;

	if (file < 0)
		return npu_diag_set(diag, -errno, "%s: %s", path, strerror(errno));
	if (fstat(file, &status) < 0)
		error = -errno;
	else if (!S_ISREG(status.st_mode) || status.st_size <= 0)
		error = -EINVAL;
	if (!error) {
		*bytes = (size_t)status.st_size;
		*data = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
		if (*data == MAP_FAILED)
			error = -errno;
	}
	close(file);
	if (error == -EINVAL)
		return npu_diag_set(diag, error, "%s: not a file, or empty", path);
	return error ? npu_diag_set(diag, error, "%s: %s", path, strerror(-error)) : 0;
}

/* The program owns the mapping; on an error it is unmapped here. */
static int load_mapping(void *data, size_t bytes, const char *name,
			const struct npu_import_options *options, const struct nvdla_config *config,
			const struct npu_budget *budget, struct npu_program **program,
			struct npu_diag *diag)
{
	int error =
		npu_program_load_memory(data, bytes, name, options, config, budget, program, diag);

	if (error) {
		munmap(data, bytes);
		return error;
	}
	(*program)->mapping = data;
	(*program)->mapping_bytes = bytes;
	return 0;
}

int npu_program_load(const char *path, const struct npu_import_options *options,
		     const struct nvdla_config *config, const struct npu_budget *budget,
		     struct npu_program **program, struct npu_diag *diag)
{
	size_t bytes = 0;
	void *data = NULL;
	int error = map_file(path, &data, &bytes, diag);

	return error ? error
		     : load_mapping(data, bytes, path, options, config, budget, program, diag);
}

int npu_program_load_copy(const void *data, size_t bytes, const char *name,
			  const struct npu_import_options *options,
			  const struct nvdla_config *config, const struct npu_budget *budget,
			  struct npu_program **program, struct npu_diag *diag)
{
	void *copy;

	if (!bytes)
		return npu_diag_set(diag, -EINVAL, "%s: empty", name);
	copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", name);
	memcpy(copy, data, bytes);
	return load_mapping(copy, bytes, name, options, config, budget, program, diag);
}

int npu_program_compile(struct npu_graph *graph, const struct nvdla_config *config,
			const struct npu_budget *budget, struct npu_program **result,
			struct npu_diag *diag)
{
	struct npu_program *program = calloc(1, sizeof(*program));
	u64 start = now_ns();
	int error;

	if (!program) {
		npu_graph_free(graph);
		return npu_diag_set(diag, -ENOMEM, "out of memory");
	}
	error = compile_graph(graph, config, &program->net, diag);
	program->compile_ns = now_ns() - start;
	if (!error)
		error = npu_program_replan(program, budget, diag);
	if (error) {
		npu_program_free(program);
		return error;
	}
	*result = program;
	return 0;
}

int npu_program_encode(const struct npu_program *program, void **data, size_t *bytes,
		       struct npu_diag *diag)
{
	return npu_file_encode(program->net, &program->plan->budget, data, bytes, diag);
}

int npu_program_save(const struct npu_program *program, const char *path, struct npu_diag *diag)
{
	size_t bytes;
	void *data;
	int error = npu_program_encode(program, &data, &bytes, diag);

	if (error)
		return error;
	error = npu_output_file_save(path, data, bytes);
	free(data);
	return error ? npu_diag_set(diag, error, "%s: %s", path, strerror(-error)) : 0;
}
