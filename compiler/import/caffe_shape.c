// SPDX-License-Identifier: MIT
/* Layers that move elements or say what shape they have, inputs among them. */
#include "caffe.h"

/* ---- inputs ---- */

static Onnx__ValueInfoProto *make_info(struct caffe *c, const struct caffe_value *value)
{
	Onnx__ValueInfoProto *info = caffe_alloc(c, 1, sizeof(*info));
	Onnx__TypeProto *type = caffe_alloc(c, 1, sizeof(*type));
	Onnx__TypeProto__Tensor *tensor = caffe_alloc(c, 1, sizeof(*tensor));
	Onnx__TensorShapeProto *shape = caffe_alloc(c, 1, sizeof(*shape));
	Onnx__TensorShapeProto__Dimension *dim = caffe_alloc(c, value->rank, sizeof(*dim));
	u32 i;

	if (c->out_of_memory)
		return NULL;
	onnx__value_info_proto__init(info);
	onnx__type_proto__init(type);
	onnx__type_proto__tensor__init(tensor);
	onnx__tensor_shape_proto__init(shape);
	shape->dim = caffe_alloc(c, value->rank, sizeof(*shape->dim));
	if (!shape->dim)
		return NULL;
	for (i = 0; i < value->rank; i++) {
		onnx__tensor_shape_proto__dimension__init(&dim[i]);
		dim[i].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		dim[i].dim_value = value->dim[i];
		shape->dim[i] = &dim[i];
	}
	shape->n_dim = value->rank;
	tensor->has_elem_type = true;
	tensor->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
	tensor->shape = shape;
	type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	type->tensor_type = tensor;
	info->name = (char *)(uintptr_t)value->name;
	info->type = type;
	return info;
}

/* Networks have few; the list is made anew for each. */
static int list_input(struct caffe *c, const struct caffe_value *value)
{
	Onnx__GraphProto *graph = &c->source;
	Onnx__ValueInfoProto **list = caffe_alloc(c, graph->n_input + 1, sizeof(*list));
	Onnx__ValueInfoProto *info = make_info(c, value);

	if (!list || !info)
		return -ENOMEM;
	if (graph->n_input)
		memcpy(list, graph->input, graph->n_input * sizeof(*list));
	list[graph->n_input++] = info;
	graph->input = list;
	return 0;
}

/* One image, of the size that is asked for; else of the file's. */
int caffe_add_input(struct caffe *c, const char *name, const s64 *dim, size_t rank)
{
	struct caffe_value value = { .name = name };
	u32 given[NPU_MAX_RANK], i, asked = npu_shapes_find(c->shapes, name, given);

	value.rank = asked ? asked : rank <= NPU_MAX_RANK ? (u32)rank : 0;
	if (!value.rank)
		return caffe_fail(c, -ENOTSUP,
				  "input %.100s has %zu dimensions, where 1 to %u are possible; "
				  "--input-shape tells what the file leaves open",
				  name, rank, NPU_MAX_RANK);
	if (caffe_find_blob(c, name))
		return caffe_fail(c, -EINVAL, "%.100s is there twice", name);
	for (i = 0; i < value.rank; i++) {
		s64 d = asked ? given[i] : dim[i];

		if (d < 1 || d > INT32_MAX)
			return caffe_fail(c, -EINVAL, "input %.100s: dimension %u is %lld", name, i,
					  (long long)d);
		value.dim[i] = (u32)d;
	}
	if (rank > 1)
		c->batch = max(c->batch, dim[0]);
	if (value.rank > 1)
		value.dim[0] = 1;
	caffe_set_blob(c, name, &value, true);
	return list_input(c, &value);
}

int caffe_read_input(struct caffe *c)
{
	const Caffe__Input *p = c->layer->input_param;
	size_t count = p ? p->n_shape : 0, i;
	int error = 0;

	if (count > 1 && count != c->layer->n_top)
		return caffe_fail(c, -EINVAL, "%zu shapes for %zu outputs", count, c->layer->n_top);
	for (i = 0; !error && i < c->layer->n_top; i++) {
		const Caffe__Shape *shape = count ? p->shape[count == 1 ? 0 : i] : NULL;

		error = caffe_add_input(c, c->layer->top[i], shape ? shape->dim : NULL,
					shape ? shape->n_dim : 0);
	}
	return error;
}

/* The second output, labels, is nothing that an inference reads. */
int caffe_read_memory_data(struct caffe *c)
{
	static const Caffe__MemoryData none = CAFFE__MEMORY_DATA__INIT;
	const Caffe__MemoryData *p = c->layer->memory_data_param ? c->layer->memory_data_param
								 : &none;

	return caffe_add_input(c, c->layer->top[0],
			       (const s64[]){ p->batch_size, p->channels, p->height, p->width }, 4);
}

