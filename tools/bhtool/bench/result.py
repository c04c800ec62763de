# SPDX-License-Identifier: Apache-2.0
"""What a benchmark found: rows of figures, some with a reference to compare with or a target to meet."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median_high
from typing import Any, Self

from rich.table import Table


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


def spread(row: Row) -> str:
    return f"{row.median:,}" if row.min == row.max else f"{row.min:,} / {row.median:,} / {row.max:,}"


def target_text(row: Row) -> str:
    return f"{row.target}: {'met' if row.met else 'MISSED'}" if row.target else ""


def table(result: Result) -> Table:
    """For people; three figures are minimum, median and maximum."""
    caption = "\n".join(f"{name}: {text}" for name, text in result.facts.items())
    shown = Table("what", "n", "figure", "unit", "reference", "target", title=f"{result.bench} on {result.platform}", caption=caption)
    for row in result.rows:
        reference = "" if row.reference is None else f"{row.reference:,}"
        style = "red" if row.met is False else ""
        shown.add_row(row.name, f"{row.n:,}", spread(row), row.unit, reference, target_text(row), style=style)
    return shown
