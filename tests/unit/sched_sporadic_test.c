/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Sporadic servers: what is in the list after each rule, in literal numbers, and when a preempted server runs, against
 * what was published and computed by hand. kernel/sched/{sporadic,sched}.c
 */
#include "kernel/sched/sporadic.h"

#include "check.h"
#include "sched_sim.h"

static struct sporadic server;

/* The list is `count` entries. Budgets here are below a hundred: {13, 3} is 13 and 3. */
static void check_list(const char *what, unsigned count, const struct replenishment *expected)
{
	check_context.subject = what;
	sim_check_list(&server);
	CHECK_EQ(server.count, count);
	for (unsigned n = 0; n < count; n++) {
		const struct replenishment *one = &server.entries[(server.first + n) % SPORADIC_MOST_ENTRIES];

		check_context.round = n;
		CHECK_EQ(one->at, expected[n].at);
		CHECK_EQ(one->amount, expected[n].amount);
	}
}

#define LIST_IS(what, ...)                                                                               \
	check_list(what, sizeof((struct replenishment[]){ __VA_ARGS__ }) / sizeof(struct replenishment), \
		   (struct replenishment[]){ __VA_ARGS__ })

/* ---- One rule each ------------------------------------------------------------------------------------------------ */

static void uses(void)
{
	sporadic_init(&server, 5, 20, 4, 100);
	LIST_IS("a new server", { 100, 5 });
	CHECK_EQ(sporadic_next(&server), 100);
	CHECK_EQ(sporadic_left(&server), 5);
	sporadic_charge(&server, 2);
	LIST_IS("two of five", { 102, 3 }, { 120, 2 });
	sporadic_charge(&server, 1);
	LIST_IS("one more, which touches", { 103, 2 }, { 120, 3 });
	sporadic_charge(&server, 2);
	LIST_IS("all", { 120, 5 });
	sporadic_charge(&server, 0);
	LIST_IS("nothing", { 120, 5 });
	sporadic_charge(&server, 5);
	LIST_IS("all at once", { 140, 5 });
}

static void wakes(void)
{
	sporadic_init(&server, 5, 20, 4, 0);
	sporadic_wake(&server, 10);
	LIST_IS("late", { 10, 5 });
	sporadic_wake(&server, 10);
	LIST_IS("once more", { 10, 5 });
	sporadic_charge(&server, 2);
	sporadic_wake(&server, 15);
	LIST_IS("with a rest", { 15, 3 }, { 30, 2 });
	sporadic_wake(&server, 26);
	LIST_IS("a tick lies between", { 26, 3 }, { 30, 2 });
	sporadic_wake(&server, 27);
	LIST_IS("no tick lies between", { 27, 5 });
	sporadic_charge(&server, 5);
	sporadic_wake(&server, 40);
	LIST_IS("without budget", { 47, 5 });
}

static void wakes_long_after(void)
{
	sporadic_init(&server, 6, 20, 4, 0);
	for (uint64_t at = 0; at < 15; at += 5) {
		sporadic_wake(&server, at);
		sporadic_charge(&server, 1);
	}
	LIST_IS("pieces", { 11, 3 }, { 20, 1 }, { 25, 1 }, { 30, 1 });
	sporadic_wake(&server, 24);
	LIST_IS("some came, one touches, one does not", { 24, 5 }, { 30, 1 });
	sporadic_charge(&server, 5);
	LIST_IS("one is left", { 30, 1 }, { 44, 5 });
}

static void overruns(void)
{
	sporadic_init(&server, 5, 20, 4, 0);
	sporadic_charge(&server, 2);
	sporadic_wake(&server, 6);
	LIST_IS("two pieces", { 6, 3 }, { 20, 2 });
	sporadic_charge(&server, 4);
	LIST_IS("one too many is the next one's", { 21, 1 }, { 26, 3 }, { 40, 1 });
	sporadic_charge(&server, 7);
	LIST_IS("more than the budget", { 47, 2 }, { 60, 2 }, { 66, 1 });
	sporadic_init(&server, 5, 20, 4, 0);
	sporadic_charge(&server, 2);
	sporadic_wake(&server, 6);
	sporadic_charge(&server, 12);
	LIST_IS("twice the budget, and two", { 48, 1 }, { 60, 2 }, { 66, 2 });
	sporadic_init(&server, 5, 20, 4, 0);
	sporadic_charge(&server, 15);
	LIST_IS("three budgets", { 60, 5 });
}

/* Where sums would wrap, time stands still: the server does not come back. */
static void overruns_without_end(void)
{
	static const uint64_t ends[] = { SPORADIC_FAR, SPORADIC_FAR - 1, UINT64_MAX, 1 << 20, 1ULL << 20 | 1 };

	for (unsigned n = 0; n < sizeof(ends) / sizeof(ends[0]); n++) {
		check_context.round = n;
		sporadic_init(&server, 1, SPORADIC_MOST_TICKS, 2, 1000);
		sporadic_charge(&server, ends[n]);
		CHECK_EQ(sporadic_next(&server), SPORADIC_FAR);
		CHECK_EQ(sporadic_left(&server), 1);
		sporadic_charge(&server, ends[n]);
		CHECK_EQ(sporadic_next(&server), SPORADIC_FAR);
	}
	sporadic_init(&server, SPORADIC_MOST_TICKS, SPORADIC_MOST_TICKS, 2, 0);
	sporadic_charge(&server, SPORADIC_MOST_TICKS - 1);
	LIST_IS("the longest period, used without end", { SPORADIC_MOST_TICKS - 1, SPORADIC_MOST_TICKS });
}

