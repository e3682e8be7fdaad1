// SPDX-License-Identifier: MIT
/*
 * Lists of recorded commands.
 */
#include <stdlib.h>
#include <string.h>

#include "command_buffer.h"

static void put_recorded(struct ocl_recorded *recorded)
{
	if (atomic_fetch_sub(&recorded->references, 1) != 1)
		return;
	ocl_command_release(&recorded->command);
	free(recorded);
}

struct ocl_recording *ocl_recording_new(void)
{
	struct ocl_recording *recording = calloc(1, sizeof(*recording));

	if (recording)
		atomic_init(&recording->references, 1);
	return recording;
}

struct ocl_recording *ocl_recording_get(struct ocl_recording *recording)
{
	atomic_fetch_add(&recording->references, 1);
	return recording;
}

void ocl_recording_put(struct ocl_recording *recording)
{
	cl_uint i;

	if (!recording || atomic_fetch_sub(&recording->references, 1) != 1)
		return;
	for (i = 0; i < recording->count; i++)
		put_recorded(recording->command[i]);
	free(recording->command);
	free(recording->together);
	free(recording);
}

struct ocl_recording *ocl_recording_copy(const struct ocl_recording *recording)
{
	struct ocl_recording *copy = ocl_recording_new();
	cl_uint i;

	if (!copy)
		return NULL;
	copy->command = calloc(recording->count + 1, sizeof(*copy->command));
	if (!copy->command) {
		free(copy);
		return NULL;
	}
	copy->count = copy->capacity = recording->count;
	for (i = 0; i < copy->count; i++) {
		copy->command[i] = recording->command[i];
		atomic_fetch_add(&copy->command[i]->references, 1);
	}
	return copy;
}

static struct ocl_recorded *new_recorded(struct ocl_command *command)
{
	struct ocl_recorded *recorded = calloc(1, sizeof(*recorded));

	if (!recorded) {
		ocl_command_release(command);
		return NULL;
	}
	atomic_init(&recorded->references, 1);
	recorded->command = *command;
	return recorded;
}

static bool grow(struct ocl_recording *recording)
{
	cl_uint wanted = recording->capacity ? 2 * recording->capacity : 8;
	struct ocl_recorded **larger;

	if (recording->count < recording->capacity)
		return true;
	if (wanted < recording->capacity)
		return false;
	larger = reallocarray(recording->command, wanted, sizeof(*larger));
	if (!larger)
		return false;
	recording->command = larger;
	recording->capacity = wanted;
	return true;
}

cl_int ocl_recording_add(struct ocl_recording *recording, struct ocl_command *command)
{
	struct ocl_recorded *recorded = new_recorded(command);

	if (!recorded)
		return CL_OUT_OF_HOST_MEMORY;
	if (!grow(recording)) {
		put_recorded(recorded);
		return CL_OUT_OF_HOST_MEMORY;
	}
	recording->command[recording->count++] = recorded;
	return CL_SUCCESS;
}

cl_int ocl_recording_replace(struct ocl_recording *recording, cl_uint index,
			     struct ocl_command *command)
{
	struct ocl_recorded *recorded = new_recorded(command);

	if (!recorded)
		return CL_OUT_OF_HOST_MEMORY;
	put_recorded(recording->command[index]);
	recording->command[index] = recorded;
	return CL_SUCCESS;
}

/* ---- pieces ---- */

static bool is_external(cl_mem mem)
{
	return mem->external || (mem->parent && mem->parent->external);
}

/* The same bytes may be imported twice, and then have two addresses. */
static bool may_overlap(cl_mem a, cl_mem b)
{
	return (a->data < b->data + b->size && b->data < a->data + a->size) ||
	       (is_external(a) && is_external(b));
}

static bool writes(const struct ocl_launch *launch, cl_mem mem)
{
	cl_uint i;

	for (i = 0; i < launch->entry->arg_count; i++)
		if (launch->entry->arg[i].output && launch->value[i].mem &&
		    may_overlap(launch->value[i].mem, mem))
			return true;
	return false;
}

/*
 * Has @later to be asked for after @earlier has run?  That libnpu reads the inputs of an inference after those before
 * have written them is libnpu's own affair, as long as one memory has one address.
 */
static bool depends(const struct ocl_launch *earlier, const struct ocl_launch *later)
{
	cl_uint i;

	for (i = 0; i < later->entry->arg_count; i++) {
		cl_mem mem = later->value[i].mem;

		if (mem && !later->entry->arg[i].output &&
		    (later->entry->arg[i].early || is_external(mem)) && writes(earlier, mem))
			return true;
	}
	return false;
}

static const struct ocl_command *command_at(const struct ocl_recording *recording, cl_uint index)
{
	return &recording->command[index]->command;
}

/* How many commands from @first on are a piece: inferences, and what does nothing between them. */
static cl_uint piece_length(const struct ocl_recording *recording, cl_uint first)
{
	struct ocl_launch *inference[OCL_MAX_TOGETHER];
	cl_uint end, found = 0, i;

	for (end = first; end < recording->count && found < OCL_MAX_TOGETHER; end++) {
		struct ocl_launch *next = ocl_command_inference(command_at(recording, end));

		if (!next && command_at(recording, end)->ops->run)
			break;
		if (!next)
			continue;
		for (i = 0; i < found; i++)
			if (depends(inference[i], next))
				return end - first;
		inference[found++] = next;
	}
	return end == first ? 1 : end - first;
}

static bool is_complete(const struct ocl_command *command)
{
	const struct ocl_launch *launch = ocl_command_launch(command);

	return !launch || launch->complete;
}

bool ocl_recording_finalize(struct ocl_recording *recording)
{
	cl_uint i;

	recording->together = calloc(recording->count + 1, sizeof(*recording->together));
	if (!recording->together)
		return false;
	recording->complete = true;
	for (i = 0; i < recording->count; i++)
		recording->complete &= is_complete(command_at(recording, i));
	for (i = 0; i < recording->count; i += recording->together[i])
		recording->together[i] = piece_length(recording, i);
	return true;
}

/* ---- execution ---- */

static cl_int run_piece(const struct ocl_recording *recording, cl_uint first,
			struct ocl_times *times)
{
	struct ocl_launch *inference[OCL_MAX_TOGETHER];
	cl_uint end = first + recording->together[first], found = 0, i;

	for (i = first; i < end; i++) {
		inference[found] = ocl_command_inference(command_at(recording, i));
		found += inference[found] != NULL;
	}
	if (found)
		return ocl_run_inferences(inference, found, times);
	return ocl_command_run(&recording->command[first]->command, times);
}

cl_int ocl_recording_run(const struct ocl_recording *recording, cl_uint *submissions)
{
	cl_int error = CL_SUCCESS;
	cl_uint i;

	for (i = 0; i < recording->count && !error; i += recording->together[i]) {
		struct ocl_times times = { 0 };

		error = run_piece(recording, i, &times);
		*submissions += times.submissions;
	}
	return error;
}
