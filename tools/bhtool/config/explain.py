# SPDX-License-Identifier: Apache-2.0
"""Who has what on the machine, and for a crash record: what the sandbox ran into, whose it is, where the grant is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from bhtool.abi import lib
from bhtool.config.domains import Domains
from bhtool.config.plan import Holding, Plan, Region, SandboxPlan
from bhtool.config.span import Span

ExplainKind = Literal["memory", "port", "register"]

MONITOR = "monitor"
IMAGE, FIRMWARE, KICK_MAILBOXES = "firmware and monitor image", "firmware", "kick mailboxes"
IOMMU_TABLES = "tables of the IOMMU"
CHANNEL = "channel "  # what a channel's memory is called begins so; its two ends have it


def list_holdings(domains: Domains, plan: Plan) -> list[Holding]:
    """The whole machine as the plan divides it, in address order, memory before ports."""
    return sorted(_holdings(domains, plan), key=lambda one: (one.kind, one.start, one.size))


def _holdings(domains: Domains, plan: Plan) -> Iterator[Holding]:
    machine = domains.machine
    image = Span(machine.image_address, lib.BH_PAGE_BYTES)
    for span in machine.reserved:
        yield Holding("memory", span.start, span.size, IMAGE if span.holds(image) else FIRMWARE, MONITOR, None)
    yield Holding("memory", plan.shared_hpa, lib.BH_PAGE_BYTES, KICK_MAILBOXES, MONITOR, None)
    if plan.iommu:
        yield Holding("memory", plan.iommu_hpa, plan.iommu_bytes, IOMMU_TABLES, MONITOR, None)
    for channel, placed in zip(domains.channels, plan.channels, strict=True):
        sender, receiver = (plan.sandboxes[end].name for end in placed.ends)
        what = f"{CHANNEL}`{placed.name}` from `{sender}` to `{receiver}`" + (", on request" if placed.on_request else "")
        yield Holding("memory", placed.hpa, placed.size, what, MONITOR, channel.location)
    for iommu in machine.iommus:
        yield Holding("memory", iommu.registers.start, iommu.registers.size, f"IOMMU {iommu.name}", MONITOR, iommu.node.location)
    for controller in machine.controllers:
        for start, size in controller.reg():
            yield Holding("memory", start, size, f"interrupt controller {controller.label}", MONITOR, controller.location)
    for one, sandbox in zip(plan.sandboxes, domains.sandboxes, strict=True):
        memory = domains.memory_of(sandbox)
        yield Holding("memory", one.pool_hpa, one.pool_size, f"monitor of `{one.name}`", MONITOR, None)
        for ram in one.ram:
            yield Holding("memory", ram.hpa, ram.size, "RAM", one.name, memory.location if memory else sandbox.location)
    for device in machine.devices:
        owner = next((sandbox for sandbox in domains.sandboxes if device in sandbox.devices), None)
        name, where = (owner.name, owner.where("access")) if owner else ("", device.location)
        for span in device.registers:
            yield Holding("memory", span.start, span.size, device.name, name, where)
        for span in device.ports:
            yield Holding("port", span.start, span.size, device.name, name, where)


def explain(plan: Plan, index: int, kind: ExplainKind, address: int) -> str:
    """One sentence for a crash record: what lies there, whose it is, and where the sandbox lacks the grant.

    An address no grant covers is judged as a machine address, as devices have it.
    """
    sandbox = plan.sandboxes[index]
    if kind == "register":
        return f"register {address:#x} is not one that a sandbox can have"
    if kind == "memory":
        for region in sandbox.regions + sandbox.configuration:
            if region.gpa <= address < region.gpa + region.size:
                when = ", while it has that open" if _is_opened(plan, region) else ""
                return f"{address:#x} is `{sandbox.name}`'s own {region.name}, which it may access as {region.permissions} only{when}"
    held = _held(plan, kind, address)
    what = f"I/O port {address:#x}" if kind == "port" else f"{address:#x}"
    if held is None:
        return f"{what} is nothing on this machine that a sandbox can have; {_missing(sandbox)}"
    return f"{what} is {held.what}, {_owner(held)}; {_missing(sandbox)}"


def _is_opened(plan: Plan, region: Region) -> bool:
    """Of a channel that its ends open on request."""
    return region.kind == "channel" and any(one.on_request and one.hpa <= region.hpa < one.hpa + one.size for one in plan.channels)


def _held(plan: Plan, kind: ExplainKind, address: int) -> Holding | None:
    """The narrowest holding around the address."""
    around = [one for one in plan.holdings if one.kind == kind and one.start <= address < one.start + one.size]
    return min(around, key=lambda one: one.size, default=None)


def _owner(held: Holding) -> str:
    place = f" ({held.location})" if held.location else ""
    if held.owner == MONITOR:
        return f"the monitor's{place}"
    return f"`{held.owner}`'s{place}" if held.owner else f"nobody's{place}"


def _missing(sandbox: SandboxPlan) -> str:
    if sandbox.access_location == sandbox.location:
        return f"`{sandbox.name}` ({sandbox.location}) has no `access` to it"
    return f"`access` of `{sandbox.name}` ({sandbox.access_location}) does not grant it"
