/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which VCPU of a core runs (sched.h). */
#include "kernel/sched/sched.h"

#include <stddef.h>

void sched_init(struct sched *core, uint64_t *words, struct vcpu **by_rank, unsigned leaves, uint64_t now)
{
	*core = (struct sched){
		.since = now,
		.until = SCHED_NEVER,
		.foregrounds = { .earliest = words, .leaves = leaves },
		.backgrounds = { .words = words + 2 * (size_t)leaves },
		.by_rank = by_rank,
	};
	ranks_clear(&core->foregrounds);
	for (unsigned n = 0; n < BITS_WORDS(leaves); n++)
		core->backgrounds.words[n] = 0;
}

/* ---- Budgets of both kinds ------------------------------------------------------------------------------------------ */

static uint64_t period_of(const struct vcpu *vcpu)
{
	return vcpu->kind == VCPU_MAIN ? vcpu->main.period : vcpu->io.period;
}

/* From when on it may run with budget. */
static uint64_t next_of(const struct vcpu *vcpu)
{
	return vcpu->kind == VCPU_MAIN ? sporadic_next(&vcpu->main) : vcpu->io.at;
}

static uint64_t left_of(const struct vcpu *vcpu)
{
	return vcpu->kind == VCPU_MAIN ? sporadic_left(&vcpu->main) : vcpu->io.amount;
}

/* ---- Ranks -------------------------------------------------------------------------------------------------------- */

static void update(struct sched *core, const struct vcpu *vcpu)
{
	ranks_set(&core->foregrounds, vcpu->rank, vcpu->ready ? next_of(vcpu) : RANKS_NEVER);
}

static void update_all(struct sched *core, const struct vcpu *vcpu)
{
	update(core, vcpu);
	if (vcpu->ready && !vcpu->foreground_only)
		bits_add(&core->backgrounds, vcpu->rank);
	else
		bits_remove(&core->backgrounds, vcpu->rank);
}

static void place(struct sched *core, struct vcpu *vcpu, unsigned rank)
{
	core->by_rank[rank] = vcpu;
	vcpu->rank = rank;
	update_all(core, vcpu);
}

/* After those with the same period. */
static enum sched_result insert(struct sched *core, struct vcpu *vcpu)
{
	unsigned rank = core->count;

	if (rank == core->foregrounds.leaves)
		return SCHED_E_FULL;
	vcpu->order = period_of(vcpu);
	for (; rank && core->by_rank[rank - 1]->order > vcpu->order; rank--)
		place(core, core->by_rank[rank - 1], rank);
	core->count++;
	place(core, vcpu, rank);
	return SCHED_OK;
}

static bool is_period(uint64_t period)
{
	return period > 0 && period <= SPORADIC_MOST_TICKS;
}

enum sched_result sched_add_main(struct sched *core, struct vcpu *vcpu, uint64_t budget, uint64_t period, unsigned entries, uint64_t now)
{
	if (!is_period(period) || budget == 0 || budget > period || entries < SPORADIC_LEAST_ENTRIES || entries > SPORADIC_MOST_ENTRIES)
		return SCHED_E_INVALID;
	*vcpu = (struct vcpu){ .kind = VCPU_MAIN };
	sporadic_init(&vcpu->main, budget, period, entries, now);
	return insert(core, vcpu);
}

enum sched_result sched_add_io(struct sched *core, struct vcpu *vcpu, uint32_t percent, uint64_t period, uint64_t now)
{
	if (!is_period(period) || percent == 0 || percent > PIBS_PERCENT || period * percent / PIBS_PERCENT == 0)
		return SCHED_E_INVALID;
	*vcpu = (struct vcpu){ .kind = VCPU_IO };
	pibs_init(&vcpu->io, percent, period, now);
	return insert(core, vcpu);
}

void sched_remove(struct sched *core, struct vcpu *vcpu)
{
	if (core->running == vcpu) {
		core->running = NULL;
		core->foreground = false;
	}
	core->count--;
	for (unsigned rank = vcpu->rank; rank < core->count; rank++)
		place(core, core->by_rank[rank + 1], rank);
	ranks_set(&core->foregrounds, core->count, RANKS_NEVER);
	bits_remove(&core->backgrounds, core->count);
}

/* ---- Time --------------------------------------------------------------------------------------------------------- */

/* Returns whether it was with budget: then who is charged comes later. */
static bool charge(struct sched *core, uint64_t now)
{
	struct vcpu *vcpu = core->running;
	uint64_t used = now - core->since;

	core->since = now;
	if (!vcpu || !used)
		return false;
	if (!core->foreground) {
		vcpu->background += used;
		return false;
	}
	used += vcpu->owed;
	vcpu->owed = 0;
	vcpu->given += used;
	if (vcpu->kind == VCPU_MAIN)
		sporadic_charge(&vcpu->main, used);
	else
		pibs_charge(&vcpu->io, used);
	return true;
}

void sched_ready_for(struct sched *core, struct vcpu *vcpu, uint64_t period, uint64_t now)
{
	if (vcpu == core->running)
		charge(core, now);
	if (vcpu->kind == VCPU_IO)
		pibs_wake(&vcpu->io, period < vcpu->order ? period : vcpu->order, !vcpu->ready, now);
	else if (!vcpu->ready)
		sporadic_wake(&vcpu->main, now);
	vcpu->ready = true;
	update_all(core, vcpu);
}

void sched_ready(struct sched *core, struct vcpu *vcpu, uint64_t now)
{
	sched_ready_for(core, vcpu, period_of(vcpu), now);
}

void sched_idle(struct sched *core, struct vcpu *vcpu, uint64_t now)
{
	if (vcpu == core->running)
		charge(core, now);
	if (vcpu->kind == VCPU_IO)
		pibs_end(&vcpu->io);
	vcpu->ready = false;
	update_all(core, vcpu);
}

/* ---- Until when ---------------------------------------------------------------------------------------------------- */

static void set_until(struct sched *core)
{
	core->until = core->next;
	if (core->foreground && core->since + left_of(core->running) < core->next)
		core->until = core->since + left_of(core->running);
}

void sched_except(struct sched *core, uint64_t from, uint64_t to, struct vcpu *owes)
{
	uint64_t ticks = to - (from > core->since ? from : core->since);

	core->since += ticks;
	if (owes)
		owes->owed += ticks;
	set_until(core);
}

bool sched_is_spent(const struct sched *core, uint64_t now)
{
	return core->foreground && (next_of(core->running) > now || core->since + left_of(core->running) <= now);
}

/* ---- Decision ----------------------------------------------------------------------------------------------------- */

struct vcpu *sched_decide(struct sched *core, uint64_t now)
{
	unsigned rank;

	if (charge(core, now))
		update(core, core->running);
	rank = ranks_first(&core->foregrounds, now, &core->next);
	core->foreground = rank < core->foregrounds.leaves;
	if (core->foreground)
		core->running = core->by_rank[rank];
	else
		core->running = core->backgrounds.filled ? core->by_rank[bits_first(&core->backgrounds)] : NULL;
	set_until(core);
	return core->running;
}
