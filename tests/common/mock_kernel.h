/* SPDX-License-Identifier: MIT */
/*
 * The kernel driver's interface (uapi/drm/nvdla_accel.h) in the test's own process:
 * open(), ioctl(), access() and readlink() of this program, and of libdrm in it, come here.  Jobs
 * run on the device model at SUBMIT.  Cached buffers have two contents, the CPU's and the NPU's, and
 * only BO_SYNC moves bytes between them, as on a machine that is not coherent.
 *
 * Whatever the interface forbids ends the test: padding that is not zero, unknown flags, handles
 * that are not there, bindings that are too small.
 */
#ifndef MOCK_KERNEL_H
#define MOCK_KERNEL_H

#include <drm/nvdla_accel.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"
#include "nvdla_chain_check.h"

#define MOCK_FILES 64
#define MOCK_BOS 64
#define MOCK_CHAINS 64
#define MOCK_SYNCOBJS 64
#define MOCK_PAGE 4096u

/**
 * struct mock_bo - a buffer
 * @offset, @size: in the memfd that stands for the device file
 * @cpu: what the CPU sees; @npu: what the NPU sees, another memory where @cached
 */
struct mock_bo {
	u64 offset, size;
	u8 *cpu, *npu;
	bool cached;
};

struct mock_chain {
	struct npu_chain *chain; /* of the simulated NPU */
	u32 region_count;
	struct drm_nvdla_chain_region region[NVDLA_CHAIN_MAX_REGIONS];
};

struct mock_file {
	bool open;
	u64 end; /* of the memfd */
	u32 reserved;
	u64 priority;
	struct mock_bo bo[MOCK_BOS];
	struct mock_chain chain[MOCK_CHAINS];
	bool syncobj[MOCK_SYNCOBJS];
	bool fence[MOCK_SYNCOBJS];
};

/**
 * struct mock_kernel - all of it; a test sets what it needs
 * @module, @device, @node: the module is loaded, has found accel0, which has a node
 * @open_error: what open() of the node ends with
 * @driver: its name
 * @fail_call, @fail_error, @fail_after: the ioctl of that number fails after so many of it
 * @message: what CHAIN_CREATE writes then
 * @interrupt: so many ioctls are interrupted by a signal first
 * @bo_limit: largest buffer in one piece; @bo_advice: what LIMITS says of it
 * @jobs_per_submit: of LIMITS
 * @job_error: what the next job ends with, and then nothing else
 * @lost_to: the next job loses banks while it runs, so many stay; 0: it does not
 * @silent_result: jobs do not write their result
 * @limit, @usable: banks; @generation: of the budget
 * @calls: of each number
 */
struct mock_kernel {
	bool module, device, node;
	int open_error;
	const char *bus, *device_name;
	const char *driver;
	int major;
	const char *config;
	u32 chain_version;
	int fail_call, fail_error, fail_after;
	const char *message;
	int interrupt;
	u64 bo_limit, bo_advice;
	u32 jobs_per_submit;
	int job_error;
	u32 lost_to;
	bool silent_result;
	u32 limit, usable;
	u64 generation;
	u64 calls[256];
	u64 pinned;
	struct npu_device *sim;
	struct mock_file file[MOCK_FILES];
	void (*before_submit)(struct mock_kernel *mock);
};

static struct mock_kernel mock;
static pthread_mutex_t mock_lock = PTHREAD_MUTEX_INITIALIZER; /* one call at a time */

#define MOCK_RULE(condition)                                                                      \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "interface broken: %s, line %d\n", #condition, __LINE__); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

#define MOCK_API __attribute__((visibility("default")))

static void mock_begin(const char *config)
{
	char name[64];

	mock = (struct mock_kernel){
		.module = true,
		.device = true,
		.node = true,
		.driver = DRM_NVDLA_DRIVER_NAME,
		.bus = "pci",
		.device_name = "0001:3f:1e.5",
		.major = DRM_NVDLA_DRIVER_MAJOR,
		.config = config,
		.chain_version = NVDLA_CHAIN_VERSION,
		.fail_call = -1,
		.generation = 1,
		.bo_limit = 4u << 20,
		.bo_advice = 4u << 20,
		.jobs_per_submit = 16,
	};
	snprintf(name, sizeof(name), "sim:%s", config);
	MOCK_RULE(npu_open(name, &mock.sim) == 0);
	mock.limit = mock.usable = mock.sim->config->banks;
}

