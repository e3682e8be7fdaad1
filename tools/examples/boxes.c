// SPDX-License-Identifier: MIT
/*
 * Finds objects or faces in a picture: a detector on the NPU, boxes from its outputs (tools/detect),
 * as text, JSON or drawn into the picture.
 *
 *	boxes MODEL PICTURE --head yolo --anchors 9,14,12,17,22,21,32,36 [OPTION]...
 */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/element.h"
#include "../common/image.h"
#include "../common/tensor_file.h"
#include "../common/tool.h"
#include "../detect/detect.h"
#include "npu.h"

#define NAME "boxes"
#define MAX_OUTPUTS 32
#define MAX_PICTURE ((size_t)1 << 28)
#define MAX_LABELS ((size_t)16 << 20)

static const char help[] =
	"usage: boxes MODEL PICTURE --head HEAD [OPTION]...\n"
	"Find what a detector sees in a picture.\n"
	"\n"
	"  --head HEAD      how the model codes boxes: yolo (2 to 4), yolo8, ssd, yunet\n"
	"  --anchors W,H..  yolo: widths and heights in pixels, those of the first output first\n"
	"  --priors FILE    ssd: .npy [n, 4], centre y, x, height, width (default: TensorFlow's)\n"
	"  --background     ssd: class 0 is none\n"
	"  --score S        least score (default 0.5)\n"
	"  --overlap O      of boxes that share more than this the best is kept (default 0.45)\n"
	"  --labels FILE    names of the classes, one a line\n"
	"  --device NAME    the NPU (default: as npu-run)\n"
	"  --pixels ORDER   let the NPU convert the picture: r8, rgba, bgra, ...\n"
	"  --draw FILE      the picture with boxes, as PPM\n"
	"  --json           print as JSON\n"
	"  --help           print this\n"
	"\n"
	"How the picture is read:\n";

struct options {
	const char *model, *picture, *head, *priors, *labels, *device, *pixels, *draw;
	struct tool_input_options read;
	struct detect_options detect;
	bool json;
};

struct boxes {
	const struct options *o;
	struct npu_device *device;
	struct npu_model *model;
	struct tool_image picture; /* as it is, in colours */
	struct detect_options detect;
	float (*priors)[4];
	char *label_text;
	char **label;
	size_t label_count;
	struct detect_tensor tensor[MAX_OUTPUTS];
	unsigned outputs;
	struct detections found;
};

static int failed(void)
{
	return tool_error(NAME, "%s", npu_error());
}

/* ---- files ---- */

static int read_picture(struct boxes *b)
{
	char text[200];
	uint8_t *data;
	size_t bytes;
	int err = tool_read_file(b->o->picture, MAX_PICTURE, &data, &bytes);

	if (err)
		return tool_error(NAME, "%s: %s", b->o->picture, strerror(-err));
	err = tool_image_decode(data, bytes, 3, &b->picture, text);
	free(data);
	return err ? tool_error(NAME, "%s: %s", b->o->picture, text) : TOOL_OK;
}

static int read_labels(struct boxes *b)
{
	size_t bytes, i, lines = 1;
	char *rest, *line;
	int err = tool_read_file(b->o->labels, MAX_LABELS, (uint8_t **)&b->label_text, &bytes);

	if (err)
		return tool_error(NAME, "%s: %s", b->o->labels, strerror(-err));
	for (i = 0; i < bytes; i++)
		lines += b->label_text[i] == '\n';
	b->label = calloc(lines, sizeof(*b->label));
	if (!b->label)
		return tool_error(NAME, "out of memory");
	for (rest = b->label_text; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "\r")] = '\0';
		tool_clean_text(line);
		b->label[b->label_count++] = line;
	}
	return TOOL_OK;
}

static const char *label(const struct boxes *b, uint32_t class, char number[16])
{
	if (class < b->label_count && *b->label[class])
		return b->label[class];
	snprintf(number, 16, "%u", class);
	return number;
}

