// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <time.h>

#include "diag.h"
#include "internal.h"

static __thread char last_error[768];

const char *npu_error(void)
{
	return last_error;
}

const char *npu_version(void)
{
	return NPU_VERSION;
}

int npu_fail(int error, const char *format, ...)
{
	va_list args;

	/* Arguments may point into last_error: it is written behind the formatting. */
	va_start(args, format);
	npu_message_format(last_error, sizeof(last_error), format, args);
	va_end(args);
	return error;
}

/* The size that the caller knows of stands first in the struct. */
static size_t caller_size(const void *object)
{
	size_t size;

	memcpy(&size, object, sizeof(size));
	return size;
}

int npu_check_handle(const void *handle, const char *kind)
{
	return handle ? 0 : npu_fail(-EINVAL, "there is no %s: the handle is NULL", kind);
}

int npu_check_size(const void *object)
{
	if (!object)
		return npu_fail(-EINVAL, "there is no place for a struct");
	if (caller_size(object) > sizeof(size_t))
		return 0;
	return npu_fail(-EINVAL, "the size of a struct was not set");
}

int npu_copy_out(void *to, const void *from, size_t own_size)
{
	int err = npu_check_size(to);
	size_t size;

	if (err)
		return err;
	size = caller_size(to);
	if (size > own_size)
		size = own_size;
	memcpy((char *)to + sizeof(size), (const char *)from + sizeof(size), size - sizeof(size));
	return 0;
}

u64 npu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

bool npu_deadline(int timeout_ms, struct timespec *deadline)
{
	if (timeout_ms < 0)
		return false;
	clock_gettime(CLOCK_MONOTONIC, deadline);
	deadline->tv_sec += timeout_ms / 1000;
	deadline->tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (deadline->tv_nsec >= 1000000000) {
		deadline->tv_sec++;
		deadline->tv_nsec -= 1000000000;
	}
	return true;
}
