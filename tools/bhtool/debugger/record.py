# SPDX-License-Identifier: Apache-2.0
"""A sandbox that stands for good: memory from the machine's RAM file, registers from its crash record. Nothing runs on."""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.config.plan import SandboxPlan
from bhtool.debugger.layout import LAYOUTS, recorded_controls
from bhtool.debugger.memory import are_memory, by_pages, pieces, translate_x86
from bhtool.debugger.target import CRASHED, NO_SPAN, TRAP, Stop, Tick
from bhtool.families.table import FAMILIES
from bhtool.machine.memory import Crash, Memory
from bhtool.report.recorded import recorded


@dataclass(frozen=True)
class Record:
    arch: str
    sandbox: SandboxPlan
    ram: Memory
    crash: Crash | None

    @property
    def cores(self) -> list[int]:
        return [self.crash.core] if self.crash else self.sandbox.cores[:1]

    @property
    def describes_itself(self) -> bool:
        return False

    def about(self, slot: int) -> str:
        what = "its crash record" if self.crash else "no registers: it has no crash record"
        return f"core {self.cores[slot]} of {self.sandbox.name}, {what}"

    def registers(self, slot: int) -> bytes:
        return LAYOUTS[self.arch].laid_over(b"", recorded(self.arch, self.crash) if self.crash else {})

    def memory(self, slot: int, address: int, size: int) -> bytes | None:
        found = b""
        for start, here in by_pages(address, size):
            data = self._guest(self._physical(start), here)
            if data is None:
                return found or None
            found += data
        return found

    def _physical(self, address: int) -> int | None:
        """ARM's record does not hold the guest's tables: addresses are taken to be guest-physical."""
        if not FAMILIES[self.arch].registers.controls or self.crash is None:
            return address
        return translate_x86(recorded_controls(self.arch, self.crash), self._guest, address)

    def _guest(self, gpa: int | None, size: int) -> bytes | None:
        where = pieces(self.sandbox, gpa, size) if gpa is not None else None
        if not where or not are_memory(where):
            return None
        return b"".join(self.ram.read(piece.hpa, piece.size) for piece in where)

    def write_memory(self, slot: int, address: int, data: bytes) -> bool:
        return False

    def forward(self, slot: int, packet: bytes) -> bytes:
        """A breakpoint is never reached, and so is as good as set."""
        return b"OK" if packet[:1] in b"Zz" else b"E01" if packet[:1] in b"PG" else b""

    def resume(self, slot: int | None, tick: Tick, span: range = NO_SPAN) -> Stop:
        return Stop(0, CRASHED if self.crash else TRAP)
