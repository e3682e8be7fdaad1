/* SPDX-License-Identifier: MIT */
/*
 * The server's side of the vfio-user protocol, version 0: messages on a unix socket by which a
 * virtual machine reaches a PCI device in another process.  What the device is, is not known here.
 *
 * The peer is not trusted: lengths, indices, ranges and file descriptors are checked, and what is
 * wrong is answered with an error.  Only a message whose length makes no sense ends the connection.
 */
#ifndef VFIO_USER_H
#define VFIO_USER_H

#include <linux/vfio.h>

#include "nvdla_types.h"

/* Largest count of a region or DMA access in one message, and descriptors in one message. */
#define VFIO_USER_MAX_TRANSFER 0x10000u
#define VFIO_USER_MAX_FDS 8u
#define VFIO_USER_MAX_DMA_MAPS 65535u
#define VFIO_USER_PAGE_BYTES 4096u

enum vfio_user_command {
	VFIO_USER_VERSION = 1,
	VFIO_USER_DMA_MAP = 2,
	VFIO_USER_DMA_UNMAP = 3,
	VFIO_USER_DEVICE_GET_INFO = 4,
	VFIO_USER_DEVICE_GET_REGION_INFO = 5,
	VFIO_USER_DEVICE_GET_IRQ_INFO = 7,
	VFIO_USER_DEVICE_SET_IRQS = 8,
	VFIO_USER_REGION_READ = 9,
	VFIO_USER_REGION_WRITE = 10,
	VFIO_USER_DMA_READ = 11,
	VFIO_USER_DMA_WRITE = 12,
	VFIO_USER_DEVICE_RESET = 13,
};

/* struct vfio_user_header.flags */
#define VFIO_USER_TYPE_MASK 0xfu
#define VFIO_USER_TYPE_COMMAND 0x0u
#define VFIO_USER_TYPE_REPLY 0x1u
#define VFIO_USER_NO_REPLY 0x10u
#define VFIO_USER_ERROR 0x20u

/* In front of every message; @size counts it. */
struct vfio_user_header {
	u16 id;
	u16 command;
	u32 size;
	u32 flags;
	u32 error; /* a positive errno */
};

struct vfio_user_version {
	u16 major;
	u16 minor; /* and a text of JSON */
};

/* struct vfio_user_dma_map.flags */
#define VFIO_USER_DMA_READABLE 0x1u
#define VFIO_USER_DMA_WRITABLE 0x2u
#define VFIO_USER_DMA_BY_MMAP 0x4u
#define VFIO_USER_DMA_BY_FILE 0x8u

struct vfio_user_dma_map {
	u32 argsz;
	u32 flags;
	u64 offset; /* in the file that comes along */
	u64 address;
	u64 size;
};

struct vfio_user_dma_unmap {
	u32 argsz;
	u32 flags; /* VFIO_DMA_UNMAP_FLAG_ALL */
	u64 address;
	u64 size;
};

struct vfio_user_region_access {
	u64 offset;
	u32 region;
	u32 count; /* and the data */
};

struct vfio_user_dma_access {
	u64 address;
	u64 count; /* and the data */
};

/**
 * struct vfio_user_region - what a device says of one of its regions
 * @size: bytes; 0: there is none
 * @flags: VFIO_REGION_INFO_FLAG_*
 * @fd: file to map, where the flags say so; stays the device's
 */
struct vfio_user_region {
	u64 size;
	u32 flags;
	int fd;
};

/**
 * struct vfio_user_ops - the device
 * @region: fill in one of VFIO_PCI_NUM_REGIONS
 * @read, @write: access a region; range and permission are checked already
 * @irqs: interrupts of one of VFIO_PCI_NUM_IRQS
 * @set_eventfd: signal an interrupt there; takes the file over; -1: nowhere
 * @trigger: signal an interrupt now
 * @dma_map: memory that the device may access from now on; @fd is -1 or stays the caller's
 * @dma_unmap: no longer: returns when nothing is under way there
 * @twin: a socket for VFIO_USER_DMA_READ and _WRITE, and the most bytes of one; takes it over
 * @reset: reset the device
 *
 * Functions return 0 or a negative errno, which becomes the reply.
 */
struct vfio_user_ops {
	void (*region)(void *context, u32 index, struct vfio_user_region *region);
	int (*read)(void *context, u32 region, u64 offset, void *buf, u32 count);
	int (*write)(void *context, u32 region, u64 offset, const void *buf, u32 count);
	u32 (*irqs)(void *context, u32 index);
	int (*set_eventfd)(void *context, u32 index, u32 vector, int fd);
	int (*trigger)(void *context, u32 index, u32 vector);
	int (*dma_map)(void *context, const struct vfio_user_dma_map *map, int fd);
	int (*dma_unmap)(void *context, const struct vfio_user_dma_unmap *unmap);
	void (*twin)(void *context, int fd, u32 max_transfer);
	void (*reset)(void *context);
};

struct vfio_user_peer;

/* Serve the device to who sits at the other end of @fd, which is taken over.  NULL: no memory. */
struct vfio_user_peer *vfio_user_open(int fd, const struct vfio_user_ops *ops, void *context);

/*
 * Take some of what has arrived, and answer each message that is complete.  Does not wait for more.
 * Returns 0; 1 when the peer has gone; a negative errno when it can be understood no longer.
 */
int vfio_user_receive(struct vfio_user_peer *peer);

void vfio_user_close(struct vfio_user_peer *peer);

#endif /* VFIO_USER_H */
