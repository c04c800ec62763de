# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler, BH-I2.exitless. Threads of the sandbox kernel that fault, overrun their stacks, are stopped or miss deadlines.

A heartbeat without a gap, which every case is judged by, says that no interrupt was lost.
"""

from tests.emulated.case import ARMV7, GICV3, SVM, VTX, Case, Sandbox
from tests.emulated.expect import Expectation, NoExits, Says

GUARDS = "a thread that goes wrong ends alone: who waited for it is told, everybody else goes on, and nothing of it is an exit"
PLATFORMS = (GICV3, ARMV7, SVM, VTX)
TELLS = r"pc 0x[0-9a-f]+ addr 0x[0-9a-f]+ at \d+ us$"
UNDEFINED = "(undefined instruction|exception|#UD)"
ENDED = 9  # THREAD_E_ENDED; others likewise without their sign
KINDS = {
    "recursion": (
        f"thread deep on vcpu trial: stack overrun {TELLS}",
        "ends deep: ended 1, faults 1$",
        f"thread calling on vcpu trial: stack overrun {TELLS}",
        "ends calling: ended 1, faults 1$",
    ),
    "interrupt": ("ends interrupted: ended 61 of 61, lived 6 of 6$",),
    "call": ("ends called: ended 58 of 58, lived 12 of 12$",),
    "fault": (
        f"thread stray on vcpu trial: (data abort|#PF) {TELLS}",
        "ends stray: ended 1, faults 1$",
        f"thread undefined on vcpu trial: {UNDEFINED} {TELLS}",
        "ends undefined: ended 1, faults 1$",
    ),
    "bound": (
        "ends holder: in order 1, lock 0, abandoned 1, held 0$",
        f"thread server on vcpu none: {UNDEFINED} {TELLS}",
        f"ends server: in order 1, calls {ENDED} {ENDED}, later {ENDED}$",
    ),
    "stop": ("ends hog: made 1 restarted 1 stopped 1 again 1, by a handler restarted 1 stopped 1 again 1$",),
    "owner": ("ends owner: given back 1 when restarted, 0 when stopped, 1 when it returned$",),
    "later": ("ends busy: waits 1 stopped 1, mutex free 1$",),
    "policy": (
        "ends policy at first: in time 1, then stopped 1$",
        "ends policy count: in time 1, then begun 1, notified 0, stopped 0$",
        "ends policy notify: in time 1, then begun 1, notified [23], stopped 0$",
        "ends policy stop: in time 1, then begun 1, notified 0, stopped 1$",
        "ends policy restart: in time 1, then begun 2, notified 0, stopped 0$",
    ),
    "nonsense": ("ends nonsense: make 1 3 1, stop 9 1 1, restart 1$", "ends periods: 1 1 1 1 1, ended 1$"),
}


def expected(lines: tuple[str, ...]) -> tuple[Expectation, ...]:
    return (*(Says("victim", line) for line in lines), NoExits("victim"))


CASES = tuple(
    Case(
        f"ends-{kind}",
        GUARDS,
        (Sandbox("bystander", 0), Sandbox("victim", 1, f"ticks=100 ends={kind}")),
        expected(lines),
        PLATFORMS,
        quick=True,
    )
    for kind, lines in KINDS.items()
)
