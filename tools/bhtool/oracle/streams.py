# SPDX-License-Identifier: Apache-2.0
"""Compares what an IOMMU is told with what the partition file says: a stream of a sandbox's function leads to its RAM, all of it and nothing
else; every other stream aborts, and so does one whose sandbox has ended. BH-I1.dma.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from bhtool.config.span import Span
from bhtool.oracle.amdvi import AMDVI
from bhtool.oracle.compare import Finding, compared, joined
from bhtool.oracle.iommu import IommuLook, Message, Opened, Told
from bhtool.oracle.policy import Grant, Partitioning, Policy, Private
from bhtool.oracle.smmu import SMMU
from bhtool.oracle.snapshot import FRAME, Snapshot
from bhtool.oracle.vtd import VTD
from bhtool.oracle.walk import Leaf, walk

LOOKS: dict[str, IommuLook] = {"arm,smmu-v3": SMMU, "bulkhead,amd-vi": AMDVI, "bulkhead,vt-d": VTD}  # by `compatible`


def read_told(snapshot: Snapshot, partitioning: Partitioning) -> Told | None:
    """None: the machine has no IOMMU."""
    if not partitioning.iommu:
        return None
    look = LOOKS[partitioning.iommu.compatible]
    missing = [offset for offset, _ in look.registers if offset not in snapshot.iommu]
    if missing:
        return Told(wrong=[(None, f"the debugger does not show its registers at {', '.join(map(hex, missing))}")])
    return look.read(snapshot, snapshot.iommu)


def judge_streams(snapshot: Snapshot, partitioning: Partitioning, told: Told | None, ended: Collection[str]) -> Iterator[Finding]:
    if not told or not partitioning.iommu:
        return
    owners = {stream: one for one in partitioning.policies for stream in one.streams}
    for about, text in told.wrong:
        yield Finding(_name(owners, about), "stream", about or 0, text if about is not None else f"of the IOMMU: {text}")
    yield from _open_and_granted(told, owners, ended)
    for name, span in told.tables:
        if not partitioning.iommu.tables.holds(span):
            yield Finding("", "stream", span.start, f"{name} {span} is not among the IOMMU's tables, {partitioning.iommu.tables}")
    for stream, one in owners.items():
        if stream in told.streams and one.sandbox not in ended:
            yield from _reached(snapshot, partitioning, one, stream, told.streams[stream])
    yield from _tags(told, owners)
    yield from _interrupts(partitioning, told, owners)


def _name(owners: dict[int, Policy], stream: int | None) -> str:
    return owners[stream].sandbox if stream in owners else ""


def _open_and_granted(told: Told, owners: dict[int, Policy], ended: Collection[str]) -> Iterator[Finding]:
    for stream in told.streams:
        if stream not in owners:
            yield Finding("", "stream", stream, "is open, and granted to nobody")
        elif owners[stream].sandbox in ended:
            yield Finding(owners[stream].sandbox, "stream", stream, "is open, and its sandbox has ended")
    for stream, one in owners.items():
        if stream not in told.streams and one.sandbox not in ended:
            yield Finding(one.sandbox, "stream", stream, "is granted, and aborts")


def _reached(snapshot: Snapshot, partitioning: Partitioning, one: Policy, stream: int, opened: Opened) -> Iterator[Finding]:
    """By grants, and once more frame by frame without looking at them."""
    if not opened.root:
        yield Finding(one.sandbox, "stream", stream, "is not translated: it reaches everything")
        return
    tree = walk(snapshot, opened.root)
    leaves = [Leaf(leaf.gpa, leaf.hpa, leaf.size, _both(leaf.access, opened.access), leaf.memory) for leaf in tree.leaves]
    granted = [Grant(each.name, each.gpa, each.hpa, each.size, "rw", "ram") for each in one.grants if each.name == "RAM"]
    yield from (Finding(one.sandbox, "stream", start, f"stream {stream:#x}: {text}") for start, text in compared(leaves, granted))
    yield from (Finding(one.sandbox, "stream", odd.gpa, f"stream {stream:#x}: {odd.text} (at {odd.at:#x})") for odd in tree.oddities)
    for frame in tree.tables:
        if not one.pool.holds(Span(frame, FRAME)):
            yield Finding(one.sandbox, "stream", frame, f"a table of stream {stream:#x} is not in its monitor's pool")
    for run in joined(leaves):
        pools = (Private(f"pool of {each.sandbox}", each.pool) for each in partitioning.policies)
        channels = (Private(f"channel {each.name}", each.span) for each in partitioning.channels)
        for private in (*partitioning.private, *pools, *channels):
            if run.frames.overlaps(private.span):
                yield Finding(one.sandbox, "stream", run.gpa, f"stream {stream:#x} reaches {private.span}, {private.name}")


def _both(one: str, other: str) -> str:
    return "".join(each for each in one if each in other)


def _tags(told: Told, owners: dict[int, Policy]) -> Iterator[Finding]:
    """An IOMMU keeps translations by their tag: what is invalidated of one sandbox must be nobody else's."""
    seen: dict[int, str] = {}
    for stream, opened in told.streams.items():
        name = _name(owners, stream)
        if not name or not opened.root:
            continue
        if not opened.tag:
            yield Finding(name, "stream", stream, "its translations are tagged 0")
        elif seen.setdefault(opened.tag, name) != name:
            yield Finding(name, "stream", stream, f"its tag {opened.tag} is also {seen[opened.tag]}'s")


def _interrupts(partitioning: Partitioning, told: Told, owners: dict[int, Policy]) -> Iterator[Finding]:
    """A function interrupts the cores of its sandbox; the I/O APIC those of sandboxes that have lines. Nobody's interrupts nobody."""
    assert partitioning.iommu
    io_apic = LOOKS[partitioning.iommu.compatible].io_apic
    with_lines = {apic for one in partitioning.policies if one.has_lines for apic in one.apics}
    for stream, span in told.of_streams:
        one = owners.get(stream)
        if not (one.pool if one else partitioning.iommu.tables).holds(span):
            place = "its monitor's pool" if one else "the IOMMU's tables"
            yield Finding(_name(owners, stream), "stream", stream, f"its interrupt table {span} is not in {place}")
    for message in told.messages:
        one = owners.get(message.stream)
        allowed = one.apics if one else with_lines if message.stream == io_apic else ()
        if message.destination not in allowed:
            yield Finding(_name(owners, message.stream), "stream", message.stream, _said(message))


def _said(message: Message) -> str:
    return (
        f"its interrupt {message.index:#x} goes to the core with APIC ID {message.destination:#x}, vector {message.vector:#x}: not granted"
    )
