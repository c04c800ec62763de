# SPDX-License-Identifier: Apache-2.0
"""Draws a split machine. All coordinates are inches from the lower left corner, so what is round stays round."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from bhtool.config.explain import MONITOR
from bhtool.config.plan import Plan
from bhtool.image.payloads import Report
from bhtool.picture.layout import Box, Layout, Line, Row, Text, lay_out
from bhtool.picture.split import split_of
from bhtool.provision.venv import ensure_plotting
from bhtool.terminal.screen import COLOURS

DOTS_PER_INCH = 144
# The colours that the terminal gives to names, in its order (bhtool.terminal.screen), as they look well on white.
PALETTE = {
    "cyan": "#1f9aa8",
    "green": "#3f9142",
    "magenta": "#a349a4",
    "yellow": "#c98a00",
    "blue": "#3b6fc4",
    "bright_red": "#d8483c",
    "bright_cyan": "#56bfd0",
    "bright_green": "#86b93a",
}
MONITORS, NOBODYS, INK, FAINT, PAPER = "#4a5056", "#eceff1", "#22272b", "#6c757d", "#ffffff"
LINES, HATCH = "#c3cace", "#e4e8eb"
BASELINE = 0.36 / 72  # of a point of text: its middle above its baseline, in inches
STROKES = {"kick": "-", "log": (0, (1.2, 1.6)), "notice": (0, (4, 2)), "channel": (0, (4, 1.5, 1, 1.5))}


def colours_of(names: list[str]) -> dict[str, str]:
    own = {name: PALETTE[COLOURS[n % len(COLOURS)]] for n, name in enumerate(names)}
    return own | {MONITOR: MONITORS, "": NOBODYS}


def draw_split(plan: Plan, file: Path, report: Report) -> None:
    """The plan is valid; the file's name is one that require_format takes."""
    ensure_plotting(report)
    importlib.import_module("matplotlib").use("Agg")
    settings = {"font.family": "DejaVu Sans", "svg.hashsalt": "bulkhead"}  # the same plan, the same file
    importlib.import_module("matplotlib").rcParams.update(settings)
    pyplot = importlib.import_module("matplotlib.pyplot")
    layout = lay_out(split_of(plan))
    figure = pyplot.figure(figsize=(layout.width, layout.height), dpi=DOTS_PER_INCH, facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, layout.width)
    axes.set_ylim(0, layout.height)
    axes.axis("off")
    _paint(axes, layout, colours_of([one.name for one in plan.sandboxes]))
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    pyplot.close(figure)


def _paint(axes: Any, layout: Layout, colours: dict[str, str]) -> None:
    for row in layout.rows:
        _title(axes, row)
    for line in layout.lines:
        _line(axes, line, colours)
    for box in layout.boxes:
        _box(axes, box, colours)
    for text in layout.texts:
        _text(axes, text, colours)


def _title(axes: Any, row: Row) -> None:
    axes.text(row.x, row.y, row.name, fontsize=9, color=FAINT, va="center", ha="left", weight="bold")


def _box(axes: Any, box: Box, colours: dict[str, str]) -> None:
    patches = importlib.import_module("matplotlib.patches")
    colour = colours[box.owner]
    style = f"round,pad=0,rounding_size={min(0.07, box.width / 3, box.height / 3)}" if box.is_round else "square,pad=0"
    face, edge = (_tint(colour), colour) if box.is_light else (colour, colour if box.is_round else PAPER)
    if not box.owner:
        face, edge = PAPER, LINES
    hatch = "////" if not box.owner and box.is_hatched else None
    axes.add_patch(
        patches.FancyBboxPatch(
            (box.x, box.y),
            box.width,
            box.height,
            boxstyle=style,
            facecolor=face,
            edgecolor=edge,
            hatchcolor=HATCH,
            linewidth=0.9,
            hatch=hatch,
            zorder=box.above,
        )
    )


def _tint(colour: str) -> str:
    """The colour on paper, thinly."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{255 - (255 - part) // 8:02x}" for part in parts)


def _text(axes: Any, text: Text, colours: dict[str, str]) -> None:
    colour = {"ink": INK, "faint": FAINT, "paper": PAPER}.get(text.colour) or colours[text.colour]
    axes.text(
        text.x,
        text.y if text.is_upright else text.y - BASELINE * text.points,
        text.words.replace("$", r"\$"),
        fontsize=text.points,
        color=colour,
        rotation=90 if text.is_upright else 0,
        weight="bold" if text.is_bold else "normal",
        ha=text.align,
        va="center" if text.is_upright else "baseline",
        zorder=6,
    )


def _line(axes: Any, line: Line, colours: dict[str, str]) -> None:
    patches, path = importlib.import_module("matplotlib.patches"), importlib.import_module("matplotlib.path").Path
    codes = [path.MOVETO] + ([path.CURVE4] * 3 if len(line.points) == 4 else [path.LINETO] * (len(line.points) - 1))
    axes.add_patch(
        patches.FancyArrowPatch(
            path=path(line.points, codes),
            arrowstyle="-|>,head_width=2.6,head_length=5" if line.is_arrow else "-",
            color=colours[line.owner] if line.owner else LINES,
            linewidth=1.7 if line.is_arrow else 0.7,
            linestyle=STROKES[line.kind] if line.kind else "-",
            shrinkA=0,
            shrinkB=0,
            zorder=2 if line.is_arrow else 1,
        )
    )
