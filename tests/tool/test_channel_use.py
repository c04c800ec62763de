# SPDX-License-Identifier: Apache-2.0
"""BH-F6.messages. What `run` tells of channels: counters of the connection that both ends take part in, and of no other."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest
from bhtool import abi
from bhtool.config.plan import ChannelDelay, ChannelKind, ChannelPlan, Plan
from bhtool.errors import Status
from bhtool.machine.memory import Memory
from bhtool.platforms import Platform
from bhtool.report.channels import channel_table, channel_use, channels_json
from rich.console import Console

from tests.tool.conftest import Inside

PAGE = 4096


class Ram:
    """A machine's, with one channel in it."""

    def __init__(self, platform: Platform, plan: Plan, kind: ChannelKind) -> None:
        self.descriptor = os.memfd_create("ram")
        os.ftruncate(self.descriptor, platform.ram_size)
        self._base = platform.ram_base
        delay = ChannelDelay(0, 0, None, None, ())
        self.channel = ChannelPlan("speed", kind, (1, 0), 4, 64, (2 * PAGE, PAGE), platform.ram_base + 16 * PAGE, delay)
        self.plan = dataclasses.replace(plan, channels=[self.channel])
        self.memory = Memory(platform, self.descriptor)
        self.page = abi.new("bh_channel")
        self.page.magic = abi.lib.BH_CHANNEL_MAGIC
        self.controls = [abi.new("bh_channel_control") for _ in range(2)]
        for side, (epoch, state) in enumerate([(3, abi.lib.BH_CHANNEL_LIVES), (7, abi.lib.BH_CHANNEL_LIVES)]):
            self.page.end[side].epoch, self.page.end[side].state = epoch, state
            self.controls[side].epoch, self.controls[side].peer = epoch, 10 - epoch
            self.controls[side].sent, self.controls[side].taken = 1000 + side, 2000 + side

    def write(self) -> None:
        for hpa, what in zip(
            (self.channel.hpa, self.channel.page, self.channel.page + PAGE), (self.controls[0], self.page, self.controls[1]), strict=True
        ):
            os.pwrite(self.descriptor, abi.bytes_of(what), hpa - self._base)

    def told(self) -> dict[str, Any]:
        self.write()
        (one,) = channels_json(channel_use(self.memory, self.plan))
        return one

    def shown(self) -> str:
        self.write()
        console = Console(width=200)
        with console.capture() as text:
            console.print(channel_table(channel_use(self.memory, self.plan)))
        return text.get()


@pytest.mark.parametrize(
    ("kind", "counters"),
    [("ring", (1000, None, None, 2001)), ("latest", (1000, None, None, None)), ("mailbox", (1000, 2000, 1001, 2001))],
)
def test_each_end_says_what_it_counts(platform: Platform, plan: Plan, kind: ChannelKind, counters: tuple[int | None, ...]) -> None:
    told = Ram(platform, plan, kind).told()
    assert tuple(told[side][what] for side in ("from", "to") for what in ("sent", "taken")) == counters
    assert [told[side]["sandbox"] for side in ("from", "to")] == ["crashed", "beating"]
    assert [told[side]["epoch"] for side in ("from", "to")] == [3, 7]


def test_the_table_has_a_row_for_each(platform: Platform, plan: Plan) -> None:
    ram = Ram(platform, plan, "mailbox")
    row = next(line for line in ram.shown().splitlines() if line.startswith("speed"))
    assert row.split() == ["speed", "mailbox", "crashed", "3", "1,000", "beating", "7", "2,001", "1,001"]
    ram.page.end[1].state = abi.lib.BH_CHANNEL_GONE
    assert "(gone)" in ram.shown()


@pytest.mark.parametrize("word", ["epoch", "peer"])
@pytest.mark.parametrize("value", [0, 2, 0xFFFFFFFF])
def test_who_takes_part_in_another_connection_has_counted_nothing_of_this(platform: Platform, plan: Plan, word: str, value: int) -> None:
    ram = Ram(platform, plan, "ring")
    setattr(ram.controls[0], word, value)
    told = ram.told()
    assert (told["from"]["sent"], told["to"]["taken"]) == (None, 2001)


def test_without_an_epoch_there_is_no_connection(platform: Platform, plan: Plan) -> None:
    """Zeros of an end that has never begun are none that it takes part in."""
    ram = Ram(platform, plan, "ring")
    ram.page.end[1].epoch = ram.controls[0].peer = ram.controls[1].epoch = 0
    ram.page.end[1].state = 99
    told = ram.told()
    assert (told["from"]["sent"], told["to"]["taken"], told["to"]["state"]) == (None, None, "unknown")


def test_a_page_that_is_not_made_is_nothing(platform: Platform, plan: Plan) -> None:
    ram = Ram(platform, plan, "ring")
    assert channel_use(ram.memory, ram.plan) == []


@pytest.mark.slow
def test_a_run_ends_with_its_channels(inside: Inside, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, result = tmp_path / "pair.dts", tmp_path / "run.json"
    native = Path(__file__).parents[2] / "dts" / "partitions" / "native.dts"
    file.write_text(
        f"{native.read_text()}\n"
        '/ { domains { samples { compatible = "bulkhead,channel-v1"; from = <&south>; to = <&west>; kind = "ring"; slot-bytes = <64>; }; }; };\n'
        '&south { samples { program = "source"; budget-us = <200>; period-us = <1000>; }; };\n'
        '&west { samples { program = "sink"; budget-us = <200>; period-us = <1000>; }; };\n'
    )
    assert inside("run", "--partition", str(file), "--seconds", "1", "--json", str(result)) == Status.GOOD
    (one,) = json.loads(result.read_text())["channels"]
    assert one.keys() == {"name", "kind", "from", "to"}
    assert all(one[side].keys() == {"sandbox", "state", "epoch", "sent", "taken"} for side in ("from", "to"))
    assert 100 < one["from"]["sent"] <= 1100
    assert one["from"]["sent"] - one["to"]["taken"] in range(17)
    row = next(line for line in capfd.readouterr().out.splitlines() if line.startswith("samples "))
    assert row.split()[:4] == ["samples", "ring", "south", "1"]
