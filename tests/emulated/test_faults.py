# SPDX-License-Identifier: Apache-2.0
"""BH-E1.faults. `bulkhead faults`: bits flipped in what is a sandbox's own disturb nobody else; and a bit flipped in another sandbox is seen."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.attack.stage import SENTINELS
from bhtool.faults.fault import Fault, Moment, draw
from bhtool.faults.series import DISTURBING, Runner, run_series
from bhtool.faults.stage import set_up
from bhtool.faults.trial import try_fault
from bhtool.faults.verdict import Outcome
from bhtool.platforms import Platform

from tests.emulated.case import ARMV7, GICV2, GICV3, QEMU, VTX
from tests.emulated.scene import monitor

SEED, ROUNDS, MANY = 1, 2, 1000
ADDRESS, TABLE = 0x0000_FFFF_FFFF_F000, 3  # of an entry of stage 1: what it points to, and all else of one that points to a table


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


def tables_of_code(runner: Runner, moment: Moment) -> Iterator[int]:
    """Words of the victim's tables that lead to its kernel's first page: without one of them no vector can be fetched."""
    victim, regions = runner.stage.victim, {one.name: one for one in runner.regions}
    snapshot = try_fault(runner.stage, runner.symbols, moment, None, keep=True).snapshot
    assert snapshot

    def leads(page: int) -> bool:
        return any(word & ADDRESS == text for word in snapshot.words(page)) or any(leads(one) for one in pages_below(page))

    def pages_below(page: int) -> Iterator[int]:
        return (page_of(word) for word in snapshot.words(page) if word & ~ADDRESS == TABLE)

    def page_of(word: int) -> int:
        return (word & ADDRESS) - victim.ram_gpa + victim.ram_hpa

    text = regions["guest text"].words[0] - victim.ram_hpa + victim.ram_gpa
    words = regions["guest page tables"].filled
    return (address for address in words if (word := snapshot.word(address)) & ~ADDRESS == TABLE and leads(page_of(word)))


@pytest.mark.slow
@pytest.mark.parametrize("platform", [ARMV7, GICV2])
def test_a_victim_whose_exceptions_have_no_end_does_not_stop_the_others(machine_platform: Platform) -> None:
    """It stops the emulator's clock (docs/testing.md); a processor would go on, and its monitor would find that its heart stands. Kicks of these
    platforms make stage 2 anew, so that what its tables say counts soon.
    """
    with runner_of(machine_platform) as runner:
        (fault,) = drawn(runner, "guest page tables", 1)
        found = runner.run(replace(fault, address=next(tables_of_code(runner, fault.moment)), bit=0))
        assert found.holds, "the clock did not stand: nothing was tested"
        assert (found.verdict.outcome, found.out_voted) == (Outcome.DETECTED, ()), found.verdict
        assert "crash record: hang" in found.verdict.why
        beats = {machine: {name: found.hearts[machine][name]["gaps"] for name in SENTINELS} for machine in ("with", "without")}
        assert beats["with"] == beats["without"]


@pytest.mark.long
@pytest.mark.parametrize("platform", [*QEMU, VTX])
def test_a_thousand_faults(machine_platform: Platform, request: pytest.FixtureRequest) -> None:
    """No fault of memory that the victim may write itself, or of its registers, disturbs anybody. Those of its monitor and of what monitors share
    may (docs/faults.md), and are counted alone. A share of the long tests has a tenth.
    """
    monitor(machine_platform)
    count = MANY if request.config.getoption("long") else MANY // 10
    found = run_series(machine_platform, SEED, range(count), 1, silent, silent).found
    assert len(found) == count
    told = [f"{one.fault}: {one.verdict.why}" for one in found if one.fault.region.is_guests and one.verdict.outcome in DISTURBING]
    assert not told, "\n".join(told)
