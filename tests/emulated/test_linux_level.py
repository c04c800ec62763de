# SPDX-License-Identifier: Apache-2.0
"""BH-F2.linux, BH-I1.device. Unmodified Debian on two cores of a PC moves a level-triggered line between them: its console's, a PCI card.

One machine serves all tests of this file; time is the host's.
"""

from collections.abc import Iterator

import pytest
from bhtool.machine.dialogue import Dialogue
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import SVM, Case, Sandbox
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import platform_or_skip, stage
from tests.emulated.test_linux import exits
from tests.emulated.test_linux_cores import MOVE_EXITS

ROW = "/IO-APIC.*fasteoi.*ttyS/"  # of /proc/interrupts
SETTLING, ROUNDS = 3, 20  # of a line typed and answered
LEVEL_EXITS = (
    2  # besides what a move takes: Linux selects and reads the entry, to see whether a level-triggered interrupt is still in service
)

pytestmark = [pytest.mark.long, pytest.mark.parametrize("platform", [SVM], scope="module")]


def on_two_cores(platform: str) -> Case:
    return Case(
        "linux-moves-a-level-line",
        "a level line goes where its owner says among own cores",
        (
            Sandbox("linux", (0, 2), lean(platform), "linux", "vmlinuz", "rootfs.cpio.gz", 256, "pciuart0", beats=False),
            Sandbox("bystander", 1),
        ),
        icount=False,
    )


@pytest.fixture(scope="module")
def machine_platform(platform: str) -> Platform:
    return platform_or_skip(platform)


@pytest.fixture(scope="module")
def shell(machine_platform: Platform) -> Iterator[Dialogue]:
    scene = stage(machine_platform, on_two_cores(machine_platform.name))
    with linux_shell(machine_platform, scene) as dialogue:
        yield dialogue


def talk(shell: Dialogue, rounds: int) -> None:
    """What is typed comes by the line's interrupts."""
    for _ in range(rounds):
        assert shell.ask("echo heard") == ["heard"]


def taken(shell: Dialogue) -> list[int]:
    """Interrupts of the line, by core."""
    return [int(count) for count in shell.ask(f"awk '{ROW} {{ print $2, $3 }}' /proc/interrupts")[0].split()]


@pytest.mark.parametrize("core", [1, 0])
def test_it_answers_on_the_core_it_was_moved_to(shell: Dialogue, core: int) -> None:
    """The move is made in the first interrupt after it was asked for; from then on none comes to the other core, and none exits."""
    line = shell.number(f"awk -F: '{ROW} {{ print $1 }}' /proc/interrupts")
    unmoved = exits(shell).get("device", 0)
    shell.ask(f"echo {1 << core} > /proc/irq/{line}/smp_affinity")
    talk(shell, SETTLING)
    assert shell.number(f"cat /proc/irq/{line}/effective_affinity") == 1 << core
    moved, earlier = exits(shell).get("device", 0), taken(shell)
    talk(shell, ROUNDS)
    came = [after - before for after, before in zip(taken(shell), earlier, strict=True)]
    assert came[core] >= ROUNDS
    assert came[1 - core] == 0
    assert 0 < moved - unmoved <= MOVE_EXITS + LEVEL_EXITS
    assert exits(shell).get("device", 0) == moved
