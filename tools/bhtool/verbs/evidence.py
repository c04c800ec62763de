# SPDX-License-Identifier: Apache-2.0
"""`bulkhead evidence`: each requirement, and what shows it at this commit."""

from pathlib import Path

import click
from rich.table import Table

from bhtool.errors import Status
from bhtool.evidence.claims import gather
from bhtool.evidence.join import Row, evidence_json, join, summary
from bhtool.evidence.page import report
from bhtool.evidence.requirements import Catalogue, load
from bhtool.evidence.results import Results, file_of, of_commit, read
from bhtool.evidence.static import complaints
from bhtool.jsonfile import write_json
from bhtool.terminal.screen import Screen, table_of
from bhtool.testing.result import clean_commit
from bhtool.verbs.options import Output

MANY = 20  # requirements of one parent: of more, those that are shown are counted, not listed
GOOD = ("proven", "analysis", "review")


def not_shown_on(row: Row) -> str:
    """Places at which something is missing or has failed."""
    return ", ".join(
        place
        for place, tests in row.places.items()
        if tests.state != "proven" and (tests.missing or tests.failed or place in row.requirement.platforms)
    )


def table_of_parent(parent: str, says: str, rows: list[Row]) -> Table:
    table = table_of(f"{parent}: {says}", "requirement", "state", "passed", "missing", "failed", "long left", "not shown on")
    wanting = sorted((row for row in rows if row.state not in GOOD), key=lambda row: row.state != "failed")
    for row in rows if len(rows) <= MANY else wanting[:MANY]:
        figures = [row.count("passed"), row.count("missing"), row.count("failed"), row.left]
        shown = row.requirement.document if row.state in ("analysis", "review") else not_shown_on(row)
        table.add_row(row.requirement.id, row.state, *(str(figure) if figure else "-" for figure in figures), shown)
    if len(rows) > MANY:
        table.caption = (
            f"of {len(rows)} {len(rows) - len(wanting)} are shown, which are not listed; {len(wanting[MANY:])} more are not (--json)"
        )
    return table


def ran_at(results: Results, source: Path | None) -> str:
    if not results.commit:
        return "the sources are no commit, so no test has run at it: commit, then `tools/bulkhead test`"
    if not results.tests:
        return f"no test has run at {results.commit[:12]}: `tools/bulkhead test`"
    return f"{len(results.tests)} tests ran at {results.commit[:12]} ({source or file_of(results.commit)})"


def show(screen: Screen, catalogue: Catalogue, rows: list[Row]) -> None:
    for parent, says in catalogue.parents.items():
        screen.summary(table_of_parent(parent, says, [row for row in rows if row.requirement.parent == parent]))


def results_for(source: Path | None) -> Results:
    """Of this commit alone. Sources that are no commit have none, not even results that were kept of other such sources."""
    commit = clean_commit()
    found = read(source) if source else of_commit(commit)
    return found if commit and found.commit == commit else Results(commit, {})


@click.command()
@click.option("--json", "json_file", type=Output(), help="Write the same as JSON, with the name of every test that is missing or failed.")
@click.option("--markdown", "page", type=Output(), help="Write it as a page.")
@click.option(
    "--results", "source", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="How tests went elsewhere, at this commit."
)
@click.option("--long", "with_long", is_flag=True, help="Long tests that did not run are missing, too.")
@click.option("--strict", is_flag=True, help="Fail if anything is missing.")
def evidence(json_file: Path | None, page: Path | None, source: Path | None, with_long: bool, strict: bool) -> Status:
    """Join docs/requirements.toml with the tests that show each requirement, and with how they went at this commit.

    A test that did not run at this commit is missing. A requirement is proven when all its tests passed, on each platform that it names.
    """
    screen = Screen()
    with screen.progress("collecting tests"):
        catalogue, claims = load(), gather()
        results = results_for(source)
    rows = join(catalogue, claims, results, with_long)
    wrong = complaints(catalogue, claims)
    show(screen, catalogue, rows)
    for line in wrong:
        screen.warn(line)
    screen.say(ran_at(results, source))
    screen.say(summary(rows))
    if json_file:
        write_json(json_file, "evidence", evidence_json(rows, results.commit, with_long, wrong))
    if page:
        page.write_text(report(catalogue, rows, results.commit), encoding="utf-8")
    states = {row.state for row in rows}
    return Status.FAILED if wrong or "failed" in states or (strict and "missing" in states) else Status.GOOD
