// SPDX-License-Identifier: MIT
/*
 * A vfio-user peer that sends anything: the server must answer or hang up, and neither crash, nor
 * wait for ever, nor lose a file.  The input is a list of messages, each
 *
 *	command (1), what comes along (1), bytes of payload (2), payload
 *
 * with a header that is made right, or, where the second byte says so, taken from the payload.
 * Registers and configuration space are reached by the messages themselves.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve_device.h"
#include "vfio_user_io.h"

/* Bits of the second byte. */
#define WITH_MEMORY 1u
#define WITH_EVENT 2u
#define WITH_TWO 4u
#define NO_REPLY 8u
#define AS_IT_IS 16u

#define MEMORY_BYTES 0x10000
#define MESSAGES 64

static struct serve_device device;
static int memory = -1, event = -1;

static u32 open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	u32 count = 0;

	if (!files)
		abort();
	while (readdir(files))
		count++;
	closedir(files);
	return count;
}

static void setup(void)
{
	/* What is enabled by chance must end soon. */
	const struct npusim_options options = { .config = nvdla_config_find("nv_small"),
						.max_cycles = 1u << 16 };

	if (device.npu)
		return;
	memory = memfd_create("fuzz", MFD_CLOEXEC);
	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (memory < 0 || event < 0 || ftruncate(memory, MEMORY_BYTES) ||
	    vfio_user_dma_catch_faults() || serve_device_init(&device, &options, true))
		abort();
}

/* Read and drop what the server says. */
static void drain(int fd)
{
	static u8 buf[1 << 18];
	struct vfio_user_fds fds = { .count = 0 };

	while (vfio_user_io_read(fd, buf, sizeof(buf), &fds) > 0)
		vfio_user_fds_close(&fds);
	vfio_user_fds_close(&fds);
}

static void send_message(int fd, const struct vfio_user_header *header, const u8 *payload,
			 size_t size, u32 along)
{
	char control[CMSG_SPACE(2 * sizeof(int))]
		__attribute__((aligned(sizeof(struct cmsghdr)))) = { 0 };
	struct iovec iov[2] = { { (void *)header, header ? sizeof(*header) : 0 },
				{ (void *)payload, size } };
	struct msghdr message = { .msg_iov = iov, .msg_iovlen = 2 };
	int files[2] = { along & WITH_MEMORY ? memory : event,
			 along & WITH_EVENT ? event : memory };
	u32 count = along & WITH_TWO ? 2 : !!(along & (WITH_MEMORY | WITH_EVENT));

	if (count) {
		struct cmsghdr *c;

		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), files, count * sizeof(int));
	}
	sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* One message of the input; returns the bytes that it took. */
static size_t one_message(int fd, const u8 *data, size_t size)
{
	struct vfio_user_header header = { .id = 1, .command = data[0] };
	u32 along = data[1];
	size_t len = min((size_t)(data[2] | data[3] << 8), size - 4);

	header.size = (u32)(sizeof(header) + len);
	header.flags = along & NO_REPLY ? VFIO_USER_NO_REPLY : 0;
	send_message(fd, along & AS_IT_IS ? NULL : &header, data + 4, len, along);
	return 4 + len;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct vfio_user_peer *peer;
	u32 before, messages;
	int pair[2];

	setup();
	before = open_files();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		abort();
	peer = vfio_user_open(pair[1], &serve_device_ops, &device);
	if (!peer)
		abort();
	for (messages = 0; size >= 4 && messages < MESSAGES; messages++) {
		size_t taken = one_message(pair[0], data, size);

		data += taken;
		size -= taken;
		if (vfio_user_receive(peer))
			break;
		drain(pair[0]);
	}
	close(pair[0]);
	vfio_user_close(peer);
	serve_device_disconnect(&device);
	/* The next one finds the device as this one did. */
	serve_device_fault(&device, NVDLA_PCI_FAULT_NONE, 0);
	serve_device_reset(&device);
	if (open_files() != before)
		abort();
	return 0;
}
