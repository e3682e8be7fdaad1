// SPDX-License-Identifier: MIT
/*
 * Every argument of every call: padding and undefined flags, sizes that are shorter and longer, values
 * that overflow, handles and pointers that lead nowhere.  A call that fails changes nothing.
 *
 * vm-test: kernel=all timeout=200
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib.h"

static int fd;
static struct guest_work work;
static struct guest_bo bo;
static struct chain_build stream;
static struct drm_nvdla_job job;
static struct drm_nvdla_binding binding[TASK_REGIONS];

/* Any argument, with room behind it for a struct of a later version. */
union argument {
	struct drm_nvdla_dev_query query;
	struct drm_nvdla_bo_create bo_create;
	struct drm_nvdla_bo_mmap_offset map;
	struct drm_nvdla_bo_sync bo_sync;
	struct drm_nvdla_bo_wait wait;
	struct drm_nvdla_chain_create chain;
	struct drm_nvdla_chain_destroy destroy;
	struct drm_nvdla_submit submit;
	struct drm_nvdla_reserve reserve;
	struct drm_nvdla_context context;
	u8 byte[512];
};

/* ---- arguments that are good ---- */

static struct drm_nvdla_budget answer;

static void good_query(union argument *a)
{
	a->query = (struct drm_nvdla_dev_query){
		.type = DRM_NVDLA_QUERY_BUDGET,
		.size = sizeof(answer),
		.pointer = (uintptr_t)&answer,
	};
}

static void good_bo_create(union argument *a)
{
	a->bo_create = (struct drm_nvdla_bo_create){ .size = 4096 };
}

static void good_map(union argument *a)
{
	a->map = (struct drm_nvdla_bo_mmap_offset){ .handle = bo.handle };
}

static void good_bo_sync(union argument *a)
{
	a->bo_sync = (struct drm_nvdla_bo_sync){
		.handle = bo.handle,
		.flags = DRM_NVDLA_BO_SYNC_FOR_CPU,
		.size = 4096,
	};
}

static void good_wait(union argument *a)
{
	a->wait = (struct drm_nvdla_bo_wait){ .handle = bo.handle };
}

static void good_chain(union argument *a)
{
	a->chain = (struct drm_nvdla_chain_create){
		.stream = (uintptr_t)stream.data,
		.size = (u32)stream.size,
	};
}

static void good_destroy(union argument *a)
{
	good_chain(a);
	NEED(!guest_ioctl(fd, DRM_IOCTL_NVDLA_CHAIN_CREATE, a), "a chain is made");
	a->destroy = (struct drm_nvdla_chain_destroy){ .handle = a->chain.handle };
}

static void good_submit(union argument *a)
{
	memcpy(binding, work.binding, sizeof(binding));
	job = guest_work_job(&work);
	job.bindings = (uintptr_t)binding;
	a->submit = (struct drm_nvdla_submit){
		.jobs = (uintptr_t)&job,
		.job_count = 1,
		.job_stride = sizeof(job),
	};
}

/* Jobs that were accepted do not outlive the check. */
static void undo_submit(union argument *a)
{
	NEED(!guest_work_wait(&work, GUEST_WAIT_MS), "the job is done");
}

static void undo_bo_create(union argument *a)
{
	guest_gem_close(fd, a->bo_create.handle);
}

static void undo_chain(union argument *a)
{
	guest_chain_free(fd, a->chain.handle);
}

static void good_reserve(union argument *a)
{
	a->reserve = (struct drm_nvdla_reserve){ .banks = 0 };
}

static void good_context(union argument *a)
{
	a->context = (struct drm_nvdla_context){ .op = DRM_NVDLA_CONTEXT_GET };
}

/**
 * struct call - one ioctl
 * @good: fills in arguments that are accepted, of @size bytes
 * @undo: takes back what an accepted call did, may be NULL
 */
struct call {
	const char *name;
	unsigned long request;
	u32 size;
	void (*good)(union argument *a);
	void (*undo)(union argument *a);
};

enum { QUERY, BO_CREATE, MAP, BO_SYNC, WAIT, CHAIN, DESTROY, SUBMIT, RESERVE, CONTEXT };

