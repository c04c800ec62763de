# SPDX-License-Identifier: Apache-2.0
"""Extended page tables. SDM vol. 3C, 29.3.2 "EPT Translation Mechanism", tables 29-1 to 29-7 "Format of an EPT ...".

Accessed and dirty flags (bits 8, 9) are off in the EPT pointer, so no processor sets them.
"""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.oracle.walk import Entry, address_bits, bits, strange

READ, WRITE, EXECUTE = bits(0), bits(1), bits(2)
PRESENT = bits(2, 0)
TYPE, TYPE_SHIFT = bits(5, 3), 3  # 29.3.7.2 "Memory Type Used for Translated Guest-Physical Addresses"
TYPES = {0: "device", 6: "ram"}  # uncacheable, write-back
LARGE = bits(7)
LARGEST_LEAF = 2  # 1 GiB
HIGHEST_ADDRESS_BIT = 51


@dataclass(frozen=True)
class Ept:
    name: str = "EPT"

    def decode(self, word: int, level: int) -> Entry:
        access = "".join(letter for letter, bit in (("r", READ), ("w", WRITE), ("x", EXECUTE)) if word & bit)
        if not access:
            return Entry("hole", odd=strange(word, 0))
        # 29.3.3.1 "EPT Misconfigurations": bits 1:0 must not be write without read.
        wrong: tuple[str, ...] = (
            ("entry may be written and not read, which is a misconfiguration",) if "w" in access and "r" not in access else ()
        )
        if level and not word & LARGE:
            known = PRESENT | address_bits(0, HIGHEST_ADDRESS_BIT)
            return Entry("table", word & address_bits(0, HIGHEST_ADDRESS_BIT), access, odd=wrong + strange(word, known))
        if level > LARGEST_LEAF:
            wrong += (f"entry {word:#x} is a leaf where none may be",)
        address = address_bits(level, HIGHEST_ADDRESS_BIT)
        memory = TYPES.get((word & TYPE) >> TYPE_SHIFT, f"memory type {(word & TYPE) >> TYPE_SHIFT}")
        return Entry("leaf", word & address, access, memory, wrong + strange(word, PRESENT | TYPE | address | (LARGE if level else 0)))
