/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synchronization between threads of one core. Who waits for the same thing is served by urgency: the shortest period of its VCPU first,
 * then the lowest level, then who came first. Waiting costs the logarithm of how many wait.
 *
 * Donation. Who waits for a mutex, or for the answer of a call, has its holder, or its server, run in its place, on the budget of its own
 * VCPU (thread.h). If that budget ends inside, the holder goes on on the next budget there is: its own, another waiter's, or that one again
 * when it is replenished. Who holds a mutex or serves a call does not sleep or wait for anything else than a further mutex or call:
 * THREAD_E_HOLDS. That is what makes blocking bounded: once, by one critical section of each mutex (docs/admission.md).
 *
 * All zero: a semaphore of 0, a free mutex, an empty set of events. T: in a thread; H: in a handler, too. `deadline` is a time of
 * arch_counter(); TIMER_NEVER: wait for ever; 0: not at all.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/thread.h"

#define MUST_CHECK __attribute__((warn_unused_result))

/* ---- Semaphores --------------------------------------------------------------------------------------------------- */

struct semaphore {
	uint32_t count, most; /* most 0: no limit but that of 32 bits */
	struct heap waiting;
};

/* Lets the first that waits go on, or counts up. Returns THREAD_OK, or _E_FULL if it is at its limit. T, H */
enum thread_result semaphore_give(struct semaphore *semaphore);
/* The same of a handler, in fewer instructions: whether another thread comes first is looked at when that is over. H */
enum thread_result semaphore_give_in_handler(struct semaphore *semaphore);
/* Counts down, or waits. Returns THREAD_OK, _E_TIMEOUT or _E_HOLDS. T */
enum thread_result semaphore_take(struct semaphore *semaphore, uint64_t deadline) MUST_CHECK;

/* ---- Mutexes ---------------------------------------------------------------------------------------------------- */

struct mutex {
	struct thread_donee holder; /* first: what waiters stand behind */
	struct heap waiting;
	struct mutex *next_held; /* by the same thread */
	uint32_t abandoned;      /* how often a thread ended that held it */
};

/*
 * Takes the mutex, after its holder; whether what it protects is whole, if that ended, `abandoned` lets the caller ask. Returns THREAD_OK,
 * or _E_DEADLOCK if the caller would wait for itself; then it does not hold it. T
 */
enum thread_result mutex_lock(struct mutex *mutex) MUST_CHECK;
/* Hands it to the first that waits. Returns THREAD_OK, or _E_OWNER if the caller does not hold it. T */
enum thread_result mutex_unlock(struct mutex *mutex);

/* ---- Message queues ------------------------------------------------------------------------------------------------ */

/* Messages of `words` 64-bit words; `room` of them lie in `ring`. */
struct queue {
	uint64_t *ring;
	uint32_t words, room;
	uint32_t first, count;
	struct heap senders, receivers;
};

/* Copies a message in; waits while there is no room. Returns THREAD_OK, _E_TIMEOUT or _E_HOLDS. T; H with deadline 0 */
enum thread_result queue_send(struct queue *queue, const uint64_t *message, uint64_t deadline) MUST_CHECK;
/* Copies the oldest out; waits while there is none. Returns THREAD_OK, _E_TIMEOUT or _E_HOLDS. T; H with deadline 0 */
enum thread_result queue_receive(struct queue *queue, uint64_t *message, uint64_t deadline) MUST_CHECK;

/* ---- Events ----------------------------------------------------------------------------------------------------- */

/* Bits that handlers and threads set and one thread waits for. */
struct events {
	uint32_t set, wanted;
	bool all;
	struct heap waiting; /* at most one */
};

void events_set(struct events *events, uint32_t bits); /* T, H */
/*
 * Waits until any, or all, of `wanted` are set; clears them, and gives those that were in *found. Returns THREAD_OK, _E_TIMEOUT, _E_HOLDS,
 * or _E_FULL if another thread waits. On failure nothing is cleared and *found stays. T
 */
enum thread_result events_wait(struct events *events, uint32_t wanted, bool all, uint64_t deadline, uint32_t *found) MUST_CHECK;

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

