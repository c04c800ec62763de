# SPDX-License-Identifier: Apache-2.0
"""What a partition file allows, worked out anew from its tree: the compiler's regions and the monitor's table are not looked at.

Only the places are taken over from the plan, because nobody else can know them; `misplaced` judges them. Who needs a copy is the tree's to
say.
Invariants: BH-I1.memory, BH-I1.device, BH-I1.port, BH-I4.private.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bhtool.config.dma import dma_of
from bhtool.config.domains import Domains, Sandbox, find_domains, read_domains
from bhtool.config.machine import Machine, read_machine
from bhtool.config.pci import owned_messages, with_functions
from bhtool.config.plan import Plan
from bhtool.config.source import read_source
from bhtool.config.span import Span
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.platforms import Platform

PAGE = 0x1000
TABLES = "tables of the IOMMU"
UNPROTECTED = "unprotected"  # property of a sandbox: protections that are switched off

# docs/guest.md, "Memory map"; offsets in the window, and in the pool that the pages come from (abi/table.h draws it).
WINDOW_STATS, WINDOW_INFO, WINDOW_LOG, WINDOW_FOREIGN = 0x0, 0x1000, 0x4000, 0x10000
POOL_STATS, POOL_INFO, POOL_LOG, POOL_CRASH, POOL_ARENA, POOL_ABSENT = 0x0, 0x1000, 0x2000, 0x6000, 0x7000, 0x7000
WINDOW_FAULTS, FAULTS_AT = 0x8000, {"arm,smmu-v3": 0x5000, "bulkhead,amd-vi": 0x202000}  # the latter among the IOMMU's tables
LOG_BYTES = POOL_CRASH - POOL_LOG
WINDOW_CHANNELS, WINDOW_ON_REQUEST, LARGE_ON_REQUEST = 0x100000, 0xA00000, 0x3000000000
ALONE, LARGE_ALONE = 0x200000, 0x40000000  # the stretches of channels that are opened on request
# And what abi/channel.h draws: bytes of an area's control, and of a slot's head.
CHANNEL_CONTROL, SLOT_HEAD = 0x100, 0x40
NOWHERE = Span(0, 0)
GIC_V3_FRAME = 0x10000  # a redistributor has two
SMMU_PAGE_1 = 0x10000  # ARM IHI 0070, 6.1 "Memory map"


@dataclass(frozen=True)
class Grant:
    """Frames a sandbox must find at `gpa`, with exactly these permissions."""

    name: str
    gpa: int
    hpa: int
    size: int
    access: str  # of "rwx"
    memory: str  # "ram", "device"
    shared: bool = False  # by name: other sandboxes may reach the same frames
    opened: str = ""  # of what its sandbox opens and closes: all of this name is there, or nothing

    @property
    def span(self) -> Span:
        return Span(self.hpa, self.size)

    @property
    def end(self) -> int:
        """Of what the sandbox sees."""
        return self.gpa + self.size


@dataclass(frozen=True)
class Policy:
    """One sandbox."""

    sandbox: str
    cores: tuple[int, ...]
    pool: Span
    grants: tuple[Grant, ...]
    ports: frozenset[int]
    exempt: frozenset[str]  # switched off in the configuration, so not judged
    copy: Span | None = None  # snapshot, of a sandbox that restarts: its monitor's alone
    reach: tuple[Grant, ...] = ()  # what its monitor maps, one to one, outside of its own pool,
    kicks: tuple[str, ...] = ()  # besides the roots of these sandboxes (docs/shared-state.md)
    streams: tuple[int, ...] = ()  # of functions that reach its RAM by themselves
    apics: tuple[int, ...] = ()  # its cores, as interrupts name them
    has_lines: bool = False


@dataclass(frozen=True)
class Private:
    """Frames no sandbox may reach."""

    name: str
    span: Span


@dataclass(frozen=True)
class Translator:
    """The machine's IOMMU: what it is, and where its registers and its tables lie."""

    compatible: str
    registers: Span
    tables: Span


@dataclass(frozen=True)
class Shared:
    """Memory of a channel, and the two sandboxes that may reach it."""

    name: str
    span: Span
    ends: tuple[str, str]


