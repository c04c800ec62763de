/* SPDX-License-Identifier: Apache-2.0 */
/* What commands of two sandboxes at the ends of one channel have in common: who is who, a beginning that both know, and samples. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/channel_calls.h"
#include "kernel/core/thread.h"

/* Opens an end; says so and returns false if there is none. `poll_ns`: as of channel_open. */
bool turns_open(struct channel *channel, const char *name, uint64_t poll_ns);

/*
 * Both call it, on their ends of one mailbox, `mail`: returns a time, some milliseconds from now and the same for both, or 0 if the other
 * end is gone. T
 */
uint64_t turns_meet(struct channel *mail);

/* Runs work() as a thread on a VCPU of this budget and period, beside the main program, until it returns. */
void turns_run(uint64_t budget_ns, uint64_t period_ns, void (*work)(void));

/* ---- Samples: of ticks, as many as fit what turns_keep took -------------------------------------------------------------- */

/* Room for so many; what was there before is forgotten. Returns false if there are no frames. */
bool turns_keep(unsigned count);
void turns_note(uint64_t ticks);
/* Says `BENCH WHAT min N median N max N mean N of N`, and forgets them. */
void turns_say(const char *bench, const char *what);
