# SPDX-License-Identifier: Apache-2.0
"""VT-x: what stands in a VMCS has numbers (SDM vol. 3D, Appendix B "Field Encoding in VMCS"), and where, each processor keeps to itself.

The only processor whose memory anybody sees here is Bochs' (its model file vmcs.cc): four bytes for every number within a group, the
groups one after the other. Found by writing known values, and checked with every snapshot, because wrong offsets find no VMCS.
"""

from __future__ import annotations

from bhtool.config.span import Span
from bhtool.oracle.bitmaps import VMX_READS, VMX_WRITES
from bhtool.oracle.confinement import Confinement, Maps, Wrong, agreed, control_structures, having, lacking
from bhtool.oracle.ept import Ept
from bhtool.oracle.snapshot import FRAME, Snapshot
from bhtool.oracle.walk import Root, bits

REVISION = 0x2B  # 25.2 "Format of the VMCS Region": the first word, IA32_VMX_BASIC's; Bochs' processors all have this one
GROUPS = {0x0000: 0x010, 0x2000: 0x210, 0x4000: 0x710, 0x6000: 0xA10}  # control fields of 16, 64, 32 bits and of natural width

VPID = 0x0000  # B.1.1 "16-Bit Control Fields"
IO_BITMAP_A, IO_BITMAP_B, MSR_BITMAP, EPTP = 0x2000, 0x2002, 0x2004, 0x201A  # B.2.1 "64-Bit Control Fields"
PIN, PROCESSOR, EXCEPTIONS, EXIT, SECONDARY = 0x4000, 0x4002, 0x4004, 0x400C, 0x401E  # B.3.1 "32-Bit Control Fields"
COUNTS = {0x400E: "VM-exit MSR-store count", 0x4010: "VM-exit MSR-load count", 0x4014: "VM-entry MSR-load count"}
CR0_MASK, CR4_MASK = 0x6000, 0x6002  # B.4.1 "Natural-Width Control Fields"

# SDM vol. 3C, 25.6.1 to 25.6.3.
NEEDED_PIN = {3: "NMI exiting", 5: "virtual NMIs"}
NEEDED_PROCESSOR = {
    10: "MWAIT exiting",
    11: "RDPMC exiting",
    29: "MONITOR exiting",
    31: "activate secondary controls",
}
IO_BITMAPS, MSR_BITMAPS = {25: "use I/O bitmaps"}, {28: "use MSR bitmaps"}
NEEDED_SECONDARY = {1: "enable EPT", 5: "enable VPID", 6: "WBINVD exiting"}
REFUSED_SECONDARY = {13: "enable VM functions", 14: "VMCS shadowing", 22: "mode-based execute control for EPT"}
NEEDED_EXCEPTIONS = {1: "#DB", 17: "#AC", 18: "#MC"}
NEEDED_EXIT = {9: "host address-space size", 19: "load IA32_PAT", 21: "load IA32_EFER"}  # 25.7.1: else a guest's are its monitor's
# 25.6.6 "Guest/Host Masks and Read Shadows for CR0 and CR4": with CR4.MCE clear a machine check shuts the core
# down, and NE and VMXE are 1 in VMX operation (24.8 "Restrictions on VMX Operation"). The others are features that CPUID hides.
NEEDED_CR0_MASK = {5: "NE"}
NEEDED_CR4_MASK = {6: "MCE", 12: "LA57", 13: "VMXE", 14: "SMXE", 19: "KL", 23: "CET", 24: "PKS", 25: "UINTR", 27: "LASS", 28: "LAM"}

# 25.6.11 "Extended-Page-Table Pointer (EPTP)": tables write-back, levels less one, accessed and dirty flags, the root.
EPTP_TYPE, EPTP_LEVELS, EPTP_FLAGS, EPTP_ROOT = bits(2, 0), bits(5, 3), bits(11, 6), bits(51, 12)
WRITE_BACK = 6


def offset(encoding: int) -> int:
    return GROUPS[encoding & 0x6C00] + 4 * (encoding & 0x3FF)


def looks_like(snapshot: Snapshot, frame: int) -> bool:
    """A VMCS whose EPT pointer leads to RAM. The VMXON region, which begins alike, is empty."""
    pointer = snapshot.word(frame + offset(EPTP))
    return snapshot.half(frame) == REVISION and bool(pointer) and snapshot.holds(pointer & EPTP_ROOT, FRAME)


def _wrong(snapshot: Snapshot, frame: int) -> list[Wrong]:
    def control(encoding: int) -> int:
        return snapshot.half(frame + offset(encoding))

    return [
        *lacking("pin-based controls", control(PIN), NEEDED_PIN),
        *lacking("processor-based controls", control(PROCESSOR), NEEDED_PROCESSOR),
        *lacking("processor-based controls", control(PROCESSOR), IO_BITMAPS, "io"),
        *lacking("processor-based controls", control(PROCESSOR), MSR_BITMAPS, "msr"),
        *lacking("secondary controls", control(SECONDARY), NEEDED_SECONDARY),
        *having("secondary controls", control(SECONDARY), REFUSED_SECONDARY),
        *lacking("exception bitmap", control(EXCEPTIONS), NEEDED_EXCEPTIONS, "abort"),
        *lacking("VM-exit controls", control(EXIT), NEEDED_EXIT),
        *lacking("CR0 guest/host mask", control(CR0_MASK), NEEDED_CR0_MASK),
        *lacking("CR4 guest/host mask", control(CR4_MASK), NEEDED_CR4_MASK),
        *(Wrong(f"{name} is {control(number)}") for number, name in COUNTS.items() if control(number)),
    ]


def _root(wrong: list[Wrong], pointer: int) -> Root:
    if pointer & EPTP_TYPE != WRITE_BACK or pointer & EPTP_FLAGS:
        wrong.append(Wrong(f"EPT pointer {pointer:#x} has another memory type than write-back, or flags"))
    return Root(Ept(), pointer & EPTP_ROOT, ((pointer & EPTP_LEVELS) >> 3) + 1)


def read_vmx(snapshot: Snapshot, pool: Span, cores: tuple[int, ...]) -> Confinement:
    found, structures = control_structures(snapshot, pool, cores, "VMCS", looks_like)
    if not structures:
        return found
    for structure in structures:
        found.wrong += _wrong(snapshot, structure)

    def all_have(what: str, encoding: int) -> int:
        return agreed(found.wrong, what, [snapshot.word(structure + offset(encoding)) for structure in structures])

    found.tag = all_have("VPID", VPID) & 0xFFFF
    found.root = _root(found.wrong, all_have("EPT pointer", EPTP))
    ports = (all_have("I/O bitmap A", IO_BITMAP_A), all_have("I/O bitmap B", IO_BITMAP_B))
    found.maps = Maps(ports, (all_have("MSR bitmap", MSR_BITMAP),), VMX_READS, VMX_WRITES)
    return found
