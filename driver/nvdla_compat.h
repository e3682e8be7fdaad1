/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that are supported.  Kbuild looks into their
 * headers and defines NVDLA_HAVE_*; nothing here or elsewhere asks for a version.
 */
#ifndef NVDLA_COMPAT_H
#define NVDLA_COMPAT_H

#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* The namespace was a bare word once and is a string now. */
#ifdef NVDLA_HAVE_BARE_NAMESPACE
#define NVDLA_IMPORT_NS(ns) MODULE_IMPORT_NS(ns)
#else
#define NVDLA_IMPORT_NS(ns) MODULE_IMPORT_NS(#ns)
#endif

#ifndef NVDLA_HAVE_COPY_STRUCT_TO_USER
/* A struct that user space knows in another length: cut, or filled with zeros. */
static inline int copy_struct_to_user(void __user *dst, size_t usize, const void *src, size_t ksize,
				      bool *ignored_trailing)
{
	size_t size = min(usize, ksize);

	if (usize > ksize && clear_user(dst + ksize, usize - ksize))
		return -EFAULT;
	if (ignored_trailing)
		*ignored_trailing = memchr_inv(src + size, 0, ksize - size);
	return copy_to_user(dst, src, size) ? -EFAULT : 0;
}
#endif

#endif /* NVDLA_COMPAT_H */
