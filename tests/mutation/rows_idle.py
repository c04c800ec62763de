# SPDX-License-Identifier: Apache-2.0
"""Mistakes in how the sandbox kernel's main program sleeps."""

from tests.mutation.mutation import Mutation

IDLE = "kernel/core/idle.c"
IDLE_PROGRAMS = {"kernel_idle_test": "tests/unit/kernel_idle_test.c"}
IDLE_PARTS = {"kernel_idle_test": [IDLE, "tests/unit/fake_cpu.c"]}


def idle(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"idle: {what}", IDLE, old, new, "kernel_idle_test")


IDLE_ROWS = (
    idle(
        "what ended a sleep is never served", "if (cpu_sleep_before_interrupt()) irq_serve(NULL, 0);", "(void)cpu_sleep_before_interrupt();"
    ),
    idle("what was served is served again", "if (cpu_sleep_before_interrupt()) irq", "(void)cpu_sleep_before_interrupt(); irq"),
    idle("nobody says that it sleeps", "begin_sleep(); if (cpu", "if (cpu"),
    idle("a sleep that nothing ended goes on", "irq_serve(NULL, 0); idle_end_sleep();", "irq_serve(NULL, 0);"),
    idle("another core's sleep is this one's", "if (cpu_slot()) return; atomic", "atomic"),
    idle("another core's interrupt ends it", "if (cpu_slot() == 0) atomic", "atomic"),
    idle(
        "who was kicked has slept",
        "from <= moment && kicks() == atomic_load_explicit(&asleep.kicks, memory_order_relaxed)",
        "from <= moment",
    ),
    idle("kicks from without do not count", "__atomic_load_n(&core->kicks, __ATOMIC_RELAXED) +"),
    idle("kicks that it saw do not count", "+ __atomic_load_n(&core->exits[BH_EXIT_KICK], __ATOMIC_RELAXED)"),
    idle("who slept at last has slept since", "from && from <= moment &&", "from &&"),
    idle("done is asked where it may slip", "cpu_interrupts_disable(); if (done", "if (done"),
    idle("further cores report", "if (cpu_slot() == 0) report();", "report();"),
    idle("nobody reports", "if (cpu_slot() == 0) report();"),
    idle("threads do not run", "if (thread_begun()) thread_wait_until(done); else idle_sleep();", "idle_sleep();"),
    idle("interrupts stay disabled", "} cpu_interrupts_enable(); }", "} }"),
)
