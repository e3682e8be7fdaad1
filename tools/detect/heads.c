// SPDX-License-Identifier: MIT
/* How detectors code boxes: each from its paper and the models themselves. */
#include "detect.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float sigmoid(float x)
{
	return 1 / (1 + expf(-x));
}

static int wrong(char text[200], const char *what)
{
	snprintf(text, 200, "%s", what);
	return -EINVAL;
}

/* The largest of @count numbers; their place in @best. */
static float largest(const float *number, size_t step, uint32_t count, uint32_t *best)
{
	float most = -INFINITY;
	uint32_t i;

	*best = 0;
	for (i = 0; i < count; i++)
		if (number[i * step] > most) {
			most = number[i * step];
			*best = i;
		}
	return most;
}

static void set_box(struct detection *d, float x, float y, float w, float h)
{
	d->x0 = x - w / 2;
	d->y0 = y - h / 2;
	d->x1 = x + w / 2;
	d->y1 = y + h / 2;
}

/* ---- YOLO, versions 2 to 4 ---- */

/* One cell of one anchor: x, y, w, h, box, classes. */
static int yolo_cell(const float *cell, uint32_t classes, const float anchor[2], float column,
		     float row, const uint32_t grid[2], const struct detect_options *o,
		     struct detections *found)
{
	struct detection d = { 0 };

	d.score = sigmoid(cell[4]);
	if (classes)
		d.score *= sigmoid(largest(cell + 5, 1, classes, &d.class));
	set_box(&d, (sigmoid(cell[0]) + column) / grid[1], (sigmoid(cell[1]) + row) / grid[0],
		anchor[0] * expf(cell[2]) / o->width, anchor[1] * expf(cell[3]) / o->height);
	return detect_add(found, o, &d);
}

static int yolo_grid(const struct detect_tensor *t, const float (*anchor)[2], uint32_t anchors,
		     const struct detect_options *o, struct detections *found)
{
	const uint32_t *grid = t->shape + 1;
	uint32_t channels = t->shape[3], per = channels / anchors, y, x, a;
	int err = 0;

	for (y = 0; y < grid[0]; y++)
		for (x = 0; x < grid[1]; x++)
			for (a = 0; a < anchors && !err; a++)
				err = yolo_cell(t->real + ((size_t)y * grid[1] + x) * channels +
							(size_t)a * per,
						per - 5, anchor[a], x, y, grid, o, found);
	return err;
}

int detect_yolo(const struct detect_tensor *tensor, unsigned count, const struct detect_options *o,
		struct detections *found, char text[200])
{
	uint32_t anchors = count ? o->anchor_count / count : 0;
	unsigned i;
	int err = 0;

	if (!anchors || o->anchor_count % count)
		return wrong(text, "yolo: anchors are missing: so many pairs for each output");
	for (i = 0; i < count && !err; i++) {
		const struct detect_tensor *t = &tensor[i];

		if (t->rank != 4 || t->shape[0] != 1 || t->shape[3] % anchors ||
		    t->shape[3] / anchors < 5)
			return wrong(text,
				     "yolo: an output that is no [1, rows, columns, anchors * "
				     "(5 + classes)]");
		err = yolo_grid(t, o->anchors + i * anchors, anchors, o, found);
	}
	return err;
}

/* ---- YOLO, version 8 ---- */

int detect_yolo8(const struct detect_tensor *tensor, unsigned count, const struct detect_options *o,
		 struct detections *found, char text[200])
{
	uint32_t boxes, numbers, i;
	size_t step, stride;
	int err = 0;

