# SPDX-License-Identifier: Apache-2.0
"""General registers as gdb orders them in a `g` packet, and what the tool has to know of them: GDB manual, Appendix G.5 "Standard Target Features"."""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.machine.memory import Crash

# bits of CPSR and PSTATE: DDI 0487, C5.2.19 SPSR_EL2 (M[3:0]); DDI 0406C, B1.3.1 "ARM processor modes"
EL_SHIFT, EL2, MODE, HYP, USER = 2, 2, 0x1F, 0x1A, 0x10
X86_GENERAL = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", *(f"r{n}" for n in range(8, 16)))


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


LAYOUTS = {
    "aarch64": Layout((*((f"x{n}", 8) for n in range(31)), ("sp", 8), ("pc", 8), ("cpsr", 4)), "pc", 4),
    "armv7": Layout((*((f"r{n}", 4) for n in range(13)), ("sp", 4), ("lr", 4), ("pc", 4), ("cpsr", 4)), "pc", 4),
    "x86_64": Layout((*((name, 8) for name in X86_GENERAL), ("rip", 8), ("eflags", 4)), "rip", 15),
}
RECORDED = {  # as the backends' hal_core_record orders them
    "aarch64": (*(f"x{n}" for n in range(31)), "sp", "cpsr"),
    "armv7": (*(f"r{n}" for n in range(13)), "sp", "lr", "cpsr"),
    "x86_64": ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)), "eflags"),
}
RECORDED_CONTROLS = {"cr0": 17, "cr3": 18, "cr4": 19, "efer": 20}  # of x86
SP_EL0 = 33


def recorded(arch: str, crash: Crash) -> dict[str, int]:
    """What a crash record holds, by the names of the layout."""
    values = dict(zip(RECORDED[arch], crash.registers, strict=False)) | {LAYOUTS[arch].pc: crash.pc}
    if arch == "aarch64" and not values.get("cpsr", 1) & 1 and len(crash.registers) > SP_EL0:
        values["sp"] = crash.registers[SP_EL0]  # EL0, or EL1t, which uses its stack
    return values


def recorded_controls(crash: Crash) -> dict[str, int]:
    return {name: crash.registers[at] for name, at in RECORDED_CONTROLS.items() if at < len(crash.registers)}
