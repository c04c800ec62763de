# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what a core, or a GIC, begins with, and in the vectors that a PC's core may be sent."""

from tests.emulated.case import ARMV7, GICV2, GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.mutation import Mutation

DISARM, ICR = "hal/x86/disarm_boot.c", "hal/x86/apic/icr.c"
SPIN = "hal/arm/spin_table_boot.c"
CONSOLE = "arch/arm/console_boot.c"
START_MAP = "arch/arm/start_map_boot.c"
IOAPIC_START = "hal/x86/apic/ioapic_boot.c"
DISARM_LOOP, ARM_DISARM, LPIS = "hal/arm/disarm_boot.c", "hal/arm/aarch64/disarm_boot.c", "hal/arm/gic/gicv3_disarm_boot.c"
PARTITION = "monitor/boot/partition_boot.c"

START = (
    Mutation("a machine that cannot be powered off traps for ever", "arch/arm/machine_boot.c", "is_leaving = true;", "", "off_arm_test"),
    Mutation(
        "the first word of a spin table releases every core",
        SPIN,
        "if (releases.at[n].core == hardware_id)",
        "if (true)",
        "spin_table_test",
    ),
    Mutation("a released core reads an old word", SPIN, "arch_cache_clean(word, sizeof(*word));", "", "spin_table_test"),
    Mutation("a released core finds no number", SPIN, "spin_table_cores[argument] = hardware_id;", "", "spin_table_test"),
    Mutation("a released core sleeps on", SPIN, "stage2_wake();", "", "spin_table_test"),
    Mutation(
        "registers that are words are accessed as bytes",
        CONSOLE,
        "uint32_t found = console->stride == 4 ?",
        "uint32_t found = false ?",
        "console_arm_test",
    ),
    Mutation("characters are written over each other", CONSOLE, "ns16550_wait(console, LSR_THRE);", "", "console_arm_test"),
    Mutation("the console is left before its last character is sent", CONSOLE, "ns16550_wait(console, LSR_TEMT);", "", "console_arm_test"),
    Mutation(
        "RAM of part of a GiB is a device",
        START_MAP,
        "->entries[at % GiB / MiB2] = at | MEMORY;",
        "->entries[0] = at | DEVICE;",
        "start_map_test",
    ),
    Mutation("what is beside RAM in a GiB is a hole", START_MAP, "root[gib] && n < START_MAP_ENTRIES", "n < 0", "start_map_test"),
    Mutation("the second span of a GiB takes the first one's place", START_MAP, "if (!is_table(root[gib]))", "if (true)", "start_map_test"),
    Mutation("RAM ends where its last GiB does", START_MAP, "end - at >= GiB;", "true;", "start_map_test"),
    Mutation(
        "a core that cannot be disarmed is a core like others",
        PARTITION,
        "__atomic_fetch_or(&private->entered, UINT32_C(1) << slot, __ATOMIC_ACQ_REL);",
        "",
        "partition_test",
    ),
    Mutation(
        "a sandbox is parked before it begins",
        PARTITION,
        "while (slot && __atomic_load_n",
        "while (false && __atomic_load_n",
        "partition_test",
    ),
    Mutation("a first core waits for itself", PARTITION, "while (slot && __atomic_load_n", "while (__atomic_load_n", "partition_test"),
    Mutation("a first core that never begins is waited for", PARTITION, " && arch_counter() - since < patience", "", "partition_test"),
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
    Mutation(
        "translation goes on and nobody says", LPIS, "if (translator_stays_on(board.gic.translators.at[n].start))", "if (false)", "lpi_test"
    ),
    Mutation("a translation that ends late is refused", LPIS, "tries < RWP_TRIES && !(control &", "tries < 1 && !(control &", "lpi_test"),
    Mutation("LPIs that stay on are overlooked", LPIS, "& (GICR_CTLR_ENABLE_LPIS | GICR_CTLR_RWP);", "& GICR_CTLR_RWP;", "lpi_test"),
    Mutation("the first redistributor alone", LPIS, "!(type & GICR_TYPER_LAST) && !why", "!n", "lpi_test"),
    Mutation("virtual LPIs go on", LPIS, "if (type & GICR_TYPER_VLPIS && virtual_lpis_stay_on(base))", "if (false)", "lpi_test"),
    Mutation("a machine without LPIs is written to", LPIS, "if (!(gicd_read(GICD_TYPER) & GICD_TYPER_LPIS))", "if (false)", "lpi_test"),
    Mutation("a vector of an exception is sent", ICR, "mode == APIC_FIXED && apic_vector_exists(icr)", "mode == APIC_FIXED", "icr_test"),
    Mutation(
        "who has lines locks out nobody else",
        IOAPIC_START,
        "view->lock = hal_lock_of(boxes, HAL_LOCK_IOAPIC);",
        "",
        "ioapic_test",
    ),
)


def sticks(file: str, walk: str, platform: str) -> MachineMutation:
    """
    As if a register of every core but a sandbox's first could not be switched off. What notices is told that the sandbox was never restarted
    because it has been parked, with a trap's crash record, for good: the one shows the other.
    """
    return MachineMutation(
        "a register of the second core stays on",
        file,
        walk,
        "core->slot",
        "restart-beside-an-idle-core",
        platform,
        r"mortal was restarted 0 times, not 1(?s:.*)\nmortal: parked, .*reason='error'",
    )


STUCK = (
    *(sticks("hal/arm/probe_boot.c", "disarm(&disarm_this_core) != NULL", platform) for platform in (GICV3, GICV2, ARMV7)),
    *(sticks("hal/x86/core_boot.c", "!x86_disarm(&x86_this_processor)", platform) for platform in (SVM, VTX)),
)
