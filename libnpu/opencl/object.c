// SPDX-License-Identifier: MIT
/*
 * Handles: two counts for each object.  The application's is what it sees and may misuse; the
 * one inside keeps the object alive for commands and for objects that refer to it.
 */
#include <stdlib.h>

#include "ocl.h"

void *ocl_new(const struct ocl_class *class)
{
	struct ocl_object *object = calloc(1, class->size);

	if (!object)
		return NULL;
	object->dispatch = &ocl_dispatch;
	object->kind = class->kind;
	object->class = class;
	atomic_init(&object->handles, 1);
	atomic_init(&object->references, 1);
	atomic_init(&object->watchers, 1);
	return object;
}

bool ocl_is(const void *handle, enum ocl_kind kind)
{
	const struct ocl_object *object = handle;

	if (!object || (uintptr_t)object % _Alignof(struct ocl_object))
		return false;
	return object->kind == kind && atomic_load(&object->handles) != 0;
}

void *ocl_get(void *object)
{
	if (object)
		atomic_fetch_add(&((struct ocl_object *)object)->references, 1);
	return object;
}

void ocl_put(void *handle)
{
	struct ocl_object *object = handle;

	if (!object || atomic_fetch_sub(&object->references, 1) != 1)
		return;
	object->class->destroy(object);
	object->kind = OCL_NONE;
	ocl_unwatch(object);
}

/* All references together are one watcher. */
void *ocl_watch(void *object)
{
	if (object)
		atomic_fetch_add(&((struct ocl_object *)object)->watchers, 1);
	return object;
}

void ocl_unwatch(void *handle)
{
	struct ocl_object *object = handle;

	if (object && atomic_fetch_sub(&object->watchers, 1) == 1)
		free(object);
}

void *ocl_get_watched(void *handle)
{
	struct ocl_object *object = handle;
	unsigned references = object ? atomic_load(&object->references) : 0;

	while (references &&
	       !atomic_compare_exchange_weak(&object->references, &references, references + 1))
		;
	return references ? object : NULL;
}

/* All handles together have one reference, which went with the last of them. */
void ocl_lend(void *handle)
{
	struct ocl_object *object = handle;

	if (!atomic_fetch_add(&object->handles, 1))
		ocl_get(object);
}

void ocl_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

cl_int ocl_retain(void *handle, const struct ocl_class *class)
{
	struct ocl_object *object = handle;

	if (!ocl_is(handle, class->kind))
		return ocl_fail(NULL, class->invalid, "the handle to retain is not valid");
	atomic_fetch_add(&object->handles, 1);
	return CL_SUCCESS;
}

cl_int ocl_release(void *handle, const struct ocl_class *class)
{
	struct ocl_object *object = handle;

	if (!ocl_is(handle, class->kind))
		return ocl_fail(NULL, class->invalid, "the handle to release is not valid");
	if (atomic_fetch_sub(&object->handles, 1) != 1)
		return CL_SUCCESS;
	if (class->released)
		class->released(object);
	ocl_put(object);
	return CL_SUCCESS;
}
