/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Who comes first: the tree of ranks against a list that is read from the beginning, and the ranks that VCPUs have, as
 * they are added, refused and removed, and who is charged for interrupts. kernel/sched/{ranks,sched}.c
 */
#include "kernel/sched/ranks.h"

#include <string.h>

#include "check.h"
#include "kernel/sched/sched.h"
#include "random.h"

enum { MOST_LEAVES = 1024, STEPS = 20000 };

static uint64_t words[4 * MOST_LEAVES];

/* ---- The tree ----------------------------------------------------------------------------------------------------- */

static uint64_t listed[MOST_LEAVES];

static void check_first(const struct ranks *ranks, uint64_t limit)
{
	uint64_t next = 0, expected_next = RANKS_NEVER;
	unsigned expected = 0;

	for (; expected < ranks->leaves && listed[expected] > limit; expected++)
		if (listed[expected] < expected_next)
			expected_next = listed[expected];
	CHECK_EQ(ranks_first(ranks, limit, &next), expected);
	CHECK_EQ(next, expected_next);
}

static void tree_agrees(unsigned leaves, uint64_t times)
{
	struct ranks ranks = { .earliest = words, .leaves = leaves };

	memset(words, 0x11, sizeof(words));
	memset(listed, 0xff, sizeof(listed));
	ranks_clear(&ranks);
	check_first(&ranks, 0);
	check_first(&ranks, RANKS_NEVER - 1);
	for (unsigned n = 0; n < STEPS / (1 + leaves / 16); n++) {
		unsigned rank = (unsigned)below(leaves);

		check_context.round = n;
		listed[rank] = below(3) ? below(times) : RANKS_NEVER;
		ranks_set(&ranks, rank, listed[rank]);
		check_first(&ranks, below(times));
	}
	CHECK_EQ(words[0], 0x1111111111111111);
	CHECK_EQ(words[2 * leaves], 0x1111111111111111);
}

/* The picture of ranks.h. */
static void tree_in_numbers(void)
{
	struct ranks ranks = { .earliest = words, .leaves = 4 };
	uint64_t next;

	ranks_clear(&ranks);
	ranks_set(&ranks, 0, 7);
	ranks_set(&ranks, 1, 9);
	ranks_set(&ranks, 2, 3);
	CHECK_EQ(ranks_first(&ranks, 8, &next), 0);
	CHECK_EQ(next, RANKS_NEVER);
	CHECK_EQ(ranks_first(&ranks, 5, &next), 2);
	CHECK_EQ(next, 7);
	CHECK_EQ(ranks_first(&ranks, 2, &next), 4);
	CHECK_EQ(next, 3);
}

/* ---- The set of those that may run without budget ------------------------------------------------------------------- */

static void set_agrees(unsigned most)
{
	struct bits bits = { .words = words };
	unsigned first = 0;

	check_context.subject = "set";
	memset(words, 0, sizeof(words));
	memset(listed, 0, sizeof(listed));
	for (unsigned n = 0; n < STEPS / 4; n++) {
		unsigned number = (unsigned)below(most);

		check_context.round = n;
		listed[number] = below(3) == 0;
		(listed[number] ? bits_add : bits_remove)(&bits, number);
		for (first = 0; first < most && !listed[first]; first++)
			;
		CHECK_EQ(bits.filled != 0, first < most);
		CHECK(first == most || bits_first(&bits) == first);
	}
	CHECK_EQ(words[BITS_WORDS(most)], 0);
}

/* ---- VCPUs -------------------------------------------------------------------------------------------------------- */

enum { LEAVES = 8 };

static struct sched core;
static struct vcpu *by_rank[LEAVES];
static struct vcpu vcpus[LEAVES + 1];

static void begin(const char *subject)
{
	check_context.subject = subject;
	check_context.round = 0;
	sched_init(&core, words, by_rank, LEAVES, 0);
}

static void add(unsigned n, uint64_t budget, uint64_t period)
{
	CHECK_EQ(sched_add_main(&core, &vcpus[n], budget, period, 2, 0), SCHED_OK);
}

static void check_order(unsigned count, const unsigned *expected)
{
	CHECK_EQ(core.count, count);
	for (unsigned n = 0; n < count; n++) {
		check_context.round = n;
		CHECK(by_rank[n] == &vcpus[expected[n]]);
		CHECK_EQ(vcpus[expected[n]].rank, n);
	}
}

