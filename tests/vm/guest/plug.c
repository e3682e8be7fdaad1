// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"
#include "plug.h"

/* Their directories in sysfs. */
static char device[300], driver[300];

/* What a link of the NPU's node leads to, for @path of 300 bytes. */
static void follow(const char *link, char *path)
{
	char name[128];
	char *target;

	snprintf(name, sizeof(name), "/sys/class/accel/%s/%s", strrchr(guest_node(), '/') + 1,
		 link);
	target = realpath(name, NULL);
	NEED(target, "%s leads somewhere: %s", name, strerror(errno));
	snprintf(path, 300, "%s", target);
	free(target);
}

static void find(void)
{
	if (device[0])
		return;
	follow("device", device);
	follow("device/driver", driver);
}

const char *guest_device_name(void)
{
	find();
	return strrchr(device, '/') + 1;
}

static int write_into(const char *directory, const char *file, const char *text)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	return guest_file_write(path, text);
}

int guest_unbind(void)
{
	find();
	return write_into(driver, "unbind", guest_device_name());
}

int guest_bind(void)
{
	find();
	return write_into(driver, "bind", guest_device_name());
}

int guest_remove(void)
{
	find();
	return write_into(device, "remove", "1");
}

int guest_rescan(void)
{
	return guest_file_write("/sys/bus/pci/rescan", "1");
}

bool guest_node_wait(bool there)
{
	u32 i;

	for (i = 0; i < GUEST_WAIT_MS / 10 && !access(guest_node(), F_OK) != there; i++)
		guest_sleep_ms(10);
	return !access(guest_node(), F_OK) == there;
}

bool guest_works_again(void)
{
	static const struct guest_work_shape shape = { .tasks = 2 };
	struct guest_work work;
	bool right;
	int fd;

	if (!guest_node_wait(true))
		return false;
	fd = guest_open();
	guest_work_new(fd, &shape, &work);
	right = guest_work_run(&work, 3);
	guest_work_free(&work);
	close(fd);
	return right;
}
