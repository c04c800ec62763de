# SPDX-License-Identifier: Apache-2.0
"""What an AArch64 sandbox can try. Code is called with its arguments in x0 and x1: Arm ARM, chapter C6 for every encoding."""

import random
import struct
from functools import partial

from bhtool.attack.aliases import ALIASES_AARCH64
from bhtool.attack.attack_class import AttackClass, draw_access, walk
from bhtool.attack.classes_channel import Forms as ChannelForms
from bhtool.attack.classes_channel import RingLoop, channel_classes
from bhtool.attack.classes_gic import (
    INTERESTING,
    ROUTES,
    ROUTES_BYTES,
    SGIR,
    order_value,
    own_order_value,
    own_target,
    register_address,
    shows_nothing,
)
from bhtool.attack.classes_request import CLOSE, OPEN, Call, request_classes
from bhtool.attack.classes_request import Forms as RequestForms
from bhtool.attack.configuration_space import Forms, Kept, draw_as_memory
from bhtool.attack.modes_arm import LEVELS_V8, UNDEFINED_V8
from bhtool.attack.races import RACES_AARCH64
from bhtool.attack.request import ANYTHING, NEVER_BACK, NO_VALUE, NOT_DONE, NOTHING_THERE, Aim, Attempt, Outcome
from bhtool.attack.resets import RESETS_AARCH64, ends_caller
from bhtool.attack.surroundings import REDISTRIBUTOR_BYTES, Surroundings

RET = 0xD65F03C0


def code(*words: int) -> bytes:
    return struct.pack(f"<{len(words) + 1}I", *words, RET)


READS = {
    "ldr x": code(0xF9400000),
    "ldr w": code(0xB9400000),
    "ldrh": code(0x79400000),
    "ldrb": code(0x39400000),
    "ldrsw": code(0xB9800000),
    "ldp": code(0xA9400800),
    "ldr post-indexed": code(0xF8408402),
    "ldur": code(0xF8400000),
    "ldxr": code(0xC85F7C00),
    "ldxp": code(0xC87F0800),
    "ldar": code(0xC8DFFC00),
}
WRITES = {
    "str x": code(0xF9000001),
    "str w": code(0xB9000001),
    "strh": code(0x79000001),
    "strb": code(0x39000001),
    "stp": code(0xA9000401),
    "str pre-indexed": code(0xF8000C01),
    "stlr": code(0xC89FFC01),
    "dc zva": code(0xD50B7420),
    "ldxr and stxr": code(0xC85F7C02, 0xC8037C01),
}
EXECUTE = {"call": code(0xD63F0000), "jump to": code(0xD61F0000)}
MEMORY = {"read": READS, "write": WRITES, "execute": EXECUTE}


