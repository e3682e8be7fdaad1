// SPDX-License-Identifier: MIT
/*
 * Nodes under /dev/accel: which of them are NPUs of the driver nvdla, and why one
 * cannot be opened.
 */
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>

#include "device_drm.h"

#define NODE_DIR "/dev/accel/"
#define NODE "accel"
#define MAX_NODES 256 /* minor numbers of the accel subsystem */

static char names[MAX_NODES][sizeof(NODE "255")];

static void fill_names(void)
{
	u32 i;

	for (i = 0; i < MAX_NODES; i++)
		snprintf(names[i], sizeof(names[i]), NODE "%u", i);
}

/* "accelN" and "/dev/accel/accelN", N without anything behind it. */
static bool parse_name(const char *name, u32 *number)
{
	const char *digits;
	u32 value = 0;

	if (strncmp(name, NODE_DIR, strlen(NODE_DIR)) == 0)
		name += strlen(NODE_DIR);
	if (strncmp(name, NODE, strlen(NODE)) != 0)
		return false;
	name += strlen(NODE);
	for (digits = name; *name >= '0' && *name <= '9' && value < MAX_NODES; name++)
		value = value * 10 + (u32)(*name - '0');
	*number = value;
	return name != digits && !*name && value < MAX_NODES;
}

/* ---- whose node it is ---- */

static bool node_exists(u32 number)
{
	char path[64];

	snprintf(path, sizeof(path), NODE_DIR NODE "%u", number);
	return access(path, F_OK) == 0;
}

/*
 * What a link of the node's directory in sysfs points at, the name alone, without opening the device; false: it tells
 * nothing.
 */
static bool sysfs_name(u32 number, const char *link, char *name, size_t size)
{
	char path[80], target[PATH_MAX];
	const char *slash;
	ssize_t length;

	snprintf(path, sizeof(path), "/sys/class/accel/" NODE "%u/%s", number, link);
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return false;
	target[length] = '\0';
	slash = strrchr(target, '/');
	return snprintf(name, size, "%s", slash ? slash + 1 : target) < (int)size;
}

/* A device on PCI has the name "domain:bus:device.function", in hexadecimal. */
void npu_drm_pci_address(u32 number, struct npu_pci_address *pci)
{
	char bus[16] = "", name[32] = "";
	int end = 0;

	pci->valid = sysfs_name(number, "device/subsystem", bus, sizeof(bus)) &&
		     strcmp(bus, "pci") == 0 && sysfs_name(number, "device", name, sizeof(name)) &&
		     sscanf(name, "%8x:%2x:%2x.%1x%n", &pci->domain, &pci->bus, &pci->device,
			    &pci->function, &end) == 4 &&
		     !name[end];
	if (!pci->valid)
		*pci = (struct npu_pci_address){ 0 };
}

/* The same as the open device tells it. */
static int asked_driver(int fd, char *driver, size_t size, int *major)
{
	drmVersionPtr version = drmGetVersion(fd);

	if (!version)
		return -errno;
	snprintf(driver, size, "%.*s", version->name_len, version->name);
	*major = version->version_major;
	drmFreeVersion(version);
	return 0;
}

static bool is_npu(u32 number)
{
	char driver[64] = "", path[64];
	int fd, major;

	if (!node_exists(number))
		return false;
	if (sysfs_name(number, "device/driver", driver, sizeof(driver)))
		return strcmp(driver, DRM_NVDLA_DRIVER_NAME) == 0;
	snprintf(path, sizeof(path), NODE_DIR NODE "%u", number);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (asked_driver(fd, driver, sizeof(driver), &major))
		driver[0] = '\0';
	close(fd);
	return strcmp(driver, DRM_NVDLA_DRIVER_NAME) == 0;
}

const char *npu_drm_name(unsigned index)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	u32 i;

	pthread_once(&once, fill_names);
	for (i = 0; i < MAX_NODES; i++)
		if (is_npu(i) && index-- == 0)
			return names[i];
	return NULL;
}

/* ---- opening ---- */

/* There is no such node: is the module missing, the device, or only its node? */
static int no_node(const char *name, u32 number)
{
	char path[64];

	if (access("/sys/module/" DRM_NVDLA_DRIVER_NAME, F_OK))
		return npu_fail(-ENODEV,
				"%s: the kernel module " DRM_NVDLA_DRIVER_NAME
				" is not loaded; " NPU_LOAD_MODULE,
				name);
	snprintf(path, sizeof(path), "/sys/class/accel/" NODE "%u", number);
	if (access(path, F_OK) == 0)
		return npu_fail(-ENODEV,
				"%s: the kernel has the device, but " NODE_DIR NODE
				"%u is missing: is /dev a devtmpfs, or is udev running?",
				name, number);
	return npu_fail(-ENODEV,
			"%s: the kernel module " DRM_NVDLA_DRIVER_NAME
			" is loaded, but has found no such NPU; as root: dmesg | grep nvdla",
			name);
}

static int no_permission(const char *name, const char *path)
{
	struct group group, *found = NULL;
	char memory[4096];
	struct stat status;

	if (stat(path, &status) == 0 && (status.st_mode & 0060) == 0060 && status.st_gid)
		getgrgid_r(status.st_gid, &group, memory, sizeof(memory), &found);
	if (found)
		return npu_fail(-EACCES,
				"%s: no permission to open %s; as root: usermod -aG %s USER, then "
				"log in again",
				name, path, found->gr_name);
	return npu_fail(
		-EACCES,
		"%s: no permission to open %s; install the udev rule, which gives it to the "
		"group render, or run as root",
		name, path);
}

static int check_driver(const char *name, int fd)
{
	char driver[64] = "";
	int major = 0, err = asked_driver(fd, driver, sizeof(driver), &major);

	if (err)
		return npu_fail(err, "%s: it does not tell its driver: %s", name, strerror(-err));
	if (strcmp(driver, DRM_NVDLA_DRIVER_NAME) != 0)
		return npu_fail(-ENODEV, "%s: the driver is %s, this library needs %s", name,
				driver, DRM_NVDLA_DRIVER_NAME);
	if (major != DRM_NVDLA_DRIVER_MAJOR)
		return npu_fail(-ENOTSUP,
				"%s: the driver's interface has version %d, this library needs %d",
				name, major, DRM_NVDLA_DRIVER_MAJOR);
	return 0;
}

int npu_drm_open_node(const char *name, u32 *number)
{
	char path[64];
	int fd, err;

	if (!parse_name(name, number))
		return npu_fail(-ENODEV, "%s: no such NPU", name);
	snprintf(path, sizeof(path), NODE_DIR NODE "%u", *number);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		if (err == -ENOENT || err == -ENXIO || err == -ENODEV)
			return no_node(name, *number);
		if (err == -EACCES || err == -EPERM)
			return no_permission(name, path);
		return npu_fail(err, "%s: cannot open %s: %s", name, path, strerror(-err));
	}
	err = check_driver(name, fd);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}
