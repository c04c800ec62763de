# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux, BH-F6.messages, BH-F6.telemetry. dts/partitions/channels.dts: a sample a millisecond comes from the sensor through control to a program in
Linux, each once; and bulkhead-top shows there what both are doing. One machine a platform serves both tests."""

import re
import time
from collections.abc import Iterator

import pytest
from bhtool import paths
from bhtool.machine.dialogue import Dialogue
from bhtool.machine.emulated import timing_for
from bhtool.machine.session import LineEvent

from tests.emulated.boot_arguments import lean
from tests.emulated.case import GICV3, SVM
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import compiled, platform_or_skip, scene_of
from tests.emulated.test_linux_channels import ARMV7

SECONDS, LEAST = 5, 2000  # the host's time is not the machine's, so fewer come than one a millisecond
LIMIT = 180.0
FAULTS = ("lost", "doubled", "damaged", "wrong")
VCPUS = {"sensor": {"main": "-", "samples": "source"}, "control": {"main": "-", "samples": "relay", "speed": "source"}}
SENT = {("sensor", "samples"): 1000, ("control", "samples-on"): 1000}  # a second of the machine's time,
SLOWEST = 0.3  # and what is left of them where the host stops the machine
pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize(
        "platform",
        [
            pytest.param(name, marks=[pytest.mark.platform(name), pytest.mark.xdist_group(f"linux-samples-{name}"), *marks])
            for name, marks in ((GICV3, ()), (ARMV7, [pytest.mark.long]), (SVM, [pytest.mark.long]))
        ],
        scope="module",
    ),
]


@pytest.fixture(scope="module")
def linux(platform: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dialogue]:
    machine = platform_or_skip(platform)
    text = (paths.PARTITIONS / "channels.dts").read_text()
    assert text.count('bootargs = "quiet";') == 1
    text = text.replace('bootargs = "quiet";', f'bootargs = "{lean(platform)}";')
    file = tmp_path_factory.mktemp("samples") / "channels.dts"
    file.write_text(text)
    scene = scene_of(machine, compiled(machine, file))
    with linux_shell(machine, scene, timing=timing_for(machine, scene.plan)) as linux:  # a busy host does not stop some of its cores
        yield linux


def test_each_sample_reaches_linux_once(linux: Dialogue) -> None:
    assert linux.ask("bulkhead-console | sort") == ["control", "sensor"]
    for words in ("--help", "/dev/bulkhead/samples-on 1", "samples-on soon", "samples-on ''"):
        assert linux.ask(f"bulkhead-sink {words} 2> /dev/null; echo $?") == ["2"], words
    linux.ask("bulkhead-sink samples-on 1")  # what came before somebody took it is over
    said = linux.ask(f"bulkhead-sink samples-on {SECONDS}; echo status $?", LIMIT)
    counts = {name: int(count) for name, count in re.findall(r"(\w+) (\d+)", said[-2])}
    assert said[-1] == "status 0", said
    assert counts["taken"] > LEAST, said
    assert {name: counts[name] for name in FAULTS} == dict.fromkeys(FAULTS, 0), said


def screens(lines: list[str]) -> list[dict[str, list[list[str]]]]:
    """Of each the words of every line, by sandbox."""
    found: list[dict[str, list[list[str]]]] = []
    for line in lines:
        words = line.split()
        if words[:1] == ["bulkhead-top"]:
            found.append({})
        elif words and not line.startswith(" "):
            found[-1][words[0].rstrip(":")] = [words]
        elif words:
            found[-1][[*found[-1]][-1]].append(words)
    return found


def test_top_shows_what_both_do(linux: Dialogue) -> None:
    linux.ask("bulkhead-sink samples-on 60 > /dev/null & sleep 1")
    said = linux.ask("bulkhead-top -b -n 2; echo status $?", LIMIT)
    linux.ask("kill %1; wait")
    assert said[-1] == "status 0", said
    first, second = screens(said[:-1])
    assert [*first] == [*second] == ["control", "sensor"]
    for name, vcpus in VCPUS.items():
        before, after = first[name], second[name]
        assert after[0][1:3] == ["life", "0,"]
        assert float(after[0][after[0].index("data") + 1]) < 5, after  # ten come in a second, unless the host stops a core
        assert int(after[1][1]) > int(before[1][1]) > 0, (before, after)
        rows = {row[0]: row for row in after[3 : 3 + len(vcpus)]}
        assert {row: words[1] for row, words in rows.items()} == vcpus
        sent = {row[0]: row[3] for row in after[4 + len(vcpus) :]}
        for channel, count in ((channel, count) for (who, channel), count in SENT.items() if who == name):
            assert SLOWEST * count <= int(sent[channel]) <= 1.1 * count, after


def types(linux: Dialogue, text: bytes, shows: str) -> None:
    """And waits for a line that begins so."""
    linux.session.watches["linux"].console.write(text)
    deadline = time.monotonic() + LIMIT
    while not any(isinstance(event, LineEvent) and event.text.startswith(shows) for event in linux.session.poll()):
        assert time.monotonic() < deadline
        linux.session.rest()


def test_top_leaves_the_terminal_as_it_was(linux: Dialogue) -> None:
    before = linux.ask("stty -g")[-1]
    said = linux.ask("stty rows 6 cols 40; bulkhead-top -n 2; echo status $?; stty rows 0 cols 1000", LIMIT)
    assert "status 0" in said, said
    lines = "\n".join(said).replace(" more)", " more)\n").splitlines()  # the next screen begins on the last line of the one before
    first, second = (n for n, line in enumerate(lines) if re.fullmatch(r"\(\d+ more\)", line))
    assert second - first == 6, lines
    assert max(map(len, lines[first:second])) == 40, lines
    for key in (b"q", b"\x03"):
        types(linux, b"bulkhead-top; echo over\n", "bulkhead-top ")
        types(linux, key, "over")
        assert linux.ask("stty -g")[-1] == before
    assert linux.ask("bulkhead-top < /dev/null 2>&1; echo $?")[-1] == "2"
    assert linux.ask("bulkhead-top -n 0 2>&1; echo $?")[-1] == "2"
