# SPDX-License-Identifier: Apache-2.0
"""Which long tests a change touches: by the sources they break, what these include, the tests that have to notice, and their own rows."""

import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from bhtool.testing.change import Change

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# Where a build may look, whatever the machine.
DIRECTORIES = (".", "arch/*", "arch/arm/*", "platforms/*", "monitor", "tests/unit", "tests/unit/fake", "tests/guests")
NEAR, BY_TEST, BY_HEADER = range(3)

Rank = tuple[int, int]  # age of the change, nearness: the smallest first


@functools.cache
def included(file: str) -> frozenset[str]:
    """What the file includes directly: every file that some machine's build may find under that name."""
    path = ROOT / file
    if path.suffix not in {".c", ".h", ".S"} or not path.is_file():
        return frozenset()
    found = set(path.parent.glob("*.h"))
    names = INCLUDE.findall(path.read_text())
    found = {one for one in found if one.name in names}
    for name in names:
        found |= {one for folder in DIRECTORIES for one in ROOT.glob(f"{folder}/{name}")}
    return frozenset(str(one.resolve().relative_to(ROOT)) for one in found)


@functools.cache
def headers(file: str) -> frozenset[str]:
    """All that it includes, directly or not."""
    found: set[str] = set()
    waiting = {file}
    while waiting:
        new = included(waiting.pop()) - found
        found |= new
        waiting |= new
    return frozenset(found)


def inputs(sources: Iterable[str], tests: Iterable[str] = (), rows: Iterable[str] = ()) -> pytest.MarkDecorator:
    """Marks a test by what it depends on. `rows`: words of the lines that describe it."""
    return pytest.mark.inputs(sources=tuple(sources), tests=tuple(tests), rows=tuple(rows))


def ranks(mark: pytest.Mark, change: Change) -> Iterator[Rank]:
    """One for each way in which the change touches the test."""
    sources, age = mark.kwargs["sources"], change.files.get
    included = set[str]().union(*map(headers, sources))
    ways = {NEAR: [*map(age, sources), *map(change.age_of_line, mark.kwargs["rows"])], BY_TEST: map(age, mark.kwargs["tests"])}
    for nearness, ages in {**ways, BY_HEADER: map(age, included)}.items():
        yield from ((one, nearness) for one in ages if one is not None)


def rank(item: pytest.Item, change: Change) -> Rank | None:
    """None: the change does not touch it."""
    mark = item.get_closest_marker("inputs")
    return min(ranks(mark, change), default=None) if mark else None


def in_order(ranked: dict[pytest.Item, Rank]) -> list[pytest.Item]:
    """The best first, of equal ones as they stand in their files. Of a group only equal ones stay together in one worker."""
    for item, one in ranked.items():
        if group := item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(f"{group.args[0]}-{one}"), append=False)
    return sorted(ranked, key=ranked.__getitem__)
