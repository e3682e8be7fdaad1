// SPDX-License-Identifier: MIT
/* "[NAME:]1x3x48x192", several separated by commas.  A name may have colons in it. */
#include "shapes.h"

#include <stdlib.h>

struct entry {
	const char *name;
	size_t name_length; /* 0: none */
	u32 rank; /* 0: the entry cannot be read */
	u32 dim[NPU_MAX_RANK];
};

static u32 read_dimensions(const char *at, const char *end, u32 *dim)
{
	u32 rank = 0;

	while (at < end && rank < NPU_MAX_RANK) {
		char *behind;
		unsigned long long value;

		if (*at < '0' || *at > '9')
			return 0;
		value = strtoull(at, &behind, 10);
		if (!value || value > INT32_MAX)
			return 0;
		dim[rank++] = (u32)value;
		at = behind;
		if (at == end)
			return rank;
		if (*at++ != 'x')
			return 0;
	}
	return 0;
}

/* The entry at @at; returns what follows, NULL at the end. */
static const char *read_entry(const char *at, struct entry *entry)
{
	const char *end = at + strcspn(at, ","), *colon = NULL, *c;

	for (c = at; c < end; c++)
		if (*c == ':')
			colon = c;
	entry->name = at;
	entry->name_length = colon ? (size_t)(colon - at) : 0;
	entry->rank = read_dimensions(colon ? colon + 1 : at, end, entry->dim);
	return *end ? end + 1 : NULL;
}

static bool is_for(const struct entry *entry, const char *name)
{
	return !entry->name_length || (strlen(name) == entry->name_length &&
				       !memcmp(name, entry->name, entry->name_length));
}

u32 npu_shapes_find(const char *shapes, const char *name, u32 dim[NPU_MAX_RANK])
{
	struct entry entry;

	while (shapes) {
		shapes = read_entry(shapes, &entry);
		if (is_for(&entry, name)) {
			memcpy(dim, entry.dim, entry.rank * sizeof(*dim));
			return entry.rank;
		}
	}
	return 0;
}

bool npu_shapes_are_shapes(const char *shapes)
{
	struct entry entry = { .rank = 1 };

	while (shapes && entry.rank)
		shapes = read_entry(shapes, &entry);
	return entry.rank;
}

static bool has_input(const struct npu_graph *graph, const struct entry *entry)
{
	u32 i;

	if (!entry->name_length)
		return graph->input_count == 1;
	for (i = 0; i < graph->input_count; i++)
		if (is_for(entry, graph->tensor[graph->input[i]].name))
			return true;
	return false;
}

int npu_shapes_check(const char *shapes, const struct npu_graph *graph, struct npu_diag *diag)
{
	struct entry entry;

	while (shapes) {
		const char *text = shapes;

		shapes = read_entry(shapes, &entry);
		if (!entry.rank)
			return npu_diag_set(
				diag, -EINVAL,
				"%s: '%.100s' is no shape of the form [NAME:]1x3x48x192",
				graph->file, text);
		if (!has_input(graph, &entry))
			return npu_diag_set(
				diag, -EINVAL,
				"%s: the shape '%.100s' is for no input: it has %u, the "
				"first is %.100s",
				graph->file, text, graph->input_count,
				graph->input_count ? graph->tensor[graph->input[0]].name
						   : "missing");
	}
	return 0;
}
