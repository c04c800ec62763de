/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a restart needs, kept while the machine starts: the payload as loader and start-up left it, before its sandbox runs.
 *
 *   RAM of the sandbox   │   │ kernel │       │ initrd │   │        a restart zeroes all of it and copies the pieces back
 *                            ╲        ╲     ╱        ╱
 *   boot snapshot             │ kernel │ initrd │                   mapped, read-only, for this monitor alone
 *
 * Only a monitor that may restart its sandbox maps the sandbox's RAM.
 */
#include "monitor/boot/boot.h"

#include "arch/arch.h"
#include "arch/words.h"

static void copy_words(uint64_t to, uint64_t from, uint64_t bytes)
{
	words_copy((uint64_t *)(uintptr_t)to, (const uint64_t *)(uintptr_t)from, bytes / WORD_BYTES);
}

static void list_spans(const struct bh_table *table, uint32_t index, struct boot_snapshot *snapshot)
{
	for (uint32_t n = 0; n < table->region_count; n++) {
		const struct bh_region *region = &table->regions[n];

		if (region->sandbox != index || region->kind != BH_REGION_RAM)
			continue;
		snapshot->spans[snapshot->span_count].start = region->hpa;
		snapshot->spans[snapshot->span_count++].bytes = region->size;
	}
}

static void keep_pieces(const struct bh_table *table, uint32_t index, struct boot_snapshot *snapshot)
{
	for (uint32_t n = 0; n < table->piece_count; n++) {
		const struct bh_piece *piece = &table->pieces[n];

		if (piece->sandbox != index)
			continue;
		snapshot->pieces[snapshot->piece_count++] = *piece;
		copy_words(snapshot->copy + piece->offset, piece->target, piece->size);
	}
}

void snapshot_keep(const struct bh_table *table, uint32_t index, struct build *build)
{
	const struct bh_sandbox *sandbox = build->sandbox;
	struct boot_snapshot *snapshot;

	if (sandbox->on_fault != BH_ON_FAULT_RESTART)
		return;
	snapshot = hal_arena_take(&build->arena, 1);
	if (!snapshot) {
		build_must(HAL_E_NOMEM, "boot snapshot");
		return;
	}
	snapshot->copy = sandbox->snapshot;
	list_spans(table, index, snapshot);
	keep_pieces(table, index, snapshot);
	build->snapshot = snapshot;
	arch_cache_publish((const void *)(uintptr_t)sandbox->snapshot, sandbox->snapshot_bytes);
}
_Static_assert(sizeof(struct boot_snapshot) <= BH_PAGE_BYTES, "one frame of the arena");

static void map(struct build *build, uint64_t hpa, uint64_t bytes, unsigned permissions)
{
	build_must(hal_space_map(build->space, (const void *)(uintptr_t)hpa, (hpa_t){ hpa }, bytes, permissions, HAL_MEMORY_RAM),
		   "boot snapshot");
}

void snapshot_map(struct build *build)
{
	const struct boot_snapshot *snapshot = build->snapshot;

	if (!snapshot)
		return;
	map(build, snapshot->copy, build->sandbox->snapshot_bytes, HAL_READ);
	for (uint32_t n = 0; n < snapshot->span_count; n++)
		map(build, snapshot->spans[n].start, snapshot->spans[n].bytes, HAL_READ | HAL_WRITE);
}
