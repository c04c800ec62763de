# SPDX-License-Identifier: Apache-2.0
"""Mistakes in what monitors of ARM machines answer at once, and in what a kick poisons."""

from tests.emulated.case import ARMV7, GICV2, GICV3
from tests.mutation.machine_mutation import MachineMutation

STRAY = r"victim said .*stray interrupt (0x)?5\b"
NOT_PARKED = "attacker was not parked"
PLAIN_SGI = "~(view->sgi_list | intid)"

SGIS = tuple(
    MachineMutation(what, "hal/arm/gic/gicv3.c", old, new, case, GICV3, shows)
    for what, old, new, case, shows in (
        ("any core of the group is named at once", PLAIN_SGI, "~(UINT64_C(0xffff) | intid)", "sgi-foreign", STRAY),
        ("everybody else is named at once", PLAIN_SGI, "~(view->sgi_list | intid | ICC_SGIR_IRM)", "sgi-everybody-else", STRAY),
        ("clusters do not count at once", PLAIN_SGI, "~(view->sgi_list | intid | 0xff0000)", "sgi-other-cluster", NOT_PARKED),
        (
            "middle clusters do not count at once",
            PLAIN_SGI,
            "~(view->sgi_list | intid | UINT64_C(255) << 32)",
            "sgi-other-middle-cluster",
            NOT_PARKED,
        ),
        (
            "great clusters do not count at once",
            PLAIN_SGI,
            "~(view->sgi_list | intid | UINT64_C(255) << 48)",
            "sgi-other-great-cluster",
            NOT_PARKED,
        ),
        ("ranges do not count at once", PLAIN_SGI, "~(view->sgi_list | intid | UINT64_C(15) << 44)", "sgi-other-range", NOT_PARKED),
        ("the kick's number is sent at once", "|| !(~value & intid)", "", "sgi-reserved-number-own", NOT_PARKED),
        (
            "group 0 is group 1 at once",
            "if ((syndrome & (SYSREG_NUMBER | SYSREG_IS_READ)) != SYSREG_ICC_SGI1R)",
            "if (!register_is_ipi(syndrome & SYSREG_NUMBER))",
            "sgi0-group-0-own",
            NOT_PARKED,
        ),
    )
)

CALLS = (
    MachineMutation(
        "every call is one for the version",
        "hal/arm/run.c",
        "else if (guest_function(core) != BH_CALL_VERSION) return 0;",
        "",
        "kick-denied",
        GICV3,
        "kicker never said",
    ),
    MachineMutation(
        "an immediate does not count at once",
        "hal/arm/aarch64/switch.S",
        "cmp x2, x3",
        "and x2, x2, #0xffffffffffff0000; cmp x2, x3",
        "hypercall-immediate",
        GICV3,
        "was not refused",
    ),
    MachineMutation(
        "an immediate does not count at once",
        "hal/arm/armv7/switch.S",
        "cmpeq r2, #SYNDROME_PLAIN_CALL",
        "lsr r2, #26; cmpeq r2, #0x12",
        "hypercall-immediate",
        ARMV7,
        "was not refused",
    ),
    MachineMutation(
        "who calls at once finds a register of the monitor's",
        "hal/arm/aarch64/switch.S",
        "b guest_resume",
        "mov x20, x0; b guest_resume",
        "call-registers",
        GICV3,
        "not 'returned 0x0'",
    ),
    MachineMutation(
        "who calls at once is asked again",
        "hal/arm/armv7/switch.S",
        "bne guest_resume",
        "",
        "call-version-32",
        ARMV7,
        "attacker",
    ),
    MachineMutation(
        "who switches his core off is answered at once",
        "hal/arm/run.c",
        "1u << BH_EXIT_DEVICE | 1u << BH_EXIT_IDLE",
        "1u << BH_EXIT_DEVICE | 1u << BH_EXIT_FIRMWARE",
        "cores-cycle",
        GICV3,
        "pair ",
    ),
)

ACCESSES = (
    *(
        MachineMutation(
            "an access at once goes to any line",
            "hal/arm/gic/gic_filter.c",
            "access.granted = granted_word(view->lines, view->words, offset / 4 % GIC_WORDS);",
            "access.granted = view ? UINT32_MAX : 0;",
            "distributor-disable-foreign-line",
            platform,
            "victim",
        )
        for platform in (GICV3, GICV2)
    ),
    MachineMutation(
        "a byte is a word at once",
        "hal/arm/abort.c",
        "if ((syndrome & WORD_MASK) != WORD_ACCESS ||",
        "if ((syndrome & WORD_MASK & ~(3u << 22)) != (WORD_ACCESS & ~(3u << 22)) ||",
        "distributor-a-byte-of-bits",
        GICV3,
        NOT_PARKED,
    ),
    MachineMutation(
        "priorities are bits at once",
        "hal/arm/gic/gic_filter.c",
        ">= GICD_IPRIORITYR - GICD_ISENABLER ||",
        ">= GICD_ITARGETSR - GICD_ISENABLER ||",
        "distributor-priorities",
        GICV2,
        "not 'returned 0x10101010'",
    ),
    MachineMutation(
        "an SGI that may not be sent is done at once",
        "hal/arm/gic/gicv2.c",
        "if (gic_emulate_ipi(core, exit) != HAL_SKIP) return false;",
        "gic_emulate_ipi(core, exit);",
        "sgir-foreign",
        GICV2,
        NOT_PARKED,
    ),
)

UNCOUNTED = tuple(
    MachineMutation(f"{kind} at once are not counted", file, f"core->exits[{index}]++;", "", case, platform, "measured|attacker")
    for kind, file, index, case, platform in (
        ("calls", "hal/arm/run.c", "BH_EXIT_CALL", "trips-call", GICV3),
        ("accesses", "hal/arm/gic/gic_filter.c", "BH_EXIT_DEVICE", "trips-device-write", GICV3),
        ("other accesses", "hal/arm/run.c", "exit->kind", "storm-device", GICV3),
        ("SGIs", "hal/arm/gic/gicv3.c", "BH_EXIT_IPI", "trips-ipi", GICV3),
        ("SGIs", "hal/arm/gic/gicv2.c", "BH_EXIT_IPI", "trips-ipi", GICV2),
    )
)

ROOTS = (
    MachineMutation(
        "a kick poisons only the first entry",
        "hal/arm/partition_boot.c",
        "if (partition->stage2.root[n])",
        "if (!n)",
        "kick-spinning-few",
        GICV2,
        "kicker never said",
    ),
    MachineMutation(
        "a kicker knows no entry",
        "hal/arm/partition_boot.c",
        "target->root.used[word] = to->root.used[word];",
        "target->root.used[word] = 0;",
        "kick-spinning-few",
        GICV2,
        "kicker never said",
    ),
    MachineMutation(
        "nobody waits for a signal that is on its way",
        "hal/arm/kick.c",
        "polls++ < POLLS &&",
        "polls++ < 1 &&",
        "stress-each-other-idle-long",
        GICV2,
        r"stray interrupt (0x)?[0-9a-f]+",
    ),
)

AT_ONCE_ARM = (*SGIS, *CALLS, *ACCESSES, *UNCOUNTED, *ROOTS)
