# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler, BH-I2.exitless. Budgets on the machines: who runs without end takes nothing from others but what they leave, and nothing of it is an exit.
Threads on the machines: who moves between cores is whole, wherever it is.

The one with the shortest period comes before all others; it never sleeps. What it must not get is what the others were promised.
"""

from tests.emulated.case import ALL, ARMV7, Case, Sandbox
from tests.emulated.expect import NoExits, Says
from tests.emulated.given import Given

GUARDS = "an endless loop at the highest priority leaves every other VCPU its budget"
VCPUS = ("vcpu=200,1000,hog", "vcpu=500,2000,loop", "vcpu=500,5000,findprimes")
TICKS = 1000  # of 100 us: a tenth of a second, a hundred periods of the hog
LATE_US = 50
MOVES, TRAVELLERS = 100, 4
TURNS = r"([45]\d|6[0-2])"  # of a millisecond, in sixty
THIRD = r"(2[89]|3[0-8])"  # of the work, per cent

CASES = (
    Case(
        "endless-at-the-highest-priority",
        GUARDS,
        (
            Sandbox("bystander", 0),
            Sandbox("victim", 1, " ".join((*VCPUS, f"ticks={TICKS}", "vcpus"))),
        ),
        (Given("victim", len(VCPUS), LATE_US), NoExits("victim")),
        ALL,
        quick=True,
    ),
    Case(
        "moved-between-cores",
        "a thread that moves between cores is never on two of them, and what it has on its stack is whole",
        (Sandbox("bystander", 0), Sandbox("pair", (1, 2), f"ticks=400 moves={MOVES}")),
        (Says("pair", f"moves {2 * TRAVELLERS * MOVES} of {2 * TRAVELLERS * MOVES}, lost 0, slept in time$"), NoExits("bystander")),
        ALL,
        quick=True,
    ),
    Case(
        "echo-on-another-core",
        "a program that the UART's interrupts wake runs where these come",
        (
            Sandbox("bystander", 0),
            Sandbox("pair", (1, 2), "ticks=10 core=1,vcpu=200,1000,echo ticks=100"),
        ),
        (Says("pair", "vcpu echo: echo runs on the first core alone$"), NoExits("bystander")),
        ALL,
        quick=True,
    ),
    Case(
        "cores-that-wait-at-once",
        "what a core waits for is in its own timer's queue, whatever another one waits for",
        (Sandbox("bystander", 0), Sandbox("pair", (1, 2), "ticks=10 core=1,wait=20 wait=40 core=1,heartbeat=1000 ticks=100")),
        (Says("pair", "heartbeat: the first core has it$"), Says("pair", "ticks 100$"), NoExits("bystander")),
        ALL,
        quick=True,
    ),
    Case(
        "no-delay-beside-vcpus",
        "no command keeps interrupts from VCPUs",
        (Sandbox("bystander", 0), Sandbox("pair", (1, 2), "vcpu=200,1000,hog delay=300000 core=1,delay=300000 ticks=100")),
        (Says("pair", "delay: 10000000 us at most, on the first core, before there are VCPUs$"), NoExits("bystander")),
        ALL,
        quick=True,
    ),
    Case(
        "division-of-64-bits",
        "times and shares are right where a division is a routine of ours",
        (Sandbox("bystander", 0), Sandbox("victim", 1, "divide=20000")),
        (Says("victim", "divide 20306 of 20306 right$"),),
        (ARMV7,),
        quick=True,
    ),
    Case(
        "turns-by-slices",
        "a thread that never waits leaves others of its level their turns, where its VCPU has a slice",
        (Sandbox("bystander", 0), Sandbox("victim", 1, "ticks=400 slices=1000")),
        (Says("victim", f"slices: turns {TURNS}, shares {THIRD} {THIRD} {THIRD}$"), NoExits("victim"), NoExits("bystander")),
        ALL,
        quick=True,
    ),
)
