/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What proofs say: prove() makes any state by any_below(), leaves out what an ASSUME does not allow, and says with PROVE what must hold
 * after a call. Two provers go through all values:
 *
 *   on this machine   one value after the other, of small ones, under sanitizers, in every run (tests/meson.build)
 *   CBMC              all of them at once, of as many bits as BITS says (test_proofs.py)
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __CPROVER__

uint64_t nondet_u64(void);
#define ASSUME(claim) __CPROVER_assume(claim)
#define PROVE(claim)  __CPROVER_assert(claim, #claim)
/* By a mask, so that the bits above are known to be 0. Requires: a power of two, as for CBMC all limits are. */
#define any_below(limit) (nondet_u64() & ((limit) - 1))
#ifdef NOT_PROVED /* CBMC must find that the end is reached, or the assumptions contradict each other */
#define REACHED() __CPROVER_assert(false, "the end is reached")
#else
#define REACHED() (void)0
#endif

#else

#include <setjmp.h>

#include "check.h"

enum { CHOICES = 64 };
static struct {
	uint64_t value[CHOICES], limit[CHOICES]; /* of each any_below of this round, in their order */
	unsigned made;                           /* of them, so far */
	uint64_t reached;
	jmp_buf skip;
} choice;

#define ASSUME(claim) ((claim) ? (void)0 : longjmp(choice.skip, 1))
#define PROVE(claim)  CHECK(claim)
#define REACHED()     choice.reached++

static inline uint64_t any_below(uint64_t limit)
{
	choice.limit[choice.made] = limit;
	return choice.value[choice.made++];
}

/* The next values: the last choice counts first. Returns false after the last ones. */
static inline bool choose_next(void)
{
	while (choice.made && ++choice.value[choice.made - 1] == choice.limit[choice.made - 1])
		choice.value[--choice.made] = 0;
	return choice.made;
}

void prove(void);

int main(void)
{
	do {
		choice.made = 0;
		if (!setjmp(choice.skip))
			prove();
		check_context.round++;
	} while (choose_next());
	printf("%" PRIu64 " states of %" PRIu64 "\n", choice.reached, check_context.round);
	CHECK(choice.reached > 100);
	return 0;
}
#endif
