// SPDX-License-Identifier: MIT
/* The files of a report, and the answer to --why. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "columns.h"
#include "file.h"
#include "html.h"
#include "json.h"

int npu_report_summary(const struct npu_program *program, FILE *out)
{
	struct json_object *object = npu_json_new();
	int err = object ? npu_json_text(object, "model", npu_program_name(program)) : -ENOMEM;
	u32 i;

	if (!err)
		err = npu_json_text(object, "config", program->net->config->name);
	for (i = 0; i < npu_total_count && !err; i++)
		err = npu_json_add(object, npu_totals[i].name,
				   json_object_new_int64((int64_t)npu_totals[i].number(program)));
	return npu_json_put(object, err, out);
}

static int add_layer(struct json_object *object, const struct npu_program *program, u32 layer)
{
	char room[NPU_WHY_BYTES];
	int err = 0;
	u32 i;

	for (i = 0; i < npu_column_count && !err; i++) {
		const struct npu_column *c = &npu_columns[i];

		err = npu_json_add(
			object, c->name,
			c->number ? json_object_new_int64((int64_t)c->number(program, layer))
				  : json_object_new_string(c->text(program, layer, room)));
	}
	return err;
}

static int put_layers_json(const struct npu_program *program, FILE *out)
{
	struct json_object *array = json_object_new_array();
	int err = array ? 0 : -ENOMEM;
	u32 layer;

	for (layer = 0; layer < program->net->layer_count && !err; layer++) {
		struct json_object *object = npu_json_element(array);

		err = object ? add_layer(object, program, layer) : -ENOMEM;
	}
	return npu_json_put(array, err, out);
}

static void put_csv_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static int put_layers_csv(const struct npu_program *program, FILE *out)
{
	char room[NPU_WHY_BYTES];
	u32 layer, i;

	for (i = 0; i < npu_column_count; i++)
		fprintf(out, "%s%s", i ? "," : "", npu_columns[i].name);
	fputc('\n', out);
	for (layer = 0; layer < program->net->layer_count; layer++)
		for (i = 0; i < npu_column_count; i++) {
			const struct npu_column *c = &npu_columns[i];

			if (i)
				fputc(',', out);
			if (c->number)
				fprintf(out, "%" PRIu64, c->number(program, layer));
			else
				put_csv_text(c->text(program, layer, room), out);
			if (i + 1 == npu_column_count)
				fputc('\n', out);
		}
	return 0;
}

static const struct {
	const char *name;
	int (*put)(const struct npu_program *program, FILE *out);
} reports[] = {
	{ "summary.json", npu_report_summary },
	{ "layers.csv", put_layers_csv },
	{ "layers.json", put_layers_json },
	{ "report.html", npu_report_html },
};

int npu_report_write(const struct npu_program *program, const char *dir, struct npu_diag *diag)
{
	struct npu_file files[ARRAY_SIZE(reports)] = { { 0 } };
	int err = 0;
	u32 i;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return npu_diag_set(diag, -errno, "%s: %s", dir, strerror(errno));
	for (i = 0; i < ARRAY_SIZE(reports) && !err; i++) {
		err = npu_file_begin(&files[i], dir, reports[i].name, diag);
		if (!err && reports[i].put(program, files[i].text))
			err = npu_diag_set(diag, -ENOMEM, "%s: out of memory", files[i].path);
	}
	if (!err)
		return npu_files_commit(files, ARRAY_SIZE(files), diag);
	npu_files_drop(files, ARRAY_SIZE(files));
	return err;
}

int npu_report_why(const struct npu_program *program, const char *layer, FILE *out)
{
	char why[NPU_WHY_BYTES];
	int err = -ENOENT;
	u32 i;

	for (i = 0; i < program->net->layer_count; i++)
		if (!strcmp(program->net->layer[i].name, layer)) {
			npu_plan_why(program->net, program->plan, i, why, sizeof(why));
			fprintf(out, "%s: %s\n", layer, why);
			err = 0;
		}
	return err;
}
