# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux, BH-F6.messages. dts/partitions/channels.dts: a sample a millisecond comes from the sensor through control to a program in Linux, each once."""

import re
from pathlib import Path

import pytest
from bhtool import paths

from tests.emulated.boot_arguments import lean
from tests.emulated.case import GICV3, SVM
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import compiled, platform_or_skip, scene_of
from tests.emulated.test_linux_channels import ARMV7

SECONDS, LEAST = 5, 2000  # the host's time is not the machine's, so fewer come than one a millisecond
LIMIT = 180.0
FAULTS = ("lost", "doubled", "damaged", "wrong")


@pytest.mark.slow
@pytest.mark.parametrize(
    "platform",
    [
        pytest.param(name, marks=[pytest.mark.platform(name), pytest.mark.xdist_group(f"linux-samples-{name}"), *marks])
        for name, marks in ((GICV3, ()), (ARMV7, [pytest.mark.long]), (SVM, [pytest.mark.long]))
    ],
)
def test_each_sample_reaches_linux_once(platform: str, tmp_path: Path) -> None:
    machine = platform_or_skip(platform)
    text = (paths.PARTITIONS / "channels.dts").read_text()
    assert text.count('bootargs = "quiet";') == 1
    text = text.replace('bootargs = "quiet";', f'bootargs = "{lean(platform)}";')
    file = tmp_path / "channels.dts"
    file.write_text(text)
    with linux_shell(machine, scene_of(machine, compiled(machine, file))) as linux:
        assert linux.ask("bulkhead-console | sort") == ["control", "sensor"]
        linux.ask("bulkhead-sink samples-on 1")  # what came before somebody took it is over
        said = linux.ask(f"bulkhead-sink samples-on {SECONDS}; echo status $?", LIMIT)
    counts = {name: int(count) for name, count in re.findall(r"(\w+) (\d+)", said[-2])}
    assert said[-1] == "status 0", said
    assert counts["taken"] > LEAST, said
    assert {name: counts[name] for name in FAULTS} == dict.fromkeys(FAULTS, 0), said
