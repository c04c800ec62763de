# SPDX-License-Identifier: Apache-2.0
"""What the configuration compiler hands to the rest of the tool: who gets what, where it lies, and what goes into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from bhtool.config.span import PAGE
from bhtool.text import visible


class Platform(Protocol):
    """What the compiler needs to know of a platform."""

    @property
    def board_name(self) -> str: ...  # whose table and image it takes
    @property
    def arch(self) -> str: ...  # "aarch64", "armv7", "x86_64"
    @property
    def backend(self) -> str: ...  # of a PC, whose image has several: "svm", "vmx"
    @property
    def board(self) -> Path: ...  # the machine's device tree
    @property
    def switch_ns(self) -> int: ...  # what a switch between VCPUs takes; 0: what guest.h says
    @property
    def top_half_ns(self) -> int: ...  # likewise a top half


@dataclass(frozen=True, order=True)
class Location:
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Diagnostic:
    file: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return visible(f"{self.file}:{self.line}: {self.rule}: {self.text}")


@dataclass(frozen=True)
class Segment:
    """Bytes that must be in machine memory when the monitor starts."""

    name: str
    hpa: int
    data: bytes = field(repr=False)


Dma = Literal["unknown", "free", "translated", "unprotected"]  # enum bh_dma


@dataclass(frozen=True)
class Region:
    """One mapping of a sandbox: [gpa, gpa+size) to [hpa, hpa+size)."""

    name: str
    kind: Literal[
        "ram", "device", "pool", "banked", "bar", "configuration", "faults", "channel", "open", "dma"
    ]  # open, dma: reached without a protection, nobody's own
    gpa: int
    hpa: int
    size: int
    permissions: str  # of "rwx"
    registers: bool = False  # device memory
    dma: Dma = "unknown"  # of a device


ChannelKind = Literal["mailbox", "ring", "latest"]


@dataclass(frozen=True)
class ChannelDelay:
    """Of a mailbox until its answer is read, of the other kinds until a message is: docs/channel-bounds.md."""

    deadline_us: int  # 0: not told
    service_us: int
    paper_ns: int | None
    bound_ns: int | None  # None: there is none, and
    why: tuple[str, ...]  # of which ends
    terms: tuple[str, ...] = ()  # of the bound


@dataclass(frozen=True)
class ChannelPlan:
    """Memory that two sandboxes share: the area of end 0, a page that monitors write, the area of end 1 (abi/channel.h)."""

    name: str
    kind: ChannelKind
    ends: tuple[int, int]  # sandboxes by index: from, to
    slots: int  # of end 0
    slot_bytes: int
    area_bytes: tuple[int, int]
    hpa: int
    delay: ChannelDelay
    gap_us: tuple[int, int] = (0, 0)  # of each end, between two rings of the other at least; 0: it does not ring
    rung_line: tuple[int, int] = (0, 0)  # by which that end is rung
    on_request: bool = False

    @property
    def readers(self) -> int:
        """Of a latest value, which has two slots for each and two more."""
        return self.slots // 2 - 1 if self.kind == "latest" else 1

    @property
    def page(self) -> int:
        """HPA of struct bh_channel."""
        return self.hpa + self.area_bytes[0]

    @property
    def size(self) -> int:
        return sum(self.area_bytes) + PAGE


@dataclass(frozen=True)
class Ports:
    name: str
    first: int
    count: int
    dma: Dma


@dataclass(frozen=True)
class Line:
    name: str
    line: int  # GIC INTID, IOAPIC pin
    core: int
    vector: int = 0
    level: bool = False
    active_low: bool = False
    masked: bool = False  # until its guest programs it
    rung: bool = False  # by the other end of a channel, and by no device


@dataclass(frozen=True)
class Function:
    """One PCI function: what its six base address registers read when they hold the granted addresses, and after all ones."""

    name: str
    id: int
    identity: int
    words: list[tuple[int, int]]
    dma: Dma
    table: int = 0  # where its table of MSI-X lies, as its capability says it
    messages: int = 0  # entries of that; 0: it has none, or the tree does not say
    line: bool = False  # it may interrupt by its line, INTx, which is granted


@dataclass(frozen=True)
class DmaFree:
    """Who says that a device reaches no memory by itself: a binding by its name, or "board tree"; and why."""

    source: str
    reason: str


@dataclass(frozen=True)
class Translated:
    """The IOMMU, by its label, that leads all that a function does to its sandbox's RAM; and how it knows the function."""

    source: str
    reason: str


