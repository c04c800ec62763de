/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. VCPUs that are given another budget and period, scene by scene, by rank and by deadline: who runs then, what is kept,
 * when the next budget comes, and what is refused. Who is told of missed periods, and that his VCPU pays for it. And who cannot be stopped:
 * the main program and the idle thread. kernel/core/thread_vcpu.c, kernel/core/sync.c, kernel/core/thread_end.c
 */
#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/cpu.h"
#include "kernel/core/sync.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/trace.h"
#include "thread_scene.h"

static char ranks[8];

static void add_rank(const struct thread_vcpu *on)
{
	CHECK(strlen(ranks) < sizeof(ranks) - 1);
	ranks[strlen(ranks)] = on->name[0];
}

static bool ranks_are(const char *expected)
{
	memset(ranks, 0, sizeof(ranks));
	thread_each_vcpu(add_rank);
	return strcmp(ranks, expected) == 0;
}

static void change(struct thread_vcpu *on, uint64_t budget, uint64_t period)
{
	CHECK_EQ(thread_change_vcpu(on, budget, period), THREAD_OK);
	CHECK(fake_cpu.enabled);
}

/* ---- Who runs ----------------------------------------------------------------------------------------------------------- */

static void raise_low(void)
{
	work(4);
	CHECK(ranks_are("hlm"));
	change(&low, 3, 3);
	CHECK(ranks_are("lhm"));
	work(2);
}

static void sink(void)
{
	work(1);
	change(&high, 900, 2000);
	CHECK(ranks_are("lhm"));
	work(2);
}

static void raise_low_asleep(void)
{
	raise_low();
	CHECK(low.levels == 0 && !low.vcpu.ready);
	work(2);
}

/* By deadline who has been ready has its next budget the longer period later, and runs without until then. */
static void test_turns(void)
{
	const struct plan near = { .high = { 90, 98 }, .low = { 90, 99 } };
	const bool later = thread_is_by_deadline();

	scene_begin("another that is ready rises, and runs at once", near);
	scene_actor('a', &high, 0, 8, raise_low);
	scene_actor('b', &low, 0, 8, work_3);
	scene_expect(later ? "........aaaaaabbb." : "........aaaabbbaa.");
	CHECK_EQ(low.vcpu.given, later ? 0 : 3);
	scene_begin("another that sleeps comes first when it wakes", near);
	scene_actor('a', &high, 0, 8, raise_low_asleep);
	scene_actor('b', &low, 0, 15, work_3);
	scene_expect("........aaaaaaabbba."); /* it has never run */
	scene_begin("the caller's own sinks, charged", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, sink);
	scene_actor('b', &low, 0, 0, work_3);
	scene_expect("abbbaa.");
	CHECK_EQ(high.vcpu.given, 1);
	CHECK_EQ(high.vcpu.background, 2);
}

/* ---- When the next budget comes ------------------------------------------------------------------------------------------- */

static void use_3_of_5(void)
{
	work(3);
	change(&high, 4, 20);
	work(6);
}

static void use_two_pieces(void)
{
	work(2);
	CHECK_EQ(thread_sleep_until(START + 6), THREAD_OK);
	work(2);
	change(&high, 5, 20);
	work(2);
}

static void lower_and_raise(void)
{
	work(5);
	for (unsigned n = 0; n < 3; n++)
		change(&high, 5, 20);
	work(1);
}

/* Of what has not begun nothing is used: by deadline it is still the first period that counts. */
static void shorten_high_twice(void)
{
	change(&high, 1, 4);
	change(&high, 1, 5);
}

static void use_3_and_wait(void)
{
	work(3);
	CHECK_EQ(thread_sleep_until(START + 4), THREAD_OK);
	work(1);
}

/* The last piece lies at the first place of the server's ring. */
static void use_around_the_ring(void)
{
	for (unsigned n = 1; n < SPORADIC_MOST_ENTRIES; n++) {
		work(1);
		CHECK_EQ(thread_sleep_until(START + n * 30), THREAD_OK);
	}
	CHECK_EQ(high.vcpu.main.first, SPORADIC_MOST_ENTRIES - 1);
	work(1);
	change(&high, 5, 20);
	CHECK_EQ(scene_time(), (SPORADIC_MOST_ENTRIES - 1) * 30 + 40);
	fake_stop();
}

