// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vfio_user_dma.h"
#include "vfio_user_twin.h"

/*
 * A file of the peer, mapped as a whole and shared by all ranges in it: behind an IOMMU there may
 * be tens of thousands of these.
 */
struct dma_file {
	struct dma_file *next;
	dev_t dev;
	ino_t ino;
	bool writable;
	u8 *memory;
	size_t bytes;
	u32 users;
};

/* One range; @file is NULL where it is reached by messages. */
struct dma_range {
	u64 address;
	u64 size;
	u64 offset; /* in the file */
	u32 flags; /* VFIO_USER_DMA_READABLE, _WRITABLE */
	struct dma_file *file;
};

/**
 * struct vfio_user_dma - all that is mapped
 * @range: sorted by address, without overlap
 * @blocked: what accesses end with, or 0
 */
struct vfio_user_dma {
	pthread_mutex_t lock;
	struct dma_range *range;
	u32 count;
	u32 capacity;
	struct dma_file *files;
	int twin;
	u32 twin_transfer;
	int blocked;
};

/* ---- memory that may go away ------------------------------------------------ */

static __thread sigjmp_buf *volatile landing;

static void on_fault(int signal_number)
{
	if (landing)
		siglongjmp(*landing, 1);
	/* Not ours: happens again, and ends the process. */
	signal(signal_number, SIG_DFL);
}

int vfio_user_dma_catch_faults(void)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	return sigaction(SIGBUS, &action, NULL) ? -errno : 0;
}

static int copy(void *to, const void *from, size_t len)
{
	sigjmp_buf here;
	int error = 0;

	if (sigsetjmp(here, 0)) {
		error = -EIO;
	} else {
		landing = &here;
		atomic_signal_fence(memory_order_seq_cst);
		memcpy(to, from, len);
		atomic_signal_fence(memory_order_seq_cst);
	}
	landing = NULL;
	return error;
}

/* ---- files -------------------------------------------------------------------- */