/* Everything that was opened, made or mapped has to be gone. */
static void mock_end(void)
{
	u32 i;

	for (i = 0; i < MOCK_FILES; i++)
		MOCK_RULE(!mock.file[i].open);
	npu_close(mock.sim);
	mock.sim = NULL;
}

static struct mock_file *mock_file(int fd)
{
	/* A descriptor that was closed is taken back when its number is used again, or at the end. */
	return fd >= 0 && fd < MOCK_FILES && mock.file[fd].open ? &mock.file[fd] : NULL;
}

/* ---- budget ---- */

static u32 mock_reserved(const struct mock_file *without)
{
	u32 i, sum = 0;

	for (i = 0; i < MOCK_FILES; i++)
		if (mock.file[i].open && &mock.file[i] != without)
			sum += mock.file[i].reserved;
	return sum;
}

static u32 mock_available(const struct mock_file *file)
{
	u32 most = min(mock.limit, mock.usable), others = mock_reserved(file);
	u32 left = most > others ? most - others : 0;

	return max(left, min(file->reserved, mock.usable));
}

/* ---- calls ---- */

static int mock_copy_answer(struct drm_nvdla_dev_query *query, const void *answer, u32 size)
{
	if (query->pointer) {
		memset((void *)(uintptr_t)query->pointer, 0, query->size);
		memcpy((void *)(uintptr_t)query->pointer, answer, min(query->size, size));
	}
	query->size = size;
	return 0;
}

static int mock_query(struct mock_file *file, struct drm_nvdla_dev_query *query)
{
	const struct nvdla_config *config = mock.sim->config;
	struct drm_nvdla_device_info info = {
		.chain_version = mock.chain_version,
		.atomic_c = config->atomic_c,
		.atomic_k = config->atomic_k,
		.atom_bytes = config->atom,
		.banks = config->banks,
		.entries_per_bank = config->entries,
		.entry_bytes = config->entry_bytes,
		.address_bits = 32,
		.region_alignment = 8 * config->atom,
	};
	struct drm_nvdla_limits limits = { .bo_bytes = mock.bo_advice,
					   .jobs_per_submit = mock.jobs_per_submit };
	struct drm_nvdla_budget budget = {
		.generation = mock.generation,
		.banks_total = config->banks,
		.banks_usable = mock.usable,
		.banks_limit = mock.limit,
		.banks_reserved = mock_reserved(NULL),
		.banks_available = mock_available(file),
		.banks_own = file->reserved,
	};

	snprintf((char *)info.config, sizeof(info.config), "%s", mock.config);
	switch (query->type) {
	case DRM_NVDLA_QUERY_DEVICE:
		return mock_copy_answer(query, &info, sizeof(info));
	case DRM_NVDLA_QUERY_LIMITS:
		return mock_copy_answer(query, &limits, sizeof(limits));
	case DRM_NVDLA_QUERY_BUDGET:
		return mock_copy_answer(query, &budget, sizeof(budget));
	default:
		return -EINVAL;
	}
}

/* Handle h is element h - 1. */
static struct mock_bo *mock_bo(struct mock_file *file, u32 handle)
{
	MOCK_RULE(handle && handle <= MOCK_BOS && file->bo[handle - 1].size);
	return &file->bo[handle - 1];
}

static int mock_bo_create(int fd, struct mock_file *file, struct drm_nvdla_bo_create *create)
{
	struct mock_bo *bo = NULL;
	u64 size = (create->size + MOCK_PAGE - 1) / MOCK_PAGE * MOCK_PAGE;
	u32 i;

	MOCK_RULE(create->size && !(create->flags & ~(u32)DRM_NVDLA_BO_CACHED));
	for (i = 0; i < MOCK_BOS && !bo; i++)
		if (!file->bo[i].size)
			bo = &file->bo[i];
	if (!bo)
		return -EDQUOT;
	if (size > mock.bo_limit)
		return -ENOMEM;
	MOCK_RULE(ftruncate(fd, (off_t)(file->end + size)) == 0);
	*bo = (struct mock_bo){
		.offset = file->end,
		.size = size,
		.cached = create->flags & DRM_NVDLA_BO_CACHED,
		.cpu = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)file->end),
	};
	MOCK_RULE(bo->cpu != MAP_FAILED);
	bo->npu = bo->cached ? calloc(1, size) : bo->cpu;
	MOCK_RULE(bo->npu);
	file->end += size;
	mock.pinned += size;
	create->size = size;
	create->handle = (u32)(bo - file->bo) + 1;
	return 0;
}

