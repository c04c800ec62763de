# SPDX-License-Identifier: Apache-2.0
"""Mistakes about what functions reach by themselves, on machines that translate for them."""

from dataclasses import replace

from tests.emulated.case import ARMV7, GICV2, GICV3, SVM, VTD
from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.mutation import Mutation
from tests.mutation.one_case import LOADED
from tests.mutation.rows_amdvi import PAGES
from tests.mutation.rows_vtd import CONTEXT
from tests.mutation.rows_vtd import PAGES as DOMAIN

AMDVI_START = "hal/iommu/amdvi_boot.c"
SMMU_START = "hal/iommu/smmuv3_boot.c"
PC_CORE = "hal/x86/core.c"
SILENT = "pci_reset(&core->partition->pci, core->self, PCI_SILENT);"
CLOSED = "quiet = iommu_close(&core->partition->iommu, core->self);"
REST = f"ioapic_reset(core->partition, core->self); {CLOSED} pci_reset(&core->partition->pci, core->self, PCI_FUNCTION_RESET);"
# Beyond the attacker's own guest-physical addresses: RAM of all sandboxes.
EVERYBODYS = "pt_map(&view->pt, 0x42000000, (hpa_t){ 0x42000000 }, 0x20000000, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM)"
GO_ON = (Mutation("functions go on", PC_CORE, f"{SILENT} {REST}", "ioapic_reset(core->partition, core->self); " + CLOSED, ""),)
CREATE = "static enum hal_status create(struct iommu_view *view, struct hal_arena *arena) { return "
BEYOND = MachineMutation(
    "a function's root leads beyond its sandbox",
    SMMU_START,
    f"{CREATE}HAL_OK;",
    f"{CREATE}{EVERYBODYS};",
    "dma-write-foreign-ram",
    GICV3,
    "the card of attacker has written to 0x",
)


def shown_registers(file: str, ends: str, page: int, caught_by: str, platform: str, shows: str) -> MachineMutation:
    """At `ends`, a backend's root of functions is made, which then leads to a page of registers, too, and to all of its GiB: no table is added.

    Not on VT-d: QEMU refuses a leaf in which messages lie, as they do in that GiB.
    """
    start = page & -(1 << 30)
    maps = f"(void)pt_map(&view->pt, {start:#x}, (hpa_t){{ {start:#x} }}, 1u << 30, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM); "
    return MachineMutation(f"a function's root leads to registers at {page:#x}", file, ends, maps + ends, caught_by, platform, shows)


