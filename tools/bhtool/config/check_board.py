# SPDX-License-Identifier: Apache-2.0
"""What the stages after the rules take for granted of a board tree."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.abi import lib
from bhtool.config.domains import Domains
from bhtool.config.machine import LOCAL_APIC, Device, Machine, described_ram, interrupts_its_own_core, machine_node
from bhtool.config.numa import half_described
from bhtool.config.rule import Finding
from bhtool.config.span import MIB2, PAGE, Span
from bhtool.text import size_text

PORT_SPACE = Span(0, 0x10000)
WIDTHS = (0, 1, 2, 4)  # of a register's access, in bytes; 0: not said
MAX_SHIFT = 4
REGISTERS_16550 = 8
ADDRESS_SPACE = Span(0, 1 << 39)  # what every stage-2 format here can translate


def complete(domains: Domains) -> Iterator[Finding]:
    machine = domains.machine
    yield from _layout(machine)
    yield from _reserved(machine)
    yield from _cores(machine)
    yield from half_described(machine)
    yield from _controllers(machine)
    for device in machine.devices:
        yield from _device(machine, device)


def private_interrupts(domains: Domains) -> Iterator[Finding]:
    """A shared line that belongs to one core could be granted to its owner; this version grants lines with devices alone."""
    for node in domains.machine.of_each_core:
        if not interrupts_its_own_core(node):
            text = f"`{node.label}` interrupts over shared lines: nobody gets them, and it is left out of Linux's device tree"
            yield Finding(node.where("interrupts"), text)


def _layout(machine: Machine) -> Iterator[Finding]:
    root = machine.root
    if root.number("#address-cells", 0) != 2 or root.number("#size-cells", 0) != 2:
        yield Finding(root.location, "the root of the board tree has not two cells each for addresses and sizes")
    if machine.guest_ram % MIB2 or machine.window % 0x10000:
        yield Finding(root.location, "`guest-ram` is not a multiple of 2 MiB, or `guest-window` not of 64 KiB")
    if not machine.ram:
        yield Finding(root.location, "the board has no memory")
    for span in machine.ram:
        if span.start % PAGE or span.size % PAGE or not span.size or not ADDRESS_SPACE.holds(span):
            yield Finding(root.location, f"the memory {span} is empty, misaligned or out of reach")
    yield from _apart(machine)
    yield from _units(machine)


def _apart(machine: Machine) -> Iterator[Finding]:
    """RAM that stands twice in the board tree would be given away twice."""
    furthest: Span | None = None
    for span, node in sorted(described_ram(machine.root), key=lambda one: one[0].start):
        if furthest and furthest.common(span).size:
            yield Finding(node.where("reg"), f"the memory {span} overlaps the memory {furthest}")
        if furthest is None or span.end > furthest.end:
            furthest = span


def _units(machine: Machine) -> Iterator[Finding]:
    """To start-up the rest of a span is device memory, where nothing of its own may lie. What is left over stays unused."""
    unit = machine.family.monitor.ram_unit
    for span, node in described_ram(machine.root):
        if (span.start % unit or span.size % unit) and not (span.start % PAGE or span.size % PAGE):
            yield Finding(node.where("reg"), f"the memory {span} is not in multiples of {size_text(unit)}: leave out what is over")
    for span in machine.private.ram:
        if span.start % unit or span.size % unit:
            text = f"BOARD_RAM of {machine.private.board_name} has {span}, which is not in multiples of {size_text(unit)}"
            yield Finding(machine.root.location, text)


def _reserved(machine: Machine) -> Iterator[Finding]:
    """Start-up refuses a table that gives away what the board's header keeps of RAM."""
    kept, own = machine.private, machine_node(machine.root) or machine.root
    for span in kept.reserved:
        if not any(one.holds(span) for one in machine.reserved):
            text = f"`reserved` lacks {span}, which BOARD_RESERVED_RAM of {kept.board_name} keeps for firmware"
            yield Finding(own.where("reserved"), text)
    image = Span(machine.image_address, PAGE)
    if kept.image_at not in (None, image.start):
        text = f"the monitor image begins at {image.start:#x} by the board tree, and at {kept.image_at:#x} by BOARD_IMAGE_AT of {kept.board_name}"
        yield Finding(own.where("image-address"), text)
    if not any(one.holds(image) for one in machine.reserved):
        yield Finding(own.where("reserved"), f"`reserved` lacks the monitor image, which begins at {image.start:#x}")


