/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Threads that are moved to other VCPUs, of their core and of another one, scene by scene: where they run, who is charged,
 * what they keep, and what is refused. kernel/core/thread_move.c
 */
#include "kernel/core/thread_move.h"

#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/stacks.h"
#include "kernel/core/sync.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/trace.h"
#include "thread_scene.h"

static struct thread *self(void)
{
	return thread_running();
}

static struct thread *nth(unsigned n)
{
	return &actors[n].thread;
}

static void move(struct thread *thread, struct thread_vcpu *on)
{
	CHECK_EQ(thread_move(thread, on), THREAD_OK);
	CHECK(fake_cpu.enabled);
}

/* ---- Within a core ------------------------------------------------------------------------------------------------------ */

static void work_move_work(void)
{
	work(2);
	move(self(), &low);
	CHECK(self()->on == &low);
	work(2);
}

static void rise(void)
{
	work(1);
	move(self(), &high);
	work(2);
}

static void move_0_low(void)
{
	work(1);
	move(nth(0), &low);
	work(2);
}

static void move_0_high(void)
{
	work(1);
	move(nth(0), &high);
	work(2);
}

static void sleep_then_work(void)
{
	CHECK_EQ(thread_sleep_until(START + 5), THREAD_OK);
	CHECK_EQ(scene_time(), 5);
	work(2);
}

static void stay(void)
{
	work(1);
	move(self(), &high);
	work(2);
}

static void test_own(void)
{
	scene_begin("the caller sinks", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, work_move_work);
	scene_actor('b', &high, 0, 0, work_3);
	scene_actor('c', &low, 0, 1, work_3);
	scene_expect("aabbbcccaa.");
	CHECK_EQ(high.vcpu.given, 5);
	CHECK_EQ(low.vcpu.given, 5);
	scene_begin("the caller rises, and its VCPU is idle", scene_two(90, 100));
	scene_actor('a', &low, 0, 0, rise);
	scene_actor('b', &middle, 0, 0, work_1);
	actors[1].on = &high;
	scene_expect("baaa..");
	CHECK_EQ(high.vcpu.given, 3);
	CHECK_EQ(low.vcpu.given, 1);
	CHECK(!low.vcpu.ready && !low.levels);
	scene_begin("the caller stays", scene_two(90, 100));
	scene_actor('a', &high, 0, 0, stay);
	scene_actor('b', &high, 0, 0, work_1);
	scene_expect("aaab.");
	scene_begin("levels are kept", scene_two(90, 100));
	scene_actor('a', &high, 2, 0, work_move_work);
	scene_actor('b', &low, 3, 0, work_3);
	scene_actor('c', &low, 1, 3, work_1);
	scene_expect("aaacabbb.");
}

static void test_others(void)
{
	scene_begin("another that is ready sinks", scene_two(90, 100));
	scene_actor('a', &high, 1, 0, work_3);
	scene_actor('b', &high, 0, 0, move_0_low);
	scene_actor('c', &low, 1, 0, work_1);
	scene_expect("bbbcaaa.");
	CHECK_EQ(high.vcpu.given, 3);
	scene_begin("another that is ready rises, and runs", scene_two(90, 100));
	scene_actor('a', &low, 1, 0, work_3);
	scene_actor('b', &low, 0, 0, move_0_high);
	scene_expect("baaabb.");
	CHECK_EQ(high.vcpu.given, 3);
	scene_begin("another that sleeps sleeps on", scene_two(90, 100));
	scene_actor('a', &low, 1, 0, sleep_then_work);
	scene_actor('b', &low, 0, 1, move_0_high);
	scene_actor('c', &low, 0, 4, work_3);
	scene_expect(".bbbcaacc.");
	CHECK_EQ(high.vcpu.given, 2);
}

/* ---- To another core ---------------------------------------------------------------------------------------------------- */

static struct thread_vcpu far, far_low, far_quick;
static void (*far_away)(void); /* what the other core's main program does when it has VCPUs */

