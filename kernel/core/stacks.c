/* SPDX-License-Identifier: Apache-2.0 */
/* Maps stacks with holes between them (stacks.h). */
#include "kernel/core/stacks.h"

#include <stddef.h>

#include "kernel/core/frames.h"
#include "kernel/core/space.h"
#include "kernel/core/thread.h"

/* Each takes its page and those of the stack above it. */
enum { SLOT_BYTES = FRAME_BYTES + THREAD_STACK_BYTES, WINDOW_BYTES = 1 << SPACE_LARGE_SHIFT, STACKS = WINDOW_BYTES / SLOT_BYTES };

static uint64_t window, taken; /* where they lie: a hole of the kernel's part; 0: none was looked for */

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

uintptr_t stacks_take(void)
{
	uint64_t frames, bottom;

	if (!window)
		window = find_window();
	if (!window || taken == STACKS)
		return 0;
	frames = frames_take_run(THREAD_STACK_BYTES / FRAME_BYTES, 1, FRAME_STACK);
	bottom = window + taken * SLOT_BYTES + FRAME_BYTES;
	if (!frames)
		return 0;
	if (space_map(&kernel_space, bottom, frames, THREAD_STACK_BYTES, SPACE_DATA) != SPACE_OK) {
		frames_give(frames, THREAD_STACK_BYTES / FRAME_BYTES, FRAME_STACK);
		return 0;
	}
	taken++;
	return (uintptr_t)bottom + THREAD_STACK_BYTES;
}
