/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Synchronization between threads on a core of the host, scene by scene: who runs at each tick, whose budget pays for it,
 * and who is served first. kernel/core/{sync,thread}.c
 */
#include "kernel/core/sync.h"

#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/cpu.h"
#include "kernel/core/thread.h"
#include "thread_scene.h"

static struct semaphore bell;
static struct mutex mutexes[4];
static struct queue letters;
static struct events events;
static struct port ports[3];
static struct periodic periodic;
static char order[16]; /* who was served, by letter */
static unsigned ordered;

/* ---- Semaphores ------------------------------------------------------------------------------------------------------- */

static void count_to_limit(void)
{
	struct semaphore one = { .most = 2 };

	for (unsigned n = 0; n < 2; n++)
		CHECK_EQ(semaphore_give(&one), THREAD_OK);
	CHECK_EQ(semaphore_give(&one), THREAD_E_FULL);
	for (unsigned n = 0; n < 2; n++)
		CHECK_EQ(semaphore_take(&one, 0), THREAD_OK);
	CHECK_EQ(semaphore_take(&one, 0), THREAD_E_TIMEOUT);
	CHECK_EQ(semaphore_take(&one, START), THREAD_E_TIMEOUT); /* that is now */
	CHECK_EQ(semaphore_take(&one, START + 2), THREAD_E_TIMEOUT);
	CHECK_EQ(scene_time(), 2);
	CHECK(!one.waiting.top);
	CHECK_EQ(semaphore_give(&one), THREAD_OK);
	CHECK_EQ(semaphore_take(&one, 0), THREAD_OK);
	one.count = UINT32_MAX - 1;
	one.most = 0;
	CHECK_EQ(semaphore_give(&one), THREAD_OK);
	CHECK_EQ(semaphore_give(&one), THREAD_E_FULL);
	CHECK_EQ(one.count, UINT32_MAX);
	CHECK(fake_cpu.enabled);
}

static void take_bell(void)
{
	CHECK_EQ(semaphore_take(&bell, TIMER_NEVER), THREAD_OK);
	work(1);
}

static void give_bells(void)
{
	for (unsigned n = 0; n < 5; n++)
		semaphore_give(&bell);
	work(1);
}

/* Who waits is served by its period, then by its level, then in turn. */
static void test_semaphores(void)
{
	scene_begin("a semaphore's limits", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, count_to_limit);
	scene_expect("...");
	scene_begin("who waits comes in order", (struct plan){ .high = { 9, 10 }, .middle = { 8, 20 }, .low = { 90, 100 } });
	memset(&bell, 0, sizeof(bell));
	scene_actor('l', &low, 0, 0, take_bell);
	scene_actor('1', &middle, 3, 0, take_bell);
	scene_actor('2', &middle, 3, 1, take_bell);
	scene_actor('3', &middle, 1, 2, take_bell);
	scene_actor('h', &high, 7, 3, take_bell);
	scene_actor('g', &low, 2, 4, give_bells);
	scene_expect("....h312lg.");
}

/* ---- Mutexes, and whose budget pays ----------------------------------------------------------------------------------- */

static void lock(unsigned n)
{
	CHECK_EQ(mutex_lock(&mutexes[n]), THREAD_OK);
	CHECK(mutexes[n].holder.thread == thread_running());
}

static void unlock(unsigned n)
{
	CHECK_EQ(mutex_unlock(&mutexes[n]), THREAD_OK);
}

static void hold_8(void)
{
	lock(0);
	work(8);
	unlock(0);
	work(1);
}

static void want(void)
{
	lock(0);
	work(1);
	unlock(0);
}

/*
 * 'l' holds the mutex for 8 ticks, and 'h' wants it from 1 on: its 2 ticks are spent by 'l' from 1 to 3, and those of `low` until 5. Then
 * nobody has any, until those of `high` are back at 11.
 */
