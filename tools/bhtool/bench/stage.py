# SPDX-License-Identifier: Apache-2.0
"""Machines to measure on: a sandbox under its monitor, and the same program alone on the bare emulator."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2

from bhtool.config.plan import Plan
from bhtool.errors import BulkheadError, Status
from bhtool.families.table import FAMILIES
from bhtool.image.payloads import Report
from bhtool.image.stages import make_image, make_plan
from bhtool.machine.console import Lines, Uart
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import Timing
from bhtool.machine.session import CrashEvent, EndEvent, Event, LineEvent, Session
from bhtool.platforms import Platform

STARTED = ": alive"  # the first that it says
TEMPLATE = Path(__file__).with_name("native.dts.j2")
COUNTED = Timing(icount_shift=0)  # one instruction takes one nanosecond
NANOSECOND_HZ = 1_000_000_000
NEIGHBOUR_CORE = 3
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Guest:
    """What the native sandbox `measured` is told, and whether a neighbour could kick it, which only sleeps unless it is told otherwise."""

    arguments: str
    cores: tuple[int, ...] = (1,)
    kickable: bool = False
    trusted_idle: bool = False
    unprotected: tuple[str, ...] = ()
    neighbour: str = "sleep"
    on_request: tuple[tuple[int, int], ...] = ()  # slots of its channels with the neighbour, which it may open and close, and bytes of each

    @property
    def idle_cores(self) -> list[int]:
        return [core for core in range(4) if core not in self.cores and not (self.kickable and core == NEIGHBOUR_CORE)]


@dataclass(frozen=True)
class Stage:
    platform: Platform
    plan: Plan
    image: bytes

    def session(self, timing: Timing, extra: Sequence[str] = ()) -> Session:
        """`extra` in the emulator's own words."""
        return Session(self.platform, self.plan, Machine(self.platform, self.image, timing, extra=tuple(extra)))


def set_up(platform: Platform, partition: Path, report: Report) -> Stage:
    plan = make_plan(platform, partition, report)
    return Stage(platform, plan, make_image(platform, plan))


def write_native(folder: Path, guest: Guest) -> Path:
    """A partition file with that sandbox, which owns a UART."""
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    file = folder / "native.dts"
    file.write_text(template.render(guest=guest, neighbour_core=NEIGHBOUR_CORE), encoding="utf-8")
    return file


def counting(platform: Platform) -> Platform:
    """The machine with a counter that ticks once an instruction under COUNTED."""
    arguments = (*platform.emulator.arguments, *FAMILIES[platform.arch].counting.options)
    return replace(platform, emulator=replace(platform.emulator, arguments=arguments, clock_hz=NANOSECOND_HZ))


def bare(platform: Platform) -> Platform:
    """The machine without what a monitor needs: on ARM a program is entered at EL1 then."""
    arguments = tuple(argument.replace(",virtualization=on", "") for argument in platform.emulator.arguments)
    return replace(platform, emulator=replace(platform.emulator, arguments=arguments))


def refuse_end(session: Session, event: Event) -> None:
    """A machine or a sandbox that ends while it is measured ends the measurement."""
    if isinstance(event, CrashEvent):
        where = f"{event.crash.reason} at {event.crash.address:#x}, pc {event.crash.pc:#x}"
        raise BulkheadError(f"{event.sandbox} was parked while it was measured: {where}")
    if isinstance(event, EndEvent):
        raise BulkheadError(f"{session.platform.name} ended while it was measured, status {event.status} {event.complaint}".rstrip())


def sandbox_lines(session: Session, sandbox: str, limit: float) -> Iterator[str]:
    """What the sandbox says within so many host seconds."""
    for event in session.events(limit):
        if event is not None:
            refuse_end(session, event)
        if isinstance(event, LineEvent) and event.sandbox == sandbox:
            yield event.text


def bare_lines(machine: Machine, line: Uart, limit: float) -> Iterator[str]:
    """What a program alone on its machine says within so many host seconds."""
    lines = Lines()
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        yield from lines.feed(line.read())
        if (status := machine.exit_status()) is not None:
            raise BulkheadError(f"the bare {machine.platform.name} ended, status {status} {machine.complaint()}".rstrip())
        time.sleep(POLL_SECONDS)


def out_of_time(what: str, limit: float) -> BulkheadError:
    return BulkheadError(f"{what} took more than {limit:.0f} s", Status.TIME_LIMIT)
