# SPDX-License-Identifier: Apache-2.0
"""BH-F1.plan, BH-F6.doorbells. Doorbells of channels in a partition file: by which line and vector an end is rung, how often, and what both ends are told."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bhtool import abi
from bhtool.abi import lib
from bhtool.config import doorbells
from bhtool.config.channels import DOORBELL, Channel
from bhtool.config.compile import survey_partition
from bhtool.config.domains import Domains
from bhtool.config.doorbells import gap_us, line_of, lines_for, rings_of
from bhtool.config.grants import rung_vector
from bhtool.config.plan import Line, Plan
from bhtool.config.tree import Node, Property
from bhtool.platforms import load
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.config.test_channels import GOOD, PLATFORMS, channel, sandbox, written

Compile = Callable[[Path, str], Plan]
PCS = ("qemu-svm", "bochs-vtx")
FIRST_LINE = {name: 64 if name in PCS else 224 for name in PLATFORMS}
FIRST_ARM_LINE, LINES = 224, 32
NEVER = lib.BH_LINE_NONE
FOUR = (
    channel("silent", "one", "two"),
    channel("both", "one", "two", "doorbell-max-hz = <1000 3>;"),
    channel("there", "two", "linux", "doorbell-max-hz = <10000 0>;"),
    channel("back", "two", "linux", "doorbell-max-hz = <0 30000>;"),
)
# Which ends are rung, in the order of their lines: `one` by `both`, `two` by it, `linux` by `there`, `two` by `back`.
RUNG = (("both", "one"), ("both", "two"), ("there", "linux"), ("back", "two"))


def table_lines(plan: Plan) -> list[Any]:
    table = abi.view("bh_table", plan.table)
    return [row for row in list(table.lines)[: table.line_count] if row.flags & lib.BH_LINE_RUNG]


def told(plan: Plan, name: str) -> list[tuple[str, int, int, int, int]]:
    pool = sandbox(plan, name).pool_hpa
    info = abi.view("bh_info", next(piece.data for piece in plan.segments if piece.hpa == pool + lib.BH_POOL_INFO))
    rows = [row for row in list(info.grants)[: info.grant_count] if row.kind == lib.BH_GRANT_DOORBELL]
    return [(abi.text(row.name), row.gpa, row.size, row.line, row.vector) for row in rows]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_rows_of_the_table(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, *FOUR, more='&linux { modules = "bulkhead"; };'), platform)
    assert (plan.errors, plan.warnings) == ([], [])
    first = FIRST_LINE[platform]
    rows = [(list(row.gap_us), list(row.rung_line)) for row in list(abi.view("bh_table", plan.table).channels)[:4]]
    assert rows == [
        ([0, 0], [0, 0]),
        ([1000, 333_334], [first, first + 1]),  # never oftener: rounded up
        ([100, 0], [0, first + 2]),
        ([0, 34], [first + 3, 0]),
    ]
    cores = {"one": 0, "two": 1, "linux": 2}
    lines = sorted((row.line, row.sandbox, row.core, row.vector) for row in table_lines(plan))
    assert lines == [
        (first + n, sandbox(plan, who).index, cores[who], 48 + first + n if platform in PCS else 0) for n, (_, who) in enumerate(RUNG)
    ]


@pytest.mark.parametrize(("cells", "expected"), [("<>", ["BH-R003"]), ("<5>", []), ("<5 6>", []), ("<5 6 7>", ["BH-R003"])])
def test_both_ends_have_one_frequency_or_each_its_own(cells: str, expected: list[str], compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, channel("c", "one", "two", f"doorbell-max-hz = {cells};")), PLATFORMS[0])
    assert [one.rule for one in plan.errors] == expected


@pytest.mark.parametrize("platform", PLATFORMS)
def test_flags_of_lines(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    """None is level-triggered; Linux on a PC, which opens its lines itself, gets them masked, and behind those of its devices, as it counts them."""
    plan = compile_on(written(tmp_path, *FOUR), platform)
    for one in plan.sandboxes:
        masked = lib.BH_LINE_MASKED if one.name == "linux" and platform in PCS else 0
        assert {row.flags for row in table_lines(plan) if row.sandbox == one.index} == {lib.BH_LINE_RUNG | masked}
        rung = [line.rung for line in one.lines]
        assert rung == sorted(rung)
        assert rung.count(True) == sum(who == one.name for _, who in RUNG)
    table = abi.view("bh_table", plan.table)
    linux = [row for row in list(table.lines)[: table.line_count] if row.sandbox == sandbox(plan, "linux").index]
    assert not linux[0].flags & lib.BH_LINE_RUNG
    assert linux[-1].flags & lib.BH_LINE_RUNG
    if platform in PCS:
        assert all(row.flags & lib.BH_LINE_MASKED for row in linux)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_both_ends_are_told(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    """Of a channel without doorbells nothing; who only rings has no line; who is only rung may not ring."""
    plan = compile_on(written(tmp_path, *FOUR), platform)
    first = FIRST_LINE[platform]
    vector = [48 + first + n if platform in PCS else 0 for n in range(4)]
    assert told(plan, "one") == [("both", 1_000_000, 333_334_000, first, vector[0])]
    assert told(plan, "two") == [
        ("both", 333_334_000, 1_000_000, first + 1, vector[1]),
        ("there", 100_000, 0, NEVER, 0),
        ("back", 0, 34_000, first + 3, vector[3]),
    ]
    assert told(plan, "linux") == [("there", 0, 100_000, first + 2, vector[2]), ("back", 34_000, 0, NEVER, 0)]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_one_rate_is_for_both_ends(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, channel("box", "one", "two", "doorbell-max-hz = <500>;")), platform)
    assert plan.channels[0].gap_us == (2000, 2000)
    assert plan.channels[0].rung_line == (FIRST_LINE[platform], FIRST_LINE[platform] + 1)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_sixteen_channels_rung_at_both_ends(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    """As many as there are: what the board tree has on ARM machines, what fits into the filter on PCs."""
    several = [channel(f"c{n}", "one", "linux", 'kind = "ring"; slot-bytes = <64>; doorbell-max-hz = <10>;') for n in range(16)]
    plan = compile_on(written(tmp_path, *several), platform)
    assert plan.errors == []
    lines = [row.line for row in table_lines(plan)]
    assert sorted(lines) == list(range(FIRST_LINE[platform], FIRST_LINE[platform] + LINES))
    assert len(told(plan, "one")) == len(told(plan, "linux")) == 16
    if platform in PCS:
        assert FIRST_LINE[platform] == lib.BH_FIRST_RUNG_LINE
        assert max(lines) == lib.BH_LAST_RUNG_LINE
        vectors = [row.vector for row in list(abi.view("bh_table", plan.table).lines)]
        assert max(vectors[: len(lines)]) < lib.BH_FIRST_LEVEL_VECTOR


def test_without_doorbells_there_are_none(compile_on: Compile, tmp_path: Path) -> None:
    for platform in PLATFORMS:
        plan = compile_on(written(tmp_path, channel("silent", "one", "two")), platform)
        assert table_lines(plan) == told(plan, "one") == told(plan, "two") == []
        assert plan.channels[0].gap_us == plan.channels[0].rung_line == (0, 0)


# ---- whatever there is ----------------------------------------------------------------------------------------------------------------

RATES = st.one_of(st.just(0), st.integers(1, 66_666), st.sampled_from((1, 2, 3, 999_999, 1_000_000)))
CHANNELS = st.lists(st.tuples(st.permutations([0, 1, 2]), st.none() | st.tuples(RATES, RATES)), max_size=16)
READ: dict[str, Domains] = {}


@pytest.fixture(scope="module", params=("qemu-aarch64", "qemu-svm"))
def domains(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Domains:
    name = request.param
    if name not in READ:
        file = tmp_path_factory.mktemp(name) / "f.dts"
        file.write_text(f'#include "{GOOD}"\n')
        _, found = survey_partition(file, load(name))
        assert found
        READ[name] = found
    return READ[name]


def with_channels(domains: Domains, drawn: list[tuple[list[int], tuple[int, int] | None]]) -> Domains:
    nodes = [one.node for one in domains.sandboxes]
    made = []
    for n, ((sender, receiver, _), rates) in enumerate(drawn):
        cells = b"".join(rate.to_bytes(4, "big") for rate in rates or ())
        node = Node(f"/domains/c{n}", properties={DOORBELL: Property(DOORBELL, cells)} if rates else {})
        made.append(Channel(node, n, (nodes[sender],), (nodes[receiver],)))
    return replace(domains, channels=made)


def check_lines(changed: Domains) -> None:
    seen: dict[int, tuple[str, int]] = {}
    vectors = set()
    for one in changed.channels:
        for end in (0, 1):
            line = line_of(changed, one, end)
            assert bool(line) == (one.doorbell_hz[1 - end] > 0)
            if line:
                assert line not in seen, (line, seen)
                seen[line] = one.name, end
                assert lines_for(changed).start <= line < lines_for(changed).end
                vectors.add(rung_vector(changed, line))
    assert not changed.machine.family.interrupts.has_vectors or len(vectors) == len(seen)
    assert not list(doorbells.enough_lines(changed))
    assert not {wire.number for device in changed.machine.devices for wire in device.wires} & set(seen)
    assert sum(len(rings_of(changed, its).of) for its in changed.sandboxes) == len(seen)


def test_lines_are_ones_own(domains: Domains) -> None:
    """Each end that is rung has a line that no other end has, and no device."""

    @settings(max_examples=150, deadline=None)
    @given(CHANNELS)
    def whatever_channels(drawn: list[tuple[list[int], tuple[int, int] | None]]) -> None:
        check_lines(with_channels(domains, drawn))

    whatever_channels()


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 1_000_000))
def gaps_are_long_enough(hz: int) -> None:
    cells = hz.to_bytes(4, "big") + bytes(4)
    gap = gap_us(Channel(Node("/domains/c", properties={DOORBELL: Property(DOORBELL, cells)}), 0, (), ()), 0)
    assert gap * hz >= 1_000_000 > (gap - 1) * hz


def test_gaps_are_long_enough() -> None:
    """And none is longer by a microsecond than it must be."""
    gaps_are_long_enough()


def test_a_line_is_a_devices_unless_it_says_so() -> None:
    assert not Line("uart", 33, 0, 0).rung
