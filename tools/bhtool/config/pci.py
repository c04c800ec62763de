# SPDX-License-Identifier: Apache-2.0
"""PCI functions of the board tree, as devices a sandbox can own: where they are on the bus, and where their registers lie.

The form is IEEE 1275's: `reg` and `assigned-addresses` by PCI Bus Binding 2.1, 2.2.1.1 "Numerical Representation"; the host as in
Linux's binding "pci-host-ecam-generic". Addresses are fixed: the monitor writes them, and lets nobody write others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bhtool.config.iommu import Iommu, streams_of
from bhtool.config.machine import Device, Machine, Wire, wires_from
from bhtool.config.pci_function import Bar, Function, MsiX
from bhtool.config.span import Span
from bhtool.config.tree import Node, joined

FUNCTIONS_A_BUS, PAGE_SHIFT = 256, 12
FIRST_BAR, IO, MEMORY_64 = 0x10, 1, 3  # register; ss of phys.hi
PREFETCHABLE = 1 << 30
NAMES = re.compile(r"pci([0-9a-f]+),([0-9a-f]+)")
CLASS = re.compile(r"pciclass,([0-9a-f]{2})[0-9a-f]{2,4}")
ADDRESS_CELLS, ROW_CELLS = 3, 5
MSIX, MSIX_CELLS = "bulkhead,msix", 3


def is_host(node: Node) -> bool:
    return node.text("device_type") == "pci"


def hosts(root: Node) -> list[Node]:
    return [node for node in root.walk() if is_host(node)]


def bus_count(host: Node) -> int:
    cells = host.properties["bus-range"].cells if "bus-range" in host.properties else []
    return cells[1] - cells[0] + 1 if len(cells) == 2 else 1


def configuration(host: Node) -> Span | None:
    """The configuration registers of its buses, if they are memory."""
    return Span(host.reg()[0][0], bus_count(host) * FUNCTIONS_A_BUS << PAGE_SHIFT) if host.reg() else None


def configuration_page(function: Function) -> Span | None:
    held = configuration(function.host)
    return Span(held.start + (function.id << PAGE_SHIFT), 1 << PAGE_SHIFT) if held else None


def with_functions(machine: Machine) -> Machine:
    """The machine, and after its other devices the functions on its buses."""
    for host in hosts(machine.root):
        machine.devices += [_device(machine, host, node) for node in host.children.values() if "reg" in node.properties]
    return machine


def _device(machine: Machine, host: Node, node: Node) -> Device:
    function = _function(host, node, machine.iommus)
    spaces = [(bar, _translated(host, bar)) for bar in function.bars]
    registers = tuple(Span(start, bar.size) for bar, start in spaces if start is not None)
    ports = tuple(bar.span for bar, start in spaces if start is None and bar.is_ports)
    return Device(node, node.label, registers, ports, tuple(_wires(machine, host, node)), function)


def _function(host: Node, node: Node, iommus: list[Iommu]) -> Function:
    names = [match for one in node.compatible if (match := NAMES.fullmatch(one))]
    identity = int(names[0][2], 16) << 16 | int(names[0][1], 16) if names else 0
    classes = tuple(int(match[1], 16) for one in node.compatible if (match := CLASS.fullmatch(one)))
    number = node.properties["reg"].cells[0] >> 8 & 0xFFFF
    return Function(number, identity, classes, tuple(_bars(node)), host, next(streams_of(host, number, iommus), None), _msix(node))


def _msix(node: Node) -> MsiX | None:
    cells = node.properties[MSIX].cells if MSIX in node.properties else []
    return MsiX(*cells) if len(cells) == MSIX_CELLS else None


def owned_messages(machine: Machine, device: Device) -> Span:
    """The pages that the monitor owns of a function that masters the bus: its guest reads them, and writes through the monitor."""
    function, iommu = device.function, machine.iommu
    return function.message_pages if function and function.stream and iommu and iommu.kind.by_address else Span(0, 0)


def _bars(node: Node) -> Iterator[Bar]:
    cells = node.properties["assigned-addresses"].cells if "assigned-addresses" in node.properties else []
    for at in range(0, len(cells) - ROW_CELLS + 1, ROW_CELLS):
        high, start, size = cells[at], joined(cells[at + 1 : at + 3]), joined(cells[at + 3 : at + 5])
        space = high >> 24 & 3
        yield Bar(((high & 0xFF) - FIRST_BAR) // 4, start, size, space == IO, space == MEMORY_64, bool(high & PREFETCHABLE))


def _translated(host: Node, bar: Bar) -> int | None:
    """Where the bus address is on the machine's side; None: in the processor's own port space, or nowhere."""
    cells = host.properties["ranges"].cells if "ranges" in host.properties else []
    step = ADDRESS_CELLS + 2 + 2
    for at in range(0, len(cells) - step + 1, step):
        window = Span(joined(cells[at + 1 : at + 3]), joined(cells[at + 5 : at + 7]))
        if (cells[at] >> 24 & 3 == IO) == bar.is_ports and window.holds(bar.span):
            return joined(cells[at + 3 : at + 5]) + bar.start - window.start
    return None


def in_a_window(function: Function, bar: Bar) -> bool:
    """Ports need no window where the processor has ports of its own."""
    return _translated(function.host, bar) is not None or (bar.is_ports and configuration_has_no_ports(function.host))


def configuration_has_no_ports(host: Node) -> bool:
    cells = host.properties["ranges"].cells if "ranges" in host.properties else []
    return all(cells[at] >> 24 & 3 != IO for at in range(0, len(cells), ADDRESS_CELLS + 4))


def _wires(machine: Machine, host: Node, node: Node) -> Iterator[Wire]:
    """Through the host's `interrupt-map`: Devicetree specification, 2.4.3 "Interrupt Nexus Properties"."""
    needed = {"interrupt-map", "interrupt-map-mask"} <= host.properties.keys()
    if "interrupts" not in node.properties or not needed:
        return
    mask, rows = host.properties["interrupt-map-mask"].cells, host.properties["interrupt-map"].cells
    width = machine.interrupt_controller.number("#interrupt-cells", 0)
    place = machine.interrupt_controller.number("#address-cells", 0)
    step = len(mask) + 1 + place + width
    for pin in node.properties["interrupts"].cells:
        unit = [one & bits for one, bits in zip([*node.properties["reg"].cells[:3], pin], mask, strict=False)]
        for at in range(0, len(rows) - step + 1, step):
            if [one & bits for one, bits in zip(rows[at : at + 4], mask, strict=False)] == unit:
                yield from wires_from(rows[at + 5 + place : at + step], machine.interrupt_controller)