@dataclass
class Partitioning:
    policies: list[Policy]
    private: list[Private]
    ram: list[Span] = field(default_factory=list)
    iommu: Translator | None = None
    channels: list[Shared] = field(default_factory=list)


@dataclass(frozen=True)
class Placed:
    """Where the plan has put everything; pools and RAM by index of their sandbox, boot snapshots by its name."""

    shared: int
    pools: tuple[Span, ...]
    ram: tuple[tuple[Span, ...], ...]  # as a sandbox finds them, one after the other
    copies: Mapping[str, Span]
    iommu: Span = NOWHERE  # its tables
    channels: tuple[int, ...] = ()  # in the order of the file


def places_of(plan: Plan) -> Placed:
    return Placed(
        shared=plan.shared_hpa,
        pools=tuple(Span(one.pool_hpa, one.pool_size) for one in plan.sandboxes),
        ram=tuple(tuple(Span(ram.hpa, ram.size) for ram in one.ram) for one in plan.sandboxes),
        copies={one.name: Span(one.snapshot_hpa, one.snapshot_size) for one in plan.sandboxes if one.snapshot_size},
        iommu=Span(plan.iommu_hpa, plan.iommu_bytes),
        channels=tuple(one.hpa for one in plan.channels),
    )


def read_partitioning(partition: Path, platform: Platform, placed: Placed) -> Partitioning:
    """The file must have passed the checker."""
    root = read_source(partition, platform.board).root
    node = find_domains(root)
    if node is None:
        raise BulkheadError(f"{partition} splits no machine")
    domains = read_domains(node, with_functions(read_machine(root, FAMILIES[platform.arch])))
    policies = [_policy(domains, placed, sandbox) for sandbox in domains.sandboxes]
    private = [*_private(domains, placed), *(Private(_copy_of(one), one.copy) for one in policies if one.copy)]
    channels = [Shared(one.name, one.span, one.ends) for one in _channels(domains, placed)]
    return Partitioning(policies, private, domains.machine.ram, _translator(domains.machine, placed), channels)


def _translator(machine: Machine, placed: Placed) -> Translator | None:
    """Nodes with a binding that the oracle knows; its registers are the first stretch of `reg`."""
    one = machine.iommu
    return Translator(one.compatible, one.registers, placed.iommu) if one else None


def exemptions(sandbox: Sandbox) -> frozenset[str]:
    """The protections a sandbox goes without."""
    found = sandbox.node.properties.get(UNPROTECTED)
    return frozenset(found.strings) if found else frozenset()


def _policy(domains: Domains, placed: Placed, sandbox: Sandbox) -> Policy:
    pool = placed.pools[sandbox.index]
    grants = [
        *_ram(domains.machine, placed, sandbox),
        *_window(domains, placed, sandbox),
        *_channel_grants(domains, placed, sandbox),
        *_registers(domains.machine, sandbox),
        *_configuration(sandbox, pool.start, exemptions(sandbox)),
    ]
    ports = {port for device in sandbox.devices for span in device.ports for port in range(span.start, span.end)}
    cores = tuple(core.number for core in sandbox.cores)
    copy = placed.copies.get(sandbox.name, NOWHERE if sandbox.restarts else None)
    reach = (*_reach(domains, placed, sandbox), *_kept(placed.ram[sandbox.index], copy))
    kicks = tuple(other.name for other in domains.sandboxes if other.node in sandbox.kick_nodes)
    streams = tuple(device.function.id for device in sandbox.devices if device.function and dma_of([device]) == "translated")
    apics, has_lines = tuple(core.hardware_id for core in sandbox.cores), any(device.wires for device in sandbox.devices)
    exempt = exemptions(sandbox)
    return Policy(sandbox.name, cores, pool, tuple(grants), frozenset(ports), exempt, copy, reach, kicks, streams, apics, has_lines)


