# SPDX-License-Identifier: Apache-2.0
"""One machine of a campaign, from its start until nobody attacks any more, and what its sentinels saw."""

import os
import re
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bhtool import abi
from bhtool.attack.astray import Astray, count_used, find_astray
from bhtool.attack.evidence import Pages, forged_lives, pages
from bhtool.attack.queue import Notes, read_notes
from bhtool.attack.stage import FEW, SENTINELS, Cast, Stage
from bhtool.config.span import PAGE
from bhtool.errors import BulkheadError, Status
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import Timing
from bhtool.machine.memory import Crash
from bhtool.machine.session import EndEvent, Event, LineEvent, Session
from bhtool.text import counted

LIMIT_SECONDS = 600.0
SILENCE_SECONDS = 15.0  # of the host, in which nothing at all got further
HANG_BEATS = 300  # of a sentinel, in which a hostile sandbox got no further: it has ended itself
AFTERMATH_PASSES = 2  # of a sentinel over its memory, after the last attack: at least one is whole
PASS = re.compile(r": pass (\d+), (\d+) words changed, the last at (0x[0-9a-f]+)")
ALARM = re.compile(r": (stray|fault|stopped|wrong)\b.*")
TOO_LONG = "an operation took too long"  # tests/guests/probe/partner.c
CHANNELS = re.compile(r": channels: (\d+) sent to its partner, (\d+) received, (\d+) of others, (\d+) refused, (\d+) rings, (\d+) opened")
RESTS = ": rests"


@dataclass(frozen=True)
class Traffic:
    """Of all channels of a sentinel: messages to and from the other one; from hostile ends; what it refused of these; how often it was rung; how often it
    opened what is opened on request."""

    sent: int = 0
    received: int = 0
    of_others: int = 0
    refused: int = 0
    rings: int = 0
    opened: int = 0


Advance = Callable[[int], None]


@dataclass
class Sentinel:
    passes: int = 0
    changed: int = 0
    beats: int = 0
    late: int = 0  # beats that came a whole period late, ever
    late_before: int = 0  # of them, before anybody attacked: while sandboxes start, an emulator's turns can be long
    rests: bool = False  # it opens and closes nothing more
    complaints: list[str] = field(default_factory=list)
    traffic: Traffic = Traffic()

    @property
    def lost(self) -> int:
        return self.late - self.late_before

    def note(self, line: str) -> None:
        if seen := PASS.search(line):
            self.passes = int(seen[1])
            if int(seen[2]) > self.changed:
                self.changed = int(seen[2])
                self.complaints.append(f"{seen[2]} words of its memory changed, the last at {seen[3]}")
        elif told := CHANNELS.search(line):
            self.traffic = Traffic(*map(int, told.groups()))
        elif line.endswith(RESTS):
            self.rests = True
        elif alarm := ALARM.search(line):
            self.complaints.append(alarm[0].removeprefix(": "))


@dataclass
class Hostile:
    notes: Notes | None = None
    crash: Crash | None = None
    over: bool = False
    moved_at: int = 0  # beat of a sentinel at which it was last seen to get on

    @property
    def begun(self) -> int:
        return self.notes.begun if self.notes else 0


@dataclass
class MachineRun:
    """What was seen of one machine; final when `run_machine` returns."""

    cast: Cast
    sentinels: dict[str, Sentinel] = field(default_factory=lambda: {name: Sentinel() for name in SENTINELS})
    hostiles: dict[str, Hostile] = field(init=False)
    end: str = ""  # how the machine ended by itself
    pages: Pages = field(default_factory=dict)  # of what nobody may have touched, when it was over
    astray: list[Astray] = field(default_factory=list)  # frames of cards, then
    forged: list[str] = field(default_factory=list)  # what pages of channels say and monitors do not
    used: dict[str, int] = field(default_factory=dict)  # descriptors of armed cards whose sandboxes have ended

    def __post_init__(self) -> None:
        self.hostiles = {name: Hostile() for name in self.cast.hostiles}

    @property
    def harm(self) -> list[str]:
        found = [f"{name}: {text}" for name, one in self.sentinels.items() for text in one.complaints]
        found += [f"{name} lost {counted(one.lost, 'heartbeat')}" for name, one in self.sentinels.items() if one.lost]
        found += [f"{name} has ended, and its card went on: it took {count} frames" for name, count in self.used.items() if count > FEW]
        found += self.forged
        return found + ([self.end] if self.end else [])


def let_go(session: Session, name: str) -> None:
    """Opens its gate: struct bh_log."""
    (pool,) = (one.pool_hpa for one in session.plan.sandboxes if one.name == name)
    place = pool + abi.lib.BH_POOL_LOG + abi.ffi.offsetof("struct bh_log", "gate")
    os.pwrite(session.machine.ram, struct.pack("<Q", 1), place - session.platform.ram_base)


