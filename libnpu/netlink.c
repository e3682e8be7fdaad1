// SPDX-License-Identifier: MIT
#include <linux/nvdla_netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include "netlink.h"

/* libnl's errors that callers tell apart; all others are -EIO. */
static const struct {
	int nle;
	int error;
} errors[] = {
	{ NLE_PERM, -EPERM },
	{ NLE_NOACCESS, -EPERM },
	{ NLE_INVAL, -EINVAL },
	{ NLE_RANGE, -EINVAL },
	{ NLE_NODEV, -ENODEV },
	{ NLE_OBJ_NOTFOUND, -ENODEV },
	{ NLE_NOMEM, -ENOMEM },
	{ NLE_OPNOTSUPP, -ENOTSUP },
	{ NLE_PROTO_MISMATCH, -ENOTSUP },
	{ NLE_AF_NOSUPPORT, -ENOTSUP },
};

static int to_errno(int nle)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].nle == -nle)
			return errors[i].error;
	return -EIO;
}

int npu_netlink_fail(u32 number, const char *what, int nle)
{
	int err = to_errno(nle);

	if (err == -EPERM)
		return npu_fail(err, "accel%u: %s needs CAP_NET_ADMIN: run it as root", number,
				what);
	return npu_fail(err, "accel%u: %s: %s", number, what, nl_geterror(nle));
}

struct nl_sock *npu_netlink_open(int *family)
{
	struct nl_sock *sock = nl_socket_alloc();

	if (!sock)
		return NULL;
	if (genl_connect(sock) == 0) {
		*family = genl_ctrl_resolve(sock, NVDLA_FAMILY_NAME);
		if (*family >= 0)
			return sock;
	}
	nl_socket_free(sock);
	return NULL;
}

/* ---- changes of the budget ---- */

struct nl_sock *npu_netlink_listen(void)
{
	int family, group;
	struct nl_sock *sock = npu_netlink_open(&family);

	if (!sock)
		return NULL;
	group = genl_ctrl_resolve_grp(sock, NVDLA_FAMILY_NAME, NVDLA_MCGRP_BUDGET);
	if (group < 0 || nl_socket_add_membership(sock, group) < 0) {
		nl_socket_free(sock);
		return NULL;
	}
	return sock;
}

void npu_netlink_sleep(struct nl_sock *sock, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = sock ? nl_socket_get_fd(sock) : -1, .events = POLLIN };
	char message[4096];

	if (poll(&poll_fd, 1, timeout_ms) <= 0)
		return;
	/* What changed is asked for by the caller: the kernel may have dropped messages anyway. */
	while (recv(poll_fd.fd, message, sizeof(message), MSG_DONTWAIT) > 0)
		;
}

void npu_netlink_close(struct nl_sock *sock)
{
	if (sock)
		nl_socket_free(sock);
}

/* ---- requests ---- */

int npu_netlink_no_family(u32 number, const char *what)
{
	return npu_fail(-ENOTSUP,
			"accel%u: %s: the kernel has no netlink family " NVDLA_FAMILY_NAME
			", which comes with its module; " NPU_LOAD_MODULE,
			number, what);
}

static struct nl_msg *new_request(int family, int command, u32 number)
{
	struct nl_msg *message = nlmsg_alloc();

	/* NVDLA_A_BUDGET_DEVICE and NVDLA_A_STATS_DEVICE are the same attribute. */
	_Static_assert((int)NVDLA_A_BUDGET_DEVICE == (int)NVDLA_A_STATS_DEVICE, "device attribute");
	if (message &&
	    genlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0, (u8)command,
			NVDLA_FAMILY_VERSION) &&
	    nla_put_u32(message, NVDLA_A_BUDGET_DEVICE, number) == 0)
		return message;
	nlmsg_free(message);
	return NULL;
}

int npu_netlink_set_limit(u32 number, u32 banks)
{
	const char what[] = "setting the limit of banks";
	int family, err = -NLE_NOMEM;
	struct nl_sock *sock = npu_netlink_open(&family);
	struct nl_msg *message;

	if (!sock)
		return npu_netlink_no_family(number, what);
	message = new_request(family, NVDLA_CMD_SET_LIMIT, number);
	if (message && nla_put_u32(message, NVDLA_A_BUDGET_LIMIT, banks) == 0)
		err = nl_send_sync(sock, message); /* frees it */
	else
		nlmsg_free(message);
	nl_socket_free(sock);
	return err < 0 ? npu_netlink_fail(number, what, err) : 0;
}

u64 npu_netlink_uint(const struct nlattr *attr)
{
	if (!attr)
		return 0;
	return nla_len(attr) >= (int)sizeof(u64)   ? nla_get_u64(attr)
	       : nla_len(attr) >= (int)sizeof(u32) ? nla_get_u32(attr)
						   : 0;
}

static int take_stats(struct nl_msg *message, void *context)
{
	struct npu_netlink_stats *stats = context;
	struct nlattr *attr[NVDLA_A_STATS_MAX + 1];

	if (genlmsg_parse(nlmsg_hdr(message), 0, attr, NVDLA_A_STATS_MAX, NULL) < 0)
		return NL_SKIP;
	stats->jobs = npu_netlink_uint(attr[NVDLA_A_STATS_JOBS]);
	stats->tasks = npu_netlink_uint(attr[NVDLA_A_STATS_TASKS]);
	stats->timeouts = npu_netlink_uint(attr[NVDLA_A_STATS_TIMEOUTS]);
	stats->resets = npu_netlink_uint(attr[NVDLA_A_STATS_RESETS]);
	stats->refused_chains = npu_netlink_uint(attr[NVDLA_A_STATS_REFUSED_CHAINS]);
	stats->busy_ns = npu_netlink_uint(attr[NVDLA_A_STATS_BUSY_NS]);
	return NL_OK;
}

int npu_netlink_stats(u32 number, struct npu_netlink_stats *stats)
{
	const char what[] = "reading the statistics";
	int family, err = -NLE_NOMEM;
	struct nl_sock *sock = npu_netlink_open(&family);
	struct nl_msg *message;

	if (!sock)
		return npu_netlink_no_family(number, what);
	memset(stats, 0, sizeof(*stats));
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, take_stats, stats);
	message = new_request(family, NVDLA_CMD_GET_STATS, number);
	if (message) {
		err = nl_send_auto(sock, message);
		nlmsg_free(message);
	}
	if (err >= 0)
		err = nl_recvmsgs_default(sock); /* the answer, */
	if (err >= 0)
		err = nl_wait_for_ack(sock); /* and its end */
	nl_socket_free(sock);
	return err < 0 ? npu_netlink_fail(number, what, err) : 0;
}
