/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Threads on a core of the host, scene by scene: whose turn it is, what interrupts change, who is charged, and what is
 * refused. kernel/core/thread.c
 */
#include "kernel/core/thread.h"

#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/stacks.h"
#include "kernel/core/sync.h"
#include "kernel/core/trace.h"
#include "thread_scene.h"

/* ---- Turns ------------------------------------------------------------------------------------------------------------ */

static void work_twice(void)
{
	work(2);
}

static void test_turns(void)
{
	scene_begin("first in, first out", scene_two(90, 100));
	scene_actor('a', &high, 3, 0, work_3);
	scene_actor('b', &high, 3, 0, work_twice);
	scene_actor('c', &high, 3, 1, work_1);
	scene_expect("aaabbc.");
	scene_begin("yields", scene_two(90, 100));
	scene_actor('a', &high, 3, 0, yield_thrice);
	scene_actor('b', &high, 3, 0, yield_thrice);
	scene_actor('c', &high, 3, 0, work_twice);
	scene_expect("abccabab.");
	scene_begin("yields among levels", scene_two(90, 100));
	scene_actor('c', &high, 2, 0, yield_thrice);
	scene_actor('a', &high, 1, 0, yield_thrice);
	scene_actor('b', &high, 1, 0, yield_thrice);
	scene_actor('d', &low, 0, 0, yield_thrice);
	scene_expect("abababcccddd.");
	scene_begin("a level comes before", scene_two(90, 100));
	scene_actor('a', &high, 1, 0, work_3);
	scene_actor('b', &high, 1, 0, work_1);
	scene_actor('c', &high, 0, 1, work_twice);
	scene_expect("accaab.");
	scene_begin("the last level", scene_two(90, 100));
	scene_actor('a', &high, THREAD_LEVELS - 1, 0, work_twice);
	scene_actor('b', &high, THREAD_LEVELS - 2, 1, work_1);
	scene_expect("aba.");
}

/* Three in a ring, of which the first, one between or the last goes. */
static void sleep_between(void)
{
	work(1);
	CHECK_EQ(thread_sleep_until(START + 4), THREAD_OK);
	work(1);
}

static void test_ring(void)
{
	scene_begin("the first goes", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, sleep_between);
	scene_actor('b', &high, 0, 0, yield_thrice);
	scene_actor('c', &high, 0, 0, yield_thrice);
	scene_expect("abcbcabc..");
	scene_begin("one between goes", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, yield_thrice);
	scene_actor('b', &high, 0, 0, sleep_between);
	scene_actor('c', &high, 0, 0, yield_thrice);
	scene_expect("abcacbac..");
	scene_begin("the last goes", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, yield_thrice);
	scene_actor('b', &high, 0, 0, yield_thrice);
	scene_actor('c', &high, 0, 0, sleep_between);
	scene_expect("abcabcab..");
}

static void test_ranks(void)
{
	scene_begin("vector V1", (struct plan){ .high = { 8, 9 }, .low = { 2, 10 }, .foreground_only = true });
	scene_actor('h', &high, 0, 1, work_3);
	scene_actor('h', &high, 0, 1, work_3);
	scene_actor('h', &high, 0, 1, work_twice);
	scene_actor('l', &low, 0, 0, work_always);
	scene_expect("lhhhhhhhhlll........ll........ll");
	CHECK_EQ(low.vcpu.given, 8);
	scene_begin("without budget", (struct plan){ .high = { 2, 10 }, .middle = { 3, 20 } });
	scene_actor('h', &high, 0, 0, work_always);
	scene_actor('m', &middle, 0, 0, work_always);
	scene_expect("hhmmmhhhhhhhhhhhhhhhhhmm");
	CHECK_EQ(high.vcpu.background, 13);
	CHECK_EQ(middle.vcpu.background, 0);
}

static uint64_t periods_by_rank[4];
static unsigned ranks;

static void note_rank(const struct thread_vcpu *on)
{
	periods_by_rank[ranks++] = on->vcpu.main.period;
}

static void say_ranks(void)
{
	ranks = 0;
	thread_each_vcpu(note_rank);
}

static void test_each(void)
{
	scene_begin("each VCPU", (struct plan){ .high = { 2, 10 }, .middle = { 3, 20 }, .low = { 3, 30 } });
	scene_prepare(say_ranks);
	scene_expect(".");
	CHECK_EQ(ranks, 4);
	CHECK(periods_by_rank[0] == 10 && periods_by_rank[1] == 20 && periods_by_rank[2] == 30 &&
	      periods_by_rank[3] == clock_from_ns(100000000));
}

/* ---- Sleep, and the main program -------------------------------------------------------------------------------------- */

