// SPDX-License-Identifier: MIT
/*
 * A device that misbehaves: for each kind of fault the client that is hit is told in time, nobody
 * else notices, the next job of every client is right, and whoever watches is told.
 *
 *	faults [KIND]	only that one
 *
 * vm-test: kernel=all iommu=both timeout=600
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/pci_regs.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib.h"
#include "netlink.h"
#include "plug.h"

/* Of jobs that are to meet their time-out. */
#define TIMEOUT_MS 400
/* Of all others, the longest there is: an emulated machine that is busy elsewhere meets shorter ones. */
#define NEVER_MS 10000

/* Jobs of one client that wait when the device goes. */
#define WAITING_JOBS 200

static const struct guest_work_shape few = { .tasks = 4 };

/* Two clients: @hit is the one whose task meets the fault, where it meets one. */
struct clients {
	int fd[2];
	struct guest_work hit, other;
};

static void clients_open(struct clients *c)
{
	c->fd[0] = guest_open();
	c->fd[1] = guest_open();
	guest_work_new(c->fd[0], &few, &c->hit);
	guest_work_new(c->fd[1], &few, &c->other);
	guest_work_fill(&c->hit, 1);
	guest_work_fill(&c->other, 2);
}

static void clients_close(struct clients *c)
{
	guest_work_free(&c->hit);
	guest_work_free(&c->other);
	close(c->fd[0]);
	close(c->fd[1]);
}

static int submit_within(struct guest_work *work, u32 ms)
{
	struct drm_nvdla_job job = guest_work_job(work);

	job.timeout_ms = ms;
	return guest_submit(work->fd, &job, 1, NULL);
}

static u32 ms_since(u64 begin)
{
	return (u32)((guest_now_ns() - begin) / 1000000u);
}

/*
 * So much later than its time-out a job that hangs has ended at the most: the driver looks at
 * intervals, writes a dump and resets.  A dump takes what reading the registers takes on this machine.
 */
static u32 grace_ms(void)
{
	static char text[1 << 18];
	char path[320];
	u64 begin = guest_now_ns();

	snprintf(path, sizeof(path), "/sys/kernel/debug/accel/%s/registers",
		 strrchr(guest_pci_path(), '/') + 1);
	NEED(guest_file_read(path, text, sizeof(text)) > 0, "the registers are read");
	return 1000 + 3 * ms_since(begin);
}

static void both_right(struct clients *c, const char *fault)
{
	tap(guest_work_run(&c->other, 3), "%s: the next job of another client is right", fault);
	tap(guest_work_run(&c->hit, 4), "%s: and the next of the client that was hit", fault);
}

/* ---- what is told to others ---- */

static struct guest_genl events;
static u32 device;

static void watch(void)
{
	int err = guest_genl_open(&events);

	NEED(!err, "the netlink family is there: %s", strerror(-err));
	NEED(!guest_genl_device(&events, &device), "and tells a device");
	err = guest_genl_join(&events, events.health);
	NEED(!err, "its health group is joined: %s", strerror(-err));
}

/* Is an event of that kind among those that have come? */
static bool told(u32 kind)
{
	const struct nlattr *attrs;
	bool found = false;
	u32 bytes;

	while (!found && !guest_genl_receive(&events, GUEST_WAIT_MS)) {
		attrs = guest_genl_attrs(&events, &bytes);
		found = guest_genl_cmd(&events) == NVDLA_CMD_HEALTH_NTF &&
			guest_attr_number(guest_attr(attrs, bytes, NVDLA_A_HEALTH_KIND)) == kind;
	}
	return found;
}

static u64 stat(u16 type)
{
	struct guest_genl g;
	u64 value;

	if (guest_genl_open(&g))
		return ~0ull;
	value = guest_genl_stat(&g, device, type);
	guest_genl_close(&g);
	return value;
}

