# SPDX-License-Identifier: Apache-2.0
"""Rules on protections that a sandbox is to do without."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.config.dma import judge_dma
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.plan import Translated
from bhtool.config.rule import Finding

THEN = {
    "memory": "read, change and execute all memory, the monitors' too",
    "io": "use every I/O port and PCI function, let functions master the bus, and so reset the machine or switch it off",
    "msr": "change registers that the machine's cores share or that decide how they work",
    "ipi": "interrupt every core, and on a PC reset it",
    "irq": "take, redirect and silence every interrupt line, and on ARM its own monitor's",
    "abort": "make its core deaf to kicks by an exception that goes on for ever, and has to take errors of the machine itself",
    "dma": "read and change all memory and device registers through its functions that master the bus",
}


def _where(sandbox: Sandbox, text: str) -> Finding:
    return Finding(sandbox.where("unprotected"), text)


def exists(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if "io" in sandbox.unprotected and not domains.machine.family.has_ports and not any(device.function for device in sandbox.devices):
            yield _where(sandbox, f"`{sandbox.name}` is to do without `io`, and has neither I/O ports nor PCI functions")
        if "dma" in sandbox.unprotected and not any(isinstance(judge_dma(device), Translated) for device in sandbox.devices):
            yield _where(sandbox, f"`{sandbox.name}` is to do without `dma`, and has no function that an IOMMU translates for")


def irq_with_ipi(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if "irq" in sandbox.unprotected and "ipi" not in sandbox.unprotected and domains.machine.gic_v2:
            yield _where(sandbox, f"`{sandbox.name}` would have the distributor and with it the register that sends IPIs")


def ipi_on_one_core(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if "ipi" in sandbox.unprotected and domains.machine.family.interrupts.start_by_ipi and len(sandbox.cores) > 1:
            yield _where(sandbox, f"INIT and STARTUP to the cores of `{sandbox.name}` would reach hardware below its monitor")


def nothing(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        for one in dict.fromkeys(sandbox.unprotected):
            yield _where(sandbox, f"`{sandbox.name}` does without `{one}` protection: it can {THEN.get(one, one)}")
