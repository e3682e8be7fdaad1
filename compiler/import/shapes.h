/* SPDX-License-Identifier: MIT */
/* Shapes of inputs that are given as text: struct npu_import_options. */
#ifndef NPU_IMPORT_SHAPES_H
#define NPU_IMPORT_SHAPES_H

#include "graph.h"

/*
 * The dimensions that @shapes has for input @name, or for the one input of a model; returns how
 * many, 0: none.  @shapes may be NULL.
 */
u32 npu_shapes_find(const char *shapes, const char *name, u32 dim[NPU_MAX_RANK]);

/* Whether each entry of @shapes can be read, whatever model it is for. */
bool npu_shapes_are_shapes(const char *shapes);

/* Whether @shapes can be read and is about inputs of @graph; 0 or -EINVAL with the message. */
int npu_shapes_check(const char *shapes, const struct npu_graph *graph, struct npu_diag *diag);

#endif /* NPU_IMPORT_SHAPES_H */
