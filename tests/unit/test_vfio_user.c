// SPDX-License-Identifier: MIT
/*
 * The vfio-user server as a client sees it that is not QEMU: negotiation, what the device says of
 * itself, its memory, and messages that make no sense.
 */
#include <dirent.h>
#include <fcntl.h>

#include "serve_bench.h"

#define SIMPLE "{\"capabilities\":{\"max_msg_fds\":8,\"pgsizes\":4096}}"

/* ---- negotiation ---------------------------------------------------------------------- */

static void test_version(void **state)
{
	struct bench *b = bench_open_raw("nv_small", false);
	const char *text = (const char *)b->client.reply + sizeof(struct vfio_user_version);
	u32 argsz[4] = { 16 };

	/* Nothing else before it. */
	assert_int_equal(vfio_client_call(&b->client, VFIO_USER_DEVICE_GET_INFO, argsz,
					  sizeof(argsz), NULL, 0),
			 -EPROTO);
	assert_int_equal(vfio_client_version(&b->client, 1, SIMPLE), -EINVAL);
	assert_int_equal(vfio_client_version(&b->client, 0, "no JSON"), -EINVAL);
	assert_int_equal(vfio_client_version(&b->client, 0,
					     "{\"capabilities\":{\"max_data_xfer_size\":0}}"),
			 -EINVAL);
	assert_int_equal(vfio_client_version(&b->client, 0, SIMPLE), 0);
	assert_int_equal(b->client.reply[b->client.size - 1], 0);
	assert_non_null(strstr(text, "\"max_data_xfer_size\":65536"));
	assert_non_null(strstr(text, "\"pgsizes\":4096"));
	assert_null(strstr(text, "twin"));
	/* Once is enough. */
	assert_int_equal(vfio_client_version(&b->client, 0, SIMPLE), -EINVAL);
	bench_close(b);
}

/* The text is optional, and capabilities that are no object say nothing. */
static void test_version_without_text(void **state)
{
	const struct vfio_user_version version = { 0, 7 };
	struct bench *b = bench_open_raw("nv_small", false);

	assert_int_equal(vfio_client_call(&b->client, VFIO_USER_VERSION, &version, sizeof(version),
					  NULL, 0),
			 0);
	assert_int_equal(((struct vfio_user_version *)b->client.reply)->minor, 0);
	bench_disconnect(b);
	bench_connect(b);
	assert_int_equal(vfio_client_version(&b->client, 0, "{\"capabilities\":[1,2]}"), 0);
	bench_close(b);
}

static struct bench *open_simple(bool msix)
{
	struct bench *b = bench_open_raw("nv_small", msix);

	assert_int_equal(vfio_client_version(&b->client, 0, SIMPLE), 0);
	return b;
}

/* ---- what there is ---------------------------------------------------------------------- */

static void test_device_info(void **state)
{
	struct bench *b = open_simple(false);
	u32 info[4] = { 16 };

	assert_int_equal(vfio_client_call(&b->client, VFIO_USER_DEVICE_GET_INFO, info, 16, NULL, 0),
			 0);
	memcpy(info, b->client.reply, sizeof(info));
	assert_int_equal(info[1], VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI);
	assert_int_equal(info[2], VFIO_PCI_NUM_REGIONS);
	assert_int_equal(info[3], VFIO_PCI_NUM_IRQS);
	info[0] = 15;
	assert_int_equal(vfio_client_call(&b->client, VFIO_USER_DEVICE_GET_INFO, info, 16, NULL, 0),
			 -EINVAL);
	bench_close(b);
}

static int region_info(struct bench *b, u32 index, struct vfio_region_info *info)
{
	struct vfio_region_info ask = { sizeof(ask), .index = index };
	int error = vfio_client_call(&b->client, VFIO_USER_DEVICE_GET_REGION_INFO, &ask,
				     sizeof(ask), NULL, 0);

	if (!error)
		memcpy(info, b->client.reply, sizeof(*info));
	return error;
}

