# SPDX-License-Identifier: Apache-2.0
"""BH-F6.delay. The papers' tables over all offsets: what channel_sweep.py has stored is what it finds, is never more than predicted, and hardly less."""

from dataclasses import replace

import pytest
from bhtool.config.channel_bounds import bound, polling_bound

from tests.config.channel_model import Model
from tests.config.channel_sweep import COPIES, TABLE_I, TABLE_II, Found, Row, rows, stored, swept

TIGHT = 0.8
ROWS = {row.name: row for row in rows()}
STORED = {one["name"]: Found(**{**one, "hungry_from": tuple(one["hungry_from"])}) for one in stored()}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return Model(tmp_path_factory.mktemp("model"))


def test_the_tables_are_the_papers() -> None:
    """In ms, sender and receiver: a hundredth of it here."""
    assert [((200, 1000), (c * 10, t * 10)) for c, t in ((2, 10), (20, 100), (20, 130), (20, 200), (20, 230))] == TABLE_I
    pairs = [
        ((20, 50), (20, 50)),
        ((10, 100), (10, 100)),
        ((10, 100), (10, 50)),
        ((10, 100), (10, 200)),
        ((5, 100), (5, 130)),
        ((10, 200), (10, 200)),
    ]
    assert [tuple((c * 10, t * 10) for c, t in pair) for pair in pairs] == TABLE_II


def test_every_row_is_stored() -> None:
    assert list(STORED) == list(ROWS)
    assert len(ROWS) == len(COPIES) * (len(TABLE_I) + len(TABLE_II)) + 10


def predicted(row: Row) -> tuple[int, int]:
    return polling_bound(row.supplies, row.exchange), bound(row.supplies, row.exchange)


SHORT = [name for name, row in ROWS.items() if row.rounds <= 16]


@pytest.mark.parametrize("name", [*SHORT, "table-2-case-5-10us"])
def test_what_is_predicted(name: str) -> None:
    """Of the others, 1,024 stages at each end, in the long run."""
    assert (STORED[name].polling, STORED[name].bound) == predicted(ROWS[name])


@pytest.mark.parametrize("name", ROWS)
def test_what_is_stored(name: str, model: Model) -> None:
    """The exchange that took longest does so again; it was predicted, of ends that poll almost to the tick."""
    row, found = ROWS[name], STORED[name]
    ends = row.ends(found.phase, found.hungry_from)
    assert model.exchange(ends, found.start, row.works, row.rounds) == found.longest
    assert found.longest <= found.polling <= found.bound
    assert found.longest >= TIGHT * found.polling


def sampled(row: Row) -> Row:
    """A few offsets of a short exchange."""
    size = min(row.request, 4 * 4096)
    return replace(row, request=size, step=max(row.step, 20), phase_step=max(row.phase_step, row.receiver[1] // 10), shell_step=500)


@pytest.mark.parametrize("name", ROWS)
def test_a_few_offsets(name: str, model: Model) -> None:
    row = sampled(ROWS[name])
    found = swept(model, row)
    assert 0 < found.longest <= found.polling <= found.bound


@pytest.mark.long
@pytest.mark.parametrize("name", ROWS)
def test_all_offsets(name: str, model: Model) -> None:
    assert swept(model, ROWS[name]) == STORED[name]
