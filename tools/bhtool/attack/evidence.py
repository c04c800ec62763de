# SPDX-License-Identifier: Apache-2.0
"""What a campaign must leave as it was, read through the machine's RAM from outside: frames of nobody, and those of monitors.

A machine in which nobody attacked says how they look: a sentinel exits no more once it is ready, so its monitor's frames rest, too. But the
clock's rate, where start-up measures it, is another from machine to machine, and so is the time limit of a kick: any but the measured one is a
change. Of a channel the areas are their ends' to look after, which are alive; the page between them, which monitors write, tells of each end its life and
state, and nothing else of it may change.
"""

import hashlib
import os
import struct
from collections.abc import Iterator

from bhtool import abi
from bhtool.abi import sizeof
from bhtool.attack.stage import SENTINELS
from bhtool.config.iommu import BY_NUMBER
from bhtool.config.plan import Plan
from bhtool.config.span import PAGE, Span
from bhtool.platforms import Platform

KICK_TIMEOUTS_PER_SECOND = 10  # monitor/boot/partition_boot.c
MARK = 0x6D61726B6D61726B  # in the place of that time limit
WORDS = struct.Struct(f"<{PAGE // 8}Q")
END = sizeof("bh_channel_end")
ENDS = int(abi.ffi.offsetof("struct bh_channel", "end"))
LIFE = struct.Struct("<II")  # epoch and state
Pages = dict[int, bytes]  # digest of each page that is not all zeros, by its address


def lively(platform: Platform, plan: Plan) -> list[Span]:
    """What may differ: kick mailboxes; start-up, with another table and payload; RAM; pools, but of a sentinel what it is shown; payloads; of the IOMMU's
    tables those that monitors change: queues, and entries that a restart writes; areas of channels."""
    spans = [Span(platform.ram_base, plan.shared_hpa + PAGE - platform.ram_base)]
    if platform.emulator.medium != "kernel":  # a boot loader has left its heap at the end of RAM
        top = max(ram.hpa + ram.size for one in plan.sandboxes for ram in one.ram)
        spans.append(Span(top, platform.ram_base + platform.ram_size - top))
    for one in plan.sandboxes:
        pool_bytes = int(abi.lib.BH_POOL_CRASH) if one.name in SENTINELS else one.pool_size
        spans += [Span(ram.hpa, ram.size) for ram in one.ram]
        spans += [Span(one.pool_hpa, pool_bytes), Span(one.snapshot_hpa, one.snapshot_size)]
    for channel in plan.channels:
        first, second = channel.area_bytes
        spans += [Span(channel.hpa, first), Span(channel.page + PAGE, second)]
    changed = BY_NUMBER[plan.iommu].mapped if plan.iommu else ()
    return spans + [Span(plan.iommu_hpa + part.start, part.size) for part in changed]


def data_pages(ram: int, size: int) -> Iterator[int]:
    """Offsets of pages of the file that were ever written."""
    at = 0
    while at < size:
        try:
            at = os.lseek(ram, at, os.SEEK_DATA)
        except OSError:  # nothing but a hole
            return
        end = os.lseek(ram, at, os.SEEK_HOLE)
        yield from range(at & ~(PAGE - 1), end, PAGE)
        at = end


def marked(content: bytes, measured: int) -> bytes:
    return WORDS.pack(*(MARK if word == measured else word for word in WORDS.unpack(content)))


def without_lives(content: bytes) -> bytes:
    """Of a channel's page."""
    found = bytearray(content)
    for end in (0, 1):
        LIFE.pack_into(found, ENDS + end * END, 0, 0)
    return bytes(found)


def forged_lives(platform: Platform, plan: Plan, ram: int) -> list[str]:
    """Of ends whose page does not say what the statistics of their sandbox do, both of which its monitor writes; those on request are open, closed, or gone."""
    found, on_request = [], (abi.lib.BH_CHANNEL_LIVES, abi.lib.BH_CHANNEL_CLOSED, abi.lib.BH_CHANNEL_GONE)
    for channel in plan.channels:
        content = os.pread(ram, PAGE, channel.page - platform.ram_base)
        for end, index in enumerate(channel.ends):
            pool = os.pread(ram, sizeof("bh_stats"), plan.sandboxes[index].pool_hpa - platform.ram_base)
            epoch, state = LIFE.unpack_from(content, ENDS + end * END)
            lives = abi.view("bh_stats", pool).restarts + 1
            if channel.on_request:
                if state not in on_request:
                    found.append(f"channel {channel.name} is neither open, closed nor gone for {plan.sandboxes[index].name}, state {state}")
            elif epoch != lives or state > abi.lib.BH_CHANNEL_GONE:
                found.append(
                    f"{plan.sandboxes[index].name} has lived {lives} times, and channel {channel.name} says {epoch}, state {state}"
                )
    return found


def pages(platform: Platform, plan: Plan, ram: int, clock_hz: int) -> Pages:
    """`clock_hz`: as start-up measured it, or knew it."""
    spans, found = lively(platform, plan), {}
    of_channels = {one.page for one in plan.channels}
    measured = clock_hz // KICK_TIMEOUTS_PER_SECOND
    for offset in data_pages(ram, platform.ram_size):
        address = platform.ram_base + offset
        if any(span.start <= address < span.end for span in spans):
            continue
        content = os.pread(ram, PAGE, offset)
        if address in of_channels:
            content = without_lives(content)
        if content.strip(b"\0"):
            found[address] = hashlib.blake2b(marked(content, measured), digest_size=8).digest()
    return found


def changed(before: Pages, after: Pages) -> list[int]:
    return sorted(address for address in before.keys() | after.keys() if before.get(address) != after.get(address))
