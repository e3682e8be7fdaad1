// SPDX-License-Identifier: MIT
/* The command line of `npusim serve`, its sockets and its loop. */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../common/tool.h"
#include "serve.h"
#include "serve_control.h"

#define PROGRAM "npusim serve"

const char serve_usage[] =
	"usage: npusim serve --config NAME --socket PATH [--control PATH] [--msix] [--once]\n"
	"                    [--fault KIND[=ARG]] [--read-latency N] [--gated]\n"
	"\n"
	"Offer a model as a PCI function on a vfio-user socket, for instance to QEMU:\n"
	"  -device "
	"'{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",\"path\":\"PATH\"}}'\n"
	"\n"
	"  -c, --config NAME     configuration, as for npusim run\n"
	"  -s, --socket PATH     where to listen; \"listening on PATH\" is printed when it is "
	"ready\n"
	"  -C, --control PATH    text commands, a line each: fault KIND [ARG], reset, status,\n"
	"                        diagnosis\n"
	"  -m, --msix            offer MSI-X besides MSI\n"
	"  -1, --once            end when the first connection ends\n"
	"  -f, --fault KIND[=ARG] arm a fault from the start: none, hang, lost, late (ms), rom, "
	"dma,\n"
	"                        slow-memory (cycles), dead, slow-tasks (ms),\n"
	"                        stuck-reset\n"
	"  -r, --read-latency N  cycles of the memory's latency (default 32)\n"
	"  -g, --gated           model clock-gated silicon\n"
	"\n"
	"Exit status: 0 ended by a signal or with --once, 1 something failed, 2 wrong usage.\n";

struct arguments {
	struct npusim_options options;
	const char *socket;
	const char *control;
	bool msix;
	bool once;
	u32 fault;
	u32 fault_arg;
};

/* ---- the loop ------------------------------------------------------------------------- */

#define CONTROL_CLIENTS 4

/* What the loop waits for; the clients of the control socket follow. */
enum slot { SLOT_SIGNAL, SLOT_TIMER, SLOT_LISTEN, SLOT_PEER, SLOT_CONTROL, SLOT_CLIENT };

#define SLOTS (SLOT_CLIENT + CONTROL_CLIENTS)

/**
 * struct server - all that is open
 * @peer, @peer_fd: the one vfio-user connection; NULL, -1: none
 */
struct server {
	const struct arguments *args;
	struct serve_device device;
	int signals;
	int listener;
	int control;
	struct vfio_user_peer *peer;
	int peer_fd;
	struct serve_client client[CONTROL_CLIENTS];
	bool end;
};

static void drop_peer(struct server *s)
{
	vfio_user_close(s->peer);
	s->peer = NULL;
	s->peer_fd = -1;
	serve_device_disconnect(&s->device);
	if (s->args->once)
		s->end = true;
}

static void accept_peer(struct server *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	s->peer = vfio_user_open(fd, &serve_device_ops, &s->device);
	if (s->peer)
		s->peer_fd = fd;
}

static void serve_peer(struct server *s)
{
	int result = vfio_user_receive(s->peer);

	if (result < 0)
		tool_error(PROGRAM, "connection given up: %s", strerror(-result));
	if (result)
		drop_peer(s);
}

static void accept_client(struct server *s)
{
	int fd = accept4(s->control, NULL, NULL, SOCK_CLOEXEC);
	u32 i;

	if (fd < 0)
		return;
	for (i = 0; i < CONTROL_CLIENTS; i++) {
		if (s->client[i].fd >= 0)
			continue;
		s->client[i].fd = fd;
		s->client[i].used = 0;
		return;
	}
	close(fd);
}

static void serve_client(struct server *s, struct serve_client *client)
{
	if (serve_control_receive(client, &s->device))
		return;
	close(client->fd);
	client->fd = -1;
}

/* One connection at a time: others wait until it is gone. */
static void fill_slots(const struct server *s, struct pollfd *slot)
{
	u32 i;

	slot[SLOT_SIGNAL].fd = s->signals;
	slot[SLOT_TIMER].fd = s->device.irq.timer;
	slot[SLOT_LISTEN].fd = s->peer ? -1 : s->listener;
	slot[SLOT_PEER].fd = s->peer_fd;
	slot[SLOT_CONTROL].fd = s->control;
	for (i = 0; i < CONTROL_CLIENTS; i++)
		slot[SLOT_CLIENT + i].fd = s->client[i].fd;
	for (i = 0; i < SLOTS; i++)
		slot[i].events = POLLIN;
}

static int loop(struct server *s)
{
	struct pollfd slot[SLOTS];
	u32 i;

	while (!s->end) {
		fill_slots(s, slot);
		if (poll(slot, SLOTS, -1) < 0) {
			if (errno == EINTR)
				continue;
			return tool_error(PROGRAM, "poll: %s", strerror(errno));
		}
		if (slot[SLOT_SIGNAL].revents)
			break;
		if (slot[SLOT_TIMER].revents)
			serve_irq_timer(&s->device.irq);
		if (slot[SLOT_PEER].revents)
			serve_peer(s);
		if (slot[SLOT_LISTEN].revents)
			accept_peer(s);
		for (i = 0; i < CONTROL_CLIENTS; i++)
			if (slot[SLOT_CLIENT + i].revents)
				serve_client(s, &s->client[i]);
		if (slot[SLOT_CONTROL].revents)
			accept_client(s);
	}
	return TOOL_OK;
}

/* ---- start and end ---------------------------------------------------------------------- */