def draw_straddle(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """From the last bytes of an own page over its end."""
    name = rng.choice(("ldr x", "ldr w", "str x", "ldp", "stp"))
    address = around.edges[index % len(around.edges)] - rng.randrange(1, 4)
    value = rng.getrandbits(64) if name in WRITES else 0
    return Attempt(f"{name} {address:#x}, half of it foreign", (READS | WRITES)[name], address, value, Aim.ADDRESS, NOT_DONE)


def draw_tables(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    target = around.draw(rng)
    return Attempt(f"page table at {target.address:#x} ({target.whose})", READS["ldr x"], target.address, 0, Aim.TABLE, NEVER_BACK)


PREFETCH, PREFETCH_MASK = 0xF8800000, 0xFEC00000  # PRFM in all its forms: size 11, V 0, opc 10
BY_REGISTER, BY_REGISTER_MASK = 0x38200800, 0x3B200C00  # at a distance in a register


def draw_garbage(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Loads and stores of every kind on a page that the monitor answers for, or a foreign one: C4.1.94 "Loads and Stores"."""
    word = rng.getrandbits(32) & ~(1 << 25) | 1 << 27  # op0 of x1x0
    word &= ~(0x1F << 5)  # base: x0
    word = word & ~0x1F | rng.randrange(2, 18)
    word = word & ~(0x1F << 10) | rng.randrange(2, 18) << 10 if word >> 28 & 3 == 2 else word
    address, contained = around.controller.start, ANYTHING
    if index % 2:
        word &= ~(1 << (21 if word >> 28 & 3 == 2 else 20))  # not before the page
        surely = (
            word >> 28 & 3 >= 2 and word & PREFETCH_MASK != PREFETCH and word & BY_REGISTER_MASK != BY_REGISTER
        )  # pairs, and single registers
        address, contained = around.draw(rng, pages=2).address, NOT_DONE if surely else ANYTHING
    return Attempt(f"instruction {word:#010x} on {address:#x}", code(word), address, rng.getrandbits(64), Aim.ADDRESS, contained)


# ---- System registers: op0, op1, CRn, CRm, op2; D22.3.1 "Instructions for accessing non-debug System registers" ---------

# Where there are registers: op0 less 2, op1, CRn, CRm.
KNOWN = [
    op0 << 11 | op1 << 8 | crn << 4 | crm
    for op0, op1, crn, crms in (
        *((1, 0, 0, range(8)), (1, 0, 1, range(1)), (1, 0, 2, range(1)), (1, 0, 4, (0, 1, 2, 6)), (1, 0, 5, range(4)), (1, 0, 6, range(1))),
        *(
            (1, 0, 7, (4,)),
            (1, 0, 9, (9, 10, 14)),
            (1, 0, 10, (2, 3, 4)),
            (1, 0, 12, (0, 1, 8, 9, 11, 12)),
            (1, 0, 13, range(1)),
            (1, 0, 14, (1,)),
        ),
        *((1, 1, 0, range(1)), (1, 2, 0, range(1)), (1, 1, 11, range(1)), (1, 1, 15, range(4)), (1, 0, 15, range(4))),
        *((1, 3, 0, range(1)), (1, 3, 4, (2, 4, 5)), (1, 3, 9, (12, 13, 14)), (1, 3, 13, range(1)), (1, 3, 14, (0, 1, 2, 3, 8, 12, 15))),
        *(
            (1, 4, 1, range(4)),
            (1, 4, 2, (0, 1, 2)),
            (1, 4, 4, range(2)),
            (1, 4, 12, (0, 8, 9, 11, 12, 13)),
            (1, 4, 14, range(4)),
            (1, 6, 1, (0, 1)),
        ),
        *((0, 0, 0, range(16)), (0, 0, 1, range(5)), (0, 0, 7, (8, 9, 14)), (0, 3, 0, (1, 4, 5))),
    )
    for crm in crms
]
OTHERS_REGISTERS = ((3, 4), (3, 6), (3, 7))  # op0, op1 of EL2, EL3 and secure EL1
# Lockdown, activity monitors, implementation defined: op0, op1, CRn.
OTHERS_GROUPS = {(3, op1, crn) for op1 in range(8) for crn in (11, 15)}
# A sandbox that writes nonsense to these ends itself: written with what they hold.
OWN = {(3, 0, 1), (3, 0, 2), (3, 0, 4), (3, 0, 9), (3, 0, 10), (3, 0, 12), (3, 3, 9), (3, 3, 14), (3, 0, 5), (3, 0, 13), (3, 3, 4)}


def encoding(op0: int, op1: int, crn: int, crm: int, op2: int) -> int:
    return op0 << 19 | op1 << 16 | crn << 12 | crm << 8 | op2 << 5


def draw_register(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    number = walk(index // 6, 1 << 15) if index // 3 % 2 else rng.choice(KNOWN) << 3 | rng.getrandbits(3)
    op0, op1, crn, crm, op2 = 2 | number >> 14 & 1, number >> 11 & 7, number >> 7 & 15, number >> 3 & 15, number & 7
    register = encoding(op0, op1, crn, crm, op2)
    name = f"S{op0}_{op1}_C{crn}_C{crm}_{op2}"
    denied = (op0, op1) in OTHERS_REGISTERS or (op0, op1, crn) in OTHERS_GROUPS
    contained = NOT_DONE if denied else ANYTHING
    if index % 3 == 0:
        return Attempt(f"mrs {name}", code(0xD5200000 | register), 0, 0, Aim.NUMBER, contained)
    if index % 3 == 1 or (op0, op1, crn) in OWN:
        return Attempt(f"mrs and msr {name}", code(0xD5200002 | register, 0xD5000002 | register), 0, 0, Aim.NUMBER, contained)
    return Attempt(f"msr {name}", code(0xD5000001 | register, 0xD5033FDF), 0, rng.getrandbits(64), Aim.NUMBER, contained)


# op1, CRn, CRm, op2 of those that are there; the last ones are EL2's.
MAINTENANCE = (
    *((0, 7, 1, 0), (0, 7, 5, 0), (0, 7, 6, 1), (0, 7, 6, 2), (0, 7, 10, 2), (0, 7, 14, 2), *((0, 7, 8, n) for n in range(4))),
    *((3, 7, 4, 1), (3, 7, 5, 1), (3, 7, 10, 1), (3, 7, 11, 1), (3, 7, 12, 1), (3, 7, 14, 1)),
    *((0, 8, crm, op2) for crm in (3, 7) for op2 in (0, 1, 2, 3, 5, 7)),
    *((4, 7, 8, n) for n in range(8)),
    *((4, 8, crm, op2) for crm in (0, 3, 4, 7) for op2 in (0, 1, 4, 5, 6)),
)


def draw_system(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Instructions of the system space: cache, TLB and translation, for every level. C5.4, C5.5"""
    number = walk(index // 2, 1 << 11)
    op1, crn, crm, op2 = number >> 8, 7 + (number >> 7 & 1), number >> 3 & 15, number & 7
    if index % 2:
        op1, crn, crm, op2 = MAINTENANCE[index // 2 % len(MAINTENANCE)]
    contained = NOT_DONE if op1 in (4, 6) else ANYTHING
    target = around.draw(rng)
    name = f"sys #{op1}, C{crn}, C{crm}, #{op2}, {target.address:#x}"
    return Attempt(
        name, code(0xD5080000 | encoding(0, op1, crn, crm, op2)), target.address, 0, Aim.ADDRESS if crn == 7 else Aim.NUMBER, contained
    )


# ---- Interrupts, calls, instructions -----------------------------------------------------------------------------------


def kept_target(address: int, value: int, held: int, around: Surroundings) -> Attempt:
    """str or strb; the same read back; mov w2, held; eor x0, x0, x2."""
    accesses = (0xF9000001, 0xF9400000) if around.has_redistributors else (0x39000001, 0x39400000)
    text = f"{value:#x} to the own line's target at {address:#x}, and read"
    return Attempt(text, code(*accesses, 0x52800002 | held << 5, 0xCA020000), address, value, contained=NOTHING_THERE)


def draw_interrupt_register(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    if index % 16 == 15 and (own := own_target(rng, around)):
        return kept_target(*own, around)
    address = register_address(rng, index, around)
    name = rng.choice(("ldr w", "ldrsw", "str w", "str w"))
    if ROUTES <= address - around.controller.start < ROUTES + ROUTES_BYTES:  # 64 bits each
        name, address = rng.choice(("ldr x", "str x")), address & ~7
    contained = NOTHING_THERE if name in READS and shows_nothing(address, around) else ANYTHING
    return Attempt(
        f"{name} {address:#x}", (READS | WRITES)[name], address, 0 if name in READS else rng.getrandbits(32), contained=contained
    )


def draw_interrupt_piece(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    if index % 3 == 0 and around.has_redistributors:
        return foreign_redistributor(rng, around)
    address = register_address(rng, index, around) + rng.randrange(4)
    if index % 3 == 1 and shows_nothing(address & ~3, around):
        return Attempt(f"strb {address:#x}, and ldrb", code(0x39000001, 0x39400000), address, rng.getrandbits(8), contained=NOTHING_THERE)
    name = rng.choice(("ldr x", "ldrh", "ldrb", "ldp", "ldxr", "str x", "strh", "strb", "stp", "stlr"))
    return Attempt(f"{name} {address:#x}", (READS | WRITES)[name], address, 0 if name in READS else rng.getrandbits(32))


FRAME_BYTES, IIDR, TYPER, PIDR = 0x10000, 0x4, (0x8, 0xC), 0xFFD0  # of a redistributor, IHI 0069 12.10


def shown_of(address: int) -> frozenset[Outcome]:
    """Of another core's frame: nothing, and no core's affinity, but for what identifies redistributors."""
    offset = address % FRAME_BYTES
    return ANYTHING if offset == IIDR or offset >= PIDR else NO_VALUE


def foreign_redistributor(rng: random.Random, around: Surroundings) -> Attempt:
    core = rng.choice([core for core in range(len(around.machine.cores)) if core not in around.sandbox.cores])
    address = around.redistributors + core * REDISTRIBUTOR_BYTES + rng.choice((0, FRAME_BYTES)) + rng.choice((*INTERESTING, *TYPER))
    body = rng.choice(((0xB9400000,), (0xB9000001, 0xB9400000)))  # ldr, perhaps after a str
    name = "read" if len(body) == 1 else "written and read"
    return Attempt(f"{address:#x}, of core {core}, {name}", code(*body), address, rng.getrandbits(32), Aim.ADDRESS, shown_of(address))


SGI_REGISTERS = {"ICC_SGI1R_EL1": (3, 0, 12, 11, 5), "ICC_ASGI1R_EL1": (3, 0, 12, 11, 6), "ICC_SGI0R_EL1": (3, 0, 12, 11, 7)}


def draw_order(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Interrupts to other cores: every number, target list, affinity and routing mode."""
    if not around.has_redistributors:
        value = order_value(rng)
        return Attempt(f"GICD_SGIR = {value:#x}", WRITES["str w"], around.controller.start + SGIR, value, Aim.NUMBER, ANYTHING)
    name = list(SGI_REGISTERS)[index % len(SGI_REGISTERS)]
    affinity = rng.choice((0, 0, 0, rng.getrandbits(8) << 16 | rng.getrandbits(8) << 32))
    value = rng.getrandbits(4) << 24 | rng.getrandbits(16) | (rng.random() < 0.2) << 40 | affinity
    return Attempt(f"{name} = {value:#x}", code(0xD5000001 | encoding(*SGI_REGISTERS[name]), 0xD5033FDF), 0, value, Aim.NUMBER, ANYTHING)


def draw_own_order(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    if not around.has_redistributors:
        value = own_order_value(rng, around)
        return Attempt(f"GICD_SGIR = {value:#x}", WRITES["str w"], around.controller.start + SGIR, value, Aim.NUMBER, ANYTHING)
    value = rng.randrange(15) << 24 | rng.choice(
        (1 << 40 | rng.getrandbits(16), 1 << around.sandbox.cores[0])
    )  # a list does not count there
    return Attempt(f"ICC_SGI1R_EL1 = {value:#x}", code(0xD5000001 | encoding(*SGI_REGISTERS["ICC_SGI1R_EL1"]), 0xD5033FDF), 0, value)


CALLS = {"hvc": 0xD4000002, "smc": 0xD4000003}
PSCI, PSCI_64, MONITOR = 0x84000000, 0xC4000000, 0xC6000000


DOORBELL = MONITOR + 5


def doorbell_value(rng: random.Random) -> int:
    """Number of a channel: of those that it has, and of none."""
    return rng.choice((rng.randrange(8), rng.randrange(40), 0xFFFFFFFF, 1 << 63, rng.getrandbits(64)))


def draw_call(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    name = list(CALLS)[index % len(CALLS)]
    known = rng.choice((PSCI, PSCI_64, MONITOR, 0x80000000)) + index // 2 % 32
    function = rng.choice((known, known, rng.getrandbits(32), rng.getrandbits(64)))
    if ends_caller(function & 0xFFFFFFFF):
        function = PSCI_64 + 3
    value = rng.choice((rng.getrandbits(2), 0x80000000 | rng.getrandbits(2), rng.getrandbits(64)))
    if index % 8 == 7:
        function, value = DOORBELL, doorbell_value(rng)
    body = code(0xAA0103E2, 0xAA0103E3, CALLS[name] | rng.choice((0, 0, 0, rng.getrandbits(16))) << 5)
    return Attempt(f"{name} {function:#x} with {value:#x}", body, function, value, Aim.NUMBER, ANYTHING)


INSTRUCTIONS = {
    "brk": 0xD4200000,
    "hlt": 0xD45E0000,
    "dcps1": 0xD4A00001,
    "dcps2": 0xD4A00002,
    "dcps3": 0xD4A00003,
    "drps": 0xD6BF03E0,
    "svc": 0xD4000001,
    "udf": 0x00000000,
    "yield": 0xD503203F,
    "sev": 0xD503209F,
    "sevl": 0xD50320BF,
    "wfe": 0xD503205F,
    "esb": 0xD503221F,
    "psb csync": 0xD503223F,
    "tsb csync": 0xD503225F,
    "msr uao": 0xD500417F,
    "msr pan": 0xD500419F,
    "msr spsel": 0xD50041BF,
    "fmov": 0x9E660000,
    "addvl": 0x04205000,
    "ld1b of SVE": 0xA400A000,
    "bad branch": 0xD61F0BE0,
}


WITH_NUMBERS = {"brk", "hlt", "dcps1", "dcps2", "dcps3", "svc"}  # in bits 20:5; of UDF in 15:0


def draw_instruction(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    name = list(INSTRUCTIONS)[index % len(INSTRUCTIONS)]
    number = rng.getrandbits(16) if name in WITH_NUMBERS or name == "udf" else 0
    return Attempt(f"{name}, #{number:#x}", code(INSTRUCTIONS[name] | (number << 5 if name in WITH_NUMBERS else number)), 0)


def draw_self_modifying(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """STR over the second instruction after it, with and without the maintenance that it would take."""
    word = rng.choice((*INSTRUCTIONS.values(), 0xD503201F)) if rng.getrandbits(1) else rng.getrandbits(16)  # UDF
    maintained = (0xD50B7B20, 0xD5033F9F, 0xD50B7520, 0xD5033FDF) if rng.random() < 0.5 else (0xD503201F,) * 4
    adr = 0x10000000 | 6 << 5  # adr x0, .+24
    return Attempt(f"an instruction made {word:#010x} just before it runs", code(adr, 0xB9000001, *maintained, 0xD503201F), 0, word)


def draw_storm(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """So many exits one after the other: a call that nobody knows, a register of the distributor."""
    times = rng.randrange(16, 257)
    body = (0xD28000A0, CALLS["hvc"]) if index % 2 else (0xB9400022, 0xD503201F)
    loop = (0xD2800003 | times << 5, *body, 0xF1000463, 0x54FFFFA1)
    what = "calls" if index % 2 else "distributor reads"
    return Attempt(f"{times} {what}", code(*loop), 0, around.controller.start, Aim.NUMBER, ANYTHING)


def kept_register(kept: Kept) -> bytes:
    """mov w2, held; str w2; str w1; ldr w3; eor w3, w3, w2; mov w2, mask; and w0, w3, w2."""
    held, mask = ((0x52800002 | (value & 0xFFFF) << 5, 0x72A00002 | value >> 16 << 5) for value in (kept.held, kept.mask))
    return code(*held, 0xB9000002, 0xB9000001, 0xB9400003, 0x4A020063, *mask, 0x0A020060)


CONFIGURATION = Forms(
    {1: READS["ldrb"], 2: READS["ldrh"], 4: READS["ldr w"]}, {1: WRITES["strb"], 2: WRITES["strh"], 4: WRITES["str w"]}, kept_register
)


def ring_loop(times: int, rounds: int, number: int, around: Surroundings) -> RingLoop:
    """mov x3, times; mov x5, x0; again: mov x0, x5; hvc; mov x4, rounds; subs x4; b.ne; subs x3; b.ne again."""
    pause = (0xD2800004 | rounds << 5, 0xF1000484, 0x54FFFFE1)
    return RingLoop(code(0xD2800003 | times << 5, 0xAA0003E5, 0xAA0503E0, CALLS["hvc"], *pause, 0xF1000463, 0x54FFFF41), DOORBELL, number)


ADD = code(0xB9400002, 0x0B010042, 0xB9000002)  # ldr w2; add w2, w2, w1; str w2


def fill(words: int, distance: int) -> bytes:
    """mov x2, words; again: str w1; add x0, x0, distance; subs x2; b.ne again."""
    return code(0xD2800002 | words << 5, 0xB9000001, 0x91000000 | distance << 10, 0xF1000442, 0x54FFFFA1)


def request_call(number: int, argument: int, around: Surroundings) -> Call:
    return Call(code(CALLS["hvc"]), MONITOR + number, argument)


def function_into(register: int, number: int) -> tuple[int, int]:
    """movz w; movk w."""
    return 0x52800000 | number << 5 | register, 0x72B8C000 | register


def turns(times: int, numbers: tuple[int, int], around: Surroundings) -> bytes:
    """mov x3, times; mov w5, the first; again: mov x0, x5; hvc; eor x5, x5, #1, if there is another; subs x3; b.ne again."""
    first, second = numbers
    other = 0xD503201F if first == second else 0xD24000A5
    return code(0xD2800003 | times << 5, *function_into(5, first), 0xAA0503E0, CALLS["hvc"], other, 0xF1000463, 0x54FFFF81)


def shuffled(times: int, seed: int, around: Surroundings) -> Call:
    """mov x3, times; mov x4, x0; mov x6, x1; again: add x6, x6, x6, lsl #5; ubfx x1, x6, #40, #4; add x0, x4, x6, lsr #63; hvc; subs x3; b.ne again."""
    drawn = (0x8B0614C6, 0xD368ACC1, 0x8B46FC80)
    loop = code(0xD2800003 | times << 5, 0xAA0003E4, 0xAA0103E6, *drawn, CALLS["hvc"], 0xF1000463, 0x54FFFF61)
    return Call(loop, MONITOR + OPEN, seed)


def closing(access: bytes, around: Surroundings) -> bytes:
    """ldr w2; mov x5, x0; mov w0, CLOSE; hvc; mov x0, x5."""
    return struct.pack("<6I", 0xB9400002, 0xAA0003E5, *function_into(0, CLOSE), CALLS["hvc"], 0xAA0503E0) + access


CHANNELS = (
    *channel_classes(ChannelForms(READS, WRITES, EXECUTE, ADD, fill, ring_loop), 10),
    *request_classes(RequestForms(MEMORY, request_call, turns, shuffled, closing), 3),
)
CLASSES = (
    AttackClass(
        "memory",
        f"reads, writes, zeroing and jumps, in {sum(map(len, MEMORY.values()))} forms",
        0,
        partial(draw_access, MEMORY),
        "memory",
        ends=True,
        endless=True,
    ),
    AttackClass("straddle", "accesses that begin in own memory", 0, draw_straddle, "memory", ends=True),
    AttackClass("tables", "own page tables that lie in foreign memory", 0, draw_tables, "memory", ends=True),
    ALIASES_AARCH64,
    RACES_AARCH64,
    RESETS_AARCH64,
    AttackClass(
        "garbage",
        "loads and stores that a decoder could misread, on the distributor's page and on foreign ones",
        0,
        draw_garbage,
        "memory",
        ends=True,
    ),
    AttackClass("registers", "system registers of every encoding, read, rewritten and written", 25, draw_register, "msr", endless=True),
    AttackClass("system", "every instruction of the system space", 14, draw_system, harmless="they act on what the sandbox can reach"),
    AttackClass(
        "distributor-pieces",
        "its registers in other widths and forms; other cores' redistributors",
        0,
        draw_interrupt_piece,
        "irq",
        ends=True,
    ),
    AttackClass("orders", "interrupts to every core, number, target list and group", 0, draw_order, "ipi", ends=True),
    AttackClass("distributor", "every register of the distributor and of the own redistributor", 22, draw_interrupt_register, "irq"),
    AttackClass("own-orders", "interrupts to itself and to all that it may", 1, draw_own_order, harmless="the own core alone"),
    AttackClass(
        "calls",
        "every hypercall and firmware call with any argument",
        8,
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
    LEVELS_V8,
    UNDEFINED_V8,
    *CHANNELS,
    AttackClass("configuration", "registers of PCI functions; what own ones keep", 5, partial(draw_as_memory, CONFIGURATION), "io"),
)
