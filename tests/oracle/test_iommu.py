# SPDX-License-Identifier: Apache-2.0
"""BH-E1.oracle. IOMMUs of small machines, put together by hand from the manuals' literal words; each mistake, one at a time, must be named."""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pytest
from bhtool.config.span import Span
from bhtool.oracle.amdvi import HostTables
from bhtool.oracle.confinement import Confinement
from bhtool.oracle.ept import Ept
from bhtool.oracle.judge import judge
from bhtool.oracle.policy import Grant, Partitioning, Policy, Private, Translator
from bhtool.oracle.snapshot import Snapshot
from bhtool.oracle.vtd import SecondStage
from bhtool.oracle.walk import Entry, Format, Root

MIB = 1 << 20
SIZE = 16 * MIB
# Two sandboxes with a pool and 4 MiB of RAM each, whose RAM begins at 0x40000000 for them; the IOMMU's tables.
POOL, RAM, BASE = {"one": 0x100000, "two": 0x120000}, {"one": 0x800000, "two": 0xC00000}, 0x40000000
POOL_BYTES, RAM_BYTES = 0x20000, 4 * MIB
TABLES = 0x200000
STREAM = {"one": 0x28, "two": 0x30}
APIC = {"one": 1, "two": 2}
REGISTERS = 0xFED00000
STAGE_2, ROOT, SECOND, THIRD, MESSAGES = 0x8000, 0xA000, 0xB000, 0xC000, 0xD000  # in a pool

Words = dict[int, int]


@dataclass(frozen=True)
class Kind:
    """A machine with this IOMMU in which everything is right."""

    compatible: str
    words: Callable[[], Words]
    registers: Mapping[int, int]
    table_bytes: int
    leaf: int  # what a 2 MiB leaf has besides its address
    entry: Callable[[str], int]  # where the entry of a sandbox's stream lies


def second_roots(top: int, below: int, leaf: int) -> Words:
    """Tables for BASE, the second GiB, with two leaves of 2 MiB: what an entry of each level has besides its address. An SMMU's has no top."""
    words: Words = {}
    for name, pool in POOL.items():
        words |= {pool + ROOT: pool + SECOND | top} if top else {}
        words[pool + SECOND + 8] = pool + THIRD | below
        words |= {pool + THIRD + 8 * n: RAM[name] + 2 * MIB * n | leaf for n in range(2)}
    return words


def smmu() -> Words:
    """IHI 0070 5.2: Config in 3:1, 4 abort, 6 stage 2; word 2: VMID, T0SZ 25 at 32, SL0 1 at 38, S2AA64 at 51, S2R at 58; word 3 the table."""
    words = {TABLES + 64 * n: 0x1 for n in range(256)}  # valid, abort
    for name, at in STREAM.items():
        words[TABLES + 64 * at] = 0xD
        words[TABLES + 64 * at + 16] = 0x040A_3559_0000_0000 | APIC[name]
        words[TABLES + 64 * at + 24] = POOL[name] + SECOND
    return words | second_roots(0, 3, 0x0040_0000_0000_07FD)


def amdvi() -> Words:
    """48882, 2.2.2: V, TV, mode in 11:9, IR 61, IW 62; IV 0, length in 4:1 (8: 256), IntCtl 2 in 61:60. A word of 32 bits an interrupt."""
    words: Words = {}
    for n in range(0x10000):
        words[TABLES + 32 * n] = 0x3
        words[TABLES + 32 * n + 16] = 0x1  # aborts
    for name, at in STREAM.items():
        pool = POOL[name]
        words[TABLES + 32 * at] = 0x6000_0000_0000_0803 | pool + ROOT  # four levels
        words[TABLES + 32 * at + 8] = APIC[name]
        words[TABLES + 32 * at + 16] = 0x2000_0000_0000_0011 | pool + MESSAGES
        for vector in range(0x20, 0x100, 2):
            low, high = (one << 16 | APIC[name] << 8 | 1 for one in (vector, vector + 1))
            words[pool + MESSAGES + 4 * vector] = high << 32 | low
    return words | second_roots(0x6000_0000_0000_0601, 0x6000_0000_0000_0401, 0x7000_0000_0000_0001)