static void test_budgets(void)
{
	struct plan alone = scene_two(5, 20);

	alone.foreground_only = true;
	scene_begin("not before all that was used comes back, and a period more", alone);
	scene_actor('a', &high, 0, 0, use_3_of_5);
	scene_expect("aaa.....................................aaaa................aa.");
	scene_begin("not before the last piece comes back, and a period more", alone);
	scene_actor('a', &high, 0, 0, use_two_pieces);
	scene_expect("aa....aa......................................aa.");
	scene_begin("not before what stands where the ring begins anew, and a period more", alone);
	scene_actor('a', &high, 0, 0, use_around_the_ring);
	scene_play(1000);
	CHECK_EQ(fake_core.now, START + (SPORADIC_MOST_ENTRIES - 1) * 30 + 40);
	scene_begin("a period later by each, as it waits for its budget meanwhile", alone);
	scene_actor('a', &high, 0, 0, lower_and_raise);
	scene_expect("aaaaa...........................................................................a.");
	scene_begin("a shorter period later by rank, the longer one by deadline", alone);
	scene_actor('a', &high, 0, 0, use_3_and_wait);
	scene_actor('b', &low, 0, 0, shorten_high_twice);
	scene_expect(thread_is_by_deadline() ? "aaa.....................................a." : "aaa......................a.");
}

static void give_up_half(void)
{
	work(5);
	change(&high, 49, 99);
	work(1000);
}

static void work_for_ever(void)
{
	work(1000);
}

/* Of 25 in 50 and then of 49 in 99 alone, somebody else has 50 in 100; of one and then at once the other, 26. */
static void test_others(void)
{
	unsigned had = 0;
	struct plan both = { .high = { 25, 50 }, .low = { 50, 100 } };

	both.foreground_only = true;
	scene_begin("others have theirs meanwhile", both);
	scene_actor('a', &high, 0, 0, give_up_half);
	scene_actor('b', &low, 0, 0, work_for_ever);
	scene_play(300);
	for (unsigned tick = 0; tick < 100; tick++)
		had += fake_core.log[tick] == 'b';
	CHECK_EQ(had, 50);
}

static struct thread_vcpu extra, extra_io, late;

static void give_up_and_make(void)
{
	const uint64_t longest = low.vcpu.order;

	work(5);
	change(&middle, 1, 200);
	CHECK_EQ(thread_make_vcpu(&extra, "extra", 9, 90), THREAD_OK);
	CHECK_EQ(sporadic_next(&extra.vcpu.main), START + 5 + longest);
	if (!thread_is_by_deadline()) {
		CHECK_EQ(thread_make_io_vcpu(&extra_io, "extra io", 10, 300), THREAD_OK);
		CHECK_EQ(extra_io.vcpu.io.at, START + 5 + longest);
	}
	CHECK_EQ(sporadic_next(&middle.vcpu.main), middle.made + 200); /* it has its own */
	change(&middle, 2, 150);                                       /* of the other it has used nothing */
	CHECK_EQ(sporadic_next(&middle.vcpu.main), middle.made + (thread_is_by_deadline() ? 200 : 150));
	work(5);
	change(&low, 10, 500);
	CHECK_EQ(sporadic_next(&low.vcpu.main), START + 5 + longest);
	change(&low, 10, 500); /* there are two by now, and the longest period was another one before */
	CHECK_EQ(sporadic_next(&low.vcpu.main), START + 10 + longest);
	CHECK_EQ(thread_make_vcpu(&late, "late", 1, 400), THREAD_OK);
	CHECK_EQ(sporadic_next(&late.vcpu.main), START + 10 + longest);
	change(&late, 2, 300);
	CHECK_EQ(sporadic_next(&late.vcpu.main), START + 10 + longest); /* of what has not begun nothing is used */
	fake_core.now = START + 2 * longest;
	change(&low, 10, 501);
	CHECK_EQ(sporadic_next(&low.vcpu.main), START + 2 * longest);
	fake_stop();
}

static void test_settles(void)
{
	scene_begin("what was given up is not begun with",
		    (struct plan){ .high = { 90, 100 }, .middle = { 50, 200 }, .low = { 100, 200000 } });
	scene_actor('a', &high, 0, 0, give_up_and_make);
	scene_play(5000000);
}

/* ---- What is kept ------------------------------------------------------------------------------------------------------- */

