# SPDX-License-Identifier: Apache-2.0
"""What `-kernel` is to QEMU, for Bochs: the image lies in RAM before the machine starts, and a boot sector enters it.

The state at the entry is that of PVH (Xen, "x86/HVM direct boot ABI"): protected mode, flat segments, paging off, IF = 0. There is no
start-info block, which the monitor has no use for.
"""

import io
import os
import struct

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from bhtool.errors import BulkheadError

SECTOR, DISK_BYTES = 512, 1 << 20
ORIGIN = 0x7C00  # where a BIOS puts a boot sector
DESCRIPTORS_AT = ORIGIN + 64
CODE, DATA = 0x08, 0x10  # selectors
# Intel SDM vol. 3, 3.4.5 "Segment Descriptors": 4 GiB from 0, 32 bits, accessed.
DESCRIPTORS = struct.pack("<3Q", 0, 0x00CF_9B00_0000_FFFF, 0x00CF_9300_0000_FFFF)


def load(image: bytes, ram: int, base: int, size: int) -> int:
    """Writes an ELF file's segments where they belong in RAM, the file `ram`; its entry point."""
    try:
        elf = ELFFile(io.BytesIO(image))
    except ELFError as error:
        raise BulkheadError(f"Bochs is given an image that is no ELF file ({error}): build it with `--format elf`") from error
    for segment in elf.iter_segments("PT_LOAD"):
        start, data = segment["p_paddr"], segment.data()
        if not base <= start <= start + len(data) <= base + size:
            raise BulkheadError(f"the image wants {len(data)} bytes at {start:#x}, which is not RAM")
        os.pwrite(ram, data, start - base)
    return int(elf["e_entry"])


def boot_disk(entry: int) -> bytes:
    """A disk that holds nothing but the boot sector."""
    code = b"".join(
        (
            bytes.fromhex("fa"),  # cli
            bytes.fromhex("31c0 8ed8"),  # xor ax, ax; mov ds, ax
            bytes.fromhex("e492 0c02 e692"),  # in al, 0x92; or al, 2; out 0x92, al: address line 20 as it is
            bytes.fromhex("0f0116") + struct.pack("<H", DESCRIPTORS_AT + len(DESCRIPTORS)),  # lgdt
            bytes.fromhex("0f20c0 0c01 0f22c0"),  # mov eax, cr0; or al, 1; mov cr0, eax: protected mode
            bytes.fromhex("b8") + struct.pack("<H", DATA),  # mov ax, DATA
            bytes.fromhex("8ed8 8ec0 8ed0"),  # mov ds, ax; mov es, ax; mov ss, ax
            bytes.fromhex("66ea") + struct.pack("<IH", entry, CODE),  # jmp far CODE:entry
        )
    )
    pointer = struct.pack("<HI", len(DESCRIPTORS) - 1, DESCRIPTORS_AT)
    sector = code.ljust(DESCRIPTORS_AT - ORIGIN, b"\0") + DESCRIPTORS + pointer
    return (sector.ljust(SECTOR - 2, b"\0") + b"\x55\xaa").ljust(DISK_BYTES, b"\0")
