# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux, BH-F6.request. Unmodified Debian on two cores, with the module for channels, opens channels on request, and a sandbox kernel does.

One machine a platform serves all tests of this file, in their order; the last ones end lives.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from bhtool.image.payloads import READY_LINE
from bhtool.machine.dialogue import Dialogue
from bhtool.machine.session import CrashEvent, LineEvent
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import ARMV7, GICV2, GICV3, SVM, VTX
from tests.emulated.linux_program import root_file_system
from tests.emulated.linux_shell import BOOT_SECONDS, linux_shell
from tests.emulated.scene import compiled, platform_or_skip, scene_of
from tests.emulated.shell import Shell
from tests.emulated.test_linux_channels import NEW, NO_ROOM, NOT_NOW, SECONDS, UNCONNECTED, Pair, programs_of

LONG = (ARMV7, SVM, GICV2, VTX)
PLATFORMS = [
    pytest.param(
        name,
        marks=[
            pytest.mark.platform(name),
            pytest.mark.xdist_group(f"linux-requests-{name}"),
            *([pytest.mark.long] if name in LONG else []),
        ],
    )
    for name in (GICV3, *LONG)
]
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("platform", PLATFORMS, scope="module")]

FILE = Path(__file__).with_name("linux_requests.dts")
WHOLE_BYTES = {ARMV7: 0x40000}  # of a slot of four, 1 MiB and a bit in all; elsewhere more than one of 2 MiB
LARGE_BYTES = 0x100000
MANY = 1000
LEAK_KIB = 2048  # less than a page for each of so many
SAYS = "/sys/class/misc/bulkhead-{}/{}"


def partition(folder: Path, platform: Platform, programs: dict[str, bytes]) -> Path:
    """The partition file, and beside it Linux's root file system."""
    (folder / "rootfs-channels.cpio.gz").write_bytes(root_file_system(platform, programs))
    text = FILE.read_text().replace("WHOLE_BYTES", hex(WHOLE_BYTES.get(platform.name, LARGE_BYTES)))
    file = folder / FILE.name
    file.write_text(text.replace("ARGUMENTS", lean(platform.name)))
    return file


@pytest.fixture(scope="module")
def machine_platform(platform: str) -> Platform:
    return platform_or_skip(platform)


