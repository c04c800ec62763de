# SPDX-License-Identifier: Apache-2.0
"""What the checker warns of is seen in every verb that takes a partition file, and `--strict` refuses it there."""

import importlib
import json
from pathlib import Path

import click
import pytest
from bhtool import paths
from bhtool.config.plan import Diagnostic, Plan
from bhtool.errors import Status
from bhtool.image import stages
from bhtool.overlay import facts
from bhtool.terminal.screen import Screen
from bhtool.verbs import VERBS

from tests.tool.conftest import Inside

WARNING = Diagnostic("mine.dts", 20, "BH-W020", "cpu2 belongs to nobody and stays off; give it to a sandbox")
NATIVE = paths.PARTITIONS / "native.dts"
ERROR = Diagnostic("mine.dts", 7, "BH-R020", "`uart0` is not a core of this board; use the labels of the board tree")
PARTITIONED = ("run", "check", "image", "oracle", "size", "overlay", "headers", "debug", "trace")


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan with a warning, whatever is compiled; nothing is built."""
    plan = Plan("qemu-aarch64", Path("mine.dts"), table=b"there is one", warnings=[WARNING])
    monkeypatch.setattr(stages, "make_plan", lambda *_: plan)
    monkeypatch.setattr(facts, "survey_partition", lambda *_: (plan, None))
    return plan


def arguments_of(verb: str, folder: Path) -> list[str]:
    """Such that the verb gets as far as the partition file."""
    platform = ["--platform", "qemu-aarch64"]
    own = {
        "check": ["mine.dts"],
        "image": ["-o", str(folder / "image")],
        "overlay": [str(NATIVE), "north", "--for", "zephyr"],
        "headers": [str(NATIVE)],
        "debug": ["north"],
        "trace": ["-o", str(folder / "trace")],
    }.get(verb, [])
    return [verb, *own, *platform]


def command_of(verb: str) -> click.Command:
    found = getattr(importlib.import_module(f"bhtool.verbs.{verb}"), verb)
    assert isinstance(found, click.Command)
    return found


def test_whoever_takes_a_partition_file_can_be_strict() -> None:
    takers = [verb for verb in VERBS if any(one.name == "partition" for one in command_of(verb).params)]
    assert set(takers) == set(PARTITIONED)
    for verb in takers:
        assert any(one.name == "strict" for one in command_of(verb).params), verb


@pytest.mark.parametrize("verb", PARTITIONED)
def test_strict_refuses_what_is_warned_of(
    verb: str, warned: Plan, inside: Inside, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert inside(*arguments_of(verb, tmp_path), "--strict") == Status.FAILED
    assert capsys.readouterr().err.count(str(WARNING)) == 1


@pytest.mark.parametrize("verb", PARTITIONED)
def test_warnings_are_seen_beside_errors(
    verb: str, warned: Plan, inside: Inside, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warned.errors.append(ERROR)
    assert inside(*arguments_of(verb, tmp_path)) == Status.FAILED
    said = capsys.readouterr().err.splitlines()
    assert said.count(str(WARNING)) == said.count(str(ERROR)) == 1


def test_a_warning_refuses_nothing_by_itself(warned: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    for _ in range(2):  # several machines, one file
        assert stages.judged_plan(warned, Path("mine.dts"), screen).valid  # type: ignore[arg-type]
    assert capsys.readouterr().err == f"{WARNING}\n"
    assert stages.warnings_json(warned) == {"warnings": [vars(WARNING)]}


@pytest.mark.parametrize(("rule", "is_refused"), [("BH-W060", False), ("BH-W152", False), ("BH-W170", True)])
def test_strict_refuses_what_can_be_mended_in_the_file(rule: str, is_refused: bool, warned: Plan) -> None:
    warned.warnings[:] = [Diagnostic("mine.dts", 20, rule, "whatever")]
    stages.show_warnings(warned, Screen(), strict=True)
    assert [one.rule for one in warned.errors] == [rule] * is_refused
    assert [one.rule for one in warned.warnings] == [rule] * (not is_refused)


def test_strict_in_json(warned: Plan, inside: Inside, tmp_path: Path) -> None:
    file = tmp_path / "check.json"
    assert inside("check", "mine.dts", "--strict", "--json", str(file)) == Status.FAILED
    found = json.loads(file.read_text())
    assert (found["valid"], found["errors"], found["warnings"]) == (False, [vars(WARNING)], [])
