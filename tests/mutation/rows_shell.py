# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in the sandbox kernel's shell: its line editor, what it shows, and what it takes for operands."""

from tests.mutation.mutation import Mutation

LINE_EDIT, SHOWN, CHANGED = "kernel/core/line_edit.c", "kernel/core/shell.c", "kernel/core/shell_vcpus.c"
TRACED = "kernel/core/trace_run.c"
SHELL_PROGRAMS = {
    "line_edit_test": "tests/unit/line_edit_test.c",
    "kernel_shell_test": "tests/unit/kernel_shell_test.c",
    "kernel_trace_run_test": "tests/unit/kernel_trace_run_test.c",
}
SHELL_PARTS = {
    "line_edit_test": [LINE_EDIT, "kernel/core/text.c"],
    "kernel_shell_test": [SHOWN, CHANGED, "kernel/core/text.c", "kernel/core/clock.c", "tests/unit/fake_cpu.c"],
    "kernel_trace_run_test": [TRACED, "kernel/core/text.c", "tests/unit/fake_cpu.c"],
}


def edit(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, LINE_EDIT, old, new, "line_edit_test")


def shown(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, SHOWN, old, new, "kernel_shell_test")


def changed(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(what, CHANGED, old, new, "kernel_shell_test")


def traced(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"trace: {what}", TRACED, old, new, "kernel_trace_run_test")


def vcpus(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"vcpus: {what}", "kernel/core/vcpus.c", old, new, "kernel_vcpus_test")


SHELL = (
    traced("rings take all that is free", "bytes > (frames_free() << FRAME_SHIFT) / 2 / smp_count()", "false"),
    traced("each core's ring may take half", " / 2 / smp_count()", " / 2"),
    traced("rings are as long as one likes", "bytes > MOST_RING_BYTES || "),
    traced("rings are asked for again", "!have_rings() && "),
    traced("what there is for some cores is kept", "while (slot) frames_give(runs[--slot], count, FRAME_PROGRAM);"),
    traced("half a ring's frames are given back", "frames_give(runs[--slot], count, ", "frames_give(runs[--slot], count / 2, "),
    traced("any core has it", "if (cpu_slot())", "if (false)"),
    traced("any word switches it on", '!*line->text || text_equal(line->text, "on")', '!text_equal(line->text, "off")'),
    traced("what follows a number is not looked at", "text_parse_number(&text, &number) && !*text", "text_parse_number(&text, &number)"),
    traced(
        "a machine that tells its clock is not asked",
        "trace_switch(false, info_clock_hz());",
        "trace_switch(false, info->clock_hz);",
    ),
    vcpus("any line is the console's", "!console_has_line(grant->line)", "false"),
    vcpus("I/O VCPUs run on any core", "(cpu_slot() || ", "("),
    vcpus("names stand twice", "if (!is_taken(room, name)) return name;", "return name;"),
    vcpus("the second name is not asked for", "if (!is_taken(room, own)) break;", "break;"),
    vcpus("a VCPU of another core is told", "rooms[cpu_slot()]; for", "rooms[0]; for"),
    vcpus("all programs go by one's period", "if (&room->made[n].vcpu == on)", ""),
    vcpus("times wrap", "clock_from_us(line->operand[1])", "clock_from_ns(line->operand[1] * NS_PER_US)"),
    changed("who cannot begin again keeps what he asked for", "if (named->numbered) change_back(thread->on, &before);"),
    changed(
        "who asked for nothing is changed back",
        "if (named->numbered) change_back(thread->on, &before);",
        "change_back(thread->on, &before);",
    ),
    changed("who is over is stopped, and who runs begins again", "&& thread_is_over(thread) == over"),
    Mutation("who has ended does not begin again", "kernel/core/thread_end.h", "found == THREAD_HAS_ENDED || ", "", "kernel_shell_test"),
    changed(
        "the period of before is not told",
        "if (admit_change(on, before, &refusal) == THREAD_OK) vcpus_tell_period(on, before->period);",
        "(void)!admit_change(on, before, &refusal);",
    ),
    vcpus(
        "what is asked for is rounded down", "(report->asked_ppm + PPM_PER_TENTH - 1) / PPM_PER_TENTH", "report->asked_ppm / PPM_PER_TENTH"
    ),
    changed("the period of a change is not told", "vcpus_tell_period(on, asked.period);"),
    changed("only programs begin again", "thread_of(named.name, true)", "program_find(named.name) ? thread_of(named.name, true) : NULL"),
    Mutation(
        "spans wrap",
        "kernel/core/clock.c",
        "us <= LONGEST_US ? clock_from_ns(us * NS_PER_US) : UINT64_MAX",
        "clock_from_ns(us * NS_PER_US)",
        "kernel_text_test",
    ),
    Mutation(
        "numbers wrap", "kernel/core/text.c", "if (sum > (UINT64_MAX - digit_value(*s)) / base) return false;", "", "kernel_text_test"
    ),
    Mutation(
        "half of what was meant is run",
        "kernel/core/command.c",
        "return line->operands == COMMAND_OPERANDS || *cursor < '0' || *cursor > '9';",
        "return true;",
        "command_test",
    ),
    Mutation(
        "who says too little is told that there is no such command",
        "kernel/core/command.c",
        "has(program_commands, word) || has(kernel_commands, word)",
        "0",
        "command_test",
    ),
    Mutation(
        "the kernel's commands are none",
        "kernel/core/command.c",
        "has(program_commands, word) || has(kernel_commands, word)",
        "has(program_commands, word)",
        "command_test",
    ),
    vcpus("who is over is not said to be", "if (thread_is_over(&made->thread))", "if (0)"),
    vcpus("a refusal without a line speaks of one", "&& !asked->vcpu.line.cost", "&& asked->vcpu.line.cost"),
    changed("who carries out commands is said not to be there", "text_equal(line->text, thread_running()->name)", "false"),
    vcpus("what a switch takes is rounded down", "(admit_switch_ns() + NS_PER_US - 1) / NS_PER_US", "admit_switch_ns() / NS_PER_US"),
    changed("who has no name is somebody", "return n > 0;", "return true;"),
    vcpus("nothing would fit, and it is said how much", "if (refusal->fits == 0)", "if (0)"),
    Mutation("interrupts are not counted", "kernel/core/irq.c", "h->count[cpu_slot()]++;", "", "irq_test"),
    Mutation(
        "other cores' interrupts are not counted",
        "kernel/core/irq.c",
        "slot < BH_MAX_SANDBOX_CORES; slot++",
        "slot < 1; slot++",
        "irq_test",
    ),
    Mutation("there is always one handler more", "kernel/core/irq.c", "if (!h->handle || n--) continue;", "if (n--) continue;", "irq_test"),
    Mutation(
        "Tab knows the program's commands alone",
        "kernel/core/command.c",
        "program_commands[count].name ? program_commands[count].name : kernel_commands[n - count].name",
        "program_commands[count].name",
        "kernel_console_test",
    ),
    edit("a line has room for one more", "length == LINE_EDIT_BYTES - 1", "length == LINE_EDIT_BYTES"),
    edit(
        "keys without a sign are taken",
        "else if ((unsigned char)c < DEL) take_printable(c); else state = PLAIN;",
        "else take_printable(c);",
    ),
    edit("a line stays when it has run", "length = cursor = 0; line[0] = '\\0';", ""),
    edit("a full line rings no bell", "console_echo(BELL); return; } for (size_t n = ++length", "return; } for (size_t n = ++length"),
    edit(
        "what stands right of the cursor is not shown again",
        'console_echo("%c", c); cursor++; show_rest();',
        'console_echo("%c", c); cursor++;',
    ),
    edit(
        "the cursor stays at the end of what it showed",
        'console_echo("%s", line + cursor); step_back(length - cursor);',
        'console_echo("%s", line + cursor);',
    ),
    edit("what was removed stays on the screen", 'console_echo(" "); step_back(length - from + count);', ";step_back(length - from);"),
    edit("a removal leaves the end of the line", "length -= count;", "length -= count; line[length] = 'x';"),
    edit("a line that was entered twice is kept twice", "&& !(entered && text_equal(former(1), line))"),
    edit("a line of blanks is kept", "if (line[blanks] &&", "if ("),
    edit("a line more is remembered than there is room for", "ago > LINE_EDIT_LINES", "ago > LINE_EDIT_LINES + 1"),
    edit("lines are asked for that never were", "if (ago > entered ||", "if ("),
    edit("the draft is lost", "if (!back) copy(draft, line);"),
    edit("the draft is any line that was shown", "if (!back) copy(draft, line);", "copy(draft, line);"),
    edit("left goes before the line", "move(cursor - (cursor > 0));", "move(cursor - 1);"),
    edit("right goes behind the line", "move(cursor + (cursor < length));", "move(cursor + 1);"),
    edit("backspace goes before the line", "if (cursor) cut(cursor - 1, cursor);", "cut(cursor - 1, cursor);"),
    edit("delete takes what is not there", "if (cursor < length) cut(cursor, cursor + 1);", "cut(cursor, cursor + 1);"),
    edit(
        "a word ends before its blanks",
        "while (start && line[start - 1] == ' ') start--; while (start && line[start - 1] != ' ') start--; cut",
        "while (start && line[start - 1] != ' ') start--; cut",
    ),
    edit("Enter does not end a sequence", 'state = PLAIN; console_echo("\\n");', 'console_echo("\\n");'),
    edit("a control does not end a sequence", "state = c == ESC ? ESCAPED : PLAIN;", "if (c == ESC) state = ESCAPED;"),
    edit("a byte that is no character does not end a sequence", "take_printable(c); else state = PLAIN;", "take_printable(c);"),
    edit("a second parameter is part of the first", "numbered |= c < '0' || c > '9';"),
    edit(
        "a function key of the Linux console types",
        "} else if (c == '[') { /* a function key of the Linux console: one more */",
        "} else if (false) {",
    ),
    edit("any number is a key", "if (number < sizeof(keys) / sizeof(keys[0]) && keys[number])", "if (keys[number % 9])"),
    edit("parameters stay from the last sequence", "number = 0;"),
    edit("names of which one is the beginning are completed to the longest", "alike(found.first, one) < found.common", "false"),
    edit("a name that begins otherwise is completed", "if (!begins(one, word, typed)) continue;"),
    edit("several names are not listed", "found.count > 1 && found.common == typed", "false"),
    edit("Tab completes the whole line", "while (start && line[start - 1] != ' ') start--; typed", "start = 0; typed"),
    edit("a given up line is entered", 'console_echo("^C\\n"); line_edit_begin();', 'console_echo("^C\\n");'),
    shown(
        "a line of which the beginning has been overwritten is shown",
        "at == 0 || (at > oldest &&",
        "at == 0 || ((at > oldest || oldest) &&",
    ),
    shown("one line more is shown", "while (at > oldest && lines)", "while (at > oldest && lines + 1)"),
    shown("the oldest text is shown twice", "head > BH_LOG_TEXT_BYTES ? head - BH_LOG_TEXT_BYTES : 0", "0"),
    shown("exits of other cores do not count", "core < BH_MAX_SANDBOX_CORES", "core < 1"),
    shown("exits before ready count as later ones", "boot, all - boot", "boot, all"),
    shown("reasons without exits are told", 'if (all) console_say("exits', 'console_say("exits'),
    shown("it is up since the counter began", "arch_counter() - stats->start_clock", "arch_counter()"),
    changed(
        "what follows the numbers is not looked at",
        "next_number(&text, &named->period_us) && !*text",
        "next_number(&text, &named->period_us)",
    ),
    changed("anything parts a name from numbers", "if (**text != ',') return false;"),
    changed("a name is as long as what is typed", "*text && *text != ',' && n < sizeof(named->name) - 1", "*text && *text != ','"),
    changed("the last of that name is meant", "if (!search->found && text_equal", "if (text_equal"),
    changed("an I/O VCPU is changed as a Main VCPU", "if (on->vcpu.kind != VCPU_MAIN) {", "if (0) {"),
    changed(
        "a program begins again with what it was refused",
        "if (named->numbered && !change(thread->on, named)) return;",
        "if (named->numbered) change(thread->on, named);",
    ),
    changed("a program begins again with what it had", "if (named->numbered && !change(thread->on, named)) return;"),
    changed("a shell takes its own time away", "if (on && is_own(on))", "if (false)"),
    changed("a refusal says nothing", "vcpus_say_refused(&asked, &refusal);", ";"),
    changed("a name alone is a change", "parse(line->text, &named) && named.numbered", "parse(line->text, &named)"),
    changed("VCPUs are looked for where there are none", "if (thread_begun()) thread_each_vcpu(find);", "thread_each_vcpu(find);"),
    changed(
        "a program is started with what it was not given",
        "uint64_t period_us = named->numbered ? named->period_us : START_PERIOD_US;",
        "uint64_t period_us = named->period_us;",
    ),
)
