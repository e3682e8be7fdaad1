// SPDX-License-Identifier: MIT
#include "diag.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 8192 /* twice the longest path */

void npu_message_format(char *to, size_t size, const char *format, va_list args)
{
	static const char gap[] = "...";
	char all[LONGEST];
	size_t length, head = size / 3, tail;

	vsnprintf(all, sizeof(all), format, args);
	length = strlen(all);
	if (length < size) {
		memcpy(to, all, length + 1);
		return;
	}
	tail = size - head - sizeof(gap); /* the zero at the end counted */
	memcpy(to, all, head);
	memcpy(to + head, gap, sizeof(gap) - 1);
	memcpy(to + head + sizeof(gap) - 1, all + length - tail, tail + 1);
}

int npu_diag_set(struct npu_diag *diag, int error, const char *format, ...)
{
	va_list args;

	if (!diag || diag->text[0])
		return error;
	va_start(args, format);
	npu_message_format(diag->text, sizeof(diag->text), format, args);
	va_end(args);
	return error;
}
