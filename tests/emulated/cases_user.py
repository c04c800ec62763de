# SPDX-License-Identifier: Apache-2.0
"""BH-I2.exitless, BH-F4.user. User mode of the sandbox kernel: interrupts, calls, faults and floating point of a program there need no monitor.

On x86 preparing a core for user mode takes two exits, as EFER is read and written (docs/registers-x86_64.md), and on VT-x a third on the
second core, whose start leaves CR0.NE clear.
"""

from tests.emulated.case import A64, ARM, ARMV7, SVM, VTX, X86, Case, Sandbox, attacked
from tests.emulated.expect import Expectation, NoExits, Refused, Says, SteadyExits

GUARDS = "a program in user mode is interrupted, calls and computes as the kernel says, and nothing of it is an exit"
UNDEFINED = "(undefined instruction|#UD)"
SAYS = {
    "interrupt": (
        "user interrupts 10, in user mode 10, in its text 10, on its stack 10, enabled 10$",
        f"user registers differ 0x0, answer 0xffffffffffffffff, ended by {UNDEFINED}$",
    ),
    "fp": (f"user turns 4, own registers 4, own thread pointer 4, others' addresses 0, ended by {UNDEFINED}$",),
    "unowned": ("user without registers ended by (floating point|undefined instruction|#NM)$",),
    "peek": tuple(rf"user at {what} (0x[0-9a-f]+) ended by (data abort|#PF) at \1$" for what in ("data", "text", "read-only data")),
    "jump": ("kernel at a program's text ended by (instruction abort|prefetch abort|#PF), there 1$",),
}


def expected(exits: int) -> tuple[Expectation, ...]:
    said = tuple(Says("victim", line) for lines in SAYS.values() for line in lines)
    return (*said, SteadyExits("victim", "register", exits), NoExits("victim", ("register", "ipi")))


def user(name: str, cores: int | tuple[int, ...], arguments: str, platforms: tuple[str, ...], exits: int) -> Case:
    sandboxes = (Sandbox("bystander", 0), Sandbox("victim", cores, f"ticks=400 {arguments}"))
    return Case(f"user-{name}", GUARDS, sandboxes, expected(exits), platforms, quick=True)


FIRST = " ".join(f"user={kind}" for kind in SAYS)
SECOND = " ".join(f"core=1,user={kind} ticks=100" for kind in SAYS)  # ten milliseconds for each
COUNTERS_OF_OTHERS = " ".join(f"core={slot},user=counters ticks=100" for slot in (1, 2))
OPENED = tuple(
    Case(
        "user-counters",
        "a program reads no performance counter, whatever the core was left with",
        (Sandbox("bystander", 0), Sandbox("victim", (1, 2, 3), f"ticks=400 user=counters {COUNTERS_OF_OTHERS}")),
        tuple(Says("victim", f"user counters on core {slot} ended by {fault}$") for slot in range(3)),
        platforms,
        quick=True,
    )
    for fault, platforms in (("trapped system register", A64), ("undefined instruction", (ARMV7,)), ("#GP", X86))
)
STACKS = tuple(
    Case(
        f"stack-of-{vector}",
        "what may come when the stack is no good has a stack of its own, with a hole below it",
        attacked(f"overflow={vector}"),
        expected,
        X86,
        quick=True,
    )
    for vector, expected in (
        ("nmi", (Refused("attacker", "overflow=nmi", "NMI"),)),
        ("df", (Refused("attacker", "overflow=df", "#DF"),)),
    )
)
CASES = (
    OPENED
    + STACKS
    + tuple(
        case
        for platforms, first, second in ((ARM, 0, 0), ((SVM,), 2, 2), ((VTX,), 2, 3))
        for case in (
            user("mode", 1, FIRST, platforms, first),
            user("mode-on-second-core", (1, 2), SECOND, platforms, second),
        )
    )
)
