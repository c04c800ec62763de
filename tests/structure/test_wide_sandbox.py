# SPDX-License-Identifier: Apache-2.0
"""BH-F2.cores. A sandbox of sixteen cores, the most that there may be, on boards of 32: they start, stop, send each other interrupts and begin
again as those of a small one do, a kick comes through, and none of them has an exit while it only runs.
"""

import json
import re
from pathlib import Path

import pytest

from tests.structure.test_dry_run import CORES, Tree, add_board

BOARDS = {"qemu-aarch64": "wide-aarch64", "qemu-svm": "wide-svm"}
WIDE = 16
OTHERS = range(1, WIDE)
KICKS = 50
TWO_GROUPS = range(1, WIDE + 1)  # of sixteen cores each, as an SGI's list and a logical APIC ID name them; in both cases cores of both
ONE_GROUP = range(WIDE, CORES)


@pytest.fixture(scope="module", params=BOARDS)
def board(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tree, str]:
    tree, model = Tree(tmp_path_factory.mktemp("wide") / "tree"), str(request.param)
    add_board(tree, model, BOARDS[model])
    return tree, BOARDS[model]


def partition(cores: range, wide: str, small: str) -> str:
    """`small` has core 0, and may kick `wide` if it is to: on ARM who may be kicked sleeps in its monitor."""
    listed = {one: ", ".join(f"<&cpu{core}>" for core in range(CORES) if (core in cores) == one and core) for one in (True, False)}
    kick = "may-kick = <&wide>;" if "kick" in small else ""
    about = 'compatible = "bulkhead,sandbox-v1"; image = "probe.elf"; console = "log";'
    return f"""/dts-v1/;
#include BOARD_DTSI
/ {{
    reserved-memory {{
        #address-cells = <2>; #size-cells = <2>; ranges;
        small_ram: small {{ size = <0 0x1000000>; }};
        wide_ram: wide {{ size = <0 0x1000000>; }};
    }};
    domains {{
        compatible = "bulkhead,partitions-v1";
        idle-cores = {listed[False]};
        small: small {{ {about} cores = <&cpu0>; memory-region = <&small_ram>; {kick} bootargs = "{small}"; }};
        wide: wide {{ {about} cores = {listed[True]}; memory-region = <&wide_ram>; bootargs = "{wide}";
            health {{ on-fault = "restart"; max-restarts = <1>; then = "park"; }};
        }};
    }};
}};
"""


def run(board: tuple[Tree, str], cores: range, wide: str = "", small: str = "") -> tuple[str, dict[str, dict[str, object]]]:
    """What it said, and what is known of each sandbox."""
    tree, name = board
    source: Path = tree.root / "build" / "wide.dts"
    source.parent.mkdir(exist_ok=True)
    source.write_text(partition(cores, wide, small))
    words = ("--platform", name, "--partition", source, "--seconds", "2", "--json", "build/run.json", "--log", "build/run.log")
    done = tree.tool("run", *words, seconds=900)
    found = json.loads((tree.root / "build" / "run.json").read_text())["sandboxes"]
    assert [one["state"] for one in found] == ["ready"] * 2, done.stdout
    return (tree.root / "build" / "run.log").read_text(), {one["name"]: one for one in found}


@pytest.mark.long
def test_interrupts_and_kicks(board: tuple[Tree, str]) -> None:
    """Each core takes what the first sends, an exit each at the sender; kicks reach the first core."""
    said, found = run(board, TWO_GROUPS, " ".join(f"ipi={core},3" for core in OTHERS), f"ticks=100 kick=1,{KICKS}")
    assert {int(core) for core in re.findall(r"ipis 3 of 3 to core (\d+)$", said, re.MULTILINE)} == set(OTHERS), said
    assert f"kicked {KICKS} of {KICKS}" in said, said
    cores = found["wide"]["cores"]
    assert isinstance(cores, list)
    assert [one["exits_steady"].get("ipi", 0) for one in cores] == [3 * len(OTHERS)] + [0] * len(OTHERS)
    assert [one["kicks"] for one in cores] == [KICKS] + [0] * len(OTHERS)


@pytest.mark.long
def test_starts_stops_and_lives(board: tuple[Tree, str]) -> None:
    """Each core but the first goes off and on again, and then all of it begins again, twice."""
    said, found = run(board, ONE_GROUP, " ".join(("life", *(f"cycle={core},1" for core in OTHERS), "reboot=2")))
    cycled = re.findall(r"cycles 1 of 1 of core (\d+)$", said, re.MULTILINE)
    assert {core: cycled.count(str(core)) for core in OTHERS} == dict.fromkeys(OTHERS, 3), said
    assert "did not start" not in said
    assert found["wide"]["restarts"] == 2


@pytest.mark.long
def test_no_exits(board: tuple[Tree, str]) -> None:
    """Every core has its timer's interrupts, a thousand a second, for the whole run, and none exits; they are counted after a tenth of a second."""
    said, found = run(board, ONE_GROUP, "ticks=1000 cores")
    ticks = {int(core): int(count) for core, count in re.findall(r"core (\d+) on, (\d+) ticks", said)}
    assert all(ticks[core] > 50 for core in OTHERS), said
    steady = found["wide"]["exits_steady"]
    assert isinstance(steady, dict)
    assert steady
    assert not any(steady.values()), steady
