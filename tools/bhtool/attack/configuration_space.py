# SPDX-License-Identifier: Apache-2.0
"""PCI configuration space, by ports and as memory: which function and register an attempt is about, and what it has to read.

Others' functions are an empty bus. Of its own a sandbox may move no base address and get no bus mastering: PCI Local Bus 3.0, 6.2.2 and 6.2.5.1.
"""

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass

from bhtool.attack.attack_class import walk
from bhtool.attack.request import ANYTHING, EMPTY_BUS, NOTHING_THERE, Aim, Attempt, Outcome
from bhtool.attack.surroundings import PAGE_SHIFT, Surroundings
from bhtool.text import counted

PRESENT = (0x00, 0x08, 0x09, 0x0B, 0x10, 0x18, 0x20, 0xF8, 0xFA, 0xFB)  # of bus 0 of the boards: bridges, disks, what is plugged in
HEADER, PORT_REGISTERS, BUSES = 0x40, 0x100, 256  # bytes that every function has; that ports reach; buses
COMMAND, MASTER, BASE_ADDRESSES = 0x04, 0x4, 0x10
ALL_ONES = (1 << 32) - 1


@dataclass(frozen=True)
class Register:
    function: int  # bus << 8 | device << 3 | function
    offset: int


def is_own(function: int, around: Surroundings) -> bool:
    return any(one.id == function for one in around.sandbox.functions)


def draw_register(rng: random.Random, index: int, around: Surroundings, functions: int, registers: int) -> Register:
    """Half of them where a header is; own functions, those that are there, and all that there could be take turns."""
    kind, own = index % 4, [one.id for one in around.sandbox.functions]
    function = walk(index // 4, functions) if kind == 0 else rng.choice(own if kind == 1 and own else PRESENT)
    return Register(function, rng.randrange(HEADER if rng.getrandbits(1) else registers))


def of_a_read(register: Register, around: Surroundings) -> frozenset[Outcome]:
    return ANYTHING if is_own(register.function, around) else EMPTY_BUS


@dataclass(frozen=True)
class Kept:
    """A register of its own function that holds `held` in the bits of `mask`, whatever is written. The code writes that, then the attempt's
    value, and returns what differs."""

    register: Register
    held: int
    value: int
    mask: int


def draw_kept(rng: random.Random, around: Surroundings) -> Kept | None:
    """None if it has no function. To all ones base addresses answer with their size: not here."""
    if not around.sandbox.functions:
        return None
    function = rng.choice(around.sandbox.functions)
    number = rng.randrange(-1, len(function.words))
    if number < 0:
        return Kept(Register(function.id, COMMAND), 0, rng.getrandbits(16) | MASTER, MASTER)
    held = function.words[number][0]
    return Kept(Register(function.id, BASE_ADDRESSES + 4 * number), held, rng.randrange(ALL_ONES), ALL_ONES)


# ---- By ports: mechanism #1, an address to 0xCF8, then data through 0xCFC to 0xCFF ---------------------------------------

SELECT = bytes.fromhex("89f866baf80cef")  # mov eax, edi; mov dx, 0xcf8; out dx, eax
DATA = bytes.fromhex("66ba")  # mov dx
IN = {1: "31c0ec", 2: "31c066ed", 4: "31c0ed"}
OUT = {1: "89f0ee", 2: "89f066ef", 4: "89f0ef"}
RET = b"\xc3"
LATCH, DATA_PORT = 0x80000000, 0xCFC


def draw_by_ports(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    if index % 8 == 7 and (kept := draw_kept(rng, around)):
        return kept_by_ports(kept)
    register = draw_register(rng, index, around, BUSES * 256, PORT_REGISTERS)
    width = rng.choice((1, 2, 4, 4))
    offset = register.offset & -width
    address = LATCH | register.function << 8 | offset & ~3
    write = rng.random() < 0.4
    body = SELECT + DATA + struct.pack("<H", DATA_PORT + (offset & 3)) + bytes.fromhex((OUT if write else IN)[width])
    text = f"PCI configuration {'write' if write else 'read'} of {counted(width, 'byte')} at {LATCH | register.function << 8 | offset:#x} by ports"
    return Attempt(
        text, body + RET, address, rng.getrandbits(8 * width) if write else 0, contained=ANYTHING if write else of_a_read(register, around)
    )


def kept_by_ports(kept: Kept) -> Attempt:
    """mov eax, held; out; mov eax, esi; out; in eax; xor eax, held; and eax, mask."""
    address = LATCH | kept.register.function << 8 | kept.register.offset
    data = DATA + struct.pack("<H", DATA_PORT) + struct.pack("<BI", 0xB8, kept.held) + b"\xef" + bytes.fromhex("89f0efed")
    body = SELECT + data + struct.pack("<BI", 0x35, kept.held) + struct.pack("<BI", 0x25, kept.mask)
    return Attempt(f"{kept.value:#x} to the own register {address:#x}, and read", body + RET, address, kept.value, contained=NOTHING_THERE)


# ---- As memory ------------------------------------------------------------------------------------------------------

KeptCode = Callable[[Kept], bytes]  # the same as above, on an address in the first argument


@dataclass(frozen=True)
class Forms:
    """An architecture's accesses to an address in the first argument, by width, and with the second argument."""

    reads: dict[int, bytes]
    writes: dict[int, bytes]
    kept: KeptCode


def draw_as_memory(forms: Forms, rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """`around` has configuration space."""
    start = around.configuration.start
    if index % 8 == 7 and (kept := draw_kept(rng, around)):
        address = start + (kept.register.function << PAGE_SHIFT) + kept.register.offset
        return Attempt(
            f"{kept.value:#x} to the own {address:#x}, and read", forms.kept(kept), address, kept.value, Aim.ADDRESS, NOTHING_THERE
        )
    register = draw_register(rng, index, around, around.configuration.size >> PAGE_SHIFT, 1 << PAGE_SHIFT)
    width = rng.choice(list(forms.reads))
    address = start + (register.function << PAGE_SHIFT) + (register.offset & -width)
    write = rng.random() < 0.4
    code = (forms.writes if write else forms.reads)[width]
    text = f"{'write' if write else 'read'} of {counted(width, 'byte')} at {address:#x}"
    return Attempt(
        text, code, address, rng.getrandbits(8 * width) if write else 0, Aim.ADDRESS, ANYTHING if write else of_a_read(register, around)
    )
