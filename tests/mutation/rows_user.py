# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the sandbox kernel's user mode and cores: what is broken where, and what the program's report then lacks."""

from tests.emulated.case import ARMV7, GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation

CASE = "user-mode"
STORM = "tests/guests/probe/storm.c"
CORE = "kernel/core/user.c"
X86_SECONDARY, ARM_CORES = "kernel/arch/x86_64/secondary.c", "kernel/arch/arm/cores.c"
A64_VECTORS, V7_VECTORS, X86_VECTORS = (f"kernel/arch/{arch}/vectors.S" for arch in ("aarch64", "armv7", "x86_64"))
LOWER_IRQ = "user_interrupt user_exception 10"  # two entries of the vector table
INTERRUPTS, REGISTERS, TURNS, PEEK = (f"never said .user {word}" for word in ("interrupts", "registers", "turns", "at data"))


def user(what: str, file: str, old: str, new: str, platform: str, shows: str) -> MachineMutation:
    return MachineMutation(what, file, old, new, CASE, platform, shows)


X86_CR3 = '({ uint64_t root; __asm__("mov %%cr3, %0" : "=r"(root)); root; })'


def cores(what: str, file: str, old: str, new: str, platform: str, shows: str, case: str = "started-away") -> MachineMutation:
    return MachineMutation(what, file, old, new, case, platform, f"never said .{shows}")


STARTED = "core 1 reads"
ATTEMPTS, LEFT = "attempts ended", "unmapped beside core 1, which left"
CORES = (
    *(
        cores("cores share what they attempt", f"kernel/arch/{arch}/vectors.S", old, new, platform, ATTEMPTS, "attempts-at-once")
        for arch, old, new, platform in (
            ("x86_64", "str %ax", "mov $SELECTOR_TSS, %eax", SVM),
            ("aarch64", "mrs x10, tpidr_el1", "mov x10, #0", GICV3),
            ("armv7", "mrc p15, 0, r5, c13, c0, 4", "mov r5, #0", ARMV7),
        )
    ),
    cores(
        "cores share what faulted",
        "kernel/core/fault.c",
        "__builtin_memcpy_inline(&last[cpu_slot()], fault",
        "__builtin_memcpy_inline(&last[0], fault",
        GICV3,
        ATTEMPTS,
        "attempts-at-once",
    ),
    *(
        cores("a core that is off counts", "kernel/core/smp.c", "space_leave_core();", "", platform, "unmapped beside", "unmapped-beside")
        for platform in (SVM, GICV3)
    ),
    *(
        cores(
            "a core that leaves keeps what it held", f"kernel/arch/{arch}/memory_hw.c", old, new, platform, LEFT, "unmapped-beside-who-left"
        )
        for arch, old, new, platform in (
            ("x86_64", "memory_switch(boot_pml4, 0); }", "(void)boot_pml4; }", SVM),
            ("aarch64", "void memory_leave(void) { memory_forget(); }", "void memory_leave(void) {}", GICV3),
            ("armv7", "void memory_leave(void) { memory_forget(); }", "void memory_leave(void) {}", ARMV7),
        )
    ),
    cores("a core starts in its starter's space", X86_SECONDARY, "(uint64_t)kernel_space.root", X86_CR3, SVM, STARTED),
    *(
        cores("a core starts in its starter's space", ARM_CORES, "(uintptr_t)kernel_space.root", f"(uintptr_t){read}", platform, STARTED)
        for platform, read in ((GICV3, "SYSREG_READ(ttbr0_el1)"), (ARMV7, "SYSREG_READ64(TTBR0)"))
    ),
)

