/* SPDX-License-Identifier: MIT */
/*
 * The driver's generic netlink family without a library: messages of any content, replies, events.
 */
#ifndef GUEST_NETLINK_H
#define GUEST_NETLINK_H

#include <linux/netlink.h>
#include <linux/nvdla_netlink.h>

#include "nvdla_types.h"

#define GENL_BYTES 16384

/**
 * struct guest_genl - a socket of the family
 * @family: its number
 * @budget, @health: numbers of its groups
 * @data: the last message received, @bytes of it, and @rest bytes of others that came with it
 */
struct guest_genl {
	int fd;
	u16 family;
	u32 budget, health;
	u32 bytes, rest;
	u8 data[GENL_BYTES] __attribute__((aligned(8)));
};

/* A socket that knows the family.  0; -ENOENT: there is none; other errno. */
int guest_genl_open(struct guest_genl *g);
void guest_genl_close(struct guest_genl *g);

int guest_genl_join(struct guest_genl *g, u32 group);

/* Sends command @cmd with @size bytes of attributes as they are. */
int guest_genl_send(struct guest_genl *g, u8 cmd, u16 flags, const void *attrs, u32 size);

/* The next message into @g->data.  0; -ETIMEDOUT; other errno. */
int guest_genl_receive(struct guest_genl *g, u32 timeout_ms);

/* Sends and waits for the acknowledgement or the answer (then in @g->data).  Its error. */
int guest_genl_call(struct guest_genl *g, u8 cmd, u16 flags, const void *attrs, u32 size);

/* The attributes of the last message; NULL where it has none. */
const struct nlattr *guest_genl_attrs(const struct guest_genl *g, u32 *bytes);

/* Command of the last message; 0: none of the family's. */
u8 guest_genl_cmd(const struct guest_genl *g);

/* An attribute by its type among @bytes of attributes; NULL: not there. */
const struct nlattr *guest_attr(const struct nlattr *first, u32 bytes, u16 type);
u64 guest_attr_number(const struct nlattr *attr);

/* A nested attribute's contents. */
const struct nlattr *guest_attr_nest(const struct nlattr *attr, u32 *bytes);

/* Appends an attribute; returns the bytes that it took. */
u32 guest_attr_put(void *at, u16 type, const void *value, u16 size);

/* Number of the first device.  -ENODEV: there is none. */
int guest_genl_device(struct guest_genl *g, u32 *device);

/* A counter of get-stats (NVDLA_A_STATS_*); ~0: not to be had. */
u64 guest_genl_stat(struct guest_genl *g, u32 device, u16 type);

/* set-limit. */
int guest_genl_limit(struct guest_genl *g, u32 device, u32 banks);

#endif /* GUEST_NETLINK_H */
