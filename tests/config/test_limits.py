# SPDX-License-Identifier: Apache-2.0
"""BH-I7.boot. What no table may give away on each platform: the monitor refuses it even if board tree and tool are wrong."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bhtool import abi, paths
from bhtool.abi import lib
from bhtool.config.check_devices import _kept
from bhtool.config.machine import Device
from bhtool.config.plan import Plan
from bhtool.config.private import MACROS, read_private
from bhtool.config.span import Span
from bhtool.config.table import checksum
from bhtool.errors import BulkheadError
from bhtool.paths import PARTITIONS

ARM = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7")
PC, BOCHS = "qemu-svm", "bochs-vtx"
VIRT = (0, 0x07FFF000, 0x08000000, 0x09020000, 0x0A003000, 0x10000000, 0x3F000000, 0x3FFFF000)  # below 4 GiB
REGISTERS = {  # beginnings and ends of what does DMA, sends interrupts, or holds what a reset starts
    PC: (0xB0000000, 0xC0000000, 0xFEBFF000, 0xFEC00000, 0xFED00000, 0xFED1F000, 0xFEE00000, 0xFEEFF000, 0xFF000000, 0xFFFFF000),
    BOCHS: (0xC0000000, 0xFEBFF000, 0xFEC00000, 0xFED00000, 0xFEE00000, 0xFEEFF000, 0xFF000000, 0xFFFFF000),
    **dict.fromkeys(ARM[:2], (*VIRT, 0x401FFFF000, 0x8000000000)),
    ARM[2]: VIRT,
}
RESERVED = {**dict.fromkeys((PC, BOCHS), (0, 0x8000, 0xFF000, 0x7FE00000, 0x7FFFF000)), **dict.fromkeys(ARM, (0x40000000, 0x4000F000))}
CORE_IDS = {
    **dict.fromkeys((PC, BOCHS), (0xFF, 0x100, 1 << 32)),
    ARM[0]: (1 << 24, 1 << 31, 1 << 40),
    **dict.fromkeys(ARM[1:], (8, 0x100)),
}
PRIVATE_PORTS = (  # first, count; what each is stands in arch/x86_64/board_pc.h
    *((0x00, 0x20), (0x20, 2), (0x40, 4), (0x60, 5), (0x70, 2), (0x80, 16), (0x92, 1), (0xA0, 2), (0xB2, 2), (0xC0, 0x20), (0xE9, 1)),
    *((0xF0, 2), (0xF4, 4), (0x170, 8), (0x1F0, 8), (0x370, 8), (0x3F0, 8), (0x4D0, 2), (0x510, 12), (0x600, 0x80), (0x700, 0x40)),
    *((0xCC0, 0x38), (0xCF8, 8), (0x8900, 1), (0xB000, 0x200), (0xC000, 0x4000)),
)
UARTS = {*range(0x2F8, 0x300), *range(0x3F8, 0x400)}  # given to the sandboxes of native.dts
Change = Callable[[Any], None]


@pytest.fixture
def refusal(compile_on: Callable[[Path, str], Plan], monitor_refuses: Callable[[str, bytes], str]) -> Callable[[str, Change], str]:
    """What the monitor of a platform says to the table of native.dts after a change, with a checksum to match."""

    good: dict[str, bytes] = {}

    def refuse(platform: str, change: Change) -> str:
        if platform not in good:
            good[platform] = compile_on(PARTITIONS / "native.dts", platform).table
        table = abi.ffi.new("struct bh_table *")
        abi.ffi.memmove(table, good[platform], len(good[platform]))
        change(table)
        table.checksum = checksum(abi.bytes_of(table))
        return monitor_refuses(platform, abi.bytes_of(table))

    return refuse


def region(kind: int, memory: int, hpa: int) -> Change:
    def change(table: Any) -> None:
        row = table.regions[table.region_count]
        row.gpa, row.hpa, row.size, row.sandbox = 0x20000000, hpa, 0x1000, 0
        row.permissions, row.memory_type, row.kind, row.dma = lib.BH_PERM_READ, memory, kind, lib.BH_DMA_FREE
        table.region_count += 1

    return change


def ports(first: int, count: int) -> Change:
    def change(table: Any) -> None:
        row = table.ports[table.port_count]
        row.sandbox, row.first, row.count, row.dma = 0, first, count, lib.BH_DMA_FREE
        table.port_count += 1

    return change


def core_id(value: int) -> Change:
    def change(table: Any) -> None:
        table.hardware_id[1] = value

    return change


@pytest.mark.parametrize("platform", [PC, BOCHS, *ARM])
def test_registers_of_the_machine(platform: str, refusal: Callable[[str, Change], str]) -> None:
    for hpa in REGISTERS[platform]:
        why = refusal(platform, region(lib.BH_REGION_DEVICE, lib.BH_MEMORY_DEVICE, hpa))
        assert why == "a sandbox is given device registers that only monitors may touch", hex(hpa)


@pytest.mark.parametrize("platform", [PC, BOCHS, *ARM])
def test_reserved_ram(platform: str, refusal: Callable[[str, Change], str]) -> None:
    for hpa in RESERVED[platform]:
        why = refusal(platform, region(lib.BH_REGION_RAM, lib.BH_MEMORY_RAM, hpa))
        assert why == "a sandbox is given RAM reserved for firmware or start-up", hex(hpa)


def test_ports_of_the_machine(refusal: Callable[[str, Change], str]) -> None:
    for start, count in PRIVATE_PORTS:
        for first in (start, start + count - 1):
            assert refusal(PC, ports(first, 1)) == "a sandbox is given I/O ports of the machine itself", hex(first)


@pytest.mark.parametrize("platform", [PC, BOCHS, *ARM])
def test_the_tool_knows_what_the_monitor_keeps(platform: str) -> None:
    """It reads the monitor's own header: registers, lines and, on PCs, ports."""
    kept = read_private(platform)
    for hpa in REGISTERS[platform]:
        assert any(one.holds(Span(hpa, 0x1000)) for one in kept.registers), hex(hpa)
    for hpa in RESERVED[platform]:
        assert any(one.holds(Span(hpa, 0x1000)) for one in kept.reserved), hex(hpa)
    is_pc = platform in (PC, BOCHS)
    assert kept.lines == ((Span(13, 1),) if is_pc else (Span(0, 32), Span(106, 4)))
    assert kept.ports == (tuple(Span(*one) for one in PRIVATE_PORTS) if is_pc else (Span(0, 0x10000),))