static void shorter_periods_come_first(void)
{
	begin("order");
	add(0, 5, 50);
	add(1, 5, 100);
	add(2, 5, 50);
	CHECK_EQ(sched_add_io(&core, &vcpus[3], 10, 20, 0), SCHED_OK);
	CHECK_EQ(sched_add_io(&core, &vcpus[4], 10, 50, 0), SCHED_OK);
	check_order(5, (unsigned[]){ 3, 0, 2, 4, 1 });
	sched_remove(&core, &vcpus[0]);
	check_order(4, (unsigned[]){ 3, 2, 4, 1 });
	sched_remove(&core, &vcpus[1]);
	check_order(3, (unsigned[]){ 3, 2, 4 });
	sched_remove(&core, &vcpus[3]);
	check_order(2, (unsigned[]){ 2, 4 });
}

/* Others are added and removed while some are ready: what they had moves with them. */
static void ranks_move(void)
{
	begin("moves");
	add(0, 10, 100);
	add(1, 10, 200);
	sched_ready(&core, &vcpus[0], 0);
	sched_ready(&core, &vcpus[1], 0);
	CHECK(sched_decide(&core, 0) == &vcpus[0]);
	add(2, 10, 50);
	add(3, 10, 150);
	check_order(4, (unsigned[]){ 2, 0, 3, 1 });
	CHECK(sched_decide(&core, 10) == &vcpus[1]);
	CHECK_EQ(core.until, 20);
	CHECK(sched_decide(&core, 20) == &vcpus[0]); /* nobody has budget */
	CHECK(!core.foreground);
	CHECK_EQ(core.until, 100);
	sched_remove(&core, &vcpus[2]);
	CHECK(sched_decide(&core, 100) == &vcpus[0]);
	CHECK(core.foreground);
	sched_remove(&core, &vcpus[3]);
	CHECK(sched_decide(&core, 110) == &vcpus[0]);
	CHECK_EQ(core.until, 200);
	CHECK_EQ(vcpus[0].given, 20);
	CHECK_EQ(vcpus[0].background, 80);
	sched_idle(&core, &vcpus[0], 120);
	sched_idle(&core, &vcpus[1], 120);
	CHECK(sched_decide(&core, 120) == NULL);
	CHECK_EQ(core.until, SCHED_NEVER);
	CHECK_EQ(vcpus[0].background, 90);
}

/* An I/O VCPU's rank is that of the shortest period it may serve, whomever it served last. */
static void ranks_of_io_stay(void)
{
	begin("I/O");
	CHECK_EQ(sched_add_io(&core, &vcpus[0], 10, 20, 0), SCHED_OK);
	sched_ready_for(&core, &vcpus[0], 10, 0);
	add(1, 5, 15);
	check_order(2, (unsigned[]){ 1, 0 });
}

/* It was idle and is gone before the next decision, which comes a while later: others are ready as before. */
static void who_runs_is_removed(void)
{
	begin("removed");
	add(0, 10, 100);
	add(1, 10, 200);
	sched_ready(&core, &vcpus[0], 0);
	sched_ready(&core, &vcpus[1], 0);
	CHECK(sched_decide(&core, 0) == &vcpus[0]);
	sched_idle(&core, &vcpus[0], 5);
	sched_remove(&core, &vcpus[0]);
	CHECK(sched_decide(&core, 20) == &vcpus[1]); /* more than who is gone had left */
	CHECK(core.foreground);
	CHECK_EQ(core.until, 30);
	CHECK_EQ(vcpus[1].given, 0);
}

static void who_must_not_run_without_budget_does_not(void)
{
	begin("foreground");
	add(0, 10, 100);
	add(1, 10, 200);
	vcpus[0].foreground_only = true;
	sched_ready(&core, &vcpus[0], 0);
	sched_ready(&core, &vcpus[1], 0);
	CHECK(sched_decide(&core, 0) == &vcpus[0]);
	CHECK(sched_decide(&core, 10) == &vcpus[1]);
	CHECK(sched_decide(&core, 20) == &vcpus[1]);
	CHECK(!core.foreground);
	sched_idle(&core, &vcpus[1], 30);
	CHECK(sched_decide(&core, 30) == NULL);
	CHECK_EQ(core.until, 100);
	CHECK(sched_decide(&core, 100) == &vcpus[0]);
	CHECK_EQ(vcpus[1].given, 10);
	CHECK_EQ(vcpus[1].background, 10);
}

/* ---- Interrupts --------------------------------------------------------------------------------------------------- */

