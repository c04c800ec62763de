# SPDX-License-Identifier: Apache-2.0
"""What each sandbox may touch: mappings, ports and lines for the monitor, and the table of grants the sandbox itself reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from bhtool.abi import lib
from bhtool.config import pci_function
from bhtool.config.channel_places import channel_regions, views_of
from bhtool.config.channels import MAILBOX
from bhtool.config.dma import Doubt, dma_of, judge_dma
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.doorbells import gap_us, line_of, rings_of
from bhtool.config.iommu import EVENTS, FORMS
from bhtool.config.machine import LOCAL_APIC, Device, Machine, Wire
from bhtool.config.numa import nodes_of_cores, nodes_of_ram
from bhtool.config.pci import configuration, configuration_page
from bhtool.config.place import Placement, takes_largest
from bhtool.config.plan import Dma, Function, Line, Ports, Region, SandboxPlan, VcpuPlan
from bhtool.config.schedulability import loads_of
from bhtool.config.span import PAGE, Span
from bhtool.config.unprotected import open_regions, open_to_functions
from bhtool.config.vcpus import Vcpu, period_of

# Offsets in a sandbox's window (docs/guest.md).
WINDOW_STATS = 0x0000
WINDOW_INFO = 0x1000
WINDOW_LOG = 0x4000
WINDOW_FAULTS = 0x8000
WINDOW_FOREIGN_LOG = 0x10000  # times k + 1
FIRST_VECTOR = 0x30  # IOAPIC pin p arrives at vector 0x30 + p: unique machine-wide; level-triggered, see vector_of
NS_PER_US = 1000
GICR_BYTES = 0x20000  # RD_base and SGI_base frames, GICv3 without virtual LPIs


@dataclass(frozen=True)
class Grant:
    """One row of struct bh_info."""

    kind: int
    name: str
    gpa: int
    size: int
    line: int = 0xFFFFFFFF
    vector: int = 0
    level: bool = False
    compatible: str = ""
    function: int = 0  # bus << 8 | device << 3 | function
    layout: tuple[int, int] = (0, 0)  # reg-shift, and reg-io-width in bytes
    own_flags: int = 0  # BH_VCPU_*, BH_CHANNEL_*


def plan_sandbox(domains: Domains, placement: Placement, sandbox: Sandbox) -> SandboxPlan:
    """Everything about one sandbox but its payload."""
    ram = placement.ram[sandbox.index]
    ram_size = sum(span.size for span in ram)
    plan = SandboxPlan(
        name=sandbox.name,
        index=sandbox.index,
        os=sandbox.os,
        location=sandbox.location,
        access_location=sandbox.where("access"),
        cores=[core.number for core in sandbox.cores],
        hardware_ids=[core.hardware_id for core in sandbox.cores],
        console=sandbox.console,
        image=sandbox.node.text("image"),
        bootargs=sandbox.bootargs,
        ram_gpa=domains.machine.guest_ram,
        ram_hpa=ram[0].start if ram else 0,
        ram_size=ram_size,
        pool_hpa=placement.pools[sandbox.index],
        numa_of_cores=nodes_of_cores(domains.machine, sandbox.cores),
        numa_of_ram=nodes_of_ram(domains.machine, ram),
        trusted_idle="trusted-idle" in sandbox.node.properties,
        may_kick=[one.index for node in sandbox.kick_nodes if (one := domains.sandbox_at(node))],
        log_access=[one.index for node in sandbox.log_nodes if (one := domains.sandbox_at(node))],
        notifies=[one.index for node in sandbox.notify_nodes if (one := domains.sandbox_at(node))],
        sends_to=list(dict.fromkeys(one.other.index for one in views_of(domains, sandbox) if one.end == 0 or one.channel.kind == MAILBOX)),
        accepts_notify=[one.index for node in sandbox.accept_nodes if (one := domains.sandbox_at(node))],
        rest=[*sandbox.rest, *([f"{ram_size >> 20} MiB"] if takes_largest(domains, sandbox) else [])],
        restarts=sandbox.restarts,
        max_restarts=sandbox.health.number("max-restarts", 0) if sandbox.health else 0,
        heartbeat_timeout_us=sandbox.health.number("heartbeat-timeout-us", 0) if sandbox.health else 0,
        unprotected=sandbox.unprotected,
        initrd=sandbox.node.text("initrd"),
        ready_line=sandbox.node.text("ready-line"),
        devices={one.name: known for one in sandbox.devices if not isinstance(known := judge_dma(one), Doubt)},
        withheld=[one.name for one in sandbox.withheld],
    )
    plan.regions = _regions(domains, placement, sandbox, plan)
    plan.configuration = _configuration(sandbox, plan)
    plan.regions += open_regions(domains.machine, plan)
    plan.for_functions = open_to_functions(domains.machine, plan)
    plan.ports = [
        Ports(name, span.start, span.size, dma)
        for name, span, dma in _each_once((one, span) for one in sandbox.devices for span in one.ports)
    ]
    plan.lines = _lines(sandbox, domains)
    plan.vcpus, plan.loads = (
        [_vcpu(sandbox, vcpu) for vcpu in sandbox.vcpus],
        loads_of(sandbox, domains.machine.costs, rings_of(domains, sandbox)),
    )
    plan.functions = [
        Function(
            one.name, one.function.id, one.function.identity, one.function.words, dma_of([one]), *_messages(one.function), bool(one.wires)
        )
        for one in sandbox.devices
        if one.function
    ]
    return plan


def _vcpu(sandbox: Sandbox, vcpu: Vcpu) -> VcpuPlan:
    served = next((one for one in sandbox.devices if one.node in vcpu.served_nodes), None)
    return VcpuPlan(
        name=vcpu.name,
        kind="io" if vcpu.is_io else "main",
        core=next((slot for slot, one in enumerate(sandbox.cores) if one.node in vcpu.core_nodes), 0),
        budget_us=vcpu.budget_us,
        period_us=period_of(vcpu, sandbox.vcpus),
        percent=vcpu.percent,
        program=vcpu.program,
        foreground_only=vcpu.foreground_only,
        edf=sandbox.is_edf,
        serves=served.name if served else "",
        line=served.wires[0].number if served and served.wires else None,
        rate_hz=vcpu.rate_hz,
    )


def _messages(function: pci_function.Function) -> tuple[int, int]:
    return (function.msix.word, function.msix.entries) if function.msix else (0, 0)


def _configuration(sandbox: Sandbox, plan: SandboxPlan) -> list[Region]:
    """A page for each function its buses could have: an own one, or the page of ones; without `io` protection all as they are."""
    own = {page.start: device.name for device in sandbox.devices if device.function and (page := configuration_page(device.function))}
    buses = [held for one in sandbox.devices if one.function and (held := configuration(one.function.host))]
    pages = sorted({page for held in buses for page in range(held.start, held.end, PAGE)})
    absent = plan.pool_hpa + lib.BH_POOL_ABSENT
    if "io" in sandbox.unprotected:
        return [Region("configuration of PCI", "configuration", page, page, PAGE, "rw", True) for page in pages]
    return [
        Region(
            f"configuration of {own.get(page, 'nothing')}", "configuration", page, page if page in own else absent, PAGE, "r", page in own
        )
        for page in pages
    ]


def wires_of(sandbox: Sandbox) -> list[tuple[Device, Wire]]:
    """Lines routed to the sandbox."""
    return [(device, wire) for device in sandbox.devices for wire in device.wires]


def fixed_level_lines(domains: Domains) -> list[int]:
    """Pins of level-triggered lines whose vectors are not chosen by guests: native sandboxes' on a PC."""
    owners = [one for one in domains.sandboxes if not one.is_linux and domains.machine.family.interrupts.has_vectors]
    return sorted({wire.number for sandbox in owners for _, wire in wires_of(sandbox) if wire.level})


