# SPDX-License-Identifier: Apache-2.0
"""Walks any translation table from its root to every leaf. What an entry means is its format's: ept, npt, stage2.

Levels count from the page: 0 is 4 KiB a slot, 1 is 2 MiB, 2 is 1 GiB, 3 is 512 GiB.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from bhtool.oracle.snapshot import FRAME, Snapshot

SLOTS = 512
Memory = str  # "ram", "device", or what else the bits say


@dataclass(frozen=True)
class Entry:
    """One table entry by its format. `access` of a table limits what is below it."""

    kind: Literal["hole", "table", "leaf"]
    hpa: int = 0
    access: str = ""  # of "rwx"
    memory: Memory = ""
    odd: tuple[str, ...] = ()  # what no entry should have


class Format(Protocol):
    @property
    def name(self) -> str: ...

    def decode(self, word: int, level: int) -> Entry: ...


@dataclass(frozen=True)
class Root:
    """What a processor is told to walk."""

    format: Format
    hpa: int
    levels: int
    slots: int = SLOTS


@dataclass(frozen=True)
class Leaf:
    gpa: int
    hpa: int
    size: int
    access: str
    memory: Memory


@dataclass(frozen=True)
class Oddity:
    gpa: int
    at: int  # where the entry lies
    text: str


@dataclass
class Tree:
    leaves: list[Leaf] = field(default_factory=list)  # by ascending GPA
    tables: dict[int, int] = field(default_factory=dict)  # frame to the entry that leads there; the root's is 0
    oddities: list[Oddity] = field(default_factory=list)


def span(level: int) -> int:
    return FRAME << 9 * level


def walk(snapshot: Snapshot, root: Root) -> Tree:
    """Every table once: bounded by the frames of RAM, whatever stands in them."""
    tree = Tree()
    whole = Entry("table", root.hpa, "rwx")
    _table(snapshot, root, tree, whole, root.levels - 1, 0, 0)
    return tree


def _table(snapshot: Snapshot, root: Root, tree: Tree, above: Entry, level: int, gpa: int, at: int) -> None:
    if not snapshot.holds(above.hpa, FRAME):
        tree.oddities.append(Oddity(gpa, at, f"table {above.hpa:#x} is not in RAM"))
        return
    if above.hpa in tree.tables:
        tree.oddities.append(Oddity(gpa, at, f"table {above.hpa:#x} is reached by two entries"))
        return
    tree.tables[above.hpa] = at
    slots = root.slots if level == root.levels - 1 else SLOTS
    for n, word in _filled(snapshot, above.hpa, slots):
        _entry(snapshot, root, tree, above, level, gpa + n * span(level), above.hpa + 8 * n, word)


def _filled(snapshot: Snapshot, frame: int, slots: int) -> Iterator[tuple[int, int]]:
    words = snapshot.words(frame)
    return ((n, word) for n, word in enumerate(words[:slots]) if word)


def _entry(snapshot: Snapshot, root: Root, tree: Tree, above: Entry, level: int, gpa: int, at: int, word: int) -> None:
    entry = root.format.decode(word, level)
    access = "".join(one for one in entry.access if one in above.access)
    tree.oddities += [Oddity(gpa, at, text) for text in entry.odd]
    if entry.kind == "table":
        _table(snapshot, root, tree, Entry("table", entry.hpa, access), level - 1, gpa, at)
    elif entry.kind == "leaf":
        tree.leaves.append(Leaf(gpa, entry.hpa, span(level), access, entry.memory))


def bits(high: int, low: int = -1) -> int:
    """A mask in the manuals' words: bits(51, 12), bits(7)."""
    low = high if low < 0 else low
    return (1 << high + 1) - (1 << low)


def strange(word: int, known: int) -> tuple[str, ...]:
    """Bits of an entry that must be 0: reserved, ignored by hardware, or of a feature nobody uses."""
    return (f"entry {word:#x} has bits {word & ~known:#x}, which must be 0",) if word & ~known else ()


def address_bits(level: int, top: int) -> int:
    """The output address of a leaf of this level."""
    return bits(top, 12 + 9 * level)
