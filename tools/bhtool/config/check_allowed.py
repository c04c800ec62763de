# SPDX-License-Identifier: Apache-2.0
"""Rules on DMA without an IOMMU, which a partition file has to ask for: `allow-unprotected-dma`. A function then reaches all memory, by the machine's own addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bhtool.config.dma import dma_of
from bhtool.config.domains import ALLOWS_DMA, Domains, Sandbox
from bhtool.config.iommu import MAP
from bhtool.config.machine import Device
from bhtool.config.plan import SandboxPlan
from bhtool.config.rule import Finding


def _asking(domains: Domains) -> list[Sandbox]:
    return [one for one in domains.sandboxes if ALLOWS_DMA in one.node.properties]


def _masters(sandbox: Sandbox) -> list[Device]:
    return [one for one in sandbox.devices if dma_of([one]) == "unprotected"]


def says_why(domains: Domains) -> Iterator[Finding]:
    for sandbox in _asking(domains):
        if not sandbox.dma_reason.strip():
            yield Finding(sandbox.where(ALLOWS_DMA), f"`{ALLOWS_DMA}` of `{sandbox.name}` gives no reason")


def is_needed(domains: Domains) -> Iterator[Finding]:
    """Also where an IOMMU leads the functions to RAM of their sandbox: then nothing is unprotected."""
    for sandbox in _asking(domains):
        if sandbox.dma_reason.strip() and not _masters(sandbox):
            why = "no PCI function of its own masters the bus without an IOMMU"
            yield Finding(sandbox.where(ALLOWS_DMA), f"`{ALLOWS_DMA}` of `{sandbox.name}` is needless: {why}")


def has_no_iommu(domains: Domains) -> Iterator[Finding]:
    """Start-up lets nothing go past one."""
    iommu = domains.machine.iommu
    if iommu is None:
        return
    for sandbox in _asking(domains):
        for device in _masters(sandbox):
            text = f"{device.name} of `{sandbox.name}` would go past {iommu.name}: no row of `{MAP}` leads its stream there"
            yield Finding(sandbox.where(ALLOWS_DMA), text)


def one_asks(domains: Domains) -> Iterator[Finding]:
    for sandbox in _asking(domains)[1:]:
        first = _asking(domains)[0]
        text = f"`{sandbox.name}` is a second sandbox with `{ALLOWS_DMA}`, beside `{first.name}` ({first.where(ALLOWS_DMA)})"
        yield Finding(sandbox.where(ALLOWS_DMA), text)


def exposes(domains: Domains) -> Iterator[Finding]:
    others = {one.name: [f"`{other.name}`" for other in domains.sandboxes if other is not one] for one in domains.sandboxes}
    for sandbox in _asking(domains):
        for device in _masters(sandbox):
            text = (
                f"{device.name} of `{sandbox.name}` masters the bus without an IOMMU ({sandbox.dma_reason}): it reaches all memory, the monitors'"
                f" too{' and that of ' + ', '.join(others[sandbox.name]) if others[sandbox.name] else ''}, and on a PC interrupts every core"
            )
            yield Finding(sandbox.where(ALLOWS_DMA), text)


def judge_addresses(domains: Domains, plans: Sequence[SandboxPlan]) -> Iterator[Finding]:
    """Once everything has its place: whether who drives the functions can know the machine's addresses of its RAM."""
    for sandbox, one in zip(domains.sandboxes, plans, strict=True):
        if not any(each.dma == "unprotected" for each in one.functions):
            continue
        if sandbox.is_linux and any(ram.gpa != ram.hpa for ram in one.ram):
            guest = domains.machine.guest_ram
            text = f"Linux in `{sandbox.name}` sees its RAM at {guest:#x} and hands out its own addresses, and the RAM lies at {one.ram_hpa:#x}"
            yield Finding(sandbox.where("memory-region"), text)
        if not sandbox.is_linux and len(one.ram) > 1:
            text = f"RAM of `{sandbox.name}` lies in {len(one.ram)} places, without one offset: name one `memory-region` for it"
            yield Finding(sandbox.where("takes-the-rest"), text)
