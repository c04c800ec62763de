# SPDX-License-Identifier: Apache-2.0
"""BH-F1.memory. What a machine gives up for its sandboxes: `check` adds it up."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.abi import lib
from bhtool.config.board import read_board
from bhtool.config.explain import IMAGE
from bhtool.config.plan import Plan
from bhtool.paths import PARTITIONS, ROOT
from bhtool.platforms import Platform, every, load
from bhtool.report.given_up import UNUSED, machine_memory, memory_of
from bhtool.text import size_text

Compile = Callable[[Path, str], Plan]
PLATFORMS = [platform.name for platform in every()]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_is_given_up_is_what_no_sandbox_has(compile_on: Compile, platform: str) -> None:
    plan = compile_on(PARTITIONS / "restart.dts", platform)
    held = {one.what: one.size for one in plan.holdings}
    for one in plan.sandboxes:
        cost = memory_of(one)
        assert cost["monitor_bytes"] == held[f"monitor of `{one.name}`"]
        assert cost["given_up_bytes"] - cost["monitor_bytes"] == (one.snapshot_size if one.restarts else 0)
        assert cost["table_bytes"] + cost["log_bytes"] < cost["monitor_bytes"]
    assert any(memory_of(one)["snapshot_bytes"] for one in plan.sandboxes)
    assert dict(machine_memory(plan))["kick mailboxes"] == lib.BH_PAGE_BYTES


RAM_BEGINS = {"arm": 0x40200000, "pc": 0x200000} | {"qemu-svm": 0x400000, "qemu-svm-vtd": 0x400000}  # beside tables of the IOMMU
IMAGE_BYTES = {"arm": (64 + 256) << 10, "pc": (1024 + 256) << 10}  # with what a loader hands over, with legacy memory
PCS = ("qemu-svm", "qemu-svm-vtd", "bochs-vtx")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_image_and_pools_share_two_mebibytes(compile_on: Compile, platform: str) -> None:
    """All RAM behind them is somebody's, in leaves of 2 MiB."""
    kind = "pc" if platform in PCS else "arm"
    plan = compile_on(PARTITIONS / "native.dts", platform)
    assert dict(machine_memory(plan))[IMAGE] == IMAGE_BYTES[kind]
    begins = RAM_BEGINS.get(platform, RAM_BEGINS[kind])
    assert min(one.ram_hpa for one in plan.sandboxes) == begins
    assert max(one.pool_hpa + one.pool_size for one in plan.sandboxes) <= begins


UNUSED_KIB = {"qemu-aarch64": 1384, "qemu-aarch64-gicv2": 1372, "qemu-armv7": 1372, "qemu-svm": 304, "bochs-vtx": 380}


@pytest.mark.parametrize("platform", UNUSED_KIB)
def test_what_is_left_beside_the_pools(compile_on: Compile, tmp_path: Path, platform: str) -> None:
    """By their sizes: the rest of the first 2 MiB. All other RAM is given to somebody, and what `check` prints adds up to all there is."""
    text = (PARTITIONS / "mixed.dts").read_text().replace("\t\t\tmemory-region = <&linux_ram>;\n", "")
    (tmp_path / "rest.dts").write_text(text.replace("\t\tlinux_ram: linux { size = <MiB(512)>; };\n", ""))
    plan = compile_on(tmp_path / "rest.dts", platform)
    once = dict(machine_memory(plan))
    assert once[UNUSED] == UNUSED_KIB[platform] << 10
    assert sum(once.values()) + sum(one.ram_size + memory_of(one)["given_up_bytes"] for one in plan.sandboxes) == load(platform).ram_size


@pytest.mark.parametrize("platform", every(), ids=lambda platform: platform.name)
def test_the_linker_knows_where_the_image_lies(compile_on: Compile, platform: Platform) -> None:
    """It begins where the tool believes, and what the linker lets it have is what the board keeps."""
    script = (ROOT / "arch" / ("x86_64" if platform.arch == "x86_64" else "arm") / "monitor.lds").read_text()
    header = (ROOT / "platforms" / platform.board_name / "board.h").read_text()
    said = re.findall(r"^#define BOARD_IMAGE_AT (0x\w+)$", header, re.MULTILINE) or re.findall(r"^\t\. = (0x\w+);", script, re.MULTILINE)
    start = int(said[0], 16)
    bound = int(re.findall(r"__image_end - __image_start <= (0x\w+),", script)[0], 16)
    kept = next(one for one in compile_on(PARTITIONS / "native.dts", platform.name).holdings if one.what == IMAGE)
    assert (start, start + bound) == (read_board(platform).image_address, kept.start + kept.size)


MOST = {"arm": 80, "pc": 112}  # KiB, the log apart, of a sandbox of one core; with a line a PC's monitor maps the I/O APIC
# Boards with an IOMMU miss that by a frame: text of both vendors and of the IOMMU takes a fourth page.
MISSED = {"qemu-svm": 116, "qemu-svm-vtd": 116}
FURTHER = {"arm": 4, "pc": 16}  # KiB


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_a_core_takes(compile_on: Compile, tmp_path: Path, platform: str) -> None:
    """BH-I5.tiny."""
    kind = "pc" if platform in PCS else "arm"
    text = (PARTITIONS / "native.dts").read_text()
    without_west = re.sub(
        r"\t\twest: west {.*?\n\t\t};\n", "", text.replace("\t\twest_ram: west { size = <MiB(16)>; };\n", ""), flags=re.DOTALL
    )
    (tmp_path / "two.dts").write_text(without_west.replace("<&cpu2>;", "<&cpu2>, <&cpu3>;"))
    native = compile_on(PARTITIONS / "native.dts", platform).sandboxes
    one, two = native[2], compile_on(tmp_path / "two.dts", platform).sandboxes[2]
    assert (one.name, len(one.cores), two.name, len(two.cores)) == ("south", 1, "south", 2)
    assert any(each.lines for each in native)
    for each in native:
        assert memory_of(each)["monitor_bytes"] - memory_of(each)["log_bytes"] <= MISSED.get(platform, MOST[kind]) << 10
    assert memory_of(two)["monitor_bytes"] - memory_of(one)["monitor_bytes"] == memory_of(one)["core_bytes"] == FURTHER[kind] << 10


def test_sizes_are_exact_or_short() -> None:
    assert [size_text(size) for size in (1280 << 10, 512 << 20, 1522052 << 10, 100)] == ["1,280 KiB", "512 MiB", "1,486.4 MiB", "100 B"]
