# SPDX-License-Identifier: Apache-2.0
"""BH-E1.oracle. What the oracle makes of small machines put together by hand, and of what no running machine shows."""

import struct
from dataclasses import replace

from bhtool.config.span import Span
from bhtool.oracle.bitmaps import SVM_READS, SVM_WRITES
from bhtool.oracle.confinement import Confinement, Maps, having, lacking
from bhtool.oracle.ept import Ept
from bhtool.oracle.judge import judge
from bhtool.oracle.msrs import RULES
from bhtool.oracle.policy import Grant, Partitioning, Policy, Private, Shared, misplaced
from bhtool.oracle.snapshot import Snapshot
from bhtool.oracle.walk import Root, walk

POOL, RAM, OTHER = 0x10000, 0x40000, 0x50000
GRANT = Grant("RAM", 0, RAM, 0x2000, "rwx", "ram")


def machine(**words: int) -> Snapshot:
    """One megabyte with a two-level EPT at POOL: its second entry by default maps GRANT."""
    ram = bytearray(1 << 20)
    for offset, word in {"0": 0x11007, "1000": 0x40037, "1008": 0x41037, **{key[1:]: word for key, word in words.items()}}.items():
        struct.pack_into("<Q", ram, POOL + int(offset, 16), word)
    return Snapshot(0, memoryview(bytes(ram)))


def policy(*exempt: str, ports: frozenset[int] = frozenset(), grants: tuple[Grant, ...] = (GRANT,)) -> Policy:
    return Policy("one", (0,), Span(POOL, 0x10000), grants, ports, frozenset(exempt))


def split(one: Policy) -> Partitioning:
    return Partitioning([one], [Private("monitor of one", Span(POOL, 0x10000))], [Span(0, 1 << 20)])


def confined(snapshot: Snapshot, pool: Span, cores: tuple[int, ...]) -> Confinement:
    return Confinement(1, Root(Ept(), POOL, 2))


def mapped(snapshot: Snapshot, pool: Span, cores: tuple[int, ...]) -> Confinement:
    """With maps, all of whose bits are 0."""
    frames = tuple(range(0x20000, 0x25000, 0x1000))
    return Confinement(1, Root(Ept(), POOL, 2), Maps(frames[:3], frames[3:], SVM_READS, SVM_WRITES))


def findings(snapshot: Snapshot, one: Policy) -> list[str]:
    return [str(finding) for finding in judge(snapshot, split(one), confined).findings]


def test_equal_is_silent() -> None:
    assert findings(machine(), policy()) == []


def test_access_is_what_all_levels_allow() -> None:
    assert findings(machine(_0=0x11005), policy()) == ["one: memory 0x0: RAM is open for rx, granted for rwx"]


def test_what_is_opened_on_request_is_there_or_not() -> None:
    """As a whole, and then as it was granted."""
    halves = tuple(replace(GRANT, name=f"{at:#x}", gpa=at, hpa=RAM + at, size=0x1000, opened="aside") for at in (0, 0x1000))
    one = policy(grants=halves)
    assert findings(machine(), one) == findings(machine(_1000=0, _1008=0), one) == []
    part = "one: memory 0x1000: of channel aside, which is open or closed, one part is mapped and another is not"
    assert findings(machine(_1000=0), one) == findings(machine(_1008=0), one) == [part]
    assert findings(machine(_1008=0x41033), one) == ["one: memory 0x1000: 0x1000 is open for rw, granted for rwx"]


def test_a_monitors_frame_is_named_without_looking_at_grants() -> None:
    everything = (GRANT, Grant("by mistake", 0x2000, 0x12000, 0x1000, "r", "ram"))
    found = findings(machine(_1010=0x12031), policy(grants=everything))
    assert "one: memory 0x2000: reaches 0x10000..0x1ffff, monitor of one" in found


def test_switched_off_protections_are_not_judged() -> None:
    strange = machine(_1008=0)
    assert findings(strange, policy()) != []
    assert findings(strange, policy("memory")) == []
    found = judge(machine(), split(policy("io", "msr")), mapped).findings
    rest = [str(finding) for finding in found if finding.kind != "control"]  # the maps do not lie in the pool
    assert rest == ["one: port 0x10000: to 0x10002: may be used beyond the last one, but is not granted"]
    kinds = {finding.kind for finding in judge(machine(), split(policy()), mapped).findings}
    assert kinds == {"control", "port", "register"}


