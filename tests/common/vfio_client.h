/* SPDX-License-Identifier: MIT */
/* The client's side of the vfio-user protocol, for tests of the server; waits, and trusts it. */
#ifndef VFIO_CLIENT_H
#define VFIO_CLIENT_H

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vfio_user_io.h"

/* A message and the files that go with it. */
struct vfio_client_message {
	u16 command;
	u32 flags; /* besides the type */
	const void *payload;
	size_t size;
	const int *fd;
	u32 fds;
};

static inline bool vfio_client_send(int socket, u16 id, const struct vfio_client_message *m)
{
	struct vfio_user_header header = { id, m->command };
	char control[CMSG_SPACE(16 * sizeof(int))]
		__attribute__((aligned(sizeof(struct cmsghdr)))) = { 0 };
	struct iovec iov[2] = { { &header, sizeof(header) }, { (void *)m->payload, m->size } };
	struct msghdr message = { .msg_iov = iov, .msg_iovlen = 2 };
	struct cmsghdr *c;

	header.size = (u32)(sizeof(header) + m->size);
	header.flags = m->flags;
	if (m->fds) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(m->fds * sizeof(int));
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(m->fds * sizeof(int));
		memcpy(CMSG_DATA(c), m->fd, m->fds * sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)(sizeof(header) + m->size);
}

/* All of @len bytes, within ten seconds; files are added to @fds. */
static inline bool vfio_client_receive(int socket, void *buf, size_t len, struct vfio_user_fds *fds)
{
	struct pollfd p = { .fd = socket, .events = POLLIN };
	u8 *to = buf;

	while (len) {
		ssize_t got = vfio_user_io_read(socket, to, len, fds);

		if (got == -EAGAIN) {
			if (poll(&p, 1, 10000) <= 0)
				return false;
			continue;
		}
		if (got <= 0)
			return false;
		to += got;
		len -= (size_t)got;
	}
	return true;
}

/**
 * struct vfio_client - one connection
 * @id: of the last message
 * @reply, @size: payload of the last reply
 * @fds: files that came with it
 */
struct vfio_client {
	int socket;
	u16 id;
	u8 reply[VFIO_USER_MAX_TRANSFER + 64];
	size_t size;
	struct vfio_user_fds fds;
};

/* The reply to the last message: 0, the error it tells, or -EPIPE where there is none. */
static inline int vfio_client_reply(struct vfio_client *c, u16 command)
{
	struct vfio_user_header header;

	vfio_user_fds_close(&c->fds);
	c->size = 0;
	if (!vfio_client_receive(c->socket, &header, sizeof(header), &c->fds))
		return -EPIPE;
	if (header.id != c->id || header.command != command ||
	    (header.flags & VFIO_USER_TYPE_MASK) != VFIO_USER_TYPE_REPLY ||
	    header.size < sizeof(header) || header.size - sizeof(header) > sizeof(c->reply))
		return -EBADMSG;
	c->size = header.size - sizeof(header);
	if (!vfio_client_receive(c->socket, c->reply, c->size, &c->fds))
		return -EPIPE;
	if (header.flags & VFIO_USER_ERROR)
		return c->size || !header.error ? -EBADMSG : -(int)header.error;
	return 0;
}

static inline int vfio_client_call(struct vfio_client *c, u16 command, const void *payload,
				   size_t size, const int *fd, u32 fds)
{
	const struct vfio_client_message m = { command, 0, payload, size, fd, fds };

	if (!vfio_client_send(c->socket, ++c->id, &m))
		return -EPIPE;
	return vfio_client_reply(c, command);
}

static inline int vfio_client_version(struct vfio_client *c, u16 major, const char *capabilities)
{
	u8 message[1024];
	const struct vfio_user_version version = { major, 0 };
	size_t len = strlen(capabilities) + 1;

	memcpy(message, &version, sizeof(version));
	memcpy(message + sizeof(version), capabilities, len);
	return vfio_client_call(c, VFIO_USER_VERSION, message, sizeof(version) + len, NULL, 0);
}

static inline int vfio_client_map(struct vfio_client *c, u64 address, u64 size, u64 offset,
				  u32 flags, int fd)
{
	const struct vfio_user_dma_map map = { sizeof(map), flags, offset, address, size };

	return vfio_client_call(c, VFIO_USER_DMA_MAP, &map, sizeof(map), &fd, fd >= 0);
}

static inline int vfio_client_unmap(struct vfio_client *c, u64 address, u64 size, u32 flags)
{
	const struct vfio_user_dma_unmap unmap = { sizeof(unmap), flags, address, size };

	return vfio_client_call(c, VFIO_USER_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0);
}

static inline int vfio_client_read(struct vfio_client *c, u32 region, u64 offset, void *buf,
				   u32 count)
{
	const struct vfio_user_region_access access = { offset, region, count };
	int error = vfio_client_call(c, VFIO_USER_REGION_READ, &access, sizeof(access), NULL, 0);

	if (error)
		return error;
	if (c->size != sizeof(access) + count || memcmp(c->reply, &access, sizeof(access)))
		return -EBADMSG;
	memcpy(buf, c->reply + sizeof(access), count);
	return 0;
}

static inline int vfio_client_write(struct vfio_client *c, u32 region, u64 offset, const void *buf,
				    u32 count)
{
	u8 message[64 + 4096];
	const struct vfio_user_region_access access = { offset, region, count };

	memcpy(message, &access, sizeof(access));
	memcpy(message + sizeof(access), buf, count);
	return vfio_client_call(c, VFIO_USER_REGION_WRITE, message, sizeof(access) + count, NULL,
				0);
}

static inline int vfio_client_set_irqs(struct vfio_client *c, u32 flags, u32 index, u32 start,
				       u32 count, const int *fd, u32 fds)
{
	const struct vfio_irq_set set = { sizeof(set), flags, index, start, count };

	return vfio_client_call(c, VFIO_USER_DEVICE_SET_IRQS, &set, sizeof(set), fd, fds);
}

#endif /* VFIO_CLIENT_H */
