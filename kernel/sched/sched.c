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

void sched_by_deadline(struct sched *core)
{
	core->by_deadline = core->elsewhere = true;
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

static void update_turn(struct sched *core, struct vcpu *vcpu)
{
	if (vcpu->ready)
		deadlines_set(&core->deadlines, &vcpu->turn, next_of(vcpu), vcpu->turn.deadline);
	else
		deadlines_clear(&vcpu->turn);
}

static void update(struct sched *core, struct vcpu *vcpu)
{
	if (!core->elsewhere)
		ranks_set(&core->foregrounds, vcpu->rank, vcpu->ready ? next_of(vcpu) : RANKS_NEVER);
	else if (core->by_deadline)
		update_turn(core, vcpu);
}

static void update_background(struct sched *core, const struct vcpu *vcpu)
{
	if (vcpu->ready && !vcpu->foreground_only)
		bits_add(&core->backgrounds, vcpu->rank);
	else
		bits_remove(&core->backgrounds, vcpu->rank);
}

static void update_all(struct sched *core, struct vcpu *vcpu)
{
	update(core, vcpu);
	update_background(core, vcpu);
}

/* Whoever was alone takes its place among the others. */
static void join(struct sched *core)
{
	struct vcpu *vcpu = core->alone;

	if (!vcpu)
		return;
	core->alone = NULL;
	core->elsewhere = false;
	update_all(core, vcpu);
}

static void take_place(struct sched *core, struct vcpu *vcpu)
{
	join(core);
	update_all(core, vcpu);
}

static void leave_place(struct sched *core, struct vcpu *vcpu)
{
	if (vcpu != core->alone) {
		update_all(core, vcpu);
		return;
	}
	core->alone = NULL;
	core->elsewhere = false;
}

/* Turns by deadline know of no ranks: who is due stays due, and who was replenished last is still found. */
static void place(struct sched *core, struct vcpu *vcpu, unsigned rank)
{
	core->by_rank[rank] = vcpu;
	vcpu->rank = rank;
	if (!core->by_deadline)
		update(core, vcpu);
	update_background(core, vcpu);
}

/* After those with the same period. */
static enum sched_result insert(struct sched *core, struct vcpu *vcpu)
{
	unsigned rank = core->count;

	if (rank == core->foregrounds.leaves)
		return SCHED_E_FULL;
	join(core);
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
	if (core->by_deadline || !is_period(period) || percent == 0 || percent > PIBS_PERCENT || period * percent / PIBS_PERCENT == 0)
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
	join(core);
	core->count--;
	for (unsigned rank = vcpu->rank; rank < core->count; rank++)
		place(core, core->by_rank[rank + 1], rank);
	ranks_set(&core->foregrounds, core->count, RANKS_NEVER);
	bits_remove(&core->backgrounds, core->count);
}

/* ---- Time --------------------------------------------------------------------------------------------------------- */

static void set_deadline(struct vcpu *vcpu)
{
	vcpu->turn.deadline = sporadic_next(&vcpu->main) + vcpu->main.period;
}

/* What is left of a replenishment keeps its deadline. Returns true if none is left of it, or it may be used later than now. */
static bool charge_main(const struct sched *core, struct vcpu *vcpu, uint64_t used, uint64_t now)
{
	if (!sporadic_charge(&vcpu->main, used))
		return sporadic_next(&vcpu->main) > now;
	if (core->elsewhere)
		set_deadline(vcpu);
	return true;
}

/* What it owes, once. */
static uint64_t debt_of(struct vcpu *vcpu)
{
	uint64_t owed = vcpu->owed;

	vcpu->owed = 0;
	return owed;
}

/* Returns true if the VCPU may now run from another time on, or by another deadline. */
static bool take(const struct sched *core, struct vcpu *vcpu, uint64_t used, uint64_t now)
{
	vcpu->given += used;
	if (vcpu->kind == VCPU_MAIN)
		return charge_main(core, vcpu, used, now);
	pibs_charge(&vcpu->io, used);
	return true;
}

/* Charges the one that runs. Returns true if its place among the others has to be looked for anew. */
static bool charge(struct sched *core, uint64_t now)
{
	struct vcpu *vcpu = core->running;
	uint64_t used = now - core->since;

	core->since = now;
	if (!used)
		return false;
	if (!core->foreground) {
		vcpu->background += used;
		return false;
	}
	return take(core, vcpu, used + debt_of(vcpu), now);
}

static void wake_main(struct vcpu *vcpu, uint64_t now)
{
	sporadic_wake(&vcpu->main, now);
	set_deadline(vcpu);
}

/* Rare, and out of the way of what is not. */
static __attribute__((cold, noinline)) void charge_now(struct sched *core, uint64_t now)
{
	charge(core, now);
}

/* A VCPU gets ready, or is by another time. */
static void get_ready(struct sched *core, struct vcpu *vcpu, uint64_t period, uint64_t now)
{
	if (vcpu == core->running)
		charge_now(core, now);
	if (vcpu->kind == VCPU_IO)
		pibs_wake(&vcpu->io, period < vcpu->order ? period : vcpu->order, !vcpu->ready, now);
	else if (!vcpu->ready)
		wake_main(vcpu, now);
	vcpu->ready = true;
	take_place(core, vcpu);
}

void sched_ready_for(struct sched *core, struct vcpu *vcpu, uint64_t period, uint64_t now)
{
	get_ready(core, vcpu, period, now);
}

static __attribute__((noinline)) void get_ready_among_others(struct sched *core, struct vcpu *vcpu, uint64_t now)
{
	get_ready(core, vcpu, vcpu->order, now);
}

/* Nothing runs, and nobody else is ready. */
static bool can_be_alone(const struct sched *core, const struct vcpu *vcpu)
{
	return !core->running && !core->elsewhere && vcpu->kind == VCPU_MAIN && ranks_are_empty(&core->foregrounds);
}

/* As a rule one waits, and nobody else. */
void sched_ready(struct sched *core, struct vcpu *vcpu, uint64_t now)
{
	if (!can_be_alone(core, vcpu)) {
		get_ready_among_others(core, vcpu, now);
		return;
	}
	vcpu->ready = true;
	core->alone = vcpu;
	core->elsewhere = true;
	sporadic_wake(&vcpu->main, now);
}

void sched_idle(struct sched *core, struct vcpu *vcpu, uint64_t now)
{
	if (vcpu == core->running)
		charge(core, now);
	if (vcpu->kind == VCPU_IO)
		pibs_end(&vcpu->io);
	vcpu->ready = false;
	leave_place(core, vcpu);
}

/* ---- Until when ---------------------------------------------------------------------------------------------------- */

/* When the one that runs with budget, and has been charged up to `since`, has none left. */
static uint64_t end_of_budget(const struct sched *core, uint64_t since)
{
	uint64_t left = left_of(core->running), owed = core->running->owed;

	return since + (owed < left ? left - owed : 0);
}

static void set_until(struct sched *core, uint64_t since)
{
	uint64_t until = core->next, end;

	if (core->foreground) {
		end = end_of_budget(core, since);
		until = end < until ? end : until;
	}
	core->until = until;
}

void sched_except(struct sched *core, uint64_t from, uint64_t to, struct vcpu *owes)
{
	uint64_t ticks = to - (from > core->since ? from : core->since);

	if (owes && owes == core->running && core->foreground)
		return;
	core->since += ticks;
	if (owes)
		owes->owed += ticks;
	set_until(core, core->since);
}

bool sched_is_spent(const struct sched *core, uint64_t now)
{
	return core->foreground && (next_of(core->running) > now || end_of_budget(core, core->since) <= now);
}

/* ---- Decision ----------------------------------------------------------------------------------------------------- */

/* Of those with budget, with core->next. */
static struct vcpu *first_by_rank(struct sched *core, uint64_t now)
{
	unsigned rank = ranks_first(&core->foregrounds, now, &core->next);
	struct vcpu *first;

	if (rank >= core->foregrounds.leaves)
		return NULL;
	first = core->by_rank[rank];
	if (!first)
		__builtin_unreachable(); /* who may run is there */
	return first;
}

static struct vcpu *vcpu_of(struct turn *turn)
{
	return turn ? (struct vcpu *)((char *)turn - offsetof(struct vcpu, turn)) : NULL;
}

static struct vcpu *first_by_deadline(struct sched *core, uint64_t now)
{
	return vcpu_of(deadlines_first(&core->deadlines, now, &core->next));
}

/* The time from which on the only one that is ready has budget. */
static uint64_t next_alone(const struct sched *core)
{
	if (!core->alone)
		__builtin_unreachable(); /* who is ready stands elsewhere, and not by deadline */
	return sporadic_next(&core->alone->main);
}

static struct vcpu *first_alone(struct sched *core, uint64_t now)
{
	const uint64_t at = next_alone(core);

	core->next = at > now ? at : SCHED_NEVER;
	return at > now ? NULL : core->alone;
}

static struct vcpu *first_with_budget(struct sched *core, uint64_t now)
{
	if (!core->elsewhere)
		return first_by_rank(core, now);
	return core->by_deadline ? first_by_deadline(core, now) : first_alone(core, now);
}

static struct vcpu *first_in_background(const struct sched *core)
{
	if (core->backgrounds.filled)
		return core->by_rank[bits_first(&core->backgrounds)];
	return core->alone && !core->alone->foreground_only ? core->alone : NULL;
}

struct vcpu *sched_replenished(const struct sched *core, uint64_t now)
{
	struct vcpu *found;
	uint64_t later;
	unsigned rank;

	if (!core->elsewhere) {
		rank = ranks_first(&core->foregrounds, now, &later);
		found = rank < core->foregrounds.leaves ? core->by_rank[rank] : NULL;
	} else if (core->by_deadline) {
		found = vcpu_of(deadlines_next(&core->deadlines, now));
	} else {
		found = next_alone(core) > now ? NULL : core->alone;
	}
	return core->foreground && found == core->running ? NULL : found;
}

/* Who owes all that it has left pays, and does not run. Each debt is paid once. */
static __attribute__((cold, noinline)) struct vcpu *first_that_can_pay(struct sched *core, struct vcpu *first, uint64_t now)
{
	while (first && first->owed >= left_of(first)) {
		take(core, first, debt_of(first), now);
		update(core, first);
		first = first_with_budget(core, now);
	}
	return first;
}

/* Of those that are ready; everybody has been charged. */
static inline __attribute__((always_inline)) struct vcpu *pick(struct sched *core, uint64_t now)
{
	struct vcpu *first = first_with_budget(core, now);

	if (first && first->owed)
		first = first_that_can_pay(core, first, now);
	core->foreground = first;
	if (!first)
		first = first_in_background(core);
	core->running = first;
	set_until(core, now);
	return first;
}

/* Has budget, and nobody else may come. */
static struct vcpu *begin_alone(struct sched *core, struct vcpu *vcpu, uint64_t now)
{
	core->next = SCHED_NEVER;
	core->foreground = true;
	core->running = vcpu;
	core->until = now + sporadic_left(&vcpu->main);
	return vcpu;
}

/* A call of its own: whoever begins alone then needs no frame. */
static __attribute__((noinline)) struct vcpu *pick_among_others(struct sched *core, uint64_t now)
{
	return pick(core, now);
}

struct vcpu *sched_begin(struct sched *core, uint64_t now)
{
	struct vcpu *alone = core->alone;

	core->since = now;
	if (alone && !alone->owed && sporadic_next(&alone->main) <= now)
		return begin_alone(core, alone, now);
	return pick_among_others(core, now);
}

struct vcpu *sched_go_on(struct sched *core, uint64_t now)
{
	struct vcpu *ran = core->running;

	if (!ran)
		__builtin_unreachable();
	if (charge(core, now))
		update(core, ran);
	return pick(core, now);
}
