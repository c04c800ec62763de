# SPDX-License-Identifier: Apache-2.0
"""Calls of functions of the monitor, and the instructions that each takes, told from the emulator's log (trace.py)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bhtool.bench.trace import LINE, Span


@dataclass
class Call:
    """A function under way, until an instruction of whoever called it."""

    name: str
    caller: Span
    executed: int = 0


@dataclass(frozen=True)
class Watch:
    """Where each function of the resident monitor begins, and those that are counted."""

    core: int
    resident: Span
    starts: tuple[int, ...]
    wanted: dict[int, str]

    def function(self, pc: int) -> Span:
        """From its first byte to the next one's."""
        before = max((start for start in self.starts if start <= pc), default=self.resident[0])
        return before, min((start for start in self.starts if start > pc), default=self.resident[1])


@dataclass
class Calls:
    """The calls that a log shows, and what each executed, those that it made included."""

    watch: Watch
    last: int = 0
    under_way: Call | None = None
    ended: list[tuple[str, int]] = field(default_factory=list)

    def see(self, pc: int) -> None:
        call = self.under_way
        if call and call.caller[0] <= pc < call.caller[1]:
            self.ended.append((call.name, call.executed))
            self.under_way = call = None
        if call:
            call.executed += 1
        elif pc in self.watch.wanted:
            self.under_way = Call(self.watch.wanted[pc], self.watch.function(self.last), 1)
        self.last = pc

    def unsee(self) -> None:
        """The last one was not executed after all."""
        if self.under_way:
            self.under_way.executed -= 1


def calls(log: Iterable[bytes], watch: Watch) -> Iterator[tuple[str, int]]:
    seen, own = Calls(watch), False
    for lines in log:
        for core, address, stopped in LINE.findall(lines):
            if stopped:
                if own:
                    seen.unsee()
                continue
            own = int(core) == watch.core
            if own:
                seen.see(int(address, 16))
        yield from seen.ended
        seen.ended.clear()
