# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in doorbells of channels: who may ring, how soon again, what reaches the machine, what start-up takes of a table, what the sandbox kernel
makes of a ring, and what admission counts."""

from tests.mutation.mutation import Mutation

CLAIM, X86, ARM, GIC = "hal/doorbell.h", "hal/x86/kick.c", "hal/arm/run.c", "hal/arm/gic/gic_filter.c"
FILTER, FILTER_START = "hal/x86/apic/ioapic.c", "hal/x86/apic/ioapic_boot.c"
CHANNELS_START, CHECKS = "monitor/boot/channels_boot.c", "monitor/boot/table/channels_boot.c"
KERNEL, IRQ, ADMIT, SHELL = "kernel/core/doorbells.c", "kernel/core/irq.c", "kernel/core/admit.c", "kernel/core/shell_channels.c"
SYNC, SCENES = "kernel/core/sync.c", "kernel_thread_test"
ON_X86, ON_ARM, IN_KERNEL = "doorbell_x86_test", "doorbell_arm_test", "kernel_doorbells_test"
DOORBELL_PROGRAMS = {name: f"tests/unit/{name}.c" for name in (ON_X86, ON_ARM, IN_KERNEL)}
DOORBELL_PARTS = {ON_X86: [X86], ON_ARM: [ARM, GIC], IN_KERNEL: [KERNEL, "kernel/core/text.c", "tests/unit/fake_cpu.c"]}
DENIED = "if (n >= BH_MAX_CHANNELS) return BH_E_DENIED;"
TOO_SOON = "if ((int64_t)(now - next) < 0)"


def claim(what: str, old: str, new: str = "", caught_by: str = ON_X86) -> Mutation:
    return Mutation(f"doorbells: {what}", CLAIM, old, new, caught_by)


def x86(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"doorbells on PCs: {what}", X86, old, new, ON_X86)


def arm(what: str, old: str, new: str = "", file: str = ARM) -> Mutation:
    return Mutation(f"doorbells on ARM: {what}", file, old, new, ON_ARM)


def lines(what: str, old: str, new: str = "", file: str = FILTER) -> Mutation:
    return Mutation(f"lines that are rung: {what}", file, old, new, "ioapic_test")


def begins(what: str, old: str, new: str = "", file: str = CHANNELS_START, caught_by: str = "channels_boot_test") -> Mutation:
    return Mutation(f"doorbells begin: {what}", file, old, new, caught_by)


def kernel(what: str, old: str, new: str = "", file: str = KERNEL, caught_by: str = IN_KERNEL) -> Mutation:
    return Mutation(f"kernel's doorbells: {what}", file, old, new, caught_by)


def admission(what: str, old: str, new: str = "") -> Mutation:
    return kernel(what, old, new, ADMIT, "kernel_admit_test")


DOORBELL_ROWS = (
    # Who may ring, and when.
    *(
        row
        for caught_by, machine in ((ON_X86, "PCs"), (ON_ARM, "ARM"))
        for row in (
            claim(f"no grant is needed on {machine}", "if (!bell->gap) return BH_E_DENIED;", "", caught_by),
            claim(f"as often as one likes on {machine}", f"{TOO_SOON} return BH_E_LATER;", "", caught_by),
            claim(f"what the other core has written comes late on {machine}", "arch_barrier();", "", caught_by),
        )
    ),
    claim("a tick too late", TOO_SOON, "if ((int64_t)(now - next) <= 0)"),
    claim("a tick too soon", TOO_SOON, "if ((int64_t)(now - next) < -1)"),
    claim("a counter that begins anew", TOO_SOON, "if (now < next)"),
    claim("rings that were not are saved up", "&next, now + bell->gap,", "&next, next + bell->gap,"),
    claim("who asks too soon waits longer", "return BH_E_LATER;", "{ bell->next = now + bell->gap; return BH_E_LATER; }"),
    claim(
        "two cores ring at once",
        "*rings = __atomic_compare_exchange_n(&bell->next, &next, now + bell->gap, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);",
        "bell->next = now + bell->gap; *rings = true;",
    ),
    claim(
        "of two cores one is refused",
        "__ATOMIC_RELAXED, __ATOMIC_RELAXED); return BH_OK;",
        "__ATOMIC_RELAXED, __ATOMIC_RELAXED); return *rings ? BH_OK : BH_E_LATER;",
    ),
    x86("any number", DENIED),
    x86("one number more", DENIED, "if (n > BH_MAX_CHANNELS) return BH_E_DENIED;"),
    x86("numbers of 32 bits", DENIED, "n = (uint32_t)n; if (n >= BH_MAX_CHANNELS) return BH_E_DENIED;"),
    x86("whoever is refused rings", "if (!rings) return result;"),
    x86("a masked line is rung", "if (vector) apic_send(doorbell", "apic_send(doorbell"),
    x86("to the first core", "apic_send(doorbell->told->core, APIC_FIXED", "apic_send(0, APIC_FIXED"),
    x86("an NMI", "told->core, APIC_FIXED", "told->core, APIC_NMI"),
    arm("any number", DENIED),
    arm("one number more", DENIED, "if (n > BH_MAX_CHANNELS) return BH_E_DENIED;"),
    arm("numbers of 32 bits", DENIED, "n = (uint32_t)n; if (n >= BH_MAX_CHANNELS) return BH_E_DENIED;"),
    arm("whoever is refused rings", "if (rings) gic_ring", "gic_ring"),
    arm("a ring before what was written", "arch_barrier();", "", GIC),
    arm("another register", "GICD_ISPENDR +", "GICD_ISENABLER +", GIC),
    arm("lines of the first word", "UINT64_C(4) * (line / GIC_LINES_A_WORD),", "0,", GIC),
    arm("all lines of a word", "UINT32_C(1) << line % GIC_LINES_A_WORD);", "UINT32_MAX);", GIC),
    arm("every call is one for the version", "else if (guest_function(core) != BH_CALL_VERSION) return 0;"),
    arm("another argument", "hal_doorbell_ring(core, hal_core_argument(core))", "hal_doorbell_ring(core, guest_read(core, 2))"),
    arm("nobody is told what came of it", "hal_core_set_result(core, (uint64_t)result);"),
    arm("exits at once are not counted", "core->exits[BH_EXIT_CALL]++;"),
    # Lines in the filter of the I/O APIC.
    lines("a pin of the machine is programmed", "if (line->rung) __atomic_store_n", "if (false) __atomic_store_n"),
    lines("a pin of the machine is turned", "if (line->rung) partition->ioapic", "if (false) partition->ioapic"),
    lines("masked and told", "entry & REDIRECTION_MASKED ? 0 : entry & REDIRECTION_VECTOR", "entry & REDIRECTION_VECTOR"),
    lines(
        "an end leaves them open",
        "set(&partition->ioapic, &lines[n], REDIRECTION_MASKED);",
        "if (!lines[n].rung) set(&partition->ioapic, &lines[n], REDIRECTION_MASKED);",
    ),
    lines("always to the first core", "->core = partition->apic_id[slot];", "->core = partition->apic_id[0];"),
    lines("to any core", "if (targets & APIC_FOREIGN || !targets)", "if (!targets)"),
    lines("the state of a pin", "(line->rung ? 0 : ioapic_read(line->index) & STATE)", "(ioapic_read(line->index) & STATE)"),
    lines("level-triggered", "|| flags & BH_LINE_LEVEL ||", "||", FILTER_START),
    lines("pins that there are", "pin < BH_FIRST_RUNG_LINE || ", "", FILTER_START),
    lines("lines beyond the last", "pin > BH_LAST_RUNG_LINE || ", "", FILTER_START),
    lines("more than there are channels", "view->told_count == BH_MAX_CHANNELS || ", "", FILTER_START),
    *(
        begins(what, old, new, "hal/x86/partition_boot.c", "contract_x86_test")
        for what, old, new in (
            (
                "lines of the machine reach who is only rung",
                "return ioapic_grant_rung(&to->",
                "admit_lines(to); return ioapic_grant_rung(&to->",
            ),
            ("lines of the machine reach nobody who is rung", "view->count == view->told_count &&", "!view->count &&"),
            ("sealed", "if (to->sealed) return HAL_E_SEALED;", ""),
            ("foreign cores", "if (slot == to->core_count) return HAL_E_DENIED;", ""),
            ("any vector", "if (line->vector < IOAPIC_FIRST_VECTOR || line->vector > IOAPIC_LAST_VECTOR) return HAL_E_RANGE;", ""),
        )
    ),
    # Start-up.
    begins("a gap is cut", "(rest + US_PER_S - 1) / US_PER_S", "rest / US_PER_S"),
    begins("whole kHz", "uint64_t rest = us % US_PER_S * clock_hz;", "uint64_t rest = us % US_PER_S * (clock_hz / 1000 * 1000);"),
    begins("seconds do not count", "us / US_PER_S * clock_hz + (", "("),
    begins("who rings is told", ".told = &page_of(row)->end[!end],", ".told = &page_of(row)->end[end],"),
    begins("by its own line", ".line = row->rung_line[!end],", ".line = row->rung_line[end],"),
    begins("as often as the other end", ".gap = ticks(row->gap_us[end],", ".gap = ticks(row->gap_us[!end],"),
    begins("the end that rings is rung", "return &page_of(row)->end[end];", "return &page_of(row)->end[!end];"),
    begins("any channel of the sandbox", " || row->rung_line[end] != line->line)", ")"),
    begins("a device's line", "line->flags & BH_LINE_RUNG ?", "false ?", "monitor/boot/partition_boot.c", "partition_test"),
    begins("a core does not get them", "stats->exits, monitor.doorbells);", "stats->exits, 0);", "monitor/run.c", "run_test"),
    *(
        begins(what, old, new, CHECKS, "table_test")
        for what, old, new in (
            ("another sandbox's line", "row->sandbox == sandbox && row->flags", "row->flags"),
            ("a device's line will do", "row->sandbox == sandbox && row->flags & BH_LINE_RUNG", "row->sandbox == sandbox"),
            ("one line for two ends", "ends != 1", "!ends"),
            ("a line of nobody's", "ends != 1", "ends > 1"),
            ("lines for who is not rung", "!row->gap_us[end] != !row->rung_line[!end]", "row->gap_us[end] && !row->rung_line[!end]"),
            ("who rings without a line", "!row->gap_us[end] != !row->rung_line[!end]", "!row->gap_us[end] && row->rung_line[!end]"),
        )
    ),
    # The sandbox kernel.
    kernel("rows of all kinds are channels", "if (info->grants[n].kind != BH_GRANT_CHANNEL) continue;", "", "kernel/core/channels.h"),
    kernel("all rows are doorbells", "if (grant->kind != BH_GRANT_DOORBELL) continue;"),
    kernel("who is never rung has a handler", "if (grant->line != BH_LINE_NONE) hear", "hear"),
    kernel("who is never rung waits", "return is_rung(doorbell) && !cpu_slot();", "return !cpu_slot();"),
    kernel("any core waits", "return is_rung(doorbell) && !cpu_slot();", "return is_rung(doorbell);"),
    kernel("each ring is kept", ".rung = { .most = 1 },"),
    kernel("one interrupt rings all", "if (*one->served == one->seen) continue;", ""),
    kernel("the last one alone is heard", "doorbell->next = heard;"),
    kernel("what was told of is told again", "one->seen = *one->served;"),
    kernel(
        "a ring while nobody waits is lost",
        "semaphore_give_in_handler(&one->rung);",
        "if (one->rung.waiting.top) semaphore_give_in_handler(&one->rung);",
    ),
    kernel("what came too soon is lost", "timer_add(&doorbell->later, arch_counter() + clock_from_ns(doorbell->grant->gpa));"),
    kernel(
        "what comes too soon once more is lost", "if (doorbell_ring(one) == BH_E_LATER) leave_to_timer(one);", "(void)doorbell_ring(one);"
    ),
    kernel("two threads set one event", "if (!__atomic_exchange_n(&doorbell->left, true, __ATOMIC_SEQ_CST))", "if (true)"),
    kernel("what is left to the event stays so", "__atomic_store_n(&one->left, false, __ATOMIC_SEQ_CST);"),
    kernel(
        "who comes too soon asks again", "if (!__atomic_load_n(&doorbell->left, __ATOMIC_RELAXED) && doorbell_ring", "if (doorbell_ring"
    ),
    kernel("interrupts stay disabled", "cpu_interrupts_restore(enabled);"),
    kernel("the gap of the other end", "return doorbell->grant->gpa;", "return doorbell->grant->size;"),
    kernel("a count of another core", "h ? &h->count[cpu_slot()] : NULL", "h ? &h->count[0] : NULL", IRQ, "irq_test"),
    kernel("a number is not told", "return number; } static struct", "return 0; } static struct", IRQ, "irq_test"),
    kernel(
        "the first handler of a number stays", "h->handle = handle; return;", "if (!h->handle) h->handle = handle; return;", IRQ, "irq_test"
    ),
    kernel("a number has two handlers", "if (h->handle && h->number != number)", "if (h->handle)", IRQ, "irq_test"),
    kernel("whoever attaches takes what it finds", "if (h->handle && h->number != number)", "if (false)", IRQ, "irq_test"),
    kernel("counts begin anew", "if (!h->handle) *h =", "*h =", IRQ, "irq_test"),
    kernel(
        "who waits is not woken",
        "thread_wake(thread_first_waiting(&semaphore->waiting)); return THREAD_OK;",
        "return THREAD_OK;",
        SYNC,
        SCENES,
    ),
    kernel(
        "nobody waits, and it is woken",
        "if (!semaphore->waiting.top) return count_up(semaphore);",
        "if (!semaphore->waiting.top) return THREAD_OK;",
        SYNC,
        SCENES,
    ),
    kernel("too soon is done", "else if (result == BH_E_LATER)", "else if (false)", SHELL, "kernel_channels_test"),
    kernel("refused is done", 'said = "not granted";', 'said = "done";', SHELL, "kernel_channels_test"),
    # Admission at run time.
    admission("they cost nothing", "note_doorbells(); thread_each_vcpu(note);", "thread_each_vcpu(note);"),
    admission("who rings is rung", "BH_GRANT_DOORBELL && gap)", "BH_GRANT_DOORBELL)"),
    admission("as often as it rings itself", "by_this_end ? grant->gpa : grant->size", "grant->gpa"),
    admission("what is rung again counts as what rings", "by_this_end ? grant->gpa : grant->size", "grant->size"),
    admission("a channel counts", "grant->kind == BH_GRANT_DOORBELL && gap", "gap"),
    admission("a line is a doorbell", "again_count + 1 + rung_count + line_count++]", "again_count + 1 + line_count++]"),
    admission("a line is a ring again", "again_count + 1 + rung_count + line_count++]", "1 + rung_count + line_count++]"),
    admission("more than there is room for", " && noted < DOORBELLS; n++)", "; n++)"),
    admission("a doorbell is the heartbeat", "note_rings(again_count + 1, false)", "note_rings(again_count, false)"),
    admission("rings are made again in no time", "again_count = note_rings(0, true);"),
    admission("they are made again on the first core alone", "again_count + (cpu_slot() == 0 ? 1", "(cpu_slot() == 0 ? again_count + 1"),
)
