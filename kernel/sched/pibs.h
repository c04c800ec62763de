/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A priority-inheriting bandwidth server's budget, for interrupt bottom halves: M. Danish, Y. Li, R. West, "Virtual-CPU Scheduling in the
 * Quest Operating System", RTAS 2011. It has a utilization, and takes the period of whom it serves: its budget is period times utilization,
 * and after it has used u ticks it is eligible again u / utilization after it was last so. One time and one amount, where a sporadic server
 * has a list: many short runs cost no more than one.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { PIBS_PERCENT = 100 };

struct pibs {
	uint32_t percent;       /* of the core */
	uint64_t period;        /* of whom it serves */
	uint64_t at;            /* eligible from then on */
	uint64_t amount;        /* left of its budget */
	uint64_t used;          /* since it became eligible */
	uint64_t ticks_per_use; /* 1 / utilization, in binary places of pibs.c, rounded up */
};

/* Serves nobody yet, and may run from `now` on. Requires: 0 < percent <= 100, as pibs_wake of `period`. */
void pibs_init(struct pibs *server, uint32_t percent, uint64_t period, uint64_t now);

/*
 * Work for it has come, of one whose period is `period`. Takes that period if it had no work (`idle`), or if it is shorter.
 * Requires: period * percent / 100 > 0, period <= SPORADIC_MOST_TICKS.
 */
void pibs_wake(struct pibs *server, uint64_t period, bool idle, uint64_t now);

/* Charges `used` ticks. Returns whether the budget is used up; then the server has a new one from its next eligible time on. */
bool pibs_charge(struct pibs *server, uint64_t used);

/* Its work is done: what it used moves its eligible time. */
void pibs_end(struct pibs *server);
