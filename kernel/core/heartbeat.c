/* SPDX-License-Identifier: Apache-2.0 */
/* Beats, and notes late ones in the log ring (heartbeat.h). */
#include "kernel/core/heartbeat.h"

#include <stdatomic.h>

#include "abi/telemetry.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/idle.h"
#include "kernel/core/telemetry.h"
#include "kernel/core/thread.h"
#include "kernel/core/timer.h"

enum { REPORT_BEATS = 1000, FASTEST_HZ = 100000, NS_PER_S = 1000000000 };
/* Before the first beat. The other sandboxes are starting, and QEMU's -icount lets each finish before it looks at timers. */
enum { SETTLE_NS = 10000000 };

/* Written by the timer's interrupt, read by the main program. */
static struct {
	_Atomic uint64_t beats;
	_Atomic uint64_t gaps;
	_Atomic uint64_t late_max_ns;
	_Atomic uint64_t awake_late_max_ns; /* without those that come out of a sleep since before they were due */
} pulse;
static uint64_t period;
static uint64_t reported;

static void publish(uint64_t beats)
{
	struct bh_log *ring = console_log();

	if (!ring)
		return;
	ring->beat_gaps = atomic_load_explicit(&pulse.gaps, memory_order_relaxed);
	ring->beat_late_max_ns = atomic_load_explicit(&pulse.late_max_ns, memory_order_relaxed);
	ring->beat_awake_late_max_ns = atomic_load_explicit(&pulse.awake_late_max_ns, memory_order_relaxed) + 1;
	__atomic_store_n(&ring->beats, beats, __ATOMIC_RELEASE);
}

static void raise_to(_Atomic uint64_t *most, uint64_t value)
{
	if (value > atomic_load_explicit(most, memory_order_relaxed))
		atomic_store_explicit(most, value, memory_order_relaxed);
}

static void beat(struct timer_event *event, struct cpu_frame *frame)
{
	uint64_t late = arch_counter() - event->deadline;
	uint64_t late_ns = clock_to_ns(late);
	uint64_t missed = 0, beats;

	raise_to(&pulse.late_max_ns, late_ns);
	if (!idle_slept_since(event->deadline))
		raise_to(&pulse.awake_late_max_ns, late_ns);
	if (late > period) {
		missed = late / period;
		atomic_fetch_add_explicit(&pulse.gaps, 1, memory_order_relaxed);
	}
	beats = atomic_fetch_add_explicit(&pulse.beats, 1, memory_order_relaxed) + 1;
	publish(beats);
	if ((beats % REPORT_BEATS == 0 || telemetry_is_due(event->deadline)) && thread_begun())
		thread_wake_main();
	timer_add(event, event->deadline + (missed + 1) * period);
}

static struct timer_event beat_event = { .fire = beat };

void heartbeat_start(uint64_t hz)
{
	if (hz > HEARTBEAT_HZ && thread_begun()) {
		console_say("heartbeat: refused: VCPUs were admitted beside %ju beats a second, and %ju are more", (uint64_t)HEARTBEAT_HZ,
			    hz);
		return;
	}
	timer_cancel(&beat_event);
	if (!hz || hz > FASTEST_HZ)
		return;
	period = clock_from_ns(NS_PER_S / hz);
	if (console_log())
		console_log()->beat_period_ns = NS_PER_S / hz;
	timer_add(&beat_event, arch_counter() + clock_from_ns(SETTLE_NS));
}

uint64_t heartbeat_distance(void)
{
	uint64_t usual = clock_from_ns(NS_PER_S / HEARTBEAT_HZ);

	return beat_event.waits && period < usual ? period : usual;
}

void heartbeat_delay(uint64_t ns)
{
	uint64_t until;

	cpu_interrupts_disable();
	until = beat_event.deadline + clock_from_ns(ns);
	while (arch_counter() < until)
		;
	cpu_interrupts_enable();
}

void heartbeat_tell(struct bh_telemetry *said)
{
	said->beats = atomic_load_explicit(&pulse.beats, memory_order_relaxed);
	said->beat_gaps = atomic_load_explicit(&pulse.gaps, memory_order_relaxed);
	said->beat_late = atomic_load_explicit(&pulse.late_max_ns, memory_order_relaxed);
	said->beat_period = beat_event.waits ? clock_to_ns(period) : 0;
}

void heartbeat_report(void)
{
	uint64_t beats = atomic_load_explicit(&pulse.beats, memory_order_relaxed);

	if (beats - reported < REPORT_BEATS)
		return;
	reported = beats - beats % REPORT_BEATS;
	console_report("%ju beats, %ju gaps, latest %ju us", beats, atomic_load_explicit(&pulse.gaps, memory_order_relaxed),
		       atomic_load_explicit(&pulse.late_max_ns, memory_order_relaxed) / 1000);
}
