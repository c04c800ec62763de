/* SPDX-License-Identifier: Apache-2.0 */
/* SMMUv3, resident where something calls iommu_live.h: the SMMU invalidates single leaves. Arm IHI 0070. */
#include "hal/iommu/iommu_live.h"
#include "hal/iommu/smmuv3.h"

enum { MOST_LEAVES = 64 }; /* beyond that all of the sandbox is forgotten: fewer commands */
#define TLBI_LEAF UINT64_C(1)

/* 4.4.3 "TLB invalidation of stage 2": any address of a leaf names it, and of its walk the last level alone has changed. */
static uint32_t put(const struct iommu_view *view, uint32_t at, uint64_t gpa, uint64_t size, uint64_t leaf)
{
	uint64_t domain = (uint64_t)view->domain << 32;

	if (size > leaf * MOST_LEAVES)
		return smmu_put(at, SMMU_CMD_TLBI_S12_VMALL | domain, 0);
	for (uint64_t done = 0; done < size; done += leaf)
		at = smmu_put(at, SMMU_CMD_TLBI_S2_IPA | domain, (gpa + done) | TLBI_LEAF);
	return at;
}

bool smmuv3_invalidate(const struct iommu_view *view, uint32_t self, uint64_t gpa, uint64_t size, uint64_t leaf)
{
	uint32_t at;
	bool done;

	hal_lock_take(view->lock, self);
	done = smmu_begin(&at) && smmu_send(put(view, at, gpa, size, leaf));
	arch_barrier(); /* the next holder finds the queue as this one left it */
	hal_lock_give(view->lock, self);
	return done;
}