static void test_regions(void **state)
{
	static const u64 size[VFIO_PCI_NUM_REGIONS] = {
		[NVDLA_PCI_BAR_REGS] = 0x10000,	       [NVDLA_PCI_BAR_MSIX] = 0x1000,
		[NVDLA_PCI_BAR_CTRL] = 0x1000,	       [NVDLA_PCI_BAR_BATCH] = 0x10000,
		[VFIO_PCI_CONFIG_REGION_INDEX] = 4096,
	};
	struct vfio_region_info info;
	u32 msix, i;

	for (msix = 0; msix < 2; msix++) {
		struct bench *b = open_simple(msix);

		for (i = 0; i < VFIO_PCI_NUM_REGIONS; i++) {
			bool mapped = i == NVDLA_PCI_BAR_BATCH;

			assert_int_equal(region_info(b, i, &info), 0);
			assert_int_equal(info.size, i == NVDLA_PCI_BAR_MSIX && !msix ? 0 : size[i]);
			assert_int_equal(!!(info.flags & VFIO_REGION_INFO_FLAG_MMAP), mapped);
			assert_int_equal(b->client.fds.count, mapped);
			assert_int_equal(!!(info.flags & VFIO_REGION_INFO_FLAG_READ), !!info.size);
		}
		assert_int_equal(region_info(b, i, &info), -EINVAL);
		bench_close(b);
	}
}

static u32 irq_count(struct bench *b, u32 index)
{
	struct vfio_irq_info info = { sizeof(info), .index = index };

	assert_int_equal(vfio_client_call(&b->client, VFIO_USER_DEVICE_GET_IRQ_INFO, &info,
					  sizeof(info), NULL, 0),
			 0);
	memcpy(&info, b->client.reply, sizeof(info));
	return info.count;
}

/* Trigger the one MSI-X interrupt if @chosen, a byte, says so; NULL: the byte is missing. */
static int trigger_chosen(struct vfio_client *c, const char *chosen)
{
	const size_t fixed = offsetof(struct vfio_irq_set, data);
	const struct vfio_irq_set set = { (u32)fixed + 1,
					  VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER,
					  VFIO_PCI_MSIX_IRQ_INDEX, 0, 1 };
	u8 message[sizeof(set) + 1];

	memcpy(message, &set, fixed);
	if (chosen)
		message[fixed] = (u8)chosen[0];
	return vfio_client_call(c, VFIO_USER_DEVICE_SET_IRQS, message, fixed + !!chosen, NULL, 0);
}

static void test_irqs(void **state)
{
	const u32 by_event = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
	const u32 none = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER;
	struct bench *b = open_simple(true);
	struct vfio_client *c = &b->client;
	int two[2];

	assert_int_equal(irq_count(b, VFIO_PCI_INTX_IRQ_INDEX), 0);
	assert_int_equal(irq_count(b, VFIO_PCI_MSI_IRQ_INDEX), 1);
	assert_int_equal(irq_count(b, VFIO_PCI_MSIX_IRQ_INDEX), 1);
	assert_int_equal(irq_count(b, VFIO_PCI_ERR_IRQ_INDEX), 0);

	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MASTER);
	bench_connect_irq(b, VFIO_PCI_MSIX_IRQ_INDEX);
	assert_int_equal(vfio_client_set_irqs(c, none, VFIO_PCI_MSIX_IRQ_INDEX, 0, 1, NULL, 0), 0);
	assert_int_equal(bench_interrupts(b, 1000), 1);
	/* A list of bytes says which: without it, with a zero, with a one. */
	assert_int_equal(trigger_chosen(c, NULL), -EINVAL);
	assert_int_equal(trigger_chosen(c, "\0"), 0);
	assert_int_equal(bench_interrupts(b, 50), 0);
	assert_int_equal(trigger_chosen(c, "\1"), 0);
	assert_int_equal(bench_interrupts(b, 1000), 1);
	/* No count: all of them go nowhere. */
	assert_int_equal(vfio_client_set_irqs(c, none, VFIO_PCI_MSIX_IRQ_INDEX, 0, 0, NULL, 0), 0);
	assert_int_equal(vfio_client_set_irqs(c, none, VFIO_PCI_MSIX_IRQ_INDEX, 0, 1, NULL, 0), 0);
	assert_int_equal(bench_interrupts(b, 50), 0);

	two[0] = two[1] = b->event;
	assert_int_equal(vfio_client_set_irqs(c, by_event, 0, 0, 1, two, 1), -EINVAL);
	assert_int_equal(vfio_client_set_irqs(c, by_event, 1, 1, 1, two, 1), -EINVAL);
	assert_int_equal(vfio_client_set_irqs(c, by_event, 1, 0, 2, two, 2), -EINVAL);
	assert_int_equal(vfio_client_set_irqs(c, by_event, 1, 0, 1, two, 2), -EINVAL);
	assert_int_equal(vfio_client_set_irqs(c, by_event, 1, 0, UINT32_MAX, two, 2), -EINVAL);
	assert_int_equal(vfio_client_set_irqs(c, by_event, 5, 0, 1, two, 1), -EINVAL);
	assert_int_equal(vfio_client_set_irqs(c, by_event | 0x100, 1, 0, 1, two, 1), -EINVAL);
	assert_int_equal(vfio_client_set_irqs(c,
					      VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_MASK,
					      1, 0, 1, two, 1),
			 -EINVAL);
	assert_int_equal(vfio_client_set_irqs(c, none, 1, 1, 0, NULL, 0), -EINVAL);
	bench_close(b);
}

