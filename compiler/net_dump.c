// SPDX-License-Identifier: MIT
/* IR2 for people: text, and Graphviz. */
#include "net.h"

static const char *const alu_names[] = { "max", "min", "+" };
static const char *const pool_names[] = { "average", "max", "min" };

static void print_operand(const struct npu_net *net, const struct npu_sdp_stage *stage,
			  enum npu_operand from, s32 value, FILE *out)
{
	switch (from) {
	case NPU_OPERAND_REGISTER:
		fprintf(out, "%d", value);
		break;
	case NPU_OPERAND_KERNEL:
		fprintf(out, "table@%llu", (unsigned long long)stage->table);
		break;
	case NPU_OPERAND_ELEMENT:
	case NPU_OPERAND_CHANNEL:
		fprintf(out, "%s", net->value[stage->value].name);
		break;
	default:
		break;
	}
}

static void print_stage(const struct npu_net *net, const char *name,
			const struct npu_sdp_stage *stage, FILE *out)
{
	if (stage->bypass)
		return;
	fprintf(out, "    %s:", name);
	if (stage->alu_from != NPU_OPERAND_NONE) {
		fprintf(out, " %s ", alu_names[stage->alu_op]);
		print_operand(net, stage, stage->alu_from, stage->alu_value, out);
		if (stage->alu_shift)
			fprintf(out, "<<%u", stage->alu_shift);
	}
	if (stage->mul_from != NPU_OPERAND_NONE) {
		fprintf(out, " * ");
		print_operand(net, stage, stage->mul_from, stage->mul_value, out);
	}
	if (stage->mul_shift)
		fprintf(out, " >>%u", stage->mul_shift);
	fprintf(out, "%s%s\n", stage->prelu ? " where negative" : "", stage->relu ? " relu" : "");
}

static void print_ew(const struct npu_net *net, const struct npu_sdp_ew *ew, FILE *out)
{
	if (ew->mul_from != NPU_OPERAND_NONE)
		fprintf(out, "    ew: * (%s - %d)\n", net->value[ew->value].name, ew->mul_zero);
}

static void print_cdp(const struct npu_cdp *cdp, FILE *out)
{
	if (cdp->sum)
		fprintf(out, " * table of the squares of %u channels", cdp->sum);
	else
		fprintf(out, " table");
	fprintf(out, "@%llu", (unsigned long long)cdp->lut);
}

static void print_window(const struct npu_window *w, FILE *out)
{
	fprintf(out, " %ux%u", w->r, w->s);
	if (w->stride_y != 1 || w->stride_x != 1)
		fprintf(out, " stride %u,%u", w->stride_y, w->stride_x);
	if (w->dilation_y != 1 || w->dilation_x != 1)
		fprintf(out, " dilation %u,%u", w->dilation_y, w->dilation_x);
	if (w->pad_top || w->pad_left || w->pad_bottom || w->pad_right)
		fprintf(out, " pad %u,%u,%u,%u", w->pad_top, w->pad_left, w->pad_bottom,
			w->pad_right);
}

static void print_value(const struct npu_net *net, u32 index, FILE *out)
{
	const struct npu_value *v = &net->value[index];

	fprintf(out, "%%%u[%ux%ux%u]", index, v->h, v->w, v->c);
}

static void print_conv(const struct npu_layer *l, FILE *out)
{
	print_window(&l->window, out);
	fprintf(out, " c %u k %u", l->c, l->k);
	if (l->blocks > 1)
		fprintf(out, " blocks %u", l->blocks);
	if (l->repeat_surface)
		fprintf(out, " surface twice");
	fprintf(out, " weights %llu@%llu", (unsigned long long)(l->weight_bytes * l->blocks),
		(unsigned long long)l->weights);
	if (l->has_pool) {
		fprintf(out, ", pool %s", pool_names[l->pool.kind]);
		print_window(&l->pool.window, out);
	}
}

