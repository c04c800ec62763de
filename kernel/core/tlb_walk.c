/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TLB walker as in Quest-V, section 6: each word lies 4160 bytes after the one before, so in the next page, and in the next line of the
 * cache, too. Pages are mapped one by one: a leaf of 2 MiB would be one entry of the TLB.
 */
#include "kernel/core/tlb_walk.h"

#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/programs.h"
#include "kernel/core/space.h"

enum { STRIDE = 4160, FRAMES = (TLB_WALK_PAGES * STRIDE + FRAME_BYTES - 1) / FRAME_BYTES, LARGE_BYTES = 1 << SPACE_LARGE_SHIFT };

/* Far from what commands and programs map: commands.c, reach(). One frame beside what would be a leaf of 2 MiB. */
static uint64_t place_of(uint64_t frames)
{
	uint64_t large = space_format.grants_end + space_format.grants_end / 4;

	return large + (frames + FRAME_BYTES) % LARGE_BYTES;
}

/* Returns where they are, or 0. Whoever walks later walks there: pages are only read. */
static uint64_t pages(void)
{
	static _Atomic uint64_t mapped;
	uint64_t frames, at;

	if (mapped)
		return mapped;
	frames = frames_take_run(FRAMES, 1, FRAME_PROGRAM);
	at = place_of(frames);
	if (frames && space_map(&kernel_space, at, frames, (uint64_t)FRAMES * FRAME_BYTES, SPACE_DATA) == SPACE_OK)
		mapped = at;
	else if (frames)
		frames_give(frames, FRAMES, FRAME_PROGRAM);
	return mapped;
}

static uint64_t round_ticks(uint64_t at)
{
	uint64_t begin = arch_counter();

	for (uint64_t n = 0; n < TLB_WALK_PAGES; n++)
		(void)*(volatile const uint32_t *)(uintptr_t)(at + n * STRIDE);
	return arch_counter() - begin;
}

static void walk(struct program_run *run, uint64_t at)
{
	uint64_t ticks = round_ticks(at);

	if (!run->round_least || ticks < run->round_least)
		__atomic_store_n(&run->round_least, ticks, __ATOMIC_RELAXED);
	if (ticks > run->round_most)
		__atomic_store_n(&run->round_most, ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&run->rounds, run->rounds + 1, __ATOMIC_RELAXED);
}

void tlb_walk(void *run)
{
	uint64_t at = pages();

	if (!at)
		return;
	for (;;)
		walk(run, at);
}
