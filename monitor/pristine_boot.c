/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a restart needs, kept while the machine starts: the payload as loader and start-up left it, before its sandbox runs.
 *
 *   RAM of the sandbox   │   │ kernel │       │ initrd │   │        a restart zeroes all of it and copies the pieces back
 *                            ╲        ╲     ╱        ╱
 *   pristine copy             │ kernel │ initrd │                   mapped, read-only, for this monitor alone
 *
 * Only a monitor that may restart its sandbox maps the sandbox's RAM.
 */
#include "monitor.h"

#include "arch/arch.h"
#include "arch/words.h"

static void copy_words(uint64_t to, uint64_t from, uint64_t bytes)
{
	words_copy((uint64_t *)(uintptr_t)to, (const uint64_t *)(uintptr_t)from, bytes / WORD_BYTES);
}

static void list_spans(const struct bh_table *table, uint32_t index, struct pristine *pristine)
{
	for (uint32_t n = 0; n < table->region_count; n++) {
		const struct bh_region *region = &table->regions[n];

		if (region->sandbox != index || region->kind != BH_REGION_RAM)
			continue;
		pristine->spans[pristine->span_count].start = region->hpa;
		pristine->spans[pristine->span_count++].bytes = region->size;
	}
}

static void keep_pieces(const struct bh_table *table, uint32_t index, struct pristine *pristine)
{
	for (uint32_t n = 0; n < table->piece_count; n++) {
		const struct bh_piece *piece = &table->pieces[n];

		if (piece->sandbox != index)
			continue;
		pristine->pieces[pristine->piece_count++] = *piece;
		copy_words(pristine->copy + piece->offset, piece->target, piece->size);
	}
}

void pristine_keep(const struct bh_table *table, uint32_t index, struct build *build)
{
	const struct bh_sandbox *sandbox = build->sandbox;
	struct pristine *pristine;

	if (sandbox->on_fault != BH_ON_FAULT_RESTART)
		return;
	pristine = hal_arena_take(&build->arena, 1);
	if (!pristine) {
		build_must(HAL_E_NOMEM, "pristine copy");
		return;
	}
	pristine->copy = sandbox->pristine;
	list_spans(table, index, pristine);
	keep_pieces(table, index, pristine);
	build->pristine = pristine;
	arch_cache_publish((const void *)(uintptr_t)sandbox->pristine, sandbox->pristine_bytes);
}
_Static_assert(sizeof(struct pristine) <= BH_PAGE_BYTES, "one frame of the arena");

static void map(struct build *build, uint64_t hpa, uint64_t bytes, unsigned permissions)
{
	build_must(hal_space_map(build->space, (const void *)(uintptr_t)hpa, (hpa_t){ hpa }, bytes, permissions, HAL_MEMORY_RAM),
		   "pristine copy");
}

void pristine_map(struct build *build)
{
	const struct pristine *pristine = build->pristine;

	if (!pristine)
		return;
	map(build, pristine->copy, build->sandbox->pristine_bytes, HAL_READ);
	for (uint32_t n = 0; n < pristine->span_count; n++)
		map(build, pristine->spans[n].start, pristine->spans[n].bytes, HAL_READ | HAL_WRITE);
}
