/* SPDX-License-Identifier: MIT */
/*
 * A file that is there complete or not at all: it is written without a name in the same folder, or, where the
 * file system has no such files, under another one, and gets its own when it is whole.  A file without a name
 * is gone with its process, however that ends.  A file that it replaces keeps its permissions, and one that must
 * not be written is not replaced.  What is no regular file (a device, a pipe) is written in place, and a
 * symbolic link goes on pointing to its target, which has to be there.
 */
#ifndef NPU_OUTPUT_FILE_H
#define NPU_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct npu_output_file - a file between writing and renaming
 * @path: its name in the end, links resolved
 * @nameless: it has none until then, but is open as @fd
 * @temporary: its name until then; NULL where it was written in place, or has none yet
 */
struct npu_output_file {
	char *path;
	char *temporary;
	bool nameless;
	int fd;
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
