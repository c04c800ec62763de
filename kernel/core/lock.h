/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock between the cores of the sandbox: first come, first served. Its holder keeps interrupts disabled on its core, so it holds the lock
 * for a bounded time, and an interrupt handler never waits for the core that it interrupts.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* All zero: free. */
struct lock {
	uint32_t next, serving;
};

/*
 * Waits for the lock, takes it, and disables interrupts on this core. Returns whether they were enabled, which lock_give needs.
 * Requires: this core does not hold it.
 * Does not lock before lock_begin: a single core runs then, with caches off, where exclusive accesses need not work (Arm ARM, B2.9.5
 * "Load-Exclusive and Store-Exclusive instruction usage restrictions").
 */
bool lock_take(struct lock *lock);
void lock_give(struct lock *lock, bool interrupts_enabled);

/* Makes locks lock. Requires: the first core, with translation on and before it starts another. */
void lock_begin(void);
