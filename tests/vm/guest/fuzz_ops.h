/* SPDX-License-Identifier: MIT */
/*
 * What a fuzzing client does: calls with arguments of every kind, on handles that are often good.
 */
#ifndef GUEST_FUZZ_OPS_H
#define GUEST_FUZZ_OPS_H

#include <pthread.h>
#include <stdatomic.h>

#include "lib.h"
#include "netlink.h"

/* What all processes count together. */
struct fuzz_counters {
	atomic_ullong calls, refused, chains, chains_refused, jobs, jobs_done, messages;
	pthread_mutex_t faults; /* of who disturbs the device; robust, for clients are killed */
};

#define FUZZ_HANDLES 24
#define FUZZ_FILES 4
#define FUZZ_STREAM_BYTES 32768

/* One open file and what it is believed to own; wrong beliefs are welcome. */
struct fuzz_file {
	int fd;
	bool stale; /* its device is gone */
	struct guest_bo bo[FUZZ_HANDLES];
	u32 chain[FUZZ_HANDLES];
	struct drm_nvdla_chain_region region[FUZZ_HANDLES][TASK_REGIONS];
	u32 sync[FUZZ_HANDLES];
};

/* One process, whose threads share its files. */
struct fuzz_client {
	struct fuzz_counters *counters;
	struct fuzz_file file[FUZZ_FILES];
	int dmabuf[FUZZ_FILES];
	u8 config;
	bool faults;
};

/* One thread. */
struct fuzz_thread {
	pthread_t thread;
	struct fuzz_client *client;
	struct guest_genl genl;
	u32 random;
	u8 stream[FUZZ_STREAM_BYTES];
	size_t bytes;
};

/* In memory that the processes share. */
struct fuzz_counters *fuzz_counters_new(void);

/* Takes counters->faults: waits for it, or has it at once or not at all. */
void fuzz_faults_lock(struct fuzz_counters *counters);
bool fuzz_faults_trylock(struct fuzz_counters *counters);

void fuzz_client_open(struct fuzz_client *client, struct fuzz_counters *counters, bool faults);

/* One call, or a few that belong together. */
void fuzz_step(struct fuzz_thread *t);

u32 fuzz_random(struct fuzz_thread *t, u32 below);

#endif /* GUEST_FUZZ_OPS_H */
