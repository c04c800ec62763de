# SPDX-License-Identifier: Apache-2.0
"""A time line as a picture: a row for each VCPU, dark where it ran on its budget and light where it ran without."""

import importlib
from collections.abc import Iterable, Mapping
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
MOST_TIMES = 100  # as long as a sandbox's own window, at most, is one that it shares
NOBODY = "no VCPU ran in what the rings hold; run for longer (`--seconds`), or have the rings hold more (`--ring`)"


@dataclass(frozen=True)
class Window:
    """ns of the machine's clock, which is guest time."""

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


def recorded(rows: Iterable[Row]) -> Window:
    """From the oldest record to the latest."""
    lines = [row.line for row in rows]
    return Window(min(line.start for line in lines), max(line.end for line in lines))


def of_sandboxes(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.trace.sandbox, []).append(row)
    return found


def _own_window(rows: list[Row], start_ms: float | None, length_ms: float | None) -> Window:
    """Of one sandbox: from where its last VCPU has run for the first time; as long as some periods of all but the main program, whose is long."""
    first = max(row.line.runs[row.row][0].start for row in rows)
    start = first if start_ms is None else round(start_ms * NS_PER_MS)
    periods = [row.trace.ns(row.vcpu.period) for row in rows if row.vcpu.name != "main"] or [row.trace.ns(row.vcpu.period) for row in rows]
    return Window(start, start + (PERIODS * max(periods) if length_ms is None else round(length_ms * NS_PER_MS)))


def windows_of(rows: list[Row], start_ms: float | None, length_ms: float | None) -> dict[str, Window]:
    """What is shown, by sandbox. The times and periods are claims of sandboxes: none of them takes what another one did out of the picture.

    All have one window, from where the last of them begins, if it shows as much of each as a window of its own would, and is not too long to see
    anything in it. Otherwise each has its own.
    """
    held = of_sandboxes(rows)
    own = {name: _own_window(some, start_ms, length_ms) for name, some in held.items()}
    lengths = [one.end - one.start for one in own.values()]
    start = max(one.start for one in own.values())
    ends = {name: recorded(some).end for name, some in held.items()}
    is_shown = all(ends[name] - start >= min(one.end, ends[name]) - one.start for name, one in own.items())
    if is_shown and max(lengths) <= MOST_TIMES * min(lengths):
        return dict.fromkeys(held, Window(start, start + max(lengths)))
    return own


def nothing_recorded(rows: list[Row], windows: Mapping[str, Window]) -> str:
    """Why these windows are empty; empty: in one of them something was recorded."""
    for name, some in of_sandboxes(rows).items():
        had = recorded(some)
        if windows[name].start < had.end and windows[name].end > had.start:
            return ""
    had, (asked, *_) = recorded(rows), windows.values()
    start, end, first, last = (f"{ns / NS_PER_MS:,.3f}" for ns in (asked.start, asked.end, had.start, had.end))
    return (
        f"nothing was recorded from {start} to {end} ms of guest time; the trace is {(had.end - had.start) / NS:,.3f} s long, from {first} to {last} ms; "
        "give another --from, or a longer --span"
    )


def _bars(axes: Any, place: int, spans: list[tuple[int, int]], window: Window, colour: str, height: float) -> None:
    shown = [(max(start, window.start), min(end, window.end)) for start, end in spans if start < window.end and end > window.start]
    axes.broken_barh(
        [(start / NS_PER_MS, (end - start) / NS_PER_MS) for start, end in shown],
        (place - height / 2, height),
        color=colour,
    )


def _draw_row(axes: Any, place: int, row: Row, window: Window) -> None:
    slices = row.line.runs[row.row]
    for foreground, colour in ((True, FOREGROUND), (False, BACKGROUND)):
        _bars(axes, place, [(one.start, one.end) for one in slices if one.foreground == foreground], window, colour, 0.7)
    times = [at / NS_PER_MS for at in row.line.used_up.get(row.row, []) if window.start <= at <= window.end]
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
    axes.plot([one.start / NS_PER_MS for one in interrupts], [0] * len(interrupts), "|", color=INTERRUPT, markersize=8)
    axes.set_yticks(range(len(rows) + 1), ["interrupts", *map(_label, reversed(rows))], fontsize="small", parse_math=False)
    axes.set_ylim(-0.5, len(rows) + 0.6)
    axes.set_xlim(window.start / NS_PER_MS, window.end / NS_PER_MS)


def draw(
    traces: list[tuple[Trace, list[Timeline]]], file: Path, report: Report, start_ms: float | None = None, length_ms: float | None = None
) -> str:
    """Returns why there is no file; empty: there is one."""
    cores = [rows for trace, lines in traces for line in lines if (rows := rows_of(trace, line))]
    if not cores:
        return NOBODY
    every = [row for rows in cores for row in rows]
    windows = windows_of(every, start_ms, length_ms)
    if why := nothing_recorded(every, windows):
        return why
    ensure_plotting(report)
    importlib.import_module("matplotlib").use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    patches = importlib.import_module("matplotlib.patches")
    is_one = len(set(windows.values())) == 1
    heights = [TITLE_INCHES + ROW_INCHES * (len(rows) + 1) for rows in cores]
    size = (WIDTH_INCHES, sum(heights))
    figure, grid = pyplot.subplots(len(cores), 1, figsize=size, height_ratios=heights, squeeze=False, layout="constrained", sharex=is_one)
    for axes, rows in zip(grid[:, 0], cores, strict=True):
        draw_core(axes, rows, windows[rows[0].trace.sandbox])
        axes.ticklabel_format(axis="x", useOffset=False)
        if not is_one or axes is grid[-1, 0]:
            axes.set_xlabel("ms of guest time")
    marker = importlib.import_module("matplotlib.lines").Line2D([], [], linestyle="", marker="v", color=USED_UP, label="budget used up")
    shades = [patches.Patch(color=colour, label=label) for colour, label in ((FOREGROUND, "on its budget"), (BACKGROUND, "without"))]
    figure.legend(handles=[*shades, marker], loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    figure.savefig(file)
    pyplot.close(figure)
    return ""
