# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what hal.h's functions return for wrong arguments: each makes one backend differ from the others."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_space import PCI_START, ROOTS_ARM

PARTITION_X86, CORE_X86 = "hal/x86/partition_boot.c", "hal/x86/core_boot.c"
LINES_ARM = "hal/arm/gic/gic_boot.c"
ARM, X86 = "contract_arm_test", "contract_x86_test"
SEALED = "if (partition->sealed) return HAL_E_SEALED; if (slot == partition->core_count) return HAL_E_DENIED;"
UNSEALED = "if (slot == partition->core_count) return HAL_E_DENIED; if (partition->sealed) return HAL_E_SEALED;"


def both(what: str, old: str, new: str, arm: str = ROOTS_ARM, x86: str = PARTITION_X86) -> tuple[Mutation, Mutation]:
    return Mutation(f"{what} on ARM", arm, old, new, ARM), Mutation(f"{what} on x86", x86, old, new, X86)


CONTRACT = (
    *both("a sandbox of any number is made", "status = hal_check_config(config);", "status = HAL_OK;"),
    *both("a core of others takes lines", SEALED, SEALED.replace("slot ==", "slot >"), LINES_ARM),
    *both("a sealed partition's wrong core is denied", SEALED, UNSEALED, LINES_ARM),
    *both("a sealed partition takes functions", "partition->sealed ? HAL_E_SEALED : pci_grant(", "pci_grant("),
    *both("a target that is not sealed is kicked", "if (!to->sealed) return HAL_E_SEALED;", ""),
    Mutation(
        "a guest's addresses are wider than the processor's",
        PARTITION_X86,
        "if (!pt_fits(gpa.v, size, partition->stage2.oa_bits)) return HAL_E_RANGE;",
        "",
        X86,
    ),
    Mutation("a slot gets two cores on ARM", ROOTS_ARM, "if (partition->siblings[slot]) return HAL_E_OVERLAP;", "", ARM),
    Mutation("a slot gets two cores on x86", CORE_X86, "if (partition->core[slot]) return HAL_E_OVERLAP;", "", X86),
    Mutation("a core beyond the last on x86", CORE_X86, "if (slot >= partition->core_count)", "if (slot > partition->core_count)", X86),
    Mutation(
        "half a core stays in its slot",
        CORE_X86,
        "core->started = !slot;",
        "core->started = !slot; partition->core[slot] = core;",
        X86,
    ),
    Mutation("locks know a core by its slot on ARM", ROOTS_ARM, "hal_lock_bit(partition->cores[slot])", "hal_lock_bit(slot)", ARM),
    Mutation("locks know a core by its slot on x86", CORE_X86, "hal_lock_bit(partition->cores[slot])", "hal_lock_bit(slot)", X86),
    Mutation(
        "what masters for ever is silent on x86", PCI_START, "return !(read(id, PCI_COMMAND) & PCI_COMMAND_MASTER);", "return true;", X86
    ),
    Mutation(
        "what masters for ever is silent on ARM", PCI_START, "return !(read(id, PCI_COMMAND) & PCI_COMMAND_MASTER);", "return true;", ARM
    ),
    Mutation(
        "one function that is silent stands for all of its device", PCI_START, "silence(id) && silent;", "silence(id) || silent;", X86
    ),
    Mutation("one device that is silent stands for all", PCI_START, "silence_device(id) && silent;", "silence_device(id) || silent;", X86),
    Mutation(
        "who has no line takes the lock of those who have",
        PARTITION_X86,
        "partition->ioapic.lock = &partition->pci.own;",
        "partition->ioapic.lock = hal_lock_of(config->kick_mailboxes, HAL_LOCK_IOAPIC);",
        X86,
    ),
    Mutation("who is not allowed kicks on ARM", "hal/arm/kick.c", "if (!victim->root.entries) return 0;", "", ARM),
    Mutation("whom it may not kick answers on ARM", "hal/arm/kick.c", "return victim->root.entries && is_ack", "return is_ack", ARM),
)
