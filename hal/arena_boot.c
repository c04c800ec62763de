/* SPDX-License-Identifier: Apache-2.0 */
/* The start-up allocator: frames of one sandbox's pool, upward, for good. */
#include "hal/hal.h"

/* The size of the smallest power-of-two block that holds 'bytes', which is at most 2^63. */
static uint64_t block_size(uint64_t bytes)
{
	uint64_t size = BH_PAGE_BYTES;

	while (size < bytes)
		size <<= 1;
	return size;
}

/* Four words a turn: start-up zeroes more than it does anything else. */
static void zero(uint64_t *word, size_t bytes)
{
	for (const uint64_t *end = word + bytes / sizeof(*word); word < end; word += 4)
		word[0] = word[1] = word[2] = word[3] = 0;
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
	zero(start, bytes);
	return start;
}
