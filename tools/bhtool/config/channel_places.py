# SPDX-License-Identifier: Apache-2.0
"""Where channels lie, in the machine and in the windows of their two ends, and who may write what of them.

    hpa                  page                 + 4096
    ├────────────────────┼────────────────────┼────────────────────┐
    │ area of end 0      │ struct bh_channel  │ area of end 1      │
    └────────────────────┴────────────────────┴────────────────────┘
      end 0: rw            r                    r
      end 1: r             r                    rw
Each end sees all of it, in one piece, and all its channels one behind the other, from WINDOW_CHANNELS on. One that is opened on request has a stretch of
BH_GATE_BYTES alone, from WINDOW_ON_REQUEST on, or, if it does not fit there, one of BH_LARGE_GATE_BYTES, from LARGE_ON_REQUEST on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bhtool.abi import lib
from bhtool.config.channel_delays import delays_of
from bhtool.config.channels import Channel
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.doorbells import gap_us, line_of
from bhtool.config.place import Placement
from bhtool.config.plan import ChannelPlan, Region, SandboxPlan
from bhtool.config.rule import Finding
from bhtool.config.span import PAGE, Span, align_up

WINDOW_CHANNELS, WINDOW_ON_REQUEST = 0x100000, 0xA00000  # offsets in a sandbox's window: docs/guest.md
GATE, LARGE_GATE = int(lib.BH_GATE_BYTES), int(lib.BH_LARGE_GATE_BYTES)
LARGE_ON_REQUEST = (
    3 << 36
)  # above RAM and devices of any board that we know, and where functions see RAM (unprotected.py); it takes 39 bits to translate


@dataclass(frozen=True)
class View:
    """A channel as one of its ends has it."""

    channel: Channel
    end: int
    gpa: int
    other: Sandbox
    number: int  # as its monitor counts them
    line: int  # by which it is rung; 0: it is not

    @property
    def gap_us(self) -> int:
        """Between two rings of the other end, at least; 0: it does not ring."""
        return gap_us(self.channel, self.end)

    @property
    def calls(self) -> bool:
        """There is something of it to ask the monitor for, by its number."""
        return bool(self.gap_us) or self.channel.on_request

    @property
    def span(self) -> Span:
        return Span(self.gpa, self.channel.size)

    @property
    def page_offset(self) -> int:
        """Of struct bh_channel."""
        return self.channel.area_bytes[0]

    @property
    def shows_other(self) -> bool:
        """It is one of the two rings of the other end's console."""
        return self.channel.node in self.other.terminal_nodes

    @property
    def tells_of_other(self) -> bool:
        """It is the latest value in which the other end says what it does."""
        return self.channel.node in self.other.telemetry_nodes


def views_of(domains: Domains, sandbox: Sandbox) -> Iterator[View]:
    """In the order of the file. Those that are always there lie one behind the other, and each of the others alone."""
    window = domains.machine.window
    free = {PAGE: window + WINDOW_CHANNELS, GATE: align_up(window + WINDOW_ON_REQUEST, GATE), LARGE_GATE: LARGE_ON_REQUEST}
    for number, (channel, end) in enumerate(domains.ends_of(sandbox)):
        unit = stretch_of(channel)
        yield View(channel, end, free[unit], domains.other_end(channel, end), number, line_of(domains, channel, end))
        free[unit] += align_up(channel.size, unit)


def stretch_of(channel: Channel) -> int:
    """Of such a stretch, or of several, no other channel has a part."""
    if not channel.on_request:
        return PAGE
    return GATE if channel.size <= GATE else LARGE_GATE


def channel_regions(domains: Domains, placement: Placement, sandbox: Sandbox) -> Iterator[Region]:
    """Of each channel two: the end's own area, and the rest. No function reaches them through an IOMMU."""
    for view in views_of(domains, sandbox):
        channel, hpa = view.channel, placement.channels[view.channel.index]
        first, second = channel.area_bytes
        border = first if view.end == 0 else first + PAGE
        for part, start, size in ((0, 0, border), (1, border, first + PAGE + second - border)):
            what, permissions = ("writable", "rw") if part == view.end else ("read-only", "r")
            yield Region(f"{what} part of channel `{channel.name}`", "channel", view.gpa + start, hpa + start, size, permissions)


def plan_channels(domains: Domains, placement: Placement) -> list[ChannelPlan]:
    """The rules on them must have passed: each has two ends."""
    found, delays = [], delays_of(domains)
    for channel, hpa in zip(domains.channels, placement.channels, strict=True):
        sender, receiver = (domains.other_end(channel, 1 - end).index for end in (0, 1))
        found.append(
            ChannelPlan(
                channel.name,
                channel.kind,
                (sender, receiver),
                channel.slots,
                channel.slot_bytes,
                channel.area_bytes,
                hpa,
                delays[channel.name],
                gap_us=(gap_us(channel, 0), gap_us(channel, 1)),
                rung_line=(line_of(domains, channel, 0), line_of(domains, channel, 1)),
                on_request=channel.on_request,
            )
        )
    return found


def judge_channels(domains: Domains, plans: Sequence[SandboxPlan]) -> Iterator[Finding]:
    """Once everything has its place: whether a sandbox sees anything else where its channels are. What is open to it goes around them."""
    for sandbox, one in zip(domains.sandboxes, plans, strict=True):
        others = [
            (region.name, Span(region.gpa, region.size))
            for region in (*one.regions, *one.configuration)
            if region.kind not in ("channel", "open")
        ]
        others += [(f"the interrupt controller {node.label}", Span(*pair)) for node in domains.machine.controllers for pair in node.reg()]
        for view in views_of(domains, sandbox):
            for name, span in others:
                alone = Span(view.gpa, align_up(view.channel.size, stretch_of(view.channel)))
                if alone.overlaps(span):
                    text = f"`{sandbox.name}` would see channel `{view.channel.name}` at {alone}, over {name} at {span}"
                    yield Finding(view.channel.location, text)
                    break