static void test_config_space(void **state)
{
	struct bench *b = open_simple(true);
	u32 region = VFIO_PCI_CONFIG_REGION_INDEX, msi, bar;

	assert_int_equal(bench_read(b, region, PCI_VENDOR_ID), 0x10f01af4);
	assert_int_equal(bench_read(b, region, PCI_CLASS_REVISION), 0x12000001);
	assert_int_equal(bench_read(b, region, PCI_SUBSYSTEM_VENDOR_ID), 0x00011af4);
	/* Sizes of the BARs by writing ones. */
	for (bar = 0; bar < 6; bar++)
		bench_write(b, region, PCI_BASE_ADDRESS_0 + 4 * bar, UINT32_MAX);
	assert_int_equal(bench_read(b, region, PCI_BASE_ADDRESS_0), 0xffff0000);
	assert_int_equal(bench_read(b, region, PCI_BASE_ADDRESS_1), 0xfffff000);
	assert_int_equal(bench_read(b, region, PCI_BASE_ADDRESS_2), 0xfffff000);
	assert_int_equal(bench_read(b, region, PCI_BASE_ADDRESS_3), 0);
	assert_int_equal(bench_read(b, region, PCI_BASE_ADDRESS_4), 0xffff0000);
	assert_int_equal(bench_read(b, region, PCI_BASE_ADDRESS_5), 0);
	/* Identity is not to be written, the command register only in part. */
	bench_write(b, region, PCI_VENDOR_ID, 0);
	assert_int_equal(bench_read(b, region, PCI_VENDOR_ID), 0x10f01af4);
	bench_set_config16(b, PCI_COMMAND, 0xffff);
	assert_int_equal(bench_config16(b, PCI_COMMAND), 0x0546);

	assert_true(bench_capability(b, PCI_CAP_ID_PM));
	assert_true(bench_capability(b, PCI_CAP_ID_EXP));
	assert_true(bench_capability(b, PCI_CAP_ID_MSIX));
	msi = bench_capability(b, PCI_CAP_ID_MSI);
	assert_true(msi);
	assert_int_equal(bench_config16(b, msi + PCI_MSI_FLAGS), PCI_MSI_FLAGS_64BIT);
	/* Beyond its end. */
	assert_int_equal(vfio_client_read(&b->client, region, 4095, &bar, 2), -EINVAL);
	assert_int_equal(vfio_client_read(&b->client, region, UINT64_MAX, &bar, 2), -EINVAL);
	bench_close(b);
	b = open_simple(false);
	assert_false(bench_capability(b, PCI_CAP_ID_MSIX));
	bench_close(b);
}

/* What is in memory is not forgotten between connections, and no rule of registers holds there. */
static void test_msix_memory(void **state)
{
	struct bench *b = open_simple(true);
	u8 byte = 0x5a;

	assert_int_equal(vfio_client_write(&b->client, NVDLA_PCI_BAR_MSIX, 7, &byte, 1), 0);
	byte = 0;
	assert_int_equal(vfio_client_read(&b->client, NVDLA_PCI_BAR_MSIX, 7, &byte, 1), 0);
	assert_int_equal(byte, 0x5a);
	bench_close(b);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Mappings are tried through the device's own DMA. */
static int dma(struct bench *b, u64 address, size_t len, bool write)
{
	static u8 buf[1 << 20];

	memset(buf, 0xe7, len);
	return write ? vfio_user_dma_write(b->device.dma, address, buf, len)
		     : vfio_user_dma_read(b->device.dma, address, buf, len);
}

static struct bench *open_memory(void)
{
	struct bench *b = open_simple(false);

	bench_make_memory(b);
	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MASTER);
	return b;
}