static const struct call calls[] = {
	[QUERY] = { "DEV_QUERY", DRM_IOCTL_NVDLA_DEV_QUERY, sizeof(struct drm_nvdla_dev_query),
		    good_query, NULL },
	[BO_CREATE] = { "BO_CREATE", DRM_IOCTL_NVDLA_BO_CREATE, sizeof(struct drm_nvdla_bo_create),
			good_bo_create, undo_bo_create },
	[MAP] = { "BO_MMAP_OFFSET", DRM_IOCTL_NVDLA_BO_MMAP_OFFSET,
		  sizeof(struct drm_nvdla_bo_mmap_offset), good_map, NULL },
	[BO_SYNC] = { "BO_SYNC", DRM_IOCTL_NVDLA_BO_SYNC, sizeof(struct drm_nvdla_bo_sync),
		      good_bo_sync, NULL },
	[WAIT] = { "BO_WAIT", DRM_IOCTL_NVDLA_BO_WAIT, sizeof(struct drm_nvdla_bo_wait), good_wait,
		   NULL },
	[CHAIN] = { "CHAIN_CREATE", DRM_IOCTL_NVDLA_CHAIN_CREATE,
		    sizeof(struct drm_nvdla_chain_create), good_chain, undo_chain },
	[DESTROY] = { "CHAIN_DESTROY", DRM_IOCTL_NVDLA_CHAIN_DESTROY,
		      sizeof(struct drm_nvdla_chain_destroy), good_destroy, NULL },
	[SUBMIT] = { "SUBMIT", DRM_IOCTL_NVDLA_SUBMIT, sizeof(struct drm_nvdla_submit), good_submit,
		     undo_submit },
	[RESERVE] = { "RESERVE", DRM_IOCTL_NVDLA_RESERVE, sizeof(struct drm_nvdla_reserve),
		      good_reserve, NULL },
	[CONTEXT] = { "CONTEXT", DRM_IOCTL_NVDLA_CONTEXT, sizeof(struct drm_nvdla_context),
		      good_context, NULL },
};

/* Where a bad value goes: into the call's struct or into one that it points to. */
enum place { IN_CALL, IN_JOB, IN_BINDING };

/**
 * struct bad - one change that makes good arguments bad
 * @value: of @width bytes at @offset
 * @error: that the call gives then
 */
struct bad {
	u32 call;
	enum place place;
	const char *what;
	u32 offset, width;
	u64 value;
	int error;
};

#define FIELD(type, field) offsetof(struct type, field), sizeof(((struct type *)0)->field)
#define NOWHERE 0x10000 /* below all that is mapped */
#define NO_HANDLE 0xabcdef

