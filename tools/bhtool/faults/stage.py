# SPDX-License-Identifier: Apache-2.0
"""The machine that faults are put into: a victim, one who may kick it, and on the cores around them two who keep watch.

Everybody but the kicker checks all of its own memory without a pause (tests/guests/probe/sentinel.c). The victim also calls its monitor once a
millisecond, and is kicked as often, which makes its monitor look at its heartbeat. It is restarted twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import jinja2

from bhtool.attack.stage import SENTINELS
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.families.table import FAMILIES
from bhtool.faults.fault import Moment
from bhtool.image.payloads import Report
from bhtool.image.stages import make_image, make_plan
from bhtool.oracle.policy import Partitioning, places_of, read_partitioning
from bhtool.platforms import Platform

TEMPLATE = Path(__file__).with_name("faults.dts.j2")
VICTIM, KICKER = "victim", "kicker"
HEARTBEAT_TIMEOUT_US = 20000
PASSES = 5  # of those who keep watch over all of their memory: the first before any moment, two whole ones after
WATCH = f"sentinel=0,{PASSES} restarted"
KICKS_A_MIB = 40  # about as many milliseconds as a pass takes for each MiB, and a little more
KICKS = "watch=1,{period:04},{kicks:04} life watch=1,1000,1000000"  # always of one length: an image is made once


@dataclass(frozen=True)
class Actor:
    name: str
    core: int
    arguments: str
    properties: str = ""


ACTORS = (
    Actor(SENTINELS[0], 0, WATCH),
    Actor(
        VICTIM,
        1,
        "sentinel=1",
        f'health {{ on-fault = "restart"; max-restarts = <2>; then = "park"; heartbeat-timeout-us = <{HEARTBEAT_TIMEOUT_US}>; }};',
    ),
    Actor(KICKER, 2, KICKS.format(period=0, kicks=0), f"may-kick = <&{VICTIM}>;"),
    Actor(SENTINELS[1], 3, WATCH),
)
CORES = {one.name: one.core for one in ACTORS}


@dataclass(frozen=True)
class Stage:
    platform: Platform
    plan: Plan
    image: bytes = field(repr=False)
    file: Path

    @property
    def first_kicks(self) -> int:
        """Until the first moment."""
        return FAMILIES[self.platform.arch].campaign.ram_mib * KICKS_A_MIB

    def image_for(self, moment: Moment) -> bytes:
        """With the kicker's commands for this moment."""
        blank = KICKS.format(period=0, kicks=0).encode()
        assert self.image.count(blank) == 1
        return self.image.replace(blank, KICKS.format(period=moment.period_us, kicks=moment.kicks).encode())

    @cached_property
    def victim(self) -> SandboxPlan:
        return next(one for one in self.plan.sandboxes if one.name == VICTIM)

    @cached_property
    def partitioning(self) -> Partitioning:
        """What the oracle judges by."""
        return read_partitioning(self.file, self.platform, places_of(self.plan))


def set_up(platform: Platform, folder: Path, report: Report) -> Stage:
    """The platform must have been built. The file stays in the folder."""
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    file = folder / "faults.dts"
    file.write_text(template.render(sandboxes=ACTORS, ram_mib=FAMILIES[platform.arch].campaign.ram_mib), encoding="utf-8")
    plan = make_plan(platform, file, report)
    return Stage(platform, plan, make_image(platform, plan), file)
