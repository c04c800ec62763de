# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler, BH-I2.exitless. Budgets on the machines: who runs without end takes nothing from others but what they leave, and nothing of it is an exit.

The one with the shortest period comes before all others; it never sleeps. What it must not get is what the others were promised.
"""

from tests.emulated.case import ALL, Case, Sandbox
from tests.emulated.expect import NoExits
from tests.emulated.given import Given

GUARDS = "an endless loop at the highest priority leaves every other VCPU its budget"
VCPUS = ("vcpu=200,1000,hog", "vcpu=500,2000,loop", "vcpu=500,5000,findprimes")
TICKS = 1000  # of 100 us: a tenth of a second, a hundred periods of the hog
LATE_US = 50

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
)
