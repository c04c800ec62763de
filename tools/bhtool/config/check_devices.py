# SPDX-License-Identifier: Apache-2.0
"""Rules on devices: registers, pages, ports and lines have one owner each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from bhtool.abi import lib
from bhtool.config.check_pci import never_given, unseen
from bhtool.config.dma import Doubt, judge_dma, passes_iommu
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.iommu import is_iommu
from bhtool.config.machine import Device, Wire
from bhtool.config.rule import Finding
from bhtool.config.span import Span
from bhtool.config.tree import Node


def owner_of(domains: Domains, device: Device) -> Sandbox | None:
    return next((sandbox for sandbox in domains.sandboxes if device in sandbox.devices), None)


def granted(domains: Domains) -> Iterator[tuple[Sandbox, Device]]:
    for sandbox in domains.sandboxes:
        for device in sandbox.devices:
            yield sandbox, device


def _strangers(domains: Domains) -> Iterator[tuple[Sandbox, Device, Device]]:
    """Each granted device with each device its owner does not have."""
    for sandbox, device in granted(domains):
        for other in domains.machine.devices:
            if other not in sandbox.devices:
                yield sandbox, device, other


def whose(domains: Domains, device: Device) -> str:
    owner = owner_of(domains, device)
    return f"belongs to `{owner.name}` ({owner.where('access')})" if owner else "belongs to nobody"


def names_a_device(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        for node in sandbox.access_nodes:
            if is_iommu(node):
                yield Finding(sandbox.where("access"), f"`{node.label}` is the IOMMU, which monitors drive: grant the functions behind it")
            elif not domains.machine.device_at(node):
                yield Finding(sandbox.where("access"), f"`{node.label}` is not a device that a sandbox can own")
            elif not node.enabled:
                yield Finding(sandbox.where("access"), f"`{node.label}` is disabled in the board tree")


def given_once(domains: Domains) -> Iterator[Finding]:
    first: dict[str, Sandbox] = {}
    for sandbox, device in granted(domains):
        owner = first.get(device.name)
        if owner is sandbox:
            yield Finding(sandbox.where("access"), f"`{sandbox.name}` names {device.name} twice")
        elif owner:
            text = f"`{sandbox.name}` gets {device.name}, which `{owner.name}` has already ({owner.where('access')})"
            yield Finding(sandbox.where("access"), text)
        first.setdefault(device.name, sandbox)


def pages_apart(domains: Domains) -> Iterator[Finding]:
    for sandbox, device, other in _strangers(domains):
        for mine, theirs in product(device.registers, other.registers):
            if mine.pages().overlaps(theirs.pages()):
                text = f"{device.name} of `{sandbox.name}` shares a 4 KiB page with {other.name}, which {whose(domains, other)}"
                yield Finding(sandbox.where("access"), text)


def clear_of_controllers(domains: Domains) -> Iterator[Finding]:
    for sandbox, device in granted(domains):
        for controller in _controllers_in(domains, device):
            what = "IOMMU" if is_iommu(controller) else "interrupt controller"
            text = f"{device.name} of `{sandbox.name}` shares a page with the {what} {controller.label}"
            yield Finding(sandbox.where("access"), text)


def _controllers_in(domains: Domains, device: Device) -> Iterator[Node]:
    """Those that a device shares a page with."""
    machine = domains.machine
    for controller in (*machine.controllers, *(one.node for one in machine.iommus)):
        theirs = [Span(*pair).pages() for pair in controller.reg()]
        if any(mine.pages().overlaps(span) for mine, span in product(device.registers, theirs)):
            yield controller


def lines_apart(domains: Domains) -> Iterator[Finding]:
    """Start-up has switched off the line of a PCI function that belongs to nobody, and nobody reaches its command register (BH-D150)."""
    for sandbox, device, other in _strangers(domains):
        if other.function and not owner_of(domains, other):
            continue
        shared = {wire.number for wire in device.wires} & {wire.number for wire in other.wires}
        for number in sorted(shared):
            text = f"{device.name} of `{sandbox.name}` shares interrupt line {number} with {other.name}, which {whose(domains, other)}"
            yield Finding(sandbox.where("access"), text)


def _level_lines(domains: Domains, sandbox: Sandbox) -> list[tuple[Device, Wire]]:
    """Those that need vectors of their own."""
    has_vectors = domains.machine.family.interrupts.has_vectors
    return [(device, wire) for device in sandbox.devices for wire in device.wires if wire.level and has_vectors]


def one_chooses_level_vectors(domains: Domains) -> Iterator[Finding]:
    """The end of a level interrupt is told to every entry of the I/O APIC that has its vector, whoever owns the line."""
    linux = [sandbox for sandbox in domains.sandboxes if sandbox.is_linux and _level_lines(domains, sandbox)]
    for sandbox in linux[1:]:
        device, wire = _level_lines(domains, sandbox)[0]
        text = (
            f"line {wire.number} of {device.name} is level-triggered, whose vector must be nobody else's, and two Linux sandboxes with such"
            f" lines, `{sandbox.name}` and `{linux[0].name}` ({linux[0].where('access')}), would choose vectors themselves"
        )
        yield Finding(sandbox.where("access"), text)


def level_vectors_suffice(domains: Domains) -> Iterator[Finding]:
    room = lib.BH_LAST_LEVEL_VECTOR - lib.BH_FIRST_LEVEL_VECTOR + 1
    native: dict[int, tuple[Sandbox, Device]] = {}
    for sandbox in domains.sandboxes:
        for device, wire in _level_lines(domains, sandbox) if not sandbox.is_linux else ():
            native.setdefault(wire.number, (sandbox, device))
    for sandbox, device in list(native.values())[room : room + 1]:
        text = (
            f"{device.name} of `{sandbox.name}` has a level-triggered line beyond the {room} of native sandboxes that there are vectors for"
        )
        yield Finding(sandbox.where("access"), text)


def lines_not_of_platform(domains: Domains) -> Iterator[Finding]:
    private = domains.machine.private
    for sandbox, device in granted(domains):
        for wire in device.wires:
            if any(one.holds(Span(wire.number, 1)) for one in private.lines):
                text = f"line {wire.number} of {device.name} of `{sandbox.name}` is {domains.machine.family.interrupts.private_line}"
                yield Finding(sandbox.where("access"), text)


def line_used_alike(domains: Domains) -> Iterator[Finding]:
    """Devices of one sandbox may share a line; the interrupt controller takes it in one way."""
    for sandbox in domains.sandboxes:
        seen: dict[int, tuple[Device, Wire]] = {}
        for device in sandbox.devices:
            for wire in device.wires:
                first, other = seen.setdefault(wire.number, (device, wire))
                if other != wire:
                    text = f"{device.name} and {first.name} of `{sandbox.name}` use interrupt line {wire.number} with different triggers"
                    yield Finding(sandbox.where("access"), text)


def ports_apart(domains: Domains) -> Iterator[Finding]:
    for sandbox, device, other in _strangers(domains):
        if any(mine.overlaps(theirs) for mine, theirs in product(device.ports, other.ports)):
            text = f"I/O ports of {device.name} of `{sandbox.name}` overlap those of {other.name}, which {whose(domains, other)}"
            yield Finding(sandbox.where("access"), text)


def ports_not_of_platform(domains: Domains) -> Iterator[Finding]:
    private = domains.machine.private
    for sandbox, device in granted(domains):
        for mine, theirs in _kept(device, device.ports, private.ports, private.pci_ports):
            text = f"I/O ports {mine} of {device.name} reach ports of the machine itself, {theirs}"
            yield Finding(sandbox.where("access"), text)


def registers_not_of_platform(domains: Domains) -> Iterator[Finding]:
    private = domains.machine.private
    for sandbox, device in granted(domains):
        is_told = any(_controllers_in(domains, device))  # by BH-R045, and of what
        for mine, theirs in _kept_registers(domains, device) if not is_told else ():
            text = (
                f"registers {mine} of {device.name} of `{sandbox.name}` reach {theirs}, which {private.board_name} keeps from every sandbox"
            )
            yield Finding(sandbox.where("access"), text)


def _kept_registers(domains: Domains, device: Device) -> list[tuple[Span, Span]]:
    private = domains.machine.private
    pages = [one.pages() for one in device.registers]
    return list(_kept(device, pages, private.registers, private.pci_windows))


def _kept(device: Device, spans: Iterable[Span], private: Iterable[Span], windows: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    """Which spans of a device are kept from every sandbox. A PCI function may have what lies in a window, where the monitor puts it."""
    for mine, theirs in product(spans, private):
        if mine.overlaps(theirs) and not (device.function and any(one.holds(mine) for one in windows)):
            yield mine, theirs


def is_known_to_do_no_dma(domains: Domains) -> Iterator[Finding]:
    for sandbox, device in granted(domains):
        found = judge_dma(device)
        is_refused = never_given(device) or passes_iommu(device) or _kept_registers(domains, device)
        if isinstance(found, Doubt) and not is_refused:  # whatever is known of its DMA
            text = f"{device.name} of `{sandbox.name}` {found.text}{unseen(domains.machine, device.function)}"
            yield Finding(sandbox.where("access"), text)


def withheld_from_the_rest(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        for device in sandbox.withheld:
            found = judge_dma(device)
            assert isinstance(found, Doubt)
            yield Finding(sandbox.where("takes-the-rest"), f"`{sandbox.name}` does not get {device.name}, which {found.text}")
