/* SPDX-License-Identifier: Apache-2.0 */
/* Each works, and looks who did before (slices.h). */
#include "probe/slices.h"

#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/stacks.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_slice.h"

enum {
	US = 1000,
	MS = 1000 * US,
	BUDGET_NS = 8 * MS,
	PERIOD_NS = 10 * MS,
	TIME_NS = 60 * MS,
	REST_NS = 10 * MS,
	WORKERS = 3,
	PERCENT = 100
};

static struct thread_vcpu vcpu;
static struct thread worker[WORKERS];
static volatile uint64_t begin, turns, rounds[WORKERS];
static const struct thread *volatile last;

static void work(void *argument)
{
	volatile uint64_t *own = argument;
	const struct thread *self = thread_running();

	(void)!thread_sleep_until(begin); /* they come before who makes them */
	while (arch_counter() < begin + clock_from_ns(TIME_NS)) {
		*own = *own + 1;
		if (last == self)
			continue;
		last = self;
		turns = turns + 1;
	}
}

static bool make(uint64_t slice_us)
{
	bool good = thread_begin() == THREAD_OK &&
		    thread_make_vcpu(&vcpu, "trial", clock_from_ns(BUDGET_NS), clock_from_ns(PERIOD_NS)) == THREAD_OK &&
		    thread_set_slice(&vcpu, clock_from_ns(slice_us * US)) == THREAD_OK;

	begin = arch_counter() + clock_from_ns(REST_NS);
	for (unsigned n = 0; n < WORKERS; n++)
		good = good && thread_make(&worker[n], &vcpu, "worker", 0, stacks_take(), work, (void *)(uintptr_t)&rounds[n]) == THREAD_OK;
	return good;
}

void run_slices(const struct command_line *line)
{
	uint64_t all;

	if (!make(line->operand[0])) {
		console_say("slices: not begun");
		return;
	}
	(void)!thread_sleep_until(begin + clock_from_ns(TIME_NS + REST_NS));
	all = rounds[0] + rounds[1] + rounds[2];
	console_say("slices: turns %ju, shares %ju %ju %ju", turns, rounds[0] * PERCENT / all, rounds[1] * PERCENT / all,
		    rounds[2] * PERCENT / all);
}
