# SPDX-License-Identifier: Apache-2.0
"""Requirements and results, joined: what a test that passed, failed, was skipped or did not run comes to, on each platform that a requirement names."""

import json
import os
import re
import shlex
import threading
import time
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.cli import loaded
from bhtool.errors import BulkheadError, Status
from bhtool.evidence import results as kept
from bhtool.evidence.claims import Claim, ids_of_source, read, write
from bhtool.evidence.join import Shown, evidence_json, join, row_of, summary
from bhtool.evidence.page import report
from bhtool.evidence.requirements import Catalogue, Requirement, load
from bhtool.evidence.results import Outcome, Result, Results
from bhtool.evidence.static import complaints
from bhtool.testing import result
from bhtool.testing.selection import Selection
from bhtool.testing.steps import SHOWN
from bhtool.testing.tally import Tally
from bhtool.verbs import EXAMPLES
from bhtool.verbs import evidence as verb
from bhtool.verbs import test as test_verb

from tests.mutation.host_programs import PROGRAMS

COMMIT = "0123456789abcdef" * 2 + "01234567"
TWO = Requirement("BH-I1.two", "Two machines hold it.", "BH-I1", platforms=("here", "there"))
HERE, THERE = Claim("tests/emulated/a.py::here", (TWO.id,), "here"), Claim("tests/emulated/a.py::there", (TWO.id,), "there")
LONG = Claim("tests/mutation/b.py::long", (TWO.id,), "here", long=True)
READ = Requirement("BH-P1.read", "Somebody counted.", "BH-P1", "analysis", document="benchmarks.md")
CATALOGUE = Catalogue({"BH-I1": "Separation.", "BH-P1": "Figures."}, {TWO.id: TWO, READ.id: READ})


def ran(**outcomes: Outcome) -> Results:
    names = {"here": HERE, "there": THERE, "long": LONG}
    return Results(COMMIT, {names[name].test: Result(names[name].test, outcome, 0.5) for name, outcome in outcomes.items()})


@pytest.mark.parametrize(
    ("results", "state", "places"),
    [
        (ran(here="passed", there="passed"), "proven", {"here": "proven", "there": "proven"}),
        (ran(here="passed"), "missing", {"here": "proven", "there": "missing"}),
        (ran(here="passed", there="skipped"), "missing", {"here": "proven", "there": "missing"}),
        (ran(here="passed", there="failed"), "failed", {"here": "proven", "there": "failed"}),
        (ran(), "missing", {"here": "missing", "there": "missing"}),
        (ran(here="passed", there="passed", long="failed"), "failed", {"here": "failed", "there": "proven"}),
    ],
    ids=["all-passed", "one-did-not-run", "one-was-skipped", "one-failed", "none-ran", "a-long-one-failed"],
)
def test_what_results_come_to(results: Results, state: str, places: dict[str, str]) -> None:
    row = row_of(TWO, [HERE, THERE, LONG], results, with_long=False)
    assert row.state == state
    assert {place: tests.state for place, tests in row.places.items()} == places


def test_a_long_test_that_did_not_run_is_left_or_missing() -> None:
    results = ran(here="passed", there="passed")
    row = row_of(TWO, [HERE, THERE, LONG], results, with_long=False)
    assert (row.state, row.left, row.count("missing")) == ("proven", 1, 0)
    row = row_of(TWO, [HERE, THERE, LONG], results, with_long=True)
    assert (row.state, row.left, row.count("missing")) == ("missing", 0, 1)
    assert row_of(TWO, [HERE, THERE, LONG], ran(here="passed", there="passed", long="passed"), with_long=True).state == "proven"


@pytest.mark.parametrize("with_long", [False, True])
def test_a_long_test_that_was_skipped_is_missing(with_long: bool) -> None:
    row = row_of(TWO, [HERE, THERE, LONG], ran(here="passed", there="passed", long="skipped"), with_long)
    assert (row.state, row.left, row.count("missing")) == ("missing", 0, 1)