/*
 * A socket that nobody holds any more is left over from a server that was killed.  A datagram socket
 * asks without disturbing: where somebody listens it is refused for its type.
 */
static void remove_stale(const struct sockaddr_un *address)
{
	struct stat st;
	int fd;

	if (lstat(address->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	    errno == ECONNREFUSED)
		unlink(address->sun_path);
	close(fd);
}

/* Returns the listening socket, or -1 with a message printed. */
static int listen_on(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t mask;
	int fd, bound;

	if (strlen(path) >= sizeof(address.sun_path)) {
		tool_error(PROGRAM, "%s: the name is too long for a socket", path);
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path));
	remove_stale(&address);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		tool_error(PROGRAM, "socket: %s", strerror(errno));
		return -1;
	}
	/* Who may connect reads and writes the guest's memory. */
	mask = umask(0077);
	bound = bind(fd, (const struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (bound || listen(fd, 4)) {
		tool_error(PROGRAM, "%s: %s", path, strerror(errno));
		if (!bound)
			unlink(path);
		close(fd);
		return -1;
	}
	return fd;
}

/* The signals that end us, as a file. */
static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static bool open_sockets(struct server *s)
{
	s->listener = listen_on(s->args->socket);
	if (s->listener < 0)
		return false;
	if (!s->args->control)
		return true;
	s->control = listen_on(s->args->control);
	return s->control >= 0;
}

static void close_listener(int fd, const char *path)
{
	if (fd < 0)
		return;
	unlink(path);
	close(fd);
}

static void close_sockets(struct server *s)
{
	u32 i;

	vfio_user_close(s->peer);
	for (i = 0; i < CONTROL_CLIENTS; i++)
		if (s->client[i].fd >= 0)
			close(s->client[i].fd);
	close_listener(s->listener, s->args->socket);
	close_listener(s->control, s->args->control);
	if (s->signals >= 0)
		close(s->signals);
}

static int run(struct server *s)
{
	const struct arguments *args = s->args;
	int error, status = TOOL_FAILED;

	/* Before the model's thread, which must not take the signals. */
	s->signals = catch_signals();
	error = s->signals < 0 ? -errno : vfio_user_dma_catch_faults();
	if (!error)
		error = serve_device_init(&s->device, &args->options, args->msix);
	if (error)
		return tool_error(PROGRAM, "%s", strerror(-error));
	serve_device_fault(&s->device, args->fault, args->fault_arg);
	if (open_sockets(s)) {
		printf("listening on %s\n", args->socket);
		/* Who waits for that line must not wait for ever. */
		status = fflush(stdout)
				 ? tool_error(PROGRAM, "standard output: %s", strerror(errno))
				 : loop(s);
	}
	serve_device_fini(&s->device);
	return status;
}

/* ---- the command line ----------------------------------------------------------------------- */

static bool parse_fault(char *text, struct arguments *args)
{
	char *arg = strchr(text, '=');

	if (arg) {
		*arg++ = '\0';
		if (!tool_number(arg, 0, UINT32_MAX, &args->fault_arg))
			return false;
	}
	args->fault = serve_fault_find(text);
	return args->fault != NVDLA_PCI_FAULT_COUNT;
}

/* Returns false with a message printed. */
static bool parse_option(int option, char *value, struct arguments *args)
{
	switch (option) {
	case 'c':
		args->options.config = nvdla_config_find(value);
		if (!args->options.config)
			tool_usage(PROGRAM, "no configuration '%s'", value);
		return args->options.config;
	case 's':
		args->socket = value;
		return true;
	case 'C':
		args->control = value;
		return true;
	case 'm':
		args->msix = true;
		return true;
	case '1':
		args->once = true;
		return true;
	case 'g':
		args->options.clock_gated = true;
		return true;
	case 'f':
		if (!parse_fault(value, args)) {
			tool_usage(PROGRAM, "no such fault");
			return false;
		}
		return true;
	case 'r':
		if (!tool_number(value, 1, 1000000, &args->options.read_latency)) {
			tool_usage(PROGRAM, "'%s' is no latency", value);
			return false;
		}
		return true;
	}
	tool_usage(PROGRAM, "wrong option");
	return false;
}

int serve_main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "socket", required_argument, NULL, 's' },
		{ "control", required_argument, NULL, 'C' },
		{ "msix", no_argument, NULL, 'm' },
		{ "once", no_argument, NULL, '1' },
		{ "fault", required_argument, NULL, 'f' },
		{ "read-latency", required_argument, NULL, 'r' },
		{ "gated", no_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	static struct server server;
	struct arguments args = { 0 };
	int option, status;
	u32 i;

	while ((option = getopt_long(argc, argv, "c:s:C:m1f:r:gh", longs, NULL)) >= 0) {
		if (option == 'h') {
			fputs(serve_usage, stdout);
			return TOOL_OK;
		}
		if (!parse_option(option, optarg, &args))
			return TOOL_USAGE;
	}
	/* An empty name would be one in the abstract name space, which nobody finds. */
	if ((args.socket && !*args.socket) || (args.control && !*args.control))
		return tool_usage(PROGRAM, "a socket has a name");
	if (optind != argc || !args.options.config || !args.socket)
		return tool_usage(PROGRAM, "--config and --socket are needed, and nothing else");
	server = (struct server){
		.args = &args, .signals = -1, .listener = -1, .control = -1, .peer_fd = -1
	};
	for (i = 0; i < CONTROL_CLIENTS; i++)
		server.client[i].fd = -1;
	status = run(&server);
	close_sockets(&server);
	return status;
}
