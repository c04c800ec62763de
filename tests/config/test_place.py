# SPDX-License-Identifier: Apache-2.0
"""BH-F1.plan. Placement over random partitions: whatever is asked for, what is handed out is aligned, in RAM, apart; or there is no room."""

from collections.abc import Iterator, Sized
from itertools import combinations, product

import pytest
from bhtool.abi import lib
from bhtool.config.domains import Domains, Memory, Sandbox
from bhtool.config.machine import Machine
from bhtool.config.pack import Want, pack
from bhtool.config.place import Free, NoRoom, Placement, place
from bhtool.config.span import MIB2, Span
from bhtool.config.tree import Node
from bhtool.families.table import FAMILIES
from hypothesis import given, settings
from hypothesis import strategies as st

RAM = Span(0x40000000, 0x80000000)
RESERVED = Span(0x40000000, 0x1000000)
MIB = 1 << 20
PAGE = lib.BH_PAGE_BYTES


def machine(ram: Span = RAM, window: int = 0x0C000000) -> Machine:
    root = Node("/")
    return Machine(FAMILIES["aarch64"], root, [], [], [ram], [RESERVED], 0x40000000, window, root, [], [])


def domains_of(sizes: list[int | None], pins: dict[int, int], ram: Span = RAM, window: int = 0x0C000000) -> Domains:
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
    return Domains(Node("/domains"), machine(ram, window), sandboxes, memories, [])


