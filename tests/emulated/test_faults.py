# SPDX-License-Identifier: Apache-2.0
"""BH-E1.faults. `bulkhead faults`: bits flipped in what is a sandbox's own disturb nobody else; and a bit flipped in another sandbox is seen."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.attack.stage import SENTINELS
from bhtool.faults.fault import Fault, draw
from bhtool.faults.series import DISTURBING, Runner, run_series
from bhtool.faults.stage import set_up
from bhtool.faults.verdict import Outcome
from bhtool.platforms import Platform

from tests.emulated.case import GICV3, QEMU, VTX
from tests.emulated.scene import monitor

SEED, ROUNDS, MANY = 1, 2, 1000


def silent(*_: object) -> None:
    """Tests report nothing on their way."""


@contextmanager
def runner_of(platform: Platform) -> Iterator[Runner]:
    monitor(platform)
    with tempfile.TemporaryDirectory() as folder:
        yield Runner(set_up(platform, Path(folder), silent))


def drawn(runner: Runner, name: str, count: int) -> list[Fault]:
    """The first faults of a region."""
    place = next(n for n, one in enumerate(runner.regions) if one.name == name)
    numbers = range(place, count * len(runner.regions), len(runner.regions))
    return [draw(SEED, number, runner.regions, runner.stage.first_kicks) for number in numbers]


def elsewhere(runner: Runner, fault: Fault, sandbox: str) -> Fault:
    """The same fault at the end of another sandbox's memory, of which it looks at every word."""
    ram = next(one for one in runner.stage.plan.sandboxes if one.name == sandbox).ram[-1]
    return replace(fault, address=ram.hpa + ram.size - 8)


@pytest.mark.slow
@pytest.mark.parametrize("platform", [*QEMU, VTX])
def test_faults_of_guest_memory_stay_where_they_are_and_others_are_seen(machine_platform: Platform) -> None:
    with runner_of(machine_platform) as runner:
        own = [fault for name in ("guest text", "guest data", "guest page tables", "guest memory") for fault in drawn(runner, name, ROUNDS)]
        found = [runner.run(fault) for fault in own]
        told = [f"{one.fault}: {one.verdict.why}" for one in found if one.verdict.outcome in DISTURBING]
        assert not told, "\n".join(told)
        assert any(one.verdict.outcome != Outcome.SILENT for one in found), "no fault did anything: were they made?"
        control = runner.run(elsewhere(runner, own[0], SENTINELS[0]))
        assert control.verdict.outcome == Outcome.PROPAGATED, control.verdict
        assert "words of its memory changed" in control.verdict.why


@pytest.mark.slow
@pytest.mark.parametrize("platform", [GICV3])
def test_tables_that_a_fault_changed_are_named_by_the_oracle(machine_platform: Platform) -> None:
    with runner_of(machine_platform) as runner:
        (fault,) = drawn(runner, "stage 2", 1)
        found = runner.run(fault)
        assert found.named.startswith("victim: "), found
        assert found.verdict.outcome not in DISTURBING, found


@pytest.mark.long
@pytest.mark.parametrize("platform", [*QEMU, VTX])
def test_a_thousand_faults(machine_platform: Platform, request: pytest.FixtureRequest) -> None:
    """What is the victim's own disturbs nobody. docs/faults.md says who else may be disturbed, and by what. In a share of the long tests a tenth."""
    monitor(machine_platform)
    count = MANY if request.config.getoption("long") else MANY // 10
    found = run_series(machine_platform, SEED, range(count), 1, silent, silent).found
    assert len(found) == count
    told = [f"{one.fault}: {one.verdict.why}" for one in found if one.fault.region.is_guests and one.verdict.outcome in DISTURBING]
    assert not told, "\n".join(told)
