// SPDX-License-Identifier: MIT
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int npu_file_begin(struct npu_file *file, const char *dir, const char *name, struct npu_diag *diag)
{
	*file = (struct npu_file){ 0 };
	if (asprintf(&file->path, "%s%s%s", dir ? dir : "", dir ? "/" : "", name) < 0)
		file->path = NULL;
	else
		file->text = open_memstream(&file->data, &file->bytes);
	if (!file->path || !file->text)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", name);
	return 0;
}

static int write_file(struct npu_file *file, struct npu_diag *diag)
{
	int err = ferror(file->text) ? -ENOMEM : 0;

	if (fclose(file->text) && !err)
		err = -ENOMEM;
	file->text = NULL;
	if (!err)
		err = npu_output_file_write(&file->written, file->path, file->data, file->bytes);
	return err ? npu_diag_set(diag, err, "%s: %s", file->path, strerror(-err)) : 0;
}

int npu_files_commit(struct npu_file *files, unsigned int count, struct npu_diag *diag)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = write_file(&files[i], diag);
	for (i = 0; i < count && !err; i++) {
		err = npu_output_file_finish(&files[i].written);
		if (err)
			npu_diag_set(diag, err, "%s: %s", files[i].path, strerror(-err));
	}
	npu_files_drop(files, count);
	return err;
}

void npu_files_drop(struct npu_file *files, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (files[i].text)
			fclose(files[i].text);
		npu_output_file_drop(&files[i].written);
		free(files[i].path);
		free(files[i].data);
		files[i] = (struct npu_file){ 0 };
	}
}

void npu_put_xml(const char *text, FILE *out)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			/* Control characters are not allowed in XML. */
			fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
		}
	}
}