static void make_far(void)
{
	CHECK_EQ(thread_begin(), THREAD_OK);
	CHECK_EQ(thread_make_vcpu(&far, "far", 50, 100), THREAD_OK);
	CHECK_EQ(thread_make_vcpu(&far_low, "far low", 500, 1000), THREAD_OK);
	CHECK_EQ(thread_make_vcpu(&far_quick, "far quick", 4, 4), THREAD_OK);
	CHECK(far.core == 1 && high.core == 0);
	CHECK(trace_state.vcpu[far.row].slot == 1 && trace_state.core[1].charged != trace_state.core[0].charged);
	fake_go_to_core(0, NULL);
	far_away();
	for (;;)
		fake_go_to_core(0, NULL);
}

static void prepare_far(void)
{
	fake_go_to_core(1, make_far);
}

static void scene_of_two(const char *name, void (*far_main)(void))
{
	scene_begin(name, scene_two(90, 100));
	far_away = far_main;
	scene_prepare(prepare_far);
}

static void nothing(void) {}

static void go_far(void)
{
	work(2);
	move(self(), &far);
	CHECK_EQ(fake_cpu.slot, 1);
	CHECK(self()->on == &far && thread_running() == nth(0));
	work(2);
	fake_go_to_core(0, NULL);
	CHECK_EQ(fake_cpu.slot, 1);
	move(self(), &low);
	CHECK_EQ(fake_cpu.slot, 0);
	work(2);
}

/* Nobody has it in between, and it is not on the stack that it left. */
static void look_and_go(void)
{
	work(1);
	CHECK_EQ(thread_stop(nth(0)), THREAD_E_INVALID);
	CHECK_EQ(thread_move(nth(0), &low), THREAD_E_INVALID);
	CHECK(thread_state(nth(0)) == THREAD_IS_READY);
	CHECK(high.levels == 0 && far.levels == 0);
	fake_go_to_core(1, NULL);
	CHECK_EQ(thread_stop(nth(0)), THREAD_E_INVALID);
	CHECK_EQ(high.vcpu.given, 2);
	CHECK_EQ(far.vcpu.given, 0);
	work(1);
	fake_go_to_core(1, NULL);
	work(1);
}

static void stop_what_is_not_here(void)
{
	CHECK_EQ(thread_stop(nth(0)), THREAD_E_INVALID);
	work(1);
	CHECK_EQ(far.vcpu.given, 3); /* with a tick that passed while the other core was played */
}

static void test_self_far(void)
{
	scene_of_two("the caller goes to another core and comes back", stop_what_is_not_here);
	scene_actor('a', &high, 0, 0, go_far);
	scene_actor('b', &low, 0, 0, look_and_go);
	scene_expect("aabaabmbaa");
	CHECK_EQ(low.vcpu.given, 8);
}

static void send_0(void)
{
	work(1);
	move(nth(0), &far);
	CHECK(!far.levels && !far.vcpu.ready && !nth(0)->timeout.waits);
	work(1);
	fake_go_to_core(1, NULL);
	work(2);
}

static void far_work(void)
{
	CHECK_EQ(fake_cpu.slot, 1);
	CHECK(!self()->timeout.waits);
	work(2);
	fake_go_to_core(0, NULL);
}

static void far_sleep(void)
{
	CHECK_EQ(thread_sleep_until(START + 4), THREAD_OK);
	CHECK_EQ(scene_time(), 4);
	far_work();
}

static void two_ticks(void)
{
	work(2);
}

static void give_back(void) {}

static void stay_here(void)
{
	thread_at_end(give_back);
	CHECK_EQ(thread_move(self(), &far), THREAD_E_BOUND);
	move(self(), &low);
	work(1);
	thread_at_end(NULL);
	move(self(), &far);
	work(1);
	fake_stop();
}

static void go_to_it(void)
{
	fake_go_to_core(1, NULL);
}

static void test_kept(void)
{
	scene_of_two("who gives something back stays on its core", nothing);
	scene_actor('a', &high, 0, 0, stay_here);
	scene_actor('b', &low, 1, 0, go_to_it);
	scene_play(9);
	CHECK(strcmp(fake_core.log, "aa") == 0);
	CHECK(nth(0)->on == &far);
}

