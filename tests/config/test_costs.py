# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler. What admission counts switches and top halves with: what the platform says, no less than what was measured there, in the kernel too."""

import json
import re
import tomllib
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from bhtool import abi, paths
from bhtool.abi import lib
from bhtool.config.compile import compile_partition
from bhtool.config.machine import Costs
from bhtool.errors import BulkheadError
from bhtool.platforms import MOST_COST_NS, Platform, from_toml, load, names

from tests.config.software import Files

GOOD = Path(__file__).parent / "broken" / "good.dtsi"
IPS = re.compile(r"\bips=(\d+)")


def ns_each(platform: Platform) -> int:
    """What an instruction takes in the emulator, by the clock of its guests."""
    if platform.emulator.kind == "qemu":
        return 1 << platform.emulator.icount_shift
    (ips,) = {int(found[1]) for one in platform.emulator.arguments if (found := IPS.search(one))}
    return 1_000_000_000 // ips


def measured(arch: str) -> dict[str, int]:
    """The greatest stored figure of an architecture, in instructions."""
    rows = [
        row
        for file in paths.ROOT.glob("docs/results/sched-*.json")
        if load((found := json.loads(file.read_text()))["platform"]).arch == arch
        for row in found["rows"]
        if row["unit"] == "instructions"
    ]
    return {name: max(row["max"] for row in rows if row["name"] == name) for name in {row["name"] for row in rows}}


MEASURED = [name for name in names() if measured(load(name).arch)]


@pytest.mark.parametrize("name", MEASURED)
def test_no_less_than_was_measured(name: str) -> None:
    """And no less for a reason that admission.md has: a time-out's interrupt, with an early one of the timer after it, is within a switch."""
    platform = load(name)
    most, each = measured(platform.arch), ns_each(platform)
    switch = max(most["budget-end"], most["refill"])
    assert platform.switch_ns >= switch * each
    assert platform.switch_ns >= 2 * (most["expiry-busy"] - most["yield"]) * each
    assert platform.top_half_ns >= 2 * most["expiry-busy"] * each


@pytest.mark.parametrize("name", MEASURED)
def test_not_much_more_than_was_measured(name: str) -> None:
    """A quarter, and what rounding to a microsecond adds: who measures less finds a smaller value to write."""
    platform = load(name)
    most, each = measured(platform.arch), ns_each(platform)

    def with_a_quarter(instructions: int) -> int:
        return ceil(instructions * each * 5 / 4 / 1000) * 1000

    assert platform.switch_ns <= with_a_quarter(max(most["budget-end"], most["refill"]))
    assert platform.top_half_ns <= with_a_quarter(2 * most["expiry-busy"])


# ---- How they are told --------------------------------------------------------------------------------------------------------------


def tree_with(scheduler: dict[str, Any]) -> dict[str, Any]:
    tree = tomllib.loads((paths.PLATFORMS / "qemu-aarch64" / "platform.toml").read_text())
    return {**tree, "scheduler": scheduler}


def test_a_platform_may_say_nothing() -> None:
    tree = tree_with({})
    del tree["scheduler"]
    assert (from_toml("p", tree).switch_ns, from_toml("p", tree).top_half_ns) == (0, 0)
    assert (Costs().switch, Costs().top_half) == (lib.BH_VCPU_SWITCH_NS, lib.BH_VCPU_TOP_HALF_NS)
    one = from_toml("p", tree_with({"top_half_ns": 65_535}))
    assert (one.switch_ns, one.top_half_ns) == (0, 65_535)
    assert (Costs(0, 65_535).switch, Costs(0, 65_535).top_half) == (lib.BH_VCPU_SWITCH_NS, 65_535)


@pytest.mark.parametrize("cost", [-1, MOST_COST_NS + 1, "11 us", 11.5, True])
@pytest.mark.parametrize("name", ["switch_ns", "top_half_ns"])
def test_what_the_page_cannot_say_is_refused(name: str, cost: object) -> None:
    info = abi.new("bh_info")
    setattr(info, name, MOST_COST_NS)  # it has room for so much
    with pytest.raises(BulkheadError, match=rf"{name} in \[scheduler\] is {cost}; write nanoseconds, 65,535 at most"):
        from_toml("p", tree_with({name: cost}))


@pytest.mark.parametrize("name", ["qemu-aarch64", "qemu-armv7", "qemu-svm", "bochs-vtx"])
def test_the_kernel_is_told(name: str, files: Callable[[str], Files], tmp_path: Path) -> None:
    file = tmp_path / "f.dts"
    file.write_text(f'#include "{GOOD}"\n')
    platform = load(name)
    plan = compile_partition(file, platform, files(platform.arch))
    assert plan.errors == []
    for one in plan.sandboxes:
        page = next(piece.data for piece in plan.segments if piece.hpa == one.pool_hpa + lib.BH_POOL_INFO)
        info = abi.view("bh_info", page)
        assert (info.switch_ns, info.top_half_ns) == (platform.switch_ns, platform.top_half_ns)
        assert info.switch_ns > 0 < info.top_half_ns
