# SPDX-License-Identifier: Apache-2.0
"""Two native sandboxes with channels of every kind between them, which run the probe, each at its end."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import jinja2

from bhtool.bench.stage import COUNTED, Stage, refuse_end, set_up
from bhtool.image.payloads import Report
from bhtool.machine.session import LineEvent
from bhtool.platforms import Platform

TEMPLATE = Path(__file__).with_name("channel.dts.j2")
NEAR, FAR = "near", "far"


class Channel(NamedTuple):
    name: str
    sender: str
    receiver: str
    kind: str
    slot_bytes: int
    slots: int = 0
    rings_hz: int = 0  # of its sender


CHANNELS = (  # as the probe knows them: tests/guests/probe/channels.c, exchange.c
    Channel("ring", NEAR, FAR, "ring", 64, 64),
    Channel("back", FAR, NEAR, "ring", 64, 64),
    Channel("pages", NEAR, FAR, "ring", 4096, 64),
    Channel("pages-back", FAR, NEAR, "ring", 4096, 64),
    Channel("mail", NEAR, FAR, "mailbox", 64),
    Channel("value", NEAR, FAR, "latest", 64),
)
RINGS_HZ = 10_000
DOORBELLS = (  # tests/guests/probe/bells.c
    Channel("to-handler", NEAR, FAR, "ring", 64, 64, RINGS_HZ),
    Channel("to-thread", NEAR, FAR, "ring", 64, 64, RINGS_HZ),
)


def written(near: str, far: str, channels: Sequence[Channel]) -> str:
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    text: str = template.render(near=near, far=far, channels=channels)
    return text


def stage_of(platform: Platform, near: str, far: str, report: Report, channels: Sequence[Channel] = CHANNELS) -> Stage:
    """With these boot arguments."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "channel.dts"
        file.write_text(written(near, far, channels), encoding="utf-8")
        return set_up(platform, file, report)


def lines_of(stage: Stage, limit: float, exits: dict[str, int] | None = None) -> Iterator[str]:
    """What both say within so many host seconds. `exits`: of each since it was ready, once nobody asks for more."""
    with stage.session(COUNTED) as session:
        try:
            for event in session.events(limit):
                if event is not None:
                    refuse_end(session, event)
                if isinstance(event, LineEvent) and event.sandbox in (NEAR, FAR):
                    yield event.text
        finally:
            session.poll()
            for name in (NEAR, FAR):
                if exits is not None:
                    exits[name] = sum(sum(core.values()) for core in session.watches[name].core_exits_steady())
