/* SPDX-License-Identifier: MIT */
/*
 * What the tests inside of the virtual machine share: calls of the driver without a library in
 * between, work for the NPU whose result is known, faults of the modelled device.
 *
 * Functions that return int return 0 or a negative errno.
 */
#ifndef GUEST_LIB_H
#define GUEST_LIB_H

#include <drm/nvdla_accel.h>

#include "../../common/chain_tasks.h"
#include "../../common/tap.h"
#include "nvdla_pci_device.h"

/* Prints and ends the program where a test cannot go on. */
#define NEED(cond, ...)                            \
	do {                                       \
		if (!(cond)) {                     \
			tap(false, ##__VA_ARGS__); \
			exit(tap_end());           \
		}                                  \
	} while (0)

/*
 * So long is waited for what has to come.  An emulated machine on a busy host takes its time: only what
 * a test measures has a shorter limit.
 */
#define GUEST_WAIT_MS 120000

u64 guest_now_ns(void);
void guest_sleep_ms(u32 ms);

/* ---- the device ---- */

/* Path of the NPU's node: that of the first one, or what NPU_TEST_NODE names. */
const char *guest_node(void);

/* Opens it; ends the program where that fails. */
int guest_open(void);

/* An ioctl; interrupted ones are done again. */
int guest_ioctl(int fd, unsigned long request, void *arg);

/* The answer to a DEV_QUERY. */
int guest_query(int fd, u32 type, void *answer, u32 size);

/* The device's configuration. */
const struct nvdla_config *guest_config(int fd);

/* The live budget. */
struct drm_nvdla_budget guest_budget(int fd);

/* ---- buffers ---- */

/* A buffer and its mapping. */
struct guest_bo {
	u32 handle;
	u64 size;
	void *data;
};

int guest_bo_new(int fd, u64 size, u32 flags, struct guest_bo *bo);
int guest_bo_map(int fd, struct guest_bo *bo);
void guest_bo_free(int fd, struct guest_bo *bo);
int guest_bo_wait(int fd, u32 handle, u32 flags, u32 timeout_ms);
int guest_gem_close(int fd, u32 handle);

/* ---- syncobjs ---- */

u32 guest_sync_new(int fd);
void guest_sync_free(int fd, u32 handle);

/* @point 0: a binary one. */
int guest_sync_wait(int fd, u32 handle, u64 point, u32 timeout_ms);
int guest_sync_signal(int fd, u32 handle, u64 point);

/* ---- chains ---- */

/* Hands a stream over; @create receives the kernel's answer, @message (200 bytes) a refusal. */
int guest_chain_new(int fd, const void *stream, u32 size, struct drm_nvdla_chain_create *create,
		    struct drm_nvdla_chain_region *region, u32 regions, char *message);
int guest_chain_free(int fd, u32 handle);

/* ---- work with a known result ---- */

#define WORK_MESSAGE 200
#define WORK_SIZE 8
#define WORK_CHANNELS 16
#define WORK_KERNELS 16
#define WORK_PIXELS (WORK_SIZE * WORK_SIZE)

/**
 * struct guest_work_shape - which work
 * @tasks: convolutions, each with an output of its own
 * @data_banks: of each; 0: as many as needed
 * @dependent: each reads, element by element, the output of the one before
 * @run: so many tasks after one another use the same weights in the convolution buffer; 0: none
 * @bo_flags: of the buffers
 */
struct guest_work_shape {
	u32 tasks;
	u32 data_banks;
	bool dependent;
	u32 run;
	u32 bo_flags;
};

/**
 * struct guest_work - a chain, its buffers and what has to come out
 * @binding: as SUBMIT takes them
 * @out_stride: bytes from one task's output to the next
 */
struct guest_work {
	int fd;
	struct guest_work_shape shape;
	const struct nvdla_config *config;
	u32 chain, banks, segments;
	u32 out_stride;
	struct drm_nvdla_chain_region region[TASK_REGIONS];
	struct drm_nvdla_binding binding[TASK_REGIONS];
	struct guest_bo bo[TASK_REGIONS];
	struct guest_bo result;
	s8 expect[WORK_PIXELS * WORK_KERNELS];
};

/* The stream of such work.  chain_free() it. */
void guest_work_stream(struct chain_build *b, const struct nvdla_config *config,
		       const struct guest_work_shape *shape);

/* Ends the program where that fails. */
void guest_work_new(int fd, const struct guest_work_shape *shape, struct guest_work *work);
void guest_work_free(struct guest_work *work);

/* New operands; the output is cleared. */
void guest_work_fill(struct guest_work *work, u32 seed);

/* The job, to be changed before it is submitted; without syncobjs. */
struct drm_nvdla_job guest_work_job(struct guest_work *work);

/* @failed may be NULL. */
int guest_submit(int fd, const struct drm_nvdla_job *job, u32 count, u32 *failed);

/* Submits it once. */
int guest_work_submit(struct guest_work *work);

/* The same with the longest time-out; a sync_file of its fence, which outlives device and mappings. */
int guest_work_sync_file(struct guest_work *work);

/* Waits for such a fence.  0: it has not signalled; 1: well; or the job's negative errno. */
int guest_sync_file_status(int file);

/* Waits for its jobs; the last one's error. */
int guest_work_wait(struct guest_work *work, u32 timeout_ms);

/* Is the output what it has to be, to the last byte? */
bool guest_work_right(struct guest_work *work);

/* Fills, submits, waits: false where anything of that fails or the output is wrong. */
bool guest_work_run(struct guest_work *work, u32 seed);

/* ---- the modelled device behind the driver ---- */

/* Its directory in sysfs, e.g. "/sys/bus/pci/devices/0000:00:02.0"; NULL: there is none. */
const char *guest_pci_path(void);

u32 guest_ctrl_read(u32 reg);
void guest_ctrl_write(u32 reg, u32 value);

/* Gives the mapping of the control page back: the device may go. */
void guest_ctrl_close(void);

/* Asks for a fault. */
void guest_fault(enum nvdla_pci_fault kind, u32 arg);

/* ---- files ---- */

/* Text of a file, cut to @size; bytes read or a negative errno. */
int guest_file_read(const char *path, char *text, size_t size);
int guest_file_write(const char *path, const char *text);

/* The number behind "key:" in the fdinfo of @fd; -1: not there. */
s64 guest_fdinfo(int fd, const char *key);

/* Runs a program and waits; its exit status, 128 and more where a signal ended it. */
int guest_run(const char *path, const char *const *argv);

#endif /* GUEST_LIB_H */
