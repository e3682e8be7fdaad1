/* SPDX-License-Identifier: MIT */
/*
 * Where a failure is described for the user: one message that names the file,
 * the layer or operator and the limit that was hit.
 */
#ifndef NPU_DIAG_H
#define NPU_DIAG_H

#include <stdarg.h>
#include <stddef.h>

struct npu_diag {
	char text[512]; /* empty while nothing went wrong */
};

/* Stores the message unless one is there already (the first cause counts); returns @error, a negative errno. */
int npu_diag_set(struct npu_diag *diag, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Formats a message; one that is too long, by the name of a file, loses its middle: what went wrong
 * stands at the end.
 */
void npu_message_format(char *to, size_t size, const char *format, va_list args);

#endif /* NPU_DIAG_H */
