// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz_ops.h"
#include "../../common/chain_mutate.h"

u32 fuzz_random(struct fuzz_thread *t, u32 below)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	return below ? t->random % below : t->random;
}

static bool chance(struct fuzz_thread *t, u32 n)
{
	return !fuzz_random(t, n);
}

/* A number of the kind that breaks things. */
static u64 odd_number(struct fuzz_thread *t)
{
	u64 wide = (u64)fuzz_random(t, 0) << 32 | fuzz_random(t, 0);

	switch (fuzz_random(t, 6)) {
	case 0:
		return fuzz_random(t, 4);
	case 1:
		return ~(u64)fuzz_random(t, 4096);
	case 2:
		return 1ull << fuzz_random(t, 64);
	case 3:
		return (1ull << fuzz_random(t, 64)) - 1;
	case 4:
		return (u64)fuzz_random(t, 256) * 4096;
	default:
		return wide;
	}
}

static struct fuzz_file *any_file(struct fuzz_thread *t)
{
	return &t->client->file[fuzz_random(t, FUZZ_FILES)];
}

static u32 any_slot(struct fuzz_thread *t)
{
	return fuzz_random(t, FUZZ_HANDLES);
}

/* A handle: mostly one that there is. */
static u32 any_handle(struct fuzz_thread *t, u32 good)
{
	return chance(t, 12) ? (u32)odd_number(t) : good;
}

static u32 any_bo(struct fuzz_thread *t, const struct fuzz_file *f)
{
	return any_handle(t, f->bo[any_slot(t)].handle);
}

static int call(struct fuzz_thread *t, struct fuzz_file *f, unsigned long request, void *arg)
{
	int err = ioctl(f->fd, request, arg) ? -errno : 0;

	atomic_fetch_add(&t->client->counters->calls, 1);
	if (err)
		atomic_fetch_add(&t->client->counters->refused, 1);
	if (err == -ENODEV)
		f->stale = true;
	return err;
}

/* Changes a random word of an argument now and then. */
static void spoil(struct fuzz_thread *t, void *arg, size_t bytes)
{
	u32 word;

	if (!chance(t, 6))
		return;
	word = (u32)odd_number(t);
	memcpy((u8 *)arg + fuzz_random(t, (u32)bytes / 4) * 4, &word, 4);
}

/* Somewhere in memory: mostly where there is some. */
static u64 any_pointer(struct fuzz_thread *t, const void *good)
{
	return chance(t, 20) ? odd_number(t) : (u64)(uintptr_t)good;
}

/* ---- calls ---- */

static void do_query(struct fuzz_thread *t, struct fuzz_file *f)
{
	u8 answer[256];
	struct drm_nvdla_dev_query arg = {
		.type = fuzz_random(t, 4),
		.size = fuzz_random(t, sizeof(answer)),
		.pointer = any_pointer(t, answer),
	};

	call(t, f, DRM_IOCTL_NVDLA_DEV_QUERY, &arg);
}

static void bo_drop(struct fuzz_thread *t, struct fuzz_file *f, u32 slot)
{
	struct drm_gem_close arg = { .handle = f->bo[slot].handle };
	struct guest_bo old = f->bo[slot];

	f->bo[slot] = (struct guest_bo){ 0 };
	if (old.data && chance(t, 2))
		munmap(old.data, old.size);
	if (old.handle)
		call(t, f, DRM_IOCTL_GEM_CLOSE, &arg);
}

static void do_bo_create(struct fuzz_thread *t, struct fuzz_file *f)
{
	struct drm_nvdla_bo_create arg = {
		.size = chance(t, 10) ? odd_number(t) : 1 + fuzz_random(t, 1 << 17),
		.flags = fuzz_random(t, 2),
	};
	u32 slot = any_slot(t);

	spoil(t, &arg, sizeof(arg));
	bo_drop(t, f, slot);
	if (call(t, f, DRM_IOCTL_NVDLA_BO_CREATE, &arg))
		return;
	f->bo[slot] = (struct guest_bo){ .handle = arg.handle, .size = arg.size };
}