def _reach(domains: Domains, placed: Placed, sandbox: Sandbox) -> Iterator[Grant]:
    """What a monitor on ARM needs of the machine. ARM IHI 0048, 4.1; ARM IHI 0069, 12.1: the frames of a GIC."""
    machine = domains.machine

    def whole(name: str, start: int, size: int, memory: str = "device") -> Grant:
        return Grant(name, start, start, size, "rw", memory)

    yield whole("kick mailboxes", placed.shared, PAGE, "ram")
    for channel in _channels(domains, placed):
        if sandbox.name in channel.ends:
            yield whole(f"page of channel {channel.name}", channel.page, PAGE, "ram")
            own = channel.span.start if sandbox.name == channel.ends[0] else channel.page + PAGE
            yield whole(f"control of channel {channel.name}", own, PAGE, "ram")
    if machine.family.interrupts.controller != "gic":
        return
    (distributor, _), (second, _) = machine.interrupt_controller.reg()[:2]
    if machine.gic_v3:
        yield whole("distributor", distributor, GIC_V3_FRAME)
        for core in sandbox.cores:
            yield whole(f"redistributor of core {core.number}", second + 2 * GIC_V3_FRAME * core.number, 2 * GIC_V3_FRAME)
    else:
        yield whole("distributor", distributor, PAGE)
        yield whole("CPU interface", second, PAGE)
    if machine.iommu and any(dma_of([device]) == "translated" for device in sandbox.devices):
        yield whole("registers of the IOMMU", machine.iommu.registers.start, PAGE)
        yield whole("registers of its queue of events", machine.iommu.registers.start + SMMU_PAGE_1, PAGE)
    for device in sandbox.devices:
        if device.function:
            start, _ = device.function.host.reg()[0]
            yield whole(f"configuration of {device.name}", start + device.function.id * PAGE, PAGE)


def _kept(ram: tuple[Span, ...], copy: Span | None) -> Iterator[Grant]:
    """Of a monitor that may restart its sandbox."""
    if copy and copy.size:
        yield from (Grant("RAM of its sandbox", one.start, one.start, one.size, "rw", "ram") for one in ram)
        yield Grant("boot snapshot", copy.start, copy.start, copy.size, "r", "ram")


def _ram(machine: Machine, placed: Placed, sandbox: Sandbox) -> Iterator[Grant]:
    """Without gaps from where RAM begins in every sandbox."""
    gpa = machine.guest_ram
    for span in placed.ram[sandbox.index]:
        yield Grant("RAM", gpa, span.start, span.size, "rwx", "ram")
        gpa += span.size


def _window(domains: Domains, placed: Placed, sandbox: Sandbox) -> Iterator[Grant]:
    """What a monitor shows its sandbox, and the logs it may read. Nothing there can be executed."""
    window, pool = domains.machine.window, placed.pools[sandbox.index].start
    read = {reader.name for reader in domains.sandboxes for node in reader.log_nodes if domains.sandbox_at(node) is sandbox}
    yield Grant("statistics", window + WINDOW_STATS, pool + POOL_STATS, PAGE, "r", "ram")
    yield Grant("information", window + WINDOW_INFO, pool + POOL_INFO, PAGE, "r", "ram")
    yield Grant("log", window + WINDOW_LOG, pool + POOL_LOG, LOG_BYTES, "rw", "ram", shared=bool(read))
    if sandbox.sees_dma_faults:
        queue = placed.iommu.start + FAULTS_AT[domains.machine.iommu.compatible if domains.machine.iommu else ""]
        yield Grant("DMA faults", window + WINDOW_FAULTS, queue, PAGE, "r", "ram", shared=True)
    for k, node in enumerate(sandbox.log_nodes):
        if other := domains.sandbox_at(node):
            gpa, hpa = window + (k + 1) * WINDOW_FOREIGN, placed.pools[other.index].start + POOL_LOG
            yield Grant(f"log of {other.name}", gpa, hpa, LOG_BYTES, "r", "ram", shared=True)


@dataclass(frozen=True)
class Channel:
    """As abi/channel.h draws it: area of end 0, page, area of end 1."""

    name: str
    ends: tuple[str, str]
    span: Span
    page: int
    on_request: bool


