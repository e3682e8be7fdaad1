// SPDX-License-Identifier: MIT
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
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

static int write_in_place(const char *path, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	error = write_all(fd, data, bytes);
	if (close(fd) < 0 && !error)
		error = -errno;
	return error;
}

/* Not mkstemp(): the kernel applies the umask only to the mode that open() is given. */
static int make_file(const char *name, int unused)
{
	return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int make_link(const char *name, int fd)
{
	char open_file[32];

	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, open_file, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Makes something with the first temporary name that is free; returns what @make does, or a negative errno. */
static int make_temporary(struct npu_output_file *file, int (*make)(const char *name, int fd))
{
	unsigned int attempt;
	int made = -1;

	for (attempt = 0; made < 0 && attempt < 100; attempt++) {
		if (asprintf(&file->temporary, "%s.%ld-%u", file->path, (long)getpid(), attempt) <
		    0) {
			file->temporary = NULL;
			return -ENOMEM;
		}
		made = make(file->temporary, file->fd);
		if (made < 0) {
			int error = -errno;

			free(file->temporary);
			file->temporary = NULL;
			if (error != -EEXIST)
				return error;
		}
	}
	return made < 0 ? -EEXIST : made;
}

/* Opens @file without a name in its folder; false where that cannot be. */
static bool open_nameless(struct npu_output_file *file)
{
	char *copy = strdup(file->path);

	/* It will need /proc to get a name. */
	if (copy && access("/proc/self/fd", X_OK) == 0) {
		file->fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
		file->nameless = file->fd >= 0;
	}
	free(copy);
	return file->nameless;
}

static void forget(struct npu_output_file *file)
{
	if (file->nameless)
		close(file->fd);
	free(file->path);
	free(file->temporary);
	*file = (struct npu_output_file){ NULL };
}

/* What takes the place of @old, or of nothing, is for the same eyes. */
static int write_new(int fd, const struct stat *old, const void *data, size_t bytes)
{
	if (old && fchmod(fd, old->st_mode & 0777) < 0)
		return -errno;
	return write_all(fd, data, bytes);
}

int npu_output_file_write(struct npu_output_file *file, const char *path, const void *data,
			  size_t bytes)
{
	struct stat status;
	const struct stat *old = stat(path, &status) ? NULL : &status;
	int fd, error;

	*file = (struct npu_output_file){ NULL };
	/* A link whose target is not there would be replaced itself. */
	if (!old && errno == ENOENT && lstat(path, &status) == 0)
		return -ENOENT;
	if (old && !S_ISREG(old->st_mode))
		return write_in_place(path, data, bytes);
	/* The folder's permission is enough to take its place, and not what its owner meant. */
	if (old && access(path, W_OK) < 0)
		return -errno;
	file->path = realpath(path, NULL);
	if (!file->path)
		file->path = strdup(path);
	if (file->path && open_nameless(file)) {
		error = write_new(file->fd, old, data, bytes);
	} else {
		fd = file->path ? make_temporary(file, make_file) : -ENOMEM;
		error = fd < 0 ? fd : write_new(fd, old, data, bytes);
		if (fd >= 0 && close(fd) < 0 && !error)
			error = -errno;
	}
	if (error)
		npu_output_file_drop(file);
	return error;
}

int npu_output_file_finish(struct npu_output_file *file)
{
	int error = file->nameless ? make_temporary(file, make_link) : 0;

	if (!error && file->temporary && rename(file->temporary, file->path) < 0) {
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
