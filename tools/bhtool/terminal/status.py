# SPDX-License-Identifier: Apache-2.0
"""What stands in the last rows of a terminal: how far work has come, or how a machine's sandboxes are."""

from dataclasses import dataclass

from rich.text import Text

from bhtool.text import counted

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_A_SECOND = 5
STYLES = {"ready": "green", "running": "yellow", "parked": "bold red", "panicked": "bold red", "off": "dim", "cold": "dim"}


def spinner(seconds: float) -> str:
    return FRAMES[int(seconds * FRAMES_A_SECOND) % len(FRAMES)]


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


@dataclass(frozen=True)
class Work:
    """One row: what is being done, for how long."""

    text: str

    def rows(self, columns: int, rows: int, seconds: float) -> list[Text]:
        passed = f"  {clock(seconds)}" if seconds >= 1 else ""
        text = Text(self.text)
        text.truncate(max(1, columns - 2 - len(passed)), overflow="ellipsis")
        return [Text.assemble((spinner(seconds), "cyan"), " ", text, (passed, "dim"))]


@dataclass(frozen=True)
class Row:
    """One sandbox."""

    name: str
    style: str
    state: str
    beats: int | None
    gaps: int
    exits_a_second: float | None
    restarts: int

    def cells(self) -> list[tuple[str, str]]:
        """(text, style) of each column after the name."""
        beats = "" if self.beats is None else counted(self.beats, "beat")
        gaps = counted(self.gaps, "gap") if self.gaps else ""
        exits = "" if self.exits_a_second is None else f"{self.exits_a_second:,.0f} exits/s"
        restarts = f"restart {self.restarts:,}" if self.restarts else ""
        return [(beats, ""), (gaps, "yellow"), (exits, ""), (restarts, "yellow")]


@dataclass(frozen=True)
class Board:
    """A machine that runs: a rule with what is known of the whole, and one row a sandbox."""

    title: tuple[str, ...]  # most important first
    sandboxes: tuple[Row, ...]
    width: int  # of the column of names
    bar: str

    def rows(self, columns: int, rows: int, seconds: float) -> list[Text]:
        shown = self.sandboxes if len(self.sandboxes) < rows else self.sandboxes[: max(0, rows - 2)]
        table = self._table(shown, columns)
        if rows > 1 and len(shown) < len(self.sandboxes):
            table.append(Text(f"{counted(len(self.sandboxes) - len(shown), 'sandbox', 'sandboxes')} more", "dim"))
        return [self._rule(columns, seconds), *table]

    def _rule(self, columns: int, seconds: float) -> Text:
        passed = f" {clock(seconds)} "
        title = Text.assemble("─ ", (self.title[0], "bold"), *(f" · {part}" for part in self.title[1:]), " ")
        title.stylize("dim", 0, 2)
        title.truncate(max(1, columns - len(passed) - 3), overflow="ellipsis")
        line = max(0, columns - 2 - title.cell_len - len(passed))
        return Text.assemble(title, ("─" * line, "dim"), " ", (spinner(seconds), "cyan"), (passed, "dim"))

    def _table(self, shown: tuple[Row, ...], columns: int) -> list[Text]:
        cells = [row.cells() for row in shown]
        states = max((len(row.state) for row in shown), default=0)
        widths = [max(map(len, column)) for column in zip(*([text for text, _ in row] for row in cells), strict=True)] if cells else []
        found = []
        for row, columns_of_row in zip(shown, cells, strict=True):
            line = Text.assemble((f"{row.name[: self.width]:>{self.width}}", row.style), (self.bar, "dim"))
            line.append(f"{row.state:<{states}}", STYLES.get(row.state, ""))
            for (text, style), width in zip(columns_of_row, widths, strict=True):
                if width:
                    line.append(f"  {text:>{width}}", style)
            found.append(line)
        return found
