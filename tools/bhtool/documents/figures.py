# SPDX-License-Identifier: Apache-2.0
"""Figures in documents, written from stored results: between two marks stands what the template inside the first one says.

<!-- figures
| to the last sandbox | {{ cells("boot", "reset to last sandbox", vmx="cannot be had") }} |
-->
| to the last sandbox | 476,469 | 454,670 | 686,574 | 405,140 | cannot be had |
<!-- /figures -->
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jinja2

from bhtool import paths
from bhtool.documents.io_table import io_table
from bhtool.documents.results import Stored
from bhtool.errors import BulkheadError
from bhtool.platforms import load
from bhtool.text import all_of

DOCUMENTS = (paths.ROOT / "README.md", *sorted((paths.ROOT / "docs").glob("*.md")))
COLUMNS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "bochs-vtx")
MANY_FAULTS = 1000  # of a platform
BLOCK = re.compile(r"(<!-- figures\n(?P<template>.*?)-->\n)(?P<text>.*?)(<!-- /figures -->)", re.DOTALL)


def amount(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def spread(row: dict[str, Any]) -> str:
    """The least and the greatest of its samples; times with their unit, a missed target by name."""
    ends = amount(row["max"]) if row["min"] == row["max"] else f"{row['min']:,} to {row['max']:,}"
    return ends + (" ns" if row["unit"] == "ns" else "") + (": missed" if row.get("met") is False else "")


def place(platform: str) -> tuple[int, str]:
    """Of its column: those of the first table, in their order, before others."""
    return COLUMNS.index(platform) if platform in COLUMNS else len(COLUMNS), platform


class Figures:
    """What templates may say."""

    def __init__(self, results: Iterable[Stored]) -> None:
        self.results = {(one.bench, one.platform): one for one in results}

    def of(self, bench: str, platform: str) -> Stored:
        if (found := self.results.get((bench, platform))) is None:
            raise BulkheadError(
                f"docs/results has nothing of `{bench}` on {platform}; measure it: bench {bench} --platform {platform} --store"
            )
        return found

    def row(self, bench: str, platform: str, name: str) -> dict[str, Any]:
        rows = self.of(bench, platform).rows
        if name not in rows:
            raise BulkheadError(f"`{bench}` on {platform} has no row `{name}`; {all_of(rows)}")
        return rows[name]

    def figure(self, bench: str, platform: str, row: str) -> str:
        """One row's: its least and greatest sample."""
        return spread(self.row(bench, platform, row))

    def ends(self, bench: str, platform: str, row: str) -> str:
        """The same with the median between them, a cell each."""
        found = self.row(bench, platform, row)
        return " | ".join(amount(found[which]) for which in ("min", "median", "max"))

    def reference(self, bench: str, platform: str, row: str) -> str:
        """What a row is compared with."""
        return amount(self.compared(bench, platform, row)["reference"])

    def compared(self, bench: str, platform: str, row: str) -> dict[str, Any]:
        """A row that is compared with something."""
        found = self.row(bench, platform, row)
        if "reference" not in found:
            raise BulkheadError(
                f"`{row}` of `{bench}` on {platform} is compared with nothing; measure it anew: bench {bench} --platform {platform} --store"
            )
        return found

    def shares(self, bench: str, row: str, **instead: str) -> str:
        """On every platform, the greatest sample as a share of what it is compared with."""

        def one(platform: str) -> str:
            found = self.compared(bench, platform, row)
            return f"{found['max'] / found['reference']:.3f}" + (": missed" if found.get("met") is False else "")

        return self.each(one, instead)

    def value(self, bench: str, platform: str, *keys: str) -> str:
        """Anything else a result says, by its way in the document."""
        found: Any = self.of(bench, platform).document
        for key in keys:
            if key not in found:
                raise BulkheadError(f"`{bench}` on {platform} has no `{key}`; {all_of(found)}")
            found = found[key]
        return amount(found)

    @staticmethod
    def each(figure: Callable[[str], str], instead: dict[str, str]) -> str:
        backends = {platform: load(platform).backend for platform in COLUMNS}
        return " | ".join(instead.get(backend) or figure(platform) for platform, backend in backends.items())

    def cells(self, bench: str, row: str, **instead: str) -> str:
        """One figure on every platform; `instead`: a backend's, in words."""
        return self.each(lambda platform: self.figure(bench, platform, row), instead)

    def greatest(self, bench: str, row: str, **instead: str) -> str:
        """Of its samples the one that counts where the worst does, on every platform."""

        def one(platform: str) -> str:
            found = self.row(bench, platform, row)
            return spread(found | {"min": found["max"]})

        return self.each(one, instead)

    def kinds(self, bench: str, what: str, total: str, **instead: str) -> str:
        """Of what a total counts, each kind that occurred, on every platform."""

        def one(platform: str) -> str:
            rows = self.of(bench, platform).rows
            found = [(name.removeprefix(f"{what}: "), row) for name, row in rows.items() if name.startswith(f"{what}: ") and name != total]
            return ", ".join(f"{kind} {spread(row)}" for kind, row in found) or "none"

        return self.each(one, instead)

    def values(self, bench: str, *keys: str) -> str:
        return " | ".join(self.value(bench, platform, *keys) for platform in COLUMNS)

    def tables(self, sandbox: str) -> str:
        """Bytes of a sandbox's translation tables in the demo: for its RAM, and for the rest."""
        of = ((platform, "tables", sandbox) for platform in COLUMNS)
        return " | ".join(f"{self.value('size', *way, 'ram_table_bytes')} + {self.value('size', *way, 'other_table_bytes')}" for way in of)

    def faults(self) -> str:
        """What became of faults, a line for each platform that has a result: shares in per cent with their intervals."""
        found = sorted((one for (name, _), one in self.results.items() if name == "faults"), key=lambda one: place(one.platform))
        outcomes = ("silent", "contained", "detected", "propagated", "machine")
        lines = ["| " + " | ".join(("", "faults", *outcomes, "monitor failed")) + " |", "|" + "---|" * (len(outcomes) + 3)]
        for one in found:
            whole = one.document["regions"][-1]
            shares = (whole["shares"][name] for name in outcomes)
            cells = [f"{100 * share:.1f} ({100 * low:.1f} to {100 * high:.1f})" for share, low, high in shares]
            lines.append("| " + " | ".join((f"`{one.platform}`", amount(whole["faults"]), *cells, amount(whole["monitor_failed"]))) + " |")
        return "\n".join(lines)

    def fault_regions(self, platform: str) -> str:
        """The same for each region of one platform, as counts; `stays`: of the silent ones, whose bit is still flipped."""
        keys = ("faults", "silent", "contained", "detected", "propagated", "machine", "silent_and_stays", "oracle_names", "monitor_failed")
        heads = ("", *keys[:6], "stays", "oracle", "monitor failed")
        lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
        lines += [
            "| " + " | ".join((row["region"], *(amount(row[key]) for key in keys))) + " |"
            for row in self.of("faults", platform).document["regions"]
        ]
        return "\n".join(lines)

    def few_faults(self) -> str:
        """A sentence, where some platform has had fewer faults than each is to have; else empty."""
        least = min((self.of("faults", platform).document["faults"] for platform in self.fault_platforms()), default=0)
        return f" A few faults of each region so far: each platform is to have {MANY_FAULTS:,}." if least < MANY_FAULTS else ""

    def fault_platforms(self) -> list[str]:
        return self.platforms("faults")

    def platforms(self, bench: str) -> list[str]:
        return sorted((platform for name, platform in self.results if name == bench), key=place)

    def io(self, platform: str) -> str:
        return io_table(self.of("io", platform).document["rows"])

    def benches(self) -> list[str]:
        return list(dict.fromkeys(name for (name, _), one in self.results.items() if one.rows))

    def table(self, bench: str) -> str:
        """All that is stored of one benchmark: a line for each row, a column for each platform, the target after them."""
        found = sorted((one for (name, _), one in self.results.items() if name == bench), key=lambda one: place(one.platform))
        names = dict.fromkeys(name for one in found for name in one.rows)
        head = ["", *(f"`{one.platform}`" for one in found), "target"]
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for name in names:
            rows = [one.rows.get(name) for one in found]
            target = next((row["target"] for row in rows if row and "target" in row), "")
            lines.append("| " + " | ".join([name, *("" if row is None else spread(row) for row in rows), target]) + " |")
        return "\n".join(lines)

    def measured(self, bench: str) -> str:
        """The commits its results are of."""
        commits = dict.fromkeys(one.document["commit"] for (name, _), one in self.results.items() if name == bench)
        return ", ".join(f"`{commit}`" for commit in commits)


def rewritten(text: str, figures: Figures) -> str:
    """A document with the figures of these results."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True, autoescape=False)
    environment.globals.update(
        cells=figures.cells,
        greatest=figures.greatest,
        reference=figures.reference,
        shares=figures.shares,
        kinds=figures.kinds,
        figure=figures.figure,
        ends=figures.ends,
        value=figures.value,
        values=figures.values,
        tables=figures.tables,
        benches=figures.benches,
        faults=figures.faults,
        fault_regions=figures.fault_regions,
        few_faults=figures.few_faults,
        fault_platforms=figures.fault_platforms,
        platforms=figures.platforms,
        io=figures.io,
        table=figures.table,
        measured=figures.measured,
    )
    return BLOCK.sub(lambda block: block[1] + environment.from_string(block["template"]).render() + block[4], text)


def outdated(documents: Iterable[Path], figures: Figures) -> dict[Path, str]:
    """Documents whose figures are not those of the results, and what they ought to be."""
    texts = {path: path.read_text(encoding="utf-8") for path in documents}
    return {path: new for path, text in texts.items() if (new := rewritten(text, figures)) != text}
