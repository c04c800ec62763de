/* SPDX-License-Identifier: Apache-2.0 */
/* Takes frames for the rings of all cores, and switches tracing on and off (trace_run.h). */
#include "kernel/core/trace_run.h"

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/frames.h"
#include "kernel/core/info.h"
#include "kernel/core/smp.h"
#include "kernel/core/text.h"
#include "kernel/core/trace.h"

enum { RING_BYTES = 256 << 10, MOST_RING_BYTES = 1 << 30 };

/* A core that has one keeps it: it may be writing there. */
static bool give_ring(unsigned slot, uint64_t bytes)
{
	uint64_t count = bytes >> FRAME_SHIFT, frames;

	if (trace_state.core[slot].ring)
		return true;
	frames = count ? frames_take_run(count, 1, FRAME_PROGRAM) : 0;
	if (frames)
		trace_give_ring(slot, (void *)(uintptr_t)frames, count << FRAME_SHIFT);
	return frames;
}

static bool give_rings(uint64_t bytes)
{
	bool all = bytes <= MOST_RING_BYTES;

	for (unsigned slot = 0; slot < smp_count() && all; slot++)
		all = give_ring(slot, bytes);
	return all;
}

void run_trace(const struct command_line *line)
{
	bool on = !text_equal(line->text, "off");

	if (on && !give_rings(line->operands ? line->operand[0] : RING_BYTES)) {
		console_say("trace %s: no room for rings", line->text);
		return;
	}
	trace_switch(on, info->clock_hz ? info->clock_hz : clock_machine_hz());
	console_say("trace %s", on ? "on" : "off");
}
