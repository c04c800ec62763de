/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks between monitors (BH-I8.bounded): hal/lock.c. One core at a time; a core that waits has the lock after each other core has had it
 * once; and a core whose monitor trapped at any point of either function keeps nobody from it (BH-I6.contained).
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>

#include "check.h"
#include "fake_arch.h"
#include "hal/lock.h"

enum { CORES = 3, ROUNDS = 20000, SELF = 1 << 7, OTHER = 1 << 9, LAST = 1u << (BH_MAX_CORES - 1) };

static struct hal_lock lock;
static jmp_buf trapped;

static void check_is(uint32_t wanted, uint32_t holder)
{
	CHECK_EQ(lock.wanted, wanted);
	CHECK_EQ(lock.holder, holder);
}

static void test_turns(void)
{
	static const uint32_t order[] = { SELF, OTHER, LAST, 1, 1 << 6, 0 };
	uint32_t left = 0;

	check_context.subject = "turns";
	for (unsigned n = 0; order[n]; n++)
		left |= order[n];
	lock = (struct hal_lock){ .wanted = left, .holder = SELF };
	for (unsigned n = 0; order[n]; n++) {
		check_is(left, order[n]);
		hal_lock_take(&lock, order[n]); /* its turn: waits no longer */
		hal_lock_give(&lock, order[n]);
		left &= ~order[n];
	}
	check_is(0, 0);
}

static void trap(void)
{
	longjmp(trapped, 1);
}

static void pass_on(void)
{
	fake_arch.on_relax = NULL;
	check_is(SELF | OTHER, OTHER);
	hal_lock_give(&lock, OTHER);
}

/* Each state of the two words between the instructions of take and give. */
static void test_trap(void)
{
	static const struct hal_lock states[] = {
		{ .wanted = 0, .holder = 0 },               /* before, or after both */
		{ .wanted = SELF, .holder = 0 },            /* asked */
		{ .wanted = SELF, .holder = SELF },         /* holds it */
		{ .wanted = 0, .holder = SELF },            /* gives it, to nobody */
		{ .wanted = OTHER, .holder = SELF },        /* gives it to another */
		{ .wanted = SELF | OTHER, .holder = SELF }, /* holds it, another waits */
	};

	check_context.subject = "a trap between two instructions";
	for (unsigned n = 0; n < sizeof(states) / sizeof(states[0]); n++) {
		uint32_t others = states[n].wanted & ~(uint32_t)SELF;

		check_context.round = n;
		lock = states[n];
		hal_lock_leave(&lock, SELF);
		check_is(others, others);
	}

	check_context.subject = "a trap while it waits";
	lock = (struct hal_lock){ .wanted = OTHER, .holder = OTHER };
	fake_arch.on_relax = trap;
	if (!setjmp(trapped))
		hal_lock_take(&lock, SELF);
	check_is(SELF | OTHER, OTHER);
	fake_arch.on_relax = pass_on;
	hal_lock_leave(&lock, SELF);
	CHECK(!fake_arch.on_relax);
	check_is(0, 0);

	check_context.subject = "a trap elsewhere";
	lock = (struct hal_lock){ .wanted = OTHER, .holder = OTHER };
	fake_arch.on_relax = trap;
	CHECK(!setjmp(trapped));
	hal_lock_leave(&lock, SELF);
	check_is(OTHER, OTHER);
}

static uint64_t count;

static void yield(void)
{
	sched_yield();
}

static void *take_turns(void *core)
{
	uint32_t self = hal_lock_bit((uint32_t)(uintptr_t)core);

	for (unsigned n = 0; n < ROUNDS; n++) {
		hal_lock_take(&lock, self);
		__atomic_store_n(&count, __atomic_load_n(&count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED); /* two steps on purpose */
		hal_lock_give(&lock, self);
	}
	return NULL;
}

static void test_at_once(void)
{
	pthread_t threads[CORES];

	check_context.subject = "cores at once";
	lock = (struct hal_lock){ 0 };
	fake_arch.on_relax = yield;
	for (uintptr_t core = 0; core < CORES; core++)
		CHECK(!pthread_create(&threads[core], NULL, take_turns, (void *)core));
	for (unsigned core = 0; core < CORES; core++)
		CHECK(!pthread_join(threads[core], NULL));
	CHECK_EQ(count, CORES * ROUNDS);
	check_is(0, 0);
}

int main(void)
{
	test_turns();
	test_trap();
	test_at_once();
	return 0;
}
