// SPDX-License-Identifier: MIT
/*
 * A record in a file, changed under flock() and checked at every look: owner,
 * size, checksum and every field.  flock() rather than a mutex in the record: a
 * process that dies gives it back, and a damaged record cannot lead anyone to
 * memory that is not there.  The record is moved by pread() and pwrite(), so a file
 * that is cut short is an error and no SIGBUS; the mapping only gives futex() an
 * address to sleep on.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "budget.h"
#include "nvdla_budget_rules.h"

#define RECORD_MAGIC 0x4247504eu /* "NPGB" */
#define RECORD_VERSION 1
#define MAX_CLIENTS 64
#define RECHECK_MS 250 /* how late a dead client's reservation may be noticed while waiting */

/* A reservation: of which handle of which process; pid 0: free. */
struct client {
	s32 pid;
	u32 banks;
	u64 start; /* of the process, in clock ticks after boot: tells a recycled pid */
	u64 handle; /* distinguishes the handles of one process */
};

struct record {
	u32 magic;
	u32 version;
	u32 wake; /* low half of generation: the futex */
	u32 checksum; /* of everything else */
	u64 generation;
	u32 total;
	u32 cap;
	struct client client[MAX_CLIENTS];
};

struct npu_sim_budget {
	int fd;
	pthread_mutex_t lock; /* flock() belongs to the descriptor: threads need one of their own */
	void *mapping;
	char *path;
	u32 total;
	struct client self; /* banks unused */
};

static u32 record_checksum(const struct record *record)
{
	struct record copy = *record;
	const u8 *byte = (const u8 *)&copy;
	u32 hash = 2166136261u; /* FNV-1a */
	size_t i;

	copy.checksum = 0;
	for (i = 0; i < sizeof(copy); i++)
		hash = (hash ^ byte[i]) * 16777619u;
	return hash;
}

