# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the VT-d backend: a test on the host holds on to all that may be held, carries out commands in the worst order, and sees of memory
what was written back.
"""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_iommu_live import IOMMU_EDITOR

VTD, VTD_START, VTD_INVALIDATES = "hal/iommu/vtd.c", "hal/iommu/vtd_boot.c", "hal/iommu/vtd_live.c"


def row(what: str, old: str, new: str, file: str = VTD) -> Mutation:
    return Mutation(f"VT-d: {what}", file, old, new, "vtd_test")


def start(what: str, old: str, new: str) -> Mutation:
    return row(what, old, new, VTD_START)


def grants(what: str, old: str, new: str) -> Mutation:
    return Mutation(f"PCI functions: {what}", "hal/pci/functions_boot.c", old, new, "grant_test")


def message(what: str, old: str, new: str, file: str = "hal/pci/messages.c") -> Mutation:
    return Mutation(f"messages that VT-d remaps: {what}", file, old, new, "messages_test")


def capability(what: str, old: str, new: str) -> Mutation:
    return message(what, old, new, "hal/pci/messages_boot.c")


CONTEXT = "tail = vtd_put(tail, VTD_INVALIDATE_ENTRIES | domain, 0);"
PAGES = "vtd_carry_out(vtd_put(vtd_put_wait(tail, vtd->asked), VTD_INVALIDATE_DOMAIN | domain, 0))"
ASKED = "(is_unasked ? vtd_carry_out(tail) : ends(tail)) ? where(VTD_TAIL) : VTD_HANGS;"
REPAIR = "(void)vtd_put_wait(where(VTD_HEAD), vtd->asked - 1);"
SOURCE = "entry[1] = ENTRY_SOURCE | source;"
VT_D = (
    grants("one that no command register holds is granted", "!can_be_held(function) || ", ""),
    grants("a transitional one passes for one behind an IOMMU", "function->dma == BH_DMA_TRANSLATED && device >= VIRTIO_MODERN", "function->dma == BH_DMA_TRANSLATED"),
    grants("a pin that cannot be switched off is granted without a line", " && keeps_line_down(own, function->id)", ""),
    grants("firmware's ROM stays on", "write(function->id, PCI_ROM_ADDRESS, 0);", ""),
    row("pages that come stay in caches", "if (status == HAL_OK && live->write_back)", "if (false)", IOMMU_EDITOR),
    row("pages that go stay in caches", "return status; if (live->write_back)", "return status; if (false)", IOMMU_EDITOR),
    row("an entry is changed and not invalidated", CONTEXT, ";"),
    row("entries of another domain are invalidated", CONTEXT, CONTEXT.replace("| domain", "| domain + 0x10000")),
    row("entries of all functions are invalidated", CONTEXT, "tail = vtd_put(tail, VTD_INVALIDATE_CONTEXTS, 0);"),
    row("translations are not invalidated", PAGES, "vtd_carry_out(tail)"),
    row("translations of another domain are invalidated", PAGES, PAGES.replace("| domain", "| domain + 0x10000")),
    row("translations of all domains are invalidated", PAGES, PAGES.replace("VTD_INVALIDATE_DOMAIN", "VTD_INVALIDATE_PAGES")),
    row("translations go while entries are still held", PAGES, PAGES.replace("vtd_put_wait(tail, vtd->asked)", "tail")),
    row("the end is not awaited", "while (!has_ended()) {", "while (false) {"),
    row("the wait has no bound", "if (!turns--)", "if (false)"),
    row("commands are put behind a wait that has not ended", ASKED, "where(VTD_TAIL);"),
    row("a wait that was never asked is no end for ever", ASKED, ASKED.replace("(is_unasked ? vtd_carry_out(tail) : ends(tail))", "ends(tail)")),
    row("who comes behind one that gave up does not wait", ": ends(tail)) ?", ": has_ended()) ?"),
    row("entries stay when the IOMMU hangs", "write_entry(vtd->contexts[*stream], first); if (tail != VTD_HANGS)", "if (tail != VTD_HANGS) write_entry(vtd->contexts[*stream], first);\n if (tail != VTD_HANGS)"),
    row("entries stay in caches", "arch_cache_flush(entry);", ""),
    row("two monitors use the queue at once", "hal_lock_take(view->lock, self);", ""),
    row("an entry that is closed translates", "return change(view, self, 0);", "return change(view, self, view->open[0]);"),
    row("a command in error stays", REPAIR, ""),
    row("the queue stands after an error", "arch_mmio_write32(board.iommu.registers + VTD_FAULT_STATUS, VTD_QUEUE_ERROR);", ""),
    row("what stands in for a command in error ends the wait", REPAIR, REPAIR.replace(" - 1", "")),
    row("a command in error is waited for", "VTD_FAULT_STATUS) & VTD_QUEUE_ERROR)", "VTD_FAULT_STATUS) & 0)"),
    start("who invalidates single pages invalidates 2 MiB", "{ CAPABILITY, 48, 0x3f, 9, 0x3f,", "{ CAPABILITY, 48, 0x3f, 0, 0x3f,"),
    start("faults interrupt whom firmware has told", "write(FAULT_CONTROL, MASKED);", ""),
    start("the queue interrupts whom firmware has told", "write(QUEUE_CONTROL, MASKED);", ""),
    start("firmware's root counts", "return turn_on(ROOT_SET) &&", "return"),
    start("entries that firmware opened are held", "vtd_carry_out(vtd_put(0, VTD_INVALIDATE_CONTEXTS, 0))", "true"),
    start("translations that firmware opened are held", "vtd_carry_out(vtd_put((uint32_t)read64(VTD_TAIL), VTD_INVALIDATE_PAGES, 0))", "true"),
    start("interrupts that firmware remapped are held", "turn_on(TABLE_SET) && invalidates_interrupts()", "turn_on(TABLE_SET)"),
    start("firmware's table of interrupts counts", "turn_on(TABLE_SET) &&", ""),
    start("interrupts in compatibility format pass", "turn_off(COMPATIBLE) &&", ""),
    start("translation is not switched on", "VTD_INVALIDATE_PAGES, 0)) && turn_on(TRANSLATES);", "VTD_INVALIDATE_PAGES, 0));"),
    start("interrupts are not remapped", "invalidates_interrupts() && turn_on(REMAPS);", "invalidates_interrupts();"),
    start("tables of firmware's are filled while they are read", "if (!stops() ||", "if (stops(), "),
    start("an IOMMU that does not obey is not noticed", "return comes(STATUS, bit, bit);", "(void)comes(STATUS, bit, bit); return true;"),
    start("an IOMMU that does not stop is not noticed", "return comes(STATUS, bit, 0);", "(void)comes(STATUS, bit, 0); return true;"),
    start("errors of before are the queue's", "write(VTD_FAULT_STATUS, UINT32_MAX);", ""),
    start("one-shot bits are kept", "#define ONE_SHOT UINT32_C(0x69000000)", "#define ONE_SHOT UINT32_C(0)"),
    start("memory that firmware protects stays so", "write(PROTECTED_MEMORY, read(PROTECTED_MEMORY) & ~PROTECTS);", ""),
    start("tables stay in caches when the IOMMU begins", "arch_cache_flush_all(); if", "if"),
    start("a sandbox's tables stay in caches", ".publish = arch_cache_flush_all,", ""),
    start("another sandbox's domain", "(uint64_t)view->domain << VTD_DOMAIN_SHIFT", "UINT64_C(1) << VTD_DOMAIN_SHIFT"),
    start("whoever sends it, an interrupt counts", SOURCE, "entry[1] = source;"),
    start("interrupts of another function count", SOURCE, "entry[1] = ENTRY_SOURCE | 0x30;"),
    start("interrupts go to the first core of the machine", "(uint64_t)core << ENTRY_CORE_SHIFT", "0"),
    start("interrupts have another vector", "vector << ENTRY_VECTOR_SHIFT", "(vector | 0x40) << ENTRY_VECTOR_SHIFT"),
    start("vectors of exceptions", "FIRST_VECTOR = 16", "FIRST_VECTOR = 8"),
    start("lines have vectors of exceptions", "FIRST_LINE_VECTOR = 32", "FIRST_LINE_VECTOR = 16"),
    start("all functions have the first one's interrupts", "while (vtd->interrupts[block][FIRST_VECTOR][0]) block++;", ""),
    start("messages name one entry, whatever their vector", "UINT32_C(0xfee00018)", "UINT32_C(0xfee00010)"),
    start("level-triggered lines are edge-triggered", "ENTRY_LEVEL, apic_id", "0, apic_id"),
    start("lines of all cores are the first core's", "LINE_FORMAT | 2 * core * VTD_BLOCK", "LINE_FORMAT | 0 * core * VTD_BLOCK"),
    start("lines are in compatibility format", "UINT32_C(0x10000)", "UINT32_C(0)"),
    start("addresses that the IOMMU does not have", "view->pt.oa_bits = bits;", ""),
    start("pages that the IOMMU does not have", "view->pt.leaf_levels &= PT_LEAF_4K | (capability >> 34 & 3) << 1;", ""),
    start("monitors map interrupts", "UINT64_C(3) * BH_PAGE_BYTES", "sizeof(*vtd) - BH_PAGE_BYTES"),
    start("a record of start-up's own keeps others out", "write(at + RECORD_END, RECORDED);", ""),
    start("the first record alone is emptied", "left = 1 + (capability", "left = 1 + 0 * (capability"),
    start("records lie where one IOMMU has them", "(uint32_t)(capability >> RECORDS_SHIFT & RECORDS_MASK)", "0x40"),
    start("an overflow ends all recording", "write(VTD_FAULT_STATUS, OVERFLOWED);", ""),
    start("commands in error are forgotten with faults", "write(VTD_FAULT_STATUS, OVERFLOWED);", "write(VTD_FAULT_STATUS, UINT32_MAX);"),
    row("pages that were taken are held", "vtd_carry_out(vtd_put(tail, command, operand))", "vtd_carry_out(tail)", VTD_INVALIDATES),
    row("pages of another domain go", "(uint64_t)view->domain <<", "(uint64_t)(view->domain + 1) <<", VTD_INVALIDATES),
    row("all pages go", "command |= shift > MOST_PAGES_SHIFT ?", "command |= true ?", VTD_INVALIDATES),
    row("the first page of a range alone goes", "| shift;", "| 0;", VTD_INVALIDATES),
    row("more than a command can name is no range", "MOST_PAGES_SHIFT = 9", "MOST_PAGES_SHIFT = 20", VTD_INVALIDATES),
    message("a guest writes their address", "!(exit->gpa & ENTRY_DATA)", "false"),
    message("a guest writes their upper address", "exit->gpa & ENTRY_UPPER_ADDRESS ? 0 : table->address", "exit->gpa & ENTRY_UPPER_ADDRESS ? value : table->address"),
    message("data are addresses", "!(exit->gpa & ENTRY_DATA)", "true"),
    message("writes that are half an address pass", "exit->width != sizeof(value) || exit->gpa % sizeof(value)", "exit->width != sizeof(value)"),
    message("writes of two words pass", "exit->width != sizeof(value) || exit->gpa % sizeof(value)", "exit->gpa % sizeof(value)"),
    message("registers beside the table are addresses", "exit->gpa - table->start < table->bytes", "true"),
    capability("a guest writes the address of MSI", "own->messages[0].bytes = MSI_ADDRESS;", ""),
    capability("a reset leaves MSI without its address", "(uint8_t)(msi + MSI_ADDRESS), 0, address }", "0, 0, address }"),
    capability("the upper address stays as firmware left it", "pci_config_write(own->place + msi + MSI_DATA, 0);", ";"),
    capability("data are where MSI of 32 bits has them", "data = MSI_DATA + more;", "data = MSI_DATA;"),
    capability("two tables lie in one page", "|| shares_a_page(view, traps)", "|| (shares_a_page(view, traps) && false)"),
    capability("a table before another is taken for the same", "other->pages < table->pages + table->page_bytes &&", ""),
    capability("a table behind another is taken for the same", "&& table->pages < other->pages + other->page_bytes", ""),
    capability("a table elsewhere is trapped", "read(function->id, msi_x + MSI_X_TABLE) != function->table", "false"),
    capability("a part of the table is trapped", "(read(function->id, msi_x) >> 16 & MSI_X_ENTRIES) + 1 != function->messages", "false"),
    capability("ports are a table", "base.ports ||", ""),
    capability("a table outside its function", "offset + bytes > base.bytes", "false"),
    capability("the first page of a table alone is trapped", "(uint32_t)(((end + PCI_PAGE_BYTES - 1) & ~(uint64_t)(PCI_PAGE_BYTES - 1)) - table->pages)", "PCI_PAGE_BYTES"),
    capability("a table that the board tree does not have", ": function->messages", ": 0"),
)  # fmt: skip
