/* SPDX-License-Identifier: MIT */
/*
 * The memory of a vfio-user peer that a device may access: ranges of device addresses, each a part
 * of a file that the peer has sent or, without one, reached by messages on the twin socket.
 *
 * One thread maps and unmaps while another accesses.
 */
#ifndef VFIO_USER_DMA_H
#define VFIO_USER_DMA_H

#include "vfio_user.h"

struct vfio_user_dma;

/* Nothing mapped; NULL: no memory. */
struct vfio_user_dma *vfio_user_dma_create(void);
void vfio_user_dma_destroy(struct vfio_user_dma *dma);

/*
 * Return: 0; -EINVAL: an empty, unaligned or wrapping range, no plain file, or one that is too
 * short; -EEXIST: overlaps another; -ENOSPC: too many; -EACCES, -ENOMEM.
 */
int vfio_user_dma_map(struct vfio_user_dma *dma, const struct vfio_user_dma_map *map, int fd);

/*
 * All ranges inside of this one, also when there are none, as VFIO has it: nothing is accessed
 * there any more.  Return: 0; -EINVAL: it is empty, wraps, or would cut a range in two.
 */
int vfio_user_dma_unmap(struct vfio_user_dma *dma, u64 address, u64 size);

/* The peer is gone, or wants it: all ranges and the twin socket. */
void vfio_user_dma_unmap_all(struct vfio_user_dma *dma);
void vfio_user_dma_disconnect(struct vfio_user_dma *dma);

/* How to reach ranges without a file; taken over. */
void vfio_user_dma_twin(struct vfio_user_dma *dma, int socket, u32 max_transfer);

/*
 * With @error not 0, accesses end with it (negative) from now on; none is under way any more.
 */
void vfio_user_dma_block(struct vfio_user_dma *dma, int error);

/*
 * Move @len bytes.  Return: 0; -EFAULT: not all of it is mapped, or not for this direction; -EIO:
 * the memory cannot be reached (its file has shrunk, or the peer does not answer); or the error of
 * vfio_user_dma_block().
 */
int vfio_user_dma_read(struct vfio_user_dma *dma, u64 address, void *buf, size_t len);
int vfio_user_dma_write(struct vfio_user_dma *dma, u64 address, const void *buf, size_t len);

/* A file of the peer may shrink under our mapping: makes an access to it fail instead of us. */
int vfio_user_dma_catch_faults(void);

#endif /* VFIO_USER_DMA_H */
