/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. VCPUs with slices, scene by scene: whose turn it is, what ends a turn and what only interrupts it, and who pays.
 * kernel/core/thread_slice.c
 */
#include "kernel/core/thread_slice.h"

#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/clock.h"
#include "kernel/core/sync.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/thread_move.h"
#include "thread_scene.h"

static void set(struct thread_vcpu *on, uint64_t ticks)
{
	CHECK_EQ(thread_set_slice(on, ticks), THREAD_OK);
	CHECK(fake_cpu.enabled);
}

static void high_2(void)
{
	set(&high, 2);
}

static void high_3(void)
{
	set(&high, 3);
}

static void low_3(void)
{
	set(&low, 3);
}

static void work_4(void)
{
	work(4);
}

static void work_1_and_yield(void)
{
	work(1);
	thread_yield();
	work(3);
}

static void nap(void)
{
	work(1);
	CHECK_EQ(thread_sleep_until(START + 2), THREAD_OK);
	work(3);
}

/* ---- Turns -------------------------------------------------------------------------------------------------------------- */

static void test_turns(void)
{
	scene_begin("two", scene_two(90, 100));
	scene_prepare(high_2);
	scene_actor('a', &high, 0, 0, work_4);
	scene_actor('b', &high, 0, 0, work_3);
	scene_actor('c', &low, 0, 0, work_1);
	scene_expect("aabbaabc.");
	CHECK_EQ(high.vcpu.given, 7);
	scene_begin("three, of two levels", scene_two(90, 100));
	scene_prepare(high_2);
	scene_actor('a', &high, 1, 0, work_3);
	scene_actor('b', &high, 1, 0, work_3);
	scene_actor('c', &high, 2, 0, work_3);
	scene_expect("aabbabccc.");
	scene_begin("only the VCPU that has one", scene_two(90, 100));
	scene_prepare(low_3);
	scene_actor('a', &high, 0, 0, work_4);
	scene_actor('b', &high, 0, 0, work_1);
	scene_actor('c', &low, 0, 0, work_4);
	scene_actor('d', &low, 0, 0, work_1);
	scene_expect("aaaabcccdc.");
	scene_begin("on no budget", (struct plan){ .high = { 1, 100 } });
	scene_prepare(high_2);
	scene_actor('a', &high, 0, 0, work_4);
	scene_actor('b', &high, 0, 0, work_3);
	scene_expect("aabbaab.");
}

static void test_ends(void)
{
	scene_begin("a yield ends a turn", scene_two(90, 100));
	scene_prepare(high_3);
	scene_actor('a', &high, 0, 0, work_1_and_yield);
	scene_actor('b', &high, 0, 0, work_4);
	scene_expect("abbbaaab.");
	scene_begin("a sleep ends a turn", scene_two(90, 100));
	scene_prepare(high_2);
	scene_actor('a', &high, 0, 0, nap);
	scene_actor('b', &high, 0, 2, work_3);
	scene_expect("a.bbaaba.");
	scene_begin("who is alone has had his slice when another comes", scene_two(90, 100));
	scene_prepare(high_2);
	scene_actor('a', &high, 0, 0, work_4);
	scene_actor('b', &high, 0, 3, work_3);
	scene_expect("aaabbab.");
}

static unsigned expiries;

static void count(void)
{
	expiries++;
}

static void test_alone(void)
{
	scene_begin("nobody is interrupted for himself", scene_two(90, 100));
	scene_prepare(high_2);
	expiries = 0;
	fake_core.expiring = count;
	scene_actor('a', &high, 0, 0, work_always);
	scene_actor('b', &high, 1, 0, work_1);
	scene_expect("aaaaaaaaaa");
	CHECK_EQ(expiries, 1); /* its start */
}

/* ---- What only interrupts a turn ------------------------------------------------------------------------------------------ */

