// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

void tool_standard_files(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			_exit(TOOL_FAILED);
}

int tool_error(const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s: ", name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return TOOL_FAILED;
}

int tool_usage(const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s: ", name);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\ntry: %s --help\n", name);
	va_end(args);
	return TOOL_USAGE;
}

bool tool_number(const char *text, uint32_t low, uint32_t high, uint32_t *number)
{
	uint64_t value = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9' && value <= high; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	if (p == text || *p || value < low || value > high)
		return false;
	*number = (uint32_t)value;
	return true;
}

static int read_all(int fd, size_t limit, uint8_t **data, size_t *bytes)
{
	size_t room = 65536, used = 0;
	uint8_t *buffer = malloc(room);
	ssize_t got;

	while (buffer && (got = read(fd, buffer + used, room - used - 1)) != 0) {
		uint8_t *larger;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || (used += (size_t)got) > limit) {
			int err = got < 0 ? -errno : -EFBIG;

			free(buffer);
			return err;
		}
		if (room - used > 1)
			continue;
		room *= 2;
		larger = realloc(buffer, room);
		if (!larger)
			free(buffer);
		buffer = larger;
	}
	if (!buffer)
		return -ENOMEM;
	buffer[used] = 0;
	*data = buffer;
	*bytes = used;
	return 0;
}

int tool_read_file(const char *path, size_t limit, uint8_t **data, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = read_all(fd, limit, data, bytes);
	close(fd);
	return err;
}
