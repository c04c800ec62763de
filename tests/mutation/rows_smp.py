# SPDX-License-Identifier: Apache-2.0
"""Mistakes in how the sandbox kernel starts and orders its other cores, in its programs, in changed VCPUs, and in how threads end."""

from tests.mutation.mutation import Mutation
from tests.mutation.rows_sync import CORE, VCPU

SMP, CARRIED, END, TAKEN = (f"kernel/core/{name}.c" for name in ("smp", "programs", "thread_end", "stacks"))
SCENE = "tests/unit/thread_scene.c"
SMP_PROGRAMS = {f"kernel_{name}_test": f"tests/unit/kernel_{name}_test.c" for name in ("smp", "programs", "change", "stacks", "end")}
SMP_PARTS = {
    "kernel_smp_test": [SMP, "kernel/core/clock.c", "tests/unit/fake_cpu.c"],
    "kernel_programs_test": [CARRIED, "kernel/core/text.c", *CORE, SCENE],
    "kernel_change_test": [*CORE, SCENE],
    "kernel_end_test": ["kernel/core/text.c", *CORE, SCENE],
    "kernel_stacks_test": [TAKEN, "tests/unit/fake_cpu.c"],
}


def core(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"other cores: {what}", SMP, old, new, "kernel_smp_test")


def program(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"programs: {what}", CARRIED, old, new, "kernel_programs_test")


def change(what: str, old: str, new: str = "", file: str = VCPU) -> Mutation:
    return Mutation(f"changed VCPUs: {what}", file, old, new, "kernel_change_test")


def stack(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"stacks: {what}", TAKEN, old, new, "kernel_stacks_test")


def end(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"ends: {what}", END, old, new, "kernel_end_test")


STACKS_TAKEN = (
    stack("a hole need not be one", "!view.mapped && view.bytes >= WINDOW_BYTES", "true"),
    stack(
        "frames are taken where there is no hole",
        "window ? frames_take_run(THREAD_STACK_BYTES / FRAME_BYTES, 1, FRAME_STACK) : 0",
        "frames_take_run(THREAD_STACK_BYTES / FRAME_BYTES, 1, FRAME_STACK)",
    ),
    stack(
        "a place goes where there are no frames",
        "if (!frames) return 0;",
        "if (!frames) { atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed); return 0; }",
    ),
    stack(
        "a place goes where there are no tables",
        "atomic_compare_exchange_strong_explicit(&taken, &next, place, memory_order_relaxed, memory_order_relaxed);",
    ),
    stack(
        "a place is given back that another is behind",
        "atomic_compare_exchange_strong_explicit(&taken, &next, place, memory_order_relaxed, memory_order_relaxed);",
        "taken = place;",
    ),
    stack("frames go where there are no tables", "frames_give(frames, THREAD_STACK_BYTES / FRAME_BYTES, FRAME_STACK);"),
    stack("there is one place more", "place >= STACKS ||", "place > STACKS ||"),
    stack("a stack has no hole below", "window + place * SLOT_BYTES + FRAME_BYTES", "window + place * SLOT_BYTES"),
    stack("a hole is what nobody has yet", "window && offset < window_taken() && offset % SLOT_BYTES", "window && offset % SLOT_BYTES"),
    stack("a core takes what another keeps", "take_kept(kept[cpu_slot()]", "take_kept(kept[0]"),
    stack("a caller takes the one that it runs on", "words[n] & ~(own / WORD_BITS == n ? 1U << own % WORD_BITS : 0)", "words[n]"),
    stack(
        "a caller takes none of the same bit in other words",
        "own / WORD_BITS == n ? 1U << own % WORD_BITS : 0",
        "1U << own % WORD_BITS",
    ),
)

