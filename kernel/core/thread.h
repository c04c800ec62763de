/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the kernel, on VCPUs (kernel/sched/sched.h), on cores. A VCPU is pinned to its core, and a thread to its VCPU until somebody
 * moves it (thread_move.h). Of a VCPU's ready threads the one with the lowest level runs, and among those of a level the one that has
 * waited longest, until it waits or yields, or has had its slice, if its VCPU has one.
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
	unsigned core;                       /* its slot */
	uint32_t row;                        /* of traces */
	uint64_t made;                       /* when */
	uint64_t begins;                     /* ticks: its first budget of its latest parameters */
	uint64_t back;                       /* ticks: all that it used of earlier ones is replenished */
	uint64_t used;                       /* ticks: the period of those; 0: it has used none */
	uint64_t slice;                      /* 0: none */
	uint64_t blocking;                   /* admit.c's: what it was admitted with */
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
	uint64_t ran;   /* of its slice: thread_slice.c's */
	bool ready;     /* or has ended: nobody can wake it */
	bool timed_out; /* and not woken */
	struct heap *waits_in;
	struct heap_node wait;
	void *message; /* of a call or a queue that it waits for; the VCPU of another core that it moves to */
	struct timer_event timeout;
	const char *name;
	uintptr_t stack; /* its end; 0: it was given back */
	void (*entry)(void *argument);
	void *argument;
	/* thread_end.h's */
	enum thread_fate { THREAD_ALIVE, THREAD_ENDED, THREAD_STOPPED } fate;
	enum thread_wish { THREAD_GO_ON, THREAD_STOP, THREAD_RESTART } wish; /* as soon as it is bound to nobody */
	bool call_failed;
	struct mutex *held;       /* the last that it took, and so on; without a VCPU it always holds sync_no_vcpu */
	struct port *serves;      /* at which somebody has called it */
	struct periodic *watched; /* its deadline has a timer */
	void (*at_end)(void);     /* NULL: nothing */
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
	THREAD_E_LOAD = -8,     /* budgets could not be given any more: admit.h */
	THREAD_E_ENDED = -9,    /* the thread has ended, or the server that was called */
	THREAD_E_BOUND = -10,   /* the thread holds a mutex, serves, waits for more than a time, or gives back, and would move */
};

/*
 * From now on this core has threads: whoever calls goes on as its main program, on a VCPU of its own. Does nothing if it has them already.
 * Returns THREAD_OK, _E_NOMEM, or _E_INVALID where the clock is too slow for that VCPU. T
 */
enum thread_result thread_begin(void) __attribute__((warn_unused_result));

/* VCPUs of cores that begin later run by deadline (EDF), and not by rank. T */
void thread_schedule_by_deadline(void);
bool thread_is_by_deadline(void);

/* Whether this core has threads. The pointers are thread.c's. */
extern struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];
static inline bool thread_begun(void)
{
	return thread_cores[cpu_slot()];
}

/*
 * Makes a Main VCPU of this core. Its budget begins now or, where another VCPU of the core was changed, when the core's longest period
 * since then is over (BH-D1018). `name` stays the caller's. Requires: thread_begin. Returns THREAD_OK, _E_INVALID or _E_FULL. T
 */
enum thread_result thread_make_vcpu(struct thread_vcpu *on, const char *name, uint64_t budget, uint64_t period)
	__attribute__((warn_unused_result));

/* Likewise an I/O VCPU, with `percent` of the core, for work with periods of `period` and more. */
enum thread_result thread_make_io_vcpu(struct thread_vcpu *on, const char *name, uint32_t percent, uint64_t period)
	__attribute__((warn_unused_result));

/*
 * Gives a Main VCPU of this core another budget and period. Its next budget comes one new period, by deadline the longer one of both,
 * after all that it used has been replenished, or at once if that is past, so that others have theirs meanwhile (docs/admission.md,
 * "Another budget"); and no sooner than that of a VCPU made now, if another one was changed. Those of its threads that wait keep their
 * places until they wait again. Returns THREAD_OK or _E_INVALID; then nothing has changed. T
 */
enum thread_result thread_change_vcpu(struct thread_vcpu *on, uint64_t budget, uint64_t period) __attribute__((warn_unused_result));

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

/*
 * The main program sleeps until due(), which is asked with interrupts disabled, whenever this core has served an interrupt, or until
 * thread_wake_main. T
 */
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