static void do_map(struct fuzz_thread *t, struct fuzz_file *f)
{
	struct guest_bo *bo = &f->bo[any_slot(t)];
	struct drm_nvdla_bo_mmap_offset arg = { .handle = any_handle(t, bo->handle) };
	size_t size = chance(t, 8) ? odd_number(t) & 0xfffff : bo->size;
	void *at;

	spoil(t, &arg, sizeof(arg));
	if (call(t, f, DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &arg))
		return;
	at = mmap(NULL, size, chance(t, 4) ? PROT_READ : PROT_READ | PROT_WRITE,
		  chance(t, 16) ? MAP_PRIVATE : MAP_SHARED, f->fd,
		  (off_t)(arg.offset + (chance(t, 8) ? 4096 : 0)));
	if (at == MAP_FAILED)
		return;
	/* Reading every page is enough to find a mapping of something else. */
	for (size_t i = 0; i < size; i += 4096)
		(void)*((volatile u8 *)at + i);
	if (chance(t, 2) || bo->data)
		munmap(at, size);
	else
		bo->data = at;
}

static void do_bo_sync(struct fuzz_thread *t, struct fuzz_file *f)
{
	struct guest_bo *bo = &f->bo[any_slot(t)];
	struct drm_nvdla_bo_sync arg = {
		.handle = any_handle(t, bo->handle),
		.flags = 1 + fuzz_random(t, 2),
		.size = bo->size,
	};

	spoil(t, &arg, sizeof(arg));
	call(t, f, DRM_IOCTL_NVDLA_BO_SYNC, &arg);
}

static void do_wait(struct fuzz_thread *t, struct fuzz_file *f)
{
	struct drm_nvdla_bo_wait arg = {
		.handle = any_bo(t, f),
		.flags = fuzz_random(t, 2),
		.timeout_ns = (s64)(guest_now_ns() + fuzz_random(t, 3000000)),
	};

	if (!call(t, f, DRM_IOCTL_NVDLA_BO_WAIT, &arg))
		atomic_fetch_add(&t->client->counters->jobs_done, 1);
}

static void chain_drop(struct fuzz_thread *t, struct fuzz_file *f, u32 slot)
{
	struct drm_nvdla_chain_destroy arg = { .handle = any_handle(t, f->chain[slot]) };

	spoil(t, &arg, sizeof(arg));
	if (arg.handle && !call(t, f, DRM_IOCTL_NVDLA_CHAIN_DESTROY, &arg))
		f->chain[slot] = 0;
}

/* The thread's stream changes a little each time: a walk through what the validator knows. */
static void walk_stream(struct fuzz_thread *t)
{
	if (chance(t, 30))
		t->bytes = 0;
	t->stream[0] = t->client->config;
	chain_mutate_seed(fuzz_random(t, 0));
	t->bytes = chain_mutate(t->stream, t->bytes, sizeof(t->stream));
}

static void do_chain(struct fuzz_thread *t, struct fuzz_file *f)
{
	char message[100];
	struct drm_nvdla_chain_region region[TASK_REGIONS];
	struct drm_nvdla_chain_create arg = { 0 };
	u32 slot = any_slot(t);
	int err;

	walk_stream(t);
	if (t->bytes < CHAIN_MUTATE_HEAD)
		return;
	arg = (struct drm_nvdla_chain_create){
		.stream = any_pointer(t, t->stream + CHAIN_MUTATE_HEAD),
		.size = (u32)(t->bytes - CHAIN_MUTATE_HEAD),
		.regions = any_pointer(t, region),
		.region_count = TASK_REGIONS,
		.region_stride = sizeof(region[0]),
		.message = any_pointer(t, message),
		.message_size = sizeof(message),
	};
	spoil(t, &arg, sizeof(arg));
	/* What is written may not be the thread's stack. */
	arg.region_count = min(arg.region_count, (u32)TASK_REGIONS);
	arg.region_stride = min(arg.region_stride, (u32)sizeof(region[0]));
	arg.message_size = min(arg.message_size, (u32)sizeof(message));
	if (arg.regions != (uintptr_t)region && arg.regions >> 40)
		arg.regions = 0;
	if (arg.message != (uintptr_t)message && arg.message >> 40)
		arg.message = 0;
	err = call(t, f, DRM_IOCTL_NVDLA_CHAIN_CREATE, &arg);
	if (err) {
		atomic_fetch_add(&t->client->counters->chains_refused, 1);
		/* A walk that has left the path rarely finds back. */
		if (chance(t, 3))
			t->bytes = 0;
		return;
	}
	atomic_fetch_add(&t->client->counters->chains, 1);
	if (f->chain[slot])
		chain_drop(t, f, slot);
	memcpy(f->region[slot], region, sizeof(region));
	f->chain[slot] = arg.handle;
}

/* A buffer that is long enough, if there is one or can be. */
static void bind_region(struct fuzz_thread *t, struct fuzz_file *f, u64 need,
			struct drm_nvdla_binding *binding)
{
	u32 i, slot = any_slot(t);

