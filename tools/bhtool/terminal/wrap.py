# SPDX-License-Identifier: Apache-2.0
"""Lines cut into rows of a terminal."""

from rich.cells import cell_len, chop_cells

SHORTEST_TEXT = 8  # cells that are left for the text, however long the names are


def name_width(longest: int, columns: int, bar: str) -> int:
    """Cells for the column of names, so that a text beside it still has some."""
    return max(3, min(longest, columns - len(bar) - SHORTEST_TEXT))


def rows_of(text: str, width: int) -> list[str]:
    """The text in rows of at most `width` cells, at least one row; cut at a blank where one is near the end of a row."""
    if len(text) <= width and text.isascii():
        return [text]
    rows = []
    while cell_len(text) > width:
        row = text[:width] if text.isascii() else chop_cells(text, width)[0]
        blank = text.rfind(" ", len(row) * 2 // 3, len(row) + 1)
        if blank > 0:
            row = text[:blank]
        rows.append(row or text[:1])
        text = text[len(rows[-1]) :].removeprefix(" ")
    return [*rows, text]