@dataclass(frozen=True)
class Unprotected:
    """Nothing stands between a function and memory: "partition file", and the reason that it gives."""

    source: str
    reason: str


# Of a restart, monitor/restart.c: for each word, its share of the loop and of cache maintenance; then all that is there but once.
WORD_BYTES, ZERO_INSTRUCTIONS, COPY_INSTRUCTIONS, OTHER_INSTRUCTIONS = 8, 3, 10, 100_000


ReachKind = Literal["kick", "log", "notice", "channel"]


@dataclass(frozen=True)
class VcpuPlan:
    """A reservation of one core of its sandbox: a budget in each period, or for a device a share."""

    name: str
    kind: Literal["main", "io"]
    core: int  # of the sandbox's cores, counted from 0
    budget_us: int  # Main
    period_us: int  # I/O: the shortest of those it serves
    percent: int  # I/O
    program: str
    foreground_only: bool
    edf: bool
    serves: str  # I/O
    line: int | None  # of the device that it serves
    rate_hz: int  # of its interrupts; 0: not told


@dataclass(frozen=True)
class VcpuLoad:
    name: str
    kind: Literal["main", "io"]
    budget_us: int
    period_us: int
    utilization: float
    response_us: int | None  # from when it is ready until it has had its budget; None: not known, as by deadline


@dataclass(frozen=True)
class CoreLoad:
    """What the VCPUs of one core ask of it, the kernel's own included."""

    core: int  # machine core number
    scheduler: Literal["rate-monotonic", "edf"]
    asked: float  # of the core, with what counts more for the utilization bound
    allowed: float  # by that bound
    by_bound: bool  # it admits them; else the response times do
    exact: bool  # of the response times: none is counted too long
    vcpus: list[VcpuLoad]  # by rank


