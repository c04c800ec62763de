# SPDX-License-Identifier: Apache-2.0
"""The rings that a sandbox kernel leaves in its RAM (abi/trace.h). They are the sandbox's to write: every number read from one is bounded here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import cffi

from bhtool import abi
from bhtool.paths import ABI
from bhtool.text import visible

SYMBOL = "trace_state"
MOST_HZ = 1 << 36
MOST_PERIOD = 1 << 44  # ticks: SPORADIC_MOST_TICKS of kernel/sched/sporadic.h
MOST_NAMES = 1024  # of threads, that are read
NS = 10**9
ANYTHING = 1 << 32  # more than any `who`
NAME_BYTES = 32  # of a name's text that are read; fewer where it lies at an end of memory

Read = Callable[[int, int], bytes | None]  # address, bytes. None: not its RAM


def _load() -> tuple[cffi.FFI, Any]:
    loaded = cffi.FFI()
    loaded.cdef(abi.declarations(ABI / "trace.h"))
    return loaded, loaded.dlopen(None)


ffi, lib = _load()
RECORD_BYTES = int(ffi.sizeof("struct bh_trace_record"))

# By kind of record, less than how much its `who` is; of other kinds it may be anything.
ROWS = dict.fromkeys(
    (
        lib.BH_TRACE_VCPU,
        lib.BH_TRACE_CHARGED,
        lib.BH_TRACE_USED_UP,
        lib.BH_TRACE_REPLENISH,
        lib.BH_TRACE_READY,
        lib.BH_TRACE_SLEEP,
        lib.BH_TRACE_EXCEPTED,
        lib.BH_TRACE_CHANGED,
    ),
    lib.BH_TRACE_VCPUS,
) | {lib.BH_TRACE_EXITS: lib.BH_EXIT_SLOTS}


@dataclass(frozen=True)
class Record:
    clock: int
    kind: int
    who: int
    a: int = 0
    b: int = 0


@dataclass(frozen=True)
class Vcpu:
    name: str
    budget: int
    period: int


@dataclass(frozen=True)
class CoreRing:
    core: int  # of the machine
    records: tuple[Record, ...]  # the oldest first
    lost: int = 0  # overwritten, or nothing that a kernel writes


@dataclass(frozen=True)
class Trace:
    sandbox: str
    index: int
    hz: int
    vcpus: Mapping[int, Vcpu]  # by row
    texts: Mapping[int, str]  # of threads' names, by address: MOST_NAMES at most
    rings: tuple[CoreRing, ...]

    def ns(self, ticks: int) -> int:
        return ticks * NS // self.hz

    def name(self, row: int) -> str:
        """Of a VCPU."""
        return self.vcpus[row].name if row in self.vcpus else f"number {row}"

    def text(self, at: int) -> str:
        """Of a thread's name."""
        return self.texts.get(at, f"{at:#x}")


def header(read: Read, address: int) -> Any | None:
    """The structure there. None: it has nothing to tell, or in a form that is not known."""
    data = read(address, int(ffi.sizeof("struct bh_trace")))
    if data is None:
        return None
    found = ffi.from_buffer("struct bh_trace *", data)
    known = found.magic == lib.BH_TRACE_MAGIC and found.version == lib.BH_TRACE_VERSION and 0 < found.clock_hz < MOST_HZ
    return found if known else None


def read_trace(read: Read, address: int, sandbox: str, index: int, cores: list[int]) -> Trace | None:
    """What the sandbox has at its `trace_state`. None: there is nothing to tell, or in a form that is not known."""
    found = header(read, address)
    if found is None:
        return None
    most = lib.BH_TRACE_MOST_RECORDS // max(1, len(cores))
    every = [_ring(read, found.core[slot], core, most) for slot, core in enumerate(cores[: lib.BH_MAX_SANDBOX_CORES])]
    rings = tuple(ring for ring in every if ring)
    return Trace(sandbox, index, int(found.clock_hz), vcpus_of(read, found), _texts(read, rings), rings)


def vcpus_of(read: Read, found: Any) -> dict[int, Vcpu]:
    """Rows that a scheduler takes (kernel/sched/sched.c, sched_add_main), and whose period has a length in nanoseconds."""
    rows = {n: found.vcpu[n] for n in range(min(found.vcpu_count + 1, lib.BH_TRACE_VCPUS))}
    good = {n: row for n, row in rows.items() if 0 < row.budget <= row.period <= MOST_PERIOD and row.period * NS >= found.clock_hz}
    return {n: Vcpu(_text(read, int(row.name)), int(row.budget), int(row.period)) for n, row in good.items()}


def _texts(read: Read, rings: Iterable[CoreRing]) -> dict[int, str]:
    """Of threads' names, those that are met first."""
    places = dict.fromkeys(record.b for ring in rings for record in ring.records if record.kind == lib.BH_TRACE_THREAD)
    return {at: _text(read, at) for at in islice(places, MOST_NAMES)}


def _text(read: Read, at: int) -> str:
    """Up to its NUL, in characters that no terminal acts on."""
    size = NAME_BYTES if read(at, 1) is not None else 0
    while size and (data := read(at, size)) is None:
        size -= 1
    return visible(data.split(b"\0", 1)[0].decode("utf-8", "replace")) if size and data else f"{at:#x}"


def _ring(read: Read, core: Any, number: int, most: int) -> CoreRing | None:
    """Its latest records, so many at most: all cores together have no more than the largest ring. None: the core has none."""
    head, room = int(core.head), int(core.records)
    if not 1 < room <= lib.BH_TRACE_MOST_RECORDS or room & (room - 1):
        return None
    data = read(int(core.ring), room * RECORD_BYTES)
    if data is None:
        return None
    rows = ffi.from_buffer("struct bh_trace_record[]", data)
    first = max(0, head - room + 1, head - most) if head > room else max(0, head - most)  # where it is full, the oldest may be half written
    records = _in_order([rows[n % room] for n in range(first, head)])
    return CoreRing(number, tuple(records), head - len(records))


def _in_order(rows: list[Any]) -> list[Record]:
    """Without what cannot be: time goes on, kinds are those that there are, and so are rows."""
    found: list[Record] = []
    for row in rows:
        is_known = lib.BH_TRACE_NONE < row.kind < lib.BH_TRACE_KINDS and row.who < ROWS.get(row.kind, ANYTHING)
        if is_known and (not found or row.clock >= found[-1].clock):
            found.append(Record(int(row.clock), int(row.kind), int(row.who), int(row.a), int(row.b)))
    return found
