# SPDX-License-Identifier: Apache-2.0
"""The rules on channels."""

from __future__ import annotations

from bhtool.config import check_channel_delays as delays
from bhtool.config import check_channel_use as use
from bhtool.config import check_channels as channels
from bhtool.config import doorbells
from bhtool.config.rule import Rule

CHANNEL_RULES = (
    Rule("BH-R160", "Channels have different names.", "rename it", channels.named_once),
    Rule(
        "BH-R161",
        "A channel leads from one sandbox to another.",
        "name two sandboxes by their labels: `from = <&a>; to = <&b>;`",
        channels.joins_two,
        unless=("BH-R006",),
    ),
    Rule(
        "BH-R162",
        "A slot of a channel has a multiple of 64 bytes, from 64 to 1 MiB.",
        "choose the next multiple of 64 in `slot-bytes`; what is longer goes in several messages",
        channels.slots_of_whole_lines,
    ),
    Rule(
        "BH-R163",
        "A ring has a power of two of slots, from 2 to 1024; the other kinds have no `slots`.",
        'write 2, 4, 8, and so on up to 1024, for kind = "ring"; take `slots` out of the other kinds',
        channels.slots_in_range,
    ),
    Rule("BH-R164", "There are at most 16 channels.", "leave some out, or send more by one of them", channels.not_too_many),
    Rule(
        "BH-R165",
        "All channels of a sandbox fit into 8 MiB of its window; those with `on-request` of 2 MiB at most into 16 MiB. A larger one of these has 1 GiB at most, and ARMv7 allows none.",
        "make slots smaller or fewer; with `on-request` one may take 1 GiB, but for ARMv7",
        channels.fit_into_the_window,
        unless=("BH-R162", "BH-R163", "BH-R180"),
    ),
    Rule(
        "BH-R166",
        "Where a sandbox sees its channels it sees nothing else.",
        "take the device out of `access`, or make channels smaller; `guest-window` of the board tree says where the window is",
    ),
    Rule(
        "BH-R167",
        "A channel's `deadline-us` and `service-us` are 1 us or longer.",
        "write how many microseconds, or take it out",
        delays.some_time,
    ),
    Rule(
        "BH-R168",
        "What is read and served by a deadline takes less than that: `service-us` is below `deadline-us`.",
        "give it a later deadline, or serve it in less",
        delays.service_before_the_deadline,
        unless=("BH-R167",),
    ),
    Rule(
        "BH-R169",
        "What a channel with a `deadline-us` brings is there by then, in the worst case.",
        "docs/channel-bounds.md says what the bound is made of",
        delays.deadlines_are_met,
        unless=(
            *("BH-R006", "BH-R023", "BH-R161", "BH-R162", "BH-R163", "BH-R167", "BH-R168", "BH-R176", "BH-R177"),
            *("BH-R140", "BH-R141", "BH-R142", "BH-R143", "BH-R144", "BH-R146", "BH-R147", "BH-R148", "BH-R149"),
        ),
    ),
    Rule(
        "BH-R176",
        "An end of a channel may ring the other as often as the platform's cores can stand, and not 0 times at both ends.",
        "write one rate in Hz for both ends, or one for `from` and one for `to`; leave `doorbell-max-hz` out if nobody is to ring",
        doorbells.rates_in_range,
    ),
    Rule(
        "BH-R177",
        "There is an interrupt line for each end that is rung.",
        "let one of the two ends alone ring (`doorbell-max-hz = <1000 0>;`), or more lines be found in `doorbell-lines` of the board tree",
        doorbells.enough_lines,
        unless=("BH-R161", "BH-R176"),
    ),
    Rule(
        "BH-R178",
        "Lines for doorbells are raised by no device.",
        "choose others in `doorbell-lines` of the board tree: INTIDs from 32 to 1,019 that nothing is wired to",
        doorbells.lines_of_nobody,
    ),
    Rule(
        "BH-R179",
        "The terminal of a native sandbox is two rings, one from it and one to it, with the same other end.",
        'name both: `terminal = <&says &hears>;`, each with kind = "ring"',
        channels.terminals_are_two_rings,
        unless=("BH-R006",),
    ),
    Rule(
        "BH-R180",
        "A latest value has 1 to 7 readers; the other kinds have no `readers`.",
        'write how many threads or processes read it, for kind = "latest"; one of them can hand values on to others',
        channels.readers_in_range,
    ),
    Rule(
        "BH-R181",
        "What is opened on request can be closed: both ends have protection of memory and of DMA, and nobody's terminal or telemetry is there.",
        "take `on-request` out: then both ends have the channel always",
        channels.can_be_closed,
        unless=("BH-R161",),
    ),
    Rule(
        "BH-R182",
        "The telemetry of a native sandbox is one latest value from it, with slots of 3,744 bytes or more.",
        'name one: `telemetry = <&control_telemetry>;`, with kind = "latest"; without `slot-bytes` a slot is large enough',
        channels.telemetry_is_a_latest_value,
        unless=("BH-R006", "BH-R162"),
    ),
    Rule(
        "BH-R183",
        "The ring in which a terminal is typed at has 256 bytes at most: the kernel takes all of them at once, with interrupts disabled.",
        "write `slot-bytes = <64>; slots = <4>;`, which is 256 characters each time that the kernel looks",
        channels.terminals_hear_little,
        unless=("BH-R006", "BH-R162", "BH-R163", "BH-R179", "BH-R181"),
    ),
)

CHANNEL_WARNINGS = (
    Rule(
        "BH-W170",
        "A Linux with an end of a channel loads the module for channels.",
        'add it: `modules = "bulkhead";`; a root file system of your own may bring it, and on a PC programs do without (docs/guides/channels-from-linux.md)',
        use.linux_has_its_device,
        unless=("BH-R006", "BH-R161"),
    ),
    Rule(
        "BH-W171",
        "A program that speaks by a channel (`relay`, `sink`, `source`) has one that is called as its VCPU is, of the kind and in the direction that it needs.",
        "rename the VCPU or the channel, or add the channel",
        use.programs_have_their_channels,
        unless=("BH-R006", "BH-R011", "BH-R160", "BH-R161"),
    ),
    Rule(
        "BH-W172",
        "Commands in `bootargs` of the sandbox kernel name channels of its sandbox.",
        "name one of its channels, or take the command out",
        use.commands_name_channels,
        unless=("BH-R006", "BH-R160", "BH-R161"),
    ),
)