def test_with_long_what_is_missing_where_it_need_not_be_shown_is_missing() -> None:
    elsewhere = Claim("tests/mutation/b.py::elsewhere", (TWO.id,), "elsewhere", long=True)
    states = [row_of(TWO, [HERE, THERE, elsewhere], ran(here="passed", there="passed"), with_long).state for with_long in (False, True)]
    assert states == ["proven", "missing"]


OF_LONG = replace(TWO, platforms=("here",), long=True)
LONG_TOO = replace(LONG, test="tests/mutation/b.py::too")


@pytest.mark.parametrize(
    ("passed", "with_long", "state"),
    [
        ([], False, "left"),
        ([LONG], False, "left"),
        ([LONG, LONG_TOO], False, "proven"),
        ([LONG], True, "missing"),
        ([LONG, LONG_TOO], True, "proven"),
    ],
    ids=["none-ran", "one-ran", "both-ran", "one-ran-with-long", "both-ran-with-long"],
)
def test_what_long_tests_alone_show_is_left_until_all_ran(passed: list[Claim], with_long: bool, state: str) -> None:
    results = Results(COMMIT, {claim.test: Result(claim.test, "passed", 0) for claim in passed})
    row = row_of(OF_LONG, [LONG, LONG_TOO], results, with_long)
    assert row.state == state
    assert ("1 left to --long" in summary([row])) == (state == "left")


def test_only_mutations_show_that_mutations_are_caught() -> None:
    shown = load().requirements["BH-E1.mutations"]
    assert (shown.tests, shown.long) == ((), True)
    assert set(shown.platforms) == {"host", "qemu-svm", "bochs-vtx", "qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7"}


def test_what_is_left_to_long_tests_has_no_others() -> None:
    catalogue = Catalogue({"BH-I1": "Separation."}, {OF_LONG.id: OF_LONG})
    assert not complaints(catalogue, [LONG])
    assert complaints(catalogue, [LONG, HERE]) == [f"{OF_LONG.id}: tests that are not long show it, too: it is not `long`"]


def test_no_test_at_all_proves_nothing() -> None:
    assert row_of(TWO, [HERE], ran(here="passed"), with_long=True).state == "missing"


def test_a_test_of_the_compiler_is_none_of_the_machine() -> None:
    compiled = Claim("tests/config/c.py::there", (TWO.id,), "there")
    assert compiled.place == "host"
    assert row_of(TWO, [HERE, compiled], Results(COMMIT, {**ran(here="passed").tests}), with_long=False).state == "missing"


def test_a_requirement_may_name_its_tests() -> None:
    naming = Requirement("BH-F3.named", "It works.", "BH-F3", tests=("tests/tool/test_[ab].py::*",))
    claims = [Claim(f"tests/tool/test_{name}.py::test", ()) for name in "abc"]
    results = Results(COMMIT, {claim.test: Result(claim.test, "passed", 0) for claim in claims[:2]})
    assert row_of(naming, claims, results, with_long=False).places["host"].passed == (claims[0].test, claims[1].test)


def test_what_is_said_of_all() -> None:
    rows = join(CATALOGUE, [HERE, THERE, LONG], ran(here="passed", there="passed"))
    assert [row.state for row in rows] == ["proven", "analysis"]
    assert summary(rows) == "requirements: 1 proven, 1 by analysis, 0 missing (without long tests that did not run)"
    rows = join(CATALOGUE, [HERE, THERE], ran(here="failed"))
    assert summary(rows) == "requirements: 0 proven, 1 by analysis, 1 failed, 0 missing"
    page = report(CATALOGUE, rows, COMMIT)
    assert "| BH-I1.two | Two machines hold it. | failed | here: **failed**, there: **missing** |" in page
    assert "| BH-P1.read | Somebody counted. | analysis | [benchmarks.md](benchmarks.md) |" in page


