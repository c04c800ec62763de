/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How threads end, and begin again. A thread ends when its function returns, when it faults or overruns its stack, and when it is stopped;
 * nobody else does, and nobody waits for it in vain:
 *
 *   mutexes that it holds                   the first that waits has each; struct mutex counts it as abandoned
 *   calls that its port has                 return THREAD_E_ENDED, as later ones do, until it begins again
 *   what it waits for, its timeouts         forgotten
 *   what only it knows of                   thread_at_end
 *   its stack                               is kept for the next thread that needs one (stacks.h)
 *
 * A thread that holds a mutex, serves a call, or waits for a mutex or an answer, is bound: it is stopped, or begins again, as soon as it is
 * not. A fault does not wait. Faults of the main program, of handlers, and of the kernel with interrupts disabled stop the kernel
 * (fault.h). Why, and how a stack overruns: docs/decisions/scheduler.md.
 *
 * T: in a thread or the main program; H: in a handler, too. All of them on the thread's core.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/fault.h"
#include "kernel/core/thread.h"

/*
 * Ends the thread where it is, once it is bound to nobody. Returns THREAD_OK, _E_INVALID if it is the caller, the main program, the idle
 * thread, or one of another core or on its way to one, or _E_ENDED if it has ended. T, H
 */
enum thread_result thread_stop(struct thread *thread);

/*
 * Has the thread's function begin again, once it is bound to nobody, also after its end. Returns THREAD_OK, _E_INVALID as thread_stop, or
 * _E_NOMEM if there is no stack; in a handler only a kept one is taken. T, H
 */
enum thread_result thread_restart(struct thread *thread);

/*
 * give_back() is called once when the calling thread ends, however it does, or begins again, with interrupts disabled: it gives back what
 * others would miss. NULL: there is nothing any more. T
 */
void thread_at_end(void (*give_back)(void));

/* Ends the caller, whatever it holds. T */
_Noreturn void thread_end(void);

enum thread_condition { THREAD_IS_READY, THREAD_RUNS, THREAD_WAITS, THREAD_SLEEPS, THREAD_HAS_ENDED, THREAD_IS_STOPPED };
enum thread_condition thread_state(const struct thread *thread); /* T, H */
static inline bool thread_is_over(const struct thread *thread)
{
	enum thread_condition found = thread_state(thread);

	return found == THREAD_HAS_ENDED || found == THREAD_IS_STOPPED;
}

/* How many threads faults have ended, of all cores. */
uint64_t thread_faults(void);
/* Says what has not been said of them. Requires: the main program of the first core. */
void thread_report_faults(void);

/* ---- From sync.c. Interrupts disabled. ---------------------------------------------------------------------------------- */

/* Carries out what is wished of the running thread, if it is bound to nobody; then it does not return. T */
void thread_fulfil_wish(void);

/* ---- From fault.c. Interrupts disabled. --------------------------------------------------------------------------------- */

/* Whether a fault of now would be that of a thread that can end. */
bool thread_can_end(void);
/* Ends the running thread. The fault must not lie on the stack. */
_Noreturn void thread_end_by_fault(const struct fault *fault);
