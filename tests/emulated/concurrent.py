# SPDX-License-Identifier: Apache-2.0
"""Machines whose cores run at the same time, each a thread of the host, without deadlines: a busy host may leave a core without time for long.

Monitors wait for each other's answer a tenth of a second, and for a restart's siblings twice that. Here, when all are up, the harness lengthens that
bound in each monitor's own memory, and opens the gate in each sandbox's log ring; what then is not answered has been lost.
"""

import os
import struct

from bhtool import abi
from bhtool.config.plan import SandboxPlan
from bhtool.machine.session import Session
from bhtool.platforms import Platform

OPTIONS = ("-accel", "tcg,thread=multi")
PATIENCE_SECONDS = 60
TIMEOUTS_PER_SECOND = 10  # monitor/boot/partition_boot.c
WITHIN = 32 + 4 * abi.lib.BH_MAX_SANDBOX_CORES  # bytes of struct monitor in which its kick_timeout lies; each core has a number


def only(pool: bytes, word: bytes, step: int, within: range, what: str) -> int:
    """The one place in `within`, a multiple of `step`, where the word stands. Anything else means that the monitor is not as it is known here."""
    found = [at for at in within if at % step == 0 and pool.startswith(word, at)]
    assert len(found) == 1, f"{what} stands {len(found)} times where monitor/monitor.h has it once: adapt tests/emulated/concurrent.py"
    return found[0]


def timeout_at(platform: Platform, one: SandboxPlan, pool: bytes, hertz: int) -> int:
    """Where in its pool the sandbox's monitor keeps the bound: after its pointers to statistics and crash record, with which it begins."""
    width, form = (4, "<II") if platform.arch == "armv7" else (8, "<QQ")
    pointers = struct.pack(form, one.pool_hpa + abi.lib.BH_POOL_STATS, one.pool_hpa + abi.lib.BH_POOL_CRASH)
    begins = only(pool, pointers, width, range(0, len(pool), width), f"{one.name}: where its statistics are")
    bound = struct.pack("<Q", hertz // TIMEOUTS_PER_SECOND)
    return only(pool, bound, len(bound), range(begins, begins + WITHIN, width), f"{one.name}: how long its monitor waits for an answer")


def open_gate(session: Session) -> bool:
    """All sandboxes are ready and wait. Returns that nobody waits any more for this."""
    platform, ram = session.platform, session.machine.ram
    for one in session.plan.sandboxes:
        hertz = session.memory.clock_hz(one.pool_hpa) or platform.emulator.clock_hz
        pool = session.memory.read(one.pool_hpa, one.pool_size)
        place = one.pool_hpa + timeout_at(platform, one, pool, hertz)
        os.pwrite(ram, struct.pack("<Q", PATIENCE_SECONDS * hertz), place - platform.ram_base)
    for one in session.plan.sandboxes:
        place = one.pool_hpa + abi.lib.BH_POOL_LOG + abi.ffi.offsetof("struct bh_log", "gate")
        os.pwrite(ram, struct.pack("<Q", PATIENCE_SECONDS * 10**9), place - platform.ram_base)
    return False
