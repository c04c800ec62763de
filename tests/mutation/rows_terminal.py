# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in a console's terminal, and in how the console uses it."""

from tests.mutation.mutation import Mutation

TERMINAL, CONSOLE = "kernel/core/terminal.c", "kernel/core/console.c"
TERMINAL_PROGRAMS = {"kernel_terminal_test": "tests/unit/kernel_terminal_test.c"}
TERMINAL_PARTS = {"kernel_terminal_test": [TERMINAL, "kernel/core/text.c", "tests/unit/fake_cpu.c"]}


def terminal(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"terminal: {what}", TERMINAL, old, new, "kernel_terminal_test")


def console(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"terminal of a console: {what}", CONSOLE, old, new, "kernel_console_test")


TERMINAL_ROWS = (
    terminal("any channel is one", "!(grant->flags & BH_CHANNEL_TERMINAL)", "false"),
    terminal("what it says is what it hears", "end->role == BH_END_RING_READER", "end->role == BH_END_RING_SENDER"),
    terminal("whoever sleeps is not rung", "bell && bh_end_is_wanted(out)", "false"),
    terminal("whoever looks is rung, too", "bell && bh_end_is_wanted(out)", "bell"),
    terminal("a line is kept back", "|| c == '\\n'"),
    terminal("a slot is too long", "++filled == out->slot_bytes", "++filled == out->slot_bytes + 1"),
    terminal("lines climb down stairs", "if (c == '\\n') put('\\r');"),
    terminal("a slot outlives its connection", "ring(); slot = NULL;", "ring();"),
    terminal("an unfinished line is never seen", "if (out) send();"),
    terminal("nobody need ring", "bh_end_wants_ring(in, true);"),
    terminal("one message a look", "n < in->slots", "n < 1"),
    terminal("what was taken comes again", "(void)bh_ring_release(in);", ";"),
    terminal("any core sets the timer", "if (cpu_slot()) to_ring = true; else doorbell_tell(bell);", "doorbell_tell(bell);"),
    terminal("nobody rings for further cores", "if (to_ring) doorbell_tell(bell);"),
    terminal("rung for them for ever", "to_ring = false; lock_give", "lock_give"),
    terminal("what is missed is not told of", "if (!missed.some) missed = (struct missed){ .some = true };"),
    terminal("where nobody is, lines are lost", "if (!out->connected) return;"),
    terminal("lines are not counted", "missed.lines++; missed.begun_bytes = 0;", "missed.begun_bytes = 0;"),
    terminal("lines that ended are begun", "missed.lines++; missed.begun_bytes = 0;", "missed.lines++;"),
    terminal("a line that was begun is lost", "missed.begun[missed.begun_bytes++] = c;", ";"),
    terminal("a line is longer than its place", "&& missed.begun_bytes < LONGEST"),
    terminal("no line is a loss", "if (was.some && was.lines)", "if (was.some)"),
    terminal("what is lost of a line is told of in it", 'last == \'\\n\' ? "" : "\\r\\n"', '""'),
    terminal("each loss begins a line", 'last == \'\\n\' ? "" : "\\r\\n"', '"\\r\\n"'),
    terminal("room is not asked for anew", "has_slot() ? bh_end_read_taken(out) : BH_END_AGAIN", "has_slot() ? BH_END_OK : BH_END_AGAIN"),
    terminal("a slot outlives what was missed", "slot = NULL; missed.some = false;", "missed.some = false;"),
    terminal("a word of it has room", "out->full_at - out->written >= least", "true"),
    terminal("a small ring never has room", "out->slots < ROOM ? out->slots : ROOM", "ROOM"),
    terminal("it is told of again", "was = missed; missed.some = false;", "was = missed;"),
    terminal("what comes next comes before", "if (has_caught_up()) put_in_slot(c); else miss(c);", "put_in_slot(c);"),
    terminal("what was missed waits for what comes next", "catch_up(); if (!in)", "if (!in)"),
    terminal(
        "nobody sees what was begun", "if (out && missed.some && has_caught_up()) send();", "if (out && missed.some) (void)has_caught_up();"
    ),
    terminal("another connection's is told of", "missed.some = false; result = bh_ring_reserve", "result = bh_ring_reserve"),
    terminal("without its lock", "enabled = lock_take(&lock); if (c", "enabled = true; if (c"),
    terminal("a line without room is not counted", "if (!has_room) miss('\\n');"),
    terminal("a line begins without room", "has_room = has_caught_up() && has_slot();", "has_room = has_caught_up();"),
    console("what is said is not shown", "if (terminal_begins_line()) put_line(terminal_put, format, arguments);"),
    console(
        "lines that nobody has room for are put all the same", "if (terminal_begins_line()) put_line", "if (terminal_exists()) put_line"
    ),
    console("reports disturb who types", "if (!somebody_types && terminal_begins_line())", "if (terminal_begins_line())"),
    console("no prompt", "terminal_flush();"),
    console("every core takes from it", "terminal_exists() && !cpu_slot()", "terminal_exists()"),
    console(
        "beside the UART's handler",
        "bool enabled = cpu_interrupts_disable(); terminal_read(received); cpu_interrupts_restore(enabled);",
        "terminal_read(received);",
    ),
)
