# SPDX-License-Identifier: Apache-2.0
"""Mistakes with level-triggered lines and interrupts of PCs. Polarity is not among them: QEMU's I/O APIC does not look at it; ioapic_test does."""

from tests.emulated.case import SVM
from tests.mutation.machine_mutation import MachineMutation

ICR, IOAPIC, IOAPIC_BOOT = "hal/x86/apic/icr.c", "hal/x86/apic/ioapic.c", "hal/x86/apic/ioapic_boot.c"
LEVEL_OF_GUEST = "(enum apic_mode)(icr >> 8 & 0x80)"  # apic_send puts a mode at bit 8; bit 15 is the trigger mode
LINUX_VECTOR, ANOTHER_GRANT = "ioapic-level-vector-that-linux-chooses", "ioapic-level-vector-of-another-grant"
ONE_CORE, MOVED, RESTARTED = "ioapic-level-one-core", "ioapic-level-moved-in-service", "ioapic-level-asserted-at-restart"
WRONG_COUNT = "'level-rounds=0xc0000000,50' gave 'returned 0x"


def level(what: str, file: str, old: str, new: str, case: str, shows: str) -> MachineMutation:
    return MachineMutation(what, file, old, new, case, SVM, shows)


LEVEL_IPIS = (
    level(
        "an IPI that is sent at once is level-triggered if its sender says so",
        ICR,
        "apic_send(partition->apic_id[slot], APIC_FIXED,",
        f"apic_send(partition->apic_id[slot], {LEVEL_OF_GUEST},",
        "icr-level-at-once-is-edge",
        "gave 'returned 0x1'",
    ),
    level(
        "an IPI by shorthand is level-triggered if its sender says so",
        ICR,
        "apic_send(to->apic_id, APIC_FIXED,",
        f"apic_send(to->apic_id, {LEVEL_OF_GUEST},",
        "icr-level-by-shorthand-is-edge",
        "gave 'returned 0x1'",
    ),
)

LEVEL = (
    level("a level line opens with any vector", IOAPIC, "> line->more_vectors)", "> 0xff)", LINUX_VECTOR, "attacker was not parked"),
    level(
        "a grant's vectors reach to the last",
        IOAPIC_BOOT,
        "BH_FIRST_LEVEL_VECTOR - 1 : first;",
        "BH_FIRST_LEVEL_VECTOR - 1 : 0xfe;",
        ANOTHER_GRANT,
        "attacker was not parked",
    ),
    level(
        "a level line is wired for edges",
        IOAPIC_BOOT,
        "BH_LINE_LEVEL ? REDIRECTION_LEVEL : 0",
        "BH_LINE_LEVEL ? 0 : 0",
        ONE_CORE,
        WRONG_COUNT,
    ),
    level("a masked line is open", IOAPIC, "| vector | (low & REDIRECTION_MASKED);", "| vector;", ONE_CORE, WRONG_COUNT + "[0-9]+00"),
    level(
        "a line's remote IRR is not told",
        IOAPIC,
        "REDIRECTION_STATUS | REDIRECTION_REMOTE_IRR }",
        "REDIRECTION_STATUS }",
        ONE_CORE,
        "returned 0x64'",
    ),
    level("a moved line stays where it was", IOAPIC, "(unsigned)__builtin_ctz(targets)", "0", MOVED, WRONG_COUNT),
    level(
        "a line that an earlier life has masked stays masked",
        IOAPIC,
        "lines[n].touched = lines[n].starts_masked;",
        "lines[n].touched |= lines[n].starts_masked;",
        RESTARTED,
        "owner never said 'stray interrupt",
    ),
)
