# SPDX-License-Identifier: Apache-2.0
"""RAM as a loader, firmware or an earlier system leaves it: emulators begin with zeros, boards do not.

Garbage lies wherever the image does not; what an earlier run of ours would have left, valid to every reader, lies in the pools:
a crash record, and a log with somebody's lines. Statistics are not valid, so that it can be seen when start-up has made them.
"""

import random
import time
from typing import Literal

from bhtool import abi
from bhtool.config.plan import Plan
from bhtool.machine.session import Session
from bhtool.platforms import Platform

Garbage = Literal["", "ones", "random"]
Stretches = tuple[tuple[int, bytes], ...]  # address, content

CHUNK = 1 << 20
MARGIN = CHUNK  # after the last of the plan
STALE_TEXT = b"somebody's last words\n"


def chunk_of(kind: Garbage) -> bytes:
    return b"\xff" * CHUNK if kind == "ones" else random.Random(1).randbytes(CHUNK)


def stale_crash(garbage: bytes) -> bytes:
    """Valid; what else it says is garbage."""
    magic = int(abi.lib.BH_CRASH_MAGIC).to_bytes(4, "little")
    return magic + garbage[len(magic) : abi.sizeof("bh_crash")]


def stale_log() -> bytes:
    text = STALE_TEXT * 64
    ring = abi.ffi.new("struct bh_log *")
    ring.magic, ring.text_bytes, ring.head = abi.lib.BH_LOG_MAGIC, abi.lib.BH_LOG_TEXT_BYTES, len(text)
    ring.beats, ring.beat_period_ns, ring.beat_gaps = 1 << 30, 1000000, 77
    abi.ffi.memmove(ring.text, text, len(text))
    return bytes(abi.ffi.buffer(ring))


def end_of(plan: Plan) -> int:
    pools = [one.pool_hpa + one.pool_size for one in plan.sandboxes]
    ram = [one.hpa + one.size for sandbox in plan.sandboxes for one in sandbox.ram]
    return max(*pools, *ram, plan.shared_hpa + int(abi.lib.BH_PAGE_BYTES)) + MARGIN


def garbage_of(platform: Platform, plan: Plan, kind: Garbage) -> Stretches:
    """All RAM up to a margin after everybody's, before the image is loaded into it; the later stretch counts."""
    if not kind:
        return ()
    garbage = chunk_of(kind)
    everywhere = tuple((at, garbage) for at in range(platform.ram_base, end_of(plan), CHUNK))
    crashes = tuple((one.pool_hpa + int(abi.lib.BH_POOL_CRASH), stale_crash(garbage)) for one in plan.sandboxes)
    logs = tuple((one.pool_hpa + int(abi.lib.BH_POOL_LOG), stale_log()) for one in plan.sandboxes)
    return (*everywhere, *crashes, *logs)


def wait_for_statistics(session: Session, limit: float) -> None:
    """Before that, what lies in the pools is nobody's. Whatever has gone wrong if it takes too long, others tell."""
    pools = [one.pool_hpa for one in session.plan.sandboxes]
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline and session.machine.exit_status() is None and not all(map(session.memory.stats, pools)):
        session.rest()
