# SPDX-License-Identifier: Apache-2.0
"""Nested page tables: long-mode paging. APM vol. 2, 5.3 "Long-Mode Page Translation", 5.4.1 "Field Definitions", 15.25 "Nested Paging"."""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.oracle.walk import Entry, address_bits, bits, strange

PRESENT, WRITE, USER = bits(0), bits(1), bits(2)
PWT, PCD = bits(3), bits(4)
ACCESSED, DIRTY = bits(5), bits(6)  # the processor's to set
LARGE = bits(7)
NO_EXECUTE = bits(63)
LARGEST_LEAF = 2  # 1 GiB
HIGHEST_ADDRESS_BIT = 51

# 7.8.1 "PAT Register": what it holds after reset. PWT and PCD choose among its first four; 15.25.8 "Combining Memory Types, MTRRs".
TYPES = {0: "ram", PWT: "write-through", PCD: "UC-minus", PWT | PCD: "device"}


@dataclass(frozen=True)
class Npt:
    name: str = "NPT"

    def decode(self, word: int, level: int) -> Entry:
        if not word & PRESENT:
            return Entry("hole", odd=strange(word, 0))
        # 15.25.5 "Nested Table Walk": guest accesses are user accesses, so an entry without U/S allows none.
        access = "r" + ("w" if word & WRITE else "") + ("" if word & NO_EXECUTE else "x") if word & USER else ""
        known = PRESENT | WRITE | USER | ACCESSED | NO_EXECUTE
        if level and not word & LARGE:
            address = address_bits(0, HIGHEST_ADDRESS_BIT)
            return Entry("table", word & address, access, odd=strange(word, known | address))
        odd: tuple[str, ...] = (f"entry {word:#x} is a leaf where none may be",) if level > LARGEST_LEAF else ()
        address = address_bits(level, HIGHEST_ADDRESS_BIT)
        known |= address | DIRTY | PWT | PCD | (LARGE if level else 0)
        return Entry("leaf", word & address, access, TYPES[word & (PWT | PCD)], odd + strange(word, known))