@pytest.fixture(scope="module")
def pair(machine_platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    file = partition(tmp_path_factory.mktemp("requests"), machine_platform, programs_of(machine_platform))
    with linux_shell(machine_platform, scene_of(machine_platform, compiled(machine_platform, file))) as linux:
        yield Pair(linux, Shell(linux.session, "control"))


def says(pair: Pair, channel: str, *names: str) -> list[str]:
    return pair.heard(f"cd /sys/class/misc/bulkhead-{channel}; cat {' '.join(names)}; cd /")


def turns(pair: Pair, channel: str, how: str) -> None:
    assert pair.control.ask(f"{how}={channel}")[-1].endswith(": done")


def received(pair: Pair, channel: str) -> list[str]:
    return [line.removeprefix(f"receive {channel}").removeprefix(": ").strip() for line in pair.control.ask(f"receive={channel}")]


def connect(pair: Pair, channel: str) -> None:
    """The other end has looked, twice, while Linux has it open."""
    for _ in range(2):
        received(pair, channel)


def calls(pair: Pair) -> int:
    return pair.exits()["call"]


def holds(pair: Pair, channel: str) -> None:
    """In the background, until `lets_go`; its end takes part."""
    pair.linux.ask(f"sleep 1000 < /dev/bulkhead/{channel} & until grep -qv '^0$' {SAYS.format(channel, 'epoch')}; do sleep 0.1; done")


def lets_go(pair: Pair) -> None:
    pair.linux.ask("kill $!; wait")


def test_nothing_opens_them_before_a_program_does(pair: Pair) -> None:
    """Found, described and shown, without a call, and without a touch, which would end Linux."""
    before = calls(pair)
    assert pair.linux.ask("ls -1 /dev/bulkhead") == ["always", "aside", "orders", "stream", "whole"]
    assert says(pair, "aside", "kind", "peer", "end", "slots", "slot_bytes", "on_request") == ["ring", "control", "1", "4", "64", "1"]
    assert says(pair, "stream", "kind", "slots", "slot_bytes") == ["latest", "8", "64"]
    assert says(pair, "aside", "peer_state", "epoch", "peer_epoch", "sent", "taken", "connections") == ["unknown", "0", "0", "0", "0", "0"]
    assert says(pair, "always", "kind", "peer_state", "on_request") == ["mailbox", "lives", "0"]
    assert int(pair.linux.ask("cat /sys/class/misc/bulkhead-*/[a-z]* 2> /dev/null | grep -c .")[0]) >= 5 * 17  # all that there are
    assert calls(pair) == before
    assert pair.control.ask("channels")[-1].endswith("closed")
    turns(pair, "aside", "open")
    assert pair.sends("aside", "early") == UNCONNECTED


def test_messages_arrive_while_both_have_it_open(pair: Pair) -> None:
    holds(pair, "aside")
    assert says(pair, "aside", "epoch", "peer_state") == ["1", "lives"]
    connect(pair, "aside")
    assert [pair.sends("aside", text) for text in ("one", "two")] == ["done", "done"]
    lets_go(pair)
    assert pair.channels("receive aside 1 50") == ["ETIMEDOUT"]  # of the connection before there is nothing
    pair.begin("receive aside 2 60000")
    connect(pair, "aside")
    assert [pair.sends("aside", text) for text in ("three", "four")] == ["done", "done"]
    assert pair.kept() == ["0 5 three", "1 4 four"]
    assert says(pair, "aside", "epoch", "peer_state") == ["0", "unknown"]


def test_a_mailbox_asks_and_answers(pair: Pair) -> None:
    turns(pair, "orders", "open")
    pair.begin("receive orders 1 60000")
    assert pair.sends("orders", "why") == "done"
    assert pair.kept() == ["0 3 why"]
    pair.begin("send orders because 60000")  # which waits until the other end is there
    came = received(pair, "orders")
    assert pair.kept() == ["OK"]
    assert "0: because" in came + received(pair, "orders")  # which was sent before it was closed


def test_who_closes_takes_nothing_from_the_other(pair: Pair) -> None:
    """What was sent before it closed is there to be read, what is sent later finds no room some time."""
    turns(pair, "whole", "open")
    pair.linux.ask(
        f"(sleep 1; echo -n last) > /dev/bulkhead/whole & until grep -qv '^0$' {SAYS.format('whole', 'epoch')}; do sleep 0.1; done"
    )
    connect(pair, "whole")
    pair.linux.ask("wait")
    assert says(pair, "whole", "epoch") == ["0"]
    assert received(pair, "whole") == ["0: last"]
    assert received(pair, "whole") == [NOT_NOW]
    holds(pair, "aside")
    connect(pair, "aside")
    lets_go(pair)
    assert [pair.sends("aside", str(n)) for n in range(5)] == [*["done"] * 4, NO_ROOM]
    pair.begin("receive aside 1 60000")
    assert pair.sends("aside", "new") == "done"
    assert pair.kept() == ["0 3 new"]  # the first one of a connection


def test_that_the_other_end_closes_is_shown(pair: Pair) -> None:
    holds(pair, "aside")
    connect(pair, "aside")
    turns(pair, "aside", "close")
    assert says(pair, "aside", "peer_state") == ["closed"]
    turns(pair, "aside", "open")
    assert says(pair, "aside", "peer_state") == ["lives"]
    lets_go(pair)


def test_readers_share_one_opening(pair: Pair) -> None:
    """The first opens it, the last one closes it, and who goes in between takes it from nobody."""
    before = calls(pair)
    assert pair.channels("readers stream 3") == ["0: 48", "1: 48", "2 in place: 0, 48 bytes", "1 says what it reads", "EBUSY", "OK 1"]
    assert calls(pair) - before == 2
    assert pair.channels("count stream 5") == ["5 came, 5 in order"]


def test_a_copy_a_mapping_and_a_child_keep_it_open(pair: Pair) -> None:
    before = calls(pair)
    assert pair.channels("keeps whole") == [
        "a copy: EBUSY",
        "a mapping: EBUSY",
        "it is there",
        "a child: EBUSY",
        "to the child it was there",
        "nobody: OK",
    ]
    assert calls(pair) - before == 4
    assert pair.channels("twice whole") == ["EBUSY", "OK"]


def test_messages_are_read_in_place(pair: Pair) -> None:
    pair.begin("place aside 2 60000")
    connect(pair, "aside")
    assert [pair.sends("aside", text) for text in ("in", "place")] == ["done", "done"]
    assert pair.kept() == ["0 2 in", "1 5 place", "EBUSY"]


def test_who_waited_waits_no_more_when_it_is_closed(pair: Pair) -> None:
    """Its timer would look, and the next one needs it."""
    for channel in ("aside", "stream", "orders"):
        assert pair.linux.ask(f"timeout 0.2 cat /dev/bulkhead/{channel} > /dev/null; echo $?", SECONDS)[-1] == "143"
    pair.linux.ask("sleep 0.5")
    pair.begin("receive aside 1 60000")
    connect(pair, "aside")
    assert pair.sends("aside", "awake") == "done"
    assert pair.kept() == ["0 5 awake"]
    assert pair.channels("count stream 5") == ["5 came, 5 in order"]


def test_a_thousand_times_use_nothing_up(pair: Pair) -> None:
    """While the other end sends; each time by the one core and the other: two calls, no memory, and no address."""

    def used() -> tuple[int, int]:
        pair.linux.ask("echo 3 > /proc/sys/vm/drop_caches")
        return pair.linux.number("grep MemFree /proc/meminfo"), pair.linux.number("grep -c memremap /proc/vmallocinfo")

    for channel, came in (("stream", MANY // 10), ("whole", 0)):
        assert len(pair.channels(f"reopen {channel} 20")) == 1  # what is made once, is made
        before, (free, areas) = calls(pair), used()
        assert pair.linux.ask(f"channels reopen {channel} {MANY}", 2 * SECONDS) == [f"OK, {MANY} times, {came} came"]
        after, (free_then, areas_then) = calls(pair), used()
        assert after - before == 2 * MANY + 2  # and once, before it begins
        assert free - free_then < LEAK_KIB
        assert areas_then <= areas
    assert pair.channels("count stream 5") == ["5 came, 5 in order"]


def test_a_core_that_was_off_meanwhile_reaches_it(pair: Pair) -> None:
    pair.linux.ask("echo 0 > /sys/devices/system/cpu/cpu1/online")
    holds(pair, "stream")
    pair.linux.ask("echo 1 > /sys/devices/system/cpu/cpu1/online")
    assert pair.heard("taskset 2 channels count stream 5") == ["5 came, 5 in order"]
    lets_go(pair)
    assert pair.heard("taskset 2 channels count stream 5") == ["5 came, 5 in order"]


def test_a_new_life_of_the_other_end_is_told_of_once(pair: Pair) -> None:
    """It begins closed: Linux waits, until it is opened there again."""
    pair.begin("receive aside 3 60000")
    connect(pair, "aside")
    pair.control.type("reboot\r")
    assert any(line == "alive" for line in pair.control.said())
    pair.control.wait(0.1)
    assert pair.control.ask("life")[-1] == "life 1"
    assert says(pair, "aside", "peer_state") == ["closed"]
    turns(pair, "aside", "open")
    for text in ("new", "life"):
        while (answer := pair.sends("aside", text)) != "done":
            assert answer in (NEW, NOT_NOW, UNCONNECTED)
    assert pair.kept() == ["ECONNRESET", "0 3 new", "1 4 life"]


def start_of(linux: Dialogue, channel: str) -> int:
    plan = next(one for one in linux.session.plan.sandboxes if one.name == "linux")
    return min(one.gpa for one in plan.regions if f"`{channel}`" in one.name)


def test_what_is_closed_is_not_there_and_a_life_of_linux_begins_so(pair: Pair) -> None:
    """One channel is open, and the other one was: who touches it is caught. The next life finds both closed."""
    at = start_of(pair.linux, "whole")
    turns(pair, "whole", "open")
    holds(pair, "aside")
    connect(pair, "aside")
    assert pair.sends("aside", "under-way") == "done"
    assert pair.channels("twice whole") == ["EBUSY", "OK"]
    pair.linux.session.watches["linux"].console.write(f"devmem {at:#x}\n".encode())
    heard: set[str] = set()
    for event in pair.linux.session.events(BOOT_SECONDS):
        if isinstance(event, CrashEvent):
            assert (event.sandbox, event.crash.reason, event.crash.address) == ("linux", "memory", at)
            heard.add("caught")
        elif isinstance(event, LineEvent) and event.sandbox == "linux" and READY_LINE in event.text:
            heard.add("up")
        if heard == {"caught", "up"}:
            break
    assert heard == {"caught", "up"}
    assert pair.linux.session.watches["linux"].restarts == 1
    pair.linux.ask("stty cols 1000")
    assert says(pair, "aside", "epoch", "peer_state") == ["0", "unknown"]
    assert pair.control.ask("life")[-1] == "life 1"
    assert [pair.sends("aside", str(n)) for n in range(4)] == [*["done"] * 3, NO_ROOM]  # it keeps what it has
    pair.begin("receive aside 1 60000")
    assert int(says(pair, "aside", "epoch")[0]) > 1
    assert pair.sends("aside", "again") == "done"
    assert pair.kept() == ["0 5 again"]
