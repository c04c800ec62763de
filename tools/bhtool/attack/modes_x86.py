# SPDX-License-Identifier: Apache-2.0
"""What a PC's processor can do outside long mode: 32-bit protected mode and real mode, without paging. SDM vol. 3, 10.9 "Mode Switching"."""

import random
from dataclasses import dataclass
from functools import partial

from bhtool.attack.attack_class import AttackClass
from bhtool.attack.request import ANYTHING, NEVER_BACK, NO_VALUE, NOT_DONE, Aim, Attempt, Outcome
from bhtool.attack.surroundings import Surroundings

# On the address in EDI with the value in ESI, in 32-bit code.
ACCESSES = {
    "read 1": "8a07",
    "read 2": "668b07",
    "read 4": "8b07",
    "read 4 at a distance": "8b8700000000",
    "push from": "ff3758",
    "write 1": "89f08807",
    "write 4": "8937",
    "write an immediate to": "c607a5",
    "add to": "0137",
    "lock xadd": "f00fc137",
    "lock cmpxchg8b": "f00fc70f",
    "rep stos to": "b910000000f3aa",
    "compare with": "89fea7",
    "test bit of": "0fba2700",
    "sidt to": "0f010f",
}
# The same in 16-bit code: 66 for operands of 32 bits, 67 for addresses of 32 bits.
ACCESSES_16 = {
    "read 1": "678a07",
    "read 2": "678b07",
    "read 4": "67668b07",
    "read 4 at a distance": "67668b8700000000",
    "push from": "6766ff376658",
    "write 1": "6689f0678807",
    "write 4": "67668937",
    "write an immediate to": "67c607a5",
    "add to": "67660137",
    "lock xadd": "f067660fc137",
    "lock cmpxchg8b": "f0670fc70f",
    "rep stos to": "66b91000000067f3aa",
    "compare with": "6689fe6766a7",
    "test bit of": "67660fba2700",
    "sidt to": "670f010f",
}
# What the monitor answers, or the processor alone, on the number in EDI with the value in ESI; modes.S saves RBX.
EXITS = {
    "cpuid": "89f80fa2",
    "rdmsr": "89f90f32",
    "wrmsr": "89f989f031d20f30",
    "in eax": "89fa31c0ed",
    "out al": "89fa89f0ee",
    "vmcall": "89f889f30f01c1",
    "vmmcall": "89f889f30f01d9",
    "mov to cr4": "0f20e089c231fa0f22e20f22e0",
    "invd": "0f08",
    "wbinvd": "0f09",
}
EXITS_16 = {
    "cpuid": "6689f80fa2",
    "rdmsr": "6689f90f32",
    "wrmsr": "6689f96689f06631d20f30",
    "in eax": "89fa6631c066ed",
    "out al": "89fa89f0ee",
    "vmcall": "6689f86689f30f01c1",
    "vmmcall": "6689f86689f30f01d9",
    "mov to cr4": "0f20e06689c26631fa0f22e20f22e0",
    "invd": "0f08",
    "wbinvd": "0f09",
}
NUMBERS = {  # that matter; others are drawn
    "cpuid": (0, 1, 0x40000000, 0x80000000),
    "rdmsr": (0x10, 0x1B, 0x80B, 0xC0000080, 0xC0010114, 0xC0010117),
    "wrmsr": (0x1B, 0x80B, 0x830, 0xC0010114, 0xC0010117),
    "in eax": (0xCFC, 0x3F8, 0x64),
    "out al": (0xCF8, 0x3F8, 0x64),
    "vmcall": (0xC6000000, 0xC6000001, 0xC6000003),
    "vmmcall": (0xC6000000, 0xC6000001, 0xC6000003),
    "mov to cr4": (1 << 6, 1 << 13, 1 << 14, 1 << 20),
}
RET = b"\xc3"
BELOW, PORTS = 1 << 32, 1 << 16


@dataclass(frozen=True)
class Mode:
    name: str
    aim: Aim
    accesses: dict[str, str]
    exits: dict[str, str]


PROTECTED = Mode("protected-mode", Aim.PROTECTED, ACCESSES, EXITS)
REAL = Mode("real-mode", Aim.REAL, ACCESSES_16, EXITS_16)


def contained(name: str, number: int, around: Surroundings) -> frozenset[Outcome]:
    """Ports that are not the sandbox's own are an empty bus, or nothing."""
    port = number % PORTS
    if (
        not name.startswith(("in ", "out "))
        or 0xCF8 <= port < 0xD00
        or any(one.first <= port < one.first + one.count for one in around.sandbox.ports)
    ):
        return ANYTHING
    return NO_VALUE if name.startswith("in ") else NOT_DONE


def draw_mode(mode: Mode, rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """A foreign address; then a page that the monitor answers for, and whatever else it answers, with any instruction."""
    form, kind = rng.choice(list(mode.accesses)), index % 4
    body = bytes.fromhex(mode.accesses[form])
    if kind < 2:
        target = around.draw(rng, below=BELOW)
        text = f"{form} {target.address:#x} ({target.whose})"
        return Attempt(text, body + RET, target.address, rng.getrandbits(32), mode.aim, NEVER_BACK)
    if kind == 2:
        space = around.configuration
        address = rng.choice(
            (around.controller.start, around.controller.start + 16, *([space.start + rng.randrange(space.size) & ~3] if space.size else ()))
        )
        if rng.random() < 0.5:
            body = bytes(rng.choice(b"\x66\x67\xf2\xf3\xf0\x2e\x36\x26") for _ in range(rng.randrange(4))) + body
        return Attempt(f"bytes {body.hex()} on {address:#x}", body + RET, address, rng.getrandbits(32), mode.aim, ANYTHING)
    name = list(mode.exits)[index // 4 % len(mode.exits)]
    number = rng.choice((*NUMBERS.get(name, ()), rng.getrandbits(32)))
    text = f"{name}, with {number:#x}"
    return Attempt(text, bytes.fromhex(mode.exits[name]) + RET, number, rng.getrandbits(32), mode.aim, contained(name, number, around))


def class_of(mode: Mode, tries: str) -> AttackClass:
    return AttackClass(mode.name, tries, 0, partial(draw_mode, mode), "memory", ends=True)


MODES_X86 = (
    class_of(PROTECTED, "accesses, exits and garbage in 32-bit protected mode, paging off"),
    class_of(REAL, "the same in real mode, with segments of 4 GiB"),
)
