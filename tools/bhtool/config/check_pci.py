# SPDX-License-Identifier: Apache-2.0
"""Rules on PCI functions: what a board tree must say of them, and which of them this version can give away."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from bhtool.config.dma import is_listed
from bhtool.config.domains import Domains
from bhtool.config.iommu import MAP
from bhtool.config.machine import Device, Machine
from bhtool.config.pci import FUNCTIONS_A_BUS, MSIX, MSIX_CELLS, bus_count, in_a_window, owned_messages
from bhtool.config.pci_function import BARS, Bar, Function
from bhtool.config.rule import Finding

SMALLEST = {True: 4, False: 16}  # of ports, of memory: PCI Local Bus 3.0, 6.2.5.1 "Address Maps"
LARGEST = 1 << 31
TABLE_ALIGNED, MOST_ENTRIES = 8, 2048  # PCI Local Bus 3.0, 6.8.2 "MSI-X Capability and Table Structures"
OWNED_ALIGNED = 16  # of a table of which a monitor owns words: it finds them by their addresses (hal/pci/messages.c)
OWNED_BELOW = 2 << 20  # of a base address of which a monitor owns pages: it is mapped by leaves of 4 KiB
# PCI Code and ID Assignment, 1 "Class Codes".
BY_DMA = {0x01: "storage", 0x02: "network", 0x04: "multimedia", 0x0C: "serial bus", 0x0D: "wireless"}
BRIDGE = 0x06


def _functions(domains: Domains) -> list[tuple[Device, Function]]:
    return [(device, device.function) for device in domains.machine.devices if device.function]


def described(domains: Domains) -> Iterator[Finding]:
    seen: dict[int, Device] = {}
    for device, function in _functions(domains):
        if function.id >= bus_count(function.host) * FUNCTIONS_A_BUS:
            yield Finding(device.location, f"{device.name} is on a bus that {function.host.label} does not have")
        if not function.identity:
            yield Finding(device.location, f'{device.name} has no `compatible` of the form "pciVVVV,DDDD"')
        if function.id in seen:
            yield Finding(device.location, f"{device.name} is the same function as {seen[function.id].name}")
        seen.setdefault(function.id, device)


def _text(bar: Bar) -> str:
    return f"base address {bar.register} ({bar.span})"


def addresses_possible(domains: Domains) -> Iterator[Finding]:
    for device, function in _functions(domains):
        taken: set[int] = set()
        for bar in function.bars:
            registers = bar.words().keys()
            if not all(0 <= one < BARS for one in registers) or taken & registers:
                yield Finding(device.location, f"{device.name} has no room for {_text(bar)}")
            elif bar.size & (bar.size - 1) or not SMALLEST[bar.is_ports] <= bar.size <= LARGEST or bar.start % bar.size:
                yield Finding(device.location, f"{_text(bar)} of {device.name} is no power of two, or not a multiple of its size")
            elif not in_a_window(function, bar):
                yield Finding(device.location, f"{_text(bar)} of {device.name} lies in no window of {function.host.label}")
            taken |= registers


def addresses_apart(domains: Domains) -> Iterator[Finding]:
    held = [(device, bar) for device, function in _functions(domains) for bar in function.bars]
    for (one, first), (other, second) in combinations(held, 2):
        if first.is_ports == second.is_ports and first.span.overlaps(second.span):
            yield Finding(other.location, f"{_text(second)} of {other.name} overlaps {_text(first)} of {one.name}")


def message_tables_possible(domains: Domains) -> Iterator[Finding]:
    """Start-up compares them with the function's own capability, and refuses."""
    iommu = domains.machine.iommu
    is_owned = bool(iommu and iommu.kind.by_address)
    for device, function in _functions(domains):
        if MSIX in device.node.properties and (wrong := _wrong_table(function, is_owned)):
            yield Finding(device.location, f"`{MSIX}` of {device.name} {wrong}")
    owned = [(device, pages) for device, _ in _functions(domains) if (pages := owned_messages(domains.machine, device)).size]
    for (one, first), (other, second) in combinations(owned, 2):
        if first.overlaps(second):
            yield Finding(
                other.location, f"`{MSIX}` of {other.name} shares a page with that of {one.name}, and the monitor owns whole pages"
            )


def _wrong_table(function: Function, is_owned: bool) -> str:
    """The end of a sentence; empty: nothing is wrong."""
    table = function.msix
    bar = function.bar(table.register) if table else None
    if not table:
        return f"has not {MSIX_CELLS} cells"
    if not bar or bar.is_ports:
        return f"names base address {table.register}, which the node does not have as memory"
    aligned = OWNED_ALIGNED if is_owned else TABLE_ALIGNED
    if table.offset % aligned:
        return f"begins at {table.offset:#x}, which is no multiple of {aligned}"
    if not 1 <= table.entries <= MOST_ENTRIES or table.offset + table.size > bar.size:
        return f"has {table.entries} entries at {table.offset:#x}, which {_text(bar)} does not hold"
    if is_owned and bar.size >= OWNED_BELOW:
        return f"lies in {_text(bar)}, of which a monitor can own pages only below {OWNED_BELOW >> 20} MiB"
    return ""


def never_given(device: Device) -> bool:
    """By its class, whatever the board tree says of its DMA: what works by DMA needs an IOMMU that sees it."""
    classes = device.function.classes if device.function else ()
    return any((one in BY_DMA and _works_unseen(device)) or one == BRIDGE for one in classes)


def _works_unseen(device: Device) -> bool:
    """An NE2000 is of a class that works by DMA, and does none. A partition file may ask for DMA that nothing sees."""
    return bool(device.function and not device.function.stream and not is_listed(device) and not device.dma_allowed)


def unseen(machine: Machine, function: Function | None) -> str:
    """That the machine has an IOMMU would not help: the end of a sentence."""
    is_unseen = machine.iommu and function and not function.stream
    return f", and no row of `{MAP}` of {function.host.label} leads it to the IOMMU" if function and is_unseen else ""


def can_be_given(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        for device in sandbox.devices:
            for one in device.function.classes if device.function else ():
                if one in BY_DMA and _works_unseen(device):
                    text = f"{device.name} of `{sandbox.name}` is a {BY_DMA[one]} function, which works by DMA"
                    yield Finding(sandbox.where("access"), text + unseen(domains.machine, device.function))
                if one == BRIDGE:
                    yield Finding(
                        sandbox.where("access"), f"{device.name} of `{sandbox.name}` is a bridge, which answers for what is behind it"
                    )
