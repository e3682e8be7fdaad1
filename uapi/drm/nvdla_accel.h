/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * Interface of the nvdla accel driver: NVDLA-family NPUs under /dev/accel/.
 *
 * An application asks for the live budget (DEV_QUERY), compiles a network for
 * it, hands over the result once (CHAIN_CREATE: copied, validated, owned by the
 * kernel), binds buffers to it and runs it (SUBMIT).  A chain that needs more of
 * the convolution buffer than this client may use now is refused with ENOSPC:
 * compile again for the budget that DEV_QUERY tells then.
 *
 * Rules of this interface:
 *
 * - Structs have no implicit padding, the same layout for 32 and 64 bit, and a
 *   size that is a multiple of 8.  There are no unions and no bit fields.
 * - Padding and flags that are not defined must be zero, else EINVAL.
 * - Structs grow at their end.  The kernel takes shorter and longer ones: what a
 *   shorter one lacks is zero.  Structs behind pointers come with their size (@size,
 *   or @stride of an array); what a longer one has beyond must be zero, else E2BIG.
 * - New flags and query types raise the driver's minor version.
 * - Pointers are __u64.  Times are CLOCK_MONOTONIC in nanoseconds.
 * - A call that fails has changed nothing.
 */
#ifndef _UAPI_NVDLA_ACCEL_H
#define _UAPI_NVDLA_ACCEL_H

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define DRM_NVDLA_DRIVER_NAME "nvdla"
#define DRM_NVDLA_DRIVER_MAJOR 1
#define DRM_NVDLA_DRIVER_MINOR 0

/**
 * enum drm_nvdla_ioctl_id - numbers of the calls, from DRM_COMMAND_BASE
 *
 * Do not renumber.
 */
enum drm_nvdla_ioctl_id {
	/** @DRM_NVDLA_DEV_QUERY: what the device is and what of it may be used now */
	DRM_NVDLA_DEV_QUERY = 0,
	/** @DRM_NVDLA_BO_CREATE: memory that the NPU reaches */
	DRM_NVDLA_BO_CREATE,
	/** @DRM_NVDLA_BO_MMAP_OFFSET: offset for mmap() */
	DRM_NVDLA_BO_MMAP_OFFSET,
	/** @DRM_NVDLA_BO_SYNC: make the CPU's or the NPU's writes visible in cached memory */
	DRM_NVDLA_BO_SYNC,
	/** @DRM_NVDLA_BO_WAIT: wait for the jobs that use a buffer */
	DRM_NVDLA_BO_WAIT,
	/** @DRM_NVDLA_CHAIN_CREATE: copy and validate a chain */
	DRM_NVDLA_CHAIN_CREATE,
	/** @DRM_NVDLA_CHAIN_DESTROY: drop it; jobs that run it go on */
	DRM_NVDLA_CHAIN_DESTROY,
	/** @DRM_NVDLA_SUBMIT: run chains */
	DRM_NVDLA_SUBMIT,
	/** @DRM_NVDLA_RESERVE: reserve a share of the convolution buffer */
	DRM_NVDLA_RESERVE,
	/** @DRM_NVDLA_CONTEXT: parameters of this client */
	DRM_NVDLA_CONTEXT,
};

/* ---- DEV_QUERY ---- */

/** enum drm_nvdla_dev_query_type - what to ask */
enum drm_nvdla_dev_query_type {
	/** @DRM_NVDLA_QUERY_DEVICE: struct drm_nvdla_device_info */
	DRM_NVDLA_QUERY_DEVICE = 0,
	/** @DRM_NVDLA_QUERY_LIMITS: struct drm_nvdla_limits */
	DRM_NVDLA_QUERY_LIMITS,
	/** @DRM_NVDLA_QUERY_BUDGET: struct drm_nvdla_budget */
	DRM_NVDLA_QUERY_BUDGET,
};

/**
 * struct drm_nvdla_dev_query - argument of DRM_IOCTL_NVDLA_DEV_QUERY
 * @type: enum drm_nvdla_dev_query_type; EINVAL where the kernel does not know it
 * @size: bytes at @pointer; the kernel writes the least of this and its own size and returns its
 *	own size here.  What a larger struct has beyond is filled with zeros
 * @pointer: where the answer goes; 0: only @size is wanted
 */
