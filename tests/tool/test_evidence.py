# SPDX-License-Identifier: Apache-2.0
"""Requirements and results, joined: what a test that passed, failed, was skipped or did not run comes to, on each platform that a requirement names."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.cli import loaded
from bhtool.errors import BulkheadError, Status
from bhtool.evidence import results as kept
from bhtool.evidence.claims import Claim, ids_of_source, read, write
from bhtool.evidence.join import Shown, evidence_json, join, row_of, summary
from bhtool.evidence.page import report
from bhtool.evidence.requirements import Catalogue, Requirement
from bhtool.evidence.results import Outcome, Result, Results
from bhtool.testing import result
from bhtool.testing.tally import Tally
from bhtool.verbs import evidence as verb
from bhtool.verbs import test as test_verb

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
    assert found["counts"] == {"proven": 0, "analysis": 1, "review": 0, "missing": 1, "failed": 0}
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


JUNIT = """<testsuites><testsuite>
<testcase classname="bulkhead" name="bulkhead / arena" time="0.25"/>
<testcase classname="tests.emulated.a" name="here@group" time="1.5">
 <properties><property name="test" value="tests/emulated/a.py::here"/><property name="platform" value="here"/></properties><failure/></testcase>
</testsuite></testsuites>"""


def test_a_run_names_tests_as_their_claims_do(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").write_text(JUNIT)
    tally = Tally()
    tally.add_junit(tmp_path / "junit.xml")
    assert tally.results == [Result("tests/meson.build::arena", "passed", 0.25), Result("tests/emulated/a.py::here", "failed", 1.5, "here")]


@pytest.mark.parametrize("now", ["", COMMIT[::-1]], ids=["changed", "another-commit"])
def test_what_no_commit_is_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch, now: str) -> None:
    monkeypatch.setattr(result, "clean_commit", lambda: now)
    assert test_verb.keep(Tally(results=[one("passed")]), COMMIT, "all") == ["how tests went is not kept: the sources are no commit"]
    assert not folder.exists()


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