def _channels(domains: Domains, placed: Placed) -> Iterator[Channel]:
    nodes = (child for child in domains.node.children.values() if "bulkhead,channel-v1" in child.compatible)
    for node, start in zip(nodes, placed.channels, strict=True):
        kind, size = node.text("kind", "mailbox"), node.number("slot-bytes", 0x1000)
        counts = {"mailbox": (1, 1), "latest": (2 * node.number("readers", 1) + 2, 0), "ring": (node.number("slots", 8), 0)}[kind]
        first, second = (-(-(CHANNEL_CONTROL + count * (SLOT_HEAD + size)) // PAGE) * PAGE for count in counts)
        phandles = (node.number("from", 0), node.number("to", 0))
        names = [one.name for phandle in phandles for one in domains.sandboxes if one.node.phandle == phandle]
        yield Channel(node.name, (names[0], names[1]), Span(start, first + PAGE + second), start + first, "on-request" in node.properties)


def _channel_grants(domains: Domains, placed: Placed, sandbox: Sandbox) -> Iterator[Grant]:
    """Each in one piece, one behind the other, or in a stretch of ALONE or LARGE_ALONE: an end writes its own area, and reads the rest."""
    always, alone = domains.machine.window + WINDOW_CHANNELS, -(-(domains.machine.window + WINDOW_ON_REQUEST) // ALONE) * ALONE
    large = LARGE_ON_REQUEST
    for one in _channels(domains, placed):
        if sandbox.name not in one.ends:
            continue
        parts = (
            Span(one.span.start, one.page - one.span.start),
            Span(one.page, PAGE),
            Span(one.page + PAGE, one.span.end - one.page - PAGE),
        )
        own = parts[0] if sandbox.name == one.ends[0] else parts[2]
        is_large = one.span.size > ALONE
        gpa = (large if is_large else alone) if one.on_request else always
        for what, part in zip(("first area", "page", "second area"), parts, strict=True):
            seen, access = gpa + part.start - one.span.start, "rw" if part is own else "r"
            yield Grant(
                f"{what} of channel {one.name}",
                seen,
                part.start,
                part.size,
                access,
                "ram",
                shared=True,
                opened=one.name if one.on_request else "",
            )
        if not one.on_request:
            always += one.span.size
        elif is_large:
            large += LARGE_ALONE
        else:
            alone += ALONE


def _registers(machine: Machine, sandbox: Sandbox) -> Iterator[Grant]:
    """Whole pages, where the machine has them. A GICv2 gives every core its own CPU interface at one address."""
    pages = {page: device.name for device in sandbox.devices for page in _pages(device.registers)}
    owned = {page for device in sandbox.devices for page in _pages((owned_messages(machine, device),))}
    for page, name in sorted(pages.items()):
        yield Grant(name, page, page, PAGE, "r" if page in owned else "rw", "device")
    if machine.gic_v2:
        start, _ = machine.interrupt_controller.reg()[1]
        yield Grant("GICv2 CPU interface", start, start, PAGE, "rw", "device", shared=True)  # GICC_DIR, after it, names anybody's line


def _configuration(sandbox: Sandbox, pool: int, exempt: frozenset[str]) -> Iterator[Grant]:
    """PCI, to read: the pages of own functions, and a page of ones for all others. PCI Express Base 7.2.2 "ECAM"; IEEE 1275 PCI, 2.2.1."""
    own = {device.function.id: device.name for device in sandbox.devices if device.function}
    hosts = {device.function.host.path: device.function.host for device in sandbox.devices if device.function}
    for start, size in (span for host in hosts.values() for span in host.reg()[:1]):
        for number in range(size // PAGE):
            page = start + number * PAGE
            if "io" in exempt:
                yield Grant("configuration of PCI", page, page, PAGE, "rw", "device")
            elif number in own:
                yield Grant(f"configuration of {own[number]}", page, page, PAGE, "r", "device")
            else:
                yield Grant("configuration of nothing", page, pool + POOL_ABSENT, PAGE, "r", "ram", shared=True)


def _pages(spans: tuple[Span, ...]) -> set[int]:
    return {page for span in spans for page in range(span.start & -PAGE, span.end, PAGE)}


def _private(domains: Domains, placed: Placed) -> Iterator[Private]:
    yield from (Private("reserved by the board", span) for span in domains.machine.reserved)
    yield Private("kick mailboxes", Span(placed.shared, PAGE))
    if domains.machine.iommu:
        yield Private("registers of the IOMMU", domains.machine.iommu.registers)
        yield Private(TABLES, placed.iommu)
    for sandbox, pool in zip(domains.sandboxes, placed.pools, strict=True):
        yield Private(f"crash record of {sandbox.name}", Span(pool.start + POOL_CRASH, PAGE))
        start = POOL_ABSENT + PAGE if any(device.function for device in sandbox.devices) else POOL_ARENA
        yield Private(f"monitor of {sandbox.name}", Span(pool.start + start, pool.size - start))


def misplaced(partitioning: Partitioning) -> Iterator[str]:
    """What is wrong with the places themselves: two owners of a frame, or RAM the machine has not."""
    owned = [(f"{one.sandbox}: {grant.name}", grant) for one in partitioning.policies for grant in one.grants]
    yield from _clashes(owned)
    for name, grant in owned:
        yield from (f"{name} lies in what is {one.name}, {one.span}" for one in partitioning.private if one.span.overlaps(grant.span))
        if grant.memory == "ram" and not any(span.holds(grant.span) for span in partitioning.ram):
            yield f"{name} {grant.span} is not in the machine's RAM"
    for policy in partitioning.policies:
        yield from _misplaced_copy(partitioning, policy)
    yield from _misplaced_channels(partitioning)
    if partitioning.iommu:
        yield from _misplaced_tables(partitioning, partitioning.iommu.tables)


def _misplaced_tables(partitioning: Partitioning, tables: Span) -> Iterator[str]:
    """Grants are judged with all that is private; here the rest of what the IOMMU's tables could lie in."""
    if not any(span.holds(tables) for span in partitioning.ram):
        yield f"{TABLES} {tables} are not in the machine's RAM"
    pools = (Private(f"pool of {one.sandbox}", one.pool) for one in partitioning.policies)
    for other in (*partitioning.private, *pools):
        if other.name != TABLES and other.span.overlaps(tables):
            yield f"{TABLES} {tables} lie in what is {other.name}, {other.span}"


def _misplaced_channels(partitioning: Partitioning) -> Iterator[str]:
    """Grants that are shared may overlap: here is what those of a channel are nobody else's for."""
    for number, one in enumerate(partitioning.channels):
        pools = (Private(f"pool of {each.sandbox}", each.pool) for each in partitioning.policies)
        channels = (Private(f"channel {other.name}", other.span) for other in partitioning.channels[:number])
        for taken in (*pools, *channels):
            if taken.span.overlaps(one.span):
                yield f"channel {one.name} {one.span} lies in what is {taken.name}, {taken.span}"


def _clashes(owned: list[tuple[str, Grant]]) -> Iterator[str]:
    """Frames of two owners who do not share them. Thousands of pages may lead to one shared frame, which needs to be looked at once."""
    shared = {grant.span: (name, grant) for name, grant in reversed(owned) if grant.shared}
    rows = sorted((*shared.values(), *(row for row in owned if not row[1].shared)), key=lambda row: row[1].hpa)
    for n, (name, grant) in enumerate(rows):
        for k in range(n + 1, len(rows)):
            other_name, other = rows[k]
            if not grant.span.overlaps(other.span):
                break  # nor does any that starts later
            if not (grant.shared and other.shared):
                yield f"{name} {grant.span} and {other_name} {other.span} overlap"


def _copy_of(policy: Policy) -> str:
    return f"boot snapshot of {policy.sandbox}"


def _misplaced_copy(partitioning: Partitioning, policy: Policy) -> Iterator[str]:
    """Grants are judged with all that is private; here the rest of what a copy could lie in."""
    copy, name = policy.copy, _copy_of(policy)
    if copy is None:
        return
    if not copy.size:
        yield f"{policy.sandbox} restarts, and there is no {name}"
    elif not any(span.holds(copy) for span in partitioning.ram):
        yield f"{name} {copy} is not in the machine's RAM"
    pools = (Private(f"pool of {one.sandbox}", one.pool) for one in partitioning.policies)
    for other in (*partitioning.private, *pools):
        if other.name != name and other.span.overlaps(copy):
            yield f"{name} {copy} lies in what is {other.name}, {other.span}"