def test_control_words_are_judged_by_protection() -> None:
    def spoilt(snapshot: Snapshot, pool: Span, cores: tuple[int, ...]) -> Confinement:
        words = [*lacking("vector", 0b01, {0: "A", 1: "B"}), *lacking("vector", 0, {2: "C"}, "io"), *having("flags", 0b10, {1: "D"})]
        return Confinement(1, Root(Ept(), POOL, 2), wrong=words)

    judged = [[one.text for one in judge(machine(), split(policy(*exempt)), spoilt).findings] for exempt in ((), ("io",))]
    always = ["vector does not have B", "flags has D"]
    assert judged == [[always[0], "vector does not have C", always[1]], always]


def test_tag_0_is_the_monitors() -> None:
    found = judge(machine(), split(policy()), lambda *_: Confinement(0, Root(Ept(), POOL, 2)))
    assert [str(one) for one in found.findings] == ["one: control 0x0: its translations are tagged 0, as the monitor's are"]


def test_places_are_judged() -> None:
    good, other = policy(), Policy("two", (1,), Span(OTHER, 0x1000), (GRANT,), frozenset(), frozenset())
    two = Partitioning([good, other], [Private("monitor", Span(RAM, 1))], [Span(0, RAM)])
    text = "\n".join(misplaced(two))
    assert "one: RAM 0x40000..0x41fff and two: RAM 0x40000..0x41fff overlap" in text
    assert "one: RAM lies in what is monitor" in text
    assert "one: RAM 0x40000..0x41fff is not in the machine's RAM" in text


def test_a_boot_snapshot_holds_something() -> None:
    full, empty = (Partitioning([replace(policy(), copy=Span(start, 0x1000))], [], [Span(0, 1 << 20)]) for start in (0x30000, 0x31000))
    snapshot = machine(_20000=1)
    said = [[str(one) for one in judge(snapshot, one, confined).findings] for one in (full, empty)]
    assert said == [[], ["one: memory 0x31000: its boot snapshot 0x31000..0x31fff holds nothing"]]


def test_a_walk_ends_whatever_the_tables_say() -> None:
    """Every entry leads back to the root."""
    ram = struct.pack("<512Q", *[0x7] * 512)
    tree = walk(Snapshot(0, memoryview(ram)), Root(Ept(), 0, 4))
    assert len(tree.tables) == 1
    assert len(tree.oddities) == 512


def test_every_register_has_a_reason() -> None:
    assert all(rule.first <= rule.last and set(rule.access) <= set("rw") and rule.why for rule in RULES)


def test_a_channel_is_its_two_ends_alone() -> None:
    """BH-F6.memory. Side by side in the machine and in both windows, parts of two channels go on in each other; a third sandbox reaches one of them."""
    channels = [Shared("first", Span(RAM, 0x2000), ("one", "two")), Shared("second", Span(RAM + 0x2000, 0x2000), ("two", "one"))]
    parts = [Grant(f"part {n}", n * 0x1000, RAM + n * 0x1000, 0x1000, "r", "ram", shared=True) for n in range(4)]
    roots = {"one": 0x10000, "two": 0x20000, "three": 0x30000}
    words = {root: 0x1007 + root for root in roots.values()}
    words |= {root + 0x1000 + n * 8: RAM + n * 0x1000 + 0x31 for root in list(roots.values())[:2] for n in range(4)}
    ram = bytearray(1 << 20)
    for at, word in {**words, 0x31000: RAM + 0x3031}.items():
        struct.pack_into("<Q", ram, at, word)

    def split_in_three(*grants: Grant) -> Partitioning:
        held = {"one": tuple(parts), "two": tuple(parts), "three": grants}
        policies = [
            Policy(name, (n,), Span(root, 0x10000), held[name], frozenset(), frozenset()) for n, (name, root) in enumerate(roots.items())
        ]
        return Partitioning(policies, [], [Span(0, 1 << 20)], None, channels)

    def confined_there(snapshot: Snapshot, pool: Span, cores: tuple[int, ...]) -> Confinement:
        return Confinement(cores[0] + 1, Root(Ept(), pool.start, 2))

    found = judge(
        Snapshot(0, memoryview(bytes(ram))),
        split_in_three(Grant("by mistake", 0, RAM + 0x3000, 0x1000, "r", "ram", shared=True)),
        confined_there,
    )
    assert [str(one) for one in found.findings] == ["three: memory 0x0: reaches 0x42000..0x43fff, of channel second"]
    struct.pack_into("<Q", ram, 0x31000, 0)
    good = judge(Snapshot(0, memoryview(bytes(ram))), split_in_three(), confined_there)
    assert [str(one) for one in good.findings] == []
