/* SPDX-License-Identifier: MIT */
/*
 * The compiler as libnpu and the command lines use it: a model file becomes a
 * program, a program can be planned again for another budget, saved and loaded.
 */
#ifndef NPU_COMPILER_H
#define NPU_COMPILER_H

#include "nvdla_chain.h"
#include "plan.h"

/* A piece of memory that a chain names as one of its regions: of which region, and which span. */
struct npu_binding {
	enum npu_region region;
	u32 span;
};

/**
 * struct npu_step - one step of a program: a chain for the NPU or an operator for the CPU
 * @layer: CPU: the layer, or the first one of its unit (struct npu_cpu_unit)
 * @stream, @stream_bytes: NPU: chain stream (uapi/nvdla_chain.h)
 * @first_task, @task_count: NPU: the plan's tasks that the chain holds
 * @binding, @binding_count: NPU: what has to be bound to the chain's regions; the first ones are
 *	always the first spans of enum npu_region's regions
 */
struct npu_step {
	bool cpu;
	u32 layer;
	void *stream;
	u32 stream_bytes;
	u32 first_task;
	u32 task_count;
	struct npu_binding binding[NVDLA_CHAIN_MAX_REGIONS];
	u32 binding_count;
};

/**
 * struct npu_program - a compiled network
 * @net: owns graph, layers and packed weights; the same for every plan
 * @plan: the current plan
 * @step: in order
 * @plan_ns: time that the last planning took, emission included
 */
struct npu_program {
	struct npu_net *net;
	struct npu_plan *plan;
	struct npu_step *step;
	u32 step_count;
	u64 compile_ns;
	u64 plan_ns;
	void *mapping; /* model file, kept mapped while the graph refers to it */
	size_t mapping_bytes;
};

/* The configuration's whole buffer. */
struct npu_budget npu_budget_full(const struct nvdla_config *config);

/**
 * npu_program_load() - a model file (.tflite, .onnx, .prototxt, layer list .tsv) or a compiled file (.npu)
 * @options: of a model; NULL: none
 * @config: target; NULL only for a compiled file, which knows its own
 *
 * Return: 0 or a negative errno with the message in @diag (file, layer, limit).
 */
int npu_program_load(const char *path, const struct npu_import_options *options,
		     const struct nvdla_config *config, const struct npu_budget *budget,
		     struct npu_program **program, struct npu_diag *diag);

/**
 * npu_import() - a model of a framework as a graph
 * @data, @bytes: the file's contents, by which its format is known; they must outlive the graph
 * @options: NULL: none
 *
 * Return: 0, -EINVAL, -ENOTSUP, -ENOMEM.
 */
int npu_import(const void *data, size_t bytes, const char *name,
	       const struct npu_import_options *options, struct npu_graph **graph,
	       struct npu_diag *diag);

/* The same from memory, e.g. for fuzzers; @data must outlive the program. */
int npu_program_load_memory(const void *data, size_t bytes, const char *name,
			    const struct npu_import_options *options,
			    const struct nvdla_config *config, const struct npu_budget *budget,
			    struct npu_program **program, struct npu_diag *diag);

enum npu_contents {
	NPU_CONTENTS_UNKNOWN,
	NPU_CONTENTS_MODEL, /* of a framework, with weights */
	NPU_CONTENTS_COMPILED, /* compiled file of any version */
};

/* What a file is by its first bytes; a layer list, which cannot run, is unknown. */
enum npu_contents npu_program_contents(const void *data, size_t bytes);

/* npu_program_load_memory() of a copy of @data, which the program owns. */
int npu_program_load_copy(const void *data, size_t bytes, const char *name,
			  const struct npu_import_options *options,
			  const struct nvdla_config *config, const struct npu_budget *budget,
			  struct npu_program **program, struct npu_diag *diag);

/* From a verified graph, which the program owns then; it is freed on an error. */
int npu_program_compile(struct npu_graph *graph, const struct nvdla_config *config,
			const struct npu_budget *budget, struct npu_program **program,
			struct npu_diag *diag);

/* Steps of the CPU; the others are chains. */
u32 npu_program_cpu_steps(const struct npu_program *program);

/* Plans again for another budget; on failure the old plan stays. Touches no weight. */
int npu_program_replan(struct npu_program *program, const struct npu_budget *budget,
		       struct npu_diag *diag);

/* A compiled file's contents, to be freed by the caller. */
int npu_program_encode(const struct npu_program *program, void **data, size_t *bytes,
		       struct npu_diag *diag);

/* Writes a compiled file; a partial file is never left behind. */
int npu_program_save(const struct npu_program *program, const char *path, struct npu_diag *diag);

void npu_program_free(struct npu_program *program);

/**
 * npu_supported_ops() - what the NPU does of each operator, and of each framework's operators
 * @config: of this configuration; NULL: of all
 * @json: as JSON; else as text in Markdown
 *
 * Made of the tables that the importers and the optimiser use.  Return: 0 or -ENOMEM.
 */
int npu_supported_ops(const struct nvdla_config *config, bool json, FILE *out);

/**
 * npu_emit() - IR3 to chain streams: fills the program's steps from its plan
 */
int npu_emit(struct npu_program *program, struct npu_diag *diag);

#endif /* NPU_COMPILER_H */