static void test_other_far(void)
{
	scene_of_two("another that is ready", nothing);
	scene_actor('a', &high, 1, 0, far_work);
	scene_actor('b', &high, 0, 0, send_0);
	scene_expect("bbaabb");
	CHECK_EQ(far.vcpu.given, 0); /* it runs yet */
	scene_of_two("another that sleeps", two_ticks);
	scene_actor('a', &high, 1, 0, far_sleep);
	scene_actor('b', &high, 0, 1, send_0);
	scene_expect(".bbmaabb");
	scene_of_two("another that should have woken on its way", two_ticks);
	scene_actor('a', &high, 1, 0, far_work);
	scene_actor('b', &high, 0, 0, send_0);
	actors[0].begins = 1;
	scene_expect("bbaabb");
}

static struct periodic beat;
static unsigned missed, missed_on;

static void miss(struct periodic *periodic)
{
	missed++;
	missed_on = fake_cpu.slot;
	if (missed == 2)
		thread_wake_main();
}

static void beat_far(void)
{
	CHECK_EQ(periodic_begin(&beat, 4), THREAD_OK);
	CHECK_EQ(periodic_watch(&beat, PERIODIC_NOTIFY, miss), THREAD_OK);
	CHECK_EQ(thread_move(self(), &low), THREAD_E_INVALID); /* whose period is longer */
	CHECK_EQ(thread_move(self(), &far), THREAD_E_INVALID);
	move(self(), &far_quick);
	work(9);
	CHECK_EQ(missed, 2);
	CHECK_EQ(missed_on, 1);
	fake_stop();
}

static void count_far(void)
{
	CHECK_EQ(periodic_begin(&beat, 40), THREAD_OK);
	CHECK_EQ(periodic_watch(&beat, PERIODIC_STOP, NULL), THREAD_OK);
	move(self(), &low); /* it is interrupted once */
	move(self(), &far);
	fake_stop();
}

static void go(void)
{
	CHECK(!beat.deadline.waits);
	fake_go_to_core(1, NULL);
	CHECK(!"comes back");
}

static void test_watched(void)
{
	missed = 0;
	scene_begin("deadlines go along", scene_two(4, 4));
	far_away = nothing;
	scene_prepare(prepare_far);
	scene_actor('a', &high, 1, 0, beat_far);
	scene_actor('b', &low, 0, 0, go);
	scene_play(20);
	CHECK_EQ(missed, 2);
	scene_of_two("deadlines of one that is told nothing of them", nothing);
	scene_actor('a', &high, 1, 0, count_far);
	scene_actor('b', &low, 2, 0, go_to_it);
	scene_play(20);
	CHECK(nth(0)->on == &far);
}

/* Two at once; each comes to its own VCPU, and owes its part of the interrupt: who was sent last comes first, and owes what was before. */
static void send_both(void)
{
	move(nth(0), &far);
	move(nth(1), &far_low);
	fake_core.before = 2;
	fake_core.after = 3;
	fake_go_to_core(1, NULL);
}

static void end_far(void)
{
	CHECK(self()->on == &far_low);
	CHECK_EQ(fake_ipis(), 2);
	CHECK_EQ(far.vcpu.given + far.vcpu.owed, 5);
	CHECK_EQ(far_low.vcpu.owed, 2);
	fake_core.before = fake_core.after = 0;
	CHECK_EQ(thread_stop(nth(0)), THREAD_E_ENDED);
	work(1);
	fake_stop();
}

static void test_two(void)
{
	scene_of_two("two at once", nothing);
	scene_actor('a', &high, 1, 0, two_ticks);
	scene_actor('b', &high, 1, 0, end_far);
	scene_actor('c', &high, 0, 0, send_both);
	scene_expect("^^^^^aab");
}

/* ---- What is refused ---------------------------------------------------------------------------------------------------- */

static struct semaphore never_given;
static struct mutex mutex;
static struct port port, odd;

static void wait_in_vain(void)
{
	(void)!semaphore_take(&never_given, START + 30);
	work(1);
}

static void toil(void)
{
	for (;;) {
		work(1);
		thread_yield();
	}
}

static void hold(void)
{
	CHECK_EQ(mutex_lock(&mutex), THREAD_OK);
	CHECK_EQ(thread_move(self(), &low), THREAD_E_BOUND);
	CHECK_EQ(thread_move(self(), &far), THREAD_E_BOUND);
	toil();
}

