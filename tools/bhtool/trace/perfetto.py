# SPDX-License-Identifier: Apache-2.0
"""Time lines as a trace for https://ui.perfetto.dev: protos/perfetto/trace/{trace_packet, clock_snapshot, track_event/*}.proto of Perfetto.

A sandbox is a track, each of its cores one below it, and each VCPU's budget a counter. Times are in a clock of the sandbox's own, of nanoseconds.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bhtool.trace.protobuf import Fixed, Value, message
from bhtool.trace.rings import Trace
from bhtool.trace.timeline import Mark, Point, Slice, Timeline

# Fields of TracePacket, TrackDescriptor and TrackEvent; of Trace and ClockSnapshot the first.
PACKET, CLOCKS = 1, 1
CLOCK_SNAPSHOT, TIMESTAMP, SEQUENCE, TRACK_EVENT, FLAGS, CLOCK, TRACK = 6, 8, 10, 11, 13, 58, 60
UUID, NAME, PARENT, COUNTER = 1, 2, 5, 8
TYPE, TRACK_UUID, EVENT_NAME, CATEGORY, COUNTER_VALUE, FLOW, LAST_OF_FLOW, ANNOTATION = 9, 11, 23, 22, 30, 47, 48, 4
BEGIN, END, INSTANT, COUNT = 1, 2, 3, 4  # TrackEvent.Type
UNIT, UNIT_COUNT, UNIT_NS = 3, 2, 1  # of CounterDescriptor
NOTE_NAME, NOTE_UINT, NOTE_BOOL = 10, 3, 2  # of DebugAnnotation
BOOTTIME, OWN_CLOCK = 6, 64  # clocks from 64 to 127 are a sequence's own
CLEARED = 1  # SEQ_INCREMENTAL_STATE_CLEARED: nothing before it is needed
FLOW_BITS = 48


@dataclass(frozen=True)
class Writer:
    """One sandbox: a sequence of packets with a clock and tracks of its own."""

    trace: Trace

    @property
    def _sequence(self) -> int:
        return self.trace.index + 1

    def _uuid(self, kind: int, number: int = 0) -> int:
        return self._sequence << 32 | kind << 24 | number

    def _packet(self, *fields: tuple[int, Value]) -> bytes:
        return message((PACKET, message(*fields, (SEQUENCE, self._sequence))))

    def _track(self, uuid: int, name: str, *more: tuple[int, Value]) -> bytes:
        return self._packet((TRACK, message((UUID, uuid), (NAME, name), *more)))

    def _event(self, at: int, kind: int, uuid: int, *more: tuple[int, Value]) -> bytes:
        event = message((TYPE, kind), (TRACK_UUID, uuid), *more)
        return self._packet((TIMESTAMP, at), (CLOCK, OWN_CLOCK), (TRACK_EVENT, event))

    def packets(self, lines: Iterable[Timeline]) -> Iterator[bytes]:
        clocks = [message((1, clock), (2, 0)) for clock in (OWN_CLOCK, BOOTTIME)]  # they begin together
        yield self._packet((CLOCK_SNAPSHOT, message(*((CLOCKS, clock) for clock in clocks))), (FLAGS, CLEARED))
        yield self._track(self._uuid(0), self.trace.sandbox)
        for line in lines:
            yield from self._core(line)

    def _core(self, line: Timeline) -> Iterator[bytes]:
        uuid = self._uuid(1, line.core)
        yield self._track(uuid, f"core {line.core}", (PARENT, self._uuid(0)))
        begun: set[int] = set()
        for at, one in line.steps:
            if isinstance(one, Mark):
                yield self._mark(uuid, one)
            elif id(one) in begun:
                yield self._event(at, END, uuid)
            else:
                begun.add(id(one))
                yield self._begin(uuid, one)
        for row, budget in line.budgets.items():
            yield from self._counter(self._uuid(2, row), f"budget of {self.trace.name(row)}", UNIT_NS, budget.points)
        for n, (reason, points) in enumerate(line.exits.items()):
            yield from self._counter(self._uuid(3, line.core << 8 | n), f"core {line.core}, exits: {reason}", UNIT_COUNT, points)

    def _begin(self, uuid: int, one: Slice) -> bytes:
        notes = (ANNOTATION, message((NOTE_NAME, "foreground"), (NOTE_BOOL, int(one.foreground))))
        more = (notes,) if one.kind == "vcpu" else ()
        return self._event(one.start, BEGIN, uuid, (EVENT_NAME, one.name), (CATEGORY, one.kind), *more)

    def _mark(self, uuid: int, mark: Mark) -> bytes:
        if mark.kind in ("send", "receive"):
            flow = Fixed(self._sequence << FLOW_BITS | mark.row & (1 << FLOW_BITS) - 1)
            return self._event(
                mark.at,
                INSTANT,
                uuid,
                (EVENT_NAME, mark.kind),
                (CATEGORY, "message"),
                (FLOW if mark.kind == "send" else LAST_OF_FLOW, flow),
            )
        told = [(name, value) for name, value in (("ns", mark.amount), ("at", mark.when)) if value]
        notes = [(ANNOTATION, message((NOTE_NAME, name), (NOTE_UINT, value))) for name, value in told]
        return self._event(mark.at, INSTANT, uuid, (EVENT_NAME, f"{self.trace.name(mark.row)}: {mark.kind}"), (CATEGORY, "budget"), *notes)

    def _counter(self, uuid: int, name: str, unit: int, points: Iterable[Point]) -> Iterator[bytes]:
        yield self._track(uuid, name, (PARENT, self._uuid(0)), (COUNTER, message((UNIT, unit))))
        for point in points:
            yield self._event(point.at, COUNT, uuid, (COUNTER_VALUE, point.value))


def perfetto(traces: Iterable[tuple[Trace, list[Timeline]]]) -> bytes:
    return b"".join(packet for trace, lines in traces for packet in Writer(trace).packets(lines))