/* The dump of the driver's last hang; false where there is none.  It is thrown away then. */
static bool take_dump(char *text, size_t size)
{
	static const char root[] = "/sys/class/devcoredump";
	struct dirent *entry;
	char path[300];
	bool found = false;
	DIR *dir = opendir(root);

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "devcd", 5))
			continue;
		snprintf(path, sizeof(path), "%s/%s/data", root, entry->d_name);
		found = guest_file_read(path, text, size) > 0;
		guest_file_write(path, "1");
	}
	if (dir)
		closedir(dir);
	return found;
}

/* ---- the kinds ---- */

static void check_hang(void)
{
	struct clients c;
	char dump[65536];
	u32 grace = grace_ms();
	u64 begin, timeouts = stat(NVDLA_A_STATS_TIMEOUTS), resets = stat(NVDLA_A_STATS_RESETS);
	int err;

	take_dump(dump, sizeof(dump));
	clients_open(&c);
	guest_fault(NVDLA_PCI_FAULT_HANG, 0);
	begin = guest_now_ns();
	NEED(!submit_within(&c.hit, TIMEOUT_MS) && !submit_within(&c.other, NEVER_MS),
	     "jobs are accepted");
	err = guest_work_wait(&c.hit, GUEST_WAIT_MS);
	tap(err == -ETIMEDOUT, "hang: its job fails: %s", strerror(-err));
	tap(ms_since(begin) >= TIMEOUT_MS / 2 && ms_since(begin) <= TIMEOUT_MS + grace,
	    "hang: after %u ms, with a time-out of %u and a grace of %u", ms_since(begin),
	    TIMEOUT_MS, grace);
	err = guest_work_wait(&c.other, GUEST_WAIT_MS);
	tap(!err && guest_work_right(&c.other), "hang: the job behind it is right: %s",
	    strerror(-err));
	both_right(&c, "hang");
	tap(told(NVDLA_HEALTH_KIND_TIMEOUT), "hang: those who watch are told");
	tap(told(NVDLA_HEALTH_KIND_RESET), "hang: of the reset too");
	tap(stat(NVDLA_A_STATS_TIMEOUTS) == timeouts + 1, "hang: it is counted");
	tap(stat(NVDLA_A_STATS_RESETS) == resets + 1, "hang: and the reset");
	tap(take_dump(dump, sizeof(dump)) && strstr(dump, c.hit.config->name) &&
		    strstr(dump, "CDMA"),
	    "hang: the dump has the configuration and the unit's registers");
	clients_close(&c);
}

/* The task that hangs is in the middle of a long job; the other client's priority is higher. */
static void check_hang_middle(void)
{
	static const struct guest_work_shape many = { .tasks = 12 };
	struct drm_nvdla_context high = { .op = DRM_NVDLA_CONTEXT_SET,
					  .value = DRM_NVDLA_PRIORITY_HIGH };
	struct guest_work work;
	struct clients c;
	u32 i, right = 0;
	int err;

	clients_open(&c);
	NEED(!guest_ioctl(c.fd[1], DRM_IOCTL_NVDLA_CONTEXT, &high), "a client of high priority");
	guest_work_new(c.fd[0], &many, &work);
	guest_work_fill(&work, 5);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, 30);
	NEED(!submit_within(&work, TIMEOUT_MS), "a long job is accepted");
	guest_sleep_ms(100);
	guest_fault(NVDLA_PCI_FAULT_HANG, 0);
	for (i = 0; i < 3; i++) {
		guest_work_fill(&c.other, i);
		err = submit_within(&c.other, TIMEOUT_MS);
		if (!err)
			err = guest_work_wait(&c.other, GUEST_WAIT_MS);
		/* It may itself be the one whose task hangs. */
		right += (!err && guest_work_right(&c.other)) || err == -ETIMEDOUT;
	}
	err = guest_work_wait(&work, GUEST_WAIT_MS);
	tap(right == 3 && (err == -ETIMEDOUT || (!err && guest_work_right(&work))),
	    "hang in a long job under load: %s", strerror(-err));
	both_right(&c, "hang in a long job");
	guest_work_free(&work);
	clients_close(&c);
}

