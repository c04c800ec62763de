# SPDX-License-Identifier: Apache-2.0
"""What a sandbox's monitor takes of memory, frame by frame, as start-up takes it: monitor/boot/partition_boot.c and hal/ below it.

The tool counts before anything is placed for good, start-up takes, and says in the sandbox's statistics how much it took. A test on each
backend compares both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bhtool.abi import lib
from bhtool.config.budget import tables_of
from bhtool.config.domains import Sandbox
from bhtool.config.machine import Machine
from bhtool.config.pci import configuration_page, owned_messages
from bhtool.config.plan import Plan, Region, SandboxPlan
from bhtool.config.span import PAGE, Span
from bhtool.families.family import PoolFrames
from bhtool.families.table import FAMILIES

SHOWN = lib.BH_POOL_ARENA // PAGE  # statistics, information, log; and the crash record, followed by the partition and the monitor's space
GICV3_FRAMES = 0x10000  # each of a distributor's and a redistributor's; a GICv2's have a page
COPY_TABLES = 4  # at most, of a boot snapshot: for its two ends, which may lie in two GiB; what is between has larger leaves


def frames_of(arch: str, backend: str) -> PoolFrames:
    return FAMILIES[arch].monitor.backends[backend]


def _same(span: Span) -> Region:
    """Of a monitor's own tables, one to one."""
    return Region("", "ram", span.start, span.start, span.size, "rw")


def _devices(machine: Machine, sandbox: Sandbox, one: SandboxPlan) -> Iterator[Span]:
    """Interrupt controllers and configuration registers that a monitor filters."""
    yield from (page for device in sandbox.devices if device.function and (page := configuration_page(device.function)))
    yield from (pages for device in sandbox.devices if (pages := owned_messages(machine, device)).size)
    if machine.family.interrupts.controller == "apic":
        if one.lines:
            yield Span(machine.interrupt_controller.reg()[0][0], PAGE)
        return
    if machine.family.interrupts.controller != "gic":
        return
    (distributor, _), (second, _) = machine.interrupt_controller.reg()[:2]
    yield Span(distributor, GICV3_FRAMES if machine.gic_v3 else PAGE)
    if not machine.gic_v3:
        yield Span(second, PAGE)
        return
    yield from (Span(second + 2 * GICV3_FRAMES * core, 2 * GICV3_FRAMES) for core in one.cores)


def own_spans(machine: Machine, sandbox: Sandbox, one: SandboxPlan, plan: Plan) -> Iterator[Span]:
    """What a monitor's own tables map, but for its boot snapshot. A pool lies within 2 MiB, so its first page stands for all of it."""
    yield Span(machine.image_address, PAGE)
    yield Span(plan.shared_hpa, PAGE)
    yield Span(one.pool_hpa, PAGE)
    for channel in plan.channels:  # its page, and of its own area the beginning
        if one.index == channel.ends[0]:
            yield from (Span(channel.hpa, PAGE), Span(channel.page, PAGE))
        elif one.index == channel.ends[1]:
            yield Span(channel.page, 2 * PAGE)
    yield from _devices(machine, sandbox, one)
    if machine.iommu and one.masters:
        yield machine.iommu.registers
        yield from (Span(plan.iommu_hpa + part.start, part.size) for part in machine.iommu.kind.mapped)
    if machine.family.monitor.kicks_by_poison:
        yield from (Span(plan.sandboxes[other].pool_hpa, PAGE) for other in one.may_kick)  # the root that a kick poisons
    if one.restarts or machine.family.monitor.reads_guests:
        yield from (Span(ram.hpa, ram.size) for ram in one.ram)


def count_pool(one: SandboxPlan, spans: Sequence[Span], arch: str, backend: str) -> int:
    """Bytes of the sandbox's pool; its stage-2 tables have been counted. Of a restart's copy that has no place yet, the most it can take."""
    frames = frames_of(arch, backend)
    placed = one.snapshot_size and one.snapshot_hpa
    own = [*spans, Span(one.snapshot_hpa, one.snapshot_size)] if placed else spans
    tables = len(tables_of([_same(span) for span in own], arch)) + (COPY_TABLES if one.restarts and not placed else 0)
    rare = int(one.restarts) + int(bool(one.functions))  # what to restart from; the page of ones that absent functions read as
    count = SHOWN + FAMILIES[arch].monitor.copy_frames + frames.sandbox + frames.core * len(one.cores) + rare + tables
    return int(count) * PAGE + one.ram_table_bytes + one.other_table_bytes + one.iommu_table_bytes
