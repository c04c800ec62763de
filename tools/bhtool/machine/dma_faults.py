# SPDX-License-Identifier: Apache-2.0
"""What the IOMMU has written down of DMA that it blocked: a queue of records in memory, once for the machine, in frames of its tables.

It is read from outside, and never emptied from there: the IOMMU goes round in it. So what is new is what differs from the last look, and a
record that was overwritten in between, or by its like, is not counted. A count is a number of records that were seen: at least so many.

VT-d has registers instead, which take nothing more until they are emptied: QEMU's has one record. The tool reads and empties them where it can, in an
emulated machine. What is blocked between two looks is one record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from bhtool.abi import lib
from bhtool.codes.dma import CLOSED, INTERRUPT, OTHER, PERMISSION, TOO_LONG, UNMAPPED, WALK, Why
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.machine.memory import Memory
from bhtool.machine.registers import Registers
from bhtool.platforms import Platform

WORD = 8
KEPT = 32  # of all that are recorded
ARM_ADDRESS_EVENTS = {0x07, 0x0B, 0x10, 0x11, 0x12, 0x13, 0x20}  # have an input address, and whether it was read


@dataclass(frozen=True)
class Record:
    """One, in no IOMMU's own words."""

    stream: int  # bus << 8 | device << 3 | function
    access: str  # "read", "write"; empty: it does not say
    address: int | None  # as the function used it: the sandbox's own; None: it does not say
    why: Why
    code: int  # of the IOMMU's manual


@dataclass(frozen=True)
class Format:
    """Where an IOMMU keeps its queue, and how a record is read; None: there is no record, or none of a function."""

    start: int  # in its tables
    size: int
    record: int
    decode: Callable[[list[int]], Record | None]
    manual: str


# Arm IHI 0070, 7.3 "Event records".
_ARM_WHY = {
    0x02: CLOSED,  # C_BAD_STREAMID
    0x03: WALK,  # F_STE_FETCH
    0x04: CLOSED,  # C_BAD_STE
    0x06: CLOSED,  # F_STREAM_DISABLED
    0x07: CLOSED,  # F_TRANSL_FORBIDDEN
    0x0B: WALK,  # F_WALK_EABT
    0x10: UNMAPPED,  # F_TRANSLATION
    0x11: TOO_LONG,  # F_ADDR_SIZE
    0x12: PERMISSION,  # F_ACCESS
    0x13: PERMISSION,  # F_PERMISSION
}
_ARM_READS = 1 << 35  # RnW, in the second word


def decode_smmuv3(words: list[int]) -> Record | None:
    code = words[0] & 0xFF
    if not code:
        return None
    tells = code in ARM_ADDRESS_EVENTS
    access = ("read" if words[1] & _ARM_READS else "write") if tells else ""
    return Record(words[0] >> 32, access, words[2] if tells else None, _ARM_WHY.get(code, OTHER), code)


# AMD 48882, 2.5 "Event Logging": the code in bits 63:60 of the first word, flags in 59:48.
_AMD_PAGE_FAULT, _AMD_WHY = 2, {1: CLOSED, 3: WALK, 4: WALK}
_AMD_OF_ITSELF = {5, 6}  # about commands: ILLEGAL_COMMAND_ERROR, COMMAND_HARDWARE_ERROR
_AMD_INTERRUPT, _AMD_PRESENT, _AMD_WRITES = 1 << 51, 1 << 52, 1 << 53


def decode_amdvi(words: list[int]) -> Record | None:
    code, flags = words[0] >> 60, words[0]
    if not code or code in _AMD_OF_ITSELF:
        return None
    access = "write" if flags & _AMD_WRITES else "read"
    if code != _AMD_PAGE_FAULT:
        return Record(words[0] & 0xFFFF, access, words[1], _AMD_WHY.get(code, OTHER), code)
    why = INTERRUPT if flags & _AMD_INTERRUPT else PERMISSION if flags & _AMD_PRESENT else UNMAPPED
    return Record(words[0] & 0xFFFF, "write" if flags & _AMD_INTERRUPT else access, words[1], why, code)


# Intel VT-d, 11.4.7.7 "Fault Recording Registers", and appendix A "Non-Recoverable Fault Reason Encodings".
_INTEL_VALID, _INTEL_READS, _INTEL_PAGE = 1 << 63, 1 << 62, ~0xFFF
_INTEL_WHY = {1: CLOSED, 2: CLOSED, 3: CLOSED, 4: TOO_LONG, 5: UNMAPPED, 6: UNMAPPED, 7: WALK, 8: WALK, 9: WALK}
_INTEL_INTERRUPTS = range(0x20, 0x28)


def decode_vtd(words: list[int]) -> Record | None:
    """Of an address it tells the page. Permissions that are missing may all be: then nothing is mapped."""
    if not words[1] & _INTEL_VALID:
        return None
    code = words[1] >> 32 & 0xFF
    if code in _INTEL_INTERRUPTS:
        return Record(words[1] & 0xFFFF, "write", None, INTERRUPT, code)
    return Record(
        words[1] & 0xFFFF, "read" if words[1] & _INTEL_READS else "write", words[0] & _INTEL_PAGE, _INTEL_WHY.get(code, OTHER), code
    )


