# SPDX-License-Identifier: Apache-2.0
"""BH-F6.messages. `bulkhead bench channel`: what becomes of what both ends of a channel say."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from bhtool import paths
from bhtool.bench import calibration, channel, exchange
from bhtool.bench.between import CHANNELS, DOORBELLS, written
from bhtool.bench.exchange import Exchange, Vcpu
from bhtool.bench.grouped import grouped
from bhtool.bench.result import Result, Row
from bhtool.cli import loaded
from bhtool.config.channel_delays import BYTES_IN_A_SWITCH
from bhtool.documents.results import stored
from bhtool.errors import BulkheadError, Status
from bhtool.platforms import load
from bhtool.verbs import bench as verb
from click.testing import CliRunner

FIGURE = 30  # of an end: meets every target but that of the throughput, where a page takes no more than a message


def said(what: str, end: str, figure: int = FIGURE) -> str:
    return f"x: channel {what}: {end} min {figure - 2} median {figure - 1} max {figure} mean {figure - 1} of 200"


def lines_of(known: Iterable[str]) -> list[str]:
    return [said(what, end) for what in known for end in sorted(channel.ONE_ENDED.get(what, channel.BOTH))]


LINES, BELLS = lines_of(channel.KNOWN), lines_of(channel.DOORBELL)
DONE = ["near: channel done", "far: channel done"]


def rows_of(lines: list[str], has_targets: bool = True) -> dict[str, Row]:
    return {row.name: row for row in channel.cost_rows(channel.heard([*lines, *DONE]), has_targets)}


def test_a_figure_is_the_sum_of_both_ends() -> None:
    row = rows_of(LINES)[channel.KNOWN[channel.RING].title]
    assert (row.n, row.min, row.median, row.max, row.reference, row.met) == (200, 56, 58, 60, 754, True)
    assert rows_of(LINES)[channel.KNOWN[channel.NOTHING].title].max == FIGURE


@pytest.mark.parametrize("what", [what for what, known in channel.KNOWN.items() if known.limit])
def test_the_greatest_sample_is_judged(what: str) -> None:
    limit, title = channel.KNOWN[what].limit, channel.KNOWN[what].title
    assert limit is not None
    for more, met in ((0, True), (1, False)):
        lines = [line for line in LINES if f"channel {what}: take" not in line] + [said(what, "take", limit - FIGURE + more)]
        assert rows_of(lines)[title].met is met
    assert rows_of(lines, has_targets=False)[title].met is None


def test_throughput_is_at_least_a_share_of_copying() -> None:
    lines = [line for line in LINES if "4 KiB" not in line]
    for page, met in ((1040, True), (1100, False)):
        copied = [said(channel.MEMCPY, "send", 1000), said(channel.PAGE, "send", page), said(channel.PAGE, "take")]
        row = rows_of(lines + copied)[channel.THROUGHPUT]
        assert (row.unit, row.met) == ("per cent", met)


def bell_rows(lines: list[str], has_targets: bool = True) -> dict[str, Row]:
    return {row.name: row for row in channel.bell_rows(channel.heard([*lines, *DONE], channel.DOORBELL), has_targets)}


@pytest.mark.parametrize(("what", "limit"), [(what, known.limit) for what, known in channel.DOORBELL.items()])
def test_the_greatest_sample_of_a_doorbell_is_judged(what: str, limit: int) -> None:
    """By what both ends execute."""
    title = channel.DOORBELL[what].title
    for more, met in ((0, True), (1, False)):
        lines = [line for line in BELLS if f"channel {what}: take" not in line] + [said(what, "take", limit - FIGURE + more)]
        rows = bell_rows(lines)
        assert rows.keys() == {channel.RINGING.title, *(known.title for known in channel.DOORBELL.values())}
        assert (rows[title].max, rows[title].met) == (limit + more, met)
    assert bell_rows(lines, has_targets=False)[title].met is None


def test_who_rings_is_judged_alone() -> None:
    limit, title = channel.RINGING.limit, channel.RINGING.title
    assert limit == 120
    for figure, met in ((limit, True), (limit + 1, False)):
        row = bell_rows([line for line in BELLS if "handler: send" not in line] + [said(channel.HANDLER, "send", figure)])[title]
        assert (row.max, row.reference, row.met) == (figure, 337, met)


def test_a_ring_is_bao_s_too() -> None:
    assert [channel.peer_of(known.title) for known in (channel.RINGING, *channel.DOORBELL.values())] == ["Bao: 337", "Bao: 754", ""]


def test_runs_that_agree_are_told_by_end() -> None:
    ends, odd = channel.agreed(lambda: channel.heard([*BELLS, *DONE], channel.DOORBELL))
    assert (ends["doorbell, thread"]["take"].max, odd) == (FIGURE, 0)
    assert ends.keys() == channel.DOORBELL.keys()


def test_what_is_missing_or_late_is_an_error() -> None:
    with pytest.raises(BulkheadError, match=r"has not measured mailbox$"):
        channel.heard([*(line for line in LINES if "mailbox: take" not in line), *DONE])
    with pytest.raises(BulkheadError, match=r"has not measured doorbell, thread$"):
        channel.heard([*BELLS[:-1], *DONE], channel.DOORBELL)
    with pytest.raises(BulkheadError, match="cannot measure: near: channel: no channel ring"):
        channel.heard([*LINES, "near: channel: no channel ring"])
    with pytest.raises(BulkheadError) as late:
        channel.heard([*LINES, DONE[0]])
    assert late.value.status == Status.TIME_LIMIT


def test_each_end_alone_has_a_row_where_both_do_something() -> None:
    names = {row.name for row in channel.end_rows(channel.heard([*LINES, *DONE]))}
    assert {"ring: send", "ring: take"} <= names
    assert not any(what in name for name in names for what in channel.ONE_ENDED)


def test_predictions_take_the_greatest_costs() -> None:
    costs = calibration.Costs.of(channel.heard([*LINES, *DONE]))
    assert (costs.send, costs.take, costs.look, costs.thread_send, costs.page_copy) == (FIGURE,) * 5
    assert calibration.of_rows({row.name: row.max for row in calibration.named(costs)}) == costs


def stored_of(bench: str) -> dict[str, dict[str, int]]:
    """By platform and row, the most that was measured."""
    return {one.platform: {name: row["max"] for name, row in one.rows.items()} for one in stored() if one.bench == bench}


def test_there_are_calibrations() -> None:
    assert len(stored_of("calibration")) > 1


@pytest.mark.parametrize(("platform", "measured"), stored_of("calibration").items(), ids=str)
def test_check_counts_a_third_more_than_was_measured(platform: str, measured: dict[str, int]) -> None:
    """Of a message with one look before it that came too soon, of 32 bytes that are copied, and of a ring: each is a switch, as admission counts it."""
    costs, switch = calibration.of_rows(measured), exchange.switch_of(load(platform))
    ring = stored_of("channel")[platform][channel.RINGING.title]
    for most in (costs.thread_send + costs.look, costs.thread_take + costs.look, costs.page_copy // (4096 // BYTES_IN_A_SWITCH), ring):
        assert 4 * most <= 3 * switch


# ---- Exchanges ----------------------------------------------------------------------------------------------------------------------

ONE = Exchange(Vcpu(500, 1000), Vcpu(400, 1000), (64, 256), shell=Vcpu(100, 500))


def test_both_ends_are_told_the_same_but_their_vcpus() -> None:
    common = f"exchange-answer=64,{exchange.SEED} exchange=64,256,7"
    own = f"exchange-vcpu=500,1000,{exchange.POLL_NS} exchange-pause=1000,1000"
    assert ONE.arguments(ONE.sender, 7) == f"exchange-shell=100,500 {own} {common}"
    own = f"exchange-vcpu=400,1000,{exchange.POLL_NS} exchange-pause=0,0"
    assert replace(ONE, shell=None).arguments(ONE.receiver, 7) == f"{own} {common}"


def test_ends_that_never_sleep_while_they_wait_begin_anywhere() -> None:
    one = replace(ONE, receiver=Vcpu(400, 3000), poll_ns=0)
    assert (one.pause(one.sender), one.pause(one.receiver)) == ("exchange-pause=6000,1000", "exchange-pause=0,3000")


def test_boot_arguments_fit() -> None:
    for one in (*channel.FIGURE_16.values(), *channel.TABLE_I, *channel.TABLE_II):
        assert max(len(one.arguments(vcpu, 100_000)) for vcpu in (one.sender, one.receiver)) <= 191
        assert all(late == exchange.GROWTH * early for early, late in zip(one.sizes, one.sizes[1:], strict=False))


def test_times_are_read_by_size() -> None:
    lines = [
        f"x: exchange {size}: {what} min 1 median 2 max {size} mean 2 of 7" for size in ONE.sizes for what in ("one way", "there and back")
    ]
    costs = [f"{end}: exchange costs: a page {copied} copied {used} used" for end, copied, used in (("near", 10, 7), ("far", 8, 9))]
    times, found = exchange.heard([*costs, *lines, "near: exchange done", "far: exchange done"], ONE.sizes)
    assert found == (10, 9)
    assert (times[256].one_way.n, times[256].one_way.unit, times[64].both.max) == (7, "ns", 64)
    with pytest.raises(BulkheadError, match="cannot measure: far: exchange: no shell"):
        exchange.heard([*lines, "far: exchange: no shell"], ONE.sizes)
    with pytest.raises(BulkheadError) as late:
        exchange.heard(lines, ONE.sizes)
    assert late.value.status == Status.TIME_LIMIT


def test_vcpus_are_named_as_the_papers_name_them() -> None:
    assert [str(one.receiver) for one in channel.TABLE_I] == ["2/10", "20/100", "20/130", "20/200", "20/230"]
    assert str(channel.TABLE_II[4].receiver) == "5/130"


def test_sizes_are_drawn_in_groups() -> None:
    rows = [Row.of(f"one way, {size:,}: {where}", "ns", [1]) for where in channel.FIGURE_16 for size in channel.SIZES]
    [panel], rest = grouped(Result("channel", "board", rows))
    assert (len(panel.sizes), list(panel.bars), rest.rows) == (len(channel.SIZES), ["high", "low"], [])


COSTS = exchange.Costs(copied=1000, used=500, switch=600)


def test_a_message_takes_its_calls_and_its_bytes_with_a_margin() -> None:
    assert (COSTS.sent(4096), COSTS.taken(4096), COSTS.sent(0)) == (600 + 1250, 600 + 625, 600)


def test_what_the_other_core_executes_is_predicted_too() -> None:
    """Time passes with instructions of both, and who has just begun may wait until the other's turn is over."""
    one = channel.TABLE_I[0]
    there, answered, back = exchange.stages_of(one, 4096, COSTS)
    assert (there.work, back.work) == (2 * 1850 + 50_000, 2 * 1225 + 50_000)
    assert answered.work == 2 * (1225 + 1850) + 5_000
    assert exchange.supply_of(one.receiver, COSTS).usable == 20_000 - 3 * 2 * 600


