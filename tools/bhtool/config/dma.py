# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma. Which devices are known to reach no memory by themselves. All others are granted to nobody: DMA fails closed.

A device is known by the first string of its `compatible`, which names it most closely; what follows says only that an older driver
can use it, not that it can do no more: "acme,uart-with-dma", "ns16550a" is not a 16550A. The board tree can say of any device why it is free
of DMA; a partition file cannot (BH-R009).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bhtool.config.machine import Device, buses
from bhtool.config.pci_function import Function
from bhtool.config.plan import Dma, DmaFree, Translated, Unprotected

REASON = "bulkhead,dma-free"
IOMMU_PLATFORM = "bulkhead,iommu-platform"
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
    "snps,dw-apb-uart": f"DesignWare APB UART, {ASKS}",
    "brcm,bcm2835-aux-uart": f"mini UART of the BCM2835 and its successors, {ASKS}",
    "pci1b36,2": "QEMU's serial card, a 16550A behind one base address",
    "pci1b36,5": "QEMU's test device: memory and ports that count accesses",
    "pci10ec,8029": f"RTL8029, an NE2000 on PCI: packets go through ports; {PASSIVE}",
    "pci10e8,8406": f"Kvaser PCIcan: SJA1000 CAN controllers behind ports, {PASSIVE}",
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


# Virtual I/O Device 1.2, 4.1.2 "PCI Device Discovery": vendor and devices; the first of these are transitional, and have the legacy interface besides.
VIRTIO_VENDOR, VIRTIO_DEVICES, TRANSITIONAL = 0x1AF4, range(0x1000, 0x1080), range(0x1000, 0x1040)
BY_OTHERS = {"dmas", "dma-names", "memory-region"}  # of SIGNS, what an IOMMU does not see of a function
OF_ANY_BUS = ("dma-ranges",)  # how addresses are translated, should a device on it do DMA


@dataclass(frozen=True)
class Doubt:
    """Why a device is not granted, as the end of a sentence that begins with its name."""

    text: str


def judge_dma(device: Device) -> DmaFree | Translated | Unprotected | Doubt:
    """The word of the board tree, then its binding, then what the IOMMU makes of it, or the partition file where none sees it."""
    found = _judge_by_itself(device)
    return found if isinstance(found, DmaFree) else _as_a_master(device) or found


def _as_a_master(device: Device) -> Translated | Unprotected | None:
    """Of what it has another do the IOMMU sees nothing, and bus mastering is no switch; and what has no class may be a bridge."""
    function = device.function
    if not function or not function.classes or not BY_OTHERS.isdisjoint(device.node.properties):
        return None
    stream = function.stream
    if passes_iommu(device):
        return None
    if stream:
        return Translated(stream.iommu, f"{stream.title} leads its stream, {stream.number:#x}, to RAM of its sandbox alone")
    return Unprotected("partition file", device.dma_allowed) if device.dma_allowed else None


def passes_iommu(device: Device) -> str:
    """Why it goes past the IOMMU that would translate for it, as the end of a sentence; empty: it does not.

    A virtio function without VIRTIO_F_ACCESS_PLATFORM uses the machine's own addresses (Virtual I/O Device 1.2, 6 "Reserved Feature Bits"), and legacy
    drivers cannot accept that feature. Nothing that is not virtio has either.
    """
    function = device.function
    if not function or not function.stream or not is_virtio(function):
        return ""
    if function.identity >> 16 in TRANSITIONAL:
        return "is a transitional virtio function, whose legacy interface goes past the IOMMU"
    if IOMMU_PLATFORM not in device.node.properties:
        return f"is a virtio function, which goes past the IOMMU where its platform does not make it obey (`{IOMMU_PLATFORM}`)"
    return ""


def is_virtio(function: Function) -> bool:
    return function.identity & 0xFFFF == VIRTIO_VENDOR and function.identity >> 16 in VIRTIO_DEVICES


def _judge_by_itself(device: Device) -> DmaFree | Doubt:
    node = device.node
    if device.function and is_virtio(device.function):
        return Doubt("is a virtio function, which masters the bus whatever its command register and the board tree say")
    if REASON in node.properties:
        return DmaFree("board tree", node.text(REASON))
    binding = _binding(device)
    if binding not in FREE_BINDINGS:
        what = f'"{binding}" is not listed in docs/configuration.md' if binding else "it has no `compatible`"
        return Doubt(f"is not known to be free of DMA ({what})")
    if device.function and not device.function.classes:
        return Doubt('is not known to be free of DMA (its `compatible` has no "pciclass,CCSS")')
    return next(_signs(device), None) or DmaFree(binding, FREE_BINDINGS[binding])


def _binding(device: Device) -> str:
    """What a function is, its configuration registers say: no name of a device elsewhere is one of a function."""
    function = device.function
    if function and function.identity:
        return f"pci{function.identity & 0xFFFF:x},{function.identity >> 16:x}"
    return "" if function else next(iter(device.node.compatible), "")


def _signs(device: Device) -> Iterator[Doubt]:
    """In the device, in what is part of it, and on its buses. A PCI host translates for all functions, also for those that do none."""
    for node in device.node.walk():
        where = "" if node is device.node else f"in `{node.label}` "
        yield from (
            Doubt(f"has {where}`{name}`, so it does DMA, itself or through a controller") for name in SIGNS if name in node.properties
        )
    for bus in buses(device.node):
        of_bus = [name for name in SIGNS if name in bus.properties and name not in OF_ANY_BUS]
        yield from (Doubt(f"is on `{bus.label}`, which has `{name}`, so it may do DMA") for name in of_bus if not device.function)


def is_listed(device: Device) -> bool:
    """Whether what it is, not what somebody says of it, tells that it does no DMA."""
    return _binding(device) in FREE_BINDINGS


def is_dma_free(device: Device) -> bool:
    return isinstance(judge_dma(device), DmaFree)


def dma_of(devices: Iterable[Device]) -> Dma:
    """Of devices that are granted as one, the least that is known of any."""
    found = [judge_dma(one) for one in devices]
    if any(isinstance(one, Doubt) for one in found):
        return "unknown"
    if any(isinstance(one, Unprotected) for one in found):
        return "unprotected"
    return "translated" if any(isinstance(one, Translated) for one in found) else "free"