def vector_of(domains: Domains, sandbox: Sandbox, wire: Wire) -> int:
    """A fixed level line's is one that Linux gives to no device: the end of a level interrupt is told to all lines with its vector."""
    if not domains.machine.family.interrupts.has_vectors:
        return 0
    if not wire.level or sandbox.is_linux:
        return FIRST_VECTOR + wire.number
    return int(lib.BH_FIRST_LEVEL_VECTOR) + fixed_level_lines(domains).index(wire.number)


def _lines(sandbox: Sandbox, domains: Domains) -> list[Line]:
    """Each once, however many of the sandbox's devices share it."""
    names: dict[Wire, list[str]] = {}
    for device, wire in wires_of(sandbox):
        names.setdefault(wire, []).append(device.name)
    return [_line(_joined(shared), wire, sandbox, domains) for wire, shared in names.items()] + list(_rung_lines(sandbox, domains))


def rung_vector(domains: Domains, line: int) -> int:
    return FIRST_VECTOR + line if domains.machine.family.interrupts.has_vectors else 0


def _rung_lines(sandbox: Sandbox, domains: Domains) -> Iterator[Line]:
    core = sandbox.cores[0].number if sandbox.cores else 0
    masked = sandbox.is_linux and domains.machine.family.interrupts.has_vectors
    for channel, end in domains.ends_of(sandbox):
        if line := line_of(domains, channel, end):
            yield Line(f"doorbell of channel `{channel.name}`", line, core, rung_vector(domains, line), masked=masked, rung=True)


