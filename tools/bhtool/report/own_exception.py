# SPDX-License-Identifier: Apache-2.0
"""A guest on ARM without exception vectors: its own exception goes to where VBAR points, which is 0 at entry. Nothing lies there, so its record
tells of an instruction fetch at a vector. What the exception was stands in the guest's own registers.

A record does not hold VBAR. Its lowest bits are 0, so a pc within the first vectors says that it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.machine.memory import Crash

SP_EL1H, MASKED = 0x5, 0x3C0  # PSTATE as an exception leaves it: DDI 0487, D1.3.1 "Exception entry"
SPSR, ELR, ESR = 32, 34, 35  # of AArch64's record
LR, CPSR, DFSR = 14, 15, 16  # of ARMv7's
VECTOR_BYTES, VECTORS_BYTES = 0x80, 0x800
SAME_EL = 0x200  # the vectors below are of a guest that uses SP_EL0
INTERRUPTS = {0x80: "an interrupt (IRQ)", 0x100: "a fast interrupt (FIQ)", 0x180: "SError"}  # DDI 0487, D1.3.1.5 "Exception vectors"
DATA_ABORTS, ALIGNMENT = (0x24, 0x25), 0x21
CLASSES = {  # DDI 0487, D24.2.40 "ESR_EL1, Exception Syndrome Register (EL1)"
    0x00: "undefined instruction",
    0x07: "use of floating-point or SIMD registers, which CPACR_EL1 does not allow",
    0x0E: "illegal execution state",
    0x15: "SVC instruction",
    0x18: "access to a system register",
    0x20: "instruction abort",
    0x21: "instruction abort",
    0x22: "misaligned pc",
    0x24: "data abort",
    0x25: "data abort",
    0x26: "misaligned stack pointer",
    0x2C: "floating-point exception",
    0x2F: "SError",
    0x3C: "BRK instruction",
}
# DDI 0406C, B1.8.1 "Exception vectors and the exception base address": the vector's mode, the exception, and how far LR is past the instruction
ARMV7 = {
    0x04: (0x1B, "undefined instruction", 4),
    0x08: (0x13, "SVC instruction", 4),
    0x0C: (0x17, "prefetch abort", 4),
    0x10: (0x17, "data abort", 8),
    0x18: (0x12, "an interrupt (IRQ)", 4),
    0x1C: (0x11, "a fast interrupt (FIQ)", 4),
}
MODE, IRQ_MASKED = 0x1F, 1 << 7
LONG_FORMAT, LONG_STATUS, SHORT_STATUS = 1 << 9, 0x3F, 0x40F  # of DFSR: DDI 0406C, B4.1.52


@dataclass(frozen=True)
class OwnException:
    address: int  # of the instruction
    register: str  # that holds it; "": none does, as it is
    what: str
    vectors: str  # the register that says where they are
    is_likely: bool  # if the address lies in its program

    def text(self, place: object, is_in_program: bool) -> str:
        """A clause. `place`: the function and line, if they are known."""
        perhaps = "" if self.is_likely and is_in_program else "perhaps "
        where = f"{self.register} {self.address:#x}".lstrip() + (f" in {place}" if place else "")
        return f"{perhaps}an exception of its own at {where}: {self.what}; it has no vectors at {self.vectors} 0x0"


def own_exception(arch: str, crash: Crash) -> OwnException | None:
    if crash.reason != "memory" or crash.access != "execute":
        return None
    if arch == "aarch64":
        return _aarch64(crash)
    return _armv7(crash) if arch == "armv7" else None


def _aarch64(crash: Crash) -> OwnException | None:
    if crash.pc >= VECTORS_BYTES or crash.pc % VECTOR_BYTES or len(crash.registers) <= ESR:
        return None
    status, address, syndrome = (crash.registers[n] for n in (SPSR, ELR, ESR))
    if status & MASKED != MASKED or status & 0xF != SP_EL1H or not (address or syndrome):
        return None
    what = INTERRUPTS.get(crash.pc % SAME_EL) or _class(syndrome)
    return OwnException(address, "ELR_EL1", what, "VBAR_EL1", crash.pc >= SAME_EL)


def _class(syndrome: int) -> str:
    number = syndrome >> 26 & 0x3F
    if number in DATA_ABORTS and syndrome & 0x3F == ALIGNMENT:
        return "alignment fault"
    return CLASSES.get(number, f"class {number:#x} of ESR_EL1 {syndrome:#x}")


def _armv7(crash: Crash) -> OwnException | None:
    """In Thumb code some are 2 bytes further; the record does not tell which code it was."""
    if crash.pc not in ARMV7 or len(crash.registers) <= DFSR:
        return None
    mode, what, past = ARMV7[crash.pc]
    status, fault = crash.registers[CPSR], crash.registers[DFSR]
    if status & MODE != mode or not status & IRQ_MASKED or crash.registers[LR] < past:
        return None
    is_alignment = fault & LONG_STATUS == ALIGNMENT if fault & LONG_FORMAT else fault & SHORT_STATUS == 1
    if what == "data abort" and is_alignment:
        what = "alignment fault"
    return OwnException(crash.registers[LR] - past, "", what, "VBAR", True)
