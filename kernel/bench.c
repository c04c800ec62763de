/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/bench.h"

#include <stdint.h>

#include "kernel/clock.h"
#include "kernel/console.h"
#include "kernel/heartbeat.h"
#include "kernel/timer.h"

/* The first measurements are dropped: caches are cold, and other sandboxes may still be starting. */
enum { WARM_UP = 100, SAMPLES = 1000, DELAY_NS = 100000 };

static uint64_t sample[SAMPLES];

/* Insertion sort: nearly all samples are equal. */
static void sort(void)
{
	for (unsigned i = 1; i < SAMPLES; i++) {
		uint64_t value = sample[i];
		unsigned at = i;

		for (; at && sample[at - 1] > value; at--)
			sample[at] = sample[at - 1];
		sample[at] = value;
	}
}

void bench_timer(bool asleep)
{
	heartbeat_start(0);
	timer_hw_measure_begin();
	for (unsigned i = 0; i < WARM_UP; i++)
		timer_hw_measure(clock_from_ns(DELAY_NS), true);
	for (unsigned i = 0; i < SAMPLES; i++)
		sample[i] = timer_hw_measure(clock_from_ns(DELAY_NS), asleep);
	timer_hw_measure_end();
	sort();
	console_say("bench-timer %s min %ju median %ju max %ju ticks", asleep ? "wfi" : "busy", sample[0], sample[SAMPLES / 2],
		    sample[SAMPLES - 1]);
	heartbeat_start(HEARTBEAT_HZ);
}
