# SPDX-License-Identifier: Apache-2.0
"""A console of rich's that prints text only: whatever a file, a name or a guest holds, only rich's own codes reach the terminal."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from bhtool.text import visible_lines


class PlainConsole(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for one in super().render(renderable, options):
            yield one if one.control else Segment(visible_lines(one.text), one.style)
