/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the VCPUs of a core can be given what they are promised (admission.h). Derivations: docs/admission.md */
#include "kernel/sched/admission.h"

/* Utilizations are in units of 2^-40: 128 of them rounded up are wrong by less than 2^-33 in all. */
enum { PLACES = 40, HALF_PLACES = PLACES / 2, MOST_CORES = 1 << 16 };
#define ONE (1ULL << PLACES)

/* Longest interval of processor demand. In it, no VCPU and no top half takes more than three times as long. */
#define MOST_INTERVAL (1ULL << 54)

_Static_assert(ADMISSION_MOST_TICKS <= 1ULL << (64 - HALF_PLACES), "share_of shifts remainders");
_Static_assert(MOST_INTERVAL <= UINT64_MAX / 4 / (ADMISSION_MOST_VCPUS + ADMISSION_MOST_TOP_HALVES), "no demand wraps");

/* Made with integer roots. Each is the largest that admits nothing too much: tests/config/test_admission.py */
static const uint64_t bounds[ADMISSION_MOST_VCPUS + 1] = {
	0x10000000000, 0x10000000000, 0xd413cccfe7, 0xc79e8eca85, 0xc1bf828c6d, 0xbe557a1a68, 0xbc1a096af0, 0xba8745c799, 0xb95c1e3ea8,
	0xb87527ca6b,  0xb7bd74d723,  0xb727dc7873, 0xb6abae231b, 0xb642f1d472, 0xb5e96b42fc, 0xb59c03b61d, 0xb5586cf989, 0xb51ce5987b,
	0xb4e81145b6,  0xb4b8ddeac7,  0xb48e70e3e4, 0xb46819a75e, 0xb445481a83, 0xb42585729a, 0xb4086ee200, 0xb3edb18f54, 0xb3d5077d17,
	0xb3be3522e2,  0xb3a9078b6a,  0xb39552d70c, 0xb382f10b31, 0xb371c11d1d, 0xb361a62b0a, 0xb35286d9ac, 0xb3444cce92, 0xb336e44199,
	0xb32a3ba0e6,  0xb31e4343e8,  0xb312ed2a92, 0xb3082cc69a, 0xb2fdf6cd01, 0xb2f4410e69, 0xb2eb025522, 0xb2e23247fe, 0xb2d9c9511b,
	0xb2d1c08817,  0xb2ca119f1c,  0xb2c2b6d25a, 0xb2bbaad991, 0xb2b4e8db6e, 0xb2ae6c625e, 0xb2a83152c0, 0xb2a233e234, 0xb29c708fe8,
	0xb296e41dc2,  0xb2918b8a45,  0xb28c640b28, 0xb2876b0873, 0xb2829e1829, 0xb27dfafa5d, 0xb2797f95ac, 0xb27529f412, 0xb270f8400e,
	0xb26ce8c209,  0xb268f9de01,
};

uint64_t admission_bound(unsigned n)
{
	return bounds[n];
}

/* ---- Numbers ------------------------------------------------------------------------------------------------------ */

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t divide_up(uint64_t part, uint64_t whole)
{
	return part / whole + (part % whole != 0);
}

/* part / whole in units of 2^-40, rounded up, and MOST_CORES if it is more. Requires: 0 < whole <= ADMISSION_MOST_TICKS. */
static uint64_t share_of(uint64_t part, uint64_t whole)
{
	uint64_t upper = (part % whole) << HALF_PLACES;
	uint64_t lower = (upper % whole) << HALF_PLACES;

	if (part / whole >= MOST_CORES)
		return MOST_CORES * ONE;
	return (part / whole << PLACES) + (upper / whole << HALF_PLACES) + divide_up(lower, whole);
}

static uint64_t ppm_up(uint64_t share)
{
	return (share >> PLACES) * ADMISSION_PPM + divide_up((share & (ONE - 1)) * ADMISSION_PPM, ONE);
}

static uint64_t ppm_down(uint64_t share)
{
	return (share >> PLACES) * ADMISSION_PPM + ((share & (ONE - 1)) * ADMISSION_PPM >> PLACES);
}

/* ---- Input -------------------------------------------------------------------------------------------------------- */

/* What is promised in its period. */
static uint64_t budget_of(const struct reservation *vcpu)
{
	return vcpu->kind == VCPU_MAIN ? vcpu->budget : vcpu->period * vcpu->percent / PIBS_PERCENT;
}

