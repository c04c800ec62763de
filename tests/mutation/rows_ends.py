# SPDX-License-Identifier: Apache-2.0
"""Mistakes in how threads of the sandbox kernel end and begin again: what is broken where, and what the program's report then lacks."""

from tests.emulated.case import ARMV7, GICV3, SVM
from tests.mutation.machine_mutation import MachineMutation

ENDS, SYNC, THREAD = (f"kernel/core/{name}.c" for name in ("thread_end", "sync", "thread"))
A64, V7, X86 = (f"kernel/arch/{arch}" for arch in ("aarch64", "armv7", "x86_64"))


def ends(what: str, file: str, old: str, new: str, kind: str, platform: str, lacks: str) -> MachineMutation:
    return MachineMutation(what, file, old, new, f"ends-{kind}", platform, f"never said .ends {lacks}")


ROOM = tuple(
    ends("an interrupt asks for no room", f"{arch}/vectors.S", old, "", "interrupt", platform, "interrupted")
    for arch, old, platform in (
        (A64, "sub x1, sp, #HANDLER_STACK_BYTES ldr xzr, [x1]", GICV3),
        (V7, "ldr r1, [sp, #-HANDLER_STACK_BYTES]", ARMV7),
        (X86, "testb $0, -HANDLER_STACK_BYTES(%rsp)", SVM),
    )
)
STACKS = (
    ends("an exception asks for no stack", f"{A64}/vectors.S", "tbnz x18, #0, 1f", "", "recursion", GICV3, "deep"),
    ends("an exception asks for no stack", f"{V7}/vectors.S", "tst r0, #1", "tst r0, #0", "recursion", ARMV7, "deep"),
    ends("a page fault stays on its stack", f"{X86}/vectors.S", "mov %rax, %rsp cld", "cld", "interrupt", SVM, "interrupted"),
    ends(
        "an interrupt without a stack is lost",
        f"{X86}/cpu.c",
        "if (vector) irq_serve",
        "if (false) irq_serve",
        "interrupt",
        SVM,
        "interrupted",
    ),
    *(
        ends("the kernel asks for no room", f"{arch}/cpu_inline.h", old, new, "call", platform, "called")
        for arch, old, new, platform in (
            (A64, "cpu_touch_stack(); daif =", "daif =", GICV3),
            (V7, 'cpu_touch_stack(); __asm__ volatile("mrs', '__asm__ volatile("mrs', ARMV7),
            (X86, "cpu_touch_stack(); __asm__", "__asm__", SVM),
        )
    ),
)
OTHERS = (
    ends(
        "a thread's fault stops the kernel", "kernel/core/fault.c", "fault->of_thread && thread_can_end()", "false", "fault", GICV3, "stray"
    ),
    ends("a mutex stays with who ended", ENDS, "mutex_abandon_all(thread);", "", "bound", GICV3, "holder"),
    ends("calls of a server that ended wait", ENDS, "port_fail_all(thread->serves);", "(void)0;", "bound", GICV3, "server"),
    ends("nothing is given back", ENDS, "if (thread->at_end) thread->at_end();", "", "owner", GICV3, "owner"),
    ends("it is given back twice", ENDS, "thread->at_end = NULL;", "", "owner", GICV3, "owner"),
    ends("who holds a mutex is stopped", ENDS, "if (is_bound(thread)) thread->wish", "if (false) thread->wish", "later", GICV3, "busy"),
    ends("a wish is forgotten", SYNC, "if (self->wish) thread_fulfil_wish(); } enum", "} enum", "later", GICV3, "busy"),
    ends(
        "a handler's caller goes on",
        THREAD,
        "if (core->running == thread) core->running = &core->gone;",
        "(void)core;",
        "stop",
        GICV3,
        "hog",
    ),
    ends(
        "one that ended is ready no more",
        THREAD,
        "if (thread->on) thread_take_off(thread); thread->ready = true;",
        "thread->ready = true;",
        "stop",
        GICV3,
        "hog",
    ),
)
DEADLINES = (
    ends("a deadline is not watched", SYNC, "timer_add(&periodic->deadline, periodic->next);", "", "policy", GICV3, "policy at first"),
    ends("a deadline does not move", SYNC, "if (periodic->policy) move_deadline", "if (false) move_deadline", "policy", GICV3, "policy"),
    ends("nobody begins again", SYNC, "thread_restart(periodic->thread);", "(void)0;", "policy", GICV3, "policy restart"),
    ends("nobody is stopped", SYNC, "thread_stop(periodic->thread);", "(void)0;", "policy", GICV3, "policy stop"),
    ends(
        "nobody is told again",
        SYNC,
        "timer_add(event, event->deadline + until_next_told(periodic, late));",
        "(void)until_next_told(periodic, late);",
        "policy",
        GICV3,
        "policy notify",
    ),
)
ENDS_ROWS = ROOM + STACKS + OTHERS + DEADLINES
