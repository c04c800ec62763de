# SPDX-License-Identifier: Apache-2.0
"""Rules on channels: whom they join, how large their slots are, and that all of a sandbox fit into its window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bhtool.abi import lib
from bhtool.config.channel_places import GATE, LARGE_GATE, LARGE_ON_REQUEST, stretch_of
from bhtool.config.channels import FROM, KIND, LATEST, MAILBOX, MOST_READERS, ON_REQUEST, READERS, RING, SLOT_BYTES, SLOTS, TO, Channel
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.rule import Finding
from bhtool.config.span import PAGE, align_up
from bhtool.text import size_text

TERMINAL, TELEMETRY = "terminal", "telemetry"
TELEMETRY_BYTES = int(lib.BH_TELEMETRY_BYTES)
WINDOW_BYTES = 8 << 20  # of a sandbox's window, for all its channels that are always there,
ON_REQUEST_BYTES = 16 << 20  # and for the others
LEAST_SLOTS = 2
HEARD_BYTES = 256  # of all slots in which a terminal is typed at
LINE = int(lib.BH_CHANNEL_LINE)
HOW_MANY = {MAILBOX: "one at each end", LATEST: f"two for each reader and two more: `{READERS}` says how many that are"}


def named_once(domains: Domains) -> Iterator[Finding]:
    first: dict[str, Channel] = {}
    for channel in domains.channels:
        if channel.name in first:
            yield Finding(channel.location, f"a second channel is called `{channel.name}` (first: {first[channel.name].location})")
        first.setdefault(channel.name, channel)


def joins_two(domains: Domains) -> Iterator[Finding]:
    for channel in domains.channels:
        for name, nodes in ((FROM, channel.from_nodes), (TO, channel.to_nodes)):
            for node in nodes:
                if not domains.sandbox_at(node):
                    yield Finding(channel.where(name), f"`{node.label}` in `{name}` of channel `{channel.name}` is not a sandbox")
        if channel.from_nodes and channel.from_nodes == channel.to_nodes:
            yield Finding(channel.where(TO), f"channel `{channel.name}` leads from `{channel.from_nodes[0].label}` to itself")


def slots_of_whole_lines(domains: Domains) -> Iterator[Finding]:
    most = int(lib.BH_CHANNEL_MOST_SLOT_BYTES)
    for channel in domains.channels:
        size = channel.slot_bytes
        if size % LINE or not LINE <= size <= most:
            near = min(max(align_up(size, LINE), LINE), most)
            text = (
                f"a slot of channel `{channel.name}` has {size:,} bytes, no multiple of {LINE} from {LINE} to {most:,}; {near:,} would do"
            )
            yield Finding(channel.where(SLOT_BYTES), text)


def slots_in_range(domains: Domains) -> Iterator[Finding]:
    most = int(lib.BH_CHANNEL_MOST_SLOTS)
    for channel in domains.channels:
        if not channel.has(SLOTS):
            continue
        if channel.kind != RING:
            text = f"channel `{channel.name}` has `{SLOTS}`, and its `{KIND}`, {channel.kind}, has {HOW_MANY[channel.kind]}"
            yield Finding(channel.where(SLOTS), text)
        elif channel.slots & (channel.slots - 1) or not LEAST_SLOTS <= channel.slots <= most:
            near = min(max(1 << (channel.slots - 1).bit_length() if channel.slots else 0, LEAST_SLOTS), most)
            text = f"ring `{channel.name}` has {channel.slots:,} slots, no power of two from {LEAST_SLOTS} to {most:,}; {near:,} would do"
            yield Finding(channel.where(SLOTS), text)


def readers_in_range(domains: Domains) -> Iterator[Finding]:
    for channel in domains.channels:
        if not channel.has(READERS):
            continue
        if channel.kind != LATEST:
            text = f"channel `{channel.name}` has `{READERS}`, and its `{KIND}`, {channel.kind}, has one at each end"
            yield Finding(channel.where(READERS), text)
        elif not 1 <= channel.readers <= MOST_READERS:
            near = min(max(channel.readers, 1), MOST_READERS)
            text = f"latest value `{channel.name}` has {channel.readers:,} readers, not 1 to {MOST_READERS}; {near} would do"
            yield Finding(channel.where(READERS), text)


def terminals_are_two_rings(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if sandbox.has(TERMINAL) and sandbox.is_linux:
            yield Finding(sandbox.where(TERMINAL), f"`{sandbox.name}` runs Linux, whose consoles are its own")
        elif sandbox.has(TERMINAL) and not _is_terminal(domains, sandbox):
            text = f"`{TERMINAL}` of `{sandbox.name}` does not name two rings, one from it to another sandbox and one from there to it"
            yield Finding(sandbox.where(TERMINAL), text)


def _is_terminal(domains: Domains, sandbox: Sandbox) -> bool:
    rings = [one for one in domains.channels if one.node in sandbox.terminal_nodes and one.kind == RING]
    says = [one.to_nodes for one in rings if one.from_nodes == (sandbox.node,)]
    hears = [one.from_nodes for one in rings if one.to_nodes == (sandbox.node,)]
    return len(sandbox.terminal_nodes) == len(rings) == 2 and len(says) == 1 and says == hears


def terminals_hear_little(domains: Domains) -> Iterator[Finding]:
    """The kernel takes all of it at once, with interrupts disabled, and whoever types may fill it as often as it likes."""
    for sandbox in domains.sandboxes:
        for one in domains.channels if sandbox.has(TERMINAL) else ():
            size = one.slots * one.slot_bytes
            if one.node in sandbox.terminal_nodes and one.to_nodes == (sandbox.node,) and size > HEARD_BYTES:
                text = f"channel `{one.name}`, in which `{sandbox.name}` is typed at, has {one.slots} slots of {one.slot_bytes:,} bytes"
                yield Finding(one.where(SLOT_BYTES), text)


def telemetry_is_a_latest_value(domains: Domains) -> Iterator[Finding]:
    for sandbox in (one for one in domains.sandboxes if one.has(TELEMETRY)):
        named = [one for one in domains.channels if one.node in sandbox.telemetry_nodes]
        if sandbox.is_linux:
            yield Finding(sandbox.where(TELEMETRY), f"`{sandbox.name}` runs Linux, which says nothing there")
        elif len(named) != 1 or named[0].kind != LATEST or named[0].from_nodes != (sandbox.node,):
            text = f"`{TELEMETRY}` of `{sandbox.name}` does not name one latest value from it to another sandbox"
            yield Finding(sandbox.where(TELEMETRY), text)
        elif named[0].slot_bytes < TELEMETRY_BYTES:
            text = f"`{TELEMETRY}` of `{sandbox.name}` takes {TELEMETRY_BYTES:,} bytes, and a slot of channel `{named[0].name}` has {named[0].slot_bytes:,}"
            yield Finding(sandbox.where(TELEMETRY), text)


def can_be_closed(domains: Domains) -> Iterator[Finding]:
    """Whoever opens it, asks its monitor; and what the sandbox would see there otherwise is nothing."""
    for channel in (one for one in domains.channels if one.on_request):
        for sandbox in filter(None, map(domains.sandbox_at, (*channel.from_nodes, *channel.to_nodes))):
            if why := _why_never_closed(sandbox, channel):
                yield Finding(channel.where(ON_REQUEST), f"channel `{channel.name}` has `{ON_REQUEST}`, and `{sandbox.name}` {why}")


def _why_never_closed(sandbox: Sandbox, channel: Channel) -> str:
    if "memory" in sandbox.unprotected:
        return "does without protection of memory: it reaches everything"
    if "dma" in sandbox.unprotected or sandbox.dma_reason:
        return "has devices that reach all memory"
    if channel.node in sandbox.telemetry_nodes:
        return "has its telemetry there, which is open while it runs"
    return "has its terminal there, which is open while it runs" if channel.node in sandbox.terminal_nodes else ""


def not_too_many(domains: Domains) -> Iterator[Finding]:
    for channel in domains.channels[lib.BH_MAX_CHANNELS : lib.BH_MAX_CHANNELS + 1]:
        yield Finding(channel.location, f"there are {len(domains.channels)} channels, a machine holds {lib.BH_MAX_CHANNELS}")


def fit_into_the_window(domains: Domains) -> Iterator[Finding]:
    """Told of the largest, which has most to give; of one that is too large for its gate, at once."""
    most = LARGE_GATE if domains.machine.family.programs.address_end > LARGE_ON_REQUEST else GATE
    for channel in (one for one in domains.channels if one.on_request and one.size > most):
        changes = " or ".join(_what_would_fit(channel, most))
        text = f"channel `{channel.name}` takes {size_text(channel.size)}, and one with `{ON_REQUEST}` has {size_text(most)} at most here"
        yield Finding(channel.where(SLOT_BYTES), f"{text}; it would fit with {changes}" if changes else text)
    found: dict[int, TooMuch] = {}  # of each channel: whoever mends it for the end with less room for it mends it for the other, too
    for sandbox in domains.sandboxes:
        for rooms in (ALWAYS, REQUESTED):
            channels = [channel for channel, _ in domains.ends_of(sandbox) if stretch_of(channel) == rooms.unit]
            if sum(map(rooms.taken_by, channels)) > rooms.room:
                one = TooMuch(sandbox, tuple(channels), max(channels, key=lambda one: one.size), rooms)
                found[one.largest.index] = min(found.get(one.largest.index, one), one, key=lambda one: one.left)
    for one in found.values():
        yield Finding(one.largest.where(SLOT_BYTES), one.text)


@dataclass(frozen=True)
class Rooms:
    """Where channels have their place in a window."""

    which: str  # they are called
    room: int
    unit: int  # of a channel

    def taken_by(self, channel: Channel) -> int:
        return align_up(channel.size, self.unit)


ALWAYS, REQUESTED = Rooms("", WINDOW_BYTES, PAGE), Rooms(f" `{ON_REQUEST}`", ON_REQUEST_BYTES, GATE)


@dataclass(frozen=True)
class TooMuch:
    """Channels of a sandbox that are too large together."""

    sandbox: Sandbox
    channels: tuple[Channel, ...]
    largest: Channel
    rooms: Rooms

    @property
    def total(self) -> int:
        return sum(map(self.rooms.taken_by, self.channels))

    @property
    def left(self) -> int:
        """For the largest, beside the others."""
        return (self.rooms.room - self.total + self.rooms.taken_by(self.largest)) // self.rooms.unit * self.rooms.unit

    @property
    def text(self) -> str:
        name = self.largest.name
        many = f"the {len(self.channels)} channels{self.rooms.which} of `{self.sandbox.name}` take"
        what = f"channel `{name}` of `{self.sandbox.name}` takes" if len(self.channels) == 1 else many
        changes = " or ".join(_what_would_fit(self.largest, self.left))
        fits = f"all would fit with {changes} for `{name}`" if changes else f"no smaller `{name}` alone would help"
        return f"{what} {size_text(self.total)}, and its window has {size_text(self.rooms.room)} for them; {fits}"


def _what_would_fit(channel: Channel, room: int) -> Iterator[str]:
    """Each by itself."""

    def fits(slots: int, slot_bytes: int) -> bool:
        return sum(channel.sized(slots, slot_bytes)) + PAGE <= room

    slots = channel.slots
    while channel.kind == RING and slots > LEAST_SLOTS and not fits(slots, channel.slot_bytes):
        slots //= 2
    if slots < channel.slots and fits(slots, channel.slot_bytes):
        yield f"{slots:,} slots"
    least, most = 0, channel.slot_bytes // LINE  # least fits, most does not
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if fits(channel.slots, middle * LINE) else (least, middle)
    if least:
        yield f"{least * LINE:,} `{SLOT_BYTES}` at most"
