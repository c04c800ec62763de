/* SPDX-License-Identifier: Apache-2.0 */
/* VT-d, resident where something calls iommu_live.h: the IOMMU invalidates pages. */
#include "hal/iommu/iommu_live.h"
#include "hal/iommu/vtd.h"

#include "arch/arch.h"
#include "hal/pt/walk.h"

/* ECAP.C is not asked for: every entry is written back before the IOMMU is told of it. */
void vtd_write_back(const struct pt_live *tables, uint64_t gpa, uint64_t size)
{
	struct pt_place place;

	for (uint64_t done = 0; done < size; done += pt_span(place.level)) {
		place = pt_find(&tables->format, tables->root, gpa + done);
		arch_cache_flush(place.entry);
	}
}

/* CAP.MAMV is at least 9, as start-up has seen: D51397, 6.5.2.3 "IOTLB Invalidate". What is larger takes the domain. */
enum { MOST_PAGES_SHIFT = 9 };

bool vtd_invalidate(const struct iommu_view *view, uint32_t self, uint64_t gpa, uint64_t size, uint64_t leaf)
{
	uint64_t command = (uint64_t)view->domain << VTD_COMMAND_DOMAIN_SHIFT, operand = 0;
	unsigned shift = 0;
	uint32_t tail;
	bool done;

	(void)leaf; /* a range has leaves of any size */
	while ((gpa ^ (gpa + size - 1)) / BH_PAGE_BYTES >> shift)
		shift++;
	command |= shift > MOST_PAGES_SHIFT ? VTD_INVALIDATE_DOMAIN : VTD_INVALIDATE_RANGE;
	if (shift <= MOST_PAGES_SHIFT)
		operand = (gpa & -((uint64_t)BH_PAGE_BYTES << shift)) | shift;
	hal_lock_take(view->lock, self);
	tail = vtd_begin();
	done = tail != VTD_HANGS && vtd_carry_out(vtd_put(tail, command, operand));
	hal_lock_give(view->lock, self);
	return done;
}
