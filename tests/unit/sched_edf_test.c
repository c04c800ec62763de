/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. VCPUs by deadline in simulated time, tick by tick: sets that ask for the whole core at most are given all of it; jobs
 * that come a period apart are done a period after they came; decisions are made in time, and one more changes nothing.
 * kernel/sched/sched.c, deadlines.c
 */
#include <stdbool.h>
#include <stddef.h>

#include "check.h"
#include "kernel/sched/sched.h"
#include "random.h"

enum { SETS = 3000, VCPUS = 8, LEAVES = 8, TICKS = 400, NOBODY = VCPUS };

static struct sim {
	struct sched core;
	struct vcpu vcpus[VCPUS];
	uint64_t words[4 * LEAVES];
	struct vcpu *by_rank[LEAVES];
	unsigned ran[TICKS]; /* with budget */
} often, rarely;

static struct set {
	unsigned count;
	uint64_t budget[VCPUS], period[VCPUS];
	uint64_t asks[VCPUS][TICKS]; /* ticks of work that come then; always ready: more than there are */
} set;

/* Harmonic and other periods; budgets until the core is full. */
static void draw(void)
{
	uint64_t rest = 1;

	set = (struct set){ .count = 0 };
	rest = 5040; /* of so many parts of the core */
	while (set.count < VCPUS && rest) {
		static const unsigned periods[] = {
			4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 21, 24, 28, 30, 36, 40, 42, 45, 48, 56, 60
		};
		uint64_t period = periods[below(sizeof(periods) / sizeof(periods[0]))];
		uint64_t part = 5040 / period, most = rest * period / 5040;

		if (5040 % period || most == 0) {
			if (below(4) == 0)
				break;
			continue;
		}
		set.budget[set.count] = below(3) ? 1 + below(most) : most;
		set.period[set.count] = period;
		rest -= part * set.budget[set.count++];
	}
}

static void start(struct sim *sim)
{
	sched_init(&sim->core, sim->words, sim->by_rank, LEAVES, 0);
	sched_by_deadline(&sim->core);
	for (unsigned n = 0; n < set.count; n++) {
		unsigned entries = SPORADIC_MOST_ENTRIES;

		CHECK_EQ(sched_add_main(&sim->core, &sim->vcpus[n], set.budget[n], set.period[n], entries, 0), SCHED_OK);
		sim->vcpus[n].foreground_only = true;
	}
}

/* Decides in every tick, or when something happens and when the last decision says so. */
static void run(struct sim *sim, bool in_every_tick)
{
	uint64_t left[VCPUS] = { 0 };

	start(sim);
	for (unsigned now = 0; now < TICKS; now++) {
		bool decide = in_every_tick || now == 0 || sim->core.until <= now;

		for (unsigned n = 0; n < set.count; n++) {
			if (sim->vcpus[n].ready && !left[n]) {
				sched_idle(&sim->core, &sim->vcpus[n], now);
				decide = true;
			}
			if (set.asks[n][now] && !left[n]) {
				sched_ready(&sim->core, &sim->vcpus[n], now);
				decide = true;
			}
			left[n] += set.asks[n][now];
		}
		if (decide)
			sched_decide(&sim->core, now);
		CHECK(sim->core.until > now);
		sim->ran[now] = sim->core.running ? (unsigned)(sim->core.running - sim->vcpus) : NOBODY;
		if (sim->core.running)
			left[sim->ran[now]]--;
	}
}

static uint64_t ticks_of(const struct sim *sim, unsigned n, unsigned from, unsigned to)
{
	uint64_t ticks = 0;

	for (unsigned now = from; now < to; now++)
		ticks += sim->ran[now] == n;
	return ticks;
}

static void run_both(void)
{
	run(&often, true);
	run(&rarely, false);
	for (unsigned now = 0; now < TICKS; now++)
		CHECK_EQ(often.ran[now], rarely.ran[now]);
}

/* C in each period, with nothing left of the core. */
static void test_always_ready(void)
{
	check_context.subject = "always ready";
	for (check_context.round = 0; check_context.round < SETS; check_context.round++) {
		draw();
		for (unsigned n = 0; n < set.count; n++)
			set.asks[n][0] = 2 * TICKS;
		run_both();
		for (unsigned n = 0; n < set.count; n++)
			for (unsigned from = 0; from + set.period[n] <= TICKS; from += (unsigned)set.period[n])
				CHECK_EQ(ticks_of(&often, n, from, from + (unsigned)set.period[n]), set.budget[n]);
	}
}

