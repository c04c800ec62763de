# SPDX-License-Identifier: Apache-2.0
"""BH-F2.network, BH-I1.dma, BH-I2.exitless. dts/partitions/devices.dts: what one Linux fetches from the other is on its disc, while a neighbour attacks by DMA.

One machine a platform serves the first tests of this file, in their order; there both Linux sandboxes have the tool's own root file system.
"""

import hashlib
import mmap
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.image import disc
from bhtool.image.payloads import READY_LINE
from bhtool.machine.dialogue import Dialogue
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import EndEvent, LineEvent, Session
from bhtool.machine.wiring import SECTOR, Disc, Network, Wiring
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import ARM, GICV3, SVM, VTD
from tests.emulated.scene import Scene, platform_or_skip, silent, stage_file

FILE = paths.PARTITIONS / "devices.dts"
OF_THE_DISC = "root=/dev/nvme0n1p1 fetch=http://10.0.2.2:8000/file"
STORM = 'bootargs = "dma-storm=4000";'
SERVED = "http://10.0.2.2:8000/file"
DISC_BYTES, FILE_BYTES = 16 << 20, 4_000_000
SECONDS = 600.0  # of the host: only ever reached when something hangs
PLATFORMS = (*ARM, SVM, VTD)
MARK = b"dmastorm" * 8  # a frame that the hostile card writes: kernel/dma_storm.c
LEASE = "printf '#!/bin/sh\\n[ $1 = bound ] && ip addr add $ip/$mask dev $interface\\n' > /tmp/lease; chmod +x /tmp/lease"
ADDRESS = f"{LEASE}; ip link set eth0 up; udhcpc -i eth0 -n -q -t 10 -T 1 -s /tmp/lease; ip addr show dev eth0 | grep -c 'inet 10.0.2.'"


CAN_UP = "/bin/ip link set can0 type can bitrate 500000 && ip link set can0 up"  # the shell prefers its own `ip`
FRAMES = 20


@dataclass
class Running:
    session: Session
    linux: Dialogue
    server: Dialogue
    disc: Path


def of_the_file(platform: Platform, folder: Path, hostile: str = STORM) -> Scene:
    """As users have it, but both Linux sandboxes start fast, from the tool's own root file system. `hostile`: what that one has instead of STORM."""
    text = FILE.read_text()
    assert OF_THE_DISC in text
    assert STORM in text
    copy = folder / FILE.name
    copy.write_text(text.replace(STORM, hostile).replace(OF_THE_DISC, "").replace("quiet ", f"{lean(platform.name)} "))
    return stage_file(platform, copy)


@contextmanager
def hub(platform: Platform, scene: Scene, inserted: Disc) -> Iterator[Session]:
    wiring = Wiring({"nic0": Network("hub"), "nic1": Network("hub")}, {"disk0": inserted})
    with Session(platform, scene.plan, Machine(platform, scene.image, timing_for(platform, scene.plan), wiring=wiring)) as session:
        yield session


def on(*platforms: str) -> pytest.MarkDecorator:
    marks = {
        name: [pytest.mark.xdist_group(f"devices-{name}"), pytest.mark.slow if name == GICV3 else pytest.mark.long] for name in platforms
    }
    return pytest.mark.parametrize("platform", [pytest.param(name, marks=marks[name]) for name in platforms], scope="module")


@pytest.fixture(scope="module")
def running(platform: str) -> Iterator[Running]:
    board = platform_or_skip(platform)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "disc.img"
        file.touch()
        with file.open("r+b") as empty:
            empty.truncate(DISC_BYTES)
        with hub(board, of_the_file(board, Path(name)), Disc(file)) as session:
            linux, server = Dialogue(session, "linux"), Dialogue(session, "server")
            linux.wait_until_ready(SECONDS)
            for shell in (linux, server):
                shell.ask("stty cols 1000")
            yield Running(session, linux, server, file)


def exits(session: Session, name: str) -> dict[str, int]:
    """But for those of an idle core that somebody may kick, and on a PC CPUID, which programs ask."""
    session.poll()
    stats = session.watches[name].stats
    assert stats is not None
    return {reason: count for reason, count in stats.exits.items() if reason not in ("idle", "identify")}


def attempts(session: Session) -> tuple[int, int]:
    """How many the hostile sandbox has told of, and how many of them brought something."""
    hostile = next(one for one in session.plan.sandboxes if one.name == "hostile")
    said = session.memory.log_since(hostile.pool_hpa, 0)[0].decode()
    found = re.findall(r"(\d+) attempts by DMA, (\d+) read something", said)
    return (int(found[-1][0]), int(found[-1][1])) if found else (0, 0)


def places_of(content: bytes, session: Session) -> list[int]:
    """Where it lies in the machine's memory."""
    base, found = session.platform.ram_base, []
    with mmap.mmap(session.machine.ram, 0, prot=mmap.PROT_READ) as memory:
        at = memory.find(content)
        while at >= 0:
            found.append(base + at)
            at = memory.find(content, at + 1)
    return found


