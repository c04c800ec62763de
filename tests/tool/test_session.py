# SPDX-License-Identifier: Apache-2.0
"""Sessions: a machine is started, read and stopped, and everything it leaves in memory arrives."""

import gc
import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.machine.console import Source
from bhtool.machine.emulated import Machine
from bhtool.machine.memory import Crash, Memory, Stats
from bhtool.machine.session import (
    BannerEvent,
    CrashEvent,
    Event,
    LineEvent,
    MonitorEvent,
    ReadyEvent,
    RestartEvent,
    Session,
    Watch,
)
from bhtool.platforms import Platform

LIMIT = 20.0


@pytest.fixture
def session(platform: Platform, plan: Plan, machine: Machine) -> Iterator[Session]:
    with Session(platform, plan, machine) as started:
        yield started


def until(session: Session, count: int) -> list[Event]:
    found: list[Event] = []
    for event in session.events(LIMIT):
        if event is not None:
            found.append(event)
        elif len(found) >= count:
            break
    return found


def test_events_and_figures_arrive(session: Session) -> None:
    events = until(session, 5)
    assert LineEvent("beating", "beating: hello") in events, "colour escapes are taken out"

    assert LineEvent("linux", "bulkhead-linux: ready") in events
    assert {event.sandbox for event in events if isinstance(event, ReadyEvent)} == {"beating", "linux"}
    [crash] = [event for event in events if isinstance(event, CrashEvent)]
    assert (crash.sandbox, crash.crash.reason, crash.crash.access, crash.crash.address) == ("crashed", "memory", "write", 0x09000000)
    assert crash.crash.registers == (0xABCDEF, 0)
    beating = session.watches["beating"]
    assert beating.exits_boot()["memory"] == 5
    assert beating.exits_steady()["memory"] == 2
    assert [core["ipi"] for core in beating.core_exits_steady()] == [0, 1]
    assert (beating.exits_boot()["ipi"], beating.exits_steady()["ipi"]) == (3, 1)
    assert beating.heartbeat is not None
    assert (beating.heartbeat.beats, beating.heartbeat.gaps) == (3000, 2)
    assert session.watches["crashed"].settled
    assert not session.watches["crashed"].ready


def test_the_serial_line_takes_input(session: Session) -> None:
    until(session, 5)
    assert session.watches["linux"].console.write(b"ping\n")
    deadline = time.monotonic() + LIMIT
    lines: list[Event] = []
    while not lines and time.monotonic() < deadline:
        lines = [event for event in session.poll() if isinstance(event, LineEvent)]
    assert lines == [LineEvent("linux", "ping")]


def test_lines_before_any_sandbox_are_the_monitors(platform: Platform, plan: Plan, machine: Machine) -> None:
    unstarted = [replace(sandbox, pool_hpa=0x70000000) for sandbox in plan.sandboxes]
    with Session(platform, replace(plan, sandboxes=unstarted), machine) as session:
        assert until(session, 1) == [MonitorEvent("bulkhead-linux: ready")]
        assert not session.watches["linux"].ready


def test_last_words_need_no_end_of_line(session: Session) -> None:
    """Told once, by whoever looks last."""
    until(session, 5)
    session.watches["linux"].lines.feed(b"login: ")
    assert session.unfinished_lines() == [LineEvent("linux", "login: ")]
    assert session.unfinished_lines() == []


BANNER = "bulkhead 0.2.0 (table 6): qemu-svm, native.dts: north"