static void sleep_in_vain(void)
{
	CHECK_EQ(thread_sleep_until(START), THREAD_OK);
	CHECK_EQ(thread_sleep_until(0), THREAD_OK);
	work(1);
	CHECK_EQ(thread_sleep_until(START + 3), THREAD_OK);
	CHECK_EQ(scene_time(), 3);
	work(1);
	CHECK_EQ(thread_sleep_until(TIMER_NEVER), THREAD_OK);
	CHECK(!"never comes");
}

static void test_sleep(void)
{
	scene_begin("sleep", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, sleep_in_vain);
	scene_expect("a..a....");
}

static unsigned asked, thread_begins;
static bool is_due;

static bool due(void)
{
	CHECK(!fake_cpu.enabled);
	asked++;
	return is_due;
}

static void nothing(void) {}

static void make_due(void)
{
	is_due = true;
}

/* The main program waits twice, with another's interrupts, and its own, between. */
static void main_waits(void)
{
	uint64_t frames;

	CHECK(!thread_begun());
	CHECK_EQ(thread_begin(), THREAD_OK);
	frames = fake_core.frames_taken;
	CHECK_EQ(thread_begin(), THREAD_OK);
	CHECK_EQ(fake_core.frames_taken, frames);
	CHECK(fake_cpu.enabled && thread_begun());
	fake_tick();
	asked = 0;
	is_due = false;
	fake_interrupt_at(3, nothing);
	fake_interrupt_at(5, make_due);
	thread_wait_until(due);
	CHECK_EQ(fake_core.now, 5);
	CHECK_EQ(asked, 4); /* before it sleeps, at 3, at 5, and when it wakes */
	CHECK(fake_cpu.enabled);
	thread_wait_until(due);
	CHECK_EQ(asked, 5);
	fake_interrupt_at(7, nothing);
	work(3);
	CHECK_EQ(asked, 5); /* it does not wait */
	thread_begins++;
}

static void test_main(void)
{
	scene_begin("main program", scene_two(1, 2));
	fake_core.log_from = 0;
	fake_run(main_waits, 20);
	CHECK_EQ(thread_begins, 1);
	CHECK(strcmp(fake_core.log, "m....mmm") == 0);
}

/* ---- Interrupts ------------------------------------------------------------------------------------------------------- */

static struct semaphore bell;
static enum thread_result (*give)(struct semaphore *semaphore) = semaphore_give;

static void ring(void)
{
	const struct thread *before = thread_running();

	CHECK_EQ(give(&bell), THREAD_OK);
	thread_reschedule();
	CHECK(thread_running() == before);
	CHECK(!fake_cpu.enabled);
}

/* Nobody waits: it counts to its limit. */
static void ring_for_nobody(void)
{
	CHECK_EQ(give(&bell), THREAD_OK);
	CHECK_EQ(give(&bell), THREAD_E_FULL);
	CHECK_EQ(bell.count, 1);
}

static void answer(void)
{
	CHECK_EQ(semaphore_take(&bell, TIMER_NEVER), THREAD_OK);
	work(1);
}

/* Its timer does not come when it would have run out of time. */
static void answer_in_time(void)
{
	CHECK_EQ(semaphore_take(&bell, START + 6), THREAD_OK);
	CHECK(fake_core.timer_at > START + 6);
	work(1);
}

static void ring_at_2(void)
{
	memset(&bell, 0, sizeof(bell));
	fake_interrupt_at(START + 2, ring);
}

static void ring_before_it_waits(void)
{
	bell = (struct semaphore){ .most = 1 };
	fake_interrupt_at(START + 2, ring_for_nobody);
}

static void work_3_and_answer(void)
{
	work(3);
	answer();
	CHECK_EQ(semaphore_take(&bell, 0), THREAD_E_TIMEOUT);
}

static void test_interrupts(void)
{
	scene_begin("a handler wakes", scene_two(90, 100));
	scene_prepare(ring_at_2);
	scene_actor('l', &low, 0, 0, work_3);
	scene_actor('h', &high, 0, 0, answer);
	scene_expect("llhl.");
	scene_begin("a handler wakes out of sleep", scene_two(90, 100));
	scene_prepare(ring_at_2);
	scene_actor('h', &high, 0, 0, answer);
	scene_expect("..h..");
	scene_begin("a handler wakes a level", scene_two(90, 100));
	scene_prepare(ring_at_2);
	scene_actor('l', &high, 1, 0, work_3);
	scene_actor('h', &high, 0, 0, answer);
	scene_expect("llhl.");
	scene_begin("a handler wakes in time", scene_two(90, 100));
	scene_prepare(ring_at_2);
	scene_actor('h', &high, 0, 0, answer_in_time);
	scene_expect("..h..");
	scene_begin("a handler wakes a level in time", scene_two(90, 100));
	scene_prepare(ring_at_2);
	scene_actor('l', &high, 1, 0, work_3);
	scene_actor('h', &high, 0, 0, answer_in_time);
	scene_expect("llhl.");
	scene_begin("an interrupt changes no turns", scene_two(90, 100));
	scene_prepare(ring_at_2);
	scene_actor('l', &low, 1, 0, work_3);
	scene_actor('k', &low, 1, 0, work_3);
	scene_actor('h', &low, 1, 0, answer);
	scene_expect("lllkkkh");
	scene_begin("a handler finds nobody", scene_two(90, 100));
	scene_prepare(ring_before_it_waits);
	scene_actor('h', &high, 0, 0, work_3_and_answer);
	scene_expect("hhhh.");
}

