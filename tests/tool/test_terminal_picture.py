# SPDX-License-Identifier: Apache-2.0
"""The README's picture of a run: a terminal's cells as SVG."""

from xml.etree import ElementTree

import pyte
from bhtool.documents.terminal_picture import COLOURS, drawn

SVG = "{http://www.w3.org/2000/svg}"


def texts(screen: pyte.Screen) -> dict[str, tuple[str, str | None]]:
    """Colour and weight of each text; the picture is well-formed whatever was on the screen."""
    found = ElementTree.fromstring(drawn(screen, "run <&>")).iter(f"{SVG}text")
    return {one.text or "": (one.get("fill", ""), one.get("font-weight")) for one in found}


def test_cells_become_text_of_their_colour() -> None:
    screen = pyte.Screen(40, 5)
    pyte.Stream(screen).feed("\x1b[32mnorth\x1b[0m │ a < b & c\r\n\x1b[1;31mparked\x1b[0m")
    assert texts(screen) == {
        "$ run <&>": (COLOURS["default"], None),
        "north": (COLOURS["green"], None),
        "│ a < b & c": (COLOURS["default"], None),
        "parked": (COLOURS["red"], "bold"),
    }


def test_rows_below_the_last_text_are_left_out() -> None:
    heights = []
    for rows in (1, 3):
        screen = pyte.Screen(40, 20)
        pyte.Stream(screen).feed("x\r\n" * rows)
        heights.append(float(ElementTree.fromstring(drawn(screen, "run")).get("height", "0")))
    assert heights[1] - heights[0] == 36