static void change_what_has_run(void)
{
	low.vcpu.owed = 3;
	low.vcpu.given = 7;
	low.vcpu.background = 11;
	change(&low, 500, 2000);
	CHECK_EQ(low.vcpu.main.budget, 500);
	CHECK_EQ(low.vcpu.main.period, 2000);
	CHECK_EQ(low.vcpu.owed, 3);
	CHECK_EQ(low.vcpu.given, 7);
	CHECK_EQ(low.vcpu.background, 11);
	CHECK(low.vcpu.foreground_only && low.vcpu.ready);
	fake_stop();
}

static void test_kept(void)
{
	struct plan vcpus = scene_two(90, 100);

	vcpus.foreground_only = true;
	scene_begin("what it has had, and owes", vcpus);
	scene_actor('a', &high, 0, 0, change_what_has_run);
	scene_actor('b', &low, 0, 0, work_3);
	scene_play(1);
}

/* ---- What the tool is told ------------------------------------------------------------------------------------------------ */

static void look_at_accounts(void)
{
	const struct bh_trace_vcpu *row = &trace_state.vcpu[high.row];
	const uint32_t rows = trace_state.vcpu_count;

	CHECK(high.row && row->name == (uintptr_t)high.name && row->had == (uintptr_t)&high.vcpu.given);
	CHECK(row->made == high.made && row->slot == 0 && row->budget == 90 && row->period == 100);
	CHECK(trace_state.core[0].charged == (uintptr_t)&((const struct sched *)thread_cores[0])->since); /* which lies first there */
	change(&high, 50, 200);
	CHECK(row->budget == 50 && row->period == 200 && trace_state.vcpu_count == rows);
	fake_stop();
}

static void test_accounts(void)
{
	scene_begin("accounts", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, look_at_accounts);
	scene_play(10);
}

/* ---- What is refused ---------------------------------------------------------------------------------------------------- */

static struct thread_vcpu io;

static void refuse(struct thread_vcpu *on, uint64_t budget, uint64_t period)
{
	const struct thread_vcpu before = *on;

	CHECK_EQ(thread_change_vcpu(on, budget, period), THREAD_E_INVALID);
	CHECK(memcmp(&before, on, sizeof(before)) == 0);
	CHECK(ranks_are("hilm") && fake_cpu.enabled);
}

static void refuse_all(void)
{
	work(1);
	refuse(&low, 0, 100);
	refuse(&low, 101, 100);
	refuse(&low, 1, SPORADIC_MOST_TICKS + 1);
	refuse(&high, 0, 100);
	refuse(&io, 10, 100);
	change(&low, SPORADIC_MOST_TICKS, SPORADIC_MOST_TICKS);
	work(1);
}

static void make_io(void)
{
	CHECK_EQ(thread_make_io_vcpu(&io, "io", 10, 500), THREAD_OK);
}

static void test_refusals(void)
{
	scene_begin("refused", scene_two(90, 100));
	scene_prepare(make_io);
	scene_actor('a', &high, 0, 0, refuse_all);
	scene_actor('b', &low, 0, 0, work_1);
	scene_expect("aab.");
}

/* ---- Who cannot be stopped ------------------------------------------------------------------------------------------------ */

static struct thread *main_program;
static char told[4]; /* whom handlers did, by their first letters */

static void tell(struct thread *thread)
{
	const struct thread before = *thread;

	CHECK_EQ(thread_stop(thread), THREAD_E_INVALID);
	CHECK_EQ(thread_restart(thread), THREAD_E_INVALID);
	CHECK(memcmp(&before, thread, sizeof(before)) == 0);
}

static void tell_who_runs(void)
{
	tell(thread_running());
	CHECK(strlen(told) < sizeof(told) - 1);
	told[strlen(told)] = thread_running()->name[0];
}

static void tell_main(void)
{
	tell(main_program);
	work(1);
}

static void have_them_told(void)
{
	main_program = thread_running();
	fake_interrupt_at(fake_core.now, tell_who_runs);
	fake_settle();
	fake_interrupt_at(START + 3, tell_who_runs);
}

static void test_unstoppable(void)
{
	scene_begin("the main program and the idle thread", scene_two(90, 100));
	scene_prepare(have_them_told);
	scene_actor('a', &high, 0, 1, tell_main);
	scene_actor('b', &high, 0, 4, work_1);
	scene_expect(".a..b.");
	CHECK(strcmp(told, "mi") == 0);
}

