/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Admission: literal sets, each mistake in the input, limits; then the analysis against the scheduler itself, which never
 * takes longer than the response time, and takes as long where that is called exact. kernel/sched/{admission,sched,sporadic,pibs,ranks}.c
 */
#include "kernel/sched/admission.h"

#include <string.h>

#include "check.h"
#include "random.h"
#include "sched_world.h"

enum { SETS = 2500 };

#define COUNT(array)        (sizeof(array) / sizeof((array)[0]))
#define MAIN(c, t)          { .kind = VCPU_MAIN, .budget = (c), .period = (t) }
#define IO(p, t)            { .kind = VCPU_IO, .percent = (p), .period = (t) }
#define SET(array)          { .vcpus = (array), .vcpu_count = COUNT(array) }
#define EDF_SET(array)      { .vcpus = (array), .vcpu_count = COUNT(array), .edf = true }
#define CHECK_SAYS(set, is) CHECK_EQ(admission_test(&(set), &report), is)

static struct admission_report report;

static uint64_t response_of(const struct admission_set *set, unsigned rank)
{
	uint64_t response;

	CHECK_EQ(admission_response(set, rank, &response), ADMISSION_OK);
	return response;
}

/* ---- Literal sets ------------------------------------------------------------------------------------------------- */

/* Refused by the bound, whose numbers are given. */
static void only_by_response(const struct admission_set *set, uint64_t asked_ppm, uint64_t allowed_ppm, const uint64_t *responses)
{
	CHECK_SAYS(*set, ADMISSION_OK);
	CHECK(!report.by_bound && report.by_response && report.exact);
	CHECK_EQ(report.asked_ppm, asked_ppm);
	CHECK_EQ(report.allowed_ppm, allowed_ppm);
	for (unsigned rank = 0; rank < set->vcpu_count; rank++)
		CHECK_EQ(response_of(set, rank), responses[rank]);
}

/* Burns and Wellings' textbook sets. */
static void exact_response_times(void)
{
	const struct reservation full[] = { MAIN(3, 7), MAIN(3, 12), MAIN(5, 20) };
	const struct reservation harmonic[] = { MAIN(5, 20), MAIN(10, 40), MAIN(40, 80) };
	const struct reservation late[] = { MAIN(10, 30), MAIN(10, 40), MAIN(12, 50) };

	only_by_response(&(struct admission_set)SET(full), 928572, 779763, (const uint64_t[]){ 3, 6, 20 });
	only_by_response(&(struct admission_set)SET(harmonic), 1000000, 779763, (const uint64_t[]){ 5, 15, 80 });
	CHECK_SAYS((struct admission_set)SET(late), ADMISSION_E_LOAD);
	CHECK(!report.by_bound && !report.by_response && report.exact);
	CHECK_EQ(report.asked_ppm, 823334);
	CHECK_EQ(report.which, 2);
	CHECK_EQ(report.response, 52);
	CHECK_EQ(report.deadline, 50);
}

/* Asked: 1/5 is rounded up each time. */
static void bound_refuses_and_response_times_admit(void)
{
	const struct reservation equal[] = { MAIN(20, 100), MAIN(20, 100), MAIN(20, 100), MAIN(20, 100) };
	const struct reservation mixed[] = { MAIN(10, 50), MAIN(20, 100), MAIN(20, 100), MAIN(20, 100), MAIN(10, 100) };

	only_by_response(&(struct admission_set)SET(equal), 800001, 756828, (const uint64_t[]){ 20, 40, 60, 80 });
	only_by_response(&(struct admission_set)SET(mixed), 900001, 743491, (const uint64_t[]){ 10, 30, 50, 80, 90 });
}

/* The bound of RTAS 2011, with I/O VCPUs. */
static void bound_with_io(void)
{
	const struct reservation two[] = { IO(10, 100), MAIN(20, 100), MAIN(20, 100) };
	const struct reservation three[] = { IO(10, 100), IO(10, 100), MAIN(20, 100), MAIN(20, 100), MAIN(20, 100) };
	const struct reservation quest[] = { IO(10, 100),   IO(10, 100),   IO(10, 100),  MAIN(20, 100),
					     MAIN(20, 100), MAIN(20, 100), MAIN(20, 100) };
	struct admission_set set = SET(two);

	CHECK_SAYS(set, ADMISSION_OK);
	CHECK(report.by_bound && !report.exact);
	CHECK(report.asked_ppm == 590000 || report.asked_ppm == 590001);
	set = (struct admission_set)SET(three);
	CHECK_SAYS(set, ADMISSION_OK);
	CHECK(!report.by_bound && report.by_response);
	CHECK(report.asked_ppm == 980000 || report.asked_ppm == 980001);
	set = (struct admission_set)SET(quest);
	CHECK_SAYS(set, ADMISSION_E_LOAD);
	CHECK(!report.by_bound && !report.by_response);
	CHECK(report.asked_ppm == 1370000 || report.asked_ppm == 1370001);
	CHECK_EQ(report.which, 5); /* 3 x 20 and 30 + 0.3 (t - 10) are more than t = 100 */
}

