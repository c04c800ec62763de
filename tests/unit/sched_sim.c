/* SPDX-License-Identifier: Apache-2.0 */
/* Runs scripts over the scheduler in simulated time (sched_sim.h). */
#include "sched_sim.h"

#include <string.h>

#include "check.h"
#include "random.h"

void sim_init(struct sim_core *core, uint64_t seed, unsigned latency, uint64_t base, uint64_t scale)
{
	memset(core, 0, sizeof(*core));
	core->seed = random_state = seed;
	core->latency = latency;
	core->base = base;
	core->scale = scale;
	sched_init(&core->sched, core->words, core->by_rank, SIM_LEAVES, base);
}

static uint64_t time_of(const struct sim_core *core, uint64_t tick)
{
	return core->base + core->scale * tick;
}

uint64_t sim_latency(const struct sim_core *core, uint64_t tick)
{
	random_state = core->seed + tick;
	return below(core->latency + 1);
}

/* ---- VCPUs -------------------------------------------------------------------------------------------------------- */

/* After all with a period as short, as the contract says it. */
static struct sim_vcpu *rank(struct sim_core *core, struct sim_vcpu *added)
{
	unsigned at = core->count++;

	for (; at && core->by_order[at - 1]->period > added->period; at--)
		core->by_order[at] = core->by_order[at - 1];
	core->by_order[at] = added;
	for (unsigned n = 0; n < core->count; n++)
		core->by_order[n]->order = n;
	added->script = SIM_WORK;
	return added;
}

struct sim_vcpu *sim_add_main(struct sim_core *core, uint64_t budget, uint64_t period, unsigned entries)
{
	struct sim_vcpu *one = &core->vcpus[core->count];

	one->budget = budget;
	one->period = period;
	one->entries = entries;
	CHECK_EQ(sched_add_main(&core->sched, &one->vcpu, budget * core->scale, period * core->scale, entries, core->base), SCHED_OK);
	return rank(core, one);
}

struct sim_vcpu *sim_add_io(struct sim_core *core, unsigned percent, uint64_t period, uint64_t longest)
{
	struct sim_vcpu *one = &core->vcpus[core->count];

	one->percent = percent;
	one->period = period;
	one->longest = longest;
	CHECK_EQ(sched_add_io(&core->sched, &one->vcpu, percent, period * core->scale, core->base), SCHED_OK);
	return rank(core, one);
}

void sim_add_line(struct sim_core *core, uint64_t cost, uint64_t distance)
{
	core->lines[core->line_count++] = (struct sim_line){ .cost = cost, .distance = distance, .next = 1 + below(2 * distance) };
}

/* ---- What must be true after each call ---------------------------------------------------------------------------- */

static const struct replenishment *entry(const struct sporadic *server, unsigned n)
{
	return &server->entries[(server->first + n) % SPORADIC_MOST_ENTRIES];
}

void sim_check_list(const struct sporadic *server)
{
	uint64_t sum = 0;

	CHECK(server->count >= 1 && server->count <= server->most);
	for (unsigned n = 0; n < server->count; n++) {
		CHECK(entry(server, n)->amount > 0);
		CHECK(n == 0 || entry(server, n)->at >= entry(server, n - 1)->at + entry(server, n - 1)->amount);
		sum += entry(server, n)->amount;
	}
	CHECK_EQ(sum, server->budget);
	CHECK(entry(server, server->count - 1)->at <= entry(server, 0)->at + server->period);
}

static uint64_t next_of(const struct vcpu *vcpu)
{
	return vcpu->kind == VCPU_MAIN ? entry(&vcpu->main, 0)->at : vcpu->io.at;
}

static uint64_t left_of(const struct vcpu *vcpu)
{
	return vcpu->kind == VCPU_MAIN ? entry(&vcpu->main, 0)->amount : vcpu->io.amount;
}

/* Ticks of the clock that it ran with budget, and has not been charged: what it was charged otherwise are debts, each once. */
static uint64_t uncharged(const struct sim_core *core, const struct sim_vcpu *one)
{
	return (one->had + one->ever - one->owed) * core->scale - one->vcpu.given;
}

