# SPDX-License-Identifier: Apache-2.0
"""Doorbells of channels: by which line an end is rung, and how often. `doorbell-max-hz` of a channel has one cell for both ends, or one for the rings of `from`
and one for those of `to`; 0: that end does not ring.

An ARM machine has lines that no device raises, and its board tree says which (`doorbell-lines`). On a PC no pin is needed: such lines are in the monitors'
picture of the I/O APIC alone, which send the interrupt themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bhtool.abi import lib
from bhtool.config.channels import DOORBELL, Channel
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.machine import DOORBELL_LINES as LINES
from bhtool.config.machine import machine_node
from bhtool.config.rule import Finding
from bhtool.config.schedulability import Rings
from bhtool.config.span import Span

US_PER_S, NS_PER_US = 1_000_000, 1000
FIRST_SPI, END_OF_SPIS = 32, 1020  # ARM IHI 0069, 2.2 "INTIDs"


@dataclass(frozen=True)
class Rung:
    """An end of a channel that is rung."""

    channel: Channel
    end: int
    number: int  # among all of the machine, from 0 on


def all_rung(domains: Domains) -> list[Rung]:
    """In the order of the file. The rules on channels must have passed."""
    held = [(channel, end) for channel in domains.channels for end in (0, 1) if channel.doorbell_hz[1 - end]]
    return [Rung(channel, end, number) for number, (channel, end) in enumerate(held)]


def lines_for(domains: Domains) -> Span:
    """Lines that are there to be rung."""
    if domains.machine.family.interrupts.has_vectors:
        return Span(lib.BH_FIRST_RUNG_LINE, lib.BH_LAST_RUNG_LINE + 1 - lib.BH_FIRST_RUNG_LINE)
    return domains.machine.doorbell_lines


def line_of(domains: Domains, channel: Channel, end: int) -> int:
    """By which that end is rung; 0: it is not."""
    first = lines_for(domains).start
    return next((first + one.number for one in all_rung(domains) if one.channel is channel and one.end == end), 0)


def gap_us(channel: Channel, end: int) -> int:
    """Between two rings by that end, at least; 0: it does not ring."""
    hz = channel.doorbell_hz[end]
    return -(-US_PER_S // hz) if hz else 0


def rings_of(domains: Domains, sandbox: Sandbox) -> Rings:
    ends = list(domains.ends_of(sandbox))
    by, of = (tuple(gap * NS_PER_US for channel, end in ends if (gap := gap_us(channel, end ^ other))) for other in (0, 1))
    return Rings(by, of)


def rates_in_range(domains: Domains) -> Iterator[Finding]:
    most = min(domains.machine.costs.most_rate_hz, US_PER_S)
    for channel in domains.channels:
        if not channel.has(DOORBELL):
            continue
        rates = channel.node.properties[DOORBELL].cells
        if len(rates) not in (1, 2):
            yield Finding(
                channel.where(DOORBELL), f"`{DOORBELL}` of channel `{channel.name}` has {len(rates)} cells, and there are two ends"
            )
        elif not any(rates):
            yield Finding(channel.where(DOORBELL), f"no end of channel `{channel.name}` may ring: `{DOORBELL}` is 0")
        elif (greatest := max(rates)) > most:
            text = f"an end of channel `{channel.name}` may ring {greatest:,} times in a second, and {most:,} take all of a core on this platform"
            yield Finding(channel.where(DOORBELL), text)


def enough_lines(domains: Domains) -> Iterator[Finding]:
    rung, lines = all_rung(domains), lines_for(domains)
    for one in rung[lines.size : lines.size + 1]:
        text = f"the doorbells of all channels need {len(rung)} lines, and the board tree has {lines.size} that no device raises"
        yield Finding(one.channel.where(DOORBELL), text)


def lines_of_nobody(domains: Domains) -> Iterator[Finding]:
    """Of the board tree."""
    lines, machine = domains.machine.doorbell_lines, domains.machine
    if not lines.size:
        return
    where = (machine_node(machine.root) or machine.root).where(LINES)
    if lines.start < FIRST_SPI or lines.end > END_OF_SPIS:
        text = f"`{LINES}` are {lines.start:,} to {lines.end - 1:,}, and lines that any core can have {FIRST_SPI} to {END_OF_SPIS - 1:,}"
        yield Finding(where, text)
    raised = [(wire.number, device.name) for device in machine.devices for wire in device.wires]
    raised += [(number, "the board itself") for span in machine.private.lines for number in range(span.start, span.end)]
    for number, name in raised:
        if max(lines.start, FIRST_SPI) <= number < lines.end:
            yield Finding(where, f"line {number} is among `{LINES}`, and {name} raises it")
