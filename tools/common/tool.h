/* SPDX-License-Identifier: MIT */
/*
 * What the command lines share: how they begin and end, messages, numbers of options, files.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum tool_exit - exit statuses, the same of every command line
 * @TOOL_OK: what was asked for is done, and everything printed has arrived
 * @TOOL_FAILED: something could not be read, done or written
 * @TOOL_USAGE: the command line is wrong, whatever the files say: options that there are not, that are missing or
 *	exclude each other, or a value that the option does not take
 */
enum tool_exit { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

/**
 * tool_main() - what main() is in every command line
 * @tool: parses its arguments and does what they ask for; returns an exit status
 *
 * Standard files that are closed are held, so that nothing else is printed into.  Output that did not arrive is a
 * failure with a message, whatever printed it.
 *
 * Return: the exit status.
 */
int tool_main(const char *name, int (*tool)(int argc, char **argv), int argc, char **argv);

/* "NAME: text" on standard error; returns TOOL_FAILED. */
int tool_error(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with a hint at --help; returns TOOL_USAGE. */
int tool_usage(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A whole decimal number from @low to @high; false for anything else. */
bool tool_number(const char *text, uint32_t low, uint32_t high, uint32_t *number);

/*
 * Names of others, for JSON and terminals: each byte that belongs to no character of UTF-8, or to a control
 * character, becomes '?'.
 */
void tool_clean_text(char *text);

/**
 * tool_read_file() - all of a file
 * @limit: larger files are refused
 * @data: malloc()ed, with a zero behind the last byte
 *
 * Return: 0 or a negative errno.
 */
int tool_read_file(const char *path, size_t limit, uint8_t **data, size_t *bytes);

#endif /* TOOL_H */
