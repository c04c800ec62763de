# SPDX-License-Identifier: Apache-2.0
"""The machine as its board tree describes it: cores, RAM, interrupt controller, and devices a sandbox can own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bhtool.abi import lib
from bhtool.config.iommu import Iommu, is_iommu, read_iommus
from bhtool.config.pci_function import Function
from bhtool.config.plan import Location
from bhtool.config.span import Span
from bhtool.config.tree import Node, joined, pairs
from bhtool.families.family import Family

MACHINE = "bulkhead,machine-v1"
CPU_MAP = "cpu-map"
DOORBELL_LINES = "doorbell-lines"
LOCAL_APIC = "intel,ce4100-lapic"
GIC_V3 = "arm,gic-v3"
OF_EACH_CORE = re.compile(r"arm,(armv[78]-timer|armv8-pmuv3|(cortex|neoverse)-[a-z]\d+\w*-pmu)")
GIC_PPI = 1  # Linux binding "arm,gic": type cell
GIC_SPI, GIC_SPI_FIRST_INTID = 0, 32  # Linux binding "arm,gic": type cell 0, INTID 32 onward
GIC_ACTIVE_LOW, GIC_EDGE = (2, 8), (1, 2)  # flags cell: 1 rising, 2 falling, 4 high, 8 low
IOAPIC_ACTIVE_LOW, IOAPIC_LEVEL = (1, 3), (1, 2)  # sense cell: 0 rising, 1 low, 2 high, 3 falling
PL011 = "arm,pl011"
UARTS = (PL011, "ns16550a", "ns16550", "snps,dw-apb-uart", "brcm,bcm2835-aux-uart")
PCI_UART = "pciclass,0700"
NS_PER_S = 1_000_000_000
NO_LINES = Span(0, 0)
LAYOUTS = {"brcm,bcm2835-aux-uart": (2, 4)}  # reg-shift and reg-io-width of bindings that fix them


@dataclass(frozen=True)
class Core:
    number: int
    hardware_id: int
    node: Node = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.node.label


@dataclass(frozen=True)
class Wire:
    """An interrupt line as the controller numbers it: GIC INTID or IOAPIC pin."""

    number: int
    level: bool
    active_low: bool


@dataclass(frozen=True)
class Device:
    node: Node = field(repr=False, compare=False)
    name: str
    registers: tuple[Span, ...]
    ports: tuple[Span, ...]
    wires: tuple[Wire, ...]
    function: Function | None = None  # of PCI
    dma_allowed: str = field(default="", compare=False)  # why a partition file lets it reach memory without an IOMMU

    @property
    def driven_as(self) -> str:
        """What drivers go by: `compatible` names the device from most specific to most general (Devicetree specification, 2.3.1), so the first name that a
        driver here knows; else its first. DMA is judged by the first alone (dma.py).
        """
        names = self.node.compatible
        return next((one for one in names if one in UARTS), next(iter(names), ""))

    @property
    def is_uart(self) -> bool:
        return self.driven_as in UARTS

    @property
    def is_16550(self) -> bool:
        return self.is_uart and self.driven_as != PL011

    @property
    def layout(self) -> tuple[int, int]:
        """`reg-shift`, and `reg-io-width` in bytes; 0: the node does not say."""
        fixed = LAYOUTS.get(self.driven_as, (0, 0))
        return self.node.number("reg-shift", fixed[0]), self.node.number("reg-io-width", fixed[1])

    @property
    def is_pci_uart(self) -> bool:
        """A 16550 at the first base address, PCI Code and ID Assignment Specification 1.11, 1.8 "Base Class 07h"."""
        return bool(self.function and self.function.bars and PCI_UART in self.node.compatible)

    @property
    def location(self) -> Location:
        return self.node.location


@dataclass(frozen=True)
class BoardPrivate:
    """No sandbox's on this board, whatever a partition file or a board tree says; the windows are where base addresses of PCI functions may lie."""

    board_name: str = ""
    ram: tuple[Span, ...] = ()
    reserved: tuple[Span, ...] = ()  # of RAM, what firmware keeps; the monitor's image is not among it
    registers: tuple[Span, ...] = ()
    ports: tuple[Span, ...] = ()
    lines: tuple[Span, ...] = ()
    pci_windows: tuple[Span, ...] = ()
    pci_ports: tuple[Span, ...] = ()
    iommu: tuple[int, int, int] | None = None  # enum bh_iommu, registers, function; None: the header names none
    image_at: int | None = None  # where the image is linked; None: the header does not say


