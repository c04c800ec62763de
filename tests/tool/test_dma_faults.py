# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma. Records of IOMMUs, word for word as their manuals have them, and what becomes of a queue that goes round."""

import mmap
import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from bhtool.abi import lib
from bhtool.codes import dma
from bhtool.codes.catalogue import find
from bhtool.config.plan import Function, Plan, SandboxPlan
from bhtool.machine.dma_faults import FORMATS, KEPT, DmaFault, Queue, Record, decode_amdvi, decode_smmuv3, decode_vtd, silent_because
from bhtool.machine.memory import Memory
from bhtool.machine.registers import Registers
from bhtool.platforms import Platform

NIC, TABLES = 0x08, 0x50000000
# Arm IHI 0070, 7.3: number in 7:0, stream in 63:32; RnW bit 99, S2 bit 103; input address in 191:128.
ARM = [
    ([0x0000000800000010, 0x0000008000000000, 0x77777000, 0x77777000], Record(NIC, "write", 0x77777000, dma.UNMAPPED, 0x10)),
    ([0x0000000800000010, 0x0000008800000000, 0x40, 0x0], Record(NIC, "read", 0x40, dma.UNMAPPED, 0x10)),
    ([0x0000001000000013, 0x0000008000000000, 0x40001000, 0x40001000], Record(0x10, "write", 0x40001000, dma.PERMISSION, 0x13)),
    ([0x0000000800000011, 0x0000008000000000, 1 << 45, 0], Record(NIC, "write", 1 << 45, dma.TOO_LONG, 0x11)),
    ([0x0000000800000004, 0, 0, 0], Record(NIC, "", None, dma.CLOSED, 4)),
    ([0x0000010800000002, 0, 0, 0], Record(0x108, "", None, dma.CLOSED, 2)),
    ([0x000000080000000B, 0x0000000800000000, 0x1234, 0], Record(NIC, "read", 0x1234, dma.WALK, 0x0B)),
    ([0x0000000800000021, 0, 0, 0], Record(NIC, "", None, dma.OTHER, 0x21)),
    ([0, 0, 0, 0], None),
]
# AMD 48882, 2.5.3 "IO_PAGE_FAULT Event": device in 15:0, domain in 47:32, I bit 51, PR bit 52, RW bit 53, code in 63:60; then the address.
AMD = [
    ([0x2020000200000008, 0x77777000], Record(NIC, "write", 0x77777000, dma.UNMAPPED, 2)),
    ([0x2000000200000008, 0x40], Record(NIC, "read", 0x40, dma.UNMAPPED, 2)),
    ([0x2030000200000010, 0x40001000], Record(0x10, "write", 0x40001000, dma.PERMISSION, 2)),
    ([0x2028000200000008, 0xFEE00000], Record(NIC, "write", 0xFEE00000, dma.INTERRUPT, 2)),
    ([0x1020000000000008, 0x1000], Record(NIC, "write", 0x1000, dma.CLOSED, 1)),
    ([0x4000000000000008, 0x1000], Record(NIC, "read", 0x1000, dma.WALK, 4)),
    ([0x5000000000000000, 0x1000], None),  # ILLEGAL_COMMAND_ERROR
    ([0, 0], None),
]
# Intel VT-d, 11.4.7.7: source in 79:64, reason in 103:96, T bit 126 (read), F bit 127; fault information, a page, in 63:12.
INTEL = [
    ([0x77777000, 0x8000000500000008], Record(NIC, "write", 0x77777000, dma.UNMAPPED, 5)),
    ([0x40001000, 0xC000000600000008], Record(NIC, "read", 0x40001000, dma.UNMAPPED, 6)),
    ([0x1000, 0xC000000200000010], Record(0x10, "read", 0x1000, dma.CLOSED, 2)),
    ([1 << 50, 0x8000000400000008], Record(NIC, "write", 1 << 50, dma.TOO_LONG, 4)),
    ([0x0003000000000000, 0x8000002200000008], Record(NIC, "write", None, dma.INTERRUPT, 0x22)),
    ([0x77777000, 0x0000000500000008], None),
]


@pytest.mark.parametrize(("words", "expected"), ARM)
def test_smmuv3(words: list[int], expected: Record | None) -> None:
    assert decode_smmuv3(words) == expected


@pytest.mark.parametrize(("words", "expected"), AMD)
def test_amdvi(words: list[int], expected: Record | None) -> None:
    assert decode_amdvi(words) == expected


@pytest.mark.parametrize(("words", "expected"), INTEL)
def test_vtd(words: list[int], expected: Record | None) -> None:
    assert decode_vtd(words) == expected


def test_a_line_names_function_sandbox_direction_and_address() -> None:
    record = Record(NIC, "write", 0x77777000, dma.UNMAPPED, 0x10)
    line = "dma fault: nic0 (00:01.0) of linux: write to 0x77777000 blocked: nothing is mapped there (dma-unmapped)"
    assert DmaFault("linux", "nic0", record).text == line
    closed = DmaFault("", "", Record(0x1FA, "", None, dma.CLOSED, 4))
    assert closed.text == "dma fault: 01:1f.2, nobody's: access blocked: its entry lets nothing pass (dma-closed)"


@pytest.mark.parametrize("why", dma.WHYS, ids=lambda one: one.name)
def test_explain_knows_it(why: dma.Why) -> None:
    assert all([one.name for one in find(code)] == [why.name] for code in (why.name, *why.called))