int caffe_read_data(struct caffe *c)
{
	return caffe_fail(c, -ENOTSUP,
			  "the network reads its data itself; its form for deployment has an Input "
			  "layer with a shape instead");
}

int caffe_read_training(struct caffe *c)
{
	return caffe_fail(c, -ENOTSUP,
			  "a layer for training; the network's form for deployment is needed");
}

/* ---- nothing happens ---- */

/* Each output is the input: Dropout does nothing outside of training, Split copies. */
int caffe_read_same(struct caffe *c)
{
	u32 i;
	int error = 0;

	for (i = 0; !error && i < c->layer->n_top; i++) {
		struct caffe_value value = c->in[0];

		/* What is not computed yet belongs to all of them. */
		value = caffe_settled(c, &value);
		error = caffe_define(c, i, &value);
	}
	return error;
}

int caffe_read_silence(struct caffe *c)
{
	return 0;
}

/* ---- concatenation and slices ---- */

/* Prior boxes of several layers together. */
static int concat_boxes(struct caffe *c)
{
	u32 i;

	for (i = 0; i < c->in_count; i++)
		if (c->in[i].name)
			return caffe_fail(c, -ENOTSUP,
					  "input %u is computed, input 0 is of prior boxes", i);
	return caffe_define(c, 0, &c->in[0]);
}

static int concat_values(struct caffe *c)
{
	const Caffe__Concat *p = c->layer->concat_param;
	const struct caffe_value *first = &c->in[0];
	struct caffe_value out;
	u32 dim[NPU_MAX_RANK], axis, i, d;
	Onnx__NodeProto *node;
	int error = caffe_axis(c,
			       !p		   ? 1
			       : p->has_concat_dim ? (s64)p->concat_dim
						   : p->axis,
			       first->rank, &axis);

	if (error)
		return error;
	memcpy(dim, first->dim, sizeof(dim));
	for (i = 1; i < c->in_count; i++) {
		const struct caffe_value *in = &c->in[i];

		for (d = 0; d < first->rank; d++)
			if (!in->name || in->rank != first->rank ||
			    (d != axis && in->dim[d] != dim[d]))
				return caffe_fail(c, -EINVAL, "input %u has another shape", i);
		if (check_add_overflow(dim[axis], in->dim[axis], &dim[axis]))
			return caffe_fail(c, -EINVAL, "the result is too large");
	}
	out = caffe_top(c, 0, first->rank, dim);
	node = caffe_apply(c, "Concat", c->in, c->in_count, &out);
	caffe_node_int(c, node, "axis", axis);
	return caffe_define(c, 0, &out);
}

int caffe_read_concat(struct caffe *c)
{
	return c->in[0].name ? concat_values(c) : concat_boxes(c);
}

/* Elements of each output along the axis. */
static int slice_sizes(struct caffe *c, const Caffe__Slice *p, u32 size, s64 *sizes)
{
	size_t count = c->layer->n_top, i;
	u32 begin = 0;

	if (!p || !p->n_slice_point) {
		if (size % count)
			return caffe_fail(c, -EINVAL, "%u elements for %zu outputs", size, count);
		for (i = 0; i < count; i++)
			sizes[i] = size / count;
		return 0;
	}
	if (p->n_slice_point != count - 1)
		return caffe_fail(c, -EINVAL, "%zu points for %zu outputs", p->n_slice_point,
				  count);
	for (i = 0; i < count; i++) {
		u32 end = i + 1 < count ? p->slice_point[i] : size;

		if (end <= begin || end > size)
			return caffe_fail(c, -EINVAL, "output %zu from %u to %u of %u elements", i,
					  begin, end, size);
		sizes[i] = end - begin;
		begin = end;
	}
	return 0;
}

int caffe_read_slice(struct caffe *c)
{
	const Caffe__Slice *p = c->layer->slice_param;
	const struct caffe_value *in = &c->in[0];
	s64 sizes[CAFFE_MAX_TOPS];
	u32 dim[NPU_MAX_RANK], axis, i;
	Onnx__NodeProto *node;
	int error = caffe_axis(c,
			       !p		  ? 1
			       : p->has_slice_dim ? (s64)p->slice_dim
						  : p->axis,
			       in->rank, &axis);

	if (!error)
		error = slice_sizes(c, p, in->dim[axis], sizes);
	if (error)
		return error;
	node = caffe_node(c, "Split", (u32)c->layer->n_top);
	caffe_node_input(c, node, in->name);
	caffe_node_int(c, node, "axis", axis);
	caffe_node_ints(c, node, "split", sizes, (u32)c->layer->n_top);
	memcpy(dim, in->dim, sizeof(dim));
	for (i = 0; !error && node && i < c->layer->n_top; i++) {
		struct caffe_value out;

		dim[axis] = (u32)sizes[i];
		out = caffe_top(c, i, in->rank, dim);
		node->output[node->n_output++] = (char *)(uintptr_t)out.name;
		error = caffe_define(c, i, &out);
	}
	return error;
}

