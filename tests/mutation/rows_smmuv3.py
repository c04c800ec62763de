# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the SMMUv3 backend. The first ones are what an emulator, too, would let pass or not, depending on what it holds on to."""

from tests.mutation.mutation import Mutation

SMMU, SMMU_START = "hal/iommu/smmuv3.c", "hal/iommu/smmuv3_boot.c"
IOMMU_START, BACKENDS_ARM = "hal/iommu/iommu_boot.c", "hal/iommu/backends_arm_boot.c"


def row(what: str, old: str, new: str, file: str = SMMU) -> Mutation:
    return Mutation(what, file, old, new, "smmuv3_test")


CFGI = "at = smmu_put(at, SMMU_CMD_CFGI_STE | (uint64_t)view->streams[n] << 32, CFGI_STE_LEAF);"
TLBI = "at = smmu_put(at, SMMU_CMD_TLBI_S12_VMALL | (uint64_t)view->domain << 32, 0);"
SMMUV3 = (
    row("an entry is changed and not invalidated", CFGI, ";"),
    row("the first entry alone is invalidated", CFGI, CFGI.replace("streams[n]", "streams[0]")),
    row("translations are not invalidated", TLBI, ""),
    row("translations of another VMID are invalidated", TLBI, TLBI.replace("view->domain", "(view->domain + 1)")),
    row("all translations are invalidated", "SMMU_CMD_TLBI_S12_VMALL |", "SMMU_CMD_TLBI_NSNH_ALL |"),
    row("translations go while entries are still held", "at = smmu_put(at, SMMU_CMD_SYNC, 0); /*", "/*"),
    row("CMD_SYNC is not awaited", "return smmu_begin(&at);", "return true;"),
    row("commands are sent without a CMD_SYNC", "at = smmu_put(at, SMMU_CMD_SYNC, 0); arch_barrier();", "arch_barrier();"),
    row("commands are sent before they are in memory", "arch_barrier(); /* commands, and entries that", "/* commands, and entries that"),
    row(
        "an entry translates before its words are there",
        "entry[3] = (uintptr_t)view->pt.root; arch_barrier();",
        "entry[3] = (uintptr_t)view->pt.root;",
    ),
    row("another sandbox's domain", "entry[2] = STE_STAGE2 | view->domain;", "entry[2] = STE_STAGE2 | 2;"),
    row("an entry is not of AArch64's tables", "STE_S2PS | STE_S2AA64 |", "STE_S2PS |"),
    row(
        "an entry that is closed translates", "return change(view, self, SMMU_STE_ABORT);", "return change(view, self, SMMU_STE_TRANSLATE);"
    ),
    row(
        "an entry that is closed bypasses",
        "return change(view, self, SMMU_STE_ABORT);",
        "return change(view, self, SMMU_STE_VALID | 4 << 1);",
    ),
    row("two monitors use the queue at once", "hal_lock_take(view->lock, self);", ""),
    row("a wait has no bound", "for (unsigned turns = SMMU_PATIENCE; turns; turns--)", "for (unsigned turns = SMMU_PATIENCE; turns;)"),
    row("commands are put over others that wait", "if (!smmu_begin(&at)) return false;", "(void)smmu_begin(&at);"),
    row("an error is not seen", "if ((smmu_read(SMMU_GERROR) ^ smmu_read(SMMU_GERRORN)) & SMMU_GERROR_CMDQ)", "if (false)"),
    row("what was in error counts as done", "good = false;", ""),
    row("a command in error stays", "(void)smmu_put(at, SMMU_CMD_SYNC, 0); arch_barrier();", ""),
    row("errors are acknowledged unseen", "smmu_read(SMMU_GERRORN) ^ SMMU_GERROR_CMDQ", "smmu_read(SMMU_GERROR)"),
    row("the SMMU is stopped while it would let all pass", "if (!abort_all() || !stop())", "if (!stop())", SMMU_START),
    row("an SMMU that goes on is not noticed", "if (!abort_all() || !stop())", "if (!abort_all() | (stop(), 0))", SMMU_START),
    row("interrupts of a loader's stay on", "smmu_write(SMMU_IRQ_CTRL, 0);", "", SMMU_START),
    row("an entry that nobody opened bypasses", "] = SMMU_STE_ABORT;", "] = SMMU_STE_VALID | 4 << 1;", SMMU_START),
    row(
        "entries of later streams are not filled",
        "for (unsigned n = 0; n < SMMU_STREAMS; n++)",
        "for (unsigned n = 0; n < SMMU_STREAMS / 2; n++)",
        SMMU_START,
    ),
    row("what was in the tables' frames stays", "words_fill(words, BH_SMMUV3_BYTES / WORD_BYTES, 0);", "", SMMU_START),
    row("a loader's entries and translations are held", "if (!invalidate_all())", "if (!control(CR0_CMDQEN))", SMMU_START),
    row("streams beyond the table are no events", "CR2_RECINVSID | CR2_PTM", "CR2_PTM", SMMU_START),
    row("translated requests go unchecked", "? CR0_ATSCHK : 0;", "? 0 : 0;", SMMU_START),
    row("a reserved bit is set", "? CR0_ATSCHK : 0;", "? CR0_ATSCHK : CR0_ATSCHK;", SMMU_START),
    row("errors of a loader's stand", "smmu_write(SMMU_GERRORN, smmu_read(SMMU_GERROR));", "", SMMU_START),
    row("faults may stall", "{ SMMU_IDR0, 3 << 24, 0, 1 << 24,", "{ SMMU_IDR0, 3 << 24, 0, 2 << 24,", SMMU_START),
    row("tables are read past caches", "{ SMMU_IDR0, 1 << 4, 1 << 4, 1 << 4,", "{ SMMU_IDR0, 1 << 4, 0, 1 << 4,", SMMU_START),
    row("a queue of events that is full stays so", "go_round();", ""),
    row("an overflow is not acknowledged", "smmu_read(SMMU_EVENTQ_PROD)", "smmu_read(SMMU_EVENTQ_PROD) & INT32_MAX"),
    row("monitors map the events", "SMMU_STREAM_BYTES + SMMU_COMMAND_BYTES, HAL_MEMORY_RAM", "BH_SMMUV3_BYTES, HAL_MEMORY_RAM", SMMU_START),
)