/* [n, 4] of a .npy. */
static int read_priors(struct boxes *b)
{
	struct tool_array array;
	struct npu_tensor_info info = { .type = NPU_TYPE_FLOAT32, .rank = 2 };
	char text[200] = "";
	uint8_t *data;
	size_t bytes;
	int err = tool_read_file(b->o->priors, MAX_PICTURE, &data, &bytes);

	if (err)
		return tool_error(NAME, "%s: %s", b->o->priors, strerror(-err));
	if (!tool_is_npy(data, bytes) || tool_npy_parse(data, bytes, &array, text) ||
	    array.rank != 2 || array.dim[1] != 4 || array.dim[0] > UINT32_MAX / 16) {
		free(data);
		return tool_error(NAME, "%s: no .npy of [n, 4]: %s", b->o->priors, text);
	}
	info.shape[0] = (uint32_t)array.dim[0];
	info.shape[1] = 4;
	b->priors = calloc(info.shape[0] + 1, sizeof(*b->priors));
	if (b->priors)
		err = tool_array_store(&array, &info, b->priors, text);
	free(data);
	if (!b->priors || err)
		return tool_error(NAME, "%s: %s", b->o->priors, b->priors ? text : "out of memory");
	b->detect.prior_count = info.shape[0];
	return TOOL_OK;
}

/* ---- the run ---- */

/* Height and width of the model's image. */
static int set_size(struct boxes *b, const struct npu_tensor_info *in)
{
	const uint32_t *s = in->shape;
	bool first = s[3] != 1 && s[3] != 3 && (s[1] == 1 || s[1] == 3);

	if (in->rank != 4)
		return tool_error(NAME, "%s: the input is no image", b->o->model);
	b->detect.height = first ? s[2] : s[1];
	b->detect.width = first ? s[3] : s[2];
	if (in->pixels && in->pixels[0] == 'n')
		b->detect.height = s[1] / 3;
	return TOOL_OK;
}

static int open_model(struct boxes *b)
{
	struct npu_model_options options = { .size = sizeof(options), .pixels = b->o->pixels };
	const struct tool_normal *normal = &b->o->read.normal;
	unsigned i;

	for (i = 0; i < 4 && normal->count; i++) {
		options.pixel_mean[i] = (float)normal->mean[i];
		options.pixel_scale[i] = (float)normal->scale[i];
	}
	if (npu_open(b->o->device, &b->device) ||
	    npu_model_load(b->device, b->o->model, &options, &b->model))
		return failed();
	if (npu_model_input_count(b->model) != 1 || npu_model_output_count(b->model) > MAX_OUTPUTS)
		return tool_error(NAME, "%s: not one input and up to %d outputs", b->o->model,
				  MAX_OUTPUTS);
	return TOOL_OK;
}

/* An output's elements as real numbers. */
static int keep_output(struct boxes *b, unsigned index, const void *data)
{
	struct npu_tensor_info info = { .size = sizeof(info) };
	struct detect_tensor *t = &b->tensor[index];
	uint64_t count, i;
	float *real;

	npu_model_output(b->model, index, &info);
	count = tool_elements(&info);
	real = calloc(count + 1, sizeof(*real));
	if (!real)
		return tool_error(NAME, "out of memory");
	for (i = 0; i < count; i++)
		real[i] = (float)tool_real(&info, data, i);
	*t = (struct detect_tensor){ .name = info.name, .rank = info.rank, .real = real };
	memcpy(t->shape, info.shape, sizeof(t->shape));
	b->outputs = index + 1;
	return TOOL_OK;
}

static int run_with(struct boxes *b, const struct npu_input *input, struct npu_output *output)
{
	unsigned count = npu_model_output_count(b->model), i;
	struct npu_tensor_info info = { .size = sizeof(info) };
	int status = TOOL_OK;

	for (i = 0; i < count; i++) {
		npu_model_output(b->model, i, &info);
		output[i] = (struct npu_output){ calloc(info.bytes + 1, 1), info.bytes };
		if (!output[i].data)
			return tool_error(NAME, "out of memory");
	}
	if (npu_run(b->model, input, 1, output, count, NULL))
		return failed();
	for (i = 0; i < count && !status; i++)
		status = keep_output(b, i, output[i].data);
	return status;
}

