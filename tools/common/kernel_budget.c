// SPDX-License-Identifier: MIT
#include <errno.h>
#include <linux/nvdla_netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>

#include "kernel_budget.h"
#include "tool.h"

#define NODE_DIR "/dev/accel/"
#define NODE "accel"

bool tool_kernel_device(const char *name, u32 *number)
{
	if (strncmp(name, NODE_DIR, strlen(NODE_DIR)) == 0)
		name += strlen(NODE_DIR);
	return strncmp(name, NODE, strlen(NODE)) == 0 &&
	       tool_number(name + strlen(NODE), 0, UINT16_MAX, number);
}

/* ---- messages ---- */

static bool take_banks(struct nlattr *nest, struct tool_banks *banks)
{
	struct nlattr *attr[NVDLA_A_BANKS_MAX + 1];
	u32 i;

	if (!nest || nla_parse_nested(attr, NVDLA_A_BANKS_MAX, nest, NULL) < 0)
		return false;
	for (i = NVDLA_A_BANKS_GENERATION; i <= NVDLA_A_BANKS_AVAILABLE; i++)
		if (!attr[i] || nla_len(attr[i]) < (int)sizeof(u32))
			return false;
	banks->generation = npu_netlink_uint(attr[NVDLA_A_BANKS_GENERATION]);
	banks->total = nla_get_u32(attr[NVDLA_A_BANKS_TOTAL]);
	banks->usable = nla_get_u32(attr[NVDLA_A_BANKS_USABLE]);
	banks->limit = nla_get_u32(attr[NVDLA_A_BANKS_LIMIT]);
	banks->reserved = nla_get_u32(attr[NVDLA_A_BANKS_RESERVED]);
	banks->available = nla_get_u32(attr[NVDLA_A_BANKS_AVAILABLE]);
	return true;
}

/* The attributes of a message about a budget, and which device it is about. */
static bool take_budget(struct nl_msg *message, struct nlattr **attr, u32 *device)
{
	if (genlmsg_parse(nlmsg_hdr(message), 0, attr, NVDLA_A_BUDGET_MAX, NULL) < 0 ||
	    !attr[NVDLA_A_BUDGET_DEVICE] || nla_len(attr[NVDLA_A_BUDGET_DEVICE]) < (int)sizeof(u32))
		return false;
	*device = nla_get_u32(attr[NVDLA_A_BUDGET_DEVICE]);
	return true;
}

static const char *cause_text(const struct nlattr *attr)
{
	static const char *const text[] = {
		[NVDLA_BUDGET_CAUSE_LIMIT] = "limit",
		[NVDLA_BUDGET_CAUSE_RESERVE] = "reserve",
		[NVDLA_BUDGET_CAUSE_CLIENT_EXIT] = "client-exit",
		[NVDLA_BUDGET_CAUSE_UNUSABLE] = "unusable",
	};
	u64 cause = npu_netlink_uint(attr);

	return cause < ARRAY_SIZE(text) && text[cause] ? text[cause] : "unknown";
}

/* ---- requests ---- */

/**
 * struct answer - what a dump of all budgets is searched for
 * @number: the device that is wanted, where @any is false
 * @any: the first one will do
 * @found: @number and @banks are of it
 */
struct answer {
	u32 number;
	bool any;
	bool found;
	struct tool_banks banks;
};

static int take_answer(struct nl_msg *message, void *context)
{
	struct nlattr *attr[NVDLA_A_BUDGET_MAX + 1];
	struct answer *answer = context;
	u32 device;

	if (answer->found || !take_budget(message, attr, &device) ||
	    (!answer->any && device != answer->number))
		return NL_SKIP;
	answer->found = take_banks(attr[NVDLA_A_BUDGET_NOW], &answer->banks);
	answer->number = device;
	return NL_OK;
}

/* Return: 0, also where nothing is found; libnl's error; -NLE_OPNOTSUPP: there is no driver. */
static int ask(struct answer *answer)
{
	int family, err;
	struct nl_sock *sock = npu_netlink_open(&family);

	if (!sock)
		return -NLE_OPNOTSUPP;
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, take_answer, answer);
	err = genl_send_simple(sock, family, NVDLA_CMD_GET_BUDGET, NVDLA_FAMILY_VERSION,
			       NLM_F_DUMP);
	if (err >= 0)
		err = nl_recvmsgs_default(sock);
	nl_socket_free(sock);
	return err < 0 ? err : 0;
}

bool tool_kernel_first(u32 *number)
{
	struct answer answer = { .any = true };

	if (ask(&answer) || !answer.found)
		return false;
	*number = answer.number;
	return true;
}

int tool_kernel_budget(u32 number, struct tool_banks *banks)
{
	struct answer answer = { .number = number };
	int err = ask(&answer);

	if (err == -NLE_OPNOTSUPP)
		return npu_netlink_no_family(number, "reading the budget");
	if (err)
		return npu_netlink_fail(number, "reading the budget", err);
	if (!answer.found)
		return npu_fail(-ENODEV, "accel%u: no such NPU of the driver %s", number,
				NVDLA_FAMILY_NAME);
	*banks = answer.banks;
	return 0;
}

/* ---- changes ---- */

/**
 * struct event - a change that is waited for
 * @number: of this device
 * @found: @change is filled in
 */
struct event {
	u32 number;
	bool found;
	struct tool_change *change;
};

static int take_event(struct nl_msg *message, void *context)
{
	struct nlattr *attr[NVDLA_A_BUDGET_MAX + 1];
	struct event *event = context;
	struct tool_change *change = event->change;

	if (!take_budget(message, attr, &change->device) || change->device != event->number ||
	    !take_banks(attr[NVDLA_A_BUDGET_OLD], &change->old) ||
	    !take_banks(attr[NVDLA_A_BUDGET_NOW], &change->now))
		return NL_SKIP;
	change->cause = cause_text(attr[NVDLA_A_BUDGET_CAUSE]);
	event->found = true;
	return NL_STOP;
}

int tool_kernel_next_change(struct nl_sock *sock, u32 number, struct tool_change *change)
{
	struct event event = { .number = number, .change = change };
	int err;

	/* What nobody asked for has no number of a request. */
	nl_socket_disable_seq_check(sock);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, take_event, &event);
	while (!event.found) {
		err = nl_recvmsgs_default(sock);
		/* This is how libnl tells that the kernel had no room for a message. */
		if (err == -NLE_NOMEM)
			return -ENOBUFS;
		if (err < 0)
			return npu_netlink_fail(number, "waiting for a change", err);
	}
	return 0;
}