static void test_budget_ends_inside(void)
{
	scene_begin("a budget ends inside", (struct plan){ .high = { 2, 10 }, .low = { 3, 40 }, .foreground_only = true });
	scene_actor('l', &low, 0, 0, hold_8);
	scene_actor('h', &high, 0, 1, want);
	memset(mutexes, 0, sizeof(mutexes));
	scene_expect("lllll......ll........lh........");
	CHECK_EQ(high.vcpu.given, 6);
	CHECK_EQ(low.vcpu.given, 3);
	scene_begin("a budget ends inside, and others wait",
		    (struct plan){ .high = { 2, 10 }, .middle = { 3, 30 }, .low = { 3, 40 }, .foreground_only = true });
	scene_actor('l', &low, 0, 0, hold_8);
	scene_actor('m', &middle, 0, 1, want);
	scene_actor('x', &middle, 0, 1, work_always); /* on the same VCPU as a waiter, after it */
	scene_actor('h', &high, 0, 2, want);
	memset(mutexes, 0, sizeof(mutexes));
	scene_expect("llllllll....h..................mx");
	CHECK_EQ(middle.vcpu.given, 3);
	CHECK_EQ(low.vcpu.given, 3);
	scene_begin("in the background", (struct plan){ .high = { 2, 10 }, .low = { 3, 40 } });
	scene_actor('l', &low, 0, 0, hold_8);
	scene_actor('h', &high, 0, 1, want);
	memset(mutexes, 0, sizeof(mutexes));
	scene_expect("llllllllhl.");
	CHECK_EQ(high.vcpu.given, 2);
	CHECK_EQ(low.vcpu.given, 3);
	CHECK_EQ(high.vcpu.background, 4);
}

/* 'c' holds 2; 'b' holds 1 and wants 2; 'a' holds 0 and wants 1: who wants 0 has 'c' run, and closing the circle is refused. */
static void hold_2(void)
{
	lock(2);
	work(4);
	CHECK_EQ(mutex_lock(&mutexes[0]), THREAD_E_DEADLOCK);
	CHECK(mutexes[0].holder.thread == &actors[0].thread);
	CHECK_EQ(mutex_lock(&mutexes[2]), THREAD_E_DEADLOCK);
	CHECK(fake_cpu.enabled);
	unlock(2);
	CHECK_EQ(mutex_unlock(&mutexes[2]), THREAD_E_OWNER);
	work(1);
}

static void hold_1(void)
{
	lock(1);
	work(1);
	lock(2);
	work(1);
	unlock(1);
	work(1);
	unlock(2);
}

static void hold_0(void)
{
	lock(0);
	work(1);
	lock(1);
	work(1);
	CHECK_EQ(mutex_unlock(&mutexes[2]), THREAD_E_OWNER);
	unlock(1);
	unlock(0);
}

static void test_chain(void)
{
	scene_begin("three mutexes", (struct plan){ .high = { 9, 10 }, .middle = { 18, 20 }, .low = { 90, 100 }, .foreground_only = true });
	memset(mutexes, 0, sizeof(mutexes));
	scene_actor('a', &middle, 0, 2, hold_0);
	scene_actor('b', &low, 0, 1, hold_1);
	scene_actor('c', &low, 1, 0, hold_2);
	scene_actor('h', &high, 0, 3, want);
	/* c; b and then c in its place; a, then c in the place of a and h until it unlocks; b, in their place, until it unlocks 1. */
	scene_expect("cbacccbahbc..");
	CHECK_EQ(high.vcpu.given, 6);
	CHECK_EQ(middle.vcpu.given, 1);
}

static void want_in_order(void)
{
	lock(0);
	order[ordered++] = thread_running()->name[0];
	work(1);
	unlock(0);
}

static void test_hand_over(void)
{
	scene_begin("an unlocked mutex goes to the first", (struct plan){ .high = { 9, 10 }, .middle = { 18, 20 }, .low = { 90, 100 } });
	memset(mutexes, 0, sizeof(mutexes));
	memset(order, 0, sizeof(order));
	ordered = 0;
	scene_actor('l', &low, 1, 0, hold_8);
	scene_actor('k', &low, 0, 1, want_in_order);
	scene_actor('1', &middle, 3, 2, want_in_order);
	scene_actor('2', &middle, 2, 3, want_in_order);
	scene_actor('3', &middle, 1, 4, want_in_order);
	scene_actor('h', &high, 7, 5, want_in_order);
	scene_expect("llllllllh321kl.");
	CHECK(strcmp(order, "h321k") == 0);
}