static void *map_file(int fd, size_t bytes, bool writable)
{
	void *p = mmap(NULL, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static struct dma_file *find_file(struct vfio_user_dma *dma, const struct stat *st, bool writable)
{
	struct dma_file *f;

	for (f = dma->files; f; f = f->next)
		if (f->dev == st->st_dev && f->ino == st->st_ino && (f->writable || !writable) &&
		    f->bytes == (size_t)st->st_size)
			return f;
	return NULL;
}

static int add_file(struct vfio_user_dma *dma, int fd, const struct stat *st, bool writable,
		    struct dma_file **file)
{
	struct dma_file *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->dev = st->st_dev;
	f->ino = st->st_ino;
	f->writable = writable;
	f->bytes = (size_t)st->st_size;
	f->memory = map_file(fd, f->bytes, writable);
	if (!f->memory) {
		int error = -errno;

		free(f);
		return error;
	}
	f->next = dma->files;
	dma->files = f;
	*file = f;
	return 0;
}

/* The file behind a range; one more user. */
static int get_file(struct vfio_user_dma *dma, const struct vfio_user_dma_map *map, int fd,
		    struct dma_file **file)
{
	bool writable = map->flags & VFIO_USER_DMA_WRITABLE;
	struct stat st;
	u64 end;
	int error = 0;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || check_add_overflow(map->offset, map->size, &end) ||
	    end > (u64)st.st_size)
		return -EINVAL;
	*file = find_file(dma, &st, writable);
	if (!*file)
		error = add_file(dma, fd, &st, writable, file);
	if (!error)
		(*file)->users++;
	return error;
}

static void put_file(struct vfio_user_dma *dma, struct dma_file *file)
{
	struct dma_file **link = &dma->files;

	if (!file || --file->users)
		return;
	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	munmap(file->memory, file->bytes);
	free(file);
}

/* ---- ranges ------------------------------------------------------------------- */

static u64 last_address(const struct dma_range *r)
{
	return r->address + (r->size - 1);
}

/* The first range that ends behind @address: where it is, or would be. */
static u32 find(const struct vfio_user_dma *dma, u64 address)
{
	u32 low = 0, high = dma->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (last_address(&dma->range[middle]) < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_room(struct vfio_user_dma *dma)
{
	u32 capacity = dma->capacity ? 2 * dma->capacity : 64;
	struct dma_range *range;

	if (dma->count < dma->capacity)
		return 0;
	if (dma->count >= VFIO_USER_MAX_DMA_MAPS)
		return -ENOSPC;
	range = realloc(dma->range, capacity * sizeof(*range));
	if (!range)
		return -ENOMEM;
	dma->range = range;
	dma->capacity = capacity;
	return 0;
}

static int map_locked(struct vfio_user_dma *dma, const struct vfio_user_dma_map *map, int fd)
{
	struct dma_range range = { map->address, map->size, map->offset, map->flags, NULL };
	u32 at = find(dma, map->address);
	int error;

	if (at < dma->count && dma->range[at].address - map->address < map->size)
		return -EEXIST;
	if (at < dma->count && dma->range[at].address < map->address)
		return -EEXIST;
	error = make_room(dma);
	if (!error && fd >= 0)
		error = get_file(dma, map, fd, &range.file);
	if (error)
		return error;
	memmove(&dma->range[at + 1], &dma->range[at], (dma->count - at) * sizeof(range));
	dma->range[at] = range;
	dma->count++;
	return 0;
}

int vfio_user_dma_map(struct vfio_user_dma *dma, const struct vfio_user_dma_map *map, int fd)
{
	u64 last;
	int error;

	if (!map->size || (map->address | map->size | map->offset) % VFIO_USER_PAGE_BYTES ||
	    check_add_overflow(map->address, map->size - 1, &last))
		return -EINVAL;
	pthread_mutex_lock(&dma->lock);
	error = map_locked(dma, map, fd);
	pthread_mutex_unlock(&dma->lock);
	return error;
}

static int unmap_locked(struct vfio_user_dma *dma, u64 address, u64 last)
{
	u32 from = find(dma, address), to = from, i;

	while (to < dma->count && dma->range[to].address <= last)
		to++;
	if (from == to)
		return 0;
	if (dma->range[from].address < address || last_address(&dma->range[to - 1]) > last)
		return -EINVAL;
	for (i = from; i < to; i++)
		put_file(dma, dma->range[i].file);
	memmove(&dma->range[from], &dma->range[to], (dma->count - to) * sizeof(dma->range[0]));
	dma->count -= to - from;
	return 0;
}

int vfio_user_dma_unmap(struct vfio_user_dma *dma, u64 address, u64 size)
{
	u64 last;
	int error;

	if (!size || check_add_overflow(address, size - 1, &last))
		return -EINVAL;
	pthread_mutex_lock(&dma->lock);
	error = unmap_locked(dma, address, last);
	pthread_mutex_unlock(&dma->lock);
	return error;
}

static void unmap_all_locked(struct vfio_user_dma *dma)
{
	while (dma->count)
		put_file(dma, dma->range[--dma->count].file);
}

void vfio_user_dma_unmap_all(struct vfio_user_dma *dma)
{
	pthread_mutex_lock(&dma->lock);
	unmap_all_locked(dma);
	pthread_mutex_unlock(&dma->lock);
}

static void drop_twin(struct vfio_user_dma *dma)
{
	if (dma->twin >= 0)
		close(dma->twin);
	dma->twin = -1;
}

void vfio_user_dma_disconnect(struct vfio_user_dma *dma)
{
	pthread_mutex_lock(&dma->lock);
	unmap_all_locked(dma);
	drop_twin(dma);
	pthread_mutex_unlock(&dma->lock);
}

void vfio_user_dma_twin(struct vfio_user_dma *dma, int socket, u32 max_transfer)
{
	pthread_mutex_lock(&dma->lock);
	drop_twin(dma);
	dma->twin = socket;
	dma->twin_transfer = max_transfer;
	pthread_mutex_unlock(&dma->lock);
}

void vfio_user_dma_block(struct vfio_user_dma *dma, int error)
{
	pthread_mutex_lock(&dma->lock);
	dma->blocked = error;
	pthread_mutex_unlock(&dma->lock);
}

/* ---- accesses ------------------------------------------------------------------- */

/* Is all of it mapped, for this direction?  Ranges may follow one another. */
static bool covered(const struct vfio_user_dma *dma, u32 at, u64 address, size_t len, u32 flag)
{
	while (len) {
		const struct dma_range *r = &dma->range[at];
		u64 inside;

		if (at == dma->count || r->address > address || !(r->flags & flag))
			return false;
		inside = min((u64)len, r->size - (address - r->address));
		address += inside;
		len -= (size_t)inside;
		at++;
	}
	return true;
}

/* @len bytes inside of one range. */
static int move(struct vfio_user_dma *dma, const struct dma_range *r, u64 address, u8 *buf,
		size_t len, bool write)
{
	u8 *memory;
	int error;

	if (!r->file) {
		error = vfio_user_twin_access(dma->twin, dma->twin_transfer, address, buf, len,
					      write);
		/* A late answer must not be taken for the next one. */
		if (error)
			drop_twin(dma);
		return error;
	}
	memory = r->file->memory + r->offset + (address - r->address);
	return write ? copy(memory, buf, len) : copy(buf, memory, len);
}

static int access_locked(struct vfio_user_dma *dma, u64 address, u8 *buf, size_t len, bool write)
{
	u32 at = find(dma, address);
	u64 last;
	int error = 0;

	if (dma->blocked)
		return dma->blocked;
	if (!len)
		return 0;
	if (check_add_overflow(address, (u64)len - 1, &last) ||
	    !covered(dma, at, address, len,
		     write ? VFIO_USER_DMA_WRITABLE : VFIO_USER_DMA_READABLE))
		return -EFAULT;
	for (; len && !error; at++) {
		const struct dma_range *r = &dma->range[at];
		size_t inside = (size_t)min((u64)len, r->size - (address - r->address));

		error = move(dma, r, address, buf, inside, write);
		address += inside;
		buf += inside;
		len -= inside;
	}
	return error;
}

int vfio_user_dma_read(struct vfio_user_dma *dma, u64 address, void *buf, size_t len)
{
	int error;

	pthread_mutex_lock(&dma->lock);
	error = access_locked(dma, address, buf, len, false);
	pthread_mutex_unlock(&dma->lock);
	return error;
}

int vfio_user_dma_write(struct vfio_user_dma *dma, u64 address, const void *buf, size_t len)
{
	int error;

	pthread_mutex_lock(&dma->lock);
	error = access_locked(dma, address, (u8 *)buf, len, true);
	pthread_mutex_unlock(&dma->lock);
	return error;
}

struct vfio_user_dma *vfio_user_dma_create(void)
{
	struct vfio_user_dma *dma = calloc(1, sizeof(*dma));

	if (!dma)
		return NULL;
	pthread_mutex_init(&dma->lock, NULL);
	dma->twin = -1;
	return dma;
}

void vfio_user_dma_destroy(struct vfio_user_dma *dma)
{
	if (!dma)
		return;
	vfio_user_dma_disconnect(dma);
	pthread_mutex_destroy(&dma->lock);
	free(dma->range);
	free(dma);
}
