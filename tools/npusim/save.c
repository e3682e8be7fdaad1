// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "save.h"

int npusim_save(const char *path, const void *data, size_t len)
{
	FILE *file = fopen(path, "wb");
	struct stat status;
	int error = 0;

	if (!file)
		return -errno;
	if (fwrite(data, 1, len, file) != len)
		error = -errno;
	if (fclose(file) && !error)
		error = -errno;
	/* Not of what was there before and is no file. */
	if (error && !stat(path, &status) && S_ISREG(status.st_mode))
		unlink(path);
	return error;
}
