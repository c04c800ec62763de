# SPDX-License-Identifier: Apache-2.0
"""What a machine of QEMU needs for its debugger.

At a breakpoint QEMU counts the core that hit it as asleep for a moment. If all others sleep too, `-icount sleep=off` sets the clock to the next timer
of the machine (QEMU, accel/tcg/icount-common.c, icount_start_warp_timer). A timer of ARM whose interrupt is pending is set to the end of time
(target/arm/helper.c, gt_recalc_timer); the clock overflows there, and the machine never moves or answers again. The timer that is always near
(machine/near_timer.py) keeps the clock.
"""

from pathlib import Path

from bhtool.oracle.debugger import option


def options(port: Path) -> tuple[str, ...]:
    """It stands at reset."""
    return (*option(port), "-S")
