/* SPDX-License-Identifier: Apache-2.0 */
/* Moves threads to other VCPUs, and hands them to other cores (thread_move.h). */
#include "kernel/core/thread_move.h"

#include <stdatomic.h>
#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/irq.h"
#include "kernel/core/sync.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/timer.h"

/* Of threads on their way: no core has it. */
static struct thread_vcpu nowhere = { .name = "none", .core = BH_MAX_SANDBOX_CORES };

/* By slot: threads that have been handed to a core, by their `next`, the last one first. */
static _Atomic(struct thread *) handed[BH_MAX_SANDBOX_CORES];

/* What it gives back at its end is its core's. */
static bool is_kept(const struct thread *thread, const struct thread_vcpu *on)
{
	return thread->at_end && on->core != cpu_slot();
}

static enum thread_result judge(const struct thread *thread, const struct thread_vcpu *on)
{
	if (!on || !thread_begun() || thread_in_handler() || !thread_is_made(thread) || !thread->on)
		return THREAD_E_INVALID;
	if (thread->watched && !periodic_is_paid_by(thread->watched, on))
		return THREAD_E_INVALID;
	switch (thread_state(thread)) {
	case THREAD_HAS_ENDED:
	case THREAD_IS_STOPPED:
		return THREAD_E_ENDED;
	case THREAD_WAITS:
		return THREAD_E_BOUND;
	default:
		return thread->held || is_kept(thread, on) ? THREAD_E_BOUND : THREAD_OK;
	}
}

/* ---- To another core ---------------------------------------------------------------------------------------------------- */

/* Its registers are on its stack, and no core runs on that. */
static void hand_over(void *argument)
{
	struct thread *thread = argument;
	unsigned core = ((const struct thread_vcpu *)thread->message)->core;

	thread->next = atomic_load_explicit(&handed[core], memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&handed[core], &thread->next, thread, memory_order_release, memory_order_relaxed))
		;
	irq_send_ipi(core);
}

static void send(struct thread *thread, struct thread_vcpu *on)
{
	thread_take_off(thread);
	timer_cancel(&thread->timeout);
	if (thread->watched)
		timer_cancel(&thread->watched->deadline);
	thread->message = on;
	thread->on = &nowhere;
	if (thread == thread_running())
		thread_part(hand_over);
	else
		hand_over(thread);
}

static void take_in(struct thread *thread)
{
	thread_put_on(thread, thread->message);
	if (!thread->ready)
		timer_add(&thread->timeout, thread->timeout.deadline);
	if (thread->watched)
		timer_add(&thread->watched->deadline, thread->watched->deadline.deadline);
}

void thread_take_in(void)
{
	struct thread *next, *thread = atomic_exchange_explicit(&handed[cpu_slot()], NULL, memory_order_acquire);

	for (; thread; thread = next) {
		next = thread->next;
		take_in(thread);
	}
}

/* ---- Anywhere ----------------------------------------------------------------------------------------------------------- */

static void move(struct thread *thread, struct thread_vcpu *on)
{
	if (on->core != cpu_slot()) {
		send(thread, on);
	} else {
		thread_take_off(thread);
		thread_put_on(thread, on);
	}
	thread_reschedule();
}

enum thread_result thread_move(struct thread *thread, struct thread_vcpu *on)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = judge(thread, on);

	if (result == THREAD_OK && on != thread->on)
		move(thread, on);
	cpu_interrupts_restore(enabled);
	return result;
}
