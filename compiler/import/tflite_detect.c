// SPDX-License-Identifier: MIT
/*
 * Where detectors of SSD's kind end.  The last operator decodes and sorts out boxes, with prior boxes
 * that are constants of its own: that is the application's work, so the network's outputs are the
 * locations and the scores that go in, as they are for the detectors of other frameworks.
 */
#include "tflite.h"

static bool makes(const struct fb_vector *outputs, u32 tensor)
{
	u32 i;

	for (i = 0; i < outputs->count; i++)
		if (fb_element_s32(outputs, i) == (s32)tensor)
			return true;
	return false;
}

/* Takes what the operator computes from the list of outputs and puts what it reads in its place. */
static int replace_outputs(struct tflite *t, const struct fb_vector *inputs,
			   const struct fb_vector *outputs)
{
	struct npu_graph *graph = t->graph;
	u32 *list = npu_arena_array(&graph->arena, graph->output_count + 2, sizeof(*list));
	u32 i, count = 0;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < graph->output_count; i++)
		if (!makes(outputs, graph->output[i]))
			list[count++] = graph->output[i];
	if (count == graph->output_count)
		return 0;
	for (i = 0; i < 2; i++) {
		u32 tensor = i < inputs->count ? (u32)fb_element_s32(inputs, i) : NPU_NONE;

		if (tensor >= t->tensors.count || t->fault[tensor])
			return tflite_fail(t, -EINVAL, "input %u is missing or of no use", i);
		list[count++] = tensor;
	}
	graph->output = list;
	graph->output_count = count;
	return 0;
}

int tflite_end_at_boxes(struct tflite *t)
{
	int error = 0;

	for (t->index = 0; !error && t->index < t->operators.count; t->index++) {
		struct fb_table entry = fb_element_table(&t->file, &t->operators, t->index);
		struct fb_vector inputs = fb_elements(&entry, OPERATOR_INPUTS, 4);
		struct fb_vector outputs = fb_elements(&entry, OPERATOR_OUTPUTS, 4);
		const char *custom = "";

		if (tflite_builtin_code(t, &entry, &custom) == TFLITE_CUSTOM &&
		    !strcmp(custom, "TFLite_Detection_PostProcess"))
			error = replace_outputs(t, &inputs, &outputs);
	}
	return error;
}
