/* SPDX-License-Identifier: MIT */
/* A file in memory, for tests. */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdio.h>
#include <stdlib.h>

/* Contents of @path, for the caller to free, and their size; NULL: it cannot be read. */
static inline void *whole_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	void *data = NULL;
	long size = -1;

	*bytes = 0;
	if (!file)
		return NULL;
	if (!fseek(file, 0, SEEK_END))
		size = ftell(file);
	rewind(file);
	if (size >= 0)
		data = malloc((size_t)size + 1); /* an empty file is none of no memory */
	if (data && fread(data, 1, (size_t)size, file) != (size_t)size) {
		free(data);
		data = NULL;
	}
	fclose(file);
	if (data)
		*bytes = (size_t)size;
	return data;
}

#endif /* WHOLE_FILE_H */
