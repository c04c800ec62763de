# SPDX-License-Identifier: Apache-2.0
"""The machine of a campaign: two hostile sandboxes between two sentinels, and what the hostile ones are to try."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import jinja2

from bhtool.attack.queue import NOWHERE, pack_queue, with_queue
from bhtool.attack.request import MASK, Request
from bhtool.attack.surroundings import Surroundings
from bhtool.config.board import read_board
from bhtool.config.channels import LATEST, MAILBOX, RING
from bhtool.config.dma import is_dma_free
from bhtool.config.plan import ChannelKind, Plan
from bhtool.config.private import read_private
from bhtool.config.span import PAGE, Span
from bhtool.errors import BulkheadError, Status
from bhtool.families.table import FAMILIES
from bhtool.image.build import PROBE
from bhtool.image.payloads import Report
from bhtool.image.stages import make_image, make_plan
from bhtool.machine.wiring import Network, Wiring
from bhtool.platforms import Platform
from bhtool.text import all_of

TEMPLATE = Path(__file__).with_name("campaign.dts.j2")
SENTINELS = ("watch0", "watch1")
SPARE_BYTES = 0x10000  # of the end of own RAM: what the own card may write to
QUIET = "first=ticks=3000"  # ten thousandths of a second, once: how the sentinels stand before anybody attacks is seen meanwhile


# A hostile sandbox that was ended by an attempt goes on with the next in another life.
HEALTH = 'health { on-fault = "restart"; max-restarts = <100000>; then = "park"; };'


@dataclass(frozen=True)
class Cast:
    """Who attacks, each with so many of the cores that the sentinels leave."""

    hostiles: tuple[str, ...]
    cores: int

    devices: tuple[str, ...] = ()  # of the hostile ones, one each
    has_cards: bool = False  # they master the bus
    sender: str = ""  # a neighbour of the first of them, whose card is the second: it sends frames to it without end
    ends: bool = False  # for good, with a card that is armed
    batch: int = 2000  # attempts by each hostile sandbox for which one machine is built


OPEN, RESTARTING, ENDED = 1, 2, 3  # casts of cards, by what becomes of their entries
ARMED_MOST, FEW = 200, 40  # tests/guests/probe/transfer.c
Casts = Callable[[Platform], dict[int, Cast]]


def by_cores(platform: Platform) -> dict[int, Cast]:
    """By the cores that an attempt takes."""
    devices = platform.campaign.devices or ()
    return {1: Cast(("hostile0", "hostile1"), 1, devices), 2: Cast(("hostile0",), 2, devices)}


def by_cards(platform: Platform) -> dict[int, Cast]:
    """Each has a network card."""
    cards = tuple(one.name for one in platform.nics[:2])
    armed = partial(Cast, ("hostile0",), 1, cards, has_cards=True, sender="sender")
    return {OPEN: Cast(("hostile0", "hostile1"), 1, cards, has_cards=True), RESTARTING: armed(), ENDED: armed(ends=True, batch=ARMED_MOST)}


FIRST_CORE, LAST_CORE = 0, 3  # the sentinels'
SLOT_BYTES, DOORBELL_HZ = 128, 200  # of channels: tests/guests/probe/partner.c has buffers for so much; what a sentinel can stand


@dataclass(frozen=True)
class Channel:
    """A node of the partition file."""

    name: str
    sender: str
    receiver: str
    kind: ChannelKind
    rates: str = ""  # of doorbells; sentinels ring nobody
    on_request: bool = False


def channels(cast: Cast, unprotected: Sequence[str] = ()) -> Iterator[Channel]:
    """Each hostile sandbox has one of each kind, and of each role, with a sentinel, and two that both open on request; and the sentinels have theirs.

    Without protection of memory, or from its card, it has none of these: nothing would be closed, BH-R181, and all that is open to it takes regions, too.
    """
    for name, sentinel in zip(cast.hostiles, SENTINELS, strict=False):
        for kind in (RING, MAILBOX, LATEST):
            yield Channel(f"{name}-{kind}", name, sentinel, kind, f"{DOORBELL_HZ} 0")
        yield Channel(f"{name}-reads", sentinel, name, LATEST, f"0 {DOORBELL_HZ}")
        if not {"memory", "dma"} & set(unprotected):
            yield Channel(f"{name}-asks", name, sentinel, MAILBOX, on_request=True)
            yield Channel(f"{name}-hears", sentinel, name, RING, on_request=True)
    first, second = SENTINELS
    for kind in (RING, MAILBOX, LATEST):
        yield Channel(f"watch-{kind}", first, second, kind)
    yield Channel("watch-asks", first, second, MAILBOX, on_request=True)


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
    words: dict[str, int] = field(default_factory=dict)  # of frames that network cards write, by sandbox

    @property
    def wiring(self) -> Wiring:
        cards = self.cast.devices if self.cast.sender else ()
        return Wiring({name: Network("hub") for name in cards})

    @property
    def pages_of_frames(self) -> list[int]:
        """In the machine, besides RAM of whose frames they are."""
        at = _page_of_frames(self.platform)
        return [hpa for one in self.plan.sandboxes if one.name == self.cast.sender for hpa, _ in one.in_machine(at, PAGE)]

    @property
    def rings(self) -> dict[str, int]:
        """Where hostile sandboxes that are to end have what their cards are armed with, in the machine."""
        if not self.cast.ends:
            return {}
        at = _page_of_frames(self.platform)  # the last page: transfer.c, armed_ring
        return {one.name: hpa for one in self.plan.sandboxes if one.name in self.cast.hostiles for hpa, _ in one.in_machine(at, PAGE)}

    def all_surroundings(self) -> list[Surroundings]:
        plans = {one.name: one for one in self.plan.sandboxes}
        return [Surroundings(self.platform, self.plan, plans[name]) for name in self.cast.hostiles]


@dataclass(frozen=True)
class Orders:
    """What one hostile sandbox is handed: all its requests, and the one to begin with."""

    requests: Sequence[Request] = ()
    first: int = 0
    word: int = 0  # of frames that its network card writes
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


def require_cards(platform: Platform) -> None:
    """Raises BulkheadError where no function masters the bus, or nothing translates for it."""
    if not platform.nics or not read_board(platform).iommu:
        raise BulkheadError(
            f"{platform.name} has no network card behind an IOMMU, so nothing there masters the bus; attack without --dma", Status.USAGE
        )


def _page_of_frames(platform: Platform) -> int:
    """Of a sender, in its own RAM."""
    return read_board(platform).guest_ram + (FAMILIES[platform.arch].campaign.ram_mib << 20) - PAGE


def _senders(cast: Cast, platform: Platform, word: int) -> list[Actor]:
    if not cast.sender:
        return []
    arguments = f"{QUIET} flood={~word & MASK:#x},{_page_of_frames(platform):#x}"
    return [Actor(cast.sender, (LAST_CORE - 1,), arguments, device=cast.devices[1])]


def actors(cast: Cast, platform: Platform, queue_at: int, unprotected: Sequence[str], word: int) -> list[Actor]:
    if cast.cores > 1 and FAMILIES[platform.arch].interrupts.start_by_ipi:  # whose monitors could not start them: BH-R092
        unprotected = [one for one in unprotected if one != "ipi"]
    off = ", ".join(f'"{one}"' for one in unprotected)
    properties = f"unprotected = {off}; {HEALTH}" if off else HEALTH
    arguments = f"{QUIET} campaign={queue_at:#x}"
    hostile = [
        Actor(name, range(first, first + cast.cores), arguments, f"{name}.elf", properties, device)
        for name, first, device in zip(cast.hostiles, range(FIRST_CORE + 1, LAST_CORE, cast.cores), (*cast.devices, "", ""), strict=False)
    ]
    return [
        Actor(SENTINELS[0], (FIRST_CORE,), "sentinel"),
        *hostile,
        *_senders(cast, platform, word),
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
    guest_ram = read_board(platform).guest_ram
    queue_at = guest_ram + campaign.queue_offset
    spare = Span(guest_ram + (campaign.ram_mib << 20) - SPARE_BYTES, SPARE_BYTES) if cast.has_cards else NOWHERE
    probe = (platform.build / PROBE).read_bytes()
    for name, one in zip(cast.hostiles, orders, strict=True):
        queue = pack_queue(one.requests, one.first, identity, one.room, one.word, spare)
        (folder / f"{name}.elf").write_bytes(with_queue(probe, queue, queue_at))
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    file = folder / "campaign.dts"
    file.write_text(
        template.render(
            sandboxes=actors(cast, platform, queue_at, unprotected, orders[0].word),
            channels=list(channels(cast, unprotected)),
            slot_bytes=SLOT_BYTES,
            ram_mib=campaign.ram_mib,
        ),
        encoding="utf-8",
    )
    plan = make_plan(platform, file, report)
    words = {name: one.word for name, one in zip(cast.hostiles, orders, strict=True) if one.word}
    return Stage(platform, cast, plan, make_image(platform, plan), words)