static enum admission_result check_vcpu(const struct reservation *vcpu, uint64_t switch_cost)
{
	if (vcpu->period == 0 || vcpu->period > ADMISSION_MOST_TICKS)
		return ADMISSION_E_PERIOD;
	if (vcpu->kind == VCPU_IO && (vcpu->percent == 0 || vcpu->percent > PIBS_PERCENT))
		return ADMISSION_E_PERCENT;
	if (budget_of(vcpu) == 0 || budget_of(vcpu) > vcpu->period)
		return ADMISSION_E_BUDGET;
	if (budget_of(vcpu) < switch_cost)
		return ADMISSION_E_SWITCH;
	return vcpu->blocking > ADMISSION_MOST_TICKS ? ADMISSION_E_BLOCKING : ADMISSION_OK;
}

static enum admission_result check_top_half(const struct top_half *one)
{
	if (one->distance == 0 || one->distance > ADMISSION_MOST_TICKS)
		return ADMISSION_E_DISTANCE;
	return one->cost == 0 || one->cost > one->distance ? ADMISSION_E_COST : ADMISSION_OK;
}

static enum admission_result check(const struct admission_set *set, unsigned *which)
{
	enum admission_result result = ADMISSION_OK;

	*which = 0;
	if (set->vcpu_count > ADMISSION_MOST_VCPUS || set->top_half_count > ADMISSION_MOST_TOP_HALVES)
		return ADMISSION_E_COUNT;
	for (unsigned n = 0; n < set->vcpu_count && !result; n++) {
		*which = n;
		result = check_vcpu(&set->vcpus[n], set->switch_cost);
		if (!result && set->edf && set->vcpus[n].kind == VCPU_IO)
			return ADMISSION_E_EDF_IO;
	}
	for (unsigned n = 0; n < set->top_half_count && !result; n++) {
		*which = n;
		result = check_top_half(&set->top_halves[n]);
	}
	return result;
}

/* ---- What takes time in an interval ----------------------------------------------------------------------------- */

static uint64_t top_halves_in(const struct admission_set *set, uint64_t span)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < set->top_half_count; n++)
		sum += (divide_up(span, set->top_halves[n].distance) + 1) * set->top_halves[n].cost;
	return sum;
}

/* What does not depend on how long the others run. rank + 1 late ends: of each VCPU before it, and of one that runs at first. And a
 * time-out of each other VCPU: those before it may not have paid for it yet, those after it cannot. */
static uint64_t overhead_in(const struct admission_set *set, unsigned rank, uint64_t span)
{
	return set->vcpus[rank].blocking + (set->vcpu_count + rank) * set->switch_cost + top_halves_in(set, span);
}

/* Most that a VCPU runs in the `span` that begins when it had nothing to do. An I/O VCPU: at its rate, and at last a whole budget. */
static uint64_t work_in(const struct reservation *vcpu, uint64_t span)
{
	uint64_t budget = budget_of(vcpu);

	if (vcpu->kind == VCPU_MAIN)
		return divide_up(span, vcpu->period) * budget;
	return budget + (span > budget ? (span - budget) * vcpu->percent / PIBS_PERCENT : 0);
}

/* ---- Utilization bound ---------------------------------------------------------------------------------------------- */

static uint64_t utilization_of(const struct reservation *vcpu)
{
	if (vcpu->kind == VCPU_MAIN)
		return share_of(vcpu->budget, vcpu->period);
	return share_of((uint64_t)vcpu->percent * (2 * PIBS_PERCENT - vcpu->percent), (uint64_t)PIBS_PERCENT * PIBS_PERCENT);
}

/* Its proof needs that nothing before a Main VCPU has a longer period. */
static bool bound_applies(const struct admission_set *set)
{
	uint64_t longest = 0;

	for (unsigned rank = 0; rank < set->vcpu_count; rank++) {
		if (set->vcpus[rank].kind == VCPU_MAIN && set->vcpus[rank].period < longest)
			return false;
		longest = greater(longest, set->vcpus[rank].period);
	}
	return true;
}

static bool by_bound(const struct admission_set *set, struct admission_report *report)
{
	uint64_t sum = 0, most = 0;
	unsigned mains = 0;

	for (unsigned rank = 0; rank < set->vcpu_count; rank++) {
		const struct reservation *vcpu = &set->vcpus[rank];

		sum += utilization_of(vcpu);
		if (vcpu->kind != VCPU_MAIN)
			continue;
		mains++;
		most = greater(most, share_of(overhead_in(set, rank, vcpu->period), vcpu->period));
	}
	report->asked_ppm = ppm_up(sum + most);
	report->allowed_ppm = ppm_down(bounds[mains]);
	return sum + most <= bounds[mains] && bound_applies(set);
}

