# SPDX-License-Identifier: Apache-2.0
"""Mistakes in how threads of the sandbox kernel move to other VCPUs and cores."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_sync import THREAD, VCPU

MOVE = "kernel/core/thread_move.c"


def move(what: str, old: str, new: str = "", file: str = MOVE) -> Mutation:
    return Mutation(f"moves: {what}", file, old, new, "kernel_move_test")


REFUSALS = (
    move("to nowhere", "if (!on || !thread_begun()", "if (!thread_begun()"),
    move("where there are no threads", "!on || !thread_begun() ||", "!on ||"),
    move("from a handler", "thread_in_handler() ||"),
    move("of the main program", "!thread_is_made(thread) ||"),
    move("of a server without a VCPU", "!thread_is_made(thread) || !thread->on)", "!thread_is_made(thread))"),
    move("of one that has ended", "case THREAD_HAS_ENDED: case THREAD_IS_STOPPED: return THREAD_E_ENDED;"),
    move("of one that waits", "case THREAD_WAITS: return THREAD_E_BOUND;"),
    move("of one that holds a mutex", "thread->held || is_kept", "is_kept"),
    move("of one that gives something back to its core", "thread->at_end && on->core != cpu_slot()", "false"),
    move("within a core of one that gives something back", "thread->at_end && on->core != cpu_slot()", "thread->at_end"),
    move("of one that is of another core", "(!thread->on || thread->on->core == cpu_slot())", "true", THREAD),
    move(
        "of one that is told of periods too short for the VCPU",
        "if (thread->watched && !periodic_is_paid_by(thread->watched, on)) return THREAD_E_INVALID;",
    ),
    move(
        "of one whose periods too short nobody is told of",
        "!periodic_is_paid_by(thread->watched, on)",
        "thread->watched->period < on->vcpu.order",
    ),
    move("to its own VCPU it comes last", "result == THREAD_OK && on != thread->on", "result == THREAD_OK"),
)

WITHIN = (
    move(
        "who is ready is so no more",
        "make_idle(core, thread); thread->ready = true; } void thread_put_on",
        "make_idle(core, thread); } void thread_put_on",
        THREAD,
    ),
    move("who sleeps is taken off", "if (!thread->ready) return; make_idle", "make_idle", THREAD),
    move("who sleeps is woken", "if (thread->ready) make_ready(core, thread);", "make_ready(core, thread);", THREAD),
    move("it stays on its VCPU", "thread->on = on; if (core->in_interrupt)", "if (core->in_interrupt)", THREAD),
    move("who comes first now does not run", "thread_put_on(thread, on); } thread_reschedule();", "thread_put_on(thread, on); }"),
)

ELSEWHERE = (
    move(
        "a VCPU is one of the first core",
        ".core = cpu_slot(), .made = now, .begins",
        ".made = now, .begins",
        VCPU,
    ),
    move("another core is touched", "if (on->core != cpu_slot())", "if (false)"),
    move("who moves is handed over with its stack in use", "if (thread == thread_running()) thread_part(hand_over);", "if (false) ;"),
    move(
        "who left runs", "struct thread *self = core->running; core->running = &core->gone;", "struct thread *self = core->running;", THREAD
    ),
    move("who is on its way is of the core that it left", "thread->on = &nowhere;"),
    move("it stays ready on the VCPU that it left", "thread_take_off(thread); timer_cancel", "timer_cancel"),
    move("the core that it left wakes it", "timer_cancel(&thread->timeout);"),
    move("the core that it left watches its deadline", "timer_cancel(&thread->watched->deadline);", ";"),
    move("nobody is told of it", "irq_send_ipi(core);"),
    move("it sleeps for ever", "timer_add(&thread->timeout, thread->timeout.deadline);", ";"),
    move("who is ready has a time-out", "if (!thread->ready) timer_add", "timer_add"),
    move("nobody watches its deadline", "timer_add(&thread->watched->deadline, thread->watched->deadline.deadline);", ";"),
    move("of two that come at once one is lost", "for (; thread; thread = next) {", "if (thread) {"),
    move("nobody owes the interrupt", "if (core->in_interrupt) pay(core, &on->vcpu);", "", THREAD),
    move(
        "who is taken in last owes for all",
        "if (core->in_interrupt) pay(core, &on->vcpu);",
        "if (core->in_interrupt) core->cause = &on->vcpu;",
        THREAD,
    ),
)

MOVES = (*REFUSALS, *WITHIN, *ELSEWHERE)
