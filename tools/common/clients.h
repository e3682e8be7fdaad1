/* SPDX-License-Identifier: MIT */
/*
 * Who uses an NPU: the open files of the kernel driver as /proc shows them
 * (fdinfo, Documentation/driver.md).
 */
#ifndef TOOL_CLIENTS_H
#define TOOL_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct tool_client - one client of the driver
 * @device: N of /dev/accel/accelN
 * @pid, @name: process; of several that share the file, the one with the lowest number
 * @id: drm-client-id: unique on the machine as long as the file is open
 * @busy_ns: time that its tasks had the NPU
 * @memory, @resident: bytes of the buffers that it has handles of
 * @pinned: bytes that count against its limit
 * @tasks: of its jobs, done
 * @cbuf: bytes of the convolution buffer that it has reserved, @banks: the same in banks
 * @jobs: submitted and not done
 * @priority: "low", "normal", "high"; "" where the kernel does not say
 */
struct tool_client {
	uint32_t device;
	int64_t pid;
	char name[32];
	uint64_t id;
	uint64_t busy_ns;
	uint64_t memory;
	uint64_t resident;
	uint64_t pinned;
	uint64_t tasks;
	uint64_t cbuf;
	uint32_t banks;
	uint32_t jobs;
	char priority[16];
};

/**
 * struct tool_clients - all of them at one moment
 * @client, @count: by device, then id
 * @unreadable: processes whose open files this user may not see
 */
struct tool_clients {
	struct tool_client *client;
	size_t count;
	uint32_t unreadable;
};

/* One file's fdinfo; false: no file of this driver. */
bool tool_client_parse(const char *text, struct tool_client *client);

/**
 * tool_clients_read() - looks through all processes
 * @proc: "/proc"
 *
 * Processes that end meanwhile are left out.
 *
 * Return: 0; a negative errno.
 */
int tool_clients_read(const char *proc, struct tool_clients *clients);

void tool_clients_free(struct tool_clients *clients);

#endif /* TOOL_CLIENTS_H */
