# SPDX-License-Identifier: Apache-2.0
"""BH-F4.trace. Rings of a sandbox kernel are read whatever they hold, and the file for Perfetto says what they said: it is parsed back here."""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from bhtool.errors import BulkheadError, Status
from bhtool.trace.account import most_in, share_of
from bhtool.trace.perfetto import perfetto
from bhtool.trace.plot import require_format, window_of
from bhtool.trace.plot import rows_of as plotted
from bhtool.trace.protobuf import Fixed, message, varint
from bhtool.trace.rings import Trace, ffi, lib, read_trace
from bhtool.trace.tell import arguments_of
from bhtool.trace.timeline import Timeline, timelines

from tests.tool.conftest import sandbox

STATE, RING, ROOM = 0x1000, 0x8000, 64
HZ = 62_500_000  # 16 ns
MAIN, LOOP, THREAD_AT, IDLE_AT = 1, 2, 0x70000, 0x71000
TEXTS = {0x100: b"main", 0x200: b"loop", 0x300: b"idle", 0x400: b"thread"}
VCPU, THREAD, CHARGED, USED_UP, REPLENISH, EXCEPTED = (
    getattr(lib, f"BH_TRACE_{name}") for name in ("VCPU", "THREAD", "CHARGED", "USED_UP", "REPLENISH", "EXCEPTED")
)
IRQ_BEGIN, IRQ_END, EXITS, SEND, RECEIVE = (
    getattr(lib, f"BH_TRACE_{name}") for name in ("IRQ_BEGIN", "IRQ_END", "EXITS", "MSG_SEND", "MSG_RECEIVE")
)
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


def memory(rows: list[Row], head: int | None = None, room: int = ROOM, **claims: int) -> dict[int, bytes]:
    state = ffi.new("struct bh_trace *")
    state.magic, state.version, state.clock_hz = lib.BH_TRACE_MAGIC, lib.BH_TRACE_VERSION, HZ
    state.vcpu_count = 2
    for row, at, budget, period in ((MAIN, 0x100, 2000, 10000), (LOOP, 0x200, 200, 1000)):
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
def test_what_is_no_trace_is_none(claims: dict[str, int]) -> None:
    assert read(memory(ROWS, **claims)) is None
    assert read({}) is None


@pytest.mark.parametrize("room", [0, 1, 3, 2**40, 2**63])
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


def test_a_picture_begins_where_all_run() -> None:
    trace, line = traced()
    rows = plotted(trace, line)
    assert [row.vcpu.name for row in rows] == ["loop", "main"]
    window = window_of(rows, None, None)
    assert (window.start, window.end) == (2030 * 16, 2030 * 16 + 4 * 16000)
    assert window_of(rows, 1, 2).end - window_of(rows, 1, 2).start == 2_000_000
    with pytest.raises(BulkheadError):
        require_format(Path("x.gif"))
