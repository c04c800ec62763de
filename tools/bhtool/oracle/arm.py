# SPDX-License-Identifier: Apache-2.0
"""ARM: the root is in a register of each core, which a debugger reads: VTTBR_EL2, VTCR_EL2, HCR_EL2 and others that confine.

ARM ARM DDI 0487, D24.2 "General system control registers"; ARMv7 ARM DDI 0406C, B4.1, whose Hyp mode has them by other names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bhtool.config.span import Span
from bhtool.oracle.confinement import Confinement, Wrong, agreed, having, lacking
from bhtool.oracle.el2 import el2_root
from bhtool.oracle.snapshot import Snapshot
from bhtool.oracle.stage2 import lpae_root, vmsa_root
from bhtool.oracle.walk import Root

VMID_SHIFT, VMID = 48, 0xFF  # 8 bits: VTCR_EL2.VS is 0, and ARMv7 has no more

# Both generations agree in the bits that both have. QEMU shows some of ARMv7's registers by their names of AArch64.
HCR_BOTH = {0: "VM (stage 2)", 1: "SWIO (set/way)", 19: "TSC (SMC)"}
HCR_VMSA = {**HCR_BOTH, 31: "RW (EL1 is AArch64)"}
HCR_GICV3 = {**HCR_VMSA, 3: "FMO (group-0 interrupts: kicks, and what sends SGIs)"}  # ARM IHI 0069, 4.6 with ICC_SGI1R_EL1
HCR_ABORT = {5: "AMO (asynchronous aborts)"}
HCR_REGISTERS = {20: "TIDCP (implementation-defined registers)", 21: "TAC (ACTLR)"}
HCR_REFUSED = {12: "DC (default cacheability)", 27: "TGE (everything to EL2)"}
HCR_REFUSED_VMSA = {
    **HCR_REFUSED,
    34: "E2H (EL2 is a host)",
    39: "TME",
    42: "NV (nested EL2)",
    47: "FIEN (fault injection)",
    56: "ATA (tags)",
}
DEBUG_BOTH = {10: "TDOSA (OS lock)", 11: "TDRA (debug ROM)"}
MDCR_NEEDED = {
    **DEBUG_BOTH,
    14: "TPMS (statistical profiling)",
    17: "HPMD (events at EL2)",
    19: "TTRF (trace filter)",
    23: "HCCD (cycles at EL2)",
    27: "TDCC (debug channel)",
}
HDCR_NEEDED = {**DEBUG_BOTH, 9: "TDA (debug registers)"}
CPTR_NEEDED = {8: "TZ (SVE)", 12: "TSM (SME)"}
CPTR_REGISTERS = {20: "TTA (trace)", 30: "TAM (activity monitors)"}
HCPTR_NEEDED = {number: f"TCP{number} (coprocessor {number})" for number in (*range(10), 12, 13)}
HCPTR_REGISTERS = {20: "TTA (trace)"}
HSTR_NEEDED = {15: "T15 (implementation-defined registers)", 17: "TJDBX (Jazelle)"}
VTCR_REFUSED = {14: "a granule other than 4 KiB", 15: "a granule other than 4 KiB"}  # VTCR_EL2.TG0
NOTHING: Mapping[int, str] = {}


@dataclass(frozen=True)
class Arm:
    """One kind of machine, by its names of registers. Called, a confinement.Reader."""

    vttbr: str
    vtcr: str
    hcr: str
    root: Callable[[int, int], Root]
    needed_hcr: Mapping[int, str]
    refused_hcr: Mapping[int, str]
    needed_cptr: Mapping[int, str]  # always,
    register_cptr: Mapping[int, str]  # and for the protection of registers
    needed_mdcr: Mapping[int, str]
    needed_hstr: Mapping[int, str]
    refused_vtcr: Mapping[int, str]
    own: tuple[str, ...] = ()  # the monitor's: its root, how it is walked, its memory types

    @property
    def registers(self) -> tuple[str, ...]:
        return (self.vttbr, self.vtcr, self.hcr, "MDCR_EL2", "CPTR_EL2", "HSTR_EL2", *self.own)

    def _wrong(self, core: int, found: Mapping[str, int]) -> list[Wrong]:
        hcr, cptr = f"core {core}: {self.hcr}", f"core {core}: CPTR_EL2"
        return [
            *lacking(hcr, found[self.hcr], self.needed_hcr),
            *lacking(hcr, found[self.hcr], HCR_ABORT, "abort"),
            *lacking(hcr, found[self.hcr], HCR_REGISTERS, "msr"),
            *having(hcr, found[self.hcr], self.refused_hcr),
            *having(f"core {core}: {self.vtcr}", found[self.vtcr], self.refused_vtcr),
            *lacking(f"core {core}: MDCR_EL2", found["MDCR_EL2"], self.needed_mdcr, "msr"),
            *lacking(cptr, found["CPTR_EL2"], self.needed_cptr),
            *lacking(cptr, found["CPTR_EL2"], self.register_cptr, "msr"),
            *lacking(f"core {core}: HSTR_EL2", found["HSTR_EL2"], self.needed_hstr, "msr"),
        ]

    def __call__(self, snapshot: Snapshot, pool: Span, cores: tuple[int, ...]) -> Confinement:
        result = Confinement()
        registers = [snapshot.registers.get(core, {}) for core in cores]
        missing = sorted({name for found in registers for name in self.registers if name not in found})
        if missing:
            result.wrong.append(Wrong(f"the debugger does not show {', '.join(missing)}"))
            return result
        for core, found in zip(cores, registers, strict=True):
            result.wrong += self._wrong(core, found)
        base = agreed(result.wrong, self.vttbr, [found[self.vttbr] for found in registers])
        control = agreed(result.wrong, self.vtcr, [found[self.vtcr] for found in registers])
        result.tag = base >> VMID_SHIFT & VMID
        result.root = self.root(base, control)
        if self.own:
            ttbr, tcr, mair = (agreed(result.wrong, name, [found[name] for found in registers]) for name in self.own)
            result.monitor = el2_root(ttbr, tcr, mair)
        return result


GICV3 = Arm(
    vttbr="VTTBR_EL2",
    vtcr="VTCR_EL2",
    hcr="HCR_EL2",
    root=vmsa_root,
    needed_hcr=HCR_GICV3,
    refused_hcr=HCR_REFUSED_VMSA,
    needed_cptr=CPTR_NEEDED,
    register_cptr=CPTR_REGISTERS,
    needed_mdcr=MDCR_NEEDED,
    needed_hstr=NOTHING,
    refused_vtcr=VTCR_REFUSED,
    own=("TTBR0_EL2", "TCR_EL2", "MAIR_EL2"),
)
GICV2 = replace(GICV3, needed_hcr=HCR_VMSA)
ARMV7 = Arm(
    vttbr="VTTBR",
    vtcr="VTCR",
    hcr="HCR",
    root=lpae_root,
    needed_hcr=HCR_BOTH,
    refused_hcr=HCR_REFUSED,
    needed_cptr=HCPTR_NEEDED,
    register_cptr=HCPTR_REGISTERS,
    needed_mdcr=HDCR_NEEDED,
    needed_hstr=HSTR_NEEDED,
    refused_vtcr=NOTHING,
)