static void mock_bo_free(struct mock_bo *bo)
{
	if (!bo->size)
		return;
	if (bo->cached)
		free(bo->npu);
	munmap(bo->cpu, bo->size);
	mock.pinned -= bo->size;
	*bo = (struct mock_bo){ 0 };
}

static int mock_bo_sync(struct mock_file *file, const struct drm_nvdla_bo_sync *sync)
{
	struct mock_bo *bo = mock_bo(file, sync->handle);

	MOCK_RULE(sync->size && sync->offset < bo->size && sync->size <= bo->size - sync->offset);
	MOCK_RULE(sync->flags == DRM_NVDLA_BO_SYNC_FOR_CPU ||
		  sync->flags == DRM_NVDLA_BO_SYNC_FOR_DEVICE);
	if (!bo->cached)
		return 0;
	if (sync->flags == DRM_NVDLA_BO_SYNC_FOR_DEVICE)
		memcpy(bo->npu + sync->offset, bo->cpu + sync->offset, sync->size);
	else
		memcpy(bo->cpu + sync->offset, bo->npu + sync->offset, sync->size);
	return 0;
}

static void mock_chain_message(const struct drm_nvdla_chain_create *create,
			       const struct nvdla_chain_error *error)
{
	if (create->message_size)
		nvdla_chain_error_text(error, (char *)(uintptr_t)create->message,
				       create->message_size);
}

/* What the kernel would find out of the stream. */
static int mock_validate(const struct drm_nvdla_chain_create *create, struct mock_chain *out)
{
	const void *stream = (const void *)(uintptr_t)create->stream;
	size_t bytes = nvdla_chain_storage_bytes(stream, create->size);
	void *storage = calloc(1, max(bytes, (size_t)1));
	struct nvdla_chain_error error = { 0 };
	struct nvdla_chain chain;
	u32 i;
	int err = bytes ? nvdla_chain_validate(mock.sim->config, stream, create->size, storage,
					       bytes, &chain, &error)
			: -EINVAL;

	if (err && bytes)
		mock_chain_message(create, &error);
	for (i = 0; !err && i < chain.region_count; i++) {
		const struct nvdla_chain_region *r = &chain.region[i];

		out->region[i] = (struct drm_nvdla_chain_region){
			.size = max(r->read_end, r->write_end),
			.read_start = r->read_start,
			.read_end = r->read_end,
			.write_start = r->write_start,
			.write_end = r->write_end,
		};
	}
	out->region_count = err ? 0 : chain.region_count;
	free(storage);
	return err;
}

static int mock_chain_create(struct mock_file *file, struct drm_nvdla_chain_create *create)
{
	struct mock_chain *chain = NULL;
	u32 i;
	int err;

	MOCK_RULE(!create->flags && !create->pad && !create->handle);
	MOCK_RULE(create->region_stride >= sizeof(chain->region[0]));
	for (i = 0; i < MOCK_CHAINS && !chain; i++)
		if (!file->chain[i].chain)
			chain = &file->chain[i];
	if (!chain)
		return -EDQUOT;
	err = mock_validate(create, chain);
	if (err)
		return err;
	err = mock.sim->ops->chain_create(mock.sim, (const void *)(uintptr_t)create->stream,
					  create->size, &chain->chain);
	if (err)
		return err;
	for (i = 0; i < min(create->region_count, chain->region_count); i++)
		memcpy((u8 *)(uintptr_t)create->regions + (size_t)i * create->region_stride,
		       &chain->region[i], sizeof(chain->region[i]));
	create->region_count = chain->region_count;
	create->handle = (u32)(chain - file->chain) + 1;
	create->banks = chain->chain->banks;
	create->tasks = chain->chain->tasks;
	create->segments = 1;
	return 0;
}

static struct mock_chain *mock_chain(struct mock_file *file, u32 handle)
{
	MOCK_RULE(handle && handle <= MOCK_CHAINS && file->chain[handle - 1].chain);
	return &file->chain[handle - 1];
}

static int mock_chain_destroy(struct mock_file *file, const struct drm_nvdla_chain_destroy *destroy)
{
	struct mock_chain *chain = mock_chain(file, destroy->handle);

	MOCK_RULE(!destroy->pad);
	mock.sim->ops->chain_destroy(mock.sim, chain->chain);
	*chain = (struct mock_chain){ 0 };
	return 0;
}

