# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux. Unmodified Debian, with the module for channels, and a sandbox kernel send each other messages: by the shell, by the library, in place.

One machine a platform serves all tests of this file, in their order; the last ones end the other sandbox's lives.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.image.linux_programs import CHANNEL_PROGRAMS, INCLUDED, LIBRARY, compiled_program
from bhtool.machine.dialogue import Dialogue
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import GICV2, GICV3, SVM, VTX
from tests.emulated.linux_program import root_file_system
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import compiled, platform_or_skip, scene_of
from tests.emulated.shell import Shell

ARMV7 = "qemu-armv7"
LONG = (GICV2, VTX)
PLATFORMS = [
    pytest.param(
        name,
        marks=[
            pytest.mark.platform(name),
            pytest.mark.xdist_group(f"linux-channels-{name}"),
            *([pytest.mark.long] if name in LONG else []),
        ],
    )
    for name in (GICV3, ARMV7, SVM, *LONG)
]
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("platform", PLATFORMS, scope="module")]

FOLDER = Path(__file__).parent
RAM_MIB = {VTX: 112}  # Bochs is slow; 128 elsewhere
NOT_NOW, UNCONNECTED, NO_ROOM = "nothing to read", "not connected yet", "no room"
NEW = "a new connection"
SECONDS = 120.0
BY_ITSELF = ("idle", "identify")  # of an idle core that somebody may kick; of programs that ask what a PC is
KINDS = {
    "commands": "ring",
    "hears": "ring",
    "orders": "mailbox",
    "samples": "ring",
    "says": "ring",
    "stream": "latest",
    "target": "latest",
}


@dataclass
class Pair:
    linux: Dialogue
    control: Shell

    def channels(self, words: str) -> list[str]:
        return self.heard(f"channels {words}")

    def heard(self, command: str) -> list[str]:
        """Without what the shell says of a command that it had begun before."""
        return [line for line in self.linux.ask(command, SECONDS) if line and not line.startswith("[1]")]

    def begin(self, words: str) -> None:
        """In the background, until it has done something that others see: it has opened its channel."""
        self.linux.ask(f"channels {words} > /tmp/heard & sleep 0.1")
        assert self.kept("") == []

    def kept(self, first: str = "wait; ") -> list[str]:
        """What it has said, once it has ended; by marks that no word of the shell on jobs can hide."""
        lines = self.linux.ask(f"{first}sed 's/^/kept: /' /tmp/heard", SECONDS)
        return [line.partition("kept: ")[2] for line in lines if "kept: " in line and "sed 's" not in line]

    def sends(self, channel: str, text: str) -> str:
        (answer,) = self.control.ask(f"send={channel},{text}")
        return answer.removeprefix(f"send {channel}: ")

    def receives(self, channel: str) -> str:
        """What comes after word of a new connection, if there is such."""
        return self.control.ask(f"receive={channel}")[-1].removeprefix(f"receive {channel}").removeprefix(": ").strip()

    def meet(self, channel: str) -> None:
        """Linux has opened it, and the other end has looked."""
        self.linux.ask(f": < /dev/bulkhead/{channel}")
        self.receives(channel)

    def exits(self) -> dict[str, int]:
        self.linux.session.poll()
        stats = self.linux.session.watches["linux"].stats
        assert stats is not None
        return {reason: count for reason, count in stats.exits.items() if reason not in BY_ITSELF}


def who_is_rung(linux: Dialogue, control: Shell) -> list[str]:
    """When a console wakes the program that shows it, and what is typed there its kernel: both would look by themselves, too, a tenth of a second apart."""
    count = "grep -h bulkhead /proc/interrupts | awk '{ n += $2 } END { print n + 0 }'"
    before = linux.number(count), control.ask("rung=hears")
    shown = linux.ask("(printf '\\rlife\\r'; sleep 1; printf '\\rlife\\r'; sleep 1) | bulkhead-console control; echo", SECONDS)
    assert len([line for line in shown if line.startswith("control: life ")]) == 2
    after = linux.number(count), control.ask("rung=hears")
    return [f"{who} is rung" for who, old, new in zip(("Linux", "control"), before, after, strict=True) if old != new]


def programs_of(platform: Platform) -> dict[str, bytes]:
    sources = {"channels": [FOLDER / "linux_channels.c"], **CHANNEL_PROGRAMS}
    return {name: compiled_program(platform, [*each, *LIBRARY], INCLUDED, lambda _: None) for name, each in sources.items()}