def _joined(names: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(names))


def _line(name: str, wire: Wire, sandbox: Sandbox, domains: Domains) -> Line:
    core = sandbox.cores[0].number if sandbox.cores else 0
    vector, masked = vector_of(domains, sandbox, wire), sandbox.is_linux and domains.machine.family.interrupts.has_vectors
    return Line(name, wire.number, core, vector, wire.level, wire.active_low, masked=masked)


def _regions(domains: Domains, placement: Placement, sandbox: Sandbox, plan: SandboxPlan) -> list[Region]:
    window, pool = domains.machine.window, plan.pool_hpa
    regions = [
        *_ram(plan.ram_gpa, placement.ram[sandbox.index]),
        Region("stats", "pool", window + WINDOW_STATS, pool + lib.BH_POOL_STATS, lib.BH_PAGE_BYTES, "r"),
        Region("info", "pool", window + WINDOW_INFO, pool + lib.BH_POOL_INFO, lib.BH_PAGE_BYTES, "r"),
        Region("log", "pool", window + WINDOW_LOG, pool + lib.BH_POOL_LOG, lib.BH_LOG_BYTES, "rw"),
    ]
    for k, other in enumerate(plan.log_access):
        name, hpa = f"log of {domains.sandboxes[other].name}", placement.pools[other] + lib.BH_POOL_LOG
        regions.append(Region(name, "pool", window + foreign_log(k), hpa, lib.BH_LOG_BYTES, "r"))
    if sandbox.sees_dma_faults and (queue := faults_of(domains.machine, placement)):
        regions.append(Region("dma faults", "faults", window + WINDOW_FAULTS, queue, lib.BH_FAULTS_BYTES, "r"))
    regions += channel_regions(domains, placement, sandbox)
    held = [(device, span.pages()) for device in sandbox.devices for span in device.registers]
    regions += [_registers("device", *one) for one in _each_once(pair for pair in held if not pair[0].function)]
    regions += [_registers("bar", *one) for one in _each_once(pair for pair in held if pair[0].function)]
    for span in banked_registers(domains.machine):
        regions.append(Region("gicv2-cpu", "banked", span.start, span.start, span.size, "rw", True))
    return regions


def _ram(gpa: int, spans: list[Span]) -> Iterator[Region]:
    """One after the other as the sandbox sees them, wherever the machine has them."""
    for span in spans:
        yield Region("ram", "ram", gpa, span.start, span.size, "rwx")
        gpa += span.size


def _registers(kind: Literal["bar", "device"], name: str, page: Span, dma: Dma) -> Region:
    return Region(name, kind, page.start, page.start, page.size, "rw", True, dma)


