/* SPDX-License-Identifier: Apache-2.0 */
/* What threads and VCPUs cost (sched.h). */
#include "probe/sched.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/stacks.h"
#include "kernel/core/sync.h"
#include "kernel/core/thread.h"
#include "kernel/sched/sched.h"

enum { SAMPLES = 200, WARM_UP = 20, ROUNDS = WARM_UP + SAMPLES, LEVEL_HIGH = 0, LEVEL_LOW = 1 };
#define LONG_NS 50000000ULL
enum { SHORT_NS = 1000000, SHORT_BUDGET_NS = 100000, APART_NS = 30000 };

static uint64_t sample[SAMPLES];
static unsigned rounds; /* what was noted, the first of them dropped */
static uint64_t from;   /* the counter at the near end */

static void sort(void)
{
	for (unsigned i = 1; i < SAMPLES; i++) {
		uint64_t value = sample[i];
		unsigned at = i;

		for (; at && sample[at - 1] > value; at--)
			sample[at] = sample[at - 1];
		sample[at] = value;
	}
}

static void say(const char *what)
{
	sort();
	console_say("sched %s min %ju median %ju max %ju", what, sample[0], sample[SAMPLES / 2], sample[SAMPLES - 1]);
	rounds = 0;
}

static void note(uint64_t until)
{
	if (rounds >= WARM_UP && rounds < ROUNDS)
		sample[rounds - WARM_UP] = until - from;
	rounds++;
}

static bool done(void)
{
	return rounds >= ROUNDS;
}

/* ---- Who takes part ------------------------------------------------------------------------------------------------- */

/* By rank: urgent and spent, usual, the main program, late, latest. `spent` has little budget. On `usual`, `high` comes before `low` and
 * `other`. */
static struct thread_vcpu usual, urgent, spent, late, latest;
enum { LOW, OTHER, HIGH, URGENT, SPENT, LATE, LATEST, WORKERS };
static struct semaphore begin[WORKERS], finished;
static struct thread worker[WORKERS];
static void (*work[WORKERS])(void);

static void live(void *argument)
{
	unsigned self = (unsigned)(uintptr_t)argument;

	for (;;) {
		if (semaphore_take(&begin[self], TIMER_NEVER) != THREAD_OK)
			return;
		work[self]();
		semaphore_give(&finished);
	}
}

static bool make(unsigned self, struct thread_vcpu *on, unsigned level)
{
	return thread_make(&worker[self], on, "worker", level, stacks_take(), live, (void *)(uintptr_t)self) == THREAD_OK;
}

static bool make_all(void)
{
	static bool made;

	if (made)
		return true;
	made = thread_begin() == THREAD_OK &&
	       thread_make_vcpu(&usual, "usual", clock_from_ns(LONG_NS - 1000), clock_from_ns(LONG_NS)) == THREAD_OK &&
	       thread_make_vcpu(&urgent, "urgent", clock_from_ns(SHORT_NS - 1000), clock_from_ns(SHORT_NS)) == THREAD_OK &&
	       thread_make_vcpu(&spent, "spent", clock_from_ns(SHORT_BUDGET_NS), clock_from_ns(SHORT_NS)) == THREAD_OK &&
	       thread_make_vcpu(&late, "late", clock_from_ns(LONG_NS), clock_from_ns(10 * LONG_NS)) == THREAD_OK &&
	       thread_make_vcpu(&latest, "latest", clock_from_ns(LONG_NS), clock_from_ns(20 * LONG_NS)) == THREAD_OK &&
	       make(LOW, &usual, LEVEL_LOW) && make(OTHER, &usual, LEVEL_LOW) && make(HIGH, &usual, LEVEL_HIGH) &&
	       make(URGENT, &urgent, LEVEL_LOW) && make(SPENT, &spent, LEVEL_LOW) && make(LATE, &late, LEVEL_LOW) &&
	       make(LATEST, &latest, LEVEL_LOW);
	return made;
}

/* The one that is named first begins; the second waits for it, or comes before it. */
static void together(unsigned first, void (*first_work)(void), unsigned second, void (*second_work)(void), const char *what)
{
	work[first] = first_work;
	work[second] = second_work;
	from = 0;
	semaphore_give(&begin[second]);
	semaphore_give(&begin[first]);
	for (unsigned n = 0; n < 2; n++)
		if (semaphore_take(&finished, TIMER_NEVER) != THREAD_OK)
			return;
	say(what);
}

/* ---- Within one VCPU ------------------------------------------------------------------------------------------------ */

static struct semaphore ping, pong;

/* Both are there before the first yield. */
static void yield_often(void)
{
	for (unsigned n = 0; n < ROUNDS; n++) {
		from = arch_counter();
		thread_yield();
		note(arch_counter());
	}
}

