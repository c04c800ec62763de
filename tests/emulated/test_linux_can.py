# SPDX-License-Identifier: Apache-2.0
"""BH-F2.linux, BH-F2.can, BH-I2.exitless. Two unmodified Debians, each with a CAN controller, on one bus: registers alone, no DMA, an interrupt line.

Frames arrive at both ends, and cause no exit.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from bhtool.machine.dialogue import Dialogue
from bhtool.machine.emulated import Machine
from bhtool.machine.session import Session
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import ARMV7, GICV2, GICV3, Case, Sandbox
from tests.emulated.linux_shell import BOOT_SECONDS
from tests.emulated.scene import platform_or_skip, stage

pytestmark = pytest.mark.slow
ENDS = ("left", "right")
FRAMES = 20
UP = "/bin/ip link set can0 type can bitrate 500000 && ip link set can0 up"  # the shell prefers its own `ip`, which sets no bit rate
LISTEN = "(candump -n {n} -T 5000 can0 > /tmp/heard & sleep 1)"
SEND = "for n in $(seq {n}); do cansend can0 {frame}; done"
HEARD = "wait; sleep 1; sort /tmp/heard | uniq -c"
BY_ITSELF = ("idle", "identify")  # of an idle core that somebody may kick; of programs that ask what a PC is


def on(*platforms: str) -> pytest.MarkDecorator:
    """One in every run, the others with `--long`."""
    marks = {name: [pytest.mark.xdist_group(f"linux-can-{name}"), *([pytest.mark.long] if name != GICV3 else [])] for name in platforms}
    return pytest.mark.parametrize("platform", [pytest.param(name, marks=marks[name]) for name in platforms], scope="module")


ON_ARM = on(GICV3, GICV2, ARMV7)


def both(platform: Platform) -> Case:
    left, right = (
        Sandbox(
            name,
            core,
            lean(platform.name),
            "linux",
            "vmlinuz",
            "rootfs-can.cpio.gz",
            256,
            f"uart{core}",
            access=(f"can{core}",),
            modules=("kvaser_pci", "can-raw"),
            beats=False,
        )
        for core, name in enumerate(ENDS)
    )
    return Case("linux-can", "registers and a line are its sandbox's", (left, right, Sandbox("neighbour", 2)), icount=False)


@dataclass(frozen=True)
class Bus:
    session: Session
    shells: dict[str, Dialogue]

    def exits(self, name: str) -> dict[str, int]:
        self.session.poll()
        stats = self.session.watches[name].stats
        assert stats is not None
        return {reason: count for reason, count in stats.exits.items() if reason not in BY_ITSELF}


@pytest.fixture(scope="module")
def bus(platform: str) -> Iterator[Bus]:
    machine = platform_or_skip(platform)
    scene = stage(machine, both(machine))
    with Session(machine, scene.plan, Machine(machine, scene.image)) as session:
        shells = {name: Dialogue(session, name) for name in ENDS}
        shells["left"].wait_until_ready(BOOT_SECONDS)
        for shell in shells.values():
            shell.ask(f"stty cols 1000; {UP}")
        yield Bus(session, shells)


@ON_ARM
@pytest.mark.parametrize(
    ("sender", "receiver", "frame"), [("left", "right", "123#DEADBEEF"), ("right", "left", "1F334455#1122334455667788")]
)
def test_frames_arrive_without_exits(bus: Bus, sender: str, receiver: str, frame: str) -> None:
    bus.shells[receiver].ask(LISTEN.format(n=FRAMES))
    before = {name: bus.exits(name) for name in ENDS}
    bus.shells[sender].ask(SEND.format(n=FRAMES, frame=frame))
    heard = bus.shells[receiver].ask(HEARD)
    number, _, data = frame.partition("#")
    shown = rf" +{FRAMES} +can0 +{number} +\[{len(data) // 2}\] +{' '.join(re.findall('..', data))}"
    assert len(heard) == 1, heard
    assert re.fullmatch(shown, heard[0]), heard
    assert {name: bus.exits(name) for name in ENDS} == before


@ON_ARM
def test_each_sees_its_own_controller_alone(bus: Bus) -> None:
    """On ARMv7 another driver than the card's has its controller: tools/bhtool/image/can_memory.sh."""
    slots = {
        name: shell.ask("ls /sys/bus/pci/devices; basename $(readlink /sys/class/net/can0/device)") for name, shell in bus.shells.items()
    }
    own = {"left": "0000:00:0d.0", "right": "0000:00:0f.0"}
    in_memory = bus.session.platform.name == ARMV7
    assert slots == {name: [slot, "sja1000_isa.0" if in_memory else slot] for name, slot in own.items()}
