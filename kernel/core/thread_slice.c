/* SPDX-License-Identifier: Apache-2.0 */
/* Counts slices (thread_slice.h). */
#include "kernel/core/thread_slice.h"

#include <stddef.h>

#include "kernel/core/admit.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"

bool slices_are_set(const struct sched *sched)
{
	unsigned rank = 0;

	while (rank < sched->count && !((const struct thread_vcpu *)sched->by_rank[rank])->slice)
		rank++;
	return rank < sched->count;
}

static uint64_t charged(const struct thread_vcpu *on)
{
	return on->vcpu.given + on->vcpu.background;
}

/* Of its level. */
static bool is_first(const struct thread *thread)
{
	return thread->ready && thread->on->first[thread->level] == thread;
}

/* Its slice goes on, or its turn is over. */
static void count(struct thread *thread, uint64_t ticks)
{
	thread->ran = is_first(thread) ? thread->ran + ticks : 0;
	if (thread->ran < thread->on->slice)
		return;
	thread->ran = 0;
	thread->on->first[thread->level] = thread->next;
}

static void begin(struct slice *slice, struct thread_vcpu *on)
{
	slice->whose = on->first[__builtin_ctz(on->levels)];
	slice->from = charged(on);
}

/* When the slice ends; never, if it is the only one of its level. */
static uint64_t end_of(const struct thread *thread, uint64_t now)
{
	return thread->next == thread ? SCHED_NEVER : now + thread->on->slice - thread->ran;
}

uint64_t slice_decide(struct slice *slice, const struct sched *sched)
{
	struct thread_vcpu *on = (struct thread_vcpu *)sched->running;
	uint64_t end;

	if (slice->whose)
		count(slice->whose, charged(slice->whose->on) - slice->from);
	*slice = (struct slice){ .whose = NULL };
	if (!on || !on->slice)
		return sched->until;
	begin(slice, on);
	end = end_of(slice->whose, sched->since);
	if (end >= sched->until)
		return sched->until;
	slice->pays = &on->vcpu;
	return end;
}

void slice_forget(struct slice *slice, struct thread *thread)
{
	thread->ran = 0;
	if (slice->whose == thread)
		slice->whose = NULL;
}

/* What its threads have had of the slice before. */
static void forget_all(struct thread_vcpu *on)
{
	for (uint32_t levels = on->levels; levels; levels &= levels - 1) {
		struct thread *first = on->first[__builtin_ctz(levels)], *thread = first;

		do
			thread->ran = 0;
		while ((thread = thread->next) != first);
	}
}

enum thread_result thread_set_slice(struct thread_vcpu *on, uint64_t ticks)
{
	bool enabled;

	if (on->core != cpu_slot() || ticks > SPORADIC_MOST_TICKS || (ticks && ticks < clock_from_ns(admit_switch_ns())))
		return THREAD_E_INVALID;
	enabled = cpu_interrupts_disable();
	on->slice = ticks;
	forget_all(on);
	thread_renew_slices();
	thread_reschedule();
	cpu_interrupts_restore(enabled);
	return THREAD_OK;
}
