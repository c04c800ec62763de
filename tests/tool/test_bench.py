# SPDX-License-Identifier: Apache-2.0
"""`bulkhead bench`: what becomes of figures, whatever machine they come from."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from bhtool.bench import calls, dma, exits, io, kicks, linux, probe, timer, trace, traps
from bhtool.bench.grouped import grouped
from bhtool.bench.plot import panels
from bhtool.bench.result import Result, Row, comparison, table
from bhtool.cli import loaded
from bhtool.errors import BulkheadError, Status
from bhtool.image.payloads import Report
from bhtool.platforms import Platform, every, load
from bhtool.verbs import bench as verb
from click.testing import CliRunner
from rich.console import Console
from rich.table import Table

MONITOR, GUEST = (0x100000, 0x120000), (0x200000, 0x210000)


def row(figure: int, limit: int) -> Row:
    return Row.of("start", "instructions", [figure]).at_most(limit)


def test_a_row_knows_its_samples_and_its_target() -> None:
    found = Row.of("a", "instructions", [7, 1, 3, 5])
    assert (found.n, found.min, found.median, found.max, found.met) == (4, 1, 5, 7, None)
    assert found.at_most(7).met
    assert found.at_most(6).met is False
    assert found.same_as(Row.of("b", "instructions", [5, 1, 7])).met
    assert found.same_as(Row.of("b", "instructions", [5, 2, 7])).met is False


def test_json_rows_follow_the_contract() -> None:
    assert Row.of("a", "exits", [0]).as_dict() == {"name": "a", "unit": "exits", "n": 1, "min": 0, "median": 0, "max": 0}
    compared = Row.of("a", "exits", [0], reference=108).at_most(0).as_dict()
    assert (compared["reference"], compared["target"], compared["met"]) == (108, "at most 0", True)


ANSWERS = (
    "x: alive",
    "x: bench-timer busy min 1 median 1 max 2 ticks",
    "x: bench-timer wfi min 2 median 2 max 90 ticks",
)


def test_timer_figures_are_read_from_the_console() -> None:
    rows = timer.heard(ANSWERS, "sandbox")
    assert (rows["wfi"].name, rows["wfi"].n, rows["wfi"].max) == ("wfi, sandbox", 1000, 90)
    with pytest.raises(BulkheadError) as late:
        timer.heard(ANSWERS[:2], "sandbox")
    assert late.value.status == Status.TIME_LIMIT


def test_only_judged_modes_have_a_target() -> None:
    rows = timer.heard(ANSWERS, "sandbox")
    busy, wfi = timer.compare(rows, timer.heard(ANSWERS, "bare emulator"), judged=("busy",))
    assert (busy.met, busy.target) == (True, "as busy, bare emulator")
    assert (wfi.met, wfi.target, wfi.reference) == (None, "", 2)


def test_what_three_runs_agree_on_counts() -> None:
    first, other = timer.heard(ANSWERS, "sandbox"), timer.heard([ANSWERS[1], ANSWERS[2].replace("90", "2")], "sandbox")
    series, runs = iter([other, first, other, first, first]), probe.Runs()
    assert runs.agreed(lambda: next(series)) == first
    assert runs.odd == 2
    figures = iter(range(10))
    with pytest.raises(BulkheadError, match="no 3 of 7 runs"):
        runs.agreed(lambda: {"busy": Row.of("busy", "instructions", [next(figures)])})


def executed(core: int, address: int) -> bytes:
    return b"Trace %d: 0x7f0000 [00000000/%016x/00c0b0/ff022201] \n" % (core, address)


STOPPED = b"Stopped execution of TB chain before 0x7f0000 [0000000000100004]\n"


def test_instructions_are_counted_from_the_monitor_to_the_last_guest() -> None:
    log = [
        executed(0, 0xF0000) + executed(0, GUEST[0]),  # firmware, wherever it runs
        executed(0, MONITOR[0]) + executed(0, 0x100004) + STOPPED + executed(0, 0x100004),
        executed(1, 0x8000) + executed(1, GUEST[0]),
        executed(0, 0x100008) + executed(1, GUEST[0] + 4),
        executed(0, GUEST[0]) + executed(0, GUEST[0] + 4),
    ]
    assert trace.count(log, MONITOR, GUEST, {0, 1}) == trace.Counted(monitors=4, guests=2)
    assert trace.count(log, MONITOR, GUEST, {0, 1, 2}) is None


def test_a_kick_takes_what_its_victim_executes_meanwhile() -> None:
    at = kicks.Places(taking=MONITOR[0], resident=MONITOR, guest=GUEST, victim=1, kicker=2)
    take, kicker, victim = MONITOR[0], executed(2, GUEST[0]), executed(1, GUEST[0])
    exit_of_no_kick = executed(1, take)
    first = kicker + victim + executed(2, take) + victim + victim + STOPPED + executed(2, take) + executed(1, 0x100004) + executed(1, take)
    second = victim + kicker + executed(2, take) + executed(0, take) + executed(1, take)
    assert list(kicks.latencies([exit_of_no_kick, first, second], at)) == [2, 0]


def test_a_log_arrives_in_whole_lines(tmp_path: Path) -> None:
    fifo = tmp_path / "log"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(fifo, os.O_WRONLY)
    lines: Iterator[bytes] = trace.chunks(reader, 10.0)
    os.write(writer, b"one\ntw")
    assert next(lines) == b"one\n"
    os.write(writer, b"o\n")
    assert next(lines) == b"two\n"
    os.close(writer)
    assert list(lines) == []
    os.close(reader)


def test_a_silent_log_ends_with_its_time(tmp_path: Path) -> None:
    fifo = tmp_path / "log"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(fifo, os.O_WRONLY)
    assert list(trace.chunks(reader, 0.1)) == []
    os.close(writer)
    os.close(reader)


def test_a_call_has_what_it_calls_and_ends_in_its_caller() -> None:
    caller, close, send = 0x100000, 0x100100, 0x100200
    at = calls.Watch(1, MONITOR, (caller, close, send), {close: "smmu_close"})
    log = [
        executed(1, caller) + executed(0, close) + executed(1, close) + executed(1, send) + executed(1, send + 4),
        executed(1, close + 4) + STOPPED + executed(1, close + 4) + executed(1, caller + 4) + executed(1, send),
    ]
    assert list(calls.calls(log, at)) == [("smmu_close", 4)]


def test_parts_of_a_restart_are_compared_with_the_prototype() -> None:
    found = {"smmu_open": [153] * 5, "smmu_close": [147] * 5}
    assert dma.part_rows(found) == []
    rows = dma.part_rows(found | {"pci_reset": [91, 92, 154] * 5 + [91, 92]})  # the last restart has not ended
    assert [(row.median, row.reference, row.n) for row in rows] == [(153, 75, 5), (147, 75, 5), (337, None, 5)]


CASE = io.Case("UDP send", "send", {64: 10}, "10.9.0.9")


def io_rows(sandbox_ns: int, instructions: int, is_counted: bool = True) -> dict[tuple[str, str], Row]:
    found = {
        where: {("UDP send", 64): [io.Sample(6400, ns, cost, 0)] * 3}
        for where, ns, cost in (
            (io.ALONE, 100_000, 50_000),
            (io.SANDBOX, sandbox_ns, instructions),
            (io.NATIVES, sandbox_ns, 0),
        )
    }
    return {(row.name, row.unit): row for row in io.rows_of(CASE, 64, found, is_counted)}


def test_a_sandbox_has_95_per_cent_of_what_linux_has_alone() -> None:
    for ns, cost, met in ((105_000, 52_500, True), (106_000, 53_000, False)):
        rows = io_rows(ns, cost)
        speed, price = rows["UDP send, 64: sandbox", "kB/s"], rows["UDP send, 64: sandbox", "instructions"]
        assert (speed.met, speed.reference, price.met, price.reference) == (met, 64_000, met, 5_000)
        assert ("UDP send, 64: beside three natives", "instructions") not in rows


def test_speeds_in_the_time_of_the_host_are_not_given() -> None:
    assert {unit for _, unit in io_rows(100_000, 50_000, is_counted=False)} == {"instructions"}


def test_no_exit_is_allowed() -> None:
    found = {where: {("UDP send", 64): [io.Sample(1, 1, 1, exits)]} for where, exits in ((io.SANDBOX, 0), (io.NATIVES, 1))}
    assert [row.met for row in io.exit_rows(CASE, found)] == [True, False]


def test_alone_a_machine_has_one_core_and_no_iommu() -> None:
    for name in ("qemu-aarch64", "qemu-svm"):
        alone = linux.machine_alone(load(name), 256, 2)
        said = " ".join(alone.emulator.arguments)
        assert "-smp 1" in said
        assert not any(word in said for word in ("virtualization=on", "iommu"))
        assert (alone.ram_size, [one.name for one in alone.nics]) == (256 << 20, ["nic0", "nic1"])


def test_inevitable_exits_are_told_apart() -> None:
    total, *each = exits.by_reason("Linux", {"kick": 0, "identify": 600, "port": 3}, ("identify",), limit=2)
    assert (total.name, total.max, total.met) == ("Linux: avoidable", 3, False)
    assert [(one.name, one.max, one.met) for one in each] == [("Linux: identify", 600, None), ("Linux: port", 3, None)]


def test_a_second_opinion_has_no_target() -> None:
    for name, met in (("qemu-svm", False), ("bochs-svm", None)):
        total, *_ = exits.boot_rows(load(name), {"identify": 600, "port": 300})
        assert (total.max, total.met) == (300, met)
        assert [boot.judged for boot in traps.boots(load(name))] == [False, met is False, met is False]


FIVE = ("bochs-vtx", "qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm")


def shown(table: Table) -> str:
    screen = Console(width=80)
    with screen.capture() as text:
        screen.print(table)
    return text.get()


def test_five_machines_fit_beside_each_other() -> None:
    """Figures as large as they come, on a terminal of eighty columns."""
    pc = [
        Row.of("reset to last sandbox", "ns", [47_123_456]),
        Row.of("monitor entry to last sandbox", "instructions", [900_001]).at_most(900_000),
    ]
    arm = [Row.of(row.name, "instructions", [622_171]) for row in pc]
    text = shown(comparison([Result("boot", name, arm if "a" in name else pc) for name in FIVE]))
    assert re.search(r"^reset to last sandbox +47,123 us +622,171 +622,171 +622,171 +47,123 us *$", text, re.MULTILINE)
    assert re.search(r"^monitor entry to last sandbox +900,001 ", text, re.MULTILINE)
    assert "MISSED on qemu-svm: monitor entry to last sandbox, at most 900000" in text


def test_what_a_machine_has_not_is_left_out() -> None:
    idle = Row.of("native: idle", "exits", [11_975])
    text = shown(comparison([Result("exits", "one", [Row.of("native: avoidable", "exits", [0])]), Result("exits", "two", [idle])]))
    assert re.search(r"^native: idle +- +11,975 *$", text, re.MULTILINE)
    assert "every target met" in text


def test_rows_of_a_unit_share_a_panel() -> None:
    rows = [Row.of("a", "exits", [1]), Row.of("b", "processes", [2]), Row.of("c", "exits", [3])]
    assert [(title, len(rows)) for title, rows in panels([Result("exits", "board", rows)])] == [
        ("exits on board, exits", 2),
        ("exits on board, processes", 1),
    ]


def test_rows_of_sizes_share_a_panel_of_groups() -> None:
    rows = [Row.of(f"UDP send, {size}: {where}", "kB/s", [1]) for size in ("64", "8,192") for where in ("alone", "sandbox")]
    groups, rest = grouped(Result("io", "board", [*rows, Row.of("UDP send: sandbox", "exits", [0])]))
    assert [(one.title, one.sizes, list(one.bars)) for one in groups] == [
        ("UDP send on board, kB/s", ["64", "8,192"], ["alone", "sandbox"])
    ]
    assert [row.unit for row in rest.rows] == ["exits"]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines of which boot meets its target and timer does not; exits takes too long."""

    def measure(name: str, platform: Platform, _: Report) -> Result:
        if name == "exits":
            raise BulkheadError("too slow", Status.TIME_LIMIT)
        return Result(name, platform.name, [row(1, 1 if name == "boot" else 0)])

    monkeypatch.setattr(verb, "measure", measure)


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["boot"], Status.GOOD),
        (["timer"], Status.FAILED),
        (["exits"], Status.TIME_LIMIT),
        ([], Status.TIME_LIMIT),
        (["idle"], Status.USAGE),
    ],
)
def test_statuses(arguments: list[str], status: Status) -> None:
    done = CliRunner().invoke(loaded("bench"), arguments, standalone_mode=False)
    found = done.exception.exit_code if isinstance(done.exception, click.ClickException) else done.return_value
    assert found == status