static void check_spurious(void)
{
	struct clients c;
	u32 i, right = 0;

	clients_open(&c);
	for (i = 0; i < 20; i++) {
		guest_fault(NVDLA_PCI_FAULT_SPURIOUS, 0);
		if (i & 1)
			guest_work_submit(&c.hit);
		guest_fault(NVDLA_PCI_FAULT_SPURIOUS, 0);
		right += !guest_work_wait(&c.hit, GUEST_WAIT_MS) || i == 0;
	}
	tap(right == 20 && guest_work_right(&c.hit), "spurious interrupts: jobs are right");
	both_right(&c, "spurious interrupts");
	clients_close(&c);
}

/* An interrupt that never comes, or late: the driver looks for itself before it gives up. */
static void check_interrupt(enum nvdla_pci_fault kind, u32 arg, const char *name)
{
	static const struct guest_work_shape one = { .tasks = 1 };
	struct guest_work work;
	struct clients c;
	u64 begin;
	int err;

	clients_open(&c);
	guest_work_new(c.fd[0], &one, &work);
	guest_work_fill(&work, 6);
	guest_fault(kind, arg);
	begin = guest_now_ns();
	NEED(!submit_within(&work, NEVER_MS) && !submit_within(&c.other, NEVER_MS),
	     "jobs are accepted");
	err = guest_work_wait(&work, GUEST_WAIT_MS);
	tap(!err && guest_work_right(&work), "%s: its job is right: %s", name, strerror(-err));
	tap(ms_since(begin) <= NEVER_MS / 2, "%s: after %u ms, with a time-out of %u", name,
	    ms_since(begin), NEVER_MS);
	err = guest_work_wait(&c.other, GUEST_WAIT_MS);
	tap(!err && guest_work_right(&c.other), "%s: so is the other client's: %s", name,
	    strerror(-err));
	both_right(&c, name);
	guest_work_free(&work);
	clients_close(&c);
}

static void check_dma(u32 which, const char *name)
{
	struct clients c;
	int err;

	clients_open(&c);
	guest_fault(NVDLA_PCI_FAULT_DMA, which);
	NEED(!submit_within(&c.hit, 5 * TIMEOUT_MS), "a job is accepted");
	err = guest_work_wait(&c.hit, GUEST_WAIT_MS);
	tap(err == -EIO || err == -ETIMEDOUT, "DMA error, %s: its job fails: %s", name,
	    strerror(-err));
	tap(guest_ctrl_read(NVDLA_PCI_CTRL_FAULT_KIND) == NVDLA_PCI_FAULT_NONE,
	    "DMA error, %s: it happened", name);
	both_right(&c, "DMA error");
	clients_close(&c);
}

static void check_slow_memory(void)
{
	struct clients c;
	int err;

	clients_open(&c);
	guest_fault(NVDLA_PCI_FAULT_SLOW_MEMORY, 5000);
	NEED(!submit_within(&c.hit, NEVER_MS) && !submit_within(&c.other, NEVER_MS),
	     "jobs are accepted");
	err = guest_work_wait(&c.hit, GUEST_WAIT_MS);
	tap(!err && guest_work_right(&c.hit), "slow memory: a job is right: %s", strerror(-err));
	err = guest_work_wait(&c.other, GUEST_WAIT_MS);
	tap(!err && guest_work_right(&c.other), "slow memory: the other's too: %s", strerror(-err));
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	both_right(&c, "slow memory");
	clients_close(&c);
}

/* ---- those that end with another probe ---- */

/* Lines of the driver in the kernel's log behind the mark that begin_log() left. */
static void begin_log(const char *mark)
{
	guest_file_write("/dev/kmsg", mark);
}

