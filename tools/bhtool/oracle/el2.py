# SPDX-License-Identifier: Apache-2.0
"""A monitor's own tables on AArch64: stage 1 of EL2. ARM ARM DDI 0487, D8.3 "Translation table descriptor formats", D8.4.1, D24.2 MAIR_EL2."""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.oracle.walk import Entry, Root, address_bits, bits, strange

VALID, TABLE_OR_PAGE = bits(0), bits(1)
ATTRINDX, ATTRINDX_SHIFT = bits(4, 2), 2
AP_RES1, AP_READ_ONLY = bits(6), bits(7)  # one level of privilege: AP[1] is always 1
SH, SH_SHIFT = bits(9, 8), 8
AF = bits(10)
XN = bits(54)
LARGEST_LEAF = 2  # 1 GiB
HIGHEST_ADDRESS_BIT = 47
NORMAL_WRITE_BACK, DEVICE_nGnRE, INNER_SHAREABLE = 0xFF, 0x04, 0b11
BADDR = bits(47, 12)  # of TTBR0_EL2


@dataclass(frozen=True)
class El2:
    mair: int
    name: str = "VMSAv8-64 EL2"

    def decode(self, word: int, level: int) -> Entry:
        if not word & VALID:
            return Entry("hole", odd=strange(word, 0))
        if level and word & TABLE_OR_PAGE:
            address = address_bits(0, HIGHEST_ADDRESS_BIT)
            return Entry("table", word & address, "rwx", odd=strange(word, VALID | TABLE_OR_PAGE | address))
        if not level and not word & TABLE_OR_PAGE:
            return Entry("hole", odd=(f"entry {word:#x} is a block where only pages are",))
        odd: tuple[str, ...] = (f"entry {word:#x} is a leaf where none may be",) if level > LARGEST_LEAF else ()
        if not word & AF:
            odd += (f"entry {word:#x} lacks its access flag",)
        access = "r" + ("" if word & AP_READ_ONLY else "w") + ("" if word & XN else "x")
        address = address_bits(level, HIGHEST_ADDRESS_BIT)
        known = VALID | ATTRINDX | AP_RES1 | AP_READ_ONLY | SH | AF | XN | address | (0 if level else TABLE_OR_PAGE)
        return Entry("leaf", word & address, access, self._memory(word), odd + strange(word, known))

    def _memory(self, word: int) -> str:
        attributes = self.mair >> 8 * ((word & ATTRINDX) >> ATTRINDX_SHIFT) & 0xFF
        shareable = (word & SH) >> SH_SHIFT
        if attributes == DEVICE_nGnRE:
            return "device"
        if attributes == NORMAL_WRITE_BACK and shareable == INNER_SHAREABLE:
            return "ram"
        return f"MAIR {attributes:#04x}, SH {shareable:#04b}"


def el2_root(ttbr: int, tcr: int, mair: int) -> Root:
    """D24.2 TCR_EL2: T0SZ 5:0; the walk begins where the 4 KiB granule leaves as few levels as can be, D8.2.7."""
    input_bits = 64 - (tcr & 0x3F)
    levels = -(-(input_bits - 12) // 9)
    return Root(El2(mair), ttbr & BADDR, levels, 1 << max(0, input_bits - 12 - 9 * (levels - 1)))
