/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox's other core while an attempt runs: it turns one word over and back, without a pause, so that a monitor may find another
 * instruction or another page table than the processor did.
 */
#pragma once
#include <stdint.h>

struct rival_task {
	uint64_t *word;
	uint64_t is, other; /* what is there, and is again when the attempt is over */
};

/* On the first core: sets the other to work and comes back when it is at it, or after a while if there is none. */
void rival_begin(const struct rival_task *task);
/* Comes back when the word is what it was. */
void rival_end(void);

/* On the other core: at the first one's disposal for good. */
_Noreturn void rival_run(void);
