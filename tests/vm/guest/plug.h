/* SPDX-License-Identifier: MIT */
/*
 * The NPU's driver and the NPU itself go and come back.
 *
 * Functions that return int return 0 or a negative errno.  The first call, of whichever function, finds
 * out where both are: it has to come while a driver is bound, and ends the program where none is.
 */
#ifndef GUEST_PLUG_H
#define GUEST_PLUG_H

#include "nvdla_types.h"

/* The device's name on its bus, e.g. "0000:00:02.0". */
const char *guest_device_name(void);

/* The driver is taken from the device, and gets it back. */
int guest_unbind(void);
int guest_bind(void);

/* The device leaves the PCI bus, and is found again. */
int guest_remove(void);
int guest_rescan(void);

/* Waits until the NPU's node is there, or is not; false where that does not come. */
bool guest_node_wait(bool there);

/* The device has come back: is a job of a new client right? */
bool guest_works_again(void);

#endif /* GUEST_PLUG_H */
