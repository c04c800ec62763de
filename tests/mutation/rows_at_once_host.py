# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what ARM monitors answer at once, and in whose performance monitors are touched, for the tests on the host."""

from tests.mutation.mutation import Mutation

ABORT, FILTER, GICV2 = "hal/arm/abort.c", "hal/arm/gic/gic_filter.c", "hal/arm/gic/gicv2.c"
PMU, PMU_START = "hal/arm/pmu.c", "hal/arm/pmu_boot.c"
PARTS = [ABORT, FILTER, GICV2]


def access(what: str, file: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, file, old, new, "at_once_arm_test")


def counters(what: str, file: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, file, old, new, "pmu_test")


AT_ONCE_HOST = (
    access("words that are not aligned are bits at once", FILTER, "|| offset & 3)", ")"),
    access(
        "what stands before the bits is answered at once",
        FILTER,
        "offset - GICD_ISENABLER >= GICD_IPRIORITYR - GICD_ISENABLER",
        "offset >= GICD_IPRIORITYR",
    ),
    access("bits at once have no end", FILTER, "offset - GICD_ISENABLER >= GICD_IPRIORITYR - GICD_ISENABLER", "offset < GICD_ISENABLER"),
    access(
        "every line is granted at once",
        FILTER,
        "access.granted = granted_word(view->lines, view->words, offset / 4 % GIC_WORDS);",
        "access.granted = UINT32_MAX;",
    ),
    access("lines at once are those of the first word", FILTER, "view->words, offset / 4 % GIC_WORDS)", "view->words, 1)"),
    access("an answer at once is not counted on ARM", FILTER, "core->exits[BH_EXIT_DEVICE]++;"),
    access("a guest that is not served is answered at once", ABORT, "!= WORD_ACCESS || !guest_is_served(core))", "!= WORD_ACCESS)"),
    access("any status is a translation's at once", ABORT, "ISS_CACHE | ISS_WALK | 0x3e)", "ISS_CACHE | ISS_WALK)"),
    access("permission is translation at once", ABORT, "ISS_CACHE | ISS_WALK | 0x3e)", "ISS_CACHE | ISS_WALK | 0x36)"),
    access("level 1 is level 3 at once", ABORT, "ISS_CACHE | ISS_WALK | 0x3e)", "ISS_CACHE | ISS_WALK | 0x3c)"),
    access("what is not described is a word at once", ABORT, "(ISS_VALID | 3u << 22 | 1u << 9 |", "(3u << 22 | 1u << 9 |"),
    access("external aborts are accesses at once", ABORT, "3u << 22 | 1u << 9 | ISS_CACHE", "3u << 22 | ISS_CACHE"),
    access("cache maintenance is a word at once", ABORT, "1u << 9 | ISS_CACHE | ISS_WALK", "1u << 9 | ISS_WALK"),
    access("a walk is a word at once", ABORT, "ISS_CACHE | ISS_WALK | 0x3e", "ISS_CACHE | 0x3e"),
    access("a read sends an SGI at once", GICV2, "|| exit->access != BH_ACCESS_WRITE)", ")"),
    access("an SGI at once is not counted", GICV2, "core->exits[BH_EXIT_IPI]++;"),
    access(
        "an SGI that may not be sent is answered at once",
        GICV2,
        "if (gic_emulate_ipi(core, exit) != HAL_SKIP) return false;",
        "gic_emulate_ipi(core, exit);",
    ),
    counters("counters that are not there are cleared", PMU, "if (granted & PMU_TPM) return;"),
    counters("counters of the monitor's are cleared", PMU, "left = granted & PMU_HPMN;", "left = 6;"),
    counters("the cycle counter is forgotten", PMU, "UINT32_C(1) << CYCLE_COUNTER | ~(UINT32_MAX << left)", "~(UINT32_MAX << left)"),
    counters(
        "counters that are not there are granted", PMU_START, "pmu_is_there() ? pmu_counters() : PMU_TPM | PMU_TPMCR", "pmu_counters()"
    ),
    counters("counters that are not there do not trap", PMU_START, "PMU_TPM | PMU_TPMCR", "PMU_TPMCR"),
    counters("their control does not trap", PMU_START, "PMU_TPM | PMU_TPMCR", "PMU_TPM"),
)
