# SPDX-License-Identifier: Apache-2.0
"""Pages: docs/invariants.md (`python -m bhtool.evidence.page > ../docs/invariants.md`), and all requirements with how they were shown, on demand."""

import sys
from collections.abc import Iterator

from bhtool.evidence.join import Row, summary
from bhtool.evidence.requirements import Catalogue, load

INVARIANTS = """# What must always hold, and where it is shown

Every invariant has an ID. Code that enforces it carries the ID in a comment; tests that would fail without it say that they are evidence for it
([how](../tests/claims.py)). Invariants, what the command and guests are promised, and what papers reached are requirements of
[requirements.toml](requirements.toml); `tools/bulkhead evidence` joins them with how the tests of a commit went. `tests/structure/test_evidence.py`
fails when an ID has no code or no test, or when a test names none. This page is generated (`python -m bhtool.evidence.page`).

| ID | invariant |
|---|---|
"""
END = """
What is never isolated is in [not-isolated](not-isolated.md).
"""


def invariants(catalogue: Catalogue) -> str:
    rows = (f"| {one.id} | {one.says} |\n" for one in catalogue.requirements.values() if one.id.startswith("BH-I"))
    return INVARIANTS + "".join(rows) + END


def where(row: Row) -> str:
    """Each place with its state, or the document."""
    if row.requirement.document and not row.places:
        return f"[{row.requirement.document.partition('#')[0]}]({row.requirement.document})"
    return ", ".join(
        f"{place}: {len(tests.passed)} {tests.state}" if tests.state == "proven" else f"{place}: **{tests.state}**"
        for place, tests in row.places.items()
    )


def _parts(catalogue: Catalogue, rows: list[Row]) -> Iterator[str]:
    for parent, says in catalogue.parents.items():
        yield f"\n## {parent}: {says}\n\n| ID | requirement | state | tests passed, where |\n|---|---|---|---|\n"
        for row in (one for one in rows if one.requirement.parent == parent):
            yield f"| {row.requirement.id} | {row.requirement.says} | {row.state} | {where(row)} |\n"


def report(catalogue: Catalogue, rows: list[Row], commit: str) -> str:
    title = f"# Evidence at {commit or 'sources that are no commit'}\n\n{summary(rows).capitalize()}. A test that did not run is missing; left: long tests alone show it, and not all ran.\n"
    return title + "".join(_parts(catalogue, rows))


if __name__ == "__main__":
    sys.stdout.write(invariants(load()))
