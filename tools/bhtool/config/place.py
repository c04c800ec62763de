# SPDX-License-Identifier: Apache-2.0
"""Places everything physical. Deterministic: the same files give the same addresses.

Order: pinned regions stay where the file says; then the shared page, the pools, the IOMMU's tables, channels, sandbox RAM, largest first, and what restarts keep, each at
the lowest address that fits, RAM and pools first in the NUMA node of their sandbox's cores. Where that fails, an exact search over all of them (pack.py). A sandbox that takes the rest and names no region
gets every stretch that is still free, the largest first, as one stretch of guest-physical addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bhtool.abi import lib
from bhtool.config.channels import Channel
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.numa import near
from bhtool.config.pack import Want, highest, lowest, pack, whole_units, without
from bhtool.config.span import MIB2, PAGE, Span, align_up


class NoRoom(Exception):
    """Not everything fits, however it is laid."""

    def __init__(self, owner: Sandbox | Channel, want: Want, wants: Sequence[Want], free: Free, at_first: Free) -> None:
        super().__init__(f"{want.size} bytes for {owner.name}")
        self.owner = owner
        self.want = want
        self.size = want.size
        self.largest = free.largest(want.align).size  # when those before it had theirs
        self.asked = sum(one.size for one in wants)
        self.free = at_first.spans


class Free:
    """Sorted, disjoint free stretches of RAM."""

    def __init__(self, ram: list[Span], taken: list[Span]) -> None:
        self.spans = sorted(ram, key=lambda span: span.start)
        for span in taken:
            self.remove(span)

    def remove(self, taken: Span) -> None:
        self.spans = list(without(tuple(self.spans), taken))

    def take(self, size: int, align: int) -> int | None:
        """The lowest address that fits, now taken; None if there is none."""
        return self.take_want(Want("copy", 0, size), align)

    def take_want(self, want: Want, align: int, within: Sequence[Span] = ()) -> int | None:
        """The same for what must not cross a boundary; where `within` names stretches, in one of them."""
        spans = [part for span in self.spans for one in within if (part := span.common(one)).size] if within else self.spans
        start = next((start for span in spans if (start := lowest(span, want, align)) is not None), None)
        if start is not None:
            self.remove(Span(start, want.size))
        return start

    def largest(self, align: int) -> Span:
        """The largest aligned stretch, of a whole number of aligned units."""
        spans = [Span(align_up(span.start, align), (span.end & ~(align - 1)) - align_up(span.start, align)) for span in self.spans]
        return max(spans, key=lambda span: span.size, default=Span(0, 0))


@dataclass
class Placement:
    shared: int = 0
    pools: list[int] = field(default_factory=list)
    ram: list[list[Span]] = field(default_factory=list)  # by sandbox index; as the sandbox sees them, one after the other
    iommu: int = 0  # tables of the IOMMU; 0: there is none
    copies: list[int] = field(default_factory=list)  # by sandbox index; 0: none was asked for
    channels: list[int] = field(default_factory=list)  # in the order of the file
    free: Free = field(default_factory=lambda: Free([], []))  # what is left
    given_up: int = 0  # bytes of whole units that whoever takes the rest cannot have


def place(domains: Domains, pool_sizes: list[int], copy_sizes: Sequence[int] = (), most_stretches: int = lib.BH_MAX_REGIONS) -> Placement:
    """
    Raises NoRoom. The rules on pinned regions must have passed. A pool's frames have one table in common. Who takes the rest gets at most so
    many stretches of it.
    """
    pinned = [span for memory in domains.memories if (span := memory.span)]
    at_first = Free(domains.machine.ram, domains.machine.reserved + pinned)
    wants = _wants(domains, pool_sizes, copy_sizes)
    free = Free(at_first.spans, [])
    starts = _first_fit(domains, wants, free, at_first)
    count = len(domains.sandboxes)
    placement = Placement(starts[wants[0]], ram=[_pinned(domains, one) for one in domains.sandboxes], copies=[0] * count, free=free)
    placement.pools = [starts[want] for want in wants if want.kind == "pool"]
    placement.channels = [starts[want] for want in wants if want.kind == "channel"]
    for want, start in starts.items():
        if want.kind == "iommu":
            placement.iommu = start
        elif want.kind == "ram":
            placement.ram[want.sandbox] = [Span(start, want.size)]
        elif want.kind == "copy":
            placement.copies[want.sandbox] = start
    for sandbox in domains.sandboxes:
        if takes_largest(domains, sandbox):
            placement.ram[sandbox.index] = _the_rest(domains, sandbox, placement, most_stretches)
    return placement


def _wants(domains: Domains, pool_sizes: list[int], copy_sizes: Sequence[int]) -> list[Want]:
    """What has no place yet, in the order of first fit."""
    iommu = domains.machine.iommu
    ram = [Want("ram", one.index, memory.size) for one in domains.sandboxes if (memory := domains.memory_of(one)) and not memory.span]
    return [
        Want("shared", 0, PAGE),
        *(Want("pool", index, size) for index, size in enumerate(pool_sizes)),
        *([Want("iommu", 0, iommu.kind.table_bytes)] if iommu else []),
        *(Want("channel", one.index, one.size) for one in domains.channels),
        *sorted(ram, key=lambda want: (-want.size, want.sandbox)),
        *(Want("copy", index, size) for index, size in enumerate(copy_sizes) if size),
    ]


def _first_fit(domains: Domains, wants: list[Want], free: Free, at_first: Free) -> dict[Want, int]:
    """Each at the lowest address that fits, or, where somebody's is none, by search. What is left stays in `free`."""
    starts: dict[Want, int] = {}
    somebody_takes = any(takes_largest(domains, one) for one in domains.sandboxes)
    for want in wants:
        start = _copy_beside_the_rest(free, want) if want.kind == "copy" and somebody_takes else _near(domains, free, want)
        if start is None:
            owner = domains.channels[want.sandbox] if want.kind == "channel" else domains.sandboxes[want.sandbox]
            return _searched(NoRoom(owner, want, wants, free, at_first), wants, free, at_first)
        starts[want] = start
    return starts


