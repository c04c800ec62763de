# SPDX-License-Identifier: Apache-2.0
"""What `bench io` found on one platform, for a document: a line for each size, with the shares of what Linux has alone."""

from collections.abc import Callable, Iterable
from typing import Any

ALONE, LINES, SANDBOX, NATIVES = "alone", "alone, interrupts by lines", "sandbox", "beside three natives"
HEADS = (
    "",
    "kB/s: alone",
    "by lines",
    "sandbox",
    "beside natives",
    "instructions: alone",
    "by lines",
    "sandbox",
    "beside natives",
    "exits",
)
PLACES = (ALONE, LINES, SANDBOX, NATIVES)

Found = dict[tuple[str, str, str], dict[str, Any]]  # by what, where and unit


def found_of(rows: Iterable[dict[str, Any]]) -> Found:
    found: Found = {}
    for row in rows:
        what, _, where = row["name"].partition(": ")
        found[what, where, row["unit"]] = row
    return found


def cell(row: dict[str, Any] | None, alone: dict[str, Any] | None, share: Callable[[int, int], float]) -> str:
    """A median, its share of that alone, and whether it misses its target."""
    if row is None:
        return ""
    text = f"{row['median']:,}"
    if alone and row is not alone:
        digits = 1 if row.get("met") is False else 0  # so that no miss looks like the target
        text += f" ({share(row['median'], alone['median']):.{digits}f} %)"
    return text + (": missed" if row.get("met") is False else "")


def io_table(rows: Iterable[dict[str, Any]]) -> str:
    """Shares are such that more is better: a speed of the speed alone, instructions alone of those here."""
    found = found_of(rows)
    lines = ["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS)]
    for what in dict.fromkeys(what for what, _, unit in found if unit != "exits"):
        case = what.rpartition(", ")[0]

        def cells(unit: str, share: Callable[[int, int], float], what: str = what) -> list[str]:
            return [cell(found.get((what, where, unit)), found.get((what, ALONE, unit)), share) for where in PLACES]

        exits = [row["max"] for where in (SANDBOX, NATIVES) if (row := found.get((case, where, "exits")))]
        speeds = cells("kB/s", lambda here, alone: 100 * here / max(1, alone))
        costs = cells("instructions", lambda here, alone: 100 * alone / max(1, here))
        lines.append("| " + " | ".join([what, *speeds, *costs, ", ".join(map(str, exits))]) + " |")
    return "\n".join(lines)
