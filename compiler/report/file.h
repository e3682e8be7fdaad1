/* SPDX-License-Identifier: MIT */
/* Files that appear complete or not at all. */
#ifndef NPU_REPORT_FILE_H
#define NPU_REPORT_FILE_H

#include "../diag.h"
#include "../output_file.h"

#include <stddef.h>
#include <stdio.h>

/**
 * struct npu_file - a file that is written in memory first
 * @path: its name in the end
 * @text: where to write
 * @data: what was written to @text
 * @bytes: of @data
 * @written: the file on disk until all of them are there
 */
struct npu_file {
	char *path;
	FILE *text;
	char *data;
	size_t bytes;
	struct npu_output_file written;
};

/* Starts a file; @name is in @dir, or stands alone where @dir is NULL. */
int npu_file_begin(struct npu_file *file, const char *dir, const char *name, struct npu_diag *diag);

/* Writes all files under temporary names, then gives them their own ones, and frees them. */
int npu_files_commit(struct npu_file *files, unsigned int count, struct npu_diag *diag);

/* Frees files and removes what was written of them. */
void npu_files_drop(struct npu_file *files, unsigned int count);

/* Text as the body of HTML or SVG, or of an attribute. */
void npu_put_xml(const char *text, FILE *out);

#endif /* NPU_REPORT_FILE_H */
