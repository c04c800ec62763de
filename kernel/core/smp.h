/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox's other cores. The first one starts them and tells them what to do; each has a stack, a timer and a place in the
 * interrupt controller of its own, ticks a thousand times a second until it has VCPUs, and sleeps otherwise. Everything here is
 * called on the first core, from the main program. A sandbox of one core has no others: nothing happens, no interrupt is attached.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/guest.h"

/* Starts every other core and waits until each is on. Reports a core that does not start, which stays off. */
void smp_init(void);

/* Returns how many cores the sandbox has. Slots count from 0, the first core; the functions below require a slot that exists. */
unsigned smp_count(void);

/*
 * Returns how many ticks of the counter to wait for another core: `ns`, or what the tool has written to the log ring (struct bh_log, gate).
 * It stands in the kernel because a sandbox that begins again starts its cores before any command runs.
 */
uint64_t smp_patience(uint64_t ns);

struct smp_census {
	bool on;
	uint64_t ticks; /* of its timer, since the sandbox began */
	uint64_t ipis;  /* received; the first core counts, too */
};
struct smp_census smp_ask(unsigned slot);

/*
 * Switch another core on or off and wait, within a bound, until it is. Return false if it is not by then, or is busy with a command, or has
 * threads.
 */
bool smp_start(unsigned slot);
bool smp_stop(unsigned slot);

/* Interrupts another core and waits, within a bound, until it has counted that. For programs; the counters are the kernel's. */
bool smp_interrupt(unsigned slot);

/* Has another core run a command, and does not wait for its end. Returns false if that core is off or busy. */
bool smp_run(unsigned slot, const char *word);
