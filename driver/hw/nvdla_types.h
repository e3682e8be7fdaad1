/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The kernel's integer types and the few helpers that driver/hw/ needs, in the
 * kernel and in user space.  Nothing here allocates or sleeps; long loops let others run.
 */
#ifndef NVDLA_TYPES_H
#define NVDLA_TYPES_H

#ifdef __KERNEL__

#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define BIT(n) (1ul << (n))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* clang-format off */
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
/* clang-format on */
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define check_add_overflow(a, b, d) __builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d) __builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d) __builtin_mul_overflow(a, b, d)
#define cond_resched() ((void)0)

#endif

#endif /* NVDLA_TYPES_H */