@dataclass(frozen=True)
class Costs:
    """Of the sandbox kernel's scheduler on this machine, in ns; 0: what guest.h says."""

    told_switch: int = 0
    told_top_half: int = 0

    @property
    def switch(self) -> int:
        """Between VCPUs, at most. No budget is smaller."""
        return self.told_switch or int(lib.BH_VCPU_SWITCH_NS)

    @property
    def top_half(self) -> int:
        """With its masking and unmasking, at most."""
        return self.told_top_half or int(lib.BH_VCPU_TOP_HALF_NS)

    @property
    def most_rate_hz(self) -> int:
        """More often, the top halves of a line would need more of their core than there is."""
        return NS_PER_S // self.top_half


@dataclass
class Machine:
    family: Family
    root: Node
    cores: list[Core]
    siblings: list[set[int]]  # core numbers that share one physical core
    ram: list[Span]
    reserved: list[Span]
    guest_ram: int
    window: int
    interrupt_controller: Node
    controllers: list[Node]
    devices: list[Device]
    iommus: list[Iommu] = field(default_factory=list)
    doorbell_lines: Span = NO_LINES  # that no device raises; empty: the board tree has none
    private: BoardPrivate = BoardPrivate()
    costs: Costs = Costs()

    @property
    def image_address(self) -> int:
        """Where the monitor is linked."""
        own = machine_node(self.root)
        said = own.properties.get("image-address") if own else None
        return joined(said.cells) if said else self.family.monitor.image_address

    @property
    def iommu(self) -> Iommu | None:
        """The one that monitors drive."""
        return next(iter(self.iommus), None)

    @property
    def gic_v3(self) -> bool:
        return GIC_V3 in self.interrupt_controller.compatible

    @property
    def gic_v2(self) -> bool:
        return self.family.interrupts.controller == "gic" and not self.gic_v3

    @property
    def of_each_core(self) -> list[Node]:
        """What the board tree has once and every core has: timer and performance monitors of an ARM machine."""
        return [node for node in self.root.children.values() if any(OF_EACH_CORE.fullmatch(one) for one in node.compatible)]

    def core_at(self, node: Node) -> Core | None:
        return next((core for core in self.cores if core.node is node), None)

    def device_at(self, node: Node) -> Device | None:
        return next((device for device in self.devices if device.node is node), None)


def interrupts_its_own_core(node: Node) -> bool:
    """By lines that each core has for itself."""
    cells = node.properties["interrupts"].cells if "interrupts" in node.properties else []
    return all(cell == GIC_PPI for cell in cells[::3])


class BoardError(Exception):
    """The board tree lacks something every board must have."""

    def __init__(self, location: Location, text: str) -> None:
        super().__init__(text)
        self.location = location
        self.text = text


def _root(node: Node) -> Node:
    return node if node.parent is None else _root(node.parent)


def buses(node: Node) -> Iterator[Node]:
    """What a node lies on, the nearest first, without the root."""
    while node.parent is not None and node.parent.parent is not None:
        node = node.parent
        yield node


def interrupt_parent(node: Node) -> int:
    """Devicetree specification, 2.4.1 "Properties for Interrupt Generating Devices": its own, or that of the nearest bus that has one."""
    above = [node, *buses(node), _root(node)]
    return next((one.number("interrupt-parent", 0) for one in above if "interrupt-parent" in one.properties), 0)


def machine_node(root: Node) -> Node | None:
    return next((node for node in root.children.values() if MACHINE in node.compatible), None)


def read_machine(root: Node, family: Family) -> Machine:
    """Raises BoardError for a tree no partition could be laid on."""
    own = machine_node(root)
    cpus = root.find("/cpus")
    if own is None or cpus is None or not {"reserved", "guest-ram", "guest-window"} <= own.properties.keys():
        raise BoardError(root.location, "the board tree has no complete `bulkhead,machine-v1` node or no `cpus`")
    controllers = [node for node in root.walk() if _is_controller(node)]
    main = next((node for node in controllers if node.phandle == root.number("interrupt-parent", 0)), None)
    if main is None:
        raise BoardError(root.where("interrupt-parent"), "the board's `interrupt-parent` is not an interrupt controller")
    return Machine(
        family=family,
        root=root,
        cores=_cores(cpus),
        siblings=_siblings(root, cpus),
        ram=[span for span, _ in described_ram(root)],
        reserved=[Span(*pair) for pair in pairs(own.properties["reserved"].cells, 2, 2)],
        guest_ram=joined(own.properties["guest-ram"].cells),
        window=joined(own.properties["guest-window"].cells),
        doorbell_lines=_spare_lines(own),
        interrupt_controller=main,
        controllers=controllers,
        devices=_devices(root, main),
        iommus=read_iommus(root),
    )


def _spare_lines(own: Node) -> Span:
    """`doorbell-lines`: the first, and how many."""
    cells = own.properties[DOORBELL_LINES].cells if DOORBELL_LINES in own.properties else [0, 0]
    return Span(cells[0], cells[1])


def _is_controller(node: Node) -> bool:
    return "interrupt-controller" in node.properties or LOCAL_APIC in node.compatible


