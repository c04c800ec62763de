# SPDX-License-Identifier: Apache-2.0
"""The benchmarks whose figures repeat exactly meet their targets; `bench exits` takes minutes, tests/emulated counts the same."""

from dataclasses import replace

import pytest
from bhtool.bench import boot, channel, dma, io, live, messages, restart, samples, timer
from bhtool.bench.result import Result
from bhtool.errors import BulkheadError
from bhtool.image.build import build_platform
from bhtool.machine.emulated import require_emulator
from bhtool.platforms import Platform, every, load

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("platform", [one.name for one in every() if one.emulator.kind == "qemu"])]


@pytest.fixture
def machine(platform: str) -> Platform:
    found = load(platform)
    try:
        require_emulator(found)
    except BulkheadError as missing:
        pytest.skip(str(missing))
    return found


SAMPLED_SECONDS = {"aarch64": 25, "x86_64": 50, "armv7": 90}  # of guest time, of which Linux boots for 17, 28 and 64


def silent(_: str) -> None:
    """Tests report nothing while they prepare."""


def missed(result: Result) -> list[str]:
    return [f"{row.name}: {row.min}, {row.median}, {row.max}; {row.target}" for row in result.rows if row.met is False]


def test_the_timer_takes_as_long_as_without_a_monitor(machine: Platform) -> None:
    result = timer.run(machine, silent)
    assert not missed(result)
    expected = 2 if machine.arch == "armv7" else 1  # there a vector has room for a branch alone
    assert {row.median for row in result.rows if row.name == "busy, sandbox"} == {expected}


def test_start_up_is_short(machine: Platform) -> None:
    assert not missed(boot.run(machine, silent))


def test_restarts_stay_within_the_bound_that_check_prints(machine: Platform) -> None:
    result = restart.run(machine, silent, restarts=10)
    assert not missed(result)
    assert {row.n for row in result.rows} == {10}


def test_messages_cost_what_they_may(machine: Platform) -> None:
    """A few of each that takes long."""
    result = channel.run(machine, silent, trials=2)
    rows = {row.name: row for row in result.rows}
    assert not missed(result)
    assert rows[channel.EXITS].max == 0
    assert all(rows[f"one way, {size:,}: {where}"].min > 0 for size in channel.SIZES for where in channel.FIGURE_16)


@pytest.mark.long
def test_no_sample_is_lost_but_at_a_restart(machine: Platform) -> None:
    """Two lives of who relays them; docs/benchmarks.md has ten minutes."""
    result = samples.run(machine, silent, seconds=SAMPLED_SECONDS[machine.arch])
    assert not missed(result)
    assert next(row for row in result.rows if row.name == "restarts of control").max > 1


def test_the_monitor_that_maps_pages_fits_its_board(machine: Platform) -> None:
    build_platform(machine, silent)
    live.build(machine)


@pytest.mark.long
def test_a_restart_closes_streams_and_opens_them(machine: Platform) -> None:
    rows = {row.name: row for row in dma.run(machine, silent).rows}
    assert all(rows[name].min > 0 for name in (*dma.PARTS.values(), *live.PARTS.values()))
    assert rows["what a card adds to a restart"].min > rows[dma.PARTS["open"]].max + rows[dma.PARTS["close"]].max


@pytest.mark.long
def test_packets_cost_what_they_cost_alone_and_blocks_no_exits(machine: Platform) -> None:
    """A few of each; speeds of so few are not judged, nor instructions where Linux follows the host's time, which its idle loop counts.

    Blocks follow it everywhere, as QEMU carries them out in a thread of its own: 15,500 to 21,000 instructions each, by what else the host does.
    """
    packets, blocks = "UDP send and receive", "disc read"
    sizes = {packets: {1472: 160}, blocks: {4096: 160}}
    cases = [replace(case, counts=sizes[case.name]) for case in io.CASES if case.name in sizes]
    result = io.run(machine, silent, cases)
    costs = [row for row in result.rows if row.unit == "instructions" and row.name.startswith(packets)]
    if machine.emulator.counts_linux:
        assert costs
        assert not missed(replace(result, rows=costs))
    exits = [row for row in result.rows if row.unit == "exits"]
    assert {row.name.partition(":")[0] for row in exits} == {packets, blocks}
    assert {row.max for row in exits} == {0}


@pytest.mark.long
def test_a_channel_takes_linux_less_than_its_socket_pair(machine: Platform) -> None:
    """Once, and without an exit for a message that nobody has to be woken for."""
    result = messages.run(machine, silent, runs=1)
    assert not missed(result)
    rows = {row.name: row for row in result.rows}
    assert rows[messages.EXITS].max == 0
    assert 50 < rows[messages.TRIP_EXITS].max < 150
