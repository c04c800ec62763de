# SPDX-License-Identifier: Apache-2.0
"""Why an IOMMU blocked what a function did by itself: a line of `run` says it in words, with the name that `explain` knows."""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.codes.entry import Entry


@dataclass(frozen=True)
class Why:
    name: str
    text: str  # ends the line
    means: str
    called: tuple[str, ...]  # in IOMMUs' manuals
    causes: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()


UNMAPPED = Why(
    "dma-unmapped",
    "nothing is mapped there",
    "A function read or wrote an address at which its sandbox has no RAM. The access did not arrive; the sandbox goes on.",
    ("F_TRANSLATION", "IO_PAGE_FAULT"),
    (
        "a driver that gives its device physical addresses of the bare board: a function has its sandbox's guest-physical ones",
        "a descriptor that was not filled, or that was filled after the device was told of it",
        "memory that is not RAM: registers, the statistics page, a base address",
        "software that attacks",
    ),
    ("compare the address with the sandbox's RAM in `check`",),
)
PERMISSION = Why(
    "dma-permission",
    "what is mapped there is not for that",
    "A function may reach the address, but not in this way. Functions may read and write all RAM of their sandbox, so tables are not as they were made.",
    ("F_PERMISSION", "F_ACCESS"),
    remedies=("have the tables judged: `tools/bulkhead oracle`",),
)
CLOSED = Why(
    "dma-closed",
    "its entry lets nothing pass",
    "The function is nobody's, or its sandbox has ended or begins again. Nothing of it arrives.",
    ("C_BAD_STREAMID", "C_BAD_STE", "F_STREAM_DISABLED", "F_TRANSL_FORBIDDEN", "ILLEGAL_DEV_TABLE_ENTRY"),
    ("a function that goes on when its sandbox has been parked", "a function behind a bridge, known to the IOMMU by another number"),
)
TOO_LONG = Why(
    "dma-too-long",
    "the address is too long",
    "A function used an address beyond what the IOMMU translates.",
    ("F_ADDR_SIZE",),
    ("a descriptor that was not filled", "software that attacks"),
)
WALK = Why(
    "dma-walk",
    "the IOMMU cannot read its tables",
    "Memory that holds the IOMMU's tables gave an error, or a table is not as it was made.",
    ("F_STE_FETCH", "F_WALK_EABT", "DEV_TAB_HARDWARE_ERROR", "PAGE_TAB_HARDWARE_ERROR"),
    remedies=("look for errors of the machine's memory", "have the tables judged: `tools/bulkhead oracle`"),
)
INTERRUPT = Why(
    "dma-interrupt",
    "it is no interrupt of its own",
    "A function wrote to where interrupts are sent, and the IOMMU has none for it there.",
    (),
    ("an MSI with an address or data that its sandbox did not get from its own interrupt controller", "software that attacks"),
)
OTHER = Why(
    "dma-other",
    "the IOMMU says no more",
    "The IOMMU blocked an access for a reason that has no name here.",
    (),
    remedies=("look the code up in its manual",),
)
WHYS = (UNMAPPED, PERMISSION, CLOSED, TOO_LONG, WALK, INTERRUPT, OTHER)


def entries() -> tuple[Entry, ...]:
    return tuple(
        Entry("reason of a dma fault", one.name, one.means, aliases=one.called, causes=one.causes, remedies=one.remedies) for one in WHYS
    )