def vtd() -> Words:
    """D51397 9.1, 9.3, 9.8, 9.10: P and the table of a bus; P and the root, AW 2 (4 levels), domain in 23:8; R and W, 7 a leaf."""
    words: Words = {TABLES: TABLES + 0x1001}
    for name, at in STREAM.items():
        words[TABLES + 0x1000 + 16 * at] = POOL[name] + ROOT | 1
        words[TABLES + 0x1000 + 16 * at + 8] = APIC[name] << 8 | 2
        words[TABLES + 0x2000 + 16 * APIC[name]] = APIC[name] << 32 | 0x41 << 16 | 1
        words[TABLES + 0x2000 + 16 * APIC[name] + 8] = 0x40000 | at
    return words | second_roots(3, 3, 0x83)


SMMU_REGISTERS = {0x00: 0, 0x20: 0x5, 0x24: 0x5, 0x44: 0x100000, 0x80: TABLES, 0x88: 8, 0x90: TABLES + 0x4000 | 8}
AMDVI_REGISTERS = {0x00: TABLES | 0x1FF, 0x08: TABLES + 0x200000 | 8 << 56, 0x18: 0x1005, 0x20: 0}
VTD_REGISTERS = {0x1C: 0xC700_0000, 0x20: TABLES, 0x90: TABLES + 0x3000, 0xB8: TABLES + 0x2000 | 0x800 | 7}
KINDS = {
    "SMMUv3": Kind("arm,smmu-v3", smmu, SMMU_REGISTERS, 0x10000, 0x0040_0000_0000_07FD, lambda name: TABLES + 64 * STREAM[name]),
    "AMD-Vi": Kind("bulkhead,amd-vi", amdvi, AMDVI_REGISTERS, 0x210000, 0x7000_0000_0000_0001, lambda name: TABLES + 32 * STREAM[name]),
    "VT-d": Kind("bulkhead,vt-d", vtd, VTD_REGISTERS, 0x20000, 0x83, lambda name: TABLES + 0x1000 + 16 * STREAM[name]),
}


def policies() -> list[Policy]:
    return [
        Policy(
            name,
            (APIC[name],),
            Span(POOL[name], POOL_BYTES),
            (Grant("RAM", BASE, RAM[name], RAM_BYTES, "rwx", "ram"),),
            frozenset(),
            frozenset(),
            streams=(STREAM[name],),
            apics=(APIC[name],),
        )
        for name in POOL
    ]


def split(kind: Kind) -> Partitioning:
    tables = Span(TABLES, kind.table_bytes)
    private = [Private("registers of the IOMMU", Span(REGISTERS, 0x4000)), Private("tables of the IOMMU", tables)]
    return Partitioning(policies(), private, [Span(0, SIZE)], Translator(kind.compatible, Span(REGISTERS, 0x4000), tables))


def confined(snapshot: Snapshot, pool: Span, cores: tuple[int, ...]) -> Confinement:
    """By an EPT, whatever the IOMMU is; its root is a table for 1 GiB each, one of 2 MiB leaves below it."""
    return Confinement(cores[0], Root(Ept(), pool.start + STAGE_2, 3))


def snapshot_of(kind: Kind, words: Words, registers: Mapping[int, int]) -> Snapshot:
    ram = bytearray(SIZE)
    for name, pool in POOL.items():
        struct.pack_into("<Q", ram, pool + STAGE_2 + 8, pool + STAGE_2 + 0x1007)
        for n in range(2):
            struct.pack_into("<Q", ram, pool + STAGE_2 + 0x1000 + 8 * n, RAM[name] + 2 * MIB * n | 0xB7)
    for address, word in (kind.words() | words).items():
        struct.pack_into("<Q", ram, address, word)
    return Snapshot(0, memoryview(bytes(ram)), iommu={**kind.registers, **registers})


def said(name: str, words: Words, registers: Mapping[int, int] = {}, ended: tuple[str, ...] = ()) -> list[str]:
    kind = KINDS[name]
    return [str(one) for one in judge(snapshot_of(kind, words, registers), split(kind), confined, ended).findings]


@pytest.mark.parametrize("name", KINDS)
def test_what_is_right_is_silent(name: str) -> None:
    assert said(name, {}) == []


def leaf_of(name: str, address: int, sandbox: str = "one", n: int = 1) -> Words:
    """The sandbox's second 2 MiB lead elsewhere."""
    return {POOL[sandbox] + THIRD + 8 * n: address | KINDS[name].leaf}