/* V9. A full list delays its last entry, which takes the new one: neither comes before its time. */
static void fills(void)
{
	sporadic_init(&server, 5, 10, 2, 0);
	sporadic_charge(&server, 1);
	LIST_IS("V9", { 1, 4 }, { 10, 1 });
	sporadic_wake(&server, 3);
	sporadic_charge(&server, 1);
	LIST_IS("V9, full", { 4, 3 }, { 12, 2 });
	sporadic_charge(&server, 3);
	LIST_IS("V9, the first is used up", { 12, 5 });
	sporadic_init(&server, 6, 20, 3, 0);
	for (uint64_t at = 0; at < 15; at += 5) {
		sporadic_wake(&server, at);
		sporadic_charge(&server, 1);
	}
	LIST_IS("V9, three entries", { 11, 3 }, { 20, 1 }, { 29, 2 });
}

/* What is used up first leaves its place to what is added, around the ring. */
static void goes_round(void)
{
	sporadic_init(&server, 32, 160, SPORADIC_MOST_ENTRIES, 0);
	for (uint64_t n = 0; n < SPORADIC_MOST_ENTRIES; n++) {
		sporadic_wake(&server, 10 * n);
		sporadic_charge(&server, 2);
	}
	CHECK_EQ(server.count, SPORADIC_MOST_ENTRIES);
	for (uint64_t n = SPORADIC_MOST_ENTRIES; n < 100; n++) {
		CHECK_EQ(sporadic_next(&server), 10 * n);
		CHECK_EQ(sporadic_left(&server), 2);
		sporadic_charge(&server, 2);
		sim_check_list(&server);
	}
}

/* ---- Vectors ------------------------------------------------------------------------------------------------------ */

struct stretch {
	uint64_t from, to;
};

static struct sched core;
static struct vcpu first, ours;
static unsigned again; /* how often a thread of a VCPU that is ready becomes ready, too */

static void begin(unsigned entries)
{
	static uint64_t words[4 * 2];
	static struct vcpu *by_rank[2];

	sched_init(&core, words, by_rank, 2, 0);
	CHECK_EQ(sched_add_main(&core, &ours, 2, 10, entries, 0), SCHED_OK);
	CHECK_EQ(sched_add_main(&core, &first, 9, 9, 2, 0), SCHED_OK); /* it has budget whenever it is ready */
	sched_ready(&core, &ours, 0);
}

static bool is_ready(const struct stretch *stretches, uint64_t now)
{
	for (; stretches->to; stretches++)
		if (now >= stretches->from && now < stretches->to)
			return true;
	return false;
}

/* Two of ten ticks, always ready, with what comes before it ready in `stretches`: runs at `expected`, and at no other tick. */
static void check_runs(unsigned entries, const struct stretch *stretches, const uint64_t *expected, unsigned count, uint64_t ticks)
{
	unsigned runs = 0;

	begin(entries);
	for (uint64_t now = 0; now < ticks; now++) {
		bool ready = is_ready(stretches, now), changes = ready != first.ready;

		check_context.round = now;
		if (changes)
			(ready ? sched_ready : sched_idle)(&core, &first, now);
		if (again && now % again == 0) /* another of its threads: no reason for anything */
			sched_ready(&core, &ours, now);
		if (now == 0 || changes || now >= core.until || (again && now % again == 0))
			sched_decide(&core, now);
		CHECK(!ready || core.running == &first);
		if (core.running != &ours || !core.foreground)
			continue;
		CHECK(runs < count);
		CHECK_EQ(expected[runs], now);
		runs++;
	}
	CHECK_EQ(runs, count);
	sched_decide(&core, ticks);
	server = ours.main;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void vectors(unsigned entries)
{
	static const struct stretch v1[] = { { 1, 9 }, { 0, 0 } };
	static const uint64_t v1_runs[] = { 0, 9, 10, 11, 20, 21, 30, 31 };
	static const struct stretch v2[] = { { 1, 8 }, { 10, 17 }, { 22, 29 }, { 30, 37 }, { 42, 49 }, { 50, 57 }, { 0, 0 } };
	static const uint64_t v2_runs[] = { 0, 8, 17, 18, 20, 21, 37, 38, 40, 41, 57, 58 };
	static const struct stretch v3[] = { { 0, 7 }, { 10, 17 }, { 21, 28 }, { 30, 37 }, { 40, 47 }, { 0, 0 } };
	static const uint64_t v3_runs[] = { 7, 8, 17, 18, 20, 28, 37, 38, 47, 48 };

	check_context.subject = "V1";
	check_runs(entries, v1, v1_runs, 1, 9);
	LIST_IS("V1, preempted", { 1, 1 }, { 10, 1 });
	check_context.subject = "V1";
	check_runs(entries, v1, v1_runs, 2, 10);
	LIST_IS("V1, resumed", { 10, 2 });
	check_context.subject = "V1";
	check_runs(entries, v1, v1_runs, COUNT(v1_runs), 40);
	LIST_IS("V1, at the end", { 40, 2 });
	check_context.subject = "V2";
	check_runs(entries, v2, v2_runs, COUNT(v2_runs), 60);
	LIST_IS("V2", { 60, 2 });
	check_context.subject = "V3";
	check_runs(entries, v3, v3_runs, 5, 21);
	LIST_IS("V3, preempted", { 21, 1 }, { 30, 1 });
	check_context.subject = "V3";
	check_runs(entries, v3, v3_runs, COUNT(v3_runs), 50);
	LIST_IS("V3", { 50, 2 });
}

int main(void)
{
	uses();
	wakes();
	wakes_long_after();
	overruns();
	overruns_without_end();
	fills();
	goes_round();
	for (unsigned entries = SPORADIC_LEAST_ENTRIES; entries <= SPORADIC_MOST_ENTRIES; entries++)
		for (again = 0; again < 5; again++)
			vectors(entries);
	return 0;
}
