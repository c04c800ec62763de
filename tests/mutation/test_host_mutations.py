# SPDX-License-Identifier: Apache-2.0
"""BH-E1.mutations. Seeded mistakes in the table builder, its formats, the validator and the x86 send filter: each must make a unit test fail.

A mutation is one removed check or one wrong bit, compiled in place of the original file. It names the test program that has to
notice. Every check of the validator (REFUSE_IF) is removed in turn without being listed here, so a new one needs a new test row.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.evidence.claims import ids_of_source
from bhtool.locks import exclusive

from tests.claims import evidence
from tests.mutation.host_programs import (
    ARENA,
    ARGUMENTS,
    ARM,
    BASES,
    BOOT_INFORMATION,
    BUILDER,
    CPU_LIMIT_SECONDS,
    EVENTS,
    GEOMETRY,
    IOAPIC,
    IOAPIC_BOOT,
    PCI_FILTER,
    PROGRAMS,
    SPREADER,
    TIME_LIMIT_SECONDS,
    X86,
    compile_object,
    sources_of,
)
from tests.mutation.mutation import ROOT, Mutation
from tests.mutation.rows_admission import ADMISSIONS_AND_TRACES
from tests.mutation.rows_amdvi import AMD_VI
from tests.mutation.rows_at_once import AT_ONCE, ICR, SVM
from tests.mutation.rows_at_once_host import AT_ONCE_HOST
from tests.mutation.rows_channel_memory import CHANNEL_ROWS
from tests.mutation.rows_contract import CONTRACT
from tests.mutation.rows_debts import DEBTS
from tests.mutation.rows_engine import ENGINE_ROWS
from tests.mutation.rows_fetch import FETCHES
from tests.mutation.rows_filters import FILTERS
from tests.mutation.rows_iommu_live import IOMMU_LIVE
from tests.mutation.rows_kernel import KERNEL, MEMORY
from tests.mutation.rows_kicks import KICKS
from tests.mutation.rows_live import EDITS
from tests.mutation.rows_lives import LIVES, LOCK, LOCKS
from tests.mutation.rows_move import MOVES
from tests.mutation.rows_run import ENDS
from tests.mutation.rows_sched import SCHEDULER
from tests.mutation.rows_shell import SHELL
from tests.mutation.rows_slice import SLICES
from tests.mutation.rows_smmuv3 import SMMUV3
from tests.mutation.rows_smp import CORES_AND_PROGRAMS
from tests.mutation.rows_space import PARTITION, SPACE_MUTATIONS
from tests.mutation.rows_start import START
from tests.mutation.rows_sync import SYNCHRONIZATION
from tests.mutation.rows_table import TABLE, VALIDATOR
from tests.mutation.rows_vmx import CONTROL_WORDS, VMX
from tests.mutation.rows_vtd import VT_D
from tests.touched import inputs

pytestmark = pytest.mark.long

MUTATIONS = [
    *AT_ONCE,
    *AT_ONCE_HOST,
    *CONTROL_WORDS,
    # What a restart does to memory.
    *LIVES,
    *CONTRACT,
    *CHANNEL_ROWS,
    *EDITS,
    *KICKS,
    *ENDS,
    *SMMUV3,
    *ENGINE_ROWS,
    *AMD_VI,
    *IOMMU_LIVE,
    *VT_D,
    *KERNEL,
    *SCHEDULER,
    *DEBTS,
    *SYNCHRONIZATION,
    *MOVES,
    *SLICES,
    *ADMISSIONS_AND_TRACES,
    *SHELL,
    *CORES_AND_PROGRAMS,
    *MEMORY,
    # What start-up writes for a sandbox.
    Mutation(
        "the first piece of the payload is published again and again",
        SPREADER,
        "arch_cache_publish(words_at(copy->target), copy->size);",
        "arch_cache_publish(words_at(table->copies->target), copy->size);",
        "module_test",
    ),
    Mutation("a private copy is not published", PARTITION, "arch_cache_publish(copy, bytes);", "", "partition_test"),
    Mutation("a pool is not published", PARTITION, "arch_cache_publish(stats, BH_POOL_ARENA);", "", "partition_test"),
    Mutation(
        "a page of a pool is published",
        PARTITION,
        "arch_cache_publish(stats, BH_POOL_ARENA);",
        "arch_cache_publish(stats, 4096);",
        "partition_test",
    ),
    Mutation(
        "a clock text is not published",
        PARTITION,
        "arch_cache_publish((const void *)(uintptr_t)sandbox->clock_text, BH_CLOCK_DIGITS);",
        "",
        "partition_test",
    ),
    Mutation(
        "the page of ones is not published",
        PARTITION,
        "arch_cache_publish(absent, BH_PAGE_BYTES);",
        "",
        "partition_test",
    ),
    Mutation(
        "what an earlier system left is a crash",
        PARTITION,
        "fill_words(sandbox->pool + BH_POOL_CRASH, BH_PAGE_BYTES, 0);",
        "",
        "partition_test",
    ),
    Mutation(
        "others' regions are mapped",
        PARTITION,
        "if (region->sandbox == index) build_must(hal_partition_map",
        "build_must(hal_partition_map",
        "partition_test",
    ),
    Mutation("others' ports are allowed", PARTITION, "if (table->ports[n].sandbox == index)", "", "partition_test"),
    Mutation("others' lines are granted", PARTITION, "if (line->sandbox != index) continue;", "", "partition_test"),
    Mutation("others' functions are granted", PARTITION, "if (table->pci_functions[n].sandbox == index)", "", "partition_test"),
    Mutation("a partition is not sealed", PARTITION, "hal_partition_seal(build->partition);", "", "partition_test"),
    # Whose calls are calls.
    Mutation("users call on SVM", SVM, "vmcb->save.cpl ? BH_EXIT_FORBIDDEN : BH_EXIT_CALL", "BH_EXIT_CALL", "svm_test"),
    Mutation("an exception given keeps a shadow", SVM, "vmcb_of(core)->control.interrupt_shadow = 0;", "", "svm_test"),
    Mutation("users call on VT-x", VMX, "if (vmx_read(GUEST_SS_ACCESS_RIGHTS) & DPL)", "if (false)", "vmx_test"),
    Mutation("only CPL 3 does not call on VT-x", VMX, "DPL = 3 << 5", "DPL = 2 << 5", "vmx_test"),
    # Permission and type bits.
    Mutation("EPT read-only leaves are writable", X86, "[R] = EPT_READ,", "[R] = EPT_READ | EPT_WRITE,", "entries_test"),
    Mutation("EPT data is executable", X86, "[RW] = EPT_READ | EPT_WRITE,", "[RW] = EPT_READ | EPT_WRITE | EPT_EXECUTE,", "entries_test"),
    Mutation(
        "EPT devices are cached",
        X86,
        "[HAL_MEMORY_RAM] = EPT_TYPE_WB, [HAL_MEMORY_DEVICE] = 0",
        "[HAL_MEMORY_RAM] = EPT_TYPE_WB, [HAL_MEMORY_DEVICE] = EPT_TYPE_WB",
        "entries_test",
    ),
    Mutation("NPT and long mode: data is executable", X86, "[RW] = X86_NO_EXECUTE | X86_WRITE", "[RW] = X86_WRITE", "entries_test"),
    Mutation(
        "NPT without the user bit", X86, ".table = X86_PRESENT | X86_WRITE | X86_USER", ".table = X86_PRESENT | X86_WRITE", "entries_test"
    ),
    Mutation(
        "NPT and long mode: devices are write-through",
        X86,
        "[HAL_MEMORY_DEVICE] = X86_PCD | X86_PWT",
        "[HAL_MEMORY_DEVICE] = X86_PWT",
        "entries_test",
    ),
    Mutation(
        "monitor text may be writable on x86",
        X86,
        ".permissions = SETS_WITHOUT_RWX",
        ".permissions = SETS_WITH_RWX",
        "pt_model_test",
    ),
    Mutation(
        "ARM stage 2: read-only leaves are writable",
        ARM,
        "#define S2AP_READ (UINT64_C(1) << 6)",
        "#define S2AP_READ (UINT64_C(3) << 6)",
        "entries_test",
    ),
    Mutation("ARM: execute-never in the wrong bit", ARM, "#define XN BIT(54)", "#define XN BIT(53)", "entries_test"),
    Mutation(
        "ARM stage 2: devices are Normal memory",
        ARM,
        "#define MEMATTR_DEVICE_nGnRE (UINT64_C(1) << 2)",
        "#define MEMATTR_DEVICE_nGnRE (UINT64_C(5) << 2)",
        "entries_test",
    ),
    Mutation(
        "ARM: RAM is not shareable", ARM, "#define SH_INNER (UINT64_C(3) << 8)", "#define SH_INNER (UINT64_C(0) << 8)", "entries_test"
    ),
    Mutation("ARM: no access flag", ARM, "#define AF BIT(10)", "#define AF UINT64_C(0)", "entries_test"),
    Mutation(
        "ARM monitors: read-only leaves are writable", ARM, "#define AP_READ_ONLY BIT(7)", "#define AP_READ_ONLY BIT(6)", "entries_test"
    ),
    Mutation(
        "ARM monitors: devices are write-back",
        ARM,
        "#define ATTRINDX_DEVICE (UINT64_C(1) << 2)",
        "#define ATTRINDX_DEVICE (UINT64_C(0) << 2)",
        "entries_test",
    ),
    Mutation("VTCR_EL2 walks 40 bits", ARM, ".control = 0x80023559", ".control = 0x80023558", "entries_test"),
    # Checks of the builder.
    Mutation("maps over what is mapped", BUILDER, "		status = check_free(pt, run);", "		status = HAL_OK;", "pt_model_test"),
    Mutation(
        "overlap looks at the first leaf only",
        BUILDER,
        "for (uint64_t end = run.ia + run.size; run.ia < end;",
        "for (uint64_t end = run.ia + 1; run.ia < end;",
        "pt_model_test",
    ),
    Mutation(
        "overlap looks at the first entry of a table only",
        BUILDER,
        "run.ia += holes(pt, place, leaves(run, place.level) + 1) * pt_span(place.level);",
        "run.ia += PT_SLOTS * pt_span(place.level);",
        "pt_model_test",
    ),
    Mutation("holes go on after their table", BUILDER, "at_most < left ? (unsigned)at_most : left", "(unsigned)at_most", "pt_model_test"),
    Mutation(
        "what stands between holes is one",
        BUILDER,
        "n < limit && !(place.entry[n] & pt->format->present)",
        "n < limit",
        "pt_model_test",
    ),
    Mutation(
        "any permission set",
        BUILDER,
        "status = pt_may(pt->format, permissions, memory) ? HAL_OK : HAL_E_PERMISSION;",
        "status = HAL_OK;",
        "pt_model_test",
    ),
    Mutation(
        "devices may be executable",
        BUILDER,
        "pt_may(pt->format, permissions, memory)",
        "pt_may(pt->format, permissions, HAL_MEMORY_RAM)",
        "pt_model_test",
    ),
    Mutation("output addresses without a limit", BUILDER, " && pt_fits(run.oa, run.size, pt->oa_bits)", "", "pt_model_test"),
    Mutation("ranges may be misaligned", BUILDER, "!run.size || pt_offset(run.ia | run.oa | run.size, 0)", "!run.size", "pt_model_test"),
    Mutation(
        "a range may end beyond the input addresses",
        BUILDER,
        "pt_fits(run.ia, run.size, pt->format->ia_bits)",
        "pt_fits(run.ia, 1, pt->format->ia_bits)",
        "pt_model_test",
    ),
    Mutation(
        "large leaves at a misaligned output address",
        BUILDER,
        "bool aligned = !pt_offset(run.ia | run.oa, place.level);",
        "bool aligned = !pt_offset(run.ia, place.level);",
        "pt_model_test",
    ),
    Mutation(
        "a leaf larger than the rest of the range",
        BUILDER,
        "aligned && run.size >= pt_span(place.level) && leaf",
        "aligned && leaf",
        "pt_model_test",
    ),
    Mutation(
        "large executable leaves where they are forbidden",
        BUILDER,
        "permissions & HAL_EXECUTE ? pt->executable_leaf_levels : pt->leaf_levels",
        "pt->leaf_levels",
        "pt_size_test",
    ),
    Mutation(
        "addresses stand where they count",
        BUILDER,
        "store(place.entry++, pt_word_of(pt->format, run.oa)",
        "store(place.entry++, run.oa",
        GEOMETRY,
    ),
    Mutation("tables stand where they count", BUILDER, "pt_word_of(pt->format, (uintptr_t)table) |", "(uintptr_t)table |", GEOMETRY),
    Mutation(
        "every root is one frame", BUILDER, "return bits > PT_SLOT_BITS ? (size_t)1 << (bits - PT_SLOT_BITS) : 1;", "return 1;", GEOMETRY
    ),
    Mutation("a root lies anywhere", BUILDER, "while (arena->next / BH_PAGE_BYTES % frames)", "while (false)", GEOMETRY),
    Mutation("nothing but 4 KiB leaves", BUILDER, "leaf_levels >> place.level & 1)", "!place.level)", "pt_size_test"),
    Mutation(
        "unmap cuts the first leaf",
        BUILDER,
        "place.kind == PT_HOLE || pt_offset(run.ia, place.level) ||",
        "place.kind == PT_HOLE ||",
        "pt_model_test",
    ),
    Mutation(
        "leaves before all tables are reserved",
        BUILDER,
        "	if (status == HAL_OK)\n		status = reserve(",
        "	if (status == HAL_OK)\n		commit(pt, (struct run){ ia, oa.v, 4096 }, 1);\n	if (status == HAL_OK)\n		status = reserve(",
        "pt_failure_test",
    ),
    Mutation(
        "a table linked before it is fenced",
        BUILDER,
        "	arch_barrier(); /* its zeroes before the link to it */\n	store(hole->entry, pt_word_of(pt->format, (uintptr_t)table) | pt->format->table | hole->level * pt->format->table_level);",
        "	store(hole->entry, pt_word_of(pt->format, (uintptr_t)table) | pt->format->table | hole->level * pt->format->table_level);\n	arch_barrier();",
        "pt_failure_test",
    ),
    Mutation(
        "no barrier before the caller's invalidation",
        BUILDER,
        "	arch_barrier(); /* every hole before the caller's invalidation */\n",
        "",
        "pt_failure_test",
    ),
    # The allocator.
    Mutation(
        "frames are not zeroed",
        ARENA,
        "words_fill(start, frames * BH_PAGE_BYTES / WORD_BYTES, 0);",
        "words_fill(start, frames * BH_PAGE_BYTES / WORD_BYTES - 1, 0);",
        "arena_test",
    ),
    Mutation(
        "frames beyond the end",
        ARENA,
        "frames > (arena->end - arena->next) / BH_PAGE_BYTES",
        "frames > (arena->end - arena->next) / BH_PAGE_BYTES + 1",
        "arena_test",
    ),
    Mutation("a block leaves a gap", ARENA, "arena->next += (uint64_t)frames", "arena->next += (uint64_t)(frames + 1)", "arena_test"),
    *TABLE,
    Mutation(
        "pieces that move up, upwards",
        SPREADER,
        "for (const struct bh_copy *copy = end; copy-- > first;)",
        "for (const struct bh_copy *copy = first; copy < end; copy++)",
        "module_test",
    ),
    Mutation(
        "pieces that move down, downwards",
        SPREADER,
        "for (const struct bh_copy *copy = first; copy < end; copy++)\n\t\tif",
        "for (const struct bh_copy *copy = end; copy-- > first;)\n\t\tif",
        "module_test",
    ),
    Mutation(
        "words that move up, upwards",
        SPREADER,
        "while (words--)\n\t\ttarget[words] = source[words];",
        "for (uint64_t n = 0; n < words; n++) target[n] = source[n];",
        "module_test",
    ),
    Mutation(
        "words that move down, downwards",
        SPREADER,
        "for (uint64_t n = 0; n < words; n++)\n\t\ttarget[n] = source[n];",
        "while (words--) target[words] = source[words];",
        "module_test",
    ),
    Mutation("boot information of any size", BOOT_INFORMATION, "if (total > INFO_MAX)", "if (0)", "multiboot2_test"),
    Mutation("tags after the end", BOOT_INFORMATION, "tag->type == TAG_END || ", "", "multiboot2_test"),
    Mutation("tags beyond the boot information", BOOT_INFORMATION, " || tag->size > total - at", "", "multiboot2_test"),
    Mutation("modules without a place", BOOT_INFORMATION, " && tag->size >= sizeof(struct module_tag)", "", "multiboot2_test"),
    Mutation("payload left in the caches", SPREADER, "arch_cache_publish(words_at(copy->target), copy->size);", ";", "module_test"),
    # What base address registers of PCI functions mean.
    Mutation("type bits may change", BASES, "if ((mask[0] ^ value) & type_bits(value))", "if (false)", "table_test"),
    Mutation("base addresses of any size", BASES, "base->bytes & (base->bytes - 1) ||", "", "table_test"),
    Mutation("base addresses that are not aligned", BASES, "|| base->start & (base->bytes - 1)", "", "table_test"),
    Mutation("base addresses of 4 GiB", BASES, "mask[1] == UINT32_MAX", "true", "table_test"),
    Mutation("upper words are base addresses", BASES, "n += is_wide(function->bar[n]) ? 2 : 1", "n++", "table_test"),
    Mutation("upper words are ignored", BASES, "base.start |= (uint64_t)function->bar[n + 1] << 32;", ";", "table_test"),
    Mutation("ports are memory", BASES, ".ports = value & BAR_PORTS,", ".ports = false,", "table_test"),
    Mutation(
        "registers at address 0 are none", BASES, "if (function->bar[n] || function->bar_mask[n])", "if (function->bar[n])", "table_test"
    ),
    # Interrupt commands, and what a sandbox's cores post to each other.
    Mutation("foreign cores may be named", ICR, "if (targets & APIC_FOREIGN)\n\t\treturn HAL_FAULT;\n", "", "icr_test"),
    Mutation("system management interrupts pass", ICR, "mode == APIC_SMI || ", "", "icr_test"),
    Mutation(
        "a cluster's number has eight bits",
        ICR,
        "destination >> 16 == apic_id / CLUSTER_CORES ?",
        "(uint8_t)(destination >> 16) == (uint8_t)(apic_id / CLUSTER_CORES) ?",
        "icr_test",
    ),
    Mutation("a sandbox has eight cores", ICR, "all = (UINT32_C(1) << core->partition->core_count) - 1", "all = 0xff", "icr_test"),
    Mutation("a cluster is not compared", ICR, "destination >> 16 == apic_id / CLUSTER_CORES ?", "true ?", "icr_test"),
    Mutation("all-but-self is all", ICR, "return all & ~self;", "return all;", "icr_test"),
    Mutation("broadcast is foreign", ICR, " || destination == BROADCAST", "", "icr_test"),
    Mutation("INIT to oneself", ICR, "!(to == from && mode == APIC_INIT) && ", "", "icr_test"),
    Mutation("the old form of INIT resets", ICR, "icr & ICR_ASSERT && x86_post_init", "x86_post_init", "icr_test"),
    Mutation("STARTUP restarts a core that runs", EVENTS, "if (!is_off(core))\n\t\treturn false;\n", "", "icr_test"),
    Mutation("NMI stirs a core that is off", EVENTS, "if (is_off(core))\n\t\treturn false;\n", "", "icr_test"),
    Mutation("INIT leaves the core on", EVENTS, "PENDING_OFF | PENDING_RESET, __ATOMIC", "PENDING_RESET, __ATOMIC", "icr_test"),
    Mutation("INIT is carried out by STARTUP alone", EVENTS, "if (pending & PENDING_RESET)\n\t\tx86_core_stop(core);\n", "", "icr_test"),
    Mutation("an NMI takes another event's place", EVENTS, "if (x86_vendor->has_event(core)) return;", "", "icr_test"),
    Mutation("an NMI that waits is forgotten", EVENTS, "\tx86_kick_core(core);\n\tif (x86", "if (x86", "icr_test"),
    Mutation("an NMI comes for ever", EVENTS, "core->nmi = false;\n\tx86_vendor", "x86_vendor", "icr_test"),
    Mutation("a trapped monitor waits for a STARTUP", EVENTS, "if (core->trap.rip)\n\t\treturn true;\n", "", "icr_test"),
    *FETCHES,
    # The I/O APIC.
    Mutation("any vector will do for a level line", IOAPIC, "\t\tvector = 0;", "\t\tvector += 0;", "ioapic_test"),
    Mutation(
        "a masked line hears of others' ends",
        IOAPIC,
        "> line->more_vectors)",
        "> line->more_vectors && !(low & REDIRECTION_MASKED))",
        "ioapic_test",
    ),
    Mutation("who chooses takes the vector of a grant", IOAPIC_BOOT, "BH_FIRST_LEVEL_VECTOR - 1", "REDIRECTION_VECTOR", "ioapic_test"),
    Mutation("a granted level line's vector is chosen", IOAPIC_BOOT, "!= BH_LINE_LEVEL;", "!= 64;", "ioapic_test"),
    Mutation("vectors of the processor's own", IOAPIC_BOOT, "chosen ? IOAPIC_FIRST_VECTOR", "chosen ? 0", "ioapic_test"),
    Mutation("wiring is the guest's", IOAPIC, "line->wiring | vector |", "(low & 0xa000) | vector |", "ioapic_test"),
    Mutation(
        "the window without the lock", IOAPIC, "\thal_lock_take(view->lock, core->self);\n\tif (offset", "\tif (offset", "ioapic_test"
    ),
    Mutation(
        "start-up opens lines without the lock",
        IOAPIC,
        "hal_lock_take(view->lock, core->self); for",
        "for",
        "ioapic_test",
    ),
    *START,
    *LOCKS,
    Mutation("a lock is not waited for", LOCK, "&& holder != self) {", "&& false) {", "ioapic_test"),
    # What is written to PCI functions.
    Mutation("functions master the bus", PCI_FILTER, "(PCI_COMMAND_INTX_DISABLE |", "(4 | PCI_COMMAND_INTX_DISABLE |", "pci_test"),
    Mutation(
        "the status is cleared",
        PCI_FILTER,
        "(value & (PCI_COMMAND_INTX_DISABLE",
        "(value & (0xffff0000 | PCI_COMMAND_INTX_DISABLE",
        "pci_test",
    ),
    Mutation("functions decode out of place", PCI_FILTER, "(is_placed(function) ? function->may : 0)", "3", "pci_test"),
    Mutation(
        "one base address is not looked at",
        PCI_FILTER,
        "n < BH_PCI_FUNCTION_BARS; n++) if (pci",
        "n + 1 < BH_PCI_FUNCTION_BARS; n++) if (pci",
        "pci_test",
    ),
    Mutation("base addresses move while decoding", PCI_FILTER, "decodes(function) || (value", "(value", "pci_test"),
    Mutation("base addresses move", PCI_FILTER, "value != UINT32_MAX && value != function->bar[bar]", "false", "pci_test"),
    Mutation(
        "capabilities are written", PCI_FILTER, ": offset != PCI_INTERRUPT_LINE && !is_message(function, offset))", ": false)", "pci_test"
    ),
    Mutation("functions master without an IOMMU", PCI_FILTER, "(is_placed(function) ? function->may : 0)", "7", "pci_test"),
    Mutation("messages are written beyond their end", PCI_FILTER, "< one->bytes)", "<= one->bytes)", "pci_test"),
    Mutation("messages of all functions are written", PCI_FILTER, "< one->bytes)", "< 24u)", "pci_test"),
    Mutation(
        "messages stay on in the next life",
        PCI_FILTER,
        "pci_config_write(place + function->messages[n].first, function->messages[n].reset);",
        "(void)0;",
        "pci_test",
    ),
    Mutation("a table is of the wrong level", BUILDER, "hole->level * pt->format->table_level", "pt->format->table_level", "entries_test"),
    *FILTERS,
    Mutation("foreign functions are found", PCI_FILTER, "(view->functions[n].place ^ place) < PCI_PAGE_BYTES", "true", "pci_test"),
    Mutation("writes without the lock", PCI_FILTER, "hal_lock_take(view->lock, self);\n\t\twrite_register", "write_register", "pci_test"),
    Mutation("reads without the lock", PCI_FILTER, "hal_lock_take(view->lock, self);\n\t\t*value", "*value", "pci_test"),
    Mutation(
        "others come between reading and writing",
        PCI_FILTER,
        "write_register(function, offset, (pci_config_read",
        "pci_config_read(place & ~3u); give(view->lock, self); hal_lock_take(view->lock, self); write_register(function, offset,"
        " (pci_config_read",
        "pci_test",
    ),
    Mutation(
        "silent functions decode",
        PCI_FILTER,
        "if (!(command & PCI_COMMAND_DECODE)) return; for",
        "command = PCI_COMMAND_DECODE; for",
        "pci_test",
    ),
    Mutation("silence moves functions", PCI_FILTER, "if (!(command & PCI_COMMAND_DECODE)) return; for", "for", "pci_test"),
    Mutation("silence is on its way", PCI_FILTER, "(void)pci_config_read(place + PCI_COMMAND);", "", "pci_test"),
    Mutation("resets without the lock", PCI_FILTER, "hal_lock_take(view->lock, self); for", "for", "pci_test"),
    Mutation("functions decode while a reset moves them", PCI_FILTER, "silence(place, function->always);", "", "pci_test"),
    Mutation("a function drives a line that is another's", PCI_FILTER, ": 0))) | function->always;", ": 0)));", "pci_test"),
    Mutation(
        "a function drives a line that is another's from its first life on", PCI_FILTER, "command | function->always", "command", "pci_test"
    ),
    Mutation(
        "a silent function drives a line that is another's",
        PCI_FILTER,
        "pci_config_write(place + PCI_COMMAND, PCI_SILENT | always);",
        "pci_config_write(place + PCI_COMMAND, PCI_SILENT);",
        "pci_test",
    ),
    Mutation("a lock is given before its registers are written", PCI_FILTER, "arch_barrier();", "", "pci_test"),
    Mutation("a lock is left before its registers are written", LOCK, "arch_barrier();", "", "pci_test"),
    Mutation("a lock is not waited for at PCI", LOCK, "&& holder != self) {", "&& false) {", "pci_test"),
    Mutation("a lock is kept", PCI_FILTER, "hal_lock_give(lock, self);", "", "pci_test"),
    Mutation("accesses straddle", PCI_FILTER, "!(place & (width - 1))", "true", "pci_test"),
    *SPACE_MUTATIONS,
]


def removed_checks() -> list[tuple[str, str, str]]:
    """The validator without one of its checks: (its file, the check, the whole text)."""
    found = []
    for file in VALIDATOR:
        text = (ROOT / file).read_text()
        checks = re.finditer(r"REFUSE_IF\(.*?\);$", text, re.DOTALL | re.MULTILINE)
        found += [(file, " ".join(c[0].split())[:90], text[: c.start()] + ";" + text[c.end() :]) for c in checks]
    return found


@dataclass(frozen=True)
class Objects:
    """Of files without a mistake: compiled when they are needed first, for all workers."""

    folder: Path

    def of(self, source: str) -> Path:
        found = self.folder / (source.replace("/", "_") + ".o")
        if not found.exists():
            with exclusive(self.folder):
                if not found.exists():
                    compile_object(ROOT / source, found.with_suffix(".new"), source).rename(found)
        return found


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Objects:
    base = tmp_path_factory.getbasetemp()
    return Objects((base if worker_id == "master" else base.parent) / "objects")


def with_mistake(mutation: Mutation, folder: Path) -> dict[str, Path]:
    """Objects that have it, by source: of a header, all of the program's."""
    if not mutation.file.endswith(".h"):
        (folder / "mutated.c").write_text(mutation.text())
        return {mutation.file: compile_object(folder / "mutated.c", folder / "mutated.o", mutation.file)}
    header = folder / "include" / mutation.file
    alone = [] if mutation.file.startswith("abi/") else [f"-I{header.parent}"]  # included by its name alone
    if not alone:  # these include each other so
        shutil.copytree(ROOT / "abi", header.parent)
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(mutation.text())
    sources = enumerate(sources_of(mutation.caught_by))
    return {source: compile_object(ROOT / source, folder / f"{n}.o", source, f"-I{folder}/include", *alone) for n, source in sources}


