/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the kernel, on VCPUs (kernel/sched/sched.h), on cores. A thread is pinned to its VCPU and a VCPU to its core. Of a VCPU's
 * ready threads the one with the lowest level runs, and among those of a level the one that has waited longest.
 *
 *   core 0                         idle, where no VCPU can run
 *     |- VCPU "main"  20 of 100 ms   main program: the console's commands
 *     '- VCPU "loop"  200 of 1,000 us  thread, thread ...
 *
 * Until thread_begin a core runs its main program alone, and nothing here costs anything. Threads have stacks of their own with a hole
 * below, so that one that overruns its stack faults; they do not use floating point. An interrupt is served on the stack of the thread that
 * it came to. Times are ticks of arch_counter().
 *
 * Contexts. T: in a thread; H: in a handler, or in a thread with interrupts disabled, then without switching at once.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/timer.h"
#include "kernel/sched/sched.h"

enum { THREAD_LEVELS = 8, THREAD_VCPUS = 64 /* of a core, the main program's included */, THREAD_STACK_BYTES = 8192 };

/* A VCPU with its ready threads. The fields are thread.c's. */
struct thread_vcpu {
	struct vcpu vcpu; /* first: it is found by that */
	const char *name;
	uint64_t made;                      /* when */
	uint32_t levels;                    /* that have a ready thread, by bit */
	struct thread *last[THREAD_LEVELS]; /* of a ring of ready threads: its next is the first */
};

/* The fields are thread.c's. */
struct thread {
	uintptr_t sp; /* while it does not run */
	struct thread *next;
	struct thread_vcpu *on;
	unsigned level;
	bool ready;
	struct timer_event timeout;
	const char *name;
};

enum thread_result {
	THREAD_OK = 0,
	THREAD_E_INVALID = -1, /* a period or budget that sched.h refuses, or a level that there is not */
	THREAD_E_FULL = -2,    /* no rank is left */
	THREAD_E_NOMEM = -3,   /* no frames, or no addresses, for a stack */
};

/*
 * From now on this core has threads: whoever calls goes on as its main program, on a VCPU of its own. Does nothing if it has them already.
 * Returns THREAD_OK or THREAD_E_NOMEM. T
 */
enum thread_result thread_begin(void) __attribute__((warn_unused_result));

/* Whether this core has threads. */
bool thread_begun(void);

/* Makes a Main VCPU of this core. `name` stays the caller's. Requires: thread_begin. Returns THREAD_OK, _E_INVALID or _E_FULL. T */
enum thread_result thread_make_vcpu(struct thread_vcpu *on, const char *name, uint64_t budget, uint64_t period)
	__attribute__((warn_unused_result));

/*
 * Makes a thread of a VCPU of this core, which runs entry(argument), and ends when that returns. It is ready.
 * Returns THREAD_OK, _E_INVALID or _E_NOMEM. T
 */
enum thread_result thread_make(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level,
			       void (*entry)(void *argument), void *argument) __attribute__((warn_unused_result));

/* Lets the next thread of its level and VCPU run. T */
void thread_yield(void);

/* Sleeps until `at`, not at all if that has passed. T */
void thread_sleep_until(uint64_t at);

/* The main program sleeps until due(), which is asked with interrupts disabled, whenever this core has served an interrupt. T */
void thread_wait_until(bool (*due)(void));

/* Calls say() for each VCPU of this core, by rank. T */
void thread_each_vcpu(void (*say)(const struct thread_vcpu *on));

/* Returns the thread that runs on this core. T, H */
struct thread *thread_running(void);

/* ---- For synchronization (sync.h) ----------------------------------------------------------------------------------- */

/* The running thread waits until thread_wake. Requires: interrupts disabled. T */
void thread_block(void);
/* A thread of this core that blocks, is ready. It runs at once if it comes before the one that runs and this is no handler. T, H */
void thread_wake(struct thread *thread);

/* ---- From the interrupt entry --------------------------------------------------------------------------------------- */

/* An interrupt begins, and ends: another thread may go on from here. Requires: interrupts disabled; thread_begun(). */
void thread_enter_interrupt(void);
void thread_leave_interrupt(void);
/* The time that was set by timer_limit has come. H */
void thread_time_is_up(void);

/* ---- arch/<arch>/switch.S, thread_state.h ---------------------------------------------------------------------------- */

/* Saves what a call keeps on this stack, its pointer in *from, and goes on where `to` was saved. Requires: interrupts disabled. */
void cpu_switch(uintptr_t *from, uintptr_t to);
/*
 * thread_state.h provides struct thread_state, what cpu_switch leaves at that pointer. Of a thread that has not run its `start` is
 * thread_start, which calls begin(entry, argument).
 */
extern const char thread_start[];
