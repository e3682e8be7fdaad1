// SPDX-License-Identifier: MIT
/* Trained weights: found by the layer's name, checked against what the layer needs. */
#include "caffe.h"

#include <math.h>

/* Whether these weights are those of the layer at work. */
static bool take(struct caffe *c, const char *name, Caffe__Blob **blobs, size_t count)
{
	if (!name || !count || strcmp(name, c->layer->name))
		return false;
	c->blob = blobs;
	c->blob_count = count;
	return true;
}

int caffe_find_weights(struct caffe *c)
{
	const Caffe__WeightFile *file = c->weights;
	bool found = false;
	size_t i;

	c->blob = NULL;
	c->blob_count = 0;
	for (i = 0; file && !found && i < file->n_layer; i++)
		found = take(c, file->layer[i]->name, file->layer[i]->blobs,
			     file->layer[i]->n_blobs);
	for (i = 0; file && !found && i < file->n_layers; i++) {
		const Caffe__V1WeightLayer *layer = file->layers[i];

		found = take(c, layer->name, layer->blobs, layer->n_blobs) ||
			(layer->layer &&
			 take(c, layer->layer->name, layer->layer->blobs, layer->layer->n_blobs));
	}
	return 0;
}

/* Elements by the blob's own shape, in either form; 0: too many, or none. */
static u64 shape_elements(const Caffe__Blob *blob)
{
	const s64 old[] = { blob->num, blob->channels, blob->height, blob->width };
	const s64 *dim = blob->shape ? blob->shape->dim : old;
	size_t count = blob->shape ? blob->shape->n_dim : ARRAY_SIZE(old), i;
	u64 elements = 1;

	for (i = 0; i < count; i++)
		if (dim[i] < 1 || check_mul_overflow(elements, (u64)dim[i], &elements))
			return 0;
	return elements;
}

static u64 stored_elements(const Caffe__Blob *blob)
{
	return blob->n_data ? blob->n_data : blob->n_double_data;
}

u64 caffe_weight_count(const struct caffe *c, u32 i, u64 other)
{
	if (i < c->blob_count)
		return stored_elements(c->blob[i]);
	return c->random && !c->blob_count ? other : 0;
}

/* Evenly spread between -1 and 1; the same in each run. */
static float next_random(struct caffe *c)
{
	c->random_state = c->random_state * 6364136223846793005u + 1442695040888963407u;
	return (float)(s32)(c->random_state >> 32) / 2147483648.0f;
}

/* As Caffe's "xavier" does: the variance of a sum stays that of its inputs. */
static int make_up(struct caffe *c, u64 count, u64 fan, float other, const float **data)
{
	float range = fan ? sqrtf(3.0f / (float)fan) : 0, *made;
	u64 i;

	/* As with ONNX's constants that are no part of the file. */
	if (count > onnx_max_expanded / sizeof(*made))
		return caffe_fail(c, -ENOTSUP, "more than 1 GiB of random weights");
	c->graph->arena.limit += 4 * count * sizeof(*made);
	made = caffe_alloc(c, count, sizeof(*made));
	if (!made)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		made[i] = fan ? range * next_random(c) : other;
	*data = made;
	return 0;
}

static int check_blob(struct caffe *c, u32 i, u64 count)
{
	const Caffe__Blob *blob = c->blob[i];

	if (shape_elements(blob) != stored_elements(blob))
		return caffe_fail(c, -EINVAL, "weights %u: %llu values, their shape says %llu", i,
				  (unsigned long long)stored_elements(blob),
				  (unsigned long long)shape_elements(blob));
	if (stored_elements(blob) != count)
		return caffe_fail(c, -EINVAL, "weights %u: %llu values, the layer needs %llu", i,
				  (unsigned long long)stored_elements(blob),
				  (unsigned long long)count);
	return 0;
}

int caffe_weights(struct caffe *c, u32 i, u64 count, u64 fan, float other, const float **data)
{
	const Caffe__Blob *blob;
	float *narrow;
	u64 k;
	int error;

	if (i >= c->blob_count && c->random && !c->blob_count)
		return make_up(c, count, fan, other, data);
	if (!c->weights)
		return caffe_fail(c, -EINVAL, "its weights are missing: there is no file %s",
				  c->weights_file);
	if (i >= c->blob_count)
		return caffe_fail(c, -EINVAL, "%zu weight blobs of that name in %s, %u are needed",
				  c->blob_count, c->weights_file, i + 1);
	error = check_blob(c, i, count);
	if (error)
		return error;
	blob = c->blob[i];
	if (blob->n_data) {
		*data = blob->data;
		return 0;
	}
	narrow = caffe_alloc(c, count, sizeof(*narrow));
	if (!narrow)
		return -ENOMEM;
	for (k = 0; k < count; k++)
		narrow[k] = (float)blob->double_data[k];
	*data = narrow;
	return 0;
}