STARTED = (
    core(
        "who is being started is started again", "atomic_store_explicit(&cores[slot].state, BETWEEN, memory_order_relaxed); space", "space"
    ),
    core("a core that makes VCPUs meanwhile is stopped", "order_of(self) == STOP && !thread_begun()", "order_of(self) == STOP"),
    core("more than there can be", "info->core_count < BH_MAX_SANDBOX_CORES ? info->core_count : BH_MAX_SANDBOX_CORES", "info->core_count"),
    core("the first is off", "atomic_store_explicit(&cores[0].state, ON, memory_order_relaxed); if", "if"),
    core("one core alone attaches its interrupt", "if (smp_count() < 2) return;"),
    core("nobody is told of one that does not start", 'console_say("core %ju did not start", (uint64_t)slot);', ";"),
    core("the first is another", "return slot && slot < smp_count();", "return slot < smp_count();"),
    core("there is one more", "return slot && slot < smp_count();", "return slot && slot <= smp_count();"),
    core("one that is on is started", "|| !has_state(&cores[slot], OFF)"),
    core("without a stack", "|| !take_stack(slot)) return", "|| (take_stack(slot), false)) return"),
    core("each start takes a stack", "if (!stacks[slot]) stacks[slot] =", "stacks[slot] ="),
    core("the stack's other end", "(stacks[slot] + STACK_BYTES)", "stacks[slot]"),
    core("no space expects it", "space_expect_core(slot);"),
    core(
        "one that the machine did not start never starts",
        "atomic_store_explicit(&cores[slot].state, OFF, memory_order_relaxed); return false;",
        "return false;",
    ),
    core("one that is started is on at once", "return await(has_state, &cores[slot], ON);", "return true;"),
    core("it makes no VCPUs", "vcpus_start();"),
)

ASKED = (
    core("what the tool says of patience is not read", "clock_from_ns(told ? told : ns)", "clock_from_ns(ns)"),
    core("patience without end", "if (arch_counter() - start > patience) return false; else arch_relax();", "arch_relax();"),
    core("an interrupt is not waited for", "return await(has_ipis, &cores[slot], ipis + 1);", "return true;"),
    core("the interrupt before is waited for", "ipis + 1);", "ipis);"),
    core("one that is off is interrupted", "if (!is_another(slot) || !is_on(slot)) return false;", "if (!is_another(slot)) return false;"),
    core("interrupts are not counted", "atomic_fetch_add_explicit(&cores[cpu_slot()].ipis, 1, memory_order_release);"),
    core("the first one's interrupts are another's", "&cores[cpu_slot()].ipis, 1", "&cores[1].ipis, 1"),
    core("threads that come are left", "thread_take_in();"),
    core("ticks are not counted", "atomic_fetch_add_explicit(&cores[cpu_slot()].ticks, 1, memory_order_relaxed);"),
    core("one tick is the last", "timer_add(event, event->deadline + clock_from_ns(TICK_NS));", "(void)event;"),
    core("one that has VCPUs now ticks on", "if (!thread_begun()) timer_add(event,", "timer_add(event,"),
    core("one that has VCPUs from its start on ticks", "if (!thread_begun()) timer_add(&self->tick,", "timer_add(&self->tick,"),
    core("one that a command gave VCPUs ticks", "if (thread_begun()) timer_cancel(&self->tick);"),
    core(
        "it ticks while it makes VCPUs",
        "vcpus_start(); if (!thread_begun()) timer_add(&self->tick, arch_counter() + clock_from_ns(TICK_NS));",
        "timer_add(&self->tick, arch_counter() + clock_from_ns(TICK_NS)); vcpus_start();",
    ),
    core("all are on", ".on = is_on(slot),", ".on = true,"),
)

