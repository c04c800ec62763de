# SPDX-License-Identifier: Apache-2.0
"""BH-I6.contained. Unmodified Debian on two cores reboots as it would on the machine below: its sandbox begins again, nobody else notices."""

import time

import pytest
from bhtool.dialogue import Dialogue
from bhtool.machine import Machine
from bhtool.payloads import READY_LINE
from bhtool.platforms import Platform
from bhtool.session import EndEvent, LineEvent, Session

from tests.emulated.case import ALL, Case, Sandbox
from tests.emulated.scene import stage
from tests.emulated.test_linux import BOOT_SECONDS

HEALTH = 'on-fault = "restart"; max-restarts = <1>; then = "park";'
REBOOTS = 2
BESIDE_LINUX = Case(
    "reboots-beside-others",
    "a reboot is its sandbox's own affair",
    (
        Sandbox("linux", (0, 3), "quiet", "linux", "vmlinuz", "rootfs.cpio.gz", 256, "uart0", health=HEALTH, beats=False),
        Sandbox("control", 1),
        Sandbox("sensor", 2, uart="uart1"),
    ),
    icount=False,
)


def wait_for_reboot(session: Session, reboots: int) -> None:
    """Until the new kernel's shell is up."""
    deadline = time.monotonic() + BOOT_SECONDS
    for event in session.events(BOOT_SECONDS):
        assert not isinstance(event, EndEvent), event
        again = isinstance(event, LineEvent) and event.sandbox == "linux" and READY_LINE in event.text
        if again and session.watches["linux"].restarts == reboots:
            return
    watch = session.watches["linux"]
    pytest.fail(f"linux: {watch.state}, {watch.restarts} restarts, {watch.crash}, after {time.monotonic() - deadline + BOOT_SECONDS:.0f} s")


@pytest.mark.slow
@pytest.mark.parametrize("platform", ALL)
def test_linux_reboots(machine_platform: Platform) -> None:
    scene = stage(machine_platform, BESIDE_LINUX)
    with Session(machine_platform, scene.plan, Machine(machine_platform, scene.image)) as session:
        dialogue = Dialogue(session, "linux")
        dialogue.wait_until_ready(BOOT_SECONDS)
        for reboots in range(1, REBOOTS + 1):
            dialogue.ask("touch /tmp/of-this-life")
            session.watches["linux"].console.write(b"reboot -f\n")
            wait_for_reboot(session, reboots)
            assert dialogue.number("grep -c ^processor /proc/cpuinfo") == 2
            assert dialogue.number("ls /tmp | grep -c of-this-life") == 0
        watches = session.watches
        assert (watches["linux"].restarts, watches["linux"].crash) == (REBOOTS, None)
        for name in ("control", "sensor"):
            assert (watches[name].state, watches[name].restarts) == ("ready", 0)
            assert not any(watches[name].exits_steady().values())
