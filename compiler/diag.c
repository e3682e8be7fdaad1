// SPDX-License-Identifier: MIT
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>

int npu_diag_set(struct npu_diag *diag, int error, const char *format, ...)
{
	va_list args;

	if (!diag || diag->text[0])
		return error;
	va_start(args, format);
	vsnprintf(diag->text, sizeof(diag->text), format, args);
	va_end(args);
	return error;
}
