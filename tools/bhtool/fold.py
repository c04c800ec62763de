# SPDX-License-Identifier: Apache-2.0
"""What a display leaves out of what sandboxes say: lives that end as the one before, and floods. The log has it all."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

SHORT_LIFE_SECONDS = 5.0  # of the host: a longer one is worth reading again
HOLD_SECONDS = 2 * SHORT_LIFE_SECONDS
LONGEST_LIFE = 200  # lines that are compared
MILESTONES = (10, 100, 1000, 10000, 100000)
FLOOD_LINES, FLOOD_SECONDS = 200, 1.0

Put = Callable[[str, str], None]  # shows a line of the sandbox: text, style
Key = tuple[str, int, int]  # of a crash: reason, pc, address


@dataclass
class Lives:
    """One sandbox's lines and crashes. A life that says and does what the one before did is counted, not shown.

    Whether it does is known at its end, so its lines are held until then, or until it has lasted longer than is worth waiting for.
    """

    put: Put
    clock: Callable[[], float] = time.monotonic
    _said: list[str] = field(default_factory=list)  # in this life
    _said_before: list[str] | None = None  # in the life before, if it was short and ended in a crash
    _held: list[tuple[str, str]] = field(default_factory=list)
    _key: Key | None = None  # of the last crash
    _head: str = ""  # of its record
    _told: set[Key] = field(default_factory=set)  # crashes whose records were shown
    _began: float = 0.0
    same: int = 0  # lives that were not shown

    def __post_init__(self) -> None:
        self._began = self.clock()

    def line(self, text: str, style: str = "") -> None:
        if len(self._said) < LONGEST_LIFE:
            self._said.append(text)
        if self._said_before is not None and self._said == self._said_before[: len(self._said)]:
            self._held.append((text, style))
        else:
            self._differs()
            self.put(text, style)

    def crash(self, key: Key, lines: list[str], is_last: bool) -> None:
        """`lines`: its record. `is_last`: the sandbox does not begin again."""
        if key == self._key and self._said == self._said_before and not is_last:
            self._count()
        else:
            self._differs()
            self._show(key, lines)
        is_short = self.clock() - self._began < SHORT_LIFE_SECONDS
        self._key, self._head = key, lines[0]
        self._said_before = self._said if is_short and len(self._said) < LONGEST_LIFE else None
        self._said, self._began = [], self.clock()

    def restart(self, number: int) -> None:
        if not self.same:
            self.put(f"begins again: restart {number}", "yellow")

    def look(self) -> None:
        """From time to time: a life that lasts is not like the one before."""
        if self._held and self.clock() - self._began > HOLD_SECONDS:
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

    def _count(self) -> None:
        self._held.clear()
        self.same += 1
        if self.same in MILESTONES:
            self.put(f"the same {self.same} times more so far: {self._head}", "red")

    def _differs(self) -> None:
        """Ends the count, and shows what was held."""
        if self.same:
            times = "once more" if self.same == 1 else f"{self.same} times more"
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
            self.put(f"[{self._left_out:,} lines more within a second; --log FILE keeps all]", "dim")
        self._left_out = 0
