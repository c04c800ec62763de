# SPDX-License-Identifier: Apache-2.0
"""Steps and Ctrl-C between gdb and a machine that may not answer them: gdb always comes back to its user."""

import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from bhtool.debugger import live as live_module
from bhtool.debugger import server as server_module
from bhtool.debugger.layout import LAYOUTS
from bhtool.debugger.options import options
from bhtool.debugger.packets import INTERRUPT, Line
from bhtool.debugger.server import LONG, Server, serve
from bhtool.debugger.target import INTERRUPTED, NO_SPAN, TRAP, Stop, Target, Tick
from bhtool.errors import BulkheadError

from tests.tool.test_debugger import GUEST, PC, Machine, live, never

BEHIND = PC + 4


@dataclass
class Walker(Machine):
    """Core 2 goes one instruction further with each step. The steps of `sleepers` end only when the machine is interrupted."""

    sleepers: set[int] = field(default_factory=set)
    pc: int = PC
    interruptions: int = 0

    def send(self, data: bytes) -> None:
        self.sent.append(data.decode())
        if data.startswith(b"vCont;s:"):
            core = int(data.rpartition(b":")[2], 16) - 1
            self.pc += 4 if core == 2 else 0
            self.waiting += [] if core in self.sleepers else [b"T05thread:%02x;" % (core + 1)]
        elif data == b"vCont;c" and self.stops:
            self.waiting.append(self.stops.pop(0))

    def interrupt(self) -> None:
        self.interruptions += 1
        super().interrupt()

    def ask(self, data: str | bytes) -> bytes:
        if data == "g" and self.core == 2:
            self.sent.append("g")
            return LAYOUTS["aarch64"].laid_over(b"", {"pc": self.pc, "cpsr": GUEST})
        return super().ask(data)

    def runs(self) -> list[str]:
        return [one for one in self.sent if one.startswith("vCont")]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "STEP_SECONDS", 0.0)


def placed(machine: Machine) -> list[str]:
    """Breakpoints of the tool's own; all are taken back."""
    there = [one[1:] for one in machine.sent if one.startswith("Z")]
    assert there == [one[1:] for one in machine.sent if one.startswith("z")]
    return there


@pytest.mark.usefixtures("impatient")
def test_a_step_over_a_sleep_ends_behind_it() -> None:
    """WFI, HLT: nothing wakes a core while the rest of the machine stands."""
    machine = Walker([b"T05thread:03;"], sleepers={2})
    assert live(machine).resume(0, never) == Stop(0)
    assert machine.runs() == ["vCont;s:3", "vCont;c"]
    assert placed(machine) == [f"1,{BEHIND:x},4"]


@pytest.mark.usefixtures("impatient")
def test_a_sleep_of_another_sandbox_is_passed_over() -> None:
    """Core 1 has come to a breakpoint at its WFI."""
    machine = Walker([b"T05thread:02;", b"T05thread:03;"], sleepers={1})
    assert live(machine).resume(None, never) == Stop(0)
    assert machine.runs() == ["vCont;c", "vCont;s:2", "vCont;c"]


@pytest.mark.usefixtures("impatient")
def test_a_step_that_a_busy_host_has_not_begun_is_taken_again() -> None:
    machine = Walker([], sleepers={2})
    target, where = live(machine), iter([PC, PC, BEHIND])
    target.pc = lambda core: next(where, BEHIND)  # type: ignore[method-assign]
    machine.stops = [b"T05thread:03;"]
    assert target.resume(0, never) == Stop(0)
    assert machine.runs() == ["vCont;s:3", "vCont;s:3", "vCont;c"]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("sleepers", "runs", "stop"), [(set(), 3, Stop(0)), ({2}, 1, Stop(0, INTERRUPTED))], ids=["busy", "asleep"])
def test_a_step_out_of_the_monitor_comes_back(sleepers: set[int], runs: int, stop: Stop) -> None:
    """With the guest's next instruction, which nobody knows beforehand; a core that sleeps in its monitor stays there."""
    machine = Walker([], sleepers=sleepers)
    target = live(machine)
    target.is_guest = lambda core: machine.pc == PC + 12  # type: ignore[method-assign]
    assert target.resume(0, never) == stop
    assert machine.runs() == ["vCont;s:3"] * runs


def test_ctrl_c_ends_a_step() -> None:
    """And takes back the step of the core that is stepped, whichever stopped last: else that one would stop again at once."""
    machine = Walker([], sleepers={2})
    assert live(machine).resume(0, lambda: True) == Stop(0, INTERRUPTED)
    assert machine.sent.index("Hc3") < machine.sent.index("vCont;s:3")
    assert machine.interruptions == 1


def test_ctrl_c_ends_a_step_through_a_line() -> None:
    machine = Walker([])
    assert live(machine).resume(0, lambda: True, range(PC, PC + 0x1000)) == Stop(0, INTERRUPTED)


def test_ctrl_c_ends_a_stop_of_others() -> None:
    """Which there may be for ever: here it comes while core 1 is taken past its breakpoint."""
    machine = Walker([b"T05thread:02;"], sleepers={1})
    assert live(machine).resume(None, lambda: machine.runs()[-1] == "vCont;s:2") == Stop(0, INTERRUPTED)
    assert machine.runs() == ["vCont;c", "vCont;s:2"]