static void interrupts_are_not_charged_to_who_runs(void)
{
	begin("interrupts");
	add(0, 10, 100);
	add(1, 20, 200);
	sched_ready(&core, &vcpus[0], 0);
	sched_ready(&core, &vcpus[1], 0);
	CHECK(sched_decide(&core, 0) == &vcpus[0]);
	sched_except(&core, 2, 6, NULL);
	CHECK_EQ(core.until, 14);
	sched_except(&core, 7, 10, &vcpus[1]);
	CHECK_EQ(core.until, 17);
	CHECK(!sched_is_spent(&core, 16));
	CHECK(sched_is_spent(&core, 17));
	CHECK(sched_decide(&core, 17) == &vcpus[1]);
	CHECK_EQ(vcpus[0].given, 10);
	CHECK_EQ(sporadic_next(&vcpus[0].main), 100);
	sched_decide(&core, 20);
	CHECK_EQ(vcpus[1].given, 3 + 3);
	CHECK_EQ(vcpus[1].owed, 0);
}

/* One that began just before who comes first has budget again, and ends after. */
static void interrupts_delay_no_decision(void)
{
	begin("interrupts, late");
	add(0, 10, 100);
	add(1, 150, 200);
	sched_ready(&core, &vcpus[0], 0);
	sched_ready(&core, &vcpus[1], 0);
	CHECK(sched_decide(&core, 0) == &vcpus[0]);
	CHECK(sched_decide(&core, 10) == &vcpus[1]);
	CHECK(sched_decide(&core, 99) == &vcpus[1]);
	CHECK_EQ(core.until, 100);
	sched_except(&core, 99, 104, NULL);
	CHECK_EQ(core.until, 100);
	CHECK(sched_decide(&core, 104) == &vcpus[0]);
}

/* It was charged for all it had by another call than the decision: what it has next comes later. */
static void who_has_nothing_left_is_spent(void)
{
	begin("spent");
	add(0, 10, 100);
	sched_ready(&core, &vcpus[0], 0);
	sched_decide(&core, 0);
	sched_ready(&core, &vcpus[0], 10); /* another of its threads */
	CHECK(sched_is_spent(&core, 10));
}

/* It was charged in the middle of an interrupt, [5, 9), as by work that the interrupt brought it: nobody ran for longer than there was
 * time. */
static void interrupts_end_no_later_than_now(void)
{
	begin("charged in an interrupt");
	add(0, 10, 100);
	sched_ready(&core, &vcpus[0], 0);
	sched_decide(&core, 0);
	sched_ready(&core, &vcpus[0], 7);
	sched_except(&core, 5, 9, NULL);
	sched_decide(&core, 9);
	CHECK_EQ(vcpus[0].given, 7);
	CHECK(sporadic_next(&vcpus[0].main) <= 9);
}

/* Who runs without budget owes as before: nothing is paid by what costs nothing. */
static void debts_stay_in_the_background(void)
{
	begin("debts");
	add(0, 10, 100);
	sched_ready(&core, &vcpus[0], 0);
	sched_decide(&core, 0);
	sched_decide(&core, 10);
	CHECK(!core.foreground);
	sched_except(&core, 10, 15, &vcpus[0]);
	sched_decide(&core, 20);
	CHECK_EQ(vcpus[0].background, 5);
	sched_decide(&core, 100);
	CHECK(core.foreground);
	sched_decide(&core, 105);
	CHECK_EQ(vcpus[0].given, 10 + 5 + 5);
}

/* ---- Debts -------------------------------------------------------------------------------------------------------- */

/* The last of three, (190, 200), runs from 0 on; the first, (10, 100), has caused interrupts of so many ticks by the time 100. */
static void owe(const char *subject, uint64_t ticks)
{
	begin(subject);
	add(0, 10, 100);
	add(1, 20, 150);
	add(2, 190, 200);
	sched_ready(&core, &vcpus[2], 0);
	CHECK(sched_decide(&core, 0) == &vcpus[2]);
	sched_except(&core, 100 - ticks, 100, &vcpus[0]);
	sched_ready(&core, &vcpus[0], 100);
	CHECK_EQ(vcpus[0].owed, ticks);
}

static void debts_shorten_what_may_be_run(void)
{
	owe("some debts", 4);
	CHECK(sched_decide(&core, 100) == &vcpus[0]);
	CHECK_EQ(core.until, 106);
	CHECK(!sched_is_spent(&core, 105));
	CHECK(sched_is_spent(&core, 106));
	sched_except(&core, 102, 105, NULL);
	CHECK_EQ(core.until, 109);
	CHECK(sched_decide(&core, 109) == &vcpus[2]);
	CHECK(vcpus[0].given == 10 && vcpus[0].owed == 0);
	CHECK_EQ(sporadic_next(&vcpus[0].main), 200);
}