@pytest.mark.parametrize("written", ["{ BASE - 1, 2 }", "{ base(), 2 }", "{ 1u << 4, 2 }"])
def test_what_the_tool_cannot_read_of_a_board_is_refused(written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than taken for nothing."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "board.h").write_text("".join(f"#define {name} {written}\n" for name in MACROS))
    monkeypatch.setattr(paths, "PLATFORMS", tmp_path)
    with pytest.raises(BulkheadError, match="a sum of numbers is expected"):
        read_private("mine")


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("BOARD_PRIVATE_SPANS", None, "does not define BOARD_PRIVATE_SPANS"),
        ("BOARD_PCI_PORTS_AT", None, "does not define BOARD_PCI_PORTS_AT"),
        ("BOARD_PRIVATE_LINES", "{ 0, 32 } SPAN(7)", "pairs of numbers in braces are expected"),
        ("BOARD_IMAGE_AT", None, ""),
        ("BOARD_IOMMU", "{ 0, 1 }", "where an IOMMU is expected"),
        ("BOARD_IOMMU", "{ BH_IOMMU_OTHER, 1 }", "where an IOMMU is expected"),
        ("BOARD_IOMMU", None, ""),
    ],
)
def test_no_list_of_a_board_is_empty_by_mistake(
    name: str, written: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    good = dict.fromkeys(MACROS, "{ 0, 1 }") | {"BOARD_PCI_PORTS_AT": "0", "BOARD_IMAGE_AT": "0x1000"}
    good |= {"BOARD_IOMMU": "{ BH_IOMMU_AMDVI, 0xfed80000ull, 0x8 }"}
    texts = {one: text for one, text in (good | {name: written}).items() if text is not None}
    (tmp_path / "mine" / "board.h").write_text("".join(f"#define {one} {text}\n" for one, text in texts.items()))
    monkeypatch.setattr(paths, "PLATFORMS", tmp_path)
    read_private.cache_clear()
    if said:
        with pytest.raises(BulkheadError, match=said):
            read_private("mine")
    else:
        found = read_private("mine")
        assert (found.image_at, found.iommu) in ((None, (lib.BH_IOMMU_AMDVI, 0xFED80000, 8)), (0x1000, None))
    read_private.cache_clear()


def test_ports_beside_those_of_the_machine(refusal: Callable[[str, Change], str]) -> None:
    taken = [port for start, count in PRIVATE_PORTS for port in range(start, start + count)]
    for port in sorted({near for one in taken for near in (one - 1, one + 1) if 0 <= near < 0x10000} - set(taken) - UARTS):
        assert refusal(PC, ports(port, 1)) == "", hex(port)


@pytest.mark.parametrize("platform", ARM)
def test_no_ports_without_a_port_space(platform: str, refusal: Callable[[str, Change], str]) -> None:
    assert refusal(platform, ports(0x3F8, 8)) == "a sandbox is given I/O ports of the machine itself"


@pytest.mark.parametrize("platform", [PC, BOCHS, *ARM])
def test_hardware_numbers(platform: str, refusal: Callable[[str, Change], str]) -> None:
    for value in CORE_IDS[platform]:
        assert refusal(platform, core_id(value)) == "a core has a hardware number that no core of this platform can have", hex(value)


@pytest.mark.parametrize(
    ("start", "is_function", "is_kept"), [(0xC0000000, True, False), (0xC0000000, False, True), (0xB0000000, True, True)]
)
def test_a_function_may_have_what_lies_in_a_window_alone(start: int, is_function: bool, is_kept: bool) -> None:
    """The board tree's windows may be wider than the monitor's."""
    device = cast(Device, SimpleNamespace(function=object() if is_function else None))
    mine, private, window = Span(start, 0x1000), Span(0xB0000000, 0x40000000), Span(0xC0000000, 0x1000000)
    assert bool(list(_kept(device, [mine], [private], [window]))) == is_kept
