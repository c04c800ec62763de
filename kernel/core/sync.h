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
/* Counts down, or waits. Returns THREAD_OK, _E_TIMEOUT or _E_HOLDS. T */
enum thread_result semaphore_take(struct semaphore *semaphore, uint64_t deadline) MUST_CHECK;

/* ---- Mutexes ---------------------------------------------------------------------------------------------------- */

struct mutex {
	struct thread_donee holder; /* first: what waiters stand behind */
	struct heap waiting;
};

/* Takes the mutex, after its holder. Returns THREAD_OK, or _E_DEADLOCK if the caller would wait for itself; then it does not hold it. T */
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
 * Returns THREAD_OK, _E_DEADLOCK if the caller serves this port or one whose server waits for this, or _E_INVALID if it has no server. T
 */
enum thread_result port_call(struct port *port, void *message) MUST_CHECK;
/* Of the port's server: replies to the call that it has, if any, and gives the message of the next one, after waiting for it. T */
void *port_reply_and_receive(struct port *port);

/* ---- Periods ------------------------------------------------------------------------------------------------------ */

struct periodic {
	uint64_t period;
	uint64_t next;       /* when the one begins that is waited for next */
	uint64_t missed;     /* whole periods that went by, with nobody waiting for them */
	uint64_t missed_now; /* of these, the last time */
};

/* From now on, every `period` ticks. Requires: period > 0. T */
void periodic_begin(struct periodic *periodic, uint64_t period);
/*
 * Sleeps until the next period begins. If that has passed, returns at once, in the latest that has begun, and counts those it has missed.
 * Returns THREAD_OK or _E_HOLDS. T
 */
enum thread_result periodic_wait(struct periodic *periodic);