static void test_interrupted(void)
{
	scene_begin("by a level", scene_two(90, 100));
	scene_prepare(high_3);
	scene_actor('a', &high, 1, 0, work_4);
	scene_actor('b', &high, 1, 0, work_4);
	scene_actor('h', &high, 0, 1, work_1);
	scene_expect("ahaabbbab.");
	scene_begin("by another VCPU", scene_two(90, 100));
	scene_prepare(low_3);
	scene_actor('a', &low, 1, 0, work_4);
	scene_actor('b', &low, 1, 0, work_4);
	scene_actor('h', &high, 0, 1, work_3);
	scene_expect("ahhhaabbbab.");
	scene_begin("by the end of a budget", (struct plan){ .high = { 2, 10 }, .foreground_only = true });
	scene_prepare(high_3);
	scene_actor('a', &high, 1, 0, work_4);
	scene_actor('b', &high, 1, 0, work_4);
	scene_expect("aa........ab........bb........ab");
}

static struct mutex mutex;

static void hold(void)
{
	CHECK_EQ(mutex_lock(&mutex), THREAD_OK);
	work(7);
	CHECK_EQ(mutex_unlock(&mutex), THREAD_OK);
	work(1);
}

static void want(void)
{
	CHECK_EQ(mutex_lock(&mutex), THREAD_OK);
	work(1);
	CHECK_EQ(mutex_unlock(&mutex), THREAD_OK);
}

/* h has had four ticks in the places of w, two at a time, when it has run for seven. */
static void test_donated(void)
{
	memset(&mutex, 0, sizeof(mutex));
	scene_begin("a turn in another's place", scene_two(90, 100));
	scene_prepare(high_2);
	scene_actor('h', &low, 0, 0, hold);
	scene_actor('w', &high, 0, 1, want);
	scene_actor('x', &high, 0, 1, work_4);
	scene_expect("hhhxxhhxxhhwh.");
	CHECK_EQ(low.vcpu.given, 2);
}

/* ---- Who pays ----------------------------------------------------------------------------------------------------------- */

/* An interrupt takes a tick, that of their start, too. */
static void test_paid(void)
{
	scene_begin("the VCPU pays", scene_two(90, 100));
	scene_prepare(high_3);
	scene_actor('a', &high, 0, 0, work_always);
	scene_actor('b', &high, 0, 0, work_always);
	fake_core.after = 1;
	scene_expect("^aaa^bbb^aaa^bb");
	CHECK_EQ(high.vcpu.given + high.vcpu.owed, 13);
}

static void sleep_till_4(void)
{
	CHECK_EQ(thread_sleep_until(START + 4), THREAD_OK);
}

static void work_on_and_on(void)
{
	work(1);
	fake_core.before = 2;
	fake_core.after = 3;
	work_always();
}

/* At 4 a slice ends that began at 1, and somebody's sleep: he pays for the 2 ticks before he is woken. */
static void test_paid_together(void)
{
	scene_begin("each pays for his own", (struct plan){ .high = { 90, 100 }, .middle = { 90, 200 }, .low = { 900, 1000 } });
	scene_prepare(high_3);
	scene_actor('s', &middle, 0, 0, sleep_till_4);
	scene_actor('a', &high, 0, 1, work_on_and_on);
	scene_actor('b', &high, 0, 1, work_always);
	scene_expect(".aaa^^^^^bb");
	CHECK_EQ(middle.vcpu.owed, 2);
	CHECK_EQ(high.vcpu.given + high.vcpu.owed, 3 + 3);
}

/* ---- Beginning anew ------------------------------------------------------------------------------------------------------- */

static void leave_and_return(void)
{
	work(2);
	CHECK_EQ(thread_move(thread_running(), &low), THREAD_OK);
	work(1);
	CHECK_EQ(thread_move(thread_running(), &high), THREAD_OK);
	work(3);
}

static void nothing(void) {}

/* At 1 the slice is looked at. */
static void high_3_interrupted(void)
{
	high_3();
	fake_interrupt_at(START + 1, nothing);
}

static struct thread_vcpu far;

static void make_far(void)
{
	CHECK_EQ(thread_begin(), THREAD_OK);
	CHECK_EQ(thread_make_vcpu(&far, "far", 50, 100), THREAD_OK);
	fake_go_to_core(0, NULL);
}

static void prepare_far(void)
{
	high_3();
	fake_go_to_core(1, make_far);
}

/* The other core has it, and has counted a tick. */
static void count_elsewhere(void)
{
	actors[0].thread.ran = 1;
}