def _each_once(held: Iterable[tuple[Device, Span]]) -> list[tuple[str, Span, Dma]]:
    """Whose each stretch is, and what is known of their DMA; those that overlap are one, as devices of one sandbox may share pages
    and ports."""
    found: list[tuple[list[Device], Span]] = []
    for device, span in held:
        shared = [one for one in found if one[1].overlaps(span)]
        devices, spans = [each for one in shared for each in one[0]], [span, *(one[1] for one in shared)]
        start = min(one.start for one in spans)
        found = [one for one in found if one not in shared]
        found.append(([*devices, device], Span(start, max(one.end for one in spans) - start)))
    return [(_joined(one.name for one in devices), span, dma_of(devices)) for devices, span in found]


def faults_of(machine: Machine, placement: Placement) -> int:
    """Where the IOMMU records what it blocks; 0: not in memory."""
    kind = machine.iommu.kind.number if machine.iommu else lib.BH_IOMMU_NONE
    return placement.iommu + EVENTS[kind] if kind in EVENTS else 0


def _fault_grants(domains: Domains) -> Iterator[Grant]:
    """The queue, once for each function that it can be about."""
    kind = domains.machine.iommu.kind.number if domains.machine.iommu else lib.BH_IOMMU_NONE
    gpa, form = domains.machine.window + WINDOW_FAULTS, FORMS.get(kind, 0)
    for owner in domains.sandboxes:
        for device in owner.devices:
            if device.function and dma_of([device]) == "translated":
                row = Grant(lib.BH_GRANT_DMA_FAULTS, owner.name, gpa, lib.BH_FAULTS_BYTES, vector=form, compatible=device.name)
                yield replace(row, function=device.function.id)


def foreign_log(k: int) -> int:
    return WINDOW_FOREIGN_LOG * (k + 1)


def banked_registers(machine: Machine) -> list[Span]:
    """Registers the hardware keeps once per core: the GICv2 CPU interface, which every sandbox drives directly.

    But for its second page: GICC_DIR, alone there, deactivates anybody's line. IHI 0048 4.4.
    """
    return [Span(machine.interrupt_controller.reg()[1][0], PAGE)] if machine.gic_v2 else []


def interrupt_controllers(machine: Machine, sandbox: Sandbox) -> list[tuple[str, Span]]:
    """The interrupt controller as the sandbox sees it: names of BH_GRANT_IRQCHIP."""
    if machine.family.interrupts.controller == "apic":
        lapic = next(node for node in machine.controllers if LOCAL_APIC in node.compatible)
        return [("x2apic", Span(*lapic.reg()[0]))]
    if machine.family.interrupts.controller != "gic":
        return []
    dist, second = (Span(*pair) for pair in machine.interrupt_controller.reg()[:2])
    if not machine.gic_v3:
        return [("gicv2-dist", dist), *(("gicv2-cpu", span) for span in banked_registers(machine))]
    if sandbox.is_linux and "irq" in sandbox.unprotected:  # unfiltered, its own frame is not the last: a driver goes on to that
        return [("gicv3-dist", dist), ("gicv3-redist", second)]
    frames = [Span(second.start + core.number * GICR_BYTES, GICR_BYTES) for core in sandbox.cores]
    return [("gicv3-dist", dist)] + [("gicv3-redist", frame) for frame in frames]


