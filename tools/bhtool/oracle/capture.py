# SPDX-License-Identifier: Apache-2.0
"""Boots a machine until every sandbox is ready, and takes its snapshot.

RAM is a file that the emulator maps, QEMU and Bochs alike (bhtool.machine); it is read after the machine has ended. Registers are read
before, which stops the machine; tables do not change once sandboxes run.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bhtool.config.plan import Plan
from bhtool.errors import BulkheadError, Status
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import EndEvent, Session, Watch
from bhtool.oracle.arm import ARMV7, GICV2, GICV3
from bhtool.oracle.confinement import Reader
from bhtool.oracle.debugger import Debugger, option
from bhtool.oracle.snapshot import Snapshot
from bhtool.oracle.streams import LOOKS as LOOKS_AT_IOMMU
from bhtool.oracle.svm import read_svm
from bhtool.oracle.vmx import read_vmx
from bhtool.platforms import Platform

PORT = "debugger"
Enough = Callable[[Watch], bool]  # whether a sandbox is far enough for a snapshot


@dataclass(frozen=True)
class Look:
    """How one backend is looked at: who reads it, and which registers it takes."""

    read: Reader
    registers: tuple[str, ...] = ()


LOOKS = {  # by backend
    "svm": Look(read_svm),
    "vmx": Look(read_vmx),
    "stage2-gicv3": Look(GICV3, GICV3.registers),
    "stage2-gicv2": Look(GICV2, GICV2.registers),
    "stage2-armv7": Look(ARMV7, ARMV7.registers),
}


def look_of(platform: Platform) -> Look:
    if platform.backend not in LOOKS:
        raise BulkheadError(f"the oracle does not read the tables of {platform.name} yet: its backend is {platform.backend}")
    return LOOKS[platform.backend]


def has_started(watch: Watch) -> bool:
    """Its tables are finished: they are before its first instruction. Linux takes minutes to get ready in Bochs."""
    return watch.settled or (watch.plan.os == "linux" and watch.state == "running")


def is_settled(watch: Watch) -> bool:
    return watch.settled


def wait_until(enough: Enough, session: Session, limit: float, update: Callable[[str], None]) -> None:
    for event in session.events(limit):
        waiting = [name for name, watch in session.watches.items() if not enough(watch)]
        if isinstance(event, EndEvent):
            raise BulkheadError(f"the machine ended early, status {event.status} {event.complaint}".rstrip())
        if event is None and not waiting:
            break
        update(f"waiting for {', '.join(waiting)}")
    else:
        raise BulkheadError(f"time limit: not everybody is ready after {limit:.0f} s", Status.TIME_LIMIT)
    for name, watch in session.watches.items():
        if watch.harmed or watch.state in ("parked", "off"):
            raise BulkheadError(f"{name} is {watch.state}: there is nothing to judge", Status.FAILED)


def is_asked(platform: Platform, plan: Plan) -> bool:
    """Whether something is to be known that only a debugger shows."""
    return bool(look_of(platform).registers or plan.iommu)


def machine_to_look_at(platform: Platform, plan: Plan, image: bytes, directory: Path) -> Machine:
    """Its debugger's port, if it needs one, is in the directory."""
    return Machine(platform, image, timing_for(platform, plan), extra=option(directory / PORT) if is_asked(platform, plan) else ())


def iommu_registers(plan: Plan, peek: Callable[[int, int], int]) -> dict[int, int]:
    """What the oracle judges an IOMMU by, by offset. `peek`: an address and a number of bytes, of a machine that stands still."""
    looked_at = LOOKS_AT_IOMMU[plan.iommu_compatible].registers if plan.iommu else ()
    return {offset: peek(plan.iommu_registers + offset, size) for offset, size in looked_at}


def freeze(session: Session, directory: Path) -> Snapshot:
    """Ends the machine; the snapshot stays."""
    look, plan, registers, iommu = look_of(session.platform), session.plan, {}, {}
    if is_asked(session.platform, plan):
        with closing(Debugger(directory / PORT)) as debugger:
            cores = {core for sandbox in plan.sandboxes for core in sandbox.cores}
            registers = {core: debugger.read(core, look.registers) for core in sorted(cores)} if look.registers else {}
            iommu = iommu_registers(plan, debugger.peek)
    session.machine.stop()
    ram = memoryview(mmap.mmap(session.machine.ram, session.platform.ram_size, prot=mmap.PROT_READ))
    return Snapshot(session.platform.ram_base, ram, registers, iommu)


def capture(
    platform: Platform, plan: Plan, image: bytes, limit: float, update: Callable[[str], None], enough: Enough = is_settled
) -> Snapshot:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with Session(platform, plan, machine_to_look_at(platform, plan, image, directory)) as session:
            wait_until(enough, session, limit, update)
            return freeze(session, directory)
