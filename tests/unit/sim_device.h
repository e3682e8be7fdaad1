/* SPDX-License-Identifier: MIT */
/* A device model with a flat memory, for the tests of its units. */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "npusim.h"

#define DEVICE_MEMORY 0x100000u

struct device {
	struct npusim *sim;
	u8 memory[DEVICE_MEMORY];
	u32 group; /* register group of the next operation */
	u32 random;
};

static int device_read(void *context, u64 addr, void *buf, size_t len)
{
	struct device *dev = context;

	if (addr > DEVICE_MEMORY || len > DEVICE_MEMORY - addr)
		return -EFAULT;
	memcpy(buf, dev->memory + addr, len);
	return 0;
}

static int device_write(void *context, u64 addr, const void *buf, size_t len)
{
	struct device *dev = context;

	if (addr > DEVICE_MEMORY || len > DEVICE_MEMORY - addr)
		return -EFAULT;
	memcpy(dev->memory + addr, buf, len);
	return 0;
}

static inline struct device *device_open(const char *config)
{
	struct device *dev = calloc(1, sizeof(*dev));
	struct npusim_memory memory = { .context = dev,
					.read = device_read,
					.write = device_write };
	struct npusim_options options = { .config = nvdla_config_find(config) };

	assert_non_null(dev);
	dev->random = 1;
	dev->sim = npusim_create(&options, &memory);
	assert_non_null(dev->sim);
	return dev;
}

static inline void device_close(struct device *dev)
{
	npusim_destroy(dev->sim);
	free(dev);
}

/* Repeatable noise. */
static inline u32 device_random(struct device *dev)
{
	dev->random = dev->random * 1664525u + 1013904223u;
	return dev->random >> 8;
}

static inline void device_fill_random(struct device *dev, u32 addr, u32 len)
{
	while (len--)
		dev->memory[addr++] = (u8)device_random(dev);
}

static inline s8 device_byte(const struct device *dev, u32 addr)
{
	return (s8)dev->memory[addr];
}

#define WRITE(dev, unit, reg, value) npusim_write((dev)->sim, NVDLA_##unit##_##reg, value)

/* Both pointers of a unit and its read DMA to the group that runs next. */
#define SELECT(dev, unit)                                         \
	do {                                                      \
		WRITE(dev, unit, S_POINTER, (dev)->group);        \
		WRITE(dev, unit##_RDMA, S_POINTER, (dev)->group); \
	} while (0)

/* Enable both, wait for the interrupt, clear it and go on with the other group. */
#define RUN(dev, unit)                                                                    \
	do {                                                                              \
		WRITE(dev, unit, D_OP_ENABLE, 1);                                         \
		WRITE(dev, unit##_RDMA, D_OP_ENABLE, 1);                                  \
		assert_true(npusim_wait((dev)->sim));                                     \
		assert_int_equal(npusim_read((dev)->sim, NVDLA_GLB_S_INTR_STATUS),        \
				 1u << (NVDLA_INTR_##unit + (dev)->group));               \
		WRITE(dev, GLB, S_INTR_STATUS, 1u << (NVDLA_INTR_##unit + (dev)->group)); \
		(dev)->group ^= 1;                                                        \
	} while (0)

#endif /* SIM_DEVICE_H */
