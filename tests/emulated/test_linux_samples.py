# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux, BH-F6.messages, BH-F6.telemetry. dts/partitions/channels.dts: a sample a millisecond comes from the sensor through control to a program in
Linux, each once; and bulkhead-top shows there what both are doing. One machine a platform serves both tests."""

import re
from collections.abc import Iterator

import pytest
from bhtool import paths
from bhtool.machine.dialogue import Dialogue

from tests.emulated.boot_arguments import lean
from tests.emulated.case import GICV3, SVM
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import compiled, platform_or_skip, scene_of
from tests.emulated.test_linux_channels import ARMV7

SECONDS, LEAST = 5, 2000  # the host's time is not the machine's, so fewer come than one a millisecond
LIMIT = 180.0
FAULTS = ("lost", "doubled", "damaged", "wrong")
VCPUS = {"sensor": {"main": "-", "samples": "source"}, "control": {"main": "-", "samples": "relay", "speed": "source"}}
SENT = {("sensor", "samples"): 1000, ("control", "samples-on"): 1000, ("control", "speed"): 100}  # a second of the machine's time
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
    with linux_shell(machine, scene_of(machine, compiled(machine, file))) as linux:
        yield linux


def test_each_sample_reaches_linux_once(linux: Dialogue) -> None:
    assert linux.ask("bulkhead-console | sort") == ["control", "sensor"]
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
    print("\n".join(said))
    linux.ask("kill %1; wait")
    assert said[-1] == "status 0", said
    first, second = screens(said[:-1])
    assert [*first] == [*second] == ["control", "sensor"]
    for name, vcpus in VCPUS.items():
        before, after = first[name], second[name]
        assert after[0][1:3] == ["life", "0,"]
        assert float(after[0][after[0].index("data") + 1]) < 1
        assert int(after[1][1]) > int(before[1][1]) > 0, "beats rise"
        rows = {row[0]: row for row in after[3 : 3 + len(vcpus)]}
        assert {row: words[1] for row, words in rows.items()} == vcpus
        sent = {row[0]: row[3] for row in after[4 + len(vcpus) :]}
        for channel, count in ((channel, count) for (who, channel), count in SENT.items() if who == name):
            assert 0.7 * count <= int(sent[channel]) <= 1.1 * count, after
