# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma. DMA on a machine without an IOMMU, which a partition file has asked for: by a driver that adds the offset its information page gives.

Each is tried in a copy of the source tree that has a board more: open_board.py.
"""

from collections.abc import Iterator

import pytest

from tests.emulated.case import GICV3
from tests.emulated.open_board import BY_NAME
from tests.mutation.tree import Tree, broken_tree

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("open-board")]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    with broken_tree(tmp_path_factory.mktemp("tree")) as made:
        yield made


@pytest.mark.parametrize("platform", [GICV3])
@pytest.mark.parametrize("name", list(BY_NAME))
def test_what_is_let_arrives_and_nothing_else(platform: str, name: str, tree: Tree) -> None:
    status, said = tree.run_case(platform, name)
    assert status == 0, said
