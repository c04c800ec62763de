# SPDX-License-Identifier: Apache-2.0
"""A run without a machine, for a terminal: `python -m tests.tool.scripted_run SCENE [LOG]` shows what the scene's sandboxes say."""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from bhtool.config.plan import Plan, SandboxPlan
from bhtool.machine.console import Source, printable
from bhtool.machine.memory import Crash, Heartbeat
from bhtool.machine.session import CrashEvent, LineEvent, ReadyEvent, RestartEvent, Session, Watch
from bhtool.report.show import Show
from bhtool.terminal.logfile import Log
from bhtool.terminal.screen import Screen, table_of

NAMES = ("control", "sensor", "linux")
PAUSE = 0.06  # longer than the display rests between frames
LONG = "The quick brown fox jumps over the lazy dog, and over 日本語 and an€uro. " * 6
CRASH = Crash("long", 1, "none", 0, 0, 0x40001000, 0, 0, (1, 2), 0, tuple(range(8)))
FLOOD = 10_000


class Scripted:
    """Has what a display asks of a session."""

    def __init__(self) -> None:
        plans = [SimpleNamespace(name=name, index=n, restarts=True, cores=[n], os="native", functions=()) for n, name in enumerate(NAMES)]
        self.watches = {one.name: Watch(cast(SandboxPlan, one), cast(Source, None)) for one in plans}
        self.plan = cast(Plan, SimpleNamespace(sandboxes=plans))
        self.platform = SimpleNamespace(name="scripted", arch="aarch64", backend="stage2-gicv3", emulator=SimpleNamespace(kind="qemu"))
        self.machine = SimpleNamespace(is_counted=True)
        self.memory = None
        self.started = time.monotonic()

    def guest_seconds(self) -> float:
        return time.monotonic() - self.started

    def unfinished_lines(self) -> list[LineEvent]:
        return []


def beat(session: Scripted, number: int) -> None:
    for name in NAMES[:2]:
        session.watches[name].ready = True
        session.watches[name].heartbeat = Heartbeat(number * 100, 1000000, 0, 0)


def pauses(session: Scripted, show: Show, screen: Screen) -> None:
    """Lines, some after pauses, complaints between them, and what no terminal should get."""
    for number in range(30):
        beat(session, number)
        show.event(LineEvent(NAMES[number % 3], printable(f"\x1b[31mline\x07 {number}\x1b[2J of\ttabs \x9b1A\u202e and controls")))
        if number == 9:
            screen.complain("something is \x1b[2Jwrong")
        show.look()
        time.sleep(PAUSE * (number % 3 == 0))


def long(session: Scripted, show: Show, screen: Screen) -> None:
    for name in NAMES:
        show.event(LineEvent(name, LONG))
        show.event(LineEvent(name, "x" * 500))
        show.look()
        time.sleep(PAUSE)


def flood(session: Scripted, show: Show, screen: Screen) -> None:
    """10,000 lines of one sandbox in a second, among a few of another."""
    for number in range(FLOOD):
        show.event(LineEvent("linux", f"flood {number}"))
        if number % 1000 == 0:
            show.event(LineEvent("control", f"steady {number}"))
            show.look()


def crashes(session: Scripted, show: Show, screen: Screen) -> None:
    """A sandbox that crashes in the same way 13 times, then in another, then is parked."""
    watch = session.watches["sensor"]
    for life in range(15):
        show.event(LineEvent("sensor", "sensor: up"))
        show.event(LineEvent("sensor", f"sensor: life {life}"))
        if life == 0:
            show.event(ReadyEvent("sensor"))
        show.look()
        time.sleep(PAUSE / 6)
        crash = replace(CRASH, clock=life, pc=CRASH.pc + (life == 13))
        show.event(CrashEvent("sensor", crash))
        watch.restarts = life + 1
        show.event(RestartEvent("sensor", watch.restarts))


def waiting(session: Scripted, show: Show, screen: Screen) -> None:
    """Until an interrupt."""
    show.event(LineEvent("control", "up"))
    for number in range(600):
        beat(session, number)
        show.look()
        time.sleep(PAUSE)


SCENES: dict[str, Callable[[Scripted, Show, Screen], None]] = {one.__name__: one for one in (pauses, long, flood, crashes, waiting)}


def main() -> None:
    scene, screen, session = SCENES[sys.argv[1]], Screen(), Scripted()
    with ExitStack() as stack:
        if sys.argv[2:]:
            screen.log = stack.enter_context(Log(Path(sys.argv[2])))
        show = Show(screen, cast(Session, session))
        with screen.progress("starting"), show, suppress(KeyboardInterrupt):
            scene(session, show, screen)
        table = table_of("closing", "sandbox", "state")
        table.add_row("control", "ready")
        screen.summary(table)


if __name__ == "__main__":
    main()
