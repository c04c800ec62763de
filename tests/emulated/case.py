# SPDX-License-Identifier: Apache-2.0
"""What one row of the table of cases says: a machine, who is in it, and what must be seen.

Every case shares the rule that whoever is not named in its expectations as ending has a heartbeat without a gap, takes no
interrupt it did not ask for, and beats on after everything expected has been seen.
"""

from dataclasses import dataclass
from typing import Literal

from tests.emulated.expect import Expectation
from tests.emulated.garbage import Garbage

SVM = "qemu-svm"
VTD = "qemu-svm-vtd"  # the same processor behind another IOMMU: what masters the bus
VTX = "bochs-vtx"
SECOND_SVM = "bochs-svm"  # a second opinion on what holds on SVM
GICV2 = "qemu-aarch64-gicv2"
GICV3 = "qemu-aarch64"
ARMV7 = "qemu-armv7"
A64 = (GICV3, GICV2)
GIC2 = (GICV2, ARMV7)
ARM = (*A64, ARMV7)
X86 = (SVM, VTX)
QEMU = (SVM, *ARM)
ALL = (*X86, *ARM)


@dataclass(frozen=True)
class Sandbox:
    """One sandbox. `arguments` may name places of the plan: "read={victim.ram:#x}" (places.py)."""

    name: str
    cores: int | tuple[int, ...]  # the boot core first
    arguments: str = ""
    os: Literal["native", "linux"] = "native"
    image: str = "probe.elf"
    initrd: str = ""
    ram_mib: int = 16
    uart: str = ""  # role label: owned, and the console
    access: tuple[str, ...] = ()  # role labels of other devices
    may_kick: tuple[str, ...] = ()
    log_access: tuple[str, ...] = ()
    trusted_idle: bool = False
    sees_dma_faults: bool = False
    allows_dma: str = ""  # without an IOMMU, and why
    accepts_notify: tuple[str, ...] = ()
    health: str = ""  # properties of its node
    unprotected: tuple[str, ...] = ()  # protections it does without
    beats: bool = True  # is expected to keep a heartbeat without a gap
    pinned: int = 0  # where its RAM lies; 0: the tool places it
    modules: tuple[str, ...] = ()  # of its kernel, loaded at boot
    rest: bool = False  # has no RAM of its own: takes what others leave, devices that nobody names, too

    @property
    def devices(self) -> tuple[str, ...]:
        return (*((self.uart,) if self.uart else ()), *self.access)

    @property
    def every_core(self) -> tuple[int, ...]:
        return (self.cores,) if isinstance(self.cores, int) else self.cores


@dataclass(frozen=True)
class Case:
    name: str
    guards: str  # the protection without which the case fails
    sandboxes: tuple[Sandbox, ...]
    expect: tuple[Expectation, ...] = ()
    platforms: tuple[str, ...] = ALL
    icount: bool = True  # repeats exactly; without it beats follow the host and are not judged
    limit_beats: int = 10000  # guest milliseconds after which what was not seen will not be
    limit_seconds: float = 120.0  # of the host: only ever reached when something hangs
    quick: bool = False
    needs: tuple[str, ...] = ()  # role labels that not every board with this processor has
    hub: tuple[str, ...] = ()  # network cards that hear each other
    concurrent: bool = False  # cores run at the same time, in the host's, and no deadline of ours is judged: concurrent.py
    long: bool = False
    garbage: Garbage = ""  # what RAM is full of before the machine starts; devices, too, are as firmware may leave them

    @property
    def ending(self) -> set[str]:
        """Sandboxes that are expected to end."""
        return {one.sandbox for one in self.expect if one.ends}

    @property
    def beating(self) -> list[str]:
        """Sandboxes that must come through unharmed."""
        return [one.name for one in self.sandboxes if one.beats and one.os == "native" and one.name not in self.ending]

    @property
    def idle_cores(self) -> list[int]:
        return sorted({0, 1, 2, 3} - {core for one in self.sandboxes for core in one.every_core})


def attacked(arguments: str) -> tuple[Sandbox, ...]:
    """The usual three sandboxes: an attacker, a victim beside it, and a bystander on the boot core.

    The attacker gives the others forty milliseconds: ten to settle, and some beats.
    """
    return (
        Sandbox("bystander", 0),
        Sandbox("attacker", 1, f"ticks=400 {arguments}", beats=False),
        Sandbox("victim", 2),
    )
