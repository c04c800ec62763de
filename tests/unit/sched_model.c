/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model (sched_model.h). Main VCPUs: rules as seL4's and as the report's (TR-091026), with arrays that are moved. I/O VCPUs: times in
 * hundredths of a tick over the percentage, so that nothing is rounded. Nothing is looked up, and no time is calculated at which something
 * will happen: each tick asks again.
 */
#include "sched_model.h"

#include <string.h>

#include "check.h"

enum { NOBODY = -1 };

struct refill {
	uint64_t at, amount;
};

static struct server {
	const struct sim_vcpu *of;
	bool ready;
	struct refill list[SPORADIC_MOST_ENTRIES];
	unsigned count;
	uint64_t at_by_percent, used, period; /* of an I/O VCPU */
	uint64_t owed;
} servers[SIM_VCPUS]; /* by rank */

static int running;
static bool foreground;
static uint64_t since_charged;
static struct {
	bool is, excepted;
	uint64_t end, ticks;
	int owes;
} serving;

static bool is_main(const struct server *one)
{
	return one->of->vcpu.kind == VCPU_MAIN;
}

/* ---- Main VCPUs ----------------------------------------------------------------------------------------------------- */

static struct refill take_first(struct server *one)
{
	struct refill first = one->list[0];

	memmove(&one->list[0], &one->list[1], --one->count * sizeof(first));
	return first;
}

static void add_refill(struct server *one, struct refill refill)
{
	struct refill *last = one->count ? &one->list[one->count - 1] : NULL;

	if (last && last->at + last->amount >= refill.at) {
		last->amount += refill.amount;
	} else if (one->count < one->of->entries) {
		one->list[one->count++] = refill;
	} else {
		last->at = refill.at - last->amount;
		last->amount += refill.amount;
	}
}

static void charge_main(struct server *one, uint64_t used)
{
	for (; used >= one->of->budget; used -= one->of->budget)
		for (unsigned n = 0; n < one->count; n++)
			one->list[n].at += one->of->period;
	while (used >= one->list[0].amount) {
		struct refill whole = take_first(one);

		used -= whole.amount;
		whole.at += one->of->period;
		add_refill(one, whole);
	}
	if (used) {
		struct refill part = { one->list[0].at + one->of->period, used };

		one->list[0].at += used;
		one->list[0].amount -= used;
		add_refill(one, part);
	}
}

static void wake_main(struct server *one, uint64_t now)
{
	if (one->list[0].at >= now)
		return;
	one->list[0].at = now;
	while (one->count > 1 && one->list[1].at <= now + one->list[0].amount) {
		uint64_t amount = take_first(one).amount;

		one->list[0].at = now;
		one->list[0].amount += amount;
	}
}

/* ---- I/O VCPUs ------------------------------------------------------------------------------------------------------ */

static uint64_t budget_of(const struct server *one)
{
	return one->period * one->of->percent / 100;
}

static void end_io(struct server *one)
{
	one->at_by_percent += 100 * one->used;
	one->used = 0;
}

static void end_io_if_spent(struct server *one)
{
	if (one->used >= budget_of(one))
		end_io(one);
}

static void wake_io(struct server *one, const struct sim_event *what)
{
	uint64_t now = (uint64_t)what->tick * one->of->percent;
	uint64_t period = what->period < one->of->period ? what->period : one->of->period; /* never more than its rank's */

	if (what->what == SIM_READY) {
		one->at_by_percent = one->at_by_percent > now ? one->at_by_percent : now;
		one->period = period;
	} else if (period < one->period) {
		one->period = period;
	}
	end_io_if_spent(one);
}

/* ---- Decisions ------------------------------------------------------------------------------------------------------ */

static bool has_budget(const struct server *one, uint64_t now)
{
	return is_main(one) ? one->list[0].at <= now : one->at_by_percent <= now * one->of->percent;
}

static uint64_t left_of(const struct server *one)
{
	return is_main(one) ? one->list[0].amount : budget_of(one) - one->used;
}

/* The one that runs with budget has none left, or none now. */
static bool is_spent(const struct server *one, uint64_t now)
{
	return !has_budget(one, now) || since_charged + one->owed >= left_of(one);
}

static void take(struct server *one, uint64_t ticks)
{
	if (is_main(one)) {
		charge_main(one, ticks);
		return;
	}
	one->used += ticks;
	end_io_if_spent(one);
}

/* With what it owes. */
static void charge(void)
{
	struct server *one = running == NOBODY ? NULL : &servers[running];
	uint64_t used = since_charged;

	since_charged = 0;
	if (!one || !foreground || !used)
		return;
	take(one, used + one->owed);
	one->owed = 0;
}

/* Returns whether it is charged for what it owes, instead of running. */
static bool pays(struct server *one)
{
	uint64_t owed = one->owed;

	if (owed == 0 || owed < left_of(one))
		return false;
	one->owed = 0;
	take(one, owed);
	return true;
}

