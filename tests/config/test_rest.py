# SPDX-License-Identifier: Apache-2.0
"""BH-F1.rest. Who takes the rest has all of it, in as many stretches as it comes; and room for restarts is there before the rest is measured."""

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from bhtool import abi
from bhtool.config.compile import compile_partition
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.config.span import Span
from bhtool.image.module import with_module
from bhtool.platforms import load

from tests.config.software import Files, root_file_system

Compile = Callable[[Path, str], Plan]
Refuses = Callable[[str, bytes], str]
PLATFORMS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "bochs-vtx")
BASE = {"qemu-svm": 0, "bochs-vtx": 0}
END = {"qemu-svm": 0x7F000000, "bochs-vtx": 0x7FE00000}
MIB = 1 << 20

FILE = """
#define MiB(n) 0x0 ((n) << 20)
#include BOARD_DTSI
/ {{
	reserved-memory {{
		#address-cells = <2>; #size-cells = <2>; ranges;
		{regions}
	}};
	domains {{
		compatible = "bulkhead,partitions-v1";
		idle-cores = <&cpu3>;
		one: one {{ compatible = "bulkhead,sandbox-v1"; cores = <&cpu0>; memory-region = <&one_ram>; {one} }};
		two: two {{ compatible = "bulkhead,sandbox-v1"; cores = <&cpu1>; memory-region = <&two_ram>; image = "sandbox-kernel.elf"; }};
		taker: taker {{ compatible = "bulkhead,sandbox-v1"; cores = <&cpu2>; takes-the-rest; {taker} }};
	}};
}};
"""
RESTARTS = 'health { on-fault = "restart"; max-restarts = <3>; };'
NATIVE, LARGE = 'image = "sandbox-kernel.elf";', 'image = "large.elf";'
LINUX = 'os,type = "linux"; image = "vmlinuz"; initrd = "initrd"; access = <&uart0>; console = <&uart0>;'


def pinned(name: str, platform: str, start: int, end: int) -> str:
    """From `start` of RAM on; to so much before its end."""
    first, last = BASE.get(platform, 0x40000000) + start, END.get(platform, 0xC0000000) - end
    return f"{name}_ram: {name}@{first:x} {{ reg = <0x0 {first:#x} 0x0 {last - first:#x}>; }};"


def compiled(compile_on: Compile, folder: Path, platform: str, regions: str, taker: str = NATIVE, one: str = NATIVE) -> Plan:
    (folder / "rest.dts").write_text(FILE.format(regions=regions, taker=taker, one=one))
    return compile_on(folder / "rest.dts", platform)


def sized(name: str, mib: int) -> str:
    return f"{name}_ram: {name} {{ size = <MiB({mib})>; }};"


def check(plan: Plan, platform: str, refuses: Refuses) -> SandboxPlan:
    """Nothing is wrong, nothing overlaps, the monitor takes it, also from a boot loader; whoever takes the rest."""
    assert (plan.errors, plan.warnings) == ([], [])
    assert refuses(platform, plan.table) == ""
    assert refuses(platform, with_module(plan)[0].table) == ""
    held = [Span(one.start, one.size) for one in plan.holdings if one.kind == "memory"]
    assert all(not first.overlaps(second) for first, second in combinations(held, 2))
    return plan.sandboxes[2]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("who", ["one", "taker"])
def test_room_for_a_restart_is_there_first(platform: str, who: str, compile_on: Compile, monitor_refuses: Refuses, tmp_path: Path) -> None:
    """Nobody chose the size of the rest, so it is never too large for what a restart copies back. It begins where it would without."""
    regions = sized("one", 16) + sized("two", 16)
    one, taker = (RESTARTS if who == name else "" for name in ("one", "taker"))
    plan = compiled(compile_on, tmp_path, platform, regions, LARGE + taker, LARGE + one)
    found = check(plan, platform, monitor_refuses)
    other = compiled(compile_on, tmp_path, platform, regions).sandboxes[2]
    assert plan.sandboxes[0 if who == "one" else 2].snapshot_size > 2 * MIB  # more than is left beside the pools
    assert found.ram_hpa == other.ram_hpa
    assert other.ram_size - found.ram_size == 4 * MIB


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("second", [8, 2])
def test_all_stretches_are_one(platform: str, second: int, compile_on: Compile, monitor_refuses: Refuses, tmp_path: Path) -> None:
    """The largest first; contiguous as its sandbox sees it, which is told of one."""
    first = second + 2
    begins = 8 if platform == "qemu-svm" else 6  # the IOMMU's tables
    regions = pinned("one", platform, (begins + first) * MIB, second * MIB) + sized("two", 4)
    plan = compiled(compile_on, tmp_path, platform, regions, NATIVE + RESTARTS)
    taker = check(plan, platform, monitor_refuses)
    assert [(one.gpa - taker.ram_gpa >> 20, one.size >> 20) for one in taker.ram] == [(0, first), (first, second)]
    assert (taker.ram_size >> 20, taker.rest[-1]) == (first + second, f"{first + second} MiB")
    page = next(one.data for one in plan.segments if one.hpa == taker.pool_hpa + abi.lib.BH_POOL_INFO)
    info = abi.view("bh_info", page)
    ram = [info.grants[n] for n in range(info.grant_count) if info.grants[n].kind == abi.lib.BH_GRANT_RAM]
    assert [(row.gpa, row.size) for row in ram] == [(taker.ram_gpa, taker.ram_size)]
    assert [one.size >> 20 for one in plan.holdings if one.owner == "taker" and one.what == "RAM"] in ([first, second], [second, first])


