# SPDX-License-Identifier: Apache-2.0
"""BH-E1.oracle. Entries and permission maps, word for word as the manuals want them. Words are literal: nothing is computed from a decoder's own masks."""

import pytest
from bhtool.oracle.bitmaps import SVM_READS, SVM_WRITES, VMX_READS, VMX_WRITES, open_ports, open_registers, runs
from bhtool.oracle.el2 import El2, el2_root
from bhtool.oracle.ept import Ept
from bhtool.oracle.npt import Npt
from bhtool.oracle.stage2 import LPAE, VMSA, lpae_root, vmsa_root
from bhtool.oracle.walk import Entry, Format

PAGE, LARGE, HUGE, TOP = range(4)

GOOD = [
    # SDM vol. 3C, tables 29-1 to 29-7: bits 0 R, 1 W, 2 X, 5:3 type (6 WB, 0 UC), 6 ignore PAT, 7 large.
    (Ept(), 0x0000000012345031, PAGE, Entry("leaf", 0x12345000, "r", "ram")),
    (Ept(), 0x0000000012345033, PAGE, Entry("leaf", 0x12345000, "rw", "ram")),
    (Ept(), 0x0000000012345037, PAGE, Entry("leaf", 0x12345000, "rwx", "ram")),
    (Ept(), 0x0000000012345034, PAGE, Entry("leaf", 0x12345000, "x", "ram")),
    (Ept(), 0x00000000FEE00003, PAGE, Entry("leaf", 0xFEE00000, "rw", "device")),
    (Ept(), 0x000000001234500B, PAGE, Entry("leaf", 0x12345000, "rw", "memory type 1")),
    (Ept(), 0x00000000124000B7, LARGE, Entry("leaf", 0x12400000, "rwx", "ram")),
    (Ept(), 0x00000000800000B7, HUGE, Entry("leaf", 0x80000000, "rwx", "ram")),
    (Ept(), 0x000FFFFFFFFFF037, PAGE, Entry("leaf", 0xFFFFFFFFFF000, "rwx", "ram")),
    (Ept(), 0x00000000010A1007, TOP, Entry("table", 0x10A1000, "rwx")),
    (Ept(), 0x00000000010A1001, LARGE, Entry("table", 0x10A1000, "r")),
    (Ept(), 0x0000000000000000, PAGE, Entry("hole")),
    # APM vol. 2, figures 5-17 to 5-26: bits 0 P, 1 R/W, 2 U/S, 3 PWT, 4 PCD, 5 A, 6 D, 7 PS, 63 NX.
    (Npt(), 0x8000000012345025, PAGE, Entry("leaf", 0x12345000, "r", "ram")),
    (Npt(), 0x8000000012345067, PAGE, Entry("leaf", 0x12345000, "rw", "ram")),
    (Npt(), 0x0000000012345067, PAGE, Entry("leaf", 0x12345000, "rwx", "ram")),
    (Npt(), 0x0000000012345063, PAGE, Entry("leaf", 0x12345000, "", "ram")),  # no U/S: nothing for a guest
    (Npt(), 0x80000000FEE0007F, PAGE, Entry("leaf", 0xFEE00000, "rw", "device")),
    (Npt(), 0x000000001234506F, PAGE, Entry("leaf", 0x12345000, "rwx", "write-through")),
    (Npt(), 0x00000000124000E7, LARGE, Entry("leaf", 0x12400000, "rwx", "ram")),
    (Npt(), 0x00000000800000E7, HUGE, Entry("leaf", 0x80000000, "rwx", "ram")),
    (Npt(), 0x00000000010A3027, TOP, Entry("table", 0x10A3000, "rwx")),
    (Npt(), 0x80000000010A3025, LARGE, Entry("table", 0x10A3000, "r")),
    (Npt(), 0x0000000000000000, PAGE, Entry("hole")),
    # ARM ARM D8.3: bits 1:0 kind, 5:2 MemAttr (15 Normal write-back, 1 Device-nGnRE), 7:6 S2AP, 9:8 SH, 10 AF, 54 XN.
    (VMSA, 0x004000004108077F, PAGE, Entry("leaf", 0x41080000, "r", "ram")),
    (VMSA, 0x00400000410847FF, PAGE, Entry("leaf", 0x41084000, "rw", "ram")),
    (VMSA, 0x00400000090004C7, PAGE, Entry("leaf", 0x9000000, "rw", "device")),
    (VMSA, 0x00000000414007FD, LARGE, Entry("leaf", 0x41400000, "rwx", "ram")),
    (VMSA, 0x00000000400007FD, HUGE, Entry("leaf", 0x40000000, "rwx", "ram")),
    (VMSA, 0x00000000414004FD, LARGE, Entry("leaf", 0x41400000, "rwx", "MemAttr 0b1111, SH 0b00")),
    (VMSA, 0x00000000414007D5, LARGE, Entry("leaf", 0x41400000, "rwx", "MemAttr 0b0101, SH 0b11")),
    (VMSA, 0x000000004140077D, LARGE, Entry("leaf", 0x41400000, "rx", "ram")),
    (VMSA, 0x000000004108F003, HUGE, Entry("table", 0x4108F000, "rwx")),
    (VMSA, 0x0000FFFFFFFFF7FF, PAGE, Entry("leaf", 0xFFFFFFFFF000, "rwx", "ram")),
    (LPAE, 0x000000FFFFFFF7FF, PAGE, Entry("leaf", 0xFFFFFFF000, "rwx", "ram")),
    (LPAE, 0x00400000080104C7, PAGE, Entry("leaf", 0x8010000, "rw", "device")),
    (LPAE, 0x0000000000000000, HUGE, Entry("hole")),
    # ARM ARM D8.3, D8.4.1: bits 4:2 which byte of MAIR_EL2 (0xff Normal write-back, 0x04 Device-nGnRE), 7 read-only, 54 XN.
    (El2(0x04FF), 0x0040000041080743, PAGE, Entry("leaf", 0x41080000, "rw", "ram")),
    (El2(0x04FF), 0x00400000410807C3, PAGE, Entry("leaf", 0x41080000, "r", "ram")),
    (El2(0x04FF), 0x00000000410807C3, PAGE, Entry("leaf", 0x41080000, "rx", "ram")),
    (El2(0x04FF), 0x0000000041080743, PAGE, Entry("leaf", 0x41080000, "rwx", "ram")),
    (El2(0x04FF), 0x0040000008000447, PAGE, Entry("leaf", 0x8000000, "rw", "device")),
    (El2(0xFF04), 0x0040000041080747, PAGE, Entry("leaf", 0x41080000, "rw", "ram")),
    (El2(0x04FF), 0x0040000041400741, LARGE, Entry("leaf", 0x41400000, "rw", "ram")),
    (El2(0x04FF), 0x0040000041400441, LARGE, Entry("leaf", 0x41400000, "rw", "MAIR 0xff, SH 0b00")),
    (El2(0x44FF), 0x0040000041400745, LARGE, Entry("leaf", 0x41400000, "rw", "MAIR 0x44, SH 0b11")),
    (El2(0x04FF), 0x000000004108F003, HUGE, Entry("table", 0x4108F000, "rwx")),
    (El2(0x04FF), 0x0000000000000000, PAGE, Entry("hole")),
]


