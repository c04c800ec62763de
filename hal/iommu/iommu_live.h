/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions reach while they run: holes of the IOMMU's root become leaves, and leaves become holes, as in stage 2 (hal/pt/pt_live.h),
 * within ranges that start-up has reserved. Resident, and linked where something calls it; nothing does yet.
 *
 *   iommu_live_create, iommu_live_reserve   start-up
 *   iommu_live_put    hole -> leaf. No IOMMU that start-up accepts keeps anything about a hole, so nothing is
 *                     invalidated: VT-d says so (CAP.CM). AMD-Vi's NpCache says the opposite in QEMU, whose model keeps none; there a
 *                     function might at worst be refused once more.
 *   iommu_live_take   leaf -> hole; then the IOMMU is told to invalidate these leaves, by the domain that they were used with, and waited
 * for. A sandbox has one domain all its life, so that is its view's.
 *
 * The IOMMU is the one user of these tables: of the cores that pt_live.h asks for an answer it is the only one, and what it answers is that
 * an invalidation is complete.
 *
 * One core of the sandbox edits at a time; who that is, the caller settles. It takes from stage 2 besides.
 */
#pragma once
#include "hal/iommu/iommu.h"
#include "hal/pt/pt_live.h"

/*
 * Invalidates the leaves, each of `leaf` bytes, in [gpa, gpa + size), which have become holes, and waits. Returns whether it is done within
 * a bound. Takes the lock as `self`.
 */
typedef bool iommu_invalidate(const struct iommu_view *view, uint32_t self, uint64_t gpa, uint64_t size, uint64_t leaf);

/* Makes what has been written to the entries of [gpa, gpa + size) visible to an IOMMU that reads memory and looks into no cache. */
typedef void iommu_write_back(const struct pt_live *tables, uint64_t gpa, uint64_t size);

/* Of an image's backends: a line beside that in iommu_backend. The list ends with NULL. */
struct iommu_invalidations {
	const struct iommu *of;
	iommu_invalidate *invalidate;
	iommu_write_back *write_back; /* NULL: the IOMMU's reads are coherent */
};
extern const struct iommu_invalidations iommu_invalidations[];
iommu_invalidate smmuv3_invalidate, amdvi_invalidate, vtd_invalidate;
iommu_write_back vtd_write_back;

struct iommu_live {
	const struct iommu_view *view;
	iommu_invalidate *invalidate;
	iommu_write_back *write_back;
	struct pt_live tables;
};

/* ---- Start-up ---- */

/* Fills *live for a view that has a root. Nothing is reserved yet. */
void iommu_live_create(struct iommu_live *live, const struct iommu_view *view);
/* As pt_live_reserve, of which it returns the result. */
HAL_CHECKED enum hal_status iommu_live_reserve(struct iommu_live *live, struct iommu_view *view, uint64_t gpa, uint64_t size,
					       unsigned level);

/* ---- Resident, on a core of the sandbox ---- */

/*
 * Maps RAM, for reads and writes. Returns what pt_live_put does; HAL_E_DENIED also if the IOMMU has not forgotten what was taken last.
 */
HAL_CHECKED enum hal_status iommu_live_put(struct iommu_live *live, uint64_t gpa, hpa_t hpa, uint64_t size);
/*
 * Turns leaves into holes, which the sandbox's functions then do not reach. Returns what pt_live_take does; HAL_E_DENIED also as above; or
 * HAL_E_UNSUPPORTED: they are holes, and the IOMMU has not said within a bound that it has forgotten them. What functions reach is then
 * unknown: the sandbox ends, and its frames stay its own. Takes the lock as `self`.
 */
HAL_CHECKED enum hal_status iommu_live_take(struct iommu_live *live, uint32_t self, uint64_t gpa, uint64_t size);
