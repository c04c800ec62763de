/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices: on a VCPU that has one, a ready thread runs for so long, and then the next of its level. Who comes before it, on its VCPU or on
 * another, only interrupts its turn, which is over when it yields, waits, or has had its slice. What its VCPU is charged counts, also while
 * another thread runs in its place.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/thread.h"

/*
 * Gives the VCPU, of this core, a slice of so many ticks; 0: none, as at first. It pays for the interrupts that end slices. While one of
 * its VCPUs has one, a core decides at each switch. Returns THREAD_OK, or _E_INVALID if the VCPU is of another core, or the slice is too
 * long or shorter than a switch (admit_switch_ns); then nothing has changed. T
 */
enum thread_result thread_set_slice(struct thread_vcpu *on, uint64_t ticks) __attribute__((warn_unused_result));

/* ---- For thread.c. Interrupts disabled. ----------------------------------------------------------------------------------- */

/* The one that is being used, of a core. All zero: none. */
struct slice {
	struct thread *whose;
	uint64_t from;     /* what its VCPU had been charged when that was looked at last */
	struct vcpu *pays; /* for the interrupt that the timer is set for: the end of its slice; NULL: that is for something else */
};

/* Whether any VCPU of the core has one. */
bool slices_are_set(const struct sched *sched);

/* The scheduler has decided: ends the slice that has been used up, and goes on with that of who runs now. Returns until when it may. */
uint64_t slice_decide(struct slice *slice, const struct sched *sched);

/* The thread leaves its VCPU, or begins again: its next slice is a whole one. */
void slice_forget(struct slice *slice, struct thread *thread);
