# SPDX-License-Identifier: Apache-2.0
"""What a benchmark found: rows of figures, some with a reference to compare with or a target to meet."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median_high
from typing import Any, Self

from rich.table import Table
from rich.text import Text

from bhtool.terminal.screen import table_of


@dataclass(frozen=True)
class Row:
    name: str
    unit: str
    n: int
    min: int
    median: int
    max: int
    reference: int | None = None  # the same quantity elsewhere; docs/benchmarks.md says where
    target: str = ""
    met: bool | None = None  # the target; None: there is none

    @classmethod
    def of(cls, name: str, unit: str, samples: Sequence[int], reference: int | None = None) -> Self:
        return cls(name, unit, len(samples), min(samples), median_high(samples), max(samples), reference)

    def at_most(self, limit: int) -> Self:
        """The same with a target for its largest sample."""
        return replace(self, target=f"at most {limit}", met=self.max <= limit)

    def at_least(self, limit: int) -> Self:
        """The same with a target for its smallest sample."""
        return replace(self, target=f"at least {limit}", met=self.min >= limit)

    def same_as(self, other: "Row") -> Self:
        """The same with the target that its minimum, median and maximum are the other's."""
        alike = (self.min, self.median, self.max) == (other.min, other.median, other.max)
        return replace(self, reference=other.median, target=f"as {other.name}", met=alike)

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value not in (None, "")}


@dataclass(frozen=True)
class Result:
    bench: str
    platform: str
    rows: list[Row]
    facts: dict[str, str] = field(default_factory=dict)  # what the figures rest on

    @property
    def good(self) -> bool:
        return all(row.met is not False for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        return {"bench": self.bench, "platform": self.platform, "rows": [row.as_dict() for row in self.rows], "facts": self.facts}


EXACT_BELOW_NS = 10_000


def amount(row: Row, value: int, unit: str) -> str:
    """A figure in the table's unit, or a time."""
    if row.unit != "ns" or unit == "ns":
        return f"{value:,}"
    return f"{value // 1000:,} us" if value >= EXACT_BELOW_NS else f"{value / 1000:.1f} us"


def spread(row: Row, unit: str) -> str:
    ends = [row.max] if row.min == row.max else [row.min, row.max]
    return "..".join(amount(row, value, unit) for value in ends)


def target_text(row: Row, unit: str) -> str:
    told = re.sub(r"^(at most|at least) (\d+)$", lambda found: f"{found[1]} {amount(row, int(found[2]), unit)}", row.target)
    return f"{told} {'met' if row.met else 'MISSED'}" if told else ""


def label(row: Row, unit: str) -> str:
    """What it is, and its unit where the figure does not show it."""
    return row.name if row.unit in (unit, "ns") else f"{row.name}, {row.unit}"


def main_unit(results: Sequence[Result]) -> str:
    """What most rows are in; times are told apart from it."""
    units = Counter(row.unit for result in results for row in result.rows if row.unit != "ns")
    return units.most_common(1)[0][0] if units else "ns"


def table(result: Result) -> Table:
    """One machine's figures for people; two are the least and the greatest of several samples."""
    unit = main_unit([result])
    shown = table_of(f"{result.bench} on {result.platform}: {unit}", "what", "figure", "target", "reference")
    shown.caption = "\n".join(f"{name}: {text}" for name, text in result.facts.items())
    for row in result.rows:
        reference = "" if row.reference is None else amount(row, row.reference, unit)
        shown.add_row(label(row, unit), spread(row, unit), target_text(row, unit), reference, style="red" if row.met is False else "")
    return shown


def comparison(results: Sequence[Result]) -> Table:
    """One benchmark on several machines: a row for every quantity, of several samples the greatest."""
    unit = main_unit(results)
    shown = table_of(f"{results[0].bench}: {unit}", "what", *(result.platform.replace("-", "-\n") for result in results))
    found = [{label(row, unit): row for row in result.rows} for result in results]
    for name in dict.fromkeys(name for rows in found for name in rows):
        shown.add_row(name, *(cell(rows.get(name), unit) for rows in found))
    missed = [f"{result.platform}: {row.name}, {row.target}" for result in results for row in result.rows if row.met is False]
    shown.caption = "\n".join(f"MISSED on {one}" for one in missed) or "every target met"
    return shown


def cell(row: Row | None, unit: str) -> Text:
    return Text("-" if row is None else amount(row, row.max, unit), "red" if row is not None and row.met is False else "")
