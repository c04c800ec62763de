# SPDX-License-Identifier: Apache-2.0
"""`bulkhead debug`: a machine, and gdb on one of its sandboxes."""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import click

from bhtool import elf, paths
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.debugger.breaks import is_elf, require_breaks, require_elf
from bhtool.debugger.gdb import Wish, run_gdb
from bhtool.debugger.live import Live
from bhtool.debugger.options import options
from bhtool.debugger.packets import Line
from bhtool.debugger.record import Record
from bhtool.debugger.server import Server, serve
from bhtool.debugger.target import Stop
from bhtool.errors import BulkheadError, Status
from bhtool.image.names import Resolver
from bhtool.image.stages import judged_plan, make_image, require_valid
from bhtool.machine.attach import require_foreground, require_sandbox
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.memory import Crash
from bhtool.machine.session import CrashEvent, EndEvent, Event, LineEvent, RestartEvent, Session, Watch
from bhtool.platforms import DEFAULT, Platform, load, names
from bhtool.report import summary
from bhtool.report.places import places_of
from bhtool.report.wrong_call import wrong_call
from bhtool.terminal.screen import Screen
from bhtool.verbs.options import Seconds, strict_option

DEMO = paths.PARTITIONS / "mixed.dts"
START_SECONDS = 120.0  # of the host, to the sandbox's first instruction
REGISTERS_HERE = "  its registers: `info registers`"
REGISTERS_IN_RUN = "  its registers: `tools/bulkhead run` shows them"


@dataclass
class Observer:
    """Follows the machine while it runs, and tells what the sandbox says."""

    session: Session
    watch: Watch
    ended: bool = False
    live: Live | None = None
    notes: list[str] = field(default_factory=list)

    def poll(self) -> str:
        for event in self.session.poll():
            self.note(event)
        if self.live is not None:
            self._see_end(self.live)
        said, self.notes = "".join(f"{self.watch.plan.name} │ {line}\n" for line in self.notes), []
        return said

    def _see_end(self, live: Live) -> None:
        crash = self.watch.crash
        if self.watch.state == "parked" and crash is not None and crash.core in live.cores:
            live.crash = crash
        live.is_off = self.watch.state in ("parked", "off")

    def note(self, event: Event) -> None:
        if isinstance(event, EndEvent):
            self.ended = True
        elif getattr(event, "sandbox", "") != self.watch.plan.name:
            return
        elif isinstance(event, LineEvent):
            self.notes += [event.said] if event.said else []
        elif isinstance(event, CrashEvent):
            self.notes += self._crash(event.crash)
        elif isinstance(event, RestartEvent):
            self.notes.append(f"begins again: restart {event.restarts}")

    def _crash(self, crash: Crash) -> list[str]:
        """As `run` tells it, but for the registers."""
        session, sandbox = self.session, self.watch.plan
        hint = wrong_call(session.memory, sandbox, crash, session.platform.backend)
        places, arch = places_of(session, self.watch, crash), session.platform.arch
        lines = summary.crash_prose(session.plan, sandbox.index, crash, arch, places, hint)
        is_last = self.watch.state == "parked" or not sandbox.restarts
        return [*lines, REGISTERS_HERE if is_last else REGISTERS_IN_RUN]


def symbols_of(platform: Platform, plan: Plan, sandbox: SandboxPlan, given: Path | None, screen: Screen) -> Path | None:
    if given is not None:
        require_elf(given)
        return given
    if sandbox.os == "linux":
        screen.warn(
            f"{sandbox.name} runs Linux, whose image has no symbols: give the kernel's vmlinux with --symbols, and boot it with `nokaslr`"
        )
        return None
    image = Resolver(platform, plan.file, lambda _: None)(sandbox.image)
    if is_elf(image):
        return image
    screen.warn(f"{sandbox.name}'s image {image.name} is no ELF file and has no symbols: give the ELF file it was made from with --symbols")
    return None


def resident_monitor(platform: Platform) -> range:
    """Addresses of the monitor's image, the same in every copy."""
    data = (platform.build / "bulkhead.elf").read_bytes()
    form = elf.form_of(data)
    programs = (elf.read_programs(form, elf.read_header(form, data), data) if form else None) or []
    loaded = [one for one in programs if one.type == elf.PT_LOAD]
    return range(min(one.virtual for one in loaded), max(one.virtual + one.memory_bytes for one in loaded))


def connected(session: Session, path: Path) -> Line:
    """QEMU makes its port a little after it has started."""
    line = socket.socket(socket.AF_UNIX)
    deadline = time.monotonic() + START_SECONDS
    while line.connect_ex(str(path)):
        if session.machine.exit_status() is not None or time.monotonic() > deadline:
            raise BulkheadError(f"the machine did not open its debugger's port: {session.machine.complaint() or 'no reason given'}")
        time.sleep(0.01)
    return Line(line, is_server=False)


