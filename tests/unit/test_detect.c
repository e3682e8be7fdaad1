// SPDX-License-Identifier: MIT
/*
 * Boxes from outputs of detectors: each head with numbers that were worked out by hand, and outputs that
 * are none of its.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../tools/detect/detect.h"

static char text[200];
static struct detections found;

static const struct detect_options plain = {
	.width = 32, .height = 64, .score = 0.5f, .overlap = 0.4f
};

static void near(float a, float b)
{
	if (!(fabsf(a - b) < 1e-4f))
		fail_msg("%g, not %g", (double)a, (double)b);
}

static void box_is(size_t i, float x0, float y0, float x1, float y1)
{
	assert_true(i < found.count);
	near(found.found[i].x0, x0);
	near(found.found[i].y0, y0);
	near(found.found[i].x1, x1);
	near(found.found[i].y1, y1);
}

static void clear(void)
{
	free(found.found);
	found = (struct detections){ 0 };
}

static void test_yolo(void **state)
{
	/* Two rows, one column, two anchors, two classes: of all cells one has a box. */
	float grid[2 * 2 * 7];
	const struct detect_tensor t = {
		.name = "out", .rank = 4, .shape = { 1, 2, 1, 14 }, .real = grid
	};
	struct detect_options o = plain;
	float *cell = grid + 14 + 7;
	size_t i;

	for (i = 0; i < sizeof(grid) / sizeof(grid[0]); i++)
		grid[i] = -10;
	cell[0] = cell[1] = 0; /* the middle of the cell */
	cell[2] = 0;
	cell[3] = logf(2);
	cell[4] = 10;
	cell[5] = -3;
	cell[6] = 3;
	o.anchor_count = 2;
	o.anchors[1][0] = 8;
	o.anchors[1][1] = 16;
	assert_int_equal(detect("yolo", &t, 1, &o, &found, text), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.found[0].class, 1);
	near(found.found[0].score, 0.952531f);
	/* Centre (1/2, 3/4), 8 / 32 wide, 2 * 16 / 64 high. */
	box_is(0, 0.375f, 0.5f, 0.625f, 1);
	clear();
	o.anchor_count = 0;
	assert_int_equal(detect("yolo", &t, 1, &o, &found, text), -EINVAL);
	o.anchor_count = 3; /* 14 numbers are not three anchors' */
	assert_int_equal(detect("yolo", &t, 1, &o, &found, text), -EINVAL);
	o.anchor_count = 7; /* two numbers are no box */
	assert_int_equal(detect("yolo", &t, 1, &o, &found, text), -EINVAL);
	cell[2] = 1000; /* no size at all */
	o.anchor_count = 2;
	assert_int_equal(detect("yolo", &t, 1, &o, &found, text), 0);
	assert_int_equal(found.count, 0);
	clear();
}

static void test_yolo8(void **state)
{
	/* Eight boxes of six numbers, in both orders. */
	float rows[6][8] = { 0 }, columns[8][6] = { 0 };
	const float box[6] = { 16, 32, 8, 16, 0.2f, 0.75f };
	const struct detect_tensor first = { .rank = 3, .shape = { 1, 6, 8 }, .real = &rows[0][0] };
	const struct detect_tensor last = { .rank = 3,
					    .shape = { 1, 8, 6 },
					    .real = &columns[0][0] };
	const struct detect_tensor few = { .rank = 3, .shape = { 1, 4, 8 }, .real = &rows[0][0] };
	int i;

	for (i = 0; i < 6; i++)
		rows[i][5] = columns[5][i] = box[i];
	for (i = 0; i < 2; i++) {
		assert_int_equal(detect("yolo8", i ? &last : &first, 1, &plain, &found, text), 0);
		assert_int_equal(found.count, 1);
		assert_int_equal(found.found[0].class, 1);
		near(found.found[0].score, 0.75f);
		box_is(0, 0.375f, 0.375f, 0.625f, 0.625f);
		clear();
	}
	assert_int_equal(detect("yolo8", &few, 1, &plain, &found, text), -EINVAL);
}

static void test_ssd(void **state)
{
	const float priors[2][4] = { { 0.5f, 0.5f, 0.2f, 0.4f }, { 0.1f, 0.2f, 0.1f, 0.1f } };
	const float boxes[2][4] = { { 5, -10, 0, 5 * logf(2) }, { 0 } };
	const float scores[2][3] = { { 0.9f, 0.1f, 0.8f }, { 0.9f, 0.2f, 0.1f } };
	const struct detect_tensor t[2] = {
		{ .rank = 3, .shape = { 1, 2, 3 }, .real = &scores[0][0] },
		{ .rank = 4, .shape = { 1, 2, 1, 4 }, .real = &boxes[0][0] },
	};
	struct detect_options o = plain;

	o.priors = priors;
	o.prior_count = 2;
	o.background = true;
	assert_int_equal(detect("ssd", t, 2, &o, &found, text), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.found[0].class, 1);
	near(found.found[0].score, 0.8f);
	/* Centre (0.5 - 0.4, 0.5 + 0.1), 0.8 wide, 0.2 high. */
	box_is(0, -0.3f, 0.5f, 0.5f, 0.7f);
	clear();
	o.background = false;
	assert_int_equal(detect("ssd", t, 2, &o, &found, text), 0);
	assert_int_equal(found.count, 2);
	clear();
	o.prior_count = 1;
	assert_int_equal(detect("ssd", t, 2, &o, &found, text), -EINVAL);
	assert_int_equal(detect("ssd", t, 1, &o, &found, text), -EINVAL);
}

