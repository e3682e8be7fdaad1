// SPDX-License-Identifier: MIT
#include "detect.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More are noise, whatever the threshold: what they cost grows with the square. */
#define MAX_FOUND 4096

static const struct {
	const char *name;
	detect_head decode;
} heads[] = {
	{ "yolo", detect_yolo },
	{ "yolo8", detect_yolo8 },
	{ "ssd", detect_ssd },
	{ "yunet", detect_yunet },
};

static bool is_finite(const struct detection *d)
{
	bool finite = isfinite(d->x0) && isfinite(d->y0) && isfinite(d->x1) && isfinite(d->y1);
	uint32_t i;

	for (i = 0; i < d->points; i++)
		finite = finite && isfinite(d->point[i][0]) && isfinite(d->point[i][1]);
	return finite;
}

int detect_add(struct detections *found, const struct detect_options *options,
	       const struct detection *d)
{
	struct detection *more;

	if (!(d->score >= options->score) || !is_finite(d))
		return 0;
	if (found->count == found->room) {
		size_t room = found->room ? found->room * 2 : 64;

		more = realloc(found->found, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		found->found = more;
		found->room = room;
	}
	found->found[found->count++] = *d;
	return 0;
}

static int by_score(const void *a, const void *b)
{
	const struct detection *x = a, *y = b;

	return (x->score < y->score) - (x->score > y->score);
}

static float area(const struct detection *d)
{
	return fmaxf(d->x1 - d->x0, 0) * fmaxf(d->y1 - d->y0, 0);
}

/* What two boxes share, of what they cover together. */
static float overlap_of(const struct detection *a, const struct detection *b)
{
	float width = fminf(a->x1, b->x1) - fmaxf(a->x0, b->x0);
	float height = fminf(a->y1, b->y1) - fmaxf(a->y0, b->y0), shared;

	if (width <= 0 || height <= 0)
		return 0;
	shared = width * height;
	return shared / (area(a) + area(b) - shared);
}

void detect_suppress(struct detections *found, float overlap)
{
	size_t kept = 0, i, k;

	if (!found->count)
		return;
	qsort(found->found, found->count, sizeof(*found->found), by_score);
	if (found->count > MAX_FOUND)
		found->count = MAX_FOUND;
	for (i = 0; i < found->count; i++) {
		const struct detection *d = &found->found[i];

		for (k = 0; k < kept; k++)
			if (found->found[k].class == d->class &&
			    overlap_of(&found->found[k], d) > overlap)
				break;
		if (k == kept)
			found->found[kept++] = *d;
	}
	found->count = kept;
}

int detect(const char *head, const struct detect_tensor *tensor, unsigned count,
	   const struct detect_options *options, struct detections *found, char text[200])
{
	size_t i;
	int err;

	*found = (struct detections){ 0 };
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (strcmp(head, heads[i].name) == 0)
			break;
	if (i == sizeof(heads) / sizeof(heads[0])) {
		snprintf(text, 200, "\"%.40s\" is not yolo, yolo8, ssd or yunet", head);
		return -EINVAL;
	}
	err = heads[i].decode(tensor, count, options, found, text);
	if (err == -ENOMEM)
		snprintf(text, 200, "out of memory");
	if (err) {
		free(found->found);
		*found = (struct detections){ 0 };
		return err;
	}
	detect_suppress(found, options->overlap);
	return 0;
}