def test_the_json_names_what_is_missing() -> None:
    rows = join(CATALOGUE, [HERE, THERE], ran(here="passed"))
    found = evidence_json(rows, COMMIT, False, [])
    assert found["counts"] == {"proven": 0, "analysis": 1, "review": 0, "left": 0, "missing": 1, "failed": 0}
    two, read_one = found["requirements"]
    assert two["places"]["there"] == {"state": "missing", "passed": 0, "missing": [THERE.test], "failed": [], "left_to_long": 0}
    assert (read_one["document"], read_one["platforms"]) == ("benchmarks.md", [])


# ---- Results that are kept ---------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "results")
    return tmp_path / "results"


def one(outcome: Outcome) -> Result:
    return Result(HERE.test, outcome, 1.0, "here")


def test_results_of_a_commit_come_together_and_the_worst_stays(folder: Path) -> None:
    kept.store(COMMIT, [one("skipped"), Result(THERE.test, "passed", 2.0)])
    assert kept.store(COMMIT, [one("failed")]).tests[HERE.test].outcome == "failed"
    assert kept.store(COMMIT, [one("passed")]).tests[HERE.test].outcome == "failed"
    known = kept.of_commit(COMMIT)
    assert known.tests == {HERE.test: one("failed"), THERE.test: Result(THERE.test, "passed", 2.0)}
    assert not kept.of_commit(COMMIT[::-1]).tests
    stored = json.loads((folder / f"{COMMIT}.json").read_text())
    assert (stored["schema"], stored["commit"]) == ("bulkhead/results-v1", COMMIT)
    assert stored["tests"][0] == {"test": HERE.test, "outcome": "failed", "seconds": 1.0, "platform": "here"}


@pytest.mark.parametrize(
    "text", ["", "{}", '{"schema": "bulkhead/run-v1"}', '{"schema": "bulkhead/results-v1", "commit": "x", "tests": [{}]}']
)
def test_a_file_without_results_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "wrong.json").write_text(text)
    with pytest.raises(BulkheadError, match="take the file of `tools/bulkhead test`"):
        kept.read(tmp_path / "wrong.json")


def test_an_unknown_outcome_is_refused(tmp_path: Path) -> None:
    rows = [{"test": HERE.test, "outcome": "xfailed", "seconds": 1.0}]
    (tmp_path / "wrong.json").write_text(json.dumps({"schema": "bulkhead/results-v1", "commit": COMMIT, "tests": rows}))
    with pytest.raises(BulkheadError, match=f"{HERE.test} is said to be xfailed; a test is skipped, passed, failed: take the file"):
        kept.read(tmp_path / "wrong.json")


@pytest.mark.parametrize("outcomes", [("failed", "passed"), ("passed", "failed")])
def test_of_two_rows_of_a_test_the_worst_counts(tmp_path: Path, outcomes: tuple[Outcome, ...]) -> None:
    rows = [{"test": HERE.test, "outcome": outcome, "seconds": 1.0} for outcome in outcomes]
    (tmp_path / "twice.json").write_text(json.dumps({"schema": "bulkhead/results-v1", "commit": COMMIT, "tests": rows}))
    assert kept.read(tmp_path / "twice.json").tests[HERE.test].outcome == "failed"


def test_runs_that_end_at_once_lose_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reads what is known, dawdles, and writes: without a lock the last one would undo the others."""
    of_commit = kept.of_commit

    def dawdle(commit: str) -> Results:
        known = of_commit(commit)
        time.sleep(0.05)
        return known

    monkeypatch.setattr(kept, "of_commit", dawdle)
    names = [f"tests/tool/test_{n}.py::test" for n in range(4)]
    runs = [threading.Thread(target=kept.store, args=(COMMIT, [Result(name, "passed", 0)])) for name in names]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert sorted(of_commit(COMMIT).tests) == names


def test_a_run_that_ends_while_it_writes_spoils_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.store(COMMIT, [one("passed")])

    def half(file: Path, _: object) -> None:
        file.write_text('{"schema":')
        raise OSError("no space left on device")

    monkeypatch.setattr(kept, "write_document", half)
    with pytest.raises(OSError, match="no space"):
        kept.store(COMMIT, [one("failed")])
    assert kept.of_commit(COMMIT).tests == {HERE.test: one("passed")}


CRASHED = """<testcase classname="tests.emulated.a" name="{name}" time="0"><failure message="worker 'gw1' crashed"/></testcase>"""
JUNIT = """<testsuites><testsuite><testcase classname="tests.emulated.a" name="here@group" time="1.5">
 <properties><property name="test" value="tests/emulated/a.py::here"/><property name="platform" value="here"/></properties><failure/></testcase>
