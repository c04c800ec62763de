# SPDX-License-Identifier: Apache-2.0
"""A sandbox as a kernel's build sees it: addresses, interrupt lines and cores, without its image, which need not exist yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bhtool.config.compile import survey_partition
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.grants import WINDOW_INFO, WINDOW_LOG, WINDOW_STATS, interrupt_controllers
from bhtool.config.machine import GIC_SPI_FIRST_INTID, OF_EACH_CORE, Device, Machine
from bhtool.config.native import link_address
from bhtool.config.place import takes_largest
from bhtool.config.plan import Location, Plan, SandboxPlan
from bhtool.config.span import Span
from bhtool.errors import BulkheadError
from bhtool.image.stages import require_file, require_valid, show_warnings
from bhtool.machine.attach import require_sandbox
from bhtool.platforms import Platform
from bhtool.terminal.screen import Screen

PPI_FIRST_INTID = 16
VIRTUAL_TIMER = 2  # Linux binding "arm,arch_timer": secure, non-secure, virtual, hypervisor


@dataclass(frozen=True)
class Owned:
    """A device of the sandbox: its first registers or ports, and its first interrupt line."""

    name: str
    compatible: str
    span: Span
    line: int | None
    vector: int  # on a PC, which the line arrives at
    level: bool
    is_uart: bool

    @property
    def spi(self) -> int | None:
        return None if self.line is None else self.line - GIC_SPI_FIRST_INTID


@dataclass(frozen=True)
class Facts:
    name: str
    location: Location
    partition: str  # file name
    platform: Platform
    gic: int  # version; 0: none
    ram: Span
    link_address: int  # from there on an image may lie
    hardware_ids: list[int]  # boot core first
    console: str  # role label of a UART, "log" or "none"
    devices: list[Owned]
    uarts_of_others: list[Span]
    controllers: list[tuple[str, Span]]
    redistributors: Span  # of all cores of the machine; empty: it has none
    virtual_timer: int  # INTID; 0: the machine has none
    info: int
    stats: int
    log: int

    @property
    def clock_hz(self) -> int:
        """Of the counter; 0: only the machine knows."""
        return self.platform.emulator.clock_hz

    @property
    def free(self) -> Span:
        """RAM that an image may be linked to."""
        return Span(self.link_address, self.ram.end - self.link_address)

    @property
    def gicr_first(self) -> int:
        """The machine's first redistributor, where a kernel's walk begins."""
        return self.redistributors.start

    @property
    def uarts(self) -> list[Owned]:
        return [device for device in self.devices if device.is_uart]

    @property
    def console_uart(self) -> Owned | None:
        return next((device for device in self.uarts if device.name == self.console), None)


def surveyed(partition: Path, platform: Platform, screen: Screen, strict: bool = False) -> tuple[Plan, Domains | None]:
    """Raises BulkheadError, with every complaint of the checker, when the file is refused for another reason than a missing image."""
    require_file(partition)
    plan, domains = survey_partition(partition, platform)
    show_warnings(plan, screen, strict)
    require_valid(plan)
    return plan, domains


def facts_of(partition: Path, platform: Platform, name: str, screen: Screen, strict: bool = False) -> Facts:
    """Raises BulkheadError as `surveyed` does."""
    plan, domains = surveyed(partition, platform, screen, strict)
    assert domains is not None, "a file that is not refused splits the machine"
    index = require_sandbox(plan, name).index
    if plan.sandboxes[index].os == "linux":
        text = f"{plan.sandboxes[index].location}: `{name}` runs Linux, which is handed all this when it boots; name a native sandbox"
        raise BulkheadError(text)
    _refuse_unknown_size(plan, domains.sandboxes[index], domains)
    return _facts(domains, domains.sandboxes[index], plan.sandboxes[index], partition.name, platform)


def _refuse_unknown_size(plan: Plan, sandbox: Sandbox, domains: Domains) -> None:
    """What restarts copy back is as large as images that may not be built yet, and is taken from the rest."""
    restarting = next((one.name for one in plan.sandboxes if one.restarts), None)
    if restarting and takes_largest(domains, sandbox):
        raise BulkheadError(
            f"{sandbox.where('takes-the-rest')}: how much RAM is left for `{sandbox.name}` depends on the images that are kept for restarts, "
            f"as that of `{restarting}`; name its RAM: memory-region = <&{sandbox.name}_ram>;"
        )


def _facts(domains: Domains, sandbox: Sandbox, plan: SandboxPlan, partition: str, platform: Platform) -> Facts:
    machine = domains.machine
    owned = {device.name for device in sandbox.devices}
    return Facts(
        name=plan.name,
        location=sandbox.where("console"),
        partition=partition,
        platform=platform,
        gic=3 if machine.gic_v3 else 2 if machine.gic_v2 else 0,
        ram=Span(plan.ram_gpa, plan.ram_size),
        link_address=link_address(platform.arch, plan.ram_gpa),
        hardware_ids=plan.hardware_ids,
        console=plan.console,
        devices=[_owned(device, plan) for device in sandbox.devices],
        uarts_of_others=[
            device.registers[0] for device in machine.devices if device.is_uart and device.registers and device.name not in owned
        ],
        controllers=interrupt_controllers(machine, sandbox),
        redistributors=Span(*machine.interrupt_controller.reg()[1]) if machine.gic_v3 else Span(0, 0),
        virtual_timer=_virtual_timer(machine),
        info=machine.window + WINDOW_INFO,
        stats=machine.window + WINDOW_STATS,
        log=machine.window + WINDOW_LOG,
    )


def _owned(device: Device, plan: SandboxPlan) -> Owned:
    line = next((line for line in plan.lines if line.name == device.name), None)
    span = (*device.registers, *device.ports)[0]
    return Owned(
        device.name,
        device.driven_as,
        span,
        line.line if line else None,
        line.vector if line else 0,
        bool(line and line.level),
        device.is_uart,
    )


def _virtual_timer(machine: Machine) -> int:
    for node in machine.of_each_core:
        cells = node.properties["interrupts"].cells if "interrupts" in node.properties else []
        if any(OF_EACH_CORE.fullmatch(one) and one.endswith("-timer") for one in node.compatible) and len(cells) > 3 * VIRTUAL_TIMER + 1:
            return cells[3 * VIRTUAL_TIMER + 1] + PPI_FIRST_INTID
    return 0
