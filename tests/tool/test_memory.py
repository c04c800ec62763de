# SPDX-License-Identifier: Apache-2.0
"""A log ring is its sandbox's to write: whatever it claims there, the tool believes only what can be."""

import os
from collections.abc import Iterator

import pytest
from bhtool import abi
from bhtool.machine.memory import Heartbeat, Memory
from bhtool.platforms import Platform

POOL = 0x50000000
MILLISECOND = 1_000_000


@pytest.fixture
def ram(platform: Platform) -> Iterator[int]:
    file = os.memfd_create("ram")
    os.truncate(file, platform.ram_size)
    yield file
    os.close(file)


def claim(ram: int, platform: Platform, beats: int, period_ns: int) -> Heartbeat | None:
    ring = abi.ffi.new("struct bh_log *")
    ring.magic, ring.beats, ring.beat_period_ns = abi.lib.BH_LOG_MAGIC, beats, period_ns
    os.pwrite(ram, abi.bytes_of(ring)[:64], POOL + abi.lib.BH_POOL_LOG - platform.ram_base)
    return Memory(platform, ram).heartbeat(POOL)


def test_an_honest_heartbeat_is_heard(ram: int, platform: Platform) -> None:
    assert claim(ram, platform, 1000, MILLISECOND) == Heartbeat(1000, MILLISECOND, 0, 0)


@pytest.mark.parametrize(("beats", "period_ns"), [(2**64 - 1, 2**64 - 1), (2**64 - 1, MILLISECOND), (1, 1), (1, 0), (1, 2**63)])
def test_an_impossible_heartbeat_is_none(ram: int, platform: Platform, beats: int, period_ns: int) -> None:
    assert claim(ram, platform, beats, period_ns) is None


@pytest.mark.parametrize("when_ready", [0, 7, 2**32 - 1, 2**32, 2**40 + 5])
def test_exits_when_ready_are_known_to_the_last_bit(ram: int, platform: Platform, when_ready: int) -> None:
    """Of which the page has the lowest 32 bits."""
    since, last = 2**32 - 1, abi.lib.BH_MAX_SANDBOX_CORES - 1
    page = abi.ffi.new("struct bh_stats *")
    page.magic, page.core_count = abi.lib.BH_STATS_MAGIC, last + 1
    page.core[last].exits[abi.lib.BH_EXIT_IPI] = when_ready + since
    page.at_ready[last][abi.lib.BH_EXIT_IPI] = when_ready % 2**32
    os.pwrite(ram, abi.bytes_of(page), POOL + abi.lib.BH_POOL_STATS - platform.ram_base)
    stats = Memory(platform, ram).stats(POOL)
    assert stats
    assert stats.core_exits_at_ready[last]["ipi"] == when_ready
    assert stats.core_exits[last]["ipi"] == when_ready + since