/* When the one that runs with budget has none left, now or later. */
static uint64_t end_of_budget(const struct sim_core *core)
{
	const struct sim_vcpu *one = (const struct sim_vcpu *)core->sched.running;
	uint64_t left = left_of(&one->vcpu), gone = one->owed * core->scale + uncharged(core, one);

	return time_of(core, core->now) + (gone < left ? left - gone : 0);
}

static bool is_spent(const struct sim_core *core)
{
	return core->sched.foreground &&
	       (next_of(core->sched.running) > time_of(core, core->now) || end_of_budget(core) <= time_of(core, core->now));
}

/* The first in rank with budget; else the first that may run without; and the first moment at which that would be another answer. */
static void check_decision(const struct sim_core *core)
{
	const struct sched *sched = &core->sched;
	const struct vcpu *expected = NULL, *one;
	uint64_t now = time_of(core, core->now), until = SCHED_NEVER;
	bool foreground = false;

	for (unsigned n = 0; n < core->count && !foreground; n++) {
		one = &core->by_order[n]->vcpu;
		if (!core->by_order[n]->ready)
			continue;
		foreground = next_of(one) <= now;
		if (foreground || (!expected && !one->foreground_only))
			expected = one;
		if (!foreground && next_of(one) < until)
			until = next_of(one);
	}
	CHECK(sched->running == expected);
	CHECK(!foreground || expected->owed < left_of(expected));
	if (foreground && end_of_budget(core) < until)
		until = end_of_budget(core);
	CHECK_EQ(sched->foreground, foreground);
	CHECK_EQ(sched->until, until);
	CHECK(sched->until > now);
}

static void note(struct sim_core *core, const struct sim_vcpu *one, enum sim_what what, uint64_t period, uint64_t ticks)
{
	CHECK(core->event_count < SIM_EVENTS);
	core->events[core->event_count++] = (struct sim_event){
		.tick = (uint32_t)core->now,
		.vcpu = one ? (uint8_t)(one - core->vcpus) : SIM_NOBODY,
		.what = what,
		.period = period,
		.ticks = ticks,
	};
}

/* If it owes nothing any more it has paid: with the ticks that it ran, or without. */
static void settle(struct sim_core *core, struct sim_vcpu *one)
{
	if (one->vcpu.owed || !one->owed)
		return;
	if (one->owed > one->paying)
		note(core, one, SIM_PAID, 0, one->owed - one->paying);
	one->owed = 0;
	one->paying = 0;
}

/* After each call. */
static void check_vcpus(struct sim_core *core)
{
	for (unsigned n = 0; n < core->count; n++) {
		struct sim_vcpu *one = &core->vcpus[n];

		if (one->vcpu.kind == VCPU_MAIN)
			sim_check_list(&one->vcpu.main);
		settle(core, one);
		CHECK_EQ(one->vcpu.owed, one->owed * core->scale);
		CHECK(core->sched.running == &one->vcpu || uncharged(core, one) == 0);
	}
}

/* ---- Scripts ------------------------------------------------------------------------------------------------------ */

static void serve(struct sim_core *core, struct sim_vcpu *one, enum sim_what what)
{
	uint64_t least = (99 + one->percent) / one->percent, shortest = one->period / 2 > least ? one->period / 2 : least;
	uint64_t period = below(3) ? shortest + below(one->longest - shortest + 1) : one->period;

	note(core, one, what, period, 0);
	one->work += 1 + below(2 + one->longest * one->percent / 50);
	one->change = core->now + 1 + below(one->period);
	sched_ready_for(&core->sched, &one->vcpu, period * core->scale, time_of(core, core->now));
}