/* Start time of a process; 0 where there is none. */
static u64 process_start(s32 pid)
{
	char path[40], text[1024], *p;
	unsigned long long start = 0;
	ssize_t length;
	int fd, field;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (length <= 0)
		return 0;
	text[length] = '\0';
	/* The second field is a name in parentheses that may hold anything. */
	p = strrchr(text, ')');
	for (field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (!p || sscanf(p, "%llu", &start) != 1)
		return 0;
	return start;
}

/* What is wrong with the record, or NULL. */
static const char *record_fault(const struct record *record, u32 total)
{
	u32 i;

	if (record->magic != RECORD_MAGIC)
		return "not a budget record";
	if (record->version != RECORD_VERSION)
		return "of another version";
	if (record->checksum != record_checksum(record))
		return "checksum does not fit";
	if (record->total != total)
		return "of a device with another number of banks";
	if (record->cap < 1 || record->cap > total)
		return "cap out of range";
	if (record->wake != (u32)record->generation)
		return "generation out of step";
	for (i = 0; i < MAX_CLIENTS; i++)
		if (record->client[i].pid < 0 || record->client[i].banks > total)
			return "reservation out of range";
	return NULL;
}

static int fail_damaged(const struct npu_sim_budget *budget, const char *what)
{
	return npu_fail(-EUCLEAN, "%s: damaged budget (%s); remove the file", budget->path, what);
}

static int record_store(const struct npu_sim_budget *budget, struct record *record)
{
	ssize_t written;

	record->checksum = record_checksum(record);
	written = pwrite(budget->fd, record, sizeof(*record), 0);
	if (written == sizeof(*record))
		return 0;
	return npu_fail(written < 0 ? -errno : -EIO, "%s: cannot write: %s", budget->path,
			written < 0 ? strerror(errno) : "short write");
}

static int record_change(const struct npu_sim_budget *budget, struct record *record)
{
	int err;

	record->generation++;
	record->wake = (u32)record->generation;
	err = record_store(budget, record);
	if (!err)
		syscall(SYS_futex, (char *)budget->mapping + offsetof(struct record, wake),
			FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	return err;
}

static int record_load(const struct npu_sim_budget *budget, struct record *record)
{
	ssize_t length = pread(budget->fd, record, sizeof(*record), 0);
	const char *fault;
	struct stat st;

	if (length < 0)
		return npu_fail(-errno, "%s: %s", budget->path, strerror(errno));
	if (length != sizeof(*record) || fstat(budget->fd, &st) || st.st_size != sizeof(*record))
		return fail_damaged(budget, "wrong size");
	fault = record_fault(record, budget->total);
	return fault ? fail_damaged(budget, fault) : 0;
}

/* Takes out reservations of processes that are gone.  Return: were there any? */
static bool record_purge(struct record *record)
{
	bool changed = false;
	u32 i;

	for (i = 0; i < MAX_CLIENTS; i++) {
		struct client *client = &record->client[i];

		if (!client->pid || process_start(client->pid) == client->start)
			continue;
		memset(client, 0, sizeof(*client));
		changed = true;
	}
	return changed;
}

/* The record under both locks; unlock_record() after success. */
static int lock_record(struct npu_sim_budget *budget, struct record *record)
{
	int err;

	pthread_mutex_lock(&budget->lock);
	while (flock(budget->fd, LOCK_EX) < 0) {
		if (errno == EINTR)
			continue;
		err = npu_fail(-errno, "%s: cannot lock: %s", budget->path, strerror(errno));
		pthread_mutex_unlock(&budget->lock);
		return err;
	}
	err = record_load(budget, record);
	if (!err && record_purge(record))
		err = record_change(budget, record);
	if (err) {
		flock(budget->fd, LOCK_UN);
		pthread_mutex_unlock(&budget->lock);
	}
	return err;
}

static void unlock_record(struct npu_sim_budget *budget)
{
	flock(budget->fd, LOCK_UN);
	pthread_mutex_unlock(&budget->lock);
}

static bool is_self(const struct npu_sim_budget *budget, const struct client *client)
{
	return client->pid == budget->self.pid && client->start == budget->self.start &&
	       client->handle == budget->self.handle;
}

static struct client *find_self(const struct npu_sim_budget *budget, struct record *record)
{
	u32 i;

	for (i = 0; i < MAX_CLIENTS; i++)
		if (is_self(budget, &record->client[i]))
			return &record->client[i];
	return NULL;
}

static u32 own_banks(const struct npu_sim_budget *budget, struct record *record)
{
	const struct client *self = find_self(budget, record);

	return self ? self->banks : 0;
}

static u32 reserved_sum(const struct record *record)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < MAX_CLIENTS; i++)
		sum += record->client[i].banks;
	return (u32)sum; /* at most 64 * 65535 */
}

/* A simulated NPU has no bank that went bad. */
static struct nvdla_budget_state budget_state(const struct record *record)
{
	struct nvdla_budget_state state = nvdla_budget_state_fresh(record->total);

	state.limit = record->cap;
	state.reserved = reserved_sum(record);
	return state;
}

int npu_sim_budget_read(struct npu_sim_budget *budget, struct npu_device_budget *out)
{
	struct nvdla_budget_state state;
	struct record record;
	int err = lock_record(budget, &record);

	if (err)
		return err;
	unlock_record(budget);
	state = budget_state(&record);
	out->banks_total = state.total;
	out->banks_cap = state.limit;
	out->banks_reserved = state.reserved;
	out->banks_available = nvdla_budget_state_available(&state, own_banks(budget, &record));
	out->banks_usable = nvdla_budget_state_usable(&state);
	out->sram_bytes = 0;
	out->generation = record.generation;
	return 0;
}

/* Nanoseconds from now to @deadline, at most RECHECK_MS; 0 when it has passed. */
static struct timespec next_sleep(const struct timespec *deadline)
{
	struct timespec sleep = { 0, RECHECK_MS * 1000000L }, now;
	s64 left;

	if (!deadline)
		return sleep;
	clock_gettime(CLOCK_MONOTONIC, &now);
	left = (s64)(deadline->tv_sec - now.tv_sec) * 1000000000 +
	       (deadline->tv_nsec - now.tv_nsec);
	if (left < sleep.tv_nsec)
		sleep.tv_nsec = left > 0 ? (long)left : 0;
	return sleep;
}

