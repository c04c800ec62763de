/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves threads between VCPUs, where somebody says so: nothing else moves a thread. A core's structures are touched by that core alone, so
 * a thread that goes to another core is nobody's in between:
 *
 *   core it leaves                                core it goes to
 *   off its VCPU, its timers cancelled
 *   itself: its registers on its stack, and
 *   the core goes on on the emergency stack
 *   handed over, interrupt ---------------------> on its VCPU, ready or asleep, its timers set: thread_take_in
 *   goes on with who comes first
 *
 * Objects of synchronization (sync.h) stay on their core: who has moved to another core uses those of that one.
 */
#pragma once
#include "kernel/core/thread.h"

/*
 * Moves a thread of this core, which may be the caller, to a VCPU of this core or of another one of the sandbox. It keeps its level, of
 * which it comes last there, its deadlines, and the time until which it sleeps. What it has run before is charged to the VCPU that it
 * leaves. If the VCPU is its own, does nothing. To another core another thread is on its way when this returns; the caller is there.
 * Returns THREAD_OK, or, and then nothing has changed:
 *   THREAD_E_INVALID  `on` is NULL, or the thread is the main program, the idle thread, has no VCPU, or is of another core or on its way
 *                     to one, or is told of missed periods that are shorter than that VCPU's (periodic_watch); or a handler asks
 *   THREAD_E_ENDED    it has ended
 *   THREAD_E_BOUND    it holds a mutex, it waits for anything but a time, or it would leave a core to which it
 *                     gives something back at its end (thread_at_end)
 * Requires: a thread that goes to another core is not in cpu_attempt or in user mode, and uses nothing that is a core's own. T
 */
enum thread_result thread_move(struct thread *thread, struct thread_vcpu *on) __attribute__((warn_unused_result));

/* From smp.c: threads that have been handed to this core are its own. H */
void thread_take_in(void);
