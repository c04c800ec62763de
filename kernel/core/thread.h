/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the kernel, on VCPUs (kernel/sched/sched.h), on cores. A thread is pinned to its VCPU and a VCPU to its core. Of a VCPU's
 * ready threads the one with the lowest level runs, and among those of a level the one that has waited longest.
 *
 *   core 0                            idle, where no VCPU can run
 *     |- VCPU "main"   20 of 100 ms     main program: the console's commands
 *     '- VCPU "loop"   200 of 1,000 us  thread, thread ...
 *
 * Who waits for a thread, because that holds a mutex or serves a call of his, stays ready, and has it run in his place: on his budget, at
 * his rank. So a thread can run on its own VCPU's budget, or on that of anybody behind whom it stands, whichever is chosen: wherever one
 * budget ends the next goes on, and nothing has to be lent or given back.
 *
 * Until thread_begin a core runs its main program alone, and nothing here costs anything. Threads have stacks of their own with a hole
 * below, so that one that overruns its stack faults; they do not use floating point. An interrupt is served on the stack of the thread that
 * it came to. Times are ticks of arch_counter().
 *
 * Contexts. T: in a thread; H: in a handler, where the switch comes when it ends.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/guest.h"
#include "kernel/core/cpu.h"
#include "kernel/core/timer.h"
#include "kernel/sched/heap.h"
#include "kernel/sched/sched.h"

enum { THREAD_LEVELS = 8, THREAD_VCPUS = 64 /* of a core, the main program's included */, THREAD_STACK_BYTES = 8192 };

/* A VCPU with its ready threads. The fields are thread.c's. */
struct thread_vcpu {
	struct vcpu vcpu; /* first: it is found by that */
	const char *name;
	uint32_t row;                        /* of traces */
	uint64_t made;                       /* when */
	uint32_t levels;                     /* that have a ready thread, by bit */
	struct thread *first[THREAD_LEVELS]; /* of a ring of ready threads */
};

/* Who has to run before those that wait can: the holder of a mutex, the server of a call. */
struct thread_donee {
	struct thread *thread;
};

/* The fields are thread.c's, and sync.c's. */
struct thread {
	uintptr_t sp;                      /* while it does not run */
	struct thread *next, *prev;        /* while it is ready */
	struct thread_vcpu *on;            /* NULL: it runs only in others' places */
	const struct thread_donee *behind; /* that one runs in its place */
	uint32_t level;
	uint32_t holds; /* mutexes, and calls that it serves: it must not sleep */
	bool ready;
	bool timed_out; /* and not woken */
	struct heap *waits_in;
	struct heap_node wait;
	void *message; /* of a call or a queue that it waits for */
	struct timer_event timeout;
	const char *name;
	uintptr_t stack; /* its end */
};

enum thread_result {
	THREAD_OK = 0,
	THREAD_E_INVALID = -1,  /* a period or budget that sched.h refuses, or a level that there is not */
	THREAD_E_FULL = -2,     /* no rank is left */
	THREAD_E_NOMEM = -3,    /* no frames, or no addresses, for a stack */
	THREAD_E_TIMEOUT = -4,  /* it did not come in time */
	THREAD_E_HOLDS = -5,    /* the thread holds a mutex or serves a call, and would sleep */
	THREAD_E_DEADLOCK = -6, /* it would wait for itself */
	THREAD_E_OWNER = -7,    /* the mutex is another's */
};

/*
 * From now on this core has threads: whoever calls goes on as its main program, on a VCPU of its own. Does nothing if it has them already.
 * Returns THREAD_OK or THREAD_E_NOMEM. T
 */
enum thread_result thread_begin(void) __attribute__((warn_unused_result));

/* Whether this core has threads. The pointers are thread.c's. */
extern struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];
static inline bool thread_begun(void)
{
	return thread_cores[cpu_slot()];
}

/* Makes a Main VCPU of this core. `name` stays the caller's. Requires: thread_begin. Returns THREAD_OK, _E_INVALID or _E_FULL. T */
enum thread_result thread_make_vcpu(struct thread_vcpu *on, const char *name, uint64_t budget, uint64_t period)
	__attribute__((warn_unused_result));

/*
 * Makes a thread of a VCPU of this core, which runs entry(argument), and ends when that returns. It is ready. `on` NULL: it has no VCPU,
 * and runs only in others' places (struct port). `stack` is what stacks_take (stacks.h) returned.
 * Returns THREAD_OK, _E_INVALID, or _E_NOMEM if `stack` is 0. T
 */
enum thread_result thread_make(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level, uintptr_t stack,
			       void (*entry)(void *argument), void *argument) __attribute__((warn_unused_result));

/* Lets the next thread of its level and VCPU run. T */
void thread_yield(void);

/* Sleeps until `at`, not at all if that has passed. Returns THREAD_OK or _E_HOLDS. T */
enum thread_result thread_sleep_until(uint64_t at);

/* The main program sleeps until due(), which is asked with interrupts disabled, whenever this core has served an interrupt. T */
void thread_wait_until(bool (*due)(void));

/* Calls say() for each VCPU of this core, by rank. T */
void thread_each_vcpu(void (*say)(const struct thread_vcpu *on));

/* Returns the thread that runs on this core. T, H */
struct thread *thread_running(void);

/* ---- For synchronization (sync.h). Interrupts disabled. ---------------------------------------------------------------- */

/*
 * The running thread waits in `heap` until thread_wake, at most until `deadline`; TIMER_NEVER: for ever. Requires: it holds nothing.
 * Returns THREAD_OK or _E_TIMEOUT. T
 */
enum thread_result thread_wait(struct heap *heap, uint64_t deadline);

/* The first that waits in `heap`, or NULL. */
static inline struct thread *thread_first_waiting(const struct heap *heap)
{
	return heap->top ? (struct thread *)((char *)heap->top - offsetof(struct thread, wait)) : NULL;
}

/* A thread that waits or sleeps is ready. It runs when thread_reschedule, or the end of the interrupt, finds that it comes first. T, H */
void thread_wake(struct thread *thread);

/* Runs who comes first now. Returns when the caller comes first. In a handler: does nothing. T, H */
void thread_reschedule(void);

/* By this the running thread orders itself among others that wait: the shortest period, then the lowest level first. */
uint64_t thread_key(const struct thread *thread);

/* ---- From the interrupt entry ---------------------------------------------------------------------------------------- */

/* An interrupt begins, and ends: another thread may go on from here. Requires: interrupts disabled; thread_begun(). */
void thread_enter_interrupt(void);
void thread_leave_interrupt(void);
/* The time that was set by timer_limit has come. H */
void thread_time_is_up(void);

/* ---- arch/<arch>/switch.S, thread_state.h ------------------------------------------------------------------------------ */

/* Saves what a call keeps on this stack, its pointer in *from, and goes on where `to` was saved. Requires: interrupts disabled. */
void cpu_switch(uintptr_t *from, uintptr_t to);
/*
 * thread_state.h provides struct thread_state, what cpu_switch leaves at that pointer. Of a thread that has not run its `start` is
 * thread_start, which calls begin(entry, argument).
 */
extern const char thread_start[];
