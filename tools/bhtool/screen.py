# SPDX-License-Identifier: Apache-2.0
"""What the user sees: results on standard output, progress and complaints on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.status import Status as Spinner
from rich.table import Table
from rich.text import Text

from bhtool.terminal import PlainConsole

COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_red", "bright_cyan", "bright_green")


def table_of(title: str, *columns: str, lines: bool = False) -> Table:
    """A table without frames, which leave too little of eighty columns; it wraps long words rather than cutting them."""
    table = Table(title=title, show_lines=lines, box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.title_justify = table.caption_justify = "left"
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


class Screen:
    def __init__(self) -> None:
        self.out = PlainConsole(highlight=False, soft_wrap=True)
        self.err = PlainConsole(stderr=True, highlight=False, soft_wrap=True)
        self._spinner: Spinner | None = None
        self._colours: dict[str, str] = {}
        self._width = 0
        self._diagnosed: set[str] = set()

    def name_sandboxes(self, names: list[str]) -> None:
        """Gives each a colour and all the same column."""
        self._colours = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(names)}
        self._width = max(map(len, names), default=0)

    def report(self, text: str) -> None:
        """Progress: replaces the last on a terminal, else a line of its own."""
        if self._spinner is not None:
            self._spinner.update(Text(text))
        else:
            self.err.print(Text(f"{text} ...", "dim"))

    def update(self, text: str) -> None:
        """Progress that is worth nothing once it is past: shown on a terminal only."""
        if self._spinner is not None:
            self._spinner.update(Text(text))

    @contextmanager
    def progress(self, text: str) -> Iterator[None]:
        """A spinner with elapsed work under it, on a terminal."""
        if not self.err.is_terminal or self._spinner is not None:
            self.report(text)
            yield
            return
        with self.err.status(Text(text)) as self._spinner:
            try:
                yield
            finally:
                self._spinner = None

    def line(self, sandbox: str, text: str, style: str = "") -> None:
        """One console line under its sandbox's name."""
        name = Text(f"{sandbox:>{self._width}} ", self._colours.get(sandbox, ""))
        self.out.print(name + Text("│ ", "dim") + Text(text, style))

    def summary(self, table: RenderableType) -> None:
        self.out.print()
        self.out.print(table, soft_wrap=False)

    def say(self, text: str | Text) -> None:
        """A line of the result."""
        self.out.print(Text(text) if isinstance(text, str) else text)

    def warn(self, text: str) -> None:
        """Something the user should know that stops nothing."""
        self.err.print(Text(text))

    def diagnose(self, found: object) -> None:
        """What the checker says of a partition file, as `file:line: rule: text`, in every verb the same, and once for several machines."""
        if str(found) not in self._diagnosed:
            self.warn(str(found))
        self._diagnosed.add(str(found))

    def complain(self, text: str) -> None:
        """Why what was asked for fails."""
        self.err.print(Text("bulkhead: ", "bold red") + Text(text))
