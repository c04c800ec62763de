# SPDX-License-Identifier: Apache-2.0
"""What an x86 sandbox can try on model-specific registers, those of its local APIC among them."""

import random

from bhtool.attack.attack_class import walk
from bhtool.attack.request import ANYTHING, NOT_DONE, Aim, Attempt
from bhtool.attack.surroundings import Surroundings


def code(text: str) -> bytes:
    return bytes.fromhex(text)


RET = b"\xc3"
INTO_ECX, VALUE_INTO_EAX = b"\x89\xf9", b"\x89\xf0"
HIGH_INTO_EDX = b"\x48\x89\xf2\x48\xc1\xea\x20"

# ---- Model-specific registers ---------------------------------------------------------------------------------------

RDMSR = INTO_ECX + code("0f3248c1e2204809d0") + RET
WRMSR = INTO_ECX + VALUE_INTO_EAX + HIGH_INTO_EDX + code("0f30") + RET
REWRITE_MSR = INTO_ECX + code("0f320f30") + RET  # what it reads
MSR_RANGES = ((0x0, 0x2000), (0x40000000, 0x200), (0xC0000000, 0x2000), (0xC0010000, 0x2000))
# What only a monitor may have: reading or writing it must fault. SDM vol. 4, 2.1; APM vol. 2, A
MONITORS_MSRS = (*range(0x480, 0x493), 0x9B, 0x9E, 0x79, 0xC0010114, 0xC0010115, 0xC0010117, 0xC0010112, 0xC0010113, 0xC0010020)
KNOWN_MSRS = (
    *(
        0x10,
        0x17,
        0x2A,
        0x34,
        0x35,
        0x3B,
        0x48,
        0x49,
        0x8B,
        0xCE,
        0xE1,
        0xE2,
        0xE7,
        0xE8,
        0xFE,
        0x10A,
        0x10B,
        0x122,
        0x140,
        0x174,
        0x175,
        0x176,
        0x179,
    ),
    *(
        0x17A,
        0x17B,
        0x186,
        0x198,
        0x199,
        0x19A,
        0x19C,
        0x1A0,
        0x1A2,
        0x1AD,
        0x1B0,
        0x1D9,
        0x1F2,
        0x1F3,
        *range(0x200, 0x210),
        0x250,
        0x258,
        0x277,
    ),
    *(
        0x2FF,
        0x300,
        0x309,
        0x345,
        0x38D,
        0x38F,
        0x400,
        0x401,
        0x402,
        0x403,
        0x570,
        0x600,
        0x606,
        0x611,
        0x6E0,
        0x770,
        0x774,
        0xC80,
        0xC8F,
        0xDA0,
    ),
    *range(0x802, 0x840),
    *(0xC0000080, 0xC0000081, 0xC0000082, 0xC0000083, 0xC0000084, 0xC0000100, 0xC0000101, 0xC0000102, 0xC0000103, 0xC0000104, 0xC0010000),
    *(0xC0010004, 0xC0010010, 0xC0010015, 0xC001001F, 0xC0010061, 0xC0010062, 0xC0010111, 0xC0010130, 0xC0010140, 0xC0011020, 0xC0011029),
)
# What exists in a sandbox: hal/x86/msr.c and msr_boot.c in words of their own. All else must fault.
SANDBOX_MSRS = {
    *(
        0x10,
        0x1B,
        0x8B,
        0xFE,
        0x174,
        0x175,
        0x176,
        0x1A0,
        0x277,
        0x2FF,
        0xC0000080,
        0xC0000081,
        0xC0000082,
        0xC0000083,
        0xC0000084,
    ),
    *(0xC0000100, 0xC0000101, 0xC0000102, 0xC0000103),
    *range(0x800, 0x840),
}
OWN_MSRS = (0xC0000080, 0x1B, 0x3A)  # with another value there is no sandbox left that could try anything
ICR, SELF_IPI, TIMER_COUNT = 0x830, 0x83F, 0x839


