# SPDX-License-Identifier: Apache-2.0
"""BH-F4.trace. Rings of a sandbox kernel are read whatever they hold, and the file for Perfetto says what they said: it is parsed back here."""

import json
import random
import re
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.trace.account import account, most_in, share_of
from bhtool.trace.perfetto import perfetto
from bhtool.trace.plot import draw_core, windows_of
from bhtool.trace.plot import rows_of as plotted
from bhtool.trace.protobuf import Fixed, message, varint
from bhtool.trace.rings import MOST_NAMES, MOST_PERIOD, Trace, ffi, lib, read_trace
from bhtool.trace.tell import arguments_of
from bhtool.trace.timeline import MOST_NESTED, MOST_WAITING, Slice, Timeline, timelines

from tests.tool.conftest import sandbox

STATE, RING, ROOM = 0x1000, 0x8000, 64
HZ = 62_500_000  # 16 ns
MAIN, LOOP, THREAD_AT, IDLE_AT = 1, 2, 0x70000, 0x71000
TEXTS = {0x100: b"main", 0x200: b"loop", 0x300: b"idle", 0x400: b"thread"}
VCPU, THREAD, CHARGED, USED_UP, REPLENISH, EXCEPTED = (
    getattr(lib, f"BH_TRACE_{name}") for name in ("VCPU", "THREAD", "CHARGED", "USED_UP", "REPLENISH", "EXCEPTED")
)
IRQ_BEGIN, IRQ_END, EXITS, SEND, RECEIVE, READY, SLEEP = (
    getattr(lib, f"BH_TRACE_{name}") for name in ("IRQ_BEGIN", "IRQ_END", "EXITS", "MSG_SEND", "MSG_RECEIVE", "READY", "SLEEP")
)
VCPUS = {MAIN: (0x100, 2000, 10000), LOOP: (0x200, 200, 1000)}  # name's address, budget, period
Row = tuple[int, int, int, int, int]  # clock, kind, who, a, b
ROWS: list[Row] = [
    (1000, IRQ_END, 7, 0, 0),  # began before
    (1010, VCPU, LOOP, 200, 1),
    (1010, THREAD, 0, THREAD_AT, 0x400),
    (1050, IRQ_BEGIN, 27, 0, 0),
    (1060, IRQ_END, 27, 0, 0),
    (1060, EXITS, 6, 3, 0),
    (1062, EXCEPTED, MAIN, 14, 0),
    (1100, SEND, 0, 5, 0),
    (1210, REPLENISH, LOOP, 200, 2010),
    (1210, USED_UP, LOOP, 2010, 0),
    (1210, VCPU, LOOP, 0, 0),  # goes on without budget
    (1300, VCPU, 0, 0, 0),
    (1301, THREAD, 0, IDLE_AT, 0x300),
    (2010, VCPU, LOOP, 200, 1),
    (2011, THREAD, 0, THREAD_AT, 0x400),
    (2020, RECEIVE, 0, 5, 0),
    (2030, REPLENISH, LOOP, 20, 3010),
    (2030, CHARGED, LOOP, 180, 0),
    (2030, VCPU, MAIN, 9, 0),
    (3020, VCPU, 0, 0, 0),
    (3020, CHARGED, LOOP, 200, 0),
]


def memory(
    rows: list[Row], head: int | None = None, room: int = ROOM, vcpus: Mapping[int, tuple[int, int, int]] = VCPUS, **claims: Any
) -> dict[int, bytes]:
    state = ffi.new("struct bh_trace *")
    state.magic, state.version, state.clock_hz = lib.BH_TRACE_MAGIC, lib.BH_TRACE_VERSION, HZ
    state.vcpu_count = len(vcpus)
    for row, (at, budget, period) in vcpus.items():
        state.vcpu[row].name, state.vcpu[row].budget, state.vcpu[row].period = at, budget, period
    state.core[0].ring, state.core[0].records = RING, room
    state.core[0].head = len(rows) if head is None else head
    for name, value in claims.items():
        setattr(state, name, value)
    data = b"".join(struct.pack("<QQQII", clock, a, b, who, kind) for clock, kind, who, a, b in rows)
    texts = {at: text + b"\0" for at, text in TEXTS.items()}  # with nothing behind them
    return {STATE: bytes(ffi.buffer(state)), RING: data.ljust(room * 32, b"\0"), **texts}


