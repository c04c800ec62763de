# SPDX-License-Identifier: Apache-2.0
"""A command on a terminal in memory, as a picture. The README's comes from a real run:

tools/bulkhead setup
PYTHONPATH=tools build/venv/bin/python -m bhtool.documents.terminal_picture docs/pictures/run.svg
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from html import escape
from itertools import groupby
from pathlib import Path

import click
import pyte
from pyte.screens import Char

from bhtool import paths
from bhtool.errors import BulkheadError, Status

MOMENT = r"linux │ is ready.*(beats.*){8}running(.*beats){2}"  # Linux is up, and the others have gone on for a while
FONT = "ui-monospace, 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
SIZE, CELL, ROW, EDGE, BAR = 14, 8.4, 18, 14, 30  # pixels: of the font, of a cell, around the text, above it
PAPER, TITLE_BAR, INK = "#15191f", "#242a33", "#d5dae2"
COLOURS = {
    "default": INK,
    "black": "#3b4350",
    "red": "#f2777a",
    "green": "#8ec07c",
    "brown": "#e5c07b",
    "blue": "#7aa2f7",
    "magenta": "#c792ea",
    "cyan": "#56c8d8",
    "white": "#f4f6f8",
    "brightblack": "#6b7686",
    "brightred": "#ff8f8f",
    "brightgreen": "#b3e39b",
    "brightcyan": "#8be9f5",
}
DIM, GREY = b"\x1b[2m", b"\x1b[90m"  # pyte knows no dim text


def runs(row: list[Char]) -> list[tuple[int, str, Char]]:
    """(first cell, text, look) of each stretch that looks the same; no blanks at its ends."""
    found, at = [], 0
    for look, cells in groupby(row, key=lambda cell: (cell.fg, cell.bold)):
        same = list(cells)
        text = "".join(cell.data for cell in same)
        if text.strip():
            found.append((at + len(text) - len(text.lstrip()), text.strip(), same[0]._replace(fg=look[0])))
        at += len(same)
    return found


def text_of(x: float, y: float, text: str, colour: str, bold: bool) -> str:
    """A stretch of text of exactly as many cells as it has characters, whatever font there is."""
    weight = ' font-weight="bold"' if bold else ""
    stretched = f'textLength="{len(text) * CELL:.1f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}"{weight} {stretched} xml:space="preserve">{escape(text)}</text>'


def drawn(screen: pyte.Screen, title: str) -> str:
    """The terminal as SVG, rows down to the last that is not empty."""
    last = max((y for y, line in enumerate(screen.display) if line.strip()), default=0)
    width, height = screen.columns * CELL + 2 * EDGE, BAR + (last + 1) * ROW + 2 * EDGE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">',
        f'<g font-family="{escape(FONT)}" font-size="{SIZE}">',
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="{PAPER}"/>',
        f'<path d="M0 {BAR}V8a8 8 0 0 1 8-8H{width - 8:.0f}a8 8 0 0 1 8 8V{BAR}z" fill="{TITLE_BAR}"/>',
        text_of(EDGE, BAR * 0.66, f"$ {title}", COLOURS["default"], bold=False),
    ]
    for y in range(last + 1):
        for x, text, look in runs([screen.buffer[y][x] for x in range(screen.columns)]):
            colour = COLOURS.get(look.fg, f"#{look.fg}" if re.fullmatch("[0-9a-f]{6}", look.fg) else INK)
            lines.append(text_of(EDGE + x * CELL, BAR + EDGE + y * ROW + SIZE, text, colour, look.bold))
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def start(command: list[str], columns: int, rows: int) -> tuple[subprocess.Popen[bytes], int]:
    """The command with a terminal of its own, and our end of that."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR", "COLUMNS")}
    environment["TERM"] = "xterm-256color"
    program = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, start_new_session=True, env=environment, cwd=paths.ROOT)
    os.close(its)
    return program, ours


def watch(program: subprocess.Popen[bytes], terminal: int, screen: pyte.Screen, moment: re.Pattern[str], limit: float) -> bool:
    """Feeds the screen until it shows the moment; False: it never did."""
    stream, deadline = pyte.ByteStream(screen), time.monotonic() + limit
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            stream.feed(os.read(terminal, 1 << 16).replace(DIM, GREY))
        except OSError:  # the program has ended
            return bool(moment.search("\n".join(screen.display)))
        if program.poll() is None and moment.search("\n".join(screen.display)):
            return True
    return False


@click.command()
@click.argument("output", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("command", nargs=-1)
@click.option("--columns", default=80, show_default=True)
@click.option("--rows", default=24, show_default=True)
@click.option("--moment", default=MOMENT, help="When to draw: a pattern for what the terminal shows.")
@click.option("--limit", default=900.0, show_default=True, help="Seconds to wait for it.")
def picture(output: Path, command: tuple[str, ...], columns: int, rows: int, moment: str, limit: float) -> None:
    """Run `tools/bulkhead COMMAND` on a terminal and draw it as SVG; default: `run`, its machine in the middle of its work."""
    screen = pyte.Screen(columns, rows)
    screen.set_mode(pyte.modes.LNM)
    words = list(command) or ["run"]
    program, terminal = start([str(paths.ROOT / "tools" / "bulkhead"), *words], columns, rows)
    try:
        if not watch(program, terminal, screen, re.compile(moment, re.DOTALL), limit):
            raise BulkheadError(f"the terminal never showed {moment}", Status.TIME_LIMIT)
        output.write_text(drawn(screen, " ".join(["tools/bulkhead", *words])), encoding="utf-8")
    finally:
        program.terminate()
        program.wait()
        os.close(terminal)


if __name__ == "__main__":
    picture()
