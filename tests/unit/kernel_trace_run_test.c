/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.trace. Who is told to trace: rings for all cores or for none, out of half of what is free at most, once; on, off, a number of bytes
 * and nothing else; from the first core alone. kernel/core/trace_run.c
 */
#include "kernel/core/trace_run.h"

#include <stdarg.h>
#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/info.h"
#include "kernel/core/smp.h"
#include "kernel/core/text.h"
#include "kernel/core/trace.h"

enum { CORES = 3, LINE = 160, MiB = 1 << 20 };

static struct bh_info page = { .clock_hz = 1000 };
const struct bh_info *info = &page;
struct bh_trace trace_state;

static char said[LINE];
static unsigned said_at;
static uint64_t free_bytes, given_bytes;
static unsigned switched_on, switched_off;
static unsigned runs = CORES; /* of frames in a row, that are left */

static void put(char c)
{
	CHECK(said_at < LINE - 1);
	said[said_at++] = c;
}

void console_say(const char *format, ...)
{
	va_list arguments;

	said_at = 0;
	va_start(arguments, format);
	text_format(put, format, arguments);
	va_end(arguments);
	said[said_at] = '\0';
}

uint64_t clock_machine_hz(void)
{
	return 77;
}

unsigned smp_count(void)
{
	return CORES;
}

uint64_t frames_free(void)
{
	return free_bytes >> FRAME_SHIFT;
}

uint64_t frames_take_run(uint64_t count, uint64_t alignment, unsigned owner)
{
	CHECK_EQ(owner, FRAME_PROGRAM);
	if (!runs || count << FRAME_SHIFT > free_bytes)
		return 0;
	free_bytes -= count << FRAME_SHIFT;
	return FRAME_BYTES * runs--;
}

bool frames_give(uint64_t frames, uint64_t count, unsigned owner)
{
	CHECK_EQ(owner, FRAME_PROGRAM);
	CHECK_EQ(frames, FRAME_BYTES * ++runs); /* the last one first */
	free_bytes += count << FRAME_SHIFT;
	return true;
}

void trace_give_ring(unsigned slot, void *memory, uint64_t bytes)
{
	CHECK(slot < CORES && !trace_state.core[slot].ring); /* it may be writing there */
	trace_state.core[slot].ring = (uintptr_t)memory;
	given_bytes += bytes;
}

void trace_switch(bool on, uint64_t clock_hz)
{
	CHECK_EQ(clock_hz, page.clock_hz ? page.clock_hz : 77);
	switched_on += on;
	switched_off += !on;
}

static void expect(const char *text, const char *expected)
{
	const char *cursor = text;
	struct command_line line = { .text = text };

	check_context.subject = text;
	line.operands = text_parse_number(&cursor, &line.operand[0]);
	run_trace(&line);
	if (strcmp(said, expected))
		fprintf(stderr, "said: %s\n", said);
	CHECK(!strcmp(said, expected));
}

static void check_bounds(void)
{
	free_bytes = 12 * MiB;
	expect("2097153", "trace: no room for rings of 2097153 bytes a core: from 4096 to 16777216, and together half of the free memory");
	expect("18446744073709551615", "trace: no room for rings of 18446744073709551615 bytes a core: from 4096 to 16777216, and together "
				       "half of the free memory");
	expect("0", "trace: no room for rings of 0 bytes a core: from 4096 to 16777216, and together half of the free memory");
	expect("4095", "trace: no room for rings of 4095 bytes a core: from 4096 to 16777216, and together half of the free memory");
	free_bytes = UINT64_MAX;
	expect("16777217",
	       "trace: no room for rings of 16777217 bytes a core: from 4096 to 16777216, and together half of the free memory");
	free_bytes = 12 * MiB;
	for (runs = 0; runs < CORES;) { /* for one core and for two there is room, and they do not keep it */
		const unsigned before = runs;

		expect("on",
		       "trace: no room for rings of 262144 bytes a core: from 4096 to 16777216, and together half of the free memory");
		CHECK_EQ(runs, before);
		CHECK_EQ(free_bytes, 12 * MiB);
		runs++;
	}
	CHECK_EQ(given_bytes, 0);
	CHECK_EQ(switched_on, 0);
}

static void check_words(void)
{
	static const char *const bad[] = { "nonsense", "ON", "offf", "1,2", "4096x", "-1", " ", "0x" };

	for (unsigned n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		char expected[LINE];

		snprintf(expected, sizeof(expected), "trace %s: on, off, or the bytes of a core's ring", bad[n]);
		expect(bad[n], expected);
	}
	fake_cpu.slot = 1;
	expect("on", "trace: only the first core takes this command");
	expect("off", "trace: only the first core takes this command");
	fake_cpu.slot = 0;
	CHECK(!switched_on && !switched_off && !given_bytes);
}

/* Whose rings are there are not asked what would fit. */
static void check_switch(void)
{
	expect("2097152", "trace on");
	CHECK_EQ(given_bytes, 6 * MiB);
	CHECK_EQ(switched_on, 1);
	page.clock_hz = 0;
	expect("off", "trace off");
	CHECK_EQ(switched_off, 1);
	expect("", "trace on");
	expect("on", "trace on");
	expect("1000000000", "trace on");
	CHECK_EQ(switched_on, 4);
	CHECK_EQ(given_bytes, 6 * MiB);
	expect("0x100000", "trace on");
	CHECK_EQ(given_bytes, 6 * MiB);
}

int main(void)
{
	check_bounds();
	check_words();
	check_switch();
	return 0;
}
