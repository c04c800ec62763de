/* SPDX-License-Identifier: Apache-2.0 */
/* Travellers, each with something on its stack that must be whole wherever it is (moves.h). */
#include "probe/moves.h"

#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/smp.h"
#include "kernel/core/stacks.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/thread_move.h"

enum { MS = 1000000, BUDGET_NS = 4 * MS, PERIOD_NS = 10 * MS, SLEEP_NS = 20 * MS, PATIENCE_MS = 1000, TRAVELLERS = 4, AWAY = 1 };

static struct thread_vcpu home, away;
static _Atomic bool is_made; /* `away` */
static struct thread traveller[TRAVELLERS], sleeper;
static uint64_t wanted;
static _Atomic uint64_t arrivals, lost; /* where it should be, and elsewhere or not whole */
static _Atomic bool woke_in_time;

static bool make(struct thread_vcpu *on, const char *name)
{
	return thread_begin() == THREAD_OK && thread_make_vcpu(on, name, clock_from_ns(BUDGET_NS), clock_from_ns(PERIOD_NS)) == THREAD_OK;
}

void run_moves_away(const struct command_line *line)
{
	is_made = make(&away, "away");
}

/* Whether it went well. */
static bool go(struct thread_vcpu *to)
{
	return thread_move(thread_running(), to) == THREAD_OK && cpu_slot() == to->core;
}

static void travel(void *argument)
{
	volatile uint64_t there = 0, back = 0;

	for (uint64_t n = 0; n < wanted; n++) {
		there = there + go(&away);
		back = back + go(&home);
		arrivals += 2;
		lost += there != n + 1 || back != n + 1;
	}
}

static void sleep_long(void *argument)
{
	uint64_t at = arch_counter() + clock_from_ns(SLEEP_NS);

	woke_in_time = thread_sleep_until(at) == THREAD_OK && cpu_slot() == AWAY && arch_counter() >= at &&
		       arch_counter() < at + clock_from_ns(SLEEP_NS);
}

static void pause(void)
{
	(void)!thread_sleep_until(arch_counter() + clock_from_ns(MS));
}

static bool comes_to_be_made(void)
{
	for (unsigned ms = 0; ms < PATIENCE_MS && !is_made; ms++)
		pause();
	return is_made;
}

static bool all_have_ended(void)
{
	bool all = woke_in_time;

	for (unsigned n = 0; n < TRAVELLERS; n++)
		all &= thread_state(&traveller[n]) == THREAD_HAS_ENDED;
	return all;
}

static bool start(void)
{
	bool good = make(&home, "home") && smp_run(AWAY, "moves-away") && comes_to_be_made() &&
		    thread_make(&sleeper, &home, "sleeper", 0, stacks_take(), sleep_long, NULL) == THREAD_OK &&
		    thread_move(&sleeper, &away) == THREAD_OK;

	for (unsigned n = 0; n < TRAVELLERS; n++)
		good = good && thread_make(&traveller[n], &home, "traveller", 1, stacks_take(), travel, NULL) == THREAD_OK;
	return good;
}

void run_moves(const struct command_line *line)
{
	wanted = line->operand[0];
	if (!start()) {
		console_say("moves: not begun");
		return;
	}
	for (unsigned ms = 0; ms < PATIENCE_MS && !all_have_ended(); ms++)
		pause();
	console_say("moves %ju of %ju, lost %ju, slept %s", arrivals, wanted * 2 * TRAVELLERS, lost, woke_in_time ? "in time" : "badly");
}
