# SPDX-License-Identifier: Apache-2.0
"""Runs a machine until what a case expects has been seen and the others have beaten on, or its time is up."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bhtool.machine.dma_faults import DmaFault
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import Timing
from bhtool.machine.session import DmaFaultEvent, EndEvent, Event, LineEvent, MonitorEvent, Session, Watch
from bhtool.oracle.debugger import option
from bhtool.platforms import Platform

from tests.emulated import concurrent, firmware, garbage, traces
from tests.emulated.case import Case
from tests.emulated.expect import Contained
from tests.emulated.network import plugged
from tests.emulated.places import Places
from tests.emulated.scene import Scene

AFTERMATH_BEATS = 250
ALARM = re.compile(r": (stray|fault|stopped|no such command|too few operands)\b")
REPORT = re.compile(r": \d+ beats, ")
ATTEMPT = re.compile(r": try (.*)$")
ANSWER = re.compile(r": (refused: .*|returned .*)$")


@dataclass
class Observation:
    places: Places
    watches: dict[str, Watch]
    lines: dict[str, list[str]] = field(default_factory=dict)
    ended: EndEvent | None = None
    refusal: list[str] = field(default_factory=list)  # why start-up did not go on
    noise: list[str] = field(default_factory=list)  # of devices that are nobody's, in a machine that did not start clean
    traces: list[int] = field(default_factory=list)  # where what a card has written lies in physical memory, if a case asks
    dma_faults: list[DmaFault] = field(default_factory=list)
    standing: list[str] | None = None  # who has yet to beat on after everything awaited was seen; None: not everything was

    def __post_init__(self) -> None:
        self.lines = {name: [] for name in self.watches}

    def note(self, event: Event | None) -> None:
        if isinstance(event, LineEvent):
            self.lines[event.sandbox].append(event.text)
        elif isinstance(event, EndEvent):
            self.ended = event
        elif isinstance(event, DmaFaultEvent):
            self.dma_faults.append(event.fault)
        elif isinstance(event, MonitorEvent):
            self.refusal.append(event.text)

    def answers(self, sandbox: str) -> dict[str, str]:
        """What became of each command it tried, by the command as it was given."""
        found: dict[str, str] = {}
        command = ""
        for line in self.lines[sandbox]:
            if attempt := ATTEMPT.search(line):
                command = attempt[1].strip().replace(" ", "=", 1)
            elif command and (answer := ANSWER.search(line)):
                found[command] = answer[1]
        return found

    def beats(self, sandbox: str) -> int:
        heartbeat = self.watches[sandbox].heartbeat
        return heartbeat.beats if heartbeat else 0

    def state(self) -> str:
        """For a failed test's report."""
        rows = [f"{name}: {watch.state}, {watch.heartbeat}, {watch.crash}" for name, watch in self.watches.items()]
        return "\n".join(rows + [line for lines in self.lines.values() for line in lines if not REPORT.search(line)][:24])


