# SPDX-License-Identifier: Apache-2.0
"""Mistakes in restarts, on machines: what is broken where, which case notices, and what its report then shows."""

from tests.emulated.case import ARMV7, GICV2, GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation

STAYS = "not 'returned 0x0'"


def left(what: str, file: str, old: str, case: str, platform: str, shows: str = STAYS) -> MachineMutation:
    """A line that makes something as it was at first is left out."""
    return MachineMutation(f"{what} stay", file, old, "", f"restart-forgets-{case}", platform, shows)


PC, PSCI, SWITCH = "hal/x86/core.c", "hal/arm/psci.c", "hal/arm/aarch64/switch.S"
REGISTERS = (
    left("vectors", "hal/arm/aarch64/start.c", "guest_clear_vectors();", "floating-point", GICV3),
    left("vectors", "hal/arm/armv7/start.c", "guest_clear_vectors();", "floating-point", ARMV7),
    left("thread numbers", SWITCH, "msr TPIDR_EL0, xzr", "thread-number", GICV3),
    left("thread numbers", "hal/arm/armv7/start.c", "SYSREG_WRITE(TPIDRURW, 0);", "thread-number", ARMV7),
    left("debug controls", SWITCH, "msr MDSCR_EL1, xzr", "debug-control", GICV3),
    *(left("vectors", PC, "x86_clear_extended();", "floating-point", platform) for platform in (SVM, VTX)),
    *(left("components", PC, "x86_clear_extended();", "extended-state", platform, "not 'returned 0x1'") for platform in (SVM, VTX)),
    *(left("breakpoints", PC, "x86_clear_breakpoints();", "breakpoints", platform) for platform in (SVM, VTX)),
)


def all_left(what: str, file: str, old: str, platform: str, *names: str) -> MachineMutation:
    """Several such lines, and the registers that the next life then finds, in the order in which it looks."""
    shows = ".*".join(f"left {name} 0x" for name in names)
    return MachineMutation(f"{what} stay", file, old, "", "restart-forgets-every-register", platform, shows)