def draw_msr(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    start, size = MSR_RANGES[index % len(MSR_RANGES)]
    write, offset = divmod(walk(index // len(MSR_RANGES), 2 * size), size)
    register = start + offset
    if rng.random() < 0.5:
        register = rng.choice(rng.choice((MONITORS_MSRS, KNOWN_MSRS)))
    if register == TIMER_COUNT:  # QEMU ends with "Bad icount read" when it is read in the middle of a block
        register -= 1
    contained = ANYTHING if register in SANDBOX_MSRS else NOT_DONE
    if register in (ICR, SELF_IPI, *OWN_MSRS) or 0x800 <= register < 0x840:
        return Attempt(f"rdmsr and wrmsr {register:#x}", REWRITE_MSR, register, 0, Aim.NUMBER, ANYTHING)
    if not write:
        return Attempt(f"rdmsr {register:#x}", RDMSR, register, 0, Aim.NUMBER, contained)
    return Attempt(f"wrmsr {register:#x}", WRMSR, register, rng.getrandbits(64), Aim.NUMBER, contained)


LVTS = (0x82F, 0x832, 0x833, 0x834, 0x835, 0x836, 0x837)
WIRED_LVTS = (0x834, 0x835, 0x836)  # performance counters, LINT0, LINT1
FIXED, SMI, NMI, INIT, STARTUP, EXTINT = 0, 2, 4, 5, 6, 7
TO_ALL_OTHERS = 3
PLAIN_VECTORS = (0x20, 0x100)  # below, delivery to itself would look like an exception and end the attacker


def icr(rng: random.Random, mode: int, shorthand: int, destination: int, logical: int) -> Attempt:
    low = rng.randrange(*PLAIN_VECTORS) | mode << 8 | logical << 11 | rng.getrandbits(1) << 14 | rng.getrandbits(1) << 15 | shorthand << 18
    value = destination << 32 | low
    return Attempt(f"ICR {value:#018x}", WRMSR, ICR, value, Aim.NUMBER, ANYTHING)


def draw_icr(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """To other cores, by physical and logical destinations: SDM vol. 3, 12.12.9 "ICR Operation in x2APIC Mode"."""
    mode = (FIXED, NMI, INIT, STARTUP)[index % 4]
    others = [core for core in range(4) if core not in around.sandbox.hardware_ids]
    if rng.getrandbits(1):
        own = 1 << around.sandbox.hardware_ids[0]
        return icr(rng, mode, 0, rng.choice((1 << rng.choice(others), rng.getrandbits(32) & ~own)), 1)
    destinations = (*others, rng.getrandbits(32) | 0x80) + ((0xFFFFFFFF,) if mode == FIXED else ())
    return icr(rng, mode, 0, rng.choice(destinations), 0)


def draw_own_icr(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Modes that nobody may send, to anybody; the others with shorthands, which stay within the sandbox."""
    mode = index % 8
    if mode in (1, SMI, 3, 7):
        return icr(rng, mode, rng.randrange(4), rng.choice((rng.randrange(4), 0xFFFFFFFF, rng.getrandbits(32))), rng.getrandbits(1))
    return icr(rng, mode, TO_ALL_OTHERS if mode != FIXED else rng.randrange(1, 4), rng.getrandbits(32), rng.getrandbits(1))


def draw_lvt(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Every delivery mode in every entry, masked where it would be the sandbox's own end. SDM vol. 3A, 11.5.1 "Local Vector Table"."""
    register = LVTS[index % len(LVTS)]
    mode = index // len(LVTS) % 8
    value = rng.randrange(*PLAIN_VECTORS) | mode << 8 | rng.getrandbits(1) << 16 | rng.getrandbits(1) << 13
    if register == 0x832:
        value |= 1 << 16
    granted = (FIXED, NMI, EXTINT) if register in WIRED_LVTS else (FIXED,)
    return Attempt(f"LVT {register:#x} = {value:#x}", WRMSR, register, value, Aim.NUMBER, ANYTHING if mode in granted else NOT_DONE)
