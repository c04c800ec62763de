# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the sandbox kernel's accounting, seen on machines: who runs without end takes what others were promised."""

from tests.emulated.case import ARMV7, GICV2, GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation

SCHED, THREAD, SPORADIC = "kernel/sched/sched.c", "kernel/core/thread.c", "kernel/sched/sporadic.c"
CASE = "endless-at-the-highest-priority"
NEVER_TOLD, TOO_MUCH = "never told what 3 VCPUs were given", "hog has had"


def endless(what: str, file: str, old: str, new: str, platform: str, shows: str) -> MachineMutation:
    return MachineMutation(what, file, old, new, CASE, platform, shows)


ENDLESS = (
    *(
        endless(
            "budgets: who runs is not charged",
            SCHED,
            "!sporadic_charge(&vcpu->main, used)",
            "used < sporadic_left(&vcpu->main)",
            platform,
            NEVER_TOLD,
        )
        for platform in (GICV3, GICV2, ARMV7, SVM, VTX)
    ),
    *(
        endless(
            "budgets: nothing ends them",
            SCHED,
            "end = end_of_budget(core, since);",
            "end = SCHED_NEVER;",
            platform,
            NEVER_TOLD,
        )
        for platform in (GICV3, ARMV7, SVM)
    ),
    *(
        endless(
            "budgets: the timer is not set for their end",
            THREAD,
            "timer_limit(core->has_slices ? until_by_slice(core) : core->sched.until);",
            "(void)until_by_slice;",
            platform,
            NEVER_TOLD,
        )
        for platform in (GICV3, SVM)
    ),
    endless(
        "budgets: what comes back comes twice as soon",
        SPORADIC,
        "delay_all(server, server->period);",
        "delay_all(server, server->period / 2);",
        GICV3,
        TOO_MUCH,
    ),
    endless(
        "budgets: the end of a time is nobody's",
        THREAD,
        "core->decide = true; if (pays)",
        "if (pays)",
        GICV3,
        NEVER_TOLD,
    ),
)


def moved(what: str, file: str, old: str, platform: str) -> MachineMutation:
    return MachineMutation(what, file, old, "", "moved-between-cores", platform, "never said .moves 800 of 800, lost 0")


MOVED = tuple(
    moved("moves: no core looks for threads that come", "kernel/core/smp.c", "thread_take_in();", platform)
    for platform in (GICV3, ARMV7, SVM)
)
TURNS = tuple(
    MachineMutation(
        "slices: nobody looks for their ends",
        THREAD,
        "timer_limit(core->has_slices ? until_by_slice(core) : core->sched.until);",
        "timer_limit(core->sched.until); (void)until_by_slice;",
        "turns-by-slices",
        platform,
        "never said .slices: turns",
    )
    for platform in (GICV3, ARMV7, SVM)
)
DIVIDE = tuple(
    MachineMutation(name, "arch/arm/armv7/divide_boot.S", old, new, "division-of-64-bits", ARMV7, "never said .divide 20306 of")
    for name, old, new in (
        ("divide: a quotient one bit short", "add r12, r12, #1", ""),
        ("divide: two dividends of 32 bits", "orrs r12, r1, r3", "orrs r12, r3, r3"),
        ("divide: no bits from the upper half", "orr r1, r1, r0, lsr r6", ""),
    )
)