int npu_sim_budget_wait(struct npu_sim_budget *budget, u64 generation, int timeout_ms)
{
	struct timespec deadline, sleep;
	bool limited = npu_deadline(timeout_ms, &deadline);
	struct npu_device_budget now;
	int err;

	for (;;) {
		err = npu_sim_budget_read(budget, &now);
		if (err || now.generation != generation)
			return err;
		sleep = next_sleep(limited ? &deadline : NULL);
		if (!sleep.tv_nsec)
			return -ETIMEDOUT;
		syscall(SYS_futex, (char *)budget->mapping + offsetof(struct record, wake),
			FUTEX_WAIT, (u32)generation, &sleep, NULL, 0);
	}
}

static struct client *find_free(struct record *record)
{
	u32 i;

	for (i = 0; i < MAX_CLIENTS; i++)
		if (!record->client[i].pid)
			return &record->client[i];
	return NULL;
}

static int reserve_locked(struct npu_sim_budget *budget, struct record *record, u32 banks)
{
	struct nvdla_budget_state state = budget_state(record);
	struct client *self = find_self(budget, record);
	u32 own = own_banks(budget, record);
	u32 others = state.reserved - own;
	int changed = nvdla_budget_state_reserve(&state, &own, banks);

	if (changed < 0)
		return npu_fail(changed, "cannot reserve %u banks: of %u, others have reserved %u",
				banks, state.limit, others);
	if (!changed)
		return 0;
	if (!self)
		self = find_free(record);
	if (!self)
		return npu_fail(-EBUSY, "%s: %u clients hold reservations already", budget->path,
				MAX_CLIENTS);
	memset(self, 0, sizeof(*self));
	if (own) {
		*self = budget->self;
		self->banks = own;
	}
	return record_change(budget, record);
}

int npu_sim_budget_reserve(struct npu_sim_budget *budget, u32 banks)
{
	struct record record;
	int err = lock_record(budget, &record);

	if (err)
		return err;
	err = reserve_locked(budget, &record, banks);
	unlock_record(budget);
	return err;
}

int npu_sim_budget_set_cap(struct npu_sim_budget *budget, u32 banks)
{
	struct nvdla_budget_state state;
	struct record record;
	int err = lock_record(budget, &record);

	if (err)
		return err;
	state = budget_state(&record);
	err = nvdla_budget_state_set_limit(&state, banks);
	if (err < 0)
		npu_fail(err, "cannot set %u banks: 1 to %u are possible", banks, state.total);
	if (err > 0) {
		record.cap = state.limit;
		err = record_change(budget, &record);
	}
	unlock_record(budget);
	return err;
}

int npu_sim_budget_reservation(struct npu_sim_budget *budget, unsigned index,
			       struct npu_reservation *out)
{
	struct record record;
	int err = lock_record(budget, &record);
	u32 i;

	if (err)
		return err;
	unlock_record(budget);
	for (i = 0; i < MAX_CLIENTS; i++) {
		if (!record.client[i].pid || index--)
			continue;
		out->pid = record.client[i].pid;
		out->banks = record.client[i].banks;
		return 0;
	}
	return -ENOENT;
}

/* ---- where the file is ---- */

