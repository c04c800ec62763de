# SPDX-License-Identifier: Apache-2.0
"""BH-I5.tiny, BH-I8.bounded. The deepest path through a monitor fits on its stack, that through start-up on its; what tells it is told by it."""

import re
from pathlib import Path

import pytest

from tests.image.stack import BOOT_CORE, OTHER_CORES, Code, StackError, deepest, deepest_of_startup, read_listing

ROOT = Path(__file__).resolve().parents[2]
PLATFORMS = {
    "qemu-svm": ("x86_64", "svm"),
    "qemu-svm-vtd": ("x86_64", "svm"),
    "bochs-vtx": ("x86_64", "vmx"),
    "qemu-aarch64": ("aarch64", ""),
    "qemu-aarch64-gicv2": ("aarch64", ""),
    "qemu-armv7": ("armv7", ""),
}


def stack_bytes() -> int:
    """What every core's monitor has at least."""
    found = re.search(r"HAL_STACK_BYTES = (\d+)", (ROOT / "hal" / "hal.h").read_text())
    assert found
    return int(found[1])


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_deepest_path_fits(platform: str) -> None:
    found = deepest(ROOT / "build" / platform / "bulkhead.elf", *PLATFORMS[platform])
    assert found.bytes <= stack_bytes(), f"{found.bytes} of {stack_bytes()} bytes: {' -> '.join(found.path)}"
    assert found.bytes >= 256, f"{' -> '.join(found.path)}: calls have been overlooked"  # guest_run alone saves a hundred


ARM_STACKS, PC_STACKS = "arch/arm/start_stacks.h", "arch/x86_64"
STARTUP_STACKS = {  # where its size stands, by what name; and less than the deepest path, however it is compiled: with less, calls have been overlooked
    ("arm", BOOT_CORE): (f"{ARM_STACKS}", r"BOOT_STACK_BYTES +(\d+)", 400),
    ("arm", OTHER_CORES): (f"{ARM_STACKS}", r"OTHER_STACK_BYTES +(\d+)", 48),
    ("x86_64", BOOT_CORE): (f"{PC_STACKS}/entry_boot.S", r"BOOT_STACK_BYTES\s+(\d+)", 800),
    ("x86_64", OTHER_CORES): (f"{PC_STACKS}/trampoline_boot.c", r"STACK_BYTES = (\d+)", 800),  # XRSTOR's area alone has 576
}


@pytest.mark.parametrize("start", [BOOT_CORE, OTHER_CORES])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_deepest_path_of_startup_fits(platform: str, start: str) -> None:
    architecture, backend = PLATFORMS[platform]
    file, size, least = STARTUP_STACKS["x86_64" if backend else "arm", start]
    bound = re.search(size, (ROOT / file).read_text())
    assert bound, f"{file} has no {size}"
    found = deepest_of_startup(ROOT / "build" / platform / "bulkhead.elf", architecture, backend, start)
    assert found.bytes <= int(bound[1]), f"{found.bytes} of {bound[1]} bytes: {' -> '.join(found.path)}"
    assert found.bytes >= least, f"{' -> '.join(found.path)}: calls have been overlooked"


def depth(architecture: str, *functions: str) -> int:
    """Of the first of these functions; instructions are numbered from 0x100 on, in steps of 4."""
    text, address = [], 0x100
    for function in functions:
        name, *body = function.split("; ")
        text.append(f"{address:x} <{name}>:")
        for one in body:
            text.append(f"{address:x}: {one}")
            address += 4
    instructions, found = read_listing("\n".join(text))
    return Code(architecture, instructions, found, {}).depth(0x100).bytes


def test_calls_add_up() -> None:
    assert depth("x86_64", "f; pushq %rax; callq 0x110 <g>; popq %rax; retq", "g; subq $0x20, %rsp; addq $0x20, %rsp; retq") == 48
    assert depth("x86_64", "f; pushq %rbp; movq %rsp, %rbp; andq $-0x40, %rsp; leaq (%rbp), %rsp; popq %rbp; retq") == 71
    assert (
        depth(
            "aarch64",
            "f; stp x29, x30, [sp, #-0x20]!; bl 0x110 <g>; ldp x29, x30, [sp], #0x20; ret",
            "g; sub sp, sp, #0x10; add sp, sp, #0x10; ret",
        )
        == 48
    )
    assert depth("armv7", "f; push {r4, lr}; bl 0x10c <g>; pop {r4, pc}", "g; sub sp, #0x10; add sp, #0x10; bx lr") == 24


def test_a_tail_call_is_followed() -> None:
    assert (
        depth("aarch64", "f; str x30, [sp, #-0x10]!; ldr x30, [sp], #0x10; b 0x10c <g>", "g; sub sp, sp, #0x40; add sp, sp, #0x40; ret")
        == 64
    )
    of_a_condition = "f; push {r3, r4, r5, lr}; addeq sp, #0x8; popeq.w {r5, lr}; it eq; beq.w 0x118 <g>; pop {r3, r4, r5, pc}"
    assert depth("armv7", of_a_condition, "g; sub sp, #0x20; add sp, #0x20; bx lr") == 32


@pytest.mark.parametrize(
    ("architecture", "function", "says"),
    [
        ("x86_64", "f; callq 0x100 <f>; retq", "recursion: f -> f"),
        ("aarch64", "f; bl 0x100 <f>; ret", "recursion: f -> f"),
        ("x86_64", "f; callq *%rax; retq", "INDIRECT does not say where to"),
        ("x86_64", "attend; callq *0x28(%rax); retq", "INDIRECT does not say where to"),  # not one of those that it may call
        ("aarch64", "f; blr x8; ret", "INDIRECT does not say where to"),
        ("x86_64", "f; callq 0x200 <dropped>; retq", "no resident code"),
        ("armv7", "f; bx r3", "INDIRECT does not say where to"),
        ("x86_64", "f; movq %rax, %rsp; retq", "do to the stack"),
        ("aarch64", "f; mov sp, x1; ret", "do to the stack"),
        ("x86_64", "f; leaq -0x80(%rsp), %rsp; leaq 0x80(%rsp), %rsp; retq", "do to the stack"),
        ("x86_64", "f; pushw %ax; popw %ax; retq", "do to the stack"),
        ("x86_64", "f; xchgq %rsp, %rax; retq", "do to the stack"),
        ("x86_64", "f; enter $0x80, $0; leave; retq", "do to the stack"),
        ("armv7", "f; vpush {d8}; vpop {d8}; bx lr", "do to the stack"),
        ("x86_64", "f; pushq %rax; retq", "with 8 bytes on the stack"),
        ("armv7", "f; push {r4, lr}; popeq {r4, r5}; pop {r4, pc}", "is reached with"),
        ("armv7", "f; push {r4, lr}; addeq sp, #0x4; popeq {lr}; beq 0x200 <dropped>; pop {r4, pc}", "no resident code"),
        ("armv7", "f; push {r4, lr}; popeq {r4, lr}; bne 0x108 <f>; pop {r4, pc}", "is reached with"),
        ("armv7", "f; push {r4, lr}; popeq {r4, r5, pc}; pop {r4, pc}", "with 8 bytes on the stack"),
        ("armv7", "f; push {r4, lr}; popeq {r4, pc}; pop {pc}", "with 4 bytes on the stack"),
        ("aarch64", "f; cbz x0, 0x108 <f+0x8>; sub sp, sp, #0x10; nop; b 0x108 <f+0x8>", "is reached with"),
    ],
)
def test_what_cannot_be_told_is_an_error(architecture: str, function: str, says: str) -> None:
    with pytest.raises(StackError, match=says):
        depth(architecture, function)
