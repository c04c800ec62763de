/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Random sets of VCPUs in simulated time: what they were given, tick by tick, against what they were promised and against
 * a slow model. kernel/sched/{sched,sporadic,pibs,ranks}.c
 *
 * From what ran (sched_sim.h), not from what the servers hold, with C, T a VCPU's budget and period and R its response time:
 *   windows   no window of T holds more than C, if nothing of a lower rank ran in it or in the T before it; none of T more than 2C, none of
 *             L more than ceil((L + R - C) / T) * C
 *   ledger    nothing that was used is used again before T after the activation at which it was
 *   periods   who is always ready has had n * C after n periods, and exactly that if the timer is never late
 *   jobs      of at most C, at most one in T, are done after R
 *
 * A VCPU can be starved for more than its period only if it was not admitted (R > T). It may then catch up without end, so windows, periods
 * and jobs are those of admitted ones.
 *
 * Decisions that are late by up to k ticks change this: who runs late *borrows*, at most k ticks at any time, which the ledger allows on
 * late ticks only; windows, periods and R count as k more that each VCPU may use; and a job is of C - k at most, as it may be charged for k
 * after its end. A late tick of anybody else, or of nobody, delays like one of a lower rank: for windows of C it counts as such, and R
 * begins with k of them.
 *
 * Interrupts. What a VCPU *had* is the time that it ran with budget; in it its own interrupts, and devices' that began when its budget
 * was used up; and the debts that it paid, before its next ticks, or at once where they were all that it had left. A debt counts as if it
 * had been run, so the ticks that follow it may be ahead by as much. Other than without interrupts:
 *
 *   overrun   A VCPU is ahead of its budget by k and the longest interrupt at most, or by its largest debt if that is more: an interrupt
 *             at the end of a budget delays the decision, and a device's is charged to who ran. A debt is one interrupt of
 *             its owner at most, if it sets no timer while it runs without budget (else, *restless*, it has no limit). Windows of T hold
 *             2C and this, those of L as much more than above. Both are reached.
 *   quiet     An interrupt delays like one of a lower rank. A debt that is paid at once does not count as C.
 *   R         has (ceil(R / d) + 1) * c of each device with cost c and distance d, which is reached, and one own interrupt of each VCPU:
 *             of those behind as blocking; of those before, what is not paid yet; its own, as its last debt may be more than its budget.
 *   debts     All that was ever owed has been paid once or is owed. Who owes all that he has left does not run. core->until is never
 *             later than when the budget less the debt ends.
 */
#include "sched_sim.h"

#include <string.h>

#include "check.h"
#include "random.h"
#include "sched_model.h"

enum { SETS = 2000, MOST_MAIN = 24, MOST_IO = 3, LONGEST = 120 };

static struct sim_core cores[SIM_CORES];
static uint64_t response[SIM_VCPUS]; /* of one core's; UINT64_MAX: longer than the period */
static struct {
	uint64_t admitted, refused, windows, periods, jobs, late, borrowed, background, io, interrupts, paid, at_once;
} seen;

/* ---- Response times, by the textbook ------------------------------------------------------------------------------ */

