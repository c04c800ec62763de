# SPDX-License-Identifier: Apache-2.0
"""The table of mistakes for test_machine_mutations.py: what is broken where, which case notices, and what its report then shows."""

from dataclasses import dataclass

from tests.emulated.case import GICV2, GICV3, SVM
from tests.mutation.mutation import Mutation


@dataclass(frozen=True)
class MachineMutation(Mutation):
    """`caught_by` is a row of the table of emulated cases; `shows` a pattern in the report of its failure."""

    platform: str
    shows: str


X86 = (
    MachineMutation(
        "a guest may close the gate for kicks",
        "hal/svm/svm_boot.c",
        "1u << INTERCEPT_4_CLGI |",
        "",
        "svm-instructions",
        SVM,
        "'clgi' was not refused",
    ),
    MachineMutation(
        "NMIs go to the guest",
        "hal/svm/svm_boot.c",
        "1u << INTERCEPT_3_NMI |",
        "",
        "kick-spinning-few",
        SVM,
        "kicker never said",
    ),
    MachineMutation(
        "registers without a row are the machine's",
        "hal/svm/svm_boot.c",
        "x86_take_denied(arena, MSR_MAP_FRAMES)",
        "hal_arena_take(arena, MSR_MAP_FRAMES)",
        "msr-svm",
        SVM,
        "was not refused",
    ),
    MachineMutation(
        "ports without a grant are the machine's",
        "hal/x86/partition_boot.c",
        "x86_take_denied(arena, PORT_MAP_FRAMES)",
        "hal_arena_take(arena, PORT_MAP_FRAMES)",
        "port-emulator-exit",
        SVM,
        "the machine ended",
    ),
    MachineMutation(
        "the command register is direct",
        "hal/x86/msr_boot.c",
        "{ APIC_ESR, APIC_ESR, HAL_WRITE },",
        "{ APIC_ESR, APIC_ICR, HAL_WRITE },",
        "icr-fixed",
        SVM,
        r"victim said .*stray interrupt (0x)?55\b",
    ),
    MachineMutation(
        "a destination is not looked at",
        "hal/irq/apic.c",
        "if (targets.foreign) return HAL_FAULT;",
        "",
        "icr-logical-own-and-foreign",
        SVM,
        "attacker was not parked",
    ),
    MachineMutation(
        "any delivery mode is sent on",
        "hal/irq/apic.c",
        "mode == APIC_LOWEST || mode == APIC_SMI ||",
        "mode == APIC_LOWEST ||",
        "icr-smi-to-own-core",
        SVM,
        "was not refused",
    ),
    MachineMutation(
        "local vectors are direct",
        "hal/x86/msr_boot.c",
        "{ APIC_TIMER_INITIAL, APIC_TIMER_INITIAL, HAL_WRITE },",
        "{ APIC_LVT_TIMER, APIC_TIMER_INITIAL, HAL_WRITE },",
        "lvt-timer-nmi",
        SVM,
        "was not refused",
    ),
    MachineMutation(
        "the time base can be written",
        "hal/x86/msr_boot.c",
        "{ MSR_TSC, MSR_TSC, HAL_READ },",
        "{ MSR_TSC, MSR_TSC, HAL_READ | HAL_WRITE },",
        "msr-time",
        SVM,
        "'wrmsr=0x10,0' was not refused",
    ),
    MachineMutation(
        "the local APIC can be moved",
        "hal/x86/msr.c",
        "read_apic_base(core, msr, &fixed) && *value == fixed;",
        "read_apic_base(core, msr, &fixed);",
        "msr-apic-base",
        SVM,
        "was not refused",
    ),
    MachineMutation(
        "SVM can be switched off from inside",
        "hal/x86/msr.c",
        "*value & ~(uint64_t)(EFER_CHOICE | EFER_LMA) ||",
        "",
        "msr-efer-svme",
        SVM,
        "was not refused",
    ),
    MachineMutation(
        "window pages are writable",
        "monitor/partition_boot.c",
        "region->permissions,",
        "region->permissions | HAL_WRITE,",
        "write-own-statistics",
        SVM,
        "attacker was not parked",
    ),
)