COPIES = st.lists(st.integers(0, 600), min_size=8, max_size=8)  # in units of 64 KiB; 0: does not restart


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 600), min_size=1, max_size=7), st.booleans(), st.integers(8, 1000), st.booleans(), COPIES)
def test_nothing_overlaps(sizes: list[int], rest: bool, pin: int, pinned: bool, copied: list[int]) -> None:
    asked: list[int | None] = [*sizes, None] if rest else [*sizes]
    copies = [count << 16 for count in copied[: len(asked)]]
    domains = domains_of(asked, {0: pin} if pinned and (pin + sizes[0]) * MIB2 <= RAM.size else {})
    placed = place_or_refuse(domains, copies)
    if placed is None:
        return
    pools = [Span(start, size) for start, size in zip(placed.pools, pool_sizes(asked), strict=True)]
    kept = [Span(start, size) for start, size in zip(placed.copies, copies, strict=True) if size]
    everything = [RESERVED, Span(placed.shared, PAGE), *pools, *kept, *(span for spans in placed.ram for span in spans)]
    for first, second in combinations(everything, 2):
        assert not first.overlaps(second)
    for span in everything:
        assert RAM.holds(span)
        assert span.start % PAGE == 0
    assert all(pool.start // MIB2 == (pool.end - 1) // MIB2 for pool in pools)  # one table maps it
    for size, spans in zip(asked, placed.ram, strict=True):
        assert all(span.start % MIB2 == 0 and span.size % MIB2 == 0 for span in spans)
        assert size is None or [span.size for span in spans] == [size * MIB2]
    if rest:
        assert not any(units_of(span) for span in placed.free.spans)  # nothing that could be somebody's is nobody's


def units_of(span: Span) -> list[int]:
    return list(range(-(-span.start // MIB2), span.end // MIB2))


def pool_sizes(sandboxes: Sized) -> list[int]:
    """From little to most, each another."""
    return [lib.BH_MAX_POOL_BYTES - n * 0xB000 for n in range(len(sandboxes))]


def place_or_refuse(domains: Domains, copies: list[int]) -> Placement | None:
    """None: there is rightly no room."""
    try:
        return place(domains, pool_sizes(domains.sandboxes), copies)
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


GAPS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 12)), min_size=1, max_size=3)  # MiB taken, then so many free


def layouts(free: list[Span], wants: list[Want]) -> Iterator[None]:
    """Every way to lay them, in steps of a MiB: the search's own form is not believed."""
    if not wants:
        yield None
        return
    want, rest = wants[0], wants[1:]
    for span in free:
        for start in range(span.start, span.end - want.size + 1, MIB):
            if start % want.align == 0:
                yield from layouts(Free(free, [Span(start, want.size)]).spans, rest)


@settings(max_examples=300, deadline=None)
@given(GAPS, st.lists(st.integers(1, 3), max_size=3), st.lists(st.integers(1, 4), max_size=3))
def test_whatever_fits_is_found(gaps: list[tuple[int, int]], ram: list[int], copies: list[int]) -> None:
    free, at = [], 0
    for before, size in gaps:
        free.append(Span(at + before * MIB, size * MIB))
        at = free[-1].end + MIB
    wants = [Want("ram", n, units * MIB2) for n, units in enumerate(ram)]
    wants += [Want("copy", n, size * MIB) for n, size in enumerate(copies)]
    found = pack(free, wants)
    assert (found is not None) == any(True for _ in layouts(free, sorted(wants, key=lambda one: -one.size)))
    laid = [Span(start, want.size) for want, start in (found or {}).items()]
    assert all(not first.overlaps(second) for first, second in combinations(laid, 2))
    assert all(any(span.holds(one) for span in free) for one in laid)
    assert all(start % want.align == 0 for want, start in (found or {}).items())


@pytest.mark.parametrize("order", [*product((False, True), repeat=2)])
def test_first_fit_is_not_the_last_word(order: tuple[bool, bool]) -> None:
    """Stretches of 5 and 4 units, asked for 3, 2, 2, 2: by size the first stretch loses 2 of its 5."""
    ram = Span(RAM.start, RESERVED.size + 11 * MIB2)
    sizes: list[int | None] = [3, 2, 2, 2, 1]
    if order[0]:
        sizes[:4] = sizes[3::-1]
    pin = {4: 14} if order[1] else {4: 13}  # what is pinned splits units 9 to 18 into 5 and 4, or 4 and 5, after one for the pools
    placed = place(domains_of(sizes, pin, ram), [lib.BH_POOL_ARENA] * 5)
    assert [span.size // MIB2 for spans in placed.ram for span in spans] == sizes


def test_the_rest_is_all_that_is_left() -> None:
    """What is pinned in the middle splits it; the larger part comes first."""
    placed = place(domains_of([4, None], {0: 300}), [lib.BH_POOL_ARENA] * 2)
    assert [span.start for span in placed.ram[1]] == [RAM.start + 304 * MIB2, RESERVED.end + MIB2]
    assert sum(span.size for spans in placed.ram for span in spans) == RAM.size - RESERVED.size - MIB2
    assert placed.given_up == 0


@pytest.mark.parametrize(("window", "most", "expected"), [(0x0C000000, 1, [720]), (0x40000000 + 721 * MIB2, 96, [720, 1])])
def test_what_the_rest_cannot_be_is_told(window: int, most: int, expected: list[int]) -> None:
    """By the rows of the table, or as its window lies in the way."""
    placed = place(domains_of([4, None], {0: 300}, window=window), [lib.BH_POOL_ARENA] * 2, (), most)
    assert [span.size // MIB2 for span in placed.ram[1]] == expected
    assert placed.given_up == RAM.size - RESERVED.size - (1 + 4 + sum(expected)) * MIB2


def test_copies_leave_the_rest_its_place() -> None:
    """Boot snapshots lie at the end of the smallest stretch that holds them."""
    pools, beside = [lib.BH_POOL_ARENA] * 3, {0: 300}
    without = place(domains_of([4, 2, None], beside), pools)
    with_copies = place(domains_of([4, 2, None], beside), pools, [3 * MIB, 0, 5 * MIB])
    assert with_copies.ram[2][0] == without.ram[2][0]
    assert with_copies.pools == without.pools
    assert sum(span.size for span in without.ram[2]) - sum(span.size for span in with_copies.ram[2]) == 4 * MIB2


def test_what_does_not_fit_says_what_was_there() -> None:
    with pytest.raises(NoRoom) as full:
        place(domains_of([600, 500], {0: 300}), [lib.BH_POOL_ARENA] * 2)
    assert full.value.size == 500 * MIB2
    assert full.value.asked == 500 * MIB2 + PAGE + 2 * lib.BH_POOL_ARENA
    assert [span.size // MIB2 for span in full.value.free] == [292, 124]
