// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"

u64 guest_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

void guest_sleep_ms(u32 ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/* ---- the device ---- */

const char *guest_node(void)
{
	const char *named = getenv("NPU_TEST_NODE");
	static __thread char path[64];
	unsigned i;

	if (named && *named)
		return named;
	for (i = 0; i < 64; i++) {
		snprintf(path, sizeof(path), "/dev/accel/accel%u", i);
		if (!access(path, F_OK))
			return path;
	}
	return "/dev/accel/accel0";
}

int guest_open(void)
{
	int fd = open(guest_node(), O_RDWR | O_CLOEXEC);

	NEED(fd >= 0, "%s opens: %s", guest_node(), strerror(errno));
	return fd;
}

int guest_ioctl(int fd, unsigned long request, void *arg)
{
	int err;

	do {
		err = ioctl(fd, request, arg);
	} while (err && errno == EINTR);
	return err ? -errno : 0;
}

int guest_query(int fd, u32 type, void *answer, u32 size)
{
	struct drm_nvdla_dev_query query = {
		.type = type,
		.size = size,
		.pointer = (uintptr_t)answer,
	};

	return guest_ioctl(fd, DRM_IOCTL_NVDLA_DEV_QUERY, &query);
}

const struct nvdla_config *guest_config(int fd)
{
	struct drm_nvdla_device_info info = { 0 };
	const struct nvdla_config *config;
	int err = guest_query(fd, DRM_NVDLA_QUERY_DEVICE, &info, sizeof(info));

	NEED(!err, "DEV_QUERY tells the device: %s", strerror(-err));
	info.config[sizeof(info.config) - 1] = 0;
	config = nvdla_config_find((const char *)info.config);
	NEED(config, "configuration '%s' is known", info.config);
	return config;
}

struct drm_nvdla_budget guest_budget(int fd)
{
	struct drm_nvdla_budget budget = { 0 };
	int err = guest_query(fd, DRM_NVDLA_QUERY_BUDGET, &budget, sizeof(budget));

	NEED(!err, "DEV_QUERY tells the budget: %s", strerror(-err));
	return budget;
}

/* ---- buffers ---- */

int guest_bo_map(int fd, struct guest_bo *bo)
{
	struct drm_nvdla_bo_mmap_offset map = { .handle = bo->handle };
	int err = guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &map);

	if (err)
		return err;
	bo->data = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
	if (bo->data == MAP_FAILED) {
		bo->data = NULL;
		return -errno;
	}
	return 0;
}

int guest_bo_new(int fd, u64 size, u32 flags, struct guest_bo *bo)
{
	struct drm_nvdla_bo_create create = { .size = size, .flags = flags };
	int err = guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_CREATE, &create);

	*bo = (struct guest_bo){ .handle = create.handle, .size = create.size };
	if (err)
		return err;
	err = guest_bo_map(fd, bo);
	if (err)
		guest_bo_free(fd, bo);
	return err;
}

int guest_gem_close(int fd, u32 handle)
{
	struct drm_gem_close gem = { .handle = handle };

	return guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gem);
}

void guest_bo_free(int fd, struct guest_bo *bo)
{
	if (bo->data)
		munmap(bo->data, bo->size);
	if (bo->handle)
		guest_gem_close(fd, bo->handle);
	memset(bo, 0, sizeof(*bo));
}

int guest_bo_wait(int fd, u32 handle, u32 flags, u32 timeout_ms)
{
	struct drm_nvdla_bo_wait wait = {
		.handle = handle,
		.flags = flags,
		.timeout_ns = timeout_ms ? (s64)(guest_now_ns() + (u64)timeout_ms * 1000000u) : 0,
	};

	return guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_WAIT, &wait);
}

/* ---- syncobjs ---- */

u32 guest_sync_new(int fd)
{
	struct drm_syncobj_create create = { 0 };
	int err = guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);

	NEED(!err, "a syncobj is made: %s", strerror(-err));
	return create.handle;
}

void guest_sync_free(int fd, u32 handle)
{
	struct drm_syncobj_destroy destroy = { .handle = handle };

	guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
}

int guest_sync_wait(int fd, u32 handle, u64 point, u32 timeout_ms)
{
	struct drm_syncobj_timeline_wait wait = {
		.handles = (uintptr_t)&handle,
		.points = (uintptr_t)&point,
		.timeout_nsec = (s64)(guest_now_ns() + (u64)timeout_ms * 1000000u),
		.count_handles = 1,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};

	return guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

int guest_sync_signal(int fd, u32 handle, u64 point)
{
	struct drm_syncobj_timeline_array array = {
		.handles = (uintptr_t)&handle,
		.points = (uintptr_t)&point,
		.count_handles = 1,
	};

	return guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &array);
}

/* ---- chains ---- */

