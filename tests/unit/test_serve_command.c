// SPDX-License-Identifier: MIT
/* The command `npusim serve` as a process: its options, sockets, connections and end. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "../common/vfio_client.h"
#include "nvdla_pci_device.h"

static char dir[] = "/tmp/npu-test-XXXXXX";
static char program[4096], socket_path[64], control_path[64], log_path[64];

/* ---- the process ------------------------------------------------------------------------- */

/**
 * struct process - a command that runs
 * @out: its standard output
 */
struct process {
	pid_t pid;
	int out;
};

/* Standard error goes to a file that said() looks into. */
static struct process start(const char *const *arguments)
{
	char *argv[16] = { program, "serve" };
	struct process p;
	int pipe_fd[2];
	u32 n;

	for (n = 0; arguments[n]; n++)
		argv[n + 2] = (char *)arguments[n];
	assert_int_equal(pipe(pipe_fd), 0);
	p.pid = fork();
	assert_true(p.pid >= 0);
	if (!p.pid) {
		dup2(pipe_fd[1], STDOUT_FILENO);
		if (freopen(log_path, "w", stderr))
			execv(program, argv);
		_exit(99);
	}
	close(pipe_fd[1]);
	p.out = pipe_fd[0];
	return p;
}

/* One line of its output, within ten seconds; "" at its end. */
static const char *line_of(const struct process *p)
{
	static char line[256];
	struct pollfd ready = { .fd = p->out, .events = POLLIN };
	u32 n = 0;

	while (n < sizeof(line) - 1 && poll(&ready, 1, 10000) > 0 && read(p->out, line + n, 1) == 1)
		if (line[n++] == '\n')
			break;
	line[n] = '\0';
	return line;
}

/* Its exit status, within ten seconds; -1: it did not end by itself. */
static int end_of(struct process *p)
{
	int status, tries;

	close(p->out);
	for (tries = 0; tries < 1000; tries++) {
		if (waitpid(p->pid, &status, WNOHANG) == p->pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		usleep(10000);
	}
	kill(p->pid, SIGKILL);
	waitpid(p->pid, &status, 0);
	return -1;
}

static int end_by(struct process *p, int signal_number)
{
	kill(p->pid, signal_number);
	return end_of(p);
}

static bool said(const char *text)
{
	char all[4096] = "";
	FILE *f = fopen(log_path, "r");

	assert_non_null(f);
	all[fread(all, 1, sizeof(all) - 1, f)] = '\0';
	fclose(f);
	return strstr(all, text);
}

#define START(...)                                                                                 \
	start((const char *const[]){ "--config", "nv_small", "--socket", socket_path, __VA_ARGS__, \
				     NULL })

static void wait_ready(const struct process *p)
{
	char ready[128];

	snprintf(ready, sizeof(ready), "listening on %s\n", socket_path);
	assert_string_equal(line_of(p), ready);
}

/* ---- its sockets --------------------------------------------------------------------------- */

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static u32 read_register(struct vfio_client *c, u32 region, u32 offset)
{
	u32 value = 0;

	assert_int_equal(vfio_client_read(c, region, offset, &value, sizeof(value)), 0);
	return value;
}

static void open_client(struct vfio_client *c)
{
	memset(c, 0, sizeof(*c));
	c->socket = connect_to(socket_path);
	assert_int_equal(vfio_client_version(c, 0, "{}"), 0);
}

/* One command on the control socket, or none, and the next answer. */
static const char *tell(int fd, const char *command)
{
	static char answer[1024];
	struct vfio_user_fds fds = { .count = 0 };
	u32 n = 0;

	if (command[0])
		assert_int_equal(send(fd, command, strlen(command), MSG_NOSIGNAL), strlen(command));
	while (n < sizeof(answer) - 1 && vfio_client_receive(fd, answer + n, 1, &fds))
		if (answer[n++] == '\n')
			break;
	answer[n] = '\0';
	return answer;
}

/* ---- tests ------------------------------------------------------------------------------------ */

static void test_usage(void **state)
{
	static const char *const wrong[][8] = {
		{ NULL },
		{ "--config", "nv_small", NULL },
		{ "--socket", "x", NULL },
		{ "--config", "nv_tiny", "--socket", "x", NULL },
		{ "--config", "nv_small", "--socket", "x", "more", NULL },
		{ "--config", "nv_small", "--socket", "x", "--dance", NULL },
		{ "--config", "nv_small", "--socket", "x", "--fault", "dance", NULL },
		{ "--config", "nv_small", "--socket", "x", "--fault", "late=x", NULL },
		{ "--config", "nv_small", "--socket", "x", "--read-latency", "0", NULL },
	};
	static const char *const help[] = { "--help", NULL };
	struct process p = start(help);
	u32 i;

	assert_non_null(strstr(line_of(&p), "usage: npusim serve"));
	assert_int_equal(end_of(&p), 0);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		p = start(wrong[i]);
		assert_string_equal(line_of(&p), "");
		assert_int_equal(end_of(&p), 2);
		assert_true(said("npusim serve: "));
	}
}

static void test_ends_by_signal(void **state)
{
	static const int signals[] = { SIGTERM, SIGINT };
	struct vfio_client c;
	struct stat st;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		struct process p = START("--control", control_path);

		wait_ready(&p);
		/* Nobody else may connect: who does reads the guest's memory. */
		assert_int_equal(stat(socket_path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0700);
		open_client(&c);
		assert_int_equal(end_by(&p, signals[i]), 0);
		assert_true(stat(socket_path, &st) && stat(control_path, &st));
		close(c.socket);
	}
}

