/* SPDX-License-Identifier: MIT */
/*
 * Text commands on a unix socket: a line each, answered by a line that begins with "ok" or
 * "error:".  For tests, which play faults with it.
 */
#ifndef SERVE_CONTROL_H
#define SERVE_CONTROL_H

#include "serve_device.h"

/* Longest command and answer, with the line's end. */
#define SERVE_CONTROL_LINE 1024

/* Carry out one command (no line's end; changed on the way); the answer ends with a newline. */
void serve_control_command(struct serve_device *dev, char *line, char *answer, size_t size);

/**
 * struct serve_client - one connection to the control socket
 * @fd: -1: none
 * @line, @used: what has arrived of the next command
 */
struct serve_client {
	int fd;
	char line[SERVE_CONTROL_LINE];
	size_t used;
};

/* Take what has arrived and answer.  False: the connection is over; the caller closes it. */
bool serve_control_receive(struct serve_client *client, struct serve_device *dev);

#endif /* SERVE_CONTROL_H */