int guest_chain_new(int fd, const void *stream, u32 size, struct drm_nvdla_chain_create *create,
		    struct drm_nvdla_chain_region *region, u32 regions, char *message)
{
	*create = (struct drm_nvdla_chain_create){
		.stream = (uintptr_t)stream,
		.size = size,
		.regions = (uintptr_t)region,
		.region_count = regions,
		.region_stride = sizeof(*region),
		.message = (uintptr_t)message,
		.message_size = message ? WORK_MESSAGE : 0,
	};
	if (message)
		message[0] = 0;
	return guest_ioctl(fd, DRM_IOCTL_NVDLA_CHAIN_CREATE, create);
}

int guest_chain_free(int fd, u32 handle)
{
	struct drm_nvdla_chain_destroy destroy = { .handle = handle };

	return guest_ioctl(fd, DRM_IOCTL_NVDLA_CHAIN_DESTROY, &destroy);
}

/* ---- work with a known result ---- */

/* Bytes of one task's output, up to where another one may begin. */
static u32 work_stride(const struct nvdla_config *config)
{
	return DIV_ROUND_UP(WORK_KERNELS, (u32)config->atom) * WORK_PIXELS * config->atom;
}

static size_t cube_index(u32 atom, u32 pixel, u32 channel)
{
	return (size_t)(channel / atom) * WORK_PIXELS * atom + pixel * atom + channel % atom;
}

/* Weights of direct convolution: groups of atomic_k kernels, blocks of atomic_c channels. */
static size_t weight_index(const struct nvdla_config *config, u32 kernel, u32 channel)
{
	u32 group = kernel / config->atomic_k, block = channel / config->atomic_c;
	u32 kernels = min(WORK_KERNELS - group * config->atomic_k, (u32)config->atomic_k);
	u32 channels = min(WORK_CHANNELS - block * config->atomic_c, (u32)config->atomic_c);

	return (size_t)group * config->atomic_k * WORK_CHANNELS +
	       (size_t)block * config->atomic_c * kernels +
	       (size_t)(kernel % config->atomic_k) * channels + channel % config->atomic_c;
}

/* A copy, by SDP, of the output of the task before. */
static void copy_task(struct chain_build *b, const struct nvdla_config *config, u64 from, u64 to,
		      u32 label)
{
	u32 i;

	chain_sdp(b, config, WORK_SIZE, WORK_SIZE, WORK_KERNELS, from, to, label);
	for (i = 0; i < b->addr_count; i++)
		b->addr[i].region = TASK_OUTPUT;
}

void guest_work_stream(struct chain_build *b, const struct nvdla_config *config,
		       const struct guest_work_shape *shape)
{
	u32 i, stride = work_stride(config);

	chain_begin(b);
	for (i = 0; i < shape->tasks; i++) {
		struct conv_shape n = {
			.w = WORK_SIZE,
			.h = WORK_SIZE,
			.c = WORK_CHANNELS,
			.k = WORK_KERNELS,
			.r = 1,
			.s = 1,
			.data_banks = shape->data_banks,
			.out = (u64)i * stride,
		};

		if (shape->run) {
			n.weight_reuse = i % shape->run;
			n.skip_weight = (i + 1) % shape->run && i + 1 < shape->tasks;
		}
		if (shape->dependent && i)
			copy_task(b, config, (u64)(i - 1) * stride, (u64)i * stride, i);
		else
			chain_conv(b, config, &n, i);
		chain_task_end(b);
	}
	chain_end(b, TASK_REGIONS);
}

void guest_work_new(int fd, const struct guest_work_shape *shape, struct guest_work *work)
{
	struct drm_nvdla_chain_create create;
	char message[WORK_MESSAGE];
	struct chain_build b;
	u32 i;
	int err;

	*work = (struct guest_work){ .fd = fd, .shape = *shape, .config = guest_config(fd) };
	work->out_stride = work_stride(work->config);
	guest_work_stream(&b, work->config, shape);
	err = guest_chain_new(fd, b.data, (u32)b.size, &create, work->region, TASK_REGIONS,
			      message);
	chain_free(&b);
	NEED(!err, "the chain is accepted: %s %s", strerror(-err), message);
	work->chain = create.handle;
	work->banks = create.banks;
	work->segments = create.segments;
	for (i = 0; i < TASK_REGIONS; i++) {
		err = guest_bo_new(fd, work->region[i].size, shape->bo_flags, &work->bo[i]);
		NEED(!err, "a buffer of %llu bytes is made: %s",
		     (unsigned long long)work->region[i].size, strerror(-err));
		work->binding[i] = (struct drm_nvdla_binding){
			.handle = work->bo[i].handle,
			.size = work->bo[i].size,
		};
	}
	err = guest_bo_new(fd, sizeof(struct drm_nvdla_job_result), 0, &work->result);
	NEED(!err, "a buffer for results is made: %s", strerror(-err));
}

