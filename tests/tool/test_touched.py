# SPDX-License-Identifier: Apache-2.0
"""Which long tests a change touches, and which of them come first."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from bhtool import paths
from bhtool.testing import change
from bhtool.testing.change import Change

from tests.mutation import test_machine_mutations
from tests.touched import BY_HEADER, BY_TEST, NEAR, Rank, headers, in_order, inputs, ranks

NEWEST = """diff --git a/monitor/monitor.h b/monitor/monitor.h
--- a/monitor/monitor.h
+++ b/monitor/monitor.h
@@ -1 +1 @@
-int a;
+int b;
"""
OLDER = """diff --git a/tests/mutation/rows_x86.py b/tests/mutation/rows_x86.py
--- a/tests/mutation/rows_x86.py
+++ b/tests/mutation/rows_x86.py
+        "a port is open",
diff --git a/hal/lock.c b/hal/lock.c
--- a/hal/lock.c
+++ /dev/null
-        "a port is shut",
"""
CHANGE = Change.of(["", NEWEST, OLDER])


def best(sources: str, tests: str = "", row: str = "") -> Rank | None:
    return min(ranks(inputs([sources], [tests] if tests else [], [row] if row else []).mark, CHANGE), default=None)


def test_a_change_is_files_and_lines_by_age() -> None:
    assert CHANGE.files == {"monitor/monitor.h": 1, "tests/mutation/rows_x86.py": 2, "hal/lock.c": 2}
    assert CHANGE.age_of_line("a port is open") == 2
    assert CHANGE.age_of_line("a port is shut") is None


def test_a_mutation_is_touched_by_its_source_row_test_and_headers() -> None:
    assert best("hal/lock.c") == (2, NEAR)
    assert best("arch/nothing.c") is None
    assert best("arch/nothing.c", "hal/lock.c") == (2, BY_TEST)
    assert best("arch/nothing.c", row="a port is open") == (2, NEAR)
    assert best("monitor/exits.c") == (1, BY_HEADER)


def test_headers_are_found_however_deep() -> None:
    direct = (paths.ROOT / "monitor" / "exits.c").read_text()
    assert '"abi/' not in direct
    assert any(name.startswith("abi/") for name in headers("monitor/exits.c"))


def test_every_mutation_of_the_machine_says_what_it_depends_on() -> None:
    for row in (*test_machine_mutations.ROWS, *test_machine_mutations.CONTROLS):
        (mark,) = (one for one in row.marks if one.name == "inputs")
        assert all((paths.ROOT / name).is_file() for kind in ("sources", "tests") for name in mark.kwargs[kind])


def test_the_most_recent_comes_first_and_a_group_is_split_by_rank() -> None:
    def item(name: str) -> pytest.Item:
        group = [pytest.mark.xdist_group("g").mark]
        found = SimpleNamespace(
            name=name, get_closest_marker=lambda _: group[0], add_marker=lambda mark, append: group.insert(0, mark.mark)
        )
        return cast(pytest.Item, _Hashable(found))

    ranked = {item("old"): (3, NEAR), item("new"): (1, BY_TEST), item("newest"): (1, NEAR)}
    ordered = in_order(ranked)
    assert [one.name for one in ordered] == ["newest", "new", "old"]
    groups = {mark.args[0] for one in ordered if (mark := one.get_closest_marker("xdist_group"))}
    assert len(groups) == 3


class _Hashable:
    """Something to be known by, whatever it is made of."""

    def __init__(self, inner: SimpleNamespace) -> None:
        self.__dict__.update(vars(inner))


def test_changes_count_from_the_stored_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x", *arguments], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str) -> str:
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "-m", name)
        return change.git("rev-parse", "HEAD").strip()

    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(change, "LONG_RESULT", tmp_path / "long-test.json")
    git("init", "-b", "main")
    commit("a.c")
    tested = commit("b.c")
    commit("c.c")
    commit("d.c")
    assert change.since_tested().files == {"d.c": 1, "c.c": 2, "b.c": 3, "a.c": 4}
    everything = {"d.c": 1, "c.c": 2, "b.c": 3, "a.c": 4}
    for stored, failed, files in ((tested, [], {"d.c": 1, "c.c": 2}), (tested, ["x"], everything), ("0" * 40, [], everything)):
        change.LONG_RESULT.write_text(json.dumps({"commit": stored, "failed": failed}))
        assert change.since_tested().files == files
    (tmp_path / "a.c").write_text("changed")
    assert change.since_tested().files["a.c"] == 0
