/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sporadic server's budget: at most `budget` in a period, however its thread comes and goes. What was used from an activation on comes
 * back a period after that activation, never earlier, as a *replenishment*; the list holds those to come, and what is left of those that
 * came.
 *
 *      now                                              list of {5, 2} with budget 5, period 10; now = 6
 *       |                                                 first   {6, 2}    2 left, may run at once
 *   ----+--##------#######----> time                      second  {13, 3}   comes at 13
 *          6 8    13    16
 *
 * Rules: M. Stanovich, T. Baker, A. Wang, M. Gonzalez Harbour, "Defects of the POSIX Sporadic Server and How to Correct Them", report
 * TR-091026, revised 16 September 2011: nothing comes back early, budgets do not grow, what was used beyond the budget is charged to the
 * next replenishments. Where the list is full, the last one comes later, together with the new one.
 *
 * Always true: the amounts sum up to the budget; each replenishment begins where the one before it ends, or later; the last begins at most
 * a period after the first. Times are ticks of one clock. Nothing here knows which: the same file runs on the host.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Most entries of a list. What does not fit is merged, which only delays it: docs/decisions/scheduler.md */
enum { SPORADIC_LEAST_ENTRIES = 2, SPORADIC_MOST_ENTRIES = 16 };
#define SPORADIC_FAR        (UINT64_MAX >> 1) /* later than any time */
#define SPORADIC_MOST_TICKS (1ULL << 44)      /* of a period: at 1 GHz almost five hours */

struct replenishment {
	uint64_t at;
	uint64_t amount;
};

struct sporadic {
	uint64_t budget, period;
	uint32_t first, last, count, most;
	struct replenishment entries[SPORADIC_MOST_ENTRIES]; /* a ring: `count` of them from `first` to `last`, by time */
};

/*
 * Makes a server whose whole budget may be used from `now` on.
 * Requires: 0 < budget <= period <= SPORADIC_MOST_TICKS; SPORADIC_LEAST_ENTRIES <= entries <= SPORADIC_MOST_ENTRIES.
 */
void sporadic_init(struct sporadic *server, uint64_t budget, uint64_t period, unsigned entries, uint64_t now);

/* Returns the time from which on the server may run: in the past, if it may now. */
static inline uint64_t sporadic_next(const struct sporadic *server)
{
	return server->entries[server->first].at;
}

/* Returns for how long it may run from then on before it has to be charged. Never 0. */
static inline uint64_t sporadic_left(const struct sporadic *server)
{
	return server->entries[server->first].amount;
}

/*
 * Charges `used` ticks, which may be more than were left. Required whenever the server stops running, by preemption, too; may be
 * done at any time between. Returns true if nothing is left of the replenishment that came first.
 */
bool sporadic_charge(struct sporadic *server, uint64_t used);

/* The server's thread is ready again after it was not: what was left unused is available from now on, as if it came now. */
void sporadic_wake(struct sporadic *server, uint64_t now);