def test_a_bound_is_a_target() -> None:
    row, one = Row.of("a", "ns", [5, 9]), channel.TABLE_I[0]
    bound = exchange.predicted(one, 4096, COSTS)
    assert bound is not None
    for most, met in ((bound, True), (bound + 1, False)):
        found = channel.bounded(Row.of("a", "ns", [5, most]), one, COSTS)
        assert (found.met, found.reference) == (met, bound)
    assert channel.bounded(row, replace(one, poll_ns=10), COSTS) == row


def test_what_is_predicted_of_table_i() -> None:
    """By hand: of 200,000 in 1,000,000 ns 3,600 are lost. The sender has its own two stages to do, and polls away a budget while it waits for the other."""
    one, lost = channel.TABLE_I[1], 3 * 2 * 600
    needed = (2 * 1850 + 50_000) + (2 * 1225 + 50_000) + (200_000 + lost)
    assert exchange.predicted(one, 4096, COSTS) == 800_000 + lost + 1_000_000 + needed - (200_000 - lost)
    assert exchange.as_printed(one, 4096, COSTS) == 3 * 800_000 + 4 * 2 * 1000


def test_a_message_of_table_ii_goes_through_a_ring() -> None:
    stages = exchange.stages_of(channel.TABLE_II[0], channel.FOUR_MIB, COSTS)
    assert len(stages) == 2 * channel.FOUR_MIB // exchange.SLOT_BYTES // exchange.SLOTS
    assert stages[0].work == 2 * exchange.SLOTS * COSTS.sent(4096) + 50_000


def test_the_probe_knows_its_channels() -> None:
    every = CHANNELS + DOORBELLS
    assert len({one.name for one in every}) == len(every)
    assert all(one.slots == 0 for one in every if one.kind != "ring")
    source = (paths.ROOT / "tests/guests/probe/bells.c").read_text()
    assert all(f'"{one.name}"' in source for one in DOORBELLS)


def test_who_rings_is_granted_it() -> None:
    assert "doorbell" not in written("a", "b", CHANNELS)
    assert written("a", "b", CHANNELS + DOORBELLS).count("doorbell-max-hz = <10000 0>;") == len(DOORBELLS)


@pytest.mark.parametrize("arguments", [["sched", "--calibrate"], ["--trials", "5"], ["channel", "--calibrate", "--trials", "5"]])
def test_options_of_channels_go_with_nothing_else(arguments: list[str]) -> None:
    found = CliRunner().invoke(loaded("bench"), arguments)
    assert found.exit_code == Status.USAGE
    assert "--calibrate or --trials goes with channel" in found.output


def test_an_emulator_that_does_not_count_cannot_measure_them() -> None:
    assert {"channel", "calibration"} <= set(verb.COUNTING)
