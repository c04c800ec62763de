# SPDX-License-Identifier: Apache-2.0
"""Mistakes in channels, their memory and their doorbells that a campaign of random attempts runs into: one_case.py's CAMPAIGN."""

from tests.emulated.case import ARMV7, GICV3, SVM
from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.mutation import Mutation
from tests.mutation.one_case import CAMPAIGN


def attacked(what: str, file: str, old: str, new: str, platform: str, shows: str, *beside: Mutation) -> MachineMutation:
    return MachineMutation(f"{what}, attacked", file, old, new, CAMPAIGN, platform, shows, beside)


LENGTH = ("abi/channel_end.h", "return message->length <= end->slot_bytes &&", "return")
ROOM = Mutation(
    "a buffer is as long as a message",
    "abi/channel_inline.h",
    "if (found.length > capacity) return BH_END_SIZE; bh_copy_from_slot(buffer,",
    "bh_copy_from_slot(buffer,",
    CAMPAIGN,
)

HOSTILE_ENDS = (
    *(
        attacked(
            "a message may be longer than a slot",
            *LENGTH,
            platform,
            "channel hostile.*: a message is longer than a slot",
        )
        for platform in (GICV3, SVM)
    ),
    *(
        attacked(
            "ends write all of a channel",
            "monitor/boot/partition_boot.c",
            "return region->permissions |",
            "return region->permissions | (region->kind == BH_REGION_CHANNEL ? HAL_WRITE : 0) |",
            platform,
            r"(?m)^attempt \d+, channel-bounds: .* (the other end's area|the monitors' page)",
        )
        for platform in (GICV3, SVM)
    ),
    *(
        attacked(
            "a doorbell rings as often as it is told to",
            "hal/doorbell.h",
            "if ((int64_t)(now - next) < 0)",
            "if (false)",
            platform,
            "channel hostile.*: it was rung oftener than granted",
        )
        for platform in (ARMV7, SVM)
    ),
    attacked(
        "a message may be longer than a slot, and than the buffer",
        *LENGTH,
        GICV3,
        "wrote beside the buffer|: fault|: stopped|was parked|heart beat",
        ROOM,
    ),
    attacked(
        "lives are not told",
        "monitor/tell.h",
        "end->seen->epoch + 1",
        "1",
        GICV3,
        r"hostile\d has lived \d+ times, and channel hostile.* says 1",
    ),
    attacked(
        "copies go where others are",
        "abi/channel_bytes.h",
        "*word = (bh_shared_word *)(to + n);",
        "*word = (bh_shared_word *)(to + (n & 8));",
        GICV3,
        "channel watch.*: a sentinel's message was lost, doubled or damaged",
    ),
)
