# SPDX-License-Identifier: Apache-2.0
"""What both ARM architectures can try on the interrupt controller: IHI 0048 (GICv2), IHI 0069 (GICv3)."""

import random

from bhtool.attack.attack_class import walk
from bhtool.attack.surroundings import Surroundings

SGIR = 0xF00
REGISTER_BYTES = 0x1000  # of a distributor, but for routes
ROUTES, ROUTES_BYTES = 0x6000, 0x2000  # GICD_IROUTER, GICv3
# What a sandbox's own interrupts hang on; a hostile one that disables its timer only harms itself, so it may.
INTERESTING = (
    0x0,
    0x4,
    0x80,
    0x84,
    0x100,
    0x104,
    0x180,
    0x184,
    0x200,
    0x204,
    0x280,
    0x300,
    0x380,
    0x400,
    0x420,
    0x428,
    0x800,
    0x820,
    0x828,
    0xC00,
    0xC08,
    0xF10,
    0xF20,
)
INTERESTING_ROUTES = (0x6100, 0x6108, 0x6120, 0x6140)  # of lines 32, 33, 36, 40


def register_address(rng: random.Random, index: int, around: Surroundings) -> int:
    """Every word of the distributor and of the own redistributor's frames in turn; every third is one that matters."""
    spans = around.distributor
    span = spans[index % len(spans)]
    routes = around.has_redistributors and span == around.controller
    if rng.random() < 0.3:
        return span.start + rng.choice((*INTERESTING, *INTERESTING_ROUTES) if routes else INTERESTING)
    offset = walk(index // len(spans), REGISTER_BYTES + (ROUTES_BYTES if routes else 0)) & ~3
    if offset >= REGISTER_BYTES:
        return span.start + ROUTES + offset - REGISTER_BYTES
    return span.start + offset + rng.choice((0, 0, 0x10000 if span.size > 0x10000 else 0))


# Registers of the distributor that lines share: first offset, bits a line.
SHARED = ((0x080, 0x400, 1), (0x400, 0x800, 8), (0x800, 0xC00, 8), (0xC00, 0xD00, 2), (ROUTES, ROUTES + ROUTES_BYTES, 64))
LOCAL_LINES = 32  # of each core


def shows_nothing(address: int, around: Surroundings) -> bool:
    """Whether it is a word of the distributor in which no line is the sandbox's, so that it must read 0."""
    offset = address - around.controller.start
    for first, end, bits in SHARED:
        if first <= offset < end:
            span = 0x80 if bits == 1 else end - first
            line = (offset - first) % span * 8 // bits
            lines = range(line, line + max(1, 32 // bits))
            return line >= LOCAL_LINES and not any(one.line in lines for one in around.sandbox.lines)
    return False


TARGETS = 0x800  # GICD_ITARGETSR


def own_target(rng: random.Random, around: Surroundings) -> tuple[int, int, int] | None:
    """Where an own line's target is told, what to write that names others, and what it goes on to read. None if it has no line."""
    if not around.sandbox.lines:
        return None
    line, core = rng.choice(around.sandbox.lines).line, around.sandbox.hardware_ids[0]
    if around.has_redistributors:
        anybody = rng.choice((rng.choice([one for one in range(4) if one != core]), 1 << 31 | core, rng.getrandbits(64) & ~core))
        return around.controller.start + ROUTES + 8 * line, anybody, core
    return around.controller.start + TARGETS + line, rng.getrandbits(8), 1 << core


def order_value(rng: random.Random) -> int:
    """GICD_SGIR: target list filter, target list, group, number; half of them to one core each."""
    if rng.random() < 0.5:
        return 1 << 16 + rng.randrange(4) | rng.getrandbits(4)
    return rng.randrange(3) << 24 | rng.getrandbits(8) << 16 | rng.getrandbits(1) << 15 | rng.getrandbits(4)


def own_order_value(rng: random.Random, around: Surroundings) -> int:
    """To the own core by the list, to all other own cores, to itself, where a list does not count: but for the number that kicks."""
    ignored = rng.getrandbits(8) << 16
    return rng.choice((1 << 16 + around.sandbox.cores[0], 1 << 24 | ignored, 2 << 24 | ignored)) | rng.randrange(15)
