# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in a console's terminal, and in how the console uses it."""

from tests.mutation.mutation import Mutation

TERMINAL, CONSOLE = "kernel/core/terminal.c", "kernel/core/console.c"
TERMINAL_PROGRAMS = {"kernel_terminal_test": "tests/unit/kernel_terminal_test.c"}
TERMINAL_PARTS = {"kernel_terminal_test": [TERMINAL]}


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
    terminal("a slot outlives its connection", "doorbell_tell(bell); slot = NULL;", "doorbell_tell(bell);"),
    terminal("an unfinished line is never seen", "if (out) send();"),
    terminal("nobody need ring", "bh_end_wants_ring(in, true);"),
    terminal("one message a look", "n < in->slots", "n < 1"),
    terminal("what was taken comes again", "(void)bh_ring_release(in);", ";"),
    terminal("without its lock", "enabled = lock_take(&lock); if (c", "enabled = true; if (c"),
    console("what is said is not shown", "if (terminal_exists()) put_line(terminal_put, format, arguments);"),
    console("reports disturb who types", "if (terminal_exists() && !somebody_types)", "if (terminal_exists())"),
    console("no prompt", "terminal_flush();"),
    console("every core takes from it", "terminal_exists() && !cpu_slot()", "terminal_exists()"),
    console(
        "beside the UART's handler",
        "bool enabled = cpu_interrupts_disable(); terminal_read(received); cpu_interrupts_restore(enabled);",
        "terminal_read(received);",
    ),
)