/* What a report says, for each of the terms. */
static void terms(void)
{
	struct reservation pair[] = { MAIN(2, 10), MAIN(4, 20) };
	const struct top_half tops[] = { { .distance = 5, .cost = 1 } };
	struct admission_set set = SET(pair);

	pair[0].blocking = 3;
	CHECK_EQ(response_of(&set, 0), 5);
	CHECK_EQ(response_of(&set, 1), 6);
	set.switch_cost = 1;
	CHECK_EQ(response_of(&set, 0), 7); /* one that runs at first stops late, and the thread of the other times out */
	CHECK_EQ(response_of(&set, 1), 9); /* and it has not paid for its time-out */
	set.top_halves = tops;
	set.top_half_count = 1;
	CHECK_EQ(response_of(&set, 0), 10); /* 7, and by 10 two of them, and once more */
	CHECK_EQ(response_of(&set, 1), 15); /* 4, and 3 for switches; by 15 twice 2 of the first, and 3 + 1 top halves */
	CHECK_SAYS(set, ADMISSION_OK);
	CHECK(!report.by_bound && report.by_response && !report.exact);
	CHECK_EQ(report.asked_ppm, 1200001); /* 0.4, and of the first 3 + 2 + 3 of 10 */
	set.switch_cost = 0;
	set.top_half_count = 0;
	CHECK_SAYS(set, ADMISSION_OK);
	CHECK(report.by_bound && !report.exact);
	CHECK_EQ(report.asked_ppm, 700001);
}

static void bound_needs_order(void)
{
	const struct reservation inverted[] = { MAIN(6, 40), MAIN(1, 6) }, long_io[] = { IO(20, 50), IO(10, 10), MAIN(1, 10) };
	struct admission_set set = SET(inverted);

	CHECK_SAYS(set, ADMISSION_E_LOAD);
	CHECK(report.asked_ppm < report.allowed_ppm && !report.by_bound);
	set = (struct admission_set)SET(long_io);
	CHECK_SAYS(set, ADMISSION_E_LOAD);
	CHECK(report.asked_ppm < report.allowed_ppm && !report.by_bound);
	CHECK_EQ(report.which, 1);
}

static void bounds_fall(void)
{
	CHECK_EQ(admission_bound(0), 1ULL << 40);
	CHECK_EQ(admission_bound(1), 1ULL << 40);
	CHECK_EQ(admission_bound(2), 910865256423); /* 2 (sqrt 2 - 1) = 0.82842712474 */
	for (unsigned n = 2; n <= ADMISSION_MOST_VCPUS; n++)
		CHECK(admission_bound(n) < admission_bound(n - 1));
	CHECK(admission_bound(ADMISSION_MOST_VCPUS) > 762123384785); /* ln 2 */
}

static void pair_by_deadline(uint64_t blocking, unsigned top_halves, uint64_t switch_cost, enum admission_result expected)
{
	const struct top_half top = { .distance = 10, .cost = 1 };
	const struct reservation pair[] = { { .kind = VCPU_MAIN, .budget = 4, .period = 10, .blocking = blocking }, MAIN(11, 30) };
	struct admission_set set = EDF_SET(pair);

	set.top_halves = &top;
	set.top_half_count = top_halves;
	set.switch_cost = switch_cost;
	CHECK_SAYS(set, expected);
	CHECK(!report.exact);
}

static void trio_by_deadline(uint64_t budget, enum admission_result expected)
{
	const struct reservation trio[] = { MAIN(8, 30), MAIN(8, 30), MAIN(budget, 30) };
	struct admission_set set = EDF_SET(trio);

	set.switch_cost = 1;
	CHECK_SAYS(set, expected);
}