def partition(folder: Path, platform: Platform, programs: dict[str, bytes], module: bool = True) -> Path:
    """The partition file, and beside it Linux's root file system. `module`: Linux loads it."""
    (folder / "rootfs-channels.cpio.gz").write_bytes(root_file_system(platform, programs))
    text = (FOLDER / "linux_channels.dts").read_text().replace('modules = "bulkhead";', 'modules = "bulkhead";' if module else "")
    file = folder / "linux_channels.dts"
    file.write_text(text.replace("LINUX_MIB", str(RAM_MIB.get(platform.name, 128))).replace("ARGUMENTS", lean(platform.name)))
    return file


@pytest.fixture(scope="module")
def machine_platform(platform: str) -> Platform:
    return platform_or_skip(platform)


@pytest.fixture(scope="module")
def pair(machine_platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("channels")
    file = partition(folder, machine_platform, programs_of(machine_platform))
    with linux_shell(machine_platform, scene_of(machine_platform, compiled(machine_platform, file))) as linux:
        yield Pair(linux, Shell(linux.session, "control"))


def test_they_are_found_by_what_linux_is_handed(pair: Pair) -> None:
    assert pair.linux.ask("ls /dev/bulkhead") == [*KINDS] or pair.linux.ask("ls -1 /dev/bulkhead") == [*KINDS]
    assert pair.linux.ask("cat /sys/class/misc/bulkhead-*/kind") == [*KINDS.values()]
    assert pair.linux.ask("cat /sys/class/misc/bulkhead-samples/peer /sys/class/misc/bulkhead-samples/end") == ["control", "1"]


def test_messages_of_a_ring_arrive_each_as_one_read(pair: Pair) -> None:
    pair.meet("samples")
    for text in ("one", "two", "three"):
        assert pair.sends("samples", text) == "done"
    assert pair.channels("receive samples 3 1000") == ["0 3 one", "1 3 two", "2 5 three"]
    assert pair.channels("receive samples 1 20") == ["ETIMEDOUT"]


def test_a_ring_is_written_until_it_is_full(pair: Pair) -> None:
    pair.meet("commands")
    for text in ("left", "right"):
        assert pair.linux.ask(f"printf {text} > /dev/bulkhead/commands && echo sent") == ["sent"]
    assert [pair.channels(f"send commands {n} 20") for n in range(3)] == [["OK"], ["OK"], ["ETIMEDOUT"]]
    assert [pair.receives("commands") for _ in range(5)] == ["0: left", "1: right", "2: 0", "3: 1", NOT_NOW]


def test_a_mailbox_asks_and_answers(pair: Pair) -> None:
    pair.meet("orders")
    assert pair.channels("send orders faster 1000") == ["OK"]
    assert pair.channels("send orders slower 20") == ["ETIMEDOUT"]
    assert pair.receives("orders") == "0: faster"
    assert pair.sends("orders", "why") == "done"
    assert pair.channels("send orders because 20") == ["ETIMEDOUT"]  # it is asked first
    assert pair.channels("receive orders 1 1000") == ["0 3 why"]
    assert pair.channels("send orders because 1000") == ["OK"]
    assert pair.receives("orders") == "1: because"


def test_only_the_latest_value_arrives(pair: Pair) -> None:
    pair.meet("target")
    assert [pair.channels(f"send target {value} 1000") for value in (50, 60)] == [["OK"], ["OK"]]
    assert [pair.receives("target") for _ in range(2)] == ["1: 60", "1: 60"]


def test_a_reader_sleeps_until_there_is_something(pair: Pair) -> None:
    pair.begin("receive samples 1 60000")
    assert pair.sends("samples", "awake") == "done"
    assert pair.kept() == ["3 5 awake"]
    pair.begin("wait samples 60000")
    assert pair.sends("samples", "polled") == "done"
    assert pair.kept() == ["1"]  # POLLIN
    assert pair.channels("receive samples 1 1000") == ["4 6 polled"]


def test_a_reader_can_be_ended_while_it_waits(pair: Pair) -> None:
    assert pair.linux.ask("timeout 1 cat /dev/bulkhead/samples; echo $?", SECONDS)[-1] == "143"


def test_a_stream_costs_no_exit(pair: Pair) -> None:
    """Each read waits for the next value, by the timer of the module; values are never torn back."""
    pair.linux.ask("channels count stream 5")
    before = pair.exits()
    assert pair.channels("count stream 100") == ["100 came, 100 in order"]
    assert pair.exits() == before


def test_a_latest_value_can_be_had_again(pair: Pair) -> None:
    assert len(pair.channels("receive stream 2 1000")) == 2
    assert [line.split()[1] for line in pair.channels("again stream")] == ["48"]


def test_what_is_too_long_is_refused(pair: Pair) -> None:
    assert pair.channels(f"send commands {'x' * 65} 1000") == ["EMSGSIZE"]
    assert pair.receives("commands") == NOT_NOW
    assert pair.channels(f"send orders {'x' * 129} 20") == ["EMSGSIZE"]  # before it is copied: Linux ends who writes beyond the buffer
    assert pair.sends("samples", "whole") == "done"
    assert pair.channels("small samples") == ["EMSGSIZE 5", "5 5 whole"]


def test_ends_go_one_way(pair: Pair) -> None:
    assert pair.channels("send samples no 20") == pair.channels("receive commands 1 20") == ["EINVAL"]


def test_it_has_one_owner(pair: Pair) -> None:
    assert pair.channels("twice samples") == ["EBUSY", "OK"]
    assert pair.channels("receive nothing 1 20") == ["ENOENT"]
    assert pair.channels("receive ../null 1 20") == ["EINVAL"]


def test_a_latest_value_has_as_many_owners_as_readers(pair: Pair) -> None:
    """Each has what is written; the last one in place, the others by the module."""
    assert pair.channels("readers stream 3") == ["0: 48", "1: 48", "2 in place: 0, 48 bytes", "1 says what it reads", "EBUSY", "OK 1"]
    assert pair.channels("readers stream 3")[-2:] == ["EBUSY", "OK 1"]  # whoever ends gives back what it had
    assert pair.channels("twice target") == ["EBUSY", "OK"]  # a writer is one


@pytest.mark.parametrize("name", ["samples", "commands"])
def test_nothing_is_mapped_beyond_it_or_for_writing_what_is_not_its_own(pair: Pair, name: str) -> None:
    """Of a reader and of a sender."""
    assert pair.channels(f"map {name}") == [
        "own OK",
        "whole OK",
        "longer EINVAL",
        "behind EINVAL",
        "far EINVAL",
        "last EINVAL",
        "writable EACCES",
        "page EACCES",
        "private EINVAL",
        "executable EACCES",
        "changed EACCES",
        "moved EFAULT",
    ]


def test_messages_are_read_in_place(pair: Pair) -> None:
    """And the module's own calls are refused meanwhile; a later program goes on where this one stopped."""
    for text in ("in", "place"):
        assert pair.sends("samples", text) == "done"
    assert pair.channels("place samples 2 1000") == ["6 2 in", "7 5 place", "EBUSY"]
    assert pair.sends("samples", "after") == "done"
    assert pair.channels("receive samples 1 1000") == ["8 5 after"]


def test_the_console_of_the_other_sandbox_is_shown_and_typed_at(pair: Pair) -> None:
    assert pair.linux.ask("bulkhead-console") == ["control"]
    shown = pair.linux.ask("(printf '\\rlife\\r'; sleep 1) | bulkhead-console control; echo", SECONDS)
    assert "control: life 0" in shown
    assert "control> life" in shown  # its prompt, and what was typed behind it
    assert pair.linux.ask("bulkhead-console sensor; echo $?")[-1] == "2"


def test_who_sleeps_is_rung(pair: Pair) -> None:
    assert who_is_rung(pair.linux, pair.control) == ["Linux is rung", "control is rung"]


def test_the_console_is_on_a_pseudoterminal_for_others(pair: Pair) -> None:
    pair.linux.ask("bulkhead-console --pty control > /tmp/pty & sleep 1")
    typed = "sh -c 'exec 3<>$(cat /tmp/pty); printf \\\\rlife\\\\r >&3; timeout 2 cat <&3'"  # a shell of its own: nobody's terminal
    assert "1" in pair.heard(f"{typed} | grep -c 'control: life 0'")  # beside that `timeout` has ended it
    assert pair.heard("bulkhead-console control < /dev/null 2>&1; echo $?")[-1] == "3"  # somebody has it
    pair.linux.ask("kill $!; wait")
    assert pair.heard("bulkhead-console control < /dev/null > /dev/null; echo $?")[-1] == "0"


def test_a_new_life_is_told_of_once(pair: Pair) -> None:
    pair.begin("receive samples 3 60000")
    pair.control.type("reboot\r")
    for line in pair.control.said():
        if line == "alive":
            break
    pair.control.wait(0.1)
    assert pair.control.ask("life")[-1] == "life 1"
    for text in ("new", "life"):
        while (answer := pair.sends("samples", text)) != "done":
            assert answer in (NEW, NOT_NOW, UNCONNECTED)
    assert pair.kept() == ["ECONNRESET", "0 3 new", "1 4 life"]


def test_who_is_gone_is_said_to_be(pair: Pair) -> None:
    assert pair.sends("samples", "last") == "done"
    pair.control.type("park\r")
    for _ in pair.linux.session.events(SECONDS):
        if pair.linux.session.watches["control"].settled:
            break
    assert pair.channels("receive samples 2 1000") == ["2 4 last", "EPIPE"]
    assert pair.channels("send commands anybody 1000") == ["EPIPE"]
    assert pair.linux.ask("cat /sys/class/misc/bulkhead-samples/peer_state") == ["gone"]