/* ---- Urgency: that of who stands behind ----------------------------------------------------------------------------------- */

static void hold_1_for_8(void)
{
	lock(1);
	work(8);
	unlock(1);
	work(1);
}

static void hold_0_want_1(void)
{
	lock(0);
	lock(1);
	work(1);
	unlock(1);
	unlock(0);
	work(1);
}

static void hold_2_want_0(void)
{
	lock(2);
	lock(0);
	work(1);
	unlock(0);
	unlock(2);
	work(1);
}

static void want_1(void)
{
	lock(1);
	work(1);
	unlock(1);
}

static void want_2(void)
{
	lock(2);
	work(1);
	unlock(2);
}

static void hold_2_and_3_want_1(void)
{
	lock(2);
	lock(3);
	work(4);
	lock(1);
	work(1);
	unlock(1);
	unlock(3);
	unlock(2);
	work(1);
}

static const struct plan three = { .high = { 40, 50 }, .middle = { 90, 100 }, .low = { 190, 200 }, .foreground_only = true };

/* 'l' is the last of those that want what 'x' holds, until 'h' stands behind it: with one holder between, or with two. */
static void test_nested(void)
{
	scene_begin("a holder comes before who is less urgent than who waits for it", three);
	memset(mutexes, 0, sizeof(mutexes));
	scene_actor('x', &low, 1, 0, hold_1_for_8);
	scene_actor('l', &low, 0, 1, hold_0_want_1);
	scene_actor('m', &middle, 3, 2, want_1);
	scene_actor('n', &middle, 2, 3, want_1);
	scene_actor('h', &high, 0, 5, want);
	scene_expect("xxxxxxxxlhnmlx.");
	scene_begin("and so does the holder for which that one waits", three);
	memset(mutexes, 0, sizeof(mutexes));
	scene_actor('x', &low, 2, 0, hold_1_for_8);
	scene_actor('l', &low, 1, 1, hold_0_want_1);
	scene_actor('k', &low, 0, 2, hold_2_want_0);
	scene_actor('m', &middle, 0, 3, want_1);
	scene_actor('h', &high, 0, 5, want_2);
	scene_expect("xxxxxxxxlkhmklx.");
}

/* When 'l' begins to wait 'h' stands behind it, for the first of the two that it holds. */
static void test_held_before(void)
{
	scene_begin("who is waited for already waits in that place", three);
	memset(mutexes, 0, sizeof(mutexes));
	scene_actor('l', &low, 0, 1, hold_2_and_3_want_1);
	scene_actor('x', &low, 1, 0, hold_1_for_8);
	scene_actor('m', &middle, 0, 2, want_1);
	scene_actor('h', &high, 0, 3, want_2);
	scene_expect("xlxlllxxxxxxlhmlx.");
}

static void serve_with_1(void)
{
	for (;;) {
		CHECK(port_reply_and_receive(&ports[0]));
		want_1();
	}
}

static void call_0(void)
{
	int message = 0;

	CHECK_EQ(port_call(&ports[0], &message), THREAD_OK);
	work(1);
}

static void call_0_holding_2(void)
{
	lock(2);
	call_0();
	unlock(2);
}

static void serve_slowly_with_1(void)
{
	for (;;) {
		CHECK(port_reply_and_receive(&ports[0]));
		work(2);
		want_1();
	}
}

static void begin_server(const char *name, void (*serve)(void))
{
	scene_begin(name, three);
	memset(mutexes, 0, sizeof(mutexes));
	memset(ports, 0, sizeof(ports));
	ports[0].server.thread = &scene_actor('s', NULL, 0, 0, serve)->thread;
	scene_actor('x', &low, 1, 0, hold_1_for_8);
}

