# SPDX-License-Identifier: Apache-2.0
"""What an ARMv7 sandbox can try. Code is ARM, called with its arguments in r0-r1 and r2-r3: ARMv7 ARM A8.8 for every encoding."""

import random
import struct
from functools import partial

from bhtool.attack.aliases import ALIASES_ARMV7
from bhtool.attack.attack_class import AttackClass, draw_access, walk
from bhtool.attack.classes_channel import Forms as ChannelForms
from bhtool.attack.classes_channel import RingLoop, channel_classes
from bhtool.attack.classes_gic import SGIR, order_value, own_order_value, own_target, register_address, shows_nothing
from bhtool.attack.classes_request import CLOSE, OPEN, Call, request_classes
from bhtool.attack.classes_request import Forms as RequestForms
from bhtool.attack.configuration_space import ALL_ONES, Forms, Kept, draw_as_memory
from bhtool.attack.modes_arm import MODES_V7, UNDEFINED_V7
from bhtool.attack.races import RACES_ARMV7
from bhtool.attack.request import ANYTHING, NEVER_BACK, NOT_DONE, NOTHING_THERE, Aim, Attempt
from bhtool.attack.resets import RESETS_ARMV7, ends_caller
from bhtool.attack.surroundings import Surroundings

CLEAR_HIGH, RETURN = 0xE3A01000, 0xE12FFF1E  # mov r1, #0; bx lr


def code(*words: int) -> bytes:
    return struct.pack(f"<{len(words) + 2}I", *words, CLEAR_HIGH, RETURN)


READS = {
    "ldr": code(0xE5900000),
    "ldrb": code(0xE5D00000),
    "ldrh": code(0xE1D000B0),
    "ldrsb": code(0xE1D000D0),
    "ldrd": code(0xE1C060D0),
    "ldm": code(0xE890000C),
    "ldr post-indexed": code(0xE4902004),
    "ldrex": code(0xE1900F9F),
}
WRITES = {
    "str": code(0xE5802000),
    "strb": code(0xE5C02000),
    "strh": code(0xE1C020B0),
    "strd": code(0xE1C020F0),
    "stm": code(0xE880000C),
    "str pre-indexed": code(0xE5A02004),
    "ldrex and strex": code(0xE190CF9F, 0xE1801F92),
}
EXECUTE = {"call": code(0xE12FFF30), "call of Thumb": code(0xE3800001, 0xE12FFF30)}
MEMORY = {"read": READS, "write": WRITES, "execute": EXECUTE}


