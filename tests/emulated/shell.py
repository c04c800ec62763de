# SPDX-License-Identifier: Apache-2.0
"""A sandbox kernel's command line, typed at."""

from collections.abc import Iterator
from dataclasses import dataclass

from bhtool.machine.session import LineEvent, Session

LIMIT = 60.0
UNKNOWN = "no such command: {} "


@dataclass
class Shell:
    session: Session
    name: str
    asked: int = 0

    def said(self) -> Iterator[str]:
        """Each line that the kernel says. What is typed is echoed behind a prompt."""
        for event in self.session.events(LIMIT):
            if isinstance(event, LineEvent) and event.text.startswith(f"{self.name}: "):
                yield event.said

    def type(self, keys: str) -> None:
        assert self.session.watches[self.name].console.write(keys.encode("latin1"))

    def wait(self, seconds: float) -> None:
        """So long by the machine's own clock, however slow it is."""
        until = self.session.guest_seconds() + seconds
        for _ in self.session.events(LIMIT):
            if self.session.guest_seconds() >= until:
                return
        raise AssertionError("the machine's time stands")

    def ask(self, keys: str) -> list[str]:
        """What is said to a line, up to the complaint about another one that is no command."""
        self.asked += 1
        end = f"end-{self.asked}"
        self.type(f"{keys}\r{end}\r")
        lines: list[str] = []
        for line in self.said():
            if line.strip() == UNKNOWN.format(end).strip():
                return [one for one in lines if " beats, " not in one]
            lines.append(line)
        raise AssertionError(f"no answer to {keys!r}: {lines}")
