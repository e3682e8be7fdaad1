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
#include "plug.h"

/* That a task takes: long enough to be found running, and shorter than its time-out. */
#define TASK_MS 3000

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

int main(void)
{
	static const struct guest_work_shape one = { .tasks = 1 };
	struct guest_work work;
	const char *name = guest_device_name();
	int fd = guest_open(), fence, status;

	guest_work_new(fd, &one, &work);
	guest_work_fill(&work, 1);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, TASK_MS);
	fence = guest_work_sync_file(&work);
	NEED(becomes_busy(), "a task runs");
	NEED(!guest_unbind(), "%s is unbound", name);
	tap(!busy(), "%s is unbound: nothing runs any more", name);
	status = guest_sync_file_status(fence);
	tap(status == 1 || status == -ENODEV, "its job was reset away, or waited for: %d", status);
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	close(fence);
	guest_work_free(&work);
	close(fd);
	NEED(!guest_bind(), "%s is bound", name);
	tap(guest_works_again(), "bound again: jobs are right");
	return tap_end();
}