void guest_work_free(struct guest_work *work)
{
	u32 i;

	for (i = 0; i < TASK_REGIONS; i++)
		guest_bo_free(work->fd, &work->bo[i]);
	guest_bo_free(work->fd, &work->result);
	guest_chain_free(work->fd, work->chain);
}

/* Around the CPU's accesses to buffers that are cached. */
static void work_sync(struct guest_work *work, u32 flags)
{
	u32 i;

	for (i = 0; i < TASK_REGIONS; i++) {
		struct drm_nvdla_bo_sync sync = {
			.handle = work->bo[i].handle,
			.flags = flags,
			.size = work->bo[i].size,
		};
		int err;

		if (!sync.handle) /* part of another buffer */
			continue;
		err = guest_ioctl(work->fd, DRM_IOCTL_NVDLA_BO_SYNC, &sync);

		NEED(!err, "BO_SYNC: %s", strerror(-err));
	}
}

static s8 small(u32 *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (s8)((*state >> 24) % 7) - 3;
}

void guest_work_fill(struct guest_work *work, u32 seed)
{
	s8 weights[WORK_KERNELS][WORK_CHANNELS], in[WORK_PIXELS][WORK_CHANNELS];
	u32 p, c, k, state = seed;

	for (k = 0; k < WORK_KERNELS; k++)
		for (c = 0; c < WORK_CHANNELS; c++) {
			weights[k][c] = small(&state);
			((s8 *)work->bo[TASK_WEIGHTS].data)[weight_index(work->config, k, c)] =
				weights[k][c];
		}
	for (p = 0; p < WORK_PIXELS; p++)
		for (c = 0; c < WORK_CHANNELS; c++) {
			in[p][c] = small(&state);
			((s8 *)work->bo[TASK_INPUT].data)[cube_index(work->config->atom, p, c)] =
				in[p][c];
		}
	for (p = 0; p < WORK_PIXELS; p++)
		for (k = 0; k < WORK_KERNELS; k++) {
			s32 sum = 0;

			for (c = 0; c < WORK_CHANNELS; c++)
				sum += weights[k][c] * in[p][c];
			work->expect[p * WORK_KERNELS + k] = (s8)max(min(sum, 127), -128);
		}
	memset(work->bo[TASK_OUTPUT].data, 0x55, work->bo[TASK_OUTPUT].size);
	((struct drm_nvdla_job_result *)work->result.data)->error = 1;
	work_sync(work, DRM_NVDLA_BO_SYNC_FOR_DEVICE);
}

struct drm_nvdla_job guest_work_job(struct guest_work *work)
{
	return (struct drm_nvdla_job){
		.chain = work->chain,
		.bindings = (uintptr_t)work->binding,
		.binding_count = TASK_REGIONS,
		.binding_stride = sizeof(work->binding[0]),
		.sync_stride = sizeof(struct drm_nvdla_sync),
		.result = work->result.handle,
	};
}

int guest_submit(int fd, const struct drm_nvdla_job *job, u32 count, u32 *failed)
{
	struct drm_nvdla_submit submit = {
		.jobs = (uintptr_t)job,
		.job_count = count,
		.job_stride = sizeof(*job),
	};
	int err = guest_ioctl(fd, DRM_IOCTL_NVDLA_SUBMIT, &submit);

	if (failed)
		*failed = submit.failed_job;
	return err;
}

int guest_work_submit(struct guest_work *work)
{
	struct drm_nvdla_job job = guest_work_job(work);

	return guest_submit(work->fd, &job, 1, NULL);
}

int guest_work_sync_file(struct guest_work *work)
{
	struct drm_nvdla_sync sync = { .handle = guest_sync_new(work->fd) };
	struct drm_syncobj_handle file = {
		.handle = sync.handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};
	struct drm_nvdla_job job = guest_work_job(work);

	job.out_syncs = (uintptr_t)&sync;
	job.out_sync_count = 1;
	NEED(!guest_submit(work->fd, &job, 1, NULL), "a job is accepted");
	NEED(!guest_ioctl(work->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file),
	     "its fence becomes a file");
	return file.fd;
}

int guest_sync_file_status(int file)
{
	struct sync_file_info info = { 0 };
	struct pollfd poll_fd = { .fd = file, .events = POLLIN };

	poll(&poll_fd, 1, GUEST_WAIT_MS);
	return ioctl(file, SYNC_IOC_FILE_INFO, &info) ? -errno : info.status;
}

int guest_work_wait(struct guest_work *work, u32 timeout_ms)
{
	int err = guest_bo_wait(work->fd, work->bo[TASK_OUTPUT].handle, 0, timeout_ms);
	const volatile struct drm_nvdla_job_result *result = work->result.data;

	return err ? err : result->error;
}