AMDVI_OPENS = "view->open[AMDVI_TRANSLATION] = view->pt.format->control"
REGISTERS = (
    shown_registers(AMDVI_START, AMDVI_OPENS, 0xFED80000, "dma-write-amd-vi-registers", SVM, "gave 'returned"),
    shown_registers(AMDVI_START, AMDVI_OPENS, 0xB0028000, "dma-write-own-configuration-on-svm", SVM, "gave 'returned"),
    MachineMutation(
        "a function's root leads to the SMMU's registers",
        SMMU_START,
        f"{CREATE}HAL_OK;",
        f"{CREATE}pt_map(&view->pt, 0, (hpa_t){{ 0 }}, 1u << 30, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM);",
        "dma-read-iommu-registers",
        GICV3,
        "gave 'returned 0x",
    ),
)
UNBLOCKED = MachineMutation(
    "entries that nobody opened bypass, and start-up finds out",
    SMMU_START,
    "smmu.streams[n][0] = SMMU_STE_ABORT;",
    "smmu.streams[n][0] = SMMU_STE_VALID | 4 << 1;",
    "dma-own",
    GICV3,
    "lets DMA of function 00:01.0 pass",
)
DMA = (
    BEYOND,
    *REGISTERS,
    *(replace(UNBLOCKED, platform=name) for name in (GICV3, GICV2, ARMV7)),
    *(replace(BEYOND, platform=name) for name in (GICV2, ARMV7)),
    replace(BEYOND, what="a function reads beyond its sandbox", caught_by="dma-read-foreign-ram", shows="gave 'returned 0x[1-9a-f]"),
    # Its rings, too, are then elsewhere than it was told.
    MachineMutation(
        "functions that are granted bypass the SMMU",
        "hal/iommu/smmuv3.c",
        "return change(view, self, SMMU_STE_TRANSLATE);",
        "return change(view, self, SMMU_STE_VALID | 4 << 1);",
        "dma-own",
        GICV3,
        "gave 'returned",
    ),
    MachineMutation(
        "a function that could be is not reset",
        "hal/arm/psci.c",
        "pci_reset(&core->partition->pci, core->self, PCI_FUNCTION_RESET);",
        "",
        "disc-reset-by-itself",
        GICV3,
        "gave 'returned 0x460000'",
    ),
    MachineMutation(
        "a function that could be is not reset",
        "hal/x86/core.c",
        "pci_reset(&core->partition->pci, core->self, PCI_FUNCTION_RESET);",
        "",
        "disc-of-a-pc-reset-by-itself",
        SVM,
        "gave 'returned 0x460000'",
    ),
    MachineMutation(
        "a function's capability is not found",
        "hal/pci/functions_boot.c",
        "EXPRESS_RESETS = 1 << 28",
        "EXPRESS_RESETS = 1 << 29",
        "disc-reset-by-itself",
        ARMV7,
        "gave 'returned 0x460000'",
    ),
    MachineMutation(
        "what is blocked is not recorded",
        SMMU_START,
        "on = CR0_CMDQEN | CR0_EVENTQEN |",
        "on = CR0_CMDQEN |",
        "dma-fault-recorded",
        GICV3,
        "no dma fault is recorded of nic0",
    ),
    MachineMutation(
        "what is blocked is not recorded",
        "hal/iommu/vtd_boot.c",
        "view->open[0] = VTD_PRESENT |",
        "view->open[0] = 2 | VTD_PRESENT |",  # FPD: 9.3 "Context Entry"
        "dma-write-recorded-by-page",
        VTD,
        "no dma fault is recorded of nic0",
    ),
    MachineMutation(
        "a queue of faults that is full stays so",
        "hal/iommu/smmuv3.c",
        "go_round();",
        "(void)go_round;",
        "dma-flood-of-faults",
        GICV3,
        "are recorded, no more",
    ),
    MachineMutation(
        "a function's entry stays closed",
        "hal/arm/partition_boot.c",
        "(void)iommu_open(&partition->iommu, HAL_LOCK_START_UP);",
        "",
        "dma-own",
        GICV3,
        "gave 'returned",
    ),
    MachineMutation(
        "functions that are granted pass AMD-Vi",
        AMDVI_START,
        "view->pt.format->control | (uintptr_t)view->pt.root",
        "UINT64_C(3) << 61 | 3",
        "dma-own",
        SVM,
        "gave 'returned",
    ),
    MachineMutation(
        "a function's entry stays closed on a PC",
        "hal/x86/partition_boot.c",
        "(void)iommu_open(&partition->iommu, HAL_LOCK_START_UP);",
        "",
        "dma-own",
        SVM,
        "gave 'returned",
    ),
    MachineMutation(
        "a function has no translation in a second life on a PC",
        "hal/x86/core.c",
        "(void)iommu_open(&core->partition->iommu, core->self);",
        "",
        "dma-after-a-restart",
        SVM,
        "gave 'returned",
    ),
    # QEMU judges what DMA forges by the entry of its I/O APIC.
    MachineMutation(
        "what nobody opened passes interrupts",
        AMDVI_START,
        "/ WORD_BYTES, closed);",
        "/ WORD_BYTES, closed); tables->devices[0xa0][AMDVI_INTERRUPTS] = 0;",
        "dma-forges-foreign-interrupt",
        SVM,
        "stray interrupt 0x55",
    ),
    MachineMutation(
        "messages of functions reach the next core",
        AMDVI_START,
        "vector << 16 | core << 8 | 1",
        "vector << 16 | (core + 1) << 8 | 1",
        "dma-sends-vector-to-a-foreign-core",
        SVM,
        "victim said 'victim: stray interrupt 0x55'",
    ),
    *(
        MachineMutation(what, file, old, new, caught_by, VTD, "victim said 'victim: stray interrupt 0x55'")
        for what, file, old, new, caught_by in (
            (
                "a guest chooses where MSI goes",
                "hal/pci/messages_boot.c",
                "own->messages[0].bytes = MSI_ADDRESS;",
                "",
                "dma-sends-vector-to-a-foreign-core",
            ),
            (
                "a guest chooses where MSI-X goes",
                "hal/pci/messages.c",
                "!(exit->gpa & ENTRY_DATA)",
                "false",
                "dma-sends-by-table-to-a-foreign-core",
            ),
        )
    ),
    MachineMutation(
        "the IOMMU's tables are filled over the boot module",
        "monitor/boot/main_boot.c",
        "module_spread(table, modules.start); block_dma(table);",
        "block_dma(table); module_spread(table, modules.start);",
        LOADED,
        SVM,
        "boot module refused: its checksum is wrong",
    ),
    MachineMutation(
        "functions go on when their sandbox has ended",
        PC_CORE,
        f"{SILENT} {REST}",
        "ioapic_reset(core->partition, core->self); quiet = true;",
        "dma-that-was-let-when-its-sandbox-ended",
        SVM,
        "the card of sender has written to 0x",
    ),
    # The IOMMU alone holds them; QEMU keeps translations by domain and page. Entries it reads each time, so that mistake is the host's (rows_amdvi.py).
    *(
        MachineMutation(
            what,
            "hal/iommu/amdvi.c",
            PAGES,
            new,
            "dma-that-was-let-when-its-sandbox-ended",
            SVM,
            "the card of sender has written to 0x",
            GO_ON,
        )
        for what, new in (
            ("translations of an entry that is closed stay", "amdvi_carry_out(tail)"),
            ("translations of another domain go", PAGES.replace("view->domain", "(view->domain + 1)")),
        )
    ),
    MachineMutation(
        "a function that is granted no line drives one",
        "hal/pci/functions_boot.c",
        "function->line ? 0 : PCI_COMMAND_INTX_DISABLE",
        "0",
        "dma-holds-a-shared-line",
        SVM,
        "victim said 'victim: stray interrupt",
    ),
    MachineMutation(
        "a guest chooses where non-maskable messages go",
        "hal/pci/messages_boot.c",
        "own->messages[0].bytes = MSI_ADDRESS;",
        "",
        "dma-sends-nmi",
        VTD,
        "exits in steady state",
    ),
    # QEMU's VT-d keeps translations by domain and page, and entries until it is told, of whatever domain.
    *(
        MachineMutation(
            what, "hal/iommu/vtd.c", old, new, "dma-that-was-let-when-its-sandbox-ended", VTD, "the card of sender has written to 0x", GO_ON
        )
        for what, old, new in (
            ("an entry that is closed is not invalidated", CONTEXT, ";"),
            ("translations of an entry that is closed stay", DOMAIN, "vtd_carry_out(tail)"),
            ("translations of another domain go", DOMAIN, DOMAIN.replace("| domain", "| domain + 0x10000")),
            ("translations of one page alone go", DOMAIN, DOMAIN.replace("VTD_INVALIDATE_DOMAIN", "VTD_INVALIDATE_RANGE")),
        )
    ),
)
