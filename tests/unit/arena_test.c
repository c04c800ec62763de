/* SPDX-License-Identifier: Apache-2.0 */
/* The start-up allocator: zeroed, aligned to the rounded size, and never past its end. */
#include "check.h"
#include "frames.h"

static void check_block(struct hal_arena *arena, size_t frames, uint64_t alignment)
{
	const uint64_t *block = hal_arena_take(arena, frames);

	CHECK(block);
	CHECK_EQ((uintptr_t)block % alignment, 0);
	CHECK_EQ(arena->next, (uintptr_t)block + frames * 4096);
	for (size_t word = 0; word < frames * 512; word++)
		CHECK_EQ(block[word], 0);
}

static void test_alignment(void)
{
	struct hal_arena arena = frames_arena(64);

	check_block(&arena, 1, 0x1000);
	check_block(&arena, 2, 0x2000);
	check_block(&arena, 1, 0x1000);
	check_block(&arena, 3, 0x4000);
	check_block(&arena, 16, 0x10000);
}

/* The arena starts one frame behind a large boundary: two aligned frames do not fit into the first two. */
static void test_end(void)
{
	struct hal_arena arena = frames_arena(2);

	CHECK(!hal_arena_take(&arena, 0));
	CHECK(!hal_arena_take(&arena, 2));
	CHECK(!hal_arena_take(&arena, 3));
	CHECK(!hal_arena_take(&arena, SIZE_MAX));
	check_block(&arena, 1, 0x1000);
	check_block(&arena, 1, 0x1000);
	CHECK(!hal_arena_take(&arena, 1));
	CHECK_EQ(arena.next, arena.end);
}

int main(void)
{
	check_context.subject = "arena";
	test_alignment();
	test_end();
	return 0;
}
