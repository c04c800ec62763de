# SPDX-License-Identifier: Apache-2.0
"""What start-up no longer cleans, on a machine that did not start clean: the case that notices, and what its report then shows."""

from tests.emulated.case import ARMV7, GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation

MAIN, PARTITION, FUNCTIONS = "monitor/boot/main_boot.c", "monitor/boot/partition_boot.c", "hal/pci/functions_boot.c"
PC, IOAPIC = "hal/x86/machine_boot.c", "hal/x86/apic/ioapic_boot.c"
LPIS = "hal/arm/gic/gicv3_disarm_boot.c"
ENTRIES = {SVM: "arch/x86_64/entry_boot.S", GICV3: "arch/arm/aarch64/entry_boot.S", ARMV7: "arch/arm/armv7/entry_boot.S"}


def dirty(what: str, file: str, old: str, new: str, platform: str, shows: str) -> MachineMutation:
    return MachineMutation(what, file, old, new, "dirty-random", platform, shows)


def uncleared(what: str, page: str, bytes_: str, platform: str, shows: str) -> MachineMutation:
    return dirty(f"{what} not zeroed", PARTITION, f"fill_words(sandbox->pool + {page}, {bytes_}, 0);", "", platform, shows)


def not_zeroed(what: str, platform: str, symbols: str) -> MachineMutation:
    """The start-up code's own memory, or the resident monitor's."""
    start, end = f"__{symbols}_start", f"__{symbols}_end"
    if platform == SVM:
        return dirty(what, ENTRIES[SVM], f"zero {start}, {end}", "", platform, "never said|left is cold")
    r = "x" if platform == GICV3 else "r"
    old = f"ldr {r}0, ={start} ldr {r}1, ={end} bl clear"
    # Ones, because of random words one in four is a state that runs.
    return MachineMutation(what, ENTRIES[platform], old, "", "dirty-ones", platform, "never said")


HEADER_BYTES = "sizeof(struct bh_log) - BH_LOG_TEXT_BYTES"
MEMORY = tuple(
    row
    for platform in (SVM, GICV3)
    for row in (
        dirty(
            "kick mailboxes and locks are as they were",
            MAIN,
            "words_fill(words, BH_PAGE_BYTES / WORD_BYTES, 0);",
            "",
            platform,
            "kicks acknowledged, not|never said",
        ),
        uncleared("statistics", "BH_POOL_STATS", "BH_PAGE_BYTES", platform, "shows (restarts|exits that were not)"),
        uncleared("the crash record", "BH_POOL_CRASH", "BH_PAGE_BYTES", platform, "left shows Crash"),
        uncleared("the log's header", "BH_POOL_LOG", HEADER_BYTES, platform, "shows foreign lines"),
    )
)
LOCKS = (
    dirty("kick mailboxes and locks are as they were", MAIN, "words_fill(words, BH_PAGE_BYTES / WORD_BYTES, 0);", "", VTX, "never said"),
)
ZEROS = tuple(
    row
    for platform in (SVM, GICV3, ARMV7)
    for row in (
        not_zeroed("the resident monitor's data is the loader's", platform, "resident_data"),
        not_zeroed("start-up's data is the loader's", platform, "boot_bss"),
    )
)
DEVICES = (
    *(
        dirty("functions are not silenced", FUNCTIONS, "&& !is_board(id))", "&& !is_board(id) && !id)", one, "PCI function 0x20 has")
        for one in (SVM, GICV3)
    ),
    dirty("of a device the first function alone is silenced", FUNCTIONS, "? FUNCTIONS_A_DEVICE : 1;", "? 1 : 1;", SVM, "function 0xfa has"),
    dirty(
        "the last device is not silenced",
        FUNCTIONS,
        "id < board.pci.functions;",
        "id + FUNCTIONS_A_DEVICE < board.pci.functions;",
        SVM,
        "function 0xfa has",
    ),
    dirty("the IOMMU's function is silenced", FUNCTIONS, "return is_iommu(id) || ", "return ", SVM, "bridge 0x8 has"),
    dirty("the board's bridges are silenced", FUNCTIONS, "&& !is_board(id))", "&& (!is_board(id) || id))", SVM, "bridge 0xf8 has"),
    dirty("a translation service is on", LPIS, "if (translator_stays_on(", "if (n && translator_stays_on(", GICV3, "in use by 0x8080000"),
    dirty("redistributors' LPIs are on", LPIS, "type & GICR_TYPER_PLPIS &&", "!type &&", GICV3, "in use by 0x8100000"),
    dirty("lines are open", PC, "ioapic_mask_all();", "", SVM, "pin 4 of the I/O APIC is open"),
    dirty("the last two lines are open", IOAPIC, "pin < end;", "pin + 2 < end;", SVM, "pin 22 of the I/O APIC is open"),
    dirty("the first PIC's lines are open", PC, "x86_out8(PIC1_IMR, 0xff);", "", SVM, "PIC 0 has mask"),
    dirty("the second PIC's lines are open", PC, "x86_out8(PIC2_IMR, 0xff);", "", SVM, "PIC 1 has mask"),
)
DIRTY = (*MEMORY, *LOCKS, *ZEROS, *DEVICES)
