// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

/*
 * Where standard input, output or error is closed, /dev/null takes its number, so that no other file gets it and
 * with it what is printed; reading or writing it fails as before.
 */
static void hold_standard_files(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			_exit(TOOL_FAILED);
}

int tool_main(const char *name, int (*tool)(int argc, char **argv), int argc, char **argv)
{
	int status;

	hold_standard_files();
	status = tool(argc, argv);
	errno = 0;
	/* What failed long ago has left its mark, but not its reason. */
	if ((fflush(stdout) || ferror(stdout)) && status == TOOL_OK)
		status = tool_error(name, "cannot write to standard output%s%s", errno ? ": " : "",
				    errno ? strerror(errno) : "");
	return status;
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

/* Bytes of the character that begins here; 0: there is none. */
static size_t utf8_bytes(const uint8_t *p)
{
	size_t bytes = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4, i;

	for (i = 1; i < bytes; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than it need be, half of a pair, or behind the last character. */
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f) || *p > 0xf4)
		return 0;
	return bytes;
}

/* Those of ASCII, and the second set of them (C1), whose first byte is 0xc2. */
static bool is_control(const uint8_t *p)
{
	return *p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0);
}

void tool_clean_text(char *text)
{
	size_t bytes;

	for (; *text; text += bytes) {
		bytes = utf8_bytes((const uint8_t *)text);
		if (bytes && !is_control((const uint8_t *)text))
			continue;
		*text = '?';
		bytes = 1;
	}
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