/* The server 's' has no VCPU, and wants what 'x' holds. */
static void test_servers(void)
{
	begin_server("a server is as urgent as its client", serve_with_1);
	scene_actor('c', &low, 0, 1, call_0);
	scene_actor('m', &middle, 0, 2, want_1);
	scene_expect("xxxxxxxxmscx.");
	begin_server("a server comes before who is less urgent than its client", serve_with_1);
	scene_actor('m', &middle, 0, 1, want_1);
	scene_actor('h', &high, 0, 2, call_0);
	scene_expect("xxxxxxxxshmx.");
	begin_server("a server is as urgent as a client that waits for its turn", serve_slowly_with_1);
	scene_actor('c', &low, 0, 1, call_0);
	scene_actor('m', &middle, 0, 2, want_1);
	scene_actor('h', &high, 0, 3, call_0);
	scene_expect("xsxsxxxxxxsssmshcx.");
	begin_server("a server is as urgent as a client that comes later", serve_with_1);
	scene_actor('c', &low, 0, 1, call_0);
	scene_actor('m', &middle, 0, 2, want_1);
	scene_actor('h', &high, 0, 3, call_0);
	scene_expect("xxxxxxxxsmshcx.");
	begin_server("a server is as urgent as who stands behind its client", serve_with_1);
	scene_actor('c', &low, 0, 1, call_0_holding_2);
	scene_actor('m', &middle, 0, 2, want_1);
	scene_actor('h', &high, 0, 3, want_2);
	scene_expect("xxxxxxxxschmx.");
}

/* Who holds something may look, but not wait. */
static void hold_and_wait(void)
{
	static uint64_t room[1], word;
	uint32_t found = 7;

	letters = (struct queue){ .ring = room, .words = 1, .room = 1 };
	memset(&events, 0, sizeof(events));
	memset(&bell, 0, sizeof(bell));
	periodic_begin(&periodic, 3);
	lock(0);
	lock(1);
	unlock(0);
	CHECK_EQ(semaphore_take(&bell, TIMER_NEVER), THREAD_E_HOLDS);
	CHECK_EQ(semaphore_take(&bell, 0), THREAD_E_TIMEOUT);
	CHECK_EQ(queue_receive(&letters, &word, START + 5), THREAD_E_HOLDS);
	CHECK_EQ(queue_send(&letters, &word, TIMER_NEVER), THREAD_OK);
	CHECK_EQ(queue_send(&letters, &word, TIMER_NEVER), THREAD_E_HOLDS);
	CHECK_EQ(queue_send(&letters, &word, 0), THREAD_E_TIMEOUT);
	CHECK_EQ(events_wait(&events, 1, false, TIMER_NEVER, &found), THREAD_E_HOLDS);
	CHECK_EQ(found, 7);
	CHECK_EQ(thread_sleep_until(START + 5), THREAD_E_HOLDS);
	CHECK_EQ(periodic_wait(&periodic), THREAD_E_HOLDS);
	CHECK_EQ(scene_time(), 0);
	CHECK(fake_cpu.enabled && !bell.waiting.top && !letters.senders.top && !letters.receivers.top && !events.waiting.top);
	unlock(1);
	CHECK_EQ(periodic_wait(&periodic), THREAD_OK);
	CHECK_EQ(scene_time(), 3);
	work(1);
}

static void test_holds(void)
{
	scene_begin("who holds does not sleep", scene_two(90, 100));
	memset(mutexes, 0, sizeof(mutexes));
	scene_actor('a', &high, 0, 0, hold_and_wait);
	scene_expect("...a.");
}

/* ---- Yields and ends ----------------------------------------------------------------------------------------------- */

static void yield_in_place(void)
{
	lock(0);
	yield_thrice();
	unlock(0);
	work(1);
}

/* Who runs in another's place gives away that one's turn. */
static void test_yield_in_place(void)
{
	scene_begin("a yield in another's place", scene_two(90, 100));
	memset(mutexes, 0, sizeof(mutexes));
	scene_actor('l', &high, 1, 0, yield_in_place);
	scene_actor('w', &high, 1, 0, want);
	scene_actor('x', &high, 1, 0, yield_thrice);
	scene_expect("llxlwxlx.");
}

static void end_holding(void)
{
	lock(0);
	work(1);
}

