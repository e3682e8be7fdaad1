// SPDX-License-Identifier: MIT
/*
 * What is supported, for people and programs: a table of the graph's operators, and one of each
 * framework's.  Nothing is known here; everything comes from the tables that decide.
 */
#include "../program.h"

#include "../optimise/support.h"

#include "json.h"

/* What the CPU does is called so in the tables. */
static const char *unit_of(enum npu_op_kind kind)
{
	const char *unit = npu_op_support[kind].unit;

	return unit ? unit : "CPU";
}

static bool is_shown(const struct nvdla_config *only, const struct nvdla_config *config)
{
	return !only || only == config;
}

/* ---- text ---- */

static void put_row(FILE *out, const struct nvdla_config *only, const char *name,
		    enum npu_op_kind kind)
{
	u32 i;

	fprintf(out, "| %s ", name);
	for (i = 0; i < nvdla_config_count; i++)
		if (is_shown(only, &nvdla_configs[i]))
			fprintf(out, "| %s ", unit_of(kind));
}

static void put_head(FILE *out, const struct nvdla_config *only, const char *last)
{
	u32 i;

	fprintf(out, "| operator ");
	for (i = 0; i < nvdla_config_count; i++)
		if (is_shown(only, &nvdla_configs[i]))
			fprintf(out, "| %s ", nvdla_configs[i].name);
	fprintf(out, "| %s |\n|---", last);
	for (i = 0; i < nvdla_config_count; i++)
		if (is_shown(only, &nvdla_configs[i]))
			fputs("|---", out);
	fputs("|---|\n", out);
}

static void put_graph_text(FILE *out, const struct nvdla_config *only)
{
	u32 kind;

	put_head(out, only, "where");
	for (kind = 0; kind < NPU_OP_COUNT; kind++) {
		const char *limits = npu_op_support[kind].limits;

		put_row(out, only, npu_op_names[kind], kind);
		fprintf(out, "| %s |\n", limits ? limits : "");
	}
}

static void put_framework_text(FILE *out, const struct nvdla_config *only,
			       const struct npu_framework *framework)
{
	struct npu_framework_operator op;
	char name[80];
	u32 i;

	fprintf(out, "\n## %s\n\n", framework->name);
	put_head(out, only, "becomes");
	for (i = 0; framework->list(i, &op); i++) {
		snprintf(name, sizeof(name), "%s%s%s", op.domain, *op.domain ? "." : "", op.name);
		put_row(out, only, name, op.kind);
		fprintf(out, "| %s |\n", npu_op_names[op.kind]);
	}
}

static void put_text(FILE *out, const struct nvdla_config *only)
{
	u32 i;

	fputs("# Operators\n\n"
	      "Which unit of the NPU does an operator, by configuration, and where it can. What "
	      "does not\n"
	      "fit becomes a step of the CPU; the report of a compilation has the reason for "
	      "each.\n"
	      "This page is what `npuc --supported-ops` prints, from the tables that decide.\n\n"
	      "On the NPU: INT8 and UINT8, one image, no dimension above 8192.\n\n"
	      "## Operators of the graph\n\n",
	      out);
	put_graph_text(out, only);
	for (i = 0; i < npu_framework_count; i++)
		put_framework_text(out, only, &npu_frameworks[i]);
}

/* ---- JSON ---- */

static int add_units(struct json_object *object, const struct nvdla_config *only,
		     enum npu_op_kind kind)
{
	struct json_object *units = npu_json_object(object, "units");
	int err = units ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < nvdla_config_count && !err; i++)
		if (is_shown(only, &nvdla_configs[i]))
			err = npu_json_text(units, nvdla_configs[i].name, unit_of(kind));
	return err;
}

static int add_graph(struct json_object *root, const struct nvdla_config *only)
{
	struct json_object *array = npu_json_array(root, "graph");
	int err = array ? 0 : -ENOMEM;
	u32 kind;

	for (kind = 0; kind < NPU_OP_COUNT && !err; kind++) {
		struct json_object *object = npu_json_element(array);
		const char *limits = npu_op_support[kind].limits;

		err = object ? npu_json_text(object, "operator", npu_op_names[kind]) : -ENOMEM;
		if (!err)
			err = add_units(object, only, kind);
		if (!err && limits)
			err = npu_json_text(object, "where", limits);
	}
	return err;
}

static int add_framework(struct json_object *root, const struct nvdla_config *only,
			 const struct npu_framework *framework)
{
	struct json_object *array = npu_json_array(root, framework->name);
	struct npu_framework_operator op;
	int err = array ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; !err && framework->list(i, &op); i++) {
		struct json_object *object = npu_json_element(array);

		err = object ? npu_json_text(object, "operator", op.name) : -ENOMEM;
		if (!err && *op.domain)
			err = npu_json_text(object, "domain", op.domain);
		if (!err)
			err = npu_json_text(object, "becomes", npu_op_names[op.kind]);
		if (!err)
			err = add_units(object, only, op.kind);
	}
	return err;
}

static int put_json(FILE *out, const struct nvdla_config *only)
{
	struct json_object *root = npu_json_new();
	struct json_object *frameworks = root ? npu_json_object(root, "frameworks") : NULL;
	int err = frameworks ? add_graph(root, only) : -ENOMEM;
	u32 i;

	for (i = 0; i < npu_framework_count && !err; i++)
		err = add_framework(frameworks, only, &npu_frameworks[i]);
	return npu_json_put(root, err, out);
}

int npu_supported_ops(const struct nvdla_config *config, bool json, FILE *out)
{
	if (json)
		return put_json(out, config);
	put_text(out, config);
	return 0;
}