DIRECTORY = "0" * 7 + "1" + f"{0o40755:08x}" + "0" * 72  # an entry's fields up to the length of its name
FIRST = {"qemu-svm": 60, "bochs-vtx": 60, "qemu-armv7": 50}  # MiB, an end in the middle of the initrd; else 34


def large_archive() -> bytes:
    """36 MiB, no two pages alike, that unpack to almost nothing: directories with long names."""
    names = [f"{number:08d}" * 487 for number in range(36 << 8)]
    entries = [f"070701{DIRECTORY}{len(name) + 1:08x}{0:08x}{name}\0\0".encode() for name in names]
    return b"".join(entries) + root_file_system(init=b"")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_payload_lies_across_stretches(platform: str, monitor_refuses: Refuses, tmp_path: Path) -> None:
    """A piece that its sandbox sees whole is cut where the machine has it in two."""
    first, machine = FIRST.get(platform, 34), load(platform)
    files = Files(tmp_path, machine.arch)
    content = large_archive()
    (files.folder / "initrd").write_bytes(content)
    regions = pinned("one", platform, (6 + first - 2) * MIB, first * MIB) + sized("two", 4)
    (tmp_path / "rest.dts").write_text(FILE.format(regions=regions, taker=LINUX, one=NATIVE))
    plan = compile_partition(tmp_path / "rest.dts", machine, files)
    taker = check(plan, platform, monitor_refuses)
    parts = [one for one in plan.segments if one.name == "taker: initrd"]
    assert parts[0].hpa + len(parts[0].data) == taker.ram[0].hpa + taker.ram[0].size
    assert parts[1].hpa == taker.ram[1].hpa
    assert b"".join(one.data for one in parts) == content


@pytest.mark.parametrize("platform", ["qemu-aarch64"])
def test_too_little_is_left(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    regions = pinned("one", platform, 24 * MIB, 20 * MIB) + sized("two", 4)
    plan = compiled(compile_on, tmp_path, platform, regions, LINUX.replace('"initrd"', '"rootfs.cpio.gz"'))
    assert [one.rule for one in plan.errors] == ["BH-R038"]
    assert "`taker` runs Linux in the 38 MiB that others leave" in plan.errors[0].text
    plan = compiled(compile_on, tmp_path, platform, pinned("one", platform, 6 * MIB, 0) + sized("two", 4))
    assert [one.rule for one in plan.errors] == ["BH-R037"]
    assert "`taker` takes the rest, and others leave no 2 MiB of RAM" in plan.errors[0].text


def test_a_refusal_says_what_there_is(compile_on: Compile, tmp_path: Path) -> None:
    """What was asked for, with the monitors' frames, and every free stretch."""
    regions = pinned("one", "qemu-aarch64", 6 * MIB, 1024 * MIB) + sized("two", 1026)
    plan = compiled(compile_on, tmp_path, "qemu-aarch64", regions)
    asked = r"there is no room for the 1,026 MiB of `two`: 1,026\.\d MiB are asked for in all, and "
    free = (
        r"free of firmware, the monitor and pinned regions are 0x40050000\.\.0x405fffff \(5,824 KiB\), 0x80000000\.\.0xbfffffff \(1 GiB\); "
    )
    assert [one.rule for one in plan.errors] == ["BH-R037"]
    assert re.match(asked + free, plan.errors[0].text), plan.errors[0].text
