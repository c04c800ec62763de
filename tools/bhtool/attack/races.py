# SPDX-License-Identifier: Apache-2.0
"""What takes two cores: one accesses a page again and again while the other changes the instruction, or the page tables, under it.

A monitor that looks at either after an exit may see another than the processor did, and from one look to the next.
"""

import random
from dataclasses import dataclass
from functools import partial

from bhtool.attack.attack_class import AttackClass
from bhtool.attack.modes_arm import words
from bhtool.attack.request import ANYTHING, NEVER_BACK, Aim, Attempt, Rival
from bhtool.attack.surroundings import Surroundings


@dataclass(frozen=True)
class Loop:
    """256 times the second eight bytes, which one store can change: an access, and room for what stands beside it."""

    head: bytes  # eight bytes
    tail: bytes
    accesses: dict[str, bytes]
    pause: bytes  # lets the other core in
    forget: bytes  # what was translated
    filler: bytes
    registers: tuple[int, ...]  # offsets in the page of the interrupt controller that the monitor answers for

    def body(self, *parts: bytes) -> bytes:
        """As many of the parts as there is room for."""
        made = b""
        for part in parts:
            made += part if len(made) + len(part) <= 8 else b""
        return made + self.filler * ((8 - len(made)) // len(self.filler))

    def code(self, body: bytes) -> bytes:
        return self.head + body + self.tail


X86 = Loop(
    bytes.fromhex("b900010000909090"),  # mov ecx, 256
    bytes.fromhex("ffc975f4c3"),  # dec ecx; jnz
    {
        name: bytes.fromhex(text)
        for name, text in {
            "mov eax from": "8b07",
            "mov r8d from": "448b07",
            "mov eax from a distance of": "8b4700",
            "mov with prefixes from": "2e3e8b07",
            "mov by the index from": "8b043d00000000",
            "mov esi to": "8937",
            "mov r14d to": "448937",
            "mov a constant to": "c70710000000",
            "mov al from": "8a07",
            "add to": "0137",
            "lock xadd to": "f00fc137",
            "movs from": "4889fea5",
        }.items()
    },
    bytes.fromhex("f390"),
    bytes.fromhex("0f013f"),  # invlpg [rdi]
    b"\x90",
    (0, 0x10),
)
AARCH64 = Loop(
    words(0xD2802003, 0xD503201F),  # mov x3, #256
    words(0xF1000463, 0x54FFFFA1, 0xD65F03C0),  # subs; b.ne; ret
    {
        "ldr w": words(0xB9400002),
        "ldrb": words(0x39400002),
        "ldrsw": words(0xB9800002),
        "str w": words(0xB9000001),
        "strh": words(0x79000001),
        "ldp": words(0xA9401002),
        "stp": words(0xA9000401),
        "ldaxr": words(0x885FFC02),
        "stlr": words(0x889FFC01),
        "ldar": words(0x88DFFC02),
    },
    words(0xD503203F),
    words(0xD508871F),  # tlbi vmalle1
    words(0xD503201F),
    (0, 4, 0x100),
)
ARMV7 = Loop(
    words(0xE3A0CC01, 0xE320F000),  # mov r12, #256
    words(0xE25CC001, 0x1AFFFFFB, 0xE3A01000, 0xE12FFF1E),  # subs; bne; mov r1, #0; bx lr
    {
        "ldr": words(0xE5901000),
        "ldrb": words(0xE5D01000),
        "ldrsh": words(0xE1D010F0),
        "str": words(0xE5802000),
        "strh": words(0xE1C020B0),
        "ldm": words(0xE8900008),
        "stm": words(0xE880000C),
        "ldrex": words(0xE1901F9F),
        "ldrd": words(0xE1C020D0),
    },
    words(0xE320F001),
    words(0xEE080F17),  # TLBIALL
    words(0xE320F000),
    (0, 4, 0x100),
)


def draw_race(loop: Loop, rng: random.Random, index: int, around: Surroundings) -> Attempt:
    rival = (Rival.REAIM, Rival.REWRITE, Rival.RECODE)[index % 3]
    room = 8 - len(loop.forget) if rival is Rival.REAIM else 8
    name, other = rng.sample([name for name, access in loop.accesses.items() if len(access) <= room], 2)
    beside = rng.choice((loop.pause, loop.forget, loop.filler))
    target, foreign = around.controller.start + rng.choice(loop.registers), around.draw(rng)
    text = f"{name} {target:#x} while its {rival.name.lower()[2:]} changes"
    if rival is Rival.REWRITE:
        value = int.from_bytes(loop.body(loop.accesses[other], beside), "little")
        return Attempt(f"{text} to {other}", loop.code(loop.body(loop.accesses[name], beside)), target, value, Aim.ADDRESS, ANYTHING, rival)
    if rival is Rival.RECODE:
        code = loop.code(loop.body(loop.accesses[name], beside))
        return Attempt(f"{text} to {foreign.address:#x} ({foreign.whose})", code, target, foreign.address, Aim.ADDRESS, ANYTHING, rival)
    code = loop.code(loop.body(loop.forget, loop.accesses[name], loop.pause))
    return Attempt(f"{text} to {foreign.address:#x} ({foreign.whose})", code, target, foreign.address, Aim.ADDRESS, NEVER_BACK, rival)


def races(loop: Loop) -> AttackClass:
    tries = "accesses to a page while another core changes the instruction or the page tables"
    return AttackClass("races", tries, 0, partial(draw_race, loop), "memory", ends=True, cores=2)


RACES_X86, RACES_AARCH64, RACES_ARMV7 = races(X86), races(AARCH64), races(ARMV7)