struct drm_nvdla_dev_query {
	__u32 type;
	__u32 size;
	__u64 pointer;
};

/* struct drm_nvdla_device_info.features */
#define DRM_NVDLA_FEATURE_EW (1 << 0) /* SDP has the element-wise unit EW */
#define DRM_NVDLA_FEATURE_SDP_LUT (1 << 1) /* SDP has look-up tables */
#define DRM_NVDLA_FEATURE_SECOND_PORT (1 << 2) /* second memory interface (CVIF) */
#define DRM_NVDLA_FEATURE_IOMMU (1 << 3) /* the device's accesses are translated */
#define DRM_NVDLA_FEATURE_DMEM (1 << 4) /* reservations are charged to cgroup dmem */

/**
 * struct drm_nvdla_device_info - what the device is; does not change
 * @config: name of the hardware configuration, e.g. "nv_small", zero terminated
 * @hw_version: GLB.HW_VERSION as read
 * @chain_version: newest version of the chain stream that CHAIN_CREATE takes (nvdla_chain.h)
 * @features: DRM_NVDLA_FEATURE_*
 * @atomic_c, @atomic_k: input channels and kernels of the multiply-accumulate array
 * @atom_bytes: memory atom: channels side by side in the feature layout
 * @banks, @entries_per_bank, @entry_bytes: geometry of the convolution buffer
 * @sram_bytes: on-chip memory behind the second memory interface; 0: none
 * @address_bits: of the device
 * @region_alignment: bytes; addresses bound to regions (buffer address plus offset; buffers are
 *	page aligned) must be multiples of it
 */
struct drm_nvdla_device_info {
	__u8 config[32];
	__u32 hw_version;
	__u32 chain_version;
	__u32 features;
	__u32 atomic_c;
	__u32 atomic_k;
	__u32 atom_bytes;
	__u32 banks;
	__u32 entries_per_bank;
	__u32 entry_bytes;
	__u32 address_bits;
	__u64 sram_bytes;
	__u32 region_alignment;
	__u32 pad;
};

/**
 * struct drm_nvdla_limits - what one client may have
 * @bo_bytes: largest buffer that is likely to be had now in one piece; advisory
 * @pinned_bytes: of all its buffers together
 * @chain_bytes: of all its chains together
 * @chains: chains that it owns
 * @jobs: jobs submitted and not done
 * @jobs_per_submit: elements of one SUBMIT
 * @syncs_per_job: in and out syncobjs of one job, each
 * @timeout_ms: longest time-out of a task; the default too
 * @run_tasks: tasks of a chain that one after another share content of the convolution buffer
 */
struct drm_nvdla_limits {
	__u64 bo_bytes;
	__u64 pinned_bytes;
	__u64 chain_bytes;
	__u32 chains;
	__u32 jobs;
	__u32 jobs_per_submit;
	__u32 syncs_per_job;
	__u32 timeout_ms;
	__u32 run_tasks;
};

/**
 * struct drm_nvdla_budget - how much of the convolution buffer may be used now
 * @generation: counts the changes; a change between query and SUBMIT does no harm as long as what
 *	the chain needs is still available
 * @banks_total: of the hardware
 * @banks_usable: below the lowest bank that is marked unusable
 * @banks_limit: what the administrator allows all clients
 * @banks_reserved: sum of all reservations
 * @banks_available: what this client may use now: the least of limit and usable, less the
 *	reservations of others, and its own reservation at the least
 * @banks_own: its own reservation
 * @sram_total, @sram_available: bytes of on-chip memory
 *
 * The answer is advice for planning: it can be outdated when it arrives.
 */
struct drm_nvdla_budget {
	__u64 generation;
	__u32 banks_total;
	__u32 banks_usable;
	__u32 banks_limit;
	__u32 banks_reserved;
	__u32 banks_available;
	__u32 banks_own;
	__u64 sram_total;
	__u64 sram_available;
};

/* ---- memory ---- */

/* struct drm_nvdla_bo_create.flags */
#define DRM_NVDLA_BO_CACHED (1 << 0) /* CPU mappings are cached: BO_SYNC around every access */