</testsuite></testsuites>"""


def test_a_run_names_tests_as_their_claims_do(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").write_text(JUNIT)
    tally = Tally()
    tally.add_junit(tmp_path / "junit.xml")
    assert tally.results == [Result("tests/emulated/a.py::here", "failed", 1.5, "here")]


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("here", "here"),
        ("here@mutations-qemu-svm-hal/x.c", "here"),
        ("here[a / b@c]", "here[a / b@c]"),
        ("here[a@b]@group", "here[a@b]"),
    ],
    ids=["plain", "grouped", "with-parameters", "both"],
)
def test_what_crashed_a_worker_failed_by_its_own_name(tmp_path: Path, name: str, test: str) -> None:
    """xdist reports it without properties."""
    (tmp_path / "junit.xml").write_text(f"<testsuites><testsuite>{CRASHED.format(name=name)}</testsuite></testsuites>")
    tally = Tally()
    tally.add_junit(tmp_path / "junit.xml")
    assert tally.results == [Result(f"tests/emulated/a.py::{test}", "failed", 0.0)]


MESON: list[tuple[str, Outcome]] = [
    ("OK", "passed"),
    ("SKIP", "skipped"),
    ("FAIL", "failed"),
    ("ERROR", "failed"),
    ("TIMEOUT", "failed"),
    ("INTERRUPT", "failed"),
    ("UNEXPECTEDPASS", "failed"),
    ("EXPECTEDFAIL", "failed"),
]


@pytest.mark.parametrize(("said", "outcome"), MESON, ids=[said for said, _ in MESON])
def test_what_meson_says_of_a_test_in_c(tmp_path: Path, said: str, outcome: Outcome) -> None:
    rows = [{"name": "bulkhead / arena", "result": "OK", "duration": 0.25}]
    rows.append({"name": "bulkhead:slow / table model", "result": said, "duration": 30.0, "stdout": "\x1b[1mmaps", "stderr": "\x00"})
    (tmp_path / "testlog.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    tally = Tally()
    tally.add_meson(tmp_path / "testlog.json")
    tally.add_meson(tmp_path / "absent.json")
    assert tally.results == [Result("tests/meson.build::arena", "passed", 0.25), Result("tests/meson.build::table model", outcome, 30.0)]
    assert (len(tally.failed), len(tally.skipped), tally.passed) == (outcome == "failed", outcome == "skipped", 1 + (outcome == "passed"))
    tally.write_junit(tmp_path / "junit.xml")
    case = ET.parse(tmp_path / "junit.xml").getroot().findall(".//testcase")[1]
    assert (case.get("classname"), case.find("failure") is not None) == ("bulkhead", outcome == "failed")


@pytest.mark.parametrize("now", ["", COMMIT[::-1]], ids=["changed", "another-commit"])
def test_what_no_commit_is_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch, now: str) -> None:
    monkeypatch.setattr(result, "clean_commit", lambda: now)
    assert test_verb.keep(Tally(results=[one("passed")]), COMMIT, "all") == ["how tests went is not kept: the sources are no commit"]
    assert not folder.exists()


def test_a_run_of_everything_says_what_it_does_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself, whatever is known of the commit. A long test that is not of its share is none that did not run."""
    monkeypatch.setattr(test_verb, "load_requirements", lambda: CATALOGUE)
    monkeypatch.setattr(test_verb, "CLAIMS", tmp_path / "claims.json")
    monkeypatch.setattr("bhtool.evidence.claims.in_c", list)
    write(tmp_path / "claims.json", [HERE, THERE, LONG])

    def said(selection: Selection, **outcomes: Outcome) -> list[str]:
        return test_verb.not_shown(Tally(results=list(ran(**outcomes).tests.values())), selection)

    share = Selection(share=3)
    assert not said(share, here="passed", there="passed")
    assert said(share, here="passed") == [f"{TWO.id} is not shown on there: {THERE.test} did not run, one of 1"]
    assert said(share, here="passed", there="skipped") == said(share, here="passed")
    assert said(Selection(long=True), here="passed", there="passed") == [
        f"{TWO.id} is not shown on here: {LONG.test} did not run, one of 1"
    ]
    write(tmp_path / "claims.json", [HERE, THERE, replace(HERE, test="tests/emulated/a.py::orphan", requirements=())])
    assert said(share, here="passed", there="passed") == ["tests/emulated/a.py::orphan shows no requirement"]