/* Of up to a budget, a period or more apart. */
static void test_jobs(void)
{
	unsigned jobs = 0;

	check_context.subject = "jobs";
	for (check_context.round = 0; check_context.round < SETS; check_context.round++) {
		draw();
		for (unsigned n = 0; n < set.count; n++)
			for (unsigned now = (unsigned)below(20); now < TICKS; now += (unsigned)(set.period[n] + below(2) * below(30)))
				set.asks[n][now] = 1 + below(set.budget[n]);
		run_both();
		for (unsigned n = 0; n < set.count; n++)
			for (unsigned now = 0; now + set.period[n] <= TICKS; now++)
				if (set.asks[n][now]) {
					CHECK(ticks_of(&often, n, now, now + (unsigned)set.period[n]) >= set.asks[n][now]);
					jobs++;
				}
	}
	CHECK(jobs > 10 * SETS);
}

/* (4, 10) and (6, 15): by rank the first would come first at 20. */
static void test_order(void)
{
	check_context.subject = "order";
	set = (struct set){ .count = 2, .budget = { 4, 6 }, .period = { 10, 15 } };
	set.asks[0][0] = set.asks[1][0] = 2 * TICKS;
	run(&often, true);
	CHECK_EQ(ticks_of(&often, 0, 0, 4), 4);
	CHECK_EQ(ticks_of(&often, 1, 4, 10), 6);
	CHECK_EQ(ticks_of(&often, 0, 10, 14), 4);
	CHECK_EQ(often.ran[14], NOBODY);
	CHECK_EQ(ticks_of(&often, 1, 15, 21), 6); /* at 20 the other one has the same deadline, 30, and comes second */
	CHECK_EQ(ticks_of(&often, 0, 21, 25), 4);
}

static struct vcpu *decide(uint64_t now)
{
	return sched_decide(&often.core, now);
}

/* The whole core each 10, of which every budget begins when the last one ends: each has a deadline of its own, and the other is not
 * starved. */
static void test_whole(void)
{
	check_context.subject = "C = T";
	set = (struct set){ .count = 2, .budget = { 10, 1 }, .period = { 10, 100 } };
	start(&often);
	sched_ready(&often.core, &often.vcpus[0], 0);
	sched_ready(&often.core, &often.vcpus[1], 0);
	for (uint64_t now = 0; now < 90; now += 10) {
		check_context.round = now;
		CHECK(decide(now) == &often.vcpus[0]);
		CHECK_EQ(often.vcpus[0].turn.deadline, now + 10);
		CHECK_EQ(often.core.until, now + 10);
	}
	check_context.round = 0;
	CHECK(decide(90) == &often.vcpus[1]); /* both are due at 100 */
	CHECK(decide(91) == &often.vcpus[0]);
	CHECK_EQ(often.vcpus[0].turn.deadline, 100);
	CHECK_EQ(often.vcpus[1].turn.deadline, 200);
	CHECK_EQ(often.vcpus[1].given, 1);
}

/* The first, (4, 10), owes all that it has: it pays, and has its next budget and deadline. */
static void test_debts(void)
{
	check_context.subject = "debts";
	set = (struct set){ .count = 2, .budget = { 4, 20 }, .period = { 10, 40 } };
	start(&often);
	sched_ready(&often.core, &often.vcpus[1], 0);
	CHECK(decide(0) == &often.vcpus[1]);
	sched_except(&often.core, 1, 5, &often.vcpus[0]);
	sched_ready(&often.core, &often.vcpus[0], 5);
	CHECK(decide(5) == &often.vcpus[1]);
	CHECK(often.vcpus[0].given == 4 && often.vcpus[0].owed == 0);
	CHECK_EQ(often.vcpus[0].turn.deadline, 25);
	CHECK_EQ(often.core.until, 15);
	CHECK(decide(15) == &often.vcpus[0]);
	CHECK_EQ(often.core.until, 19);
	CHECK(decide(19) == &often.vcpus[1]);
	often.vcpus[0].owed = 9; /* two budgets and a tick */
	CHECK(decide(25) == &often.vcpus[1]);
	CHECK_EQ(sporadic_next(&often.vcpus[0].main), 46);
	CHECK_EQ(often.vcpus[0].turn.deadline, 56);
}

static void test_refused(void)
{
	check_context.subject = "refused";
	set = (struct set){ .count = 0 };
	start(&often);
	CHECK_EQ(sched_add_io(&often.core, &often.vcpus[0], 10, 100, 0), SCHED_E_INVALID);
	CHECK_EQ(often.core.count, 0);
}

int main(void)
{
	test_always_ready();
	test_jobs();
	test_order();
	test_whole();
	test_debts();
	test_refused();
	return 0;
}
