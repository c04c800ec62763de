/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements inside a sandbox: the timer's latency, alone and in a storm of exits, and what each kind of exit takes. */
#pragma once
#include <stdbool.h>

/*
 * From the deadline of the timer to the first instruction of the handler, in ticks of the counter, a thousand times, waiting
 * asleep or in a loop; prints minimum, median and maximum. The heartbeat pauses meanwhile.
 */
void bench_timer(bool asleep);

/* The same while a storm of this kind goes on (storm.h); the timer expires at ever other moments of it. false: no such kind. */
bool bench_timer_in_storm(const char *kind);

/*
 * How long an exit of this kind takes, as the sandbox sees it, in ticks of the counter: each of a thousand by itself, interrupts disabled,
 * less what the same takes where nothing exits. Prints minimum, median and maximum. Returns false if there is no such kind.
 */
bool bench_trips(const char *kind);
