# SPDX-License-Identifier: Apache-2.0
"""The machine's IOMMU as its board tree describes it: a node of its own, and `iommu-map` in the nodes of PCI hosts (Linux binding
"pci-iommu"). A function is known to it by a number, its stream; what no host's map leads to it, it does not see.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from bhtool.abi import lib
from bhtool.config.span import Span
from bhtool.config.tree import Node

MAP, MASK, CELLS = "iommu-map", "iommu-map-mask", "#iommu-cells"
FUNCTION, BITS = "bulkhead,function", "bulkhead,address-bits"
ROW = 4  # cells: first function, IOMMU, first stream, how many
ALL = 0xFFFF  # functions of a segment


# Where among its tables it records what it blocks.
EVENTS = {lib.BH_IOMMU_SMMUV3: lib.BH_SMMUV3_EVENTS, lib.BH_IOMMU_AMDVI: lib.BH_AMDVI_EVENTS}
FORMS = {lib.BH_IOMMU_SMMUV3: lib.BH_FAULTS_SMMUV3, lib.BH_IOMMU_AMDVI: lib.BH_FAULTS_AMDVI}


@dataclass(frozen=True)
class IommuKind:
    """One that hal/iommu drives: facts of the backend."""

    title: str
    number: int  # enum bh_iommu
    table_bytes: int  # once for the machine
    mapped: tuple[Span, ...]  # of them, by monitors whose sandboxes have functions that master the bus
    frames: int  # of a sandbox with functions that master the bus, besides its second root's tables
    address_bits: int  # of what is translated, and of what it is translated to, where the board tree does not say
    has_function: bool  # it is a PCI function itself
    by_address: bool = False  # the address of a message says what it is, so monitors own that


KINDS = {
    "arm,smmu-v3": IommuKind("SMMUv3", lib.BH_IOMMU_SMMUV3, lib.BH_SMMUV3_BYTES, (Span(0, lib.BH_SMMUV3_BYTES),), 0, 39, False),
    "bulkhead,amd-vi": IommuKind("AMD-Vi", lib.BH_IOMMU_AMDVI, lib.BH_AMDVI_BYTES, (Span(0, 0x2000), Span(0x200000, 0x2000)), 2, 48, True),
    "bulkhead,vt-d": IommuKind("VT-d", lib.BH_IOMMU_VTD, lib.BH_VTD_BYTES, (Span(0x1000, 0x3000),), 0, 48, False, True),
}
BY_NUMBER = {one.number: one for one in KINDS.values()}


@dataclass(frozen=True)
class Iommu:
    kind: IommuKind
    node: Node = field(repr=False, compare=False)
    registers: Span  # empty: the node does not say
    function: int  # that it is itself; 0: none, or the node does not say

    @property
    def name(self) -> str:
        return self.node.label

    @property
    def compatible(self) -> str:
        """The string that it is known by."""
        return next(one for one in self.node.compatible if one in KINDS)

    @property
    def address_bits(self) -> int:
        return self.node.number(BITS, self.kind.address_bits)


@dataclass(frozen=True)
class Stream:
    """What an IOMMU knows a function by."""

    number: int
    iommu: str  # its label
    title: str  # of its kind


@dataclass(frozen=True)
class MapRow:
    """Functions [first, first + count) have the streams from `stream` on."""

    first: int
    phandle: int
    stream: int
    count: int


def is_iommu(node: Node) -> bool:
    return any(one in KINDS for one in node.compatible)


def read_iommus(root: Node) -> list[Iommu]:
    return [_read(node) for node in root.walk() if is_iommu(node) and node.enabled]


def _read(node: Node) -> Iommu:
    kind = next(KINDS[one] for one in node.compatible if one in KINDS)
    registers = Span(*node.reg()[0]) if node.reg() else Span(0, 0)
    return Iommu(kind, node, registers, node.number(FUNCTION, 0))


def map_rows(host: Node) -> list[MapRow]:
    cells = host.properties[MAP].cells if MAP in host.properties else []
    return [MapRow(*cells[at : at + ROW]) for at in range(0, len(cells) - ROW + 1, ROW)]


def streams_of(host: Node, function: int, iommus: list[Iommu]) -> Iterator[Stream]:
    """Every one that a row of the host's map gives the function; one, if the map is as it should be."""
    unit = function & host.number(MASK, ALL)
    for row in map_rows(host):
        for one in iommus:
            if one.node.phandle == row.phandle and row.first <= unit < row.first + row.count:
                yield Stream(unit - row.first + row.stream, one.name, one.kind.title)