static void want(void)
{
	CHECK_EQ(mutex_lock(&mutex), THREAD_OK);
}

static void serve(void)
{
	CHECK(port_reply_and_receive(&port) == NULL);
	toil();
}

static void call(void)
{
	(void)!port_call(&port, NULL);
}

static void call_who_has_a_vcpu(void)
{
	CHECK_EQ(port_call(&odd, NULL), THREAD_E_INVALID);
}

static void refuse(struct thread *thread, enum thread_result result)
{
	const struct thread before = *thread;

	CHECK_EQ(thread_move(thread, &middle), result);
	CHECK_EQ(thread_move(thread, &far), result);
	CHECK(memcmp(&before, thread, sizeof(before)) == 0);
	CHECK(!middle.levels && !middle.vcpu.ready && fake_cpu.enabled);
}

static void in_a_handler(void)
{
	CHECK_EQ(thread_move(thread_running(), &middle), THREAD_E_INVALID);
	CHECK_EQ(thread_move(nth(0), &far), THREAD_E_INVALID);
}

/* w waits in a semaphore, x for h, which holds a mutex, c for s, v for ever; e has ended, and d has not been served by o, p is stopped. */
enum { W, H, X, S, C, E, P, V, O, D };

static void refuse_all(void)
{
	work(1);
	refuse(nth(W), THREAD_E_BOUND);
	refuse(nth(H), THREAD_E_BOUND);
	refuse(nth(X), THREAD_E_BOUND);
	refuse(nth(S), THREAD_E_INVALID);
	refuse(nth(C), THREAD_E_BOUND);
	refuse(nth(E), THREAD_E_ENDED);
	CHECK_EQ(thread_stop(nth(P)), THREAD_OK);
	refuse(nth(P), THREAD_E_ENDED);
	refuse(nth(V), THREAD_E_BOUND);
	CHECK_EQ(thread_move(self(), NULL), THREAD_E_INVALID);
	fake_interrupt_at(START + 7, in_a_handler);
	work(2);
}

static void sleep_for_ever(void)
{
	(void)!thread_sleep_until(TIMER_NEVER);
}

static void begin_refusals(void)
{
	memset(&never_given, 0, sizeof(never_given));
	memset(&mutex, 0, sizeof(mutex));
	port = (struct port){ .server.thread = nth(S) };
	odd = (struct port){ .server.thread = nth(O) };
	CHECK_EQ(thread_move(thread_running(), &low), THREAD_E_INVALID);
	CHECK_EQ(thread_move(thread_running(), &far), THREAD_E_INVALID);
	prepare_far();
}

static void test_refusals(void)
{
	scene_begin("refused", (struct plan){ .high = { 90, 100 }, .middle = { 90, 200 }, .low = { 900, 1000 } });
	far_away = nothing;
	scene_prepare(begin_refusals);
	scene_actor('w', &high, 1, 0, wait_in_vain);
	scene_actor('h', &high, 1, 0, hold);
	scene_actor('x', &high, 1, 0, want);
	scene_actor('s', NULL, 0, 0, serve);
	scene_actor('c', &high, 1, 0, call);
	scene_actor('e', &high, 1, 0, nothing);
	scene_actor('p', &high, 1, 40, nothing);
	scene_actor('v', &high, 1, 0, sleep_for_ever);
	scene_actor('o', &high, 1, 0, toil);
	scene_actor('d', &high, 1, 0, call_who_has_a_vcpu);
	scene_actor('r', &high, 0, 5, refuse_all);
	scene_expect("hhsohrrr");
}

static void move_before_threads(void)
{
	CHECK_EQ(thread_move(nth(0), &low), THREAD_E_INVALID);
}

static void test_no_threads(void)
{
	scene_begin("before there are threads", scene_two(1, 2));
	fake_run(move_before_threads, 10);
}

int main(void)
{
	test_own();
	test_others();
	test_self_far();
	test_other_far();
	test_kept();
	test_watched();
	test_two();
	test_refusals();
	test_no_threads();
	return 0;
}
