# SPDX-License-Identifier: Apache-2.0
"""BH-F4.trace. What a machine's sandbox kernels wrote into their rings: VCPUs keep to their budgets, and a crash leaves all that came before it."""

from itertools import pairwise
from pathlib import Path

import pytest
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import Session
from bhtool.platforms import Platform
from bhtool.trace.account import length, most_in, ran
from bhtool.trace.rings import Trace, lib
from bhtool.trace.tell import traced_at, traces_of, with_tracing
from bhtool.trace.timeline import Span, Timeline, timelines

from tests.emulated.scene import compile_file, platform_or_skip, scene_of, with_arguments

pytestmark = [pytest.mark.slow]
PLATFORMS = [
    pytest.param(name, marks=[pytest.mark.platform(name), pytest.mark.xdist_group(f"traces-{name}")])  # one worker runs its machines
    for name in ("qemu-aarch64", "qemu-armv7", "qemu-svm")
]
FILE = Path(__file__).parent / "trace.dts"
SECONDS, LIMIT, RING_BYTES = 0.5, 120.0, 1 << 20
# From the end of a budget to the decision of the interrupt that ends it, records included. What was used beyond comes off the next budget.
# An instruction is 16 ns; ARMv7 takes more of them for 64-bit times.
LATE_NS = {"qemu-aarch64": 10_000, "qemu-armv7": 11_000, "qemu-svm": 10_000}
MS = 1_000_000
TOLD = {
    "pressed": "heartbeat=0 vcpu=200,1000,loop vcpu=300,2000,hog vcpu=500,5000,findprimes",
    "alone": "heartbeat=0 vcpu=300,2000,hog",
    "crashes": "heartbeat=0 vcpu=300,2000,hog ticks=100 crash",
}

Lines = dict[str, tuple[Trace, Timeline]]


def run(platform: Platform, arguments: str) -> tuple[Trace, Timeline]:
    plan = with_arguments(compile_file(platform, FILE), {"engine": arguments})
    at = traced_at(platform, plan)
    scene = scene_of(platform, with_tracing(plan, at, RING_BYTES))
    with Session(platform, scene.plan, Machine(platform, scene.image, timing_for(platform, scene.plan, exact=True))) as session:
        engine = session.watches["engine"]
        for event in session.events(LIMIT):
            if event is None and (engine.state == "parked" or (engine.ready and session.guest_seconds() - engine.ready_at >= SECONDS)):
                break
        session.machine.stop()
        assert (session.watches["engine"].state == "parked") == ("crash" in arguments)
        (trace,) = traces_of(session.memory, scene.plan, at)
    return trace, timelines(trace)[0]


@pytest.fixture(scope="module", params=PLATFORMS)
def platform(request: pytest.FixtureRequest) -> Platform:
    return platform_or_skip(request.param)


@pytest.fixture(scope="module")
def late_ns(platform: Platform) -> int:
    return LATE_NS[platform.name]


@pytest.fixture(scope="module")
def lines(platform: Platform) -> Lines:
    return {name: run(platform, arguments) for name, arguments in TOLD.items()}


def above(trace: Trace, line: Timeline, row: int) -> list[Span]:
    """When VCPUs of higher rank ran, or interrupts that were not charged to it held it up: they shift what it has, too."""
    ranks = {other for other, one in trace.vcpus.items() if one.period < trace.vcpus[row].period}
    held_up = [span for one in line.slices("vcpu") if one.row == row and one.foreground for span in one.excepted]
    return held_up + [(one.start, one.end) for one in line.slices("vcpu") if one.row in ranks]


def charged(trace: Trace, line: Timeline, row: int) -> list[Span]:
    """When it ran, and the interrupts that it owes: those at which its budget came back, and its time-outs."""
    owed = (one for one in trace.rings[0].records if one.kind == lib.BH_TRACE_EXCEPTED and one.who == row)
    return ran(line, row) + [(trace.ns(one.clock - one.a), trace.ns(one.clock)) for one in owed]


def held_up_ns(line: Timeline, last: Span, left: int) -> int:
    """How long after the end of its budget, of which so much is left after the last piece, a VCPU was still being switched to: nothing interrupts that."""
    start, end = last
    spent = end + left
    begins = min((one.start for one in line.slices("thread") if start <= one.start < end), default=start)
    return max(0, begins - spent)


def test_no_vcpu_has_more_than_its_budget(lines: Lines, late_ns: int) -> None:
    """In any stretch of a period, where nothing of higher rank ran in it or in the period before."""
    judged = 0
    for trace, line in lines.values():
        for row, vcpu in trace.vcpus.items():
            period, budget, spans, others = trace.ns(vcpu.period), trace.ns(vcpu.budget), ran(line, row), above(trace, line, row)
            for _, last in spans:
                if any(start < last and end > last - 2 * period for start, end in others):
                    continue
                had = length((max(start, last - period), end) for start, end in spans if start < last and end > last - period)
                assert had <= budget + late_ns, (vcpu.name, last)
                judged += 1
    assert judged > 500


def test_no_vcpu_has_more_than_two_budgets(lines: Lines, late_ns: int) -> None:
    for trace, line in lines.values():
        for row, vcpu in trace.vcpus.items():
            assert most_in(ran(line, row), trace.ns(vcpu.period)) <= 2 * trace.ns(vcpu.budget) + late_ns


def test_who_is_always_ready_has_its_budget_in_each_period(lines: Lines, late_ns: int) -> None:
    for told, name in (("pressed", "hog"), ("pressed", "findprimes"), ("alone", "hog")):
        trace, line = lines[told]
        row, vcpu = next((row, one) for row, one in trace.vcpus.items() if one.name == name)
        spans, period, budget = charged(trace, line, row), trace.ns(vcpu.period), trace.ns(vcpu.budget)
        begin = next(one.at for one in line.marks if one.kind == "ready" and one.row == row)
        periods = (line.end - begin) // period
        assert periods > 50
        for n in range(1, periods + 1):
            pieces = [(start, min(end, begin + n * period)) for start, end in spans if start < begin + n * period]
            had = length(pieces)
            late = late_ns + held_up_ns(line, max(pieces), n * budget - had)
            assert n * budget - late_ns <= had <= n * budget + late, (told, name, n)


def test_a_trace_is_whole_and_nested(lines: Lines) -> None:
    trace, line = lines["pressed"]
    assert {one.name for one in trace.vcpus.values()} == {"main", "loop", "hog", "findprimes"}
    outer = line.slices("vcpu")
    assert all(first.end <= second.start for first, second in pairwise(outer))
    spans = iter(outer)
    around = next(spans)
    for inner in line.slices("thread"):
        while inner.start >= around.end:
            around = next(spans)
        assert around.start <= inner.start < inner.end <= around.end
        assert inner.name == around.name, "each VCPU has one thread, of its name"


def test_a_crash_leaves_what_came_before(lines: Lines) -> None:
    """A hundred ticks of 100 us had come, each an interrupt; the last one that ran is who crashed."""
    trace, line = lines["crashes"]
    assert trace.rings[0].lost == 0
    assert len(line.slices("interrupt")) >= 100
    assert all(first.end <= second.start for first, second in pairwise(line.slices("interrupt"))), "each has its end"
    assert 10 * MS <= line.end - line.start < 100 * MS
    assert line.slices("vcpu")[-1].name == "main"


def test_nobody_exits_who_traces(lines: Lines) -> None:
    for _, line in lines.values():
        assert {reason: len(points) for reason, points in line.exits.items()} == dict.fromkeys(line.exits, 1), "as many as at the start"