/* If it should come to owe more than it has left while it runs, which no decision leads to: it is spent, not endless. */
static void debts_end_what_is_run(void)
{
	owe("debts while it runs", 4);
	sched_decide(&core, 100);
	vcpus[0].owed += 7;
	sched_except(&core, 101, 102, NULL);
	CHECK_EQ(core.until, 101); /* since when it has run for 1, without the interrupt */
	CHECK(sched_is_spent(&core, 101) && sched_is_spent(&core, 102));
	CHECK(sched_decide(&core, 102) == &vcpus[2]);
	CHECK_EQ(vcpus[0].given, 4 + 7 + 1);
}

/* Who owes a budget, or several, pays once, and has what is left of the next that comes. */
static void debts_are_paid_without_running(void)
{
	static const struct {
		uint64_t owed, next, until;
	} paid[] = { { 10, 200, 200 }, { 13, 203, 203 }, { 35, 405, 290 } };

	for (unsigned n = 0; n < sizeof(paid) / sizeof(paid[0]); n++) {
		owe("all debts", paid[n].owed);
		check_context.round = n;
		for (unsigned twice = 0; twice < 2; twice++) {
			CHECK(sched_decide(&core, 100) == &vcpus[2]);
			CHECK(core.foreground);
			CHECK(vcpus[0].given == paid[n].owed && vcpus[0].owed == 0);
			CHECK_EQ(sporadic_next(&vcpus[0].main), paid[n].next);
		}
	}
	check_context.round = 0;
}

/* Of two that owe all they have both pay, and the core asks again when the first of them may run. */
static void many_pay(void)
{
	owe("two that owe", 10);
	sched_ready(&core, &vcpus[1], 100);
	vcpus[1].owed = 21;
	CHECK(sched_decide(&core, 100) == &vcpus[2]);
	CHECK(vcpus[0].given == 10 && vcpus[1].given == 21);
	CHECK_EQ(sporadic_next(&vcpus[1].main), 251);
	CHECK_EQ(core.until, 200);
	sched_idle(&core, &vcpus[2], 120);
	CHECK(sched_decide(&core, 120) == &vcpus[0]);
	CHECK(!core.foreground);
	CHECK_EQ(core.until, 200);
	CHECK(sched_decide(&core, 200) == &vcpus[0]);
	CHECK(core.foreground);
}

/* Of what it has only the first piece has come, 4; 6 come later. */
static void debts_use_up_a_piece(void)
{
	begin("a piece");
	add(0, 10, 100);
	vcpus[0].foreground_only = true;
	sched_ready(&core, &vcpus[0], 0);
	sched_decide(&core, 0);
	sched_idle(&core, &vcpus[0], 6);
	CHECK(sched_decide(&core, 6) == NULL);
	sched_except(&core, 10, 14, &vcpus[0]);
	sched_ready(&core, &vcpus[0], 20);
	CHECK(sched_decide(&core, 20) == NULL);
	CHECK_EQ(vcpus[0].given, 10);
	CHECK_EQ(core.until, 100);
}

static void debts_of_io(void)
{
	begin("debts of I/O");
	CHECK_EQ(sched_add_io(&core, &vcpus[0], 10, 100, 0), SCHED_OK);
	vcpus[0].foreground_only = true;
	sched_except(&core, 0, 4, &vcpus[0]);
	sched_ready(&core, &vcpus[0], 20);
	CHECK(sched_decide(&core, 20) == &vcpus[0]);
	CHECK_EQ(core.until, 26);
	CHECK(sched_decide(&core, 26) == NULL);
	CHECK_EQ(vcpus[0].given, 10);
	sched_except(&core, 50, 65, &vcpus[0]);
	CHECK(sched_decide(&core, 120) == NULL);
	CHECK_EQ(vcpus[0].given, 25);
	CHECK_EQ(vcpus[0].owed, 0);
	CHECK_EQ(core.until, vcpus[0].io.at);
}

static void nothing_comes_after_the_end_of_time(void)
{
	begin("the end of time");
	CHECK_EQ(sched_add_main(&core, &vcpus[0], 10, 100, 2, SPORADIC_FAR - 50), SCHED_OK);
	vcpus[0].owed = 10;
	sched_ready(&core, &vcpus[0], SPORADIC_FAR - 50);
	CHECK(sched_decide(&core, SPORADIC_FAR - 50) == &vcpus[0]);
	CHECK(!core.foreground);
	CHECK_EQ(sporadic_next(&vcpus[0].main), SPORADIC_FAR);
}

