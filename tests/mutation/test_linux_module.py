# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux. Each protection of Linux's module is needed: with a mistake in it, a program sees what it must not.

One Linux loads one module after the other, beside a sandbox kernel that sends.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.config.rootfs.modules import index_of
from bhtool.image import linux_module, payloads
from bhtool.machine.dialogue import Dialogue
from bhtool.platforms import Platform

from tests.emulated.case import GICV3
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import compiled, platform_or_skip, scene_of
from tests.emulated.shell import Shell
from tests.emulated.test_linux_channels import SECONDS, partition, programs_of, who_is_rung
from tests.mutation.rows_linux_module import FIRST, LATER, MODULE_ROWS, PLACE, RUNG, SMALL, TWICE, ModuleMutation

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.xdist_group("linux-module-mutations")]
MESSAGE = "message"
NEEDS_MESSAGE = (SMALL, PLACE, FIRST)


@dataclass
class Pair:
    linux: Dialogue
    control: Shell

    def load(self, module: str) -> None:
        self.linux.ask(f"rmmod bulkhead; insmod {module}", SECONDS)
        assert self.linux.number("ls /dev/bulkhead | wc -l") == 7

    def said(self, words: str) -> list[str]:
        """With a message in the ring that is the next, or on its way to it."""
        if words == RUNG:
            return who_is_rung(self.linux, self.control)
        self.linux.ask(": < /dev/bulkhead/samples")
        for _ in range(3):
            self.control.ask("receive=samples")  # takes part
        if words in NEEDS_MESSAGE:
            assert self.control.ask(f"send=samples,{MESSAGE}")[-1].endswith("done")
        if words == LATER:
            self.linux.ask(f"{words} > /tmp/heard & sleep 0.2")
            self.control.ask(f"send=samples,{MESSAGE}")
            lines = self.linux.ask("wait; cat /tmp/heard; echo", SECONDS)
        else:
            lines = self.linux.ask(f"channels {words}", SECONDS)
        self.linux.ask("channels receive samples 4 50")  # nothing is left for the next
        return lines


def modules_of(platform: Platform, rows: Sequence[ModuleMutation], folder: Path) -> dict[str, bytes]:
    """By file names: the good one is number 0, and each row's has the number after its own."""
    version = index_of(payloads.modules(platform, lambda _: None)).version
    apt, found = payloads.debian_apt(), {}
    with apt.locked():
        apt.prepare()
        for number, row in enumerate((None, *rows)):
            sources = linux_module.source_files() | ({Path(row.file).name: row.text().encode()} if row else {})
            target = folder / f"module-{number}.ko"
            linux_module.build(apt, platform.debian_architecture, version, sources, target, lambda _: None)
            found[target.name] = target.read_bytes()
    return found


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    platform, folder = platform_or_skip(GICV3), tmp_path_factory.mktemp("mutants")
    programs = programs_of(platform) | modules_of(platform, MODULE_ROWS, folder)
    file = partition(folder, platform, programs)
    with linux_shell(platform, scene_of(platform, compiled(platform, file))) as linux:
        yield Pair(linux, Shell(linux.session, "control"))


def holds(row: ModuleMutation, lines: list[str]) -> bool:
    return any(re.search(rf"(^| ){row.good}$", line) for line in lines)


@pytest.mark.parametrize("row", MODULE_ROWS, ids=lambda row: row.what)
def test_a_mistake_is_seen(pair: Pair, row: ModuleMutation) -> None:
    pair.load("/bin/module-0.ko")
    good = pair.said(row.caught_by)
    pair.load(f"/bin/module-{MODULE_ROWS.index(row) + 1}.ko")
    wrong = pair.said(row.caught_by)
    if row.caught_by == TWICE:  # both lines count
        assert good == ["EBUSY", "OK"] != wrong
        return
    assert holds(row, good), good
    assert not holds(row, wrong), wrong
