/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Every list of replenishments of up to MOST entries, charged and woken. kernel/sched/sporadic.c
 *
 * A list is looked at as its budget's ticks, in the order in which they are used: the n-th of them may be used from a time on. What a call
 * may do is said of each tick, so it does not matter how entries are merged.
 */
#include "kernel/sched/sporadic.h"

#include "proof.h"

enum { MOST = 4 /* entries */, PLACE = 14 /* of the first, in the ring, so that it goes round */ };
#ifndef BITS
#define BITS 1
#endif
#define LONGEST (1ULL << BITS)   /* of an amount, of a gap, and of what the period is longer than it must be */
#define BUDGETS (MOST * LONGEST) /* the longest */
#define START   (8 * BUDGETS)    /* of the list: times matter by what is between them */

/* An amount of 0 is no entry: so each stands at a place that is known before a value is. */
struct list {
	struct replenishment entries[2 * MOST];
};

static struct sporadic server;

static struct replenishment entry(unsigned n)
{
	return server.entries[(server.first + n) % SPORADIC_MOST_ENTRIES];
}

static struct list list_of_server(void)
{
	struct list list = { 0 };

	for (unsigned n = 0; n < MOST; n++)
		if (n < server.count)
			list.entries[n] = entry(n);
	return list;
}

/* What sporadic.h says is always true. */
__attribute__((unused)) static void prove_whole(void)
{
	struct replenishment last = entry(0);
	uint64_t sum = last.amount;

	PROVE(server.count >= 1 && server.count <= server.most);
	PROVE(server.last == (server.first + server.count - 1) % SPORADIC_MOST_ENTRIES);
	PROVE(last.amount > 0);
	for (unsigned n = 1; n < MOST; n++) {
		if (n >= server.count)
			continue;
		PROVE(entry(n).amount > 0);
		PROVE(entry(n).at >= last.at + last.amount);
		last = entry(n);
		sum += last.amount;
	}
	PROVE(sum == server.budget);
	PROVE(last.at <= entry(0).at + server.period);
}

/* CBMC is told how many entries there are, and how many there is room for: it is much faster where places are known. */
#ifdef COUNT
static void make_room(void)
{
	server.most = ROOM;
	server.count = COUNT;
}
#else
static void make_room(void)
{
	server.most = SPORADIC_LEAST_ENTRIES + (uint32_t)any_below(MOST + 1 - SPORADIC_LEAST_ENTRIES);
	server.count = 1 + (uint32_t)any_below(server.most);
}
#endif

/* Every one with which prove_whole holds: made of what may be chosen freely. */
static void make_any_server(void)
{
	uint64_t at = START, least = 0;

	server = (struct sporadic){ .first = PLACE };
	make_room();
	server.last = (server.first + server.count - 1) % SPORADIC_MOST_ENTRIES;
	for (unsigned n = 0; n < server.count; n++) {
		struct replenishment one = { at, 1 + any_below(LONGEST) };

		if (n)
			one.at += any_below(LONGEST);
		server.entries[(PLACE + n) % SPORADIC_MOST_ENTRIES] = one;
		server.budget += one.amount;
		least = one.at - START;
		at = one.at + one.amount;
	}
	server.period = (least > server.budget ? least : server.budget) + any_below(LONGEST);
}

/* From when on a tick of its budget may be used. Without a branch: CBMC would follow both sides of each. */
static uint64_t time_of(const struct list *list, uint64_t tick)
{
	uint64_t before = 0, time = 0;

	for (unsigned n = 0; n < 2 * MOST; n++) {
		const struct replenishment one = list->entries[n];

		time = tick - before < one.amount ? one.at + (tick - before) : time;
		before += one.amount;
	}
	return time;
}

/* What is left of the entries before, and behind it what was used of each, a period after its activation. Nothing is merged. */
__attribute__((unused)) static struct list charged(const struct list *before, uint64_t used, uint64_t period)
{
	struct list after;

	for (unsigned n = 0; n < MOST; n++) {
		struct replenishment one = before->entries[n];
		uint64_t part = used < one.amount ? used : one.amount;

		used -= part;
		after.entries[n] = (struct replenishment){ one.at + part, one.amount - part };
		after.entries[MOST + n] = (struct replenishment){ one.at + period, part };
	}
	return after;
}

#ifdef CHARGE
/* No tick comes back earlier than a period after the activation at which it was used, nor is lost, nor does one come earlier than before.
 */
void prove(void)
{
	uint64_t used = any_below(BUDGETS), tick = any_below(BUDGETS);
	struct list before, expected, after;

	make_any_server();
	before = list_of_server();
	ASSUME(used < server.budget);
	expected = charged(&before, used, server.period);
	sporadic_charge(&server, used);
	prove_whole();
	after = list_of_server();
	ASSUME(tick < server.budget);
	PROVE(time_of(&after, tick) >= time_of(&expected, tick));
	REACHED();
}
#endif

#ifdef OVERRUN
/* Likewise where whole budgets were used, each of which comes a period later. */
void prove(void)
{
	uint64_t used = any_below(4 * BUDGETS), tick = any_below(BUDGETS), periods = 0, rest;
	struct list before, expected, after;

	make_any_server();
	before = list_of_server();
	ASSUME(used >= server.budget);
	for (rest = used; rest >= server.budget; rest -= server.budget)
		periods++;
	for (unsigned n = 0; n < MOST; n++)
		before.entries[n].at += periods * server.period;
	expected = charged(&before, rest, server.period);
	sporadic_charge(&server, used);
	prove_whole();
	after = list_of_server();
	ASSUME(tick < server.budget);
	PROVE(time_of(&after, tick) >= time_of(&expected, tick));
	REACHED();
}
#endif

#ifdef EXACT
/* With room for one entry more nothing is delayed, but by what is used before it. */
void prove(void)
{
	uint64_t used = any_below(BUDGETS), tick = any_below(BUDGETS);
	struct list before, expected, after;

	make_any_server();
	before = list_of_server();
	ASSUME(used > 0 && used < entry(0).amount && server.count < server.most);
	expected = charged(&before, used, server.period);
	sporadic_charge(&server, used);
	after = list_of_server();
	ASSUME(tick < server.budget);
	PROVE(time_of(&after, tick) == time_of(&expected, tick) || (tick > 0 && time_of(&after, tick) == time_of(&after, tick - 1) + 1));
	REACHED();
}
#endif

#ifdef WAKE
/* A tick comes when it would have, or behind those before it from now on: nothing is saved up, lost, or delayed further. */
void prove(void)
{
	uint64_t now = START - BUDGETS + any_below(8 * BUDGETS), tick = any_below(BUDGETS), expected;
	struct list before, after;

	make_any_server();
	before = list_of_server();
	ASSUME(tick < server.budget);
	sporadic_wake(&server, now);
	prove_whole();
	after = list_of_server();
	expected = time_of(&before, tick);
	if (before.entries[0].at < now && expected < now + tick)
		expected = now + tick;
	PROVE(time_of(&after, tick) == expected);
	REACHED();
}
#endif
