# SPDX-License-Identifier: Apache-2.0
"""What a network card can be aimed at, and how: the classes of a campaign of DMA. tests/guests/probe/transfer.c carries them out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from bhtool import abi
from bhtool.attack.stage import SENTINELS, SPARE_BYTES
from bhtool.attack.surroundings import Surroundings
from bhtool.config.iommu import KINDS
from bhtool.config.pci import configuration
from bhtool.config.span import PAGE, Span
from bhtool.config.unprotected import INTERRUPT_MESSAGES, alias_of
from bhtool.families.family import Family

FRAME, RING = 64, 128  # bytes
OF_NOBODY = {  # registers that no board tree has, by the machines' interrupt controllers: QEMU's `virt`; `q35`
    "gic": {"clock": 0x09010000, "fw_cfg": 0x09020000, "GPIO": 0x09030000, "virtio": 0x0A000000},
    "apic": {"HPET": 0xFED00000, "firmware": 0xFFFFF000},
}
AMD_VI = Span(0xFED80000, 4 * PAGE)
STREAM_TABLE = 0x80  # SMMU_STRTAB_BASE, and the queues' after it: IHI 0070, 6.2
ROUTES = 0x6100  # GICD_IROUTER32


class Way(IntEnum):
    """enum transfer_way."""

    WRITE = 0
    READ = 1
    RECEIVE_RING = 2
    SEND_RING = 3
    ARM = 4

    @property
    def bytes(self) -> int:
        return RING if self in (Way.RECEIVE_RING, Way.SEND_RING) else FRAME


@dataclass(frozen=True)
class Place:
    """As the card knows it."""

    span: Span
    whose: str
    told: int = 0  # offset of registers that tell something, which is seen if it gets through


Places = Callable[[Surroundings], Iterator[Place]]


@dataclass(frozen=True)
class TransferClass:
    name: str
    aims: str
    places: Places
    harmless: str = ""  # why nothing is seen without `dma` protection
    interrupts: bool = False  # a write there is one: on a PC the IOMMU judges it by another table, whatever is mapped

    def is_seen(self, around: Family) -> bool:
        """Whether something must be seen without `dma` protection."""
        return not self.harmless and not (self.interrupts and around.interrupts.sent_by_writes)


def _pages(span: Span, whose: str) -> Place:
    return Place(span.pages(), whose)


def own_ram(around: Surroundings) -> Iterator[Place]:
    yield Place(spare(around), "own RAM")


def spare(around: Surroundings) -> Span:
    end = around.sandbox.ram_gpa + around.sandbox.ram_size
    return Span(end - SPARE_BYTES, SPARE_BYTES - PAGE)  # of the last page a ring is made


def brink(around: Surroundings) -> Iterator[Place]:
    yield Place(Span(around.sandbox.ram_gpa + around.sandbox.ram_size, PAGE), "after own RAM")


def _ram_of(around: Surroundings, keeps_watch: bool) -> Iterator[Place]:
    for one in around.plan.sandboxes:
        if one.name != around.sandbox.name and (one.name in SENTINELS) is keeps_watch:
            yield from (_pages(Span(ram.hpa, ram.size), f"RAM of {one.name}") for ram in one.ram)


def sentinels(around: Surroundings) -> Iterator[Place]:
    return _ram_of(around, keeps_watch=True)


def neighbour(around: Surroundings) -> Iterator[Place]:
    return _ram_of(around, keeps_watch=False)


def pools(around: Surroundings) -> Iterator[Place]:
    parts = {"statistics": 0, "information": abi.lib.BH_POOL_INFO, "log": abi.lib.BH_POOL_LOG, "crash record": abi.lib.BH_POOL_CRASH}
    for one in around.plan.sandboxes:
        yield from (Place(Span(one.pool_hpa + at, PAGE), f"{what} of {one.name}") for what, at in parts.items())
    window = [one for one in around.sandbox.regions if one.kind == "pool"]
    yield from (Place(Span(one.gpa, one.size), f"{one.name}, as processors see it") for one in window)


def monitors(around: Surroundings) -> Iterator[Place]:
    arena = int(abi.lib.BH_POOL_ARENA)
    for one in around.plan.sandboxes:
        yield Place(Span(one.pool_hpa + arena, one.pool_size - arena), f"monitor of {one.name}, its tables")


def snapshots(around: Surroundings) -> Iterator[Place]:
    for one in around.plan.sandboxes:
        if one.snapshot_size:
            yield _pages(Span(one.snapshot_hpa, one.snapshot_size), f"boot snapshot of {one.name}")


def common(around: Surroundings) -> Iterator[Place]:
    yield Place(Span(around.plan.shared_hpa, PAGE), "kick mailboxes")
    yield Place(Span(around.machine.image_address, 0x20000), "monitor image")


def channels(around: Surroundings) -> Iterator[Place]:
    """Where they lie, and where their ends see them: nothing of that is in any function's root."""
    for one in around.plan.channels:
        yield Place(Span(one.hpa, one.size), f"channel {one.name}")
    for own in around.channels:
        yield Place(own.span, f"channel {own.plan.name}, as processors see it")


def iommu_tables(around: Surroundings) -> Iterator[Place]:
    yield Place(Span(around.plan.iommu_hpa, around.plan.iommu_bytes), "tables and queues of the IOMMU")


