# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler, BH-F4.trace. What a core has decided and what the scheduler decides in a simulation that is told the same agree, event by event, to the tick.

Time is that of counted instructions, the other cores are halted. What is taken from the trace and what is compared: replay.py.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import Session
from bhtool.platforms import Platform
from bhtool.trace.rings import Record, Trace, lib
from bhtool.trace.tell import traced_at, traces_of, with_tracing

from tests.emulated import replay
from tests.emulated.scene import compile_file, platform_or_skip, scene_of, with_arguments

FILE = Path(__file__).parent / "trace.dts"
SECONDS, LIMIT, RING_BYTES = 0.25, 120.0, 4 << 20
TOLD = "heartbeat=0 vcpu=200,1000,loop vcpu=300,2000,hog vcpu=70,300,hog vcpu=500,5000,findprimes ticks=500"
LATENCY_NS = 32_000  # from the moment to the decision, with all records that are written meanwhile

pytestmark = [pytest.mark.slow]
PLATFORMS = [
    pytest.param(name, marks=[pytest.mark.platform(name), pytest.mark.xdist_group(f"trace-{name}")])
    for name in ("qemu-aarch64", "qemu-armv7", "qemu-svm")
]


def run(platform: Platform) -> Trace:
    plan = with_arguments(compile_file(platform, FILE), {"engine": TOLD})
    at = traced_at(platform, plan)
    scene = scene_of(platform, with_tracing(plan, at, RING_BYTES))
    with Session(platform, scene.plan, Machine(platform, scene.image, timing_for(platform, scene.plan, exact=True))) as session:
        engine = session.watches["engine"]
        for event in session.events(LIMIT):
            if event is None and engine.ready and session.guest_seconds() - engine.ready_at >= SECONDS:
                break
        session.machine.stop()
        (trace,) = traces_of(session.memory, scene.plan, at)
    return trace


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return replay.built(tmp_path_factory.mktemp("replay"))


@pytest.fixture(scope="module", params=PLATFORMS)
def trace(request: pytest.FixtureRequest) -> Trace:
    found = run(platform_or_skip(request.param))
    assert found.rings[0].lost == 0
    return found


def latency_of(trace: Trace) -> int:
    return LATENCY_NS * trace.hz // 10**9


def spoilt(trace: Trace, n: int, **change: int) -> Trace:
    records = list(trace.rings[0].records)
    records[n] = replace(records[n], **change)
    return replace(trace, rings=(replace(trace.rings[0], records=tuple(records)),))


def place(records: tuple[Record, ...], kind: int, after: int = 500) -> int:
    """Of a record of this kind; an exception one that the next decision charges for."""
    charges = (lib.BH_TRACE_REPLENISH, lib.BH_TRACE_CHARGED)
    rows = range(after, len(records) - 1)
    return next(n for n in rows if records[n].kind == kind and (kind != lib.BH_TRACE_EXCEPTED or records[n + 1].kind in charges))


def test_trace_and_simulation_agree(trace: Trace, program: Path) -> None:
    found = replay.agreement(program, trace, latency_of(trace))
    assert not found.wrong, "\n".join(found.wrong[:10])
    assert found.decisions > 1000
    assert found.due > 300


@pytest.mark.parametrize(
    ("kind", "field", "by"),
    [
        (lib.BH_TRACE_REPLENISH, "a", 1),
        (lib.BH_TRACE_REPLENISH, "b", 1),
        (lib.BH_TRACE_CHARGED, "a", -1),
        (lib.BH_TRACE_USED_UP, "a", 1),
        (lib.BH_TRACE_VCPU, "b", -1),
        (lib.BH_TRACE_READY, "a", 1),
        (lib.BH_TRACE_EXCEPTED, "a", 1),
    ],
)
def test_a_tick_more_is_noticed(trace: Trace, program: Path, kind: int, field: str, by: int) -> None:
    records = trace.rings[0].records
    n = place(records, kind)
    wrong = spoilt(trace, n, **{field: getattr(records[n], field) + by})
    assert replay.agreement(program, wrong, latency_of(trace)).wrong
