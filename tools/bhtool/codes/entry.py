# SPDX-License-Identifier: Apache-2.0
"""One code and what there is to say of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    kind: str  # "rule of the checker", "sandbox state", ...
    name: str  # as messages write it
    means: str  # one or two sentences
    number: int | None = None
    aliases: tuple[str, ...] = ()  # other spellings that a user may have read somewhere
    causes: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    example: str = ""  # lines as a terminal or a file shows them

    @property
    def has_more(self) -> bool:
        """Whether it says more than a one-line message has said already."""
        return bool(self.causes or self.example or len(self.remedies) > 1)

    @property
    def title(self) -> str:
        number = "" if self.number is None or str(self.number) in self.name else f", number {number_text(self.number)}"
        return f"{self.name}: {self.kind}{number}"


def number_text(number: int) -> str:
    """Numbers of calls have their upper half set, and are known in hexadecimal."""
    return f"{number:#x}" if number > 0xFFFF else str(number)
