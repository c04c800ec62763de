# SPDX-License-Identifier: Apache-2.0
"""Parts that need each other stand in one room, and the room says why. A part: NAME.h, NAME.c, NAME_boot.c and what assembly it has."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.structure.test_layers import ROOT, tracked

LAYERS = ("abi", "arch", "hal", "monitor", "kernel")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
REASON = re.compile(r"\bcircle\b")

Texts = Mapping[Path, str]
Needs = dict[Path, set[Path]]


def sources() -> dict[Path, str]:
    return {path.relative_to(ROOT): path.read_text() for path in tracked(*LAYERS) if path.suffix in {".c", ".h", ".S"}}


def part(file: Path) -> Path:
    return file.with_name(re.sub(r"(_boot)?\.[chS]$", "", file.name))


def room(one: Path) -> Path:
    """A layer's folder, with all that is in it: a CPU family, or what families share. Files of the layer itself are a room."""
    return Path(*one.parts[:2]) if len(one.parts) > 2 else one.parent


def found(name: str, file: Path, texts: Texts) -> list[Path]:
    """What an include may mean: from the top, beside the file, or, by its plain name, in a folder that the build chooses."""
    for one in (Path(name), file.parent / name):
        if one in texts:
            return [one]
    return [one for one in texts if one.name == name and one.parts[0] == file.parts[0]]


def needs(texts: Texts) -> Needs:
    edges: Needs = {part(file): set() for file in texts}
    for file, text in texts.items():
        for name in INCLUDE.findall(text):
            edges[part(file)] |= {part(one) for one in found(name, file, texts)} - {part(file)}
    return edges


def reached(start: Path, edges: Needs) -> set[Path]:
    seen, waiting = set[Path](), [start]
    while waiting:
        new = edges[waiting.pop()] - seen
        seen |= new
        waiting += new
    return seen


def circles(edges: Needs) -> set[frozenset[Path]]:
    reach = {one: reached(one, edges) for one in edges}
    return {frozenset(other for other in reach[one] if one in reach[other]) for one in edges if one in reach[one]}


def complaints(texts: Texts) -> list[str]:
    wrong = []
    for circle in circles(needs(texts)):
        rooms = {room(one) for one in circle}
        names = ", ".join(sorted(map(str, circle)))
        if len(rooms) > 1:
            wrong.append(f"a circle goes through several rooms: {names}")
        elif not says_why(rooms, texts):
            wrong.append(f"no header says why there is a circle: {names}")
    return wrong


def says_why(rooms: set[Path], texts: Texts) -> bool:
    return any(file.suffix == ".h" and not rooms.isdisjoint(file.parents) and REASON.search(text) for file, text in texts.items())


def test_circles_stay_in_a_room_that_says_why() -> None:
    assert not complaints(sources())


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"hal/lock.h": '#include "hal/x86/core.h"\n', "hal/x86/core.h": '#include "hal/lock.h"\n'},
            "several rooms: hal/lock, hal/x86/core",
        ),
        ({"hal/pt/a.h": '#include "b.h"\n', "hal/pt/b.c": '#include "hal/pt/a.h"\n', "hal/pt/b.h": ""}, "no header says why"),
        ({"hal/pt/a.h": '/* a circle */\n#include "b.h"\n', "hal/pt/b.c": '#include "hal/pt/a.h"\n', "hal/pt/b.h": ""}, None),
        ({"hal/pt/a.h": "", "hal/pt/b.c": '#include "a.h"\n', "hal/pt/a_boot.c": '#include "a.h"\n'}, None),
    ],
)
def test_a_circle_is_found(changed: dict[str, str], said: str | None) -> None:
    wrong = complaints({Path(name): text for name, text in changed.items()})
    assert said in wrong[0] if said else not wrong