static void by_deadline(void)
{
	const struct reservation fifths[] = { MAIN(20, 100), MAIN(20, 100), MAIN(20, 100), MAIN(20, 100), MAIN(20, 100) };
	const struct reservation over[] = { MAIN(6, 10), MAIN(9, 19) }, io[] = { MAIN(4, 10), IO(10, 10) };
	const uint64_t t = ADMISSION_MOST_TICKS / 2 + 1, t2 = ADMISSION_MOST_TICKS - 1; /* their common multiple does not fit 64 bits */
	const struct reservation wide[] = { MAIN(1, t), MAIN(1, t2) };
	const struct reservation barely_over[] = { MAIN(1ULL << 19, 1ULL << 20), MAIN((1ULL << 43) + 1, (1ULL << 44) - 1) };
	const struct reservation wide_over[] = { MAIN(t / 10 * 6, t), MAIN(t2 / 19 * 9, t2) };

	CHECK_SAYS((struct admission_set)EDF_SET(fifths), ADMISSION_OK);
	CHECK(report.exact && !report.by_bound && !report.by_response);
	CHECK_SAYS((struct admission_set)EDF_SET(over), ADMISSION_E_LOAD);
	CHECK_EQ(report.allowed_ppm, 1000000);
	CHECK_EQ(report.asked_ppm, 1073685);
	CHECK_SAYS((struct admission_set)EDF_SET(io), ADMISSION_E_EDF_IO);
	CHECK_EQ(report.which, 1);
	CHECK_SAYS((struct admission_set)EDF_SET(wide), ADMISSION_OK);
	CHECK(!report.exact);
	CHECK_SAYS((struct admission_set)EDF_SET(wide_over), ADMISSION_E_LOAD);
	CHECK_SAYS((struct admission_set)EDF_SET(barely_over), ADMISSION_E_LOAD);
	pair_by_deadline(6, 0, 0, ADMISSION_OK);
	pair_by_deadline(7, 0, 0, ADMISSION_E_LOAD);
	CHECK(report.deadline == 10 && report.response == 11);
	pair_by_deadline(3, 1, 0, ADMISSION_OK); /* 12 + 11 + 3 + 4 by 30 */
	pair_by_deadline(4, 1, 0, ADMISSION_E_LOAD);
	CHECK(report.deadline == 30 && report.response == 31);
	pair_by_deadline(0, 0, 1, ADMISSION_OK); /* 4 + 4 by 10, 12 + 11 + 4 by 30 */
	pair_by_deadline(0, 1, 1, ADMISSION_E_LOAD);
	CHECK(report.deadline == 30 && report.response == 31); /* 12 + 11 + 4 + 4 */
	pair_by_deadline(0, 0, 2, ADMISSION_E_LOAD);
	CHECK(report.deadline == 30 && report.response == 31);
	trio_by_deadline(7, ADMISSION_OK); /* 8 + 8 + 7 + 7 by 30 */
	trio_by_deadline(8, ADMISSION_E_LOAD);
	CHECK(report.deadline == 30 && report.response == 31);
}

/* ---- What would fit --------------------------------------------------------------------------------------------- */

static void what_would_fit(void)
{
	struct reservation late[] = { MAIN(10, 30), MAIN(10, 40), MAIN(12, 50) };
	struct reservation io[] = { IO(40, 10), MAIN(4, 10) };
	struct admission_set set = SET(late);

	CHECK_EQ(admission_fit(&set, &late[2]), 10);
	CHECK_EQ(late[2].budget, 12);
	CHECK_EQ(admission_fit(&set, &late[0]), 9);
	set.switch_cost = 1;
	CHECK_EQ(admission_fit(&set, &late[2]), 5);
	set.switch_cost = 11;
	CHECK_EQ(admission_fit(&set, &late[2]), 0);
	set.switch_cost = 2;
	late[2].budget = 2;
	CHECK_EQ(admission_fit(&set, &late[0]), 9); /* 2 by 40, with 5 switches, twice 9, and 10 */
	set.switch_cost = 0;
	late[2].budget = 0;
	CHECK_EQ(admission_fit(&set, &late[2]), 10);
	late[2] = (struct reservation)MAIN(1, 0);
	CHECK_EQ(admission_fit(&set, &late[2]), 0);
	late[2] = (struct reservation)MAIN(12, 50);
	set.edf = true;
	CHECK_EQ(admission_fit(&set, &late[2]), 20);
	set = (struct admission_set)SET(io);
	CHECK_EQ(admission_fit(&set, &io[0]), 49); /* still 4 of 10, as with 40 */
	io[1].budget = 9;
	CHECK_EQ(admission_fit(&set, &io[0]), 11);
	io[1].budget = 10;
	CHECK_EQ(admission_fit(&set, &io[0]), 0);
}

