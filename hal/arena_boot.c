/* SPDX-License-Identifier: Apache-2.0 */
/* The start-up allocator: frames of one sandbox's pool, upward, for good. */
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