/* ---- Who is told of missed periods, and who pays for it -------------------------------------------------------------------- */

enum { WATCHED = 100, NOTED = 8 };

static struct periodic periodic;
static struct port port;
static uint64_t missed_at[NOTED];
static unsigned missed;

static void note_missed(struct periodic *one)
{
	CHECK(one == &periodic && missed < NOTED);
	missed_at[missed++] = scene_time();
}

static void watch(uint64_t period)
{
	missed = 0;
	CHECK_EQ(periodic_begin(&periodic, period), THREAD_OK);
	CHECK_EQ(periodic_watch(&periodic, PERIODIC_NOTIFY, note_missed), THREAD_OK);
}

static void watch_and_sleep(void)
{
	watch(WATCHED);
	fake_core.before = 2;
	fake_core.after = 3;
	CHECK_EQ(thread_sleep_until(START + 1000), THREAD_OK);
}

/* Its interrupts, of 5 ticks, come while another runs, who does not pay. */
static void test_who_pays(void)
{
	scene_begin("who is watched pays", (struct plan){ .high = { 50, 50 }, .low = { 90, WATCHED } });
	scene_actor('w', &low, 0, 0, watch_and_sleep);
	scene_actor('h', &high, 0, 1, work_always);
	scene_play(WATCHED + 20);
	CHECK(missed == 1 && missed_at[0] == WATCHED + 2);
	CHECK_EQ(low.vcpu.owed, 5);
	CHECK_EQ(low.vcpu.given, 0);
	CHECK_EQ(high.vcpu.owed, 0);
	CHECK(high.vcpu.given <= WATCHED + 20 - 5 && strstr(fake_core.log, "h^^^^^h"));
}

static void slow_interrupts(void)
{
	fake_core.after = 2;
}

static void slow_at_3(void)
{
	fake_interrupt_at(START + 3, slow_interrupts);
}

/*
 * A device's interrupt at 3, and the timer that is early by that, are nobody's. The end of the 4 ticks of 'h' is charged to it, and so is
 * the interrupt for its replenishment: together all that it has in its second period.
 */
static void test_replenished_pays(void)
{
	scene_begin("who is replenished pays", (struct plan){ .high = { 4, 20 }, .low = { 90, 100 } });
	scene_actor('h', &high, 0, 0, work_always);
	scene_actor('l', &low, 0, 0, work_always);
	scene_prepare(slow_at_3);
	scene_expect("hhh^^^^h^^llllllllllll^^llllllllllllll");
	CHECK_EQ(high.vcpu.given, 4 + 2 + 2);
	CHECK_EQ(high.vcpu.owed, 0);
	CHECK_EQ(low.vcpu.given, 12);
}

enum { TOGETHER = 72 }; /* when the second budget of 33 ends, whose first began at 1 */

static void watch_together(void)
{
	watch(TOGETHER);
	fake_core.before = 2;
	fake_core.after = 3;
	CHECK_EQ(thread_sleep_until(START + 1000), THREAD_OK);
}

static void sleep_as_long(void)
{
	CHECK_EQ(thread_sleep_until(START + TOGETHER), THREAD_OK);
}

/* Both timers are in the interrupt at which the budget of who runs ends, and it is not he who pays: 2 before the first, 3 from then on. */
static void test_each_pays(void)
{
	scene_begin("who is watched, and who sleeps as long",
		    (struct plan){ .high = { 33, 33 }, .middle = { 50, 60 }, .low = { 60, TOGETHER } });
	scene_actor('m', &middle, 0, 0, sleep_as_long);
	scene_actor('w', &low, 0, 0, watch_together);
	scene_actor('h', &high, 0, 1, work_always);
	scene_play(TOGETHER + 10);
	CHECK(missed == 1 && missed_at[0] == TOGETHER + 2);
	CHECK(fake_core.log[TOGETHER - 1] == 'h' && fake_core.log[TOGETHER] == '^');
	CHECK_EQ(middle.vcpu.owed, 2);
	CHECK_EQ(low.vcpu.owed, 3);
}