/* ---- Mistakes ----------------------------------------------------------------------------------------------------- */

static void wrong_vcpu(struct reservation wrong, enum admission_result expected)
{
	struct reservation vcpus[] = { MAIN(1, 10), MAIN(1, 10), MAIN(1, 10) };
	struct admission_set set = SET(vcpus);
	struct admission_report before;

	set.switch_cost = 1;
	vcpus[1] = wrong;
	for (unsigned edf = 0; edf < 2; edf++) {
		set.edf = edf;
		memset(&report, 0x5a, sizeof(report));
		before = report;
		CHECK_SAYS(set, expected);
		CHECK_EQ(report.which, 1);
		before.which = 1;
		CHECK(memcmp(&before, &report, sizeof(report)) == 0);
	}
}

static void wrong_top_half(struct top_half wrong, enum admission_result expected)
{
	const struct reservation vcpus[] = { MAIN(1, 10) };
	const struct top_half tops[] = { { 100, 1 }, { 100, 1 }, wrong };
	struct admission_set set = { .vcpus = vcpus, .vcpu_count = 1, .top_halves = tops, .top_half_count = 3 };

	CHECK_SAYS(set, expected);
	CHECK_EQ(report.which, 2);
}

static void mistakes(void)
{
	const struct reservation blocked = { .kind = VCPU_MAIN, .budget = 1, .period = 2, .blocking = ADMISSION_MOST_TICKS + 1 };
	static const struct reservation many[ADMISSION_MOST_VCPUS + 1];
	struct admission_set set = SET(many);

	CHECK_SAYS(set, ADMISSION_E_COUNT);
	set = (struct admission_set){ .vcpus = many, .top_half_count = ADMISSION_MOST_TOP_HALVES + 1 };
	CHECK_SAYS(set, ADMISSION_E_COUNT);
	wrong_vcpu((struct reservation)MAIN(1, 0), ADMISSION_E_PERIOD);
	wrong_vcpu((struct reservation)MAIN(1, ADMISSION_MOST_TICKS + 1), ADMISSION_E_PERIOD);
	wrong_vcpu((struct reservation)MAIN(1, UINT64_MAX), ADMISSION_E_PERIOD);
	wrong_vcpu((struct reservation)MAIN(0, 10), ADMISSION_E_BUDGET);
	wrong_vcpu((struct reservation)MAIN(11, 10), ADMISSION_E_BUDGET);
	wrong_vcpu((struct reservation)MAIN(UINT64_MAX, 10), ADMISSION_E_BUDGET);
	wrong_vcpu((struct reservation)IO(0, 10), ADMISSION_E_PERCENT);
	wrong_vcpu((struct reservation)IO(101, 10), ADMISSION_E_PERCENT);
	wrong_vcpu((struct reservation)IO(9, 10), ADMISSION_E_BUDGET);
	wrong_vcpu((struct reservation)IO(10, UINT64_MAX), ADMISSION_E_PERIOD);
	wrong_vcpu((struct reservation)IO(10, 0), ADMISSION_E_PERIOD);
	wrong_vcpu(blocked, ADMISSION_E_BLOCKING);
	wrong_top_half((struct top_half){ 0, 1 }, ADMISSION_E_DISTANCE);
	wrong_top_half((struct top_half){ UINT64_MAX, 1 }, ADMISSION_E_DISTANCE);
	wrong_top_half((struct top_half){ 10, 0 }, ADMISSION_E_COST);
	wrong_top_half((struct top_half){ 10, 11 }, ADMISSION_E_COST);
}

static void below_a_switch(void)
{
	struct reservation vcpus[] = { MAIN(5, 10), MAIN(4, 100), IO(4, 100) };
	struct admission_set set = SET(vcpus);

	set.switch_cost = 5;
	CHECK_SAYS(set, ADMISSION_E_SWITCH);
	CHECK_EQ(report.which, 1);
	vcpus[1].budget = 5;
	CHECK_SAYS(set, ADMISSION_E_SWITCH);
	CHECK_EQ(report.which, 2);
	set.switch_cost = UINT64_MAX;
	CHECK_SAYS(set, ADMISSION_E_SWITCH);
	CHECK_EQ(report.which, 0);
}

