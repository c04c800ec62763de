# SPDX-License-Identifier: Apache-2.0
"""Rules on the IOMMU: that it is the machine's, what it tells apart, and how functions interrupt that master the bus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from bhtool.config.dma import Doubt, dma_of, judge_dma, passes_iommu
from bhtool.config.domains import SEES_FAULTS, Domains, Sandbox
from bhtool.config.iommu import ALL, BITS, BY_NUMBER, CELLS, EVENTS, FUNCTION, MAP, ROW, Iommu, MapRow, map_rows
from bhtool.config.machine import Device, Machine
from bhtool.config.pci import hosts
from bhtool.config.pci_function import Function
from bhtool.config.plan import SandboxPlan
from bhtool.config.rule import Finding
from bhtool.config.span import PAGE, Span
from bhtool.config.tree import Node

LEAST_BITS = 32
ADDRESS_SPACE = Span(0, 1 << 39)  # as check_board's
BUS = 8  # bits of a function's number below its bus
BY_MESSAGES = ("msi-parent", "msi-map")


def _named(number: int, registers: int, function: int) -> str:
    text = f"{BY_NUMBER[number].title} at {registers:#x}" if number in BY_NUMBER else "no IOMMU"
    return f"{text}, function {function:#x}" if function else text


def as_the_header_says(domains: Domains) -> Iterator[Finding]:
    """Start-up goes by the header: it would refuse the table, or drive registers that are elsewhere."""
    machine, kept = domains.machine, domains.machine.private
    one = machine.iommu
    said = (one.kind.number, one.registers.start, one.function) if one else (0, 0, 0)
    if said != (kept.iommu or (0, 0, 0)):
        text = f"the board tree has {_named(*said)}, and {kept.board_name} by BOARD_IOMMU {_named(*(kept.iommu or (0, 0, 0)))}"
        host = next(iter(hosts(machine.root)), machine.root)
        yield Finding(one.node.location if one else host.location, text)


def described(domains: Domains) -> Iterator[Finding]:
    machine = domains.machine
    for one in machine.iommus:
        yield from _node(machine, one)
    for other in machine.iommus[1:]:
        yield Finding(other.node.location, f"{other.name} is a second IOMMU, and monitors drive one, {machine.iommus[0].name}")
    for host in hosts(machine.root):
        yield from _map(machine, host)


def _node(machine: Machine, one: Iommu) -> Iterator[Finding]:
    span, where = one.registers, one.node.location
    if not span.size or span.start % PAGE or span.size % PAGE or not ADDRESS_SPACE.holds(span) or any(map(span.overlaps, machine.ram)):
        yield Finding(where, f"the registers of {one.name} ({span}) are empty, misaligned, in RAM or out of reach")
    if one.node.number(CELLS, 0) != 1:
        yield Finding(where, f"{one.name} has not `{CELLS} = <1>`, by which a stream is one number")
    if one.kind.has_function != bool(one.function):
        what = "does not say which PCI function it is itself" if one.kind.has_function else "is no PCI function, and says that it is one"
        yield Finding(where, f"{one.name}, {one.kind.title}, {what} (`{FUNCTION}`)")
    if not LEAST_BITS <= one.address_bits <= one.kind.address_bits:
        text = f"{one.name} translates addresses of {one.address_bits} bits; {LEAST_BITS} to {one.kind.address_bits} are possible"
        yield Finding(one.node.where(BITS), text)
    for device in machine.devices:
        if device.function and one.function == device.function.id:
            yield Finding(device.location, f"{device.name} is the function of the IOMMU {one.name} itself")


def _map(machine: Machine, host: Node) -> Iterator[Finding]:
    """Rows that are whole, lead to an IOMMU, and give each function one stream."""
    cells, rows = host.properties[MAP].cells if MAP in host.properties else [], map_rows(host)
    where = host.where(MAP)
    if MAP in host.properties and (not rows or len(cells) % ROW):
        text = f"`{MAP}` of {host.label} has {len(cells)} cells; a row has {ROW}: first function, IOMMU, first stream, how many"
        yield Finding(where, text)
        return
    known = {one.node.phandle for one in machine.iommus}
    for row in rows:
        if row.phandle not in known:
            yield Finding(
                where, f"`{MAP}` of {host.label} leads functions from {row.first:#x} on to a node that is no IOMMU of this version"
            )
        if not row.count or row.first + row.count > ALL + 1 or row.stream + row.count > ALL + 1:
            yield Finding(
                where, f"`{MAP}` of {host.label} has a row of {row.count:#x} functions from {row.first:#x} on, which there cannot be"
            )
    for one, other in combinations(rows, 2):
        if _functions(one).overlaps(_functions(other)):
            text = f"`{MAP}` of {host.label} leads functions from {max(one.first, other.first):#x} on to two streams each"
            yield Finding(where, text)


def _functions(row: MapRow) -> Span:
    return Span(row.first, row.count)


def _masters(domains: Domains) -> Iterator[tuple[Sandbox, Device, Function]]:
    """What is granted and translated."""
    for sandbox in domains.sandboxes:
        for device in sandbox.devices:
            if device.function and dma_of([device]) == "translated":
                yield sandbox, device, device.function


def obeys(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        for device in sandbox.devices:
            if passes_iommu(device) and isinstance(judge_dma(device), Doubt):
                yield Finding(sandbox.where("access"), f"{device.name} of `{sandbox.name}` {passes_iommu(device)}")


def has_own_number(domains: Domains) -> Iterator[Finding]:
    for sandbox, device, function in _masters(domains):
        if function.stream and function.stream.number != function.id:
            text = f"{device.name} of `{sandbox.name}`, function {function.id:#x}, has stream {function.stream.number:#x}"
            yield Finding(sandbox.where("access"), text)


def streams_apart(domains: Domains) -> Iterator[Finding]:
    for sandbox, device, function in _masters(domains):
        for other in domains.machine.devices:
            how = other.function and other not in sandbox.devices and _shared(function, other.function)
            if how:
                owner = next((one for one in domains.sandboxes if other in one.devices), None)
                whose = f"belongs to `{owner.name}` ({owner.where('access')})" if owner else "belongs to nobody"
                text = f"{device.name} of `{sandbox.name}` {how} {other.name}, which {whose}"
                yield Finding(sandbox.where("access"), text)


def _shared(one: Function, other: Function) -> str:
    """Why an IOMMU may take one function for the other; empty: it does not."""
    if one.host is not other.host:
        return ""
    if one.stream and other.stream and one.stream.number == other.stream.number:
        return f"has stream {one.stream.number:#x} in common with"
    if one.id >> BUS == other.id >> BUS != _first_bus(one.host):
        return f"is on bus {one.id >> BUS}, behind one bridge, whose stream all may have that is behind it, with"
    return ""


def _first_bus(host: Node) -> int:
    return host.number("bus-range", 0)


def interrupts_by_lines(domains: Domains) -> Iterator[Finding]:
    """A GICv2m frame, or an ITS without a monitor's tables, takes every number from whoever reaches it."""
    if domains.machine.family.interrupts.has_vectors:
        return
    for sandbox, device, function in _masters(domains):
        for node in (device.node, function.host):
            for name in (one for one in BY_MESSAGES if one in node.properties):
                text = (
                    f"{device.name} of `{sandbox.name}` would interrupt by messages (`{name}` of {node.label}) to a frame that is nobody's"
                )
                yield Finding(sandbox.where("access"), text)


