# SPDX-License-Identifier: Apache-2.0
"""A compiled device tree as plain objects: nodes, properties as typed readings of their bytes, labels and phandles."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import libfdt

from bhtool.config.plan import Location

NOWHERE = Location("<none>", 0)


@dataclass
class Property:
    name: str
    data: bytes
    location: Location = NOWHERE
    written: str = ""  # the value as dtc writes it: <0x1>, "text", [00]
    source: str = ""  # the value as the preprocessed source has it: <&label>
    is_made: bool = False  # by dtc, in no line of the source
    references: frozenset[int] = frozenset()  # which of its cells refer to a node; known of a board tree alone

    @property
    def cells(self) -> list[int]:
        return [cell for (cell,) in struct.iter_unpack(">I", self.data[: len(self.data) & ~3])]

    @property
    def strings(self) -> list[str]:
        return [one.decode("utf-8", "replace") for one in self.data.rstrip(b"\0").split(b"\0")] if self.data else []

    @property
    def text(self) -> str:
        return self.strings[0] if self.strings else ""

    @property
    def is_text(self) -> bool:
        """Whether the bytes are printable, NUL-terminated strings, as dtc itself decides when it prints."""
        return self.data.endswith(b"\0") and all(one.isprintable() and one for one in self.strings)


@dataclass
class Node:
    path: str
    parent: Node | None = None
    properties: dict[str, Property] = field(default_factory=dict)
    children: dict[str, Node] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    location: Location = NOWHERE

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def label(self) -> str:
        """The role the rest of the configuration calls this node by."""
        return self.labels[0] if self.labels else self.name

    @property
    def compatible(self) -> list[str]:
        return self.properties["compatible"].strings if "compatible" in self.properties else []

    @property
    def phandle(self) -> int:
        return self.number("phandle", 0)

    @property
    def enabled(self) -> bool:
        """Devicetree specification, 2.3.4 "status": what lies on a bus that is not, is not."""
        return self.text("status", "okay") in ("okay", "ok") and (self.parent is None or self.parent.enabled)

    def number(self, name: str, default: int) -> int:
        cells = self.properties[name].cells if name in self.properties else []
        return cells[0] if cells else default

    def text(self, name: str, default: str = "") -> str:
        return self.properties[name].text if name in self.properties else default

    def where(self, name: str) -> Location:
        """Where a property was written, or the node if it has none."""
        return self.properties[name].location if name in self.properties else self.location

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children.values():
            yield from child.walk()

    def find(self, path: str) -> Node | None:
        node: Node | None = self
        for name in path.strip("/").split("/"):
            node = node.children.get(name) if node and name else node
        return node

    def reg(self) -> list[tuple[int, int]]:
        """(address, size) pairs, by the parent's #address-cells and #size-cells."""
        assert self.parent is not None
        address, size = self.parent.number("#address-cells", 2), self.parent.number("#size-cells", 1)
        return pairs(self.properties["reg"].cells, address, size) if "reg" in self.properties else []


def pairs(cells: list[int], address: int, size: int) -> list[tuple[int, int]]:
    step = address + size
    whole = range(0, len(cells) - step + 1, step) if step else range(0)
    return [(joined(cells[at : at + address]), joined(cells[at + address : at + step])) for at in whole]


def joined(cells: list[int]) -> int:
    value = 0
    for cell in cells:
        value = value << 32 | cell
    return value


def read_blob(blob: bytes) -> Node:
    """The whole tree, __symbols__ included."""
    root = Node("/")
    _read(libfdt.FdtRo(blob), 0, root)
    return root


def take_labels(root: Node) -> None:
    """Moves the labels that __symbols__ lists to their nodes, in the order of the source."""
    symbols = root.children.pop("__symbols__", None)
    for symbol in symbols.properties.values() if symbols else ():
        node = root.find(symbol.text)
        if node:
            node.labels.append(symbol.name)


def take_references(root: Node, relocatable: Node) -> None:
    """Notes which cells are references, by `__local_fixups__` of the same tree compiled as a plug-in."""
    fixups = relocatable.find("/__local_fixups__")
    for fixed in fixups.walk() if fixups else ():
        node = root.find(fixed.path.removeprefix("/__local_fixups__"))
        for name, offsets in fixed.properties.items():
            assert node is not None
            node.properties[name].references = frozenset(offset // 4 for offset in offsets.cells)


def _read(fdt: libfdt.FdtRo, offset: int, node: Node) -> None:
    at = fdt.first_property_offset(offset, libfdt.QUIET_NOTFOUND)
    while at >= 0:
        found = fdt.get_property_by_offset(at)
        node.properties[found.name] = Property(found.name, bytes(found))
        at = fdt.next_property_offset(at, libfdt.QUIET_NOTFOUND)
    child = fdt.first_subnode(offset, libfdt.QUIET_NOTFOUND)
    while child >= 0:
        name = fdt.get_name(child)
        node.children[name] = Node(f"{node.path.rstrip('/')}/{name}", node)
        _read(fdt, child, node.children[name])
        child = fdt.next_subnode(child, libfdt.QUIET_NOTFOUND)


class OfNode:
    """What a node of the partition file describes, by the node's own name."""

    node: Node

    @property
    def name(self) -> str:
        return self.node.name.split("@")[0]

    @property
    def location(self) -> Location:
        return self.node.location

    def has(self, name: str) -> bool:
        return name in self.node.properties

    def where(self, name: str) -> Location:
        """Of a property; without it, of the node."""
        return self.node.where(name)
