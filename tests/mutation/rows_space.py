# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in what a private monitor maps (BH-I4.private): more than its own, less, or with other permissions."""

from tests.mutation.mutation import Mutation

SNAPSHOT = "monitor/boot/snapshot_boot.c"
PARTITION = "monitor/boot/partition_boot.c"
ALLOCATOR = "hal/arena_boot.c"
SPACE_X86 = "hal/x86/space_boot.c"
SPACE_ARM = "hal/arm/space_boot.c"
ROOTS_ARM = "hal/arm/partition_boot.c"
PCI_START = "hal/pci/functions_boot.c"

SPACE_MUTATIONS = [
    Mutation(
        "every monitor looks at all RAM",
        PARTITION,
        "if (region->sandbox == index && region->kind == BH_REGION_RAM)",
        "if (region->kind == BH_REGION_RAM)",
        "space_test",
    ),
    Mutation(
        "every monitor writes all RAM",
        PARTITION,
        "if (build->snapshot) snapshot_map(build);",
        "for (uint32_t n = 0; n < table->region_count; n++) if (table->regions[n].kind == BH_REGION_RAM) "
        "map_one_to_one(build->space, table->regions[n].hpa, table->regions[n].hpa + table->regions[n].size); if "
        "(build->snapshot) snapshot_map(build);",
        "space_test",
    ),
    Mutation(
        "what is not RAM is looked at",
        PARTITION,
        "if (region->sandbox == index && region->kind == BH_REGION_RAM)",
        "if (region->sandbox == index)",
        "space_test",
    ),
    Mutation(
        "the first stretch of RAM alone is looked at",
        PARTITION,
        'region->size), "private monitor");',
        'region->size), "private monitor"), index = ~0u;',
        "space_test",
    ),
    Mutation(
        "every monitor maps others' pools",
        PARTITION,
        "map_one_to_one(build->space, table->shared,",
        "for (uint32_t n = 0; n < table->sandbox_count; n++) if (n != index) map_one_to_one(build->space, "
        "table->sandboxes[n].pool, table->sandboxes[n].pool + table->sandboxes[n].pool_bytes); map_one_to_one(build->space, "
        "table->shared,",
        "space_test",
    ),
    Mutation(
        "who may kick maps the victim's pool",
        PARTITION,
        "map_one_to_one(build->space, table->shared,",
        "for (uint32_t n = 0; n < table->sandbox_count; n++) if (build->sandbox->may_kick >> n & 1) "
        "map_one_to_one(build->space, table->sandboxes[n].pool, table->sandboxes[n].pool + table->sandboxes[n].pool_bytes); "
        "map_one_to_one(build->space, table->shared,",
        "space_test",
    ),
    Mutation("everyone may kick", PARTITION, "if (build->sandbox->may_kick >> target & 1)", "if (true)", "space_test"),
    Mutation(
        "who may kick one may kick all", PARTITION, "build->sandbox->may_kick >> target & 1", "build->sandbox->may_kick", "space_test"
    ),
    Mutation("nobody may kick", PARTITION, "build->sandbox->may_kick >> target & 1", "false", "space_test"),
    Mutation(
        "everyone notifies",
        PARTITION,
        "if (build->sandbox->notifies >> target & 1)",
        "if (target != index)",
        "space_test",
    ),
    Mutation(
        "a notice goes to oneself",
        PARTITION,
        "hal_partition_allow_notice(build->partition, builds[target].partition);",
        "hal_partition_allow_notice(build->partition, builds[index].partition);",
        "space_test",
    ),
    Mutation(
        "kicks are allowed after what they map",
        PARTITION,
        'build_must(hal_space_create(&build->arena, &build->space), "private monitor");',
        'build_must(hal_space_create(&build->arena, &build->space), "private monitor"); '
        'build_must(hal_space_map_devices(build->space, build->partition), "private monitor"); return;',
        "space_test",
    ),
    Mutation(
        "tables in another's pool", PARTITION, "hal_space_create(&build->arena,", "hal_space_create(&builds[!index].arena,", "space_test"
    ),
    Mutation(
        "others' devices",
        PARTITION,
        "hal_space_map_devices(build->space, build->partition)",
        "hal_space_map_devices(build->space, builds[!index].partition)",
        "space_test",
    ),
    Mutation(
        "no devices", PARTITION, 'build_must(hal_space_map_devices(build->space, build->partition), "private monitor");', "", "space_test"
    ),
    Mutation("others' kick mailboxes", PARTITION, "table->shared + BH_PAGE_BYTES);", "table->shared + 2 * BH_PAGE_BYTES);", "space_test"),
    Mutation(
        "no kick mailboxes", PARTITION, "map_one_to_one(build->space, table->shared, table->shared + BH_PAGE_BYTES);", "", "space_test"
    ),
    Mutation("the copy is not mapped", PARTITION, "map_copy(build);", "", "space_test"),
    Mutation(
        "the machine's parts are not mapped",
        PARTITION,
        "{ __resident_text_start, __resident_rodata_start, HAL_READ",
        "{ __resident_text_start, __resident_text_end, HAL_READ",
        "space_test",
    ),
    Mutation(
        "the pages of a pool are not mapped",
        PARTITION,
        "map_one_to_one(build->space, build->sandbox->pool, build->copy);",
        "",
        "space_test",
    ),
    Mutation("the arena is not mapped", PARTITION, "map_one_to_one(build->space, build->copy_end, build->arena.end);", "", "space_test"),
    Mutation(
        "a copy is mapped a second time",
        PARTITION,
        "map_one_to_one(build->space, build->copy_end, build->arena.end);",
        "map_one_to_one(build->space, build->copy, build->arena.end);",
        "space_test",
    ),
    Mutation(
        "a pool reaches into the next",
        PARTITION,
        "build->copy_end, build->arena.end);",
        "build->copy_end, build->arena.end + BH_PAGE_BYTES);",
        "space_test",
    ),
    Mutation(
        "start-up tells a pool's size, not what it has taken",
        PARTITION,
        "(uint32_t)(build->arena.next - build->sandbox->pool)",
        "(uint32_t)(build->arena.end - build->sandbox->pool)",
        "space_test",
    ),
    Mutation(
        "an arena goes on after its pool",
        PARTITION,
        ".end = sandbox->pool + sandbox->pool_bytes,",
        ".end = sandbox->pool + BH_MAX_POOL_BYTES,",
        "space_test",
    ),
    Mutation(
        "others' functions take a frame of ones",
        PARTITION,
        "if (function->sandbox == index)",
        "if (function->sandbox != index)",
        "partition_test",
    ),
    Mutation("small objects overlap", ALLOCATOR, "arena->small += size;", "arena->small += size - 64;", "arena_test"),
    Mutation(
        "a small object reaches into the next frame",
        ALLOCATOR,
        "if (size > arena->small_end - arena->small)",
        "if (size > arena->small_end - arena->small + 64)",
        "arena_test",
    ),
    Mutation(
        "a small object is not zeroed", ALLOCATOR, "words_fill(start, size / WORD_BYTES, 0);", "words_fill(start, 0, 0);", "arena_test"
    ),
    Mutation(
        "a partition lies over the crash record",
        PARTITION,
        ".small = sandbox->pool + BH_POOL_CRASH + CRASH_BYTES,",
        ".small = sandbox->pool + BH_POOL_CRASH,",
        "partition_test",
    ),
    Mutation("a pool is read-only", PARTITION, "start, HAL_READ | HAL_WRITE);", "start, HAL_READ);", "space_test"),
    Mutation(
        "a pool is executable", PARTITION, "start, HAL_READ | HAL_WRITE);", "start, HAL_READ | HAL_WRITE | HAL_EXECUTE);", "space_test"
    ),
    Mutation(
        "a monitor's text is writable",
        PARTITION,
        "__resident_rodata_start, HAL_READ | HAL_EXECUTE }",
        "__resident_rodata_start, HAL_READ | HAL_WRITE | HAL_EXECUTE }",
        "space_test",
    ),
    Mutation(
        "a monitor's constants are writable",
        PARTITION,
        "__resident_data_start, HAL_READ }",
        "__resident_data_start, HAL_READ | HAL_WRITE }",
        "space_test",
    ),
    Mutation(
        "a monitor's data are read-only",
        PARTITION,
        "__resident_data_end, HAL_READ | HAL_WRITE }",
        "__resident_data_end, HAL_READ }",
        "space_test",
    ),
    Mutation(
        "all parts are writable",
        PARTITION,
        "in_copy(build, stretches[n].start), stretches[n].permissions)",
        "in_copy(build, stretches[n].start), stretches[n].permissions | HAL_WRITE)",
        "space_test",
    ),
    Mutation(
        "a monitor runs on the image, not on its copy",
        PARTITION,
        "map(build->space, stretches[n].start, stretches[n].end, in_copy(build, stretches[n].start),",
        "map(build->space, stretches[n].start, stretches[n].end, (uintptr_t)stretches[n].start,",
        "space_test",
    ),
    Mutation("a monitor's RAM is a device", PARTITION, "permissions, HAL_MEMORY_RAM)", "permissions, HAL_MEMORY_DEVICE)", "space_test"),
    Mutation(
        "the boot snapshot is not mapped", PARTITION, "if (build->snapshot) snapshot_map(build);", "if (build->snapshot) ;", "space_test"
    ),
    Mutation(
        "who never restarts maps its RAM to write",
        PARTITION,
        "else map_ram(table, index, build->space);",
        "else for (uint32_t n = 0; n < table->region_count; n++) if (table->regions[n].sandbox == index && "
        "table->regions[n].kind == BH_REGION_RAM) map_one_to_one(build->space, table->regions[n].hpa, "
        "table->regions[n].hpa + table->regions[n].size);",
        "space_test",
    ),
    Mutation("who never restarts cannot look at its guest", PARTITION, "else map_ram(table, index, build->space);", "", "space_test"),
    Mutation(
        "the boot snapshot is writable",
        SNAPSHOT,
        "build->sandbox->snapshot_bytes, HAL_READ);",
        "build->sandbox->snapshot_bytes, HAL_READ | HAL_WRITE);",
        "space_test",
    ),
    Mutation(
        "a page of the boot snapshot is mapped",
        SNAPSHOT,
        "map(build, snapshot->copy, build->sandbox->snapshot_bytes,",
        "map(build, snapshot->copy, BH_PAGE_BYTES,",
        "space_test",
    ),
    Mutation(
        "the boot snapshot itself is not mapped",
        SNAPSHOT,
        "map(build, snapshot->copy, build->sandbox->snapshot_bytes, HAL_READ);",
        "",
        "space_test",
    ),
    Mutation(
        "RAM to restart is read-only",
        SNAPSHOT,
        "snapshot->spans[n].bytes, HAL_READ | HAL_WRITE);",
        "snapshot->spans[n].bytes, HAL_READ);",
        "space_test",
    ),
    Mutation(
        "RAM to restart is executable",
        SNAPSHOT,
        "snapshot->spans[n].bytes, HAL_READ | HAL_WRITE);",
        "snapshot->spans[n].bytes, HAL_READ | HAL_WRITE | HAL_EXECUTE);",
        "space_test",
    ),
    Mutation(
        "RAM to restart is not mapped",
        SNAPSHOT,
        "map(build, snapshot->spans[n].start, snapshot->spans[n].bytes, HAL_READ | HAL_WRITE);",
        ";",
        "space_test",
    ),
    Mutation("the first stretch of RAM to restart alone is mapped", SNAPSHOT, "n < snapshot->span_count", "n < 1", "space_test"),
    Mutation("others' RAM is mapped to restart", SNAPSHOT, "region->sandbox != index ||", "", "space_test"),
    Mutation("everyone may restart", SNAPSHOT, "if (sandbox->on_fault != BH_ON_FAULT_RESTART)", "if (false)", "space_test"),
    Mutation("the boot snapshot is a device", SNAPSHOT, "permissions, HAL_MEMORY_RAM)", "permissions, HAL_MEMORY_DEVICE)", "space_test"),
    Mutation(
        "a guest's code is written",
        SPACE_X86,
        "size, HAL_READ, HAL_MEMORY_RAM",
        "size, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM",
        "space_x86_test",
    ),
    Mutation(
        "a guest's code is not mapped",
        SPACE_X86,
        "return pt_map(&space->tables, hpa.v, hpa, size, HAL_READ, HAL_MEMORY_RAM);",
        "return HAL_OK;",
        "space_x86_test",
    ),
    Mutation("the I/O APIC without a line", SPACE_X86, "|| !partition->ioapic.count", "", "space_x86_test"),
    Mutation(
        "the I/O APIC is RAM",
        SPACE_X86,
        "BH_PAGE_BYTES, HAL_MEMORY_DEVICE",
        "BH_PAGE_BYTES, HAL_MEMORY_RAM",
        "space_x86_test",
    ),
    Mutation(
        "more than the I/O APIC",
        SPACE_X86,
        "BH_PAGE_BYTES, HAL_MEMORY_DEVICE",
        "2 * BH_PAGE_BYTES, HAL_MEMORY_DEVICE",
        "space_x86_test",
    ),
    Mutation(
        "all is mapped writable",
        SPACE_X86,
        "hpa, size, permissions, memory)",
        "hpa, size, permissions | HAL_WRITE, memory)",
        "space_x86_test",
    ),
    Mutation(
        "configuration registers of the whole bus",
        PCI_START,
        "board.pci.ecam + view->functions[n].place, PCI_PAGE_BYTES,",
        "board.pci.ecam, board.pci.functions * PCI_PAGE_BYTES,",
        "space_x86_test",
    ),
    Mutation(
        "configuration registers of neighbours",
        PCI_START,
        "view->functions[n].place, PCI_PAGE_BYTES,",
        "view->functions[n].place, 2 * PCI_PAGE_BYTES,",
        "space_x86_test",
    ),
    Mutation(
        "configuration registers are read-only",
        PCI_START,
        "hal_space_map_same(space, board.pci.ecam + view->functions[n].place, PCI_PAGE_BYTES,",
        "hal_space_map(space, (void *)(board.pci.ecam + view->functions[n].place), (hpa_t){ board.pci.ecam + view->functions[n].place }, "
        "PCI_PAGE_BYTES, HAL_READ,",
        "space_x86_test",
    ),
    Mutation(
        "configuration registers of one function too many",
        PCI_START,
        "n < view->count && status == HAL_OK; n++) { const struct",
        "n <= view->count && status == HAL_OK; n++) { const struct",
        "space_x86_test",
    ),
    Mutation(
        "configuration registers are RAM",
        PCI_START,
        "PCI_PAGE_BYTES, HAL_MEMORY_DEVICE",
        "PCI_PAGE_BYTES, HAL_MEMORY_RAM",
        "space_x86_test",
    ),
    Mutation(
        "no roots are mapped",
        SPACE_ARM,
        "return status == HAL_OK ? map_targets(space, partition) : status;",
        "return status;",
        "space_stage2_test",
    ),
    Mutation(
        "roots are read-only",
        SPACE_ARM,
        "hal_space_map_same(space, (uintptr_t)root, BH_PAGE_BYTES,",
        "hal_space_map(space, root, (hpa_t){ (uintptr_t)root }, BH_PAGE_BYTES, HAL_READ,",
        "space_stage2_test",
    ),
    Mutation(
        "more than a root",
        SPACE_ARM,
        "BH_PAGE_BYTES, HAL_MEMORY_RAM",
        "2 * BH_PAGE_BYTES, HAL_MEMORY_RAM",
        "space_stage2_test",
    ),
    Mutation("the first root alone is mapped", SPACE_ARM, "n < BH_MAX_SANDBOXES", "n < 2", "space_stage2_test"),
    Mutation("roots are mapped whoever may kick", SPACE_ARM, "if (root)", "if (true)", "space_stage2_test"),
    Mutation(
        "a guest's RAM is mapped on ARM",
        SPACE_ARM,
        "/* Syndromes tell everything. */ enum hal_status hal_space_map_ram(struct hal_space *space, hpa_t hpa, "
        "uint64_t size) { return hal_check_pages(hpa.v, size); }",
        "enum hal_status hal_space_map_ram(struct hal_space *space, hpa_t hpa, uint64_t size) { return "
        "pt_map(&space->tables, hpa.v, hpa, size, HAL_READ, HAL_MEMORY_RAM); }",
        "space_stage2_test",
    ),
    Mutation(
        "all is mapped writable on ARM",
        SPACE_ARM,
        "hpa, size, permissions, memory)",
        "hpa, size, permissions | HAL_WRITE, memory)",
        "space_stage2_test",
    ),
    Mutation(
        "whom one kicks may kick back",
        ROOTS_ARM,
        "to->kickable = true;",
        "to->kickable = true; to->targets[(uint32_t)(from->vttbr >> 48) - 1].root = from->root;",
        "space_stage2_test",
    ),
    Mutation(
        "a kick is of one's own root",
        ROOTS_ARM,
        "target->root.entries = to->root.entries",
        "target->root.entries = from->root.entries",
        "space_stage2_test",
    ),
    Mutation(
        "who notifies may kick",
        ROOTS_ARM,
        "while (told->box)",
        "from->targets[(uint32_t)(to->vttbr >> 48) - 1].root = to->root;",
        "space_stage2_test",
    ),
]
