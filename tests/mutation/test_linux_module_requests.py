# SPDX-License-Identifier: Apache-2.0
"""BH-F6.request. Each step of Linux's module that opens a channel on request and closes it is needed: with a mistake in it, Linux touches what is not there,
or does not hear of what is.

One machine loads one module after the other. Where a mistake ends the life of Linux, the next one goes on.
"""

from collections.abc import Iterator

import pytest
from bhtool.image.payloads import READY_LINE
from bhtool.machine.dialogue import Dialogue
from bhtool.machine.session import LineEvent

from tests.emulated.case import GICV3
from tests.emulated.linux_shell import BOOT_SECONDS, linux_shell
from tests.emulated.scene import compiled, platform_or_skip, scene_of
from tests.emulated.test_linux_channels import programs_of
from tests.emulated.test_linux_requests import partition, start_of
from tests.mutation.rows_linux_module import ENDS, REFUSED, REQUEST_ROWS, ModuleMutation
from tests.mutation.test_linux_module import modules_of

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.xdist_group("linux-module-requests")]
BEGINS_ANEW = "oops=panic panic=-1"  # at once: a fault of Linux alone ends its life, too


@pytest.fixture(scope="module")
def linux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dialogue]:
    platform, folder = platform_or_skip(GICV3), tmp_path_factory.mktemp("mutants")
    file = partition(folder, platform, programs_of(platform) | modules_of(platform, REQUEST_ROWS, folder))
    text = file.read_text().replace("max-restarts = <3>", "max-restarts = <100>")
    file.write_text(text.replace("iomem=relaxed", f"iomem=relaxed {BEGINS_ANEW}"))
    with linux_shell(platform, scene_of(platform, compiled(platform, file))) as linux:
        linux.session.watches["control"].console.write(b"open=aside\r")
        yield linux


def said(linux: Dialogue, number: int, command: str) -> list[str]:
    """With that module; ENDS is the last line if this life has ended, and then the next one is up."""
    linux.asked += 1
    end, words = f"end-{linux.asked}", command.format(aside=hex(start_of(linux, "aside")))
    linux.session.watches["linux"].console.write(
        f"stty cols 1000; rmmod bulkhead; insmod /bin/module-{number}.ko; {words}; echo end-$(({linux.asked}))\n".encode()
    )
    lines: list[str] = []
    for event in linux.session.events(BOOT_SECONDS):
        if not isinstance(event, LineEvent) or event.sandbox != "linux":
            continue
        if event.text == end:
            return lines
        if READY_LINE in event.text:
            return [*lines, ENDS]
        lines.append(event.text)
    raise AssertionError(lines)


@pytest.mark.parametrize("row", REQUEST_ROWS, ids=lambda row: row.what)
def test_a_mistake_is_seen(linux: Dialogue, row: ModuleMutation) -> None:
    good = said(linux, 0, row.caught_by)
    assert row.good in good, good
    wrong = said(linux, REQUEST_ROWS.index(row) + 1, row.caught_by)
    assert row.good not in wrong, wrong


def test_what_the_monitor_refuses_is_not_touched(linux: Dialogue) -> None:
    """Of a channel that the sandbox has not: a program is told, and Linux goes on."""
    lines = said(linux, REQUEST_ROWS.index(REFUSED) + 1, "channels receive aside 1 20; cat /sys/class/misc/bulkhead-aside/epoch")
    assert lines[-2:] == ["EACCES", "0"]