class Watcher:
    def __init__(self, session: Session, cast: Cast, identity: int, advance: Advance) -> None:
        self._session, self._identity, self._advance = session, identity, advance
        self.run = MachineRun(cast)
        self._goal: dict[str, int] | None = None
        self._rest_by: int | None = None  # beat of a sentinel
        self._rested_at: dict[str, int] = {}  # each one's beat
        self._moved = (0, 0)
        self._moved_at = time.monotonic()

    def event(self, event: Event) -> None:
        if isinstance(event, EndEvent):
            self.run.end = f"the machine ended, status {event.status} {event.complaint}".rstrip()
        elif isinstance(event, LineEvent) and event.sandbox in self.run.sentinels and not self._is_the_hosts(event.text):
            self.run.sentinels[event.sandbox].note(event.text)

    def _is_the_hosts(self, line: str) -> bool:
        """Whether the host may have held up what took too long."""
        return TOO_LONG in line and not self._session.machine.is_counted

    def over(self) -> bool:
        """After a look: everybody hostile has come to an end, and the sentinels have looked at everything since."""
        self._look_at_sentinels()
        for name in self.run.hostiles:
            self._look_at_hostile(name)
        if not any(one.begun for one in self.run.hostiles.values()):  # not even after the look at the sentinels
            for sentinel in self.run.sentinels.values():
                sentinel.late_before = sentinel.late
        self._advance(sum(one.begun for one in self.run.hostiles.values()))
        if self._is_silent():
            self.run.end = f"nobody's heart beat for {SILENCE_SECONDS:.0f} s"
            return True
        if not all(one.over for one in self.run.hostiles.values()):
            return False
        if self._goal is None:
            self._goal = {name: one.passes + AFTERMATH_PASSES for name, one in self.run.sentinels.items()}
        return all(self.run.sentinels[name].passes >= goal for name, goal in self._goal.items()) and self._rests()

    def _rests(self) -> bool:
        """Sentinels are told to rest, and do; one that does not says in some other way what has become of it, or is complained of.

        Since then each has had an interrupt: QEMU leaves the last that it has delivered in the VMCB, from where the next entry takes it.
        """
        beat = max(one.beats for one in self.run.sentinels.values())
        if self._rest_by is None:
            self._rest_by = beat + HANG_BEATS
            for name in self.run.sentinels:
                let_go(self._session, name)
        for name, one in self.run.sentinels.items():
            if one.rests:
                self._rested_at.setdefault(name, one.beats)
        awake = [name for name, one in self.run.sentinels.items() if one.beats <= self._rested_at.get(name, one.beats)]
        if awake and beat > self._rest_by:
            for name in awake:
                self.run.sentinels[name].complaints.append("does not come to rest")
            return True
        return not awake

    def _is_silent(self) -> bool:
        moved = (sum(one.begun for one in self.run.hostiles.values()), min(one.beats for one in self.run.sentinels.values()))
        if moved != self._moved:
            self._moved, self._moved_at = moved, time.monotonic()
        return time.monotonic() - self._moved_at > SILENCE_SECONDS

    def _look_at_sentinels(self) -> None:
        for name, one in self.run.sentinels.items():
            watch = self._session.watches[name]
            if watch.heartbeat:
                one.beats, one.late = watch.heartbeat.beats, watch.heartbeat.gaps if self._session.machine.is_counted else 0
            if watch.crash and not one.complaints:
                one.complaints.append(f"was parked: {watch.crash.reason} at {watch.crash.address:#x}")

    def _look_at_hostile(self, name: str) -> None:
        one, watch = self.run.hostiles[name], self._session.watches[name]
        beat = max(sentinel.beats for sentinel in self.run.sentinels.values())
        notes = read_notes(self._session.memory, watch.plan.pool_hpa, self._identity)
        if notes and notes.begun != one.begun:
            one.moved_at = beat
        one.notes, one.crash = notes or one.notes, watch.crash
        stopped = watch.state in ("parked", "off")
        one.over = bool(notes and notes.done) or stopped or beat > one.moved_at + HANG_BEATS


def _page(stage: Stage, session: Session, at: int) -> bytes:
    return os.pread(session.machine.ram, PAGE, at - stage.platform.ram_base)


def run_machine(stage: Stage, identity: int, timing: Timing, advance: Advance) -> MachineRun:
    """Runs the machine until both hostile sandboxes are done, stopped or stuck."""
    with Session(stage.platform, stage.plan, Machine(stage.platform, stage.image, timing, wiring=stage.wiring)) as session:
        watcher = Watcher(session, stage.cast, identity, advance)
        for event in session.events(LIMIT_SECONDS):
            if event is not None:
                watcher.event(event)
            elif watcher.over():
                clock_hz = session.memory.clock_hz(stage.plan.sandboxes[0].pool_hpa)
                session.machine.stop()
                watcher.run.pages = pages(stage.platform, stage.plan, session.machine.ram, clock_hz)
                watcher.run.forged = forged_lives(stage.platform, stage.plan, session.machine.ram)
                watcher.run.astray = find_astray(stage.platform, stage.plan, session.machine.ram, stage.words, stage.pages_of_frames)
                watcher.run.used = {name: count_used(_page(stage, session, at)) for name, at in stage.rings.items()}
                return watcher.run
        if not watcher.run.end:
            raise BulkheadError(f"a machine of the campaign was not done after {LIMIT_SECONDS:.0f} s", Status.TIME_LIMIT)
        watcher.over()
        return watcher.run
