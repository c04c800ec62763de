/* SPDX-License-Identifier: Apache-2.0 */
/* Maps stacks with holes between them (stacks.h). */
#include "kernel/core/stacks.h"

#include <stdatomic.h>

#include "abi/guest.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/space.h"
#include "kernel/core/thread.h"

/* Each takes its page and those of the stack above it. */
enum { SLOT_BYTES = FRAME_BYTES + THREAD_STACK_BYTES, WINDOW_BYTES = 1 << SPACE_LARGE_SHIFT, STACKS = WINDOW_BYTES / SLOT_BYTES };

static _Atomic uint64_t window; /* where they lie: a hole of the kernel's part; 0: none was looked for */
static _Atomic uint64_t taken;

/* The highest one: grants lie low. Nothing is mapped in the kernel's part once it has started, so a hole stays one. */
static uint64_t find_window(void)
{
	for (uint64_t at = space_format.grants_end - WINDOW_BYTES; at; at -= WINDOW_BYTES) {
		const struct space_view view = space_query(&kernel_space, at);

		if (!view.mapped && view.bytes >= WINDOW_BYTES)
			return at;
	}
	return 0;
}

static uint64_t window_taken(void)
{
	return taken < STACKS ? taken * SLOT_BYTES : (uint64_t)STACKS * SLOT_BYTES;
}

bool stacks_is_hole(uint64_t address)
{
	uint64_t offset = address - window;

	return window && offset < window_taken() && offset % SLOT_BYTES < FRAME_BYTES;
}

/* ---- Those that a core keeps ---------------------------------------------------------------------------------------- */

enum { WORD_BITS = 32, WORDS = (STACKS + WORD_BITS - 1) / WORD_BITS };
static uint32_t kept[BH_MAX_SANDBOX_CORES][WORDS]; /* by slot and place */

/* A number beyond all if it is none of ours. */
static uint64_t place_of(uintptr_t stack)
{
	uint64_t offset = stack - 1 - window;

	return window && offset < window_taken() ? offset / SLOT_BYTES : STACKS;
}

void stacks_give(uintptr_t stack)
{
	bool enabled = cpu_interrupts_disable();
	uint64_t place = place_of(stack);

	if (place < STACKS)
		kept[cpu_slot()][place / WORD_BITS] |= 1U << place % WORD_BITS;
	cpu_interrupts_restore(enabled);
}

/* Returns a place, or STACKS. */
static uint64_t take_kept(uint32_t *words, uint64_t own)
{
	for (uint64_t n = 0; n < WORDS; n++) {
		uint32_t usable = words[n] & ~(own / WORD_BITS == n ? 1U << own % WORD_BITS : 0);

		if (usable) {
			words[n] &= ~(usable & -usable);
			return n * WORD_BITS + (uint64_t)__builtin_ctz(usable);
		}
	}
	return STACKS;
}

uintptr_t stacks_take_kept(void)
{
	bool enabled = cpu_interrupts_disable();
	uint64_t place = take_kept(kept[cpu_slot()], place_of((uintptr_t)__builtin_frame_address(0)));

	cpu_interrupts_restore(enabled);
	return place < STACKS ? (uintptr_t)(window + (place + 1) * SLOT_BYTES) : 0;
}

/* ---- New ones --------------------------------------------------------------------------------------------------------- */

static uintptr_t map_at(uint64_t place, uint64_t frames)
{
	uint64_t bottom = window + place * SLOT_BYTES + FRAME_BYTES;

	if (place >= STACKS || space_map(&kernel_space, bottom, frames, THREAD_STACK_BYTES, SPACE_DATA) != SPACE_OK)
		return 0;
	return (uintptr_t)bottom + THREAD_STACK_BYTES;
}

/* Frames first: a place is not given back, unless no other core has taken one since. */
static uintptr_t map_next(void)
{
	uint64_t frames, place, next;
	uintptr_t stack;

	if (!window)
		window = find_window();
	frames = window ? frames_take_run(THREAD_STACK_BYTES / FRAME_BYTES, 1, FRAME_STACK) : 0;
	if (!frames)
		return 0;
	place = atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
	stack = map_at(place, frames);
	if (!stack) {
		next = place + 1;
		atomic_compare_exchange_strong_explicit(&taken, &next, place, memory_order_relaxed, memory_order_relaxed);
		frames_give(frames, THREAD_STACK_BYTES / FRAME_BYTES, FRAME_STACK);
	}
	return stack;
}

uintptr_t stacks_take(void)
{
	uintptr_t stack = stacks_take_kept();

	return stack ? stack : map_next();
}