static uint64_t ceiling(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* Most that `one` runs within `span` from the beginning of a time in which it, or who comes behind it, is always ready. */
static uint64_t most_in(const struct sim_core *core, const struct sim_vcpu *one, uint64_t span)
{
	uint64_t most;

	if (one->vcpu.kind == VCPU_MAIN)
		return ceiling(span, one->period) * one->budget + core->latency;
	/* Its pieces begin a piece / utilization apart; the last one may be a whole budget at once. */
	most = one->period * one->percent / 100 + core->latency;
	return span <= most ? span : most + (span - most) * one->percent / 100;
}

/* Of devices, and one own of each VCPU, which is not paid yet, or overran its budget. */
static uint64_t interrupts_in(const struct sim_core *core, uint64_t span)
{
	uint64_t most = 0, own = 0;

	for (unsigned n = 0; n < core->line_count; n++)
		most += (ceiling(span, core->lines[n].distance) + 1) * core->lines[n].cost;
	for (unsigned n = 0; n < core->count; n++)
		own += core->vcpus[n].own;
	return most + own;
}

/* Most that it is ahead of what it may use: by a late decision, and either an interrupt at its end, or a debt. */
static uint64_t overrun_of(const struct sim_core *core, const struct sim_vcpu *one)
{
	return core->latency + (core->longest > one->most_owed ? core->longest : one->most_owed);
}

static uint64_t response_of(const struct sim_core *core, const struct sim_vcpu *one)
{
	uint64_t last = 0, now = one->budget + core->latency;

	while (now != last && now <= one->period) {
		last = now;
		now = one->budget + core->latency + interrupts_in(core, last);
		for (unsigned n = 0; n < one->order; n++)
			now += most_in(core, core->by_order[n], last);
	}
	return now <= one->period ? now : UINT64_MAX;
}

/* ---- Windows ------------------------------------------------------------------------------------------------------ */

/* Ticks before each: with budget, of these in time, and those that delayed it. */
static struct {
	uint32_t given, in_time, delayed;
} before[SIM_TICKS + 1];

static bool delays(const struct sim_core *core, const struct sim_vcpu *one, unsigned tick)
{
	const struct sim_vcpu *runner = core->ran[tick] == SIM_NOBODY ? NULL : &core->vcpus[core->ran[tick]];

	if (runner == one && core->foreground[tick])
		return false;
	return core->interrupt[tick] || core->late[tick] || (runner && core->foreground[tick] && runner->order < one->order);
}

static bool is_payment(const struct sim_event *what)
{
	return what->what == SIM_PAYS || what->what == SIM_PAID;
}

static void count_ticks(const struct sim_core *core, const struct sim_vcpu *one)
{
	static struct {
		uint32_t all, by_running;
	} paid[SIM_TICKS + 1];

	memset(paid, 0, sizeof(paid));
	for (unsigned n = 0; n < core->event_count; n++) {
		const struct sim_event *what = &core->events[n];

		if (what->vcpu != one - core->vcpus || !is_payment(what))
			continue;
		paid[what->tick].all += (uint32_t)what->ticks;
		paid[what->tick].by_running += what->what == SIM_PAYS ? (uint32_t)what->ticks : 0;
	}
	for (unsigned tick = 0; tick < SIM_TICKS; tick++) {
		bool given = core->foreground[tick] && core->ran[tick] == one - core->vcpus;

		before[tick + 1] = before[tick];
		before[tick + 1].given += given + paid[tick].all;
		before[tick + 1].in_time += (given && !core->late[tick]) + paid[tick].by_running;
		before[tick + 1].delayed += delays(core, one, tick);
	}
}

static unsigned end_of(unsigned start, uint64_t span)
{
	return start + span < SIM_TICKS ? (unsigned)(start + span) : SIM_TICKS;
}

static void check_quiet_window(const struct sim_vcpu *one, unsigned start)
{
	unsigned end = end_of(start, one->period), from = start > one->period ? start - (unsigned)one->period : 0;

	if (before[end].delayed != before[from].delayed)
		return;
	CHECK(before[end].in_time - before[start].in_time <= one->budget);
	seen.windows++;
}

static void check_window(const struct sim_core *core, const struct sim_vcpu *one, unsigned start, uint64_t span)
{
	uint64_t r = response[one - core->vcpus];
	uint64_t most = ceiling(span + r - one->budget, one->period) * one->budget + overrun_of(core, one);

	CHECK(before[end_of(start, span)].given - before[start].given <= most);
}

/* The worst windows begin where it begins to run. */
static void check_windows(const struct sim_core *core, const struct sim_vcpu *one)
{
	for (unsigned start = 0; start < SIM_TICKS; start++) {
		if (before[start + 1].given == before[start].given || (start && before[start].given > before[start - 1].given))
			continue;
		check_quiet_window(one, start);
		CHECK(before[end_of(start, one->period)].given - before[start].given <= 2 * one->budget + overrun_of(core, one));
		check_window(core, one, start, one->period);
		check_window(core, one, start, one->budget + below(one->period));
		check_window(core, one, start, one->period * (1 + below(4)) + 1);
	}
}

static void check_periods(const struct sim_core *core, const struct sim_vcpu *one)
{
	for (unsigned n = 1; n * one->period <= SIM_TICKS; n++) {
		uint32_t given = before[n * one->period].given;

		CHECK(given >= n * one->budget);
		CHECK(given <= n * one->budget + overrun_of(core, one));
		seen.periods++;
	}
}

static void check_promises(const struct sim_core *core, const struct sim_vcpu *one)
{
	response[one - core->vcpus] = response_of(core, one);
	if (response[one - core->vcpus] == UINT64_MAX) {
		seen.refused++;
		return;
	}
	seen.admitted++;
	check_windows(core, one);
	if (one->script == SIM_ALWAYS)
		check_periods(core, one);
	if (one->script == SIM_JOBS && one->budget > core->latency + one->own) {
		CHECK(one->slowest <= response[one - core->vcpus]);
		seen.jobs++;
	}
}

/* ---- Ledgers: what may be used when -------------------------------------------------------------------------------- */

static const struct sim_event *event; /* the next one of a walk over a core's */

/* Returns the next event of `one` at `tick`, or NULL. */
static const struct sim_event *event_of(const struct sim_core *core, const struct sim_vcpu *one, unsigned tick)
{
	while (event < core->events + core->event_count && event->tick <= tick) {
		const struct sim_event *found = event++;

		if (found->vcpu == one - core->vcpus && found->what != SIM_INTERRUPT && found->what != SIM_JOINS)
			return found;
	}
	return NULL;
}

static bool gives(const struct sim_core *core, const struct sim_vcpu *one, unsigned tick)
{
	return core->foreground[tick] && core->ran[tick] == one - core->vcpus;
}

/* Each of the C ticks of a budget may be used from a time on: first those that could be for longest. */
static struct {
	uint64_t from[LONGEST], woke;
	uint64_t at;                  /* where it would be, had it run for what it pays */
	uint64_t used[2 * SIM_TICKS]; /* of each use: from when on it was due */
	unsigned first, uses, repaid;
} ledger;

/* Who is late, who pays more than he has left, and who runs on after he has paid, is ahead, by so much at most. */
static void use(const struct sim_core *core, const struct sim_vcpu *one, unsigned tick, bool may_be_ahead)
{
	uint64_t *from = &ledger.from[ledger.first];

	ledger.at = ledger.at > tick ? ledger.at : tick;
	CHECK(*from <= ledger.at++ || may_be_ahead || core->late[tick]);
	seen.borrowed += *from > tick;
	CHECK(ledger.uses < 2 * SIM_TICKS);
	ledger.used[ledger.uses++] = *from;
	while (ledger.repaid < ledger.uses && ledger.used[ledger.repaid] <= tick)
		ledger.repaid++;
	CHECK(ledger.uses - ledger.repaid <= overrun_of(core, one));
	*from = (*from > ledger.woke ? *from : ledger.woke) + one->period;
	ledger.first = (ledger.first + 1) % one->budget;
}

/* What is paid with ticks that follow could be run at once; of what is paid instead of running, the first tick. */
static void pay(const struct sim_core *core, const struct sim_vcpu *one, const struct sim_event *what)
{
	for (uint64_t n = 0; n < what->ticks; n++)
		use(core, one, what->tick, what->what == SIM_PAID && n > 0);
	seen.paid += what->ticks;
	seen.at_once += what->what == SIM_PAID;
}

static void check_main_ledger(const struct sim_core *core, const struct sim_vcpu *one)
{
	const struct sim_event *found;

	memset(&ledger, 0, sizeof(ledger));
	event = core->events;
	for (unsigned tick = 0; tick < SIM_TICKS; tick++) {
		while ((found = event_of(core, one, tick)) != NULL) {
			ledger.woke = found->what == SIM_READY ? tick : ledger.woke;
			if (is_payment(found))
				pay(core, one, found);
		}
		if (gives(core, one, tick))
			use(core, one, tick, false);
	}
}

/* An I/O VCPU's: a piece of u ticks begins at `from` / percent, and the next one u / utilization later at the earliest. */
struct piece {
	uint64_t from, used, budget;
};

static void end_piece(struct piece *piece)
{
	piece->from += 100 * piece->used;
	piece->used = 0;
}

static void piece_follows(struct piece *piece, const struct sim_event *what, const struct sim_vcpu *one)
{
	uint64_t percent = one->percent, period = what->period < one->period ? what->period : one->period, budget = period * percent / 100;

	if (piece->used >= piece->budget)
		end_piece(piece);
	if (is_payment(what)) {
		CHECK(piece->from <= what->tick * percent);
		piece->used += what->ticks;
	}
	if (what->what == SIM_READY && piece->from < (uint64_t)what->tick * percent)
		piece->from = (uint64_t)what->tick * percent;
	if (what->what == SIM_READY || (what->what == SIM_ARRIVES && budget < piece->budget))
		piece->budget = budget;
	if (what->what == SIM_IDLE || piece->used >= piece->budget)
		end_piece(piece);
}

static void check_io_ledger(const struct sim_core *core, const struct sim_vcpu *one)
{
	const uint64_t percent = one->percent;
	struct piece piece = { 0 };
	const struct sim_event *found;

	event = core->events;
	for (unsigned tick = 0; tick < SIM_TICKS; tick++) {
		while ((found = event_of(core, one, tick)) != NULL)
			piece_follows(&piece, found, one);
		if (piece.used >= piece.budget && core->decided[tick])
			end_piece(&piece);
		if (!gives(core, one, tick))
			continue;
		CHECK(piece.from <= (uint64_t)tick * percent || core->late[tick]);
		piece.used++;
		seen.io++;
	}
}

/* ---- Everything of a core ----------------------------------------------------------------------------------------- */

/* What each owed: all interrupts of its own but those that were its other time, or that of who had run out of budget. */
static void check_debts(const struct sim_core *core)
{
	uint64_t owed[SIM_VCPUS] = { 0 };

	for (unsigned n = 0; n < core->event_count; n++) {
		const struct sim_event *what = &core->events[n];

		if (is_payment(what))
			owed[what->vcpu] -= what->ticks;
		if (what->what != SIM_INTERRUPT && what->what != SIM_JOINS)
			continue;
		seen.interrupts++;
		if (what->vcpu != SIM_NOBODY && core->interrupt[what->tick] == SIM_EXCEPTED)
			owed[what->vcpu] += what->ticks;
	}
	for (unsigned n = 0; n < core->count; n++) {
		CHECK_EQ(core->vcpus[n].vcpu.owed, owed[n] * core->scale);
		CHECK(core->vcpus[n].restless || core->vcpus[n].most_owed <= core->vcpus[n].own);
	}
}

/* Each tick is somebody's or nobody's; nobody runs without budget who must not. */
static void check_totals(const struct sim_core *core)
{
	uint64_t given[SIM_VCPUS + 1] = { 0 }, background[SIM_VCPUS + 1] = { 0 };

	for (unsigned tick = 0; tick < SIM_TICKS; tick++) {
		unsigned one = core->ran[tick] == SIM_NOBODY ? core->count : core->ran[tick];

		*(core->foreground[tick] ? &given[one] : &background[one]) += 1;
		seen.late += core->late[tick];
	}
	CHECK_EQ(given[core->count], 0);
	for (unsigned n = 0; n < core->event_count; n++)
		if (is_payment(&core->events[n]))
			given[core->events[n].vcpu] += core->events[n].ticks;
	for (unsigned n = 0; n < core->count; n++) {
		const struct vcpu *vcpu = &core->vcpus[n].vcpu;

		CHECK_EQ(vcpu->given, given[n] * core->scale);
		CHECK_EQ(vcpu->background, background[n] * core->scale);
		CHECK(!vcpu->foreground_only || background[n] == 0);
		seen.background += background[n];
	}
}

static void check_core(const struct sim_core *core)
{
	check_totals(core);
	check_debts(core);
	for (unsigned n = 0; n < core->count; n++) {
		const struct sim_vcpu *one = &core->vcpus[n];

		if (one->vcpu.kind == VCPU_IO) {
			check_io_ledger(core, one);
			continue;
		}
		check_main_ledger(core, one);
		count_ticks(core, one);
		check_promises(core, one);
	}
}

/* ---- Random sets -------------------------------------------------------------------------------------------------- */

/* About `share` percent of the core. */
static void add_main(struct sim_core *core, unsigned share)
{
	uint64_t period = below(4) ? 8 + below(LONGEST - 7) : 2 + below(12), budget = period * (1 + below(2 * share)) / 100;
	struct sim_vcpu *one;

	budget = budget == 0 ? 1 : budget > period ? period : budget;
	one = sim_add_main(core, budget, period, 2 + (unsigned)(below(2) ? below(3) : below(15)));
	one->script = (enum sim_script)below(4);
	one->vcpu.foreground_only = below(6) == 0;
	if (one->script != SIM_ALWAYS)
		one->change = below(3) ? 0 : below(LONGEST);
}

static void add_io(struct sim_core *core)
{
	static const unsigned percents[] = {
		1, 2, 4, 5, 10, 20, 50, 100
	}; /* 1 / utilization has no rest: what is rounded is pibs_test's */
	unsigned percent = percents[below(4 + below(5))];
	uint64_t least = 100 / percent, period = least + below(LONGEST - least + 1);

	sim_add_io(core, percent, period, below(2) ? period : period + below(LONGEST - period + 1))->change = below(LONGEST);
}

/* Of devices, and timers of VCPUs. */
static void add_interrupts(struct sim_core *core)
{
	for (unsigned n = (unsigned)below(SIM_LINES + 1); n; n--) {
		uint64_t cost = 1 + below(4);

		sim_add_line(core, cost, cost * (4 + below(30)));
	}
	for (unsigned n = 0; n < core->count; n++) {
		core->vcpus[n].own = below(2) ? 0 : 1 + below(4);
		core->vcpus[n].restless = core->vcpus[n].script != SIM_JOBS && below(4) == 0;
	}
}

static unsigned count_of_main(unsigned most)
{
	return 1 + (unsigned)below(below(2) ? most : (most + 3) / 4);
}

static void make_core(struct sim_core *core, unsigned most_main)
{
	unsigned main = count_of_main(most_main), io = below(2) ? (unsigned)below(MOST_IO + 1) : 0, share;
	uint64_t latency = below(2) ? 0 : 1 + below(4), scale = io || below(2) ? 1 : 1 + below(1ULL << 36);

	sim_init(core, random_u64(), (unsigned)latency, random_u64() >> (2 + below(60)) >> 1, scale);
	share = (30 + (unsigned)below(80)) / main;
	for (; main; main--)
		add_main(core, share ? share : 1);
	for (; io; io--)
		add_io(core);
	if (below(2))
		add_interrupts(core);
}

static void run_set(uint64_t seed)
{
	unsigned count;

	check_context.round = seed;
	random_state = seed * 0x10001;
	count = below(4) ? 1 : 2 + (unsigned)below(SIM_CORES - 1);
	for (unsigned n = 0; n < count; n++)
		make_core(&cores[n], below(3) ? 5 : MOST_MAIN);
	sim_run(cores, count);
	for (unsigned n = 0; n < count; n++) {
		check_core(&cores[n]);
		if (cores[n].count <= 6)
			model_check(&cores[n]);
	}
}

int main(int argc, char **argv)
{
	uint64_t sets = argc > 1 ? strtoull(argv[1], NULL, 0) : SETS, first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;

	check_context.subject = "set";
	for (uint64_t n = first; n < first + sets; n++)
		run_set(n);
	printf("%" PRIu64 " sets; Main VCPUs: %" PRIu64 " admitted, %" PRIu64 " not; %" PRIu64 " windows of C, %" PRIu64
	       " periods, %" PRIu64 " with jobs; ticks: %" PRIu64 " late, %" PRIu64 " borrowed, %" PRIu64 " without budget, %" PRIu64
	       " of I/O VCPUs, %" PRIu64 " paid; %" PRIu64 " interrupts\n",
	       sets, seen.admitted, seen.refused, seen.windows, seen.periods, seen.jobs, seen.late, seen.borrowed, seen.background, seen.io,
	       seen.paid, seen.interrupts);
	CHECK(sets < 1000 || (seen.admitted > sets && seen.windows > sets && seen.periods > sets && seen.jobs > sets / 4));
	CHECK(sets < 1000 || (seen.late > sets && seen.borrowed > sets && seen.background > sets && seen.io > sets));
	CHECK(sets < 1000 || (seen.interrupts > sets && seen.paid > sets && seen.at_once > sets));
	return 0;
}
