# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what a PC's core begins with, and in the vectors that it may be sent."""

from tests.mutation.mutation import Mutation

DISARM, ICR = "hal/x86/disarm_boot.c", "hal/irq/icr.c"
IOAPIC = "hal/irq/ioapic.c"

START = (
    Mutation("a control that sticks is overlooked", DISARM, "return !p->read(msr);", "return true;", "disarm_test"),
    Mutation("a trace is left on", DISARM, "{ IA32_RTIT_CTL, 1, count_traces },", "", "disarm_test"),
    Mutation(
        "registers that are not there are written", DISARM, "extended_features(p) >> 23 & 1 ? PERF_CTLS : 0", "PERF_CTLS", "disarm_test"
    ),
    Mutation("a vector of an exception is sent", ICR, "mode == APIC_FIXED && apic_vector_exists(icr)", "mode == APIC_FIXED", "icr_test"),
    Mutation(
        "who has no line takes the lock",
        IOAPIC,
        "if (partition->ioapic.count) hal_lock_take(",
        "hal_lock_take(",
        "ioapic_test",
    ),
)
