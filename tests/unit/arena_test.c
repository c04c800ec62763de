/* SPDX-License-Identifier: Apache-2.0 */
/* BH-I8.bounded. The start-up allocator: zeroed frames, without gaps, and never past its end. */
#include "check.h"
#include "frames.h"

static void check_block(struct hal_arena *arena, size_t frames)
{
	const uint64_t next = arena->next;
	const uint64_t *block = hal_arena_take(arena, frames);

	CHECK_EQ((uintptr_t)block, next);
	CHECK_EQ(arena->next, (uintptr_t)block + frames * 4096);
	for (size_t word = 0; word < frames * 512; word++)
		CHECK_EQ(block[word], 0);
}

static void test_no_gaps(void)
{
	struct hal_arena arena = frames_arena(64);

	check_block(&arena, 1);
	check_block(&arena, 2);
	check_block(&arena, 1);
	check_block(&arena, 3);
	check_block(&arena, 16);
}

/* What is refused is not taken in part either. */
static void test_end(void)
{
	struct hal_arena arena = frames_arena(3);

	CHECK(!hal_arena_take(&arena, 0));
	CHECK(!hal_arena_take(&arena, 4));
	CHECK(!hal_arena_take(&arena, SIZE_MAX));
	check_block(&arena, 1);
	CHECK(!hal_arena_take(&arena, 3));
	check_block(&arena, 2);
	CHECK(!hal_arena_take(&arena, 1));
	CHECK_EQ(arena.next, arena.end);
}

static void check_small(struct hal_arena *arena, size_t bytes, uint64_t at)
{
	const uint64_t *small = hal_arena_take_small(arena, bytes);

	CHECK_EQ((uintptr_t)small, at);
	for (size_t word = 0; word < bytes / 8; word++)
		CHECK_EQ(small[word], 0);
}

/* First what is left of a frame, then a frame of their own; nothing is handed out twice. */
static void test_small(void)
{
	struct hal_arena arena = frames_arena(5);
	const uint64_t first = arena.next;

	arena.small = first + 0x180;
	arena.small_end = first + 0x1000;
	arena.next += 0x1000;
	check_small(&arena, 2048, first + 0x180);
	check_small(&arena, 40, first + 0x980);
	check_small(&arena, 0x640, first + 0x9c0);
	check_block(&arena, 1);
	check_small(&arena, 3600, first + 0x2000);
	check_small(&arena, 4096, first + 0x3000);
	check_block(&arena, 1);
	CHECK(!hal_arena_take_small(&arena, 8));
	CHECK_EQ(arena.next, arena.end);
}

int main(void)
{
	check_context.subject = "arena";
	test_no_gaps();
	test_end();
	test_small();
	return 0;
}
