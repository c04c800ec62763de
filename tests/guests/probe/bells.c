/* SPDX-License-Identifier: Apache-2.0 */
/* What doorbells cost (bells.h). */
#include "probe/bells.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/doorbells.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/timer.h"
#include "probe/turns.h"

enum { BYTES = 64 };
#define BUDGET_NS 49999000ULL
#define PERIOD_NS 50000000ULL

static struct channel mail, ring, to_handler, to_thread;
static struct doorbell *bell;
static uint64_t turn;           /* when this end's next one begins */
static uint64_t empty;          /* ticks from one read of the counter to the next */
static volatile uint64_t heard; /* the counter in the handler's first instruction, or when the thread has its message */

static bool in_time(void)
{
	return arch_counter() - turn < clock_from_ns(TURNS_NS);
}

static void end_turn(void)
{
	turn += 2 * clock_from_ns(TURNS_NS);
}

static void say(const char *what, bool all)
{
	if (all)
		turns_say("channel", what);
	else
		console_say("channel: cannot measure %s", what);
}

/* ---- Who rings ---------------------------------------------------------------------------------------------------------------- */

static bool ring_handler(void)
{
	return doorbell_ring(bell) == BH_OK;
}

static bool send_to_thread(void)
{
	void *data;

	return channel_reserve(&to_thread, &data, TIMER_NEVER) == BH_END_OK && channel_commit(&to_thread, BYTES) == BH_END_OK;
}

static void wake(struct timer_event *event, struct cpu_frame *frame) {}

static struct timer_event until = { .fire = wake };

/* Returns the counter as it was read before this core sleeps, as late as can be. */
static uint64_t sleep_at_once(void)
{
	bool enabled = cpu_interrupts_disable();
	const uint64_t now = arch_counter();

	cpu_sleep();
	cpu_interrupts_restore(enabled);
	return now;
}

static __attribute__((always_inline)) inline void measure_ringing(const char *what, bool (*act)(void))
{
	bool done, all = true;

	for (unsigned round = 0; round < TURNS_ROUNDS && all; round++) {
		uint64_t ticks, slept;

		(void)!thread_sleep_until(turn);
		timer_add(&until, turn + clock_from_ns(TURNS_NS) / 2); /* before: it ends a core's turn in an emulator */
		ticks = turns_ticks(act, &done) - empty;
		slept = sleep_at_once();
		all = done && channel_send(&ring, &slept, sizeof(slept), TIMER_NEVER) == BH_END_OK && in_time();
		if (round >= TURNS_WARM_UP)
			turns_note(ticks);
		end_turn();
	}
	say(what, all);
}

/* ---- Who is rung, in the turn of who rings ---------------------------------------------------------------------------------- */

static void hear_in_handler(struct cpu_frame *frame)
{
	heard = arch_counter();
}

/* The thread sleeps until its own turn. */
static bool sleep_on(void)
{
	return true;
}

static bool hear_in_thread(void)
{
	struct bh_message found;
	const enum bh_end_result result = channel_peek(&to_thread, &found, TIMER_NEVER);

	heard = arch_counter();
	return result == BH_END_OK && channel_release(&to_thread) == BH_END_OK;
}

static void measure_hearing(const char *what, bool (*hear)(void))
{
	bool all = true;

	for (unsigned round = 0; round < TURNS_ROUNDS && all; round++) {
		struct bh_message found;
		uint64_t slept = 0;

		all = hear();
		(void)!thread_sleep_until(turn);
		all = all && channel_receive(&ring, &slept, sizeof(slept), &found, TIMER_NEVER) == BH_END_OK && heard > slept && in_time();
		if (round >= TURNS_WARM_UP)
			turns_note(heard - slept - empty);
		end_turn();
	}
	say(what, all);
}

/* ---- Both --------------------------------------------------------------------------------------------------------------------- */

static void measure_near(void)
{
	measure_ringing("doorbell, handler: send", ring_handler);
	measure_ringing("doorbell, thread: send", send_to_thread);
}

static void measure_far(void)
{
	measure_hearing("doorbell, handler: take", sleep_on);
	measure_hearing("doorbell, thread: take", hear_in_thread);
}

static bool open_all(void)
{
	return turns_keep(TURNS_SAMPLES) && turns_open(&mail, "mail", TURNS_NS) && turns_open(&ring, "ring", TURNS_NS) &&
	       turns_open(&to_handler, "to-handler", TURNS_NS) && turns_open(&to_thread, "to-thread", TURNS_NS);
}

static void measure_all(bool far)
{
	if (far)
		irq_attach_device(info_find(BH_GRANT_DOORBELL, "to-handler"), hear_in_handler);
	else
		bell = doorbell_find("to-handler");
	turns_connect(&ring);
	turns_connect(&to_thread);
	turn = turns_meet(&mail) + (far ? clock_from_ns(TURNS_NS) : 0);
	empty = turns_least(turns_nothing);
	if (far)
		measure_far();
	else
		measure_near();
	console_say("channel done");
}

static void open_and_measure(void)
{
	if (open_all())
		measure_all(ring.end->role == BH_END_RING_READER);
	else
		console_say("channel: cannot measure without memory and channels");
}

void run_bench_bells(const struct command_line *line)
{
	heartbeat_start(0);
	turns_run(BUDGET_NS, PERIOD_NS, open_and_measure);
}