/* The largest numbers that are taken: nothing wraps, which the sanitizers would not see in unsigned numbers, so results are checked. */
static void largest(void)
{
	static struct reservation vcpus[ADMISSION_MOST_VCPUS];
	static struct top_half tops[ADMISSION_MOST_TOP_HALVES];
	struct admission_set set = { .vcpus = vcpus, .top_halves = tops, .vcpu_count = ADMISSION_MOST_VCPUS };

	for (unsigned n = 0; n < ADMISSION_MOST_VCPUS; n++)
		vcpus[n] = (struct reservation)MAIN(ADMISSION_MOST_TICKS / ADMISSION_MOST_VCPUS, ADMISSION_MOST_TICKS);
	CHECK_SAYS(set, ADMISSION_OK);
	CHECK_EQ(report.response, ADMISSION_MOST_TICKS);
	set.edf = true;
	CHECK_SAYS(set, ADMISSION_OK);
	for (unsigned n = 0; n < ADMISSION_MOST_VCPUS; n++) {
		vcpus[n].budget = vcpus[n].period;
		vcpus[n].blocking = ADMISSION_MOST_TICKS;
		tops[n] = (struct top_half){ ADMISSION_MOST_TICKS, ADMISSION_MOST_TICKS };
	}
	set.switch_cost = ADMISSION_MOST_TICKS;
	set.top_half_count = ADMISSION_MOST_TOP_HALVES;
	CHECK_SAYS(set, ADMISSION_E_LOAD);
	CHECK_EQ(report.asked_ppm, 128000000);
	set.edf = false;
	CHECK_SAYS(set, ADMISSION_E_LOAD);
	CHECK_EQ(report.response, (1 + 1 + 64 + 2 * 64) * ADMISSION_MOST_TICKS);
	vcpus[0] = (struct reservation){ .kind = VCPU_MAIN, .budget = 1, .period = 1, .blocking = ADMISSION_MOST_TICKS };
	set.switch_cost = 0;
	CHECK_SAYS(set, ADMISSION_E_LOAD);
	CHECK(report.asked_ppm > 65536 * 1000000ULL);
}

/* A response time that is a very long way off, and a last deadline that is: no answer, instead of no end. */
static void undecided(void)
{
	const struct reservation slow[] = { MAIN(999999, 1000000), MAIN(1ULL << 23, 1ULL << 43) };
	const struct reservation full[] = { MAIN(ADMISSION_MOST_TICKS - (1ULL << 33) - (3ULL << 23), ADMISSION_MOST_TICKS) };
	const struct top_half top = { .distance = ADMISSION_MOST_TICKS, .cost = 1ULL << 33 };
	struct admission_set set = SET(slow);

	CHECK_SAYS(set, ADMISSION_E_UNDECIDED);
	CHECK_EQ(report.which, 1);
	CHECK(!report.by_bound && !report.by_response);
	set = (struct admission_set){ .vcpus = full, .vcpu_count = 1, .top_halves = &top, .top_half_count = 1, .edf = true };
	CHECK_SAYS(set, ADMISSION_E_LOAD);
	CHECK(report.deadline == 0 && report.asked_ppm == 999999);
}

/* ---- Against the scheduler -------------------------------------------------------------------------------------- */

/* A small piece of work and then a whole budget: more than a budget in a period. Who has a longer period waits as long for
 * its own as ever: its I/O VCPU has the budget of its rank's period. */
static void pieces_of_work(void)
{
	struct reservation pair[] = { IO(50, 10), MAIN(2, 10) };
	const struct admission_set set = SET(pair);

	CHECK_EQ(response_of(&set, 1), 8);
	CHECK_EQ(world_done_behind(&set, "+          ", 10), 7);
	CHECK_EQ(world_done_behind(&set, "+/         ", 10), 8);
	CHECK_EQ(world_done_behind(&set, "+                             ", 40), 7);
}

struct drawn {
	struct reservation vcpus[WORLD_VCPUS];
	struct top_half tops[WORLD_TOPS];
	struct admission_set set;
};

static void draw_vcpu(struct reservation *one, uint64_t period, bool with_io)
{
	*one = (struct reservation)MAIN(1 + below(period / 2), period);
	if (with_io && below(3) == 0)
		*one = (struct reservation){ .kind = VCPU_IO, .percent = (uint32_t)(100 / period + 1 + below(30)), .period = period };
}

