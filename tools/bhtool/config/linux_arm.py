# SPDX-License-Identifier: Apache-2.0
"""Linux on ARM, entered as its boot protocol describes (arm_boot.py), with a device tree of its own.

The device tree is the board's, filtered: own cores, own RAM, own devices and the clocks they need, and of the interrupt
controller only what the sandbox may see.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import libfdt

from bhtool.config.arm_boot import LAYOUTS
from bhtool.config.channel_places import View
from bhtool.config.flat import flat_layout, flat_piece
from bhtool.config.machine import GIC_SPI, GIC_SPI_FIRST_INTID, Device, Machine, interrupts_its_own_core
from bhtool.config.payload import Payload, PayloadError, Piece, Room
from bhtool.config.plan import SandboxPlan
from bhtool.config.span import Span, align_up
from bhtool.config.tree import Node, Property
from bhtool.text import MIB, size_text

TOO_BIG, ARGUMENTS_LONG = "BH-R065", "BH-R013"
NOT_OF_HOSTS = {"iommu-map", "iommu-map-mask", "msi-parent", "msi-map", "msi-map-mask"}
PPI_CORES_SHIFT = 8  # Linux binding "arm,gic": bits 15:8 of the third cell

END_BYTES = 4  # the last token, for which alone libfdt's Python makes no room by itself


def linux_arm_payload(kernel: bytes, initrd: bytes, name: str, machine: Machine, plan: SandboxPlan,
                      devices: list[Device], controllers: list[tuple[str, Span]], load: int | None,
                      channels: Sequence[View] = ()) -> Payload:  # fmt: skip
    """load: where a flat binary goes; None: a kernel with a header. Raises PayloadError when the kernel is none or does not fit."""
    room = Room(plan.ram_gpa, plan.ram_size)
    layout = LAYOUTS[machine.family.programs.linux_kernel](kernel, name, room) if load is None else flat_layout(kernel, room, load)
    if not room.holds(layout.kernel, layout.kernel_bytes) or not room.holds(layout.initrd, len(initrd)):
        needed = layout.initrd + len(initrd) - room.gpa
        raise PayloadError(TOO_BIG, f"`{name}` and its initrd need {size_text(align_up(needed, MIB))}, RAM is {size_text(room.size)}")
    line = plan.bootargs
    if len(line.encode()) >= layout.command_line_bytes:
        text = f"the kernel command line is {len(line.encode())} bytes long, {layout.command_line_bytes - 1} fit"
        raise PayloadError(ARGUMENTS_LONG, text, "bootargs")
    tree = guest_tree(machine, plan, devices, controllers, Span(layout.initrd, len(initrd)), channels)
    pieces = [Piece("device tree", layout.tree, tree), flat_piece(kernel, name, layout.kernel)]
    if initrd:
        pieces.append(Piece("initrd", layout.initrd, initrd))
    return Payload(pieces, layout.kernel, layout.tree)


def guest_tree(machine: Machine, plan: SandboxPlan, devices: list[Device], controllers: list[tuple[str, Span]], initrd: Span,
               channels: Sequence[View]) -> bytes:  # fmt: skip
    """The flattened tree for the sandbox's kernel."""
    fdt = libfdt.FdtSw()
    fdt.finish_reservemap()
    fdt.begin_node("")
    for name in ("#address-cells", "#size-cells", "compatible", "interrupt-parent"):
        _put(fdt, machine.root.properties[name])
    fdt.property_string("model", f"Bulkhead sandbox {plan.name}")
    _chosen(fdt, plan, devices, initrd)
    _memory(fdt, plan)
    _cpus(fdt, machine, plan)
    _psci(fdt)
    _of_each_core(fdt, machine, plan)
    _gic(fdt, machine, controllers)
    for node in _clocks(machine, devices) + [device.node for device in devices if not device.function]:
        _copy(fdt, node)
    _pci(fdt, devices)
    _channels(fdt, channels)
    fdt.end_node()
    fdt.resize(len(fdt.as_bytearray()) + END_BYTES)
    return bytes(fdt.as_fdt().as_bytearray())


def _put(fdt: libfdt.FdtSw, one: Property) -> None:
    fdt.property(one.name, one.data)


def _copy(fdt: libfdt.FdtSw, node: Node, changed: dict[str, bytes] | None = None) -> None:
    """A node and those below it, with other values for some of its properties."""
    fdt.begin_node(node.name)
    for name, data in ({one.name: one.data for one in node.properties.values()} | (changed or {})).items():
        fdt.property(name, data)
    for child in node.children.values():
        _copy(fdt, child)
    fdt.end_node()


def _quads(*values: int) -> bytes:
    return struct.pack(f">{len(values)}Q", *values)


def _console(plan: SandboxPlan, devices: list[Device]) -> Device | None:
    return next((device for device in devices if device.name == plan.console), None)


def _chosen(fdt: libfdt.FdtSw, plan: SandboxPlan, devices: list[Device], initrd: Span) -> None:
    """The console is the one that `stdout-path` leads to, by whatever name Linux knows its driver, unless bootargs name another."""
    console = _console(plan, devices)
    if console:
        fdt.begin_node("aliases")
        fdt.property_string("serial0", console.node.path)
        fdt.end_node()
    fdt.begin_node("chosen")
    fdt.property_string("bootargs", plan.bootargs)
    if console:
        fdt.property_string("stdout-path", "serial0:115200n8")
    if any(device.function for device in devices):
        fdt.property_u32("linux,pci-probe-only", 1)  # base addresses stay where they are
    if initrd.size:
        fdt.property("linux,initrd-start", _quads(initrd.start))
        fdt.property("linux,initrd-end", _quads(initrd.end))
    fdt.end_node()


