// SPDX-License-Identifier: MIT
/* Traffic and time against the budget. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "columns.h"
#include "file.h"
#include "report.h"

/* A plan for one number of banks. */
struct point {
	u32 banks;
	bool legal;
	struct npu_cost cost;
	u32 tasks;
	u32 left_to_cpu; /* layers; their bytes and cycles are in no sum */
	u64 arena_bytes;
	u64 plan_ns;
	char reason[sizeof(((struct npu_diag *)0)->text)];
};

struct sweep {
	const struct npu_program *program;
	struct point *point; /* banks from 1 up */
	u32 count;
	u64 compulsory_bytes, bound_bytes, bound_cycles; /* with the whole buffer */
};

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

static u32 left_to_cpu(const struct npu_plan *plan)
{
	u32 i, layers = 0;

	for (i = 0; i < plan->unit_count; i++)
		layers += plan->unit[i].count;
	return layers;
}

static int plan_point(struct sweep *s, struct point *p, struct npu_diag *diag)
{
	const struct npu_net *net = s->program->net;
	struct npu_budget budget = s->program->plan->budget;
	struct npu_diag why = { "" };
	struct npu_plan *plan;
	u64 start = now_ns();
	int err;

	budget.banks = p->banks;
	err = npu_plan_net(net, &budget, &plan, &why);
	p->plan_ns = now_ns() - start;
	if (err && err != -ENOSPC)
		return npu_diag_set(diag, err, "%s", why.text);
	memcpy(p->reason, why.text, sizeof(p->reason));
	if (err)
		return 0;
	p->legal = true;
	p->cost = plan->cost;
	p->tasks = plan->task_count;
	p->left_to_cpu = left_to_cpu(plan);
	if (plan->unit_count)
		snprintf(p->reason, sizeof(p->reason), "%s", plan->unit[0].reason);
	p->arena_bytes = plan->arena_bytes;
	s->compulsory_bytes = npu_plan_compulsory_bytes(plan, net->layer_count);
	s->bound_bytes = npu_plan_bound_bytes(plan, net->layer_count);
	s->bound_cycles = npu_plan_bound_cycles(plan, net->layer_count);
	npu_plan_free(plan);
	return 0;
}

static void put_csv(const struct sweep *s, FILE *out)
{
	const struct nvdla_config *c = s->program->net->config;
	u32 i;

	fputs("banks,buffer_bytes,legal,dram_bytes,feature_bytes,weight_bytes,operand_bytes,"
	      "output_bytes,cycles,tasks,arena_bytes,plan_us,compulsory_bytes,optimum_bytes,"
	      "bound_cycles,left_to_cpu,reason\n",
	      out);
	for (i = 0; i < s->count; i++) {
		const struct point *p = &s->point[i];
		const char *reason = p->reason;

		fprintf(out, "%u,%u,%d,", p->banks, p->banks * c->entries * c->entry_bytes,
			p->legal);
		if (p->legal)
			fprintf(out,
				"%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
				",%" PRIu64 ",%u,%" PRIu64,
				npu_cost_bytes(&p->cost), p->cost.feature_bytes,
				p->cost.weight_bytes, p->cost.operand_bytes, p->cost.output_bytes,
				p->cost.cycles, p->tasks, p->arena_bytes);
		else
			fputs(",,,,,,,", out);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,\"",
			p->plan_ns / 1000, s->compulsory_bytes, s->bound_bytes, s->bound_cycles,
			p->left_to_cpu);
		for (; *reason; reason++)
			fprintf(out, *reason == '"' ? "\"\"" : "%c", *reason);
		fputs("\"\n", out);
	}
}

/* ---- the plot ---- */

#define PLOT_WIDTH 720.0
#define PLOT_HEIGHT 260.0
#define LEFT 90.0
#define TOP 46.0
#define GAP 90.0

/* One of the two diagrams: a curve over banks and lines that it cannot go below. */
struct diagram {
	const char *title;
	const char *unit;
	double divisor;
	double top; /* y of its upper edge */
	double high; /* value at the upper edge */
};

static double value_of(const struct point *p, bool cycles)
{
	return cycles ? (double)p->cost.cycles : (double)npu_cost_bytes(&p->cost);
}

static double plot_x(const struct sweep *s, double banks)
{
	return LEFT + (banks - 1) / max((double)s->count - 1, 1.0) * PLOT_WIDTH;
}

static double plot_y(const struct diagram *d, double value)
{
	return d->top + PLOT_HEIGHT - value / d->high * PLOT_HEIGHT;
}