static void test_bounds(void **state)
{
	struct bench *b = open_memory();
	struct vfio_client *c = &b->client;
	const u64 at = 0x100000;

	assert_int_equal(vfio_client_map(c, at, 0x2000, 0x3000, BENCH_RW, b->memory_fd), 0);
	assert_int_equal(dma(b, at, 0x2000, false), 0);
	assert_int_equal(dma(b, at + 0x1fff, 1, true), 0);
	assert_int_equal(b->memory[0x4fff], 0xe7);
	assert_int_equal(b->memory[0x5000], 0);
	assert_int_equal(dma(b, at - 1, 1, false), -EFAULT);
	assert_int_equal(dma(b, at - 1, 2, false), -EFAULT);
	assert_int_equal(dma(b, at + 0x2000, 1, false), -EFAULT);
	assert_int_equal(dma(b, at + 0x1fff, 2, true), -EFAULT);
	assert_int_equal(dma(b, UINT64_MAX, 2, true), -EFAULT);
	/* The next range follows at once, in another place of the file, and cannot be written. */
	assert_int_equal(vfio_client_map(c, at + 0x2000, 0x1000, 0, VFIO_USER_DMA_READABLE,
					 b->memory_fd),
			 0);
	b->memory[0] = 0x77;
	assert_int_equal(dma(b, at + 0x1fff, 2, false), 0);
	assert_int_equal(dma(b, at + 0x1fff, 2, true), -EFAULT);
	assert_int_equal(b->memory[0], 0x77);
	assert_int_equal(dma(b, at, 0x3000, false), 0);
	assert_int_equal(dma(b, at, 0x3001, false), -EFAULT);
	bench_close(b);
}

static void test_overlap(void **state)
{
	struct bench *b = open_memory();
	struct vfio_client *c = &b->client;
	const u64 at = 0x100000;

	assert_int_equal(vfio_client_map(c, at, 0x4000, 0, BENCH_RW, b->memory_fd), 0);
	assert_int_equal(vfio_client_map(c, at, 0x4000, 0, BENCH_RW, b->memory_fd), -EEXIST);
	assert_int_equal(vfio_client_map(c, at + 0x1000, 0x1000, 0, BENCH_RW, b->memory_fd),
			 -EEXIST);
	assert_int_equal(vfio_client_map(c, at - 0x1000, 0x2000, 0, BENCH_RW, b->memory_fd),
			 -EEXIST);
	assert_int_equal(vfio_client_map(c, at + 0x3000, 0x2000, 0, BENCH_RW, b->memory_fd),
			 -EEXIST);
	assert_int_equal(vfio_client_map(c, at - 0x1000, 0x1000, 0, BENCH_RW, b->memory_fd), 0);
	assert_int_equal(vfio_client_map(c, at + 0x4000, 0x1000, 0, BENCH_RW, b->memory_fd), 0);
	/* No range is cut in two. */
	assert_int_equal(vfio_client_unmap(c, at, 0x3000, 0), -EINVAL);
	assert_int_equal(vfio_client_unmap(c, at + 0x1000, 0x3000, 0), -EINVAL);
	assert_int_equal(dma(b, at, 0x4000, true), 0);
	assert_int_equal(vfio_client_unmap(c, at, 0x4000, 0), 0);
	assert_int_equal(dma(b, at, 1, true), -EFAULT);
	assert_int_equal(dma(b, at - 0x1000, 0x1000, true), 0);
	assert_int_equal(dma(b, at + 0x4000, 0x1000, true), 0);
	/* Several, none, all. */
	assert_int_equal(vfio_client_unmap(c, 0, 0x200000, 0), 0);
	assert_int_equal(dma(b, at - 0x1000, 1, true), -EFAULT);
	assert_int_equal(vfio_client_unmap(c, 0, 0x200000, 0), 0);
	assert_int_equal(vfio_client_map(c, at, 0x1000, 0, BENCH_RW, b->memory_fd), 0);
	assert_int_equal(vfio_client_unmap(c, 0, 0, VFIO_DMA_UNMAP_FLAG_ALL), 0);
	assert_int_equal(dma(b, at, 1, true), -EFAULT);
	assert_int_equal(vfio_client_unmap(c, 0, 0, 0), -EINVAL);
	assert_int_equal(vfio_client_unmap(c, UINT64_MAX - 4095, 8192, 0), -EINVAL);
	assert_int_equal(vfio_client_unmap(c, 0, 0, 0x80), -EINVAL);
	bench_close(b);
}

