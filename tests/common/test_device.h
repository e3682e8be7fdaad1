/* SPDX-License-Identifier: MIT */
/*
 * The NPU that libnpu's suites run on: what the environment variable NPU_TEST_DEVICE names (a real
 * one, e.g. accel0 in the virtual machine), else the simulated one that the test asks for.
 */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool test_device_is_given(void)
{
	const char *name = getenv("NPU_TEST_DEVICE");

	return name && *name;
}

static inline const char *test_device(const char *simulated)
{
	return test_device_is_given() ? getenv("NPU_TEST_DEVICE") : simulated;
}

#endif /* TEST_DEVICE_H */
