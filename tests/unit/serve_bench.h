/* SPDX-License-Identifier: MIT */
/*
 * A served device and a client with memory that it may access, for the tests of both.  The server
 * has a thread of its own.
 */
#ifndef SERVE_BENCH_H
#define SERVE_BENCH_H

#include <endian.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>

#include <linux/pci_regs.h>

#include <cmocka.h>

#include "serve_control.h"
#include "../common/vfio_client.h"

#define BENCH_RW (VFIO_USER_DMA_READABLE | VFIO_USER_DMA_WRITABLE)
#define BENCH_BASE 0x80000000u /* device address of the memory */
#define BENCH_BYTES (64u << 20)

/**
 * struct bench - both ends
 * @result: what ended the server's thread
 * @memory: BENCH_BYTES of the client at device address BENCH_BASE
 * @batch: the batch window, mapped
 * @event: eventfd of the interrupt
 */
struct bench {
	struct serve_device device;
	struct vfio_user_peer *peer;
	int peer_fd;
	pthread_t thread;
	int result;

	struct vfio_client client;
	int memory_fd;
	u8 *memory;
	struct nvdla_pci_pair *batch;
	int event;
};

static inline void *bench_serve(void *context)
{
	struct bench *b = context;
	struct pollfd p[2] = { { .fd = b->peer_fd, .events = POLLIN },
			       { .fd = b->device.irq.timer, .events = POLLIN } };

	do {
		poll(p, 2, -1);
		if (p[1].revents)
			serve_irq_timer(&b->device.irq);
		b->result = p[0].revents ? vfio_user_receive(b->peer) : 0;
	} while (!b->result);
	/* As the server does it: the other end learns that this one is gone. */
	vfio_user_close(b->peer);
	serve_device_disconnect(&b->device);
	return NULL;
}

static inline void bench_connect(struct bench *b)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	b->client.socket = pair[0];
	b->peer_fd = pair[1];
	b->peer = vfio_user_open(pair[1], &serve_device_ops, &b->device);
	assert_non_null(b->peer);
	assert_int_equal(pthread_create(&b->thread, NULL, bench_serve, b), 0);
}

/* The server's thread ends since the client goes; returns what it says. */
static inline int bench_disconnect(struct bench *b)
{
	vfio_user_fds_close(&b->client.fds);
	close(b->client.socket);
	pthread_join(b->thread, NULL);
	return b->result;
}

/* A device that nobody has talked to yet. */
static inline struct bench *bench_open_raw(const char *config, bool msix)
{
	const struct npusim_options options = { .config = nvdla_config_find(config) };
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	assert_non_null(options.config);
	assert_int_equal(vfio_user_dma_catch_faults(), 0);
	assert_int_equal(serve_device_init(&b->device, &options, msix), 0);
	b->memory_fd = -1;
	b->event = -1;
	bench_connect(b);
	return b;
}

static inline u32 bench_read(struct bench *b, u32 region, u32 offset)
{
	u32 value = 0;

	assert_int_equal(vfio_client_read(&b->client, region, offset, &value, sizeof(value)), 0);
	return le32toh(value);
}

static inline void bench_write(struct bench *b, u32 region, u32 offset, u32 value)
{
	value = htole32(value);
	assert_int_equal(vfio_client_write(&b->client, region, offset, &value, sizeof(value)), 0);
}

