// SPDX-License-Identifier: MIT
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int write_temporary(struct npu_file *file, struct npu_diag *diag)
{
	char *temporary;
	int fd, err = 0;

	if (ferror(file->text))
		err = -ENOMEM;
	if (fclose(file->text) && !err)
		err = -ENOMEM;
	file->text = NULL;
	if (err || asprintf(&temporary, "%s.XXXXXX", file->path) < 0)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", file->path);
	fd = mkstemp(temporary);
	if (fd < 0) {
		err = npu_diag_set(diag, -errno, "%s: %s", file->path, strerror(errno));
		free(temporary);
		return err;
	}
	file->temporary = temporary;
	err = write_all(fd, file->data, file->bytes);
	if (!err && fchmod(fd, 0644))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err ? npu_diag_set(diag, err, "%s: %s", file->path, strerror(-err)) : 0;
}

int npu_files_commit(struct npu_file *files, unsigned int count, struct npu_diag *diag)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = write_temporary(&files[i], diag);
	for (i = 0; i < count && !err; i++) {
		if (rename(files[i].temporary, files[i].path)) {
			err = npu_diag_set(diag, -errno, "%s: %s", files[i].path, strerror(errno));
		} else {
			free(files[i].temporary);
			files[i].temporary = NULL;
		}
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
		if (files[i].temporary)
			unlink(files[i].temporary);
		free(files[i].temporary);
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