static void test_bad_maps(void **state)
{
	struct bench *b = open_memory();
	struct vfio_client *c = &b->client;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd[2] = { b->memory_fd, b->memory_fd };
	int readable = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct vfio_user_dma_map map = { sizeof(map), BENCH_RW, 0, 0, 0x1000 };

	assert_int_equal(vfio_client_map(c, 0, 0, 0, BENCH_RW, b->memory_fd), -EINVAL);
	assert_int_equal(vfio_client_map(c, 0, 0x1001, 0, BENCH_RW, b->memory_fd), -EINVAL);
	assert_int_equal(vfio_client_map(c, 1, 0x1000, 0, BENCH_RW, b->memory_fd), -EINVAL);
	assert_int_equal(vfio_client_map(c, 0, 0x1000, 1, BENCH_RW, b->memory_fd), -EINVAL);
	assert_int_equal(vfio_client_map(c, 0, 0x1000, 0, 0x10, b->memory_fd), -EINVAL);
	assert_int_equal(vfio_client_map(c, UINT64_MAX - 4095, 0x2000, 0, BENCH_RW, b->memory_fd),
			 -EINVAL);
	/* A file that is too short, no file of memory, one that is for reading only, and none. */
	assert_int_equal(vfio_client_map(c, 0, BENCH_BYTES + 0x1000, 0, BENCH_RW, b->memory_fd),
			 -EINVAL);
	assert_int_equal(vfio_client_map(c, 0, 0x1000, BENCH_BYTES, BENCH_RW, b->memory_fd),
			 -EINVAL);
	assert_int_equal(vfio_client_map(c, 0, 0x1000, ~0xfffull, BENCH_RW, b->memory_fd), -EINVAL);
	assert_int_equal(vfio_client_map(c, 0, 0x1000, 0, BENCH_RW, null), -EINVAL);
	assert_int_equal(vfio_client_map(c, 0, 0x1000, 0, BENCH_RW, readable), -EACCES);
	assert_int_equal(vfio_client_map(c, 0, 0x1000, 0, BENCH_RW | VFIO_USER_DMA_BY_MMAP, -1),
			 -EINVAL);
	assert_int_equal(vfio_client_call(c, VFIO_USER_DMA_MAP, &map, sizeof(map), fd, 2), -EINVAL);
	assert_int_equal(dma(b, 0, 1, false), -EFAULT);
	/* The top of all addresses is one like others. */
	assert_int_equal(vfio_client_map(c, ~0xfffull, 0x1000, 0, BENCH_RW, b->memory_fd), 0);
	assert_int_equal(dma(b, UINT64_MAX, 1, true), 0);
	assert_int_equal(vfio_client_unmap(c, ~0xfffull, 0x1000, 0), 0);
	close(null);
	close(readable);
	bench_close(b);
}

/* Behind an IOMMU each page may be a range of its own. */
static void test_many_maps(void **state)
{
	const u32 pages = 4000;
	struct bench *b = open_memory();
	u32 i;

	for (i = 0; i < pages; i++) {
		/* Out of order, and each to another place. */
		u32 page = i * 1237 % pages;

		assert_int_equal(vfio_client_map(&b->client, 0x10000000 + page * 4096ull, 0x1000,
						 (pages - 1 - page) * 4096ull, BENCH_RW,
						 b->memory_fd),
				 0);
		b->memory[(pages - 1 - page) * 4096u + 4095] = (u8)page;
	}
	assert_int_equal(dma(b, 0x10000000, 1 << 20, false), 0);
	for (i = 0; i < pages; i++) {
		u8 byte;

		assert_int_equal(
			vfio_user_dma_read(b->device.dma, 0x10000fff + i * 4096ull, &byte, 1), 0);
		assert_int_equal(byte, i & 0xff);
	}
	for (i = 0; i < pages; i += 2)
		assert_int_equal(vfio_client_unmap(&b->client, 0x10000000 + i * 4096ull, 0x1000, 0),
				 0);
	assert_int_equal(dma(b, 0x10000000, 1, false), -EFAULT);
	assert_int_equal(dma(b, 0x10001000, 0x1000, false), 0);
	assert_int_equal(dma(b, 0x10001000, 0x1001, false), -EFAULT);
	bench_close(b);
}

/* A file that shrinks under us costs its owner the data, not us the life. */
static void test_shrunk_file(void **state)
{
	struct bench *b = open_memory();

	assert_int_equal(vfio_client_map(&b->client, 0, 0x10000, 0, BENCH_RW, b->memory_fd), 0);
	assert_int_equal(dma(b, 0x8000, 16, true), 0);
	assert_int_equal(ftruncate(b->memory_fd, 0x8000), 0);
	assert_int_equal(dma(b, 0x8000, 16, true), -EIO);
	assert_int_equal(dma(b, 0x8000, 16, false), -EIO);
	assert_int_equal(dma(b, 0x7ff0, 16, true), 0);
	bench_close(b);
}

static void test_bus_master(void **state)
{
	struct bench *b = open_memory();

	assert_int_equal(vfio_client_map(&b->client, 0, 0x1000, 0, BENCH_RW, b->memory_fd), 0);
	assert_int_equal(dma(b, 0, 16, true), 0);
	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MEMORY);
	assert_int_equal(dma(b, 0, 16, true), -EPERM);
	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MASTER);
	assert_int_equal(dma(b, 0, 16, true), 0);
	bench_close(b);
}