	*binding = (struct drm_nvdla_binding){ 0 };
	if (!need)
		return;
	for (i = 0; i < FUZZ_HANDLES; i++, slot = (slot + 1) % FUZZ_HANDLES)
		if (f->bo[slot].handle && f->bo[slot].size >= need) {
			binding->handle = f->bo[slot].handle;
			binding->size = need;
			return;
		}
	if (need <= 1 << 19) {
		struct drm_nvdla_bo_create arg = { .size = need };

		bo_drop(t, f, slot);
		if (!call(t, f, DRM_IOCTL_NVDLA_BO_CREATE, &arg)) {
			f->bo[slot] = (struct guest_bo){ .handle = arg.handle, .size = arg.size };
			binding->handle = arg.handle;
			binding->size = arg.size;
		}
	}
}

struct fuzz_job {
	struct drm_nvdla_binding binding[TASK_REGIONS];
	struct drm_nvdla_sync in[2], out[2];
};

static void make_job(struct fuzz_thread *t, struct fuzz_file *f, struct drm_nvdla_job *job,
		     struct fuzz_job *parts)
{
	u32 slot = any_slot(t), i;

	memset(parts, 0, sizeof(*parts));
	for (i = 0; i < FUZZ_HANDLES && !f->chain[slot]; i++)
		slot = (slot + 1) % FUZZ_HANDLES;
	for (i = 0; i < TASK_REGIONS; i++)
		bind_region(t, f, f->region[slot][i].size, &parts->binding[i]);
	for (i = 0; i < 2; i++) {
		parts->in[i].handle = any_handle(t, f->sync[any_slot(t)]);
		parts->out[i].handle = any_handle(t, f->sync[any_slot(t)]);
		if (chance(t, 2)) {
			parts->out[i].flags = DRM_NVDLA_SYNC_TIMELINE;
			parts->out[i].point = 1 + fuzz_random(t, 1000);
		}
	}
	spoil(t, parts, sizeof(*parts));
	*job = (struct drm_nvdla_job){
		.chain = any_handle(t, f->chain[slot]),
		.bindings = any_pointer(t, parts->binding),
		.binding_count = TASK_REGIONS,
		.binding_stride = sizeof(parts->binding[0]),
		.in_syncs = any_pointer(t, parts->in),
		.out_syncs = any_pointer(t, parts->out),
		.in_sync_count = chance(t, 6) ? fuzz_random(t, 3) : 0,
		.out_sync_count = chance(t, 3) ? fuzz_random(t, 3) : 0,
		.sync_stride = sizeof(parts->in[0]),
		.timeout_ms = 20 + fuzz_random(t, 200),
		.result = chance(t, 3) ? any_bo(t, f) : 0,
	};
	spoil(t, job, sizeof(*job));
}

static void do_submit(struct fuzz_thread *t, struct fuzz_file *f)
{
	struct drm_nvdla_job job[3];
	struct fuzz_job parts[3];
	struct drm_nvdla_submit arg = {
		.jobs = any_pointer(t, job),
		.job_count = 1 + fuzz_random(t, 3),
		.job_stride = sizeof(job[0]),
	};
	u32 i;

	for (i = 0; i < 3; i++)
		make_job(t, f, &job[i], &parts[i]);
	spoil(t, &arg, sizeof(arg));
	if (!call(t, f, DRM_IOCTL_NVDLA_SUBMIT, &arg))
		atomic_fetch_add(&t->client->counters->jobs, arg.job_count);
}

static void do_reserve(struct fuzz_thread *t, struct fuzz_file *f)
{
	struct drm_nvdla_reserve arg = { .banks = fuzz_random(t, 8) };

	spoil(t, &arg, sizeof(arg));
	call(t, f, DRM_IOCTL_NVDLA_RESERVE, &arg);
}

static void do_context(struct fuzz_thread *t, struct fuzz_file *f)
{
	struct drm_nvdla_context arg = { .op = fuzz_random(t, 2), .value = fuzz_random(t, 3) };

	spoil(t, &arg, sizeof(arg));
	call(t, f, DRM_IOCTL_NVDLA_CONTEXT, &arg);
}

