// SPDX-License-Identifier: MIT
/*
 * A CPU step of a program: values of the arena as tensors, the operator, and its
 * result back into the arena.
 */
#include <stdlib.h>

#include "cpu/cpu.h"
#include "internal.h"

/**
 * struct work - operators that are done one behind another
 * @name: of the layer, for messages
 * @op: of the graph
 * @result: [operators]: what the first ones made; what is between them has no place in the arena
 */
struct work {
	const struct npu_lane *lane;
	const char *name;
	const u32 *op;
	void **result;
};

/* Inputs of one operator, and which of them are copies that belong to it. */
struct inputs {
	void *input[NPU_MAX_INPUTS];
	bool copied[NPU_MAX_INPUTS];
};

static const struct npu_graph *graph_of(const struct npu_lane *lane)
{
	return lane->model->program->net->graph;
}

static const struct npu_op *layer_op(const struct npu_model *model, const struct npu_layer *layer)
{
	return &model->program->net->graph->op[layer->op];
}

static int no_memory(const struct npu_lane *lane, const char *layer)
{
	return npu_fail(-ENOMEM, "%s: layer %s: out of memory", lane->model->name, layer);
}

/* What an operator before made of a tensor; NULL: none of them did. */
static void *made_before(const struct work *work, u32 done, u32 tensor)
{
	const struct npu_graph *graph = graph_of(work->lane);
	u32 i;

	for (i = 0; i < done; i++)
		if (graph->op[work->op[i]].output[0] == tensor)
			return work->result[i];
	return NULL;
}

static int load_input(const struct work *work, u32 done, u32 i, struct inputs *in)
{
	const struct npu_net *net = work->lane->model->program->net;
	u32 index = net->graph->op[work->op[done]].input[i];
	const struct npu_tensor *tensor;

	if (index == NPU_NONE)
		return 0;
	tensor = &net->graph->tensor[index];
	in->input[i] = tensor->data ? (void *)(uintptr_t)tensor->data
				    : made_before(work, done, index);
	if (in->input[i])
		return 0;
	in->input[i] = malloc(max(tensor->bytes, (size_t)1));
	if (!in->input[i])
		return no_memory(work->lane, work->name);
	in->copied[i] = true;
	npu_value_read(work->lane, net->tensor_value[index], tensor->dtype, in->input[i]);
	return 0;
}

static void free_inputs(struct inputs *in)
{
	u32 i;

	for (i = 0; i < NPU_MAX_INPUTS; i++)
		if (in->copied[i])
			free(in->input[i]);
}

/* The next operator, whose result stays in the work. */
static int do_operator(struct work *work, u32 done)
{
	const struct npu_graph *graph = graph_of(work->lane);
	const struct npu_op *op = &graph->op[work->op[done]];
	struct inputs in = { 0 };
	const struct npu_cpu_call call = { graph, op, (const void *const *)in.input,
					   &work->result[done] };
	int err = 0;
	u32 i;

	for (i = 0; i < op->input_count && !err; i++)
		err = load_input(work, done, i, &in);
	if (!err) {
		work->result[done] = malloc(max(npu_op_output(graph, op)->bytes, (size_t)1));
		err = work->result[done] ? npu_cpu_execute(&call)
					 : no_memory(work->lane, work->name);
		if (err && work->result[done])
			npu_fail(err, "%s: layer %s: %s", work->lane->model->name, work->name,
				 strerror(-err));
	}
	free_inputs(&in);
	return err;
}

static int do_operators(struct npu_lane *lane, const char *name, const u32 *op, u32 count)
{
	const struct npu_net *net = lane->model->program->net;
	struct work work = { lane, name, op, calloc(count, sizeof(*work.result)) };
	u32 i, last = net->graph->op[op[count - 1]].output[0];
	int err = work.result ? 0 : no_memory(lane, name);

	for (i = 0; i < count && !err; i++)
		err = do_operator(&work, i);
	if (!err)
		npu_value_write(lane, net->tensor_value[last], net->graph->tensor[last].dtype,
				work.result[count - 1]);
	for (i = 0; i < count && work.result; i++)
		free(work.result[i]);
	free(work.result);
	return err;
}

/* ---- patches: some channels of a convolution, into the lanes of its feature cube ---- */

static void write_lane(const struct npu_lane *lane, u32 index, u32 channel, const u8 *from,
		       bool flip)
{
	const struct npu_net *net = lane->model->program->net;
	const struct npu_value *value = &net->value[index];
	u32 atom = net->config->atom, y, x;
	u8 top = flip ? 0x80 : 0;

	for (y = 0; y < value->h; y++) {
		u8 *to = npu_value_at(lane, index, y, 0, channel);

		for (x = 0; x < value->w; x++)
			to[(size_t)x * atom] = *from++ ^ top;
	}
}