static void wake(struct sim_core *core, struct sim_vcpu *one)
{
	uint64_t spare = core->latency + one->own;

	one->ready = true;
	one->woke = core->now;
	if (one->vcpu.kind == VCPU_IO) {
		serve(core, one, SIM_READY);
		return;
	}
	one->had_own = false;
	one->work = one->script == SIM_JOBS   ? 1 + below(one->budget - (spare < one->budget ? spare : 0))
		    : one->script == SIM_WORK ? 1 + below(2 * one->budget)
					      : UINT64_MAX;
	one->change = one->script == SIM_STRETCHES ? core->now + 1 + below(2 * one->period) : SCHED_NEVER;
	note(core, one, SIM_READY, 0, 0);
	sched_ready(&core->sched, &one->vcpu, time_of(core, core->now));
}

static uint64_t pause_of(const struct sim_core *core, const struct sim_vcpu *one)
{
	if (one->script != SIM_JOBS)
		return below(2) ? below(2 * one->period) : below(4);
	return (core->now < one->woke + one->period ? one->woke + one->period - core->now : 0) + below(2) * below(one->period);
}

static void rest(struct sim_core *core, struct sim_vcpu *one)
{
	if (core->now - one->woke > one->slowest)
		one->slowest = core->now - one->woke;
	one->ready = false;
	one->work = 0;
	one->change = core->now + pause_of(core, one);
	note(core, one, SIM_IDLE, 0, 0);
	sched_idle(&core->sched, &one->vcpu, time_of(core, core->now));
}

/* Returns whether something happened. */
static bool follow(struct sim_core *core, struct sim_vcpu *one)
{
	bool changes = one->change <= core->now;

	if (one->ready && (one->work == 0 || (changes && one->vcpu.kind == VCPU_MAIN))) {
		rest(core, one);
		changes = one->change <= core->now;
		if (!changes)
			return true;
	}
	if (changes && one->ready)
		serve(core, one, SIM_ARRIVES);
	else if (changes)
		wake(core, one);
	return changes;
}

/* ---- Time --------------------------------------------------------------------------------------------------------- */

static struct sim_vcpu *running_of(struct sim_core *core)
{
	return (struct sim_vcpu *)core->sched.running; /* its first member */
}

static void set_timer(struct sim_core *core)
{
	core->until = core->sched.until;
	if (core->until < SCHED_NEVER) {
		CHECK_EQ((core->until - core->base) % core->scale, 0);
		core->until = (core->until - core->base) / core->scale;
	}
	core->timer = core->until < SIM_TICKS ? core->until + sim_latency(core, core->until) : SCHED_NEVER;
}

static void decide(struct sim_core *core)
{
	sched_decide(&core->sched, time_of(core, core->now));
	core->decided[core->now] = true;
	for (unsigned n = 0; n < core->count; n++)
		settle(core, &core->vcpus[n]);
	check_decision(core);
	check_vcpus(core);
	CHECK(!core->sched.running || uncharged(core, running_of(core)) == 0);
	set_timer(core);
	random_state = core->seed ^ core->now << 20 ^ core->event_count;
	if (core->look <= core->now)
		core->look = core->now + 1 + below(SIM_TICKS / 8);
}

/* It sets its timer when it runs. */
static void run(struct sim_core *core, struct sim_vcpu *one)
{
	if (core->sched.foreground) {
		if (one->owed > one->paying)
			note(core, one, SIM_PAYS, 0, one->owed - one->paying);
		one->paying = one->owed;
		one->had++;
	}
	if (one->own && !one->armed && !core->serving.is && (core->sched.foreground || one->restless)) {
		one->armed = true;
		one->due = core->now + 1 + below(below(2) ? 4 : 2 * one->period);
	}
}

static void pass(struct sim_core *core, uint64_t next)
{
	struct sim_vcpu *running = core->serving.is == SIM_EXCEPTED ? NULL : running_of(core);

	for (; core->now < next; core->now++) {
		core->ran[core->now] = running ? (uint8_t)(running - core->vcpus) : SIM_NOBODY;
		core->foreground[core->now] = running && core->sched.foreground;
		core->late[core->now] = core->now >= core->until;
		core->interrupt[core->now] = core->serving.is;
		if (running)
			run(core, running);
		if (running && running->ready && running->work < UINT64_MAX && !core->serving.is)
			running->work--;
	}
}

