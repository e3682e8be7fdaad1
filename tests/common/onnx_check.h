/* SPDX-License-Identifier: MIT */
/* Two ONNX models that have to compute the same, in the reference interpreter. */
#ifndef ONNX_CHECK_H
#define ONNX_CHECK_H

#include <math.h>
#include <stdlib.h>

#include "graph.h"
#include "onnx_writer.h"
#include "reference.h"

#define FLOAT ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
#define UINT8 ONNX__TENSOR_PROTO__DATA_TYPE__UINT8
#define INT8 ONNX__TENSOR_PROTO__DATA_TYPE__INT8

static struct npu_diag onnx_check_diag;

static inline int onnx_check_import(struct onnx_writer *w, struct npu_graph **graph)
{
	size_t bytes;
	u8 *data = onnx_end(w, &bytes);
	int error;

	*graph = NULL;
	onnx_check_diag.text[0] = '\0';
	error = npu_import_onnx(data, bytes, "sample", NULL, graph, &onnx_check_diag);
	free(data);
	return error;
}

static inline void onnx_check_inputs(const struct npu_graph *graph, struct npu_reference *reference)
{
	u32 i, j;

	for (i = 0; i < graph->input_count; i++) {
		const struct npu_tensor *t = &graph->tensor[graph->input[i]];
		void *data = npu_reference_tensor(reference, graph->input[i]);

		for (j = 0; j < npu_tensor_elements(t); j++)
			if (t->dtype == NPU_F32)
				((float *)data)[j] = (float)((j * 37 + i * 5) % 101) / 32 - 1.5f;
			else
				((u8 *)data)[j] = (u8)(j * 37 + i * 5);
	}
}

/* What the model computes, as real numbers; the caller frees it. */
static inline float *onnx_check_run(struct onnx_writer *w, u32 *count)
{
	struct npu_reference *reference;
	struct npu_graph *graph;
	const struct npu_tensor *t;
	const void *data;
	float *out;
	u32 i;

	if (onnx_check_import(w, &graph))
		fail_msg("%s", onnx_check_diag.text);
	assert_int_equal(npu_reference_new(graph, &reference, &onnx_check_diag), 0);
	onnx_check_inputs(graph, reference);
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &onnx_check_diag), 0);
	t = &graph->tensor[graph->output[0]];
	data = npu_reference_tensor(reference, graph->output[0]);
	*count = (u32)npu_tensor_elements(t);
	out = calloc(*count, sizeof(*out));
	assert_non_null(out);
	for (i = 0; i < *count; i++)
		if (t->dtype == NPU_F32)
			out[i] = ((const float *)data)[i];
		else
			out[i] = t->quant.scale[0] *
				 (float)(((const u8 *)data)[i] - t->quant.zero[0]);
	npu_reference_free(reference);
	npu_graph_free(graph);
	return out;
}

/* Both models compute the same, but for @tolerance. */
static inline void onnx_check_same(struct onnx_writer *a, struct onnx_writer *b, float tolerance)
{
	u32 na, nb, i;
	float *x = onnx_check_run(a, &na), *y = onnx_check_run(b, &nb), spread = 0;

	assert_int_equal(na, nb);
	for (i = 0; i < na; i++) {
		if (!(fabsf(x[i] - y[i]) <= tolerance))
			fail_msg("element %u: %g, not %g", i, (double)x[i], (double)y[i]);
		spread = fmaxf(spread, fabsf(y[i] - y[0]));
	}
	/* Results that are all alike would say nothing. */
	assert_true(spread > 10 * tolerance);
	free(x);
	free(y);
}

static inline void onnx_check_refused(struct onnx_writer *w, const char *words)
{
	struct npu_graph *graph;

	assert_int_equal(onnx_check_import(w, &graph), -ENOTSUP);
	if (!strstr(onnx_check_diag.text, words))
		fail_msg("'%s' does not say '%s'", onnx_check_diag.text, words);
}

#endif /* ONNX_CHECK_H */