static const struct bad bads[] = {
	{ QUERY, IN_CALL, "unknown type", FIELD(drm_nvdla_dev_query, type), 0x1000, EINVAL },
	{ QUERY, IN_CALL, "pointer", FIELD(drm_nvdla_dev_query, pointer), NOWHERE, EFAULT },
	{ BO_CREATE, IN_CALL, "size 0", FIELD(drm_nvdla_bo_create, size), 0, EINVAL },
	{ BO_CREATE, IN_CALL, "size ~0", FIELD(drm_nvdla_bo_create, size), ~0ull, -1 },
	{ BO_CREATE, IN_CALL, "size that wraps in pages", FIELD(drm_nvdla_bo_create, size),
	  ~0ull - 4094, -1 },
	{ BO_CREATE, IN_CALL, "size 1 TiB", FIELD(drm_nvdla_bo_create, size), 1ull << 40, -1 },
	{ BO_CREATE, IN_CALL, "unknown flag", FIELD(drm_nvdla_bo_create, flags), 1u << 31, EINVAL },
	{ BO_CREATE, IN_CALL, "next flag", FIELD(drm_nvdla_bo_create, flags), 2, EINVAL },
	{ MAP, IN_CALL, "handle", FIELD(drm_nvdla_bo_mmap_offset, handle), NO_HANDLE, ENOENT },
	{ MAP, IN_CALL, "handle 0", FIELD(drm_nvdla_bo_mmap_offset, handle), 0, ENOENT },
	{ MAP, IN_CALL, "padding", FIELD(drm_nvdla_bo_mmap_offset, pad), 1, EINVAL },
	{ BO_SYNC, IN_CALL, "handle", FIELD(drm_nvdla_bo_sync, handle), NO_HANDLE, ENOENT },
	{ BO_SYNC, IN_CALL, "no direction", FIELD(drm_nvdla_bo_sync, flags), 0, EINVAL },
	{ BO_SYNC, IN_CALL, "both directions", FIELD(drm_nvdla_bo_sync, flags), 3, EINVAL },
	{ BO_SYNC, IN_CALL, "unknown flag", FIELD(drm_nvdla_bo_sync, flags), 5, EINVAL },
	{ BO_SYNC, IN_CALL, "offset behind the buffer", FIELD(drm_nvdla_bo_sync, offset), 1u << 20,
	  EINVAL },
	{ BO_SYNC, IN_CALL, "offset that wraps", FIELD(drm_nvdla_bo_sync, offset), ~0ull - 4000,
	  EINVAL },
	{ BO_SYNC, IN_CALL, "size that wraps", FIELD(drm_nvdla_bo_sync, size), ~0ull, EINVAL },
	{ BO_SYNC, IN_CALL, "size beyond the buffer", FIELD(drm_nvdla_bo_sync, size), 1u << 20,
	  EINVAL },
	{ WAIT, IN_CALL, "handle", FIELD(drm_nvdla_bo_wait, handle), NO_HANDLE, ENOENT },
	{ WAIT, IN_CALL, "unknown flag", FIELD(drm_nvdla_bo_wait, flags), 2, EINVAL },
	{ CHAIN, IN_CALL, "flags", FIELD(drm_nvdla_chain_create, flags), 1, EINVAL },
	{ CHAIN, IN_CALL, "padding", FIELD(drm_nvdla_chain_create, pad), 1, EINVAL },
	{ CHAIN, IN_CALL, "stream nowhere", FIELD(drm_nvdla_chain_create, stream), NOWHERE,
	  EFAULT },
	{ CHAIN, IN_CALL, "no stream", FIELD(drm_nvdla_chain_create, stream), 0, EFAULT },
	{ CHAIN, IN_CALL, "size 0", FIELD(drm_nvdla_chain_create, size), 0, EINVAL },
	{ CHAIN, IN_CALL, "size of half a header", FIELD(drm_nvdla_chain_create, size), 12,
	  EINVAL },
	{ CHAIN, IN_CALL, "size 4 GiB", FIELD(drm_nvdla_chain_create, size), 0xffffffff, E2BIG },
	{ DESTROY, IN_CALL, "handle", FIELD(drm_nvdla_chain_destroy, handle), NO_HANDLE, ENOENT },
	{ DESTROY, IN_CALL, "handle 0", FIELD(drm_nvdla_chain_destroy, handle), 0, ENOENT },
	{ DESTROY, IN_CALL, "padding", FIELD(drm_nvdla_chain_destroy, pad), 1, EINVAL },
	{ SUBMIT, IN_CALL, "flags", FIELD(drm_nvdla_submit, flags), 1, EINVAL },
	{ SUBMIT, IN_CALL, "no jobs", FIELD(drm_nvdla_submit, job_count), 0, EINVAL },
	{ SUBMIT, IN_CALL, "4 G jobs", FIELD(drm_nvdla_submit, job_count), 0xffffffff, -1 },
	{ SUBMIT, IN_CALL, "jobs nowhere", FIELD(drm_nvdla_submit, jobs), NOWHERE, EFAULT },
	{ SUBMIT, IN_CALL, "stride 0", FIELD(drm_nvdla_submit, job_stride), 0, EINVAL },
	{ SUBMIT, IN_JOB, "chain", FIELD(drm_nvdla_job, chain), NO_HANDLE, ENOENT },
	{ SUBMIT, IN_JOB, "chain 0", FIELD(drm_nvdla_job, chain), 0, ENOENT },
	{ SUBMIT, IN_JOB, "flags", FIELD(drm_nvdla_job, flags), 1, EINVAL },
	{ SUBMIT, IN_JOB, "padding", FIELD(drm_nvdla_job, pad), 1, EINVAL },
	{ SUBMIT, IN_JOB, "bindings nowhere", FIELD(drm_nvdla_job, bindings), NOWHERE, EFAULT },
	{ SUBMIT, IN_JOB, "a binding less", FIELD(drm_nvdla_job, binding_count), TASK_REGIONS - 1,
	  EINVAL },
	{ SUBMIT, IN_JOB, "4 G bindings", FIELD(drm_nvdla_job, binding_count), 0xffffffff, EINVAL },
	{ SUBMIT, IN_JOB, "binding stride 0", FIELD(drm_nvdla_job, binding_stride), 0, EINVAL },
	{ SUBMIT, IN_JOB, "4 G in syncobjs", FIELD(drm_nvdla_job, in_sync_count), 0xffffffff, -1 },
	{ SUBMIT, IN_JOB, "4 G out syncobjs", FIELD(drm_nvdla_job, out_sync_count), 0xffffffff,
	  -1 },
	{ SUBMIT, IN_JOB, "in syncobjs nowhere", FIELD(drm_nvdla_job, in_sync_count), 1, EFAULT },
	{ SUBMIT, IN_JOB, "out syncobjs nowhere", FIELD(drm_nvdla_job, out_sync_count), 1, EFAULT },
	{ SUBMIT, IN_JOB, "time-out beyond the limit", FIELD(drm_nvdla_job, timeout_ms), 0xffffffff,
	  EINVAL },
	{ SUBMIT, IN_JOB, "result buffer", FIELD(drm_nvdla_job, result), NO_HANDLE, ENOENT },
	{ SUBMIT, IN_JOB, "result offset between words", FIELD(drm_nvdla_job, result_offset), 4,
	  EINVAL },
	{ SUBMIT, IN_JOB, "result behind the buffer", FIELD(drm_nvdla_job, result_offset), 4096,
	  EINVAL },
	{ SUBMIT, IN_JOB, "result half behind the buffer", FIELD(drm_nvdla_job, result_offset),
	  4096 - 8, EINVAL },
	{ SUBMIT, IN_JOB, "result offset that wraps", FIELD(drm_nvdla_job, result_offset),
	  ~0ull - 15, EINVAL },
	{ SUBMIT, IN_BINDING, "buffer", FIELD(drm_nvdla_binding, handle), NO_HANDLE, ENOENT },
	{ SUBMIT, IN_BINDING, "no buffer", FIELD(drm_nvdla_binding, handle), 0, EINVAL },
	{ SUBMIT, IN_BINDING, "padding", FIELD(drm_nvdla_binding, pad), 1, EINVAL },
	{ SUBMIT, IN_BINDING, "misaligned offset", FIELD(drm_nvdla_binding, offset), 4, EINVAL },
	{ SUBMIT, IN_BINDING, "offset behind the buffer", FIELD(drm_nvdla_binding, offset),
	  1u << 24, EINVAL },
	{ SUBMIT, IN_BINDING, "offset that wraps", FIELD(drm_nvdla_binding, offset), 0ull - 4096,
	  EINVAL },
	{ SUBMIT, IN_BINDING, "size beyond the buffer", FIELD(drm_nvdla_binding, size), 1u << 24,
	  EINVAL },
	{ SUBMIT, IN_BINDING, "size that wraps", FIELD(drm_nvdla_binding, size), ~0ull, EINVAL },
	{ SUBMIT, IN_BINDING, "size less than the chain's", FIELD(drm_nvdla_binding, size), 8,
	  EINVAL },
	{ SUBMIT, IN_BINDING, "size 0", FIELD(drm_nvdla_binding, size), 0, EINVAL },
	{ RESERVE, IN_CALL, "flags", FIELD(drm_nvdla_reserve, flags), 1, EINVAL },
	{ RESERVE, IN_CALL, "more banks than there are", FIELD(drm_nvdla_reserve, banks), 33,
	  ENOSPC },
	{ RESERVE, IN_CALL, "4 G banks", FIELD(drm_nvdla_reserve, banks), 0xffffffff, ENOSPC },
	{ CONTEXT, IN_CALL, "operation", FIELD(drm_nvdla_context, op), 2, EINVAL },
	{ CONTEXT, IN_CALL, "parameter", FIELD(drm_nvdla_context, param), 1, EINVAL },
};