static void yield_when_told(void)
{
	if (semaphore_take(&ping, TIMER_NEVER) == THREAD_OK)
		yield_often();
}

static void tell_and_yield(void)
{
	semaphore_give(&ping);
	yield_often();
}

static void give_often(void)
{
	while (!done()) {
		from = arch_counter();
		semaphore_give(&ping);
	}
}

static void take_often(void)
{
	while (!done())
		if (semaphore_take(&ping, TIMER_NEVER) == THREAD_OK)
			note(arch_counter());
}

static void give_and_note(void)
{
	while (!done()) {
		from = arch_counter();
		semaphore_give(&ping);
		note(arch_counter());
	}
	semaphore_give(&ping);
}

static void take_alone(void)
{
	while (!done())
		if (semaphore_take(&ping, TIMER_NEVER) != THREAD_OK)
			return;
}

static void ping_first(void)
{
	while (!done()) {
		from = arch_counter();
		semaphore_give(&ping);
		if (semaphore_take(&pong, TIMER_NEVER) == THREAD_OK)
			note(arch_counter());
	}
	semaphore_give(&ping);
}

static void pong_back(void)
{
	while (!done())
		if (semaphore_take(&ping, TIMER_NEVER) == THREAD_OK)
			semaphore_give(&pong);
}

static struct mutex mutex;

static void lock_often(void)
{
	while (!done()) {
		from = arch_counter();
		if (mutex_lock(&mutex) == THREAD_OK)
			mutex_unlock(&mutex);
		note(arch_counter());
	}
}

static void give_and_take_often(void)
{
	while (!done()) {
		from = arch_counter();
		semaphore_give(&pong);
		if (semaphore_take(&pong, 0) == THREAD_OK)
			note(arch_counter());
	}
}

static void nothing(void) {}

/* ---- Messages and calls --------------------------------------------------------------------------------------------- */

static uint64_t there_ring[8], back_ring[8];
static struct queue there = { .ring = there_ring, .words = 2, .room = 4 }, back = { .ring = back_ring, .words = 2, .room = 4 };

static void send_first(void)
{
	uint64_t message[2] = { 1, 2 };

	while (!done()) {
		from = arch_counter();
		if (queue_send(&there, message, TIMER_NEVER) == THREAD_OK && queue_receive(&back, message, TIMER_NEVER) == THREAD_OK)
			note(arch_counter());
	}
	(void)!queue_send(&there, message, TIMER_NEVER);
}

static void send_back(void)
{
	uint64_t message[2];

	while (!done())
		if (queue_receive(&there, message, TIMER_NEVER) != THREAD_OK || queue_send(&back, message, TIMER_NEVER) != THREAD_OK)
			return;
}

static struct port port;
static struct thread server;

static void serve(void *argument)
{
	uint64_t *message;

	while ((message = port_reply_and_receive(&port)))
		message[0]++;
}

static void call_often(void)
{
	uint64_t message[2] = { 0, 0 };

	while (!done()) {
		from = arch_counter();
		if (port_call(&port, message) == THREAD_OK)
			note(arch_counter());
	}
}

/* ---- Time ----------------------------------------------------------------------------------------------------------- */

static void sleep_often(void)
{
	while (!done()) {
		from = arch_counter() + clock_from_ns(APART_NS);
		if (thread_sleep_until(from) == THREAD_OK)
			note(arch_counter());
	}
}

