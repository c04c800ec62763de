# SPDX-License-Identifier: Apache-2.0
"""A console of rich's that prints text only: whatever a file, a name or a guest holds, only rich's own codes reach the terminal."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from bhtool.text import visible_lines


class PlainConsole(Console):
    """Text is no markup, in whatever cell or title it stands: `[red]` and `:smile:` are shown as they are. Style comes from Text objects alone."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for one in super().render(renderable, options):
            yield one if one.control else Segment(visible_lines(one.text), one.style)