def read(held: dict[int, bytes]) -> Trace | None:
    return read_trace(lambda at, size: held[at][:size] if at in held and len(held[at]) >= size else None, STATE, "engine", 0, [5])


def traced(rows: list[Row] = ROWS) -> tuple[Trace, Timeline]:
    trace = read(memory(rows))
    assert trace
    return trace, timelines(trace)[0]


def test_slices_lie_in_each_other() -> None:
    trace, line = traced()
    spans = [(one.kind, one.name, one.start // 16, one.end // 16, one.foreground) for one in line.all]
    assert spans == [
        ("vcpu", "loop", 1010, 1210, True),
        ("thread", "thread", 1010, 1210, False),
        ("interrupt", "interrupt 27", 1050, 1060, False),
        ("vcpu", "loop", 1210, 1300, False),
        ("thread", "thread", 1210, 1300, False),
        ("vcpu", "loop", 2010, 2030, True),
        ("thread", "thread", 2011, 2030, False),
        ("vcpu", "main", 2030, 3020, False),
    ]
    assert (trace.rings[0].core, line.core, trace.rings[0].lost) == (5, 5, 0)


def test_budgets_come_back_when_they_were_to() -> None:
    _, line = traced()
    points = [(point.at // 16, point.value // 16) for point in line.budgets[LOOP].points]
    assert points == [(1010, 200), (1210, 0), (2010, 200), (2030, 180), (3010, 200)]


def test_a_share_is_what_ran() -> None:
    share = share_of(*traced(), LOOP)
    assert (share.foreground, share.background, share.used_up) == (206 * 16, 90 * 16, 1)
    assert (share.budget, share.period, share.most_in_a_period) == (200 * 16, 1000 * 16, 186 * 16)
    assert share_of(*traced(), MAIN).interrupts == 14 * 16


def test_the_most_in_a_stretch_is_found_wherever_it_lies() -> None:
    assert most_in([], 10) == 0
    assert most_in([(0, 2), (9, 12), (20, 22)], 10) == 3
    assert most_in([(0, 2), (9, 12), (20, 22)], 12) == 5
    assert most_in([(0, 100)], 10) == 10
    assert most_in([(0, 2), (2, 5)], 0) == 0
    generator = random.Random(1)
    for _ in range(200):
        cuts = sorted(generator.sample(range(60), 8))
        spans = list(zip(cuts[::2], cuts[1::2], strict=True))
        ran = {tick for start, end in spans for tick in range(start, end)}
        length = generator.randint(1, 30)
        assert most_in(spans, length) == max(len(ran & set(range(at, at + length))) for at in range(-30, 60))


# ---- Rings ---------------------------------------------------------------------------------------------------------


def test_a_full_ring_has_the_latest() -> None:
    written = [(clock, VCPU, clock % 5, 0, 0) for clock in range(100)]
    ring = [written[64 + n] if 64 + n < 100 else written[n] for n in range(64)]  # record n lies at n % 64
    trace = read(memory(ring, head=100))
    assert trace
    assert [one.clock for one in trace.rings[0].records] == list(range(37, 100)), "the oldest may be half written"
    assert trace.rings[0].lost == 37


def test_one_that_is_just_full_has_all() -> None:
    trace = read(memory([(clock, VCPU, 1, 0, 0) for clock in range(64)]))
    assert trace
    assert (len(trace.rings[0].records), trace.rings[0].lost) == (64, 0)


@pytest.mark.parametrize("claims", [{"magic": 0}, {"version": 99}, {"clock_hz": 0}, {"clock_hz": 2**63}])
def test_what_is_no_trace_is_none(claims: dict[str, Any]) -> None:
    assert read(memory(ROWS, **claims)) is None
    assert read({}) is None


@pytest.mark.parametrize("room", [0, 1, 3, 2 * lib.BH_TRACE_MOST_RECORDS, 2**40, 2**63])
def test_a_ring_of_an_impossible_size_is_none(room: int) -> None:
    held = memory(ROWS)
    state = ffi.new("struct bh_trace *")
    ffi.memmove(state, held[STATE], len(held[STATE]))
    state.core[0].records = room
    trace = read(held | {STATE: bytes(ffi.buffer(state))})
    assert trace
    assert not trace.rings


def test_whatever_lies_in_a_ring_is_read() -> None:
    generator = random.Random(2)
    for _ in range(300):
        rows = [
            (generator.choice([generator.randrange(100), 2**64 - 1]), generator.randrange(20), generator.randrange(6), 2**64 - 1, 1)
            for _ in range(ROOM)
        ]
        trace = read(memory(rows, head=generator.choice([0, 5, ROOM, 2**64 - 1])))
        assert trace
        lines = timelines(trace)
        clocks = [one.clock for one in trace.rings[0].records]
        assert clocks == sorted(clocks)
        assert all(one.start <= one.end for one in lines[0].all)
        perfetto([(trace, lines)])


@pytest.mark.parametrize(
    ("budget", "period"), [(1, 1), (0, 1000), (1001, 1000), (1, MOST_PERIOD + 1), (1, 2**64 - 1), (2**64 - 1, 2**64 - 1)]
)
def test_a_vcpu_that_no_scheduler_takes_has_no_row(budget: int, period: int) -> None:
    """The first has a period of less than a nanosecond."""
    trace = read(memory(ROWS, vcpus=VCPUS | {LOOP: (0x200, budget, period)}, clock_hz=2**35))
    assert trace
    assert list(trace.vcpus) == [MAIN]
    (line,) = timelines(trace)
    assert {one["name"] for one in account(trace, [line])["cores"][0]["vcpus"]} == {"main"}
    assert {one.name for one in line.slices("vcpu")} == {"main", "number 2"}
    assert [row.vcpu.name for row in plotted(trace, line)] == ["main"]


def test_the_longest_period_is_taken() -> None:
    trace = read(memory(ROWS, vcpus=VCPUS | {LOOP: (0x200, MOST_PERIOD, MOST_PERIOD)}))
    assert trace
    assert trace.vcpus[LOOP].period == MOST_PERIOD


def test_bounds_are_those_of_the_scheduler() -> None:
    header = (paths.ROOT / "kernel/sched/sporadic.h").read_text()
    found = re.search(r"SPORADIC_MOST_ENTRIES = (\d+) }", header), re.search(r"SPORADIC_MOST_TICKS \(1ULL << (\d+)\)", header)
    assert [int(one[1]) for one in found if one] == [MOST_WAITING, MOST_PERIOD.bit_length() - 1]


@pytest.mark.parametrize("kind", [VCPU, CHARGED, USED_UP, REPLENISH, READY, SLEEP, EXCEPTED, EXITS])
def test_a_record_of_a_row_that_cannot_be_is_lost(kind: int) -> None:
    most = lib.BH_EXIT_SLOTS if kind == EXITS else lib.BH_TRACE_VCPUS
    trace = read(memory([(1, kind, most - 1, 0, 0), (2, kind, most, 0, 0), (3, kind, 2**32 - 1, 0, 0)]))
    assert trace
    assert ([one.who for one in trace.rings[0].records], trace.rings[0].lost) == ([most - 1], 2)


def test_replenishments_of_a_full_list_come_as_one() -> None:
    """What is told then takes the place of what would have come last: the kernel merges them (kernel/sched/sporadic.h)."""
    waiting = [(1001 + n, REPLENISH, LOOP, 1, 3000 + 10 * n) for n in range(MOST_WAITING)]
    rows = [
        (1000, CHARGED, LOOP, 0, 0),
        *waiting,
        (1900, REPLENISH, LOOP, 2, 4000),
        (1901, REPLENISH, LOOP, 9, 5),
        (5000, SLEEP, LOOP, 0, 0),
    ]
    _, line = traced(rows)
    points = [(point.at // 16, point.value // 16) for point in line.budgets[LOOP].points]
    assert points == [(1000, 0), *((3000 + 10 * n, n + 1) for n in range(MOST_WAITING - 1)), (4000, MOST_WAITING + 1)]


def test_a_replenishment_that_has_come_or_is_known_takes_no_place() -> None:
    waiting = [(1001 + n, REPLENISH, LOOP, 1, 3000 + 10 * n) for n in range(MOST_WAITING)]
    rows = [
        (1000, CHARGED, LOOP, 0, 0),
        *waiting,
        (3005, REPLENISH, LOOP, 1, 4000),
        (3006, REPLENISH, LOOP, 2, 3010),
        (5000, SLEEP, LOOP, 0, 0),
    ]
    _, line = traced(rows)
    points = [(point.at // 16, point.value // 16) for point in line.budgets[LOOP].points]
    assert points[:3] == [(1000, 0), (3000, 1), (3010, 3)]
    assert points[-2:] == [(3000 + 10 * (MOST_WAITING - 1), MOST_WAITING + 1), (4000, MOST_WAITING + 2)]


def test_interrupts_are_nested_as_deep_as_they_can_be() -> None:
    begun = [(1000 + n, IRQ_BEGIN, n, 0, 0) for n in range(MOST_NESTED + 3)]
    trace, line = traced(
        [*begun, *((2000 + n, IRQ_END, 0, 0, 0) for n in range(MOST_NESTED)), (3000, IRQ_BEGIN, 99, 0, 0), (3001, IRQ_END, 99, 0, 0)]
    )
    assert [one.row for one in line.slices("interrupt")] == [*range(MOST_NESTED), 99]
    (core,) = account(trace, [line])["cores"]
    assert (core["records"], core["lost"]) == (2 * MOST_NESTED + 2, 3)


def test_threads_have_names_as_many_as_are_read() -> None:
    """The others have their names' addresses."""
    rows = [
        (0, VCPU, LOOP, 200, 1),
        *((1 + n, THREAD, 0, n, 0x10000 + n) for n in range(MOST_NAMES)),
        (9998, THREAD, 0, 1, 0x400),
        (9999, SLEEP, LOOP, 0, 0),
    ]
    held = memory(rows, room=2 * MOST_NAMES)
    trace = read(held | {0x10000 + n: b"known\0" for n in range(MOST_NAMES)})
    assert trace
    threads = [one.name for one in timelines(trace)[0].slices("thread")]
    assert threads == ["known"] * MOST_NAMES + ["0x400"]


# ---- Rings that are made to take long -------------------------------------------------------------------------------

FAR, EVERY = 2**40, range(1, lib.BH_TRACE_VCPUS)
Form = Callable[[int], tuple[Row, Row]]  # from a number to two records
FORMS: dict[str, Form] = {
    "interrupts begin": lambda n: ((n, IRQ_BEGIN, n, 0, 0), (n, EXCEPTED, 0, 0, 0)),
    "interrupts begin, threads run": lambda n: ((n, IRQ_BEGIN, n, 0, 0), (n, THREAD, 0, n, n)),
    "interrupts end, too": lambda n: ((n, IRQ_BEGIN, n, 0, 0), (n + 1, IRQ_END, n, 0, 0)),
    "budgets are to come": lambda n: ((n, REPLENISH, LOOP, n, FAR + n), (n, CHARGED, LOOP, n, 0)),
    "budgets are to come, the latest first": lambda n: ((n, REPLENISH, LOOP, n, FAR - n), (n, USED_UP, LOOP, n, 0)),
    "budgets have come": lambda n: ((n, REPLENISH, LOOP, n, n // 2), (n, CHARGED, LOOP, n, 0)),
    "budgets": lambda n: ((n, CHARGED, n, n, 0), (n, REPLENISH, n, n, n + 1)),
    "VCPUs": lambda n: ((n, VCPU, EVERY[n % len(EVERY)], 0, 1), (n + 1, USED_UP, EVERY[n % len(EVERY)], 0, 0)),
    "one VCPU": lambda n: ((n, VCPU, LOOP, 0, n % 2), (n + 1, EXCEPTED, n, 1, 0)),
    "threads": lambda n: ((n, VCPU, LOOP, 0, n % 2), (n + 1, THREAD, 0, n, n)),
    "exits and messages": lambda n: ((n, EXITS, n, n, 0), (n, SEND, 0, n, 0)),
}


def hostile(form: Form, count: int) -> dict[int, bytes]:
    rows = [row for n in range(count // 2) for row in form(n)]
    return memory(rows, room=count, vcpus={row: (0x200, 200, 1000 + row) for row in EVERY})


def account_for(held: dict[int, bytes]) -> None:
    """Makes all that is made of it, but for the picture's file."""
    trace = read(held)
    assert trace
    lines = timelines(trace)
    account(trace, lines)
    perfetto([(trace, lines)])
    if rows := plotted(trace, lines[0]):
        draw_core(axes(), rows, windows_of(rows, None, None)["engine"])


def axes(**more: Any) -> SimpleNamespace:
    names = ("set_title", "plot", "set_yticks", "set_ylim", "set_xlim", "broken_barh")
    return SimpleNamespace(**dict.fromkeys(names, lambda *_, **__: None) | more)


def operations(work: Callable[[], object]) -> int:
    """How many of Python's own it takes."""
    count = 0

    def step(frame: Any, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def test_all_cores_together_are_read_no_further_than_the_largest_ring() -> None:
    cores = list(range(lib.BH_MAX_SANDBOX_CORES))
    most = lib.BH_TRACE_MOST_RECORDS // len(cores)
    room = 2 * most
    held = memory([(clock, VCPU, 1, 0, 0) for clock in range(room)], room=room)
    trace = read_trace(lambda at, size: held[at][:size] if at in held and len(held[at]) >= size else None, STATE, "engine", 0, cores)
    assert trace
    assert [one.clock for one in trace.rings[0].records] == list(range(most, room)), "the latest"
    assert trace.rings[0].lost == most


@pytest.mark.parametrize("form", FORMS)
def test_eight_times_as_many_records_take_eight_times_as_long(form: str) -> None:
    few, many = (operations(partial(account_for, hostile(FORMS[form], 1 << bits))) for bits in (8, 11))
    assert many < 10 * few
    assert many < 5000 << 11, "nor so many for each VCPU"


@pytest.mark.parametrize("form", FORMS)
def test_what_waits_for_later_records_is_bounded(form: str) -> None:
    held, reads = hostile(FORMS[form], 1 << 16), 0

    def count(at: int, size: int) -> bytes | None:
        nonlocal reads
        reads += 1
        return held[at][:size] if at in held and len(held[at]) >= size else None

    trace = read_trace(count, STATE, "engine", 0, [5])
    assert trace
    assert reads < 10 * (MOST_NAMES + lib.BH_TRACE_VCPUS)
    assert len(trace.rings[0].records) + trace.rings[0].lost == 1 << 16
    (line,) = timelines(trace)
    assert len(line.budgets) <= lib.BH_TRACE_VCPUS
    assert all(len(budget.coming) <= MOST_WAITING for budget in line.budgets.values())
    assert len(line.exits) <= lib.BH_EXIT_SLOTS
    assert deepest(line) <= MOST_NESTED + 2, "a VCPU, a thread and interrupts"


def deepest(line: Timeline) -> int:
    """How many slices lie in each other."""
    opened: set[int] = set()
    most = 0
    for _, one in line.steps:
        if isinstance(one, Slice):
            opened ^= {id(one)}
            most = max(most, len(opened))
    return most


# ---- The file: read by what shares nothing with the writer ----------------------------------------------------------


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Of one message, by the encoding's own rules."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 0x80:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
            continue
        size = 8 if key & 7 == 1 else number()
        assert key & 7 in (1, 2)
        assert at + size <= len(data)
        yield key >> 3, data[at : at + size]
        at += size


def one(data: bytes) -> dict[int, int | bytes]:
    return dict(fields(data))


def inner(value: int | bytes) -> dict[int, int | bytes]:
    assert isinstance(value, bytes)
    return one(value)


def parsed(data: bytes) -> list[dict[int, int | bytes]]:
    found = list(fields(data))
    assert {key for key, _ in found} == {1}
    return [inner(value) for _, value in found]


def test_varints_are_those_of_the_encoding() -> None:
    """The examples of protobuf.dev, "Base 128 Varints" and "Signed Integers"."""
    assert (varint(1), varint(150), varint(-2)) == (b"\x01", b"\x96\x01", b"\xfe" + b"\xff" * 8 + b"\x01")
    assert message((1, 150), (2, "testing"), (3, message((1, 150)))) == b"\x08\x96\x01\x12\x07testing\x1a\x03\x08\x96\x01"
    assert message((47, Fixed(1))) == b"\xf9\x02\x01" + bytes(7)


def test_the_clock_is_the_sandboxs_own() -> None:
    trace, line = traced()
    packets = parsed(perfetto([(trace, [line])]))
    clocks = [inner(value) for key, value in fields(packets[0][6]) if key == 1]  # type: ignore[arg-type]
    assert {clock[1]: clock[2] for clock in clocks} == {64: 0, 6: 0}
    assert {packet[10] for packet in packets} == {1}, "one sequence, for the clock is the sequence's"
    events = [packet for packet in packets if 11 in packet]
    assert {packet[58] for packet in events} == {64}
    assert min(int(packet[8]) for packet in events) == 1010 * 16


def test_tracks_are_a_sandbox_its_cores_and_counters() -> None:
    trace, line = traced()
    tracks = [inner(packet[60]) for packet in parsed(perfetto([(trace, [line])])) if 60 in packet]
    by_name = {track[2]: track for track in tracks}
    assert list(by_name) == [b"engine", b"core 5", b"budget of loop", b"core 5, exits: call"]
    assert len({track[1] for track in tracks}) == len(tracks)
    assert all(track[5] == by_name[b"engine"][1] for track in tracks if track[2] != b"engine")
    assert inner(by_name[b"budget of loop"][8]) == {3: 1}, "nanoseconds"


def test_events_are_in_order_and_nested() -> None:
    trace, line = traced()
    packets = parsed(perfetto([(trace, [line])]))
    core = next(track[1] for packet in packets if 60 in packet and (track := inner(packet[60]))[2] == b"core 5")
    events = [(int(packet[8]), event) for packet in packets if 11 in packet and (event := inner(packet[11]))[11] == core]
    assert [at for at, _ in events] == sorted(at for at, _ in events)
    told, depth = [], 0
    for at, event in events:
        depth -= event[9] == 2
        told.append((at // 16, depth, event.get(23, b"")))
        depth += event[9] == 1
    assert depth == 0
    assert told[:6] == [
        (1010, 0, b"loop"),
        (1010, 1, b"thread"),
        (1050, 2, b"interrupt 27"),
        (1060, 2, b""),
        (1100, 2, b"send"),
        (1210, 2, b"loop: replenishment"),
    ]
    flows = {event[23]: event.get(47) or event.get(48) for _, event in events if event.get(23) in (b"send", b"receive")}
    assert flows[b"send"]
    assert flows[b"send"] == flows[b"receive"]
    counted = [
        (int(packet[8]) // 16, int(event[30]) // 16)
        for packet in packets
        if 11 in packet and 30 in (event := inner(packet[11])) and event[9] == 4
    ]
    assert (1210, 0) in counted
    assert (2010, 200) in counted


def test_two_sandboxes_share_nothing() -> None:
    trace, line = traced()
    other = Trace("other", 1, trace.hz, trace.vcpus, trace.texts, trace.rings)
    packets = parsed(perfetto([(trace, [line]), (other, [line])]))
    tracks = [inner(packet[60])[1] for packet in packets if 60 in packet]
    assert len(set(tracks)) == len(tracks)
    assert {packet[10] for packet in packets} == {1, 2}


# ---- The verb ------------------------------------------------------------------------------------------------------


def test_a_sandbox_is_told_unless_its_file_tells_it() -> None:
    one = sandbox("engine", 0)
    one.bootargs = "ticks=3"
    assert arguments_of(one, 4096) == "trace=4096 ticks=3"
    one.bootargs = "ticks=3 trace=on"
    assert arguments_of(one, 4096) == "ticks=3 trace=on"
    one.bootargs = "x" * 185
    with pytest.raises(BulkheadError) as refused:
        arguments_of(one, 4096)
    assert refused.value.status == Status.USAGE


def test_each_key_of_the_json_file_is_explained() -> None:
    """docs/tracing.md has a row for each, in their order."""
    trace, line = traced()
    whole = account(trace, [line])
    core = whole["cores"][0]
    keys = [key for part in (whole, core, core["vcpus"][0]) for key in part]
    text = (paths.ROOT / "docs/tracing.md").read_text().split("## The figures", 1)[1].split("\n## ", 1)[0]
    assert [key for row in re.findall(r"(?m)^\| ([^|]+) \|", text) for key in re.findall(r"`(\w+)`", row)] == [
        "platform",
        "sandboxes",
        *keys,
    ]
    assert json.dumps(whole)