/* What must not change when a call fails. */
struct state {
	s64 resident;
	struct drm_nvdla_budget budget;
};

static struct state look(void)
{
	return (struct state){
		.resident = guest_fdinfo(fd, "drm-total-memory"),
		.budget = guest_budget(fd),
	};
}

static void check_bad(const struct bad *bad)
{
	const struct call *call = &calls[bad->call];
	union argument a = { .byte = { 0 } }, before;
	struct state state, after;
	u8 *at = a.byte;
	int err;

	call->good(&a);
	if (bad->place == IN_JOB)
		at = (u8 *)&job;
	if (bad->place == IN_BINDING)
		at = (u8 *)&binding[TASK_OUTPUT];
	memcpy(at + bad->offset, &bad->value, bad->width);
	state = look();
	before = a;
	err = guest_ioctl(fd, call->request, &a);
	if (bad->call == SUBMIT) /* the one thing that a failing call may write */
		before.submit.failed_job = a.submit.failed_job;
	after = look();
	/* -1: any error will do, since more than one is right. */
	tap(bad->error == -1 ? err < 0 : err == -bad->error, "%s: %s: %s", call->name, bad->what,
	    err ? strerror(-err) : "accepted");
	if (memcmp(&a, &before, sizeof(a)) || memcmp(&state, &after, sizeof(state)))
		tap(false, "%s: %s: the failing call changed nothing", call->name, bad->what);
	if (!err && call->undo)
		call->undo(&a);
}

