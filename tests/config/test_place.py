# SPDX-License-Identifier: Apache-2.0
"""Placement over random partitions: whatever is asked for, what is handed out is aligned, in RAM, apart; or there is no room."""

from collections.abc import Sized
from itertools import combinations

from bhtool.abi import lib
from bhtool.config.domains import Domains, Memory, Sandbox
from bhtool.config.machine import Machine, Span
from bhtool.config.place import MIB2, Free, NoRoom, Placement, place
from bhtool.config.tree import Node
from hypothesis import given, settings
from hypothesis import strategies as st

RAM = Span(0x40000000, 0x80000000)
RESERVED = Span(0x40000000, 0x1000000)


def machine() -> Machine:
    root = Node("/")
    return Machine(root, [], [], [RAM], [RESERVED], 0x40000000, 0x0C000000, root, [], [])


def domains_of(sizes: list[int | None], pins: dict[int, int]) -> Domains:
    """Sandbox n has sizes[n] units of 2 MiB (None: takes the rest), pinned at unit pins[n] if it is there."""
    sandboxes, memories = [], []
    for index, size in enumerate(sizes):
        node, region = Node(f"/domains/s{index}"), Node(f"/reserved-memory/s{index}")
        if size is None:
            node.properties["takes-the-rest"] = None  # type: ignore[assignment]
        else:
            start = RAM.start + pins[index] * MIB2 if index in pins else None
            memories.append(Memory(region, start, size * MIB2))
        sandboxes.append(Sandbox(node, index, "native", [], [] if size is None else [region], [], [], [], None))
    return Domains(Node("/domains"), machine(), sandboxes, memories, [])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 600), min_size=1, max_size=7), st.booleans(), st.integers(8, 1000), st.booleans())
def test_nothing_overlaps(sizes: list[int], rest: bool, pin: int, pinned: bool) -> None:
    asked: list[int | None] = [*sizes, None] if rest else [*sizes]
    domains = domains_of(asked, {0: pin} if pinned and (pin + sizes[0]) * MIB2 <= RAM.size else {})
    placed = place_or_refuse(domains)
    if placed is None:
        return
    pools = [Span(start, size) for start, size in zip(placed.pools, pool_sizes(asked), strict=True)]
    everything = [RESERVED, Span(placed.shared, lib.BH_PAGE_BYTES), *pools, *(span for span in placed.ram if span.size)]
    for first, second in combinations(everything, 2):
        assert not first.overlaps(second)
    for span in everything:
        assert RAM.holds(span)
    assert all(pool.start % lib.BH_PAGE_BYTES == 0 for pool in pools)
    assert all(pool.start // MIB2 == (pool.end - 1) // MIB2 for pool in pools)  # one table maps it
    for size, span in zip(asked, placed.ram, strict=True):
        assert span.start % MIB2 == 0
        assert span.size % MIB2 == 0
        assert size is None or span.size == size * MIB2


def pool_sizes(sandboxes: Sized) -> list[int]:
    """From little to most, each another."""
    return [lib.BH_MAX_POOL_BYTES - n * 0xB000 for n in range(len(sandboxes))]


def place_or_refuse(domains: Domains) -> Placement | None:
    """None: there is rightly no room."""
    try:
        return place(domains, pool_sizes(domains.sandboxes))
    except NoRoom as full:
        if full.largest >= full.size:
            raise
        return None


@given(st.lists(st.tuples(st.integers(0, 63), st.integers(1, 16)), max_size=12), st.integers(1, 8), st.sampled_from([1, 2, 4, 8]))
def test_free_list_against_a_set(taken: list[tuple[int, int]], size: int, align: int) -> None:
    """The interval arithmetic against a set of units."""
    free = Free([Span(0, 64)], [Span(*one) for one in taken])
    units = set(range(64)) - {unit for start, length in taken for unit in range(start, start + length)}
    assert {unit for span in free.spans for unit in range(span.start, span.end)} == units
    fits = [start for start in range(0, 64, align) if set(range(start, start + size)) <= units]
    assert free.take(size, align) == (fits[0] if fits else None)
