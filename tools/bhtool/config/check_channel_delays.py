# SPDX-License-Identifier: Apache-2.0
"""Rules on the time that channels take."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.config.channel_delays import Prediction, long_period, predictions
from bhtool.config.channels import DEADLINE, SERVICE
from bhtool.config.domains import Domains
from bhtool.config.rule import Finding
from bhtool.config.schedulability import NS_PER_US
from bhtool.config.vcpus import PERIOD
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
            yield Finding(channel.where(DEADLINE), f"{what}, and no bound: {'; '.join(one)}")
            continue
        span = one.bound()
        if span is not None and span > channel.deadline_us * NS_PER_US:
            yield Finding(channel.where(DEADLINE), f"{what}, and takes {us_text(span)} in the worst case; {_would_meet(one)}")


def _would_meet(one: Prediction) -> str:
    """Each change by itself is enough."""
    if one.work > one.channel.deadline_us * NS_PER_US:
        return f"both ends work for {us_text(one.work)} of it, so no period or budget would meet it"
    long = {side: long_period(one, side) for side in (1, 0)}
    named = [f"a `{PERIOD}` of {span:,} for `{one.channel.name}` of `{one.ends[side].sandbox.name}`" for side, span in long.items() if span]
    return f"it would be met with {', or with '.join(named)}" if named else "no shorter period of one end alone would meet it"