def test_a_machine_that_does_not_stop_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "SECONDS", 0.0)
    machine = Walker([], sleepers={2})
    monkeypatch.setattr(machine, "interrupt", lambda: None)
    with pytest.raises(BulkheadError, match="the machine did not stop within 0 s of being told to"):
        live(machine).resume(0, lambda: True)


def test_a_line_is_stepped_in_one_go() -> None:
    machine = Walker([])
    assert live(machine).resume(0, never, range(PC, PC + 12)) == Stop(0)
    assert machine.pc == PC + 12
    assert machine.runs() == ["vCont;s:3"] * 3


def test_a_breakpoint_in_a_line_is_stopped_at() -> None:
    """A step of the machine looks at none."""
    machine = Walker([])
    target = live(machine)
    target.forward(0, b"Z0,%x,4" % (PC + 8))
    assert target.resume(0, never, range(PC, PC + 0x1000)) == Stop(0)
    assert machine.pc == PC + 8


def test_a_watchpoint_in_a_step_is_told() -> None:
    machine = Walker([], sleepers={2})
    machine.waiting = [b"T05thread:03;watch:40081000;"]
    assert live(machine).resume(0, never, range(PC, PC + 0x1000)) == Stop(0, TRAP, b"watch:40081000;")


@pytest.mark.usefixtures("impatient")
def test_another_core_of_the_sandbox_in_the_same_code_is_passed_over() -> None:
    """But not where gdb has a breakpoint."""
    stops = [b"T05thread:04;", b"T05thread:03;"]
    machine = Walker(list(stops), sleepers={2})
    assert live(machine).resume(0, never) == Stop(0)
    assert machine.runs() == ["vCont;s:3", "vCont;c", "vCont;s:4", "vCont;c"]
    machine = Walker(list(stops), sleepers={2})
    target = live(machine)
    target.breakpoints.add(b"0,%x,4" % PC)  # where core 3 is
    assert target.resume(0, never) == Stop(1)


def test_what_is_known_of_a_machine_that_stands_is_forgotten_when_it_moves() -> None:
    machine = Walker([])
    target = live(machine)
    for _ in range(3):
        assert target.memory(0, PC, 4) == bytes(4)
    translations = len([one for one in machine.sent if one.startswith("qRcmd")])
    assert (translations, machine.sent.count("g")) == (len(["cpu", "gva2gpa"]), 1)
    target.resume(0, never)
    target.memory(0, PC, 4)
    assert len([one for one in machine.sent if one.startswith("qRcmd")]) == 2 * translations
    assert target.pc(2) == BEHIND


@dataclass
class Told:
    """A sandbox that is only told to move."""

    spans: list[range] = field(default_factory=list)
    cores: list[int] = field(default_factory=lambda: [2, 3])

    def resume(self, slot: int | None, tick: Tick, span: range = NO_SPAN) -> Stop:
        self.spans.append(span)
        return Stop(slot or 0)


def talk(target: Told, said: bytes, poll: Callable[[], str] = str) -> list[bytes]:
    """What gdb, which says this at once and leaves, is answered."""
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        theirs.sendall(said)
        theirs.shutdown(socket.SHUT_WR)
        serve(Server(cast(Target, target), Line(ours, is_server=True), poll))
        ours.shutdown(socket.SHUT_WR)
        heard = b""
        while more := theirs.recv(1 << 16):
            heard += more
        return [one.partition(b"#")[0] for one in heard.split(b"$")[1:]]


def packet(data: bytes) -> bytes:
    return b"$" + data + b"#%02x" % (sum(data) & 0xFF)


STEP = packet(b"vCont;s:2;c")


def test_ctrl_c_between_two_steps_ends_the_next() -> None:
    """gdb steps through a line that calls a function in many steps of its own, and Ctrl-C comes when it comes. It ends one."""
    target = Told()
    assert talk(target, STEP + INTERRUPT + STEP + STEP) == [b"T05thread:2;", b"T02thread:2;", b"T05thread:2;"]
    assert len(target.spans) == 2


def test_a_lines_addresses_come_with_its_step() -> None:
    target = Told()
    assert talk(target, packet(b"vCont;r40080000,40080010:2;c") + packet(b"vCont;s:1;c")) == [b"T05thread:2;", b"T05thread:1;"]
    assert target.spans == [range(0x40080000, 0x40080010), NO_SPAN]


def test_a_line_that_takes_long_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until gdb comes to its prompt, before which it asks for the threads."""
    monkeypatch.setattr(server_module, "MANY_STEPS", 3)
    told = b"O" + LONG.format(3).encode().hex().encode()
    assert talk(Told(), STEP * 7).count(told) == 1
    assert talk(Told(), (STEP * 2 + packet(b"qfThreadInfo")) * 3).count(told) == 0


def test_a_machine_to_debug_waits_for_the_debugger() -> None:
    assert options(Path("/port")) == ("-gdb", "unix:/port,server=on,wait=off", "-S")