static int run_model(struct boxes *b)
{
	struct npu_output output[MAX_OUTPUTS] = { 0 };
	struct npu_tensor_info in = { .size = sizeof(in) };
	struct npu_input input;
	char text[200];
	void *data;
	unsigned i;
	int status;

	npu_model_input(b->model, 0, &in);
	status = set_size(b, &in);
	if (status)
		return status;
	if (tool_load_tensor(b->o->picture, &in, 0, &b->o->read, &data, text))
		return tool_error(NAME, "%s: %s", b->o->picture, text);
	input = (struct npu_input){ data, in.bytes };
	status = run_with(b, &input, output);
	for (i = 0; i < MAX_OUTPUTS; i++)
		free(output[i].data);
	free(data);
	return status;
}

static int find(struct boxes *b)
{
	char text[200];
	int status = TOOL_OK;

	if (b->o->priors)
		status = read_priors(b);
	else if (strcmp(b->o->head, "ssd") == 0)
		b->detect.prior_count =
			detect_ssd_priors(b->detect.width, b->detect.height, &b->priors);
	if (status)
		return status;
	b->detect.priors = (const float(*)[4])b->priors;
	if (detect(b->o->head, b->tensor, b->outputs, &b->detect, &b->found, text))
		return tool_error(NAME, "%s: %s", b->o->model, text);
	return TOOL_OK;
}

/* ---- what was found ---- */

/* From the model's image to the picture, as it was fitted. */
static void to_picture(const struct boxes *b, float x, float y, float *px, float *py)
{
	float width = (float)b->picture.width, height = (float)b->picture.height;
	float across = (float)b->detect.width / width, down = (float)b->detect.height / height;
	float scale = b->o->read.fit == TOOL_FIT_PAD ? fminf(across, down) : fmaxf(across, down);

	if (b->o->read.fit == TOOL_FIT_STRETCH) {
		*px = x * width;
		*py = y * height;
		return;
	}
	*px = (x - 0.5f) * (float)b->detect.width / scale + width / 2;
	*py = (y - 0.5f) * (float)b->detect.height / scale + height / 2;
}

static void picture_box(const struct boxes *b, const struct detection *d, float box[4])
{
	to_picture(b, d->x0, d->y0, &box[0], &box[1]);
	to_picture(b, d->x1, d->y1, &box[2], &box[3]);
}

static void print_text(const struct boxes *b)
{
	char number[16];
	float box[4];
	size_t i;

	for (i = 0; i < b->found.count; i++) {
		const struct detection *d = &b->found.found[i];

		picture_box(b, d, box);
		printf("%-16s %.3f  %7.1f %7.1f  %7.1f %7.1f\n", label(b, d->class, number),
		       (double)d->score, (double)box[0], (double)box[1], (double)box[2],
		       (double)box[3]);
	}
}

/* JSON has no infinities: null. */
static struct json_object *json_number(float number)
{
	return isfinite(number) ? json_object_new_double((double)number) : NULL;
}

static struct json_object *json_pair(float x, float y)
{
	struct json_object *pair = json_object_new_array();

	json_object_array_add(pair, json_number(x));
	json_object_array_add(pair, json_number(y));
	return pair;
}

static struct json_object *json_detection(const struct boxes *b, const struct detection *d)
{
	struct json_object *object = json_object_new_object(), *box = json_object_new_array(),
			   *points = json_object_new_array();
	char number[16];
	float corner[4], x, y;
	uint32_t i;