def reached(session: Session) -> list[str]:
    """Where frames of the hostile card lie, in memory of others."""
    hostile = next(one for one in session.plan.sandboxes if one.name == "hostile")
    own = [range(one.hpa, one.hpa + one.size) for one in hostile.ram]
    found = places_of(MARK, session)
    assert found, "the frame that it sends is in its own memory"
    return [hex(at) for at in found if not any(at in one for one in own)]


@on(*PLATFORMS)
def test_a_file_goes_from_one_linux_to_the_disc_of_the_other_without_exits(running: Running) -> None:
    """BH-F2.network, BH-F2.disc, BH-I2.exitless. By the second time each has learnt of the other, and its driver has set its card up."""
    ask, fetch = running.linux.ask, f"fetch {SERVED} /dev/nvme0n1"
    assert running.linux.number(ADDRESS) == 1
    assert ask(fetch) == [f"bulkhead-linux: {FILE_BYTES} bytes of {SERVED} are on /dev/nvme0n1, and their sum is right"]
    before = [exits(running.session, name) for name in ("linux", "server")]
    assert ask(fetch)[0].endswith("right")
    assert [exits(running.session, name) for name in ("linux", "server")] == before
    told = ask(f"busybox wget -q -O - {SERVED}.sha256")[0].split()[0]
    assert hashlib.sha256(running.disc.read_bytes()[:FILE_BYTES]).hexdigest() == told


@on(*ARM)
def test_frames_go_both_ways_on_the_can_bus(running: Running) -> None:
    """BH-F2.can. Each controller has its line in common with its sandbox's network card."""
    ends = (running.linux, running.server)
    for end in ends:
        end.ask(CAN_UP)
    for sender, receiver in (ends, ends[::-1]):
        receiver.ask(f"(candump -n {FRAMES} -T 5000 can0 > /tmp/heard & sleep 1)")
        sender.ask(f"for n in $(seq {FRAMES}); do cansend can0 123#DEADBEEF; done")
        heard = receiver.ask("wait; sleep 1; sort /tmp/heard | uniq -c")
        assert [line.split() for line in heard] == [[str(FRAMES), "can0", "123", "[4]", "DE", "AD", "BE", "EF"]]


@on(*PLATFORMS)
def test_the_neighbour_that_attacks_by_dma_reaches_nobody(running: Running) -> None:
    """BH-I1.dma. It has aimed thousands of times at 4 GiB of which the machine's memory is half."""
    made, came = attempts(running.session)
    assert made >= 1000
    assert came == 0
    assert reached(running.session) == []


@on(*ARM)
def test_nobody_misses_a_beat_meanwhile(running: Running) -> None:
    """BH-F2.ready. Where instructions are counted."""
    assert running.session.machine.is_counted
    running.session.poll()
    beats = {name: watch.heartbeat for name, watch in running.session.watches.items() if name in ("control", "hostile")}
    assert {name: beat.gaps for name, beat in beats.items() if beat} == {"control": 0, "hostile": 0}
    assert {name: watch.state for name, watch in running.session.watches.items()} == dict.fromkeys(running.session.watches, "ready")


@pytest.mark.long
@pytest.mark.parametrize("platform", PLATFORMS)
def test_without_dma_protection_the_neighbour_is_seen_to_reach_others(platform: str, tmp_path: Path) -> None:
    """What the test above would see. A machine of its own, which its hostile card may end."""
    board = platform_or_skip(platform)
    (tmp_path / "disc.img").write_bytes(bytes(SECTOR))
    scene = of_the_file(board, tmp_path, f'{STORM} unprotected = "dma";')
    with hub(board, scene, Disc(tmp_path / "disc.img")) as session:
        deadline = time.monotonic() + SECONDS
        while not attempts(session)[1] and time.monotonic() < deadline:
            ended = [event for event in session.poll() if isinstance(event, EndEvent)]
            assert not ended, ended
            session.rest()
        assert attempts(session)[1] > 0
        assert reached(session)


@pytest.mark.long
@pytest.mark.parametrize("platform", PLATFORMS)
def test_debian_fetches_a_file_onto_its_disc(platform: str) -> None:
    """BH-F2.disc, BH-F2.ready. The partition file as users have it."""
    board = platform_or_skip(platform)
    scene = stage_file(board, FILE)
    inserted = Disc(disc.debian(board.programs_architecture, (), disc.DEFAULT, silent), forgets=True)
    wanted = f"bulkhead-linux: {FILE_BYTES} bytes of {SERVED} are on /root/file, and their sum is right"
    with hub(board, scene, inserted) as session:
        said: list[str] = []
        deadline = time.monotonic() + 2 * SECONDS
        while wanted not in said and time.monotonic() < deadline:
            said += [event.text for event in session.poll() if isinstance(event, LineEvent) and event.sandbox == "linux"]
            session.rest()
        assert wanted in said, said[-5:]
        assert READY_LINE not in said[: said.index(wanted)]  # so `run` shows it, however slow the machine is
        control = session.watches["control"].heartbeat
        assert control is not None
        assert control.beats > 0
        assert not (session.machine.is_counted and control.gaps), control
        assert attempts(session)[1] == 0
