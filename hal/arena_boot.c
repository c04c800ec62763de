/* SPDX-License-Identifier: Apache-2.0 */
/* The start-up allocator: frames of one sandbox's pool, and pieces of frames, upward, for good. */
#include "arch/words.h"
#include "hal/hal.h"

void *hal_arena_take(struct hal_arena *arena, size_t frames)
{
	uint64_t *start = (uint64_t *)(uintptr_t)arena->next;

	if (!frames || frames > (arena->end - arena->next) / BH_PAGE_BYTES)
		return NULL;
	arena->next += (uint64_t)frames * BH_PAGE_BYTES;
	words_fill(start, frames * BH_PAGE_BYTES / WORD_BYTES, 0);
	return start;
}

/* What no longer fits into the frame that small objects are in begins another. */
void *hal_arena_take_small(struct hal_arena *arena, size_t bytes)
{
	uint64_t size = bytes + (-(uint64_t)bytes & 63);
	uint64_t *start;

	if (size > BH_PAGE_BYTES)
		return NULL;
	if (size > arena->small_end - arena->small) {
		start = hal_arena_take(arena, 1);
		if (!start)
			return NULL;
		arena->small = (uintptr_t)start;
		arena->small_end = arena->small + BH_PAGE_BYTES;
	}
	start = (uint64_t *)(uintptr_t)arena->small;
	arena->small += size;
	words_fill(start, size / WORD_BYTES, 0);
	return start;
}