def grants_of(domains: Domains, sandbox: Sandbox, plan: SandboxPlan) -> list[Grant]:
    """The rows of the sandbox's info page, in the order of enum bh_grant_kind's introduction to a reader: RAM first."""
    window = domains.machine.window
    rows = [
        Grant(lib.BH_GRANT_RAM, "ram", plan.ram_gpa, plan.ram_size),
        Grant(lib.BH_GRANT_STATS, "stats", window + WINDOW_STATS, lib.BH_PAGE_BYTES),
        Grant(lib.BH_GRANT_LOG, "log", window + WINDOW_LOG, lib.BH_LOG_BYTES),
    ]
    if any(one.dma == "unprotected" for one in plan.functions):
        rows.append(Grant(lib.BH_GRANT_DMA_RAM, "ram", plan.ram_hpa, plan.ram_size))
    rows += [
        Grant(lib.BH_GRANT_FOREIGN_LOG, domains.sandboxes[other].name, window + foreign_log(k), lib.BH_LOG_BYTES)
        for k, other in enumerate(plan.log_access)
    ]
    rows += _fault_grants(domains) if sandbox.sees_dma_faults else ()
    rows += [Grant(lib.BH_GRANT_IRQCHIP, name, span.start, span.size) for name, span in interrupt_controllers(domains.machine, sandbox)]
    wired = {id(device) for device, _ in wires_of(sandbox)}
    for device in sandbox.devices:
        rows += _device_grants(device, domains, sandbox, id(device) in wired)
    return [*rows, *map(_vcpu_grant, plan.vcpus), *_channel_grants(domains, sandbox)]


def _channel_grants(domains: Domains, sandbox: Sandbox) -> Iterator[Grant]:
    for one in views_of(domains, sandbox):
        page, size = one.page_offset, one.channel.size
        flags = lib.BH_CHANNEL_TERMINAL if one.channel.node in sandbox.terminal_nodes else 0
        flags |= lib.BH_CHANNEL_ON_REQUEST if one.channel.on_request else 0
        flags |= lib.BH_CHANNEL_TELEMETRY if one.channel.node in sandbox.telemetry_nodes else 0
        row = Grant(lib.BH_GRANT_CHANNEL, one.channel.name, one.gpa, size, line=page, vector=one.end, compatible=one.other.name)
        yield replace(row, own_flags=flags)
    for one in views_of(domains, sandbox):
        rings, rung = (gap_us(one.channel, end) * NS_PER_US for end in (one.end, 1 - one.end))
        line = line_of(domains, one.channel, one.end)
        if line:
            yield Grant(lib.BH_GRANT_DOORBELL, one.channel.name, rings, rung, line, rung_vector(domains, line))
        elif rings:
            yield Grant(lib.BH_GRANT_DOORBELL, one.channel.name, rings, 0)


def _vcpu_grant(one: VcpuPlan) -> Grant:
    flags = {lib.BH_VCPU_FOREGROUND_ONLY: one.foreground_only, lib.BH_VCPU_EDF: one.edf}
    return Grant(
        lib.BH_GRANT_VCPU,
        one.name,
        gpa=one.rate_hz if one.kind == "io" else one.budget_us * NS_PER_US,
        size=one.period_us * NS_PER_US,
        line=lib.BH_LINE_NONE if one.line is None else one.line,
        vector=one.percent,
        compatible=one.program,
        own_flags=one.core | sum(flag for flag, is_set in flags.items() if is_set),
    )


def _device_grants(device: Device, domains: Domains, sandbox: Sandbox, wired: bool) -> list[Grant]:
    """The n-th stretch of registers or ports goes with the n-th line. A PCI function comes before both."""
    compatible = device.driven_as
    spans = [(lib.BH_GRANT_DEVICE, span) for span in device.registers] + [(lib.BH_GRANT_PORTS, span) for span in device.ports]
    rows = []
    if device.function:
        page = configuration_page(device.function) or Span(0, 0)
        rows.append(
            Grant(lib.BH_GRANT_PCI_FUNCTION, device.name, page.start, page.size, compatible=compatible, function=device.function.id)
        )
    for held, wire in zip_longest(spans, device.wires if wired else ()):
        kind, span = held or (lib.BH_GRANT_DEVICE, Span(0, 0))
        line, vector, level = (wire.number, vector_of(domains, sandbox, wire), wire.level) if wire else (lib.BH_LINE_NONE, 0, False)
        layout = device.layout if kind == lib.BH_GRANT_DEVICE else (0, 0)
        rows.append(Grant(kind, device.name, span.start, span.size, line, vector, level, compatible, layout=layout))
    return rows
