# SPDX-License-Identifier: Apache-2.0
"""Reads what sandboxes and monitors leave in the machine's RAM: statistics, crash records, log rings. Never writes.

A log ring belongs to its sandbox, which may write anything into it at any time: every number read from one is bounded here.
"""

import mmap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bhtool import abi
from bhtool.config.plan import SandboxPlan
from bhtool.platforms import Platform

REASONS = {value: name.removeprefix("BH_EXIT_").lower() for value, name in sorted(abi.enumerators("bh_exit_reason").items())}
REASONS.pop(abi.lib.BH_EXIT_REASONS, None)
STATES = {value: name.removeprefix("BH_STATE_").lower() for value, name in abi.enumerators("bh_state").items()}
ACCESSES = {value: name.removeprefix("BH_ACCESS_").lower() for value, name in abi.enumerators("bh_access").items()}

# What a sandbox may claim of its heartbeat; anything else is none.
SHORTEST_BEAT_NS, LONGEST_BEAT_NS, LONGEST_RUN_NS = 10_000, 10**10, 10**15

Exits = dict[str, int]


@dataclass(frozen=True)
class Stats:
    state: str
    boot_clock: int
    start_clock: int
    ready_clock: int
    core_exits: tuple[Exits, ...]  # boot core first
    core_exits_at_ready: tuple[Exits, ...]
    core_kicks: tuple[int, ...]
    restarts: int = 0
    restart_ticks: int = 0
    longest_restart_ticks: int = 0
    pool_bytes: int = 0  # what its monitor has taken

    @property
    def exits(self) -> Exits:
        return total(self.core_exits)

    @property
    def kicks(self) -> int:
        return sum(self.core_kicks)


@dataclass(frozen=True)
class Crash:
    reason: str
    core: int
    access: str
    address: int
    virtual: int
    pc: int
    value: int
    width: int
    raw: tuple[int, int]
    clock: int
    registers: tuple[int, ...]


@dataclass(frozen=True)
class Heartbeat:
    beats: int
    period_ns: int
    gaps: int
    late_max_ns: int
    awake_late_max_ns: int | None = None  # of the beats that found their core awake, as the sandbox tells; None: it does not


def by_reason(counters: object) -> Exits:
    return {name: int(counters[value]) for value, name in REASONS.items()}  # type: ignore[index]


def total(cores: Iterable[Exits]) -> Exits:
    """All cores together; nothing if there are none."""
    counted = tuple(cores)
    return {name: sum(core[name] for core in counted) for name in REASONS.values()} if counted else {}


def subtract(after: Exits, before: Exits) -> Exits:
    return {name: after[name] - before[name] for name in after}


def _whole(now: Exits, lowest: Exits) -> Exits:
    """What `now` was when its lowest 32 bits were these, less than 2^32 exits ago."""
    return {name: count - (count - lowest[name]) % (1 << 32) for name, count in now.items()}


class Memory:
    """The machine's RAM by host-physical address; `ram` is its file descriptor. Outlives the machine."""

    def __init__(self, platform: Platform, ram: int) -> None:
        self._base = platform.ram_base
        self._map = memoryview(mmap.mmap(ram, platform.ram_size, prot=mmap.PROT_READ))

    def read(self, hpa: int, size: int) -> bytes:
        return bytes(self._map[hpa - self._base : hpa - self._base + size])

    def guest(self, sandbox: SandboxPlan, gpa: int, size: int) -> bytes | None:
        """What a sandbox has there in its RAM, which may lie in several stretches. None: some of it is not its RAM."""
        parts = list(sandbox.in_machine(gpa, size))
        return b"".join(self.read(*part) for part in parts) if sum(here for _, here in parts) == size else None

    def stats(self, pool: int) -> Stats | None:
        """None until the monitor has made the page."""
        page = abi.view("bh_stats", self.read(pool + abi.lib.BH_POOL_STATS, abi.sizeof("bh_stats")))
        if page.magic != abi.lib.BH_STATS_MAGIC:
            return None
        count = min(page.core_count, abi.lib.BH_MAX_SANDBOX_CORES)
        cores = tuple(by_reason(page.core[slot].exits) for slot in range(count))
        at_ready = tuple(_whole(now, by_reason(page.at_ready[slot])) for slot, now in enumerate(cores))
        kicks = tuple(int(page.core[slot].kicks) for slot in range(count))
        clocks = (page.boot_clock, page.start_clock, page.ready_clock)
        lives = (page.restarts, page.restart_ticks, page.longest_restart_ticks)
        return Stats(STATES.get(page.state, "unknown"), *clocks, cores, at_ready, kicks, *lives, page.pool_bytes)

    def crash(self, pool: int) -> Crash | None:
        record = abi.view("bh_crash", self.read(pool + abi.lib.BH_POOL_CRASH, abi.sizeof("bh_crash")))
        if record.magic != abi.lib.BH_CRASH_MAGIC:
            return None
        registers = tuple(record.reg[n] for n in range(min(record.register_count, abi.lib.BH_CRASH_REGISTERS)))
        reason = REASONS.get(record.reason, f"unknown ({record.reason})")
        access = ACCESSES.get(record.access, "none")
        where = (record.gpa, record.gva, record.pc, record.value, record.width)
        return Crash(reason, record.core, access, *where, (record.raw[0], record.raw[1]), record.clock, registers)

    def clock_hz(self, pool: int) -> int:
        """What the sandbox was told; 0: the machine says it."""
        page = abi.view("bh_info", self.read(pool + abi.lib.BH_POOL_INFO, abi.sizeof("bh_info")))
        return int(page.clock_hz)

    def heartbeat(self, pool: int) -> Heartbeat | None:
        """None where the sandbox keeps no ring or no heartbeat."""
        ring = self._ring(pool, 64)
        if ring.magic != abi.lib.BH_LOG_MAGIC or not SHORTEST_BEAT_NS <= ring.beat_period_ns <= LONGEST_BEAT_NS:
            return None
        if ring.beats * ring.beat_period_ns > LONGEST_RUN_NS:
            return None
        return Heartbeat(
            ring.beats,
            ring.beat_period_ns,
            ring.beat_gaps,
            ring.beat_late_max_ns,
            ring.beat_awake_late_max_ns - 1 if ring.beat_awake_late_max_ns else None,
        )

    def log_since(self, pool: int, tail: int) -> tuple[bytes, int, int]:
        """(text after `tail`, new tail, bytes that were overwritten before they were read)."""
        if self._ring(pool, 64).magic != abi.lib.BH_LOG_MAGIC:
            return b"", tail, 0
        ring = self._ring(pool, abi.lib.BH_LOG_BYTES)
        size = abi.lib.BH_LOG_TEXT_BYTES
        if ring.head < tail:
            return b"", ring.head, 0
        start = max(tail, ring.head - size)
        text = bytes(abi.ffi.buffer(ring.text))
        first = start % size
        return (text[first:] + text[:first])[: ring.head - start], ring.head, start - tail

    def _ring(self, pool: int, size: int) -> Any:
        data = self.read(pool + abi.lib.BH_POOL_LOG, size).ljust(abi.lib.BH_LOG_BYTES, b"\0")
        return abi.view("bh_log", data)
