// SPDX-License-Identifier: MIT
/*
 * What a built-in kernel is compiled to.  A kernel keeps the networks of its last launches, as programs launch
 * with the same attributes again and again: what differs in an attribute, in weights or in the bias is compiled
 * anew.  Buffers are looked at when the launch runs, since commands before it may write them.
 */
#include <stdlib.h>
#include <string.h>

#include "builtin.h"

#define KEPT 4 /* networks without users that a kernel keeps */

/**
 * struct compiled - a network and what it was made from
 * @users: launches that run it now
 * @used: larger than that of others that were used before
 * @attributes: values of the scalar arguments, one behind the other
 * @data, @bias_bytes, @weight_bytes: bias and, behind it, weights
 */
struct compiled {
	struct compiled *next;
	struct npu_model *model;
	cl_device_id device;
	unsigned users;
	uint64_t used;
	uint8_t *attributes;
	uint8_t *data;
	size_t bias_bytes, weight_bytes;
};

/* What stays with a kernel. */
struct state {
	pthread_mutex_t lock;
	struct compiled *first;
	uint64_t clock;
};

static size_t attribute_bytes(const struct ocl_entry *entry)
{
	size_t bytes = 0;
	cl_uint i;

	for (i = 0; i < entry->arg_count; i++)
		bytes += entry->arg[i].scalar_bytes;
	return bytes;
}

static void read_attributes(const struct ocl_launch *launch, uint8_t *to)
{
	const struct ocl_arg *arg = launch->entry->arg;
	cl_uint i;

	for (i = 0; i < launch->entry->arg_count; i++) {
		memcpy(to, launch->value[i].scalar, arg[i].scalar_bytes);
		to += arg[i].scalar_bytes;
	}
}

static size_t weight_bytes(const struct ocl_operator *what)
{
	return what->op.weights ? (size_t)what->weights.bytes : 0;
}

static size_t bias_bytes(const struct ocl_operator *what)
{
	return what->bias_mem ? what->weights.shape[0] * sizeof(int32_t) : 0;
}

static bool same_bytes(const uint8_t *kept, cl_mem mem, size_t bytes)
{
	return !bytes || !memcmp(kept, mem->data, bytes);
}

static bool is_of(const struct compiled *compiled, const struct ocl_launch *launch,
		  const struct ocl_operator *what, const uint8_t *attributes)
{
	return compiled->device == launch->device &&
	       !memcmp(compiled->attributes, attributes, attribute_bytes(launch->entry)) &&
	       compiled->weight_bytes == weight_bytes(what) &&
	       compiled->bias_bytes == bias_bytes(what) &&
	       same_bytes(compiled->data, what->bias_mem, compiled->bias_bytes) &&
	       same_bytes(compiled->data + compiled->bias_bytes, what->weights_mem,
			  compiled->weight_bytes);
}

static void free_compiled(struct compiled *compiled)
{
	npu_model_free(compiled->model);
	free(compiled->attributes);
	free(compiled->data);
	free(compiled);
}

/* Takes the one that was not used for longest out of the list, where there are too many. */
static void drop_oldest(struct state *state)
{
	struct compiled **at, **oldest = NULL, *gone;
	unsigned idle = 0;

	for (at = &state->first; *at; at = &(*at)->next) {
		if ((*at)->users)
			continue;
		idle++;
		if (!oldest || (*at)->used < (*oldest)->used)
			oldest = at;
	}
	if (idle <= KEPT)
		return;
	gone = *oldest;
	*oldest = gone->next;
	free_compiled(gone);
}

/* The copies, so that the network and what it is compared with later are of the same bytes. */
static bool copy_data(struct compiled *compiled, const struct ocl_operator *what)
{
	compiled->weight_bytes = weight_bytes(what);
	compiled->bias_bytes = bias_bytes(what);
	compiled->data = malloc(compiled->bias_bytes + compiled->weight_bytes + 1);
	if (!compiled->data)
		return false;
	if (compiled->bias_bytes)
		memcpy(compiled->data, what->bias_mem->data, compiled->bias_bytes);
	if (compiled->weight_bytes)
		memcpy(compiled->data + compiled->bias_bytes, what->weights_mem->data,
		       compiled->weight_bytes);
	return true;
}

