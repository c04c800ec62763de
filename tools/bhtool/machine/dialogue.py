# SPDX-License-Identifier: Apache-2.0
"""A conversation with the shell of a Linux sandbox, over its console."""

import re
import time
from dataclasses import dataclass

from bhtool.errors import BulkheadError, Status
from bhtool.machine.session import CrashEvent, EndEvent, Event, LineEvent, Session

ANSWER_SECONDS = 60.0


class Silence(BulkheadError):
    """The shell did not answer in time, or its machine ended."""


def is_echo(line: str, typed: str) -> bool:
    """A line that ends as what was typed does. A job's end, or the shell's own line editor, may have torn off its beginning, wherever it stood."""
    rest = line.strip()
    return len(rest) > 1 and (typed[typed.rindex("-") :] in rest or typed.endswith(rest))


@dataclass
class Dialogue:
    session: Session
    sandbox: str
    asked: int = 0

    def wait_until_ready(self, limit: float) -> None:
        deadline = time.monotonic() + limit
        while not all(watch.settled for watch in self.session.watches.values()):
            self._look(deadline)

    def ask(self, command: str, limit: float = ANSWER_SECONDS) -> list[str]:
        """The lines a command prints. Its end is told by a line no echo can look like."""
        self.asked += 1
        end = f"end-{self.asked}-{self.asked * 7}"
        typed = f"{command}; echo end-{self.asked}-$(({self.asked} * 7))"
        self.session.watches[self.sandbox].console.write(f"{typed}\n".encode())
        deadline = time.monotonic() + limit
        lines: list[str] = []
        while end not in lines:
            lines += [event.text for event in self._look(deadline) if isinstance(event, LineEvent) and event.sandbox == self.sandbox]
        return [line for line in lines[: lines.index(end)] if not is_echo(line, typed)]

    def number(self, command: str, limit: float = ANSWER_SECONDS) -> int:
        """The last number a command prints."""
        text = " ".join(self.ask(command, limit))
        found = re.findall(r"\d+", text)
        if not found:
            raise Silence(f"{command!r} printed no number: {text!r}")
        return int(found[-1])

    def _look(self, deadline: float) -> list[Event]:
        events = self.session.poll()
        ended = [event for event in events if isinstance(event, EndEvent | CrashEvent)]
        if ended or time.monotonic() > deadline:
            states = {name: watch.state for name, watch in self.session.watches.items()}
            status = Status.FAILED if ended else Status.TIME_LIMIT
            raise Silence(f"{self.sandbox} gave no answer: {ended or 'time limit'}; {states}", status)
        self.session.rest()
        return events
