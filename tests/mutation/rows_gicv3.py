# SPDX-License-Identifier: Apache-2.0
"""Mistakes with what a GICv3 guest has of its CPU interface and redistributors: the case that notices, and what its report then shows."""

from tests.emulated.case import GICV3
from tests.mutation.machine_mutation import MachineMutation

INTERFACES = (
    MachineMutation(
        "a guest's priority mask is virtual",
        "hal/irq/gicv3_boot.c",
        "SYSREG_WRITE(ICH_HCR_EL2, ICH_HCR_TC);",
        "SYSREG_WRITE(ICH_HCR_EL2, 0);",
        "mask-of-everything",
        GICV3,
        "not 'returned 0x80402000'",
    ),
    MachineMutation(
        "a guest reads the mask that its monitor made of its own",
        "hal/irq/gicv3.c",
        "uint64_t value = core->priority_mask;",
        "uint64_t value = SYSREG_READ(ICC_PMR_EL1);",
        "mask-of-everything",
        GICV3,
        "not 'returned 0x80402000'",
    ),
    MachineMutation(
        "a guest masks the kick's signal",
        "hal/irq/gicv3.c",
        "if (core->priority_mask < GIC_GUEST_PRIORITY)",
        "if (false)",
        "disarm-priority-mask",
        GICV3,
        "kicker never said",
    ),
    MachineMutation(
        "a priority mask outlives its guest",
        "hal/irq/gicv3.c",
        "write_mask(core, 0);",
        "",
        "restart-forgets-every-register",
        GICV3,
        "left ICC_PMR_EL1",
    ),
    MachineMutation(
        "how interrupts end is the guest's choice",
        "hal/irq/gicv3.c",
        "value = SYSREG_READ(ICC_CTLR_EL1);",
        "if (write) SYSREG_WRITE(ICC_CTLR_EL1, exit->value); value = SYSREG_READ(ICC_CTLR_EL1);",
        "interface-control",
        GICV3,
        "not 'returned 0x8c00'",
    ),
)
