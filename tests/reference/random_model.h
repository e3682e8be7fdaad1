/* SPDX-License-Identifier: MIT */
/*
 * Random quantised networks as TensorFlow Lite files: what a converter could have
 * written, and what none would but the format allows.
 */
#ifndef NPU_RANDOM_MODEL_H
#define NPU_RANDOM_MODEL_H

#include "nvdla_types.h"

/* A generator of our own: the same numbers from the same seed everywhere. */
struct random {
	u64 state;
};

static inline u64 random_next(struct random *random)
{
	u64 z = random->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* @low .. @high, both included. */
static inline u32 random_pick(struct random *random, u32 low, u32 high)
{
	return low + (u32)((random_next(random) >> 16) % ((u64)high - low + 1));
}

static inline s32 random_signed(struct random *random, s32 low, s32 high)
{
	return (s32)((s64)low + random_pick(random, 0, (u32)((s64)high - low)));
}

static inline bool random_chance(struct random *random, u32 percent)
{
	return random_pick(random, 0, 99) < percent;
}

/* 0 .. 1, 1 not included. */
static inline double random_unit(struct random *random)
{
	return (double)(random_next(random) >> 11) / 9007199254740992.0;
}

/**
 * struct random_model - a network
 * @data, @bytes: of the file; free @data
 * @what: its operators and shapes, one line
 */
struct random_model {
	u8 *data;
	size_t bytes;
	char what[1024];
};

/* The network of that seed; false when out of memory. */
bool random_model_make(u64 seed, struct random_model *model);

#endif /* NPU_RANDOM_MODEL_H */
