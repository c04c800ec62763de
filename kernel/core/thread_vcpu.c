/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, changes and lists the VCPUs of a core (thread.h). */
#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/thread.h"
#include "kernel/core/trace_sched.h"

_Static_assert(offsetof(struct vcpu, background) == offsetof(struct vcpu, given) + 8, "struct bh_trace_had");

static void tell(struct thread_vcpu *on, uint64_t budget, uint64_t period)
{
	on->row = trace_vcpu(on->name, budget, period);
	trace_account(on->row, on->made, &on->vcpu.given);
}

/*
 * A budget that was given up has been used already, perhaps, and who waits for its own has waited for that: others do not begin with it
 * before everybody who waits now has had his.
 */
static uint64_t not_before(const struct sched *sched, const struct vcpu *vcpu, uint64_t now)
{
	return vcpu != sched->changed && sched->settled > now ? sched->settled : now;
}

/* `before` had a period that may be the longest no more. */
static void note_change(struct sched *sched, const struct vcpu *vcpu, uint64_t before, uint64_t now)
{
	uint64_t longest = sched->by_rank[sched->count - 1]->order, until = now + (before > longest ? before : longest);

	sched->changed = sched->settled > now && sched->changed != vcpu ? NULL : vcpu;
	sched->settled = until > sched->settled ? until : sched->settled;
}

enum thread_result thread_make_vcpu(struct thread_vcpu *on, const char *name, uint64_t budget, uint64_t period)
{
	bool enabled = cpu_interrupts_disable();
	uint64_t now = arch_counter(), from = not_before(thread_sched(), &on->vcpu, now);
	enum sched_result result;

	*on = (struct thread_vcpu){ .name = name, .core = cpu_slot(), .made = now, .begins = from, .back = now };
	result = sched_add_main(thread_sched(), &on->vcpu, budget, period, SPORADIC_MOST_ENTRIES, from);
	if (result == SCHED_OK)
		tell(on, budget, period);
	cpu_interrupts_restore(enabled);
	return (enum thread_result)result;
}

enum thread_result thread_make_io_vcpu(struct thread_vcpu *on, const char *name, uint32_t percent, uint64_t period)
{
	bool enabled = cpu_interrupts_disable();
	uint64_t now = arch_counter();
	enum sched_result result;

	*on = (struct thread_vcpu){ .name = name, .core = cpu_slot(), .made = now };
	result = sched_add_io(thread_sched(), &on->vcpu, percent, period, not_before(thread_sched(), &on->vcpu, now));
	if (result == SCHED_OK)
		tell(on, period * percent / PIBS_PERCENT, period);
	cpu_interrupts_restore(enabled);
	return (enum thread_result)result;
}

/* Notes when all has come back that it used, and with which period it did. Of a budget that has not begun it has used nothing. */
static void note_use(struct thread_vcpu *on, uint64_t now)
{
	const struct sporadic *main = &on->vcpu.main;

	if (now < on->begins)
		return;
	on->back = main->entries[main->last].at;
	on->used = main->period;
}

/*
 * From `back` on a period of the new budget has to pass, by deadline the longer one of both: so in no interval it takes more than with the
 * old or with the new one alone (docs/admission.md, "Another budget").
 */
static uint64_t next_budget(const struct sched *sched, const struct thread_vcpu *on, uint64_t period, uint64_t now)
{
	uint64_t from = on->back + (sched->by_deadline && on->used > period ? on->used : period);

	return from > now ? from : now;
}

/* The scheduler gets it anew, with what it has had. Requires: not ready, and a budget and a period that are good. */
static enum sched_result change(struct sched *sched, struct thread_vcpu *on, uint64_t budget, uint64_t period, uint64_t now)
{
	const struct vcpu before = on->vcpu;
	enum sched_result result;

	note_use(on, now);
	on->begins = not_before(sched, &on->vcpu, next_budget(sched, on, period, now));
	sched_remove(sched, &on->vcpu);
	result = sched_add_main(sched, &on->vcpu, budget, period, SPORADIC_MOST_ENTRIES, on->begins);
	on->vcpu.foreground_only = before.foreground_only;
	on->vcpu.owed = before.owed;
	on->vcpu.given = before.given;
	on->vcpu.background = before.background;
	note_change(sched, &on->vcpu, before.order, now);
	trace_change_vcpu(on->row, budget, period);
	return result;
}

enum thread_result thread_change_vcpu(struct thread_vcpu *on, uint64_t budget, uint64_t period)
{
	enum sched_result result;
	struct sched *sched;
	bool enabled, ready;
	uint64_t now;

	if (on->vcpu.kind != VCPU_MAIN || !budget || budget > period || period > SPORADIC_MOST_TICKS)
		return THREAD_E_INVALID;
	enabled = cpu_interrupts_disable();
	sched = thread_sched();
	now = arch_counter();
	ready = on->levels;
	if (ready)
		sched_idle(sched, &on->vcpu, now);
	result = change(sched, on, budget, period, now);
	if (ready)
		sched_ready(sched, &on->vcpu, now);
	thread_decide_anew();
	thread_reschedule();
	cpu_interrupts_restore(enabled);
	return (enum thread_result)result;
}

void thread_each_vcpu(void (*say)(const struct thread_vcpu *on))
{
	for (unsigned rank = 0; rank < thread_sched()->count; rank++)
		say((const struct thread_vcpu *)thread_sched()->by_rank[rank]);
}
