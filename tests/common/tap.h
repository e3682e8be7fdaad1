/* SPDX-License-Identifier: MIT */
/*
 * TAP lines: what a test program says about each thing that it checked.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* One set for all files of a program. */
__attribute__((weak)) unsigned tap_passed, tap_failed, tap_skipped;

static inline unsigned tap_number(void)
{
	return tap_passed + tap_failed + tap_skipped;
}

__attribute__((format(printf, 2, 3))) static inline bool tap(bool good, const char *format, ...)
{
	va_list args;

	*(good ? &tap_passed : &tap_failed) += 1;
	printf("%s %u - ", good ? "ok" : "not ok", tap_number());
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return good;
}

/* Something that cannot be checked here, and why. */
static inline void tap_skip(const char *what, const char *why)
{
	tap_skipped++;
	printf("ok %u - %s # SKIP %s\n", tap_number(), what, why);
	fflush(stdout);
}

/* The last lines, and the exit status. */
static inline int tap_end(void)
{
	printf("1..%u\n%u passed, %u failed\n", tap_number(), tap_passed, tap_failed);
	fflush(stdout);
	return tap_failed || !tap_number();
}

#endif /* TAP_H */