static void miss_several(void)
{
	watch(WATCHED);
	work(1);
	fake_core.now += 3 * WATCHED + 49; /* with interrupts disabled */
	fake_settle();
	CHECK_EQ(missed, 1);
	work(WATCHED);
	CHECK_EQ(missed, 2);
	fake_core.now = START + 6 * WATCHED; /* at the end of another one */
	fake_settle();
	CHECK_EQ(missed, 3);
	work(WATCHED);
	CHECK_EQ(missed, 4);
	fake_stop();
}

/* Periods that end before anybody can be told of them are told of at once; the next is told of at its end. */
static void test_told_once(void)
{
	scene_begin("several missed periods", scene_two(90, WATCHED));
	scene_actor('w', &high, 0, 0, miss_several);
	scene_play(10000);
	CHECK_EQ(missed, 4);
	CHECK_EQ(missed_at[0], 3 * WATCHED + 50);
	CHECK_EQ(missed_at[1], 4 * WATCHED);
	CHECK_EQ(missed_at[2], 6 * WATCHED);
	CHECK_EQ(missed_at[3], 7 * WATCHED);
}

/* The VCPU's period is two and a half times theirs from then on. */
static void change_and_miss(void)
{
	watch(WATCHED);
	change(&high, 90, 250);
	work(1000);
	fake_stop();
}

/* A longer period of the VCPU pays for no more interrupts than before. */
static void test_told_less(void)
{
	scene_begin("missed periods of a VCPU that is changed", (struct plan){ .high = { 90, WATCHED }, .low = { 900, 1000 } });
	scene_actor('w', &high, 0, 0, change_and_miss);
	scene_play(10000);
	CHECK(missed == 4 && missed_at[0] == WATCHED && missed_at[1] == 4 * WATCHED && missed_at[2] == 7 * WATCHED);
}

static void watch_all(void)
{
	for (check_context.round = 1; check_context.round <= 2 * WATCHED; check_context.round++) {
		bool paid = check_context.round >= WATCHED;

		CHECK_EQ(periodic_begin(&periodic, check_context.round), THREAD_OK);
		CHECK_EQ(periodic_watch(&periodic, PERIODIC_NOTIFY, note_missed), paid ? THREAD_OK : THREAD_E_INVALID);
		CHECK_EQ(periodic.deadline.waits, paid);
		CHECK_EQ(periodic_watch(&periodic, PERIODIC_STOP, NULL), THREAD_OK); /* there is one interrupt */
		CHECK_EQ(periodic_watch(&periodic, PERIODIC_RESTART, NULL), THREAD_OK);
		CHECK_EQ(periodic_watch(&periodic, PERIODIC_COUNT, NULL), THREAD_OK);
		CHECK(!periodic.deadline.waits);
	}
	check_context.round = 0;
	fake_stop();
}

static void serve_watched(void)
{
	CHECK(port_reply_and_receive(&port));
	CHECK_EQ(periodic_begin(&periodic, 1000), THREAD_OK);
	CHECK_EQ(periodic_watch(&periodic, PERIODIC_NOTIFY, note_missed), THREAD_E_INVALID);
	CHECK_EQ(periodic_watch(&periodic, PERIODIC_STOP, NULL), THREAD_E_INVALID);
	CHECK(!periodic.deadline.waits && !thread_running()->watched);
	fake_stop();
}

static void call(void)
{
	int message = 0;

	CHECK_EQ(port_call(&port, &message), THREAD_OK);
}

static void test_who_cannot_pay(void)
{
	scene_begin("periods that are shorter than the VCPU's", scene_two(90, WATCHED));
	scene_actor('w', &high, 0, 0, watch_all);
	scene_play(10);
	scene_begin("who has no VCPU", scene_two(90, WATCHED));
	memset(&port, 0, sizeof(port));
	port.server.thread = &scene_actor('s', NULL, 0, 0, serve_watched)->thread;
	scene_actor('c', &high, 0, 0, call);
	scene_play(10);
	CHECK_EQ(periodic.period, 1000);
}

int main(void)
{
	test_turns();
	test_budgets();
	test_others();
	test_settles();
	test_kept();
	test_refusals();
	test_unstoppable();
	test_who_pays();
	test_each_pays();
	test_replenished_pays();
	test_accounts();
	test_told_once();
	test_told_less();
	test_who_cannot_pay();
	thread_schedule_by_deadline(); /* from now on */
	test_turns();
	test_budgets();
	test_others();
	test_settles();
	test_kept();
	return 0;
}