	picture_box(b, d, corner);
	json_object_array_add(box, json_pair(corner[0], corner[1]));
	json_object_array_add(box, json_pair(corner[2], corner[3]));
	json_object_object_add(object, "class", json_object_new_int64(d->class));
	json_object_object_add(object, "label", json_object_new_string(label(b, d->class, number)));
	json_object_object_add(object, "score", json_number(d->score));
	json_object_object_add(object, "box", box);
	for (i = 0; i < d->points; i++) {
		to_picture(b, d->point[i][0], d->point[i][1], &x, &y);
		json_object_array_add(points, json_pair(x, y));
	}
	json_object_object_add(object, "points", points);
	return object;
}

static void print_json(const struct boxes *b)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < b->found.count; i++)
		json_object_array_add(array, json_detection(b, &b->found.found[i]));
	printf("%s\n", json_object_to_json_string_ext(array, JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
}

static void draw_dot(const struct boxes *b, float x, float y)
{
	static const uint8_t green[3] = { 0, 255, 0 };

	/* What is no number is not inside either. */
	if (!(x >= 0 && y >= 0 && x < (float)b->picture.width && y < (float)b->picture.height))
		return;
	memcpy(b->picture.pixel + 3 * ((size_t)y * b->picture.width + (size_t)x), green, 3);
}

static void draw_box(const struct boxes *b, const struct detection *d)
{
	float box[4], x, y;
	uint32_t i;

	picture_box(b, d, box);
	/* What lies outside of the picture is not drawn, however far that is. */
	for (x = fmaxf(box[0], 0); x <= fminf(box[2], (float)b->picture.width); x++) {
		draw_dot(b, x, box[1]);
		draw_dot(b, x, box[3]);
	}
	for (y = fmaxf(box[1], 0); y <= fminf(box[3], (float)b->picture.height); y++) {
		draw_dot(b, box[0], y);
		draw_dot(b, box[2], y);
	}
	for (i = 0; i < d->points; i++) {
		to_picture(b, d->point[i][0], d->point[i][1], &x, &y);
		draw_dot(b, x, y);
	}
}

static int draw(const struct boxes *b)
{
	size_t bytes = (size_t)b->picture.width * b->picture.height * 3, i;
	FILE *file = fopen(b->o->draw, "wbe");
	bool good;

	if (!file)
		return tool_error(NAME, "%s: %s", b->o->draw, strerror(errno));
	for (i = 0; i < b->found.count; i++)
		draw_box(b, &b->found.found[i]);
	fprintf(file, "P6 %u %u 255\n", b->picture.width, b->picture.height);
	good = fwrite(b->picture.pixel, 1, bytes, file) == bytes;
	good = fclose(file) == 0 && good;
	return good ? TOOL_OK : tool_error(NAME, "%s: %s", b->o->draw, strerror(errno));
}

static void clean_up(struct boxes *b)
{
	unsigned i;

	for (i = 0; i < b->outputs; i++)
		free((void *)(uintptr_t)b->tensor[i].real);
	npu_model_free(b->model);
	npu_close(b->device);
	tool_image_free(&b->picture);
	free(b->priors);
	free(b->label);
	free(b->label_text);
	free(b->found.found);
}

static int show(const struct options *o)
{
	struct boxes b = { .o = o, .detect = o->detect };
	int status = read_picture(&b);

	if (!status && o->labels)
		status = read_labels(&b);
	if (!status)
		status = open_model(&b);
	if (!status)
		status = run_model(&b);
	if (!status)
		status = find(&b);
	if (!status && o->json)
		print_json(&b);
	else if (!status)
		print_text(&b);
	if (!status && o->draw)
		status = draw(&b);
	clean_up(&b);
	return status;
}

/* ---- options ---- */

enum {
	OPT_HEAD,
	OPT_ANCHORS,
	OPT_PRIORS,
	OPT_BACKGROUND,
	OPT_SCORE,
	OPT_OVERLAP,
	OPT_LABELS,
	OPT_DEVICE,
	OPT_PIXELS,
	OPT_DRAW,
	OPT_JSON,
	OPT_READ,
	OPT_HELP
};

static const struct option known[] = {
	{ "head", required_argument, NULL, OPT_HEAD },
	{ "anchors", required_argument, NULL, OPT_ANCHORS },
	{ "priors", required_argument, NULL, OPT_PRIORS },
	{ "background", no_argument, NULL, OPT_BACKGROUND },
	{ "score", required_argument, NULL, OPT_SCORE },
	{ "overlap", required_argument, NULL, OPT_OVERLAP },
	{ "labels", required_argument, NULL, OPT_LABELS },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "pixels", required_argument, NULL, OPT_PIXELS },
	{ "draw", required_argument, NULL, OPT_DRAW },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "fit", required_argument, NULL, OPT_READ },
	{ "order", required_argument, NULL, OPT_READ },
	{ "mean", required_argument, NULL, OPT_READ },
	{ "scale", required_argument, NULL, OPT_READ },
	{ "rate", required_argument, NULL, OPT_READ },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static const char **text_option(struct options *o, int c)
{
	switch (c) {
	case OPT_HEAD:
		return &o->head;
	case OPT_PRIORS:
		return &o->priors;
	case OPT_LABELS:
		return &o->labels;
	case OPT_DEVICE:
		return &o->device;
	case OPT_PIXELS:
		return &o->pixels;
	case OPT_DRAW:
		return &o->draw;
	default:
		return NULL;
	}
}

