# SPDX-License-Identifier: Apache-2.0
"""Requirements, joined with how their tests went at one commit. A test that did not run is missing, unless it is long; so is one that was skipped."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bhtool.evidence.claims import Claim
from bhtool.evidence.requirements import Catalogue, Requirement
from bhtool.evidence.results import Result, Results
from bhtool.evidence.static import named

State = Literal["proven", "missing", "failed", "left", "analysis", "review"]  # left: long tests alone show it, and there was no `--long`
STATES: tuple[State, ...] = ("proven", "analysis", "review", "left", "missing", "failed")


@dataclass(frozen=True)
class Shown:
    """Of one requirement at one place."""

    passed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    left: int = 0  # long ones that did not run, where they are not asked for

    @property
    def state(self) -> State:
        """Nothing at all proves nothing."""
        if self.failed:
            return "failed"
        if self.missing or not (self.passed or self.left):
            return "missing"
        return "proven" if self.passed else "left"


@dataclass(frozen=True)
class Row:
    requirement: Requirement
    places: Mapping[str, Shown]  # those it must be shown on first; then where else there are tests of it
    with_long: bool = False  # all tests should have run

    @property
    def state(self) -> State:
        """A test that failed counts wherever it ran. To be proven takes every place that the requirement names; after `--long`, every place."""
        if any(tests.failed for tests in self.places.values()):
            return "failed"
        if self.requirement.method != "test":
            return self.requirement.method
        states = {self.places[place].state for place in (self.places if self.with_long else self.requirement.platforms)}
        if "missing" in states:
            return "missing"
        return "left" if "left" in states or (self.requirement.long and self.left) else "proven"

    def count(self, kind: Literal["passed", "missing", "failed"]) -> int:
        return sum(len(getattr(tests, kind)) for tests in self.places.values())

    @property
    def left(self) -> int:
        return sum(tests.left for tests in self.places.values())


def _tests(claims: Iterable[Claim], results: Mapping[str, Result], with_long: bool) -> Shown:
    found: dict[str, list[str]] = {"passed": [], "missing": [], "failed": []}
    left = 0
    for claim in claims:
        result = results.get(claim.test)
        if result is not None and result.outcome != "skipped":
            found[result.outcome].append(claim.test)
        elif result is None and claim.long and not with_long:
            left += 1
        else:
            found["missing"].append(claim.test)
    return Shown(tuple(found["passed"]), tuple(found["missing"]), tuple(found["failed"]), left)


def row_of(requirement: Requirement, claims: list[Claim], results: Results, with_long: bool) -> Row:
    there: dict[str, list[Claim]] = {place: [] for place in requirement.platforms} if requirement.method == "test" else {}
    for claim in named(requirement, claims):
        there.setdefault(claim.place, []).append(claim)
    return Row(requirement, {place: _tests(found, results.tests, with_long) for place, found in there.items()}, with_long)


def join(catalogue: Catalogue, claims: list[Claim], results: Results, with_long: bool = False) -> list[Row]:
    return [row_of(one, claims, results, with_long) for one in catalogue.requirements.values()]


def wanting(rows: Iterable[Row]) -> list[str]:
    """A sentence for each requirement and place that it must be shown on, where a test of it did not run; one such test is named."""
    return [
        f"{row.requirement.id} is not shown on {place}: "
        + (f"{tests.missing[0]} did not run, one of {len(tests.missing)}" if tests.missing else "it has no test there")
        for row in rows
        if row.state == "missing"
        for place, tests in row.places.items()
        if tests.state == "missing" and (row.with_long or place in row.requirement.platforms)
    ]


def counts(rows: Iterable[Row]) -> Counter[State]:
    return Counter(row.state for row in rows)


def summary(rows: list[Row]) -> str:
    """One line, for the end of a run of tests."""
    found = counts(rows)
    left = sum(row.left for row in rows)
    words: dict[State, str] = {"review": "by review", "left": "left to --long", "failed": "failed"}
    others = [f"{found[state]} {word}" for state, word in words.items() if found[state]]
    line = ", ".join([f"{found['proven']} proven", f"{found['analysis']} by analysis", *others, f"{found['missing']} missing"])
    return f"requirements: {line}{'' if not left else ' (without long tests that did not run)'}"


def row_json(row: Row) -> dict[str, Any]:
    one = row.requirement
    places = {
        place: {
            "state": tests.state,
            "passed": len(tests.passed),
            "missing": list(tests.missing),
            "failed": list(tests.failed),
            "left_to_long": tests.left,
        }
        for place, tests in row.places.items()
    }
    return {
        "id": one.id,
        "says": one.says,
        "parent": one.parent,
        "method": one.method,
        "document": one.document or None,
        "platforms": list(one.platforms) if one.method == "test" else [],
        "state": row.state,
        "places": places,
    }


def evidence_json(rows: list[Row], commit: str, with_long: bool, complaints: list[str]) -> dict[str, Any]:
    found = counts(rows)
    return {
        "commit": commit or None,
        "long": with_long,
        "counts": {state: found[state] for state in STATES},
        "requirements": [row_json(row) for row in rows],
        "complaints": complaints,
    }
