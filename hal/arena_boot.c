/* SPDX-License-Identifier: Apache-2.0 */
/* The start-up allocator: frames of one sandbox's pool, upward, for good. */
#include "arch/words.h"
#include "hal/hal.h"

/* The size of the smallest power-of-two block that holds 'bytes', which is at most 2^63. */
static uint64_t block_size(uint64_t bytes)
{
	uint64_t size = BH_PAGE_BYTES;

	while (size < bytes)
		size <<= 1;
	return size;
}

void *hal_arena_take(struct hal_arena *arena, size_t frames)
{
	uint64_t *start;
	uint64_t align, skip, bytes, room = arena->end - arena->next;

	if (!frames || frames > room / BH_PAGE_BYTES)
		return NULL;
	bytes = (uint64_t)frames * BH_PAGE_BYTES;
	align = block_size(bytes);
	skip = -arena->next & (align - 1);
	if (skip > room - bytes)
		return NULL;
	start = (uint64_t *)(uintptr_t)(arena->next + skip);
	arena->next += skip + bytes;
	words_fill(start, bytes / WORD_BYTES, 0);
	return start;
}
