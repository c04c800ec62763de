# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma. Which devices are known to reach no memory by themselves. All others are granted to nobody: DMA fails closed.

A device is known by the first string of its `compatible`, which names it most closely; what follows says only that an older driver
can use it, not that it can do no more: "acme,uart-with-dma", "ns16550a" is not a 16550A. The board tree can say of any device why it is free
of DMA; a partition file cannot (BH-R009).
"""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.config.machine import Device
from bhtool.config.plan import DmaFree

REASON = "bulkhead,dma-free"
PASSIVE = "never masters its bus"
ASKS = f"{PASSIVE}; `dmas` would name a controller that does it"

# Binding to the reason. PCI functions go by vendor and device; monitors keep all of them from mastering the bus besides (hal/pci).
FREE_BINDINGS = {
    "arm,pl011": f"PrimeCell UART, {ASKS}",
    "arm,sbsa-uart": f"Generic UART of Arm's base system architecture, {PASSIVE}",
    "arm,pl022": f"PrimeCell synchronous serial port, {ASKS}",
    "arm,pl031": f"PrimeCell real-time clock, {PASSIVE}",
    "arm,pl050": f"PrimeCell keyboard and mouse interface, {PASSIVE}",
    "arm,pl061": f"PrimeCell GPIO, {PASSIVE}",
    "arm,sp804": f"dual timer, {PASSIVE}",
    "ns8250": f"8250 UART, {PASSIVE}",
    "ns16450": f"16450 UART, {PASSIVE}",
    "ns16550": f"16550 UART, {ASKS}",
    "ns16550a": f"16550A UART, {ASKS}",
    "pci1b36,2": "QEMU's serial card, a 16550A behind one base address",
    "pci1b36,5": "QEMU's test device: memory and ports that count accesses",
    "pci1234,1111": "display of QEMU and Bochs: memory that only processors write",
}
# In a device of a known binding these say that it reaches memory after all, or has a controller do it; messages that interrupt are writes.
SIGNS = (
    "dmas",
    "dma-names",
    "#dma-cells",
    "dma-channels",
    "dma-coherent",
    "dma-noncoherent",
    "dma-ranges",
    "iommus",
    "iommu-map",
    "memory-region",
    "msi-parent",
    "msi-map",
)


@dataclass(frozen=True)
class Doubt:
    """Why a device is not granted, as the end of a sentence that begins with its name."""

    text: str


def judge_dma(device: Device) -> DmaFree | Doubt:
    """The word of the board tree, then its binding."""
    node = device.node
    if REASON in node.properties:
        return DmaFree("board tree", node.text(REASON))
    binding = next(iter(node.compatible), "")
    if binding not in FREE_BINDINGS:
        what = f'"{binding}" is not listed in docs/configuration.md' if binding else "it has no `compatible`"
        return Doubt(f"is not known to be free of DMA ({what})")
    sign = next((name for name in SIGNS if name in node.properties), None)
    return Doubt(f"has `{sign}`, so it does DMA or has it done") if sign else DmaFree(binding, FREE_BINDINGS[binding])


def is_dma_free(device: Device) -> bool:
    return isinstance(judge_dma(device), DmaFree)
