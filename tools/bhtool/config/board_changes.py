# SPDX-License-Identifier: Apache-2.0
"""What a partition file does to its board, node by node and property by property: it may do nothing.

The board tree is compiled once more, alone. Where a property was written tells who wrote it; what is deleted, and what a macro made of
the board's own text, is seen by that comparison alone.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from bhtool.config.domains import PARTITIONS
from bhtool.config.includes import lines_of
from bhtool.config.machine import MACHINE
from bhtool.config.plan import Location
from bhtool.config.rule import Finding
from bhtool.config.span import Span
from bhtool.config.tree import Node, Property, pairs

RESERVED_MEMORY, DOMAINS = "reserved-memory", "domains"
CELL = 4  # bytes
OF_THE_COMPILER = ("phandle", "linux,phandle")


def board_changes(whole: Node, board: Node, text: bytes) -> Iterator[Finding]:
    """Every change of `board`, the tree without the partition file, in `whole`, the tree with it; text is the preprocessed source."""
    numbers = {theirs.phandle: ours.phandle for theirs in board.walk() if theirs.phandle and (ours := whole.find(theirs.path))}
    yield from _numbered(whole, board)
    for theirs in board.walk():
        ours = whole.find(theirs.path)
        if ours is None:
            if theirs.parent and whole.find(theirs.parent.path):
                yield Finding(_deletion(text, theirs) or whole.location, f"{_named(theirs)} is deleted")
            continue
        yield from _properties(ours, theirs, numbers)
        if ours.labels != theirs.labels:
            added = ", ".join(f"`{label}`" for label in ours.labels if label not in theirs.labels)
            yield Finding(ours.location, f"{_named(theirs)} gets the label {added}")
        for name, child in ours.children.items():
            if name not in theirs.children and not _is_the_partitions(child):
                yield Finding(child.location, f"`{child.label}` is added to {_named(theirs)}")


def _named(node: Node) -> str:
    return f"`{node.label}` of the board tree ({node.location})" if node.parent else "the board tree"


def _is_the_partitions(node: Node) -> bool:
    assert node.parent is not None
    if node.parent.parent is None:
        return node.name in (RESERVED_MEMORY, DOMAINS) or PARTITIONS in node.compatible
    return node.parent.parent.parent is None and node.parent.name == RESERVED_MEMORY


def _properties(ours: Node, theirs: Node, numbers: dict[int, int]) -> Iterator[Finding]:
    for name in [*theirs.properties, *(name for name in ours.properties if name not in theirs.properties)]:
        mine, original = ours.properties.get(name), theirs.properties.get(name)
        if name in OF_THE_COMPILER or (ours.path == f"/{RESERVED_MEMORY}" and mine and original and mine.data == original.data):
            continue
        if mine is None:
            yield Finding(ours.location, f"`{name}` of {_named(theirs)} is deleted")
        elif original is None:
            yield Finding(mine.location, f"`{name}` is added to {_named(theirs)}")
        elif mine.location != original.location:
            yield Finding(mine.location, f"`{name}` of {_named(theirs)} is changed")
        elif not _agree(mine, original, ours, numbers):
            yield Finding(mine.location, f"`{name}` of {_named(theirs)} is changed by a macro")


def _agree(mine: Property, original: Property, node: Node, numbers: dict[int, int]) -> bool:
    """The same text gives other bytes: a reference is another number, or a macro has other words. Of RAM more may be kept by LOW_RESERVED."""
    if mine.name == "reserved" and MACHINE in node.compatible:
        kept = [Span(*pair) for pair in pairs(mine.cells, 2, 2)]
        return all(any(one.holds(Span(*pair)) for one in kept) for pair in pairs(original.cells, 2, 2))
    cells = [numbers.get(cell, 0) if number in original.references else cell for number, cell in enumerate(original.cells)]
    return mine.data == struct.pack(f">{len(cells)}I", *cells) + original.data[CELL * len(cells) :]


def _numbered(whole: Node, board: Node) -> Iterator[Finding]:
    """Whoever numbers nodes chooses what a reference is."""
    for node in whole.walk():
        theirs = board.find(node.path)
        for one in (node.properties[name] for name in OF_THE_COMPILER if name in node.properties):
            original = theirs.properties.get(one.name) if theirs else None
            if not one.is_made and (original is None or original.is_made or original.location != one.location):
                yield Finding(one.location, f"`{one.name}` of `{node.label}` is written, a number that the compiler gives")


def _deletion(text: bytes, node: Node) -> Location | None:
    """dtc keeps nothing of what is deleted: the last line that does it by one of the node's names."""
    names = "|".join(re.escape(name) for name in (*node.labels, node.name))
    pattern = re.compile(rf"/delete-node/\s*&?({names})\s*;")
    return next((where for where, line in reversed(list(lines_of(text))) if pattern.search(line)), None)
