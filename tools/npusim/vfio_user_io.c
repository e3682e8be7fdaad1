// SPDX-License-Identifier: MIT
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "vfio_user_io.h"

/* How long a peer may leave an answer unread. */
#define SEND_TIMEOUT_MS 10000

void vfio_user_fds_close(struct vfio_user_fds *fds)
{
	while (fds->count) {
		int fd = fds->fd[--fds->count];

		if (fd >= 0)
			close(fd);
	}
}

int vfio_user_fds_take(struct vfio_user_fds *fds, u32 index)
{
	int fd;

	if (index >= fds->count)
		return -1;
	fd = fds->fd[index];
	fds->fd[index] = -1;
	return fd;
}

static void keep(struct vfio_user_fds *fds, int fd)
{
	if (fds->count < VFIO_USER_MAX_FDS)
		fds->fd[fds->count++] = fd;
	else
		close(fd);
}

static void take_files(struct msghdr *message, struct vfio_user_fds *fds)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		size_t i, count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			keep(fds, fd);
		}
	}
}

ssize_t vfio_user_io_read(int socket, void *buf, size_t len, struct vfio_user_fds *fds)
{
	char control[CMSG_SPACE(VFIO_USER_MAX_FDS * sizeof(int))]
		__attribute__((aligned(sizeof(struct cmsghdr))));
	struct iovec iov = { buf, len };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got;

	do {
		got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	take_files(&message, fds);
	return got;
}

static int wait_writable(int socket)
{
	struct pollfd p = { .fd = socket, .events = POLLOUT };
	int n;

	do {
		n = poll(&p, 1, SEND_TIMEOUT_MS);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

/* Leave out what has been sent. */
static void advance(struct msghdr *message, size_t sent)
{
	while (message->msg_iovlen && sent >= message->msg_iov->iov_len) {
		sent -= message->msg_iov->iov_len;
		message->msg_iov++;
		message->msg_iovlen--;
	}
	if (message->msg_iovlen) {
		message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + sent;
		message->msg_iov->iov_len -= sent;
	}
	/* The file went with the first bytes. */
	message->msg_control = NULL;
	message->msg_controllen = 0;
}

static void attach(struct msghdr *message, char *control, size_t size, int fd)
{
	struct cmsghdr *c;

	message->msg_control = control;
	message->msg_controllen = size;
	c = CMSG_FIRSTHDR(message);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
}

int vfio_user_io_send(int socket, const struct vfio_user_header *header, const void *data,
		      size_t len, int fd)
{
	char control[CMSG_SPACE(sizeof(int))]
		__attribute__((aligned(sizeof(struct cmsghdr)))) = { 0 };
	struct iovec iov[2] = { { (void *)header, sizeof(*header) }, { (void *)data, len } };
	struct msghdr message = { .msg_iov = iov, .msg_iovlen = len ? 2 : 1 };
	int error;

	if (fd >= 0)
		attach(&message, control, sizeof(control), fd);
	while (message.msg_iovlen) {
		ssize_t sent = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent >= 0) {
			advance(&message, (size_t)sent);
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			error = wait_writable(socket);
			if (error)
				return error;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}