def _cores(cpus: Node) -> list[Core]:
    nodes = [node for node in cpus.children.values() if node.text("device_type") == "cpu" and node.enabled]
    for node in nodes:
        if not node.reg():
            raise BoardError(node.location, f"core `{node.label}` has no `reg`")
    return [Core(number, node.reg()[0][0], node) for number, node in enumerate(nodes)]


def _siblings(root: Node, cpus: Node) -> list[set[int]]:
    """Linux binding "cpu-map": threads below one core node."""
    by_phandle = {core.node.phandle: core.number for core in _cores(cpus)}
    groups: dict[str, set[int]] = {}
    for node in (root.find(f"/cpus/{CPU_MAP}") or Node("/none")).walk():
        if "cpu" in node.properties and node.name.startswith("thread") and node.parent:
            groups.setdefault(node.parent.path, set()).add(by_phandle.get(node.number("cpu", 0), -1))
    return list(groups.values())


def described_ram(root: Node) -> list[tuple[Span, Node]]:
    """Each stretch of RAM with the node that has it."""
    nodes = [node for node in root.children.values() if node.text("device_type") == "memory"]
    return [(Span(*pair), node) for node in nodes for pair in node.reg()]


def _devices(root: Node, controller: Node) -> list[Device]:
    found = []
    for top in root.children.values():
        if top.name.split("@")[0] in ("cpus", "memory", "reserved-memory", "domains"):
            continue
        if top.text("device_type") == "pci":  # pci.py
            continue
        own = [node for node in top.walk() if "reg" in node.properties and not _is_controller(node) and not is_iommu(node)]
        found += [_device(node, controller) for node in own]
    return [device for device in found if device.registers or device.ports]


def _device(node: Node, controller: Node) -> Device:
    assert node.parent is not None
    on_isa = node.parent.text("device_type") == "isa"
    ports = [Span(address & 0xFFFFFFFF, size) for address, size in node.reg() if on_isa and address >> 32 & 1]
    memory = [] if on_isa else [_translate(node, Span(*pair)) for pair in node.reg()]
    registers = [span for span in memory if span and span.size]
    return Device(node, node.label, tuple(registers), tuple(ports), _wires(node, controller))


def _translate(node: Node, span: Span) -> Span | None:
    """Devicetree specification, 2.3.8 "ranges": an address on the node's bus as the machine sees it; None: it does not."""
    bus = node.parent
    while bus is not None and bus.parent is not None:
        ranges = bus.properties.get("ranges")
        if ranges is None:
            return None
        if ranges.data:
            moved = [start + span.start - child.start for child, start in _ranges(bus) if child.holds(span)]
            if not moved:
                return None
            span = Span(moved[0], span.size)
        bus = bus.parent
    return span


def _ranges(bus: Node) -> list[tuple[Span, int]]:
    """(stretch on the bus, where it starts on the parent's) for each row of `ranges`."""
    assert bus.parent is not None
    here, up, size = bus.number("#address-cells", 2), bus.parent.number("#address-cells", 2), bus.number("#size-cells", 1)
    cells, step = bus.properties["ranges"].cells, here + up + size
    rows = [cells[at : at + step] for at in range(0, len(cells) - step + 1, step)] if step else []
    return [(Span(joined(row[:here]), joined(row[here + up :])), joined(row[here : here + up])) for row in rows]


def _wires(node: Node, controller: Node) -> tuple[Wire, ...]:
    """`interrupts-extended` wins: Devicetree specification, 2.4.1. Its lines of other controllers are BH-R056's."""
    if "interrupts-extended" not in node.properties:
        return wires_from(node.properties["interrupts"].cells if "interrupts" in node.properties else [], controller)
    cells, found = node.properties["interrupts-extended"].cells, list[Wire]()
    while cells:
        its = [one for one in _root(controller).walk() if one.phandle == cells[0]]
        width = its[0].number("#interrupt-cells", 0) if its else len(cells)
        found += wires_from(cells[1 : 1 + width], controller) if its and its[0] is controller else []
        cells = cells[1 + width :]
    return tuple(found)


def wires_from(cells: list[int], controller: Node) -> tuple[Wire, ...]:
    """Interrupt specifiers as this controller's binding reads them."""
    if controller.number("#interrupt-cells", 0) == 3:
        return tuple(
            Wire(cells[at + 1] + GIC_SPI_FIRST_INTID, cells[at + 2] not in GIC_EDGE, cells[at + 2] in GIC_ACTIVE_LOW)
            for at in range(0, len(cells) - 2, 3)
            if cells[at] == GIC_SPI
        )
    return tuple(Wire(cells[at], cells[at + 1] in IOAPIC_LEVEL, cells[at + 1] in IOAPIC_ACTIVE_LOW) for at in range(0, len(cells) - 1, 2))