def _memory(fdt: libfdt.FdtSw, plan: SandboxPlan) -> None:
    fdt.begin_node(f"memory@{plan.ram_gpa:x}")
    fdt.property_string("device_type", "memory")
    fdt.property("reg", _quads(plan.ram_gpa, plan.ram_size))
    fdt.end_node()


def _cpus(fdt: libfdt.FdtSw, machine: Machine, plan: SandboxPlan) -> None:
    """Own cores, boot core first, under their physical affinity: GICR frames and SGIs are addressed by it."""
    fdt.begin_node("cpus")
    fdt.property_u32("#address-cells", 1)
    fdt.property_u32("#size-cells", 0)
    for number in plan.cores:
        _copy(fdt, machine.cores[number].node, {"enable-method": b"psci\0"})
    fdt.end_node()


def _psci(fdt: libfdt.FdtSw) -> None:
    fdt.begin_node("psci")
    fdt.property("compatible", b"arm,psci-1.0\0arm,psci-0.2\0")
    fdt.property_string("method", "hvc")
    fdt.end_node()


def _of_each_core(fdt: libfdt.FdtSw, machine: Machine, plan: SandboxPlan) -> None:
    """The board's timer and performance monitors, if their interrupts are each core's own. A GICv2's name the cores they go to: the sandbox's."""
    mask = 0 if machine.gic_v3 else sum(1 << hardware_id for hardware_id in plan.hardware_ids) << PPI_CORES_SHIFT
    for node in machine.of_each_core:
        if interrupts_its_own_core(node):
            cells = node.properties["interrupts"].cells if "interrupts" in node.properties else []
            flags = [cell | mask if n % 3 == 2 else cell for n, cell in enumerate(cells)]
            _copy(fdt, node, {"interrupts": struct.pack(f">{len(flags)}I", *flags)})


def _whole(frames: list[Span]) -> Span:
    start = min(frame.start for frame in frames)
    return Span(start, max(frame.start + frame.size for frame in frames) - start)


def _stride(frames: list[Span]) -> int:
    """From frame to frame, so that a kernel's walk meets as few of other cores as can be; 0: there is but one."""
    starts = [frame.start for frame in frames]
    return math.gcd(*(start - min(starts) for start in starts))


def _gic(fdt: libfdt.FdtSw, machine: Machine, controllers: list[tuple[str, Span]]) -> None:
    """The board's node with the registers the sandbox may see: of GICv3, the redistributors from its first own core's to its last's."""
    node = machine.interrupt_controller
    spans = [span for _, span in controllers]
    if machine.gic_v3:
        spans, stride = [spans[0], _whole(spans[1:])], _stride(spans[1:])
    fdt.begin_node(node.name)
    for one in node.properties.values():
        if one.name != "reg":
            _put(fdt, one)
    fdt.property("reg", b"".join(_quads(span.start, span.size) for span in spans))
    if machine.gic_v3 and stride:
        fdt.property("redistributor-stride", struct.pack(">Q", stride))
    fdt.end_node()


def _pci(fdt: libfdt.FdtSw, devices: list[Device]) -> None:
    """The hosts of own functions, without the functions: the kernel finds those on the bus. Neither IOMMU nor message frames are the sandbox's:
    the kernel hands out guest-physical addresses, and its drivers use the functions' lines.
    """
    hosts = {device.function.host.path: device.function.host for device in devices if device.function}
    for host in hosts.values():
        fdt.begin_node(host.name)
        for one in host.properties.values():
            if one.name not in NOT_OF_HOSTS:
                _put(fdt, one)
        fdt.end_node()


EDGE_RISING = 1  # as Linux names it in a flags cell


def _channels(fdt: libfdt.FdtSw, channels: Sequence[View]) -> None:
    """The binding is in tools/linux/module/main.c. They lie outside of what is `memory`, so no kernel takes them for RAM."""
    for one in channels:
        fdt.begin_node(f"channel@{one.gpa:x}")
        fdt.property_string("compatible", one.channel.compatible)
        fdt.property("reg", _quads(one.gpa, one.channel.size))
        fdt.property_string("label", one.channel.name)
        fdt.property_string("bulkhead,peer", one.other.name)
        fdt.property_u32("bulkhead,end", one.end)
        fdt.property_u32("bulkhead,page-offset", one.page_offset)
        if one.shows_other:
            fdt.property("bulkhead,terminal", b"")
        if one.tells_of_other:
            fdt.property("bulkhead,telemetry", b"")
        if one.line:
            fdt.property("interrupts", struct.pack(">3I", GIC_SPI, one.line - GIC_SPI_FIRST_INTID, EDGE_RISING))
        if one.calls:
            fdt.property_u32("bulkhead,number", one.number)
        if one.gap_us:
            fdt.property_u32("bulkhead,gap-us", one.gap_us)
        if one.channel.on_request:
            fdt.property_u32("bulkhead,kind", one.channel.kind_number)
            fdt.property_u32("bulkhead,slots", one.channel.slots)
            fdt.property_u32("bulkhead,slot-bytes", one.channel.slot_bytes)
        fdt.end_node()


def _clocks(machine: Machine, devices: list[Device]) -> list[Node]:
    """The fixed clocks the devices name, each once."""
    wanted = {cell for device in devices for cell in (device.node.properties["clocks"].cells if "clocks" in device.node.properties else [])}
    return [node for node in machine.root.walk() if node.phandle in wanted]
