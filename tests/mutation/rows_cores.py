# SPDX-License-Identifier: Apache-2.0
"""Mistakes where several cores of a sandbox meet: what is broken where, which case notices, and what its report then shows."""

from tests.emulated.case import GICV2, GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation

BOOT_CORE = tuple(
    MachineMutation(
        "any core may be the first",
        "monitor/boot/main_boot.c",
        "if (hal_machine_core_id() != table->hardware_id[0])",
        "if (hal_machine_core_id() == UINT64_MAX)",
        "other-boot-core",
        platform,
        "not refused",
    )
    for platform in (SVM, GICV3)
)

NOTICES = tuple(
    MachineMutation(what, file, old, new, case, platform, shows)
    for platform in (GICV3, SVM)
    for what, file, old, new, case, shows in (
        (
            "others are told of a sandbox that ends itself",
            "monitor/run.c",
            "if (state == BH_STATE_PARKED)",
            "if (state != BH_STATE_READY)",
            "notice-not-of-an-end",
            "told said .*notices",
        ),
        (
            "others are told of a restart",
            "monitor/run.c",
            "if (!again) monitor_end(",
            "if (again) hal_notice_send(core); else monitor_end(",
            "notice-not-of-a-restart",
            "told said .*notices",
        ),
        (
            "nobody is told of a sandbox that is parked",
            "monitor/boot/partition_boot.c",
            "if (build->sandbox->notifies >> target & 1)",
            "if (build->sandbox->notifies >> BH_MAX_SANDBOXES)",
            "notice-of-a-fault",
            "told never said",
        ),
    )
)

EARLY_NOTICES = tuple(
    MachineMutation(what, file, old, new, case, platform, "told never said")
    for what, file, old, new, case, platform in (
        (
            "an end before the told core starts is lost",
            "hal/arm/psci.c",
            "kick_repeat_notice(core);",
            "",
            "notice-of-a-fault-at-once",
            GICV3,
        ),
        (
            "an end of before this life is lost",
            "hal/arm/psci.c",
            "kick_repeat_notice(core);",
            "",
            "notice-of-an-earlier-life",
            GICV3,
        ),
        (
            "an end of before this life is lost",
            "hal/x86/core.c",
            "x86_repeat_notice(core);",
            "",
            "notice-of-an-earlier-life",
            SVM,
        ),
    )
)

LOOK = "if (action != HAL_SKIP || !(SETTLED >> exit.kind & 1))"
# After an exit of one of these kinds a core has to look at what others want of it: each is taken for one after which it need not.
NO_LOOK = tuple(
    MachineMutation(
        f"nobody looks after an exit of kind {kind}, in {case}",
        "monitor/run.c",
        LOOK,
        f"if (exit.kind != BH_EXIT_{kind} && (action != HAL_SKIP || !(SETTLED >> exit.kind & 1)))",
        case,
        platform,
        shows,
    )
    for kind, platform, case, shows in (
        ("KICK", GICV3, "kick-spinning-few", "victim is parked.*memory"),
        ("KICK", SVM, "kick-spinning-few", "kicker never said"),
        ("KICK", VTX, "kick-spinning-few", "kicker never said"),
        ("KICK", SVM, "kick-endless-refused-registers", "kicker never said"),
        ("KICK", SVM, "restart-beside-refusals-without-end", "mortal "),
        ("FIRMWARE", GICV3, "cores-off", "pair "),
        ("IPI", SVM, "icr-nmi-self", "was not refused by .NMI."),
    )
)

NO_LOOK_AFTER_EXCEPTIONS = MachineMutation(
    "nobody looks after an exception that the guest is given",
    "monitor/run.c",
    LOOK,
    "if (action >= HAL_STOP || !(SETTLED >> exit.kind & 1))",
    "kick-endless-debug-exceptions",
    VTX,
    "kicker never said",
)
# One of the two looks suffices: after a fault, unlike a trap, the window of the NMI ends the run before the handler's first instruction.
NO_LOOK_AT_REFUSALS = tuple(
    MachineMutation(
        f"nobody looks after a kick, nor after a refusal: {case}",
        "monitor/run.c",
        LOOK,
        "if (exit.kind != BH_EXIT_KICK && action != HAL_REFUSE && (action != HAL_SKIP || !(SETTLED >> exit.kind & 1)))",
        case,
        VTX,
        "kicker never said",
    )
    for case in ("kick-endless-refused-registers", "kick-endless-forbidden-instructions")
)

# On SVM nobody need look: the NMI of a kick waits until the guest runs, and ends that.
NMI_TAKEN = MachineMutation(
    "an NMI is taken where nobody looks afterwards",
    "hal/x86/svm/svm.c",
    "action = answer(core, vmcb, &exit);",
    "take_nmi(); action = answer(core, vmcb, &exit);",
    "kick-endless-refused-registers",
    SVM,
    "kicker never said",
)

ARM_CORES = (
    *NO_LOOK,
    NO_LOOK_AFTER_EXCEPTIONS,
    *NO_LOOK_AT_REFUSALS,
    NMI_TAKEN,
    MachineMutation(
        "a core heals what another has yet to answer",  # waits for it no more, nor looks again: each alone suffices
        "hal/arm/kick.c",
        """if ((core->slot && !is_left_over(partition)) || is_wanted(partition)) return;
        set_valid(&partition->root, VALID);
        arch_barrier();
        if (is_wanted(partition))""",
        """if ((core->slot && is_closed(partition) && is_left_over(partition)) || is_closed(partition)) return;
        set_valid(&partition->root, VALID);
        arch_barrier();
        if (is_wanted(partition) && is_closed(partition))""",
        "cores-kick-sibling-first",
        GICV2,
        "kicker never said",
    ),
    MachineMutation(
        "the end is not told to the other cores",
        "monitor/run.c",
        "hal_kick_siblings(core);",
        "",
        "cores-end-by-fault",
        GICV3,
        "pair said .*ticks 500",
    ),
    MachineMutation(
        "any core can be named",
        "hal/arm/psci.c",
        "if (partition->hardware_id[slot] == affinity)",
        "if (affinity)",
        "psci-start-foreign-core",
        GICV3,
        "not 'returned 0xfffffffffffffffe'",
    ),
    MachineMutation(
        "a core that runs can be started",
        "hal/arm/psci.c",
        "uint32_t found = POWER_OFF;",
        "uint32_t found = POWER_ON;",
        "psci-start-running-core",
        GICV3,
        "not 'returned 0xfffffffffffffffc'",
    ),
    MachineMutation(
        "a sandbox may be left without a core",
        "hal/arm/psci.c",
        "if (!__atomic_sub_fetch(&core->partition->cores_on, 1, __ATOMIC_ACQ_REL)) return HAL_STOP;",
        "",
        "psci-last-core-goes",
        GICV3,
        "pair is ready, not off",
    ),
    MachineMutation(
        "a core that is off hears no kick",
        "hal/arm/gic/gicv2.c",
        "core->power == POWER_ON ? GICC_PMR_OPEN : GIC_GUEST_PRIORITY",
        "core->power == POWER_ON ? GICC_PMR_OPEN : 0",
        "cores-kick-first-off",
        GICV2,
        "pair never said",
    ),
)