static void serve_nobody(void)
{
	work(1);
}

static void call_in_vain(void)
{
	int message = 0;

	CHECK_EQ(port_call(&ports[2], &message), THREAD_E_ENDED);
	CHECK_EQ(port_call(&ports[2], &message), THREAD_E_ENDED);
}

static void lock_after_its_end(void)
{
	CHECK_EQ(mutex_lock(&mutexes[0]), THREAD_OK);
	CHECK_EQ(mutexes[0].abandoned, 1);
}

static void lock_in_vain(void)
{
	(void)!mutex_lock(&mutexes[0]);
	CHECK(!"is handed over");
}

static bool went_on, is_over;

static bool over(void)
{
	return is_over;
}

static void go_on(void)
{
	work(3);
	went_on = true;
	fake_stop();
}

static void play_to_the_end(void)
{
	went_on = false;
	scene_actor('c', &low, 0, 0, go_on);
	scene_play(100);
	CHECK(went_on);
}

static void lock_and_wait(void)
{
	is_over = false;
	lock(0);
	thread_wait_until(over);
}

/* The main program holds a mutex while it waits: it stays ready, and another that waits for it has the core sleep. */
static void test_main_holds(void)
{
	scene_begin("the main program waits holding a mutex", (struct plan){ .high = { 2, 10 }, .low = { 30, 100 } });
	memset(mutexes, 0, sizeof(mutexes));
	scene_prepare(lock_and_wait);
	scene_actor('b', &high, 1, 0, lock_in_vain);
	play_to_the_end();
}

/* Who ends holding a mutex leaves it to the next, and who serves a call fails it; nobody waits in vain. */
static void test_ends(void)
{
	scene_begin("a thread ends holding a mutex", (struct plan){ .high = { 2, 10 }, .low = { 30, 100 } });
	memset(mutexes, 0, sizeof(mutexes));
	scene_actor('a', &high, 0, 0, end_holding);
	scene_actor('b', &high, 1, 0, lock_after_its_end);
	play_to_the_end();
	scene_begin("a server ends", (struct plan){ .high = { 2, 10 }, .low = { 30, 100 } });
	memset(ports, 0, sizeof(ports));
	ports[2].server.thread = &scene_actor('s', NULL, 0, 0, serve_nobody)->thread;
	scene_actor('b', &high, 1, 0, call_in_vain);
	play_to_the_end();
}

/* ---- Periods ------------------------------------------------------------------------------------------------------- */

static const struct {
	unsigned work;
	uint64_t missed, began;
} laps[] = { { 1, 0, 4 }, { 4, 0, 8 }, { 5, 0, 13 }, { 3, 0, 16 }, { 11, 1, 27 }, { 1, 0, 28 }, { 4000, 999, 4028 }, { 5, 0, 4033 } };

static void run_laps(void)
{
	uint64_t missed = 0;

	periodic_begin(&periodic, 4);
	for (unsigned n = 0; n < sizeof(laps) / sizeof(laps[0]); n++) {
		check_context.round = n;
		work(laps[n].work);
		CHECK_EQ(periodic_wait(&periodic), THREAD_OK);
		CHECK_EQ(scene_time(), laps[n].began);
		CHECK_EQ(periodic.missed_now, laps[n].missed);
		missed += laps[n].missed;
		CHECK_EQ(periodic.missed, missed);
	}
	fake_core.now += 4000000007ULL; /* in one long stretch with interrupts disabled */
	CHECK_EQ(periodic_wait(&periodic), THREAD_OK);
	CHECK_EQ(periodic.missed_now, 1000000001);
	CHECK_EQ(scene_time(), 4000000007 + 4033);
	fake_stop();
}

static void test_periods(void)
{
	scene_begin("periods", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, run_laps);
	scene_play(UINT64_MAX - START);
	check_context.round = 0;
}

int main(void)
{
	test_semaphores();
	test_budget_ends_inside();
	test_chain();
	test_hand_over();
	test_nested();
	test_held_before();
	test_servers();
	test_holds();
	test_yield_in_place();
	test_main_holds();
	test_ends();
	test_periods();
	return 0;
}