/*
 * The tensor that the window is laid over: in front of padding that was folded into it.  A value has its
 * elements, but not always its shape: lines longer than a cube have rows.
 */
static const struct npu_tensor *patch_tensor(const struct npu_net *net,
					     const struct npu_layer *layer)
{
	u32 first = layer->group_count ? layer->group[0] : layer->op;

	return npu_op_input(net->graph, &net->graph->op[first], 0);
}

/* The convolution's input as it lies in the arena. */
static struct npu_cpu_view patch_input(const struct npu_lane *lane, const struct npu_layer *layer,
				       void *linear)
{
	const struct npu_model *model = lane->model;
	const struct npu_net *net = model->program->net;
	const struct npu_value *value = &net->value[layer->input];
	const struct npu_tensor *tensor = npu_op_input(net->graph, layer_op(model, layer), 0);
	const struct npu_tensor *shape = patch_tensor(net, layer);
	struct npu_cpu_view in = {
		.tensor = tensor,
		.data = linear,
		.zero = tensor->quant.zero[0],
		.scale = tensor->quant.scale[0],
		.nhwc = { 1, value->h, value->w, value->c },
		.elements = npu_value_linear_bytes(value),
	};

	npu_value_read(lane, layer->input, tensor->dtype, linear);
	if (shape && npu_tensor_elements(shape) == in.elements)
		npu_tensor_nhwc(shape, in.nhwc);
	return in;
}

static int run_patch(struct npu_lane *lane, const struct npu_layer *layer,
		     const struct npu_cpu_view *in, u8 *channel)
{
	const struct npu_model *model = lane->model;
	const struct npu_net *net = model->program->net;
	const struct npu_op *op = layer_op(model, layer);
	const void *input[NPU_MAX_INPUTS] = { NULL };
	void *output = channel;
	const struct npu_cpu_call call = { net->graph, op, input, &output };
	bool flip = npu_op_output(net->graph, op)->dtype == NPU_U8;
	u32 i;
	int err = 0;

	input[0] = in->data;
	for (i = 1; i < op->input_count; i++)
		if (op->input[i] != NPU_NONE)
			input[i] = net->graph->tensor[op->input[i]].data;
	for (i = 0; i < layer->patch_count && !err; i++) {
		err = npu_cpu_conv_channel(&call, &layer->window, in, layer->patch[i], channel);
		if (!err)
			write_lane(lane, layer->output, layer->patch[i], channel, flip);
	}
	return err ? no_memory(lane, layer->name) : 0;
}

static int patch(struct npu_lane *lane, const struct npu_layer *layer)
{
	const struct npu_model *model = lane->model;
	const struct npu_net *net = model->program->net;
	const struct npu_value *out = &net->value[layer->output];
	void *linear = malloc(max(npu_value_linear_bytes(&net->value[layer->input]), (size_t)1));
	u8 *channel = malloc(max((size_t)out->h * out->w, (size_t)1));
	struct npu_cpu_view in;
	int err;

	if (!linear || !channel) {
		free(linear);
		free(channel);
		return no_memory(lane, layer->name);
	}
	in = patch_input(lane, layer, linear);
	err = run_patch(lane, layer, &in, channel);
	free(linear);
	free(channel);
	return err;
}

int npu_cpu_step(struct npu_lane *lane, u32 index)
{
	const struct npu_program *program = lane->model->program;
	const struct npu_layer *layer = &program->net->layer[index];
	const struct npu_cpu_unit *unit = npu_plan_unit(program->plan, index);

	if (unit)
		return do_operators(lane, layer->name, unit->op, unit->op_count);
	return layer->patch_count ? patch(lane, layer)
				  : do_operators(lane, layer->name, &layer->op, 1);
}

/* Everything that a CPU step relies on and that the compiler did not check. */
int npu_cpu_check_layer(const struct npu_model *model, const struct npu_layer *layer)
{
	const struct npu_net *net = model->program->net;
	const struct npu_op *op = layer_op(model, layer);
	const char *missing = npu_cpu_check(net->graph, op);
	u32 i;

	if (missing)
		return npu_fail(-ENOTSUP, "%s: layer %s (%s to %s): %s", model->name, layer->name,
				npu_op_names[op->kind],
				npu_dtype_names[npu_op_output(net->graph, op)->dtype], missing);
	if (layer->patch_count)
		return 0;
	for (i = 0; i < op->input_count; i++)
		if (op->input[i] != NPU_NONE && !net->graph->tensor[op->input[i]].data &&
		    net->tensor_value[op->input[i]] == NPU_NONE)
			return npu_fail(-EINVAL, "%s: layer %s: input %u has no place", model->name,
					layer->name, i);
	if (net->tensor_value[op->output[0]] == NPU_NONE)
		return npu_fail(-EINVAL, "%s: layer %s: its output has no place", model->name,
				layer->name);
	return 0;
}
