// SPDX-License-Identifier: MIT
#include <errno.h>
#include <linux/genetlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib.h"
#include "netlink.h"

static const struct nlmsghdr *message(const struct guest_genl *g)
{
	return (const struct nlmsghdr *)g->data;
}

int guest_genl_send(struct guest_genl *g, u8 cmd, u16 flags, const void *attrs, u32 size)
{
	static __thread u32 sequence;
	struct {
		struct nlmsghdr head;
		struct genlmsghdr genl;
		u8 attrs[GENL_BYTES];
	} m = { 0 };
	u16 family = g->family ? g->family : GENL_ID_CTRL;

	if (size > sizeof(m.attrs))
		return -E2BIG;
	m.head.nlmsg_len = NLMSG_LENGTH(sizeof(m.genl)) + size;
	m.head.nlmsg_type = family;
	m.head.nlmsg_flags = NLM_F_REQUEST | flags;
	m.head.nlmsg_seq = ++sequence;
	m.genl.cmd = cmd;
	m.genl.version = NVDLA_FAMILY_VERSION;
	if (size)
		memcpy(m.attrs, attrs, size);
	return send(g->fd, &m, m.head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* Cuts the first message off what is in @g->data. */
static int take_message(struct guest_genl *g, u32 bytes)
{
	u32 length = message(g)->nlmsg_len, step = NLMSG_ALIGN(length);

	if (bytes < sizeof(struct nlmsghdr) || length < sizeof(struct nlmsghdr) || length > bytes)
		return -EBADMSG;
	g->bytes = length;
	g->rest = bytes - min(step, bytes);
	return 0;
}

int guest_genl_receive(struct guest_genl *g, u32 timeout_ms)
{
	struct pollfd poll_fd = { .fd = g->fd, .events = POLLIN };
	u32 step = NLMSG_ALIGN(g->bytes);
	ssize_t got;

	if (g->rest) {
		memmove(g->data, g->data + step, g->rest);
		return take_message(g, g->rest);
	}
	g->bytes = 0;
	if (poll(&poll_fd, 1, (int)timeout_ms) <= 0)
		return -ETIMEDOUT;
	got = recv(g->fd, g->data, sizeof(g->data), 0);
	if (got < 0)
		return -errno;
	return take_message(g, (u32)got);
}

/* The next message that belongs to an answer; the error that comes in its place. */
static int receive_answer(struct guest_genl *g)
{
	int err = guest_genl_receive(g, GUEST_WAIT_MS);

	if (err || message(g)->nlmsg_type != NLMSG_ERROR)
		return err;
	return ((const struct nlmsgerr *)NLMSG_DATA(message(g)))->error;
}

int guest_genl_call(struct guest_genl *g, u8 cmd, u16 flags, const void *attrs, u32 size)
{
	int err = guest_genl_send(g, cmd, flags, attrs, size);

	if (err)
		return err;
	err = receive_answer(g);
	if (err || message(g)->nlmsg_type == NLMSG_ERROR)
		return err;
	/* The acknowledgement that follows an answer. */
	if (flags & NLM_F_ACK) {
		u8 byte;

		recv(g->fd, &byte, 1, 0);
	}
	return 0;
}

u8 guest_genl_cmd(const struct guest_genl *g)
{
	if (g->bytes < NLMSG_LENGTH(sizeof(struct genlmsghdr)) ||
	    message(g)->nlmsg_type != (g->family ? g->family : GENL_ID_CTRL))
		return 0;
	return ((const struct genlmsghdr *)NLMSG_DATA(message(g)))->cmd;
}

const struct nlattr *guest_genl_attrs(const struct guest_genl *g, u32 *bytes)
{
	u32 head = NLMSG_LENGTH(sizeof(struct genlmsghdr));

	*bytes = 0;
	if (!guest_genl_cmd(g) || message(g)->nlmsg_len < head || message(g)->nlmsg_len > g->bytes)
		return NULL;
	*bytes = message(g)->nlmsg_len - head;
	return (const struct nlattr *)(g->data + head);
}

const struct nlattr *guest_attr(const struct nlattr *first, u32 bytes, u16 type)
{
	const u8 *at = (const u8 *)first;

	while (at && bytes >= sizeof(*first)) {
		const struct nlattr *attr = (const struct nlattr *)at;
		u32 step = NLA_ALIGN(attr->nla_len);

		if (attr->nla_len < sizeof(*attr) || attr->nla_len > bytes)
			return NULL;
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		at += step;
		bytes -= min(step, bytes);
	}
	return NULL;
}

u64 guest_attr_number(const struct nlattr *attr)
{
	u64 value = 0;
	u32 size = attr ? attr->nla_len - (u32)sizeof(*attr) : 0;

	if (size <= sizeof(value) && size)
		memcpy(&value, attr + 1, size);
	return value;
}

const struct nlattr *guest_attr_nest(const struct nlattr *attr, u32 *bytes)
{
	*bytes = attr ? attr->nla_len - (u32)sizeof(*attr) : 0;
	return attr ? attr + 1 : NULL;
}

u32 guest_attr_put(void *at, u16 type, const void *value, u16 size)
{
	struct nlattr attr = { .nla_len = (u16)(sizeof(attr) + size), .nla_type = type };

	memset(at, 0, NLA_ALIGN(attr.nla_len));
	memcpy(at, &attr, sizeof(attr));
	if (size)
		memcpy((u8 *)at + sizeof(attr), value, size);
	return NLA_ALIGN(attr.nla_len);
}

/* Asks the controller for the family's number and those of its groups. */
static int find_family(struct guest_genl *g)
{
	const struct nlattr *attrs, *groups, *group;
	u8 request[64];
	u32 size, left;
	int err;

	size = guest_attr_put(request, CTRL_ATTR_FAMILY_NAME, NVDLA_FAMILY_NAME,
			      sizeof(NVDLA_FAMILY_NAME));
	err = guest_genl_call(g, CTRL_CMD_GETFAMILY, 0, request, size);
	if (err)
		return err;
	attrs = guest_genl_attrs(g, &size);
	groups = guest_attr_nest(guest_attr(attrs, size, CTRL_ATTR_MCAST_GROUPS), &left);
	while (groups && left >= sizeof(*groups) && groups->nla_len >= sizeof(*groups)) {
		u32 bytes, step = NLA_ALIGN(groups->nla_len);
		const struct nlattr *name;
		u32 id;

		group = guest_attr_nest(groups, &bytes);
		name = guest_attr(group, bytes, CTRL_ATTR_MCAST_GRP_NAME);
		id = (u32)guest_attr_number(guest_attr(group, bytes, CTRL_ATTR_MCAST_GRP_ID));
		if (name && !strcmp((const char *)(name + 1), NVDLA_MCGRP_BUDGET))
			g->budget = id;
		if (name && !strcmp((const char *)(name + 1), NVDLA_MCGRP_HEALTH))
			g->health = id;
		left -= min(step, left);
		groups = (const struct nlattr *)((const u8 *)groups + step);
	}
	g->family = (u16)guest_attr_number(guest_attr(attrs, size, CTRL_ATTR_FAMILY_ID));
	return g->family ? 0 : -ENOENT;
}

int guest_genl_open(struct guest_genl *g)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int err;

	memset(g, 0, sizeof(*g));
	g->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (g->fd < 0)
		return -errno;
	err = bind(g->fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : find_family(g);
	if (err)
		guest_genl_close(g);
	return err;
}

void guest_genl_close(struct guest_genl *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
}

int guest_genl_join(struct guest_genl *g, u32 group)
{
	int number = (int)group;

	if (setsockopt(g->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &number, sizeof(number)))
		return -errno;
	return 0;
}

int guest_genl_device(struct guest_genl *g, u32 *device)
{
	const struct nlattr *attrs, *id = NULL;
	bool done = false;
	u32 bytes;
	int err = guest_genl_send(g, NVDLA_CMD_GET_DEVICES, NLM_F_DUMP, NULL, 0);

	while (!err && !done) {
		err = receive_answer(g);
		done = !err && message(g)->nlmsg_type == NLMSG_DONE;
		attrs = guest_genl_attrs(g, &bytes);
		if (!id && (id = guest_attr(attrs, bytes, NVDLA_A_DEVICE_ID)))
			*device = (u32)guest_attr_number(id);
	}
	return err ? err : id ? 0 : -ENODEV;
}

u64 guest_genl_stat(struct guest_genl *g, u32 device, u16 type)
{
	const struct nlattr *attrs, *attr;
	u8 request[16];
	u32 bytes = guest_attr_put(request, NVDLA_A_STATS_DEVICE, &device, sizeof(device));

	if (guest_genl_call(g, NVDLA_CMD_GET_STATS, 0, request, bytes))
		return ~0ull;
	attrs = guest_genl_attrs(g, &bytes);
	attr = guest_attr(attrs, bytes, type);
	return attr ? guest_attr_number(attr) : ~0ull;
}

int guest_genl_limit(struct guest_genl *g, u32 device, u32 banks)
{
	u8 request[32];
	u32 bytes = guest_attr_put(request, NVDLA_A_BUDGET_DEVICE, &device, sizeof(device));

	bytes += guest_attr_put(request + bytes, NVDLA_A_BUDGET_LIMIT, &banks, sizeof(banks));
	return guest_genl_call(g, NVDLA_CMD_SET_LIMIT, NLM_F_ACK, request, bytes);
}