/* The first input where the second one, from one dimension on, ends. */
int caffe_read_crop(struct caffe *c)
{
	static const Caffe__Crop none = CAFFE__CROP__INIT;
	const Caffe__Crop *p = c->layer->crop_param ? c->layer->crop_param : &none;
	const struct caffe_value *in = &c->in[0], *like = &c->in[1];
	s64 starts[NPU_MAX_RANK] = { 0 }, ends[NPU_MAX_RANK], axes[NPU_MAX_RANK];
	u32 dim[NPU_MAX_RANK], axis, i;
	struct caffe_value out;
	Onnx__NodeProto *node;
	int error = caffe_axis(c, p->axis, in->rank, &axis);

	if (error)
		return error;
	if (like->rank != in->rank || (p->n_offset > 1 && p->n_offset != in->rank - axis))
		return caffe_fail(c, -EINVAL, "%zu offsets, inputs of %u and %u dimensions",
				  p->n_offset, in->rank, like->rank);
	for (i = 0; i < in->rank; i++) {
		axes[i] = i;
		dim[i] = i < axis ? in->dim[i] : like->dim[i];
		if (i >= axis && p->n_offset)
			starts[i] = p->offset[p->n_offset > 1 ? i - axis : 0];
		ends[i] = starts[i] + dim[i];
		if (ends[i] > in->dim[i])
			return caffe_fail(c, -EINVAL, "dimension %u: %u elements from %lld of %u",
					  i, dim[i], (long long)starts[i], in->dim[i]);
	}
	out = caffe_top(c, 0, in->rank, dim);
	node = caffe_apply(c, "Slice", in, 1, &out);
	caffe_node_ints(c, node, "starts", starts, in->rank);
	caffe_node_ints(c, node, "ends", ends, in->rank);
	caffe_node_ints(c, node, "axes", axes, in->rank);
	return caffe_define(c, 0, &out);
}

/* As a concatenation with itself. */
int caffe_read_tile(struct caffe *c)
{
	const Caffe__Tile *p = c->layer->tile_param;
	struct caffe_value in[NPU_MAX_INPUTS], out = c->in[0];
	u32 axis, i;
	int error = caffe_axis(c, p ? p->axis : 1, out.rank, &axis);

	if (error)
		return error;
	if (!p || p->tiles < 1 || p->tiles > NPU_MAX_INPUTS)
		return caffe_fail(c, -ENOTSUP, "%d tiles; 1 to %u are possible", p ? p->tiles : 0,
				  NPU_MAX_INPUTS);
	for (i = 0; i < p->tiles; i++)
		in[i] = c->in[0];
	if (check_mul_overflow(out.dim[axis], (u32)p->tiles, &out.dim[axis]))
		return caffe_fail(c, -EINVAL, "the result is too large");
	out = caffe_top(c, 0, out.rank, out.dim);
	caffe_node_int(c, caffe_apply(c, "Concat", in, p->tiles, &out), "axis", axis);
	return caffe_define(c, 0, &out);
}

/* ---- other shapes ---- */

int caffe_read_flatten(struct caffe *c)
{
	static const Caffe__Flatten none = CAFFE__FLATTEN__INIT;
	const Caffe__Flatten *p = c->layer->flatten_param ? c->layer->flatten_param : &none;
	const struct caffe_value *in = &c->in[0];
	u32 dim[NPU_MAX_RANK], from, last, rank = 0, i;
	struct caffe_value out;
	int error = caffe_axis(c, p->axis, in->rank, &from);

	if (!error)
		error = caffe_axis(c, p->end_axis, in->rank, &last);
	if (!error && last < from)
		error = caffe_fail(c, -EINVAL, "from dimension %u to %u", from, last);
	if (error)
		return error;
	for (i = 0; i < from; i++)
		dim[rank++] = in->dim[i];
	dim[rank++] = (u32)caffe_product(in, from, last + 1);
	for (i = last + 1; i < in->rank; i++)
		dim[rank++] = in->dim[i];
	out = caffe_top(c, 0, rank, dim);
	caffe_reshape(c, in, &out);
	return caffe_define(c, 0, &out);
}