static void draw(struct drawn *drawn, bool exact)
{
	uint64_t period = 5 + below(8);

	*drawn = (struct drawn){ .set = { .vcpus = drawn->vcpus, .top_halves = drawn->tops, .vcpu_count = 1 + (unsigned)below(4) } };
	for (unsigned n = 0; n < drawn->set.vcpu_count; n++, period += below(12))
		draw_vcpu(&drawn->vcpus[n], period, !exact);
	if (exact)
		return;
	drawn->set.switch_cost = below(4);
	drawn->set.top_half_count = (unsigned)below(WORLD_TOPS + 1);
	for (unsigned n = 0; n < WORLD_TOPS; n++)
		drawn->tops[n] = (struct top_half){ .distance = 4 + below(20), .cost = 1 + below(2) };
	for (unsigned n = 0; n < drawn->set.vcpu_count; n++)
		drawn->vcpus[n].blocking = below(2) ? below(4) : 0;
}

static void draw_mains(struct drawn *drawn)
{
	uint64_t period = 30 + below(20);

	*drawn = (struct drawn){ .set = { .vcpus = drawn->vcpus, .vcpu_count = 2 + (unsigned)below(WORLD_VCPUS - 1), .edf = true } };
	drawn->set.switch_cost = below(4);
	drawn->set.top_halves = drawn->tops;
	drawn->set.top_half_count = (unsigned)below(2);
	drawn->tops[0] = (struct top_half){ .distance = 10 + below(50), .cost = 1 + below(2) };
	for (unsigned n = 0; n < drawn->set.vcpu_count; n++, period += below(20))
		draw_vcpu(&drawn->vcpus[n], period, false);
	for (unsigned n = 0; n < drawn->set.vcpu_count; n++)
		drawn->vcpus[n].budget = 4 + below(period / 6);
}

/* Nobody takes longer than the analysis says; and as long, when all others wake at once and it is called exact. */
static void against_the_scheduler(uint64_t sets, bool exact)
{
	static struct drawn drawn;
	uint64_t response, reached = 0, tried = 0;

	for (uint64_t n = 0; tried < sets; n++) {
		struct world world = { .set = &drawn.set, .together = exact };

		check_context.round = random_state = n;
		draw(&drawn, exact);
		world.victim = (unsigned)below(drawn.set.vcpu_count);
		if (admission_test(&drawn.set, &report) < ADMISSION_E_LOAD ||
		    admission_response(&drawn.set, world.victim, &response) != ADMISSION_OK)
			continue;
		tried++;
		uint64_t seen = world_response(&world, ~n, 3000);

		CHECK(seen <= response);
		reached += seen == response;
		if (exact)
			CHECK_EQ(seen, response);
	}
	printf("%s: response times reached in %ju of %ju sets\n", exact ? "exact" : "sufficient", (uintmax_t)reached, (uintmax_t)tried);
	CHECK(reached > sets / 10);
}

/* Sets that are just full: nobody misses a deadline. */
static void against_deadlines(uint64_t sets)
{
	static struct drawn drawn;
	uint64_t full = 0, tried = 0;

	for (uint64_t n = 0; tried < sets; n++) {
		struct world world = { .set = &drawn.set };
		struct reservation *one;

		check_context.round = random_state = n;
		world.busy = n % 2;
		draw_mains(&drawn);
		one = &drawn.vcpus[below(drawn.set.vcpu_count)];
		one->budget = admission_fit(&drawn.set, one);
		world.victim = (unsigned)below(drawn.set.vcpu_count);
		if (!one->budget)
			continue;
		tried++;
		uint64_t seen = world_response(&world, ~n, 3000), period = drawn.vcpus[world.victim].period;

		CHECK(seen <= period);
		full += seen == period;
	}
	printf("by deadline: had at the last moment in %ju of %ju sets\n", (uintmax_t)full, (uintmax_t)tried);
	CHECK(full);
}

int main(int count, char **arguments)
{
	uint64_t sets = count > 1 ? strtoull(arguments[1], NULL, 0) : SETS;

	exact_response_times();
	bound_refuses_and_response_times_admit();
	bound_with_io();
	terms();
	bound_needs_order();
	bounds_fall();
	by_deadline();
	what_would_fit();
	mistakes();
	below_a_switch();
	largest();
	undecided();
	check_context.subject = "against the scheduler";
	pieces_of_work();
	against_the_scheduler(sets, true);
	against_the_scheduler(sets, false);
	against_deadlines(sets);
	return 0;
}