bool guest_work_right(struct guest_work *work)
{
	const s8 *out = work->bo[TASK_OUTPUT].data;
	u32 t, p, k;

	work_sync(work, DRM_NVDLA_BO_SYNC_FOR_CPU);
	for (t = 0; t < work->shape.tasks; t++, out += work->out_stride)
		for (p = 0; p < WORK_PIXELS; p++)
			for (k = 0; k < WORK_KERNELS; k++)
				if (out[cube_index(work->config->atom, p, k)] !=
				    work->expect[p * WORK_KERNELS + k]) {
					printf("# task %u, pixel %u, channel %u: %d, not %d\n", t,
					       p, k, out[cube_index(work->config->atom, p, k)],
					       work->expect[p * WORK_KERNELS + k]);
					return false;
				}
	return true;
}

bool guest_work_run(struct guest_work *work, u32 seed)
{
	int err;

	guest_work_fill(work, seed);
	err = guest_work_submit(work);
	if (!err)
		err = guest_work_wait(work, GUEST_WAIT_MS);
	if (err)
		printf("# work: %s\n", strerror(err < 0 ? -err : err));
	return !err && guest_work_right(work);
}

/* ---- the modelled device ---- */

static u32 file_number(const char *dir, const char *name)
{
	char path[400], text[32] = "";

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	guest_file_read(path, text, sizeof(text));
	return (u32)strtoul(text, NULL, 0);
}

const char *guest_pci_path(void)
{
	static const char root[] = "/sys/bus/pci/devices";
	static char path[300];
	struct dirent *entry;
	bool found = false;
	DIR *dir = opendir(root);

	while (dir && !found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", root, entry->d_name);
		found = file_number(path, "vendor") == NVDLA_PCI_VENDOR &&
			file_number(path, "device") == NVDLA_PCI_DEVICE;
	}
	if (dir)
		closedir(dir);
	return found ? path : NULL;
}

static volatile u32 *ctrl;

static volatile u32 *ctrl_page(void)
{
	const char *pci = guest_pci_path();
	char path[320];
	void *page;
	int fd;

	if (ctrl)
		return ctrl;
	NEED(pci, "the modelled device is on the PCI bus");
	snprintf(path, sizeof(path), "%s/resource%u", pci, NVDLA_PCI_BAR_CTRL);
	fd = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
	NEED(fd >= 0, "%s opens: %s", path, strerror(errno));
	page = mmap(NULL, NVDLA_PCI_CTRL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	NEED(page != MAP_FAILED, "%s is mapped: %s", path, strerror(errno));
	close(fd);
	ctrl = page;
	return ctrl;
}

/* A function that sleeps decodes no address: its page is there while it is kept awake. */
static void keep_awake(bool on)
{
	const char *pci = guest_pci_path();
	char path[320];

	if (!pci)
		return;
	snprintf(path, sizeof(path), "%s/power/control", pci);
	guest_file_write(path, on ? "on" : "auto");
}

u32 guest_ctrl_read(u32 reg)
{
	volatile u32 *page = ctrl_page();
	u32 value;

	keep_awake(true);
	value = page[reg / 4];
	keep_awake(false);
	return value;
}

void guest_ctrl_write(u32 reg, u32 value)
{
	volatile u32 *page = ctrl_page();

	keep_awake(true);
	page[reg / 4] = value;
	keep_awake(false);
}

void guest_ctrl_close(void)
{
	if (ctrl)
		munmap((void *)(uintptr_t)ctrl, NVDLA_PCI_CTRL_BYTES);
	ctrl = NULL;
}

void guest_fault(enum nvdla_pci_fault kind, u32 arg)
{
	guest_ctrl_write(NVDLA_PCI_CTRL_FAULT_ARG, arg);
	guest_ctrl_write(NVDLA_PCI_CTRL_FAULT_KIND, kind);
}

/* ---- files ---- */

int guest_file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t got = 0;

	if (fd < 0)
		return -errno;
	while (have < size - 1 && (got = read(fd, text + have, size - 1 - have)) > 0)
		have += (size_t)got;
	if (got < 0)
		got = -errno;
	text[have] = 0;
	close(fd);
	return got < 0 ? (int)got : (int)have;
}

int guest_file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = -errno;
	close(fd);
	return err;
}

s64 guest_fdinfo(int fd, const char *key)
{
	char path[64], text[4096], *line, *rest = text;
	size_t length = strlen(key);

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (guest_file_read(path, text, sizeof(text)) < 0)
		return -1;
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, key, length) && line[length] == ':')
			return strtoll(line + length + 1, NULL, 10);
	return -1;
}

int guest_run(const char *path, const char *const *argv)
{
	pid_t child = fork();
	int status;

	if (!child) {
		execv(path, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
