# SPDX-License-Identifier: Apache-2.0
"""How each test went at a commit, as `bulkhead test` keeps it: build/results/COMMIT.json, one file for all runs of that commit."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.jsonfile import document
from bhtool.jsonfile import write as write_document
from bhtool.locks import exclusive

FOLDER = paths.BUILD / "results"
SCHEMA = "results"
Outcome = Literal["skipped", "passed", "failed"]  # the worst last: it stays, however often a test runs at a commit
ORDER: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True)
class Result:
    test: str  # as a claim names it
    outcome: Outcome
    seconds: float
    platform: str | None = None


@dataclass(frozen=True)
class Results:
    commit: str
    tests: Mapping[str, Result]


def file_of(commit: str) -> Path:
    return FOLDER / f"{commit}.json"


def _result(file: Path, row: Mapping[str, Any]) -> Result:
    if row["outcome"] not in ORDER:
        raise BulkheadError(
            f"{file}: {row['test']} is said to be {row['outcome']}; a test is {', '.join(ORDER)}: take the file of `tools/bulkhead test`",
            Status.FAILED,
        )
    return Result(**row)


def read(file: Path) -> Results:
    """Of two rows of one test, the worst counts."""
    try:
        tree = json.loads(file.read_text(encoding="utf-8"))
        if tree["schema"] != f"bulkhead/{SCHEMA}-v1":
            raise BulkheadError(
                f"{file} has another schema, {tree['schema']}; take the file of `tools/bulkhead test` of this version", Status.FAILED
            )
        return merged(Results(tree["commit"], {}), [_result(file, row) for row in tree["tests"]])
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        raise BulkheadError(f"{file} holds no results: {wrong!r}; take the file of `tools/bulkhead test`", Status.FAILED) from wrong


def of_commit(commit: str) -> Results:
    """What is known of it; nothing, if no test ran at it or if the sources are no commit."""
    file = file_of(commit)
    return read(file) if commit and file.is_file() else Results(commit, {})


def worst(old: Result | None, new: Result) -> Result:
    return new if old is None or ORDER.index(new.outcome) >= ORDER.index(old.outcome) else old


def merged(known: Results, new: Iterable[Result]) -> Results:
    tests = dict(known.tests)
    for result in new:
        tests[result.test] = worst(tests.get(result.test), result)
    return Results(known.commit, tests)


def as_document(results: Results) -> dict[str, Any]:
    rows = [asdict(results.tests[test]) for test in sorted(results.tests)]
    return document(SCHEMA, {"commit": results.commit, "tests": rows})


def store(commit: str, new: Iterable[Result]) -> Results:
    """Adds to what is known of the commit. Runs that end at once add one after the other, and whoever reads meanwhile finds a whole file."""
    file = file_of(commit)
    with exclusive(FOLDER):
        whole = merged(of_commit(commit), new)
        unfinished = file.with_suffix(".new")
        write_document(unfinished, as_document(whole))
        unfinished.replace(file)
    return whole
