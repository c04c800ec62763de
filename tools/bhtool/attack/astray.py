# SPDX-License-Identifier: Apache-2.0
"""Frames of network cards, looked for in all of the machine's memory from outside: where one lies, and whose it is.

A frame is four times the word of its sandbox, with the attempt's number after each (tests/guests/probe/transfer.h).
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from bhtool.attack.evidence import data_pages
from bhtool.config.plan import Plan
from bhtool.config.span import PAGE, Span
from bhtool.platforms import Platform

WORD, ALIGNED = 8, 16  # bytes
DESCRIPTOR, STATUS, DONE = 16, 12, 1
NEIGHBOURS = 0x7FFFFFFF  # number of a neighbour's frame


@dataclass(frozen=True)
class Astray:
    """A frame that lies where it must not."""

    sandbox: str  # whose card has written it
    attempt: int  # of its queue; beyond that if nobody can say
    address: int
    whose: str


def find_astray(platform: Platform, plan: Plan, ram: int, words: Mapping[str, int], also: Collection[int] = ()) -> list[Astray]:
    """`words` by sandbox, whose RAM may hold them, and so may the pages `also`. Of each page one is told."""
    own = {one.name: [Span(part.hpa, part.size) for part in one.ram] for one in plan.sandboxes}
    found = []
    for offset in data_pages(ram, platform.ram_size):
        content, address = os.pread(ram, PAGE, offset), platform.ram_base + offset
        for name, word in words.items():
            if address in also or any(span.start <= address < span.end for span in own[name]):
                continue
            found += [Astray(name, number, address + at, _whose(plan, address)) for at, number in _frames(content, word)][:1]
    return found


def count_used(ring: bytes) -> int:
    """Descriptors of a ring that a card has received by: Intel 82574 Datasheet, 7.1.4 "Legacy Receive Descriptor Format", DD."""
    return sum(ring[at + STATUS] & DONE for at in range(0, len(ring), DESCRIPTOR))


def _frames(content: bytes, word: int) -> Iterator[tuple[int, int]]:
    """Where in a page, and the number. A word alone is a register that somebody has saved: frames, and their parts, are aligned."""
    needle, at = word.to_bytes(WORD, "little"), -1
    while (at := content.find(needle, at + 1)) >= 0:
        number = int.from_bytes(content[at + WORD : at + 2 * WORD], "little")
        if at % ALIGNED == 0 and number <= NEIGHBOURS:
            yield at, number


def _whose(plan: Plan, address: int) -> str:
    return next(_names(plan, address), "nobody's")


def _names(plan: Plan, address: int) -> Iterator[str]:
    for one in plan.sandboxes:
        if one.owns(address):
            yield f"RAM of {one.name}"
    for held in plan.holdings:
        if held.kind == "memory" and held.start <= address < held.start + held.size:
            yield held.what
