# SPDX-License-Identifier: Apache-2.0
"""What the processors of one sandbox are told: where their tables and maps are, and what is wrong with how they are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from bhtool.config.span import Span
from bhtool.oracle.bitmaps import Stretch
from bhtool.oracle.snapshot import FRAME, Snapshot
from bhtool.oracle.walk import Root


@dataclass(frozen=True)
class Maps:
    """Where permission maps lie and how they are laid out."""

    ports: tuple[int, ...]  # frames
    registers: tuple[int, ...]
    reads: list[Stretch]
    writes: list[Stretch]


@dataclass(frozen=True)
class Wrong:
    """A control word that does not say what it should. Not judged where its protection is switched off."""

    text: str
    protection: str = ""  # "": always judged


@dataclass
class Confinement:
    tag: int = 0  # address-space identifier: ASID, VPID, VMID
    root: Root | None = None
    maps: Maps | None = None
    frames: dict[int, str] = field(default_factory=dict)  # control structures
    wrong: list[Wrong] = field(default_factory=list)
    monitor: Root | None = None  # of its monitor's own tables, where they can be found


class Reader(Protocol):
    """svm, vmx and arm: how to find what confines the sandbox with this pool on these cores."""

    def __call__(self, snapshot: Snapshot, pool: Span, cores: tuple[int, ...]) -> Confinement: ...


def frames_of(pool: Span) -> range:
    return range(pool.start, pool.end, FRAME)


def lacking(what: str, word: int, needed: Mapping[int, str], protection: str = "") -> list[Wrong]:
    """Bits of a control word that must be set, by their names."""
    return [Wrong(f"{what} does not have {name}", protection) for bit, name in needed.items() if not word >> bit & 1]


def having(what: str, word: int, refused: Mapping[int, str]) -> list[Wrong]:
    """Bits of a control word that must be clear, by their names."""
    return [Wrong(f"{what} has {name}") for bit, name in refused.items() if word >> bit & 1]


def agreed(wrong: list[Wrong], what: str, values: list[int]) -> int:
    """The value all cores have; a complaint if they differ."""
    if len(set(values)) > 1:
        wrong.append(Wrong(f"{what} differs from core to core: {', '.join(map(hex, values))}"))
    return values[0]


def control_structures(
    snapshot: Snapshot,
    pool: Span,
    cores: tuple[int, ...],
    name: str,
    like: Callable[[Snapshot, int], bool],
    each: int = 1,
    at: tuple[int, ...] = (0,),
) -> tuple[Confinement, list[int]]:
    """What in the pool looks like one, at these places in a frame; every core must have so many."""
    frames = [frame + place for frame in frames_of(pool) for place in at if like(snapshot, frame + place)]
    found = Confinement(frames=dict.fromkeys(frames, name))
    if len(frames) != each * len(cores):
        found.wrong.append(Wrong(f"{len(frames)} frames of its pool look like a {name}, {each} for each of {len(cores)} cores are right"))
    return found, frames
