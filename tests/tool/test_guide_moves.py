# SPDX-License-Identifier: Apache-2.0
"""docs/guides/move-a-core-or-a-device.md: each step gives the message that the page shows."""

from pathlib import Path

import pytest
from bhtool import paths
from bhtool.config.plan import Plan
from bhtool.image.stages import make_plan
from bhtool.platforms import load

GUIDE = (paths.ROOT / "docs" / "guides" / "move-a-core-or-a-device.md").read_text(encoding="utf-8")
EXAMPLE = (paths.ROOT / "examples" / "robot.dts").read_text(encoding="utf-8")
TO_PLANNER = ("cores = <&cpu0>;", "cores = <&cpu0>, <&cpu3>;")
NOT_IDLE = ("\t\tidle-cores = <&cpu3>;\n", "")
TO_SAFETY = ("\t\t\tmemory-region = <&safety_ram>;\n", "\t\t\tmemory-region = <&safety_ram>;\n\t\t\taccess = <&uart1>;\n")
FROM_CONTROL = ("\t\t\taccess = <&uart1>; /* the line to the motors */\n", "")
SILENT = ("console = <&uart1>;", 'console = "log";')


def plan_of(folder: Path, *changes: tuple[str, str]) -> Plan:
    text = EXAMPLE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / "mine.dts").write_text(text)
    return make_plan(load("qemu-aarch64"), folder / "mine.dts", lambda _: None, provides=False)


@pytest.mark.parametrize(
    "changes",
    [(TO_PLANNER,), (TO_PLANNER, NOT_IDLE, TO_SAFETY), (TO_PLANNER, NOT_IDLE, TO_SAFETY, FROM_CONTROL)],
    ids=["core", "both", "console"],
)
def test_what_was_forgotten_is_said_as_the_page_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: tuple[tuple[str, str], ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (error,) = plan_of(tmp_path, *changes).errors
    assert str(error) in GUIDE.splitlines(), "lines of the file, too"


def test_in_the_end_all_is_moved(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TO_PLANNER, NOT_IDLE, TO_SAFETY, FROM_CONTROL, SILENT)
    assert plan.errors == []
    assert {one.name: (one.cores, [line.name for line in one.lines]) for one in plan.sandboxes} == {
        "control": ([1], []),
        "safety": ([2], ["uart1"]),
        "planner": ([0, 3], ["uart0"]),
    }
