// SPDX-License-Identifier: MIT
/*
 * Every allocation of a model's whole life fails once: nothing crashes, nothing
 * leaks, errors are told, and what comes after works.
 *
 * malloc() and its kin are replaced for the whole program.  Sanitizers have their
 * own; with them the same life is lived once without failures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "npu.h"

#define MODEL "tools/demo/digits.tflite"
#define PIXELS 4096
#define CLASSES 10

static atomic_long countdown; /* allocations until one fails; 0: none does */
static atomic_long alive; /* allocations that were not freed */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAN_FAIL 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define CAN_FAIL 0
#endif
#endif
#ifndef CAN_FAIL
#define CAN_FAIL 1
#endif

#if CAN_FAIL
/* Shared libraries have to find these too. */
#pragma GCC visibility push(default)

/* The C library's own functions under the names that it keeps for this purpose. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t align, size_t bytes);
extern void __libc_free(void *data);

static bool fails(void)
{
	long left = atomic_load(&countdown);

	return left && atomic_fetch_sub(&countdown, 1) == 1;
}

static void *count(void *data)
{
	if (data)
		atomic_fetch_add(&alive, 1);
	return data;
}

void *malloc(size_t bytes)
{
	return fails() ? (errno = ENOMEM, NULL) : count(__libc_malloc(bytes));
}

void *calloc(size_t n, size_t bytes)
{
	return fails() ? (errno = ENOMEM, NULL) : count(__libc_calloc(n, bytes));
}

void *realloc(void *old, size_t bytes)
{
	void *data;

	if (fails())
		return (errno = ENOMEM, NULL);
	data = __libc_realloc(old, bytes);
	if (!old)
		count(data);
	return data;
}

void *aligned_alloc(size_t align, size_t bytes)
{
	return fails() ? (errno = ENOMEM, NULL) : count(__libc_memalign(align, bytes));
}

void free(void *data)
{
	if (data)
		atomic_fetch_sub(&alive, 1);
	__libc_free(data);
}

#pragma GCC visibility pop
#endif

static int8_t picture[PIXELS];

/* Open, load, run, run in the background, plan again, run, close.  The first error. */
static int one_life(int8_t out[CLASSES])
{
	const struct npu_input input = { picture, PIXELS };
	const struct npu_output output = { out, CLASSES };
	struct npu_device *device = NULL;
	struct npu_model *model = NULL;
	struct npu_job *job = NULL;
	int err;

	err = npu_open("sim:nv_small", &device);
	if (!err)
		err = npu_model_load(device, MODEL, NULL, &model);
	if (!err)
		err = npu_run(model, &input, 1, &output, 1, NULL);
	if (!err)
		err = npu_submit(model, &input, 1, &output, 1, &job);
	if (!err)
		err = npu_job_wait(job, -1);
	npu_job_free(job);
	if (!err)
		err = npu_device_set_cap(device, 4);
	if (!err)
		err = npu_run(model, &input, 1, &output, 1, NULL);
	npu_model_free(model);
	npu_close(device);
	return err;
}

static void test_every_allocation(void **state)
{
	int8_t expected[CLASSES], out[CLASSES];
	long n, step, before;
	int err;

	assert_int_equal(one_life(expected), 0);
	assert_int_equal(one_life(out), 0);
	before = alive;
	for (n = 1, step = 1;; n += step) {
		atomic_store(&countdown, CAN_FAIL ? n : 0);
		err = one_life(out);
		/* The whole life passed without coming to the allocation that would fail. */
		if (atomic_exchange(&countdown, 0) > 0 || !CAN_FAIL)
			break;
		assert_int_equal(alive, before);
		if (err) {
			assert_true(strlen(npu_error()) > 0);
			if (err != -ENOMEM && err != -EIO)
				print_message("allocation %ld: %d %s\n", n, err, npu_error());
			assert_true(err == -ENOMEM || err == -EIO);
		} else {
			assert_memory_equal(out, expected, CLASSES);
		}
		step = n < 400 ? 1 : 3;
	}
	print_message("%ld allocations\n", n);
	assert_int_equal(err, 0);
	assert_memory_equal(out, expected, CLASSES);
	assert_true(!CAN_FAIL || n > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_allocation),
	};
	unsigned i;

	if (setenv("NPU_SIM_DIR", "-", 1))
		return 1;
	for (i = 0; i < PIXELS; i++)
		picture[i] = (int8_t)((i * 2654435761u) >> 24);
	return cmocka_run_group_tests_name("no memory", tests, NULL, NULL);
}
