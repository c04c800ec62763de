# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux. A Debian kernel as it is, with no module of ours, and a sandbox kernel send each other messages: by the library, through /dev/mem; where that would not map memory
as the other end does, the library refuses.

One machine a platform serves all tests of it, in their order; the last ones load the module, and end the other sandbox's lives.
"""

import re
from collections.abc import Iterator

import pytest
from bhtool.config.rootfs.modules import index_of
from bhtool.image import linux_module, payloads
from bhtool.platforms import Platform

from tests.emulated.case import GICV2, GICV3, SVM, VTX
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import compiled, platform_or_skip, scene_of
from tests.emulated.shell import Shell
from tests.emulated.test_linux_channels import ARMV7, NEW, NOT_NOW, SECONDS, UNCONNECTED, Pair, partition, programs_of

PCS, ARM, LONG = (SVM, VTX), (GICV3, ARMV7, GICV2), (ARMV7, GICV2, VTX)
MODULE = "bulkhead.ko"
pytestmark = [pytest.mark.slow]


def on(names: tuple[str, ...]) -> pytest.MarkDecorator:
    marks = {
        name: [
            pytest.mark.platform(name),
            pytest.mark.xdist_group(f"linux-memory-{name}"),
            *([pytest.mark.long] if name in LONG else []),
        ]
        for name in names
    }
    return pytest.mark.parametrize("pair", [pytest.param(name, marks=marks[name]) for name in names], indirect=True)


def module_of(platform: Platform) -> bytes:
    version = index_of(payloads.modules(platform, lambda _: None)).version
    return linux_module.built(platform.debian_architecture, version, lambda _: None).read_bytes()


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    platform = platform_or_skip(request.param)
    programs = programs_of(platform) | ({MODULE: module_of(platform)} if platform.name in PCS else {})
    file = partition(tmp_path_factory.mktemp("memory"), platform, programs, module=False)
    with linux_shell(platform, scene_of(platform, compiled(platform, file))) as linux:
        yield Pair(linux, Shell(linux.session, "control"))


def meet(pair: Pair, channel: str) -> None:
    """Linux has opened it, and the other end has looked."""
    pair.channels(f"wait {channel} 0")
    pair.receives(channel)


# ---- Where it does not work -----------------------------------------------------------------------------------------------------------


@on(ARM)
def test_memory_that_would_be_mapped_otherwise_is_refused(pair: Pair) -> None:
    assert pair.channels("receive samples 1 20") == ["EOPNOTSUPP"]
    assert pair.channels("receive nothing 1 20") == ["ENOENT"]
    (said,) = pair.heard("bulkhead-sink stream 1 2>&1")
    assert said.startswith("bulkhead-sink: stream: the module `bulkhead` is not loaded")


# ---- Messages -------------------------------------------------------------------------------------------------------------------------


@on(PCS)
def test_there_is_no_module(pair: Pair) -> None:
    assert pair.linux.number("ls -d /dev/bulkhead /sys/module/bulkhead 2>/dev/null | wc -l") == 0


@on(PCS)
def test_messages_of_a_ring_arrive_in_order(pair: Pair) -> None:
    meet(pair, "samples")
    for text in ("one", "two", "three"):
        assert pair.sends("samples", text) == "done"
    assert pair.channels("receive samples 3 1000") == ["0 3 one", "1 3 two", "2 5 three"]
    assert pair.channels("receive samples 1 20") == ["ETIMEDOUT"]
    assert pair.sends("samples", "whole") == "done"
    assert pair.channels("small samples") == ["EMSGSIZE 5", "3 5 whole"]


@on(PCS)
def test_a_ring_is_written_until_it_is_full(pair: Pair) -> None:
    meet(pair, "commands")
    assert [pair.channels(f"send commands {n} 20") for n in range(5)] == [*[["OK"]] * 4, ["ETIMEDOUT"]]
    assert [pair.receives("commands") for _ in range(5)] == ["0: 0", "1: 1", "2: 2", "3: 3", NOT_NOW]
    assert pair.channels(f"send commands {'x' * 65} 1000") == ["EMSGSIZE"]


@on(PCS)
def test_a_mailbox_asks_and_answers(pair: Pair) -> None:
    meet(pair, "orders")
    assert pair.channels("send orders faster 1000") == ["OK"]
    assert pair.channels("send orders slower 20") == ["ETIMEDOUT"]
    assert pair.receives("orders") == "0: faster"
    assert pair.sends("orders", "why") == "done"
    assert pair.channels("receive orders 1 1000") == ["0 3 why"]


@on(PCS)
def test_latest_values_go_both_ways(pair: Pair) -> None:
    meet(pair, "target")
    assert [pair.channels(f"send target {value} 1000") for value in (50, 60)] == [["OK"], ["OK"]]
    assert pair.receives("target") == "1: 60"
    assert pair.channels("count stream 20") == ["20 came, 20 in order"]
    assert [line.split()[1] for line in pair.channels("again stream")] == ["48"]


@on(PCS)
def test_messages_cost_no_exit(pair: Pair) -> None:
    pair.channels("count stream 5")
    before = pair.exits()
    assert pair.channels("count stream 100") == ["100 came, 100 in order"]
    assert pair.exits() == before


@on(PCS)
def test_the_sample_program_finds_nothing_wrong(pair: Pair) -> None:
    said = pair.heard("bulkhead-sink stream 2; echo status $?")
    assert said[-1] == "status 0"
    assert re.fullmatch(r"epochs 1, taken [1-9]\d+, lost 0, doubled 0, damaged 0, wrong 0", said[-2])


@on(PCS)
def test_who_waits_looks_by_itself(pair: Pair) -> None:
    pair.begin("receive samples 1 60000")
    assert pair.sends("samples", "awake") == "done"
    assert pair.kept() == ["4 5 awake"]
    pair.begin("wait samples 60000")
    assert pair.sends("samples", "polled") == "done"
    assert pair.kept() == ["1"]  # POLLIN


@on(PCS)
def test_messages_are_read_in_place(pair: Pair) -> None:
    assert pair.sends("samples", "place") == "done"
    assert pair.channels("place samples 2 1000") == ["5 6 polled", "6 5 place", "EBUSY"]


# ---- What it does not do ---------------------------------------------------------------------------------------------------------------


@on(PCS)
def test_it_is_mapped_write_back(pair: Pair) -> None:
    """As the kernel keeps account of it: /sys/kernel/debug/x86/pat_memtype_list."""
    pair.linux.ask("mkdir -p /debug; mount -t debugfs none /debug")
    pair.begin("wait samples 3000")
    kinds = pair.heard("grep -i 'mem 0x00000000fd1' /debug/x86/pat_memtype_list | sed 's/.*] //' | sort -u")
    assert kinds == ["write-back"]
    assert pair.kept() == ["0"]


@on(PCS)
@pytest.mark.parametrize("name", ["samples", "commands", "orders"])
def test_nothing_but_its_own_becomes_writable(pair: Pair, name: str) -> None:
    """Of a reader, of a sender, and of who is both."""
    assert pair.channels(f"protect {name}") == ["page EACCES", "other EACCES", "own OK", "EBUSY"]


@on(PCS)
def test_it_has_one_owner(pair: Pair) -> None:
    assert pair.channels("twice samples") == ["EBUSY", "OK"]
    pair.begin("receive samples 1 60000")
    assert pair.channels("receive samples 1 20") == ["EBUSY"]
    assert pair.sends("samples", "mine") == "done"
    assert pair.kept() == ["7 4 mine"]
    assert pair.sends("samples", "ours") == "done"
    assert pair.channels("fork samples 1") == ["SEGV", "8 4 ours"]  # a child has no part in it
    assert pair.channels("readers stream 3") == ["0: 48", "1: 48", "2 in place: 0, 48 bytes", "1 says what it reads", "EBUSY", "OK 1"]
    assert pair.channels("receive nothing 1 20") == ["ENOENT"]


@on(PCS)
def test_who_is_not_root_has_none(pair: Pair) -> None:
    pair.linux.ask("mkdir -p /etc; echo 'nobody:x:65534:65534::/:/bin/sh' >> /etc/passwd")
    assert pair.heard("su nobody -c 'channels receive samples 1 20'") == ["EACCES"]


# ---- Lives, and the module --------------------------------------------------------------------------------------------------------------


@on(PCS)
def test_a_new_life_is_told_of_once(pair: Pair) -> None:
    pair.begin("receive samples 3 60000")
    pair.control.type("reboot\r")
    for line in pair.control.said():
        if line == "alive":
            break
    pair.control.wait(0.1)
    for text in ("new", "life"):
        while (answer := pair.sends("samples", text)) != "done":
            assert answer in (NEW, NOT_NOW, UNCONNECTED)
    assert pair.kept() == ["ECONNRESET", "0 3 new", "1 4 life"]


@on(PCS)
def test_what_the_module_has_nobody_else_has(pair: Pair) -> None:
    """A program that has it by /dev/mem loses it to the module: the kernel takes its mapping away."""
    pair.linux.ask("(channels receive samples 1 60000; echo status $?) > /tmp/heard & sleep 0.1")
    assert pair.linux.number(f"insmod /bin/{MODULE}; ls /dev/bulkhead | wc -l") == 7
    assert pair.kept() == ["status 135"]  # SIGBUS
    assert pair.sends("samples", "module") == "done"
    assert pair.channels("receive samples 1 1000") == ["2 6 module"]
    assert pair.linux.number("cat /sys/class/misc/bulkhead-samples/taken") == 3
    pair.linux.ask("mv /dev/bulkhead /dev/hidden")
    assert pair.channels("receive samples 1 20") == ["EBUSY"]
    pair.linux.ask("rmmod bulkhead; rm -r /dev/hidden")
    assert pair.channels("receive samples 1 20") == ["ETIMEDOUT"]


@on(PCS)
def test_who_is_gone_is_said_to_be(pair: Pair) -> None:
    assert pair.sends("samples", "last") == "done"
    pair.control.type("park\r")
    for _ in pair.linux.session.events(SECONDS):
        if pair.linux.session.watches["control"].settled:
            break
    assert pair.channels("receive samples 2 1000") == ["3 4 last", "EPIPE"]
    assert pair.channels("send commands anybody 1000") == ["EPIPE"]
