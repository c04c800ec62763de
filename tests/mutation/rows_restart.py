# SPDX-License-Identifier: Apache-2.0
"""Mistakes in restarts: what is broken where, which case notices, and what its report then shows."""

from tests.emulated.case import ARMV7, GICV2, GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation

STAYS = "not 'returned 0x0'"


def left(what: str, file: str, old: str, case: str, platform: str, shows: str = STAYS) -> MachineMutation:
    """A line that makes something as it was at first is left out."""
    return MachineMutation(f"{what} stay", file, old, "", f"restart-forgets-{case}", platform, shows)


PC, PSCI, SWITCH = "hal/x86/core.c", "hal/stage2/psci.c", "hal/stage2/aarch64/switch.S"
REGISTERS = (
    left("vectors", "hal/stage2/aarch64/start.c", "guest_clear_vectors();", "floating-point", GICV3),
    left("vectors", "hal/stage2/armv7/start.c", "guest_clear_vectors();", "floating-point", ARMV7),
    left("thread numbers", SWITCH, "msr TPIDR_EL0, xzr", "thread-number", GICV3),
    left("thread numbers", "hal/stage2/armv7/start.c", "SYSREG_WRITE(TPIDRURW, 0);", "thread-number", ARMV7),
    left("debug controls", SWITCH, "msr MDSCR_EL1, xzr", "debug-control", GICV3),
    *(left("vectors", PC, "x86_clear_extended();", "floating-point", platform) for platform in (SVM, VTX)),
    *(left("components", PC, "x86_clear_extended();", "extended-state", platform, "not 'returned 0x1'") for platform in (SVM, VTX)),
    *(left("breakpoints", PC, "x86_clear_breakpoints();", "breakpoints", platform) for platform in (SVM, VTX)),
)

RESTARTS = (
    left("active priorities", "hal/irq/gicv3.c", "ICH_CLEAR_ACTIVE(0);", "active-priorities", GICV3),
    left("debug claims", "hal/stage2/aarch64/start.c", "SYSREG_WRITE(DBGCLAIMCLR_EL1, DBGCLAIM_ALL);", "debug-claims", GICV2),
    MachineMutation(
        "a cache that is off stays off",
        "hal/vmx/vmx.h",
        "#define CR0_KEPT (CR0_NE | CR0_NW | CR0_CD)",
        "#define CR0_KEPT CR0_NE",
        "restart-forgets-cache-control",
        VTX,
        STAYS,
    ),
    MachineMutation(
        "other cores keep their registers",
        PC,
        "x86_core_stop(core);\n\tforget(core);",
        "x86_core_stop(core);",
        "restart-forgets-registers-of-the-second-core",
        SVM,
        STAYS,
    ),
    MachineMutation(
        "an interrupt with the vector of a machine check is one",
        "arch/x86_64/resident.S",
        "jc\tx86_ignore",
        "",
        "restart-forgets-ipis-like-machine-checks",
        SVM,
        "mortal",
    ),
    MachineMutation(
        "memory is not scrubbed",
        "monitor/restart.c",
        "for (; to < end; to += 4)",
        "for (; end < to; to += 4)",
        "restart-forgets-memory",
        GICV3,
        "not 'returned 0x0'",
    ),
    MachineMutation(
        "nothing is kept for a restart",
        "monitor/pristine_boot.c",
        "copy_words(pristine->copy + piece->offset, piece->target, piece->size);",
        "copy_words(pristine->copy + piece->offset, piece->target, 0);",
        "restart-after-a-crash",
        GICV3,
        "mortal never said 'life 1",
    ),
    MachineMutation(
        "restarts are not counted",
        "monitor/run.c",
        "monitor.restarts_left -= again;",
        "",
        "restart-until-it-is-enough",
        GICV3,
        "mortal was restarted",
    ),
    MachineMutation(
        "stage 2 stays closed",
        "hal/stage2/psci.c",
        "kick_reopen(core);",
        "",
        "restart-after-a-crash",
        GICV3,
        "mortal never said 'life 1",
    ),
    MachineMutation(
        "lines keep what they were",
        "hal/stage2/psci.c",
        "gic_reset_lines(partition);",
        "",
        "restart-forgets-lines",
        GICV3,
        "not 'returned 0x0'",
    ),
    MachineMutation(
        "a core that starts finds what was pending",
        "hal/stage2/psci.c",
        "gic_reset_core(core);",
        "",
        "restart-forgets-ipis",
        GICV3,
        "mortal never said",
    ),
    MachineMutation(
        "silence is not noticed",
        "monitor/restart.c",
        "return watch->since && now - watch->since > watch->timeout;",
        "return false;",
        "heartbeat-missed",
        GICV3,
        "mortal was restarted 0 times",
    ),
    MachineMutation(
        "registers of system calls stay",
        "hal/x86/core.c",
        "x86_wrmsr(msr, 0);",
        "",
        "restart-forgets-registers",
        VTX,  # on SVM they are part of the state that is loaded
        "not 'returned 0x0'",
    ),
    MachineMutation(
        "a warm reset is not known",
        PSCI,
        "(number == SYSTEM_RESET2 && !argument(core, 1))",
        "(number == SYSTEM_RESET2 && argument(core, 1))",
        "restart-by-psci-warm",
        GICV3,
        "mortal was restarted 0 times",
    ),
    *REGISTERS,
    *(
        MachineMutation("functions stay as they are", file, reset, "", f"pci-restart-{case}", platform, f"gave 'returned {found}'")
        for file, reset, case, platform, found in (
            (PSCI, "pci_reset(&partition->pci);", "decoding", GICV3, "0x100400"),
            (PC, "pci_reset(&core->partition->pci);", "displaced", SVM, "0xfff00000"),
        )
    ),
)
