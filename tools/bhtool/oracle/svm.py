# SPDX-License-Identifier: Apache-2.0
"""SVM: the virtual machine control block is memory. APM vol. 2, Appendix B "Layout of VMCB"; other sections are of vol. 2, too."""

from __future__ import annotations

from bhtool.config.span import Span
from bhtool.oracle.bitmaps import SVM_READS, SVM_WRITES
from bhtool.oracle.confinement import Confinement, Maps, Wrong, agreed, control_structures, having, lacking
from bhtool.oracle.npt import Npt
from bhtool.oracle.snapshot import FRAME, Snapshot
from bhtool.oracle.walk import Root, bits

EXCEPTIONS, INTERCEPTS_3, INTERCEPTS_4 = 0x008, 0x00C, 0x010
IOPM_BASE, MSRPM_BASE, ASID, TLB_CONTROL, V_INTR, NP_ENABLE, N_CR3, EFER = 0x040, 0x048, 0x058, 0x05C, 0x060, 0x090, 0x0B0, 0x4D0
SVME, VMRUN = 12, 0  # 15.5.1: VMRUN fails without this bit of EFER, and without this intercept
FRAMES = bits(51, 12)
BLOCKS = 3  # a core runs on one, and begins as one of two others say; whichever it is, all must confine it
BLOCKS_AT = (0, 0x700)  # of a frame: the two others are one after the other, as far as anything is in them

# What would let a guest out, or let it stop the machine, without its monitor: 15.9, 15.12, 15.13, 15.8.
NEEDED_EXCEPTIONS = {1: "#DB", 17: "#AC", 18: "#MC"}
NEEDED_3 = {
    1: "NMI",
    3: "INIT",
    15: "RDPMC",
    18: "CPUID",
    22: "INVD",
    26: "INVLPGA",
    30: "FERR_FREEZE",
    31: "SHUTDOWN",
}
IOIO_PROT, MSR_PROT = {27: "IOIO_PROT"}, {28: "MSR_PROT"}
NEEDED_4 = {
    0: "VMRUN",
    1: "VMMCALL",
    2: "VMLOAD",
    3: "VMSAVE",
    4: "STGI",
    5: "CLGI",
    6: "SKINIT",
    9: "WBINVD",
    10: "MONITOR",
    11: "MWAIT",
    14: "RDPRU",
}
FLUSHES = (1, 3)  # 15.16.1: everything, this guest's
REFUSED_NP = {1: "SEV", 2: "SEV-ES"}
REFUSED_V_INTR = {25: "virtual GIF", 31: "AVIC"}


def looks_like(snapshot: Snapshot, frame: int) -> bool:
    """A block VMRUN would take, with nested paging."""
    ready = snapshot.word(frame + EFER) >> SVME & 1 and snapshot.half(frame + INTERCEPTS_4) >> VMRUN & 1
    tables = snapshot.word(frame + N_CR3)
    return bool(ready and snapshot.word(frame + NP_ENABLE) & 1 and tables and not tables & ~FRAMES and snapshot.holds(tables, FRAME))


def _wrong(snapshot: Snapshot, frame: int) -> list[Wrong]:
    third, fourth = "intercept vector 3", "intercept vector 4"
    return [
        *lacking("exception intercepts", snapshot.half(frame + EXCEPTIONS), NEEDED_EXCEPTIONS, "abort"),
        *lacking(third, snapshot.half(frame + INTERCEPTS_3), NEEDED_3),
        *lacking(third, snapshot.half(frame + INTERCEPTS_3), IOIO_PROT, "io"),
        *lacking(third, snapshot.half(frame + INTERCEPTS_3), MSR_PROT, "msr"),
        *lacking(fourth, snapshot.half(frame + INTERCEPTS_4), NEEDED_4),
        *having("NP_ENABLE", snapshot.word(frame + NP_ENABLE), REFUSED_NP),
        *having("V_INTR", snapshot.word(frame + V_INTR), REFUSED_V_INTR),
    ]


def _unflushed(snapshot: Snapshot, blocks: list[int], cores: int) -> list[Wrong]:
    """What a core begins with flushes translations of whoever had its ASID before, a machine's firmware too. What it runs on has done so."""
    flushing = sum(snapshot.half(block + TLB_CONTROL) & 0xFF in FLUSHES for block in blocks)
    few = flushing < (BLOCKS - 1) * cores
    return [Wrong(f"{flushing} blocks flush the TLB, all but the one that each of {cores} cores runs on are right")] if few else []


def read_svm(snapshot: Snapshot, pool: Span, cores: tuple[int, ...]) -> Confinement:
    found, blocks = control_structures(snapshot, pool, cores, "VMCB", looks_like, BLOCKS, BLOCKS_AT)
    if not blocks:
        return found
    for block in blocks:
        found.wrong += _wrong(snapshot, block)
    found.wrong += _unflushed(snapshot, blocks, len(cores))

    def all_have(what: str, offset: int) -> int:
        return agreed(found.wrong, what, [snapshot.word(block + offset) for block in blocks])

    found.tag = agreed(found.wrong, "ASID", [snapshot.half(block + ASID) for block in blocks])
    found.root = Root(Npt(), all_have("N_CR3", N_CR3), 4)
    ports, registers = all_have("IOPM_BASE_PA", IOPM_BASE), all_have("MSRPM_BASE_PA", MSRPM_BASE)
    found.maps = Maps(
        tuple(range(ports, ports + 3 * FRAME, FRAME)), tuple(range(registers, registers + 2 * FRAME, FRAME)), SVM_READS, SVM_WRITES
    )
    return found
