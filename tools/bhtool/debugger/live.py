# SPDX-License-Identifier: Apache-2.0
"""A sandbox in a machine of QEMU that runs and stands as gdb says.

QEMU's port (docs/system/gdb.rst, "GDB usage") has a thread for each core and breakpoints by virtual address that stop whichever core gets
there, in whatever sandbox and in the monitor, too. A stop that is not this sandbox's is passed over here: one step of that core, and on.
"""

from __future__ import annotations

import math
import re
import select
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from bhtool.config.plan import SandboxPlan
from bhtool.debugger.layout import LAYOUTS, Layout, recorded_controls
from bhtool.debugger.memory import PAGE, Piece, are_memory, by_pages, pieces, pieces_behind, translate_x86
from bhtool.debugger.packets import SECONDS, Ended, Line
from bhtool.debugger.steps import run_to, step_through
from bhtool.debugger.target import CRASHED, INTERRUPTED, NO_SPAN, TRAP, Stop, Tick
from bhtool.errors import BulkheadError
from bhtool.families.family import Registers
from bhtool.families.table import FAMILIES
from bhtool.machine.memory import Crash
from bhtool.report.recorded import recorded

LOOK_SECONDS = 0.02
STEP_SECONDS = 0.1  # of the host, in which an instruction ends if it does; a step is taken again if not
MOST_MONITOR_STEPS = 4000  # more than any exit has
GIVEN_UP = b"T02"  # a stop that was asked for
CHUNK = 0x400  # bytes of memory in one packet
THREAD = re.compile(rb"thread:([0-9a-f]+);")
STOPPED = re.compile(rb"^[TS]([0-9a-f]{2})")
MAPPED = re.compile(r"^gpa: 0x([0-9a-f]+)", re.MULTILINE)
X86_CONTROL_OFFSETS = {"cr0": 188, "cr3": 204, "cr4": 212, "efer": 228}  # of QEMU's i386-64bit.xml, after six segments and three bases
X86_PACKET_BYTES = 608  # of that file's `g` packet: of another size, the offsets are another file's


