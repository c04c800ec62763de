# SPDX-License-Identifier: Apache-2.0
"""A frame that is mapped three times, of two memory types and two sizes: what one mapping is refused must be refused to all."""

import random
import struct
from functools import partial

from bhtool.attack.attack_class import AttackClass
from bhtool.attack.request import ANYTHING, NEVER_BACK, Aim, Attempt
from bhtool.attack.surroundings import Surroundings

GIB = 1 << 30

# By place: read there, write there.
Code = str | tuple[int, ...]
Codes = dict[str, tuple[Code, Code]]
X86: Codes = {
    "leaf of 1 GiB": ("8b06", "8906"),
    "device page": ("8b8700100000", "898700100000"),
    "page, then device page": ("8b078b8700100000", "8937898700100000"),
    "page, then leaf": ("8b078b06", "89378906"),
}
AARCH64: Codes = {
    "leaf of 1 GiB": ((0xB9400020,), (0xB9000021,)),
    "device page": ((0xB9500000,), (0xB9100001,)),
    "page, then device page": ((0xB9400002, 0xB9500000), (0xB9000001, 0xB9100001)),
    "page, then leaf": ((0xB9400002, 0xB9400020), (0xB9000001, 0xB9000021)),
}
ARMV7: Codes = {
    "leaf of 1 GiB": ((0xE5920000,), (0xE5822000,)),
    "device page": ((0xE2801A01, 0xE5910000), (0xE2801A01, 0xE5812000)),
    "page, then device page": ((0xE2801A01, 0xE5903000, 0xE5910000), (0xE2801A01, 0xE5802000, 0xE5812000)),
    "page, then leaf": ((0xE5903000, 0xE5920000), (0xE5802000, 0xE5822000)),
}


def draw_alias(codes: Codes, back: bytes, rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """`back`: the instructions that return."""
    place = list(codes)[index % len(codes)]
    write = rng.getrandbits(1)
    what = codes[place][write]
    body = bytes.fromhex(what) if isinstance(what, str) else struct.pack(f"<{len(what)}I", *what)
    foreign = around.draw(rng) if index // 4 % 4 else None
    address = foreign.address & ~0xFFF if foreign else own_page(rng, around)
    contained = NEVER_BACK if foreign else ANYTHING
    text = f"{'write' if write else 'read'} {address:#x} ({foreign.whose if foreign else 'its own'}) by {place}"
    return Attempt(text, body + back, address, around.family.campaign.graft + address % GIB, Aim.ALIAS, contained)


def own_page(rng: random.Random, around: Surroundings) -> int:
    """Of the last quarter of its RAM: after kernel and requests."""
    ram = around.own[0]
    return ram.end - 0x1000 * rng.randrange(1, 16)


def aliases(codes: Codes, back: bytes) -> AttackClass:
    tries = "frames mapped three times, with two types and sizes"
    return AttackClass("aliases", tries, 0, partial(draw_alias, codes, back), "memory", ends=True)


ALIASES_X86 = aliases(X86, b"\xc3")
ALIASES_AARCH64 = aliases(AARCH64, struct.pack("<I", 0xD65F03C0))
ALIASES_ARMV7 = aliases(ARMV7, struct.pack("<2I", 0xE3A01000, 0xE12FFF1E))
