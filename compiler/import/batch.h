/* SPDX-License-Identifier: MIT */
/* Networks that take several images at once, made of the same network for each image. */
#ifndef NPU_IMPORT_BATCH_H
#define NPU_IMPORT_BATCH_H

#include "graph.h"

/* More images than these, or operators for all of them, are refused. */
#define NPU_MAX_BATCH 64
#define NPU_MAX_BATCH_OPS 65536

/**
 * npu_split_batch() - brings a graph that was just read, and is not verified, to one image
 *
 * An NPU works on one image, and so do the graph's convolutions, pooling and resizing.  Where such
 * operators have a batch of N, all operators that treat its images alike are there N times
 * afterwards, with the weights in common: inputs are taken apart in front, the results put together
 * where the network ends or an operator looks at several images.  Other graphs stay as they are.
 *
 * Lifts the arena's limit, which was for what the file says.
 *
 * Return: 0, -ENOTSUP beyond the limits above, -ENOMEM, with a message.
 */
int npu_split_batch(struct npu_graph *graph, struct npu_diag *diag);

#endif /* NPU_IMPORT_BATCH_H */
