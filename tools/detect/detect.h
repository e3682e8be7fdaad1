/* SPDX-License-Identifier: MIT */
/*
 * From the outputs of a detector to boxes: what tools/examples/boxes shows.  It is no part of libnpu:
 * whoever builds on the library takes what suits the model.
 */
#ifndef DETECT_H
#define DETECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DETECT_MAX_RANK 6
#define DETECT_MAX_POINTS 5
#define DETECT_MAX_ANCHORS 32

/* An output of the model in real numbers, the last dimension contiguous. */
struct detect_tensor {
	const char *name;
	uint32_t rank;
	uint32_t shape[DETECT_MAX_RANK];
	const float *real;
};

/**
 * struct detection - something that was found
 * @x0, @y0, @x1, @y1: its box; the model's image is from 0 to 1 each way, boxes may reach beyond
 * @score: 0 to 1
 * @class: which
 * @points, @point: landmarks (x, y), as boxes
 */
struct detection {
	float x0, y0, x1, y1;
	float score;
	uint32_t class;
	uint32_t points;
	float point[DETECT_MAX_POINTS][2];
};

/* What was found; grows.  All zero: empty. */
struct detections {
	struct detection *found;
	size_t count, room;
};

/**
 * struct detect_options - what outputs do not say
 * @width, @height: of the model's image, pixels
 * @score: what is worth less is left out
 * @overlap: of two boxes of a class that share more than this part of what they cover together, the
 *	better one is kept
 * @anchors, @anchor_count: yolo: width and height in pixels, those of the first output first, the same
 *	number for each output
 * @priors, @prior_count: ssd: centre y, x, height, width of each box, 0 to 1
 * @background: ssd: class 0 is no class
 */
struct detect_options {
	uint32_t width, height;
	float score, overlap;
	float anchors[DETECT_MAX_ANCHORS][2];
	uint32_t anchor_count;
	const float (*priors)[4];
	uint32_t prior_count;
	bool background;
};

/**
 * detect() - boxes of a model's outputs
 * @head: how they are coded:
 *	"yolo": grids [1, rows, columns, anchors * (5 + classes)] of versions 2 to 4: x, y, w, h, box,
 *	classes; sigmoid of all but w and h;
 *	"yolo8": [1, 4 + classes, boxes] or the other way round: centre x, y, w, h in pixels, classes;
 *	"ssd": boxes [1, n, 4] (y, x, h, w against priors, times 10, 10, 5, 5) and scores
 *	[1, n, classes];
 *	"yunet": for strides 8, 16, 32 cls, obj, bbox and kps, of faces with five landmarks
 * @found: sorted by score, the overlapping ones left out; free(found->found)
 * @text: receives what does not fit
 *
 * Return: 0; -EINVAL: the outputs are no such ones, or an option is missing; -ENOMEM.
 */
int detect(const char *head, const struct detect_tensor *tensor, unsigned count,
	   const struct detect_options *options, struct detections *found, char text[200]);

/* Adds one where its score is high enough and its box is made of numbers; 0 or -ENOMEM. */
int detect_add(struct detections *found, const struct detect_options *options,
	       const struct detection *detection);

/* Sorts by score and leaves out what overlaps something better of its class. */
void detect_suppress(struct detections *found, float overlap);

/**
 * detect_ssd_priors() - the priors of TensorFlow's SSD with six grids, scales 0.2 to 0.95
 * @width, @height: of the model's image, pixels
 * @priors: malloc()ed
 *
 * Return: how many; 0: out of memory.
 */
uint32_t detect_ssd_priors(uint32_t width, uint32_t height, float (**priors)[4]);

/* How each head decodes; heads.c. */
typedef int (*detect_head)(const struct detect_tensor *tensor, unsigned count,
			   const struct detect_options *options, struct detections *found,
			   char text[200]);

int detect_yolo(const struct detect_tensor *tensor, unsigned count,
		const struct detect_options *options, struct detections *found, char text[200]);
int detect_yolo8(const struct detect_tensor *tensor, unsigned count,
		 const struct detect_options *options, struct detections *found, char text[200]);
int detect_ssd(const struct detect_tensor *tensor, unsigned count,
	       const struct detect_options *options, struct detections *found, char text[200]);
int detect_yunet(const struct detect_tensor *tensor, unsigned count,
		 const struct detect_options *options, struct detections *found, char text[200]);

#endif /* DETECT_H */
