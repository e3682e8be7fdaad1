/* SPDX-License-Identifier: MIT */
/* Bytes and file descriptors on a unix socket, for the vfio-user protocol. */
#ifndef VFIO_USER_IO_H
#define VFIO_USER_IO_H

#include <sys/types.h>

#include "vfio_user.h"

/* File descriptors that came with a message or go with one; closed with vfio_user_fds_close(). */
struct vfio_user_fds {
	int fd[VFIO_USER_MAX_FDS];
	u32 count;
};

void vfio_user_fds_close(struct vfio_user_fds *fds);

/* The file at @index becomes the caller's; -1 where there is none. */
int vfio_user_fds_take(struct vfio_user_fds *fds, u32 index);

/*
 * Up to @len bytes that have arrived, with their files, which are added to @fds; what is too many
 * is closed.  Returns the bytes, 0 at the end of the stream, -EAGAIN when nothing has arrived.
 */
ssize_t vfio_user_io_read(int socket, void *buf, size_t len, struct vfio_user_fds *fds);

/*
 * Send the header and @len bytes behind it, with the file @fd if that is not -1.  Waits for a slow
 * reader, but not for ever: -ETIMEDOUT.  Returns 0 or a negative errno.
 */
int vfio_user_io_send(int socket, const struct vfio_user_header *header, const void *data,
		      size_t len, int fd);

#endif /* VFIO_USER_IO_H */
