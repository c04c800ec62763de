/* SPDX-License-Identifier: Apache-2.0 */
/* Fills its RAM, marks its registers, and goes over both for ever, slice by slice; what has changed is counted, said and mended. */
#include "probe/sentinel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/frames.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "probe/marks.h"
#include "probe/partner.h"

enum { PERIOD_NS = 1000000, SLICE_WORDS = 4096 };

extern const char text_start[], rodata_end[]; /* kernel.lds */

static uint64_t due;
static struct {
	uint64_t words;
	uint64_t last; /* address */
} changed;

static bool is_due(void)
{
	return arch_counter() >= due;
}

static uint64_t pattern(const uint64_t *word)
{
	return (uintptr_t)word * MARK_MIX;
}

static void fill(uint64_t *start, const uint64_t *end)
{
	for (uint64_t *word = start; word < end; word++)
		*word = pattern(word);
}

/* Mends what it finds, so that each change counts once. */
static void look(uint64_t *start, const uint64_t *end)
{
	for (uint64_t *word = start; word < end; word++)
		if (*word != pattern(word)) {
			*word = pattern(word);
			changed.words++;
			changed.last = (uintptr_t)word;
		}
}

static uint64_t sum_of_image(void)
{
	uint64_t sum = 0;

	for (const uint64_t *word = (const uint64_t *)text_start; word < (const uint64_t *)rodata_end; word++)
		sum = (sum ^ *word) * MARK_MIX;
	return sum;
}

static void look_at_image(uint64_t expected)
{
	if (sum_of_image() == expected)
		return;
	changed.words++;
	changed.last = (uintptr_t)text_start;
}

/* For a register that is not what it was, address 0 is said; and all are set anew. */
static void look_at_registers(void)
{
	uint64_t lost = marks_lost();

	if (!lost)
		return;
	changed.words += lost;
	changed.last = 0;
	marks_set();
}

/*
 * The host tool looks at everything when this is said (tools/bhtool/attack/machine_run.py). From then on it exits no more, and what its
 * monitor has kept of its exits is the same in every machine, whatever was open: the last call is of its first channel, which is always
 * open, so it is refused, but not answered at once, as some calls are on a PC.
 */
static void rest(void)
{
	static bool rests;
	bool enabled;

	if (rests || !console_log() || !__atomic_load_n(&console_log()->gate, __ATOMIC_ACQUIRE))
		return;
	partner_set_open(false);
	enabled = cpu_interrupts_disable();
	for (unsigned n = 0; n < 2; n++) /* before the last exit there is to be one, and no interrupt */
		marks_call(BH_CALL_CLOSE);
	cpu_interrupts_restore(enabled);
	rests = true;
	console_report("rests");
}

/* One slice each millisecond. */
static void pass(uint64_t *start, const uint64_t *end, uint64_t calls)
{
	for (uint64_t *slice = start; slice < end; slice += SLICE_WORDS) {
		due = arch_counter() + clock_from_ns(PERIOD_NS);
		idle_until(is_due);
		look(slice, slice + SLICE_WORDS < end ? slice + SLICE_WORDS : end);
		partner_take_part();
		rest();
		for (uint64_t n = 0; n < calls; n++)
			info_call_monitor(BH_CALL_VERSION, 0, 0);
	}
}

void sentinel_run(uint64_t calls, uint64_t passes)
{
	uint64_t rest_end, rest = frames_rest(&rest_end);
	uint64_t *start = (uint64_t *)(uintptr_t)rest;
	const uint64_t *end = (const uint64_t *)(uintptr_t)rest_end;
	const uint64_t sum = sum_of_image();

	if (!frames_claim(rest, rest_end - rest, FRAME_PROGRAM))
		fault_stop("a sentinel needs RAM");
	fill(start, end);
	marks_set();
	partner_begin(true);
	for (uint64_t n = 1; !passes || n <= passes; n++) {
		pass(start, end, calls);
		look_at_image(sum);
		look_at_registers();
		console_report("pass %ju, %ju words changed, the last at 0x%jx", n, changed.words, changed.last);
		partner_report();
	}
}
