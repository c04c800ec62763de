/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What differs between the kernels that this module is built for: 6.1 and 6.12. */
#pragma once
#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_clear(struct vm_area_struct *area, vm_flags_t flags)
{
	area->vm_flags &= ~flags;
}
#endif
