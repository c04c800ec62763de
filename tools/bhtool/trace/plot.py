# SPDX-License-Identifier: Apache-2.0
"""A time line as a picture: a row for each VCPU, dark where it ran on its budget and light where it ran without."""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bhtool.errors import BulkheadError, Status
from bhtool.image.payloads import Report
from bhtool.provision.venv import ensure_plotting
from bhtool.trace.rings import NS, Trace, Vcpu
from bhtool.trace.timeline import Timeline

FORMATS = (".svg", ".png", ".pdf")
WIDTH_INCHES, ROW_INCHES, TITLE_INCHES = 9.0, 0.42, 1.0
FOREGROUND, BACKGROUND, USED_UP, INTERRUPT = "#4477aa", "#bbccee", "#ee6677", "#222222"  # told apart by colour-blind readers, too
NS_PER_MS = NS // 1000
PERIODS = 4  # of the longest, that are shown


@dataclass(frozen=True)
class Window:
    """ns of the machine's clock."""

    start: int
    end: int


@dataclass(frozen=True)
class Row:
    """A VCPU on its core."""

    trace: Trace
    line: Timeline
    row: int
    vcpu: Vcpu


def require_format(file: Path) -> None:
    """Before a machine is run for it."""
    if file.suffix not in FORMATS:
        raise BulkheadError(f"{file} cannot be drawn: its name must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}", Status.USAGE)


def rows_of(trace: Trace, line: Timeline) -> list[Row]:
    """Of VCPUs that ran: the shortest period, which comes first, at the top."""
    rows = [Row(trace, line, row, vcpu) for row, vcpu in trace.vcpus.items() if row in line.runs]
    return sorted(rows, key=lambda row: row.vcpu.period)


def window_of(rows: list[Row], start_ms: float | None, length_ms: float | None) -> Window:
    """From where the last VCPU has run for the first time; as long as some periods of all but the main program, whose is long."""
    first = max(row.line.runs[row.row][0].start for row in rows)
    zero = min(row.line.start for row in rows)
    start = first if start_ms is None else zero + round(start_ms * NS_PER_MS)
    periods = [row.trace.ns(row.vcpu.period) for row in rows if row.vcpu.name != "main"] or [row.trace.ns(row.vcpu.period) for row in rows]
    return Window(start, start + (PERIODS * max(periods) if length_ms is None else round(length_ms * NS_PER_MS)))


def _bars(axes: Any, place: int, spans: list[tuple[int, int]], window: Window, colour: str, height: float) -> None:
    shown = [(max(start, window.start), min(end, window.end)) for start, end in spans if start < window.end and end > window.start]
    axes.broken_barh(
        [((start - window.start) / NS_PER_MS, (end - start) / NS_PER_MS) for start, end in shown],
        (place - height / 2, height),
        color=colour,
    )


def _draw_row(axes: Any, place: int, row: Row, window: Window) -> None:
    slices = row.line.runs[row.row]
    for foreground, colour in ((True, FOREGROUND), (False, BACKGROUND)):
        _bars(axes, place, [(one.start, one.end) for one in slices if one.foreground == foreground], window, colour, 0.7)
    times = [(at - window.start) / NS_PER_MS for at in row.line.used_up.get(row.row, []) if window.start <= at <= window.end]
    axes.plot(times, [place + 0.42] * len(times), linestyle="", marker="v", markersize=4, color=USED_UP)


def _label(row: Row) -> str:
    budget, period = (row.trace.ns(ticks) / 1000 for ticks in (row.vcpu.budget, row.vcpu.period))
    return f"{row.vcpu.name}\n{budget:,.0f} of {period:,.0f} µs"


def draw_core(axes: Any, rows: list[Row], window: Window) -> None:
    """Names come from a sandbox: what stands between dollar signs is no formula."""
    line = rows[0].line
    axes.set_title(f"{rows[0].trace.sandbox}, core {line.core}", loc="left", fontsize="medium")
    for place, row in enumerate(reversed(rows), 1):
        _draw_row(axes, place, row, window)
    interrupts = [one for one in line.slices("interrupt") if window.start <= one.start <= window.end]
    axes.plot([(one.start - window.start) / NS_PER_MS for one in interrupts], [0] * len(interrupts), "|", color=INTERRUPT, markersize=8)
    axes.set_yticks(range(len(rows) + 1), ["interrupts", *map(_label, reversed(rows))], fontsize="small", parse_math=False)
    axes.set_ylim(-0.5, len(rows) + 0.6)
    axes.set_xlim(0, (window.end - window.start) / NS_PER_MS)


def draw(
    traces: list[tuple[Trace, list[Timeline]]], file: Path, report: Report, start_ms: float | None = None, length_ms: float | None = None
) -> bool:
    """Returns False, with no file, where no VCPU ran."""
    cores = [rows for trace, lines in traces for line in lines if (rows := rows_of(trace, line))]
    if not cores:
        return False
    ensure_plotting(report)
    importlib.import_module("matplotlib").use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    patches = importlib.import_module("matplotlib.patches")
    window = window_of([row for rows in cores for row in rows], start_ms, length_ms)
    heights = [TITLE_INCHES + ROW_INCHES * (len(rows) + 1) for rows in cores]
    size = (WIDTH_INCHES, sum(heights))
    figure, grid = pyplot.subplots(len(cores), 1, figsize=size, height_ratios=heights, squeeze=False, layout="constrained", sharex=True)
    for axes, rows in zip(grid[:, 0], cores, strict=True):
        draw_core(axes, rows, window)
    grid[-1, 0].set_xlabel("ms")
    marker = importlib.import_module("matplotlib.lines").Line2D([], [], linestyle="", marker="v", color=USED_UP, label="budget used up")
    shades = [patches.Patch(color=colour, label=label) for colour, label in ((FOREGROUND, "on its budget"), (BACKGROUND, "without"))]
    figure.legend(handles=[*shades, marker], loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    figure.savefig(file)
    pyplot.close(figure)
    return True