@pytest.mark.parametrize(
    ("options", "status"), [([], Status.GOOD), (["--require-all"], Status.FAILED), (["--require-all", "--quick"], Status.GOOD)]
)
def test_ci_fails_where_a_requirement_is_not_shown(
    options: list[str], status: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though all that ran passed."""

    def half(_folders: object, _selection: object, tally: Tally, _workers: object, file: Path) -> None:
        write(file, [HERE, THERE])
        tally.passed, tally.results = 1, list(ran(here="passed").tests.values())

    before = os.environ.get(SHOWN)
    monkeypatch.delenv("CI", raising=False)
    for name, other in {
        "prepare": lambda *_: tmp_path,
        "run_meson": lambda *_: None,
        "run_pytest": half,
        "clean_commit": lambda: "",
    }.items():
        monkeypatch.setattr(result if name == "clean_commit" else test_verb, name, other)
    monkeypatch.setattr(test_verb, "load_requirements", lambda: CATALOGUE)
    monkeypatch.setattr(test_verb, "CLAIMS", tmp_path / "claims.json")
    monkeypatch.setattr("bhtool.evidence.claims.in_c", list)
    assert loaded("test").main(options, standalone_mode=False) == status
    assert os.environ.get(SHOWN) == before
    said = capsys.readouterr().out
    assert (f"failed: {TWO.id} is not shown on there: {THERE.test} did not run, one of 1" in said) == (status == Status.FAILED)


@pytest.mark.parametrize(
    ("selection", "holds"),
    [(Selection(), True), (Selection(share=3), True), (Selection(quick=True), False), (Selection(word="kick"), False)],
    ids=["ordinary", "share", "quick", "word"],
)
def test_a_run_of_less_need_not_show_everything(selection: Selection, holds: bool) -> None:
    assert test_verb.is_of_everything("all", selection) == holds
    assert not test_verb.is_of_everything("unit", selection)


# ---- Claims and the verb -----------------------------------------------------------------------------------------------


def test_claims_come_back_as_they_were(tmp_path: Path) -> None:
    write(tmp_path / "claims.json", [HERE, LONG])
    assert read(tmp_path / "claims.json") == [HERE, LONG]


def test_a_source_names_what_it_shows_in_its_first_comment() -> None:
    licence = "/* SPDX-License-Identifier: Apache-2.0 */\n"
    assert ids_of_source(licence + "/*\n * BH-I1.ipi, BH-I3.forms. What happens.\n */\n/* BH-I8.bounded */\n") == (
        "BH-I1.ipi",
        "BH-I3.forms",
    )
    assert ids_of_source(licence + '#include "x.h"\n/* BH-I8.bounded */\n') == ()


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "load", lambda: CATALOGUE)
    monkeypatch.setattr(verb, "clean_commit", lambda: COMMIT)


ROWS: list[tuple[list[Claim], Results, list[str], Status]] = [
    ([HERE, THERE], ran(here="passed", there="passed"), ["--strict"], Status.GOOD),
    ([HERE, THERE], ran(here="passed"), [], Status.GOOD),
    ([HERE, THERE], ran(here="passed"), ["--strict"], Status.FAILED),
    ([HERE, THERE], ran(here="failed"), [], Status.FAILED),
    ([HERE], ran(here="passed"), [], Status.FAILED),
    ([HERE, THERE, LONG], ran(here="passed", there="passed"), ["--strict", "--long"], Status.FAILED),
]


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(
    ("claims", "results", "options", "status"), ROWS, ids=["proven", "missing", "strict", "failed", "unclaimed", "long"]
)
def test_the_verb(
    claims: list[Claim],
    results: Results,
    options: list[str],
    status: Status,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(verb, "gather", lambda: claims)
    monkeypatch.setattr(verb, "of_commit", lambda _: results)
    files = ["--json", str(tmp_path / "e.json"), "--markdown", str(tmp_path / "e.md")]
    assert loaded("evidence").main([*options, *files], standalone_mode=False) == status
    assert "requirements: " in capsys.readouterr().out
    assert json.loads((tmp_path / "e.json").read_text())["schema"] == "bulkhead/evidence-v1"
    assert (tmp_path / "e.md").read_text().startswith(f"# Evidence at {COMMIT}")


def test_of_many_only_what_is_wanting_is_listed_what_failed_first() -> None:
    rows = [
        row_of(replace(TWO, id=f"BH-R{n:03}", tests=("*",)), [HERE, THERE], ran(here="passed", there="passed"), False) for n in range(30)
    ]
    table = verb.table_of_parent("BH-R", "Rules.", rows)
    assert (table.row_count, "of 30 30 are shown" in str(table.caption)) == (0, True)
    rows[5:28] = [row_of(replace(TWO, id=f"BH-R{n:03}"), [], ran(), False) for n in range(5, 28)]
    rows[27] = replace(rows[27], places={"there": Shown(failed=("x",))})
    table = verb.table_of_parent("BH-R", "Rules.", rows)
    assert (table.row_count, next(iter(table.columns[0].cells))) == (verb.MANY, "BH-R027")
    assert "7 are shown, which are not listed; 3 more are not" in str(table.caption)


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(("commit", "said"), [(COMMIT, "1 tests ran at 0123456789ab"), (COMMIT[::-1], "no test has run at")])
def test_results_of_another_commit_prove_nothing(
    commit: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verb, "gather", lambda: [HERE, THERE])
    file = tmp_path / "results.json"
    file.write_text(json.dumps(kept.as_document(Results(commit, ran(here="passed").tests))))
    loaded("evidence").main(["--results", str(file)], standalone_mode=False)
    assert said in capsys.readouterr().out
    monkeypatch.setattr(verb, "clean_commit", lambda: "")
    loaded("evidence").main(["--results", str(file)], standalone_mode=False)
    assert "the sources are no commit" in capsys.readouterr().out
    file.write_text(json.dumps(kept.as_document(Results("", ran(here="passed").tests))))
    assert not verb.results_for(file).tests, "results of sources that were no commit are taken for those of others"


# ---- What documents say of evidence ------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES["evidence"])
def test_an_example_leaves_the_clone_as_it_was(example: str) -> None:
    """Or the next run would find sources that are no commit."""
    words = shlex.split(example)
    written = [after for word, after in pairwise(words) if word in ("--json", "--markdown")]
    assert all(file.startswith("build/") for file in written)


def row_of_tools(tool: str) -> str:
    return next(line for line in (paths.ROOT / "docs" / "tools.md").read_text().splitlines() if line.startswith(f"| {tool}"))


def test_programs_that_the_second_compiler_does_not_run_are_named() -> None:
    listed = re.findall(r"'((?:unit|golden)/(\w+_test)\.c)'", (paths.ROOT / "tests" / "meson.build").read_text())
    without = {name for source, name in listed if f"tests/{source}" not in PROGRAMS.values()}
    said = row_of_tools("`clang-19`").partition("*ARM code")[2]
    assert set(re.findall(r"`(\w+_test)`", said)) == without
    assert "host_programs.py" in load().requirements["BH-E1.compilers"].says


def test_tests_in_c_are_listed_from_meson_alone() -> None:
    assert "listed from Meson alone" in row_of_tools("Meson")
