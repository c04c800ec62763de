/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements inside a sandbox (bench.h). */
#include "probe/bench.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/timer.h"
#include "probe/storm.h"

/* The first measurements are dropped: caches are cold, and other sandboxes may still be starting. */
enum { WARM_UP = 100, SAMPLES = 1000, DELAY_NS = 100000, SETTLE_NS = 50000000 };

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

static void say(const char *what, const char *kind)
{
	sort();
	console_say("%s %s min %ju median %ju max %ju ticks", what, kind, sample[0], sample[SAMPLES / 2], sample[SAMPLES - 1]);
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
	say("bench-timer", asleep ? "wfi" : "busy");
	heartbeat_start(HEARTBEAT_HZ);
}

static struct strike strike;

static void strike_once(void)
{
	storm_strike(&strike);
}

bool bench_timer_in_storm(const char *kind)
{
	if (!storm_prepare(kind, &strike))
		return false;
	heartbeat_start(0);
	timer_hw_measure_begin();
	for (unsigned i = 0; i < SAMPLES; i++)
		sample[i] = timer_hw_measure_during(clock_from_ns(DELAY_NS) + i, strike_once);
	timer_hw_measure_end();
	say("bench-timer", kind);
	heartbeat_start(HEARTBEAT_HZ);
	return true;
}

/* Other sandboxes that are still starting take turns with this core where an emulator runs one at a time. */
static void settle(void)
{
	timer_hw_measure_begin();
	timer_hw_measure(clock_from_ns(SETTLE_NS), true);
	timer_hw_measure_end();
}

static uint64_t trip(void)
{
	uint64_t start = arch_counter();

	storm_strike(&strike);
	return arch_counter() - start;
}

bool bench_trips(const char *kind)
{
	uint64_t empty;

	heartbeat_start(0);
	if (!storm_prepare("none", &strike))
		return false;
	settle();
	cpu_interrupts_disable();
	trip();
	empty = trip();
	if (!storm_prepare(kind, &strike)) {
		cpu_interrupts_enable();
		heartbeat_start(HEARTBEAT_HZ);
		return false;
	}
	for (unsigned i = 0; i < SAMPLES; i++)
		sample[i] = trip() - empty;
	cpu_interrupts_enable();
	say("trips", strike.storm->kind);
	heartbeat_start(HEARTBEAT_HZ);
	return true;
}
