/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are compiled into the kernel and run as threads. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct periodic;

enum { PROGRAM_NOTES = 6 };

/*
 * What one run of a program has, and what it found. Written by its thread, read by the main program; `rounds` to `done_max` by the tool,
 * too, as struct bh_trace_run.
 */
struct program_run {
	uint64_t period;      /* of its VCPU, in ticks */
	uint64_t rounds;      /* of its loop */
	uint64_t missed;      /* periods that it did not begin in */
	uint64_t late_max;    /* ticks from when a period began until it ran */
	uint64_t done_max;    /* ticks from when a period began until its round was done; 0: it does not say */
	uint64_t round_least; /* ticks that a round took, at least and at most, others' included; 0: it does not say */
	uint64_t round_most;
	const char *name; /* of its VCPU */
	struct {
		const char *what; /* it counts or measures; NULL: nothing, nor do those that follow */
		uint64_t count;
	} notes[PROGRAM_NOTES];
};

struct program {
	const char *name;
	void (*run)(void *run); /* struct program_run */
	bool first_core_only;   /* what it waits for comes from there */
};

/* Returns the program of that name, or NULL. */
const struct program *program_find(const char *name);

/* Of a program with periods, at the end of a round: when it was done, and what was missed. */
void program_note_round(struct program_run *run, const struct periodic *periodic);

/* Says what the run found; of a program without periods none that it missed. */
void program_report(const struct program_run *run, const char *name);
