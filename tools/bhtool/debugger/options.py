# SPDX-License-Identifier: Apache-2.0
"""What a machine of QEMU needs for its debugger.

At a breakpoint QEMU counts the core that hit it as asleep for a moment. If all others sleep too, `-icount sleep=off` sets the clock to the next timer
of the machine (QEMU, accel/tcg/icount-common.c, icount_start_warp_timer). A timer of ARM whose interrupt is pending is set to the end of time
(target/arm/helper.c, gt_recalc_timer); the clock overflows there, and the machine never moves or answers again. A timer that is always near keeps the clock.
"""

from __future__ import annotations

from pathlib import Path

from bhtool.machine.launch import Timing
from bhtool.oracle.debugger import option

NEAR_US = 100  # how far a stop can set the clock; at 10, Linux would start three times as slowly


def options(port: Path, timing: Timing) -> tuple[str, ...]:
    """It stands at reset. A filter of packets looks at its network, which no guest is on, whenever its interval ends."""
    near = ("-netdev", "hubport,id=near,hubid=1", "-object", f"filter-buffer,id=near-timer,netdev=near,interval={NEAR_US}")
    return (*option(port), "-S", *(near if timing.icount_shift is not None else ()))
