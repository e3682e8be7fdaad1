/* SPDX-License-Identifier: MIT */
/*
 * Options that say what a model's file leaves open, and take the same values in every command line: --input-shape and
 * --pixels.
 */
#ifndef TOOL_MODEL_OPTION_H
#define TOOL_MODEL_OPTION_H

/**
 * tool_check_model_options() - whether values can be read, before any file is looked at
 * @name: of the tool
 * @shapes: of --input-shape, or NULL
 * @pixels: of --pixels, or NULL
 *
 * Return: TOOL_OK, or TOOL_USAGE with the message printed.
 */
int tool_check_model_options(const char *name, const char *shapes, const char *pixels);

#endif /* TOOL_MODEL_OPTION_H */