/* One connection after the other; what the device holds stays. */
static void test_connections(void **state)
{
	struct process p = START("--msix");
	struct vfio_client c, next = { 0 };
	u32 value = 0x15;

	wait_ready(&p);
	open_client(&c);
	assert_int_equal(read_register(&c, VFIO_PCI_BAR2_REGION_INDEX, NVDLA_PCI_CTRL_ID),
			 NVDLA_PCI_ID);
	assert_int_equal(vfio_client_write(&c, VFIO_PCI_BAR0_REGION_INDEX, NVDLA_GLB_S_INTR_MASK,
					   &value, sizeof(value)),
			 0);
	/* A second one waits until the first is gone. */
	next.socket = connect_to(socket_path);
	close(c.socket);
	assert_int_equal(vfio_client_version(&next, 0, "{}"), 0);
	assert_int_equal(read_register(&next, VFIO_PCI_BAR0_REGION_INDEX, NVDLA_GLB_S_INTR_MASK),
			 0x15);
	/* Nonsense ends a connection, not the server. */
	assert_int_equal(send(next.socket, "0123456789abcdef", 16, MSG_NOSIGNAL), 16);
	close(next.socket);
	open_client(&c);
	close(c.socket);
	assert_int_equal(end_by(&p, SIGTERM), 0);
}

static void test_once(void **state)
{
	struct process p = START("--once");
	struct vfio_client c;

	wait_ready(&p);
	open_client(&c);
	close(c.socket);
	assert_int_equal(end_of(&p), 0);
}

static void test_control(void **state)
{
	struct process p = START("--control", control_path, "--fault", "rom=56");
	char line[3000];
	struct vfio_client c;
	int fd, more[8];
	u32 i;

	wait_ready(&p);
	open_client(&c);
	fd = connect_to(control_path);
	assert_int_equal(read_register(&c, VFIO_PCI_BAR0_REGION_INDEX, 0x38), ~8u);
	assert_string_equal(tell(fd, "fault none\n"), "ok\n");
	assert_int_equal(read_register(&c, VFIO_PCI_BAR0_REGION_INDEX, 0x38), 8);
	assert_string_equal(tell(fd, "fault dead\n"), "ok\n");
	assert_int_equal(read_register(&c, VFIO_PCI_BAR0_REGION_INDEX, 0x38), UINT32_MAX);
	assert_string_equal(tell(fd, "reset\n"), "ok\n");
	assert_int_equal(read_register(&c, VFIO_PCI_BAR0_REGION_INDEX, 0x38), 8);
	/* In pieces, and two at once. */
	assert_int_equal(send(fd, "sta", 3, MSG_NOSIGNAL), 3);
	assert_non_null(strstr(tell(fd, "tus\n"), "ok fault=none "));
	assert_non_null(strstr(tell(fd, "status\nreset\n"), "ok fault=none "));
	assert_string_equal(tell(fd, ""), "ok\n");
	/* More clients than are served, and a line without end: hung up on. */
	for (i = 0; i < ARRAY_SIZE(more); i++)
		more[i] = connect_to(control_path);
	assert_string_equal(tell(more[7], ""), "");
	for (i = 0; i < ARRAY_SIZE(more); i++)
		close(more[i]);
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	assert_string_equal(tell(fd, line), "");
	close(fd);
	fd = connect_to(control_path);
	assert_non_null(strstr(tell(fd, "status\n"), "ok "));
	close(fd);
	close(c.socket);
	assert_int_equal(end_by(&p, SIGTERM), 0);
}

static void test_paths(void **state)
{
	struct process p = START("--once"), other;
	struct vfio_client c;
	char long_path[200];
	FILE *f;

	wait_ready(&p);
	/* Somebody listens there. */
	other = START("--once");
	assert_int_equal(end_of(&other), 1);
	assert_true(said(socket_path));
	/* It has not been disturbed. */
	open_client(&c);
	/* Nobody listens any more. */
	end_by(&p, SIGKILL);
	close(c.socket);
	p = START("--once");
	wait_ready(&p);
	open_client(&c);
	close(c.socket);
	assert_int_equal(end_of(&p), 0);
	/* A file that is no socket is not taken away. */
	f = fopen(socket_path, "w");
	assert_non_null(f);
	fclose(f);
	p = START("--once");
	assert_int_equal(end_of(&p), 1);
	assert_int_equal(access(socket_path, F_OK), 0);
	unlink(socket_path);

	p = START("--control", "/nowhere/at/all");
	assert_int_equal(end_of(&p), 1);
	assert_true(said("/nowhere/at/all"));
	assert_int_not_equal(access(socket_path, F_OK), 0);
	memset(long_path, 'a', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	p = START("--control", long_path);
	assert_int_equal(end_of(&p), 1);
	assert_true(said("too long"));
}

static int prepare(void **state)
{
	const char *build = getenv("O");

	snprintf(program, sizeof(program), "%s/bin/npusim", build ? build : "build");
	if (access(program, X_OK) || !mkdtemp(dir))
		return -1;
	snprintf(socket_path, sizeof(socket_path), "%s/npu.sock", dir);
	snprintf(control_path, sizeof(control_path), "%s/control.sock", dir);
	snprintf(log_path, sizeof(log_path), "%s/log", dir);
	return 0;
}

static int clean(void **state)
{
	unlink(log_path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usage),	    cmocka_unit_test(test_ends_by_signal),
		cmocka_unit_test(test_connections), cmocka_unit_test(test_once),
		cmocka_unit_test(test_control),	    cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
