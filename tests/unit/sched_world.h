/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core's scheduler in simulated time, under what the analysis of docs/admission.md allows to happen, drawn at random, with one time-out
 * at a time.
 */
#pragma once

#include "kernel/sched/admission.h"

enum { WORLD_VCPUS = 4, WORLD_TOPS = 2 };

/* Time in ticks, one at a step, with all that a set allows: late decisions, top halves, time-outs and replenishments that interrupt, and a
 * VCPU after the victim that holds what it waits for. Who makes one sets `set`, of WORLD_VCPUS and WORLD_TOPS at most, `victim`, and if he
 * likes `together` or `busy`; the rest is 0. */
struct world {
	const struct admission_set *set;
	unsigned victim; /* whose response is measured */
	uint64_t now, decide_at, held_until, began, wakes;
	uint64_t next_top[WORLD_TOPS], got, top_left;
	uint64_t out_left;     /* of a time-out that is being served */
	unsigned out;          /* whose that is: by rank one before the victim, by deadline any other */
	bool ran[WORLD_VCPUS]; /* since it woke */
	bool together;         /* all wake when the victim does, and stay ready */
	bool busy;             /* the others stay ready once they are */
};

/* Returns the longest time that the victim takes for a budget, from full rest to full rest. The same seed gives the same. */
uint64_t world_response(struct world *world, uint64_t seed, uint64_t ticks);

/* Returns when the VCPU behind an I/O VCPU, ready from 0 on, has had its budget: '+' the I/O VCPU has work for a `period`; '/' that is
 * done, and there is more. */
uint64_t world_done_behind(const struct admission_set *set, const char *script, uint64_t period);
