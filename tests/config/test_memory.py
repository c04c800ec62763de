# SPDX-License-Identifier: Apache-2.0
"""What a machine gives up for its sandboxes: `check` adds it up."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.abi import lib
from bhtool.config import Plan
from bhtool.paths import PARTITIONS
from bhtool.platforms import every
from bhtool.verbs.check import machine_memory, memory_of

Compile = Callable[[Path, str], Plan]
PLATFORMS = [platform.name for platform in every()]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_is_given_up_is_what_no_sandbox_has(compile_on: Compile, platform: str) -> None:
    plan = compile_on(PARTITIONS / "restart.dts", platform)
    held = {one.what: one.size for one in plan.holdings}
    for one in plan.sandboxes:
        cost = memory_of(one)
        assert cost["monitor_bytes"] == held[f"monitor of `{one.name}`"]
        assert cost["given_up_bytes"] - cost["monitor_bytes"] == (one.pristine_size if one.restarts else 0)
        assert cost["table_bytes"] + cost["log_bytes"] < cost["monitor_bytes"]
    assert any(memory_of(one)["copy_bytes"] for one in plan.sandboxes)
    assert machine_memory(plan)["kick boxes"] == lib.BH_PAGE_BYTES


MOST = {"arm": 80, "pc": 112}  # KiB, the log apart, of a sandbox of one core; with a line a PC's monitor maps the I/O APIC
FURTHER = {"arm": 4, "pc": 16}  # KiB
PCS = ("qemu-svm", "bochs-vtx")


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
        assert memory_of(each)["monitor_bytes"] - memory_of(each)["log_bytes"] <= MOST[kind] << 10
    assert memory_of(two)["monitor_bytes"] - memory_of(one)["monitor_bytes"] == memory_of(one)["core_bytes"] == FURTHER[kind] << 10