/* A server's door. Its thread has no VCPU of its own: it runs in its callers' places, one call after the other. */
struct port {
	struct thread_donee server; /* first: what callers stand behind */
	struct thread *client;      /* whose call is served, or will be next */
	bool received;              /* the server has its message */
	struct heap waiting;
};

/*
 * Has the server of the port work on *message, and waits until it has replied: what *message then holds is its answer.
 * Returns THREAD_OK, _E_DEADLOCK if the caller serves this port or one whose server waits for this, _E_INVALID if it has no server,
 * or one that has a VCPU or serves another port, or
 * _E_ENDED if that has ended, before or while it worked on it. T
 */
enum thread_result port_call(struct port *port, void *message) MUST_CHECK;
/*
 * Of the port's server: replies to the call that it has, if any, and gives the message of the next one, after waiting for it. Returns NULL,
 * and does nothing, if the caller is not the server, or holds a mutex. T
 */
void *port_reply_and_receive(struct port *port);

/* ---- Periods ------------------------------------------------------------------------------------------------------ */

/* What happens when a thread has not come to periodic_wait when its period ends: it is counted, and ... */
enum periodic_policy {
	PERIODIC_COUNT,   /* no more */
	PERIODIC_NOTIFY,  /* notify() is called, H, at the end of each such period, once for those that end before it can be, and in each
			     period of the thread's VCPU once at most, should that become longer */
	PERIODIC_STOP,    /* the thread is stopped (thread_end.h) */
	PERIODIC_RESTART, /* its function begins again */
};

struct periodic {
	uint64_t period;
	uint64_t next;       /* when the one begins that is waited for next */
	uint64_t missed;     /* whole periods that went by, with nobody waiting for them */
	uint64_t missed_now; /* of these, the last time */
	enum periodic_policy policy;
	void (*notify)(struct periodic *periodic);
	struct thread *thread; /* that is watched; NULL: none, and the timer is nobody's */
	struct timer_event deadline;
};

/*
 * From now on, every `period` ticks, and missed ones are counted. Requires: no other thread's deadlines are watched with it. Returns
 * THREAD_OK, or _E_INVALID for 0 or a period that has no end. T
 */
enum thread_result periodic_begin(struct periodic *periodic, uint64_t period);
/*
 * From now on a timer watches the caller's deadlines, the ends of its periods, whatever it does. `notify` is for PERIODIC_NOTIFY. One
 * `periodic` of a thread can be watched. Returns THREAD_OK, _E_INVALID if that did not begin, the policy is none, there is nobody to
 * notify, it has no VCPU, which pays for these interrupts, or periods to notify of are shorter than that VCPU's, or _E_FULL if another one
 * of the caller's is. Besides its time-outs the thread then has interrupts of this timer, and what notify() takes: docs/admission.md. T
 */
enum thread_result periodic_watch(struct periodic *periodic, enum periodic_policy policy, void (*notify)(struct periodic *periodic));
/*
 * Sleeps until the next period begins. If that has passed, returns at once, in the latest that has begun, and counts those it has missed.
 * Returns THREAD_OK, _E_HOLDS, or _E_INVALID if it did not begin. T
 */
enum thread_result periodic_wait(struct periodic *periodic);

/* ---- For thread_end.c. Interrupts disabled. --------------------------------------------------------------------------- */

/* No mutex: a thread that has no VCPU holds it, and by that must not sleep. */
extern struct mutex sync_no_vcpu;

/* Whether the thread holds a mutex. */
static inline bool mutex_is_held_by(const struct thread *thread)
{
	return thread->held && thread->held != &sync_no_vcpu;
}

/* Every mutex that the thread holds is handed on. */
void mutex_abandon_all(struct thread *thread);
/* Every call that the port has returns THREAD_E_ENDED. */
void port_fail_all(struct port *port);
/* Whether the VCPU can pay for interrupts that come as often as this one's: with each of its periods or less often. */
static inline bool periodic_is_paid_by(const struct periodic *periodic, const struct thread_vcpu *on)
{
	return periodic->policy != PERIODIC_NOTIFY || periodic->period >= on->vcpu.order;
}
/* Nobody's deadlines are watched any more. */
void periodic_unwatch(struct periodic *periodic);
