// SPDX-License-Identifier: MIT
/* Names of classes, from a file of lines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../common/tool.h"
#include "run.h"

#define MAX_LABELS_BYTES ((size_t)16 << 20)

int run_load_labels(const char *path, struct run_labels *labels)
{
	size_t bytes, i, lines = 0;
	char *line, *rest;
	int err = tool_read_file(path, MAX_LABELS_BYTES, (uint8_t **)&labels->text, &bytes);

	if (err)
		return tool_error(RUN_NAME, "%s: %s", path, strerror(-err));
	for (i = 0; i < bytes; i++)
		lines += labels->text[i] == '\n';
	labels->name = calloc(lines + 1, sizeof(*labels->name));
	if (!labels->name)
		return tool_error(RUN_NAME, "%s: out of memory", path);
	for (rest = labels->text; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "\r")] = '\0';
		tool_clean_text(line);
		if (rest || *line)
			labels->name[labels->count++] = line;
	}
	return TOOL_OK;
}

const char *run_label(const struct run_labels *labels, uint64_t index)
{
	return index < labels->count ? labels->name[index] : NULL;
}
