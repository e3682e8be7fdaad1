// SPDX-License-Identifier: MIT
/* Prints a graph, as text or for Graphviz. */
#include "pixels.h"

static const char *const activation_names[] = {
	[NPU_ACT_NONE] = "",
	[NPU_ACT_RELU] = " relu",
	[NPU_ACT_RELU6] = " relu6",
	[NPU_ACT_RELU_N1_TO_1] = " relu_n1_to_1",
};

/* Names come from files: nothing in them may end a quoted string or a line. */
static void print_name(const char *name, FILE *out)
{
	for (; *name; name++)
		if (*name == '"' || *name == '\\')
			fprintf(out, "\\%c", *name);
		else
			fputc((unsigned char)*name < ' ' || *name == 127 ? '?' : *name, out);
}

static void print_shape(const struct npu_tensor *tensor, FILE *out)
{
	u32 i;

	fprintf(out, "%s[", npu_dtype_names[tensor->dtype]);
	for (i = 0; i < tensor->rank; i++)
		fprintf(out, "%s%u", i ? "," : "", tensor->dim[i]);
	fputc(']', out);
}

static void print_quant(const struct npu_quant *quant, FILE *out)
{
	if (quant->count == 1)
		fprintf(out, " scale %g zero %d", (double)quant->scale[0], quant->zero[0]);
	else if (quant->count)
		fprintf(out, " %u scales on dimension %u", quant->count, quant->axis);
}

static bool has_window(const struct npu_op *op)
{
	return op->kind == NPU_OP_CONV || op->kind == NPU_OP_TRANSPOSE_CONV ||
	       op->kind == NPU_OP_MAX_POOL || op->kind == NPU_OP_AVERAGE_POOL;
}

static void print_parameters(const struct npu_op *op, FILE *out)
{
	const struct npu_window *w = &op->window;

	if (has_window(op))
		fprintf(out, " %ux%u stride %u,%u pad %u,%u,%u,%u", w->r, w->s, w->stride_y,
			w->stride_x, w->pad_top, w->pad_left, w->pad_bottom, w->pad_right);
	if (has_window(op) && (w->dilation_y > 1 || w->dilation_x > 1))
		fprintf(out, " dilation %u,%u", w->dilation_y, w->dilation_x);
	if (op->kind == NPU_OP_FUNCTION)
		fprintf(out, " %s", npu_function_names[op->function]);
	if (op->kind == NPU_OP_LRN)
		fprintf(out, " of %u", op->size);
	if (op->groups > 1)
		fprintf(out, " groups %u", op->groups);
	if (op->kind == NPU_OP_PIXELS)
		fprintf(out, " %s", npu_pixel_formats[op->pixels].name);
	fputs(activation_names[op->activation], out);
}

static void dump_text(const struct npu_graph *graph, FILE *out)
{
	u32 i, j;

	fprintf(out, "graph \"");
	print_name(graph->file, out);
	fprintf(out, "\": %u operators, %u tensors\n", graph->op_count, graph->tensor_count);
	for (i = 0; i < graph->tensor_count; i++) {
		const struct npu_tensor *tensor = &graph->tensor[i];

		fprintf(out, "%%%u \"", i);
		print_name(tensor->name, out);
		fprintf(out, "\" ");
		print_shape(tensor, out);
		print_quant(&tensor->quant, out);
		fprintf(out, "%s\n", tensor->data ? " constant" : "");
	}
	for (i = 0; i < graph->input_count; i++)
		fprintf(out, "input %%%u\n", graph->input[i]);
	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];

		fprintf(out, "%u: %%%u = %s", i, op->output[0], npu_op_names[op->kind]);
		for (j = 0; j < op->input_count; j++)
			if (op->input[j] == NPU_NONE)
				fprintf(out, " -");
			else
				fprintf(out, " %%%u", op->input[j]);
		print_parameters(op, out);
		fputc('\n', out);
	}
	for (i = 0; i < graph->output_count; i++)
		fprintf(out, "output %%%u\n", graph->output[i]);
}

static void dump_dot_edge(const struct npu_graph *graph, u32 tensor, u32 op, const s64 *producer,
			  FILE *out)
{
	if (graph->tensor[tensor].data)
		return;
	if (producer[tensor] < 0)
		fprintf(out, "\tt%u -> o%u [label=\"", tensor, op);
	else
		fprintf(out, "\to%lld -> o%u [label=\"", (long long)producer[tensor], op);
	print_shape(&graph->tensor[tensor], out);
	fprintf(out, "\"];\n");
}

static void dump_dot_end(const struct npu_graph *graph, u32 tensor, FILE *out)
{
	fprintf(out, "\tt%u [shape=ellipse, label=\"", tensor);
	print_name(graph->tensor[tensor].name, out);
	fprintf(out, "\\n");
	print_shape(&graph->tensor[tensor], out);
	fprintf(out, "\"];\n");
}

static void dump_dot(const struct npu_graph *graph, const s64 *producer, FILE *out)
{
	u32 i, j;

	fprintf(out, "digraph \"");
	print_name(graph->file, out);
	fprintf(out, "\" {\n\tnode [shape=box];\n");
	for (i = 0; i < graph->input_count; i++)
		dump_dot_end(graph, graph->input[i], out);
	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];

		fprintf(out, "\to%u [label=\"%s", i, npu_op_names[op->kind]);
		print_parameters(op, out);
		fprintf(out, "\\n");
		print_name(op->name, out);
		fprintf(out, "\"];\n");
		for (j = 0; j < op->input_count; j++)
			if (op->input[j] != NPU_NONE)
				dump_dot_edge(graph, op->input[j], i, producer, out);
	}
	for (i = 0; i < graph->output_count; i++) {
		dump_dot_end(graph, graph->output[i], out);
		if (producer[graph->output[i]] >= 0)
			fprintf(out, "\to%lld -> t%u;\n", (long long)producer[graph->output[i]],
				graph->output[i]);
	}
	fprintf(out, "}\n");
}

void npu_graph_dump(const struct npu_graph *graph, enum npu_dump_format format, FILE *out)
{
	struct npu_arena arena = { 0 };
	s64 *producer;
	u32 i;

	if (format == NPU_DUMP_TEXT) {
		dump_text(graph, out);
		return;
	}
	producer = npu_arena_array(&arena, graph->tensor_count + 1, sizeof(*producer));
	if (!producer)
		return;
	for (i = 0; i < graph->tensor_count; i++)
		producer[i] = -1;
	for (i = 0; i < graph->op_count; i++)
		producer[graph->op[i].output[0]] = i;
	dump_dot(graph, producer, out);
	npu_arena_free(&arena);
}
