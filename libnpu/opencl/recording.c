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

cl_int ocl_recording_run(const struct ocl_recording *recording)
{
	cl_int error = CL_SUCCESS;
	cl_uint i;

	for (i = 0; i < recording->count && !error; i++) {
		struct ocl_command *command = &recording->command[i]->command;
		struct ocl_times times = { 0 };

		error = command->ops->run(command, &times);
	}
	return error;
}
