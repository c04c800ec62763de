/* SPDX-License-Identifier: Apache-2.0 */
/* Two benchmark loops over memory (work.h). */
#include "kernel/core/work.h"

#include "kernel/core/console.h"
#include "kernel/core/cpu.h"

enum { WORDS = 4096, SCALE = 3 };

/* volatile: so that every access is made. Whatever they hold: start-up, which is measured, does not clear them. */
#define NOT_CLEARED __attribute__((section(".noinit")))
static volatile uint64_t target[WORDS] NOT_CLEARED, left[WORDS] NOT_CLEARED, right[WORDS] NOT_CLEARED;

void work_stream(uint64_t passes)
{
	uint64_t start = arch_counter();

	for (uint64_t pass = 0; pass < passes; pass++)
		for (unsigned n = 0; n < WORDS; n++)
			target[n] = left[n] + SCALE * right[n];
	console_say("stream %ju in %ju ticks", passes, arch_counter() - start);
}

/* The sequence of HPC Challenge's RandomAccess: shift, and where a bit falls out, its polynomial. */
void work_random(uint64_t updates)
{
	enum { POLYNOMIAL = 7 };
	uint64_t start = arch_counter(), value = 1;

	for (uint64_t n = 0; n < updates; n++) {
		value = value << 1 ^ (value >> 63 ? POLYNOMIAL : 0);
		target[value % WORDS] ^= value;
	}
	console_say("random %ju in %ju ticks", updates, arch_counter() - start);
}
