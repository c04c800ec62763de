# SPDX-License-Identifier: Apache-2.0
"""Results as a picture: a panel for every unit of every result, a bar for every row, a mark where its reference lies; rows of sizes in groups."""

import importlib
from itertools import groupby
from pathlib import Path
from typing import Any

from bhtool.bench.grouped import LOGARITHMIC, draw_group, grouped
from bhtool.bench.result import Result, Row
from bhtool.errors import BulkheadError, Status
from bhtool.image.payloads import Report
from bhtool.provision.venv import ensure_plotting

FORMATS = (".svg", ".png", ".pdf")
WIDTH_INCHES, ROW_INCHES, PANEL_INCHES, GROUP_INCHES = 9.0, 0.32, 0.9, 2.6
BAR, MISSED, REFERENCE = "#4477aa", "#ee6677", "#222222"  # told apart by colour-blind readers, too

ROOM_FOR_TEXT = 10  # to the right of a logarithmic panel's longest bar, as a factor

Panel = tuple[str, list[Row]]


def panels(results: list[Result]) -> list[Panel]:
    """(title, rows): rows of one unit share an axis."""
    found: list[Panel] = []
    for result in results:
        by_unit = sorted(result.rows, key=lambda row: row.unit)
        for unit, rows in groupby(by_unit, key=lambda row: row.unit):
            found.append((f"{result.bench} on {result.platform}, {unit}", list(rows)))
    return found


def draw_panel(axes: Any, panel: Panel) -> None:
    title, rows = panel
    figures = [figure for row in rows for figure in (row.median, row.reference) if figure]
    is_wide = bool(figures) and max(figures) > LOGARITHMIC * min(figures)
    axes.set_title(title, loc="left", fontsize="medium")
    for place, row in enumerate(reversed(rows)):
        reach = [[row.median - row.min], [row.max - row.median]]
        axes.barh(place, row.median, 0.6, xerr=reach, capsize=3, color=MISSED if row.met is False else BAR)
        if row.reference is not None:
            axes.plot([row.reference] * 2, [place - 0.4, place + 0.4], color=REFERENCE, linewidth=2)
        behind = max(row.max, row.reference or 0) if is_wide else row.max
        axes.text(behind, place, f"  {row.median:,}", va="center", fontsize="small")
    axes.set_yticks(range(len(rows)), [row.name for row in reversed(rows)], fontsize="small")
    axes.margins(x=0.12)
    if is_wide:
        axes.set_xscale("symlog", linthresh=max(1, min(row.min for row in rows)))
        axes.set_xlim(right=ROOM_FOR_TEXT * max(figures))
    explain_marks(axes, rows)


def explain_marks(axes: Any, rows: list[Row]) -> None:
    if any(row.reference is not None for row in rows):
        axes.plot([], [], color=REFERENCE, linewidth=2, label="what it is compared with")
    if any(row.met is False for row in rows):
        axes.plot([], [], color=MISSED, linewidth=6, label="target missed")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, fontsize="small")  # beside the title


def require_format(file: Path) -> None:
    """Before minutes are spent on measuring."""
    if file.suffix not in FORMATS:
        raise BulkheadError(f"{file} cannot be drawn: its name must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}", Status.USAGE)


def draw(results: list[Result], file: Path, report: Report) -> None:
    ensure_plotting(report)
    importlib.import_module("matplotlib").use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    parts = [grouped(result) for result in results]
    groups = [panel for panels, _ in parts for panel in panels]
    shown = panels([rest for _, rest in parts if rest.rows])
    heights = [*(GROUP_INCHES for _ in groups), *(PANEL_INCHES + ROW_INCHES * len(rows) for _, rows in shown)]
    size = (WIDTH_INCHES, sum(heights))
    figure, grid = pyplot.subplots(len(heights), 1, figsize=size, height_ratios=heights, squeeze=False, layout="constrained")
    for axes, group in zip(grid[:, 0], groups, strict=False):
        draw_group(axes, group)
    for axes, panel in zip(grid[len(groups) :, 0], shown, strict=True):
        draw_panel(axes, panel)
    figure.savefig(file)
    pyplot.close(figure)
