# SPDX-License-Identifier: Apache-2.0
"""Which tests `bulkhead test` runs, and what it says of their cost."""

import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from bhtool.errors import BulkheadError
from bhtool.testing import cost
from bhtool.testing.selection import SHARES, TOUCHED_SECONDS, WHOLE_SECONDS, Selection, has_time, of_touched, share_of
from bhtool.testing.steps import pytest_options
from bhtool.testing.tally import LEFT, Tally
from bhtool.verbs.test import describe, select

from tests import conftest

LONG_NAMES = [f"test_long[{n}]" for n in range(1000)]
MARKS = {"test_plain": "", "test_slow": "slow", **dict.fromkeys(LONG_NAMES, "long")}


def chosen(**options: object) -> list[str]:
    """Which of these tests run."""
    config = cast(pytest.Config, SimpleNamespace(getoption=lambda name: options.get(name.lstrip("-"))))
    found = []
    for name, mark in MARKS.items():
        item = SimpleNamespace(nodeid=name, callspec=None, get_closest_marker=lambda asked, mark=mark: asked == mark or None)
        if conftest.is_chosen(config, cast(pytest.Item, item)):
            found.append(name)
    return found


def test_three_sets() -> None:
    assert chosen(quick=True) == ["test_plain"]
    assert chosen() == ["test_plain", "test_slow"]
    assert chosen(long=True) == list(MARKS)


def test_shares_are_disjoint_and_leave_nothing_out() -> None:
    shares = [chosen(share=share) for share in range(SHARES)]
    assert all(len(share) > 50 and share[:2] == ["test_plain", "test_slow"] for share in shares)
    assert sorted(name for share in shares for name in share[2:]) == sorted(LONG_NAMES)


def test_a_share_is_named_and_handed_down() -> None:
    selection = select(False, False, "7", None, "kick")
    assert describe(selection) == "long tests: share 7 of 10; all: --long"
    assert pytest_options(selection, 1) == ["--share=7", "-k", "kick"]
    auto = select(False, False, "auto", None, None).share
    assert auto is not None
    assert 0 <= auto < SHARES


def test_a_touched_test_of_the_share_does_not_run_twice() -> None:
    assert sorted(chosen(touched=True, share=3) + chosen(share=3)[2:]) == sorted(LONG_NAMES)
    assert "--touched" in pytest_options(of_touched(Selection(share=3), 0), 1)


def test_a_group_of_workers_changes_no_share() -> None:
    assert [share_of(f"{name}@group") for name in LONG_NAMES] == [share_of(name) for name in LONG_NAMES]


def test_a_change_has_the_time_that_the_rest_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    for so_far, left in ((0, TOUCHED_SECONDS), (WHOLE_SECONDS - 100, 100), (WHOLE_SECONDS + 50, -50)):
        touched = of_touched(Selection(share=3), so_far)
        assert touched.touched_until == 1000 + left
        assert has_time(touched) == (left > 0)


def test_what_is_left_is_neither_passed_nor_skipped(tmp_path: Path) -> None:
    suite = ET.Element("testsuite")
    for name, why in (("a", LEFT), ("b", "no emulator")):
        ET.SubElement(ET.SubElement(suite, "testcase", name=name), "skipped", message=why)
    ET.ElementTree(suite).write(tmp_path / "junit.xml")
    tally = Tally()
    tally.add_junit(tmp_path / "junit.xml")
    assert (tally.passed, tally.left, tally.skipped) == (0, ["a"], ["b: no emulator"])


def test_nothing_is_started_that_may_not_end_in_time() -> None:
    """As long as the longest so far: so long a test may take."""

    def begin(left: float, longest: float | None = None) -> None:
        stash = pytest.Stash()
        if longest is not None:
            stash[conftest.LONGEST] = longest
        item = SimpleNamespace(config=SimpleNamespace(getoption=lambda _: time.time() + left, stash=stash))
        conftest.pytest_runtest_setup(cast(pytest.Item, item))

    begin(60)
    begin(60, longest=50)
    for left, longest in ((-1, None), (5, None), (60, 70)):
        with pytest.raises(pytest.skip.Exception, match=LEFT):
            begin(left, longest)


def test_sets_exclude_each_other() -> None:
    with pytest.raises(BulkheadError, match="exclude each other"):
        select(True, True, None, None, None)
    assert describe(Selection(long=True)) == "long tests: all"


def test_cost_is_of_a_test_and_all_it_started(tmp_path: Path) -> None:
    before = cost.used_so_far()
    burn = [sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass\ninput()"]
    with subprocess.Popen(burn, stdin=subprocess.PIPE) as child:
        while cost.used_so_far() - before < 0.3:
            pass
        child.communicate(b"\n")
    assert cost.used_so_far() - before >= 0.3


def test_cost_is_reported_by_part(tmp_path: Path) -> None:
    suite = ET.Element("testsuite")
    for part, seconds in (("tests.a", 1.0), ("tests.b", 5.0), ("tests.a", 2.5)):
        properties = ET.SubElement(ET.SubElement(suite, "testcase", classname=part, name="x"), "properties")
        ET.SubElement(properties, "property", name=cost.PROPERTY, value=str(seconds))
    ET.ElementTree(suite).write(tmp_path / "junit.xml")
    tally = Tally()
    tally.add_junit(tmp_path / "junit.xml")
    assert cost.by_part(tally.costs) == {"tests.b": (1, 5.0), "tests.a": (2, 3.5)}
    lines = cost.report(tally.costs, 10.0)
    assert lines[0] == "CPU-seconds: 10"
    assert [line.split()[0] for line in lines[1:4]] == ["5.0", "3.5", "1.5"]