ARM_GICV3 = (
    MachineMutation(
        "a parked core answers no kick",
        "monitor/run.c",
        "stats->kicks += hal_kick_take(core); hal_core_wait(core);",
        "hal_core_wait(core);",
        "kick-parked",
        GICV3,
        "kicker never said",
    ),
    MachineMutation(
        "anybody may kick",
        "monitor/exits.c",
        "target >= BH_MAX_SANDBOXES || !(monitor.may_kick >> target & 1)",
        "target >= BH_MAX_SANDBOXES",
        "kick-denied",
        GICV3,
        "kicker is parked",
    ),
    MachineMutation(
        "a refused access is tried again",
        "monitor/exits.c",
        "[BH_EXIT_KICK] = resume,",
        "[BH_EXIT_KICK] = resume, [BH_EXIT_MEMORY] = resume,",
        "read-foreign-ram",
        GICV3,
        "attacker was not parked",
    ),
    MachineMutation(
        "sending is not trapped",
        "hal/irq/gicv3_boot.c",
        "return HCR_FMO;",
        "return 0;",
        "sgi-foreign",
        GICV3,
        r"victim said .*stray interrupt (0x)?5\b",
    ),
    MachineMutation(
        "the send filter lets the kick's number pass",
        "hal/irq/gicv3.c",
        "exit->gpa != SYSREG_ICC_SGI1R || intid == GIC_KICK_SGI",
        "exit->gpa != SYSREG_ICC_SGI1R",
        "sgi-reserved-number-own",
        GICV3,
        "attacker was not parked",
    ),
    MachineMutation(
        "the redistributor filter gives the kick away",
        "hal/irq/gicv3.c",
        "banked_lines[] = { GIC_GUEST_BANKED };",
        "banked_lines[] = { UINT32_MAX };",
        "disarm-disable-sgis",
        GICV3,
        "kicker never said",
    ),
    MachineMutation(
        "the distributor filter knows no owner",
        "hal/irq/gic_filter.c",
        "return word < frame->words && frame->lines[word] >> line % GIC_LINES_A_WORD & 1;",
        "return word < GIC_WORDS;",
        "distributor-disable-foreign-line",
        GICV3,
        "victim never said",
    ),
    MachineMutation(
        "firmware calls reach the firmware",
        "hal/stage2/aarch64/core_boot.c",
        "HCR_AMO | HCR_TSC |",
        "HCR_AMO |",
        "firmware-power-off",
        GICV3,
        "the machine ended",
    ),
    MachineMutation(
        "debug and performance registers are the machine's",
        "hal/stage2/aarch64/core_boot.c",
        "#define MDCR_CONFINED 0x84c60u",
        "#define MDCR_CONFINED 0u",
        "mrs-performance",
        GICV3,
        "was not refused",
    ),
)

ARM_GICV2 = (
    MachineMutation(
        "the send filter knows no owner",
        "hal/irq/gicv2.c",
        " || targets & ~own_interfaces(core->partition)",
        "",
        "sgir-foreign",
        GICV2,
        r"victim said .*stray interrupt (0x)?5\b",
    ),
    MachineMutation(
        "a guest sleeps by itself",
        "hal/irq/gicv2_boot.c",
        "return partition->trusted_idle ? 0 : HCR_TWI;",
        "return 0;",
        "kick-behind-a-closed-interface",
        GICV2,
        "kicker never said",
    ),
    MachineMutation(
        "a kick poisons nothing",
        "hal/stage2/kick.c",
        "set_valid(root, 0);",
        "set_valid(root, VALID);",
        "kick-spinning-few",
        GICV2,
        "kicker never said",
    ),
    MachineMutation(
        "poison is not healed",
        "hal/stage2/kick.c",
        "set_valid(root, VALID);",
        "set_valid(root, 0);",
        "kick-each-other",
        GICV2,
        "never said",
    ),
    MachineMutation(
        "a poisoned entry is taken for a hole",
        "hal/stage2/aarch64/abort.c",
        "return was_poisoned(core, esr, exit->gpa) ? BH_EXIT_KICK : BH_EXIT_MEMORY;",
        "return was_poisoned(core, esr, exit->gpa) ? BH_EXIT_MEMORY : BH_EXIT_MEMORY;",
        "kick-spinning-few",
        GICV2,
        "victim: parked",
    ),
    MachineMutation(
        "a kick wakes nobody",
        "hal/stage2/kick.c",
        "gic_signal(victim->hardware_id);",
        "",
        "kick-asleep-few",
        GICV2,
        "kicker never said",
    ),
    MachineMutation(
        "who kicks does not answer meanwhile",
        "monitor/exits.c",
        "monitor.stats->core[slot].kicks += hal_kick_take(core);",
        "",
        "kick-each-other",
        GICV2,
        "never said",
    ),
)

MUTATIONS = (*X86, *ARM_GICV3, *ARM_GICV2)
