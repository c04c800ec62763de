# SPDX-License-Identifier: Apache-2.0
"""Compares what processors are told with what the partition file says, both ways: whatever is granted is open, whatever is open is granted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from bhtool.config.span import Span
from bhtool.oracle import msrs
from bhtool.oracle.bitmaps import PORTS, open_ports, open_registers, runs
from bhtool.oracle.compare import Finding, common, compared, joined
from bhtool.oracle.confinement import Confinement, Maps, Reader, Wrong, frames_of
from bhtool.oracle.iommu import Told
from bhtool.oracle.policy import Grant, Partitioning, Policy, misplaced
from bhtool.oracle.snapshot import FRAME, Snapshot
from bhtool.oracle.streams import judge_streams, read_told
from bhtool.oracle.walk import Tree, walk


@dataclass
class Examined:
    """One sandbox, decoded."""

    policy: Policy
    confinement: Confinement
    tree: Tree = field(default_factory=Tree)
    monitor: Tree = field(default_factory=Tree)  # its own tables
    ports: set[int] = field(default_factory=set)
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)


@dataclass
class Verdict:
    sandboxes: list[Examined]
    findings: list[Finding]
    told: Told | None = None  # of the IOMMU, where there is one

    def open_streams(self, policy: Policy) -> int:
        """Of the sandbox's functions, how many the IOMMU translates for."""
        return sum(stream in policy.streams and bool(opened.root) for stream, opened in self.told.streams.items()) if self.told else 0


def judge(snapshot: Snapshot, partitioning: Partitioning, read: Reader, ended: Collection[str] = ()) -> Verdict:
    """`ended`: sandboxes that have been parked or stopped, whose functions reach nothing."""
    found = [_examine(snapshot, policy, read) for policy in partitioning.policies]
    told = read_told(snapshot, partitioning)
    findings = [Finding("", "memory", 0, text) for text in misplaced(partitioning)]
    findings += [finding for policy in partitioning.policies for finding in _copy(snapshot, policy)]
    for one in found:
        findings += [*_controls(one), *_tables(one), *_memory(one), *_maps(one), *_monitor(one, found, told)]
    findings += [*_frames(found, partitioning), *_apart(found), *judge_streams(snapshot, partitioning, told, ended)]
    return Verdict(found, findings, told)


def _examine(snapshot: Snapshot, policy: Policy, read: Reader) -> Examined:
    one = Examined(policy, read(snapshot, policy.pool, policy.cores))
    if one.confinement.root:
        one.tree = walk(snapshot, one.confinement.root)
    if one.confinement.monitor:
        one.monitor = walk(snapshot, one.confinement.monitor)
    maps = one.confinement.maps
    if maps and all(snapshot.holds(frame, FRAME) for frame in (*maps.ports, *maps.registers)):
        one.ports = open_ports(b"".join(map(snapshot.frame, maps.ports)))
        registers = b"".join(map(snapshot.frame, maps.registers))
        one.reads, one.writes = open_registers(registers, maps.reads), open_registers(registers, maps.writes)
    elif maps:
        one.confinement.wrong.append(Wrong("permission maps are not in RAM"))
    return one


def _copy(snapshot: Snapshot, policy: Policy) -> Iterator[Finding]:
    """What is judged as a boot snapshot is where the monitor has put one."""
    copy = policy.copy
    if copy and snapshot.holds(copy.start, copy.size) and not any(any(snapshot.words(frame)) for frame in frames_of(copy)):
        yield Finding(policy.sandbox, "memory", copy.start, f"its boot snapshot {copy} holds nothing")


# ---- how the processor is told ----


def _controls(one: Examined) -> Iterator[Finding]:
    name = one.policy.sandbox
    yield from (Finding(name, "control", 0, wrong.text) for wrong in one.confinement.wrong if wrong.protection not in one.policy.exempt)
    if one.confinement.root and not one.confinement.tag:
        yield Finding(name, "control", 0, "its translations are tagged 0, as the monitor's are")
    for frame, what in _own_frames(one).items():
        if not one.policy.pool.holds(Span(frame, FRAME)):
            yield Finding(name, "control", frame, f"{what} is not in its monitor's pool")


def _own_frames(one: Examined) -> dict[int, str]:
    """Every frame that decides about a sandbox."""
    maps: Maps | None = one.confinement.maps
    ports = dict.fromkeys(maps.ports, "port map") if maps else {}
    registers = dict.fromkeys(maps.registers, "register map") if maps else {}
    return {**one.confinement.frames, **dict.fromkeys(one.tree.tables, "table"), **ports, **registers}


def _apart(found: list[Examined]) -> Iterator[Finding]:
    """No two sandboxes are confined by the same frame, or share a tag."""
    for one, other in combinations(found, 2):
        theirs = _own_frames(other)
        for frame, what in _own_frames(one).items():
            if frame in theirs:
                yield Finding(one.policy.sandbox, "table", frame, f"{what} is also {other.policy.sandbox}'s {theirs[frame]}")
        if one.confinement.tag and one.confinement.tag == other.confinement.tag:
            yield Finding(one.policy.sandbox, "control", 0, f"tag {one.confinement.tag} is also {other.policy.sandbox}'s")


