# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what a core, or a GIC, begins with, and in the vectors that a PC's core may be sent."""

from tests.mutation.mutation import Mutation

DISARM, ICR = "hal/x86/disarm_boot.c", "hal/irq/icr.c"
IOAPIC = "hal/irq/ioapic.c"
DISARM_LOOP, ARM_DISARM, LPIS = "hal/stage2/disarm_boot.c", "hal/stage2/aarch64/disarm_boot.c", "hal/irq/gicv3_disarm_boot.c"

START = (
    Mutation("a control that sticks is overlooked", DISARM, "return !p->read(msr);", "return true;", "disarm_test"),
    Mutation("a trace is left on", DISARM, "{ IA32_RTIT_CTL, 1, count_traces },", "", "disarm_test"),
    Mutation(
        "registers that are not there are written", DISARM, "extended_features(p) >> 23 & 1 ? PERF_CTLS : 0", "PERF_CTLS", "disarm_test"
    ),
    Mutation("a register that stays on is overlooked", DISARM_LOOP, "& control->on;", "& 0;", "disarm_aarch64_test"),
    Mutation("the last register that stays on is named", DISARM_LOOP, "&& !first)", ")", "disarm_aarch64_test"),
    Mutation("samples are taken on", ARM_DISARM, '{ "PMSCR_EL2", PMSCR_EL2, 0, EITHER_LEVEL, has_profiling },', "", "disarm_aarch64_test"),
    Mutation("a buffer of secure firmware is written", ARM_DISARM, "&& !(core->read(PMBIDR_EL1) & BUFFER_P)", "", "disarm_aarch64_test"),
    Mutation("overflows of counters stand", ARM_DISARM, "PMOVSCLR_EL0, ALL, ALL,", "PMOVSCLR_EL0, 0, 0,", "disarm_aarch64_test"),
    Mutation("translation goes on and nobody says", LPIS, "if (translator_stays_on(translators[n]))", "if (false)", "lpi_test"),
    Mutation("a translation that ends late is refused", LPIS, "tries < RWP_TRIES && !(control &", "tries < 1 && !(control &", "lpi_test"),
    Mutation("LPIs that stay on are overlooked", LPIS, "& (GICR_CTLR_ENABLE_LPIS | GICR_CTLR_RWP);", "& GICR_CTLR_RWP;", "lpi_test"),
    Mutation("the first redistributor alone", LPIS, "!(type & GICR_TYPER_LAST) && !why", "!n", "lpi_test"),
    Mutation("virtual LPIs go on", LPIS, "if (type & GICR_TYPER_VLPIS && virtual_lpis_stay_on(base))", "if (false)", "lpi_test"),
    Mutation("a machine without LPIs is written to", LPIS, "if (!(gicd_read(GICD_TYPER) & GICD_TYPER_LPIS))", "if (false)", "lpi_test"),
    Mutation("a vector of an exception is sent", ICR, "mode == APIC_FIXED && apic_vector_exists(icr)", "mode == APIC_FIXED", "icr_test"),
    Mutation(
        "who has no line takes the lock",
        IOAPIC,
        "if (partition->ioapic.count) hal_lock_take(",
        "hal_lock_take(",
        "ioapic_test",
    ),
)