static u32 log_lines(const char *mark, const char *pattern)
{
	static char text[1 << 20];
	int bytes = klogctl(3 /* read all */, text, sizeof(text) - 1);
	char *at = NULL, *next;
	u32 lines = 0;

	if (bytes <= 0)
		return 0;
	text[bytes] = 0;
	for (next = strstr(text, mark); next; next = strstr(next + 1, mark))
		at = next;
	while (at && (at = strstr(at + 1, pattern)))
		lines++;
	return lines;
}

static void check_rom(void)
{
	struct clients c;
	u32 lines;

	guest_fault(NVDLA_PCI_FAULT_ROM, 0);
	NEED(!guest_unbind(), "the driver is unbound");
	begin_log("begin of nonsense");
	guest_bind();
	tap(access(guest_node(), F_OK) != 0, "nonsense ROM: the device is refused");
	lines = log_lines("begin of nonsense", guest_device_name());
	tap(lines == 1, "nonsense ROM: with one line: %u", lines);
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(!guest_bind() && guest_node_wait(true), "nonsense ROM: when it is gone, it is bound");
	clients_open(&c);
	both_right(&c, "nonsense ROM");
	clients_close(&c);
}

/* Whoever submits all the time keeps the device awake: nobody waits for its next resume to look. */
static void check_back(struct guest_work *work, const char *fault)
{
	u64 begin = guest_now_ns();
	int err;

	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	do {
		err = guest_work_submit(work);
		if (err)
			guest_sleep_ms(20);
	} while (err && ms_since(begin) < GUEST_WAIT_MS);
	tap(!err, "%s: the device is back, and a client that never rests finds it: %s, %u ms",
	    fault, strerror(-err), ms_since(begin));
	if (!err)
		err = guest_work_wait(work, GUEST_WAIT_MS);
	tap(!err && guest_work_right(work), "%s: its job is right: %s", fault, strerror(-err));
}

/* Behind a task that loses the device: refused where that is known already. */
static int submit_behind(struct guest_work *work)
{
	int err = submit_within(work, NEVER_MS);

	NEED(!err || err == -EIO, "a job is accepted, or the device is lost: %s", strerror(-err));
	return err;
}

static void check_death(void)
{
	struct guest_work work;
	struct clients c;
	u64 begin;
	int err, behind;

	clients_open(&c);
	guest_work_new(c.fd[0], &few, &work);
	guest_work_fill(&work, 7);
	guest_fault(NVDLA_PCI_FAULT_HANG, NVDLA_PCI_FAULT_DEAD);
	begin = guest_now_ns();
	NEED(!submit_within(&c.hit, NEVER_MS), "a job is accepted");
	behind = submit_behind(&c.other);
	err = guest_work_wait(&c.hit, GUEST_WAIT_MS);
	tap(err == -EIO, "death: the job that ran fails: %s", strerror(-err));
	err = behind ?: guest_work_wait(&c.other, GUEST_WAIT_MS);
	tap(err == -EIO, "death: so does the one behind it: %s", strerror(-err));
	tap(ms_since(begin) <= NEVER_MS / 2, "death: after %u ms, with a time-out of %u",
	    ms_since(begin), NEVER_MS);
	err = guest_work_submit(&work);
	if (!err)
		err = guest_work_wait(&work, GUEST_WAIT_MS);
	tap(err == -EIO || err == -ENODEV, "death: a new job is refused or fails: %s",
	    strerror(-err));
	tap(told(NVDLA_HEALTH_KIND_DEVICE_LOST), "death: those who watch are told");
	check_back(&work, "death");
	guest_fault(NVDLA_PCI_FAULT_DEAD, 0);
	guest_work_free(&work);
	clients_close(&c);
	NEED(!guest_unbind(), "the driver is unbound");
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(!guest_bind() && guest_node_wait(true), "death: a new device is bound");
	clients_open(&c);
	both_right(&c, "death");
	clients_close(&c);
}

/* A socket that the kernel tells of changes of devices, as it tells udev. */
static int open_uevents(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	NEED(fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address)),
	     "the kernel's events are listened to");
	return fd;
}

