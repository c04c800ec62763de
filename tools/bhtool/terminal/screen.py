# SPDX-License-Identifier: Apache-2.0
"""What the user sees: results on standard output, progress and complaints on standard error.

Where both are one terminal, work in progress has a live display of its own (bhtool.terminal.live), and all that is said goes through it. Anywhere else
each line is printed where it belongs, once and for good.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.box import SIMPLE_HEAD
from rich.console import COLOR_SYSTEMS, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from bhtool import paths
from bhtool.terminal import tty
from bhtool.terminal.live import Bottom, Live
from bhtool.terminal.logfile import TOOL, Log
from bhtool.terminal.plain import PlainConsole
from bhtool.terminal.status import Work
from bhtool.terminal.wrap import name_width, rows_of
from bhtool.text import visible, visible_lines

COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_red", "bright_cyan", "bright_green")
WIDEST = 160  # columns of a table where there is no terminal


def table_of(title: str, *columns: str, lines: bool = False) -> Table:
    """A table without frames, which leave too little of eighty columns; it wraps long words rather than cutting them."""
    table = Table(title=title, show_lines=lines, box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.title_justify = table.caption_justify = "left"
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


class Screen:
    def __init__(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        self.out = PlainConsole(soft_wrap=True)
        if not self.out.is_terminal and "COLUMNS" not in os.environ:
            self.out.width = WIDEST
        self.err = PlainConsole(stderr=True, soft_wrap=True)
        self.log: Log | None = None
        self._live: Live | None = None
        self._colours: dict[str, str] = {}
        self._width = 0
        self._diagnosed: set[str] = set()
        self._is_handed_over = False
        self._has_told_why = False  # there is no live display
        self._bar = " │ " if tty.encodes("│") else " | "

    @property
    def is_live(self) -> bool:
        return self._live is not None

    @property
    def bar(self) -> str:
        """What stands between a name and its text."""
        return self._bar

    def colour(self, sandbox: str) -> str:
        return self._colours.get(sandbox, "")

    def name_sandboxes(self, names: list[str]) -> None:
        """Gives each a colour and all the same column."""
        self._colours = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(names)}
        self._width = max(map(len, names), default=0)
        if self.log:
            self.log.name_sandboxes(names)

    def name_width(self) -> int:
        """Cells of the column of names, on this terminal as it is now."""
        return name_width(self._width, tty.size(1)[0], self._bar) if self.out.is_terminal else self._width

    def text_width(self) -> int:
        """Cells beside that column; what is made for a pipe or a file may be wider."""
        return tty.size(1)[0] - self.name_width() - len(self._bar) if self.out.is_terminal else WIDEST

    def report(self, text: str) -> None:
        """Progress: replaces the last on a terminal, else a line of its own."""
        self.record(text)
        if self._live is not None:
            self._live.show(Work(visible(text)))
        else:
            self.err.print(Text(f"{text} ...", "dim"))

    def update(self, text: str) -> None:
        """Progress that is worth nothing once it is past: shown on a terminal only."""
        if self._live is not None:
            self._live.show(Work(visible(text)))

    def show(self, bottom: Bottom) -> None:
        """The same for more than a line."""
        if self._live is not None:
            self._live.show(bottom)

    @contextmanager
    def progress(self, text: str) -> Iterator[None]:
        """A live display of what is being done, where there can be one."""
        if self._live is not None or not tty.can_be_live():
            if self._live is None and tty.is_behind() and not self._has_told_why:
                self._has_told_why = True
                self.err.print(Text("in the background of this terminal: plain lines, no live display", "dim"))
            self.report(text)
            yield
            return
        self.record(text)
        sys.stdout.flush()
        live = Live(1, Work(visible(text)), self._rendered, self.out.encoding)
        with live:
            self._live = live
            try:
                yield
            finally:
                self._live = None

    @contextmanager
    def handed_over(self) -> Iterator[None]:
        """One sandbox has the terminal; lines go to the log alone."""
        self._is_handed_over = True
        try:
            yield
        finally:
            self._is_handed_over = False

    def line(self, sandbox: str, text: str, style: str = "") -> None:
        """One console line under its sandbox's name."""
        self.record(text, sandbox)
        self.put(sandbox, text, style)

    def put(self, sandbox: str, text: str, style: str = "") -> None:
        """The same, but not for the log. Further rows on a terminal stand below the text, not below the name."""
        if self._is_handed_over:
            return
        if not self.out.is_terminal:
            text = "\t".join(map(visible, text.split("\t")))
            self.out.file.write(f"{sandbox:>{self._width}}{self._bar}{text}\n")
            return
        columns = tty.size(1)[0]
        width = name_width(self._width, columns, self._bar)
        name, indent = self._styled(f"{sandbox[:width]:>{width}}", self.colour(sandbox)), " " * width
        bar = self._styled(self._bar, "dim")
        rows = rows_of(visible(text.expandtabs()), max(1, columns - width - len(self._bar)))
        self._print("\n".join((name if n == 0 else indent) + bar + self._styled(row, style) for n, row in enumerate(rows)))

    def flush(self) -> None:
        """What has been said reaches who reads a pipe or the log."""
        self.out.file.flush()
        if self.log:
            self.log.flush()

    def record(self, text: str, name: str = TOOL) -> None:
        """For the log alone."""
        if self.log:
            self.log.write(visible_lines(text.expandtabs()), name)

    def summary(self, table: RenderableType) -> None:
        """A table, or closing words, after a blank line; words are left in their lines, as commands in them may be pasted."""
        if isinstance(table, str):
            self._print("")
            self.say(table)
            return
        text = self._rendered_table(table)
        self.record(Text.from_ansi(text).plain)
        self._print("\n" + text)

    def say(self, text: str | Text) -> None:
        """A line of the result."""
        text = Text(paths.named(text)) if isinstance(text, str) else text
        self.record(text.plain)
        self._print(self._rendered(text))

    def warn(self, text: str) -> None:
        """Something the user should know that stops nothing."""
        self._complain(Text(paths.named(text)))

    def diagnose(self, found: object) -> None:
        """What the checker says of a partition file, as `file:line: rule: text`, in every verb the same, and once for several machines."""
        if str(found) not in self._diagnosed:
            self.warn(str(found))
        self._diagnosed.add(str(found))

    def complain(self, text: str) -> None:
        """Why what was asked for fails."""
        self._complain(Text("bulkhead: ", "bold red") + Text(paths.named(text)))

    def _complain(self, text: Text) -> None:
        self.record(text.plain)
        if self._live is not None:
            self._live.above(self._rendered(text))
        else:
            self.out.file.flush()  # in one pipe for both, what was said before comes before
            self.err.print(text)

    def _print(self, text: str) -> None:
        """To standard output, as it stands."""
        if self._live is not None:
            self._live.above(text)
        else:
            self.out.file.write(f"{text}\n")
            self.out.file.flush()

    def _styled(self, text: str, style: str) -> str:
        """As a Text would be rendered, in a hundredth of the time; a sandbox may say ten thousand lines a second."""
        if not style or self.out.no_color or self.out.color_system is None:
            return text
        return Style.parse(style).render(text, color_system=COLOR_SYSTEMS[self.out.color_system])

    def _rendered(self, text: Text) -> str:
        with self.out.capture() as captured:
            self.out.print(text, end="")
        return captured.get()

    def _rendered_table(self, table: RenderableType) -> str:
        """As wide as it has to be; no blanks at the ends of its lines. What stands above and below a table may be wider than it is."""
        parts = [table]
        if isinstance(table, Table):
            parts = [Text(str(table.title), "bold"), table, *([Text(str(table.caption), "dim")] if table.caption else [])]
            table.title = table.caption = None
        with self.out.capture() as captured:
            self.out.print(Group(*parts), soft_wrap=False)
        return "\n".join(line.rstrip() for line in captured.get().splitlines())
