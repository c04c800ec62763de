# SPDX-License-Identifier: Apache-2.0
"""What an IOMMU is told of each stream, whatever its kind; smmu, amdvi and vtd read it. A stream is bus << 8 | device << 3 | function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bhtool.config.span import Span
from bhtool.oracle.snapshot import Snapshot
from bhtool.oracle.walk import Root

STREAMS = 1 << 16  # of one PCI segment
FIXED_TYPE = 0  # delivery mode of an interrupt that is a vector and nothing else


@dataclass(frozen=True)
class Opened:
    """A stream that does not abort."""

    root: Root | None  # None: what it says goes through as it is
    access: str = "rw"  # at most
    tag: int = 0  # of its translations


@dataclass(frozen=True)
class Message:
    """An interrupt that a remapping table lets a stream send."""

    stream: int
    index: int
    destination: int  # APIC ID
    vector: int


@dataclass
class Told:
    streams: dict[int, Opened] = field(default_factory=dict)  # all others abort
    tables: list[tuple[str, Span]] = field(default_factory=list)  # of the machine
    of_streams: list[tuple[int, Span]] = field(default_factory=list)  # tables that belong to whoever has the stream
    messages: list[Message] = field(default_factory=list)
    wrong: list[tuple[int | None, str]] = field(default_factory=list)  # of which stream; None: of all
    shown: list[Span] = field(default_factory=list)  # tables and queues that whoever opens and closes a stream needs


Registers = Mapping[int, int]  # by offset


@dataclass(frozen=True)
class IommuLook:
    """How one kind is looked at: who reads it; from which registers, (offset, bytes); who sends the I/O APIC's interrupts."""

    read: Callable[[Snapshot, Registers], Told]
    registers: tuple[tuple[int, int], ...]
    io_apic: int | None = None