@dataclass
class Live:
    platform_arch: str
    sandbox: SandboxPlan
    line: Line  # to QEMU
    monitor: range  # virtual addresses of the resident monitor, on a PC
    crash: Crash | None = None  # once it is parked: of the core that did it
    is_off: bool = False  # it has ended itself
    is_physical: bool = False  # how QEMU reads addresses now
    breakpoints: set[bytes] = field(default_factory=set)
    known_registers: dict[int, bytes] = field(default_factory=dict)  # by core, while the machine stands
    known_pages: dict[tuple[int, int], int | None] = field(default_factory=dict)  # by core and page

    @property
    def cores(self) -> list[int]:
        return self.sandbox.cores

    @property
    def describes_itself(self) -> bool:
        return True

    @property
    def wants_stop(self) -> bool:
        """Nothing that it could do is left."""
        return self.crash is not None or self.is_off

    @property
    def _layout(self) -> Layout:
        return LAYOUTS[self.platform_arch]

    @property
    def _registers(self) -> Registers:
        return FAMILIES[self.platform_arch].registers

    def begin(self) -> None:
        """Without asking for descriptions first, QEMU shows no system registers."""
        self.line.ask("qSupported:xmlRegisters=arm")
        self.line.ask("?")

    # ---- What a core is doing ----------------------------------------------------------------------------------------

    def _raw(self, core: int) -> bytes:
        if core not in self.known_registers:
            self.line.ask(f"Hg{core + 1:x}")
            self.known_registers[core] = self.line.ask("g")
        return self.known_registers[core]

    def _forget(self) -> None:
        self.known_registers.clear()
        self.known_pages.clear()

    def _has_crashed(self, slot: int) -> bool:
        return self.crash is not None and self.cores[slot] == self.crash.core

    def registers(self, slot: int) -> bytes:
        raw = self._raw(self.cores[slot])
        if self.crash is not None and self._has_crashed(slot):
            return self._layout.laid_over(raw, recorded(self.platform_arch, self.crash))
        return raw

    def pc(self, core: int) -> int:
        return self._layout.read(self._raw(core), self._layout.pc)

    def is_guest(self, core: int) -> bool:
        """Whether the core runs its guest, not its monitor. A PC does not say: there the monitor's addresses do."""
        raw = self._raw(core)
        in_guest = self._registers.in_guest
        if in_guest is None:
            return self._layout.read(raw, self._layout.pc) not in self.monitor
        return in_guest(self._layout.read(raw, "cpsr"))

    def about(self, slot: int) -> str:
        core = self.cores[slot]
        doing = "its crash record" if self._has_crashed(slot) else "guest" if self.is_guest(core) else "in its monitor"
        return f"core {core} of {self.sandbox.name}, {doing}"

    # ---- Memory ------------------------------------------------------------------------------------------------------

    def _set_physical(self, wanted: bool) -> None:
        if self.is_physical != wanted:
            self.line.ask(f"Qqemu.PhyMemMode:{int(wanted)}")
            self.is_physical = wanted

    def _controls(self, slot: int) -> dict[str, int]:
        if self.crash is not None and self._has_crashed(slot):
            return recorded_controls(self.platform_arch, self.crash)
        raw = bytes.fromhex(self._raw(self.cores[slot]).replace(b"x", b"0").decode())
        if len(raw) != X86_PACKET_BYTES:
            raise BulkheadError(
                f"QEMU's debugger's port sends {len(raw)} bytes of registers, not the {X86_PACKET_BYTES} that CR3 is found in: use the QEMU that"
                " `tools/bulkhead setup` installs"
            )
        return {name: int.from_bytes(raw[at : at + 8], "little") for name, at in X86_CONTROL_OFFSETS.items()}

    def memory(self, slot: int, address: int, size: int) -> bytes | None:
        """No device's registers: reading some changes what the device does next."""
        found = b""
        controls = self._controls(slot) if self._registers.controls else {}
        walks = self._walks_itself(slot)
        for start, here in by_pages(address, size):
            data = self._behind(self._pieces_at(slot, controls, walks, start, here))
            if data is None:
                return found or None
            found += data
        return found

    def _walks_itself(self, slot: int) -> bool:
        """On ARM QEMU translates by both stages as its core stands; not by those of a core that is in its monitor."""
        return not self._registers.controls and not self._has_crashed(slot) and self.is_guest(self.cores[slot])

    def _physical(self, controls: dict[str, int], address: int) -> int | None:
        return translate_x86(controls, self._guest, address) if self._registers.controls else address

    def _pieces_at(self, slot: int, controls: dict[str, int], walks: bool, address: int, size: int) -> list[Piece] | None:
        if walks:
            return pieces_behind(self.sandbox, self._machine_address(slot, address), size)
        gpa = self._physical(controls, address)
        return None if gpa is None else pieces(self.sandbox, gpa, size)

    def _guest(self, gpa: int, size: int) -> bytes | None:
        return self._behind(pieces(self.sandbox, gpa, size))

    def _behind(self, where: list[Piece] | None) -> bytes | None:
        if where is None or not are_memory(where):
            return None
        self._set_physical(True)
        found = b""
        for piece in where:
            data = self._read(piece.hpa, piece.size)
            if data is None:
                return None
            found += data
        return found

    def _read(self, address: int, size: int) -> bytes | None:
        found = b""
        while len(found) < size:
            answer = self.line.ask(f"m{address + len(found):x},{min(CHUNK, size - len(found)):x}")
            if answer[:1] == b"E" or not answer:
                return None
            found += bytes.fromhex(answer.decode())
        return found

    def write_memory(self, slot: int, address: int, data: bytes) -> bool:
        """All or nothing: what the partition lets the sandbox itself write, and no device. QEMU's port would write whatever is mapped."""
        where = self._writable(slot, address, len(data))
        if where is None:
            return False
        self._set_physical(True)
        self._forget()  # these may be tables
        done = 0
        for piece in where:
            part = data[done : done + piece.size]
            if self.line.ask(f"M{piece.hpa:x},{piece.size:x}:{part.hex()}") != b"OK":
                return False
            done += piece.size
        return True

    def _writable(self, slot: int, address: int, size: int) -> list[Piece] | None:
        controls = self._controls(slot) if self._registers.controls else {}
        walks = self._walks_itself(slot)
        found: list[Piece] = []
        for start, here in by_pages(address, size):
            where = self._pieces_at(slot, controls, walks, start, here)
            if where is None:
                return None
            found += where
        return found if are_memory(found) and all("w" in piece.region.permissions for piece in found) else None

    def _machine_address(self, slot: int, address: int) -> int | None:
        """By both stages of translation of a core that is in its guest. None: nothing is mapped there."""
        page = self.cores[slot], address - address % PAGE
        if page not in self.known_pages:
            self.known_pages[page] = self._translated(*page)
        found = self.known_pages[page]
        return None if found is None else found + address % PAGE

    def _translated(self, core: int, address: int) -> int | None:
        """On ARM QEMU's gva2gpa follows both stages."""
        self._monitor_command(f"cpu {core}")
        found = MAPPED.search(self._monitor_command(f"gva2gpa {address:#x}"))
        return int(found[1], 16) if found else None

    def _monitor_command(self, command: str) -> str:
        """What QEMU's own monitor says: GDB manual, E.4 "General Query Packets", qRcmd."""
        answer: bytes | None = self.line.ask(b"qRcmd," + command.encode().hex().encode())
        said = b""
        while answer and answer[:1] == b"O" and answer != b"OK":
            said += bytes.fromhex(answer[1:].decode())
            answer = self.line.receive()
        return said.decode("ascii", "replace")

    # ---- Registers, breakpoints: QEMU's own ----------------------------------------------------------------------------

    def forward(self, slot: int, packet: bytes) -> bytes:
        if packet[:1] in b"pPG":
            self.line.ask(f"Hg{self.cores[slot] + 1:x}")
        if packet[:1] in b"PG" and (self._has_crashed(slot) or not self.is_guest(self.cores[slot])):
            return b"E01"  # they are its monitor's
        if packet[:1] in b"PG":
            self._forget()
        answer = self.line.ask(packet)
        if answer == b"OK" and packet[:1] == b"Z":
            self.breakpoints.add(packet[1:])
        if answer == b"OK" and packet[:1] == b"z":
            self.breakpoints.discard(packet[1:])
        return answer

    # ---- Running -----------------------------------------------------------------------------------------------------

    def resume(self, slot: int | None, tick: Tick, span: range = NO_SPAN) -> Stop:
        if self.wants_stop:
            return self._end()
        try:
            return self.run(tick) if slot is None else step_through(self, slot, tick, span)
        except Ended:
            return Stop(0, is_end=True)

    def interrupted(self, slot: int) -> Stop:
        """As Ctrl-C wants it, or the sandbox's end."""
        return self._end() if self.wants_stop else Stop(slot, INTERRUPTED)

    def _end(self) -> Stop:
        return Stop(self.cores.index(self.crash.core), CRASHED) if self.crash else Stop(0, is_end=True)

    def address(self, slot: int) -> int:
        return self.pc(self.cores[slot])

    def has_breakpoint(self, address: int) -> bool:
        return any(one[:1] in b"01" and one.split(b",")[1] == b"%x" % address for one in self.breakpoints)

    def set_places(self, addresses: Iterable[int]) -> list[bytes]:
        size = self._registers.breakpoint_bytes
        places = [one for address in addresses if (one := b"1,%x,%x" % (address, size)) not in self.breakpoints]
        for one in places:
            self.line.ask(b"Z" + one)
        return places

    def clear_places(self, places: list[bytes]) -> None:
        for one in places:
            self.line.ask(b"z" + one)

    def step(self, slot: int, tick: Tick) -> Stop:
        """The core's next instruction in its guest; the rest of the machine stands. An exit or a sleep is passed over as a whole."""
        core = self.cores[slot]
        if not self.is_guest(core):
            return self._leave_monitor(slot, tick)
        before = self.pc(core)
        stop, asked = self._step_core(core, tick)
        while not asked and stop.startswith(GIVEN_UP) and self.pc(core) == before:
            stop, asked = self._step_core(core, tick)  # the host was busy
        if asked:
            return self.interrupted(slot)
        if not self.is_guest(core):
            return run_to(self, slot, tick, self._behind_exit(before))
        if stop.startswith(GIVEN_UP):
            return run_to(self, slot, tick, {self.pc(core)})
        return Stop(slot, TRAP, THREAD.sub(b"", stop[3:]))

    def _leave_monitor(self, slot: int, tick: Tick) -> Stop:
        """By its own instructions: where its guest goes on is not known. One that sleeps there, or waits for another core, is left where it is."""
        core = self.cores[slot]
        for _ in range(MOST_MONITOR_STEPS):
            stop, asked = self._step_core(core, tick)
            if self.is_guest(core) and not asked:
                return Stop(slot)
            if asked or stop.startswith(GIVEN_UP):
                break
        return self.interrupted(slot)

    def _behind_exit(self, before: int) -> set[int]:
        """Where the guest goes on: at this instruction or after it, whose length the machine does not tell."""
        return {before + n for n in range(0, self._layout.call_span + 1, self._registers.instruction_step)}

    def pass_over(self, slot: int, tick: Tick) -> bool:
        return self._step_core(self.cores[slot], tick)[1]

    def _step_core(self, core: int, tick: Tick) -> tuple[bytes, bool]:
        """Looks at no breakpoint. An instruction that sleeps does not end while nothing else runs: its core is left asleep after it."""
        self.line.ask(f"Hc{core + 1:x}")  # else an interruption would leave it stepping
        self.line.send(f"vCont;s:{core + 1:x}".encode())
        return self._await(tick, STEP_SECONDS)

    def run(self, tick: Tick) -> Stop:
        while True:
            self.line.send(b"vCont;c")
            stop, asked = self._await(tick)
            core = int(THREAD.findall(stop)[0], 16) - 1 if THREAD.search(stop) else self.cores[0]
            slot = self.cores.index(core) if core in self.cores else 0
            if asked or self.wants_stop:
                return self.interrupted(slot)
            if core in self.cores and self.is_guest(core):
                return Stop(slot, TRAP, THREAD.sub(b"", stop[3:]))
            if self._step_core(core, tick)[1]:
                return self.interrupted(slot)

    def _await(self, tick: Tick, patience: float = math.inf) -> tuple[bytes, bool]:
        """(the machine's stop reply, whether it was asked for). It is made to stop when patience ends."""
        self._forget()
        start, told, asked = time.monotonic(), math.inf, False
        while True:
            select.select([self.line], [], [], LOOK_SECONDS)
            answer = self.line.receive(0)
            if answer is not None and STOPPED.match(answer):
                return answer, asked
            if answer is not None and answer[:1] in (b"W", b"X"):
                raise Ended("the machine has ended")
            now = time.monotonic()
            if now > told + SECONDS:
                raise BulkheadError(f"the machine did not stop within {SECONDS:.0f} s of being told to")
            asked = tick() or asked
            if math.isinf(told) and (asked or now > start + patience):
                told = now
                self.line.interrupt()