def _near(domains: Domains, free: Free, want: Want) -> int | None:
    """RAM and pools in the NUMA node of their sandbox's cores, if there is room; anything else anywhere."""
    within = near(domains, domains.sandboxes[want.sandbox]) if want.kind in ("ram", "pool") else ()
    start = _lowest(free, want, within) if within else None
    return _lowest(free, want) if start is None else start


def _lowest(free: Free, want: Want, within: Sequence[Span] = ()) -> int | None:
    """At a round address, if that is possible, where its tables are fewer."""
    start = free.take_want(want, want.round, within) if want.round else None
    return free.take_want(want, want.align, within) if start is None else start


def _copy_beside_the_rest(free: Free, want: Want) -> int | None:
    """At the end of the smallest stretch that holds it: what the rest begins with stays large, and begins where it does without restarts."""
    fitting = [(span.size, start) for span in free.spans if (start := highest(span, want, want.align)) is not None]
    if not fitting:
        return None
    _, start = min(fitting)
    free.remove(Span(start, want.size))
    return start


def _searched(full: NoRoom, wants: list[Want], free: Free, at_first: Free) -> dict[Want, int]:
    starts = pack(at_first.spans, wants)
    if starts is None:
        raise full
    free.spans = at_first.spans
    for want, start in starts.items():
        free.remove(Span(start, want.size))
    return starts


def takes_largest(domains: Domains, sandbox: Sandbox) -> bool:
    """Whether its RAM is what others leave."""
    return sandbox.takes_the_rest and domains.memory_of(sandbox) is None


def _pinned(domains: Domains, sandbox: Sandbox) -> list[Span]:
    memory = domains.memory_of(sandbox)
    return [memory.span] if memory and memory.span else []


def _the_rest(domains: Domains, sandbox: Sandbox, placement: Placement, most: int) -> list[Span]:
    """The largest stretch first, as software lies at the beginning; then the others by address. What it cannot have is noted."""
    units = sorted(whole_units(placement.free.spans), key=lambda span: (-span.size, span.start))
    room, taken = rest_limit(domains, sandbox), []
    for span in [*units[:1], *sorted(units[1:most], key=lambda span: span.start)]:
        taken += [Span(span.start, min(span.size, room))] if room else []
        room -= min(span.size, room)
    for span in taken:
        placement.free.remove(span)
    placement.given_up = sum(span.size for span in units) - sum(span.size for span in taken)
    return taken


def rest_limit(domains: Domains, sandbox: Sandbox) -> int:
    """Guest RAM ends below the window, and below the sandbox's own devices, where they lie above its beginning. A multiple of 2 MiB."""
    machine = domains.machine
    seen = [machine.window, *(span.start for device in sandbox.devices for span in device.registers)]
    ends = [machine.family.programs.address_end, *(start for start in seen if start >= machine.guest_ram)]
    return min(ends) - machine.guest_ram & ~(MIB2 - 1)
