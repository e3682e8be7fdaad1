/* SPDX-License-Identifier: MIT */
/*
 * A file that is there complete or not at all: it is written under another name in the same
 * folder, then renamed.  What is no regular file (a device, a pipe) is written in place, and a
 * symbolic link goes on pointing to its target.
 */
#ifndef NPU_OUTPUT_FILE_H
#define NPU_OUTPUT_FILE_H

#include <stddef.h>

/**
 * struct npu_output_file - a file between writing and renaming
 * @path: its name in the end, links resolved
 * @temporary: its name until then; NULL where it was written in place
 */
struct npu_output_file {
	char *path;
	char *temporary;
};

/*
 * The three return 0 or a negative errno.  write: on an error nothing is left, and nothing need be
 * dropped.  finish: frees @file in every case.  save: write and finish.
 */
int npu_output_file_write(struct npu_output_file *file, const char *path, const void *data,
			  size_t bytes);
int npu_output_file_finish(struct npu_output_file *file);
int npu_output_file_save(const char *path, const void *data, size_t bytes);

/* Removes what was written under the temporary name. */
void npu_output_file_drop(struct npu_output_file *file);

#endif /* NPU_OUTPUT_FILE_H */
