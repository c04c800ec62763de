# SPDX-License-Identifier: Apache-2.0
"""The rings that a sandbox kernel leaves in its RAM (abi/trace.h). They are the sandbox's to write: every number read from one is bounded here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import cffi

from bhtool import abi
from bhtool.paths import ABI
from bhtool.text import visible

SYMBOL = "trace_state"
MOST_RECORDS = 1 << 25
MOST_HZ = 1 << 36
NS = 10**9
NAME_BYTES = 32  # of a name's text that are read; fewer where it lies at an end of memory

Read = Callable[[int, int], bytes | None]  # address, bytes. None: not its RAM


def _load() -> tuple[cffi.FFI, Any]:
    loaded = cffi.FFI()
    loaded.cdef(abi.declarations(ABI / "trace.h"))
    return loaded, loaded.dlopen(None)


ffi, lib = _load()
RECORD_BYTES = int(ffi.sizeof("struct bh_trace_record"))


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
    lost: int = 0  # overwritten, or no records


@dataclass(frozen=True)
class Trace:
    sandbox: str
    index: int
    hz: int
    vcpus: Mapping[int, Vcpu]  # by row
    texts: Mapping[int, str]  # of threads' names, by address
    rings: tuple[CoreRing, ...]

    def ns(self, ticks: int) -> int:
        return ticks * NS // self.hz

    def name(self, row: int) -> str:
        """Of a VCPU."""
        return self.vcpus[row].name if row in self.vcpus else f"number {row}"


def read_trace(read: Read, address: int, sandbox: str, index: int, cores: list[int]) -> Trace | None:
    """What the sandbox has at its `trace_state`. None: it has traced nothing, or in a form that is not known."""
    data = read(address, int(ffi.sizeof("struct bh_trace")))
    if data is None:
        return None
    found = ffi.from_buffer("struct bh_trace *", data)
    if found.magic != lib.BH_TRACE_MAGIC or found.version != lib.BH_TRACE_VERSION or not 0 < found.clock_hz < MOST_HZ:
        return None
    rows = [found.vcpu[row] for row in range(min(found.vcpu_count + 1, lib.BH_TRACE_VCPUS))]
    vcpus = {n: Vcpu(_text(read, int(row.name)), int(row.budget), int(row.period)) for n, row in enumerate(rows) if row.period}
    every = [_ring(read, found.core[slot], core) for slot, core in enumerate(cores[: lib.BH_MAX_SANDBOX_CORES])]
    rings = tuple(ring for ring in every if ring)
    places = {record.b for ring in rings for record in ring.records if record.kind == lib.BH_TRACE_THREAD}
    return Trace(sandbox, index, int(found.clock_hz), vcpus, {at: _text(read, at) for at in places}, rings)


def _text(read: Read, at: int) -> str:
    """Up to its NUL, in characters that no terminal acts on."""
    size = NAME_BYTES
    while size and (data := read(at, size)) is None:
        size -= 1
    return visible(data.split(b"\0", 1)[0].decode("utf-8", "replace")) if size and data else f"{at:#x}"


def _ring(read: Read, core: Any, number: int) -> CoreRing | None:
    """None: the core has none."""
    head, room = int(core.head), int(core.records)
    if not 1 < room <= MOST_RECORDS or room & (room - 1):
        return None
    data = read(int(core.ring), room * RECORD_BYTES)
    if data is None:
        return None
    rows = ffi.from_buffer("struct bh_trace_record[]", data)
    first = max(0, head - room + 1) if head > room else 0  # where it is full, the oldest may be half written
    records = _in_order([rows[n % room] for n in range(first, head)])
    return CoreRing(number, tuple(records), head - len(records))


def _in_order(rows: list[Any]) -> list[Record]:
    """Without what cannot be: time goes on, and kinds are those that there are."""
    found: list[Record] = []
    for row in rows:
        if lib.BH_TRACE_NONE < row.kind < lib.BH_TRACE_KINDS and (not found or row.clock >= found[-1].clock):
            found.append(Record(int(row.clock), int(row.kind), int(row.who), int(row.a), int(row.b)))
    return found
