// SPDX-License-Identifier: MIT
#include <poll.h>

#include "vfio_user_io.h"
#include "vfio_user_twin.h"

#define REPLY_TIMEOUT_MS 2000

static bool wait_readable(int socket)
{
	struct pollfd p = { .fd = socket, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, REPLY_TIMEOUT_MS);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

/* All of @len bytes. */
static bool receive(int socket, void *buf, size_t len)
{
	struct vfio_user_fds fds = { .count = 0 };
	u8 *to = buf;

	while (len) {
		ssize_t got = vfio_user_io_read(socket, to, len, &fds);

		vfio_user_fds_close(&fds);
		if (got == -EAGAIN) {
			if (!wait_readable(socket))
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

/* Is it the answer to @sent, with @payload bytes behind its fixed part? */
static bool answers(const struct vfio_user_header *sent, const struct vfio_user_header *reply,
		    size_t payload)
{
	return reply->id == sent->id && reply->command == sent->command &&
	       (reply->flags & VFIO_USER_TYPE_MASK) == VFIO_USER_TYPE_REPLY &&
	       !(reply->flags & VFIO_USER_ERROR) &&
	       reply->size == sizeof(*reply) + sizeof(struct vfio_user_dma_access) + payload;
}

static bool read_piece(int socket, u64 address, u8 *buf, u32 count)
{
	struct vfio_user_header header = { .command = VFIO_USER_DMA_READ }, reply;
	struct vfio_user_dma_access access = { address, count };

	header.size = sizeof(header) + sizeof(access);
	return !vfio_user_io_send(socket, &header, &access, sizeof(access), -1) &&
	       receive(socket, &reply, sizeof(reply)) && answers(&header, &reply, count) &&
	       receive(socket, &access, sizeof(access)) && access.address == address &&
	       access.count == count && receive(socket, buf, count);
}

static bool write_piece(int socket, u64 address, const u8 *buf, u32 count)
{
	struct vfio_user_header header = { .command = VFIO_USER_DMA_WRITE }, reply;
	struct {
		struct vfio_user_dma_access access;
		u8 data[VFIO_USER_MAX_TRANSFER];
	} message = { .access = { address, count } };

	memcpy(message.data, buf, count);
	header.size = (u32)(sizeof(header) + sizeof(message.access) + count);
	return !vfio_user_io_send(socket, &header, &message, sizeof(message.access) + count, -1) &&
	       receive(socket, &reply, sizeof(reply)) && answers(&header, &reply, 0) &&
	       receive(socket, &message.access, sizeof(message.access)) &&
	       message.access.address == address && message.access.count == count;
}

int vfio_user_twin_access(int socket, u32 max_transfer, u64 address, u8 *buf, size_t len,
			  bool write)
{
	if (socket < 0)
		return -EIO;
	while (len) {
		u32 count = (u32)min(len, (size_t)min(max_transfer, VFIO_USER_MAX_TRANSFER));

		if (!(write ? write_piece(socket, address, buf, count)
			    : read_piece(socket, address, buf, count)))
			return -EIO;
		address += count;
		buf += count;
		len -= count;
	}
	return 0;
}