/* A directory of the user's own that nobody else can change. */
static int make_private_dir(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return npu_fail(-errno, "%s: %s (NPU_SIM_DIR names another directory)", path,
				strerror(errno));
	if (lstat(path, &st) < 0)
		return npu_fail(-errno, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return npu_fail(-EUCLEAN, "%s: not a directory that only its owner may change",
				path);
	return 0;
}

static int budget_path(const char *name, char **path)
{
	const char *dir = getenv("NPU_SIM_DIR");
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char *own = NULL;
	int length, err;

	if (dir && *dir)
		length = asprintf(&own, "%s", dir);
	else if (runtime && *runtime && access(runtime, W_OK | X_OK) == 0)
		length = asprintf(&own, "%s/npu", runtime);
	else
		length = asprintf(&own, "/tmp/npu-%u", (unsigned)geteuid());
	if (length < 0)
		return npu_fail(-ENOMEM, "out of memory");
	err = make_private_dir(own);
	if (!err && asprintf(path, "%s/%s.budget", own, name) < 0)
		err = npu_fail(-ENOMEM, "out of memory");
	free(own);
	return err;
}

/* A process without standard output must not print into the record. */
static int above_standard_files(int fd)
{
	int higher, error;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	close(fd);
	errno = error;
	return higher;
}

static int open_file(struct npu_sim_budget *budget)
{
	struct stat st;

	budget->fd = above_standard_files(
		open(budget->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
	if (budget->fd < 0)
		return npu_fail(-errno, "%s: %s", budget->path, strerror(errno));
	if (fstat(budget->fd, &st) < 0)
		return npu_fail(-errno, "%s: %s", budget->path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return npu_fail(-EUCLEAN, "%s: not a file that only its owner may change",
				budget->path);
	return 0;
}

static int open_private(struct npu_sim_budget *budget)
{
	budget->fd = memfd_create("npu-budget", MFD_CLOEXEC);
	return budget->fd < 0 ? npu_fail(-errno, "memfd_create: %s", strerror(errno)) : 0;
}

/* A record that is not whole, on a disk that is full, would be a damaged one for all who come later. */
static int store_first(const struct npu_sim_budget *budget, struct record *record)
{
	int err = record_store(budget, record);

	if (err && ftruncate(budget->fd, 0) < 0)
		return fail_damaged(budget, "not written to its end");
	return err;
}

/* An empty file is a new one: the first who has the lock fills it in. */
static int init_if_empty(struct npu_sim_budget *budget)
{
	struct record record = {
		.magic = RECORD_MAGIC,
		.version = RECORD_VERSION,
		.wake = 1,
		.generation = 1,
		.total = budget->total,
		.cap = budget->total,
	};
	struct stat st;
	int err = 0;

	while (flock(budget->fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return npu_fail(-errno, "%s: cannot lock: %s", budget->path,
					strerror(errno));
	if (fstat(budget->fd, &st) < 0)
		err = npu_fail(-errno, "%s: %s", budget->path, strerror(errno));
	else if (st.st_size == 0)
		err = store_first(budget, &record);
	flock(budget->fd, LOCK_UN);
	return err;
}

static int open_budget(struct npu_sim_budget *budget, const char *name)
{
	const char *dir = getenv("NPU_SIM_DIR");
	struct record record;
	int err;

	if (dir && strcmp(dir, "-") == 0) {
		budget->path = strdup("private budget");
		err = budget->path ? open_private(budget) : npu_fail(-ENOMEM, "out of memory");
	} else {
		err = budget_path(name, &budget->path);
		if (!err)
			err = open_file(budget);
	}
	if (!err)
		err = init_if_empty(budget);
	if (err)
		return err;
	budget->mapping =
		mmap(NULL, sizeof(record), PROT_READ | PROT_WRITE, MAP_SHARED, budget->fd, 0);
	if (budget->mapping == MAP_FAILED) {
		budget->mapping = NULL;
		return npu_fail(-errno, "%s: cannot map: %s", budget->path, strerror(errno));
	}
	err = lock_record(budget, &record);
	if (!err)
		unlock_record(budget);
	return err;
}

int npu_sim_budget_open(const char *name, u32 total, struct npu_sim_budget **out)
{
	static atomic_ullong handles;
	struct npu_sim_budget *budget = calloc(1, sizeof(*budget));
	int err;

	if (!budget)
		return npu_fail(-ENOMEM, "out of memory");
	budget->fd = -1;
	budget->total = total;
	budget->self.pid = getpid();
	budget->self.start = process_start(budget->self.pid);
	budget->self.handle = atomic_fetch_add(&handles, 1) + 1;
	pthread_mutex_init(&budget->lock, NULL);
	err = open_budget(budget, name);
	if (err) {
		npu_sim_budget_close(budget);
		return err;
	}
	*out = budget;
	return 0;
}

void npu_sim_budget_close(struct npu_sim_budget *budget)
{
	struct record record;

	if (!budget)
		return;
	if (budget->mapping) {
		/* A file that is damaged by now has no reservation to give back. */
		if (lock_record(budget, &record) == 0) {
			if (find_self(budget, &record))
				reserve_locked(budget, &record, 0);
			unlock_record(budget);
		}
		munmap(budget->mapping, sizeof(record));
	}
	if (budget->fd >= 0)
		close(budget->fd);
	pthread_mutex_destroy(&budget->lock);
	free(budget->path);
	free(budget);
}
