// SPDX-License-Identifier: MIT
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(fd, data, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		data += written;
		bytes -= (size_t)written;
	}
	return 0;
}

static int write_and_close(int fd, const void *data, size_t bytes)
{
	int error = write_all(fd, data, bytes);

	if (close(fd) < 0 && !error)
		error = -errno;
	return error;
}

static int write_in_place(const char *path, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : write_and_close(fd, data, bytes);
}

/* Not mkstemp(): the kernel applies the umask only to the mode that open() is given. */
static int open_temporary(const char *path, char **name)
{
	unsigned int attempt;
	int fd = -1;

	for (attempt = 0; fd < 0 && attempt < 100; attempt++) {
		if (asprintf(name, "%s.%ld-%u", path, (long)getpid(), attempt) < 0) {
			*name = NULL;
			return -ENOMEM;
		}
		fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0) {
			int error = -errno;

			free(*name);
			*name = NULL;
			if (error != -EEXIST)
				return error;
		}
	}
	return fd < 0 ? -EEXIST : fd;
}

static void forget(struct npu_output_file *file)
{
	free(file->path);
	free(file->temporary);
	*file = (struct npu_output_file){ NULL, NULL };
}

int npu_output_file_write(struct npu_output_file *file, const char *path, const void *data,
			  size_t bytes)
{
	struct stat status;
	int fd, error;

	*file = (struct npu_output_file){ NULL, NULL };
	if (!stat(path, &status) && !S_ISREG(status.st_mode))
		return write_in_place(path, data, bytes);
	file->path = realpath(path, NULL);
	if (!file->path)
		file->path = strdup(path);
	fd = file->path ? open_temporary(file->path, &file->temporary) : -ENOMEM;
	if (fd < 0) {
		forget(file);
		return fd;
	}
	error = write_and_close(fd, data, bytes);
	if (error)
		npu_output_file_drop(file);
	return error;
}

int npu_output_file_finish(struct npu_output_file *file)
{
	int error = 0;

	if (file->temporary && rename(file->temporary, file->path) < 0) {
		error = -errno;
		unlink(file->temporary);
	}
	forget(file);
	return error;
}

int npu_output_file_save(const char *path, const void *data, size_t bytes)
{
	struct npu_output_file file;
	int error = npu_output_file_write(&file, path, data, bytes);

	return error ? error : npu_output_file_finish(&file);
}

void npu_output_file_drop(struct npu_output_file *file)
{
	if (file->temporary)
		unlink(file->temporary);
	forget(file);
}