static void mock_bind(struct mock_file *file, const struct mock_chain *chain,
		      const struct drm_nvdla_binding *binding, struct npu_buffer *region)
{
	u32 i;

	for (i = 0; i < chain->region_count; i++) {
		struct mock_bo *bo;

		MOCK_RULE(!binding[i].pad);
		region[i] = (struct npu_buffer){ 0 };
		if (!chain->region[i].size) {
			MOCK_RULE(!binding[i].handle && !binding[i].offset && !binding[i].size);
			continue;
		}
		bo = mock_bo(file, binding[i].handle);
		MOCK_RULE(binding[i].offset % (8 * mock.sim->config->atom) == 0);
		MOCK_RULE(binding[i].offset < bo->size &&
			  binding[i].size <= bo->size - binding[i].offset);
		MOCK_RULE(binding[i].size >= chain->region[i].size);
		region[i].data = bo->npu + binding[i].offset;
		region[i].bytes = binding[i].size;
	}
}

static void mock_run(struct mock_file *file, const struct drm_nvdla_job *job)
{
	struct mock_chain *chain = mock_chain(file, job->chain);
	struct mock_bo *result_bo = mock_bo(file, job->result);
	struct drm_nvdla_job_result result = { .tasks = chain->chain->tasks, .busy_ns = 1000 };
	const struct drm_nvdla_sync *done = (const void *)(uintptr_t)job->out_syncs;
	struct npu_buffer region[NVDLA_CHAIN_MAX_REGIONS];
	struct npu_device_job own = { chain->chain, region, chain->region_count };
	struct npu_submission submission = { &own, 1 };

	MOCK_RULE(job->binding_count == chain->region_count);
	MOCK_RULE(job->binding_stride == sizeof(struct drm_nvdla_binding));
	MOCK_RULE(!job->flags && !job->pad && !job->in_sync_count && job->out_sync_count == 1);
	MOCK_RULE(job->sync_stride == sizeof(*done) && !done->flags && !done->point);
	MOCK_RULE(done->handle && done->handle <= MOCK_SYNCOBJS && file->syncobj[done->handle - 1]);
	MOCK_RULE(!result_bo->cached && job->result_offset % 8 == 0);
	MOCK_RULE(job->result_offset + sizeof(result) <= result_bo->size);
	mock_bind(file, chain, (const void *)(uintptr_t)job->bindings, region);
	if (mock.lost_to) {
		mock.usable = mock.lost_to;
		mock.generation++;
		mock.job_error = -EIO;
		mock.lost_to = 0;
	}
	result.error = mock.job_error;
	mock.job_error = 0;
	if (!result.error)
		result.error = mock.sim->ops->submit(mock.sim, &submission);
	result.register_writes = own.stats.register_writes;
	result.start_ns = own.stats.start_ns;
	result.end_ns = own.stats.end_ns;
	if (!mock.silent_result)
		memcpy(result_bo->npu + job->result_offset, &result, sizeof(result));
	file->fence[done->handle - 1] = true;
}

/* All jobs are accepted, or none. */
static int mock_submit(struct mock_file *file, struct drm_nvdla_submit *submit)
{
	const struct drm_nvdla_job *job = (const void *)(uintptr_t)submit->jobs;
	u32 i;

	MOCK_RULE(submit->job_count && submit->job_count <= mock.jobs_per_submit);
	MOCK_RULE(submit->job_stride == sizeof(*job) && !submit->flags);
	if (mock.before_submit)
		mock.before_submit(&mock);
	for (i = 0; i < submit->job_count; i++) {
		submit->failed_job = i;
		if (mock_chain(file, job[i].chain)->chain->banks > mock_available(file))
			return -ENOSPC;
	}
	for (i = 0; i < submit->job_count; i++)
		mock_run(file, &job[i]);
	return 0;
}

static int mock_reserve(struct mock_file *file, struct drm_nvdla_reserve *reserve)
{
	u32 others = mock_reserved(file), most = min(mock.limit, mock.usable);

	MOCK_RULE(!reserve->flags);
	if (reserve->banks > most || others > most - reserve->banks)
		return -ENOSPC;
	file->reserved = reserve->banks;
	reserve->generation = ++mock.generation;
	return 0;
}

