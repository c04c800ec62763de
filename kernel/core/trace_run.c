/* SPDX-License-Identifier: Apache-2.0 */
/* Takes frames for the rings of all cores, and switches tracing on and off (trace_run.h). */
#include "kernel/core/trace_run.h"

#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/info.h"
#include "kernel/core/smp.h"
#include "kernel/core/text.h"
#include "kernel/core/trace.h"

enum { RING_BYTES = 256 << 10, MOST_RING_BYTES = BH_TRACE_MOST_RECORDS * sizeof(struct bh_trace_record) };

/* For every core so many frames in a row, or for none. */
static bool take_runs(uint64_t *runs, uint64_t count)
{
	unsigned slot = 0;

	while (slot < smp_count() && (runs[slot] = frames_take_run(count, 1, FRAME_PROGRAM)))
		slot++;
	if (slot == smp_count())
		return true;
	while (slot)
		frames_give(runs[--slot], count, FRAME_PROGRAM);
	return false;
}

/* At most half of what is free for all of them: who asks for too much keeps a kernel that works. */
static bool give_rings(uint64_t bytes)
{
	uint64_t runs[BH_MAX_SANDBOX_CORES] = { 0 }, count = bytes >> FRAME_SHIFT;

	if (!count || bytes > MOST_RING_BYTES || bytes > (frames_free() << FRAME_SHIFT) / 2 / smp_count() || !take_runs(runs, count))
		return false;
	for (unsigned slot = 0; slot < smp_count(); slot++)
		trace_give_ring(slot, (void *)(uintptr_t)runs[slot], count << FRAME_SHIFT);
	return true;
}

/* Cores that have them keep them: they may be writing there. */
static bool have_rings(void)
{
	return trace_state.core[0].ring;
}

static void switch_on(uint64_t bytes)
{
	if (!have_rings() && !give_rings(bytes)) {
		console_say("trace: no room for rings of %ju bytes a core: from 4096 to %ju, and together half of the free memory", bytes,
			    (uint64_t)MOST_RING_BYTES);
		return;
	}
	trace_switch(true, info_clock_hz());
	console_say("trace on");
}

static void switch_off(void)
{
	trace_switch(false, info_clock_hz());
	console_say("trace off");
}

static bool is_number(const char *text)
{
	uint64_t number;

	return text_parse_number(&text, &number) && !*text;
}

void run_trace(const struct command_line *line)
{
	if (cpu_slot())
		console_say("trace: only the first core takes this command");
	else if (is_number(line->text))
		switch_on(line->operand[0]);
	else if (!*line->text || text_equal(line->text, "on"))
		switch_on(RING_BYTES);
	else if (text_equal(line->text, "off"))
		switch_off();
	else
		console_say("trace %s: on, off, or the bytes of a core's ring", line->text);
}