ORDERED = (
    core("a word is one too long", "n < COMMAND_WORD_BYTES - 1; n++", "n < COMMAND_WORD_BYTES; n++"),
    core("a word does not end", "cores[slot].word[n] = '\\0';"),
    core(
        "a word is written over before it has run",
        "if (!is_another(slot) || order_of(&cores[slot]) != NONE) return false; for",
        "if (!is_another(slot)) return false; for",
    ),
    core("two orders at once", "|| !is_on(slot) || order_of(&cores[slot]) != NONE) return false;", "|| !is_on(slot)) return false;"),
    core("one that is off has orders", "|| !is_on(slot) || order_of", "|| order_of"),
    core("nobody hears of an order", "irq_send_ipi(slot); return true;", "return true;"),
    core(
        "an order is never carried out",
        "atomic_store_explicit(&self->order, NONE, memory_order_release); } } /* ---- On the first",
        "} } /* ---- On the first",
    ),
    core("one with threads sleeps itself", "if (thread_begun()) thread_wait_until(is_ordered); else cpu_sleep();", "cpu_sleep();"),
    core(
        "who is stopped is off at once",
        "await(has_answered, &cores[slot], NONE) && !is_on(slot) && await(has_state, &cores[slot], OFF)",
        "true",
    ),
    core("who leaves ticks", "timer_cancel(&self->tick); user_leave", "user_leave"),
    core("who leaves keeps a process's registers", "user_leave_core();"),
    core("who leaves translates", "space_leave_core();"),
    core(
        "who leaves is on until it is off",
        "atomic_store_explicit(&self->state, BETWEEN, memory_order_relaxed); atomic_store_explicit(&self->order,",
        "atomic_store_explicit(&self->order,",
    ),
    core(
        "who comes back leaves again",
        "atomic_store_explicit(&self->order, NONE, memory_order_release); atomic_store_explicit(&self->state, OFF",
        "atomic_store_explicit(&self->state, OFF",
    ),
)

RUN = (
    program("any name is found", "if (text_equal(program->name, name))", "if (true)"),
    program("one is not found", "program < programs + sizeof(programs) / sizeof(programs[0])", "program < &programs[4]"),
    program("echo runs anywhere", '{ "echo", echo, true }', '{ "echo", echo, false }'),
    program("a loop runs on the first core alone", '{ "loop", loop, false }', '{ "loop", loop, true }'),
    program("the latest start is the last one", "if (value > *most) note(most, value);", "note(most, value);"),
    program("lateness counts from a period's end", "begins = periodic.next - periodic.period, late", "begins = periodic.next, late"),
    program("answers are not noted", "raise_to(&run->done_max, arch_counter() - begins);"),
    program(
        "how late it was is forgotten with the period",
        "raise_to(&run->late_max, late); note(&run->missed, missed + periodic.missed); if (noted(&run->period) != period) return true;",
        "if (noted(&run->period) != period) return true; raise_to(&run->late_max, late); note(&run->missed, missed + periodic.missed);",
    ),
    program("a round that begins when its period is over is in time", "missed += late >= period;"),
    program("missed periods are not counted", "note(&run->missed, missed + periodic.missed);"),
    program(
        "another period forgets what was missed", "note(&run->missed, missed + periodic.missed);", "note(&run->missed, periodic.missed);"
    ),
    program("another period is not seen", "if (noted(&run->period) != period) return true;"),
    program("another period ends a loop", "while (loop_with(noted(&run->period), run)) ;", "loop_with(noted(&run->period), run);"),
    program("a hog is sated", "for (;;) note(&run->rounds, run->rounds + 1);", "note(&run->rounds, run->rounds + 1);"),
    program(
        "one prime suffices",
        "if (is_prime(number)) note(&run->rounds, run->rounds + 1);",
        "if (is_prime(number)) { note(&run->rounds, 1); return; }",
    ),
    program("echo keeps the input", "thread_at_end(leave_input);"),
    program("echo does not hear", "semaphore_give(&echo_input);"),
    program("echo is silent", 'console_echo("%c", c);'),
    program("the end is echoed", "if (c == END_OF_TRANSMISSION) return false;"),
    program(
        "the end leaves nothing",
        "if (c == END_OF_TRANSMISSION) return false;",
        "if (c == END_OF_TRANSMISSION) { while (console_get(&c)) ; return false; }",
    ),
    program(
        "echo overhears what came before",
        "while (echo_all(given) && semaphore_take(&echo_input, TIMER_NEVER) == THREAD_OK)",
        "while (semaphore_take(&echo_input, TIMER_NEVER) == THREAD_OK && echo_all(given))",
    ),
    program(
        "nobody is told how long rounds take",
        "if (noted(&run->round_most)) console_say",
        "if (false) console_say",
    ),
)