@pytest.mark.parametrize("name", KINDS)
def test_memory_of_others_is_out_of_reach(name: str) -> None:
    """RAM of another, pools, and what is nobody's; each both by the grant and frame by frame, but for RAM, which is found by the grant."""
    found = said(name, leaf_of(name, RAM["two"]))
    assert found == ["one: stream 0x40200000: stream 0x28: RAM leads to 0xc00000 instead of 0xa00000"]
    found = said(name, leaf_of(name, 0))
    assert "one: stream 0x40200000: stream 0x28: RAM leads to 0x0 instead of 0xa00000" in found
    assert "one: stream 0x40000000: stream 0x28 reaches 0x100000..0x11ffff, pool of one" not in found
    assert "one: stream 0x40200000: stream 0x28 reaches 0x100000..0x11ffff, pool of one" in found
    found = said(name, leaf_of(name, TABLES))
    assert any(one.endswith(", tables of the IOMMU") for one in found)
    found = said(name, leaf_of(name, REGISTERS & -(2 * MIB)))
    assert any(one.endswith("0xfed00000..0xfed03fff, registers of the IOMMU") for one in found)


@pytest.mark.parametrize("name", KINDS)
def test_all_ram_is_reached(name: str) -> None:
    assert said(name, {POOL["one"] + THIRD + 8: 0}) == ["one: stream 0x40200000: stream 0x28: RAM is granted to 0x403fffff, but not mapped"]


@pytest.mark.parametrize("name", KINDS)
def test_more_than_ram_is_not_reached(name: str) -> None:
    """What begins where RAM ends."""
    found = said(name, leaf_of(name, 0xA00000, n=2))
    assert found == ["one: stream 0x40400000: stream 0x28: mapped to 0xa00000..0xbfffff (rw), but not granted"]


@pytest.mark.parametrize("name", KINDS)
def test_a_table_of_another_is_noticed(name: str) -> None:
    """One's stream is led by two's root: everything of it is wrong, where its tables lie too."""
    kind, word = KINDS[name], 24 if name == "SMMUv3" else 0
    entries = kind.words()
    changed = {kind.entry("one") + word: entries[kind.entry("two") + word]}
    found = said(name, changed)
    assert "one: stream 0x40000000: stream 0x28: RAM leads to 0xc00000 instead of 0x800000" in found
    assert any(one.endswith("a table of stream 0x28 is not in its monitor's pool") for one in found)


CLOSED = {
    "SMMUv3": (0x1, 0x0, 0xC, 0xFFFFFFFFFFFFFFF1),  # valid and abort; not valid; not valid, whatever else; abort, whatever else
    "AMD-Vi": (0x3, 0x1, 0x0803, 0x6000_0000_0000_0801),  # no access; TV clear; levels without access; TV clear with access
    "VT-d": (0x0, 0xFFFFFFFFFFFFFFF0),
}
OPEN = {
    "SMMUv3": [(0x9, "is not translated: it reaches everything"), (0xB, "its entry has Config 0b101: a stage 1 that nobody uses")],
    "AMD-Vi": [(0x0, "is not translated"), (0x6000_0000_0000_0003, "is not translated"), (0x6000_0000_0000_0000, "is not translated")],
    "VT-d": [(0x9, "its context entry has translation type 2: it may pass"), (0x5, "its context entry has translation type 1")],
}


@pytest.mark.parametrize(("name", "word"), [(name, word) for name, words in CLOSED.items() for word in words])
def test_what_is_granted_is_open(name: str, word: int) -> None:
    assert said(name, {KINDS[name].entry("one"): word}) == ["one: stream 0x28: is granted, and aborts"]


@pytest.mark.parametrize(("name", "word", "text"), [(name, *row) for name, rows in OPEN.items() for row in rows])
def test_what_is_granted_is_translated(name: str, word: int, text: str) -> None:
    assert any(f"one: stream 0x28: {text}" in one for one in said(name, {KINDS[name].entry("one"): word}))