/* ---- memory by messages ----------------------------------------------------------------------- */

/* The client's thread that answers on the twin socket, from @memory; @wrong: with nonsense. */
struct twin {
	int socket;
	u8 memory[0x20000];
	bool wrong;
	u32 served;
};

static void *serve_twin(void *context)
{
	struct twin *t = context;
	struct vfio_user_header header;
	struct vfio_user_dma_access access;
	struct vfio_user_fds fds = { .count = 0 };
	static u8 message[sizeof(access) + VFIO_USER_MAX_TRANSFER];

	while (vfio_client_receive(t->socket, &header, sizeof(header), &fds) &&
	       vfio_client_receive(t->socket, message, header.size - sizeof(header), &fds)) {
		size_t more = 0;

		memcpy(&access, message, sizeof(access));
		if (header.command == VFIO_USER_DMA_WRITE) {
			memcpy(t->memory + access.address, message + sizeof(access), access.count);
		} else {
			memcpy(message + sizeof(access), t->memory + access.address, access.count);
			more = access.count;
		}
		if (t->wrong)
			message[0] ^= 1;
		header.flags = VFIO_USER_TYPE_REPLY;
		header.size = (u32)(sizeof(header) + sizeof(access) + more);
		t->served++;
		vfio_user_io_send(t->socket, &header, message, sizeof(access) + more, -1);
	}
	return NULL;
}

static void test_twin_socket(void **state)
{
	static struct twin twin;
	static u8 data[0x12345], back[0x12345];
	struct bench *b = bench_open_raw("nv_small", false);
	pthread_t thread;
	u32 i;

	assert_int_equal(vfio_client_version(&b->client, 0,
					     "{\"capabilities\":{\"max_data_xfer_size\":4096,"
					     "\"twin_socket\":{\"supported\":true}}}"),
			 0);
	assert_non_null(strstr((char *)b->client.reply + 4,
			       "\"twin_socket\":{\"supported\":true,\"fd_index\":0}"));
	assert_int_equal(b->client.fds.count, 1);
	twin.socket = vfio_user_fds_take(&b->client.fds, 0);
	assert_int_equal(pthread_create(&thread, NULL, serve_twin, &twin), 0);
	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MASTER);
	assert_int_equal(vfio_client_map(&b->client, 0, 0x20000, 0, BENCH_RW, -1), 0);
	for (i = 0; i < sizeof(data); i++)
		data[i] = (u8)(i * 31 + i / 256);
	assert_int_equal(vfio_user_dma_write(b->device.dma, 5, data, sizeof(data)), 0);
	assert_memory_equal(twin.memory + 5, data, sizeof(data));
	assert_int_equal(vfio_user_dma_read(b->device.dma, 5, back, sizeof(back)), 0);
	assert_memory_equal(back, data, sizeof(data));
	/* In pieces of what the client takes. */
	assert_int_equal(twin.served, 2 * DIV_ROUND_UP(sizeof(data), 4096));
	twin.wrong = true;
	assert_int_equal(vfio_user_dma_read(b->device.dma, 0, back, 16), -EIO);
	twin.wrong = false;
	/* Who has answered wrongly is not asked again. */
	assert_int_equal(vfio_user_dma_read(b->device.dma, 0, back, 16), -EIO);
	pthread_join(thread, NULL);
	close(twin.socket);
	bench_close(b);
}

/* Memory without a file and without that socket cannot be reached. */
static void test_no_twin_socket(void **state)
{
	struct bench *b = open_memory();

	assert_int_equal(vfio_client_map(&b->client, 0, 0x1000, 0, BENCH_RW, -1), 0);
	assert_int_equal(dma(b, 0, 1, false), -EIO);
	assert_int_equal(vfio_client_unmap(&b->client, 0, 0x1000, 0), 0);
	assert_int_equal(dma(b, 0, 1, false), -EFAULT);
	bench_close(b);
}

/* ---- messages that make no sense ---------------------------------------------------------------- */

