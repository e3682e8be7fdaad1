/* SPDX-License-Identifier: MIT */
/*
 * The generic netlink family of the kernel driver (Documentation/netlink/specs/
 * nvdla.yaml), as far as libnpu and its tools need it.  Devices are named by the
 * number of their node.
 */
#ifndef LIBNPU_NETLINK_H
#define LIBNPU_NETLINK_H

#include "internal.h"

struct nl_sock;
struct nlattr;

/* A socket, and the family's number; NULL without text: there is no such family or no netlink. */
struct nl_sock *npu_netlink_open(int *family);

/* A number of 32 or 64 bits, as the kernel found it to be enough; 0 where it is not there. */
u64 npu_netlink_uint(const struct nlattr *attr);

/* Stores the text for @what on accel@number, where npu_netlink_open() found no family; -ENOTSUP. */
int npu_netlink_no_family(u32 number, const char *what);

/* Stores the text for what failed on accel@number with libnl's error @nle; returns the errno. */
int npu_netlink_fail(u32 number, const char *what, int nle);

/**
 * npu_netlink_listen() - a socket that receives each change of a budget
 *
 * Return: the socket, or NULL without text where there is no such family or no netlink.
 */
struct nl_sock *npu_netlink_listen(void);

/* Sleeps until something has arrived, at most @timeout_ms; without socket: as long.  Drops it. */
void npu_netlink_sleep(struct nl_sock *sock, int timeout_ms);

/* NULL is allowed. */
void npu_netlink_close(struct nl_sock *sock);

/**
 * npu_netlink_set_limit() - administrative: how many banks all clients together may use
 *
 * Return: 0; -EPERM: needs CAP_NET_ADMIN; -EINVAL; -ENODEV: no such device; -ENOTSUP: the kernel has
 * no such family.
 */
int npu_netlink_set_limit(u32 number, u32 banks);

/**
 * struct npu_netlink_stats - what a device has done since it was probed
 * @jobs, @tasks: ended
 * @timeouts: jobs that made no progress
 * @resets: after faults
 * @refused_chains: by the validator
 * @busy_ns: in which the device had a task
 */
struct npu_netlink_stats {
	u64 jobs;
	u64 tasks;
	u64 timeouts;
	u64 resets;
	u64 refused_chains;
	u64 busy_ns;
};

/* Return: 0; -ENODEV; -ENOTSUP: the kernel has no such family; other errno. */
int npu_netlink_stats(u32 number, struct npu_netlink_stats *stats);

#endif /* LIBNPU_NETLINK_H */
