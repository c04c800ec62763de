# SPDX-License-Identifier: Apache-2.0
"""A run under observation: console lines, readiness, crashes and counters of every sandbox, as events in order.

Session(platform, plan, machine) is a context manager; `poll` takes one look, `events` is the loop around it.
"""

import re
import select
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from bhtool.config.plan import Plan, SandboxPlan
from bhtool.image.names import is_provided
from bhtool.machine.console import Lines, Ring, Source, Uart
from bhtool.machine.dma_faults import DmaFault, Queue
from bhtool.machine.emulated import Machine
from bhtool.machine.memory import Crash, Exits, Heartbeat, Memory, Stats, subtract, total
from bhtool.machine.signs import Panic, Signs, signs_of
from bhtool.platforms import Platform

SHORTEST_REST, LONGEST_REST = 0.005, 0.05
REST_SHARE = 0.05  # of the time since the machine started
ENDED = ("parked", "off")
BANNER = re.compile(r"bulkhead \d+\.\d+\.\d+ \(table \d+\): ")  # monitor/boot/banner_boot.c


@dataclass(frozen=True)
class LineEvent:
    sandbox: str
    text: str

    @property
    def said(self) -> str:
        """Without the name in front, which a display gives of its own; empty: nothing to show."""
        return self.text.removeprefix(f"{self.sandbox}: ") if self.text.strip() else ""


@dataclass(frozen=True)
class MonitorEvent:
    """A line on a UART whose owner has not been started, or that has none: the monitor says why it does not start."""

    text: str


@dataclass(frozen=True)
class BannerEvent:
    """What the monitor says before it starts the sandboxes: the first line on the boot console."""

    text: str


@dataclass(frozen=True)
class ReadyEvent:
    sandbox: str
    why: str = ""  # where neither its hypercall nor the line that was agreed on says so


@dataclass(frozen=True)
class CrashEvent:
    sandbox: str
    crash: Crash


@dataclass(frozen=True)
class RestartEvent:
    sandbox: str
    restarts: int


@dataclass(frozen=True)
class EndEvent:
    """The machine switched itself off, or the emulator gave up."""

    status: int
    complaint: str


@dataclass(frozen=True)
class DmaFaultEvent:
    fault: DmaFault


Event = LineEvent | MonitorEvent | BannerEvent | ReadyEvent | CrashEvent | RestartEvent | DmaFaultEvent | EndEvent


@dataclass
class Watch:
    """What is known of one sandbox so far."""

    plan: SandboxPlan
    console: Source
    lines: Lines = field(default_factory=Lines)
    signs: Signs = field(default_factory=Signs)
    stats: Stats | None = None
    heartbeat: Heartbeat | None = None
    ready: bool = False
    ready_at: float = 0.0  # guest seconds
    at_ready: tuple[Exits, ...] | None = None  # of each core
    crash: Crash | None = None  # the last one
    restarts: int = 0

    @property
    def state(self) -> str:
        """As its monitor sees it, with what only its console tells of Linux."""
        state = self.stats.state if self.stats else "cold"
        if state in ("running", "ready") and self.panic:
            return "panicked"
        return "ready" if state == "running" and self.ready else state

    @property
    def panic(self) -> Panic | None:
        """Of a Linux that has not begun again since, and will not."""
        return self.signs.panic

    @property
    def harmed(self) -> bool:
        """Did something that its monitor could not mend."""
        return self.panic is not None or (self.crash is not None and (self.state == "parked" or not self.plan.restarts))

    @property
    def settled(self) -> bool:
        return self.ready or self.state in (*ENDED, "panicked")

    def core_exits_boot(self) -> tuple[Exits, ...]:
        """Of each core, boot core first; none before it was started."""
        if self.at_ready is not None:
            return self.at_ready
        return self.stats.core_exits if self.stats else ()

    def core_exits_steady(self) -> tuple[Exits, ...]:
        """Of each core; none before it was ready."""
        if self.at_ready is None or self.stats is None:
            return ()
        return tuple(subtract(after, before) for after, before in zip(self.stats.core_exits, self.at_ready, strict=True))

    def exits_boot(self) -> Exits:
        return total(self.core_exits_boot())

    def exits_steady(self) -> Exits:
        return total(self.core_exits_steady())