def iommu_registers(around: Surroundings) -> Iterator[Place]:
    assert around.machine.iommu
    told = STREAM_TABLE if around.machine.iommu.kind is KINDS["arm,smmu-v3"] else 0
    yield Place(around.machine.iommu.registers.pages() if around.machine.iommu.registers.size else AMD_VI, "registers of the IOMMU", told)


def doorbells(around: Surroundings) -> Iterator[Place]:
    """On a PC an address there names a core, and the data a vector and a mode: of a frame, its words and its number."""
    if around.family.interrupts.sent_by_writes:
        for core in (*range(len(around.machine.cores)), 0xFF):
            yield Place(
                Span(INTERRUPT_MESSAGES.start + core * PAGE, PAGE), f"messages to core {core}" if core != 0xFF else "messages to all cores"
            )
        return
    yield Place(Span(0x08020000, PAGE), "GICv2m")
    yield Place(Span(0x08080000, 2 * PAGE), "ITS")
    yield Place(Span(0x08090000, PAGE), "the ITS's doorbell")


def controllers(around: Surroundings) -> Iterator[Place]:
    for start, size in around.machine.interrupt_controller.reg():
        yield Place(Span(start, min(size, 0x80000)), "interrupt controller", ROUTES if around.machine.gic_v3 else 0)


def devices(around: Surroundings) -> Iterator[Place]:
    for one in around.machine.devices:
        if not one.function:
            yield from (_pages(span, one.name) for span in one.registers)
    for name, start in OF_NOBODY[around.family.interrupts.controller].items():
        yield Place(Span(start, PAGE), name)


def configuration_space(around: Surroundings) -> Iterator[Place]:
    hosts = {one.function.host.path: one.function.host for one in around.machine.devices if one.function}
    for host in hosts.values():
        if span := configuration(host):
            yield Place(span, "configuration registers")


def base_addresses(around: Surroundings) -> Iterator[Place]:
    for one in around.machine.devices:
        if one.function:
            yield from (_pages(span, f"{one.name}") for span in one.registers)


def nowhere(around: Surroundings) -> Iterator[Place]:
    """Nothing that would be own RAM if bits were cut off: that is what QEMU's AMD-Vi makes of addresses beyond 48 bits."""
    end = around.sandbox.ram_gpa + around.sandbox.ram_size
    (last,) = (span.end for span in around.machine.ram[-1:])
    yield Place(Span(last, 16 * PAGE), "after the machine's RAM")
    for bits in (32, 39, 40, 48, 52, 63):
        yield Place(Span((1 << bits) - 2 * PAGE, PAGE), f"at the end of {bits} bits")
        yield Place(Span((1 << bits) + end, 2 * PAGE), f"after the end of {bits} bits")
        for one in around.plan.sandboxes:
            yield Place(Span((1 << bits) + one.ram_hpa, PAGE), f"RAM of {one.name} above {bits} bits")
    yield Place(Span((1 << 64) - 2 * PAGE, PAGE), "at the end of all addresses")


CLASSES = (
    TransferClass("own-ram", "own RAM, where the card has to get", own_ram, "it shows that the card works"),
    TransferClass("brink", "what begins in own RAM and ends behind it", brink),
    TransferClass("sentinels", "RAM of those who keep watch", sentinels),
    TransferClass("neighbour", "RAM of the other hostile sandbox", neighbour),
    TransferClass("pools", "statistics, information, logs and crash records", pools),
    TransferClass("monitors", "private monitors and their tables", monitors),
    TransferClass("snapshots", "what restarts begin from", snapshots),
    TransferClass("common", "monitor image, kick mailboxes", common),
    TransferClass("channels", "channels, its sandbox's own and others'", channels),
    TransferClass("iommu-tables", "tables and queues of the IOMMU", iommu_tables),
    TransferClass("iommu-registers", "its registers", iommu_registers),
    TransferClass("doorbells", "where a write is an interrupt", doorbells, interrupts=True),
    TransferClass("controllers", "interrupt controllers", controllers),
    TransferClass("devices", "registers of devices", devices),
    TransferClass("configuration-space", "configuration registers of PCI", configuration_space),
    TransferClass("base-addresses", "registers of PCI functions, own and others'", base_addresses),
    TransferClass("nowhere", "holes, the end of RAM, addresses of too many bits", nowhere, "nothing is there"),
)
EDGES = ("first bytes", "last bytes", "over the end")


def as_seen(address: int, around: Surroundings) -> int:
    """What own RAM hides is seen through the alias, if the card can see it at all."""
    start = around.sandbox.ram_gpa
    return alias_of(around.machine, address) if start <= address < start + around.sandbox.ram_size else address


# What QEMU's models let through against their manuals: literal, by IOMMU. Counted, and not made: among these messages are INITs, which would end the machine.
# VT-d: messages in compatibility format pass whatever GSTS.CFIS is, and of remappable ones that a device forges the source is not compared.
OPEN_IN_EMULATOR = {"bulkhead,vt-d": tuple(("doorbells", way) for way in (Way.WRITE, Way.RECEIVE_RING, Way.ARM))}


def is_open_in_emulator(group: str, value: int, around: Surroundings) -> bool:
    """`value`: of the request."""
    iommu = around.machine.iommu
    return iommu is not None and (group, Way(value & 0xFF)) in OPEN_IN_EMULATOR.get(iommu.compatible, ())