def run_to_entry(live: Live, observer: Observer) -> Stop:
    """To the sandbox's first instruction."""
    place = f"1,{live.sandbox.entry & ~1:x},4".encode()
    deadline = time.monotonic() + START_SECONDS

    def tick() -> bool:
        observer.poll()
        return observer.ended or time.monotonic() > deadline

    live.forward(0, b"Z" + place)
    stop = live.resume(None, tick)
    live.forward(0, b"z" + place)
    if stop.is_end or stop.signal != Stop(0).signal:
        raise BulkheadError(f"{live.sandbox.name} was not entered: `tools/bulkhead run` shows why")
    return stop


def debug_live(session: Session, sandbox: SandboxPlan, directory: Path, wish: Wish, screen: Screen) -> int:
    observer = Observer(session, session.watches[sandbox.name])
    with closing(connected(session, directory / "machine")) as line:
        live = Live(session.platform.arch, sandbox, line, resident_monitor(session.platform))
        live.begin()
        with screen.progress("starting the machine"):
            stop = run_to_entry(live, observer)
        observer.live = live
        screen.report(f"{sandbox.name} stands before its first instruction; the whole machine stands whenever it does")
        status = run_gdb(
            session.platform, directory, wish, lambda gdb: serve(Server(live, gdb, observer.poll, lambda: live.wants_stop, stop))
        )
    screen.report("the machine ends")
    return status


def debug_record(session: Session, sandbox: SandboxPlan, directory: Path, wish: Wish, seconds: float, screen: Screen) -> int:
    """A machine without a debugger's port runs until the sandbox is parked; then it is memory and a crash record."""
    observer = Observer(session, session.watches[sandbox.name])
    with screen.progress("starting the machine"):
        run_until_parked(observer, seconds, screen.update)
    for note in observer.notes:
        screen.line(sandbox.name, note)
    session.machine.stop()
    crash = observer.watch.crash if observer.watch.state == "parked" else None
    told = "its crash record has the registers" if crash else f"it is {observer.watch.state}, so there are no registers"
    screen.warn(
        f"{session.platform.name} has no debugger's port: the machine has ended, its memory stays; {told}. Nothing can be stepped or run on."
    )
    record = Record(session.platform.arch, sandbox, session.memory, crash)
    stop = record.resume(None, lambda: False)
    return run_gdb(session.platform, directory, wish, lambda gdb: serve(Server(record, gdb, str, lambda: False, stop)))


def run_until_parked(observer: Observer, seconds: float, update: Callable[[str], None]) -> None:
    session, name = observer.session, observer.watch.plan.name
    for event in session.events(START_SECONDS * 5):
        if event is not None:
            observer.note(event)
        elif observer.ended or observer.watch.state in ("parked", "off") or session.guest_seconds() >= seconds:
            return
        update(f"running until {name} is parked, or for {seconds:g} s")


@click.command()
@click.argument("sandbox")
@click.option("--platform", "platform_name", type=click.Choice(names()), default=DEFAULT, show_default=True, help="Which machine.")
@click.option("--partition", type=click.Path(path_type=Path), default=DEMO, help="Who owns what; default: the mixed-criticality demo.")
@click.option(
    "--symbols", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="ELF file with symbols; default: the sandbox's image."
)
@click.option("--break", "breaks", multiple=True, metavar="PLACE", help="Stop there first: a function, FILE:LINE or *ADDRESS.")
@click.option("--command", "commands", multiple=True, metavar="TEXT", help="A command for gdb, which ends after the last one.")
@click.option(
    "--seconds", type=Seconds(min=0), default=10.0, show_default=True, help="On Bochs: guest time after which a sandbox is looked at."
)
@strict_option
def debug(
    sandbox: str,
    platform_name: str,
    partition: Path,
    symbols: Path | None,
    breaks: tuple[str, ...],
    commands: tuple[str, ...],
    seconds: float,
    strict: bool,
) -> Status:
    """Start a machine and gdb on one of its sandboxes, with its symbols and its addresses.

    On QEMU the sandbox stands before its first instruction, and its cores are gdb's threads. The whole machine stands whenever it does, so nothing comes late.
    A sandbox that is parked stands as its crash record says. On Bochs, which cannot be stopped, that is all there is.
    """
    if not commands:
        require_foreground("debug without --command")
    screen = Screen()
    platform = load(platform_name)
    with screen.progress("preparing"):
        plan = judged_plan(platform, partition, screen, strict)
        require_valid(plan)
        one = require_sandbox(plan, sandbox)
        image = make_image(platform, plan)
    known = symbols_of(platform, plan, one, symbols, screen)
    require_breaks(breaks, known)
    wish = Wish(known, breaks, commands, platform.emulator.kind == "qemu")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        timing = timing_for(platform, plan)
        extra = options(directory / "machine") if wish.runs else ()
        with Session(platform, plan, Machine(platform, image, timing, extra=extra)) as session:
            if wish.runs:
                status = debug_live(session, one, directory, wish, screen)
            else:
                status = debug_record(session, one, directory, wish, seconds, screen)
    return Status.FAILED if status else Status.GOOD