static void check_good(const struct call *call)
{
	union argument a = { .byte = { 0 } };
	int err;

	call->good(&a);
	err = guest_ioctl(fd, call->request, &a);
	tap(!err, "%s: good arguments: %s", call->name, strerror(-err));
	if (!err && call->undo)
		call->undo(&a);
}

static unsigned long resized(unsigned long request, u32 size)
{
	return (request & ~((unsigned long)_IOC_SIZEMASK << _IOC_SIZESHIFT)) |
	       (unsigned long)size << _IOC_SIZESHIFT;
}

/* A program made for a later kernel: its struct is longer. */
static void check_longer(const struct call *call)
{
	union argument a = { .byte = { 0 } };
	int err;

	call->good(&a);
	err = guest_ioctl(fd, resized(call->request, call->size + 16), &a);
	tap(!err, "%s: a longer struct, zero at the end: %s", call->name, strerror(-err));
	if (!err && call->undo)
		call->undo(&a);
}

/* A call with nothing but zeros, that is all that an empty struct says, is well defined. */
static void check_shorter(const struct call *call, bool good)
{
	union argument a = { .byte = { 0 } };
	int err = guest_ioctl(fd, resized(call->request, 4), &a);

	tap(good ? !err : err < 0, "%s: a struct of four zero bytes: %s", call->name,
	    err ? strerror(-err) : "accepted");
}

static void check_nowhere(const struct call *call)
{
	int err = guest_ioctl(fd, call->request, (void *)(uintptr_t)NOWHERE);

	tap(err == -EFAULT, "%s: argument nowhere: %s", call->name, strerror(-err));
}

/* An argument that cannot be written to: the call may have been done, but nobody crashes. */
static void check_read_only(const struct call *call)
{
	union argument a = { .byte = { 0 } };
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	NEED(page != MAP_FAILED, "a page is mapped");
	call->good(&a);
	memcpy(page, &a, sizeof(a));
	mprotect(page, 4096, PROT_READ);
	err = guest_ioctl(fd, call->request, page);
	if (call->request & ((unsigned long)_IOC_READ << _IOC_DIRSHIFT))
		tap(err == -EFAULT, "%s: argument that cannot be written: %s", call->name,
		    strerror(-err));
	else
		tap(!err, "%s: argument that need not be written: %s", call->name, strerror(-err));
	munmap(page, 4096);
	if (call == &calls[SUBMIT])
		undo_submit(&a);
}

