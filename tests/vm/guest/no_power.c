// SPDX-License-Identifier: MIT
/*
 * An NPU that does not come up when it is switched on, of its own sleep or the system's: what waits for it
 * fails, what is submitted is refused, and all is well as soon as it has power again.
 *
 * vm-test: module=no kernel=7,debug-7 timeout=200
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

#define PARAMETER "/sys/module/nvdla_platform_test/parameters/no_power"

/* The platform bus alone has a power supply that can be told to fail. */
static void to_platform_bus(void)
{
	static const char script[] = ". /vm/lib.sh; load || exit;"
				     "insmod /vm/module/nvdla_platform_test.ko || exit;"
				     "pci=$(pci_function);"
				     "echo nvdla_platform_test >\"$pci/driver_override\";"
				     "basename \"$pci\" >/sys/bus/pci/drivers/nvdla/unbind;"
				     "basename \"$pci\" >/sys/bus/pci/drivers_probe;"
				     "[ -e \"$pci\"/nvdla.* ]";

	NEED(!guest_run("/bin/sh", (const char *const[]){ "sh", "-c", script, NULL }),
	     "the NPU is on the platform bus");
}

static void back_to_pci_bus(void)
{
	static const char script[] =
		". /vm/lib.sh; pci=$(pci_function);"
		"basename \"$pci\" >/sys/bus/pci/drivers/nvdla_platform_test/unbind;"
		"echo >\"$pci/driver_override\"; rmmod nvdla_platform_test nvdla";

	tap(!guest_run("/bin/sh", (const char *const[]){ "sh", "-c", script, NULL }), "unloaded");
}

static void power(bool on)
{
	NEED(!guest_file_write(PARAMETER, on ? "0" : "1"), "power goes and comes");
}

static bool sleeps(void)
{
	char text[32] = "";
	u32 i;

	for (i = 0; i < GUEST_WAIT_MS / 10; i++) {
		guest_file_read("/sys/class/accel/accel0/device/power/runtime_status", text,
				sizeof(text));
		if (!strncmp(text, "suspended", strlen("suspended")))
			return true;
		guest_sleep_ms(10);
	}
	return false;
}

/* Its own sleep; twice, for the kernel's power management remembers errors. */
static void check_runtime(struct guest_work *work)
{
	u32 i;
	int err;

	for (i = 0; i < 2; i++) {
		NEED(sleeps(), "it sleeps");
		power(false);
		guest_work_fill(work, i);
		err = guest_work_submit(work);
		tap(err == -EIO, "without power: %s", strerror(-err));
		power(true);
		tap(guest_work_run(work, i), "with power again, at once");
	}
	power(false);
	guest_work_fill(work, i);
	NEED(sleeps() && guest_work_submit(work) == -EIO && sleeps(), "it sleeps without power");
	power(true);
	tap(guest_work_run(work, i), "after a sleep without power");
}

/* The system's, while a job runs and another waits. */
static void check_system(struct guest_work *work)
{
	int err, ended;

	NEED(!guest_file_write("/sys/power/pm_test", "devices"), "sleep can be tried");
	guest_file_write("/sys/module/suspend/parameters/pm_test_delay", "1");
	guest_work_fill(work, 5);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, 100);
	NEED(!guest_work_submit(work) && !guest_work_submit(work), "jobs are accepted");
	power(false);
	err = guest_file_write("/sys/power/state", "freeze");
	ended = guest_work_wait(work, GUEST_WAIT_MS);
	tap(ended == -EIO, "the system slept (%d); a job that waited: %s", err, strerror(-ended));
	err = guest_work_submit(work);
	tap(err == -EIO, "a new one: %s", strerror(-err));
	power(true);
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(guest_work_run(work, 6), "with power again");
	guest_file_write("/sys/power/pm_test", "none");
}

int main(void)
{
	static const struct guest_work_shape shape = { .tasks = 3 };
	struct guest_work work;
	int fd;

	to_platform_bus();
	fd = guest_open();
	guest_work_new(fd, &shape, &work);
	tap(guest_work_run(&work, 9), "jobs are right");
	check_runtime(&work);
	check_system(&work);
	/* It goes while it has none. */
	NEED(sleeps(), "it sleeps");
	power(false);
	guest_work_free(&work);
	close(fd);
	guest_ctrl_close();
	back_to_pci_bus();
	return tap_end();
}