/* Whether it must not sleep: it holds mutexes, or has no VCPU and serves calls. */
static inline bool thread_is_held_to_run(const struct thread *thread)
{
	return thread->held;
}

/* The first that waits in `heap`, or NULL. */
static inline struct thread *thread_first_waiting(const struct heap *heap)
{
	return heap->top ? (struct thread *)((char *)heap->top - offsetof(struct thread, wait)) : NULL;
}

/* A thread that waits or sleeps is ready. It runs when thread_reschedule, or the end of the interrupt, finds that it comes first. T, H */
void thread_wake(struct thread *thread);

/* Runs who comes first now. Returns when the caller comes first. In a handler: does nothing. T, H */
void thread_reschedule(void);

/* The main program is to look what there is to do. Interrupts disabled. T, H */
void thread_wake_main(void);

/* The interrupt that is being served was for this thread, whose VCPU owes it. H */
void thread_pays_for_interrupt(const struct thread *thread);

/*
 * By this threads are ordered among others that wait: the shortest period of their VCPUs, then the lowest level first. One without a VCPU
 * comes last.
 */
uint64_t thread_key(const struct thread *thread);

/* ---- From the interrupt entry ---------------------------------------------------------------------------------------- */

/* Calls serve(frame, vector) as an interrupt, after which another thread may go on. Requires: interrupts disabled; thread_begun(). */
void thread_interrupt(void (*serve)(struct cpu_frame *frame, uint32_t vector), struct cpu_frame *frame, uint32_t vector);
/* The time that was set by timer_limit has come, by `now`. H */
void thread_time_is_up(uint64_t now);

/* ---- For ending and beginning again (thread_end.h). Interrupts disabled. -------------------------------------------------- */

/* Whether this is a thread that thread_make made, not the main program or the idle thread, and not one of another core. T, H */
bool thread_is_made(const struct thread *thread);

/* Whether a handler asks. */
bool thread_in_handler(void);

/*
 * The thread is ready no more, waits for nothing and has no timeout; if it is the one that runs, it is left at the next switch and not gone
 * on with. Requires: it is bound to nobody. T, H
 */
void thread_detach(struct thread *thread);

/* A detached thread begins anew, ready if it has a VCPU, from a state that lies below `at` on its stack. T, H */
void thread_attach(struct thread *thread, uintptr_t at);

/* Goes on with who comes first. Requires: the one that ran is detached; in no handler. */
_Noreturn void thread_leave(void);

/* ---- For VCPUs and slices (thread_vcpu.c, thread_slice.h). Interrupts disabled. -------------------------------------------- */

/* That of this core. T */
struct sched *thread_sched(void);

/* The scheduler is asked at the next switch. T */
void thread_decide_anew(void);

/* That of a VCPU of this core has changed: whose turn it is begins a whole one, and the scheduler is asked at the next switch. T */
void thread_renew_slices(void);

/* ---- For moving (thread_move.h). Interrupts disabled. --------------------------------------------------------------------- */

/* The thread stays ready, if it is, but no VCPU has it any more. Requires: it has a VCPU of this core, and is bound to nobody. T */
void thread_take_off(struct thread *thread);

/* A thread that was taken off is one of this VCPU, of this core. In a handler: that VCPU owes the interrupt. T, H */
void thread_put_on(struct thread *thread, struct thread_vcpu *on);

/*
 * Leaves the running thread, which was taken off: calls then(it), on the emergency stack, from when on any core may go on with it, and goes
 * on with who comes first. Returns when the thread goes on. T
 */
void thread_part(void (*then)(void *thread));

/* ---- arch/<arch>/switch.S, thread_state.h ------------------------------------------------------------------------------ */

/* Saves what a call keeps on this stack, its pointer in *from, and goes on where `to` was saved. Requires: interrupts disabled. */
void cpu_switch(uintptr_t *from, uintptr_t to);
/* Calls function(argument), which does not return, on another stack. */
_Noreturn void cpu_go_on_at(uintptr_t stack, void (*function)(void *argument), void *argument);
/*
 * thread_state.h provides struct thread_state, what cpu_switch leaves at that pointer. Of a thread that has not run its `start` is
 * thread_start, which calls begin(entry, argument).
 */
extern const char thread_start[];
