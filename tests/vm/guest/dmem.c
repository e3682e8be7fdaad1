// SPDX-License-Identifier: MIT
/*
 * Reservations are charged to the cgroup of who makes them, where the kernel has the controller dmem.
 *
 * vm-test: kernel=debug-7
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

#define ROOT "/sys/fs/cgroup"
#define GROUP ROOT "/npu"

static char region[128]; /* the buffer's name among the controller's regions */
static u64 bank; /* bytes */
static u32 total;

/* The number behind the region's name in a file of the controller; ~0: it is not there. */
static u64 number_of(const char *path)
{
	char text[1024], *at;

	if (guest_file_read(path, text, sizeof(text)) < 0)
		return ~0ull;
	at = strstr(text, region);
	return at ? strtoull(at + strlen(region), NULL, 0) : ~0ull;
}

/*
 * The region that ends in "/cbuf", as the group's files name it.  The root's file dmem.capacity would tell
 * its size too, but a kernel in which no controller comes behind dmem does not show it.
 */
static bool find_region(void)
{
	char text[1024], *end, *start;

	if (guest_file_read(GROUP "/dmem.current", text, sizeof(text)) < 0)
		return false;
	end = strstr(text, "/cbuf ");
	if (!end)
		return false;
	for (start = end; start > text && start[-1] != '\n'; start--)
		;
	snprintf(region, sizeof(region), "%.*s", (int)(end + 6 - start), start);
	return true;
}

static int set_max(u64 bytes)
{
	char text[192];

	snprintf(text, sizeof(text), "%s%llu", region, (unsigned long long)bytes);
	return guest_file_write(GROUP "/dmem.max", text);
}

static int reserve(int fd, u32 banks)
{
	struct drm_nvdla_reserve reserve = { .banks = banks };

	return guest_ioctl(fd, DRM_IOCTL_NVDLA_RESERVE, &reserve);
}

static int join(const char *group)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	return guest_file_write(path, "0");
}

static u64 current(void)
{
	u64 bytes = number_of(GROUP "/dmem.current");

	/* The group has no entry before its first charge. */
	return bytes == ~0ull ? 0 : bytes;
}

static void check_limit(int fd)
{
	NEED(!join(GROUP), "this process joins the group");
	NEED(!set_max(bank * 3), "the group may have three banks");
	tap(!reserve(fd, 2) && current() == 2 * bank, "two banks are charged");
	tap(!reserve(fd, 3) && current() == 3 * bank, "three are");
	tap(reserve(fd, 4) == -EDQUOT && current() == 3 * bank, "four are refused");
	tap(guest_budget(fd).banks_own == 3, "which changes nothing");
	tap(reserve(fd, total + 1) == -ENOSPC && current() == 3 * bank,
	    "more than there are is no matter of the group");
	tap(!reserve(fd, 1) && current() == bank, "giving back uncharges");
	/* What was charged stays with the group in which it was. */
	NEED(!join(ROOT), "the process leaves");
	tap(!reserve(fd, 2) && current() == bank, "what comes on top is charged elsewhere");
	tap(!reserve(fd, 1) && current() == bank, "and given back there");
	tap(!reserve(fd, 0) && current() == 0, "the rest too");
}

/* Another client's share is not available: nothing is charged for what is refused. */
static void check_refused(int fd)
{
	int other = guest_open();

	NEED(!join(GROUP) && !set_max(bank * total), "the group may have all");
	NEED(!reserve(other, total - 1), "a client reserves all but one bank");
	tap(reserve(fd, 2) == -ENOSPC && current() == (total - 1) * bank,
	    "another's two are refused, and not charged");
	close(other);
	tap(current() == 0, "a client that closes its file is uncharged");
	join(ROOT);
}

static void check_killed(int fd)
{
	int ready[2], status;
	u32 i;
	char byte;
	pid_t child;

	NEED(!pipe(ready), "a pipe is made");
	child = fork();
	if (!child) {
		if (join(GROUP) || reserve(guest_open(), 2) || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	close(ready[1]);
	NEED(child > 0 && read(ready[0], &byte, 1) == 1, "a process in the group reserves two");
	tap(current() == 2 * bank, "the group is charged for it");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	for (i = 0; i < GUEST_WAIT_MS / 10 && current(); i++)
		guest_sleep_ms(10);
	tap(current() == 0 && guest_budget(fd).banks_reserved == 0,
	    "killed: all is uncharged after %u ms", i * 10);
	close(ready[0]);
}

int main(void)
{
	struct drm_nvdla_device_info info = { 0 };
	int fd = guest_open();

	NEED(!guest_query(fd, DRM_NVDLA_QUERY_DEVICE, &info, sizeof(info)), "the device is asked");
	tap(info.features & DRM_NVDLA_FEATURE_DMEM, "it says that reservations are charged");
	total = info.banks;
	bank = (u64)info.entries_per_bank * info.entry_bytes;
	NEED(!guest_file_write(ROOT "/cgroup.subtree_control", "+dmem"), "groups may be limited");
	NEED(!mkdir(GROUP, 0755), "a group is made");
	NEED(find_region(), "the buffer is a region of the controller");
	check_limit(fd);
	check_refused(fd);
	check_killed(fd);
	tap(!rmdir(GROUP), "the group goes");
	close(fd);
	return tap_end();
}