static void go_far(void)
{
	work(1);
	fake_core.sent = count_elsewhere;
	CHECK_EQ(thread_move(thread_running(), &far), THREAD_OK);
}

static void look_after(void)
{
	work(1);
	CHECK_EQ(actors[0].thread.ran, 1);
}

static void restart_0(void)
{
	CHECK_EQ(thread_restart(&actors[0].thread), THREAD_OK);
}

static void restart_0_at_2(void)
{
	high_3();
	fake_interrupt_at(START + 2, restart_0);
}

static void test_anew(void)
{
	scene_begin("moved away and back", scene_two(90, 100));
	scene_prepare(high_3_interrupted);
	scene_actor('a', &high, 0, 0, leave_and_return);
	scene_actor('b', &high, 0, 4, work_3);
	scene_expect("aaaaaabbb.");
	scene_begin("counted on another core", scene_two(90, 100));
	scene_prepare(prepare_far);
	scene_actor('a', &high, 0, 0, go_far);
	scene_actor('b', &high, 0, 0, look_after);
	scene_expect("ab.");
	scene_begin("begun again", scene_two(90, 100));
	scene_prepare(restart_0_at_2);
	scene_actor('a', &high, 0, 0, work_4);
	scene_actor('b', &high, 0, 3, work_3);
	scene_expect("aaaaabbba.");
}

/* ---- Setting ------------------------------------------------------------------------------------------------------------ */

static void end_slices(void)
{
	work(1);
	set(&high, 0);
	set(&low, 2);
	work(3);
}

static void set_while_it_runs(void)
{
	work(3);
	set(&high, 2);
	work(3);
}

static void high_6_looked_at_3(void)
{
	set(&high, 6);
	fake_interrupt_at(START + 3, nothing);
}

static void set_in_the_middle(void)
{
	work(4);
	set(&high, 2);
	work(3);
}

static void refuse(void)
{
	static struct thread_vcpu elsewhere = { .core = 1 };
	uint64_t least;

	high_2();
	clock_init(10 * SCENE_HZ);
	least = clock_from_ns(BH_VCPU_SWITCH_NS);
	CHECK(least > 2);
	CHECK_EQ(thread_set_slice(&high, least - 1), THREAD_E_INVALID);
	CHECK_EQ(thread_set_slice(&high, SPORADIC_MOST_TICKS + 1), THREAD_E_INVALID);
	CHECK_EQ(thread_set_slice(&elsewhere, 100), THREAD_E_INVALID);
	CHECK_EQ(high.slice, 2);
	CHECK_EQ(elsewhere.slice, 0);
	CHECK_EQ(thread_set_slice(&high, least), THREAD_OK);
	CHECK_EQ(thread_set_slice(&high, 0), THREAD_OK);
	clock_init(SCENE_HZ);
}

static void test_setting(void)
{
	scene_begin("no more", scene_two(90, 100));
	scene_prepare(high_2);
	scene_actor('a', &high, 0, 0, end_slices);
	scene_actor('b', &high, 0, 0, work_3);
	scene_actor('c', &low, 0, 0, work_3);
	scene_actor('d', &low, 0, 0, work_1);
	scene_expect("aaaabbbccdc.");
	scene_begin("from now on", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, set_while_it_runs);
	scene_actor('b', &high, 0, 0, work_3);
	scene_expect("aaaaabbab.");
	scene_begin("from now on, also in the middle of one", scene_two(90, 100));
	scene_prepare(high_6_looked_at_3);
	scene_actor('a', &high, 0, 0, set_in_the_middle);
	scene_actor('b', &high, 0, 0, work_3);
	scene_expect("aaaaaabba");
	scene_begin("refused", scene_two(90, 100));
	scene_prepare(refuse);
	scene_actor('a', &high, 0, 0, work_3);
	scene_actor('b', &high, 0, 0, work_3);
	scene_expect("aaabbb.");
}

int main(void)
{
	test_turns();
	test_ends();
	test_alone();
	test_interrupted();
	test_donated();
	test_paid();
	test_paid_together();
	test_anew();
	test_setting();
	return 0;
}