/* Something happened: a decision is due, and comes late. */
static void is_due(struct sim_core *core)
{
	if (core->until <= core->now)
		return;
	core->until = core->now;
	core->timer = core->now + sim_latency(core, core->now);
}

/* ---- Interrupts --------------------------------------------------------------------------------------------------- */

/* Who goes to sleep does so with interrupts disabled, until the decision. */
static bool may_interrupt(struct sim_core *core)
{
	const struct sim_vcpu *running = running_of(core);

	return !core->serving.is && (!running || running->ready);
}

static bool may_wake(const struct sim_core *core, const struct sim_vcpu *one)
{
	return !one->ready && (one->script != SIM_JOBS || core->now >= one->woke + one->period);
}

/* When its own interrupt comes. */
static uint64_t own_at(const struct sim_vcpu *one)
{
	if (!one->armed || (one->ready && one->script == SIM_JOBS && one->had_own))
		return SCHED_NEVER;
	if (!one->ready && one->script == SIM_JOBS && one->due < one->woke + one->period)
		return one->woke + one->period;
	return one->due;
}

static void awaken(struct sim_core *core, struct sim_vcpu *one)
{
	if (may_wake(core, one))
		wake(core, one);
	else if (one->ready && one->vcpu.kind == VCPU_IO)
		serve(core, one, SIM_ARRIVES);
	else
		return;
	is_due(core);
}

/* `one`: whose it is, or NULL. */
static void enter(struct sim_core *core, struct sim_vcpu *one, uint64_t ticks, enum sim_what what)
{
	note(core, one, what, 0, ticks);
	if (what == SIM_INTERRUPT)
		core->serving.entered = core->now;
	core->serving.began = core->now;
	core->serving.end = core->now + ticks;
	core->serving.owes = one;
	if (!one) {
		for (unsigned n = (unsigned)below(3); n; n--)
			awaken(core, &core->vcpus[below(core->count)]);
	} else if (one->script == SIM_JOBS || below(3)) {
		awaken(core, one);
	}
	check_vcpus(core);
	if (core->serving.end - core->serving.entered > core->longest)
		core->longest = core->serving.end - core->serving.entered;
	core->serving.is = SIM_CHARGED;
	if (one ? one != running_of(core) || !core->sched.foreground : !is_spent(core))
		core->serving.is = SIM_EXCEPTED;
}

static bool enter_own(struct sim_core *core, struct sim_vcpu *one, enum sim_what what)
{
	uint64_t ticks;

	if (own_at(one) > core->now)
		return false;
	ticks = 1 + below(one->own);
	if (core->now + ticks > SIM_TICKS)
		return false;
	one->armed = false;
	enter(core, one, ticks, what);
	one->had_own = true;
	return true;
}

static bool enter_device(struct sim_core *core, struct sim_line *line)
{
	uint64_t ticks = 1 + below(line->cost);

	if (line->next > core->now || core->now + ticks > SIM_TICKS)
		return false;
	line->paid = (line->paid > core->now ? line->paid : core->now) + line->distance;
	line->next = core->now + 1 + below(below(2) ? 4 : 2 * line->distance);
	if (line->next < line->paid - line->distance)
		line->next = line->paid - line->distance;
	enter(core, NULL, ticks, SIM_INTERRUPT);
	return true;
}

static void interrupt(struct sim_core *core)
{
	bool entered = false;

	if (!may_interrupt(core))
		return;
	for (unsigned n = 0; n < core->line_count && !entered; n++)
		entered = enter_device(core, &core->lines[n]);
	for (unsigned n = 0; n < core->count && !entered; n++)
		entered = enter_own(core, &core->vcpus[n], SIM_INTERRUPT);
}