def _cores(machine: Machine) -> Iterator[Finding]:
    where = machine.root.location
    if not 0 < len(machine.cores) <= lib.BH_MAX_CORES:
        yield Finding(where, f"the board has {len(machine.cores)} cores, 1 to {lib.BH_MAX_CORES} are possible")
    if len({core.hardware_id for core in machine.cores}) < len(machine.cores):
        yield Finding(where, "two cores have the same `reg`")
    greatest = machine.family.interrupts.greatest_core_id
    for core in machine.cores:
        if core.hardware_id > greatest:
            yield Finding(core.node.location, f"{core.name} has a `reg` above {greatest:#x}")


def _controllers(machine: Machine) -> Iterator[Finding]:
    main = machine.interrupt_controller
    wanted = machine.family.interrupts.stretches
    if len(main.reg()) < wanted:
        yield Finding(main.location, f"`{main.label}` has fewer than {wanted} stretches of registers")
    if machine.family.interrupts.controller == "apic" and not any(
        LOCAL_APIC in node.compatible and node.reg() for node in machine.controllers
    ):
        yield Finding(machine.root.location, f"the board has no local APIC (`{LOCAL_APIC}`)")
    for node in machine.controllers:
        for start, size in node.reg():
            if start % PAGE or size % PAGE or not size or not ADDRESS_SPACE.holds(Span(start, size)):
                yield Finding(node.location, f"`{node.label}` has registers that are empty, misaligned or out of reach")


def _device(machine: Machine, device: Device) -> Iterator[Finding]:
    window = Span(machine.window, 0x10000 * (lib.BH_MAX_SANDBOXES + 1))
    for span in device.registers:
        if any(span.pages().overlaps(taken) for taken in (*machine.ram, window)) or not ADDRESS_SPACE.holds(span):
            yield Finding(device.location, f"{device.name}, {span}, lies in RAM, in the sandboxes' window, or out of reach")
    for span in device.ports:
        if not span.size or not PORT_SPACE.holds(span):
            yield Finding(device.location, f"the I/O ports of {device.name} are none")
    yield from _registers(device)
    for wire in device.wires:
        if wire.number not in machine.family.interrupts.lines:
            yield Finding(device.location, f"{device.name} has an interrupt line the controller has not")


def _registers(device: Device) -> Iterator[Finding]:
    """`reg-shift` and `reg-io-width`: each for itself, and of a 16550 both together. Other bindings' accesses may be wider than registers lie apart."""
    shift, width = device.layout
    if not 0 <= shift <= MAX_SHIFT or width not in WIDTHS:
        text = f"{device.name} has a `reg-shift` above {MAX_SHIFT}, or a `reg-io-width` that is not 1, 2 or 4"
        yield Finding(device.location, text)
    elif device.is_16550 and device.registers:
        yield from _registers_16550(device, shift, width)


def _registers_16550(device: Device, shift: int, width: int) -> Iterator[Finding]:
    """Of its first block, which drivers use."""
    block, node, needed = device.registers[0], device.node, REGISTERS_16550 << shift
    if width > 1 << shift:
        text = f"{device.name} has a `reg-io-width` of {width}, and registers {1 << shift} apart by its `reg-shift`: one access would reach several"
        yield Finding(node.where("reg-io-width"), text)
    if width and block.start % width:
        yield Finding(
            node.where("reg"), f"the registers of {device.name} begin at {block.start:#x}, which its `reg-io-width` of {width} cannot reach"
        )
    if needed > block.size:
        text = f"{device.name} has {block.size:#x} bytes of registers, and {REGISTERS_16550} of them {1 << shift} apart take {needed:#x}"
        yield Finding(node.where("reg"), text)
