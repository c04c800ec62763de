# SPDX-License-Identifier: Apache-2.0
"""BH-I7.tool. `check` against a predicate written from the documents alone (predicate.py), over random partition files.

What the predicate calls good compiles, and the monitor takes its table; what it calls wrong is refused, by a rule that is broken.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import pytest
from bhtool.config import compile as compiler
from bhtool.config.compile import compile_partition
from bhtool.config.plan import Plan
from bhtool.config.source import Source, read_source
from bhtool.config.tree import Node
from bhtool.platforms import load
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.config.partitions import BOARDS, UNIT, File, Health, Region, Sandbox, random_file, text_of, tree_of
from tests.config.predicate import ERRORS, WARNINGS, judge
from tests.config.software import Files

Refuses = Callable[[str, bytes], str]
FEW, MANY = 100, 4000
PARTS = 10  # each belongs to a share of its own, and all together take two minutes
FILES = st.builds(random_file, st.randoms(use_true_random=False), st.sampled_from(sorted(BOARDS)))
SLOW = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Node]:
    """Trees of the boards, each compiled once."""
    empty = tmp_path_factory.mktemp("boards") / "empty.dts"
    empty.write_text("#include BOARD_DTSI\n")
    return cache(lambda name: read_source(empty, load(name).board).root)


@pytest.fixture
def compiled(boards: Callable[[str], Node], files: Callable[[str], Files], monkeypatch: pytest.MonkeyPatch) -> Callable[[File], Plan]:
    """Everything that follows dtc, in this process."""

    def run(file: File) -> Plan:
        platform = load(file.platform)
        root = tree_of(file, boards(file.platform))
        monkeypatch.setattr(compiler, "read_source", lambda *_: Source(root, [], []))
        return compile_partition(Path("random.dts"), platform, files(platform.arch))

    return run


def agree(file: File, plan: Plan, refuses: Refuses) -> None:
    """The predicate and the tool, and then the monitor."""
    errors, warnings = judge(file, ERRORS), judge(file, WARNINGS)
    told = {one.rule for one in plan.errors}
    said = (
        f"told {sorted(told)}, must {sorted(errors.must)}, may {sorted(errors.may)}\n"
        + "\n".join(map(str, plan.errors))
        + f"\n{file.platform}\n{text_of(file)}"
    )
    assert errors.good is None or plan.valid == errors.good, said
    assert told <= errors.may, said
    if not plan.valid:
        return
    noted = {one.rule for one in plan.warnings}
    assert warnings.must <= noted <= warnings.may, f"warned of {sorted(noted)}, must {sorted(warnings.must)}\n{text_of(file)}"
    assert refuses(file.platform, plan.table) == "", text_of(file)


def three(taker: Sandbox, *regions: Region) -> File:
    """One restarts, one has memory, one takes the rest."""
    first = Sandbox("engine", ("cpu0",), "engine_ram", image="large.elf", health=Health("restart", 3))
    return File("qemu-aarch64", regions, (first, Sandbox("brakes", ("cpu1",), "brakes_ram"), taker), ("cpu3",))


RESTART_BESIDE_THE_REST = three(Sandbox("linux", ("cpu2",), rest=True), Region("engine_ram", 8 * UNIT), Region("brakes_ram", 8 * UNIT))
BESIDE_A_PIN = File(
    "qemu-aarch64",
    (
        Region("engine_ram", 300 * UNIT),
        Region("brakes_ram", 200 * UNIT),
        Region("sensor_ram", 199 * UNIT),
        Region("logger_ram", 323 * UNIT, 0x40000000 + 401 * UNIT),
    ),
    tuple(Sandbox(name, (f"cpu{n}",), f"{name}_ram") for n, name in enumerate(("engine", "brakes", "sensor", "logger"))),
    (),
)


@settings(max_examples=FEW, deadline=None, suppress_health_check=SLOW, derandomize=True)
@given(FILES)
@example(RESTART_BESIDE_THE_REST)
@example(BESIDE_A_PIN)
def test_check_is_what_the_documents_say(compiled: Callable[[File], Plan], monitor_refuses: Refuses, file: File) -> None:
    agree(file, compiled(file), monitor_refuses)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@settings(max_examples=MANY // PARTS, deadline=None, suppress_health_check=SLOW, derandomize=False)
@given(file=FILES)
def test_check_is_what_the_documents_say_of_thousands(
    part: int, compiled: Callable[[File], Plan], monitor_refuses: Refuses, file: File
) -> None:
    """Each part draws files of its own: with CI=true Hypothesis would otherwise give all parts the same ones."""
    agree(file, compiled(file), monitor_refuses)


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_is_what_the_compiler_makes_of_the_text(
    seed: int, compiled: Callable[[File], Plan], compile_on: Callable[[Path, str], Plan], tmp_path: Path
) -> None:
    """So what is found without dtc would be found with it."""
    file = random_file(Random(seed), sorted(BOARDS)[seed % len(BOARDS)])
    here = compiled(file)
    (tmp_path / "random.dts").write_text(text_of(file))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "read_source", read_source)
        there = compile_on(tmp_path / "random.dts", file.platform)
    assert sorted(one.rule for one in there.errors) == sorted(one.rule for one in here.errors)
    assert there.table == here.table