static void do_sync(struct fuzz_thread *t, struct fuzz_file *f)
{
	u32 slot = any_slot(t);
	struct drm_syncobj_destroy destroy = { .handle = f->sync[slot] };
	struct drm_syncobj_create create = { .flags = fuzz_random(t, 2) };

	if (f->sync[slot])
		call(t, f, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	f->sync[slot] = call(t, f, DRM_IOCTL_SYNCOBJ_CREATE, &create) ? 0 : create.handle;
}

/* A buffer goes from one file to another. */
static void do_prime(struct fuzz_thread *t, struct fuzz_file *f)
{
	int *place = &t->client->dmabuf[fuzz_random(t, FUZZ_FILES)], old = *place;
	struct drm_prime_handle arg = { .handle = any_bo(t, f), .flags = DRM_CLOEXEC | DRM_RDWR };
	u32 slot;

	if (chance(t, 2)) {
		if (call(t, f, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg))
			return;
		*place = arg.fd;
		if (old > 2)
			close(old);
		return;
	}
	arg = (struct drm_prime_handle){ .fd = old };
	if (call(t, f, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg))
		return;
	slot = any_slot(t);
	bo_drop(t, f, slot);
	f->bo[slot] =
		(struct guest_bo){ .handle = arg.handle, .size = (u64)lseek(old, 0, SEEK_END) };
}

/* Any number, any size, any contents. */
static void do_any_ioctl(struct fuzz_thread *t, struct fuzz_file *f)
{
	u32 words[64], i;
	unsigned long request = _IOC(fuzz_random(t, 4), 'd', DRM_COMMAND_BASE + fuzz_random(t, 12),
				     fuzz_random(t, sizeof(words)));

	for (i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = chance(t, 2) ? 0 : (u32)odd_number(t);
	call(t, f, request, words);
}

static void do_reopen(struct fuzz_thread *t, struct fuzz_file *f)
{
	int old = f->fd;
	u32 i;

	for (i = 0; i < FUZZ_HANDLES; i++) {
		struct guest_bo bo = f->bo[i];

		f->bo[i] = (struct guest_bo){ 0 };
		if (bo.data)
			munmap(bo.data, bo.size);
	}
	memset(f->chain, 0, sizeof(f->chain));
	memset(f->sync, 0, sizeof(f->sync));
	f->stale = false;
	f->fd = open(guest_node(), O_RDWR | O_CLOEXEC);
	if (old >= 0)
		close(old);
}

static void do_read_files(struct fuzz_thread *t, struct fuzz_file *f)
{
	static const char *const files[] = {
		"/sys/kernel/debug/accel/0/registers",
		"/sys/kernel/debug/accel/0/queue",
		"/sys/kernel/debug/accel/0/clients",
		"/sys/kernel/debug/accel/0/gem_names",
	};
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", f->fd);
	guest_file_read(path, text, sizeof(text));
	guest_file_read(files[fuzz_random(t, ARRAY_SIZE(files))], text, sizeof(text));
}

struct fuzz_counters *fuzz_counters_new(void)
{
	struct fuzz_counters *counters = mmap(NULL, sizeof(*counters), PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;

	NEED(counters != MAP_FAILED, "memory");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	NEED(!pthread_mutex_init(&counters->faults, &attr), "a lock is made");
	pthread_mutexattr_destroy(&attr);
	return counters;
}

/* Who held it may have been killed. */
static bool has_faults_lock(struct fuzz_counters *counters, int err)
{
	if (err == EOWNERDEAD)
		err = pthread_mutex_consistent(&counters->faults);
	return !err;
}

void fuzz_faults_lock(struct fuzz_counters *counters)
{
	NEED(has_faults_lock(counters, pthread_mutex_lock(&counters->faults)), "a lock is had");
}

bool fuzz_faults_trylock(struct fuzz_counters *counters)
{
	return has_faults_lock(counters, pthread_mutex_trylock(&counters->faults));
}

static void do_fault(struct fuzz_thread *t, struct fuzz_file *f)
{
	static const struct {
		enum nvdla_pci_fault kind;
		u32 arg;
	} faults[] = {
		{ NVDLA_PCI_FAULT_NONE, 0 },
		{ NVDLA_PCI_FAULT_HANG, 0 },
		{ NVDLA_PCI_FAULT_SPURIOUS, 0 },
		{ NVDLA_PCI_FAULT_LOST, 0 },
		{ NVDLA_PCI_FAULT_LATE, 20 },
		{ NVDLA_PCI_FAULT_DMA, 0 },
		{ NVDLA_PCI_FAULT_SLOW_MEMORY, 200 },
		{ NVDLA_PCI_FAULT_SLOW_TASKS, 3 },
		{ NVDLA_PCI_FAULT_STUCK_RESET, 0 },
		{ NVDLA_PCI_FAULT_HANG, NVDLA_PCI_FAULT_STUCK_RESET },
	};
	u32 i = fuzz_random(t, ARRAY_SIZE(faults));

	if (!t->client->faults || !chance(t, 10) || !fuzz_faults_trylock(t->client->counters))
		return;
	guest_fault(faults[i].kind, faults[i].arg);
	pthread_mutex_unlock(&t->client->counters->faults);
}

/* ---- netlink ---- */

static u32 any_attr(struct fuzz_thread *t, u8 *at, u32 depth)
{
	u8 payload[64];
	u32 bytes = 0, i;
	u64 number = chance(t, 2) ? fuzz_random(t, 40) : odd_number(t);
	u16 type = (u16)(chance(t, 10) ? odd_number(t) : fuzz_random(t, 9));

	if (depth && chance(t, 6)) {
		for (i = fuzz_random(t, 3); i; i--)
			bytes += any_attr(t, payload + bytes, 0);
		return guest_attr_put(at, type, payload, (u16)bytes);
	}
	memcpy(payload, &number, sizeof(number));
	return guest_attr_put(at, type, payload, chance(t, 6) ? fuzz_random(t, 9) : 4);
}

static void do_netlink(struct fuzz_thread *t, struct fuzz_file *f)
{
	u8 attrs[512] = { 0 };
	u32 bytes = 0, i;
	u32 device = (u32)atoi(strrchr(guest_node(), 'l') + 1); /* /dev/accel/accelN */
	u16 flags = chance(t, 3) ? NLM_F_DUMP : NLM_F_ACK;

	if (t->genl.fd <= 0 && guest_genl_open(&t->genl)) {
		t->genl.fd = -1;
		return;
	}
	if (chance(t, 2))
		bytes += guest_attr_put(attrs, 1, &device, sizeof(device));
	for (i = fuzz_random(t, 4); i; i--)
		bytes += any_attr(t, attrs + bytes, 1);
	if (bytes && chance(t, 8)) /* a length that lies */
		attrs[fuzz_random(t, bytes)] = (u8)fuzz_random(t, 256);
	if (chance(t, 8))
		bytes = fuzz_random(t, bytes + 1);
	guest_genl_send(&t->genl, (u8)(chance(t, 20) ? fuzz_random(t, 256) : fuzz_random(t, 8)),
			chance(t, 10) ? (u16)odd_number(t) : flags, attrs, bytes);
	atomic_fetch_add(&t->client->counters->messages, 1);
	if (chance(t, 8))
		guest_genl_join(&t->genl, t->genl.budget + fuzz_random(t, 3));
	while (recv(t->genl.fd, t->genl.data, sizeof(t->genl.data), MSG_DONTWAIT) > 0)
		;
	if (chance(t, 40))
		guest_genl_close(&t->genl);
}

/* ---- the mixture ---- */

static const struct {
	void (*op)(struct fuzz_thread *t, struct fuzz_file *f);
	u32 weight;
} ops[] = {
	{ do_chain, 40 },     { do_submit, 30 }, { do_bo_create, 10 }, { do_wait, 8 },
	{ do_map, 6 },	      { do_bo_sync, 5 }, { do_query, 3 },      { do_reserve, 2 },
	{ do_context, 2 },    { do_sync, 5 },	 { do_prime, 5 },      { do_any_ioctl, 8 },
	{ do_read_files, 1 }, { do_fault, 1 },	 { do_netlink, 10 },   { do_reopen, 1 },
};

void fuzz_step(struct fuzz_thread *t)
{
	u32 i, sum = 0, pick;
	struct fuzz_file *f;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		sum += ops[i].weight;
	pick = fuzz_random(t, sum);
	for (i = 0; pick >= ops[i].weight; i++)
		pick -= ops[i].weight;
	f = any_file(t);
	if (f->stale && chance(t, 4))
		do_reopen(t, f);
	ops[i].op(t, f);
}

void fuzz_client_open(struct fuzz_client *client, struct fuzz_counters *counters, bool faults)
{
	struct drm_nvdla_device_info info = { 0 };
	u32 i;

	memset(client, 0, sizeof(*client));
	client->counters = counters;
	client->faults = faults;
	for (i = 0; i < FUZZ_FILES; i++) {
		client->file[i].fd = open(guest_node(), O_RDWR | O_CLOEXEC);
		client->dmabuf[i] = -1;
	}
	guest_query(client->file[0].fd, DRM_NVDLA_QUERY_DEVICE, &info, sizeof(info));
	for (i = 0; i < nvdla_config_count; i++)
		if (!strcmp(nvdla_configs[i].name, (const char *)info.config))
			client->config = (u8)i;
}
