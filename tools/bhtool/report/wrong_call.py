# SPDX-License-Identifier: Apache-2.0
"""Who makes the hypercall of the other maker's processors gets #UD, and without a handler a triple fault: a crash record that says "reset".

The monitor keeps no bytes of the instruction; they are read here, from the sandbox's RAM.
"""

from __future__ import annotations

from bhtool.config.plan import SandboxPlan
from bhtool.machine.memory import Crash, Memory

VMCALL, VMMCALL = bytes.fromhex("0f01c1"), bytes.fromhex("0f01d9")  # SDM vol. 3C, 31.3 "VMCALL"; APM vol. 3, "VMMCALL"
WRONG = {"vmx": VMMCALL, "svm": VMCALL}
TEXT = {
    "vmx": "VMMCALL at pc is AMD's hypercall; on this processor, Intel's, it is #UD: use VMCALL, by the maker's name in CPUID leaf 0",
    "svm": "VMCALL at pc is Intel's hypercall; on this processor, AMD's, it is #UD: use VMMCALL, by the maker's name in CPUID leaf 0",
}


def wrong_call(memory: Memory, sandbox: SandboxPlan, crash: Crash, backend: str) -> str:
    """A sentence for the crash record; "" if the program has not ended so, or by tables of its own that say where else pc is."""
    wrong = WRONG.get(backend)
    if crash.reason != "reset" or not wrong:
        return ""
    found = memory.guest(sandbox, crash.pc, len(wrong))  # virtual addresses are guest-physical ones, as at entry
    return TEXT[backend] if found == wrong else ""