@pytest.mark.parametrize("stream", [0x0, 0x29, 0xF8])
@pytest.mark.parametrize("name", KINDS)
def test_what_is_nobodys_aborts(name: str, stream: int) -> None:
    """With the entry of another, or one that lets everything pass."""
    kind = KINDS[name]
    step, words = kind.entry("two") - kind.entry("one") >> 3, kind.words()
    at = kind.entry("one") + (stream - STREAM["one"]) * step
    copied = {at + 8 * n: words.get(kind.entry("one") + 8 * n, 0) for n in range(step // 8)}
    assert f": stream {stream:#x}: is open, and granted to nobody" in said(name, copied)
    passes = {"SMMUv3": 0x9, "AMD-Vi": 0x0, "VT-d": 0x9}[name]
    assert f": stream {stream:#x}: is open, and granted to nobody" in said(name, {at: passes})


@pytest.mark.parametrize("name", KINDS)
def test_whose_sandbox_has_ended_aborts(name: str) -> None:
    closed = {KINDS[name].entry("one"): CLOSED[name][0]}
    assert said(name, {}, ended=("one",)) == ["one: stream 0x28: is open, and its sandbox has ended"]
    assert said(name, closed, ended=("one",)) == []


TAG = {"SMMUv3": (16, 0x040A_3559_0000_0000), "AMD-Vi": (8, 0), "VT-d": (8, 2)}


@pytest.mark.parametrize("name", KINDS)
def test_tags_are_apart(name: str) -> None:
    offset, word = TAG[name]
    shift = 8 if name == "VT-d" else 0
    at = KINDS[name].entry("one") + offset
    assert said(name, {at: word | 2 << shift}) == ["two: stream 0x30: its tag 2 is also one's"]
    assert said(name, {at: word}) == ["one: stream 0x28: its translations are tagged 0"]


REGISTER = [
    ("SMMUv3", {0x24: 0}, None),  # off, and aborts everything: nothing passes, but what is granted is not there
    ("SMMUv3", {0x20: 0, 0x44: 0x1000}, "of the IOMMU: it is off, and lets everything pass (GBPA.ABORT)"),
    ("SMMUv3", {0x00: 0x400}, "of the IOMMU: requests that say they are translated pass (CR0.ATSCHK)"),
    ("SMMUv3", {0x88: 0x2_0008}, "of the IOMMU: its table of streams has form 2, which there is not"),
    ("SMMUv3", {0x80: 0x700000}, "table of streams 0x700000..0x703fff is not among the IOMMU's tables"),
    ("SMMUv3", {0x80: SIZE}, "table of streams 0x1000000..0x1003fff is not in RAM"),
    ("SMMUv3", {0x90: 0x700008}, "queue of commands 0x700000..0x700fff is not among the IOMMU's tables"),
    ("AMD-Vi", {0x18: 0x1004}, "of the IOMMU: it is off, and lets everything pass (IommuEn)"),
    ("AMD-Vi", {0x20: 0x1}, "of the IOMMU: a stretch of memory is excluded from translation (ExEn)"),
    ("AMD-Vi", {0x00: TABLES | 0x1FE}, "is not in RAM, or has not an entry for each stream"),
    ("VT-d", {0x1C: 0x4300_0000}, "of the IOMMU: it is off, and lets everything pass (TES)"),
    ("VT-d", {0x1C: 0xC500_0000}, "of the IOMMU: interrupts pass as they are (IRES, CFIS)"),
    ("VT-d", {0x1C: 0xC780_0000}, "of the IOMMU: interrupts pass as they are (IRES, CFIS)"),
    ("VT-d", {0x20: TABLES | 0x400}, "of the IOMMU: its root table has mode 1, which is not the legacy one"),
    ("VT-d", {0x20: 0x700000}, "root table 0x700000..0x700fff is not among the IOMMU's tables"),
]


@pytest.mark.parametrize(("name", "registers", "text"), REGISTER)
def test_registers(name: str, registers: dict[int, int], text: str | None) -> None:
    found = said(name, {}, registers)
    if text:
        assert any(text in one for one in found), found
    else:
        assert found == ["one: stream 0x28: is granted, and aborts", "two: stream 0x30: is granted, and aborts"]


def test_registers_that_were_not_read_are_no_proof() -> None:
    kind = KINDS["VT-d"]
    blind = replace(snapshot_of(kind, {}, {}), iommu={0x20: TABLES})
    found = [str(one) for one in judge(blind, split(kind), confined).findings]
    assert ": stream 0x0: of the IOMMU: the debugger does not show its registers at 0x1c, 0x90, 0xb8" in found


ENTRIES = [
    # Fields of entries that let a stream do what its tables do not say.
    ("SMMUv3", {8: 0x1000_0000}, "its entry lets it bring addresses of its own (EATS)"),
    ("SMMUv3", {16: 0x0402_3559_0000_0001}, "its tables are not AArch64's of 4 KiB"),
    ("SMMUv3", {16: 0x040A_7559_0000_0001}, "its tables are not AArch64's of 4 KiB"),
    ("SMMUv3", {16: 0x060A_3559_0000_0001}, "its entry has stalls (S2S)"),
    ("SMMUv3", {16: 0x042A_3559_0000_0001}, "its entry has no access flags (S2AFFD)"),
    ("AMD-Vi", {8: 0x1_0000_0001}, "its entry has I (it may cache translations)"),
    ("AMD-Vi", {8: 0x80_0000_0001}, "its entry has EX (an exclusion range)"),
    ("AMD-Vi", {8: 0x8_0000_0001}, "its entry has IoCtl"),
    ("AMD-Vi", {8: 0x200_0000_0001}, "its entry has SysMgt"),
    ("AMD-Vi", {16: 0x2400_0000_0010_D011}, "its entry has NMI (passes)"),
    ("AMD-Vi", {16: 0x0}, "its interrupts pass as they are (IV)"),
    ("AMD-Vi", {16: 0x1000_0000_0010_D011}, "its interrupts pass as they are (IntCtl 1)"),
    ("AMD-Vi", {16: 0x2000_0000_0012_D011}, "its interrupt table 0x12d000..0x12efff is not in its monitor's pool"),
    ("AMD-Vi", {0: 0x6080_0000_0000_0803 | 0x10A000}, "its entry has GV"),
    ("VT-d", {8: 0x103}, "its context entry has address width 3, which nobody uses"),
]


@pytest.mark.parametrize(("name", "changed", "text"), ENTRIES)
def test_entries(name: str, changed: dict[int, int], text: str) -> None:
    at = KINDS[name].entry("one")
    found = said(name, {at + offset: word for offset, word in changed.items()})
    assert any(one.startswith("one: stream 0x28: ") and text in one for one in found), found


def test_nobodys_interrupts_abort_by_amd_vi() -> None:
    for stream in (0x0, 0x29, 0xA0):
        at = TABLES + 32 * stream + 16
        assert f": stream {stream:#x}: its interrupts pass as they are (IV)" in said("AMD-Vi", {at: 0})
        copied = {at: amdvi()[TABLES + 32 * STREAM["one"] + 16]}
        assert any(f": stream {stream:#x}: its interrupt 0x20 goes to the core with APIC ID 0x1" in one for one in said("AMD-Vi", copied))


IRTE = POOL["one"] + MESSAGES + 4 * 0x30
INTERRUPTS = [
    ("AMD-Vi", {IRTE: 0x31_0101_0030_0201}, "its interrupt 0x30 goes to the core with APIC ID 0x2, vector 0x30: not granted"),
    ("AMD-Vi", {IRTE: 0x31_0101_0030_0111}, "its interrupt 0x30 is not fixed to one core by its APIC ID"),  # NMI
    ("AMD-Vi", {IRTE: 0x31_0101_0030_0141}, "its interrupt 0x30 is not fixed to one core by its APIC ID"),  # logical
    # Beyond the length that the stream's entry says: QEMU's model goes there all the same.
    ("AMD-Vi", {IRTE + 0x1000: 0x31_0201}, "its interrupt 0x430 goes to the core with APIC ID 0x2, vector 0x31: not granted"),
    ("VT-d", {TABLES + 0x2010: 0x2_0041_0001}, "its interrupt 0x1 goes to the core with APIC ID 0x2, vector 0x41: not granted"),
    ("VT-d", {TABLES + 0x2010: 0x1_0041_0081}, "its interrupt 0x1 is not fixed to one core by its APIC ID"),  # NMI
    ("VT-d", {TABLES + 0x2010: 0x1_0041_0005}, "its interrupt 0x1 is not fixed to one core by its APIC ID"),  # logical
    ("VT-d", {TABLES + 0x2018: 0x28}, "its interrupt 0x1 may be sent by others (SVT, SQ)"),
    ("VT-d", {TABLES + 0x2018: 0x50028}, "its interrupt 0x1 may be sent by others (SVT, SQ)"),  # seven bits are compared
]


@pytest.mark.parametrize(("name", "changed", "text"), INTERRUPTS)
def test_interrupts(name: str, changed: Words, text: str) -> None:
    assert any(f"one: stream 0x28: {text}" in one for one in said(name, changed)), said(name, changed)


def test_wide_interrupt_entries_of_amd_vi() -> None:
    """48882, 2.2.5.3: 128 bits, if GAEn says so; the destination's upper 8 bits are the last."""
    wide: Words = {}
    for name, pool in POOL.items():
        wide |= {pool + MESSAGES + 8 * n: 0 for n in range(128)}
        wide |= {pool + MESSAGES + 16 * 0x31: APIC[name] << 8 | 1, pool + MESSAGES + 16 * 0x31 + 8: 0x31}
    enabled = {0x18: 0x1000_1005}
    assert said("AMD-Vi", wide, enabled) == []
    other = {POOL["one"] + MESSAGES + 16 * 0x31 + 8: 0x0100_0000_0000_0031}
    assert any("goes to the core with APIC ID 0x1000001, vector 0x31" in one for one in said("AMD-Vi", wide | other, enabled))


@pytest.mark.parametrize(("name", "io_apic"), [("AMD-Vi", 0xA0), ("VT-d", 0xFF00)])
def test_the_io_apic_interrupts_who_has_lines(name: str, io_apic: int) -> None:
    """Nobody has one here; with one, its own cores alone."""
    kind = KINDS[name]
    if name == "VT-d":
        words = {TABLES + 0x2050: 0x1_0041_0001, TABLES + 0x2058: 0x40000 | io_apic}
    else:
        words = {TABLES + 32 * io_apic + 16: 0x2000_0000_0000_0011 | TABLES + 0x20E000, TABLES + 0x20E000 + 4 * 4: 0x0041_0101}
    found = said(name, words)
    assert any(f": stream {io_apic:#x}: its interrupt" in one for one in found)
    with_lines = split(kind)
    for granted, right in (("one", True), ("two", False)):
        with_lines.policies = [replace(one, has_lines=one.sandbox == granted) for one in policies()]
        left = judge(snapshot_of(kind, words, {}), with_lines, confined).findings
        assert (not left) == right, left


def test_streams_in_two_levels() -> None:
    """IHI 0070 5.1: a descriptor has its table in 51:6 and how many entries in 4:0, 2 to the power of one less."""
    moved = {TABLES + 0x8000: TABLES | 7}
    split_at_64 = {0x80: TABLES + 0x8000, 0x88: 0x1_0188}
    assert said("SMMUv3", moved, split_at_64) == []
    moved[TABLES + 0x8000 + 8] = TABLES + 64 * 0x28 | 1  # its first: stream 0x40
    assert ": stream 0x40: is open, and granted to nobody" in said("SMMUv3", moved, split_at_64)


GOOD = [
    (HostTables(), 0x7000_0000_1234_5001, 0, Entry("leaf", 0x12345000, "rw", "ram")),
    (HostTables(), 0x3000_0000_1234_5001, 0, Entry("leaf", 0x12345000, "r", "ram")),
    (HostTables(), 0x6000_0000_1234_5201, 1, Entry("table", 0x12345000, "rw")),
    (HostTables(), 0x6000_0000_1234_5203, 1, Entry("table", 0x12345000, "rw")),
    (HostTables(), 0x7000_0000_4000_0001, 2, Entry("leaf", 0x40000000, "rw", "ram")),
    (HostTables(), 0x0, 3, Entry("hole")),
    (SecondStage(), 0x12345003, 0, Entry("leaf", 0x12345000, "rw", "ram")),
    (SecondStage(), 0x12345001, 3, Entry("table", 0x12345000, "r")),
    (SecondStage(), 0x40000083, 2, Entry("leaf", 0x40000000, "rw", "ram")),
    (SecondStage(), 0x0, 3, Entry("hole")),
]
ODD = [
    (HostTables(), 0x7000_0000_1234_5000, 0, "bits 0x7000000012345000,"),  # not present, and yet something
    (HostTables(), 0x6000_0000_1234_5401, 3, "leads to a table of level 2, in one of level 4"),  # a level is skipped
    (HostTables(), 0x7000_0000_1234_5003, 0, "bits 0x2,"),
    (HostTables(), 0x7000_0000_1234_5E01, 0, "a leaf of another size"),
    (HostTables(), 0x7000_0000_0000_0001, 3, "a leaf where none may be"),
    (HostTables(), 0x7000_0000_4000_1001, 1, "bits 0x1000,"),
    (SecondStage(), 0x12345083, 0, "bits 0x80,"),
    (SecondStage(), 0x12345007, 0, "bits 0x4,"),
    (SecondStage(), 0x80, 1, "bits 0x80,"),
    (SecondStage(), 0x83, 3, "a leaf where none may be"),
]


@pytest.mark.parametrize(("form", "word", "level", "entry"), GOOD)
def test_entry(form: Format, word: int, level: int, entry: Entry) -> None:
    assert form.decode(word, level) == entry


@pytest.mark.parametrize(("form", "word", "level", "text"), ODD)
def test_odd_entry(form: Format, word: int, level: int, text: str) -> None:
    assert text in " ".join(form.decode(word, level).odd)
