/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this sandbox does, said in a latest value (abi/telemetry.h) to whoever reads it, as a rule bulkhead-top in Linux. The main program
 * of the first core writes it, on its own budget and without an exit; where no channel is granted for it (BH_CHANNEL_TELEMETRY) nothing is
 * collected. Never waits: nobody need read it. Doorbells are not rung for it.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TELEMETRY_HZ = 10 };

extern _Atomic uint64_t telemetry_next; /* when it is due, in ticks. telemetry.c's */

/* Takes the channel, if there is one. Requires: memory_init; the first core, once. */
void telemetry_init(void);

/* Whether at `now` the main program is to look again. Any context. */
static inline bool telemetry_is_due(uint64_t now)
{
	return now >= atomic_load_explicit(&telemetry_next, memory_order_relaxed);
}

/* Writes a value if one is due. Requires: the main program of the first core. */
void telemetry_report(void);