@dataclass
class SandboxPlan:
    name: str
    index: int
    os: Literal["native", "linux"]
    location: Location
    access_location: Location  # of `access`, or of the node where there is none
    cores: list[int]  # machine core numbers, boot core first
    hardware_ids: list[int]
    console: str  # "log", "none" or the role label of a UART
    image: str
    bootargs: str
    ram_gpa: int
    ram_hpa: int  # of its first stretch
    ram_size: int  # of all
    pool_hpa: int
    pool_size: int = 0  # what its monitor takes, to the frame;
    core_bytes: int = 0  # of that, what each core takes
    numa_of_cores: list[str] = field(default_factory=list)  # names of the nodes that have them; empty: the board names none
    numa_of_ram: list[str] = field(default_factory=list)
    trusted_idle: bool = False
    unprotected: list[str] = field(default_factory=list)  # protections it does without
    may_kick: list[int] = field(default_factory=list)
    log_access: list[int] = field(default_factory=list)
    notifies: list[int] = field(default_factory=list)  # when it is parked
    accepts_notify: list[int] = field(default_factory=list)
    sends_to: list[int] = field(default_factory=list)  # by a channel
    initrd: str = ""
    ready_line: str = ""
    rest: list[str] = field(default_factory=list)  # what `takes-the-rest` came to
    devices: dict[str, DmaFree | Translated | Unprotected] = field(default_factory=dict)  # granted, by name
    withheld: list[str] = field(default_factory=list)  # devices that `takes-the-rest` leaves to nobody
    regions: list[Region] = field(default_factory=list)
    for_functions: list[Region] = field(default_factory=list)  # what those that master the bus reach besides, without `dma` protection
    ports: list[Ports] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    configuration: list[Region] = field(default_factory=list)  # PCI buses as it sees them: mapped as `functions` say, no rows of the table
    entry: int = 0
    arg: int = 0
    stack: int = 0
    entry_area: int = 0
    clock_text: int = 0
    restarts: bool = False
    max_restarts: int = 0
    heartbeat_timeout_us: int = 0
    snapshot_hpa: int = 0
    pieces: list[tuple[int, int]] = field(default_factory=list)  # (address, bytes) of what a restart copies back
    vcpus: list[VcpuPlan] = field(default_factory=list)  # in the order in which the kernel makes them
    loads: list[CoreLoad] = field(default_factory=list)  # of its cores with VCPUs
    ram_table_bytes: int = 0  # stage-2 tables that only RAM needs, root included
    other_table_bytes: int = 0
    iommu_table_bytes: int = 0  # of its second root, and what else its monitor keeps of the IOMMU

    @property
    def ram(self) -> list[Region]:
        """Its RAM as the machine has it: one stretch, or several for who takes the rest; one after the other in its own addresses."""
        return [one for one in self.regions if one.kind == "ram"]

    @property
    def all_regions(self) -> list[Region]:
        """Rows of the table."""
        return [*self.regions, *self.for_functions]

    @property
    def masters(self) -> bool:
        """Whether functions of its own reach its RAM, through the IOMMU."""
        return any(one.dma == "translated" for one in self.functions)

    @property
    def reaches(self) -> list[tuple[int, ReachKind]]:
        """Whom it may reach, by index, and how: kick it, read its log, have it told by an interrupt that this one was parked, send to it by a channel."""
        reached: dict[ReachKind, list[int]] = {
            "kick": self.may_kick,
            "log": self.log_access,
            "notice": self.notifies,
            "channel": self.sends_to,
        }
        return [(other, kind) for kind, others in reached.items() for other in others]

    def owns(self, hpa: int) -> bool:
        return any(one.hpa <= hpa < one.hpa + one.size for one in self.ram)

    def in_machine(self, gpa: int, size: int) -> Iterator[tuple[int, int]]:
        """(HPA, bytes) of each part of a stretch of its RAM."""
        for one in self.ram:
            start, end = max(gpa, one.gpa), min(gpa + size, one.gpa + one.size)
            if start < end:
                yield one.hpa + start - one.gpa, end - start

    @property
    def snapshot_size(self) -> int:
        return sum(size for _, size in self.pieces)

    @property
    def restart_instructions(self) -> int:
        """A bound on what a restart takes once all cores have stopped, on every machine."""
        return self.ram_size // WORD_BYTES * ZERO_INSTRUCTIONS + self.snapshot_size // WORD_BYTES * COPY_INSTRUCTIONS + OTHER_INSTRUCTIONS


@dataclass(frozen=True)
class Holding:
    """A stretch of the machine and who has it: "" nobody, "monitor", or a sandbox's name."""

    kind: Literal["memory", "port"]
    start: int
    size: int
    what: str
    owner: str
    location: Location | None


@dataclass
class Plan:
    platform: str
    file: Path
    sandboxes: list[SandboxPlan] = field(default_factory=list)
    channels: list[ChannelPlan] = field(default_factory=list)  # in the order of the file
    ram: list[tuple[int, int]] = field(default_factory=list)  # (start, bytes) of what the machine has
    shared_hpa: int = 0
    iommu: int = 0  # enum bh_iommu
    iommu_compatible: str = ""
    iommu_registers: int = 0
    iommu_hpa: int = 0
    iommu_bytes: int = 0  # of its tables, once for the machine
    table: bytes = field(default=b"", repr=False)
    segments: list[Segment] = field(default_factory=list)
    holdings: list[Holding] = field(default_factory=list)
    errors: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)

    @property
    def valid(self) -> bool:
        return not self.errors