@pytest.mark.parametrize(("form", "word", "level", "entry"), GOOD)
def test_entry(form: Format, word: int, level: int, entry: Entry) -> None:
    assert form.decode(word, level) == entry


ODD = [
    (Ept(), 0x0000000012345032, PAGE, "written and not read"),
    (Ept(), 0x0000000012345077, PAGE, "bits 0x40,"),  # ignore PAT
    (Ept(), 0x00000000123450B7, PAGE, "bits 0x80,"),
    (Ept(), 0x0080000012345037, PAGE, "bits 0x80000000000000,"),
    (Ept(), 0x00000000124010B7, LARGE, "bits 0x1000,"),  # 20:12 are reserved in a 2 MiB leaf
    (Ept(), 0x00000000002000B7, HUGE, "bits 0x200000,"),
    (Ept(), 0x00000000010A103F, LARGE, "bits 0x38,"),  # a table has no memory type
    (Ept(), 0x00000000000000B7, TOP, "leaf where none may be"),
    (Ept(), 0x0000000012345000, PAGE, "bits 0x12345000,"),  # not present, and not empty
    (Npt(), 0x00000000123450E7, PAGE, "bits 0x80,"),  # PAT
    (Npt(), 0x0000000012345167, PAGE, "bits 0x100,"),  # global
    (Npt(), 0x00000000124010E7, LARGE, "bits 0x1000,"),
    (Npt(), 0x00000000010A303F, LARGE, "bits 0x18,"),  # the cache type of a table
    (Npt(), 0x00000000000000E7, TOP, "leaf where none may be"),
    (Npt(), 0x0000000012345066, PAGE, "bits 0x12345066,"),
    (VMSA, 0x00400000410843FF, PAGE, "lacks its access flag"),
    (VMSA, 0x00000000414007FC, LARGE, "bits 0x414007fc,"),  # a poisoned entry
    (VMSA, 0x00200000410847FF, PAGE, "bits 0x20000000000000,"),  # XN[0]
    (VMSA, 0x00100000410847FF, PAGE, "bits 0x10000000000000,"),  # contiguous
    (VMSA, 0x00000000414017FD, LARGE, "bits 0x1000,"),
    (VMSA, 0x00400000410847FD, PAGE, "block where only pages are"),
    (VMSA, 0x80000000410F0003, HUGE, "bits 0x8000000000000000,"),
    (VMSA, 0x00000000000007FD, TOP, "leaf where none may be"),
    (LPAE, 0x00000100410847FF, PAGE, "bits 0x10000000000,"),  # beyond 40 bits
]


