# SPDX-License-Identifier: Apache-2.0
"""Rules on the time that channels take."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.config.channel_delays import Prediction, has_own_kernel, large_slots, long_period, long_periods, predictions, vcpu_of
from bhtool.config.channels import DEADLINE, MAILBOX, SERVICE, SLOT_BYTES, Channel
from bhtool.config.domains import Domains
from bhtool.config.rule import Finding
from bhtool.config.schedulability import NS_PER_US
from bhtool.config.vcpus import BUDGET, PERIOD, PROGRAM, SINK, SOURCE
from bhtool.text import us_text


def some_time(domains: Domains) -> Iterator[Finding]:
    for channel in domains.channels:
        for name, span in ((DEADLINE, channel.deadline_us), (SERVICE, channel.service_us)):
            if channel.has(name) and not span:
                yield Finding(channel.where(name), f"`{name}` of channel `{channel.name}` is 0")


def service_before_the_deadline(domains: Domains) -> Iterator[Finding]:
    for channel in domains.channels:
        if channel.has(DEADLINE) and channel.service_us >= channel.deadline_us:
            text = (
                f"channel `{channel.name}` has {channel.deadline_us:,} us for all, and `{SERVICE}` takes {channel.service_us:,} us of them"
            )
            yield Finding(channel.where(SERVICE), text)


def deadlines_are_met(domains: Domains) -> Iterator[Finding]:
    for channel, one in predictions(domains):
        if not channel.deadline_us:
            continue
        what = f"channel `{channel.name}` has a deadline of {channel.deadline_us:,} us"
        if not isinstance(one, Prediction):
            yield Finding(
                channel.where(DEADLINE), f"{what}, and no bound: {'; '.join((*one, *_would_tell(domains, channel)))}", channel.node
            )
            continue
        span = one.bound()
        if span is not None and span > channel.deadline_us * NS_PER_US:
            yield Finding(channel.where(DEADLINE), f"{what}, and takes {us_text(span)} in the worst case; {_would_meet(one)}", channel.node)


def _would_tell(domains: Domains, channel: Channel) -> Iterator[str]:
    """The VCPUs to add, where they would help: beside a Linux nothing does."""
    ends = [domains.other_end(channel, 1 - side) for side in (0, 1)]
    missing = [] if any(one.is_linux for one in ends) else [side for side in (0, 1) if vcpu_of(ends[side], channel, side) is None]
    for side in missing:
        is_told = has_own_kernel(ends[side]) and channel.kind != MAILBOX
        program = f'{PROGRAM} = "{(SOURCE, SINK)[side]}"; ' if is_told else ""
        yield f"add `{channel.name} {{ {program}{BUDGET} = <...>; {PERIOD} = <...>; }};` to `{ends[side].name}`"


def _would_meet(one: Prediction) -> str:
    """Changes, each of which is enough by itself. With slots that take more than a budget, shorter periods alone may not do."""
    size = large_slots(one)
    smaller = f"; a `{SLOT_BYTES}` of {size:,} instead of {one.slot_bytes:,} would meet it" if size else ""
    return _other_periods(one) + smaller


def _other_periods(one: Prediction) -> str:
    if one.work > one.channel.deadline_us * NS_PER_US:
        return f"both ends work for {us_text(one.work)} of it, so no period or budget would meet it"
    long = {side: long_period(one, side) for side in (1, 0)}
    named = [f"a `{PERIOD}` of {span:,} for `{one.channel.name}` of `{one.ends[side].sandbox.name}`" for side, span in long.items() if span]
    return f"it would be met with {', or with '.join(named)}" if named else _would_meet_together(one)


def _would_meet_together(one: Prediction) -> str:
    alone = "no shorter period of one end alone would meet it"
    periods, least = long_periods(one)
    if not any(periods):
        return f"{alone}, and none of both with the budgets they have: {us_text(least)} is the least that was found"
    named = [f"a `{PERIOD}` of {span:,} for `{end.vcpu.name}` of `{end.sandbox.name}`" for span, end in zip(periods, one.ends, strict=True)]
    return f"{alone}; both together would, {' and '.join(named)}"