/* Where the replaced dimensions begin and end; both may lie behind the last one. */
static int replaced(struct caffe *c, const Caffe__Reshape *p, u32 *from, u32 *to)
{
	s64 rank = c->in[0].rank, begin = p->axis < 0 ? rank + 1 + p->axis : p->axis;

	if (begin < 0 || begin > rank || p->num_axes < -1 || p->num_axes > rank - begin)
		return caffe_fail(c, -EINVAL, "axis %d and num_axes %d of %lld dimensions", p->axis,
				  p->num_axes, (long long)rank);
	*from = (u32)begin;
	*to = (u32)(p->num_axes < 0 ? rank : begin + p->num_axes);
	return 0;
}

/* One dimension of the shape that is asked for; -1 is left open. */
static int wanted_dimension(struct caffe *c, const Caffe__Reshape *p, u32 i, u32 from, s64 *dim)
{
	const struct caffe_value *in = &c->in[0];

	*dim = p->shape->dim[i];
	if (!*dim && from + i < in->rank)
		*dim = in->dim[from + i];
	/* A network that was written for so many images at once says so here too. */
	else if (!from && !i && *dim > 1 && *dim == c->batch)
		*dim = 1;
	if (*dim < -1 || !*dim || *dim > INT32_MAX)
		return caffe_fail(c, -EINVAL, "dimension %u is %lld", from + i, (long long)*dim);
	return 0;
}

/* All dimensions of the result; *@open is the one that follows from the others, or NPU_NONE. */
static int reshaped_dimensions(struct caffe *c, const Caffe__Reshape *p, u32 *dim, u32 *rank,
			       u32 *open)
{
	const struct caffe_value *in = &c->in[0];
	u32 count = p->shape ? (u32)min(p->shape->n_dim, (size_t)NPU_MAX_RANK + 1) : 0;
	u32 from = 0, to = 0, i;
	s64 wanted;
	int error = replaced(c, p, &from, &to);

	if (!error && from + count + in->rank - to > NPU_MAX_RANK)
		error = caffe_fail(c, -ENOTSUP, "more than %u dimensions", NPU_MAX_RANK);
	*rank = 0;
	*open = NPU_NONE;
	for (i = 0; !error && i < from; i++)
		dim[(*rank)++] = in->dim[i];
	for (i = 0; !error && i < count; i++) {
		error = wanted_dimension(c, p, i, from, &wanted);
		if (!error && wanted < 0 && *open != NPU_NONE)
			error = caffe_fail(c, -EINVAL, "two open dimensions");
		if (error)
			return error;
		if (wanted < 0)
			*open = *rank;
		dim[(*rank)++] = wanted < 0 ? 1 : (u32)wanted;
	}
	for (i = to; !error && i < in->rank; i++)
		dim[(*rank)++] = in->dim[i];
	return error;
}

int caffe_read_reshape(struct caffe *c)
{
	static const Caffe__Reshape none = CAFFE__RESHAPE__INIT;
	const Caffe__Reshape *p = c->layer->reshape_param ? c->layer->reshape_param : &none;
	u64 elements = caffe_elements(&c->in[0]), known = 1;
	u32 dim[NPU_MAX_RANK], rank, open, i;
	struct caffe_value out;
	int error = reshaped_dimensions(c, p, dim, &rank, &open);

	if (error)
		return error;
	for (i = 0; i < rank; i++)
		if (check_mul_overflow(known, (u64)dim[i], &known))
			known = 0;
	if (open != NPU_NONE && known && !(elements % known)) {
		dim[open] = (u32)(elements / known);
		known = elements;
	}
	if (known != elements)
		return caffe_fail(c, -EINVAL, "%llu elements do not fill the shape",
				  (unsigned long long)elements);
	out = caffe_top(c, 0, rank, dim);
	caffe_reshape(c, &c->in[0], &out);
	return caffe_define(c, 0, &out);
}

/* Dimensions that are not named follow in their order. */
int caffe_read_permute(struct caffe *c)
{
	const Caffe__Permute *p = c->layer->permute_param;
	const struct caffe_value *in = &c->in[0];
	u32 dim[NPU_MAX_RANK], seen = 0, rank = 0, i;
	s64 order[NPU_MAX_RANK];
	struct caffe_value out;

	for (i = 0; p && i < p->n_order; i++) {
		if (p->order[i] >= in->rank || seen >> p->order[i] & 1)
			return caffe_fail(c, -EINVAL, "order %u of %u dimensions", p->order[i],
					  in->rank);
		seen |= 1u << p->order[i];
		order[rank++] = p->order[i];
	}
	for (i = 0; i < in->rank; i++)
		if (!(seen >> i & 1))
			order[rank++] = i;
	for (i = 0; i < rank; i++)
		dim[i] = in->dim[order[i]];
	out = caffe_top(c, 0, rank, dim);
	caffe_node_ints(c, caffe_apply(c, "Transpose", in, 1, &out), "perm", order, rank);
	return caffe_define(c, 0, &out);
}