/**
 * struct drm_nvdla_bo_create - argument of DRM_IOCTL_NVDLA_BO_CREATE
 * @size: bytes, not 0; the kernel rounds up to pages and returns what it made
 * @flags: DRM_NVDLA_BO_*
 * @handle: returned; DRM_IOCTL_GEM_CLOSE gives it back
 *
 * Zeroed memory that is contiguous for the device.  PRIME exports and imports it; imports have to
 * be contiguous for the device too.
 *
 * Errors: EINVAL; ENOMEM: not to be had in one piece (several smaller ones may be); EDQUOT: over
 * this client's limit of pinned bytes.
 */
struct drm_nvdla_bo_create {
	__u64 size;
	__u32 flags;
	__u32 handle;
};

/**
 * struct drm_nvdla_bo_mmap_offset - argument of DRM_IOCTL_NVDLA_BO_MMAP_OFFSET
 * @handle: buffer; imported ones are mapped through their exporter: EINVAL
 * @pad: zero
 * @offset: returned; for mmap() of the device file
 */
struct drm_nvdla_bo_mmap_offset {
	__u32 handle;
	__u32 pad;
	__u64 offset;
};

/* struct drm_nvdla_bo_sync.flags: one of the directions */
#define DRM_NVDLA_BO_SYNC_FOR_DEVICE (1 << 0) /* the CPU has written, the NPU will read or write */
#define DRM_NVDLA_BO_SYNC_FOR_CPU (1 << 1) /* the NPU has written, the CPU will read */

/**
 * struct drm_nvdla_bo_sync - argument of DRM_IOCTL_NVDLA_BO_SYNC
 * @handle: buffer; nothing has to be done for those that are not cached
 * @flags: DRM_NVDLA_BO_SYNC_*
 * @offset, @size: part of it, in bytes
 */
struct drm_nvdla_bo_sync {
	__u32 handle;
	__u32 flags;
	__u64 offset;
	__u64 size;
};

/* struct drm_nvdla_bo_wait.flags */
#define DRM_NVDLA_BO_WAIT_READERS (1 << 0) /* for those that read it too: before the CPU writes */

/**
 * struct drm_nvdla_bo_wait - argument of DRM_IOCTL_NVDLA_BO_WAIT
 * @handle: buffer
 * @flags: DRM_NVDLA_BO_WAIT_*; without: for jobs that write it
 * @timeout_ns: absolute; 0 or what is past: only look
 *
 * Errors: ETIMEDOUT; EINTR and ERESTARTSYS as usual.
 */
struct drm_nvdla_bo_wait {
	__u32 handle;
	__u32 flags;
	__s64 timeout_ns;
};

/* ---- chains ---- */

/**
 * struct drm_nvdla_chain_region - what a chain needs of one region
 * @size: bytes that the bound buffer must have at least; 0: the region is not used, bind nothing
 * @read_start, @read_end: bytes read lie in [start, end)
 * @write_start, @write_end: bytes written likewise
 */
struct drm_nvdla_chain_region {
	__u64 size;
	__u64 read_start;
	__u64 read_end;
	__u64 write_start;
	__u64 write_end;
};

/**
 * struct drm_nvdla_chain_create - argument of DRM_IOCTL_NVDLA_CHAIN_CREATE
 * @stream: pointer to a chain stream (nvdla_chain.h); read once
 * @size: bytes of it
 * @flags: zero
 * @regions: pointer to an array that receives a struct drm_nvdla_chain_region for each region of
 *	the stream; 0: not wanted
 * @region_count: elements there; returned: regions of the stream
 * @region_stride: bytes from one element to the next
 * @message: pointer to a text buffer; where the stream is refused, the kernel writes there which
 *	task, register and rule, zero terminated; 0: not wanted
 * @message_size: bytes there
 * @handle: returned, of the file; not 0
 * @banks: returned: banks of the convolution buffer that the chain needs
 * @tasks: returned
 * @segments: returned: pieces after each of which another client's work can run
 * @pad: zero
 * @sram_bytes: returned: on-chip memory that it needs
 *
 * Errors: EINVAL: refused by the validator; EOPNOTSUPP: needs what this configuration lacks; E2BIG:
 * over a limit of the format; EDQUOT: over this client's limits; ENOMEM; EFAULT.  On the first
 * three @message is written; this and @region_count are all that a failing call writes.
 */