/* An interrupt for who runs is its own time; for the one that runs without budget it is a debt. */
static void own_interrupts_are_own_time(void)
{
	begin("own interrupts");
	add(0, 10, 100);
	sched_ready(&core, &vcpus[0], 0);
	sched_decide(&core, 0);
	for (uint64_t at = 1; at < 9; at += 2)
		sched_except(&core, at, at + 2, &vcpus[0]);
	CHECK_EQ(vcpus[0].owed, 0);
	CHECK_EQ(core.until, 10);
	CHECK(!sched_is_spent(&core, 9) && sched_is_spent(&core, 10));
	sched_decide(&core, 10);
	CHECK(!core.foreground);
	CHECK_EQ(vcpus[0].given, 10);
	CHECK_EQ(sporadic_next(&vcpus[0].main), 100);
	sched_except(&core, 20, 23, &vcpus[0]);
	CHECK_EQ(vcpus[0].owed, 3);
	sched_decide(&core, 100);
	CHECK_EQ(vcpus[0].background, 87);
	CHECK_EQ(core.until, 107);
}

/* ---- Refused ------------------------------------------------------------------------------------------------------ */

static void bad_ones_are_refused(void)
{
	static const struct {
		uint64_t budget, period;
		unsigned entries;
	} bad[] = {
		{ 0, 10, 2 },
		{ 11, 10, 2 },
		{ 1, 0, 2 },
		{ 0, 0, 2 },
		{ 5, SPORADIC_MOST_TICKS + 1, 2 },
		{ 5, UINT64_MAX, 2 },
		{ 5, 10, 0 },
		{ 5, 10, 1 },
		{ 5, 10, SPORADIC_MOST_ENTRIES + 1 },
	};
	static const struct {
		uint32_t percent;
		uint64_t period;
	} bad_io[] = { { 0, 100 }, { 101, 100 }, { 10, 0 }, { 10, 9 }, { 10, SPORADIC_MOST_TICKS + 1 }, { UINT32_MAX, 100 } };

	begin("refused");
	for (unsigned n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		check_context.round = n;
		CHECK_EQ(sched_add_main(&core, &vcpus[0], bad[n].budget, bad[n].period, bad[n].entries, 0), SCHED_E_INVALID);
	}
	for (unsigned n = 0; n < sizeof(bad_io) / sizeof(bad_io[0]); n++) {
		check_context.round = n;
		CHECK_EQ(sched_add_io(&core, &vcpus[0], bad_io[n].percent, bad_io[n].period, 0), SCHED_E_INVALID);
	}
	CHECK_EQ(core.count, 0);
	CHECK_EQ(sched_add_io(&core, &vcpus[0], 10, 10, 0), SCHED_OK);
	CHECK_EQ(sched_add_main(&core, &vcpus[1], SPORADIC_MOST_TICKS, SPORADIC_MOST_TICKS, SPORADIC_MOST_ENTRIES, 0), SCHED_OK);
}

static void a_full_core_takes_no_more(void)
{
	begin("full");
	for (unsigned n = 0; n < LEAVES; n++)
		add(n, 1, 100 - n);
	CHECK_EQ(sched_add_main(&core, &vcpus[LEAVES], 1, 10, 2, 0), SCHED_E_FULL);
	CHECK_EQ(sched_add_io(&core, &vcpus[LEAVES], 10, 10, 0), SCHED_E_FULL);
	check_order(LEAVES, (unsigned[]){ 7, 6, 5, 4, 3, 2, 1, 0 });
	sched_remove(&core, &vcpus[3]);
	add(3, 1, 1000);
	check_order(LEAVES, (unsigned[]){ 7, 6, 5, 4, 2, 1, 0, 3 });
}

int main(void)
{
	check_context.subject = "tree";
	random_state = 1;
	for (unsigned leaves = 1; leaves <= MOST_LEAVES; leaves *= 2)
		for (uint64_t times = 2; times < 1000000; times *= 30)
			tree_agrees(leaves, times);
	tree_in_numbers();
	for (unsigned most = 1; most <= MOST_LEAVES; most *= 2)
		set_agrees(most);
	shorter_periods_come_first();
	ranks_move();
	who_must_not_run_without_budget_does_not();
	bad_ones_are_refused();
	a_full_core_takes_no_more();
	interrupts_are_not_charged_to_who_runs();
	ranks_of_io_stay();
	who_runs_is_removed();
	interrupts_delay_no_decision();
	debts_stay_in_the_background();
	who_has_nothing_left_is_spent();
	interrupts_end_no_later_than_now();
	debts_shorten_what_may_be_run();
	debts_end_what_is_run();
	debts_are_paid_without_running();
	many_pay();
	debts_use_up_a_piece();
	debts_of_io();
	nothing_comes_after_the_end_of_time();
	own_interrupts_are_own_time();
	return 0;
}