CPU, DESCRIPTORS, X86_USER = (f"kernel/arch/x86_64/{name}.c" for name in ("cpu", "descriptors", "user"))
NEVER_JUMPED, NEVER_COUNTED = ("never said .kernel at", "never said .user counters")
CLOSES = "cpu_attempt(close_counters, 0, 0, &nothing);"
PROCESSOR = (
    user("the kernel executes a program's text", CPU, "CR4_PAE | CR4_SMEP, 0", "CR4_PAE, 0", SVM, NEVER_JUMPED),
    MachineMutation(
        "a second core executes a program's text",
        X86_SECONDARY,
        "x86_write_cr4(secondary_request.cr4);",
        "",
        "user-mode-on-second-core",
        SVM,
        NEVER_JUMPED,
    ),
    user("an x87 address is left to the next program", "kernel/arch/x86_64/fp.S", "fildl nothing(%rip)", "", SVM, TURNS),
    MachineMutation(
        "an NMI takes any stack",
        DESCRIPTORS,
        "vectors[VECTOR_NMI], IST_NMI",
        "vectors[VECTOR_NMI], 0",
        "stack-of-nmi",
        SVM,
        "refused: #DF",
    ),
    MachineMutation(
        "an NMI ends a strike, and no more",
        STORM,
        " && fault_last()->is_sent",
        " && false",
        "cores-nmi-in-a-strike",
        SVM,
        "never said 'fault NMI'",
    ),
    MachineMutation(
        "a core that is off speaks from nowhere", CPU, "memory_come_back();", "", "cores-nmi-off", SVM, "never said 'fault NMI'"
    ),
    MachineMutation(
        "no hole below a stack",
        "kernel/arch/x86_64/memory_hw.c",
        "descriptors_make_holes();",
        "",
        "stack-of-df",
        SVM,
        "was not refused by",
    ),
    *(
        MachineMutation("other cores' counters stay open", file, old, new, "user-counters", platform, "never said .user counters on core 1")
        for file, old, new, platform in (
            (X86_USER, "& ~(uint64_t)CR4_PCE)", "& ~(uint64_t)(cpu_slot() ? 0 : CR4_PCE))", SVM),
            ("kernel/arch/aarch64/user.c", CLOSES, f"if (!cpu_slot()) {CLOSES}", GICV3),
            ("kernel/arch/armv7/user.c", CLOSES, f"if (!cpu_slot()) {CLOSES}", ARMV7),
        )
    ),
    *(
        MachineMutation("counters stay open", file, old, new, "user-counters", platform, NEVER_COUNTED)
        for file, old, new, platform in (
            (X86_USER, "& ~(uint64_t)CR4_PCE", "", SVM),
            ("kernel/arch/aarch64/user.c", CLOSES, "(void)nothing; (void)close_counters;", GICV3),
            ("kernel/arch/armv7/user.c", CLOSES, "(void)nothing; (void)close_counters;", ARMV7),
        )
    ),
)

USER = (
    user(
        "user mode reads the kernel's text",
        "kernel/arch/armv7/space_format.c",
        "[SPACE_TEXT] = NORMAL | AP_READ_ONLY,",
        "[SPACE_TEXT] = NORMAL | AP_READ_ONLY | (1ULL << 6),",
        ARMV7,
        "never said .user at text",
    ),
    *(
        user(
            "the owner's floating-point registers are not saved", CORE, "cpu_fp_save(&core->fp_owner->fp);", "(void)core;", platform, TURNS
        )
        for platform in (GICV3, SVM, ARMV7)
    ),
    user("floating point is on for everybody", CORE, "cpu_fp_enable(to && core->fp_owner == to);", "cpu_fp_enable(true);", GICV3, TURNS),
    user("thread pointers stay", CORE, "cpu_user_load(to);", "(void)0;", SVM, TURNS),
    user("an interrupt of EL0 is an exception", A64_VECTORS, LOWER_IRQ, "user_exception 9\n\tuser_exception 10", GICV3, INTERRUPTS),
    user("an interrupt of EL0 notes its arrival in X18", A64_VECTORS, LOWER_IRQ, "interrupt\n\tuser_exception 10", GICV3, REGISTERS),
    user("an interrupt notes its arrival in R9", V7_VECTORS, "mrc p15, 0, sp, c14, c3, 0", "mrc p15, 0, r9, c14, c3, 0", ARMV7, REGISTERS),
    user("ring 3 has no way in", X86_VECTORS, "call descriptors_set_user_entry_stack jmp", "jmp", SVM, INTERRUPTS),
    user(
        "user mode reaches the kernel's memory",
        "kernel/arch/x86_64/space_format.c",
        "[SPACE_DATA] = WRITABLE,",
        "[SPACE_DATA] = WRITABLE | USER,",
        SVM,
        PEEK,
    ),
)

CALL, PARK = (f"never said .user hypercall {call:#x}" for call in (0xC6000000, 0xC6000002))
CALLS = tuple(
    MachineMutation(what, file, old, new, "hypercall-from-user-mode", platform, shows)
    for what, file, old, new, platform, shows in (
        ("users end their sandbox", "hal/x86/svm/svm.c", "vmcb->save.cpl ? BH_EXIT_FORBIDDEN : BH_EXIT_CALL", "BH_EXIT_CALL", SVM, PARK),
        ("users are answered at once", "hal/x86/svm/svm.c", "if (vmcb->save.cpl || core", "if (core", SVM, CALL),
        ("users call", "hal/x86/vmx/vmx.c", "if (vmx_read(GUEST_SS_ACCESS_RIGHTS) & DPL)", "if (false)", VTX, CALL),
    )
)