static void spin(void)
{
	while (!__atomic_load_n(&rounds, __ATOMIC_RELAXED) || !done())
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static volatile uint64_t last[2]; /* read by the one with little budget, and by who runs after it */

/* What the other one read last: if it was after our own last read, we had not run since. Who was stopped between the two reads notes it
 * in the next round: a round that always stops at the same place would be lost each time. */
static void follow(volatile uint64_t *own, const volatile uint64_t *other)
{
	while (!done()) {
		uint64_t now = arch_counter(), theirs = *other;

		if (theirs > *own && theirs < now) {
			from = theirs;
			note(now);
		}
		*own = now;
	}
}

static void spend(void)
{
	follow(&last[0], &last[1]);
}

static void look_on(void)
{
	while (!done())
		last[1] = arch_counter();
}

static void spend_quietly(void)
{
	while (!done())
		last[0] = arch_counter();
}

static void come_after(void)
{
	follow(&last[1], &last[0]);
}

/* ---- Making, and deciding -------------------------------------------------------------------------------------------- */

static void exit_at_once(void *argument) {}

static void release(void)
{
	while (!done())
		semaphore_give(&ping);
}

/* After who makes it, on a stack that lies there. `helper` comes after each: when it runs, the thread has ended, and its stack is free.
 * It is no sleep that waits for that: the timer's interrupt would be charged to who sleeps. */
static void measure_making(unsigned helper, uintptr_t stack, const char *what)
{
	static struct thread made[ROUNDS];

	work[helper] = release;
	semaphore_give(&begin[helper]);
	for (unsigned n = 0; n < ROUNDS && semaphore_take(&ping, TIMER_NEVER) == THREAD_OK; n++) {
		from = arch_counter();
		if (thread_make(&made[n], &late, "made", LEVEL_HIGH, stack, exit_at_once, NULL) == THREAD_OK)
			note(arch_counter());
	}
	if (semaphore_take(&finished, TIMER_NEVER) == THREAD_OK)
		say(what);
}

/* On a VCPU that has a thread that is ready, and on one that sleeps. */
static void measure_both_makings(void)
{
	uintptr_t stack = stacks_take();

	if (!stack)
		return;
	measure_making(LATE, stack, "make");
	measure_making(LATEST, stack, "make-first");
}

enum { MOST_VCPUS = 1024, WORD_FRAMES = sizeof(uint64_t) * 4 * MOST_VCPUS / FRAME_BYTES };
enum { POINTER_FRAMES = sizeof(uint64_t) * MOST_VCPUS / FRAME_BYTES, VCPU_FRAMES = sizeof(struct vcpu) * MOST_VCPUS / FRAME_BYTES };

enum { BUDGET = 10, STEP = 7, SETTLED_PERIODS = 3 };

/* A scheduler of its own, all of its VCPUs ready. Before the first sample each has used its budget up and has had it back: otherwise of
 * many only a few would have run, and no replenishment would come. */
static void measure_decisions(unsigned count, const char *what)
{
	uint64_t words = frames_take_run(WORD_FRAMES, 1, FRAME_PROGRAM);
	uint64_t pointers = frames_take_run(POINTER_FRAMES, 1, FRAME_PROGRAM);
	uint64_t vcpus = frames_take_run(VCPU_FRAMES, 1, FRAME_PROGRAM);
	struct vcpu *all = (struct vcpu *)(uintptr_t)vcpus;
	struct sched core;
	uint64_t longest = 12ULL * count, now = 0;
	unsigned leaves = 1;

	if (!words || !pointers || !vcpus)
		return;
	while (leaves < count)
		leaves *= 2;
	sched_init(&core, (uint64_t *)(uintptr_t)words, (struct vcpu **)(uintptr_t)pointers, leaves, 0);
	for (unsigned n = 0; n < count; n++) {
		(void)!sched_add_main(&core, &all[n], BUDGET, 11ULL * count + n, SPORADIC_MOST_ENTRIES, 0);
		sched_ready(&core, &all[n], 0);
	}
	cpu_interrupts_disable();
	for (; now < SETTLED_PERIODS * longest; now += STEP)
		sched_decide(&core, now);
	for (; !done(); now += STEP) {
		from = arch_counter();
		sched_decide(&core, now);
		timer_limit(from + 1000000000 + now);
		note(arch_counter());
	}
	timer_limit(TIMER_NEVER);
	cpu_interrupts_enable();
	say(what);
	frames_give(words, WORD_FRAMES, FRAME_PROGRAM);
	frames_give(pointers, POINTER_FRAMES, FRAME_PROGRAM);
	frames_give(vcpus, VCPU_FRAMES, FRAME_PROGRAM);
}

void sched_measure(void)
{
	heartbeat_start(0);
	if (!make_all() || thread_make(&server, NULL, "server", 0, stacks_take(), serve, NULL) != THREAD_OK) {
		console_say("sched: no memory");
		return;
	}
	port.server.thread = &server;
	together(LOW, yield_often, OTHER, nothing, "yield-alone");
	together(LOW, tell_and_yield, OTHER, yield_when_told, "yield");
	together(LOW, give_often, HIGH, take_often, "wake-higher");
	together(LOW, give_and_note, HIGH, take_alone, "wake-higher-and-back");
	together(LOW, ping_first, OTHER, pong_back, "ping-pong");
	together(LOW, give_often, URGENT, take_often, "wake-vcpu");
	together(LOW, give_and_note, URGENT, take_alone, "wake-vcpu-and-back");
	together(LOW, lock_often, OTHER, nothing, "lock-unlock");
	together(LOW, give_and_take_often, OTHER, nothing, "give-take");
	together(LOW, send_first, OTHER, send_back, "queue-round-trip");
	together(LOW, call_often, OTHER, nothing, "call-reply");
	together(LOW, spin, HIGH, sleep_often, "expiry-busy");
	together(LOW, nothing, HIGH, sleep_often, "expiry-idle");
	together(LOW, come_after, SPENT, spend_quietly, "budget-end");
	together(LOW, look_on, SPENT, spend, "refill");
	measure_both_makings();
	measure_decisions(1, "decision-1");
	measure_decisions(24, "decision-24");
	measure_decisions(1000, "decision-1000");
	console_say("sched done");
}
