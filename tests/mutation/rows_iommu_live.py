# SPDX-License-Identifier: Apache-2.0
"""Mistakes in how a function's reach changes while it runs: stale translations on the host, whose fakes hold on to all that they have seen."""

from tests.mutation.mutation import Mutation

IOMMU_EDITOR, IOMMU_EDITOR_START = "hal/iommu/iommu_live.c", "hal/iommu/iommu_live_boot.c"
SMMU_INVALIDATES, AMDVI_INVALIDATES = "hal/iommu/smmuv3_live.c", "hal/iommu/amdvi_live.c"


def row(what: str, old: str, new: str, file: str = IOMMU_EDITOR, program: str = "smmuv3_test") -> Mutation:
    return Mutation(f"a function's reach: {what}", file, old, new, program)


def smmu(what: str, old: str, new: str) -> Mutation:
    return row(f"SMMUv3: {what}", old, new, SMMU_INVALIDATES)


def amdvi(what: str, old: str, new: str) -> Mutation:
    return row(f"AMD-Vi: {what}", old, new, AMDVI_INVALIDATES, "amdvi_test")


INVALIDATE = "if (!live->invalidate(live->view, self, gpa, size, leaf_at(&live->tables, gpa)))"
LEAF = "at = smmu_put(at, SMMU_CMD_TLBI_S2_IPA | domain, (gpa + done) | TLBI_LEAF);"
ALL = "return smmu_put(at, SMMU_CMD_TLBI_S12_VMALL | domain, 0);"
PAGES = "amdvi_put(tail, AMDVI_INVALIDATE_PAGES | (uint64_t)view->domain << 32, operand(gpa, size))"
IOMMU_LIVE = (
    row("leaves are taken and not invalidated", INVALIDATE, "if (false)"),
    row("the first leaf alone is invalidated", INVALIDATE, INVALIDATE.replace("gpa, size,", "gpa, leaf_at(&live->tables, gpa),")),
    row(
        "an end that does not come counts as one",
        f"{INVALIDATE} return HAL_E_UNSUPPORTED;",
        "(void)live->invalidate(live->view, self, gpa, size, leaf_at(&live->tables, gpa));",
    ),
    row("more is taken before the last is forgotten", "pt_live_is_clear(&live->tables) ? ", "true ? "),
    row(
        "nobody has to invalidate",
        "pt_live_create(&live->tables, &view->pt, 1);",
        "pt_live_create(&live->tables, &view->pt, 0);",
        IOMMU_EDITOR_START,
    ),
    row("pages are all of the first range", "while (gpa - range->ia >= range->size) range++;", ""),
    smmu("leaves are not forgotten", LEAF, ""),
    smmu(
        "leaves of another VMID are forgotten",
        "uint64_t domain = (uint64_t)view->domain << 32;",
        "uint64_t domain = (view->domain + UINT64_C(1)) << 32;",
    ),
    smmu("each leaf is the first", "(gpa + done) | TLBI_LEAF", "gpa | TLBI_LEAF"),
    smmu("walks are forgotten, too", "(gpa + done) | TLBI_LEAF", "gpa + done"),
    smmu("all of the sandbox is forgotten for a page", "if (size > leaf * MOST_LEAVES)", "if (true)"),
    smmu("many pages are as many commands", "if (size > leaf * MOST_LEAVES)", "if (false)"),
    smmu("many pages are not forgotten", ALL, "return at;"),
    smmu(
        "the end is not awaited",
        "smmu_begin(&at) && smmu_send(put(view, at, gpa, size, leaf))",
        "smmu_begin(&at) && (smmu_send(put(view, at, gpa, size, leaf)), true)",
    ),
    smmu("commands are put over others that wait", "done = smmu_begin(&at) &&", "done = (smmu_begin(&at), true) &&"),
    smmu("two monitors use the queue at once", "hal_lock_take(view->lock, self);", ""),
    amdvi("pages are not forgotten", PAGES, "tail"),
    amdvi("pages of another domain are forgotten", PAGES, PAGES.replace("view->domain", "(view->domain + 1)")),
    amdvi("a range is its first page", "operand(gpa, size)", "gpa"),
    amdvi("the power of two is of the range's size alone", "while ((gpa ^ (gpa + size - 1)) >= span)", "while (size > span)"),
    amdvi("half of the power of two is forgotten", "(span / 2 - 1)", "(span / 4 - 1)"),
    amdvi("all of the sandbox is forgotten for a page", "operand(gpa, size)", "AMDVI_ALL_PAGES"),
    amdvi("commands are put behind a wait that has not ended", "done = amdvi_begin(&tail);", "(void)amdvi_begin(&tail); done = true;"),
    amdvi("two monitors use the ring at once", "hal_lock_take(view->lock, self);", ""),
)
