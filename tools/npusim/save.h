/* SPDX-License-Identifier: MIT */
/* Files that the model writes. */
#ifndef NPUSIM_SAVE_H
#define NPUSIM_SAVE_H

#include <stddef.h>

/* All of a file, or none of it: 0 or a negative errno. */
int npusim_save(const char *path, const void *data, size_t len);

#endif /* NPUSIM_SAVE_H */
