/* SPDX-License-Identifier: MIT */
/*
 * What the command lines share: messages, numbers of options, files.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tool_exit { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

/*
 * To be called first.  Where standard input, output or error is closed, /dev/null takes its number, so
 * that no other file gets it and with it what is printed; reading or writing it fails as before.
 */
void tool_standard_files(void);

/* "NAME: text" on standard error; returns TOOL_FAILED. */
int tool_error(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with a hint at --help; returns TOOL_USAGE. */
int tool_usage(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A whole decimal number from @low to @high; false for anything else. */
bool tool_number(const char *text, uint32_t low, uint32_t high, uint32_t *number);

/* Each byte that belongs to no character of UTF-8 becomes '?', as JSON wants text. */
void tool_make_utf8(char *text);

/**
 * tool_read_file() - all of a file
 * @limit: larger files are refused
 * @data: malloc()ed, with a zero behind the last byte
 *
 * Return: 0 or a negative errno.
 */
int tool_read_file(const char *path, size_t limit, uint8_t **data, size_t *bytes);

#endif /* TOOL_H */
