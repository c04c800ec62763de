# SPDX-License-Identifier: Apache-2.0
"""The rules on VCPUs of native sandboxes."""

from __future__ import annotations

from bhtool.config import check_vcpus as vcpus
from bhtool.config.rule import Rule

VCPU_RULES = (
    Rule(
        "BH-R140",
        "A VCPU is a Main VCPU, with a budget and a period, or an I/O VCPU, with a device and a share.",
        "write `budget-us` and `period-us`, or `serves` and `utilization-percent`",
        vcpus.is_one_kind,
    ),
    Rule(
        "BH-R141",
        "VCPUs are for native sandboxes.",
        "take it out; Linux schedules its cores by itself",
        vcpus.of_native,
    ),
    Rule("BH-R142", "A period is 1 us or longer.", "choose a longer one; how often a program has to run says which", vcpus.has_a_period),
    Rule(
        "BH-R143",
        "A budget is not below what a switch takes on the platform, and not above its period.",
        "write how many microseconds of each period the program needs, a switch or more",
        vcpus.budget_in_period,
    ),
    Rule(
        "BH-R144",
        "A sandbox has at most 16 VCPUs.",
        "leave some out, or give them to another sandbox",
        vcpus.not_too_many,
    ),
    Rule(
        "BH-R145",
        "`serves` names a device of the sandbox that interrupts.",
        "add the device to `access`, or name another",
        vcpus.serves_its_own,
        unless=("BH-R006",),
    ),
    Rule(
        "BH-R146",
        "An I/O VCPU has from 1 to 100 percent of its core, of each period what a switch takes on the platform or more, and its device interrupts from once in a second to as often as leaves something of the core.",
        "choose a share from 1 to 100 that is a switch or more, and a lower rate, 1 or more",
        vcpus.share_in_range,
    ),
    Rule(
        "BH-R147",
        "VCPUs of a sandbox have different names, none the kernel's own, and no device is served twice.",
        "rename it, or take the other one out",
        vcpus.named_once,
    ),
    Rule(
        "BH-R148",
        "`core` names a core of the sandbox.",
        "name one of its `cores`, or take it out: VCPUs run on the first one then",
        vcpus.runs_on_its_own,
        unless=("BH-R006",),
    ),
    Rule(
        "BH-R149",
        "Each VCPU of a core can have its budget in each of its periods.",
        "make budgets or `max-rate-hz` smaller or periods longer, or give VCPUs to another sandbox",
        vcpus.fit_their_core,
        unless=("BH-R006", "BH-R140", "BH-R141", "BH-R142", "BH-R143", "BH-R144", "BH-R146", "BH-R148"),
    ),
    Rule(
        "BH-R150",
        "A program that reads the console (`echo`) runs on its sandbox's first core.",
        "take `core` out, or name the first of the sandbox's `cores`",
        vcpus.runs_where_its_input_is,
    ),
)

VCPU_WARNINGS = (
    Rule(
        "BH-W143",
        "A budget is five switches or more.",
        "give it five switches or more, of a period that is as many times longer",
        vcpus.switched_to_for_long,
        unless=("BH-R141", "BH-R143"),
    ),
    Rule(
        "BH-W150",
        "The sandbox kernel that the tool provides has the program of each VCPU.",
        'write `program` = "echo", "findprimes", "hog", "loop", "relay", "sink", "source" or "tlbwalk"; give a kernel with programs of your own a name of its own in `image`',
        vcpus.has_its_program,
        unless=("BH-R011",),
    ),
    Rule(
        "BH-W151",
        "Interrupts that an I/O VCPU handles have a highest rate.",
        "write `max-rate-hz`: beyond it the line is masked at the device",
        vcpus.has_a_rate,
        unless=("BH-R140", "BH-R145", "BH-R146"),
    ),
    Rule(
        "BH-W152",
        "VCPUs are made by a kernel that the tool provides.",
        "leave it so if the image makes its VCPUs of its rows BH_GRANT_VCPU (docs/guest.md) and schedules them so; otherwise take them out",
        vcpus.made_by_a_known_kernel,
        unless=("BH-R141",),
        of_file=False,
    ),
)