/* Channels of groups in turn: a transpose of groups and what is in them. */
int caffe_read_shuffle(struct caffe *c)
{
	const struct caffe_value *in = &c->in[0];
	u32 groups = c->layer->shuffle_channel_param ? c->layer->shuffle_channel_param->group : 1;
	const s64 order[] = { 0, 2, 1, 3, 4 };
	struct caffe_value apart, turned, out;
	u32 dim[5], i;

	if (in->rank != 4 || !groups || in->dim[1] % groups)
		return caffe_fail(c, -EINVAL, "%u groups of an input of %u dimensions", groups,
				  in->rank);
	dim[0] = in->dim[0];
	dim[1] = groups;
	dim[2] = in->dim[1] / groups;
	dim[3] = in->dim[2];
	dim[4] = in->dim[3];
	apart = caffe_reshaped(c, in, 5, dim);
	for (i = 0; i < 5; i++)
		dim[i] = apart.dim[order[i]];
	turned = caffe_between(c, 5, dim);
	caffe_node_ints(c, caffe_apply(c, "Transpose", &apart, 1, &turned), "perm", order, 5);
	out = caffe_top(c, 0, 4, in->dim);
	caffe_reshape(c, &turned, &out);
	return caffe_define(c, 0, &out);
}

/* ---- other sizes ---- */

static int resize(struct caffe *c, const char *mode, const char *coordinates, s64 height, s64 width)
{
	const struct caffe_value *in = &c->in[0];
	struct caffe_value out;
	Onnx__NodeProto *node;
	s64 sizes[4];

	if (in->rank != 4 || height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX)
		return caffe_fail(c, -EINVAL, "an input of %u dimensions becomes %lld x %lld",
				  in->rank, (long long)height, (long long)width);
	sizes[0] = in->dim[0];
	sizes[1] = in->dim[1];
	sizes[2] = height;
	sizes[3] = width;
	out = caffe_top(c, 0, 4, (const u32[]){ in->dim[0], in->dim[1], (u32)height, (u32)width });
	node = caffe_apply(c, "Resize", in, 1, &out);
	caffe_node_input(c, node, "");
	caffe_node_input(c, node, "");
	caffe_node_input(c, node, caffe_integers(c, sizes, 4));
	caffe_node_text(c, node, "mode", mode);
	caffe_node_text(c, node, "coordinate_transformation_mode", coordinates);
	caffe_node_text(c, node, "nearest_mode", "floor");
	return caffe_define(c, 0, &out);
}

/* Bilinear, corners on corners. */
int caffe_read_interp(struct caffe *c)
{
	static const Caffe__Interp none = CAFFE__INTERP__INIT;
	const Caffe__Interp *p = c->layer->interp_param ? c->layer->interp_param : &none;
	s64 size[2];
	u32 i;

	if (p->pad_beg || p->pad_end || p->zoom_factor < 1 || p->shrink_factor < 1 ||
	    c->in[0].rank != 4)
		return caffe_fail(c, -ENOTSUP, "padding, factors below 1, or no image");
	for (i = 0; i < 2; i++) {
		size[i] = c->in[0].dim[2 + i];
		size[i] = (size[i] - 1) / p->shrink_factor + 1;
		size[i] = size[i] + (size[i] - 1) * (p->zoom_factor - 1);
	}
	if (p->height > 0 && p->width > 0) {
		size[0] = p->height;
		size[1] = p->width;
	}
	return resize(c, "linear", "align_corners", size[0], size[1]);
}

/* Each element several times. */
int caffe_read_upsample(struct caffe *c)
{
	const Caffe__Upsample *p = c->layer->upsample_param;
	const struct caffe_value *in = &c->in[0];
	s64 scale[2];

	if (!p || in->rank != 4 || p->has_upsample_h || p->has_upsample_w)
		return caffe_fail(c, -ENOTSUP, "anything but an image by scale");
	scale[0] = p->has_scale_h ? p->scale_h : p->scale;
	scale[1] = p->has_scale_w ? p->scale_w : p->scale;
	return resize(c, "nearest", "asymmetric", in->dim[2] * scale[0], in->dim[3] * scale[1]);
}
