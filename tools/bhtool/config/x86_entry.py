# SPDX-License-Identifier: Apache-2.0
"""The x86 entry area of abi/guest.h: a flat GDT and page tables that map the first 4 GiB one to one.

0x12000 GDT   0x13000 PML4   0x14000 PDPT   0x15000..0x18fff four page directories of 2 MiB pages
"""

from __future__ import annotations

import struct

from bhtool.config.payload import Piece

ENTRY_AREA = 0x12000
PML4, PDPT, DIRECTORIES = 0x13000, 0x14000, 0x15000
STACK = 0x9F000

# SDM vol. 3A, 3.4.5 "Segment Descriptors": 0x10 64-bit code, 0x18 data; accessed, so the CPU never writes them.
GDT = (0, 0, 0x00AF9B000000FFFF, 0x00CF93000000FFFF)
# SDM vol. 3A, table 4-15 and following "Format of a 4-Level Page-Table Entry": P, R/W, A, D, PS.
TABLE, LEAF = 0x023, 0x0E3


def entry_pieces() -> list[Piece]:
    tables = struct.pack("<Q", PDPT | TABLE).ljust(0x1000, b"\0")
    tables += struct.pack("<4Q", *(DIRECTORIES + 0x1000 * n | TABLE for n in range(4))).ljust(0x1000, b"\0")
    tables += struct.pack("<2048Q", *(n << 21 | LEAF for n in range(2048)))
    return [Piece("entry GDT", ENTRY_AREA, struct.pack("<4Q", *GDT)), Piece("entry page tables", PML4, tables)]
