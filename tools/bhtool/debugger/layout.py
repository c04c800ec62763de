# SPDX-License-Identifier: Apache-2.0
"""General registers as gdb orders them in a `g` packet, and what the tool has to know of them: GDB manual, Appendix G.5 "Standard Target Features"."""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.families.table import FAMILIES
from bhtool.machine.memory import Crash


@dataclass(frozen=True)
class Layout:
    """The first registers of the packet: name and bytes."""

    registers: tuple[tuple[str, int], ...]
    pc: str
    call_span: int  # how far an instruction reaches at most

    def place(self, name: str) -> tuple[int, int]:
        offset = 0
        for one, size in self.registers:
            if one == name:
                return offset, size
            offset += size
        raise KeyError(name)

    def number(self, name: str) -> int:
        return [one for one, _ in self.registers].index(name)

    def read(self, packet: bytes, name: str) -> int:
        """Unavailable registers, written as x, are 0."""
        offset, size = self.place(name)
        text = packet[2 * offset : 2 * (offset + size)].replace(b"x", b"0")
        return int.from_bytes(bytes.fromhex(text.decode()), "little")

    def laid_over(self, packet: bytes, values: dict[str, int]) -> bytes:
        """The packet with some registers replaced; it grows to hold them."""
        whole = bytearray(packet.ljust(2 * sum(size for _, size in self.registers), b"x"))
        for name, value in values.items():
            offset, size = self.place(name)
            whole[2 * offset : 2 * (offset + size)] = (value % (1 << 8 * size)).to_bytes(size, "little").hex().encode()
        return bytes(whole)


LAYOUTS = {name: Layout(one.registers.packet, one.registers.pc, one.registers.call_span) for name, one in FAMILIES.items()}


def recorded_controls(arch: str, crash: Crash) -> dict[str, int]:
    return {name: crash.registers[at] for name, at in FAMILIES[arch].registers.controls.items() if at < len(crash.registers)}
