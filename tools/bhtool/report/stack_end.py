# SPDX-License-Identifier: Apache-2.0
"""A stack that has grown out of its sandbox's RAM reads as an access to whatever lies below: here it is told from one."""

from __future__ import annotations

from bhtool.config.plan import SandboxPlan
from bhtool.families.table import FAMILIES
from bhtool.machine.memory import Crash
from bhtool.report.recorded import recorded

NEAR = 64 << 10


def left_its_ram(sandbox: SandboxPlan, crash: Crash, arch: str) -> str:
    """A sentence; "": the access is not just below the sandbox's RAM, or not near its stack pointer."""
    bottom = min((one.gpa for one in sandbox.regions if one.kind == "ram"), default=0)
    granted = any(one.gpa <= crash.address < one.gpa + one.size for one in sandbox.regions + sandbox.configuration)
    if crash.reason != "memory" or crash.access not in ("read", "write") or granted or not bottom - NEAR <= crash.address < bottom:
        return ""
    pointer = recorded(arch, crash).get(FAMILIES[arch].registers.sp)
    if pointer is None or abs((crash.virtual or crash.address) - pointer) > NEAR:  # PCs tell no virtual address
        return ""
    return f"{crash.address:#x} is just below its RAM, near its stack pointer {pointer:#x}: has its stack grown out of it?"