/* Does one with that variable, "NAME=VALUE", come?  An event is a text behind another. */
static bool uevent_comes(int fd, const char *variable)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char text[4097];
	ssize_t bytes, at;

	while (poll(&poll_fd, 1, GUEST_WAIT_MS) > 0) {
		bytes = recv(fd, text, sizeof(text) - 1, 0);
		text[bytes > 0 ? bytes : 0] = 0;
		for (at = 0; at < bytes; at += (ssize_t)strlen(text + at) + 1)
			if (!strcmp(text + at, variable))
				return true;
	}
	return false;
}

/* May the device reach memory while it is awake? */
static bool reaches_memory(void)
{
	u8 command[6] = { 0 };
	char path[320];
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "%s/power/control", guest_pci_path());
	guest_file_write(path, "on");
	snprintf(path, sizeof(path), "%s/config", guest_pci_path());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	bytes = fd < 0 ? -1 : read(fd, command, sizeof(command));
	NEED(bytes == sizeof(command), "the configuration space is read");
	close(fd);
	snprintf(path, sizeof(path), "%s/power/control", guest_pci_path());
	guest_file_write(path, "auto");
	return command[PCI_COMMAND] & PCI_COMMAND_MASTER;
}

/* A task hangs, and the reset that would help is never done. */
static void check_stuck_reset(void)
{
	struct clients c;
	int err, behind, uevents = open_uevents();

	clients_open(&c);
	guest_fault(NVDLA_PCI_FAULT_HANG, NVDLA_PCI_FAULT_STUCK_RESET);
	NEED(!submit_within(&c.hit, TIMEOUT_MS), "a job is accepted");
	behind = submit_behind(&c.other);
	err = guest_work_wait(&c.hit, GUEST_WAIT_MS);
	tap(err == -ETIMEDOUT, "stuck reset: the job that hangs fails: %s", strerror(-err));
	err = behind ?: guest_work_wait(&c.other, GUEST_WAIT_MS);
	tap(err == -EIO, "stuck reset: so does the one behind it: %s", strerror(-err));
	tap(told(NVDLA_HEALTH_KIND_TIMEOUT) && told(NVDLA_HEALTH_KIND_RESET),
	    "stuck reset: those who watch are told");
	tap(uevent_comes(uevents, "WEDGED=rebind"), "stuck reset: and those who watch devices");
	err = guest_work_submit(&c.other);
	tap(err == -EIO, "stuck reset: a new job is refused: %s", strerror(-err));
	tap(!reaches_memory(), "stuck reset: what may still run does not reach memory");
	check_back(&c.other, "stuck reset");
	tap(reaches_memory(), "stuck reset: after one that is done it does");
	both_right(&c, "stuck reset");
	close(uevents);
	clients_close(&c);
}

/* A thread that waits while the device goes. */
static void *wait_thread(void *arg)
{
	struct guest_work *work = arg;

	guest_bo_wait(work->fd, work->bo[TASK_OUTPUT].handle, 0, GUEST_WAIT_MS);
	return NULL;
}

/* The task that the last armed hang is for runs, and nothing will end it. */
static bool hangs(void)
{
	u64 begin = guest_now_ns();

	while (guest_ctrl_read(NVDLA_PCI_CTRL_FAULT_KIND) == NVDLA_PCI_FAULT_HANG)
		if (ms_since(begin) > GUEST_WAIT_MS)
			return false;
	return true;
}

static void take_device(bool remove)
{
	if (!remove) {
		NEED(!guest_unbind(), "the driver is unbound");
		return;
	}
	guest_ctrl_close();
	NEED(!guest_remove(), "the device is removed");
}

/*
 * @remove: the device leaves the bus; or else its driver is taken from it.  One task hangs then, and
 * many jobs wait.  The time-out of none of them is waited for.
 */
