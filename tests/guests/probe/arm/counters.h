/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts on the performance monitors: struct attack's, attack.h. */
#pragma once
#include <stdint.h>

/* How many of a software increments counter 0 counts. */
uint64_t counters_count(uint64_t a, uint64_t b);
/* How many interrupts a overflows of counter 0 make. */
uint64_t counters_overflow(uint64_t a, uint64_t b);
/* By how much a call of the monitor is longer for a counter that is to count EL2, too, in cycles: the least of a calls each. */
uint64_t counters_below(uint64_t a, uint64_t b);
/* Something in every register, all of it counting, and all overflowed; what is left of it: 0 for nothing. */
uint64_t counters_leave(uint64_t a, uint64_t b);
uint64_t counters_left(uint64_t a, uint64_t b);
