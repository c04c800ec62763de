# SPDX-License-Identifier: Apache-2.0
"""The partition file as objects: every sandbox with its references resolved, before anything is judged or placed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from bhtool.config.channels import CHANNEL, Channel, read_channel
from bhtool.config.dma import is_dma_free
from bhtool.config.machine import Core, Device, Machine
from bhtool.config.plan import Location
from bhtool.config.span import Span
from bhtool.config.tree import Node, OfNode, joined
from bhtool.config.vcpus import EDF, SCHEDULER, Vcpu, read_vcpus

PARTITIONS = "bulkhead,partitions-v1"
SANDBOX = "bulkhead,sandbox-v1"
# What a partition file may have side by side, each with a binding of its name in dts/bindings: sandboxes, and what they share.
OBJECTS = (SANDBOX, CHANNEL)
LATER_OBJECTS = {"bulkhead,channel": "a channel of another version"}  # than is among OBJECTS
ALLOWS_DMA = "allow-unprotected-dma"
LOG, NO_CONSOLE = "log", "none"
SEES_FAULTS = "sees-dma-faults"


@dataclass
class Sandbox(OfNode):
    node: Node
    index: int
    os: Literal["native", "linux"]
    core_nodes: list[Node]
    memory_nodes: list[Node]
    access_nodes: list[Node]
    kick_nodes: list[Node]
    log_nodes: list[Node]
    console_node: Node | None  # None: no UART
    cores: list[Core] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)  # granted by name, then by takes-the-rest
    rest: list[str] = field(default_factory=list)
    withheld: list[Device] = field(default_factory=list)  # not in the rest: nobody knows them to be free of DMA
    accept_nodes: list[Node] = field(default_factory=list)  # who may tell it of their end
    notify_nodes: list[Node] = field(default_factory=list)  # whom it tells of its own
    vcpus: list[Vcpu] = field(default_factory=list)
    terminal_nodes: list[Node] = field(default_factory=list)  # channels, by which it is shown and typed at elsewhere
    telemetry_nodes: list[Node] = field(default_factory=list)  # channels, in which it says what it does

    @property
    def takes_the_rest(self) -> bool:
        return "takes-the-rest" in self.node.properties

    @property
    def sees_dma_faults(self) -> bool:
        return SEES_FAULTS in self.node.properties

    @property
    def is_linux(self) -> bool:
        return self.os == "linux"

    @property
    def health(self) -> Node | None:
        return self.node.children.get("health")

    @property
    def restarts(self) -> bool:
        return self.health is not None and self.health.text("on-fault") == "restart"

    @property
    def is_edf(self) -> bool:
        return self.node.text(SCHEDULER) == EDF

    @property
    def console(self) -> str:
        return self.console_node.label if self.console_node else self.node.text("console") or LOG

    @property
    def bootargs(self) -> str:
        return self.node.text("bootargs")

    @property
    def kernel_package(self) -> str:
        """Debian's, that its kernel and modules come from; empty: the platform's."""
        return self.node.text("kernel-package")

    @property
    def load_address(self) -> int | None:
        """Of a flat binary; None: its image has a header."""
        return joined(self.node.properties["load-address"].cells) if "load-address" in self.node.properties else None

    @property
    def unprotected(self) -> list[str]:
        """Protections it does without, in the order of the file."""
        return self.node.properties["unprotected"].strings if "unprotected" in self.node.properties else []

    @property
    def dma_reason(self) -> str:
        """Why its functions may reach memory where no IOMMU sees them."""
        return self.node.text(ALLOWS_DMA) if ALLOWS_DMA in self.node.properties else ""


@dataclass
class Memory:
    """A child of reserved-memory: pinned (start is known) or placed by the tool (start is None)."""

    node: Node
    start: int | None
    size: int

    @property
    def name(self) -> str:
        return self.node.label

    @property
    def location(self) -> Location:
        return self.node.where("reg" if self.start is not None else "size")

    @property
    def span(self) -> Span | None:
        return None if self.start is None else Span(self.start, self.size)


@dataclass
class Domains:
    node: Node
    machine: Machine
    sandboxes: list[Sandbox]
    memories: list[Memory]
    idle_nodes: list[Node]
    channels: list[Channel] = field(default_factory=list)

    @property
    def idle(self) -> list[Core]:
        return [core for node in self.idle_nodes if (core := self.machine.core_at(node))]

    def memory_at(self, node: Node) -> Memory | None:
        return next((memory for memory in self.memories if memory.node is node), None)

    def memory_of(self, sandbox: Sandbox) -> Memory | None:
        return self.memory_at(sandbox.memory_nodes[0]) if sandbox.memory_nodes else None

    def sandbox_at(self, node: Node) -> Sandbox | None:
        return next((sandbox for sandbox in self.sandboxes if sandbox.node is node), None)

    def ends_of(self, sandbox: Sandbox) -> Iterator[tuple[Channel, int]]:
        """Its channels, and which end of each it is, in the order of the file."""
        for channel in self.channels:
            for end, nodes in enumerate((channel.from_nodes, channel.to_nodes)):
                if any(node is sandbox.node for node in nodes):
                    yield channel, end

    def other_end(self, channel: Channel, end: int) -> Sandbox:
        """Of a channel that leads from one sandbox to another."""
        nodes = channel.to_nodes if end == 0 else channel.from_nodes
        return next(sandbox for sandbox in self.sandboxes if any(node is sandbox.node for node in nodes))


def objects(domains: Node, kind: str) -> list[Node]:
    """Children of /domains of one kind of OBJECTS, in the order of the file."""
    return [child for child in domains.children.values() if kind in child.compatible]


def later_object(node: Node) -> str:
    """What a child of /domains would be in another version; empty: nothing."""
    if any(one in OBJECTS for one in node.compatible):
        return ""
    names = ((name, what) for one in node.compatible for name, what in LATER_OBJECTS.items() if one.startswith(name))
    return next((what for _, what in names), "")


def find_domains(root: Node) -> Node | None:
    return next((node for node in root.children.values() if PARTITIONS in node.compatible), None)


def read_domains(node: Node, machine: Machine) -> Domains:
    by_phandle = {one.phandle: one for one in machine.root.walk() if one.phandle}
    sandboxes = [_sandbox(child, index, by_phandle) for index, child in enumerate(objects(node, SANDBOX))]
    reserved = machine.root.find("/reserved-memory")
    memories = [_memory(child) for child in reserved.children.values()] if reserved else []
    channels = [read_channel(child, index, by_phandle) for index, child in enumerate(objects(node, CHANNEL))]
    domains = Domains(node, machine, sandboxes, memories, _references(node, "idle-cores", by_phandle), channels)
    for sandbox in sandboxes:
        sandbox.cores = [core for one in sandbox.core_nodes if (core := machine.core_at(one))]
        sandbox.devices = [device for one in sandbox.access_nodes if (device := machine.device_at(one))]
    _allow_dma(domains)
    _take_the_rest(domains)
    return domains


def _allow_dma(domains: Domains) -> None:
    """Devices that a sandbox has named know that it asks for their DMA."""
    for sandbox in domains.sandboxes:
        reason = sandbox.dma_reason.strip()
        sandbox.devices = [replace(one, dma_allowed=reason) if one.function and reason else one for one in sandbox.devices]


def _references(node: Node, name: str, by_phandle: dict[int, Node]) -> list[Node]:
    cells = node.properties[name].cells if name in node.properties else []
    return [by_phandle[cell] for cell in cells if cell in by_phandle]


def _sandbox(node: Node, index: int, by_phandle: dict[int, Node]) -> Sandbox:
    console = node.properties.get("console")
    named = None if console is None or console.is_text else by_phandle.get(node.number("console", 0))
    return Sandbox(
        node=node,
        index=index,
        os="linux" if node.text("os,type") == "linux" else "native",
        core_nodes=_references(node, "cores", by_phandle),
        memory_nodes=_references(node, "memory-region", by_phandle),
        access_nodes=_references(node, "access", by_phandle),
        kick_nodes=_references(node, "may-kick", by_phandle),
        log_nodes=_references(node, "log-access", by_phandle),
        accept_nodes=_references(node, "accepts-notify", by_phandle),
        notify_nodes=_references(node.children["health"], "notify", by_phandle) if "health" in node.children else [],
        console_node=named,
        vcpus=read_vcpus(node, by_phandle),
        terminal_nodes=_references(node, "terminal", by_phandle),
        telemetry_nodes=_references(node, "telemetry", by_phandle),
    )


def _memory(node: Node) -> Memory:
    if "reg" in node.properties:
        start, size = (node.reg() or [(0, 0)])[0]
        return Memory(node, start, size)
    return Memory(node, None, joined(node.properties["size"].cells) if "size" in node.properties else 0)


def _take_the_rest(domains: Domains) -> None:
    """Devices nobody names go to the sandbox that takes the rest; cores too, unless it lists its own. PCI functions are given by name:
    a kernel that is shown a bus spends exits on it."""
    taker = next((one for one in domains.sandboxes if one.takes_the_rest), None)
    if taker is None:
        return
    devices = {device.name for sandbox in domains.sandboxes for device in sandbox.devices}
    cores = {core.number for sandbox in domains.sandboxes for core in sandbox.cores + domains.idle}
    unnamed = [device for device in domains.machine.devices if device.name not in devices and device.node.enabled and not device.function]
    new_devices = [device for device in unnamed if is_dma_free(device)]
    new_cores = [] if "cores" in taker.node.properties else [core for core in domains.machine.cores if core.number not in cores]
    taker.devices += new_devices
    taker.cores += new_cores
    taker.withheld = [device for device in unnamed if device not in new_devices]
    taker.rest = [one.name for one in new_cores] + [one.name for one in new_devices]