def _tables(one: Examined) -> Iterator[Finding]:
    for oddity in one.tree.oddities:
        yield Finding(one.policy.sandbox, "table", oddity.gpa, f"{oddity.text} (at {oddity.at:#x})")


# ---- memory, as the sandbox sees it ----


def _memory(one: Examined) -> Iterator[Finding]:
    if "memory" in one.policy.exempt:
        return
    yield from (Finding(one.policy.sandbox, "memory", start, text) for start, text in compared(one.tree.leaves, one.policy.grants))


# ---- memory, as its monitor sees it ----


def _monitor(one: Examined, found: list[Examined], told: Told | None) -> Iterator[Finding]:
    """Outside of its pool a monitor maps what docs/shared-state.md lists; inside, nothing that is written can be executed."""
    if not one.confinement.monitor:
        return
    name, pool = one.policy.sandbox, one.policy.pool
    roots = {other.policy.sandbox: other.confinement.root.hpa for other in found if other.confinement.root}
    victims = [
        Grant(f"root of {kicked}", roots[kicked], roots[kicked], FRAME, "rw", "ram") for kicked in one.policy.kicks if kicked in roots
    ]
    shown = [span.pages() for span in told.shown] if told and one.policy.streams else []
    queues = [Grant("the IOMMU's tables", span.start, span.start, span.size, "rw", "ram") for span in shown]
    outside = [leaf for leaf in one.monitor.leaves if not pool.holds(Span(leaf.hpa, leaf.size))]
    own = [leaf for leaf in one.monitor.leaves if pool.holds(Span(leaf.hpa, leaf.size))]
    if not any("x" in leaf.access for leaf in own):
        yield Finding(name, "monitor", 0, "it maps no code of its own")
    for leaf, other in ((leaf, other) for leaf in own if "x" in leaf.access for other in own if "w" in other.access):
        if common(Span(leaf.hpa, leaf.size), Span(other.hpa, other.size)):
            yield Finding(name, "monitor", leaf.gpa, f"may write the code at {leaf.hpa:#x}")
    yield from (Finding(name, "monitor", start, text) for start, text in compared(outside, (*one.policy.reach, *victims, *queues)))
    yield from (Finding(name, "monitor", oddity.gpa, f"{oddity.text} (at {oddity.at:#x})") for oddity in one.monitor.oddities)
    for frame in one.monitor.tables:
        if not pool.holds(Span(frame, FRAME)):
            yield Finding(name, "monitor", frame, "a table of its own is not in its pool")


# ---- memory, frame by frame ----


def _frames(found: list[Examined], partitioning: Partitioning) -> Iterator[Finding]:
    """Independent of what is granted: no frame of a monitor, and none of another sandbox but those shared by name."""
    runs_of = {one.policy.sandbox: joined(one.tree.leaves) for one in found if "memory" not in one.policy.exempt}
    for name, mapped in runs_of.items():
        for run in mapped:
            for private in partitioning.private:
                if run.frames.overlaps(private.span):
                    yield Finding(name, "memory", run.gpa, f"reaches {private.span}, {private.name}")
        for channel in (one for one in partitioning.channels if name not in one.ends):
            for run in mapped:
                if run.frames.overlaps(channel.span):
                    yield Finding(name, "memory", run.gpa, f"reaches {channel.span}, of channel {channel.name}")
    shared = [grant.span for policy in partitioning.policies for grant in policy.grants if grant.shared]
    for (name, mapped), (other, theirs) in combinations(runs_of.items(), 2):
        for run in mapped:
            for span in (common(run.frames, their.frames) for their in theirs):
                if span and any(without((span,), shared)):
                    yield Finding(name, "memory", run.gpa + span.start - run.hpa, f"reaches {span}, which {other} reaches, too")


def without(spans: Iterable[Span], taken: Iterable[Span]) -> Iterator[Span]:
    """What is left of the spans."""
    left = list(spans)
    for hole in taken:
        ends = [
            (one, other) for each in left for one, other in ((each.start, min(each.end, hole.start)), (max(each.start, hole.end), each.end))
        ]
        left = [Span(start, end - start) for start, end in ends if start < end]
    yield from left


# ---- ports and registers ----


def _maps(one: Examined) -> Iterator[Finding]:
    if not one.confinement.maps:
        return
    beyond = {port for port in one.ports if port >= PORTS}
    yield from _numbers(one, "port", beyond, set(), "used beyond the last one")
    if "io" not in one.policy.exempt:
        yield from _numbers(one, "port", one.ports - beyond, set(one.policy.ports), "used")
    if "msr" not in one.policy.exempt:
        unjudged = msrs.unjudged(one.policy.exempt)
        yield from _numbers(one, "register", one.reads - unjudged, msrs.allowed("r") - unjudged, "read")
        yield from _numbers(one, "register", one.writes - unjudged, msrs.allowed("w") - unjudged, "written")


def _numbers(one: Examined, kind: str, is_open: set[int], allowed: set[int], verb: str) -> Iterator[Finding]:
    for first, last in runs(is_open - allowed):
        yield Finding(one.policy.sandbox, kind, first, f"to {last:#x}: may be {verb}, but is not granted")
    for first, last in runs(allowed - is_open):
        yield Finding(one.policy.sandbox, kind, first, f"to {last:#x}: is granted, but cannot be {verb}")