static void print_layer(const struct npu_net *net, u32 index, FILE *out)
{
	const struct npu_layer *l = &net->layer[index];
	u32 reads[NPU_LAYER_MAX_VALUES], count = npu_layer_reads(net, l, reads), i;

	fprintf(out, "  %3u %-4s %s:", index, npu_layer_kind_names[l->kind], l->name);
	for (i = 0; i < count; i++) {
		fprintf(out, " ");
		print_value(net, reads[i], out);
	}
	fprintf(out, " -> ");
	print_value(net, l->output, out);
	if (l->kind == NPU_LAYER_CONV)
		print_conv(l, out);
	if (l->kind == NPU_LAYER_PDP) {
		fprintf(out, " %s", pool_names[l->pool.kind]);
		print_window(&l->pool.window, out);
	}
	if (l->kind == NPU_LAYER_CDP)
		print_cdp(&l->cdp, out);
	if (l->patch_count)
		fprintf(out, " patches %u channels", l->patch_count);
	if (l->cpu_reason)
		fprintf(out, " (%s)", l->cpu_reason);
	fprintf(out, "\n");
	if (l->kind != NPU_LAYER_CONV && l->kind != NPU_LAYER_SDP)
		return;
	print_stage(net, "bs", &l->sdp.bs, out);
	print_stage(net, "bn", &l->sdp.bn, out);
	print_ew(net, &l->sdp.ew, out);
	if (l->sdp.cvt_offset || l->sdp.cvt_scale != 1 || l->sdp.cvt_shift)
		fprintf(out, "    cvt: - %d * %d >>%u\n", l->sdp.cvt_offset, l->sdp.cvt_scale,
			l->sdp.cvt_shift);
}

static const char *const layout_names[] = {
	[NPU_FEATURE] = "feature",
	[NPU_LINEAR] = "linear",
	[NPU_PIXELS] = "pixels",
};

static void print_values(const struct npu_net *net, FILE *out)
{
	u32 i;

	for (i = 0; i < net->value_count; i++) {
		const struct npu_value *v = &net->value[i];

		fprintf(out, "  ");
		print_value(net, i, out);
		fprintf(out, " %s %s scale %g zero %d bytes %llu", layout_names[v->layout],
			npu_dtype_names[v->dtype], v->scale, v->zero, (unsigned long long)v->bytes);
		if (v->alias != NPU_NONE)
			fprintf(out, " in %%%u+%llu", v->alias,
				(unsigned long long)v->alias_offset);
		fprintf(out, " \"%s\"\n", v->name);
	}
}

static void dump_text(const struct npu_net *net, FILE *out)
{
	u32 i;

	fprintf(out, "net for %s: %u layers, %u values, %llu bytes of weights and tables\nvalues\n",
		net->config->name, net->layer_count, net->value_count,
		(unsigned long long)net->weights_bytes);
	print_values(net, out);
	fprintf(out, "layers\n");
	for (i = 0; i < net->layer_count; i++)
		print_layer(net, i, out);
	fprintf(out, "inputs");
	for (i = 0; i < net->input_count; i++)
		fprintf(out, " %%%u", net->input[i]);
	fprintf(out, "\noutputs");
	for (i = 0; i < net->output_count; i++)
		fprintf(out, " %%%u", net->output[i]);
	fprintf(out, "\n");
}

/* A name as Graphviz text: names come from model files. */
static void print_quoted(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
}

static void dump_dot(const struct npu_net *net, FILE *out)
{
	u32 values[NPU_LAYER_MAX_VALUES], i, j, count;

	fprintf(out, "digraph net {\n  node [fontname=sans fontsize=10];\n");
	for (i = 0; i < net->value_count; i++) {
		const struct npu_value *v = &net->value[i];

		fprintf(out, "  v%u [shape=ellipse label=\"%ux%ux%u\"];\n", i, v->h, v->w, v->c);
		if (v->alias != NPU_NONE)
			fprintf(out, "  v%u -> v%u [style=dashed];\n", i, v->alias);
	}
	for (i = 0; i < net->layer_count; i++) {
		const struct npu_layer *l = &net->layer[i];

		fprintf(out, "  l%u [shape=box style=filled fillcolor=%s label=\"%s\\n", i,
			l->kind == NPU_LAYER_CPU ? "lightsalmon" : "lightblue",
			npu_layer_kind_names[l->kind]);
		print_quoted(l->name, out);
		fprintf(out, "\"];\n");
		count = npu_layer_reads(net, l, values);
		for (j = 0; j < count; j++)
			fprintf(out, "  v%u -> l%u;\n", values[j], i);
		count = npu_layer_writes(net, l, values);
		for (j = 0; j < count; j++)
			fprintf(out, "  l%u -> v%u;\n", i, values[j]);
	}
	fprintf(out, "}\n");
}

void npu_net_dump(const struct npu_net *net, enum npu_dump_format format, FILE *out)
{
	if (format == NPU_DUMP_DOT)
		dump_dot(net, out);
	else
		dump_text(net, out);
}