START, START_32, APIC = "hal/arm/aarch64/start.c", "hal/arm/armv7/start.c", "hal/x86/apic/apic.c"
SYNDROMES = """
    SYSREG_WRITE(TPIDRRO_EL0, 0);
    SYSREG_WRITE(ELR_EL1, 0);
    SYSREG_WRITE(SPSR_EL1, 0);
    SYSREG_WRITE(ESR_EL1, 0);
    SYSREG_WRITE(FAR_EL1, 0);
    SYSREG_WRITE(PAR_EL1, 0);
"""
SYNDROMES_32 = """
    SYSREG_WRITE(DFSR, 0);
    SYSREG_WRITE(IFSR, 0);
    SYSREG_WRITE(ADFSR, 0);
    SYSREG_WRITE(AIFSR, 0);
    SYSREG_WRITE(DFAR, 0);
    SYSREG_WRITE(IFAR, 0);
    SYSREG_WRITE64(PAR, 0);
"""
TRANSLATION = """
    msr VBAR_EL1, xzr
    msr TTBR0_EL1, xzr
    msr TTBR1_EL1, xzr
    msr TCR_EL1, xzr
    msr MAIR_EL1, xzr
    msr CPACR_EL1, xzr
"""
TRANSLATION_32 = """
    SYSREG_WRITE64(TTBR0, 0);
    SYSREG_WRITE64(TTBR1, 0);
    SYSREG_WRITE(TTBCR, 0);
    SYSREG_WRITE(DACR, 0);
    SYSREG_WRITE(MAIR0, 0);
    SYSREG_WRITE(MAIR1, 0);
"""
TIMERS = "SYSREG_WRITE(CNTV_CVAL_EL0, 0); SYSREG_WRITE(CNTP_CVAL_EL0, 0);"
TIMERS_32 = "SYSREG_WRITE64(CNTV_CVAL, 0); SYSREG_WRITE64(CNTP_CVAL, 0);"
BANKED_32 = "for (unsigned n = 0; n < BANKED_REGISTERS; n++) guest_banked_write(n, 0);"
NUMBERS_32 = "SYSREG_WRITE(TPIDRURW, 0); SYSREG_WRITE(TPIDRURO, 0); SYSREG_WRITE(TPIDRPRW, 0); SYSREG_WRITE(CNTKCTL, 0);"
THUMB_EE = '__asm__ volatile("mcr p14, 6, %0, c0, c0, 0; mcr p14, 6, %0, c1, c0, 0" : : "r"(0)); /* TEECR, TEEHBR */'
COUNTERS = "hal/arm/pmu.c"
COUNTING = "PMU_WRITE(PMCR, PMU_RESET); PMU_WRITE(PMUSERENR, 0);"
EVERY_REGISTER = (
    all_left("general registers", START, "core->guest.x[n] = 0;", GICV3, "x1", "x2", "x17", "x29", "x30"),
    all_left("syndromes", START, SYNDROMES, GICV2, "SPSR_EL1", "ELR_EL1", "ESR_EL1", "FAR_EL1", "PAR_EL1", "TPIDRRO_EL0"),
    all_left("cache selections", START, "SYSREG_WRITE(CSSELR_EL1, 0);", GICV3, "CSSELR_EL1"),
    all_left("timers' times", START, TIMERS, GICV3, "CNTV_CVAL_EL0", "CNTP_CVAL_EL0"),
    all_left("translations", SWITCH, TRANSLATION, GICV3, "CPACR_EL1", "TTBR0_EL1", "TTBR1_EL1", "TCR_EL1", "MAIR_EL1", "VBAR_EL1"),
    all_left("context numbers", SWITCH, "msr CONTEXTIDR_EL1, xzr", GICV3, "CONTEXTIDR_EL1"),
    all_left("numbers and timers' rights", SWITCH, "msr TPIDR_EL1, xzr msr CNTKCTL_EL1, xzr", GICV2, "TPIDR_EL1", "CNTKCTL_EL1"),
    all_left("binary points", "hal/arm/gic/gicv3.c", "SYSREG_WRITE(ICC_BPR1_EL1, 0);", GICV3, "ICC_BPR1_EL1"),
    all_left("virtual settings", "hal/arm/gic/gicv3.c", "SYSREG_WRITE(ICH_VMCR_EL2, 0);", GICV3, "ICC_BPR0_EL1", "ICC_IGRPEN0_EL1"),
    all_left("binary points", "hal/arm/gic/gicv2.c", "gicc_write(GICC_BPR, 0); gicc_write(GICC_ABPR, 0);", GICV2, "GICC_BPR", "GICC_ABPR"),
    all_left("banked registers", START_32, BANKED_32, ARMV7, "lr_svc", "r8_fiq", "sp_fiq", "lr_irq", "sp_abt", "lr_und", "sp_usr"),
    all_left("syndromes", START_32, SYNDROMES_32, ARMV7, "DFSR", "IFSR", "DFAR", "IFAR", "PAR"),
    all_left("translations", START_32, TRANSLATION_32, ARMV7, "TTBR0", "TTBR1", "TTBCR", "DACR", "MAIR0", "MAIR1"),
    all_left("numbers", START_32, NUMBERS_32, ARMV7, "TPIDRURW", "TPIDRURO", "TPIDRPRW", "CNTKCTL"),
    all_left("timers' times", START_32, TIMERS_32, ARMV7, "CNTP_CVAL", "CNTV_CVAL"),
    all_left("counters' types", COUNTERS, "PMU_WRITE(PMXEVTYPER, 0);", GICV3, "PMCCFILTR_EL0", "PMEVTYPER0_EL0", "PMEVTYPER5_EL0"),
    all_left("counters", COUNTERS, COUNTING, ARMV7, "PMCCNTR", "PMUSERENR", "PMCR"),
    all_left("overflows", COUNTERS, "pmu_clear_overflow(guests);", ARMV7, "PMOVSSET", "PMINTENSET"),
    all_left("registers of ThumbEE", START_32, THUMB_EE, ARMV7, "TEECR", "TEEHBR"),
    *(
        all_left("general registers", PC, "core->registers = (struct x86_registers){ 0 };", vendor, "RBX", "RCX", "R8", "R15")
        for vendor in (SVM, VTX)
    ),
    all_left("priorities", APIC, "x86_wrmsr(APIC_TPR, 0);", SVM, "TPR"),
    all_left("timers' divisors", APIC, "x86_wrmsr(APIC_TIMER_DIVIDE, 0);", SVM, "TIMER_DIVIDE"),
    all_left("timers' counts", APIC, "x86_wrmsr(APIC_TIMER_INITIAL, 0);", SVM, "TIMER_INITIAL"),
    all_left("fault addresses and debug status", "hal/x86/vmx/start.c", "x86_write_cr2(0); x86_write_dr6(DR6_RESET);", VTX, "cr2", "dr6"),
    MachineMutation(
        "what the firmware left stays",
        "hal/x86/core_boot.c",
        "x86_core_forget(core);",
        "",
        "restart-forgets-every-register",
        VTX,
        "first SFMASK 0x20200",
    ),
)