@pytest.mark.parametrize(
    ("console", "said", "expected"),
    [
        ("uart0", [BANNER, "hello"], [BannerEvent(BANNER), LineEvent("one", "hello")]),
        ("uart0", ["hello", BANNER], [LineEvent("one", "hello"), LineEvent("one", BANNER)]),
        ("uart0", [BANNER, BANNER], [BannerEvent(BANNER), LineEvent("one", BANNER)]),
        ("uart1", [BANNER], [LineEvent("one", BANNER)]),
        ("uart0", ["bulkhead: cannot start: no"], [LineEvent("one", "bulkhead: cannot start: no")]),
    ],
    ids=["first", "a sandbox's", "said again", "another console", "no banner"],
)
def test_the_monitors_banner_is_the_first_line_of_the_boot_console(console: str, said: list[str], expected: list[Event]) -> None:
    session = Session.__new__(Session)
    session.platform = cast(Platform, SimpleNamespace(emulator=SimpleNamespace(serials=("uart0", "uart1"))))
    session._banner_is_due, session.banner = True, ""
    session._seconds, session.monitor_seconds = 0.25, None
    watch = Watch(cast(SandboxPlan, SimpleNamespace(name="one", console=console)), cast(Source, None), stats=cast(Stats, SimpleNamespace()))
    assert session._spoken(watch, said) == expected
    assert session.monitor_seconds == (0.25 if BannerEvent(BANNER) in expected else None)


@pytest.mark.parametrize("label", ["uart1", "uart2"])
def test_no_sandbox_speaks_for_the_monitor(label: str) -> None:
    """On a UART that it owns beside its console, from the moment it is started."""
    said, session = "bulkhead: cannot start: no", Session.__new__(Session)
    session.platform = cast(Platform, SimpleNamespace(emulator=SimpleNamespace(serials=("uart0", "uart1", "uart2"))))
    session._banner_is_due = True
    plan = cast(SandboxPlan, SimpleNamespace(name="one", console="log", devices={"uart1": None}))
    session.watches = {"one": Watch(plan, cast(Source, None))}
    assert session._spare_spoken(label, [said]) == [MonitorEvent(said)]
    session.watches["one"].stats = cast(Stats, SimpleNamespace())
    assert session._spare_spoken(label, [said]) == [LineEvent("one", said) if label == "uart1" else MonitorEvent(said)]


def test_a_uart_is_read_before_it_is_known_who_was_started(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the monitor's last words would be those of the sandbox that it has just started."""
    order: list[str] = []

    def read() -> bytes:
        order.append("uart")
        return b""

    def look(_: Watch) -> list[Event]:
        order.append("sandbox")
        return []

    monkeypatch.setattr(session, "_spare", [("uart1", SimpleNamespace(read=read), session.watches["linux"].lines)])
    monkeypatch.setattr(session, "_look", look)
    session.poll()
    assert order == ["uart", *["sandbox"] * len(session.watches)]


def test_last_words_arrive_before_the_end_is_known(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stops looking once a sandbox has ended has heard all of it, however slow the looking is."""
    until(session, 5)
    words = [b"", b"good-bye\n"]  # said between the look at the console and that at the state
    watch = session.watches["crashed"]
    monkeypatch.setattr(watch, "console", SimpleNamespace(read=lambda: words.pop(0) if words else b""))
    assert LineEvent("crashed", "good-bye") in session._look(watch)


def test_nothing_is_left_behind(platform: Platform, plan: Plan, machine: Machine) -> None:
    gc.collect()  # what the tests before have left
    descriptors = set(os.listdir("/proc/self/fd"))
    with Session(platform, plan, machine):
        pid = machine.pid
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == descriptors
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_time_limit_ends_the_wait(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which each look takes a second."""
    clock = itertools.count(1000.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(session, "poll", list)
    monkeypatch.setattr(session, "rest", lambda: None)
    assert list(session.events(3.5)) == [None] * 3


def test_a_restart_stands_before_what_the_new_life_says() -> None:
    """Unless its crash is news too: then the lines may be of the life before."""
    crash = Crash("long", 1, "none", 0, 0, 0, 0, 0, (0, 0), 0, ())
    session = Session.__new__(Session)
    session.memory = cast(Memory, SimpleNamespace(crash=lambda pool: crash))
    said: list[Event] = [LineEvent("one", "up")]
    crashed, begun = CrashEvent("one", crash), RestartEvent("one", 1)
    for told, expected in ((None, [*said, crashed, begun]), (crash, [begun, *said])):
        plan, stats = SimpleNamespace(name="one", pool_hpa=0), SimpleNamespace(restarts=1)
        watch = Watch(cast(SandboxPlan, plan), cast(Source, None), stats=cast(Stats, stats), crash=told)
        assert session._lives(watch, list(said)) == expected