class Progress:
    """Whether a run is over: everything awaited seen and then so many beats of everybody who beats; or never to be seen."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._goal: dict[str, int] | None = None
        self._limit = case.limit_beats

    def over(self, seen: Observation) -> bool:
        if self._reached(seen):
            return True
        if any(watch.harmed and name not in self._case.ending for name, watch in seen.watches.items()):
            return True
        return self._furthest(seen) > self._limit

    def _furthest(self, seen: Observation) -> int:
        return max((seen.beats(one.name) for one in self._case.sandboxes), default=0)

    def _reached(self, seen: Observation) -> bool:
        if self._goal is None and self._all_seen(seen):
            more = AFTERMATH_BEATS if self._case.icount and not self._case.concurrent else 1
            self._goal = {name: seen.beats(name) + more for name in self._case.beating}
            # A slow look at a fast machine may find the others close to the limit already.
            self._limit = max(self._limit, self._furthest(seen) + 2 * AFTERMATH_BEATS)
        if self._goal is not None:
            seen.standing = [name for name, goal in self._goal.items() if seen.beats(name) < goal]
        return seen.standing == []

    def _all_seen(self, seen: Observation) -> bool:
        up = all(seen.watches[one.name].ready for one in self._case.sandboxes if one.name not in self._case.ending)
        return up and all(one.verdict(seen) is None for one in self._case.expect if one.awaited)


def harm(case: Case, seen: Observation) -> list[str]:
    """What went wrong with those who should have lived on, and with those who had nothing to do with it."""
    found = [
        f"{name} is {watch.state}: {watch.crash}"
        for name, watch in seen.watches.items()
        if name not in case.ending and watch.state != "ready"
    ]
    for name in case.beating:
        beat = seen.watches[name].heartbeat
        if beat is None or not beat.beats:
            found.append(f"{name} has no heartbeat")
        elif beat.gaps and case.icount and not case.concurrent:
            found.append(f"{name}: {beat.gaps} gaps in {beat.beats} beats, {beat.late_max_ns / 1000:.0f} us late at most")
        found += [f"{name} said {line!r}" for line in seen.lines[name] if ALARM.search(line)]
    return found


def judge(case: Case, seen: Observation) -> list[str]:
    wrong = [verdict for one in case.expect if (verdict := one.verdict(seen))]
    if seen.ended:
        wrong.append(" ".join((f"the machine ended, status {seen.ended.status}", seen.ended.complaint, *seen.refusal)))
    if seen.standing != []:
        wrong.append(f"not everybody beat on: {', '.join(seen.standing or case.beating)}")
    return wrong + seen.noise + harm(case, seen)


def has_port(platform: Platform, case: Case) -> bool:
    """Whether devices can be spoilt, and looked at."""
    return bool(case.garbage) and platform.emulator.kind == "qemu"


@contextmanager
def started(platform: Platform, case: Case, scene: Scene, extra: Sequence[str]) -> Iterator[tuple[Session, Path]]:
    """A machine that runs, and where its debugger's port is; a dirty one has come to where its own statistics lie in RAM."""
    timing = Timing(platform.emulator.icount_shift if case.icount and not case.concurrent else None)
    platform = plugged(platform, dict.fromkeys(case.hub, "hubport,hubid=0"))
    extra = (*extra, *(concurrent.OPTIONS if case.concurrent else ()))
    with tempfile.TemporaryDirectory() as directory:
        port = Path(directory) / "debugger"
        words = (*extra, "-S", *option(port)) if has_port(platform, case) else tuple(extra)
        machine = Machine(platform, scene.image, timing, extra=words, found=garbage.garbage_of(platform, scene.plan, case.garbage))
        with Session(platform, scene.plan, machine) as session:
            if has_port(platform, case):
                firmware.leave(platform, port)
            if case.garbage:
                garbage.wait_for_statistics(session, case.limit_seconds / 2)
            yield session, port


def watch(session: Session, case: Case, seen: Observation) -> None:
    progress, gate = Progress(case), case.concurrent
    for event in session.events(case.limit_seconds):
        seen.note(event)
        if event is None and progress.over(seen):
            return
        if event is None and gate and all(watch.ready for watch in seen.watches.values()):
            gate = concurrent.open_gate(session)


def observe(platform: Platform, case: Case, scene: Scene, extra: Sequence[str] = ()) -> Observation:
    """Runs the machine within the case's limit; what was seen is final, the machine has stopped."""
    with started(platform, case, scene, extra) as (session, port):
        seen = Observation(scene.places, session.watches)
        watch(session, case, seen)
        if seen.ended is None:
            if has_port(platform, case):
                seen.noise = firmware.look(platform, port).noise(scene.plan)
            session.machine.stop()
            if any(isinstance(one, Contained) for one in case.expect):
                seen.traces = traces.holds(session.machine.ram, platform.ram_base)
            for event in session.poll():
                if not isinstance(event, EndEvent):
                    seen.note(event)
        return seen