CHANGED = (
    change("one that is ready does not pause", "if (ready) sched_idle(sched, &on->vcpu, now);"),
    change("what was given up is begun with at once", "vcpu != sched->changed && sched->settled > now ? sched->settled : now", "now"),
    change("who has given up is held back as others are", "vcpu != sched->changed && sched", "sched"),
    change("only one ever changes", "sched->settled > now && sched->changed != vcpu ? NULL : vcpu", "vcpu"),
    change("the last change says when all are settled", "until > sched->settled ? until : sched->settled", "until"),
    change("a shorter period settles sooner", "before > longest ? before : longest", "longest"),
    change("one that is ready pauses for good", "if (ready) sched_ready(sched, &on->vcpu, now);"),
    change("one that sleeps is ready", "ready = on->levels;", "ready = true;"),
    change("it stays where it was, too", "sched_remove(sched, &on->vcpu); result =", "result ="),
    change("the scheduler is not asked", "thread_decide_anew(); thread_reschedule();", "thread_reschedule();"),
    change("who comes first runs later", "thread_decide_anew(); thread_reschedule();", "thread_decide_anew();"),
    change("interrupts stay disabled", "thread_reschedule(); cpu_interrupts_restore(enabled);", "thread_reschedule();"),
    change("one without budget runs in the background", "on->vcpu.foreground_only = before.foreground_only;"),
    change("debts are remitted", "on->vcpu.owed = before.owed;"),
    change("what it was given is forgotten", "on->vcpu.given = before.given;"),
    change("what it had without budget is forgotten", "on->vcpu.background = before.background;"),
    change("a budget at once", "next_budget(sched, on, period, now)", "now"),
    change(
        "a budget as soon as the old one is back",
        "from = on->back + (sched->by_deadline && on->used > period ? on->used : period);",
        "from = on->back;",
    ),
    change("by deadline the new period is enough", "sched->by_deadline && on->used > period ? on->used : period", "period"),
    change("by rank the longer period", "sched->by_deadline && on->used > period", "on->used > period"),
    change("several changes add up", "if (now < on->begins) return;"),
    change("a budget of the past", "return from > now ? from : now;", "return from;"),
    change("another row for each change", "trace_change_vcpu(on->row, budget, period);", "on->row = trace_vcpu(on->name, budget, period);"),
    change("what it has had is not told of", "trace_account(on->row, on->made, &on->vcpu.given);"),
    change("until when is not told", "trace_core(&core->sched.since);", "", "kernel/core/thread.c"),
    Mutation(
        "accounts are the first core's", "kernel/core/trace.c", "vcpu[row].slot = cpu_slot();", "vcpu[row].slot = 0;", "kernel_move_test"
    ),
    Mutation(
        "names are written past the last",
        "kernel/core/vcpus.c",
        "room && room->count < MOST ? free_name",
        "room ? free_name",
        "kernel_vcpus_test",
    ),
    change("what is made later has been used", ".begins = from, .back = now }", "}"),
    change("the first piece is all", "main->entries[main->last].at", "main->entries[main->first].at"),
    change("an I/O VCPU", "on->vcpu.kind != VCPU_MAIN ||"),
    change("no budget", "|| !budget || budget > period", "|| budget > period"),
    change("a budget that is too long", "|| budget > period ||", "||"),
    change("a period that is too long", "|| period > SPORADIC_MOST_TICKS)", ")"),
    change(
        "threads that nobody made are stopped",
        "thread && thread_begun() && thread_is_made(thread) && (thread_in_handler()",
        "thread && thread_begun() && (!thread->on || thread->on->core == cpu_slot()) && (thread_in_handler()",
        END,
    ),
    change(
        "the idle thread is stopped",
        "thread && thread_begun() && thread_is_made(thread) && (thread_in_handler()",
        "thread && thread_begun() && (!thread->on || thread_is_made(thread)) && (thread_in_handler()",
        END,
    ),
)

ENDED = (
    end("a wish outlives its fulfilment", "thread->wish = THREAD_GO_ON;"),
    end("a handler's fault ends the thread that it interrupted", "&& !thread_in_handler()"),
    end("the main program's fault ends it", "!thread_in_handler() && thread_is_made(thread_running())", "!thread_in_handler()"),
    end("a fault before there are threads ends one", "thread_begun() && !thread_in_handler()", "!thread_in_handler()"),
    end("faults that are lost are told of again", "said += *lost;"),
)

CORES_AND_PROGRAMS = (*STACKS_TAKEN, *STARTED, *ASKED, *ORDERED, *RUN, *CHANGED, *ENDED)