@pytest.mark.parametrize(("form", "word", "level", "text"), ODD)
def test_odd_entry(form: Format, word: int, level: int, text: str) -> None:
    assert any(text in one for one in form.decode(word, level).odd)


@pytest.mark.parametrize(
    ("vtcr", "levels", "slots"),
    [
        (0x80023559, 3, 512),  # T0SZ 25: 39 bits from level 1
        (0x80023558, 3, 1024),  # 40 bits: two tables side by side, which no walk here takes
        (0x80023594, 4, 32),  # T0SZ 20: 44 bits from level 0
        (0x80023519, 2, 1 << 18),
    ],
)
def test_vtcr_el2(vtcr: int, levels: int, slots: int) -> None:
    root = vmsa_root(0x000200004108D000, vtcr)
    assert (root.hpa, root.levels, root.slots) == (0x4108D000, levels, slots)


@pytest.mark.parametrize(("tcr", "levels", "slots"), [(0x80823519, 3, 512), (0x80823510, 4, 512), (0x80823520, 3, 4)])
def test_tcr_el2(tcr: int, levels: int, slots: int) -> None:
    """D24.2 TCR_EL2: T0SZ 25 is 39 bits of address, 16 is 48, 32 is 32."""
    root = el2_root(0x0000000041090000, tcr, 0x04FF)
    assert (root.hpa, root.levels, root.slots, root.format) == (0x41090000, levels, slots, El2(0x04FF))


def test_vtcr_of_armv7() -> None:
    root = lpae_root(0x000100004108D000, 0x80003540)
    assert (root.hpa, root.levels, root.slots) == (0x4108D000, 3, 4)
    assert lpae_root(0x4108D000, 0x80003558).slots == 1024  # T0SZ = -8: 40 bits


def map_with(size: int, *clear: tuple[int, int]) -> bytes:
    data = bytearray(b"\xff" * size)
    for byte, bit in clear:
        data[byte] &= ~(1 << bit)
    return bytes(data)


def test_msr_permission_map_of_svm() -> None:
    """Register 0x10's pair is bits 32 and 33 of the first range: byte 4, bits 0 (read) and 1 (write)."""
    data = map_with(0x2000, (4, 0), (0x800 + 0x20, 3), (0x1000 + 0x7FF, 6))
    assert open_registers(data, SVM_READS) == {0x10, 0xC0011FFF}
    assert open_registers(data, SVM_WRITES) == {0xC0000081}


def test_msr_bitmap_of_vmx() -> None:
    data = map_with(0x1000, (2, 0), (0x400 + 0x10, 1), (0x800 + 0x106, 0), (0xC00 + 0x3FF, 7))
    assert open_registers(data, VMX_READS) == {0x10, 0xC0000081}
    assert open_registers(data, VMX_WRITES) == {0x830, 0xC0001FFF}


def test_port_map() -> None:
    assert open_ports(map_with(0x3000, (0x3F8 // 8, 0), (0x1FFF, 7), (0x2000, 0), (0x2000, 3))) == {0x3F8, 0xFFFF, 0x10000}


def test_runs() -> None:
    assert runs({5, 1, 2, 3, 9}) == [(1, 3), (5, 5), (9, 9)]