/* A number from 0 to 1. */
static bool parse_part(const char *text, float *part)
{
	char *end;

	*part = strtof(text, &end);
	return end != text && !*end && *part >= 0 && *part <= 1;
}

static bool parse_anchors(const char *text, struct detect_options *o)
{
	float *number = &o->anchors[0][0];
	uint32_t count = 0;
	char *end;

	do {
		if (count == 2 * DETECT_MAX_ANCHORS)
			return false;
		number[count] = strtof(text, &end);
		if (end == text || !(number[count] > 0))
			return false;
		count++;
		text = end + 1;
	} while (*end == ',');
	o->anchor_count = count / 2;
	return !*end && count % 2 == 0;
}

static int set_option(struct options *o, int c, const char *name, const char *value)
{
	const char **kept = text_option(o, c);
	char text[200];

	if (kept) {
		*kept = value;
		return TOOL_OK;
	}
	switch (c) {
	case OPT_ANCHORS:
		return parse_anchors(value, &o->detect)
			       ? TOOL_OK
			       : tool_usage(NAME, "--anchors: not up to %d pairs of numbers",
					    DETECT_MAX_ANCHORS);
	case OPT_BACKGROUND:
		o->detect.background = true;
		return TOOL_OK;
	case OPT_SCORE:
	case OPT_OVERLAP:
		return parse_part(value, c == OPT_SCORE ? &o->detect.score : &o->detect.overlap)
			       ? TOOL_OK
			       : tool_usage(NAME, "--%s: not from 0 to 1", name);
	case OPT_JSON:
		o->json = true;
		return TOOL_OK;
	case OPT_READ:
		return tool_input_option(&o->read, name, value, text) ? tool_usage(NAME, "%s", text)
								      : TOOL_OK;
	default:
		return tool_usage(NAME, "wrong options");
	}
}

static int run_tool(int argc, char **argv)
{
	struct options o = { .detect = { .score = 0.5f, .overlap = 0.45f } };
	int c, place, status;

	while ((c = getopt_long(argc, argv, "", known, &place)) != -1) {
		if (c == OPT_HELP) {
			printf("%s%s", help, tool_input_help);
			return TOOL_OK;
		}
		status = set_option(&o, c, c < 0 || c == '?' ? "" : known[place].name, optarg);
		if (status)
			return status;
	}
	if (argc - optind != 2 || !o.head)
		return tool_usage(NAME, "a model, a picture and --head are needed");
	o.model = argv[optind];
	o.picture = argv[optind + 1];
	return show(&o);
}

int main(int argc, char **argv)
{
	return tool_main(NAME, run_tool, argc, argv);
}