RESTARTS = (
    left("active priorities", "hal/arm/gic/gicv3.c", "ICH_CLEAR_ACTIVE(0);", "active-priorities", GICV3),
    left("debug claims", "hal/arm/aarch64/start.c", "SYSREG_WRITE(DBGCLAIMCLR_EL1, DBGCLAIM_ALL);", "debug-claims", GICV2),
    MachineMutation(
        "a cache that is off stays off",
        "hal/x86/vmx/vmx.h",
        "#define CR0_KEPT (CR0_NE | CR0_NW | CR0_CD)",
        "#define CR0_KEPT CR0_NE",
        "restart-forgets-cache-control",
        VTX,
        STAYS,
    ),
    MachineMutation(
        "other cores keep their registers",
        PC,
        "x86_core_stop(core);\n\tx86_core_forget(core);",
        "x86_core_stop(core);",
        "restart-forgets-registers-of-the-second-core",
        SVM,
        r"mortal is parked: Crash\(reason='reset', core=1",  # it does not even begin its second life
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
        "memory is not scrubbed",  # but for its start, where the kernel has what it takes to be 0
        "monitor/restart.c",
        "words_at(snapshot->spans[n].start + snapshot->spans[n].bytes), NULL);",
        "words_at(snapshot->spans[n].start + snapshot->spans[n].bytes / 2), NULL);",
        "restart-forgets-memory",
        GICV3,
        "not 'returned 0x0'",
    ),
    MachineMutation(
        "of the rest, the first stretch alone is scrubbed",
        "monitor/boot/snapshot_boot.c",
        "region->kind != BH_REGION_RAM)",
        "region->kind != BH_REGION_RAM || snapshot->span_count)",
        "restart-forgets-the-rest",
        GICV3,
        "not 'returned 0x0'",
    ),
    MachineMutation(
        "nothing is kept for a restart",
        "monitor/boot/snapshot_boot.c",
        "copy_words(snapshot->copy + piece->offset, piece->target, piece->size);",
        "copy_words(snapshot->copy + piece->offset, piece->target, 0);",
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
        "hal/arm/psci.c",
        "kick_reopen(core);",
        "",
        "restart-after-a-crash",
        GICV3,
        "mortal never said 'life 1",
    ),
    MachineMutation(
        "lines keep what they were",
        "hal/arm/gic/gic_filter.c",
        "gic_reset_word(gic_at.distributor, word, view->lines[word]);",
        "",
        "restart-forgets-lines",
        GICV3,
        "not 'returned 0x0'",
    ),
    MachineMutation(
        "a core that starts finds what was pending",
        "hal/arm/psci.c",
        "gic_reset_core(core);",
        "if (!core->slot) gic_reset_core(core);",  # without any call its parts move, and no longer fit the slots of vectors.lds
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
    *EVERY_REGISTER,
    *(
        MachineMutation(f"functions stay {how}", file, reset, "", f"pci-restart-{case}", platform, f"gave 'returned {found}'")
        for file, reset, platform in (
            (PSCI, "pci_reset(&partition->pci, core->self, PCI_COMMAND_DECODE);", GICV3),
            (PC, "pci_reset(&core->partition->pci, core->self, PCI_COMMAND_DECODE);", SVM),
        )
        for how, case, found in (("as they are", "decoding", "0x100000"), ("where they were put", "displaced", "0xfff00000"))
    ),
)
