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
		.backgrounds = { .earliest = words + 2 * (size_t)leaves, .leaves = leaves },
		.by_rank = by_rank,
	};
	ranks_clear(&core->foregrounds);
	ranks_clear(&core->backgrounds);
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
	ranks_set(&core->backgrounds, vcpu->rank, vcpu->ready && !vcpu->foreground_only ? 0 : RANKS_NEVER);
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
	for (; rank && period_of(core->by_rank[rank - 1]) > period_of(vcpu); rank--)
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
	core->count--;
	for (unsigned rank = vcpu->rank; rank < core->count; rank++)
		place(core, core->by_rank[rank + 1], rank);
	ranks_set(&core->foregrounds, core->count, RANKS_NEVER);
	ranks_set(&core->backgrounds, core->count, RANKS_NEVER);
}

/* ---- Time --------------------------------------------------------------------------------------------------------- */

static void charge(struct sched *core, uint64_t now)
{
	struct vcpu *vcpu = core->running;
	uint64_t used = now - core->since;

	core->since = now;
	if (!vcpu || !used)
		return;
	if (!core->foreground) {
		vcpu->background += used;
		return;
	}
	vcpu->given += used;
	if (vcpu->kind == VCPU_MAIN)
		sporadic_charge(&vcpu->main, used);
	else
		pibs_charge(&vcpu->io, used);
	update(core, vcpu);
}

void sched_ready_for(struct sched *core, struct vcpu *vcpu, uint64_t period, uint64_t now)
{
	if (vcpu == core->running)
		charge(core, now);
	if (vcpu->kind == VCPU_IO)
		pibs_wake(&vcpu->io, period, !vcpu->ready, now);
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

/* ---- Decision ----------------------------------------------------------------------------------------------------- */

struct vcpu *sched_decide(struct sched *core, uint64_t now)
{
	uint64_t next, nobody;
	unsigned rank;

	charge(core, now);
	rank = ranks_first(&core->foregrounds, now, &next);
	core->foreground = rank < core->foregrounds.leaves;
	if (!core->foreground)
		rank = ranks_first(&core->backgrounds, now, &nobody);
	core->running = rank < core->foregrounds.leaves ? core->by_rank[rank] : NULL;
	core->until = next;
	if (core->foreground && left_of(core->running) < next - now)
		core->until = now + left_of(core->running);
	return core->running;
}
