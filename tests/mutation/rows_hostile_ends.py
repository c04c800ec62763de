# SPDX-License-Identifier: Apache-2.0
"""Mistakes in channels, their memory and their doorbells that a campaign of random attempts runs into: one_case.py's CAMPAIGN."""

from tests.emulated.case import ARMV7, GICV3, SVM
from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.one_case import CAMPAIGN


def attacked(what: str, file: str, old: str, new: str, platform: str, shows: str) -> MachineMutation:
    return MachineMutation(f"{what}, attacked", file, old, new, CAMPAIGN, platform, shows)


HOSTILE_ENDS = (
    *(
        attacked(
            "a message may be longer than a slot",
            "abi/channel_end.h",
            "return message->length <= end->slot_bytes &&",
            "return",
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
)