	if (count != 1 || tensor->rank != 3 || tensor->shape[0] != 1)
		return wrong(text, "yolo8: not one output [1, 4 + classes, boxes]");
	/* There are more boxes than classes. */
	if (tensor->shape[1] < tensor->shape[2]) {
		numbers = tensor->shape[1];
		boxes = tensor->shape[2];
		step = boxes;
		stride = 1;
	} else {
		boxes = tensor->shape[1];
		numbers = tensor->shape[2];
		step = 1;
		stride = numbers;
	}
	if (numbers < 5)
		return wrong(text, "yolo8: less than four numbers and a class for each box");
	for (i = 0; i < boxes && !err; i++) {
		const float *box = tensor->real + i * stride;
		struct detection d = { 0 };

		d.score = largest(box + 4 * step, step, numbers - 4, &d.class);
		set_box(&d, box[0] / o->width, box[step] / o->height, box[2 * step] / o->width,
			box[3 * step] / o->height);
		err = detect_add(found, o, &d);
	}
	return err;
}

/* ---- SSD ---- */

/* [1, n, numbers], whatever dimensions of 1 are in between. */
static bool is_list(const struct detect_tensor *t, uint32_t *n, uint32_t *numbers)
{
	uint64_t rest = 1;
	uint32_t i;

	if (t->rank < 2)
		return false;
	*numbers = t->shape[t->rank - 1];
	for (i = 0; i + 1 < t->rank; i++)
		rest *= t->shape[i];
	*n = (uint32_t)rest;
	return rest <= UINT32_MAX;
}

static int ssd_box(const float *box, const float *score, uint32_t classes, const float prior[4],
		   const struct detect_options *o, struct detections *found)
{
	uint32_t skip = o->background && classes > 1;
	struct detection d = { 0 };

	d.score = largest(score + skip, 1, classes - skip, &d.class);
	set_box(&d, box[1] / 10 * prior[3] + prior[1], box[0] / 10 * prior[2] + prior[0],
		expf(box[3] / 5) * prior[3], expf(box[2] / 5) * prior[2]);
	return detect_add(found, o, &d);
}

int detect_ssd(const struct detect_tensor *tensor, unsigned count, const struct detect_options *o,
	       struct detections *found, char text[200])
{
	uint32_t n[2], numbers[2], i;
	unsigned boxes;
	int err = 0;

	if (count != 2 || !is_list(&tensor[0], &n[0], &numbers[0]) ||
	    !is_list(&tensor[1], &n[1], &numbers[1]) || n[0] != n[1])
		return wrong(text,
			     "ssd: not two outputs, boxes [1, n, 4] and scores [1, n, classes]");
	boxes = numbers[0] == 4 ? 0 : 1;
	if (numbers[boxes] != 4 || !numbers[!boxes])
		return wrong(text, "ssd: no output has four numbers for each box");
	if (o->prior_count != n[0]) {
		snprintf(text, 200, "ssd: %u priors for %u boxes", o->prior_count, n[0]);
		return -EINVAL;
	}
	for (i = 0; i < n[0] && !err; i++)
		err = ssd_box(tensor[boxes].real + (size_t)i * 4,
			      tensor[!boxes].real + (size_t)i * numbers[!boxes], numbers[!boxes],
			      o->priors[i], o, found);
	return err;
}

/* Scale of a grid: evenly from the least to the largest; behind the last one the whole image. */
static float ssd_scale(uint32_t grid)
{
	return grid < 6 ? 0.2f + (0.95f - 0.2f) * (float)grid / 5 : 1;
}

/* Heights and widths of the priors of one grid: three in the first one, else six. */
static uint32_t ssd_sizes(uint32_t grid, float size[6][2])
{
	static const float ratios[] = { 1, 2, 0.5f, 3, 1 / 3.0f };
	uint32_t count = grid ? 5 : 3, i;

	for (i = 0; i < count; i++) {
		float scale = grid || i ? ssd_scale(grid) : 0.1f;

		size[i][0] = scale / sqrtf(ratios[i]);
		size[i][1] = scale * sqrtf(ratios[i]);
	}
	if (!grid)
		return count;
	size[count][0] = size[count][1] = sqrtf(ssd_scale(grid) * ssd_scale(grid + 1));
	return count + 1;
}

