# SPDX-License-Identifier: Apache-2.0
"""BH-F4.memory. Address spaces of the sandbox kernel on two cores, whose processor says what each translates by."""

from tests.emulated.case import Case, Sandbox
from tests.emulated.expect import Says

MARK = 0x6B65726E  # pair.c
PAIR = (Sandbox("bystander", 0), Sandbox("victim", (1, 2), "ticks=400 start-away=1"))
CASES = (
    Case(
        "started-away",
        "a core is started in the kernel's own space, whichever the starter translates by",
        PAIR,
        (Says("victim", f"core 1 reads {MARK:#x}$"), Says("victim", "away space destroyed 1$")),
        quick=True,
    ),
)