/* ---- Response-time analysis ----------------------------------------------------------------------------------------- */

static uint64_t demand_at(const struct admission_set *set, unsigned rank, uint64_t span)
{
	uint64_t sum = budget_of(&set->vcpus[rank]) + overhead_in(set, rank, span);

	for (unsigned before = 0; before < rank; before++)
		sum += work_in(&set->vcpus[before], span);
	return sum;
}

enum admission_result admission_response(const struct admission_set *set, unsigned rank, uint64_t *response)
{
	uint64_t span = 1;

	for (unsigned step = 0; step < ADMISSION_MOST_STEPS; step++) {
		uint64_t demand = demand_at(set, rank, span);

		*response = demand;
		if (demand > set->vcpus[rank].period)
			return ADMISSION_E_LOAD;
		if (demand <= span)
			return ADMISSION_OK;
		span = demand;
	}
	return ADMISSION_E_UNDECIDED;
}

static enum admission_result test_by_rank(const struct admission_set *set, struct admission_report *report)
{
	enum admission_result result = ADMISSION_OK;

	report->by_bound = by_bound(set, report);
	for (unsigned rank = 0; rank < set->vcpu_count && !result; rank++) {
		report->which = rank;
		report->deadline = set->vcpus[rank].period;
		result = admission_response(set, rank, &report->response);
	}
	report->by_response = !result;
	return report->by_bound ? ADMISSION_OK : result;
}

/* ---- Processor demand ----------------------------------------------------------------------------------------------- */