/* This process lacks CAP_SYS_NICE. */
static int mock_context(struct mock_file *file, const struct drm_nvdla_context *context)
{
	MOCK_RULE(context->op == DRM_NVDLA_CONTEXT_SET);
	MOCK_RULE(context->param == DRM_NVDLA_CONTEXT_PRIORITY);
	if (context->value > DRM_NVDLA_PRIORITY_NORMAL)
		return context->value == DRM_NVDLA_PRIORITY_HIGH ? -EACCES : -EINVAL;
	file->priority = context->value;
	return 0;
}

static int mock_syncobj_create(struct mock_file *file, struct drm_syncobj_create *create)
{
	u32 i;

	for (i = 0; i < MOCK_SYNCOBJS; i++)
		if (!file->syncobj[i]) {
			file->syncobj[i] = true;
			file->fence[i] = false;
			create->handle = i + 1;
			return 0;
		}
	return -ENOMEM;
}

static int mock_syncobj_wait(struct mock_file *file, const struct drm_syncobj_wait *wait)
{
	const u32 *handle = (const void *)(uintptr_t)wait->handles;
	u32 i;

	MOCK_RULE(wait->count_handles && wait->flags == DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL);
	for (i = 0; i < wait->count_handles; i++) {
		MOCK_RULE(handle[i] && handle[i] <= MOCK_SYNCOBJS);
		MOCK_RULE(file->syncobj[handle[i] - 1] && file->fence[handle[i] - 1]);
	}
	return 0;
}

/* One string of the version: as much as there is room for, and its true length. */
static void mock_string(char *to, __kernel_size_t *length, const char *text)
{
	if (to)
		memcpy(to, text, min(*length, strlen(text)));
	*length = strlen(text);
}

static int mock_version(struct drm_version *version)
{
	version->version_major = mock.major;
	mock_string(version->name, &version->name_len, mock.driver);
	mock_string(version->date, &version->date_len, "0");
	mock_string(version->desc, &version->desc_len, "mock");
	return 0;
}

static int mock_mmap_offset(struct mock_file *file, struct drm_nvdla_bo_mmap_offset *mapping)
{
	MOCK_RULE(!mapping->pad);
	mapping->offset = mock_bo(file, mapping->handle)->offset;
	return 0;
}

static int mock_call(int fd, struct mock_file *file, unsigned long request, void *argument)
{
	switch (request) {
	case DRM_IOCTL_VERSION:
		return mock_version(argument);
	case DRM_IOCTL_GEM_CLOSE:
		mock_bo_free(mock_bo(file, ((struct drm_gem_close *)argument)->handle));
		return 0;
	case DRM_IOCTL_SYNCOBJ_CREATE:
		return mock_syncobj_create(file, argument);
	case DRM_IOCTL_SYNCOBJ_DESTROY:
		file->syncobj[((struct drm_syncobj_destroy *)argument)->handle - 1] = false;
		return 0;
	case DRM_IOCTL_SYNCOBJ_WAIT:
		return mock_syncobj_wait(file, argument);
	case DRM_IOCTL_NVDLA_DEV_QUERY:
		return mock_query(file, argument);
	case DRM_IOCTL_NVDLA_BO_CREATE:
		return mock_bo_create(fd, file, argument);
	case DRM_IOCTL_NVDLA_BO_MMAP_OFFSET:
		return mock_mmap_offset(file, argument);
	case DRM_IOCTL_NVDLA_BO_SYNC:
		return mock_bo_sync(file, argument);
	case DRM_IOCTL_NVDLA_CHAIN_CREATE:
		return mock_chain_create(file, argument);
	case DRM_IOCTL_NVDLA_CHAIN_DESTROY:
		return mock_chain_destroy(file, argument);
	case DRM_IOCTL_NVDLA_SUBMIT:
		return mock_submit(file, argument);
	case DRM_IOCTL_NVDLA_RESERVE:
		return mock_reserve(file, argument);
	case DRM_IOCTL_NVDLA_CONTEXT:
		return mock_context(file, argument);
	default:
		MOCK_RULE(!"a call that is known");
		return -EINVAL;
	}
}

/* The error that the test wants of this call; 0: none. */
static int mock_injected(int number)
{
	if (mock.interrupt) {
		mock.interrupt--;
		return -EINTR;
	}
	if (number != mock.fail_call || mock.fail_after--)
		return 0;
	mock.fail_call = -1;
	return mock.fail_error;
}

#define MOCK_NUMBER(request) ((int)((request)&0xff))
#define MOCK_IOCTL(name) MOCK_NUMBER(DRM_IOCTL_##name)