/*
 * Interrupts take 2 ticks. That of its own start 'h' owes; the next is nobody's. The third comes when the budget would have ended: it is
 * early by the second. So is none after that. What it owes ends the budget sooner, and the end of it is charged, too, and
 * so is the interrupt for each replenishment: the first one leaves it nothing.
 */
static void test_excepted(void)
{
	scene_begin("interrupts are not charged", (struct plan){ .high = { 4, 20 }, .foreground_only = true });
	scene_prepare(ring_at_2);
	scene_actor('h', &high, 0, 0, work_always);
	fake_core.after = 1;
	fake_core.before = 1;
	scene_expect("^^^^^^hh^^............^^................^^hh^^...");
	CHECK_EQ(high.vcpu.given, 14); /* the last interrupt, too */
	CHECK_EQ(high.vcpu.owed, 0);
}

static uint64_t h_ran_until;

static void spend(void)
{
	for (;;) {
		work(1);
		h_ran_until = scene_time();
	}
}

static void set_slow(void)
{
	fake_core.after = 2;
	ring();
}

static void slow_at(uint64_t time)
{
	fake_interrupt_at(START + time, set_slow);
}

static void slow_at_2(void)
{
	slow_at(2);
}

static void slow_at_4(void)
{
	fake_core.timer_last = true;
	slow_at(4);
}

/* An interrupt in the middle leaves the budget; one at its very end is charged: the next one is shorter. */
static void test_charged(void)
{
	scene_begin("an interrupt in the middle", (struct plan){ .high = { 4, 20 }, .foreground_only = true });
	memset(&bell, 0, sizeof(bell));
	scene_prepare(slow_at_2);
	scene_actor('h', &high, 0, 0, spend);
	scene_expect("hh^^^^hh^^............^^");
	CHECK_EQ(high.vcpu.given, 6 + 2); /* its replenishment's, too */
	scene_begin("an interrupt at the end", (struct plan){ .high = { 4, 20 }, .foreground_only = true });
	memset(&bell, 0, sizeof(bell));
	scene_prepare(slow_at_4);
	scene_actor('h', &high, 0, 0, spend);
	scene_expect("hhhh^^^^................");
	CHECK_EQ(high.vcpu.given, 8); /* the timer comes then, too */
}

static void sleep_until_10(void)
{
	fake_core.before = 2;
	fake_core.after = 3;
	CHECK_EQ(thread_sleep_until(START + 10), THREAD_OK);
	fake_core.before = fake_core.after = 0;
	work(1);
}

/* One interrupt, of 5 ticks, ends two waits: up to the second it is the first one's, and then the other's. */
static void test_shared(void)
{
	scene_begin("an interrupt for two", (struct plan){ .high = { 90, 100 }, .middle = { 190, 200 }, .low = { 900, 1000 } });
	scene_actor('a', &high, 0, 0, sleep_until_10);
	scene_actor('b', &middle, 0, 0, sleep_until_10);
	scene_actor('l', &low, 0, 0, work_always);
	scene_expect("llllllllll^^^^^abllll");
	CHECK_EQ(high.vcpu.given, 2 + 1);
	CHECK_EQ(middle.vcpu.given, 3 + 1);
	CHECK_EQ(low.vcpu.owed + high.vcpu.owed + middle.vcpu.owed, 0);
	scene_begin("an interrupt for two of a VCPU", (struct plan){ .high = { 90, 100 }, .low = { 900, 1000 } });
	scene_actor('a', &high, 0, 0, sleep_until_10);
	scene_actor('b', &high, 0, 0, sleep_until_10);
	scene_actor('l', &low, 0, 0, work_always);
	scene_expect("llllllllll^^^^^abllll");
	CHECK_EQ(high.vcpu.given, 5 + 2);
	scene_begin("an interrupt for who runs and another", (struct plan){ .high = { 90, 100 }, .low = { 900, 1000 } });
	scene_actor('a', &high, 1, 0, sleep_until_10);
	scene_actor('b', &low, 0, 0, sleep_until_10);
	scene_actor('h', &high, 2, 1, work_always);
	scene_expect(".^^^^^hhhh^^^^^ahhhh");
	CHECK_EQ(high.vcpu.given, 5 + 4 + 2);
	CHECK_EQ(low.vcpu.owed, 3);
}