class Session:
    def __init__(self, platform: Platform, plan: Plan, machine: Machine) -> None:
        self.platform, self.plan, self.machine = platform, plan, machine
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(self.machine)
        self._started = time.monotonic()
        self._ended = False
        self._seconds: float | None = None
        self.memory = Memory(self.platform, self.machine.ram)
        self.watches = {sandbox.name: Watch(sandbox, self._console(sandbox), signs=self._signs(sandbox)) for sandbox in self.plan.sandboxes}
        self.dma_faults = Queue(self.plan, self.memory, self.machine.registers)
        self._spare = self._spare_lines()
        self._banner_is_due, self.banner = True, ""
        self.monitor_seconds: float | None = None  # guest time when the monitor had been loaded; None: it has yet to say so
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def _spare_lines(self) -> list[tuple[str, Source, Lines]]:
        """Serial lines that are no sandbox's console: the monitor may have said there why it does not start."""
        taken = {sandbox.console for sandbox in self.plan.sandboxes}
        return [(label, Uart(line), Lines()) for label, line in self.machine.serials.items() if label not in taken]

    def _signs(self, sandbox: SandboxPlan) -> Signs:
        return signs_of(sandbox.os, sandbox.ready_line, is_own_root=not is_provided(self.plan.file, sandbox.initrd))

    def _console(self, sandbox: SandboxPlan) -> Source:
        if sandbox.console in self.machine.serials:
            return Uart(self.machine.serials[sandbox.console])
        return Ring(self.memory, sandbox.pool_hpa)

    def guest_seconds(self) -> float:
        """The machine's own time since it was switched on, as it was when first asked after the last poll."""
        if self._seconds is None:
            self._seconds = self.machine.guest_seconds()
        return self._seconds

    def poll(self) -> list[Event]:
        """Everything that happened since the last call, sandbox by sandbox. Does not wait."""
        events: list[Event] = []
        self._seconds = None
        ended = self.machine.exit_status()
        spare = [(label, lines.feed(source.read())) for label, source, lines in self._spare]  # before the statistics, as in _look
        for watch in self.watches.values():
            events += self._look(watch)
        events += map(DmaFaultEvent, self.dma_faults.look())
        events[:0] = [event for label, said in spare for event in self._spare_spoken(label, said)]
        if ended is not None and not self._ended:
            self._ended = True
            events += self.unfinished_lines()
            events.append(EndEvent(ended, self.machine.complaint()))
        return events

    def unfinished_lines(self) -> list[Event]:
        """What waits for its end, as lines: for when nobody will look any more."""
        found = [event for label, _, lines in self._spare for event in self._spare_spoken(label, lines.flush())]
        for watch in self.watches.values():
            found += self._spoken(watch, watch.lines.flush())
        return found

    def _spoken(self, watch: Watch, lines: list[str]) -> list[Event]:
        return [self._banner(watch.plan.console, text) or self._line(watch, text) for text in lines]

    def _line(self, watch: Watch, text: str) -> Event:
        return LineEvent(watch.plan.name, text) if watch.stats else MonitorEvent(text)

    def _spare_spoken(self, label: str, lines: list[str]) -> list[Event]:
        """A sandbox that owns the UART may print there, whatever its console is."""
        owner = next((watch for watch in self.watches.values() if label in watch.plan.devices), None)
        return [self._banner(label, text) or (self._line(owner, text) if owner else MonitorEvent(text)) for text in lines]

    def _banner(self, label: str, text: str) -> Event | None:
        """The monitor's comes before whatever a sandbox prints there, so a later one is a sandbox's."""
        is_due, is_console = self._banner_is_due, label == self.platform.emulator.serials[0]
        self._banner_is_due = is_due and not is_console
        if not (is_due and is_console and BANNER.match(text)):
            return None
        self.banner, self.monitor_seconds = text, self.guest_seconds()
        return BannerEvent(text)

    def _look(self, watch: Watch) -> list[Event]:
        name, pool = watch.plan.name, watch.plan.pool_hpa
        said = watch.console.read()  # before the statistics: whoever speaks has been started by then
        watch.stats = self.memory.stats(pool) or watch.stats
        if watch.state in ENDED:
            said += watch.console.read()  # after them: its last words came before its end
        watch.heartbeat = self.memory.heartbeat(pool)
        events = self._spoken(watch, watch.lines.feed(said))
        self._read_signs(watch, events)
        if not watch.ready and watch.stats and (watch.stats.ready_clock or watch.signs.up):
            self._note_ready(watch)
            events.append(ReadyEvent(name, "" if watch.stats.ready_clock or watch.signs.wanted else watch.signs.up))
        return self._lives(watch, events)

    def _lives(self, watch: Watch, events: list[Event]) -> list[Event]:
        """With its crash and its restart. Who has begun again since its crash was told says what is new in its new life."""
        name, told = watch.plan.name, watch.crash
        if (crash := self.memory.crash(watch.plan.pool_hpa)) and crash != told:
            watch.crash = crash
            events.append(CrashEvent(name, crash))
        if not watch.stats or watch.restarts == watch.stats.restarts:
            return events
        watch.restarts = watch.stats.restarts
        watch.signs.begin_again()
        begun: Event = RestartEvent(name, watch.restarts)
        return [*events, begun] if watch.crash is not told else [begun, *events]

    def _read_signs(self, watch: Watch, events: list[Event]) -> None:
        lines = [event.text for event in events if isinstance(event, LineEvent)]
        watch.signs.see(lines, "" if watch.ready else watch.lines.unfinished, self.guest_seconds)

    def _note_ready(self, watch: Watch) -> None:
        """The monitor separates boot from steady state where it was told; else what has been counted by now does."""
        watch.ready, watch.ready_at = True, self.guest_seconds()
        if watch.stats is not None:
            watch.at_ready = watch.stats.core_exits_at_ready if watch.stats.ready_clock else watch.stats.core_exits

    def events(self, limit: float) -> Iterator[Event | None]:
        """Events until the machine ends or `limit` host seconds have passed; None after every look."""
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            found = self.poll()
            yield from found
            if any(isinstance(event, EndEvent) for event in found):
                return
            yield None
            self.rest()

    def rest(self) -> None:
        """Until a serial line has something, or it is time to look at the memory again.

        A full line holds its UART up while emulated time runs on, and a few hundred single bytes fill one: so drain it at once.
        The emulator works on until somebody has seen that it is done, so a short run is looked at often; a long one does not pay for it.
        """
        share = REST_SHARE * (time.monotonic() - self._started)
        select.select(list(self.machine.serials.values()), [], [], min(max(SHORTEST_REST, share), LONGEST_REST))
