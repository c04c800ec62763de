# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what becomes of a sandbox whose core faults, or whose monitor has trapped, for the tests on the host; and in the sandbox kernel's interrupts."""

from tests.mutation.mutation import Mutation

RUN, INTERRUPTS, COMMANDS = "monitor/run.c", "kernel/core/irq.c", "kernel/core/command.c"


def run(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, RUN, old, new, "run_test")


ENDS = (
    run("a monitor that trapped restarts its sandbox", "__atomic_store_n(&monitor.trapped, true, __ATOMIC_RELAXED);"),
    run("a monitor that trapped was never entered", "if (!is_in(PHASE_ENDED)) return true;", "if (!is_in(PHASE_ENDED)) return false;"),
    run("a trap while a sandbox is parked parks it again", "if (!is_in(PHASE_ENDED)) return true;", "return true;"),
    run("a core that trapped over the end tries again", "__atomic_store_n(&monitor.stopped[slot], PHASE_ENDED, __ATOMIC_RELEASE);"),
    run("every core is marked as entered", "& self) {", ") {"),
    run("restarts have no end", "(action == HAL_RESTART || monitor.restarts_left)", "true"),
    run("a restart that was asked for is a fault", "(action == HAL_RESTART || monitor.restarts_left)", "monitor.restarts_left"),
    run("faults are not counted", "monitor.restarts_left -= again;"),
    run("an end that was asked for is a restart", "action >= HAL_FAULT;", "action >= HAL_STOP;"),
    run("what cannot be restarted is", "monitor.snapshot && !__atomic_load_n", "!__atomic_load_n"),
    run("a fault leaves no record", "record_crash(core, slot, exit); monitor.restarts_left", "monitor.restarts_left"),
    run("siblings go on", "hal_kick_siblings(core); }", "}"),
    run("nobody is told of an end", "if (state == BH_STATE_PARKED) hal_notice_send(core);"),
    run("an end that was asked for is told", "if (state == BH_STATE_PARKED) hal_notice_send(core);", "hal_notice_send(core);"),
    run("an end waits for a restart", "if (!may_restart)", "if (!may_restart && (found & PHASE_MASK) == PHASE_RUNS)"),
    run(
        "a core of a sandbox that has ended is not quiet",
        "if ((phase & PHASE_MASK) != PHASE_RUNS)",
        "if ((phase & PHASE_MASK) == PHASE_RESTARTS)",
    ),
    Mutation(
        "who slept through a stray interrupt slept undisturbed",
        INTERRUPTS,
        "note_stray(number); idle_end_sleep();",
        "{ note_stray(number); return; } idle_end_sleep();",
        "irq_test",
    ),
    Mutation(
        "a command of the kernel hides the program's own",
        COMMANDS,
        "if (!run_of(program_commands, word, &line) && !command_run_other(word, &line) && !run_of(kernel_commands, word, &line))",
        "if (!run_of(kernel_commands, word, &line) && !run_of(program_commands, word, &line) && !command_run_other(word, &line))",
        "command_test",
    ),
)
