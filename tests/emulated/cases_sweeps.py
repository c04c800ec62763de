# SPDX-License-Identifier: Apache-2.0
"""BH-I1.register. Every number of a space is tried: what is granted is exactly what docs/registers-*.md lists."""

from tests.emulated.case import A64, ARMV7, SVM, VTX, Case, attacked
from tests.emulated.expect import Swept

LISTED = "what docs/registers-*.md does not list is refused"
ICR = 0x830
CALLS_THAT_END = (0x84000002, 0x84000008, 0x84000009)
ENDS, ENDS_32 = (0xC6000002, 0xC6000004), (0x86000002, 0x86000004)  # PARK, RESTART


def sweep(kind: str, platforms: tuple[str, ...], left_out: tuple[int, ...] = (), quick: bool = False) -> Case:
    return Case(
        f"sweep-{kind}", LISTED, attacked(f"sweep={kind}"), (Swept("attacker", kind, left_out),), platforms, limit_beats=60000, quick=quick
    )


CASES = (
    sweep("rdmsr", (SVM, VTX)),
    sweep("wrmsr", (SVM, VTX), (ICR,)),
    sweep("mrs", A64, quick=True),
    sweep("msr", A64),
    sweep("mrc", (ARMV7,)),
    sweep("mcr", (ARMV7,)),
    sweep("mrrc", (ARMV7,), quick=True),
    sweep("mcrr", (ARMV7,)),
    sweep("hvc", A64, (*CALLS_THAT_END, *ENDS)),
    sweep("smc", A64, CALLS_THAT_END, quick=True),
    sweep("hvc32", (ARMV7,), (*CALLS_THAT_END, *ENDS_32)),
    sweep("smc32", (ARMV7,), CALLS_THAT_END),
)