static void test_short_payloads(void **state)
{
	static const u8 zeros[64];
	static const struct {
		u16 command;
		u32 least;
	} commands[] = {
		{ VFIO_USER_DMA_MAP, 32 },
		{ VFIO_USER_DMA_UNMAP, 24 },
		{ VFIO_USER_DEVICE_GET_INFO, 16 },
		{ VFIO_USER_DEVICE_GET_REGION_INFO, 32 },
		{ VFIO_USER_DEVICE_GET_IRQ_INFO, 16 },
		{ VFIO_USER_DEVICE_SET_IRQS, 20 },
		{ VFIO_USER_REGION_READ, 16 },
		{ VFIO_USER_REGION_WRITE, 16 },
	};
	struct bench *b = open_simple(false);
	u32 i, size;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		for (size = 0; size < commands[i].least; size++)
			assert_int_equal(vfio_client_call(&b->client, commands[i].command, zeros,
							  size, NULL, 0),
					 -EINVAL);
	for (i = 0; i < 300; i++) {
		bool known = i == VFIO_USER_VERSION || i == VFIO_USER_DEVICE_RESET;
		u32 n;

		for (n = 0; n < ARRAY_SIZE(commands); n++)
			known |= commands[n].command == i;
		if (!known)
			assert_int_equal(vfio_client_call(&b->client, (u16)i, zeros, sizeof(zeros),
							  NULL, 0),
					 -EOPNOTSUPP);
	}
	bench_close(b);
}

static void test_wrong_accesses(void **state)
{
	struct bench *b = open_simple(false);
	struct vfio_client *c = &b->client;
	static u8 buf[VFIO_USER_MAX_TRANSFER];
	struct {
		struct vfio_user_region_access access;
		u32 data;
	} m = { { 0, 0, 8 }, 1 };
	u32 word = 0;

	assert_int_equal(vfio_client_read(c, 9, 0, buf, 4), -EINVAL);
	assert_int_equal(vfio_client_read(c, 3, 0, buf, 4), -EINVAL); /* there is none */
	assert_int_equal(vfio_client_read(c, 0, 0x10000, buf, 4), -EINVAL);
	assert_int_equal(vfio_client_read(c, 0, 0xfffe, buf, 4), -EINVAL);
	assert_int_equal(vfio_client_read(c, 0, UINT64_MAX - 3, buf, 4), -EINVAL);
	assert_int_equal(vfio_client_read(c, 4, 0, buf, sizeof(buf)), 0);
	m.access.region = 4;
	m.access.count = VFIO_USER_MAX_TRANSFER + 1;
	assert_int_equal(vfio_client_call(c, VFIO_USER_REGION_READ, &m, sizeof(m.access), NULL, 0),
			 -EINVAL);
	/* A count that is not that of the data. */
	m.access.count = 7;
	assert_int_equal(vfio_client_call(c, VFIO_USER_REGION_WRITE, &m, sizeof(m), NULL, 0),
			 -EINVAL);
	m.access.count = UINT32_MAX;
	assert_int_equal(vfio_client_call(c, VFIO_USER_REGION_WRITE, &m, sizeof(m), NULL, 0),
			 -EINVAL);
	/* Registers are 32 bits wide: other accesses read ones and write nothing. */
	bench_set_reg(b, NVDLA_GLB_S_INTR_MASK, 0x3f);
	assert_int_equal(vfio_client_read(c, 0, NVDLA_GLB_S_INTR_MASK, &word, 1), 0);
	assert_int_equal(word, 0xff);
	assert_int_equal(vfio_client_read(c, 0, NVDLA_GLB_S_INTR_MASK + 1, &word, 4), 0);
	assert_int_equal(word, UINT32_MAX);
	word = 0;
	assert_int_equal(vfio_client_write(c, 0, NVDLA_GLB_S_INTR_MASK, &word, 2), 0);
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_MASK), 0x3f);
	bench_close(b);
}

/* A message that is too long is dropped and refused; the next one is understood. */
static void test_too_long(void **state)
{
	static u8 large[300000];
	struct bench *b = open_simple(false);
	const struct vfio_client_message m = { VFIO_USER_REGION_WRITE, 0, large, sizeof(large) };
	struct vfio_user_header header = { ++b->client.id, VFIO_USER_REGION_WRITE };

	header.size = sizeof(header) + sizeof(large);
	assert_int_equal(vfio_user_io_send(b->client.socket, &header, large, sizeof(large), -1), 0);
	assert_int_equal(vfio_client_reply(&b->client, m.command), -EMSGSIZE);
	assert_int_equal(bench_ctrl(b, ID), NVDLA_PCI_ID);
	bench_close(b);
}

/* One whose size is less than its header leaves nothing to be understood. */
static void test_impossible_size(void **state)
{
	struct bench *b = open_simple(false);
	struct vfio_user_header header = { 1, VFIO_USER_DEVICE_RESET, 15 };

	assert_int_equal(vfio_user_io_send(b->client.socket, &header, NULL, 0, -1), 0);
	assert_int_equal(vfio_client_reply(&b->client, VFIO_USER_DEVICE_RESET), -EPIPE);
	assert_int_equal(bench_disconnect(b), -EBADMSG);
	bench_free(b);
}

