# SPDX-License-Identifier: Apache-2.0
"""What a whole `--long` run stores, and when it does not."""

from collections import Counter
from pathlib import Path

import pytest
from bhtool.testing import result
from bhtool.testing.cost import Cost
from bhtool.testing.selection import Selection
from bhtool.testing.tally import Tally
from bhtool.verbs import test as verb

COMMIT = "0123456789abcdef" * 2 + "01234567"
TALLY = Tally(3, ["b::y"], ["b::z: why"], costs=[Cost("a", "a::x", 2.0), Cost("b", "b::y", 1.5)])
TALLY.parts |= {"a": Counter(passed=2), "b": Counter(passed=1, failed=1, skipped=1)}


def test_it_has_its_form_and_adds_up(tmp_path: Path) -> None:
    result.store(result.result_of(TALLY, COMMIT, 10.4, 7.0, {"clang-19": "19"}), tmp_path / "results" / "long.json")
    stored = result.read(tmp_path / "results" / "long.json")
    assert not result.complaints(stored)
    assert stored["parts"]["b"] == {"passed": 1, "failed": 1, "skipped": 1, "cpu_seconds": 1.5}
    assert (stored["failed"], stored["skipped"], stored["cpu_seconds"]) == (["b::y"], ["b::z: why"], 10)


@pytest.mark.parametrize(
    "wrong", [{"schema": "other"}, {"commit": "main"}, {"passed": 4}, {"failed": 1}, {"wall_seconds": 0}], ids=lambda one: next(iter(one))
)
def test_another_form_is_complained_about(wrong: dict[str, object]) -> None:
    assert len(result.complaints(result.result_of(TALLY, COMMIT, 1, 1, {}) | wrong)) == 1


def test_only_a_whole_run_is_stored() -> None:
    assert result.is_whole("all", Selection(long=True))
    for which, selection in (("unit", Selection(long=True)), ("all", Selection()), ("all", Selection(long=True, word="x"))):
        assert not result.is_whole(which, selection)


@pytest.mark.parametrize(("before", "after"), [("", COMMIT), (COMMIT, ""), (COMMIT, COMMIT[::-1])])
def test_a_changed_tree_is_not_stored(monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    monkeypatch.setattr(result, "clean_commit", lambda: after)
    monkeypatch.setattr(result, "store", lambda *_: pytest.fail("it was stored"))
    assert "not stored" in verb.store(TALLY, before, 0.0)
