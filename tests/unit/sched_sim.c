/* SPDX-License-Identifier: Apache-2.0 */
/* Runs scripts over the scheduler in simulated time (sched_sim.h). */
#include "sched_sim.h"

#include <string.h>

#include "check.h"
#include "random.h"

void sim_init(struct sim_core *core, uint64_t seed, unsigned latency, uint64_t base, uint64_t scale)
{
	memset(core, 0, sizeof(*core));
	core->seed = seed;
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

static void check_lists(const struct sim_core *core)
{
	for (unsigned n = 0; n < core->count; n++)
		if (core->vcpus[n].vcpu.kind == VCPU_MAIN)
			sim_check_list(&core->vcpus[n].vcpu.main);
}

static uint64_t next_of(const struct vcpu *vcpu)
{
	return vcpu->kind == VCPU_MAIN ? entry(&vcpu->main, 0)->at : vcpu->io.at;
}

static uint64_t left_of(const struct vcpu *vcpu)
{
	return vcpu->kind == VCPU_MAIN ? entry(&vcpu->main, 0)->amount : vcpu->io.amount;
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
	if (foreground && now + left_of(expected) < until)
		until = now + left_of(expected);
	CHECK(sched->running == expected);
	CHECK_EQ(sched->foreground, foreground);
	CHECK_EQ(sched->until, until);
	CHECK(sched->until > now);
}

/* ---- Scripts ------------------------------------------------------------------------------------------------------ */

static void note(struct sim_core *core, const struct sim_vcpu *one, enum sim_what what, uint64_t period)
{
	CHECK(core->event_count < SIM_EVENTS);
	core->events[core->event_count++] = (struct sim_event){
		.tick = (uint32_t)core->now,
		.vcpu = (uint8_t)(one - core->vcpus),
		.what = what,
		.period = period,
	};
}

static void serve(struct sim_core *core, struct sim_vcpu *one, enum sim_what what)
{
	uint64_t least = (99 + one->percent) / one->percent, shortest = one->period / 2 > least ? one->period / 2 : least;
	uint64_t period = below(3) ? shortest + below(one->longest - shortest + 1) : one->period;

	note(core, one, what, period);
	one->work += 1 + below(2 + one->longest * one->percent / 50);
	one->change = core->now + 1 + below(one->period);
	sched_ready_for(&core->sched, &one->vcpu, period * core->scale, time_of(core, core->now));
}

static void wake(struct sim_core *core, struct sim_vcpu *one)
{
	one->ready = true;
	one->woke = core->now;
	if (one->vcpu.kind == VCPU_IO) {
		serve(core, one, SIM_READY);
		return;
	}
	one->work = one->script == SIM_JOBS   ? 1 + below(one->budget - (core->latency < one->budget ? core->latency : 0))
		    : one->script == SIM_WORK ? 1 + below(2 * one->budget)
					      : UINT64_MAX;
	one->change = one->script == SIM_STRETCHES ? core->now + 1 + below(2 * one->period) : SCHED_NEVER;
	note(core, one, SIM_READY, 0);
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
	note(core, one, SIM_IDLE, 0);
	sched_idle(&core->sched, &one->vcpu, time_of(core, core->now));
}

/* Returns whether something happened. */
static bool follow(struct sim_core *core, struct sim_vcpu *one)
{
	bool changes = one->change == core->now;

	if (one->ready && (one->work == 0 || (changes && one->vcpu.kind == VCPU_MAIN))) {
		rest(core, one);
		changes = one->change == core->now;
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

static void decide(struct sim_core *core)
{
	sched_decide(&core->sched, time_of(core, core->now));
	check_lists(core);
	check_decision(core);
	core->until = core->sched.until;
	if (core->until < SCHED_NEVER) {
		CHECK_EQ((core->until - core->base) % core->scale, 0);
		core->until = (core->until - core->base) / core->scale;
	}
	core->timer = core->until < SIM_TICKS ? core->until + sim_latency(core, core->until) : SCHED_NEVER;
	random_state = core->seed ^ core->now << 20 ^ core->event_count;
	if (core->look <= core->now)
		core->look = core->now + 1 + below(SIM_TICKS / 8);
}

static uint64_t next_event(struct sim_core *core)
{
	const struct sim_vcpu *running = running_of(core);
	uint64_t next = core->timer < core->look ? core->timer : core->look;

	if (running && running->ready && running->work < SIM_TICKS - core->now && core->now + running->work < next)
		next = core->now + running->work;
	for (unsigned n = 0; n < core->count; n++)
		if (core->vcpus[n].change < next)
			next = core->vcpus[n].change;
	return next < SIM_TICKS ? next : SIM_TICKS;
}

static void pass(struct sim_core *core, uint64_t next)
{
	struct sim_vcpu *running = running_of(core);

	for (; core->now < next; core->now++) {
		core->ran[core->now] = running ? (uint8_t)(running - core->vcpus) : SIM_NOBODY;
		core->foreground[core->now] = core->sched.foreground;
		core->late[core->now] = core->now >= core->until;
		if (running && running->ready && running->work < UINT64_MAX)
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

static void step(struct sim_core *core, uint64_t next)
{
	bool happened = false;

	pass(core, next);
	random_state = core->seed ^ next << 32 ^ core->event_count;
	for (unsigned n = 0; n < core->count; n++)
		if (follow(core, &core->vcpus[n])) {
			check_lists(core);
			happened = true;
		}
	if (happened)
		is_due(core);
	if (core->look == next)
		note(core, core->vcpus, SIM_LOOK, 0);
	if (core->look == next || core->timer == next || next % SIM_TICKS == 0)
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
