/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doorbells of channels (BH_GRANT_DOORBELL): an end that sleeps is told by an interrupt that there may be something for it. Who is rung
 * exits never, who rings once. A ring says nothing more: whoever wakes looks at the channel. Interrupts go to the first core, so only
 * threads of that can wait for them.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/thread.h"

struct doorbell;

/* Attaches all doorbells by which this sandbox is rung. Requires: irq_init; interrupts disabled; the first core, once. */
void doorbells_init(void);

/* Returns the doorbells of the channel of that name, both ways; NULL: it has none. */
struct doorbell *doorbell_find(const char *name);

/*
 * Rings the other end. Returns BH_OK; BH_E_LATER: sooner after the last ring than is granted, and nothing was done; BH_E_DENIED: the grant
 * does not let this end ring. T, H
 */
int64_t doorbell_ring(const struct doorbell *doorbell);

/*
 * Rings the other end: now or, if that is sooner than granted, within one gap. Calls in the meantime are covered by that one ring.
 * Does nothing where this end may not ring. T
 */
void doorbell_tell(struct doorbell *doorbell);

/* Returns how many ns lie at least between two rings by this end; 0: it may not ring. */
uint64_t doorbell_gap_ns(const struct doorbell *doorbell);

/* Whether this core is rung by it, so that its threads can wait for that. */
bool doorbell_is_heard(const struct doorbell *doorbell);

/*
 * Sleeps until this end is rung, or returns at once if it was since the last wait; several rings may be one. `deadline` as in sync.h.
 * Returns THREAD_OK, _E_TIMEOUT, _E_HOLDS, or _E_INVALID: it is never rung, or the caller is not on the first core. T
 */
enum thread_result doorbell_wait(struct doorbell *doorbell, uint64_t deadline) __attribute__((warn_unused_result));

/* How often this end has been rung. */
uint64_t doorbell_count(const struct doorbell *doorbell);