def draw_straddle(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """From the last bytes of an own page over its end."""
    name = rng.choice(("ldr", "str"))
    address = around.edges[index % len(around.edges)] - rng.randrange(1, 4)
    value = rng.getrandbits(64) if name in WRITES else 0
    return Attempt(f"{name} {address:#x}, half of it foreign", (READS | WRITES)[name], address, value, Aim.ADDRESS, NOT_DONE)


def draw_tables(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    target = around.draw(rng)
    return Attempt(f"page table at {target.address:#x} ({target.whose})", READS["ldr"], target.address, 0, Aim.TABLE, NEVER_BACK)


MULTIPLIES = 0x00000090  # and exclusive accesses


def draw_garbage(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Loads and stores of every kind on a page that the monitor answers for, or a foreign one: A5.3 "Load/store word and unsigned byte", A5.2.8 "Extra"."""
    kind = rng.choice((0x04000000, 0x05000000, MULTIPLIES, 0x000000B0, 0x000000D0, 0x000000F0))
    word = 0xE0000000 | kind | rng.getrandbits(5) << 20 | rng.randrange(2, 9) << 12 | rng.getrandbits(4) << (0 if kind >> 26 else 8)
    address, contained = around.controller.start, ANYTHING
    if index % 2:
        word |= 1 << 23 | (1 << 22 if kind < 0x04000000 else 0)  # not before the page: up, and by a number
        address, contained = around.draw(rng, pages=2).address, ANYTHING if kind == MULTIPLIES else NOT_DONE
    return Attempt(f"instruction {word:#010x} on {address:#x}", code(word), address, rng.getrandbits(32), Aim.ADDRESS, contained)


# ---- Coprocessors: opc1, CRn, CRm, opc2; B3.17 "Organization of the CP15 registers" -------------------------------------

OWN = {(15, 1), (15, 2), (15, 3), (15, 9), (15, 10), (15, 12), (15, 13), (15, 14), (15, 5), (15, 6)}  # nonsense in these ends the sandbox
HYP = 4  # opc1
DBGDIDR = (0, 0, 0)  # answered by the monitor: docs/registers-armv7.md
# Where there are registers: coprocessor 15 (0 here) or 14 (1), opc1, CRn, CRm.
KNOWN = [
    coprocessor << 11 | opc1 << 8 | crn << 4 | crm
    for coprocessor, opcodes, numbers in ((0, (0, 1, 2, HYP), (0, 1, 2, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15)), (1, (0, 6, 7), (0, 1, 2, 7)))
    for opc1 in opcodes
    for crn in numbers
    for crm in (range(8) if crn != 9 else (0, 2, 12, 13, 14, 15))
]
KNOWN += [1 << 11 | crm for crm in range(8)] * 8  # debug registers of breakpoints and watchpoints, of which a Cortex-A15 has many


def draw_register(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    number = walk(index // 6, 1 << 15) if index // 3 % 2 else rng.choice(KNOWN) << 3 | rng.getrandbits(3)
    coprocessor, opc1, crn, crm, opc2 = 15 - (number >> 14 & 1), number >> 11 & 7, number >> 7 & 15, number >> 3 & 15, number & 7
    register = opc1 << 21 | crn << 16 | coprocessor << 8 | opc2 << 5 | crm
    name = f"p{coprocessor}, {opc1}, c{crn}, c{crm}, {opc2}"
    hyp = (coprocessor, opc1) == (15, HYP) and crn not in (3, 15)  # QEMU's DACR answers to every opc1
    debug = (coprocessor, opc1) == (14, 0) and (crn, crm, opc2) != DBGDIDR
    contained = NOT_DONE if hyp or debug else ANYTHING
    if index % 3 == 0:
        return Attempt(f"mrc {name}", code(0xEE100010 | register), 0, 0, Aim.NUMBER, contained)
    if index % 3 == 1 or (coprocessor, crn) in OWN:
        return Attempt(f"mrc and mcr {name}", code(0xEE10C010 | register, 0xEE00C010 | register), 0, 0, Aim.NUMBER, contained)
    if crn in (7, 8):  # maintenance by address is an access
        contained = ANYTHING if opc1 != HYP else contained
    return Attempt(f"mcr {name}", code(0xEE002010 | register, 0xF57FF06F), 0, rng.getrandbits(32), Aim.NUMBER, contained)


def draw_pair(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Registers of 64 bits."""
    number = walk(index, 1 << 9)
    coprocessor, opc1, crm = 15 - (number >> 8), number >> 4 & 15, number & 15
    register = coprocessor << 8 | opc1 << 4 | crm
    contained = NOT_DONE if (opc1, crm) in ((6, 2), (4, 14), (6, 14)) and coprocessor == 15 else ANYTHING
    read, write = 0xEC500000 | 6 << 16 | 12 << 12 | register, 0xEC400000 | 6 << 16 | 12 << 12 | register
    return Attempt(f"mrrc and mcrr p{coprocessor}, {opc1}, c{crm}", code(read, write), 0, 0, Aim.NUMBER, contained)


# ---- Interrupts, calls, instructions -----------------------------------------------------------------------------------


def kept_target(address: int, value: int, held: int) -> Attempt:
    """strb; ldrb; eor r0, r0, #held."""
    text = f"{value:#x} to the own line's target at {address:#x}, and read"
    return Attempt(text, code(0xE5C02000, 0xE5D00000, 0xE2200000 | held), address, value, contained=NOTHING_THERE)


def draw_interrupt_register(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    if index % 16 == 15 and (own := own_target(rng, around)):
        return kept_target(*own)
    address = register_address(rng, index, around)
    name = rng.choice(("ldr", "str", "str"))
    contained = NOTHING_THERE if name in READS and shows_nothing(address, around) else ANYTHING
    return Attempt(
        f"{name} {address:#x}", (READS | WRITES)[name], address, 0 if name in READS else rng.getrandbits(32), contained=contained
    )


def draw_interrupt_piece(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    address = register_address(rng, index, around) + rng.randrange(4)
    if index % 3 == 1 and shows_nothing(address & ~3, around):
        return Attempt(f"strb {address:#x}, and ldrb", code(0xE5C02000, 0xE5D00000), address, rng.getrandbits(8), contained=NOTHING_THERE)
    name = rng.choice(("ldrb", "ldrh", "ldrsb", "strb", "strh", "ldrd", "strd", "ldrex"))
    return Attempt(f"{name} {address:#x}", (READS | WRITES)[name], address, 0 if name in READS else rng.getrandbits(32))


def draw_order(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Interrupts to other cores: every number, target list and filter."""
    value = order_value(rng)
    return Attempt(f"GICD_SGIR = {value:#x}", WRITES["str"], around.controller.start + SGIR, value, Aim.NUMBER, ANYTHING)


def draw_own_order(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    value = own_order_value(rng, around)
    return Attempt(f"GICD_SGIR = {value:#x}", WRITES["str"], around.controller.start + SGIR, value, Aim.NUMBER, ANYTHING)


CALLS = {"hvc": 0xE1400070, "smc": 0xE1600070}
PSCI, MONITOR = 0x84000000, 0x86000000


DOORBELL = MONITOR + 5


def draw_call(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    name = list(CALLS)[index % len(CALLS)]
    known = rng.choice((PSCI, MONITOR, 0x80000000, 0xC4000000)) + index // 2 % 32
    function = rng.choice((known, known, rng.getrandbits(32)))
    if ends_caller(function):
        function = PSCI + 3
    value = rng.choice((rng.getrandbits(2), 0x80000000 | rng.getrandbits(2), rng.getrandbits(32)))
    if index % 8 == 7:
        function, value = DOORBELL, rng.choice((rng.randrange(8), rng.randrange(40), 0x80000000, 0xFFFFFFFF, rng.getrandbits(32)))
    body = code(0xE1A01002, CALLS[name] | rng.choice((0, 0, 0, rng.getrandbits(4))))
    return Attempt(f"{name} {function:#x} with {value:#x}", body, function, value, Aim.NUMBER, ANYTHING)


INSTRUCTIONS = {
    "udf": 0xE7F000F0,
    "bkpt": 0xE1200070,
    "svc": 0xEF000000,
    "cps to Hyp mode": 0xF102001A,
    "cps to Monitor mode": 0xF1020016,
    "eret": 0xE160006E,
    "bxj": 0xE12FFF20,
    "sev": 0xE320F004,
    "wfe": 0xE320F002,
    "yield": 0xE320F001,
    "dbg": 0xE320F0F0,
    "mrs elr_hyp": 0xE10E0300,
    "msr spsr_hyp": 0xE16EF300,
    "vmrs fpsid": 0xEEF00A10,
    "vmov": 0xEC510B10,
    "cdp p15": 0xEE000F00,
    "ldc p14": 0xED905E00,
    "setend be, le": 0xF1010200,
    "clrex": 0xF57FF01F,
}


def draw_instruction(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    name = list(INSTRUCTIONS)[index % len(INSTRUCTIONS)]
    number = rng.getrandbits(12) if name in ("udf", "bkpt") else rng.getrandbits(24) if name == "svc" else 0
    word = INSTRUCTIONS[name] | (number << 8 if name in ("udf", "bkpt") else number)
    return Attempt(f"{name}, #{number:#x}", code(word, 0xF1010000), 0)  # and little-endian again


def draw_self_modifying(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """STR over the instruction that follows, with and without the maintenance that it would take."""
    word = rng.choice((0xE7F000F0 | rng.getrandbits(12) << 8, 0xE320F000, 0xE320F004, 0xEF000000 | rng.getrandbits(24)))
    maintained = (0xEE07CF3B, 0xF57FF04F, 0xEE07CF35, 0xF57FF06F) if rng.random() < 0.5 else (0xE320F000,) * 4
    return Attempt(f"an instruction made {word:#010x} just before it runs", code(0xE28FC010, 0xE58C2000, *maintained, 0xE320F000), 0, word)


def draw_storm(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """So many reads of the distributor one after the other."""
    times = rng.randrange(16, 241)
    return Attempt(f"{times} distributor reads", code(0xE5921000, 0xE2500001, 0x1AFFFFFC), times, around.controller.start)


def constant(value: int) -> tuple[int, int]:
    """movw r3; movt r3."""
    low, high = value & 0xFFFF, value >> 16
    return 0xE3003000 | low >> 12 << 16 | low & 0xFFF, 0xE3403000 | high >> 12 << 16 | high & 0xFFF


def kept_register(kept: Kept) -> bytes:
    """mov r3, held; str r3; str r2; ldr r0; eor r0, r0, r3; and r0, r0, #mask, unless that is all."""
    masked = () if kept.mask == ALL_ONES else (0xE2000000 | kept.mask,)
    return code(*constant(kept.held), 0xE5803000, 0xE5802000, 0xE5900000, 0xE0200003, *masked)


CONFIGURATION = Forms(
    {1: READS["ldrb"], 2: READS["ldrh"], 4: READS["ldr"]}, {1: WRITES["strb"], 2: WRITES["strh"], 4: WRITES["str"]}, kept_register
)


def ring_loop(times: int, rounds: int, number: int, around: Surroundings) -> RingLoop:
    """mov r1, r0; mov r3, times; again: mov r0, r2; hvc; movw r12, rounds; subs r12; bne; subs r3; bne again; bx lr."""
    pause = (0xE300C000 | rounds >> 12 << 16 | rounds & 0xFFF, 0xE25CC001, 0x1AFFFFFD)
    loop = (0xE1A01000, 0xE3A03000 | times, 0xE1A00002, CALLS["hvc"], *pause, 0xE2533001, 0x1AFFFFF8, RETURN)
    return RingLoop(struct.pack(f"<{len(loop)}I", *loop), number, DOORBELL)


ADD = code(0xE590C000, 0xE08CC002, 0xE580C000)  # ldr r12; add r12, r12, r2; str r12


def fill(words: int, distance: int) -> bytes:
    """mov r3, words; again: str r2; add r0, r0, distance; subs r3; bne again. Both are small."""
    return code(0xE3A03000 | words, 0xE5802000, 0xE2800000 | distance, 0xE2533001, 0x1AFFFFFB)


def request_call(number: int, argument: int, around: Surroundings) -> Call:
    """mov r1, r2."""
    return Call(code(0xE1A01002, CALLS["hvc"]), MONITOR + number, argument)


def function_into(register: int, number: int) -> tuple[int, int]:
    """movw; movt."""
    return 0xE3000000 | register << 12 | number, 0xE3480600 | register << 12


def turns(times: int, numbers: tuple[int, int], around: Surroundings) -> bytes:
    """mov r1, r2; mov r3, times; mov r12, the first; again: mov r0, r12; hvc; eor r12, r12, #1, if there is another; subs r3; bne again; bx lr."""
    first, second = numbers
    other = 0xE320F000 if first == second else 0xE22CC001
    loop = (0xE1A0000C, CALLS["hvc"], other, 0xE2533001, 0x1AFFFFFA, RETURN)
    return struct.pack("<10I", 0xE1A01002, 0xE3A03000 | times, *function_into(12, first), *loop)


def shuffled(times: int, seed: int, around: Surroundings) -> Call:
    """mov r12, r0; mov r3, times; again: add r2, r2, r2, lsl #5; mov r1, r2, lsr #28; ubfx r0, r2, #20, #1; add r0, r0, r12; hvc; subs r3; bne again; bx lr."""
    drawn = (0xE0822282, 0xE1A01E22, 0xE7E00A52, 0xE080000C)
    loop = struct.pack("<10I", 0xE1A0C000, 0xE3A03000 | times, *drawn, CALLS["hvc"], 0xE2533001, 0x1AFFFFF8, RETURN)
    return Call(loop, MONITOR + OPEN, seed)


def closing(access: bytes, around: Surroundings) -> bytes:
    """ldr r3; mov r12, r0; mov r1, r2; mov r0, CLOSE; hvc; mov r0, r12."""
    return struct.pack("<7I", 0xE5903000, 0xE1A0C000, 0xE1A01002, *function_into(0, CLOSE), CALLS["hvc"], 0xE1A0000C) + access


CHANNELS = (
    *channel_classes(ChannelForms(READS, WRITES, EXECUTE, ADD, fill, ring_loop), 10),
    *request_classes(RequestForms(MEMORY, request_call, turns, shuffled, closing, ALL_ONES), 3),
)
CLASSES = (
    AttackClass(
        "memory",
        f"reads, writes and jumps, in {sum(map(len, MEMORY.values()))} forms",
        0,
        partial(draw_access, MEMORY),
        "memory",
        ends=True,
        endless=True,
    ),
    AttackClass("straddle", "accesses that begin in own memory", 0, draw_straddle, "memory", ends=True),
    AttackClass("tables", "own page tables that lie in foreign memory", 0, draw_tables, "memory", ends=True),
    ALIASES_ARMV7,
    RACES_ARMV7,
    RESETS_ARMV7,
    MODES_V7,
    AttackClass(
        "garbage",
        "loads and stores that a decoder could misread, on the distributor's page and on foreign ones",
        0,
        draw_garbage,
        "memory",
        ends=True,
    ),
    AttackClass(
        "registers",
        "registers of coprocessors 14 and 15, of every encoding, read, rewritten and written",
        32,
        draw_register,
        "msr",
        endless=True,
    ),
    AttackClass(
        "pairs",
        "every register of 64 bits",
        6,
        draw_pair,
        harmless="a monitor's are undefined outside Hyp mode, the others are the own core's",
    ),
    AttackClass("distributor-pieces", "its registers in other widths and forms", 0, draw_interrupt_piece, "irq", ends=True),
    AttackClass("orders", "interrupts to every core, number and target list", 0, draw_order, "ipi", ends=True),
    AttackClass("distributor", "every register of the distributor", 24, draw_interrupt_register, "irq"),
    AttackClass("own-orders", "interrupts to itself and to all that it may", 1, draw_own_order, harmless="the own core alone"),
    AttackClass(
        "calls",
        "every hypercall and firmware call with any argument",
        10,
        draw_call,
        harmless="without a grant there is nothing to do; a doorbell rings no oftener than granted",
    ),
    AttackClass(
        "instructions",
        "instructions that a sandbox does not have, or not for long",
        4,
        draw_instruction,
        harmless="they act on the own core alone",
    ),
    AttackClass("self-modifying", "instructions that change just before they run", 2, draw_self_modifying, harmless="the own memory alone"),
    AttackClass("storm", "exits without a pause", 2, draw_storm, harmless="each exit is bounded"),
    UNDEFINED_V7,
    *CHANNELS,
    AttackClass("configuration", "registers of PCI functions; what own ones keep", 5, partial(draw_as_memory, CONFIGURATION), "io"),
)
