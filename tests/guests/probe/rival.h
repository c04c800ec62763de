/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox's other core while an attempt runs: it changes one word and changes it back, without a pause, so that a monitor may find
 * another instruction or another page table than the processor did.
 */
#pragma once
#include <stdint.h>

struct rival_task {
	uint64_t *word;
	uint64_t is, other; /* the word's value before and after the attempt, and the one it changes to */
};

/* On the first core: starts the other and returns when that one is at work, or after a while if there is none. */
void rival_begin(const struct rival_task *task);
/* Returns when the word has its first value again. */
void rival_end(void);

/* On the other core: at the first one's disposal for good. */
_Noreturn void rival_run(void);
