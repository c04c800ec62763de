# SPDX-License-Identifier: Apache-2.0
"""Channels as a partition file says them, children of /domains: memory that exactly two sandboxes share. abi/channel.h draws it."""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.abi import lib, sizeof
from bhtool.config.plan import ChannelKind
from bhtool.config.span import PAGE, align_up
from bhtool.config.tree import Node, OfNode

CHANNEL = "bulkhead,channel-v1"
CHANNEL_END = "bulkhead,channel-end-v1"  # as Linux is told of one
END_ON_REQUEST = "bulkhead,channel-end-on-request-v1"  # another name: a module that opens none must not look there
FROM, TO, KIND, SLOT_BYTES, SLOTS = "from", "to", "kind", "slot-bytes", "slots"
READERS = "readers"
ON_REQUEST = "on-request"
DOORBELL = "doorbell-max-hz"
DEADLINE, SERVICE = "deadline-us", "service-us"
MAILBOX: ChannelKind = "mailbox"
RING: ChannelKind = "ring"
LATEST: ChannelKind = "latest"
KINDS: tuple[ChannelKind, ...] = (MAILBOX, RING, LATEST)
KIND_NUMBERS = {MAILBOX: int(lib.BH_CHANNEL_MAILBOX), RING: int(lib.BH_CHANNEL_RING), LATEST: int(lib.BH_CHANNEL_LATEST)}
DEFAULT_SLOTS, DEFAULT_SLOT_BYTES = 8, 4096
MOST_READERS = int(lib.BH_CHANNEL_MOST_READERS)


def area_bytes(slots: int, slot_bytes: int) -> int:
    """Of one end: its control, then its slots, each with a head of its own; in whole pages, as nothing less can be granted."""
    return align_up(sizeof("bh_channel_control") + slots * (sizeof("bh_channel_slot") + slot_bytes), PAGE)


@dataclass(frozen=True)
class Channel(OfNode):
    """End 0 (`from`) sends to end 1 (`to`); in a mailbox end 1 answers."""

    node: Node
    index: int
    from_nodes: tuple[Node, ...]
    to_nodes: tuple[Node, ...]

    @property
    def kind(self) -> ChannelKind:
        given = self.node.text(KIND)
        return next((one for one in KINDS if one == given), MAILBOX)

    @property
    def slot_bytes(self) -> int:
        return self.node.number(SLOT_BYTES, DEFAULT_SLOT_BYTES)

    @property
    def kind_number(self) -> int:
        """enum bh_channel_kind"""
        return KIND_NUMBERS[self.kind]

    @property
    def slots(self) -> int:
        """Of end 0."""
        return {MAILBOX: 1, LATEST: 2 * self.readers + 2}.get(self.kind) or self.node.number(SLOTS, DEFAULT_SLOTS)

    @property
    def readers(self) -> int:
        """Of a latest value: threads or processes of the sandbox that receives it."""
        return self.node.number(READERS, 1)

    @property
    def on_request(self) -> bool:
        """Its ends reach it while they have it open."""
        return self.has(ON_REQUEST)

    @property
    def compatible(self) -> str:
        """Of its node, or device in ACPI, by which Linux' module knows it."""
        return END_ON_REQUEST if self.on_request else CHANNEL_END

    @property
    def doorbell_hz(self) -> tuple[int, int]:
        """How often each end may ring the other in a second; 0: not at all."""
        rates = self.node.properties[DOORBELL].cells if self.has(DOORBELL) else [0]
        return rates[0], rates[-1]

    @property
    def deadline_us(self) -> int:
        """0: not told."""
        return self.node.number(DEADLINE, 0)

    @property
    def service_us(self) -> int:
        """What the receiver does with a message, until it answers or takes the next one."""
        return self.node.number(SERVICE, 0)

    @property
    def area_bytes(self) -> tuple[int, int]:
        return self.sized(self.slots, self.slot_bytes)

    def sized(self, slots: int, slot_bytes: int) -> tuple[int, int]:
        """Both areas, if it had such slots: only in a mailbox end 1 sends, too."""
        return area_bytes(slots, slot_bytes), area_bytes(1, slot_bytes) if self.kind == MAILBOX else PAGE

    @property
    def size(self) -> int:
        """Both areas, and the page between them that monitors write."""
        return sum(self.area_bytes) + PAGE


def read_channel(node: Node, index: int, by_phandle: dict[int, Node]) -> Channel:
    def led_to(name: str) -> tuple[Node, ...]:
        cells = node.properties[name].cells if name in node.properties else []
        return tuple(by_phandle[cell] for cell in cells if cell in by_phandle)

    return Channel(node, index, led_to(FROM), led_to(TO))
