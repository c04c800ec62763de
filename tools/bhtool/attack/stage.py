# SPDX-License-Identifier: Apache-2.0
"""The machine of a campaign: two hostile sandboxes between two sentinels, and what the hostile ones are to try."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from bhtool.attack.ground import Ground
from bhtool.attack.queue import pack_queue, with_queue
from bhtool.attack.request import Request
from bhtool.compile import make_image, make_plan
from bhtool.config.plan import Plan
from bhtool.payloads import Report
from bhtool.platforms import Platform

KERNEL = "sandbox-kernel.elf"
TEMPLATE = Path(__file__).with_name("campaign.dts.j2")
SENTINELS, HOSTILES = ("watch0", "watch1"), ("hostile0", "hostile1")
GUEST_RAM = {"aarch64": 0x40000000, "armv7": 0x40000000, "x86_64": 0}
RAM_MIB = {"aarch64": 2, "armv7": 2, "x86_64": 4}  # as little as holds kernel and queue: it is scrubbed at every restart
QUEUE_OFFSET = {"aarch64": 1 << 20, "armv7": 1 << 20, "x86_64": 3 << 20}  # in RAM: above the kernel
QUIET = "first=ticks=3000"  # ten thousandths of a second, once: how the sentinels stand before anybody attacks is seen meanwhile


# A hostile sandbox that was ended by an attempt goes on with the next in another life.
HEALTH = 'health { on-fault = "restart"; max-restarts = <100000>; then = "park"; };'


@dataclass(frozen=True)
class Actor:
    name: str
    core: int
    arguments: str
    image: str = KERNEL
    properties: str = ""


@dataclass(frozen=True)
class Stage:
    platform: Platform
    plan: Plan
    image: bytes = field(repr=False)

    def grounds(self) -> list[Ground]:
        plans = {one.name: one for one in self.plan.sandboxes}
        return [Ground(self.platform, self.plan, plans[name]) for name in HOSTILES]


@dataclass(frozen=True)
class Orders:
    """What one hostile sandbox is handed: all its requests, and the one to begin with."""

    requests: Sequence[Request] = ()
    first: int = 0
    room: int = 0  # requests for which the payload has room: of one size on all machines of a campaign, so that all start alike


def actors(queue_at: int, unprotected: Sequence[str]) -> list[Actor]:
    off = ", ".join(f'"{one}"' for one in unprotected)
    properties = f"unprotected = {off}; {HEALTH}" if off else HEALTH
    hostile = [
        Actor(name, core, f"{QUIET} campaign={queue_at:#x}", f"{name}.elf", properties) for name, core in zip(HOSTILES, (1, 2), strict=True)
    ]
    return [Actor(SENTINELS[0], 0, "sentinel"), *hostile, Actor(SENTINELS[1], 3, "sentinel")]


def set_up(
    platform: Platform, folder: Path, orders: Sequence[Orders], identity: int, report: Report, unprotected: Sequence[str] = ()
) -> Stage:
    """Compiled with these orders, one for each hostile sandbox."""
    queue_at = GUEST_RAM[platform.arch] + QUEUE_OFFSET[platform.arch]
    kernel = (platform.build / "kernel" / KERNEL).read_bytes()
    for name, one in zip(HOSTILES, orders, strict=True):
        (folder / f"{name}.elf").write_bytes(with_queue(kernel, pack_queue(one.requests, one.first, identity, one.room), queue_at))
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    file = folder / "campaign.dts"
    file.write_text(template.render(sandboxes=actors(queue_at, unprotected), ram_mib=RAM_MIB[platform.arch]), encoding="utf-8")
    plan = make_plan(platform, file, report)
    return Stage(platform, plan, make_image(platform, plan))
