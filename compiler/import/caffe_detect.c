// SPDX-License-Identifier: MIT
/*
 * Where detectors of SSD's kind end.  Prior boxes follow from shapes and parameters alone and only the
 * last layer reads them, which decodes and sorts out boxes: that is the application's work
 * (tools/examples), so the network's outputs are the locations and the scores that go in.
 */
#include "caffe.h"

int caffe_read_prior_box(struct caffe *c)
{
	const struct caffe_value boxes = { .rank = 1, .dim = { 1 } };

	return caffe_define(c, 0, &boxes);
}

int caffe_read_detection_output(struct caffe *c)
{
	u32 i;

	for (i = 0; i < c->in_count; i++)
		if (c->in[i].name)
			caffe_find_blob(c, c->layer->bottom[i])->was_read = false;
	return 0;
}
