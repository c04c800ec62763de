# SPDX-License-Identifier: Apache-2.0
"""Rows named `CASE, SIZE: WHERE` as Quest-V's figures 10 to 12 have them: a panel for each case, sizes along the axis, a bar for each place."""

import re
from dataclasses import dataclass, field
from typing import Any

from bhtool.bench.result import Result, Row

NAME = re.compile(r"(?P<case>.+), (?P<size>[\d,]+): (?P<where>.+)")
LOGARITHMIC = 100  # from this ratio on
MANY = 6  # sizes, whose names would touch
COLOURS = ("#bbbbbb", "#777777", "#4477aa", "#ccbb44", "#228833", "#aa3377")  # told apart by colour-blind readers, too
MISSED = "#ee6677"
WIDTH = 0.8  # of all bars of a size


@dataclass
class Panel:
    title: str
    sizes: list[str] = field(default_factory=list)
    bars: dict[str, dict[str, Row]] = field(default_factory=dict)  # by place, then by size

    def add(self, size: str, where: str, row: Row) -> None:
        if size not in self.sizes:
            self.sizes.append(size)
        self.bars.setdefault(where, {})[size] = row


def grouped(result: Result) -> tuple[list[Panel], Result]:
    """Panels, and the result with the rows that belong to none."""
    panels: dict[str, Panel] = {}
    rest: list[Row] = []
    for row in result.rows:
        found = NAME.fullmatch(row.name)
        if found is None:
            rest.append(row)
            continue
        title = f"{found['case']} on {result.platform}, {row.unit}"
        panels.setdefault(title, Panel(title)).add(found["size"], found["where"], row)
    return list(panels.values()), Result(result.bench, result.platform, rest, result.facts)


def draw_group(axes: Any, panel: Panel) -> None:
    axes.set_title(panel.title, loc="left", fontsize="medium")
    width = WIDTH / len(panel.bars)
    for place, (where, rows) in enumerate(panel.bars.items()):
        offset = (place + 0.5) * width - WIDTH / 2
        for number, size in enumerate(panel.sizes):
            if (row := rows.get(size)) is None:
                continue
            edge = MISSED if row.met is False else "none"
            reach = [[row.median - row.min], [row.max - row.median]]
            label = where if number == 0 else None
            colour = COLOURS[place % len(COLOURS)]
            axes.bar(number + offset, row.median, width, yerr=reach, capsize=2, color=colour, edgecolor=edge, linewidth=2, label=label)
    many = len(panel.sizes) > MANY
    axes.set_xticks(range(len(panel.sizes)), panel.sizes, fontsize="x-small" if many else "small", rotation=20 if many else 0)
    axes.set_xlabel("bytes", fontsize="small")
    axes.legend(fontsize="x-small", ncols=len(panel.bars))
    axes.margins(y=0.2)
    figures = [row.median for rows in panel.bars.values() for row in rows.values() if row.median]
    if figures and max(figures) > LOGARITHMIC * min(figures):
        axes.set_yscale("log")