static uint64_t greatest_common(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* A sum of fractions. Exact as long as the least common multiple of what is under them fits. */
struct fraction {
	uint64_t over, under;
};

/* Returns whether it fits. If not, *sum is as it was. */
static bool fraction_add(struct fraction *sum, uint64_t over, uint64_t under)
{
	uint64_t common = greatest_common(sum->under, under);
	struct fraction next;
	uint64_t added;

	if (__builtin_mul_overflow(sum->under, under / common, &next.under) ||
	    __builtin_mul_overflow(sum->over, under / common, &next.over) || __builtin_mul_overflow(over, sum->under / common, &added) ||
	    __builtin_add_overflow(next.over, added, &next.over))
		return false;
	*sum = next;
	return true;
}

/* The sum of all C/T, if it fits. */
static bool sum_exactly(const struct admission_set *set, struct fraction *sum)
{
	*sum = (struct fraction){ 0, 1 };
	for (unsigned n = 0; n < set->vcpu_count; n++)
		if (!fraction_add(sum, set->vcpus[n].budget, set->vcpus[n].period))
			return false;
	return true;
}

/* Is it at most 1? Where the exact sum does not fit, `rounded` decides. */
static bool fits_core(const struct admission_set *set, uint64_t rounded)
{
	struct fraction sum;

	return sum_exactly(set, &sum) ? sum.over <= sum.under : rounded <= ONE;
}

static uint64_t longest_period(const struct admission_set *set)
{
	uint64_t longest = 0;

	for (unsigned n = 0; n < set->vcpu_count; n++)
		longest = greater(longest, set->vcpus[n].period);
	return longest;
}

/* Who waits has a deadline by then. */
static uint64_t blocking_until(const struct admission_set *set, uint64_t time)
{
	uint64_t most = 0;

	for (unsigned n = 0; n < set->vcpu_count; n++)
		if (set->vcpus[n].period <= time)
			most = greater(most, set->vcpus[n].blocking);
	return most;
}

/*
 * By deadline: each VCPU but the one that misses its deadline may stop late, time out, and be replenished for a later deadline, and makes
 * up for none of the three before that; one that runs at first stops late. Requires: there is a VCPU.
 */
static uint64_t late_by_deadline(const struct admission_set *set)
{
	return (3 * set->vcpu_count - 2) * set->switch_cost;
}

static uint64_t demand_until(const struct admission_set *set, uint64_t time)
{
	uint64_t sum = blocking_until(set, time) + top_halves_in(set, time) + late_by_deadline(set);

	for (unsigned n = 0; n < set->vcpu_count; n++)
		sum += time / set->vcpus[n].period * set->vcpus[n].budget;
	return sum;
}

/* Last deadline before `time`, and whose; 0: there is none. */
static uint64_t deadline_before(const struct admission_set *set, uint64_t time, unsigned *whose)
{
	uint64_t last = 0;

	for (unsigned n = 0; n < set->vcpu_count; n++) {
		uint64_t one = (time - 1) / set->vcpus[n].period * set->vcpus[n].period;

		if (one > last) {
			last = one;
			*whose = n;
		}
	}
	return last;
}

/*
 * Deadlines after *last are met if those up to it are: the rest of the core makes up for all that does not grow with time.
 * Returns whether there is such a time.
 */
static bool find_last(const struct admission_set *set, uint64_t used, uint64_t *last)
{
	uint64_t longest = longest_period(set), once = late_by_deadline(set) + blocking_until(set, longest), rest;

	*last = longest;
	for (unsigned n = 0; n < set->top_half_count; n++)
		once += 2 * set->top_halves[n].cost;
	if (once == 0)
		return fits_core(set, used);
	rest = used < ONE ? (ONE - used) >> HALF_PLACES : 0;
	if (rest == 0 || once >> (64 - HALF_PLACES))
		return false;
	*last = greater(*last, divide_up(once << HALF_PLACES, rest));
	return *last < MOST_INTERVAL;
}

/*
 * Backwards: with demand h at t, all deadlines from h to t are met. F. Zhang, A. Burns, "Schedulability Analysis for Real-Time Systems
 * with EDF Scheduling", 2009.
 */
static enum admission_result find_miss(const struct admission_set *set, uint64_t last, struct admission_report *report)
{
	uint64_t time = last + 1;

	for (unsigned step = 0; step < ADMISSION_MOST_STEPS; step++) {
		uint64_t demand;

		time = deadline_before(set, time, &report->which);
		if (time == 0)
			return ADMISSION_OK;
		demand = demand_until(set, time);
		report->deadline = time;
		report->response = demand;
		if (demand > time)
			return ADMISSION_E_LOAD;
		time = demand;
	}
	return ADMISSION_E_UNDECIDED;
}

static enum admission_result test_by_deadline(const struct admission_set *set, struct admission_report *report)
{
	uint64_t used = 0, last;

	for (unsigned n = 0; n < set->vcpu_count; n++)
		used += utilization_of(&set->vcpus[n]);
	for (unsigned n = 0; n < set->top_half_count; n++)
		used += share_of(set->top_halves[n].cost, set->top_halves[n].distance);
	report->asked_ppm = ppm_up(used);
	report->allowed_ppm = ADMISSION_PPM;
	if (set->vcpu_count == 0)
		return ADMISSION_OK;
	return find_last(set, used, &last) ? find_miss(set, last, report) : ADMISSION_E_LOAD;
}

/* ---- Both ------------------------------------------------------------------------------------------------------------- */

static bool is_exact(const struct admission_set *set)
{
	struct fraction ignored;

	for (unsigned n = 0; n < set->vcpu_count; n++)
		if (set->vcpus[n].kind == VCPU_IO || set->vcpus[n].blocking)
			return false;
	return set->top_half_count == 0 && set->switch_cost == 0 && (!set->edf || sum_exactly(set, &ignored));
}

enum admission_result admission_test(const struct admission_set *set, struct admission_report *report)
{
	enum admission_result result;
	unsigned which;

	result = check(set, &which);
	if (result) {
		report->which = which;
		return result;
	}
	*report = (struct admission_report){ .exact = is_exact(set) };
	return set->edf ? test_by_deadline(set, report) : test_by_rank(set, report);
}

static bool fits_with(const struct admission_set *set, struct reservation *vcpu, uint64_t amount)
{
	struct admission_report ignored;

	if (vcpu->kind == VCPU_MAIN)
		vcpu->budget = amount;
	else
		vcpu->percent = (uint32_t)amount;
	return admission_test(set, &ignored) == ADMISSION_OK;
}

/* Requires: it fits with `least`. */
static uint64_t largest_fit(const struct admission_set *set, struct reservation *vcpu, uint64_t least, uint64_t most)
{
	while (least < most) {
		uint64_t middle = most - (most - least) / 2;

		if (fits_with(set, vcpu, middle))
			least = middle;
		else
			most = middle - 1;
	}
	return least;
}

uint64_t admission_fit(const struct admission_set *set, struct reservation *vcpu)
{
	const struct reservation before = *vcpu;
	uint64_t least = greater(set->switch_cost, 1), most = vcpu->period, found = 0;

	if (vcpu->period == 0)
		return 0;
	if (vcpu->kind == VCPU_IO) {
		least = divide_up(least * PIBS_PERCENT, vcpu->period);
		most = PIBS_PERCENT;
	}
	if (fits_with(set, vcpu, least))
		found = largest_fit(set, vcpu, least, most);
	*vcpu = before;
	return found;
}