static int compile(struct compiled *compiled, const struct ocl_launch *launch,
		   const struct ocl_operator *what)
{
	struct npu_operator op = what->op;

	op.bias = compiled->bias_bytes ? (const void *)compiled->data : NULL;
	op.weight_data = compiled->weight_bytes ? compiled->data + compiled->bias_bytes : NULL;
	return npu_model_of_operator(launch->device->npu, &op, launch->entry->name, NULL,
				     &compiled->model);
}

static struct compiled *make(const struct ocl_launch *launch, const struct ocl_operator *what,
			     cl_int *error)
{
	struct compiled *compiled = calloc(1, sizeof(*compiled));
	int err;

	*error = CL_OUT_OF_HOST_MEMORY;
	if (!compiled)
		return NULL;
	compiled->device = launch->device;
	compiled->attributes = malloc(attribute_bytes(launch->entry) + 1);
	if (!compiled->attributes || !copy_data(compiled, what)) {
		free_compiled(compiled);
		return NULL;
	}
	read_attributes(launch, compiled->attributes);
	err = compile(compiled, launch, what);
	if (!err)
		return compiled;
	free_compiled(compiled);
	*error = ocl_fail(launch->kernel->program->context, ocl_errno(err), "%s", npu_error());
	return NULL;
}

/* The state is made by the first launch that runs. */
static struct state *state_of(cl_kernel kernel)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	struct state *state;

	pthread_mutex_lock(&making);
	if (!kernel->state) {
		state = calloc(1, sizeof(*state));
		if (state)
			pthread_mutex_init(&state->lock, NULL);
		kernel->state = state;
	}
	state = kernel->state;
	pthread_mutex_unlock(&making);
	return state;
}

static struct compiled *take(struct state *state, const struct ocl_launch *launch,
			     const struct ocl_operator *what, cl_int *error)
{
	uint8_t attributes[32 * OCL_MAX_SCALAR];
	struct compiled *compiled;

	read_attributes(launch, attributes);
	pthread_mutex_lock(&state->lock);
	for (compiled = state->first; compiled; compiled = compiled->next)
		if (is_of(compiled, launch, what, attributes))
			break;
	if (!compiled) {
		compiled = make(launch, what, error);
		if (compiled) {
			compiled->next = state->first;
			state->first = compiled;
		}
	}
	if (compiled) {
		compiled->users++;
		compiled->used = ++state->clock;
	}
	pthread_mutex_unlock(&state->lock);
	return compiled;
}

static void give(struct state *state, const struct npu_model *model)
{
	struct compiled *compiled;

	pthread_mutex_lock(&state->lock);
	for (compiled = state->first; compiled->model != model; compiled = compiled->next)
		;
	compiled->users--;
	drop_oldest(state);
	pthread_mutex_unlock(&state->lock);
}

cl_int ocl_operator_begin(struct ocl_launch *launch, struct npu_call *call)
{
	const struct ocl_operator *what = launch->prepared;
	struct state *state = state_of(launch->kernel);
	struct compiled *compiled;
	cl_int error;

	if (!state)
		return CL_OUT_OF_HOST_MEMORY;
	compiled = take(state, launch, what, &error);
	if (!compiled)
		return error;
	call->model = compiled->model;
	call->inputs = what->input;
	call->input_count = what->inputs;
	call->outputs = &what->output;
	call->output_count = 1;
	return CL_SUCCESS;
}

void ocl_operator_end(struct ocl_launch *launch, const struct npu_call *call)
{
	give(launch->kernel->state, call->model);
}

void ocl_operator_forget(cl_kernel kernel)
{
	struct state *state = kernel->state;
	struct compiled *compiled;

	if (!state)
		return;
	while ((compiled = state->first)) {
		state->first = compiled->next;
		free_compiled(compiled);
	}
	pthread_mutex_destroy(&state->lock);
	free(state);
	kernel->state = NULL;
}
