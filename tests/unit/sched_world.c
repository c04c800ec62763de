/* SPDX-License-Identifier: Apache-2.0 */
/* All that may happen to a core, drawn at random (sched_world.h). */
#include "sched_world.h"

#include "check.h"
#include "kernel/sched/sched.h"
#include "random.h"

enum { LEAVES = 8 };

static struct sched core;
static struct vcpu vcpus[WORLD_VCPUS];
static uint64_t words[4 * LEAVES];
static struct vcpu *by_rank[LEAVES];

static void start_core(const struct admission_set *set)
{
	sched_init(&core, words, by_rank, LEAVES, 0);
	if (set->edf)
		sched_by_deadline(&core);
	for (unsigned n = 0; n < set->vcpu_count; n++) {
		const struct reservation *one = &set->vcpus[n];

		if (one->kind == VCPU_MAIN)
			CHECK_EQ(sched_add_main(&core, &vcpus[n], one->budget, one->period, SPORADIC_MOST_ENTRIES, 0), SCHED_OK);
		else
			CHECK_EQ(sched_add_io(&core, &vcpus[n], one->percent, one->period, 0), SCHED_OK);
		vcpus[n].foreground_only = true;
		CHECK_EQ(vcpus[n].rank, n);
	}
}

static uint64_t lateness(const struct world *world)
{
	return below(world->set->switch_cost + 1);
}

/* What made it late was an interrupt, which who is replenished owes. */
static void decide(struct world *world)
{
	uint64_t cost = world->set->switch_cost, from = world->now > core.until + cost ? world->now - cost : core.until;
	struct vcpu *owes = from < world->now && core.next <= from ? sched_replenished(&core, world->now) : NULL;

	if (owes)
		sched_except(&core, from, world->now, owes);
	if (owes == &vcpus[world->victim])
		world->got += world->now - from; /* comes off its budget before it runs */
	sched_decide(&core, world->now);
	world->decide_at = core.until < SCHED_NEVER ? core.until + lateness(world) : SCHED_NEVER;
}

/* Whether it may run before the victim, and so pays for its time-outs. */
static bool may_be_first(const struct world *world, unsigned n)
{
	return n < world->victim || world->set->edf;
}

static void wake(struct world *world, unsigned n)
{
	const struct reservation *one = &world->set->vcpus[n];
	uint64_t at = world->now + lateness(world), period = one->period;

	if (one->kind == VCPU_IO && n != world->victim)
		period += below(period + 1); /* whom it serves has a longer one: the scheduler takes its own */
	if (!may_be_first(world, n) && n != world->victim)
		world->top_left += world->set->switch_cost; /* its time-out is served, whoever runs, and nobody pays in time */
	world->ran[n] = false;
	sched_ready_for(&core, &vcpus[n], period, world->now);
	if (at < world->decide_at)
		world->decide_at = at;
}

static void wake_victim(struct world *world)
{
	if (core.running && core.running->rank > world->victim)
		world->held_until = world->now + world->set->vcpus[world->victim].blocking;
	wake(world, world->victim);
	world->began = world->now;
	world->got = vcpus[world->victim].owed; /* that comes off its budget, too */
}

static void sleep_now(struct world *world, unsigned n)
{
	sched_idle(&core, &vcpus[n], world->now);
	if (core.running == &vcpus[n])
		decide(world);
}

static bool may_sleep(const struct world *world, unsigned n)
{
	bool has_run = may_be_first(world, n) ? world->ran[n] : core.running == &vcpus[n];

	return vcpus[n].ready && has_run && world->now >= world->held_until && !world->top_left && !world->out_left;
}

/* By a time-out, one at a time, where that comes off its own budget. */
static void come(struct world *world, unsigned n)
{
	if (!may_be_first(world, n) || !world->set->switch_cost) {
		wake(world, n);
	} else if (!world->out_left) {
		world->out = n;
		world->out_left = world->set->switch_cost;
	}
}

/* Returns whether one takes this tick. */
static bool time_out_runs(struct world *world)
{
	if (!world->out_left)
		return false;
	world->now++;
	sched_except(&core, world->now - 1, world->now, &vcpus[world->out]);
	if (--world->out_left == 0)
		wake(world, world->out);
	return true;
}

/* The others come and go as they like, an I/O VCPU more often; or they all wake with the victim. */
static void others(struct world *world)
{
	for (unsigned n = 0; n < world->set->vcpu_count; n++) {
		bool io = world->set->vcpus[n].kind == VCPU_IO;

		if (n == world->victim || (world->out_left && n == world->out))
			continue;
		if (world->together) {
			if (world->now == world->wakes && !vcpus[n].ready)
				wake(world, n);
		} else if (!vcpus[n].ready && below(io ? 2 : 6) == 0) {
			come(world, n);
		} else if (!world->busy && may_sleep(world, n) && below(io ? 3 : 12) == 0) {
			sleep_now(world, n);
		}
	}
}

/* On nobody's budget, once in each distance, and once more. Returns whether one takes this tick. */
static bool top_half_runs(struct world *world)
{
	for (unsigned n = 0; n < world->set->top_half_count && !world->top_left; n++) {
		const struct top_half *one = &world->set->top_halves[n];

		if (world->now + one->distance < world->next_top[n] || below(3) == 0)
			continue;
		world->top_left = one->cost;
		world->next_top[n] = (world->next_top[n] > world->now ? world->next_top[n] : world->now) + one->distance;
	}
	if (!world->top_left)
		return false;
	world->top_left--;
	core.since++;
	return true;
}

static uint64_t budget_of(const struct reservation *one)
{
	return one->kind == VCPU_MAIN ? one->budget : one->period * one->percent / 100;
}

/* A tick of the one that runs. Returns whether the victim has now had its budget. */
static bool run_tick(struct world *world)
{
	if (top_half_runs(world)) {
		world->now++;
		return false;
	}
	if (time_out_runs(world))
		return false;
	if (world->now >= world->decide_at && world->now >= world->held_until)
		decide(world);
	world->now++;
	if (core.running)
		world->ran[core.running - vcpus] = true;
	world->got += core.running == &vcpus[world->victim];
	return vcpus[world->victim].ready && world->got >= budget_of(&world->set->vcpus[world->victim]);
}

uint64_t world_response(struct world *world, uint64_t seed, uint64_t ticks)
{
	uint64_t longest = 0, period = world->set->vcpus[world->victim].period;

	random_state = seed;
	start_core(world->set);
	world->wakes = period;
	decide(world);
	while (world->now < ticks) {
		if (!vcpus[world->victim].ready && world->now == world->wakes)
			wake_victim(world);
		others(world);
		if (!run_tick(world))
			continue;
		if (world->now - world->began > longest)
			longest = world->now - world->began;
		sleep_now(world, world->victim);
		if (world->together)
			break;
		world->wakes = world->now + 2 * period + below(2 * period);
	}
	CHECK(longest || vcpus[world->victim].ready);
	return longest;
}

uint64_t world_done_behind(const struct admission_set *set, const char *script, uint64_t period)
{
	uint64_t now = 0, got = 0;

	start_core(set);
	sched_ready(&core, &vcpus[1], 0);
	for (; got < set->vcpus[1].budget; now++) {
		if (script[now] == '/')
			sched_idle(&core, &vcpus[0], now);
		if (script[now] != ' ')
			sched_ready_for(&core, &vcpus[0], period, now);
		got += sched_decide(&core, now) == &vcpus[1];
	}
	return now;
}