#define bench_reg(b, reg) bench_read(b, VFIO_PCI_BAR0_REGION_INDEX, reg)
#define bench_set_reg(b, reg, value) bench_write(b, VFIO_PCI_BAR0_REGION_INDEX, reg, value)
#define bench_ctrl(b, reg) bench_read(b, VFIO_PCI_BAR2_REGION_INDEX, NVDLA_PCI_CTRL_##reg)
#define bench_set_ctrl(b, reg, value) \
	bench_write(b, VFIO_PCI_BAR2_REGION_INDEX, NVDLA_PCI_CTRL_##reg, value)

static inline u32 bench_config16(struct bench *b, u32 offset)
{
	u16 value = 0;

	assert_int_equal(vfio_client_read(&b->client, VFIO_PCI_CONFIG_REGION_INDEX, offset, &value,
					  sizeof(value)),
			 0);
	return le16toh(value);
}

static inline void bench_set_config16(struct bench *b, u32 offset, u32 value)
{
	u16 half = htole16((u16)value);

	assert_int_equal(vfio_client_write(&b->client, VFIO_PCI_CONFIG_REGION_INDEX, offset, &half,
					   sizeof(half)),
			 0);
}

/* The offset of a capability; 0: there is none. */
static inline u32 bench_capability(struct bench *b, u32 id)
{
	u32 at = bench_config16(b, PCI_CAPABILITY_LIST) & 0xff, n;

	for (n = 0; at && n < 16; n++) {
		u32 head = bench_config16(b, at);

		if ((head & 0xff) == id)
			return at;
		at = head >> 8;
	}
	return 0;
}

static inline void bench_map_batch(struct bench *b)
{
	struct vfio_region_info info = { sizeof(info), .index = VFIO_PCI_BAR4_REGION_INDEX };

	assert_int_equal(vfio_client_call(&b->client, VFIO_USER_DEVICE_GET_REGION_INFO, &info,
					  sizeof(info), NULL, 0),
			 0);
	assert_int_equal(b->client.fds.count, 1);
	b->batch = mmap(NULL, NVDLA_PCI_BATCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			b->client.fds.fd[0], 0);
	assert_ptr_not_equal(b->batch, MAP_FAILED);
}

static inline void bench_make_memory(struct bench *b)
{
	b->memory_fd = memfd_create("guest", MFD_CLOEXEC);
	assert_true(b->memory_fd >= 0);
	assert_int_equal(ftruncate(b->memory_fd, BENCH_BYTES), 0);
	b->memory = mmap(NULL, BENCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, b->memory_fd, 0);
	assert_ptr_not_equal(b->memory, MAP_FAILED);
}

static inline void bench_connect_irq(struct bench *b, u32 index)
{
	b->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	assert_true(b->event >= 0);
	assert_int_equal(vfio_client_set_irqs(&b->client,
					      VFIO_IRQ_SET_DATA_EVENTFD |
						      VFIO_IRQ_SET_ACTION_TRIGGER,
					      index, 0, 1, &b->event, 1),
			 0);
}

/* Ready to work: version, memory, interrupt, batch window, bus master. */
static inline struct bench *bench_open(const char *config)
{
	struct bench *b = bench_open_raw(config, false);

	assert_int_equal(vfio_client_version(&b->client, 0, "{\"capabilities\":{}}"), 0);
	bench_make_memory(b);
	assert_int_equal(
		vfio_client_map(&b->client, BENCH_BASE, BENCH_BYTES, 0, BENCH_RW, b->memory_fd), 0);
	bench_connect_irq(b, VFIO_PCI_MSI_IRQ_INDEX);
	bench_map_batch(b);
	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	return b;
}

static inline void bench_free(struct bench *b)
{
	serve_device_fini(&b->device);
	if (b->batch)
		munmap(b->batch, NVDLA_PCI_BATCH_BYTES);
	if (b->memory)
		munmap(b->memory, BENCH_BYTES);
	if (b->memory_fd >= 0)
		close(b->memory_fd);
	if (b->event >= 0)
		close(b->event);
	free(b);
}

static inline void bench_close(struct bench *b)
{
	assert_int_equal(bench_disconnect(b), 1);
	bench_free(b);
}

/* Messages that came within @milliseconds, or at once those that have come already. */
static inline u64 bench_interrupts(struct bench *b, int milliseconds)
{
	struct pollfd p = { .fd = b->event, .events = POLLIN };
	u64 count;

	if (poll(&p, 1, milliseconds) <= 0)
		return 0;
	return read(b->event, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static inline u64 bench_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

#endif /* SERVE_BENCH_H */