/* Structs behind pointers: longer ones, with something in what this kernel does not know. */
static void check_inner_strides(void)
{
	static struct {
		struct drm_nvdla_job job;
		u64 more[2];
	} longer;
	static struct {
		struct drm_nvdla_binding binding;
		u64 more;
	} wide[TASK_REGIONS];
	union argument a;
	u32 i;
	int err;

	good_submit(&a);
	longer.job = job;
	for (i = 0; i < TASK_REGIONS; i++)
		wide[i].binding = binding[i];
	longer.job.bindings = (uintptr_t)wide;
	longer.job.binding_stride = sizeof(wide[0]);
	a.submit.jobs = (uintptr_t)&longer;
	a.submit.job_stride = sizeof(longer);
	err = guest_ioctl(fd, DRM_IOCTL_NVDLA_SUBMIT, &a);
	tap(!err, "SUBMIT: longer jobs and bindings, zero at the end: %s", strerror(-err));
	if (!err)
		undo_submit(&a);
	longer.more[1] = 1;
	err = guest_ioctl(fd, DRM_IOCTL_NVDLA_SUBMIT, &a);
	tap(err == -E2BIG, "SUBMIT: a longer job that wants what is not known: %s", strerror(-err));
	longer.more[1] = 0;
	wide[1].more = 1;
	err = guest_ioctl(fd, DRM_IOCTL_NVDLA_SUBMIT, &a);
	tap(err == -E2BIG, "SUBMIT: a longer binding likewise: %s", strerror(-err));
	wide[1].more = 0;
	/* Without the last fields of this version: no result wanted. */
	a.submit.job_stride = offsetof(struct drm_nvdla_job, result);
	err = guest_ioctl(fd, DRM_IOCTL_NVDLA_SUBMIT, &a);
	tap(!err, "SUBMIT: a shorter job: %s", strerror(-err));
	tap(!err && !guest_bo_wait(fd, work.bo[TASK_OUTPUT].handle, 0, GUEST_WAIT_MS),
	    "SUBMIT: which is done");
}

static void check_unknown(void)
{
	union argument a = { .byte = { 0 } };
	unsigned long nr;
	u32 refused = 0, tried = 0;

	for (nr = DRM_COMMAND_BASE + ARRAY_SIZE(calls); nr < DRM_COMMAND_END; nr++, tried++)
		refused += guest_ioctl(fd, DRM_IOWR(nr, union argument), &a) < 0;
	tap(refused == tried, "%u numbers without a call are refused", refused);
}

/* Nothing undefined comes back: what is behind the answer stays as it was, or is zero. */
static void check_query_sizes(void)
{
	u8 text[512];
	u32 type, size, i;

	for (type = DRM_NVDLA_QUERY_DEVICE; type <= DRM_NVDLA_QUERY_BUDGET; type++) {
		struct drm_nvdla_dev_query query = { .type = type };
		int err = guest_ioctl(fd, DRM_IOCTL_NVDLA_DEV_QUERY, &query);
		u32 own = query.size;

		tap(!err && own && own % 8 == 0 && own < sizeof(text),
		    "DEV_QUERY: type %u tells its size, %u", type, own);
		memset(text, 0x5a, sizeof(text));
		query = (struct drm_nvdla_dev_query){
			.type = type,
			.size = 8,
			.pointer = (uintptr_t)text,
		};
		err = guest_ioctl(fd, DRM_IOCTL_NVDLA_DEV_QUERY, &query);
		tap(!err && query.size == own && text[8] == 0x5a,
		    "DEV_QUERY: type %u writes no more than asked for", type);
		query.size = size = own + 64;
		err = guest_ioctl(fd, DRM_IOCTL_NVDLA_DEV_QUERY, &query);
		for (i = own; i < size && !text[i]; i++)
			;
		tap(!err && query.size == own && i == size && text[size] == 0x5a,
		    "DEV_QUERY: type %u fills what is beyond with zeros", type);
	}
}

int main(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	static const bool zeros_are_good[] = { [QUERY] = true, [RESERVE] = true, [CONTEXT] = true };
	u32 i;

	fd = guest_open();
	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 1);
	guest_work_stream(&stream, work.config, &shape);
	NEED(!guest_bo_new(fd, 4096, 0, &bo), "a buffer is made");

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		check_good(&calls[i]);
		check_longer(&calls[i]);
		check_shorter(&calls[i], i < ARRAY_SIZE(zeros_are_good) && zeros_are_good[i]);
		check_nowhere(&calls[i]);
		check_read_only(&calls[i]);
	}
	for (i = 0; i < ARRAY_SIZE(bads); i++)
		check_bad(&bads[i]);
	check_inner_strides();
	check_unknown();
	check_query_sizes();
	tap(guest_work_run(&work, 2), "after all this the NPU computes right");
	guest_work_free(&work);
	chain_free(&stream);
	close(fd);
	return tap_end();
}
