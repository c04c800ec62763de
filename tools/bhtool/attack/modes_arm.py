# SPDX-License-Identifier: Apache-2.0
"""Other modes, states and levels of ARM processors, entered by the attempt itself, and storms of exceptions in them."""

import random
import struct

from bhtool.attack.attack_class import AttackClass
from bhtool.attack.request import ANYTHING, NEVER_BACK, NOT_DONE, Aim, Attempt
from bhtool.attack.surroundings import Surroundings

# ---- ARMv7: B1.3.1 "ARM processor modes" ----------------------------------------------------------------------------

MODES = {"USR": 0x10, "FIQ": 0x11, "IRQ": 0x12, "MON": 0x16, "ABT": 0x17, "HYP": 0x1A, "UND": 0x1B, "SYS": 0x1F, "none": 0x15}
KERNELS = ("FIQ", "IRQ", "ABT", "UND", "SYS")  # that lead back to SVC mode
SVC = 0x13


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def cps(mode: int) -> int:
    return 0xF1020000 | mode


def draw_mode_v7(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """In another mode or in Thumb state, a foreign address; or into a mode that only others have."""
    target = around.draw(rng)
    where = f"{target.address:#x} ({target.whose})"
    kind = index % 4
    if kind == 0:
        name = rng.choice(KERNELS)
        code = words(cps(MODES[name]), rng.choice((0xE5900000, 0xE5802000)), cps(SVC), 0xE3A01000, 0xE12FFF1E)
        return Attempt(f"access in {name} mode to {where}", code, target.address, rng.getrandbits(32), Aim.ADDRESS, NEVER_BACK)
    if kind == 1:  # add r12, pc, #1; bx r12; Thumb: ldr or str; mov r1, #0; bx lr
        thumb = struct.pack("<4H", rng.choice((0x6800, 0x6002)), 0x2100, 0x4770, 0xBF00)
        code = words(0xE28FC001, 0xE12FFF1C) + thumb
        return Attempt(f"access in Thumb state to {where}", code, target.address, rng.getrandbits(32), Aim.ADDRESS, NEVER_BACK)
    name = rng.choice(("HYP", "MON", "none", "USR"))
    enter = words(0xE121F000 | 0) if kind == 2 else words(0xE169F000, 0xE1B0F00E)  # msr cpsr_c, r0; msr spsr, r0 and movs pc, lr
    code = enter + words(0xEE1C0F10 | 4 << 21, 0xE3A01000, 0xE12FFF1E)  # mrc HVBAR
    how = "CPSR" if kind == 2 else "SPSR"
    # With USR, and whatever QEMU makes of the others, what follows has to be refused.
    return Attempt(f"{how} to {name} mode", code, 0x1C0 | MODES[name], 0, Aim.NUMBER, NOT_DONE if kind == 2 else ANYTHING)


# The vector is laid over the instruction before: mov pc, r12, back into the loop; the vectors are where the code begins.
STORM_V7 = words(
    0xEE1C1F10,  # mrc VBAR
    0xE24F300C,  # sub r3, pc, #12
    0xE5832004,  # str r2, [r3, #4]
    0xEE0C3F10,  # mcr VBAR
    0xE24FC004,  # sub r12, pc, #4
    0xE2500001,  # subs r0, #1
    0x17F000F0,  # udf, if there is more to do
    cps(SVC),
    0xEE0C1F10,
    0xE12FFF1E,
)
MOV_PC_R12 = 0xE1A0F00C


def draw_undefined_v7(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    times = rng.randrange(16, 4096)
    return Attempt(f"{times} undefined instructions", STORM_V7, times, MOV_PC_R12, Aim.NUMBER, ANYTHING)


# ---- AArch64: C5.2.18 "SPSR_EL1": M[4:0] ----------------------------------------------------------------------------

LEVELS = {
    "AArch32 user": 0x10,
    "AArch32 supervisor": 0x13,
    "AArch32 Hyp": 0x1A,
    "AArch32 monitor": 0x16,
    "AArch32 user, Thumb": 0x30,
    "EL0": 0x0,
    "EL1 with SP_EL0": 0x4,
    "EL2": 0x9,
    "EL2 with SP_EL0": 0x8,
    "EL3": 0xD,
    "illegal": 0x2,
}
# msr spsr_el1, x1; adr x2, .+12; msr elr_el1, x2; eret; mrs x0, vbar_el2; ret
ERET = words(0xD5184001, 0x10000062, 0xD5184022, 0xD69F03E0, 0xD53CC000, 0xD65F03C0)


def draw_level(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """ERET to every level and state there is; from there a register of EL2."""
    name = list(LEVELS)[index % len(LEVELS)]
    flags = rng.getrandbits(4) << 28 | rng.getrandbits(1) << 21 | rng.getrandbits(1) << 20 | 0x3C0
    return Attempt(f"eret to {name}", ERET, 0, flags | LEVELS[name], Aim.NUMBER, NOT_DONE)


# The vector 0x200 after the code's beginning becomes br x5, back into the loop.
STORM = words(
    0xD538C004,  # mrs x4, vbar_el1
    0x10FFFFE2,  # adr x2, .-4
    0xB9020041,  # str w1, [x2, #0x200]
    0xD518C002,  # msr vbar_el1, x2
    0x10000025,  # adr x5, .+4
    0xD1000400,  # sub x0, x0, #1
    0xB4000040,  # cbz x0, .+8
    0x00000000,  # udf
    0xD518C004,  # msr vbar_el1, x4
    0xD65F03C0,
)
BR_X5 = 0xD61F00A0


def draw_undefined(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    times = rng.randrange(16, 4096)
    return Attempt(f"{times} undefined instructions", STORM, times, BR_X5, Aim.NUMBER, ANYTHING)


MODES_V7 = AttackClass("modes", "every mode, and Thumb state; CPSR and SPSR to Hyp and Monitor mode", 0, draw_mode_v7, "memory", ends=True)
LEVELS_V8 = AttackClass(
    "levels", "returns to every exception level and state, AArch32 among them", 3, draw_level, harmless="they act on the own core alone"
)
UNDEFINED_V7 = AttackClass("exceptions", "exceptions without a pause", 1, draw_undefined_v7, harmless="they never leave the sandbox")
UNDEFINED_V8 = AttackClass("exceptions", "exceptions without a pause", 1, draw_undefined, harmless="they never leave the sandbox")