struct drm_nvdla_chain_create {
	__u64 stream;
	__u32 size;
	__u32 flags;
	__u64 regions;
	__u32 region_count;
	__u32 region_stride;
	__u64 message;
	__u32 message_size;
	__u32 handle;
	__u32 banks;
	__u32 tasks;
	__u32 segments;
	__u32 pad;
	__u64 sram_bytes;
};

/**
 * struct drm_nvdla_chain_destroy - argument of DRM_IOCTL_NVDLA_CHAIN_DESTROY
 * @handle: of the chain; ENOENT where there is none
 * @pad: zero
 */
struct drm_nvdla_chain_destroy {
	__u32 handle;
	__u32 pad;
};

/* ---- jobs ---- */

/**
 * struct drm_nvdla_binding - the buffer of one region
 * @handle: buffer; 0: this region is not used by the chain
 * @pad: zero
 * @offset: bytes into it, a multiple of the device's region_alignment
 * @size: bytes from there that belong to the region: at least what CHAIN_CREATE returned
 */
struct drm_nvdla_binding {
	__u32 handle;
	__u32 pad;
	__u64 offset;
	__u64 size;
};

/* struct drm_nvdla_sync.flags */
#define DRM_NVDLA_SYNC_TIMELINE (1 << 0) /* @point counts */

/**
 * struct drm_nvdla_sync - a syncobj to wait for or to signal
 * @handle: of the syncobj
 * @flags: DRM_NVDLA_SYNC_TIMELINE
 * @point: of its timeline; else zero
 */
struct drm_nvdla_sync {
	__u32 handle;
	__u32 flags;
	__u64 point;
};

/**
 * struct drm_nvdla_job_result - what a job took; written before the job's fence signals
 * @error: 0, or the negative errno with which it failed
 * @tasks: done
 * @start_ns, @end_ns: when its first task was handed to the NPU and its last one was done
 * @busy_ns: sum of the times that its tasks had the NPU
 * @register_writes: to the NPU
 */
struct drm_nvdla_job_result {
	__s32 error;
	__u32 tasks;
	__u64 start_ns;
	__u64 end_ns;
	__u64 busy_ns;
	__u64 register_writes;
};

/**
 * struct drm_nvdla_job - one run of a chain
 * @chain: handle
 * @flags: zero
 * @bindings: pointer to struct drm_nvdla_binding, one for each region of the stream
 * @in_syncs: pointer to struct drm_nvdla_sync: the fences in these, as they are when the call is
 *	made, are waited for; one without a fence is refused.  Jobs of one client run in order
 *	anyway
 * @out_syncs: likewise: receive the job's fence
 * @binding_count, @binding_stride: elements and bytes from one to the next
 * @in_sync_count, @out_sync_count: elements
 * @sync_stride: bytes from one struct drm_nvdla_sync to the next
 * @timeout_ms: longest time without progress; 0: the device's default, which is also the most
 * @result: handle of a buffer made by BO_CREATE without DRM_NVDLA_BO_CACHED for a struct
 *	drm_nvdla_job_result; 0: not wanted
 * @pad: zero
 * @result_offset: bytes into it, a multiple of 8
 *
 * A job also waits for earlier jobs, of all clients, that write what it uses, or use what it
 * writes.
 */
struct drm_nvdla_job {
	__u32 chain;
	__u32 flags;
	__u64 bindings;
	__u64 in_syncs;
	__u64 out_syncs;
	__u32 binding_count;
	__u32 binding_stride;
	__u32 in_sync_count;
	__u32 out_sync_count;
	__u32 sync_stride;
	__u32 timeout_ms;
	__u32 result;
	__u32 pad;
	__u64 result_offset;
};

/**
 * struct drm_nvdla_submit - argument of DRM_IOCTL_NVDLA_SUBMIT
 * @jobs: pointer to struct drm_nvdla_job
 * @job_count: elements, at least 1
 * @job_stride: bytes from one to the next
 * @flags: zero
 * @failed_job: returned where the call fails: index of the job that is to blame, or @job_count
 *	where it is none in particular
 *
 * All jobs are accepted, or none.  They run in the order of the array; jobs of one client run in
 * the order of their submission.
 *
 * Errors: ENOSPC: a chain needs more banks than this client may use now; EINVAL: bindings do not
 * suit; ENOENT: no such chain, buffer or syncobj; EDQUOT: over the limit of queued jobs; EIO: the
 * device is dead; ENODEV: unplugged; ENOMEM; EFAULT.
 */