@pytest.mark.usefixtures("measured")
def test_one_platform_is_an_object_and_several_are_a_list(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    CliRunner().invoke(loaded("bench"), ["boot", "--platform", "qemu-aarch64", "--json", str(file)], standalone_mode=False)
    one = json.loads(file.read_text())
    assert (one["schema"], one["bench"], one["platform"]) == ("bulkhead/bench-v1", "boot", "qemu-aarch64")
    assert one["rows"][0]["median"] == 1
    CliRunner().invoke(loaded("bench"), ["boot", "--json", str(file)], standalone_mode=False)
    assert [each["platform"] for each in json.loads(file.read_text())] == [one.name for one in every() if one.emulator.kind == "qemu"]


def test_what_bochs_cannot_count_is_refused_there() -> None:
    done = CliRunner().invoke(loaded("bench"), ["timer", "--platform", "bochs-vtx"], standalone_mode=False)
    assert done.return_value == Status.USAGE


@pytest.mark.parametrize("platform", ["qemu-aarch64", "bochs-vtx"])
def test_kicks_are_refused_with_their_own_reason(platform: str) -> None:
    done = CliRunner().invoke(loaded("bench"), ["kicks", "--platform", platform], standalone_mode=False)
    assert done.return_value == Status.USAGE
    assert "kicks are counted on qemu-svm alone" in " ".join(done.stderr.split())


def test_a_picture_of_no_known_kind_is_refused_at_once() -> None:
    done = CliRunner().invoke(loaded("bench"), ["timer", "--plot", "figures.doc"], standalone_mode=False)
    assert isinstance(done.exception, BulkheadError)
    assert done.exception.status == Status.USAGE
    assert str(done.exception) == "figures.doc cannot be drawn: its name must end in .svg, .png or .pdf"


def test_times_among_counts_are_in_microseconds() -> None:
    """Also the target and what it is compared with; a short one to a tenth."""
    rows = [
        Row("calls", "instructions", 2, 5, 5, 6, 7).at_most(8),
        Row("calls back", "instructions", 2, 5, 5, 6),
        Row("time", "ns", 2, 454, 1201, 1_949_999, 2_000_000).at_most(3_000_000),
    ]
    shown = table(Result("channel", "here", rows))
    columns = [list(column.cells) for column in shown.columns]
    assert columns[1] == ["5..6", "5..6", "0.5 us..1,949 us"]
    assert columns[2] == ["at most 8 met", "", "at most 3,000 us met"]
    assert columns[3] == ["7", "", "2,000 us"]
