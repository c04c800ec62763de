/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two cores with an end of a channel each, by the sandbox kernel's own sporadic servers, in ticks: who runs when, and when an exchange
 * ends. The end's VCPU may have one before it, which is hungry in stretches. Nothing costs a tick but what the stages say. channel_model.py
 * calls it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "kernel/sched/sporadic.h"

enum { ENTRIES = 16, MOST_NAPS = 8 };
static const uint64_t never = UINT64_MAX;

struct stretch {
	uint64_t from, until;
};

/* As channel_model.py has it. */
struct end {
	uint64_t budget, period, phase; /* its budget is there for the first time at `phase` */
	uint64_t lost, lost_at;         /* of each `budget` ticks in a row so many are no work, from number `lost_at` on */
	uint64_t higher_budget, higher_period;
	uint32_t hungry_count, nap_count;
	struct stretch hungry[MOST_NAPS]; /* when the one before it wants to run; 0: there is none */
	struct stretch naps[MOST_NAPS];   /* when the end sleeps, before the exchange */
};

struct core {
	const struct end *end;
	struct sporadic server, higher;
	uint64_t now, used;
	bool awake;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* In which stretch `at` is, and when that changes. */
static bool is_in(const struct stretch *stretches, uint32_t count, uint64_t at, uint64_t *change)
{
	*change = never;
	for (uint32_t n = 0; n < count; n++) {
		if (at >= stretches[n].from && at < stretches[n].until) {
			*change = stretches[n].until;
			return true;
		}
		if (at < stretches[n].from)
			*change = least(*change, stretches[n].from);
	}
	return false;
}

static void core_start(struct core *core, const struct end *end)
{
	core->end = end;
	core->now = core->used = 0;
	core->awake = true;
	sporadic_init(&core->server, end->budget, end->period, ENTRIES, end->phase);
	if (end->hungry_count)
		sporadic_init(&core->higher, end->higher_budget, end->higher_period, ENTRIES, 0);
}

/* Whether the tick that comes next is work, and for how many ticks that stays so. */
static bool is_work(const struct core *core, uint64_t *ticks)
{
	const struct end *end = core->end;
	const uint64_t at = (core->used + end->budget - end->lost_at) % end->budget;

	*ticks = (at < end->lost ? end->lost : end->budget) - at;
	return at >= end->lost;
}

/* Runs the core until `until`, or until its end has had `work` ticks. Returns what is missing of `work`. */
static uint64_t core_run(struct core *core, uint64_t until, uint64_t work)
{
	const struct end *end = core->end;

	while (core->now < until && work) {
		uint64_t change, nap_change, run = never;
		const bool hungry = is_in(end->hungry, end->hungry_count, core->now, &change);
		const bool asleep = is_in(end->naps, end->nap_count, core->now, &nap_change);

		if (!asleep && !core->awake)
			sporadic_wake(&core->server, core->now);
		core->awake = !asleep;
		run = least(least(change, nap_change), until) - core->now;
		if (hungry) {
			for (uint32_t n = 0; n < end->hungry_count; n++)
				if (end->hungry[n].from == core->now)
					sporadic_wake(&core->higher, core->now);
			if (sporadic_next(&core->higher) <= core->now) {
				run = least(run, sporadic_left(&core->higher));
				sporadic_charge(&core->higher, run);
				core->now += run;
				continue;
			}
			run = least(run, sporadic_next(&core->higher) - core->now);
		}
		if (!asleep && sporadic_next(&core->server) <= core->now) {
			uint64_t ticks;
			const bool works = is_work(core, &ticks);

			run = least(least(run, sporadic_left(&core->server)), ticks);
			if (works && work != never) {
				run = least(run, work);
				work -= run;
			}
			sporadic_charge(&core->server, run);
			core->used += run;
		} else if (!asleep) {
			run = least(run, sporadic_next(&core->server) - core->now);
		}
		core->now += run;
	}
	return work;
}

/*
 * How long an exchange takes that end 0 begins at `start`; its stages are of the ends in turn, `count` of them, beginning with end 0, and
 * then again from the first, `times` in all. Who has no stage polls.
 */
uint64_t exchange(const struct end ends[2], uint64_t start, const uint64_t *works, uint32_t count, uint32_t times)
{
	struct core cores[2];
	uint64_t now = start;

	for (unsigned side = 0; side < 2; side++)
		core_start(&cores[side], &ends[side]);
	for (uint32_t n = 0; n < count * times; n++) {
		struct core *core = &cores[n & 1];

		core_run(core, now, never);
		core_run(core, never, works[n % count]);
		now = core->now;
	}
	return now - start;
}

struct sweep {
	struct end *ends;
	const uint64_t *works;
	uint32_t count, times;
	uint64_t most, start, phase;
};

static uint64_t try_start(struct sweep *sweep, uint64_t start)
{
	const uint64_t span = exchange(sweep->ends, start, sweep->works, sweep->count, sweep->times);

	if (span > sweep->most) {
		sweep->most = span;
		sweep->start = start;
		sweep->phase = sweep->ends[1].phase;
	}
	return span;
}

/*
 * The longest of all starts in [start, until), and all phases of end 1 below its period, a `phase_step` apart; where it was found. Who
 * starts later ends no sooner, so starts less than a `step` before one that was tried are tried only where they could take longer than what
 * was found.
 */
uint64_t longest(struct end ends[2], uint64_t start, uint64_t until, uint64_t step, uint64_t phase_step, const uint64_t *works,
		 uint32_t count, uint32_t times, uint64_t *at_start, uint64_t *at_phase)
{
	struct sweep sweep = { .ends = ends, .works = works, .count = count, .times = times };

	for (ends[1].phase = 0; ends[1].phase < ends[1].period; ends[1].phase += phase_step) {
		for (uint64_t at = start; at < until; at = at + step < until || at == until - 1 ? at + step : until - 1) {
			const uint64_t span = try_start(&sweep, at);

			for (uint64_t before = least(step - 1, at - start); before && span + before > sweep.most; before--)
				try_start(&sweep, at - before);
		}
	}
	*at_start = sweep.start;
	*at_phase = sweep.phase;
	return sweep.most;
}