def messages_to_one_core(domains: Domains) -> Iterator[Finding]:
    """A remapping table goes by the vector alone, which Linux uses on several cores for several things."""
    for sandbox, device, _ in _masters(domains):
        if domains.machine.family.interrupts.has_vectors and len(sandbox.cores) > 1:
            text = f"{device.name} of `{sandbox.name}` interrupts by messages, and the sandbox has {len(sandbox.cores)} cores"
            yield Finding(sandbox.where("access"), text)


def records_faults(domains: Domains) -> Iterator[Finding]:
    """VT-d has registers for it, which are not to be shown: beside them are those that switch it off."""
    one = domains.machine.iommu
    for sandbox in domains.sandboxes:
        if sandbox.sees_dma_faults and (one is None or one.kind.number not in EVENTS):
            what = f"{one.name}, {one.kind.title}, keeps them in registers" if one else "the board has no IOMMU"
            yield Finding(sandbox.where(SEES_FAULTS), f"`{sandbox.name}` is to see DMA faults, and {what}")


def judge_reach(domains: Domains, plans: Sequence[SandboxPlan]) -> Iterator[Finding]:
    """Once everything has its place: whether functions reach all RAM of their sandbox, by its own addresses and by the machine's."""
    iommu = domains.machine.iommu
    for sandbox, one in zip(domains.sandboxes, plans, strict=True):
        if not iommu or not one.masters:
            continue
        end = max((side + ram.size for ram in one.ram for side in (ram.gpa, ram.hpa)), default=0)
        if end > 1 << iommu.address_bits:
            text = f"RAM of `{one.name}` ends at {end:#x}, and {iommu.name} translates addresses of {iommu.address_bits} bits"
            yield Finding(sandbox.where("memory-region"), text)
