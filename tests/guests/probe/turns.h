/* SPDX-License-Identifier: Apache-2.0 */
/* What commands of two sandboxes at the ends of one channel have in common: who is who, a beginning that both know, and samples. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/channel_calls.h"
#include "kernel/core/clock.h"
#include "kernel/core/thread.h"

#define TURNS_NS 200000ULL /* of one end; then the other's */
enum { TURNS_SAMPLES = 200, TURNS_WARM_UP = 20, TURNS_ROUNDS = TURNS_WARM_UP + TURNS_SAMPLES };

/* Opens an end; says so and returns false if there is none. `poll_ns`: as of channel_open. */
bool turns_open(struct channel *channel, const char *name, uint64_t poll_ns);

/*
 * Both call it, on their ends of one mailbox, `mail`: returns a time, some milliseconds from now and the same for both, or 0 if the other
 * end is gone. T
 */
uint64_t turns_meet(struct channel *mail);

/* Waits until both ends have said that they take part. T */
void turns_connect(struct channel *channel);

/* Runs work() as a thread on a VCPU of this budget and period, beside the main program, until it returns. */
void turns_run(uint64_t budget_ns, uint64_t period_ns, void (*work)(void));

/* ---- Ticks: act() is inlined where it is measured, and says whether it could be done ---------------------------------------- */

static __attribute__((always_inline)) inline uint64_t turns_ticks(bool (*act)(void), bool *done)
{
	const uint64_t start = arch_counter();

	*done = act();
	return arch_counter() - start;
}

/* The least of some: what is to be taken from others. */
static __attribute__((always_inline)) inline uint64_t turns_least(bool (*act)(void))
{
	uint64_t least = UINT64_MAX;
	bool done;

	for (unsigned n = 0; n < TURNS_WARM_UP; n++) {
		const uint64_t ticks = turns_ticks(act, &done);

		least = ticks < least ? ticks : least;
	}
	return least;
}

static inline bool turns_nothing(void)
{
	return true;
}

/* ---- Samples: of ticks, as many as fit what turns_keep took -------------------------------------------------------------- */

/* Room for so many; what was there before is forgotten. Returns false if there are no frames. */
bool turns_keep(unsigned count);
void turns_note(uint64_t ticks);
/* Says `BENCH WHAT min N median N max N mean N of N`, and forgets them. */
void turns_say(const char *bench, const char *what);
