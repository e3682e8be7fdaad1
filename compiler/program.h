/* SPDX-License-Identifier: MIT */
/* Compiled files (.npu): a network for one configuration, with its graph and the budget of its plan. */
#ifndef NPU_PROGRAM_H
#define NPU_PROGRAM_H

#include "npu_compiler.h"

/**
 * struct npu_framework - a format of models
 * @name: the framework's
 * @is: whether a file is one, by its contents
 * @import: as npu_import_tflite()
 * @list: the operators that it reads, as npu_tflite_operator()
 * @weights_apart: weights are in a file of their own, which options may name
 */
struct npu_framework {
	const char *name;
	bool (*is)(const void *data, size_t bytes);
	int (*import)(const void *data, size_t bytes, const char *file,
		      const struct npu_import_options *options, struct npu_graph **graph,
		      struct npu_diag *diag);
	bool (*list)(u32 i, struct npu_framework_operator *op);
	bool weights_apart;
};

/* All of them; the one place that knows which there are. */
extern const struct npu_framework npu_frameworks[];
extern const u32 npu_framework_count;

#define NPU_FILE_MAGIC 0x0a55504eu /* "NPU\n" */
#define NPU_FILE_VERSION 6u

/* Whether the contents are a compiled file of any version. */
bool npu_file_is_compiled(const void *data, size_t bytes);

/**
 * npu_file_decode() - a compiled file's network and budget
 * @data, @bytes: contents, 8-byte aligned; weights and constants stay there
 * @name: for messages
 * @config: the file's must be this one; NULL: any
 *
 * Every offset and count is checked, and what was read is verified as if it had just been made.
 * Return: 0, -EINVAL for a damaged file, -ENOTSUP for another version or configuration, -ENOMEM.
 */
int npu_file_decode(const void *data, size_t bytes, const char *name,
		    const struct nvdla_config *config, struct npu_net **net,
		    struct npu_budget *budget, struct npu_diag *diag);

/**
 * npu_file_encode() - the reverse
 * @data, @bytes: receive the contents, to be freed by the caller
 */
int npu_file_encode(const struct npu_net *net, const struct npu_budget *budget, void **data,
		    size_t *bytes, struct npu_diag *diag);

#endif /* NPU_PROGRAM_H */
