# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the monitor's filters that a campaign of random attempts runs into: one_case.py's CAMPAIGN."""

from tests.emulated.case import ARMV7, GICV3, SVM
from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.one_case import CAMPAIGN

FILTERS = (
    MachineMutation(
        "ports without a grant are the machine's, attacked",
        "hal/x86/partition_boot.c",
        "x86_take_denied(arena, PORT_MAP_FRAMES)",
        "hal_arena_take(arena, PORT_MAP_FRAMES)",
        CAMPAIGN,
        SVM,
        "attempt .*ports|machine ended",
    ),
    MachineMutation(
        "registers without a row are the machine's, attacked",
        "hal/svm/svm_boot.c",
        "x86_take_denied(arena, MSR_MAP_FRAMES)",
        "hal_arena_take(arena, MSR_MAP_FRAMES)",
        CAMPAIGN,
        SVM,
        "attempt .* msr|machine ended",
    ),
    MachineMutation(
        "the command register is direct, attacked",
        "hal/x86/msr_boot.c",
        "{ APIC_ESR, APIC_ESR, HAL_WRITE },",
        "{ APIC_ESR, APIC_ICR, HAL_WRITE },",
        CAMPAIGN,
        SVM,
        "stray interrupt|heart beat|machine ended",
    ),
    MachineMutation(
        "SGIs are sent as they were written, attacked",
        "hal/irq/gicv3.c",
        "if (partition->unprotected & BH_PROTECT_IPI)",
        "if (true)",
        CAMPAIGN,
        GICV3,
        "stray interrupt",
    ),
    MachineMutation(
        "sending is not trapped, attacked",
        "hal/irq/gicv3_boot.c",
        "return HCR_FMO | gic_idle_trap(partition);",
        "return gic_idle_trap(partition);",
        CAMPAIGN,
        GICV3,
        "stray interrupt",
    ),
    MachineMutation(
        "any CPU interface may be named, attacked",
        "hal/irq/gicv2.c",
        "targets & ~core->partition->gic.reachable)",
        "false)",
        CAMPAIGN,
        ARMV7,
        "stray interrupt",
    ),
    MachineMutation(
        "performance counters are the guest's, attacked",
        "hal/stage2/armv7/controls_boot.c",
        "HDCR_CONFINED 0x00000e60u",
        "HDCR_CONFINED 0x00000e00u",
        CAMPAIGN,
        ARMV7,
        "attempt .* registers: m",
    ),
)