/* Those of SSD MobileNet for 300 x 300: 1917. */
static void test_priors(void **state)
{
	float(*priors)[4];
	uint32_t count = detect_ssd_priors(300, 300, &priors);

	assert_int_equal(count, 19 * 19 * 3 + (10 * 10 + 5 * 5 + 3 * 3 + 2 * 2 + 1) * 6);
	near(priors[0][0], 0.5f / 19);
	near(priors[0][2], 0.1f);
	near(priors[1][2], 0.2f / sqrtf(2));
	near(priors[1][3], 0.2f * sqrtf(2));
	near(priors[count - 1][0], 0.5f);
	near(priors[count - 1][2], sqrtf(0.95f));
	near(priors[count - 6][3], 0.95f);
	free(priors);
}

static void test_yunet(void **state)
{
	static float cls[32], obj[32], bbox[128], kps[320], none[2];
	struct detect_tensor t[12] = {
		{ "cls_8", 3, { 1, 32, 1 }, cls },   { "obj_8", 3, { 1, 32, 1 }, obj },
		{ "bbox_8", 3, { 1, 32, 4 }, bbox }, { "kps_8", 3, { 1, 32, 10 }, kps },
		{ "cls_16", 3, { 1, 8, 1 }, cls },   { "obj_16", 3, { 1, 8, 1 }, cls },
		{ "bbox_16", 3, { 1, 8, 4 }, bbox }, { "kps_16", 3, { 1, 8, 10 }, kps },
		{ "cls_32", 3, { 1, 2, 1 }, none },  { "obj_32", 3, { 1, 2, 1 }, none },
		{ "bbox_32", 3, { 1, 2, 4 }, kps },  { "kps_32", 3, { 1, 2, 10 }, kps },
	};

	/* 32 x 64 pixels: 4 x 8 cells of stride 8; cell 9 is row 2, column 1. */
	cls[9] = 1.44f;
	obj[9] = 0.64f;
	bbox[4 * 9] = 0.5f;
	bbox[4 * 9 + 2] = logf(2);
	kps[10 * 9] = 1;
	kps[10 * 9 + 9] = 3;
	assert_int_equal(detect("yunet", t, 12, &plain, &found, text), 0);
	assert_int_equal(found.count, 1);
	near(found.found[0].score, 0.8f);
	box_is(0, 0.375f - 0.25f, 0.25f - 0.0625f, 0.375f + 0.25f, 0.25f + 0.0625f);
	assert_int_equal(found.found[0].points, 5);
	near(found.found[0].point[0][0], 0.5f);
	near(found.found[0].point[4][1], 0.625f);
	clear();
	t[3].shape[2] = 8;
	assert_int_equal(detect("yunet", t, 12, &plain, &found, text), -EINVAL);
	t[3].shape[2] = 10;
	assert_int_equal(detect("yunet", t, 11, &plain, &found, text), -EINVAL);
	assert_int_equal(detect("retina", t, 12, &plain, &found, text), -EINVAL);
	assert_non_null(strstr(text, "retina"));
}

/* The better one of two that share much; both where they are of two classes or share little. */
static void test_suppress(void **state)
{
	static const struct detection all[] = {
		{ .x0 = 0, .y0 = 0, .x1 = 10, .y1 = 10, .score = 0.6f },
		{ .x0 = 1, .y0 = 0, .x1 = 11, .y1 = 10, .score = 0.9f },
		{ .x0 = 0, .y0 = 0, .x1 = 10, .y1 = 10, .score = 0.8f, .class = 1 },
		{ .x0 = 9, .y0 = 9, .x1 = 20, .y1 = 20, .score = 0.7f },
		{ .x0 = 0, .y0 = 0, .x1 = 10, .y1 = 10, .score = 0.4f, .class = 2 },
		{ .x0 = 0, .y0 = 0, .x1 = NAN, .y1 = 10, .score = 0.9f, .class = 3 },
		{ .x0 = 0, .y0 = 0, .x1 = 10, .y1 = 10, .score = NAN, .class = 4 },
		{ .x1 = 10,
		  .y1 = 10,
		  .score = 0.9f,
		  .class = 5,
		  .points = 1,
		  .point = { { NAN, 1 } } },
		{ .x1 = 10,
		  .y1 = 10,
		  .score = 0.9f,
		  .class = 6,
		  .points = 2,
		  .point = { { 1, 1 }, { 1, INFINITY } } },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(detect_add(&found, &plain, &all[i]), 0);
	assert_int_equal(found.count, 4); /* too low a score, and no numbers */
	detect_suppress(&found, 0.4f);
	assert_int_equal(found.count, 3);
	near(found.found[0].score, 0.9f);
	near(found.found[1].score, 0.8f);
	near(found.found[2].score, 0.7f);
	clear();
	/* Very many: bounded work, the best ones stay. */
	for (i = 0; i < 20000; i++) {
		struct detection d = { .x0 = (float)i * 2, .x1 = (float)i * 2 + 1, .y1 = 1 };

		d.score = 0.5f + (float)i / 50000;
		assert_int_equal(detect_add(&found, &plain, &d), 0);
	}
	detect_suppress(&found, 0.4f);
	assert_true(found.count <= 4096);
	near(found.found[0].score, 0.5f + 19999 / 50000.0f);
	clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_yolo),  cmocka_unit_test(test_yolo8),
		cmocka_unit_test(test_ssd),   cmocka_unit_test(test_priors),
		cmocka_unit_test(test_yunet), cmocka_unit_test(test_suppress),
	};

	return cmocka_run_group_tests_name("boxes", tests, NULL, NULL);
}