def fails(program: str, objects: Objects, mutated: dict[str, Path], folder: Path) -> bool:
    parts = [str(mutated.get(source) or objects.of(source)) for source in sources_of(program)]
    binary = folder / program
    subprocess.run(["clang-19", "-fuse-ld=lld", *parts, "-o", str(binary)], check=True, timeout=TIME_LIMIT_SECONDS)
    command = ["prlimit", f"--cpu={CPU_LIMIT_SECONDS}", str(binary), *ARGUMENTS.get(program, [])]
    try:
        return subprocess.run(command, capture_output=True, timeout=TIME_LIMIT_SECONDS).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def shown_by(program: str) -> pytest.MarkDecorator:
    """What the program that must notice is evidence for: with its control, the mistake shows that it can fail."""
    return evidence("BH-E1.mutations", *ids_of_source((ROOT / PROGRAMS[program]).read_text()))


def control(program: str) -> object:
    """Runs when something runs that it is the control of."""
    rows = [row for row in MUTATIONS if row.caught_by == program]
    sources = {row.file for row in rows} | (set(VALIDATOR) if program == "table_test" else set())
    return pytest.param(program, marks=[shown_by(program), inputs(sources, [PROGRAMS[program]], {row.what for row in rows})])


def row(mutation: Mutation) -> object:
    depends = inputs([mutation.file], [PROGRAMS[mutation.caught_by]], [mutation.what])
    return pytest.param(mutation, id=mutation.what, marks=[shown_by(mutation.caught_by), depends])


@pytest.mark.parametrize("program", [control(program) for program in PROGRAMS])
def test_without_a_mutation_all_is_well(program: str, objects: Objects, tmp_path: Path) -> None:
    assert not fails(program, objects, {}, tmp_path)


@pytest.mark.parametrize("mutation", [row(mutation) for mutation in MUTATIONS])
def test_mutation_is_caught(mutation: Mutation, objects: Objects, tmp_path: Path) -> None:
    mutated = with_mistake(mutation, tmp_path)
    assert fails(mutation.caught_by, objects, mutated, tmp_path), f"{mutation.caught_by} does not notice"


def removed(file: str, check: str, text: str) -> object:
    return pytest.param(file, text, id=check, marks=[shown_by("table_test"), inputs([file], [PROGRAMS["table_test"]])])


@pytest.mark.parametrize(("file", "text"), [removed(*one) for one in removed_checks()])
def test_removed_check_is_caught(file: str, text: str, objects: Objects, tmp_path: Path) -> None:
    (tmp_path / "mutated.c").write_text(text)
    mutated = {file: compile_object(tmp_path / "mutated.c", tmp_path / "mutated.o", file)}
    assert fails("table_test", objects, mutated, tmp_path), "table_test does not notice"
