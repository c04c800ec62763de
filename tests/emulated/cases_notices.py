# SPDX-License-Identifier: Apache-2.0
"""BH-F2.notice. `notify`: one interrupt to a sandbox that accepts it, when another has been parked, and at no other time."""

from tests.emulated.case import ALL, Case, Sandbox
from tests.emulated.expect import Expectation, NeverSays, NoExits, Off, Parked, Restarted, Says

TOLD = "who is named in `notify` gets one interrupt when the sandbox is parked, and nobody else gets any"
REACH = "read={bystander.ram:#x}"
REACHED = Parked("failing", "memory", "read", "{bystander.ram:#x}")
ENABLED = ("device",)  # a GIC's SGI


def notice(name: str, commands: str, *expected: Expectation, health: str = "", quick: bool = False) -> Case:
    """The bystander, who is not named, would report a stray interrupt."""
    sandboxes = (
        Sandbox("bystander", 0),
        Sandbox("failing", 1, f"ticks=400 {commands}", health=f"{health} notify = <&told>;", beats=False),
        Sandbox("told", 2, "notices=1", accepts_notify=("failing",)),
    )
    return Case(f"notice-{name}", TOLD, sandboxes, (*expected, NoExits("told", ENABLED)), ALL, quick=quick)


AGAIN = 'on-fault = "restart"; max-restarts = <2>;'
NEVER = NeverSays("told", "notices")


def early(name: str, told: str, says: str, restarts: int = 0) -> Case:
    """The failing sandbox ends with its first instructions; the boot core, which starts all others, has its own after that."""
    health = f'on-fault = "restart"; max-restarts = <{restarts}>;' if restarts else ""
    return Case(
        f"notice-{name}",
        "an end is not missed because it came before the told sandbox's life",
        (
            Sandbox("failing", 1, image="fault.elf", health="notify = <&told>;", beats=False),
            Sandbox("bystander", 3),
            Sandbox("told", 0, told, accepts_notify=("failing",), health=health),
        ),
        (Parked("failing", "memory"), Says("told", says)),
        ALL,
    )


CASES = (
    notice("of-a-fault", REACH, REACHED, Says("told", "notices 1$"), quick=True),
    notice("after-the-last-restart", REACH, REACHED, Restarted("failing", 2), Says("told", "notices 1$"), health=AGAIN),
    Case(
        "notice-of-a-fault-to-two",
        "each of the sandboxes that are named in `notify` gets one interrupt",
        (
            Sandbox("told", 0, "notices=1", accepts_notify=("failing",)),
            Sandbox("failing", 1, f"ticks=400 {REACH}", health="notify = <&told>, <&other>;", beats=False),
            Sandbox("other", 2, "notices=1", accepts_notify=("failing",)),
            Sandbox("bystander", 3),
        ),
        (REACHED, Says("told", "notices 1$"), Says("other", "notices 1$"), NoExits("told", ENABLED), NoExits("other", ENABLED)),
        ALL,
    ),
    notice("not-of-an-end", "park", Off("failing"), NEVER),
    early("of-a-fault-at-once", "notices=1", "notices [12]$"),
    early("as-often-as-one-asks", " ".join(["notices=0"] * 9 + ["life"]), "life 0$"),
    early("of-an-earlier-life", "first=notices=1 crash=1 notices=1 life", "life 1$", restarts=1),
    notice("not-of-a-restart", "crash=1", Restarted("failing", 1), NEVER, health=AGAIN),
)
