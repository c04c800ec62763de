# SPDX-License-Identifier: Apache-2.0
"""`bulkhead attack`: nothing gets through; what would is seen, which switching a protection off shows; and it repeats exactly."""

import pytest
from bhtool.attack.campaign import Campaign, run_campaign
from bhtool.machine_launch import Timing
from bhtool.platforms import Platform

from tests.emulated.case import ARMV7, GICV2, GICV3, QEMU, SVM, VTX
from tests.emulated.scene import monitor

SEED = 1
ATTEMPTS = {VTX: 1000}  # Bochs is slow; docs/attack.md has the long run
MANY, FEW = 5000, 1000
MODES = ("protected-mode", "real-mode")


def campaign(platform: Platform, attempts: int, unprotected: tuple[str, ...] = ()) -> Campaign:
    monitor(platform)
    timing = Timing(platform.emulator.icount_shift)
    return run_campaign(
        platform, timing, SEED, attempts, lambda _: None, lambda *_: None, unprotected=unprotected, until_escape=bool(unprotected)
    )


@pytest.mark.slow
@pytest.mark.parametrize("platform", [*QEMU, VTX])
def test_nothing_gets_through(machine_platform: Platform) -> None:
    result = campaign(machine_platform, ATTEMPTS.get(machine_platform.name, MANY))
    assert result.good, "\n".join(map(str, result.escapes))
    assert (result.words_changed, result.pages_changed, result.heartbeats_lost) == (0, 0, 0)
    assert result.heartbeats > 0
    for group in MODES if machine_platform.arch == "x86_64" else ():
        assert result.by_class[group].total() > result.by_class[group]["stopped"], f"nothing came back out of {group}: was it ever there?"


# Which protection is switched off, and what then shows: an attempt of one of these classes, or a sentinel's complaint.
CONTROLS = (
    (SVM, ("memory",), "memory|straddle|tables|races|aliases|-mode"),
    (SVM, ("io",), "ports|pci-ports|resets|machine ended"),
    (SVM, ("msr",), "msr"),
    (SVM, ("ipi",), "stray|beat|machine ended"),
    (SVM, ("irq",), "stray|fault|beat|machine ended"),
    (VTX, ("memory",), "memory|straddle|tables|races|aliases|-mode"),
    (VTX, ("io",), "ports|pci-ports|resets|machine ended"),
    (VTX, ("msr",), "msr|machine ended"),
    (VTX, ("ipi",), "stray|beat|machine ended"),
    (VTX, ("irq",), "stray|fault|beat|machine ended"),
    (GICV3, ("memory",), "memory|straddle|tables"),
    (GICV3, ("msr",), "registers"),
    (GICV3, ("ipi",), "stray"),
    (GICV3, ("irq", "ipi"), "stray|lost|beat"),
    (GICV2, ("memory",), "memory|straddle|tables"),
    (GICV2, ("ipi",), "stray"),
    (ARMV7, ("memory",), "memory|straddle|tables"),
    (ARMV7, ("msr",), "registers|pairs"),
    (ARMV7, ("irq", "ipi"), "stray|lost|beat"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "unprotected", "shows"), [pytest.param(*row, id=f"{row[0]}-{'-'.join(row[1])}") for row in CONTROLS])
def test_without_a_protection_something_does(machine_platform: Platform, unprotected: tuple[str, ...], shows: str) -> None:
    result = campaign(machine_platform, FEW, unprotected)
    found = [one.request.group if one.request else one.why for one in result.escapes]
    assert any(word in text for text in found for word in shows.split("|")), found


@pytest.mark.slow
@pytest.mark.parametrize("platform", [GICV3])
def test_a_seed_repeats_exactly(machine_platform: Platform) -> None:
    first, second = (campaign(machine_platform, FEW) for _ in range(2))
    assert first.digest() == second.digest()