# 11.4.2 "Capability Register": FRO, in units of 16 bytes, and NFR, one less than there are; 11.4.7.1 "Fault Status Register": PFO, PPF.
_INTEL_CAPABILITY, _INTEL_STATUS = 0x08, 0x34
_INTEL_OVERFLOW, _INTEL_PENDING = 1, 2


def taken_vtd(registers: Registers, base: int) -> Iterator[list[int]]:
    """Records, each of which is emptied: F is cleared by writing it. Then those of all functions are recorded again."""
    status = registers.read32(base + _INTEL_STATUS) or 0
    if not status & (_INTEL_OVERFLOW | _INTEL_PENDING):
        return
    capability = registers.read64(base + _INTEL_CAPABILITY) or 0
    start = base + (capability >> 24 & 0x3FF) * 2 * WORD
    for at in range(start, start + ((capability >> 40 & 0xFF) + 1) * 2 * WORD, 2 * WORD):
        words = [registers.read64(at) or 0, registers.read64(at + WORD) or 0]
        if words[1] & _INTEL_VALID:
            yield words
            registers.write32(at + 12, _INTEL_VALID >> 32)
    registers.write32(base + _INTEL_STATUS, _INTEL_OVERFLOW)


FORMATS = {
    int(lib.BH_IOMMU_SMMUV3): Format(lib.BH_SMMUV3_EVENTS, lib.BH_PAGE_BYTES, 32, decode_smmuv3, "Arm IHI 0070"),
    int(lib.BH_IOMMU_AMDVI): Format(lib.BH_AMDVI_EVENTS, lib.BH_PAGE_BYTES, 16, decode_amdvi, "AMD 48882"),
}


@dataclass(frozen=True)
class DmaFault:
    """Whose it was, and what."""

    sandbox: str  # empty: nobody's
    function: str  # its label; empty: nobody's
    record: Record

    @property
    def where(self) -> str:
        """As lspci writes it."""
        stream = self.record.stream
        return f"{stream >> 8:02x}:{stream >> 3 & 0x1F:02x}.{stream & 7}"

    @property
    def text(self) -> str:
        name = f"{self.function} ({self.where}) of {self.sandbox}" if self.sandbox else f"{self.where}, nobody's"
        did = self.record.access or "access"
        at = "" if self.record.address is None else f" {'to' if did == 'write' else 'from'} {self.record.address:#x}"
        return f"dma fault: {name}: {did}{at} blocked: {self.record.why.text} ({self.record.why.name})"


def silent_because(plan: Plan, platform: Platform) -> str:
    """Why nothing is told on this machine though functions master the bus; empty: it would be, or none does."""
    if not any(each.dma == "translated" for one in plan.sandboxes for each in one.functions):
        return ""
    if plan.iommu == lib.BH_IOMMU_VTD and platform.emulator.kind != "qemu":
        return "dma faults are not told: this IOMMU records them in registers, which are read in emulated machines alone"
    if plan.iommu == lib.BH_IOMMU_AMDVI and platform.emulator.kind == "qemu":
        return "dma faults are not told: QEMU's AMD-Vi blocks, and records nothing"
    return ""


def owner_of(plan: Plan, stream: int) -> tuple[str, str]:
    """The sandbox and the label of a function; two empty texts: nobody's."""
    owners: Iterable[SandboxPlan] = plan.sandboxes
    return next(((one.name, each.name) for one in owners for each in one.functions if each.id == stream), ("", ""))


@dataclass
class Queue:
    """The machine's, as it was seen last."""

    plan: Plan
    memory: Memory
    registers: Registers | None = None
    first: list[DmaFault] = field(default_factory=list)
    count: int = 0  # at least so many
    seen: list[bytes] = field(default_factory=list)

    @property
    def format(self) -> Format | None:
        return FORMATS.get(self.plan.iommu)

    def look(self) -> list[DmaFault]:
        """As `news`; of all there ever were, keeps the first, and counts."""
        found = self.news()
        self.first += found[: KEPT - len(self.first)]
        self.count += len(found)
        return found

    def news(self) -> list[DmaFault]:
        """What has been recorded since the last look, in the queue's order."""
        return [DmaFault(*owner_of(self.plan, one.stream), one) for one in self._records()]

    def _records(self) -> Iterator[Record]:
        if self.plan.iommu == lib.BH_IOMMU_VTD and self.registers:
            found = map(decode_vtd, taken_vtd(self.registers, self.plan.iommu_registers))
        elif form := self.format:
            found = map(form.decode, map(_words, self._changed(form)))
        else:
            return
        yield from (one for one in found if one)

    def _changed(self, form: Format) -> list[bytes]:
        held = self.memory.read(self.plan.iommu_hpa + form.start, form.size)
        now = [held[at : at + form.record] for at in range(0, form.size, form.record)]
        before = self.seen or [bytes(form.record)] * len(now)
        self.seen = now
        return [new for old, new in zip(before, now, strict=True) if new != old]


def _words(record: bytes) -> list[int]:
    return [int.from_bytes(record[at : at + WORD], "little") for at in range(0, len(record), WORD)]
