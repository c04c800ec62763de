# SPDX-License-Identifier: Apache-2.0
"""BH-E1.campaign. `bulkhead attack`: nothing gets through; what would is seen, which switching a protection off shows; and it repeats exactly."""

import functools
from collections.abc import Iterator

import pytest
from bhtool.attack.attack_class import AttackClass
from bhtool.attack.campaign import Campaign, run_campaign
from bhtool.attack.generator import CLASSES
from bhtool.machine.launch import Timing
from bhtool.platforms import Platform, load

from tests.emulated.case import ARMV7, GICV2, GICV3, QEMU, VTX
from tests.emulated.scene import monitor

SEED = 1
MANY, FEW = 5000, 1000  # on Bochs, which is slow, always few; docs/attack.md has the long run
LONG = [pytest.param(platform, MANY, marks=pytest.mark.long) for platform in QEMU]
MODES = ("protected-mode", "real-mode")


def silent(*_: object) -> None:
    """Tests report nothing on their way."""


def campaign(platform: Platform, attempts: int, unprotected: tuple[str, ...] = (), group: str | None = None) -> Campaign:
    monitor(platform)
    timing = Timing(platform.emulator.icount_shift)
    return run_campaign(
        platform, timing, SEED, attempts, silent, silent, unprotected=unprotected, until_escape=bool(unprotected), group=group
    )


@functools.cache
def first_campaign(platform: Platform, attempts: int) -> Campaign:
    """Of several tests; those of a platform run in one worker."""
    return campaign(platform, attempts)


ROWS = [pytest.param(platform, FEW, marks=pytest.mark.xdist_group(f"campaign-{platform}")) for platform in (*QEMU, VTX)]


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "attempts"), [*ROWS, *LONG])
def test_nothing_gets_through(machine_platform: Platform, attempts: int) -> None:
    result = first_campaign(machine_platform, attempts)
    assert result.good, "\n".join(map(str, result.escapes))
    assert (result.words_changed, result.pages_changed, result.heartbeats_lost) == (0, 0, 0)
    assert result.heartbeats > 0
    assert result.by_class["channel"].total() > 2 * result.by_class["channel"]["stopped"], "most of what an end may do comes back"
    for told in ("sent", "received", "of_others", "refused", "rings", "opened"):
        assert result.traffic[told] > 0, f"{told}: {dict(result.traffic)}"
    for group in MODES if machine_platform.arch == "x86_64" else ():
        assert result.by_class[group].total() > result.by_class[group]["stopped"], f"nothing came back out of {group}: was it ever there?"


# On Bochs, which is slow: one class that meets each filter of VT-x; the others draw the same attempts as on SVM.
ON_VTX = ("memory", "protected-mode", "real-mode", "ports", "msr", "icr", "redirections", "lvt")
WITH_IPI = (GICV2, ARMV7)  # BH-R091: there the distributor has the register that sends


def controls() -> Iterator[tuple[str, AttackClass]]:
    for platform in (*QEMU, VTX):
        for one in CLASSES[load(platform).arch]:
            if one.control and (platform != VTX or one.name in ON_VTX):
                yield platform, one


@pytest.mark.long
@pytest.mark.parametrize(("platform", "group"), [pytest.param(*row, id=f"{row[0]}-{row[1].name}") for row in controls()])
def test_without_its_protection_a_class_gets_through(machine_platform: Platform, group: AttackClass) -> None:
    """The same attempts of the same seed, but of this class alone: whatever is seen is its doing."""
    assert group.control
    off = (group.control, "ipi") if group.control == "irq" and machine_platform.name in WITH_IPI else (group.control,)
    result = campaign(machine_platform, MANY, off, group.name)
    assert result.attempts
    assert not any(one.harness for one in result.escapes), "\n".join(map(str, result.escapes))
    assert result.escapes, f"{result.attempts} attempts without `{group.control}`, and nothing seen"


@pytest.mark.slow
@pytest.mark.parametrize("platform", [pytest.param(GICV3, marks=pytest.mark.xdist_group(f"campaign-{GICV3}"))])
def test_a_seed_repeats_exactly(machine_platform: Platform) -> None:
    first, second = first_campaign(machine_platform, FEW), campaign(machine_platform, FEW)
    assert first.digest() == second.digest()