uint32_t detect_ssd_priors(uint32_t width, uint32_t height, float (**priors)[4])
{
	uint32_t count = 0, step, grid, pass, y, x, i;

	*priors = NULL;
	for (pass = 0; pass < 2; pass++) {
		count = 0;
		for (grid = 0, step = 16; grid < 6; grid++, step *= 2) {
			uint32_t rows = (height + step - 1) / step,
				 columns = (width + step - 1) / step;
			float size[6][2];
			uint32_t sizes = ssd_sizes(grid, size);

			for (y = 0; y < rows; y++)
				for (x = 0; x < columns; x++)
					for (i = 0; i < sizes; i++, count++) {
						const float prior[4] = {
							((float)y + 0.5f) / (float)rows,
							((float)x + 0.5f) / (float)columns,
							size[i][0], size[i][1]
						};

						if (pass)
							memcpy((*priors)[count], prior,
							       sizeof(prior));
					}
		}
		if (!pass)
			*priors = malloc((size_t)count * sizeof(**priors));
		if (!*priors)
			return 0;
	}
	return count;
}

/* ---- YuNet ---- */

/* The output "NAME_STRIDE" with so many rows and numbers; NULL: there is none. */
static const float *yunet_output(const struct detect_tensor *tensor, unsigned count,
				 const char *name, uint32_t stride, uint32_t rows, uint32_t numbers)
{
	char full[32];
	unsigned i;

	snprintf(full, sizeof(full), "%s_%u", name, stride);
	for (i = 0; i < count; i++)
		if (strcmp(tensor[i].name, full) == 0 && tensor[i].rank == 3 &&
		    tensor[i].shape[1] == rows && tensor[i].shape[2] == numbers)
			return tensor[i].real;
	return NULL;
}

static float clamped(float x)
{
	return fmaxf(fminf(x, 1), 0);
}

/* One cell: how far its face's centre, size and landmarks are, in strides. */
static int yunet_cell(const float *box, const float *points, float score, float column, float row,
		      const float stride[2], const struct detect_options *o,
		      struct detections *found)
{
	struct detection d = { .score = score, .points = 5 };
	uint32_t i;

	set_box(&d, (column + box[0]) * stride[0], (row + box[1]) * stride[1],
		expf(box[2]) * stride[0], expf(box[3]) * stride[1]);
	for (i = 0; i < d.points; i++) {
		d.point[i][0] = (column + points[2 * i]) * stride[0];
		d.point[i][1] = (row + points[2 * i + 1]) * stride[1];
	}
	return detect_add(found, o, &d);
}

static int yunet_stride(const struct detect_tensor *tensor, unsigned count, uint32_t stride,
			const struct detect_options *o, struct detections *found, char text[200])
{
	uint32_t columns = o->width / stride, rows = o->height / stride, cells = rows * columns, i;
	const float *cls = yunet_output(tensor, count, "cls", stride, cells, 1);
	const float *obj = yunet_output(tensor, count, "obj", stride, cells, 1);
	const float *bbox = yunet_output(tensor, count, "bbox", stride, cells, 4);
	const float *kps = yunet_output(tensor, count, "kps", stride, cells, 10);
	const float size[2] = { (float)stride / (float)o->width, (float)stride / (float)o->height };
	int err = 0;

	if (!cls || !obj || !bbox || !kps)
		return wrong(text,
			     "yunet: outputs cls, obj, bbox and kps of strides 8, 16 and 32 are "
			     "not all there");
	for (i = 0; i < cells && !err; i++)
		err = yunet_cell(bbox + 4 * (size_t)i, kps + 10 * (size_t)i,
				 sqrtf(clamped(cls[i]) * clamped(obj[i])), (float)(i % columns),
				 (float)(i / columns), size, o, found);
	return err;
}

int detect_yunet(const struct detect_tensor *tensor, unsigned count, const struct detect_options *o,
		 struct detections *found, char text[200])
{
	static const uint32_t strides[] = { 8, 16, 32 };
	unsigned i;
	int err = 0;

	for (i = 0; i < sizeof(strides) / sizeof(strides[0]) && !err; i++)
		err = yunet_stride(tensor, count, strides[i], o, found, text);
	return err;
}