static void check_unplug(bool remove)
{
	const char *name = remove ? "unplug" : "unbind";
	struct drm_nvdla_budget budget;
	struct clients c;
	pthread_t waiter;
	char mark[32], prefix[64];
	u32 i, took;
	u64 begin;
	int err, hit, other;

	clients_open(&c);
	guest_fault(NVDLA_PCI_FAULT_HANG, 0);
	hit = guest_work_sync_file(&c.hit);
	NEED(hangs(), "a task hangs");
	for (i = 1; i < WAITING_JOBS; i++)
		NEED(!submit_within(&c.other, NEVER_MS), "job %u is accepted", i);
	other = guest_work_sync_file(&c.other);
	NEED(!pthread_create(&waiter, NULL, wait_thread, &c.hit), "a thread waits");
	guest_sleep_ms(50);
	snprintf(mark, sizeof(mark), "begin of %s", name);
	begin_log(mark);
	begin = guest_now_ns();
	take_device(remove);
	took = ms_since(begin);
	pthread_join(waiter, NULL);
	tap(ms_since(begin) < NEVER_MS,
	    "%s while busy: it takes %u ms, the wait ends after %u, with a time-out of %u", name,
	    took, ms_since(begin), NEVER_MS);
	snprintf(prefix, sizeof(prefix), "nvdla %s", guest_device_name());
	tap(!log_lines(mark, prefix), "%s while busy: nothing to complain about: %u lines", name,
	    log_lines(mark, prefix));
	err = guest_sync_file_status(hit);
	tap(err < 0, "%s while busy: the job that ran fails: %d", name, err);
	err = guest_sync_file_status(other);
	tap(err < 0, "%s while busy: the job behind fails too: %d", name, err);
	err = guest_work_submit(&c.other);
	tap(err == -ENODEV, "%s: a new job: %s", name, strerror(-err));
	err = guest_query(c.fd[0], DRM_NVDLA_QUERY_BUDGET, &budget, sizeof(budget));
	tap(err == -ENODEV, "%s: a query: %s", name, strerror(-err));
	close(hit);
	close(other);
	if (remove)
		NEED(!guest_rescan(), "the bus is looked at again");
	else
		NEED(!guest_bind(), "the driver is bound");
	NEED(guest_node_wait(true), "the device is there again");
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	clients_close(&c);
	clients_open(&c);
	both_right(&c, name);
	clients_close(&c);
}

static void check_lost(void)
{
	check_interrupt(NVDLA_PCI_FAULT_LOST, 0, "lost interrupt");
}

static void check_late(void)
{
	check_interrupt(NVDLA_PCI_FAULT_LATE, TIMEOUT_MS / 2, "late interrupt");
	check_interrupt(NVDLA_PCI_FAULT_LATE, TIMEOUT_MS * 2, "very late interrupt");
}

static void check_dma_errors(void)
{
	check_dma(NVDLA_PCI_FAULT_DMA_ANY, "any");
	check_dma(NVDLA_PCI_FAULT_DMA_READ, "read");
	check_dma(NVDLA_PCI_FAULT_DMA_WRITE, "write");
}

static void check_unbind(void)
{
	check_unplug(false);
}

static void check_remove(void)
{
	check_unplug(true);
}

static const struct {
	const char *name;
	void (*check)(void);
} kinds[] = {
	{ "spurious", check_spurious },
	{ "lost", check_lost },
	{ "late", check_late },
	{ "hang", check_hang },
	{ "hang-middle", check_hang_middle },
	{ "dma", check_dma_errors },
	{ "slow-memory", check_slow_memory },
	{ "stuck-reset", check_stuck_reset },
	{ "rom", check_rom },
	{ "death", check_death },
	{ "unbind", check_unbind },
	{ "unplug", check_remove },
};

int main(int argc, char **argv)
{
	u32 i;

	watch();
	guest_device_name(); /* found while it is there */
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (argc < 2 || !strcmp(argv[1], kinds[i].name))
			kinds[i].check();
	tap(!guest_ctrl_read(NVDLA_PCI_CTRL_STRAY_DMA), "no access outside of what is mapped: %u",
	    guest_ctrl_read(NVDLA_PCI_CTRL_STRAY_DMA));
	return tap_end();
}
