/* SPDX-License-Identifier: MIT */
/* DMA by messages: the peer reads or writes its memory for us, on a socket of its own. */
#ifndef VFIO_USER_TWIN_H
#define VFIO_USER_TWIN_H

#include "nvdla_types.h"

/*
 * Move @len bytes at device address @address, in pieces of at most @max_transfer; waits for the
 * answers, but not for ever.  Return: 0; -EIO: no socket (-1), no answer, or a wrong one.
 */
int vfio_user_twin_access(int socket, u32 max_transfer, u64 address, u8 *buf, size_t len,
			  bool write);

#endif /* VFIO_USER_TWIN_H */
