# SPDX-License-Identifier: Apache-2.0
"""A run on the screen: what sandboxes say as lines under their names, and how they are in the last rows of a terminal."""

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Self

from bhtool.machine.dma_faults import silent_because
from bhtool.machine.session import (
    BannerEvent,
    CrashEvent,
    DmaFaultEvent,
    Event,
    LineEvent,
    MonitorEvent,
    ReadyEvent,
    RestartEvent,
    Session,
    Watch,
)
from bhtool.report import summary
from bhtool.report.fold import Flood, Lives, Put
from bhtool.report.lateness import real_gaps, tells_turns
from bhtool.report.places import places_of
from bhtool.report.wrong_call import wrong_call
from bhtool.terminal.screen import Screen
from bhtool.terminal.status import Board, Row

MONITOR = "monitor"
BOARD_SECONDS = 0.2  # of the host, between two looks at the figures
DMA_FAULTS_SHOWN = 8
RATE_SECONDS = 1.0  # of guest time, that a rate is taken over


@dataclass
class Rate:
    """Exits a second of guest time."""

    samples: deque[tuple[float, int]] = field(default_factory=deque)

    def add(self, seconds: float, count: int) -> float | None:
        """The rate over the last second; None while time stands or there is no second yet."""
        samples = self.samples
        if samples and (seconds < samples[-1][0] or count < samples[-1][1]):
            samples.clear()  # it began again
        samples.append((seconds, count))
        while len(samples) > 2 and seconds - samples[1][0] >= RATE_SECONDS:
            samples.popleft()
        first, before = samples[0]
        return (count - before) / (seconds - first) if seconds - first >= RATE_SECONDS else None


def is_name_alone(event: Event) -> bool:
    """Whether a line without an end got no further than the sandbox's own name in front of it."""
    return isinstance(event, LineEvent) and f"{event.sandbox}: ".startswith(event.text)


class Show:
    """Prints events as they come."""

    def __init__(self, screen: Screen, session: Session) -> None:
        self._screen, self._session = screen, session
        self._rates = {name: Rate() for name in session.watches}
        self._floods = {name: Flood(self._put_of(name)) for name in session.watches}
        self._lives = {name: Lives(self._line_of(name), session.guest_seconds) for name in session.watches}
        self._gates: list[Lives | Flood] = [*self._lives.values(), *self._floods.values()]  # in the sequence that lines pass them
        self._looked, self._dma_faults = 0.0, 0
        screen.name_sandboxes([*session.watches, MONITOR])
        if screen.log:
            screen.log.follow(session.guest_seconds)
        if why := silent_because(session.plan, session.platform):
            screen.line(MONITOR, why, "dim")

    def _put_of(self, name: str) -> Put:
        return lambda text, style: self._screen.put(name, text, style)

    def _line_of(self, name: str) -> Put:
        """What a sandbox itself says passes the flood gate on a terminal; a pipe gets every line."""

        def put(text: str, style: str) -> None:
            if self._screen.is_live and not style:
                self._floods[name].line(text, style)
            else:
                self._screen.put(name, text, style)

        return put

    def waiting_for(self) -> str:
        names = [name for name, watch in self._session.watches.items() if not watch.settled]
        return f"waiting for {', '.join(names)}" if names else "running"

    def look(self) -> None:
        """After every look at the machine: how it is."""
        self._screen.flush()
        now = time.monotonic()
        if now - self._looked < BOARD_SECONDS:
            return
        self._looked = now
        for gate in self._gates:
            gate.look()
        if self._screen.is_live:
            self._screen.show(self._board())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Shows everything that was held back or counted, and the last words of who did not end a line."""
        for event in self._session.unfinished_lines():
            if not is_name_alone(event):
                self.event(event)
        if self._dma_faults > DMA_FAULTS_SHOWN:
            self._screen.put(
                MONITOR, f"dma faults: {DMA_FAULTS_SHOWN} shown of at least {self._dma_faults:,}; a full queue loses what comes", "yellow"
            )
        for gate in self._gates:
            gate.end()
        self._screen.flush()

    def _board(self) -> Board:
        seconds = self._session.guest_seconds()
        title = (self._session.platform.name, f"guest time {seconds:.1f} s", self.waiting_for())
        rows = tuple(self._row(name, watch, seconds) for name, watch in self._session.watches.items())
        return Board(title, rows, self._screen.name_width(), self._screen.bar)

    def _row(self, name: str, watch: Watch, seconds: float) -> Row:
        exits = sum(watch.stats.exits.values()) if watch.stats else 0
        rate = self._rates[name].add(seconds, exits)
        beat = watch.heartbeat
        beats, gaps = (beat.beats, real_gaps(beat, tells_turns(self._session))) if beat else (None, 0)
        return Row(name, self._screen.colour(name), watch.state, beats, gaps, rate, watch.restarts)

    def event(self, event: Event) -> None:
        if isinstance(event, LineEvent):
            if text := event.said:
                self._screen.record(text, event.sandbox)
                self._lives[event.sandbox].line(text)
        elif isinstance(event, MonitorEvent | BannerEvent):
            self._screen.line(MONITOR, event.text)
        elif isinstance(event, ReadyEvent):
            self._screen.line(event.sandbox, f"is ready: {event.why}" if event.why else "is ready", "dim")
        elif isinstance(event, RestartEvent):
            self._screen.record(f"begins again: restart {event.restarts}", event.sandbox)
            self._lives[event.sandbox].restart(event.restarts)
        elif isinstance(event, CrashEvent):
            self._crash(event)
        elif isinstance(event, DmaFaultEvent):
            self._dma_fault(event.fault.text)

    def _dma_fault(self, text: str) -> None:
        """The first ones in full; the log has as many as were seen."""
        self._dma_faults += 1
        self._screen.record(text, MONITOR)
        if self._dma_faults <= DMA_FAULTS_SHOWN:
            self._screen.put(MONITOR, text, "yellow")

    def _crash(self, event: CrashEvent) -> None:
        watch, crash = self._session.watches[event.sandbox], event.crash
        places, arch = places_of(self._session, watch, crash), self._session.platform.arch
        hint = wrong_call(self._session.memory, watch.plan, crash, self._session.platform.backend)
        lines = summary.crash_lines(self._session.plan, watch.plan.index, crash, arch, self._screen.text_width(), places, hint)
        for line in lines:
            self._screen.record(line, event.sandbox)
        is_last = watch.state == "parked" or not watch.plan.restarts
        self._lives[event.sandbox].crash((crash.reason, crash.pc, crash.address), lines, is_last)
