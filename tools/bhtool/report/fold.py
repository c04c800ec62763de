# SPDX-License-Identifier: Apache-2.0
"""What a display leaves out of what sandboxes say: lives that end as the one before, and floods. The log has it all."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bhtool.text import counted

SHORT_LIFE_SECONDS = 5.0  # of guest time: a longer one is worth reading again
NUMBERS = re.compile(r"0x[0-9a-f]+|\d+")  # differ from life to life: a count of lives, a time
LEEWAY_SECONDS = 0.5
LONGEST_LIFE = 200  # lines that are compared
MILESTONES = (10, 100, 1000, 10000, 100000)
FLOOD_LINES, FLOOD_SECONDS = 200, 1.0

Put = Callable[[str, str], None]  # shows a line of the sandbox: text, style
Key = tuple[str, int, int]  # of a crash: reason, pc, address


@dataclass
class Lives:
    """One sandbox's lines and crashes. A life that says and does what the one before did is counted, not shown.

    Whether it does is known at its end, so its lines are held until then, or until it has lasted twice as long as the one before.
    """

    put: Put
    clock: Callable[[], float]  # guest time
    _said: list[str] = field(default_factory=list)  # in this life
    _said_before: list[str] | None = None  # in the life before, if it was short and ended in a crash
    _held: list[tuple[str, str]] = field(default_factory=list)
    _key: Key | None = None  # of the last crash
    _head: str = ""  # of its record
    _told: set[Key] = field(default_factory=set)  # crashes whose records were shown
    _began: float = 0.0
    _lasted: float = 0.0  # the life before
    same: int = 0  # lives that were not shown

    def __post_init__(self) -> None:
        self._began = self.clock()

    def line(self, text: str, style: str = "") -> None:
        if len(self._said) < LONGEST_LIFE:
            self._said.append(NUMBERS.sub("#", text))
        if self._is_like_before():
            self._held.append((text, style))
        else:
            self._differs()
            self.put(text, style)

    def crash(self, key: Key, lines: list[str], is_last: bool) -> None:
        """The life has ended. `lines`: its record. `is_last`: the sandbox does not begin again."""
        next_life: list[str] = []
        before = self._said_before
        if key == self._key and not is_last and before is not None and len(self._said) >= len(before) and self._is_like_before():
            self._said, next_life = before, self._said[len(before) :]
            self._count(len(next_life))
        else:
            self._differs()
            self._show(key, lines)
        self._lasted = self.clock() - self._began
        self._key, self._head = key, lines[0]
        self._said_before = self._said if self._lasted < SHORT_LIFE_SECONDS and len(self._said) < LONGEST_LIFE else None
        self._said, self._began = next_life, self.clock()

    def restart(self, number: int) -> None:
        if not self.same:
            self.put(f"begins again: restart {number}", "yellow")

    def look(self) -> None:
        """From time to time: a life that lasts is not like the one before."""
        if self._held and self.clock() - self._began > 2 * self._lasted + LEEWAY_SECONDS:
            self._differs()

    def end(self) -> None:
        """Of the run."""
        self._differs()

    def _show(self, key: Key, lines: list[str]) -> None:
        """The whole record the first time; then its first line."""
        shown = [f"{lines[0]}; its record stands above"] if key in self._told else lines
        for line in shown:
            self.put(line, "red")
        self._told.add(key)

    def _is_like_before(self) -> bool:
        """What has been said is how the life before began; or all that it said and how the next begins, which may be read in one piece."""
        before = self._said_before
        return before is not None and self._said == (before + before)[: len(self._said)]

    def _count(self, keep: int) -> None:
        """Drops what is held but the last lines, which the next life has said."""
        del self._held[: len(self._held) - keep]
        self.same += 1
        if self.same in MILESTONES:
            self.put(f"the same {self.same:,} times more so far: {self._head}", "red")

    def _differs(self) -> None:
        """Ends the count, and shows what was held."""
        if self.same:
            times = "once more" if self.same == 1 else f"{self.same:,} times more"
            self.put(f"the same {times}: {self._head}", "red")
        held, self._held, self.same, self._said_before = self._held, [], 0, None
        for text, style in held:
            self.put(text, style)


@dataclass
class Flood:
    """Lets through so many lines a second as an eye may follow, and counts the others."""

    put: Put
    clock: Callable[[], float] = time.monotonic
    _began: float = float("-inf")
    _shown: int = 0
    _left_out: int = 0

    def line(self, text: str, style: str = "") -> None:
        self.look()
        if self._shown < FLOOD_LINES:
            self._shown += 1
            self.put(text, style)
        else:
            self._left_out += 1

    def look(self) -> None:
        """Begins a new second if it is time to."""
        now = self.clock()
        if now - self._began >= FLOOD_SECONDS:
            self.end()
            self._began, self._shown = now, 0

    def end(self) -> None:
        if self._left_out:
            self.put(f"[{counted(self._left_out, 'line')} more within a second; --log FILE keeps all]", "dim")
        self._left_out = 0
