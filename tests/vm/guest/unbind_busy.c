// SPDX-License-Identifier: MIT
/*
 * The driver leaves a device while a task runs: when unbinding returns nothing runs any more, for the
 * memory is others' then.  A bus that can reset does so; where it cannot, the task is waited for.
 *
 * vm-test: kernel=all iommu=both
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

/* That a task takes: long enough to be found running, and shorter than its time-out. */
#define TASK_MS 3000

static char driver[300], name[64];

/* What a link in sysfs leads to. */
static void follow(const char *link, char *target, size_t size)
{
	char *path = realpath(link, NULL);

	NEED(path, "%s leads somewhere: %s", link, strerror(errno));
	snprintf(target, size, "%s", path);
	free(path);
}

/* The device's name on its bus, whichever that is, and the directory of its driver. */
static void find_driver(void)
{
	char link[128], device[300];
	const char *node = strrchr(guest_node(), '/') + 1;

	snprintf(link, sizeof(link), "/sys/class/accel/%s/device", node);
	follow(link, device, sizeof(device));
	snprintf(name, sizeof(name), "%s", strrchr(device, '/') + 1);
	snprintf(link, sizeof(link), "/sys/class/accel/%s/device/driver", node);
	follow(link, driver, sizeof(driver));
}

static int to_driver(const char *file)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/%s", driver, file);
	return guest_file_write(path, name);
}

static bool busy(void)
{
	return guest_ctrl_read(NVDLA_PCI_CTRL_STATUS) & NVDLA_PCI_STATUS_BUSY;
}

static bool becomes_busy(void)
{
	u32 i;

	for (i = 0; i < TASK_MS && !busy(); i++)
		guest_sleep_ms(1);
	return busy();
}

static bool node_comes(void)
{
	u32 i;

	for (i = 0; i < GUEST_WAIT_MS / 10 && access(guest_node(), F_OK); i++)
		guest_sleep_ms(10);
	return !access(guest_node(), F_OK);
}

int main(void)
{
	static const struct guest_work_shape one = { .tasks = 1 };
	struct guest_work work;
	int fd = guest_open(), fence, status;

	find_driver();
	guest_work_new(fd, &one, &work);
	guest_work_fill(&work, 1);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, TASK_MS);
	fence = guest_work_sync_file(&work);
	NEED(becomes_busy(), "a task runs");
	NEED(!to_driver("unbind"), "%s is unbound", name);
	tap(!busy(), "%s is unbound: nothing runs any more", name);
	status = guest_sync_file_status(fence);
	tap(status == 1 || status == -ENODEV, "its job was reset away, or waited for: %d", status);
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	close(fence);
	guest_work_free(&work);
	close(fd);
	NEED(!to_driver("bind") && node_comes(), "%s is bound", name);
	fd = guest_open();
	guest_work_new(fd, &one, &work);
	tap(guest_work_run(&work, 2), "bound again: a job is right");
	guest_work_free(&work);
	close(fd);
	return tap_end();
}