class Ring:
    """Of an SMMUv3, which goes round in it."""

    def __init__(self, platform: Platform, file: Path) -> None:
        self._ram, self._form = os.open(file, os.O_RDWR | os.O_CREAT), FORMATS[int(lib.BH_IOMMU_SMMUV3)]
        os.truncate(self._ram, platform.ram_size)
        self._base, self._at = platform.ram_base, 0
        function = Function("nic0", NIC, 0x10D38086, [], "translated")
        sandbox = SimpleNamespace(name="linux", functions=[function])
        plan = SimpleNamespace(iommu=int(lib.BH_IOMMU_SMMUV3), iommu_hpa=TABLES, sandboxes=[cast(SandboxPlan, sandbox)])
        self.queue = Queue(cast(Plan, plan), Memory(platform, self._ram))

    @property
    def length(self) -> int:
        return self._form.size // self._form.record

    def put(self, address: int) -> None:
        words = [0x0000000800000010, 0x0000008000000000, address, address]
        start = TABLES + self._form.start + self._at * self._form.record - self._base
        os.pwrite(self._ram, b"".join(word.to_bytes(8, "little") for word in words), start)
        self._at = (self._at + 1) % self.length


@pytest.fixture
def ring(platform: Platform, tmp_path: Path) -> Ring:
    return Ring(platform, tmp_path / "ram")


def test_nothing_is_recorded(ring: Ring) -> None:
    assert ring.queue.look() == []


def test_each_record_is_told_once(ring: Ring) -> None:
    ring.put(0x1000)
    ring.put(0x2000)
    assert [one.record.address for one in ring.queue.look()] == [0x1000, 0x2000]
    assert ring.queue.look() == []
    ring.put(0x2000)
    assert [(one.sandbox, one.function, one.record.address) for one in ring.queue.look()] == [("linux", "nic0", 0x2000)]
    assert ring.queue.count == 3


def test_a_queue_goes_round(ring: Ring) -> None:
    told = 0
    for round_ in range(3):
        for n in range(ring.length):
            ring.put(round_ << 32 | n << 12)
        told += len(ring.queue.look())
    assert told == ring.queue.count == 3 * ring.length
    assert len(ring.queue.first) == KEPT


BASE = 0xFED90000


class Recorder:
    """A VT-d of two records at 0x220, which takes no more of a source that has one, and nothing when both are taken: 11.4.7."""

    def __init__(self) -> None:
        self.records, self.overflowed = [(0, 0), (0, 0)], False
        function = Function("nic0", NIC, 0x10D38086, [], "translated")
        sandbox = SimpleNamespace(name="linux", functions=[function])
        plan = SimpleNamespace(iommu=int(lib.BH_IOMMU_VTD), iommu_registers=BASE, sandboxes=[cast(SandboxPlan, sandbox)])
        self.queue = Queue(cast(Plan, plan), cast(Memory, None), cast(Registers, self))

    def put(self, stream: int, address: int) -> None:
        held = [words for words in self.records if words[1] >> 63]
        if self.overflowed or any(words[1] & 0xFFFF == stream for words in held):
            return
        if len(held) == len(self.records):
            self.overflowed = True
            return
        self.records[len(held)] = (address, 0x8000000500000000 | stream)

    def read32(self, address: int) -> int:
        assert address == BASE + 0x34
        return self.overflowed | any(words[1] >> 63 for words in self.records) << 1

    def read64(self, address: int) -> int:
        if address == BASE + 0x08:
            return 0x00D2018C222F0606
        return self.records[(address - BASE - 0x220) // 16][address // 8 % 2]

    def write32(self, address: int, value: int) -> None:
        if address == BASE + 0x34:
            assert value == 1, "of the status, the overflow alone"
            self.overflowed = False
            return
        assert (address - BASE - 0x22C) % 16 == 0
        assert value == 0x80000000
        self.records[(address - BASE - 0x220) // 16] = (0, 0)


def test_registers_are_emptied_and_take_more() -> None:
    recorder = Recorder()
    assert recorder.queue.look() == []
    for address in (0x1000, 0x2000):
        recorder.put(NIC, address)
        assert [(one.function, one.record.address) for one in recorder.queue.look()] == [("nic0", address)]
    assert recorder.queue.look() == []
    for stream in (NIC, 0x10, 0x18):
        recorder.put(stream, 0x3000)
    assert recorder.overflowed
    assert [(one.sandbox, one.record.stream) for one in recorder.queue.look()] == [("linux", NIC), ("", 0x10)]
    recorder.put(0x18, 0x4000)
    assert [one.record.stream for one in recorder.queue.look()] == [0x18]
    assert recorder.queue.count == 5


@pytest.mark.parametrize(
    ("kind", "emulator", "dma", "says"),
    [
        (lib.BH_IOMMU_SMMUV3, "qemu", "translated", ""),
        (lib.BH_IOMMU_AMDVI, "qemu", "translated", "QEMU's AMD-Vi blocks, and records nothing"),
        (lib.BH_IOMMU_AMDVI, "", "translated", ""),
        (lib.BH_IOMMU_AMDVI, "qemu", "free", ""),
        (lib.BH_IOMMU_VTD, "qemu", "translated", ""),
        (lib.BH_IOMMU_VTD, "", "translated", "in registers, which are read in emulated machines alone"),
    ],
)
def test_it_is_said_where_nothing_is_told(kind: int, emulator: str, dma: str, says: str) -> None:
    sandbox = SimpleNamespace(name="linux", functions=[SimpleNamespace(dma=dma)])
    plan = cast(Plan, SimpleNamespace(iommu=int(kind), sandboxes=[sandbox]))
    said = silent_because(plan, cast(Platform, SimpleNamespace(emulator=SimpleNamespace(kind=emulator))))
    assert says in said
    assert bool(says) == bool(said)


def test_a_page_of_records_lies_where_the_monitor_has_it() -> None:
    assert all(form.start % mmap.PAGESIZE == 0 and form.size == mmap.PAGESIZE for form in FORMATS.values())
