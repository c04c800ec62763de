/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickless time: on each core, events wait in order of their deadlines, and the core's one-shot timer is set for the first of them.
 * Deadlines are absolute, in ticks of arch_counter(). An event fires in the timer's interrupt, on the core that
 * added it, and gets what a handler gets (irq.h).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/sched/heap.h"

struct cpu_frame;

struct timer_event {
	uint64_t deadline;
	void (*fire)(struct timer_event *event, struct cpu_frame *frame);
	/* timer.c */
	struct heap_node node;
	bool waits;
};

void timer_init(void);
/* On a further core, after irq_init_core. */
void timer_init_core(void);

/*
 * Lets the event fire once, at or after `deadline`. A handler may add its event again. Requires: the event is not waiting. The cost grows
 * with the logarithm of how many wait.
 */
void timer_add(struct timer_event *event, uint64_t deadline);
/* Removes the event. Does nothing if it is not waiting. */
void timer_cancel(struct timer_event *event);
/* The same where timer_limit follows before the core goes on: the hardware is left to that. Requires: it waits; interrupts disabled. */
void timer_take_out(struct timer_event *event);

/*
 * Has thread_time_is_up called at or after `deadline`, on this core, once; replaces what was set. TIMER_NEVER: not at all. Requires:
 * interrupts disabled.
 */
#define TIMER_NEVER UINT64_MAX
void timer_limit(uint64_t deadline);

/* ---- The core's timer: arch/<arch>/timer_hw.c --------------------------------------------------------------------- */

/* handler() is called at every expiry, as a handler of irq.h. */
void timer_hw_init(void (*handler)(struct cpu_frame *frame));
/* Prepares the timer of a further core: off, with the same interrupt and the same rate. */
void timer_hw_init_core(void);
/* Raises one interrupt as soon as possible after `deadline`, at once if that has passed. Replaces what was set. */
void timer_hw_set(uint64_t deadline);
void timer_hw_clear(void);

/*
 * Measuring, on the first core while no other is on and no event waits: the timer belongs to the caller between begin and end.
 * timer_hw_measure lets one interrupt come `ticks` from now, waiting for it asleep or in a loop, and returns what the counter
 * read in the handler's very first instruction, less the deadline. It stands in the kernel because the x86 timer
 * measures its own pace in this way, and a handler's first instruction is the vectors'.
 */
void timer_hw_measure_begin(void);
uint64_t timer_hw_measure(uint64_t ticks, bool asleep);
/* The same, calling meanwhile() again and again until the interrupt has come. */
uint64_t timer_hw_measure_during(uint64_t ticks, void (*meanwhile)(void));
void timer_hw_measure_end(void);
