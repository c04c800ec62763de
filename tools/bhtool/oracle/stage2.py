# SPDX-License-Identifier: Apache-2.0
"""Stage 2 of ARM: VMSAv8-64 and the long-descriptor format (LPAE) of ARMv7, whose descriptors are alike.

ARM ARM DDI 0487, D8.3 "Translation table descriptor formats", D8.4 "Memory access control", D8.5 "Memory region attributes";
ARMv7 ARM DDI 0406C, B3.6.1 "Long-descriptor translation table format descriptors", B3.6.2 "Memory attributes in the
Long-descriptor translation table format descriptors".
"""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.oracle.walk import Entry, Root, address_bits, bits, strange

VALID, TABLE_OR_PAGE = bits(0), bits(1)
MEMATTR, MEMATTR_SHIFT = bits(5, 2), 2
S2AP_READ, S2AP_WRITE = bits(6), bits(7)
SH, SH_SHIFT = bits(9, 8), 8
AF = bits(10)
XN = bits(54)
LARGEST_LEAF = 2  # 1 GiB
NORMAL_WRITE_BACK, DEVICE_nGnRE, INNER_SHAREABLE = 0b1111, 0b0001, 0b11


def memory_of(word: int) -> str:
    """Shareability counts for Normal memory only."""
    attributes, shareable = (word & MEMATTR) >> MEMATTR_SHIFT, (word & SH) >> SH_SHIFT
    if attributes == DEVICE_nGnRE:
        return "device"
    if attributes == NORMAL_WRITE_BACK and shareable == INNER_SHAREABLE:
        return "ram"
    return f"MemAttr {attributes:#06b}, SH {shareable:#04b}"


@dataclass(frozen=True)
class Stage2:
    name: str
    highest_address_bit: int

    def decode(self, word: int, level: int) -> Entry:
        if not word & VALID:
            return Entry("hole", odd=strange(word, 0))
        if level and word & TABLE_OR_PAGE:
            address = address_bits(0, self.highest_address_bit)
            return Entry("table", word & address, "rwx", odd=strange(word, VALID | TABLE_OR_PAGE | address))
        return self._leaf(word, level)

    def _leaf(self, word: int, level: int) -> Entry:
        if not level and not word & TABLE_OR_PAGE:
            return Entry("hole", odd=(f"entry {word:#x} is a block where only pages are",))
        odd: tuple[str, ...] = (f"entry {word:#x} is a leaf where none may be",) if level > LARGEST_LEAF else ()
        if not word & AF:  # D8.5.4 "The Access flag": every use of it would fault
            odd += (f"entry {word:#x} lacks its access flag",)
        access = ("r" if word & S2AP_READ else "") + ("w" if word & S2AP_WRITE else "") + ("" if word & XN else "x")
        address = address_bits(level, self.highest_address_bit)
        known = VALID | MEMATTR | S2AP_READ | S2AP_WRITE | SH | AF | XN | address | (0 if level else TABLE_OR_PAGE)
        return Entry("leaf", word & address, access, memory_of(word), odd + strange(word, known))


VMSA = Stage2("VMSAv8-64 stage 2", 47)
LPAE = Stage2("LPAE stage 2", 39)
BADDR = bits(47, 12)  # of VTTBR


def vmsa_root(vttbr: int, vtcr: int) -> Root:
    """DDI 0487, D24.2 VTCR_EL2: T0SZ 5:0, SL0 7:6 (4 KiB granule: 0 starts at level 2, 1 at level 1, 2 at level 0)."""
    return _root(VMSA, vttbr, 64 - (vtcr & 0x3F), 2 + (vtcr >> 6 & 3))


def lpae_root(vttbr: int, vtcr: int) -> Root:
    """DDI 0406C, B4.1.160 VTCR: T0SZ 3:0, signed; SL0 7:6 (0 starts at level 2, 1 at level 1)."""
    size = vtcr & 0xF
    return _root(LPAE, vttbr, 32 - (size - 16 if size & 8 else size), 2 + (vtcr >> 6 & 3))


def _root(form: Stage2, vttbr: int, input_bits: int, levels: int) -> Root:
    """Root tables that are several frames (more than 512 slots) are not used here."""
    return Root(form, vttbr & BADDR, levels, 1 << max(0, input_bits - 12 - 9 * (levels - 1)))
