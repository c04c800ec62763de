# SPDX-License-Identifier: Apache-2.0
"""BH-E1.campaign, BH-I1.dma. `bulkhead attack --dma`: what network cards of hostile sandboxes are aimed at stays as it was; without `dma` protection
each class is seen to get through.
"""

from collections.abc import Iterator

import pytest
from bhtool.attack.campaign import Campaign, run_campaign
from bhtool.attack.kind import BY_CARDS
from bhtool.attack.transfers import CLASSES, TransferClass
from bhtool.families.table import FAMILIES
from bhtool.machine.launch import Timing
from bhtool.platforms import Platform, load

from tests.emulated.case import ARMV7, GICV2, GICV3, SVM, VTD
from tests.emulated.scene import monitor

SEED = 1
FEW, MANY = 600, 20_000
WITH_CARDS = (GICV3, GICV2, ARMV7, SVM, VTD)
LEFT_OUT = {VTD: {"doorbells"}}  # classes of which some attempts are not made
WITH_CONTROL = (GICV3, GICV2, ARMV7, SVM)  # where one class has its control in every run; VT-d is another table of a PC's
ORDINARY = "sentinels"


def silent(*_: object) -> None:
    """Tests report nothing on their way."""


def campaign(platform: Platform, attempts: int, unprotected: tuple[str, ...] = (), group: str | None = None) -> Campaign:
    monitor(platform)
    timing = Timing(platform.emulator.icount_shift)
    return run_campaign(
        platform,
        timing,
        SEED,
        attempts,
        silent,
        silent,
        unprotected=unprotected,
        until_escape=bool(unprotected),
        group=group,
        kind=BY_CARDS,
    )


LONG = [pytest.param(platform, MANY, marks=pytest.mark.long) for platform in WITH_CARDS]


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "attempts"), [*((platform, FEW) for platform in WITH_CARDS), *LONG])
def test_no_card_gets_through(machine_platform: Platform, attempts: int) -> None:
    result = campaign(machine_platform, attempts)
    assert result.good, "\n".join(map(str, result.escapes))
    assert (result.words_changed, result.pages_changed, result.heartbeats_lost) == (0, 0, 0)
    assert result.heartbeats > 0
    drawn = result.coverage + result.emulator_open
    least = min(drawn.values())
    assert drawn.total() == attempts
    assert len(drawn) % len(CLASSES) == 0
    assert least >= attempts // len(drawn) - 1
    assert set(result.emulator_open_by_class) == LEFT_OUT.get(machine_platform.name, set())
    assert set(result.by_class) == {one.name for one in CLASSES}, "of a class no attempt is left"
    if attempts == MANY:
        assert least >= 100


def controls() -> Iterator[object]:
    for platform in WITH_CARDS:
        for one in CLASSES:
            if one.is_seen(FAMILIES[load(platform).arch]):
                marks = pytest.mark.slow if one.name == ORDINARY and platform in WITH_CONTROL else pytest.mark.long
                yield pytest.param(platform, one, id=f"{platform}-{one.name}", marks=marks)


@pytest.mark.parametrize(("platform", "group"), list(controls()))
def test_without_dma_protection_a_class_gets_through(machine_platform: Platform, group: TransferClass) -> None:
    """The same attempts of the same seed, but of this class alone: whatever is seen is its doing."""
    result = campaign(machine_platform, MANY, ("dma",), group.name)
    assert result.attempts
    assert not any(one.harness for one in result.escapes), "\n".join(map(str, result.escapes))
    assert result.escapes, f"{result.attempts} attempts without `dma`, and nothing seen"