/* ---- Ends, and making ------------------------------------------------------------------------------------------------- */

static void test_ends(void)
{
	scene_begin("a thread ends", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, work_1);
	scene_actor('b', &high, 0, 0, work_1);
	scene_actor('c', &high, 1, 1, work_1);
	scene_expect("abc..");
}

static void end_at_once(void *argument)
{
	is_due = true;
}

static void refuse_all(void)
{
	static struct thread thread;
	static struct thread_vcpu refused, many[THREAD_VCPUS];
	uint32_t rows = trace_state.vcpu_count;

	CHECK_EQ(thread_make_vcpu(&refused, "refused", 0, 10), THREAD_E_INVALID);
	CHECK_EQ(thread_make_vcpu(&refused, "refused", 11, 10), THREAD_E_INVALID);
	CHECK_EQ(thread_make_vcpu(&refused, "refused", 1, 0), THREAD_E_INVALID);
	CHECK_EQ(trace_state.vcpu_count, rows);
	CHECK_EQ(thread_make(&thread, &high, "t", THREAD_LEVELS, stacks_take(), end_at_once, NULL), THREAD_E_INVALID);
	CHECK_EQ(thread_make(&thread, &high, "t", 0, 0, end_at_once, NULL), THREAD_E_NOMEM);
	for (unsigned n = 3; n < THREAD_VCPUS; n++)
		CHECK_EQ(thread_make_vcpu(&many[n], "many", 1, 10), THREAD_OK);
	CHECK_EQ(thread_make_vcpu(&refused, "refused", 1, 10), THREAD_E_FULL);
	is_due = false;
	CHECK_EQ(thread_make(&thread, &many[3], "t", 0, stacks_take(), end_at_once, NULL), THREAD_OK);
	CHECK(is_due); /* it came before the main program */
}

/* What is missing for threads is missing again the next time, and nothing is lost by asking. */
static void begin_without(void)
{
	unsigned frames = fake_core.frames;

	fake_core.frames = 0;
	CHECK_EQ(thread_begin(), THREAD_E_NOMEM);
	CHECK(!thread_begun());
	fake_core.frames = frames;
	fake_core.stacks = 0;
	for (unsigned n = 0; n < 2; n++) {
		CHECK_EQ(thread_begin(), THREAD_E_NOMEM);
		CHECK(!thread_begun() && fake_cpu.enabled);
		CHECK_EQ(fake_core.frames, frames);
	}
	fake_core.stacks = 1;
	while (stacks_take_kept())
		;
	clock_init(1); /* 20 ms are no tick */
	CHECK_EQ(thread_begin(), THREAD_E_INVALID);
	CHECK(!thread_begun() && fake_cpu.enabled);
	CHECK_EQ(fake_core.frames, frames);
	CHECK(stacks_take_kept() && !stacks_take_kept());
	fake_core.stacks = 1;
	clock_init(SCENE_HZ);
	CHECK_EQ(thread_begin(), THREAD_OK);
	thread_begins++;
}

static void take_at_once(void *argument)
{
	CHECK_EQ(semaphore_take(&bell, TIMER_NEVER), THREAD_OK);
	is_due = true;
}

/* Nothing of what its memory held before matters, not even if it waits before anything else. */
static void make_in_dirt(void)
{
	static struct thread thread;

	memset(&bell, 0, sizeof(bell));
	memset(&thread, 0x01, sizeof(thread));
	CHECK_EQ(thread_make(&thread, &high, "t", 0, stacks_take(), take_at_once, NULL), THREAD_OK);
	is_due = false;
	CHECK_EQ(semaphore_give(&bell), THREAD_OK);
	CHECK(is_due);
}

static void test_making(void)
{
	scene_begin("made in dirt", scene_two(90, 100));
	scene_prepare(make_in_dirt);
	scene_expect(".");
	scene_begin("what is not made", scene_two(90, 100));
	scene_prepare(refuse_all);
	scene_actor('a', &high, 0, 0, work_1);
	scene_expect("a.");
	scene_begin("no memory for threads", scene_two(90, 100));
	thread_begins = 0;
	fake_run(begin_without, 10);
	CHECK_EQ(thread_begins, 1);
}

int main(void)
{
	test_turns();
	test_ring();
	test_ranks();
	test_each();
	test_sleep();
	test_main();
	test_interrupts();
	give = semaphore_give_in_handler;
	test_interrupts();
	give = semaphore_give;
	test_excepted();
	test_charged();
	test_shared();
	test_ends();
	test_making();
	return 0;
}
