# SPDX-License-Identifier: Apache-2.0
"""What predictions of messages take as parameters: costs of the calls, of a page, and of waking up, as `bench channel` measures them on this machine.

In instructions, which take a nanosecond each on a machine that counts them. On a board they have to be measured anew.
"""

from dataclasses import asdict, dataclass, fields
from typing import Self

from bhtool.bench import channel
from bhtool.bench.channel import KERNEL, MEMCPY, NOTHING, PAGE, RING, Ends
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import counting
from bhtool.image.build import build_platform
from bhtool.image.payloads import Report
from bhtool.platforms import Platform


@dataclass(frozen=True)
class Costs:
    """The most of each, in ns."""

    send: int  # a ring's calls in place, of one message, at each end
    take: int
    look: int  # of a reader that finds nothing
    thread_send: int  # the same through the kernel, called by a thread
    thread_take: int
    page_copy: int  # 4 KiB of memory to memory, which a sender takes besides

    @classmethod
    def of(cls, ends: Ends) -> Self:
        return cls(
            send=ends[RING]["send"].max,
            take=ends[RING]["take"].max,
            look=ends[NOTHING]["take"].max,
            thread_send=ends[KERNEL]["send"].max,
            thread_take=ends[KERNEL]["take"].max,
            page_copy=max(ends[MEMCPY]["send"].max, ends[PAGE]["send"].max - ends[RING]["send"].max),
        )


def named(costs: Costs) -> list[Row]:
    return [Row.of(name.replace("_", " "), "instructions", [cost]) for name, cost in asdict(costs).items()]


def of_rows(rows: dict[str, int]) -> Costs:
    """As `docs/results/calibration-PLATFORM.json` keeps them, by name."""
    return Costs(**{field.name: rows[field.name.replace("_", " ")] for field in fields(Costs)})


def run(platform: Platform, report: Report) -> Result:
    build_platform(platform, report)
    ends, _, odd = channel.costs(counting(platform), report)
    return Result("calibration", platform.name, named(Costs.of(ends)), {"runs that no other agreed with": str(odd)})
