# SPDX-License-Identifier: Apache-2.0
"""BH-E1.mutations. Seeded mistakes in the running monitor: each must make the emulated case that guards against it fail, and show what it lets through.

Every worker has a copy of the source tree. Every case named below must pass there without a mistake; then with one mistake at a
time. A group is what breaks one file on one platform, and stays with one worker.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import pytest
from bhtool.errors import BulkheadError
from bhtool.machine.emulated import require_emulator
from bhtool.platforms import load

from tests.claims import evidence, named_in
from tests.emulated import open_board, table
from tests.emulated.evidence import of_case
from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.machine_mutations import MUTATIONS
from tests.mutation.mutation import ROOT
from tests.mutation.one_case import CAMPAIGN, CARDS, CASE_FAILS, FOREIGN, LOADED, ORACLE
from tests.mutation.tree import Tree, broken_tree
from tests.touched import inputs

pytestmark = pytest.mark.long

OF_TABLE = [module for module in vars(table).values() if isinstance(module, ModuleType) and hasattr(module, "CASES")]
FILES = {case.name: f"tests/emulated/{module.__name__.rpartition('.')[2]}.py" for module in OF_TABLE for case in module.CASES}
FILES |= {ORACLE: "tests/emulated/test_oracle.py", CAMPAIGN: "tests/emulated/test_campaign.py", FOREIGN: "tests/emulated/test_foreign.py"}
FILES |= {LOADED: "tests/emulated/test_loaders.py", CARDS: "tests/emulated/test_card_campaign.py"}
FILES |= dict.fromkeys(open_board.BY_NAME, "tests/emulated/test_unprotected_dma.py")
REFUSALS = "tests/emulated/test_refusals.py"
TESTS_CAN_FAIL = "BH-E1.mutations"
SHOWN = {case.name: of_case(case) for case in table.CASES}


def shown_by(caught_by: str) -> tuple[str, ...]:
    """What the test that must notice is evidence for: with its control, the mistake shows that it can fail."""
    named = SHOWN.get(caught_by) or named_in(ast.get_docstring(ast.parse((ROOT / FILES.get(caught_by, REFUSALS)).read_text())))
    return (TESTS_CAN_FAIL, *named)


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    with broken_tree(tmp_path_factory.mktemp("tree")) as made:
        yield made


@pytest.fixture(autouse=True)
def emulator(platform: str) -> None:
    try:
        require_emulator(load(platform))
    except BulkheadError as missing:
        pytest.skip(str(missing))


# So that a file is compiled once with each mistake, and not without in between.
IN_ORDER = sorted(MUTATIONS, key=lambda one: (one.platform, one.file))
OF_CASE: dict[tuple[str, str], list[MachineMutation]] = {}
for one in IN_ORDER:
    OF_CASE.setdefault((one.platform, one.caught_by), []).append(one)


def marks(*rows: MachineMutation) -> list[pytest.MarkDecorator]:
    """In the group of the first; depends on what all depend on."""
    group = f"mutations-{rows[0].platform}-{rows[0].file}"
    tests = {FILES.get(row.caught_by, REFUSALS) for row in rows}
    shows = evidence(*dict.fromkeys(name for row in rows for name in shown_by(row.caught_by)))
    return [
        shows,
        pytest.mark.xdist_group(group),
        inputs({one.file for row in rows for one in (row, *row.beside)}, tests, {row.what for row in rows}),
    ]


CONTROLS = [pytest.param(*case, id="-".join(case), marks=marks(*rows)) for case, rows in OF_CASE.items()]
ROWS = [pytest.param(one.platform, one, id=f"{one.platform}-{one.what}", marks=marks(one)) for one in IN_ORDER]

WITH_MORE = {(one.platform, one.caught_by, one.beside): one for one in IN_ORDER if one.beside}
BESIDE = [pytest.param(one.platform, one, id=f"{one.platform}-{one.caught_by}", marks=marks(one)) for one in WITH_MORE.values()]


@pytest.mark.parametrize(("platform", "case"), CONTROLS)
def test_without_a_mutation_all_is_well(platform: str, case: str, tree: Tree) -> None:
    status, said = tree.run_case(platform, case)
    assert status == 0, said


@pytest.mark.parametrize(("platform", "mutation"), BESIDE)
def test_what_is_broken_beside_is_not_noticed(platform: str, mutation: MachineMutation, tree: Tree) -> None:
    """Else a row with it would prove nothing."""
    first, *rest = mutation.beside
    alone = replace(mutation, file=first.file, old=first.old, new=first.new, beside=tuple(rest))
    with tree.with_mistake(alone):
        status, said = tree.run_case(platform, mutation.caught_by)
    assert status == 0, said


@pytest.mark.parametrize(("platform", "mutation"), ROWS)
def test_mutation_is_caught(platform: str, mutation: MachineMutation, tree: Tree) -> None:
    with tree.with_mistake(mutation):
        status, said = tree.run_case(platform, mutation.caught_by)
    assert status == CASE_FAILS, f"{mutation.caught_by} does not notice\n{said}"
    assert re.search(mutation.shows, said), f"{mutation.caught_by} fails for another reason\n{said}"
