# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the AMD-Vi backend: what an emulator shows depends on what it holds on to, so a test on the host holds on to all."""

from tests.mutation.mutation import Mutation

AMDVI, AMDVI_START, BACKENDS_X86 = "hal/iommu/amdvi.c", "hal/iommu/amdvi_boot.c", "hal/iommu/backends_x86_boot.c"


def row(what: str, old: str, new: str, file: str = AMDVI) -> Mutation:
    return Mutation(f"AMD-Vi: {what}", file, old, new, "amdvi_test")


DEVICE = "tail = amdvi_put(tail, AMDVI_INVALIDATE_DEVICE | *stream, 0);"
TABLE = "tail = amdvi_put(tail, AMDVI_INVALIDATE_TABLE | *stream, 0);"
CLOSED = "{ AMDVI_CLOSED, view->open[AMDVI_DOMAIN], AMDVI_NO_INTERRUPT }"
PAGES = "amdvi_carry_out(amdvi_put(tail, AMDVI_INVALIDATE_PAGES | (uint64_t)view->domain << 32, AMDVI_ALL_PAGES))"
BEGUN = "done = amdvi_begin(&tail);"
AMD_VI = (
    row("an entry is changed and not invalidated", DEVICE, ""),
    row("the first entry alone is invalidated", DEVICE, DEVICE.replace("*stream", "view->streams[0]")),
    row("interrupts are not invalidated", TABLE, ""),
    row("translations are not invalidated", PAGES, "amdvi_carry_out(tail)"),
    row("translations of another domain are invalidated", PAGES, PAGES.replace("view->domain", "(view->domain + 1)")),
    row("translations of all domains are invalidated", PAGES, "amdvi_carry_out(amdvi_put(tail, AMDVI_INVALIDATE_ALL, 0))"),
    row("translations go while entries are still held", "tail = amdvi_put(tail, AMDVI_FENCE, 0);", ""),
    row("one page alone is invalidated", "AMDVI_ALL_PAGES)", "0)"),
    row("the end is not awaited", "if (amdvi_has_ended()) return true;", "return true;"),
    row("the wait has no bound", "for (uint32_t turns = AMDVI_TURNS; turns; turns--)", "for (uint32_t turns = AMDVI_TURNS; turns;)"),
    row("commands are handed over before they are in memory", "arch_barrier(); arch_mmio_write64", "arch_mmio_write64"),
    row("commands are put behind a wait that has not ended", BEGUN, "(void)amdvi_begin(&tail); done = true;"),
    row("a wait that was never asked is no end for ever", BEGUN, "done = amdvi_has_ended(); tail = amdvi_where();"),
    row("who comes behind one that gave up does not wait", ": ends(); *tail", ": amdvi_has_ended(); *tail"),
    row(
        "entries stay when the IOMMU hangs",
        "write_entry(amdvi->devices[*stream], words); if (done) {",
        "if (done) { write_entry(amdvi->devices[*stream], words);",
    ),
    row("two monitors use the ring at once", "hal_lock_take(view->lock, self);", ""),
    row("an entry that is closed translates", "return change(view, self, closed);", "return change(view, self, view->open);"),
    row("a closed entry passes all", CLOSED, CLOSED.replace("AMDVI_CLOSED", "0")),
    row("a closed entry passes interrupts", CLOSED, CLOSED.replace("AMDVI_NO_INTERRUPT", "0")),
    row("the log fills up", "go_round(); hal_lock_give", "hal_lock_give"),
    row(
        "the log goes round without the lock",
        "go_round(); hal_lock_give(view->lock, self);",
        "hal_lock_give(view->lock, self); go_round();",
    ),
    row("a closed entry fills the log", CLOSED, CLOSED.replace("view->open[AMDVI_DOMAIN]", "view->domain")),
    row("a closed entry has the domain of none", CLOSED, CLOSED.replace("view->open[AMDVI_DOMAIN]", "AMDVI_ONE_EVENT")),
    row(
        "a log that is still written is moved",
        "STATUS_RUNNING (UINT64_C(1) << 4 | 1 << 3)",
        "STATUS_RUNNING (UINT64_C(1) << 4)",
        AMDVI_START,
    ),
    row("events go where firmware's did", "write(EVENTS, (uintptr_t)tables->events | RING_256);", "", AMDVI_START),
    row("events go behind firmware's", "write(AMDVI_EVENT_TAIL, 0);", "", AMDVI_START),
    row("functions that nobody has fill the log", "[AMDVI_DOMAIN] = AMDVI_ONE_EVENT,", "", AMDVI_START),
    row("entries of later streams are not filled", "sizeof(tables->devices) / WORD_BYTES", "256 * AMDVI_ENTRY_WORDS", AMDVI_START),
    row("the last entry is not filled", "sizeof(tables->devices) / WORD_BYTES", "sizeof(tables->devices) / WORD_BYTES - 4", AMDVI_START),
    row("entries that nobody opened pass all", "[AMDVI_TRANSLATION] = AMDVI_CLOSED,", "[AMDVI_TRANSLATION] = 0,", AMDVI_START),
    row("interrupts pass that nobody opened", "[AMDVI_INTERRUPTS] = AMDVI_NO_INTERRUPT,", "[AMDVI_INTERRUPTS] = 0,", AMDVI_START),
    row("what was held before counts", "amdvi_put(0, AMDVI_INVALIDATE_ALL, 0)", "0", AMDVI_START),
    row("firmware's exclusion range passes", "write(EXCLUSION, 0);", "", AMDVI_START),
    row(
        "an IOMMU that goes on reading is not noticed",
        "if (!stops() || !starts(amdvi))",
        "if ((stops(), 0) || !starts(amdvi))",
        AMDVI_START,
    ),
    row(
        "an IOMMU that does not obey is not noticed", "if (!stops() || !starts(amdvi))", "if (!stops() || (starts(amdvi), 0))", AMDVI_START
    ),
    row("the registers are not switched on", "| BASE_ENABLE", "", AMDVI_START),
    row("another sandbox's domain", "AMDVI_ONE_EVENT | view->domain", "AMDVI_ONE_EVENT | 2", AMDVI_START),
    row("one function fills the log", "AMDVI_ONE_EVENT | view->domain", "view->domain", AMDVI_START),
    row("interrupts go to the first core of the machine", "core << 8 |", "0u << 8 |", AMDVI_START),
    row("interrupts have another vector", "vector << 16", "(vector | 0x40) << 16", AMDVI_START),
    row("what lies behind a table of interrupts interrupts", "INTERRUPT_FRAMES = 2", "INTERRUPT_FRAMES = 1", AMDVI_START),
    row("vectors of exceptions", "FIRST_VECTOR = 16", "FIRST_VECTOR = 0", AMDVI_START),
    row("modes of interrupts are vectors", "VECTORS = 256", "VECTORS = 512", AMDVI_START),
    row("interrupts are the functions' own", "AMDVI_REMAP | AMDVI_NO_INTERRUPT |", "AMDVI_NO_INTERRUPT |", AMDVI_START),
    row("addresses that the IOMMU does not have", "view->pt.oa_bits = bits;", "", AMDVI_START),
    row("an IOMMU elsewhere is taken for the board's", "if (base(capability) != board.iommu.registers)", "if (false)", AMDVI_START),
    row("monitors map the events", "UINT64_C(2) * BH_PAGE_BYTES", "UINT64_C(3) * BH_PAGE_BYTES", AMDVI_START),
    row("monitors map entries of all buses", "* AMDVI_STREAMS_SHOWN", "* AMDVI_STREAMS", AMDVI_START),
)
