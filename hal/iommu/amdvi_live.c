/* SPDX-License-Identifier: Apache-2.0 */
/* AMD-Vi, resident where something calls iommu_live.h: the IOMMU invalidates pages. */
#include "hal/iommu/amdvi.h"
#include "hal/iommu/iommu_live.h"

/*
 * The smallest naturally aligned power of two that has all of the range: its last bytes' address without its highest 1. Directories have
 * not changed, so PDE is 0. IOMMU, 2.4.3 "INVALIDATE_IOMMU_PAGES".
 */
static uint64_t operand(uint64_t gpa, uint64_t size)
{
	uint64_t span = BH_PAGE_BYTES;

	while ((gpa ^ (gpa + size - 1)) >= span)
		span *= 2;
	return span == BH_PAGE_BYTES ? gpa : (gpa & -span) | ((span / 2 - 1) & -(uint64_t)BH_PAGE_BYTES) | AMDVI_SIZED;
}

bool amdvi_invalidate(const struct iommu_view *view, uint32_t self, uint64_t gpa, uint64_t size, uint64_t leaf)
{
	uint32_t tail;
	bool done;

	(void)leaf; /* a range has leaves of any size */
	hal_lock_take(view->lock, self);
	done = amdvi_begin(&tail);
	if (done)
		done = amdvi_carry_out(amdvi_put(tail, AMDVI_INVALIDATE_PAGES | (uint64_t)view->domain << 32, operand(gpa, size)));
	hal_lock_give(view->lock, self);
	return done;
}