static void mock_fail(int number, int error, int after)
{
	mock.fail_call = number;
	mock.fail_error = error;
	mock.fail_after = after;
}

/* ---- what stands in front of the C library ---- */

MOCK_API int ioctl(int fd, unsigned long request, ...)
{
	struct mock_file *file = mock_file(fd);
	void *argument;
	va_list args;
	int err;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (!file)
		return (int)syscall(SYS_ioctl, fd, request, argument);
	pthread_mutex_lock(&mock_lock);
	mock.calls[MOCK_NUMBER(request)]++;
	err = mock_injected(MOCK_NUMBER(request));
	if (err && mock.message && request == DRM_IOCTL_NVDLA_CHAIN_CREATE) {
		struct drm_nvdla_chain_create *create = argument;

		snprintf((char *)(uintptr_t)create->message, create->message_size, "%s",
			 mock.message);
	}
	if (!err)
		err = mock_call(fd, file, request, argument);
	pthread_mutex_unlock(&mock_lock);
	errno = err ? -err : errno;
	return err ? -1 : 0;
}

static int mock_open_node(const char *path)
{
	int fd;

	if (strcmp(path, "/dev/accel/accel0") != 0 || !mock.node) {
		errno = ENOENT;
		return -1;
	}
	if (mock.open_error) {
		errno = -mock.open_error;
		return -1;
	}
	fd = memfd_create("accel0", MFD_CLOEXEC);
	MOCK_RULE(fd >= 0 && fd < MOCK_FILES);
	mock.file[fd] = (struct mock_file){ .open = true, .priority = DRM_NVDLA_PRIORITY_NORMAL };
	return fd;
}

MOCK_API int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if (strncmp(path, "/dev/accel/", 11) == 0)
		return mock_open_node(path);
	va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(args, mode_t);
	va_end(args);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* As the kernel does when the last descriptor goes. */
MOCK_API int close(int fd)
{
	struct mock_file *file = mock_file(fd);
	u32 i;

	if (file) {
		for (i = 0; i < MOCK_BOS; i++)
			mock_bo_free(&file->bo[i]);
		for (i = 0; i < MOCK_CHAINS; i++)
			if (file->chain[i].chain)
				mock.sim->ops->chain_destroy(mock.sim, file->chain[i].chain);
		mock.generation += file->reserved != 0;
		*file = (struct mock_file){ 0 };
	}
	return (int)syscall(SYS_close, fd);
}

static bool mock_path(const char *path, bool *there)
{
	if (strcmp(path, "/dev/accel/accel0") == 0)
		*there = mock.node;
	else if (strcmp(path, "/sys/module/nvdla") == 0)
		*there = mock.module;
	else if (strcmp(path, "/sys/class/accel/accel0") == 0)
		*there = mock.device;
	else if (strncmp(path, "/dev/accel/", 11) == 0 ||
		 strncmp(path, "/sys/class/accel/", 17) == 0)
		*there = false;
	else
		return false;
	return true;
}

MOCK_API int access(const char *path, int mode)
{
	bool there;

	if (!mock_path(path, &there))
		return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
	errno = there ? errno : ENOENT;
	return there ? 0 : -1;
}

/* What a link of the node's directory holds; NULL: there is none. */
static const char *mock_link(const char *path, char *text, size_t size)
{
	const char *link = path + 24;

	if (!mock.device || strncmp(path, "/sys/class/accel/accel0/", 24) != 0)
		return NULL;
	if (strcmp(link, "device") == 0)
		snprintf(text, size, "../../../%s", mock.device_name);
	else if (strcmp(link, "device/subsystem") == 0)
		snprintf(text, size, "../../../../bus/%s", mock.bus);
	else if (strcmp(link, "device/driver") == 0)
		snprintf(text, size, "../../bus/%s/drivers/%s", mock.bus, mock.driver);
	else
		return NULL;
	return text;
}

MOCK_API ssize_t readlink(const char *path, char *target, size_t size)
{
	char text[128];
	size_t length;

	if (strncmp(path, "/sys/class/accel/", 17) != 0)
		return syscall(SYS_readlinkat, AT_FDCWD, path, target, size);
	if (!mock_link(path, text, sizeof(text))) {
		errno = ENOENT;
		return -1;
	}
	length = min(strlen(text), size);
	memcpy(target, text, length);
	return (ssize_t)length;
}

#endif /* MOCK_KERNEL_H */