static void test_no_reply_wanted(void **state)
{
	struct bench *b = open_simple(false);
	struct {
		struct vfio_user_region_access access;
		u32 value;
	} m = { { NVDLA_PCI_CTRL_FAULT_ARG, VFIO_PCI_BAR2_REGION_INDEX, 4 }, htole32(4711) };
	const struct vfio_client_message quiet = { VFIO_USER_REGION_WRITE, VFIO_USER_NO_REPLY, &m,
						   sizeof(m.access) + 4 };
	const struct vfio_client_message reply = { VFIO_USER_DEVICE_RESET, VFIO_USER_TYPE_REPLY };

	assert_true(vfio_client_send(b->client.socket, 77, &quiet));
	assert_int_equal(bench_ctrl(b, FAULT_ARG), 4711);
	/* We have asked nothing, so no message is a reply. */
	assert_true(vfio_client_send(b->client.socket, ++b->client.id, &reply));
	assert_int_equal(vfio_client_reply(&b->client, VFIO_USER_DEVICE_RESET), -EINVAL);
	bench_close(b);
}

/* A message in pieces, and one that never ends. */
static void test_in_pieces(void **state)
{
	struct bench *b = open_simple(false);
	struct {
		struct vfio_user_header header;
		struct vfio_user_region_access access;
	} m = { { 0x55, VFIO_USER_REGION_READ, sizeof(m) },
		{ NVDLA_PCI_CTRL_ID, VFIO_PCI_BAR2_REGION_INDEX, 4 } };
	const u8 *at = (const u8 *)&m;
	u32 i;

	for (i = 0; i < sizeof(m); i++) {
		assert_int_equal(send(b->client.socket, at + i, 1, 0), 1);
		usleep(200);
	}
	b->client.id = 0x55;
	assert_int_equal(vfio_client_reply(&b->client, VFIO_USER_REGION_READ), 0);
	assert_int_equal(b->client.size, sizeof(m.access) + 4);
	assert_int_equal(send(b->client.socket, at, 20, 0), 20);
	bench_close(b);
}

static u32 open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	u32 count = 0;

	assert_non_null(files);
	while (readdir(files))
		count++;
	closedir(files);
	return count;
}

/* Files that nobody asked for are closed. */
static void test_files_are_closed(void **state)
{
	struct bench *b = open_memory();
	int fd[16];
	u32 before = open_files(), i;

	for (i = 0; i < ARRAY_SIZE(fd); i++)
		fd[i] = b->memory_fd;
	for (i = 1; i <= ARRAY_SIZE(fd); i++) {
		assert_int_equal(
			vfio_client_call(&b->client, VFIO_USER_DEVICE_RESET, NULL, 0, fd, i), 0);
		assert_int_equal(vfio_client_call(&b->client, 999, NULL, 0, fd, i), -EOPNOTSUPP);
	}
	assert_int_equal(open_files(), before);
	/* A range costs no file, only its memory. */
	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MASTER);
	for (i = 0; i < 100; i++)
		assert_int_equal(vfio_client_map(&b->client, i * 0x2000, 0x1000, i * 0x1000,
						 BENCH_RW, b->memory_fd),
				 0);
	assert_int_equal(open_files(), before);
	/* Memory and interrupts go with the connection; what the device is stays. */
	bench_connect_irq(b, VFIO_PCI_MSI_IRQ_INDEX);
	bench_set_reg(b, NVDLA_GLB_S_INTR_MASK, 0x15);
	assert_int_equal(dma(b, 0, 1, false), 0);
	assert_int_equal(bench_disconnect(b), 1);
	assert_int_equal(dma(b, 0, 1, false), -EFAULT);
	bench_connect(b);
	assert_int_equal(vfio_client_version(&b->client, 0, SIMPLE), 0);
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_MASK), 0x15);
	bench_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_version_without_text),
		cmocka_unit_test(test_device_info),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_irqs),
		cmocka_unit_test(test_config_space),
		cmocka_unit_test(test_msix_memory),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_bad_maps),
		cmocka_unit_test(test_many_maps),
		cmocka_unit_test(test_shrunk_file),
		cmocka_unit_test(test_bus_master),
		cmocka_unit_test(test_twin_socket),
		cmocka_unit_test(test_no_twin_socket),
		cmocka_unit_test(test_short_payloads),
		cmocka_unit_test(test_wrong_accesses),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_impossible_size),
		cmocka_unit_test(test_no_reply_wanted),
		cmocka_unit_test(test_in_pieces),
		cmocka_unit_test(test_files_are_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
