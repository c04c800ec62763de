# SPDX-License-Identifier: Apache-2.0
"""The machine of a campaign: two hostile sandboxes between two sentinels, and what the hostile ones are to try."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from bhtool.attack.queue import pack_queue, with_queue
from bhtool.attack.request import Request
from bhtool.attack.surroundings import Surroundings
from bhtool.config.board import read_board
from bhtool.config.dma import is_dma_free
from bhtool.config.plan import Plan
from bhtool.config.private import read_private
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.image.build import PROBE
from bhtool.image.payloads import Report
from bhtool.image.stages import make_image, make_plan
from bhtool.platforms import Platform
from bhtool.text import all_of

TEMPLATE = Path(__file__).with_name("campaign.dts.j2")
SENTINELS = ("watch0", "watch1")
QUIET = "first=ticks=3000"  # ten thousandths of a second, once: how the sentinels stand before anybody attacks is seen meanwhile


# A hostile sandbox that was ended by an attempt goes on with the next in another life.
HEALTH = 'health { on-fault = "restart"; max-restarts = <100000>; then = "park"; };'


@dataclass(frozen=True)
class Cast:
    """Who attacks, each with so many of the cores that the sentinels leave."""

    hostiles: tuple[str, ...]
    cores: int


CASTS = {1: Cast(("hostile0", "hostile1"), 1), 2: Cast(("hostile0",), 2)}  # by the cores that an attempt takes
FIRST_CORE, LAST_CORE = 0, 3  # the sentinels'


@dataclass(frozen=True)
class Actor:
    name: str
    cores: Sequence[int]
    arguments: str
    image: str = Path(PROBE).name
    properties: str = ""
    device: str = ""


@dataclass(frozen=True)
class Stage:
    platform: Platform
    cast: Cast
    plan: Plan
    image: bytes = field(repr=False)

    def all_surroundings(self) -> list[Surroundings]:
        plans = {one.name: one for one in self.plan.sandboxes}
        return [Surroundings(self.platform, self.plan, plans[name]) for name in self.cast.hostiles]


@dataclass(frozen=True)
class Orders:
    """What one hostile sandbox is handed: all its requests, and the one to begin with."""

    requests: Sequence[Request] = ()
    first: int = 0
    room: int = 0  # requests for which the payload has room: of one size on all machines of a campaign, so that all start alike


def grantable(platform: Platform) -> list[str]:
    """Role labels of what the board tree would have granted to somebody."""
    kept = read_private(platform.board_name).registers
    return [
        one.name
        for one in read_board(platform).devices
        if one.name and is_dma_free(one) and (one.function or not any(span.overlaps(held) for span in one.registers for held in kept))
    ]


def require_devices(platform: Platform) -> None:
    """Raises BulkheadError where nobody has said which devices hostile sandboxes get, and there are some: less would be attacked than could be."""
    if platform.campaign.devices is None and (found := grantable(platform)):
        raise BulkheadError(
            f"{platform.name} does not say which devices its hostile sandboxes get: write `devices` below `[campaign]` in "
            f"platforms/{platform.name}/platform.toml, two that have no wire to the host, or [] for none; {all_of(found)}"
        )


def actors(cast: Cast, platform: Platform, queue_at: int, unprotected: Sequence[str]) -> list[Actor]:
    if cast.cores > 1 and FAMILIES[platform.arch].interrupts.start_by_ipi:  # whose monitors could not start them: BH-R092
        unprotected = [one for one in unprotected if one != "ipi"]
    off = ", ".join(f'"{one}"' for one in unprotected)
    properties = f"unprotected = {off}; {HEALTH}" if off else HEALTH
    arguments = f"{QUIET} campaign={queue_at:#x}"
    hostile = [
        Actor(name, range(first, first + cast.cores), arguments, f"{name}.elf", properties, device)
        for name, first, device in zip(
            cast.hostiles, range(FIRST_CORE + 1, LAST_CORE, cast.cores), (*(platform.campaign.devices or ()), "", ""), strict=False
        )
    ]
    return [
        Actor(SENTINELS[0], (FIRST_CORE,), "sentinel"),
        *hostile,
        Actor(SENTINELS[1], (LAST_CORE,), "sentinel", device=platform.campaign.watched),
    ]


def set_up(
    platform: Platform,
    folder: Path,
    cast: Cast,
    orders: Sequence[Orders],
    identity: int,
    report: Report,
    unprotected: Sequence[str] = (),
) -> Stage:
    """Compiled with these orders, one for each hostile sandbox."""
    require_devices(platform)
    campaign = FAMILIES[platform.arch].campaign
    queue_at = read_board(platform).guest_ram + campaign.queue_offset
    probe = (platform.build / PROBE).read_bytes()
    for name, one in zip(cast.hostiles, orders, strict=True):
        (folder / f"{name}.elf").write_bytes(with_queue(probe, pack_queue(one.requests, one.first, identity, one.room), queue_at))
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    file = folder / "campaign.dts"
    file.write_text(
        template.render(sandboxes=actors(cast, platform, queue_at, unprotected), ram_mib=campaign.ram_mib),
        encoding="utf-8",
    )
    plan = make_plan(platform, file, report)
    return Stage(platform, cast, plan, make_image(platform, plan))