struct drm_nvdla_submit {
	__u64 jobs;
	__u32 job_count;
	__u32 job_stride;
	__u32 flags;
	__u32 failed_job;
};

/* ---- budget ---- */

/**
 * struct drm_nvdla_reserve - argument of DRM_IOCTL_NVDLA_RESERVE
 * @banks: from now on; replaces the client's earlier reservation; 0 gives it back
 * @flags: zero
 * @generation: returned: of the budget after the change
 *
 * A reservation is an admission contract: its owner may always use so many banks, chains of others
 * that need more than the rest are refused.  It does not isolate: the buffer is shared in time.  It
 * ends with the file, after the last job that was accepted on it.
 *
 * Errors: ENOSPC: less is available, EDQUOT: the cgroup's dmem limit.
 */
struct drm_nvdla_reserve {
	__u32 banks;
	__u32 flags;
	__u64 generation;
};

/** enum drm_nvdla_context_op - what CONTEXT does */
enum drm_nvdla_context_op {
	/** @DRM_NVDLA_CONTEXT_GET: read a parameter */
	DRM_NVDLA_CONTEXT_GET = 0,
	/** @DRM_NVDLA_CONTEXT_SET: set it, for jobs submitted from now on */
	DRM_NVDLA_CONTEXT_SET,
};

/** enum drm_nvdla_context_param - parameters of a client */
enum drm_nvdla_context_param {
	/** @DRM_NVDLA_CONTEXT_PRIORITY: enum drm_nvdla_priority */
	DRM_NVDLA_CONTEXT_PRIORITY = 0,
};

/** enum drm_nvdla_priority - strict: a job waits until none of higher priority is ready */
enum drm_nvdla_priority {
	/** @DRM_NVDLA_PRIORITY_LOW: when nobody else wants the NPU */
	DRM_NVDLA_PRIORITY_LOW = 0,
	/** @DRM_NVDLA_PRIORITY_NORMAL: default */
	DRM_NVDLA_PRIORITY_NORMAL,
	/** @DRM_NVDLA_PRIORITY_HIGH: asks for CAP_SYS_NICE, else EACCES */
	DRM_NVDLA_PRIORITY_HIGH,
};

/**
 * struct drm_nvdla_context - argument of DRM_IOCTL_NVDLA_CONTEXT
 * @op: enum drm_nvdla_context_op
 * @param: enum drm_nvdla_context_param
 * @value: of it
 */
struct drm_nvdla_context {
	__u32 op;
	__u32 param;
	__u64 value;
};

/* clang-format off */
#define DRM_IOCTL_NVDLA_DEV_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_DEV_QUERY, struct drm_nvdla_dev_query)
#define DRM_IOCTL_NVDLA_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_BO_CREATE, struct drm_nvdla_bo_create)
#define DRM_IOCTL_NVDLA_BO_MMAP_OFFSET \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_BO_MMAP_OFFSET, struct drm_nvdla_bo_mmap_offset)
#define DRM_IOCTL_NVDLA_BO_SYNC \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NVDLA_BO_SYNC, struct drm_nvdla_bo_sync)
#define DRM_IOCTL_NVDLA_BO_WAIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NVDLA_BO_WAIT, struct drm_nvdla_bo_wait)
#define DRM_IOCTL_NVDLA_CHAIN_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_CHAIN_CREATE, struct drm_nvdla_chain_create)
#define DRM_IOCTL_NVDLA_CHAIN_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NVDLA_CHAIN_DESTROY, struct drm_nvdla_chain_destroy)
#define DRM_IOCTL_NVDLA_SUBMIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_SUBMIT, struct drm_nvdla_submit)
#define DRM_IOCTL_NVDLA_RESERVE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_RESERVE, struct drm_nvdla_reserve)
#define DRM_IOCTL_NVDLA_CONTEXT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_CONTEXT, struct drm_nvdla_context)
/* clang-format on */

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_NVDLA_ACCEL_H */
