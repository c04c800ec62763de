# SPDX-License-Identifier: Apache-2.0
"""Rules on what a device needs to work at all: whoever has a clock, a reset, a power domain or a pin can stop what depends on it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bhtool.config.check_devices import granted, owner_of, whose
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.iommu import is_iommu
from bhtool.config.machine import Device, Machine, buses, interrupt_parent
from bhtool.config.pci import is_host
from bhtool.config.rule import Finding
from bhtool.config.tree import Node, Property

# Properties that name providers, and the property of a provider that says how many cells follow its name; None: none do.
BY_CELLS = {
    "clocks": "#clock-cells",
    "assigned-clocks": "#clock-cells",
    "assigned-clock-parents": "#clock-cells",
    "resets": "#reset-cells",
    "power-domains": "#power-domain-cells",
}
PLAIN = re.compile(r"pinctrl-\d+|[\w,-]+-supply")  # names alone
FIXED = ("fixed-clock", "regulator-fixed")
SWITCHED = ("gpio", "gpios", "enable-gpios")  # a regulator that is not fixed after all


def depends_on_its_own(domains: Domains) -> Iterator[Finding]:
    for sandbox, device in granted(domains):
        for name in dict.fromkeys(_foreign_interrupts(domains.machine, device)):
            text = f"{device.name} of `{sandbox.name}` interrupts through another controller than the main one (`{name}`)"
            yield Finding(sandbox.where("access"), text)
        for name, text in dict.fromkeys(_foreign_supplies(domains, sandbox, device)):
            yield Finding(sandbox.where("access"), f"{device.name} of `{sandbox.name}` depends by `{name}` on {text}")


def _foreign_interrupts(machine: Machine, device: Device) -> Iterator[str]:
    if interrupt_parent(device.node) != machine.interrupt_controller.phandle:
        yield "interrupt-parent"
    if "interrupts-extended" in device.node.properties:
        yield "interrupts-extended"


def _foreign_supplies(domains: Domains, sandbox: Sandbox, device: Device) -> Iterator[tuple[str, str]]:
    """Of a device, of its parts and of its buses: which property, and what is wrong with what it names."""
    for node in (*device.node.walk(), *buses(device.node)):
        for name, provider in _supplies(domains.machine, node):
            held = _device_of(domains.machine, provider) if provider else None
            if held is None:
                yield name, f"{provider.label if provider else 'what is no node'}, which no sandbox can have"
            elif owner_of(domains, held) is not sandbox:
                yield name, f"{held.name}, which {whose(domains, held)}"
            elif sandbox.is_linux:
                yield name, f"{held.name}, which this version does not tell Linux of"


def feeds_its_own(domains: Domains) -> Iterator[Finding]:
    """Cores, and what the whole machine needs; devices of others are judged by what they depend on."""
    machine = domains.machine
    for node in machine.root.walk():
        for name, provider in _supplies(machine, node):
            held = _device_of(machine, provider) if provider else None
            owner = owner_of(domains, held) if held else None
            if held and owner:
                for victim in _victims(domains, owner, node):
                    yield Finding(owner.where("access"), f"{held.name} of `{owner.name}` can stop {victim}, by `{name}`")


def _victims(domains: Domains, owner: Sandbox, node: Node) -> Iterator[str]:
    machine = domains.machine
    for one in node.walk():
        core = machine.core_at(one)
        if core and core not in owner.cores:
            who = next((each for each in domains.sandboxes if core in each.cores), None)
            yield f"{core.name}, which belongs to `{who.name}` ({who.where('cores')})" if who else f"{core.name}, which is nobody's"
        elif one in machine.controllers or is_iommu(one) or one in machine.of_each_core or is_host(one):
            yield f"{one.label}, which the whole machine has"


def _supplies(machine: Machine, node: Node) -> Iterator[tuple[str, Node | None]]:
    """Each property of the node that names a provider which can be switched, and that provider."""
    for one in node.properties.values():
        if one.name in BY_CELLS or PLAIN.fullmatch(one.name):
            for provider in _providers(machine, one):
                if provider is None or not _is_fixed(provider):
                    yield one.name, provider


def _providers(machine: Machine, one: Property) -> Iterator[Node | None]:
    """None: a name that is no node's, after which nothing can be read."""
    cells = one.cells
    while cells:
        provider = next((node for node in machine.root.walk() if node.phandle == cells[0]), None) if cells[0] else None
        if cells[0]:  # 0: none, in its place
            yield provider
        if cells[0] and provider is None:
            return
        width = provider.number(BY_CELLS[one.name], 0) if provider and one.name in BY_CELLS else 0
        cells = cells[1 + width :]


def _is_fixed(provider: Node) -> bool:
    return any(one in FIXED for one in provider.compatible) and not any(one in provider.properties for one in SWITCHED)


def _device_of(machine: Machine, provider: Node) -> Device | None:
    """The device that a provider is, or is a part of."""
    return next((device for node in (provider, *buses(provider)) if (device := machine.device_at(node))), None)
