# SPDX-License-Identifier: Apache-2.0
"""What a sandbox without its memory, irq or dma protection reaches besides its grants, as mappings: `unprotected` of a sandbox.

memory: every hole of its own map below 4 GiB shows the machine, one to one; but interrupt controllers, which are irq's.
        RAM hidden behind the sandbox's own is seen through the alias, all of it, once more.
irq:    the registers of the interrupt controller, one to one.
dma:    of functions that master the bus: every hole of RAM below 4 GiB shows the machine, interrupt controllers too; and the alias.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bhtool.config.machine import LOCAL_APIC, Machine
from bhtool.config.plan import Region, SandboxPlan
from bhtool.config.span import Span

MACHINE = Span(0, 4 << 30)
ALIAS = 128 << 30  # of machine address 0
INTERRUPT_MESSAGES = Span(0xFEE00000, 0x100000)  # SDM vol. 3A, 11.11.1 "Message Address Register Format"


def open_regions(machine: Machine, sandbox: SandboxPlan) -> list[Region]:
    found: list[Region] = []
    if "memory" in sandbox.unprotected:
        found += [_alias(machine, span) for span in machine.ram]
        taken = [Span(region.gpa, region.size) for region in [*sandbox.regions, *sandbox.configuration, *found]]
        holes = list(without([MACHINE], [*taken, *_controllers(machine), *_local_apics(machine)]))
        ram = [part for span in machine.ram for part in _within(holes, span)]
        found += [Region("the machine's RAM", "open", one.start, one.start, one.size, "rwx") for one in ram]
        found += [_registers(one) for one in without(holes, machine.ram)]
    if "irq" in sandbox.unprotected:
        own = [Span(region.gpa, region.size) for region in sandbox.regions]
        found += [_registers(one) for one in without(_controllers(machine), own)]
    return found


def open_to_functions(machine: Machine, sandbox: SandboxPlan) -> list[Region]:
    """Through the IOMMU. Where on a PC a write may be an interrupt it is one, whatever is mapped there."""
    if "dma" not in sandbox.unprotected:
        return []
    found = [_alias(machine, span) for span in machine.ram]
    taken = [Span(region.gpa, region.size) for region in [*sandbox.ram, *found]]
    holes = list(without([MACHINE], [*taken, *_local_apics(machine)]))
    ram = [part for span in machine.ram for part in _within(holes, span)]
    found += [Region("the machine's RAM", "open", one.start, one.start, one.size, "rw") for one in ram]
    found += [_registers(one) for one in without(holes, machine.ram)]
    return [replace(one, kind="dma", permissions="rw") for one in found]


def without(spans: Iterable[Span], taken: Iterable[Span]) -> Iterator[Span]:
    """What is left of the spans, in whole pages."""
    left = [span.pages() for span in spans]
    for hole in (span.pages() for span in taken):
        left = [
            Span(start, end - start)
            for one in left
            for start, end in ((one.start, min(one.end, hole.start)), (max(one.start, hole.end), one.end))
            if start < end
        ]
    yield from left


def _within(spans: Iterable[Span], limits: Span) -> Iterator[Span]:
    for span in spans:
        start, end = max(span.start, limits.start), min(span.end, limits.end)
        if start < end:
            yield Span(start, end - start)


def _registers(span: Span) -> Region:
    return Region("the machine's registers", "open", span.start, span.start, span.size, "rw", True)


def _alias(machine: Machine, ram: Span) -> Region:
    """Where addresses have 32 bits: as much as there is room for after RAM."""
    if machine.family.programs.address_end <= ALIAS:
        return Region("alias of RAM", "open", ram.end, ram.start, min(ram.size, MACHINE.end - ram.end), "rwx")
    return Region("alias of RAM", "open", ALIAS + ram.start, ram.start, ram.size, "rwx")


def alias_of(machine: Machine, address: int) -> int:
    """Where RAM at the address is seen once more."""
    return next((_alias(machine, one).gpa + address - one.start for one in machine.ram if one.start <= address < one.end), address)


def _controllers(machine: Machine) -> list[Span]:
    """Those that are shared; a local APIC is its core's own."""
    return [Span(*pair) for node in machine.controllers if LOCAL_APIC not in node.compatible for pair in node.reg()]


def _local_apics(machine: Machine) -> list[Span]:
    """Their page, and where on a PC a write may be an interrupt: nothing but ICR sends one, whatever is open."""
    return [INTERRUPT_MESSAGES] if machine.family.interrupts.sent_by_writes else []