static void put_axes(const struct sweep *s, const struct diagram *d, FILE *out)
{
	u32 i, step = s->count > 16 ? 4 : 2;

	fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" class=\"title\">", LEFT, d->top - 14);
	fputs(d->title, out);
	fputs("</text>\n", out);
	for (i = 0; i <= 4; i++) {
		double value = d->high * i / 4, y = plot_y(d, value);

		fprintf(out,
			"<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n"
			"<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.3g %s</text>\n",
			LEFT, LEFT + PLOT_WIDTH, y, y, LEFT - 8, y + 4, value / d->divisor,
			d->unit);
	}
	for (i = step; i <= s->count; i += step)
		fprintf(out, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%u</text>\n",
			plot_x(s, i), d->top + PLOT_HEIGHT + 18, i);
	fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">banks</text>\n",
		LEFT + PLOT_WIDTH / 2, d->top + PLOT_HEIGHT + 36);
}

static void put_level(const struct diagram *d, double value, const char *class, const char *name,
		      double shift, FILE *out)
{
	double y = plot_y(d, value);

	fprintf(out,
		"<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n"
		"<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
		LEFT, LEFT + PLOT_WIDTH, y, y, class, LEFT + PLOT_WIDTH, y + shift, name);
}

static void put_curve(const struct sweep *s, const struct diagram *d, bool cycles, FILE *out)
{
	u32 i;

	fputs("<polyline class=\"curve\" points=\"", out);
	for (i = 0; i < s->count; i++)
		if (s->point[i].legal)
			fprintf(out, "%.1f,%.1f ", plot_x(s, s->point[i].banks),
				plot_y(d, value_of(&s->point[i], cycles)));
	fputs("\"/>\n", out);
	for (i = 0; i < s->count; i++)
		if (s->point[i].legal)
			fprintf(out,
				"<circle%s cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%u banks: "
				"%.0f, and %u layers on the CPU for want of banks</title>"
				"</circle>\n",
				s->point[i].left_to_cpu ? " class=\"part\"" : "",
				plot_x(s, s->point[i].banks),
				plot_y(d, value_of(&s->point[i], cycles)), s->point[i].banks,
				value_of(&s->point[i], cycles), s->point[i].left_to_cpu);
}

static double highest(const struct sweep *s, bool cycles)
{
	double high = 1;
	u32 i;

	for (i = 0; i < s->count; i++)
		if (s->point[i].legal)
			high = max(high, value_of(&s->point[i], cycles));
	return high * 1.05;
}

static void put_svg(const struct sweep *s, FILE *out)
{
	struct diagram bytes = { "DRAM traffic", "MB", 1e6, TOP, highest(s, false) };
	struct diagram cycles = { "Cycles", "M", 1e6, TOP + PLOT_HEIGHT + GAP, highest(s, true) };
	double high = cycles.top + PLOT_HEIGHT + 50;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<style>text{fill:#33414e}.title{font-size:15px;font-weight:bold}"
		".grid{stroke:#dde2e7}.curve{fill:none;stroke:#2f7ed8;stroke-width:2}"
		"circle{fill:#2f7ed8}.part{fill:#fff;stroke:#2f7ed8}.least{stroke:#2a9d6f;stroke-"
		"dasharray:6 4}"
		".best{stroke:#d9822b;stroke-dasharray:2 3}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		LEFT + PLOT_WIDTH + 30, high);
	fprintf(out, "<text x=\"%.0f\" y=\"18\">", LEFT);
	npu_put_xml(npu_program_name(s->program), out);
	fprintf(out, " on %s</text>\n", s->program->net->config->name);
	put_axes(s, &bytes, out);
	put_level(&bytes, (double)s->bound_bytes, "best", "every layer at its optimum", -5, out);
	put_level(&bytes, (double)s->compulsory_bytes, "least", "every byte once", 14, out);
	put_curve(s, &bytes, false, out);
	put_axes(s, &cycles, out);
	put_level(&cycles, (double)s->bound_cycles, "least", "MAC array or bus without a pause", 14,
		  out);
	put_curve(s, &cycles, true, out);
	fputs("</svg>\n", out);
}

static int write_files(const struct sweep *s, const char *csv_path, const char *svg_path,
		       struct npu_diag *diag)
{
	struct npu_file files[2] = { { 0 } };
	int err = npu_file_begin(&files[0], NULL, csv_path, diag);

	if (!err)
		err = npu_file_begin(&files[1], NULL, svg_path, diag);
	if (!err) {
		put_csv(s, files[0].text);
		put_svg(s, files[1].text);
		return npu_files_commit(files, 2, diag);
	}
	npu_files_drop(files, 2);
	return err;
}

int npu_sweep(struct npu_program *program, const char *csv_path, const char *svg_path,
	      struct npu_diag *diag)
{
	struct sweep s = { .program = program, .count = program->net->config->banks };
	int err = 0;
	u32 i;

	s.point = calloc(s.count, sizeof(*s.point));
	if (!s.point)
		return npu_diag_set(diag, -ENOMEM, "out of memory");
	/* The whole buffer comes last: its bounds are those that lines are drawn for. */
	for (i = 0; i < s.count && !err; i++) {
		s.point[i].banks = i + 1;
		err = plan_point(&s, &s.point[i], diag);
	}
	if (!err)
		err = write_files(&s, csv_path, svg_path, diag);
	free(s.point);
	return err;
}