/* As account() in kernel/core/thread.c. */
static void account(struct sim_core *core)
{
	struct sim_vcpu *owes = core->serving.owes;
	uint64_t began = time_of(core, core->serving.began), ticks = core->now - core->serving.began;

	if (!sched_is_spent(&core->sched, began) || (owes && &owes->vcpu != core->sched.running))
		sched_except(&core->sched, began, time_of(core, core->now), owes ? &owes->vcpu : NULL);
	if (core->serving.is == SIM_EXCEPTED && owes) {
		owes->ever += ticks;
		owes->owed += ticks;
		if (owes->owed > owes->most_owed)
			owes->most_owed = owes->owed;
	}
	check_vcpus(core);
	CHECK(core->serving.is != SIM_EXCEPTED || !core->sched.foreground || core->sched.until <= end_of_budget(core));
	core->serving.is = SIM_NONE;
}

/* Another VCPU's timer is due, too. */
static bool goes_on(struct sim_core *core)
{
	if (!core->serving.owes || below(2))
		return false;
	for (unsigned n = 0; n < core->count; n++)
		if (enter_own(core, &core->vcpus[n], SIM_JOINS))
			return true;
	return false;
}

static void leave(struct sim_core *core)
{
	bool due = core->until <= core->serving.began;

	account(core);
	if (!due)
		set_timer(core);
	if (goes_on(core))
		return;
	if (core->until <= core->now)
		decide(core);
	else if (below(4) == 0)
		core->look = core->now;
}

/* ---- Steps -------------------------------------------------------------------------------------------------------- */

static uint64_t next_interrupt(struct sim_core *core)
{
	uint64_t next = SCHED_NEVER;

	if (!may_interrupt(core))
		return SCHED_NEVER;
	for (unsigned n = 0; n < core->line_count; n++)
		if (core->lines[n].next < next)
			next = core->lines[n].next;
	for (unsigned n = 0; n < core->count; n++)
		if (own_at(&core->vcpus[n]) < next)
			next = own_at(&core->vcpus[n]);
	return next > core->now ? next : core->now + 1;
}

static uint64_t next_event(struct sim_core *core)
{
	const struct sim_vcpu *running = running_of(core);
	uint64_t next = core->timer < core->look ? core->timer : core->look, interrupted = next_interrupt(core);

	if (core->serving.is)
		return core->serving.end;
	next = interrupted < next ? interrupted : next;
	if (running && running->ready && running->work < SIM_TICKS - core->now && core->now + running->work < next)
		next = core->now + running->work;
	for (unsigned n = 0; n < core->count; n++)
		if (core->vcpus[n].change < next)
			next = core->vcpus[n].change;
	return next < SIM_TICKS ? next : SIM_TICKS;
}

static void follow_all(struct sim_core *core)
{
	bool happened = false;

	for (unsigned n = 0; n < core->count; n++)
		if (follow(core, &core->vcpus[n])) {
			check_vcpus(core);
			happened = true;
		}
	if (happened)
		is_due(core);
}

static void step(struct sim_core *core, uint64_t next)
{
	pass(core, next);
	random_state = core->seed ^ next << 32 ^ core->event_count;
	if (core->serving.is)
		leave(core);
	if (!core->serving.is) {
		follow_all(core);
		interrupt(core);
	}
	if (core->serving.is)
		return;
	if (core->look <= next)
		note(core, NULL, SIM_LOOK, 0, 0);
	if (core->look <= next || core->timer <= next || next % SIM_TICKS == 0)
		decide(core);
}

/* Returns the core whose next event comes first, or NULL at the end. */
static struct sim_core *next_core(struct sim_core *cores, unsigned count)
{
	struct sim_core *first = NULL;

	for (unsigned n = 0; n < count; n++)
		if (cores[n].now < SIM_TICKS && (!first || next_event(&cores[n]) < next_event(first)))
			first = &cores[n];
	return first;
}

void sim_run(struct sim_core *cores, unsigned count)
{
	struct sim_core *core;

	for (unsigned n = 0; n < count; n++)
		step(&cores[n], 0);
	while ((core = next_core(cores, count)) != NULL)
		step(core, next_event(core));
}