static void decide(unsigned count, uint64_t now)
{
	charge();
	for (foreground = true;; foreground = false) {
		for (running = 0; running < (int)count; running++) {
			struct server *one = &servers[running];

			while (foreground && one->ready && has_budget(one, now) && pays(one))
				;
			if (one->ready && (foreground ? has_budget(one, now) : !one->of->vcpu.foreground_only))
				return;
		}
		running = NOBODY;
		if (!foreground)
			return;
	}
}

/* ---- Interrupts ----------------------------------------------------------------------------------------------------- */

static void enter(const struct sim_core *core, const struct sim_event *what)
{
	serving.is = true;
	serving.end = what->tick + what->ticks;
	serving.ticks = what->ticks;
	serving.owes = what->vcpu == SIM_NOBODY ? NOBODY : (int)core->vcpus[what->vcpu].order;
}

/* It is another's, or nobody's and the one that runs has not come to the end of its budget when it begins. */
static bool is_excepted(uint64_t began)
{
	if (running == NOBODY || !foreground)
		return true;
	if (serving.owes != NOBODY)
		return serving.owes != running;
	return !is_spent(&servers[running], began);
}

static void leave(void)
{
	serving.is = false;
	if (serving.excepted && serving.owes != NOBODY)
		servers[serving.owes].owed += serving.ticks;
}

/* ---- Ticks ---------------------------------------------------------------------------------------------------------- */

/* Whether whoever runs should not run on just like this. */
static bool is_over(unsigned count, uint64_t now)
{
	if (running != NOBODY && foreground && is_spent(&servers[running], now))
		return true;
	for (unsigned n = 0; n < (foreground ? (unsigned)running : count); n++)
		if (servers[n].ready && has_budget(&servers[n], now))
			return true;
	return false;
}

static bool is_of_vcpu(const struct sim_event *what)
{
	return what->what == SIM_READY || what->what == SIM_ARRIVES || what->what == SIM_IDLE;
}

static void apply(const struct sim_core *core, const struct sim_event *what)
{
	struct server *one;

	if (what->what == SIM_INTERRUPT || what->what == SIM_JOINS)
		enter(core, what);
	if (!is_of_vcpu(what))
		return;
	one = &servers[core->vcpus[what->vcpu].order];
	if (running == (int)(one - servers))
		charge();
	one->ready = what->what != SIM_IDLE;
	if (is_main(one) && one->ready)
		wake_main(one, what->tick);
	else if (!is_main(one) && one->ready)
		wake_io(one, what);
	else if (!is_main(one))
		end_io(one);
}

static void start(const struct sim_core *core)
{
	memset(servers, 0, sizeof(servers));
	for (unsigned n = 0; n < core->count; n++) {
		servers[n].of = core->by_order[n];
		servers[n].list[0].amount = servers[n].of->budget;
		servers[n].count = 1;
		servers[n].period = servers[n].of->period;
	}
	running = NOBODY;
	foreground = false;
	since_charged = 0;
	serving.is = false;
}

static unsigned runner_of(const struct sim_core *core)
{
	return running == NOBODY || (serving.is && serving.excepted) ? SIM_NOBODY : (unsigned)(servers[running].of - core->vcpus);
}

/* An interrupt ends, and a decision that is due comes, if no other interrupt joins it. */
static void ends(const struct sim_core *core, const struct sim_event *next, uint64_t now, uint64_t *timer)
{
	leave();
	if (next < core->events + core->event_count && next->tick == now && next->what == SIM_JOINS)
		return;
	if (*timer != SCHED_NEVER || is_over(core->count, now)) {
		decide(core->count, now);
		*timer = SCHED_NEVER;
	}
}

static void check_tick(const struct sim_core *core, uint64_t now)
{
	bool excepted = serving.is && serving.excepted;

	CHECK_EQ(runner_of(core), core->ran[now]);
	CHECK_EQ(!excepted && foreground, core->foreground[now]);
	CHECK_EQ(serving.is ? excepted ? SIM_EXCEPTED : SIM_CHARGED : SIM_NONE, core->interrupt[now]);
	since_charged += !excepted;
}

void model_check(const struct sim_core *core)
{
	const struct sim_event *what = core->events, *end = what + core->event_count;
	uint64_t timer = SCHED_NEVER;

	start(core);
	for (uint64_t now = 0; now < SIM_TICKS; now++) {
		bool told = false, looks = now == 0, goes_on = serving.is && now < serving.end;

		if (serving.is && !goes_on)
			ends(core, what, now, &timer);
		for (; what < end && what->tick == now; what++) {
			looks |= what->what == SIM_LOOK;
			told |= is_of_vcpu(what);
			apply(core, what);
		}
		if (serving.is && !goes_on)
			serving.excepted = is_excepted(now);
		if (!goes_on && timer == SCHED_NEVER && (told || is_over(core->count, now)))
			timer = now + sim_latency(core, now);
		if (!serving.is && (looks || timer == now)) {
			decide(core->count, now);
			timer = SCHED_NEVER;
		}
		check_tick(core, now);
	}
}
