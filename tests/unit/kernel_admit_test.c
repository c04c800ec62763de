/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. What admission at run time asks, of which set, and what it does with the answer: the VCPUs of the core in their order,
 * the new one where the scheduler will have it, top halves of the heartbeat, of doorbells and of lines, what a switch takes. The analysis
 * itself is not run here, and answers what it is told to; tests/config/test_admission_agrees.py runs both. kernel/core/admit.c
 */
#include "kernel/core/admit.h"

#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/clock.h"
#include "kernel/core/heartbeat.h"

enum { MOST = THREAD_VCPUS, LINES = 8, DOORBELLS = 16, BEAT = 2000000, RUNG_NS = 100000 };
#define HZ 2000000000U /* two ticks in a nanosecond */

static struct thread_vcpu core[MOST];
static unsigned count, made, changed;
static uint64_t made_blocking;
static unsigned slept;
static bool edf, another_asks;
static enum thread_result of_make, of_another;

/* What was asked, and is answered. */
static struct reservation asked[MOST];
static struct top_half asked_top_halves[DOORBELLS + 1 + DOORBELLS + LINES]; /* the heartbeat's first, but for rings that are made again */
static struct admission_set set;
static enum admission_result answer;
static unsigned answer_which, tests;
static uint64_t answer_fit;
static const struct reservation *fitted;

static struct bh_info page;
const struct bh_info *info = &page;

/* ---- Around it ---------------------------------------------------------------------------------------------------- */

uint64_t arch_counter(void)
{
	return 1000;
}

/* Who waits here waits for another that asks, and here for ever: it is told so. */
enum thread_result thread_sleep_until(uint64_t at)
{
	CHECK(at > 1000);
	slept++;
	return THREAD_E_HOLDS;
}

bool thread_is_by_deadline(void)
{
	return edf;
}

uint64_t heartbeat_distance(void)
{
	return BEAT;
}

static const struct admit_request nobody = { .name = "nobody" };
static struct admit_refusal of_nobody;

void thread_each_vcpu(void (*say)(const struct thread_vcpu *on))
{
	if (another_asks) {
		another_asks = false;
		of_another = admit_vcpu(&core[0], &nobody, &of_nobody);
		CHECK_EQ(slept, 1);
	}
	for (unsigned n = 0; n < count; n++)
		say(&core[n]);
}

static void place(struct thread_vcpu *on, const char *name, struct vcpu vcpu)
{
	*on = (struct thread_vcpu){ .name = name, .vcpu = vcpu };
	made++;
}

enum thread_result thread_make_vcpu(struct thread_vcpu *on, const char *name, uint64_t budget, uint64_t period)
{
	if (of_make == THREAD_OK)
		place(on, name, (struct vcpu){ .kind = VCPU_MAIN, .order = period, .main = { .budget = budget, .period = period } });
	return of_make;
}

enum thread_result thread_make_io_vcpu(struct thread_vcpu *on, const char *name, uint32_t percent, uint64_t period)
{
	if (of_make == THREAD_OK)
		place(on, name, (struct vcpu){ .kind = VCPU_IO, .order = period, .io = { .percent = percent, .period = period } });
	return of_make;
}

enum thread_result thread_change_vcpu(struct thread_vcpu *on, uint64_t budget, uint64_t period)
{
	CHECK(on == &core[1]);
	CHECK_EQ(budget, 7);
	CHECK_EQ(period, 50);
	changed++;
	return of_make;
}

static uint64_t answer_deadline;
enum admission_result admission_test(const struct admission_set *of, struct admission_report *report)
{
	CHECK(of->vcpu_count <= MOST && of->top_half_count <= DOORBELLS + 1 + DOORBELLS + LINES);
	memcpy(asked, of->vcpus, of->vcpu_count * sizeof(*asked));
	memcpy(asked_top_halves, of->top_halves, of->top_half_count * sizeof(*asked_top_halves));
	set = *of;
	tests++;
	report->which = answer_which;
	report->asked_ppm = 900000;
	report->deadline = answer_deadline;
	return answer;
}

uint64_t admission_fit(const struct admission_set *of, struct reservation *vcpu)
{
	CHECK(vcpu >= of->vcpus && vcpu < of->vcpus + of->vcpu_count);
	fitted = &asked[vcpu - of->vcpus];
	return answer_fit;
}

/* ---- Sets ----------------------------------------------------------------------------------------------------------- */

static void has_main(const char *name, uint64_t budget, uint64_t period)
{
	place(&core[count++], name, (struct vcpu){ .kind = VCPU_MAIN, .order = period, .main = { .budget = budget, .period = period } });
}

static void has_io(const char *name, uint32_t percent, uint64_t period, uint64_t serves)
{
	place(&core[count++], name, (struct vcpu){ .kind = VCPU_IO, .order = period, .io = { .percent = percent, .period = serves } });
}

static void was_asked(unsigned rank, struct reservation expected)
{
	check_context.round = rank;
	CHECK_EQ(asked[rank].kind, expected.kind);
	CHECK_EQ(asked[rank].percent, expected.percent);
	CHECK_EQ(asked[rank].budget, expected.budget);
	CHECK_EQ(asked[rank].period, expected.period);
	CHECK_EQ(asked[rank].blocking, expected.blocking);
}

/* Asks for one, and forgets it. Returns what came of it. */
static enum thread_result try(const struct admit_request *request, struct admit_refusal *refusal, unsigned expected_made)
{
	struct thread_vcpu on = { .name = "nobody" };
	enum thread_result result;

	made = tests = 0;
	result = admit_vcpu(&on, request, refusal);
	made_blocking = on.blocking;
	CHECK_EQ(made, expected_made);
	CHECK(!strcmp(on.name, expected_made ? request->name : "nobody"));
	return result;
}

static const struct admit_request new_main = { .name = "new", .kind = VCPU_MAIN, .budget = 5, .period = 20 };
static const struct admit_request new_io = { .name = "io", .kind = VCPU_IO, .percent = 30, .period = 60 };

/* The one that comes with the same period stands after those that are there, as it will in the scheduler. */
static void sets_in_order(void)
{
	struct admit_refusal refusal;

	has_main("first", 1, 20);
	has_main("second", 2, 40);
	has_io("server", 25, 60, 30); /* it serves one with a shorter period just now: its rank is its own */
	has_main("main", 20, 100);
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(refusal.result, ADMISSION_OK);
	CHECK_EQ(tests, 1);
	CHECK_EQ(set.vcpu_count, 5);
	CHECK_EQ(set.top_half_count, 1);
	CHECK_EQ(set.switch_cost, 2 * BH_VCPU_SWITCH_NS);
	CHECK_EQ(asked_top_halves[0].distance, BEAT);
	CHECK_EQ(asked_top_halves[0].cost, 2 * BH_VCPU_TOP_HALF_NS);
	CHECK(!set.edf);
	was_asked(0, (struct reservation){ .budget = 1, .period = 20 });
	was_asked(1, (struct reservation){ .budget = 5, .period = 20 });
	was_asked(2, (struct reservation){ .budget = 2, .period = 40 });
	was_asked(3, (struct reservation){ .kind = VCPU_IO, .percent = 25, .period = 60 });
	was_asked(4, (struct reservation){ .budget = 20, .period = 100 });
	CHECK_EQ(try(&new_io, &refusal, 1), THREAD_OK);
	was_asked(3, (struct reservation){ .kind = VCPU_IO, .percent = 30, .period = 60 });
	edf = true;
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK(set.edf);
	CHECK_EQ(set.top_half_count, 1); /* the heartbeat asks nobody how VCPUs go */
	edf = false;
}

/* What the platform says, where it does; a page of before has 0 there. */
static void costs_of_the_platform(void)
{
	struct admit_refusal refusal;

	page.switch_ns = 11000;
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.switch_cost, 22000);
	CHECK_EQ(asked_top_halves[0].cost, 2 * BH_VCPU_TOP_HALF_NS);
	page.switch_ns = 0;
	page.top_half_ns = UINT16_MAX;
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.switch_cost, 2 * BH_VCPU_SWITCH_NS);
	CHECK_EQ(asked_top_halves[0].cost, 2 * UINT16_MAX);
	page.top_half_ns = 0;
}

/* ---- Refusals ------------------------------------------------------------------------------------------------------- */

static void refused_with_numbers(void)
{
	struct admit_refusal refusal;

	answer = ADMISSION_E_LOAD;
	answer_which = 4;
	answer_fit = 3;
	CHECK_EQ(try(&new_main, &refusal, 0), THREAD_E_LOAD);
	CHECK_EQ(refusal.result, ADMISSION_E_LOAD);
	CHECK_EQ(refusal.report.asked_ppm, 900000);
	CHECK_EQ(refusal.fits, 3);
	CHECK(!strcmp(refusal.who, "main") && fitted == &asked[1]); /* who is late is another than who would fit */
	answer_which = 1;
	CHECK_EQ(try(&new_main, &refusal, 0), THREAD_E_LOAD);
	CHECK(!strcmp(refusal.who, "new"));
	answer = ADMISSION_E_UNDECIDED;
	CHECK_EQ(try(&new_io, &refusal, 0), THREAD_E_LOAD);
	CHECK(!strcmp(refusal.who, "second") && fitted == &asked[3]);
	edf = true;
	answer = ADMISSION_E_LOAD;
	CHECK_EQ(try(&new_main, &refusal, 0), THREAD_E_LOAD);
	CHECK(!refusal.who); /* by deadline the sum is nobody's alone */
	answer_deadline = 20;
	CHECK_EQ(try(&new_main, &refusal, 0), THREAD_E_LOAD);
	CHECK(!strcmp(refusal.who, "new"));
	answer_deadline = 0;
	edf = false;
}

/* What has no sense gets no numbers. */
static void refused_as_nonsense(void)
{
	struct admit_refusal refusal;

	answer_fit = 9;
	answer_which = 2;
	for (answer = ADMISSION_E_EDF_IO; answer >= ADMISSION_E_COST; answer--) {
		CHECK_EQ(try(&new_main, &refusal, 0), THREAD_E_INVALID);
		CHECK_EQ(refusal.result, answer);
		CHECK_EQ(refusal.fits, 0);
		if (answer == ADMISSION_E_DISTANCE || answer == ADMISSION_E_COST || answer == ADMISSION_E_COUNT)
			CHECK(!refusal.who); /* it is no VCPU */
		else
			CHECK(!strcmp(refusal.who, "second"));
	}
	answer = ADMISSION_OK;
	answer_which = 0;
}

static void failures_of_others(void)
{
	struct admit_refusal refusal;

	of_make = THREAD_E_FULL;
	CHECK_EQ(try(&new_main, &refusal, 0), THREAD_E_FULL);
	CHECK_EQ(refusal.result, ADMISSION_OK);
	of_make = THREAD_OK;
}

/* One asks at a time, on whichever core; nobody is left out afterwards, whatever became of it. */
static void one_at_a_time(void)
{
	struct admit_refusal refusal;

	another_asks = true;
	CHECK_EQ(slept, 0);
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(of_another, THREAD_E_HOLDS);
	CHECK_EQ(tests, 1);
	CHECK_EQ(set.top_half_count, 1);
}

/* The scheduler has as many ranks as the analysis knows: no set is asked for that has one more. */
static void full(void)
{
	struct admit_refusal refusal;
	unsigned before = count;

	while (count < MOST - 1)
		has_main("more", 1, 1000);
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.vcpu_count, MOST);
	has_main("more", 1, 1000);
	CHECK_EQ(try(&new_main, &refusal, 0), THREAD_E_FULL);
	CHECK_EQ(refusal.result, ADMISSION_OK);
	CHECK_EQ(tests, 0);
	count = before;
}

/* ---- Changes -------------------------------------------------------------------------------------------------------- */

/* Others are what they are; the one that changes counts once, with what it is to have. */
static void changes(void)
{
	const struct admit_request other = { .name = "second", .kind = VCPU_MAIN, .budget = 7, .period = 50 };
	struct admit_refusal refusal;

	CHECK_EQ(admit_change(&core[1], &other, &refusal), THREAD_OK);
	CHECK_EQ(changed, 1);
	CHECK_EQ(set.vcpu_count, 4);
	was_asked(0, (struct reservation){ .budget = 1, .period = 20 });
	was_asked(1, (struct reservation){ .budget = 7, .period = 50 });
	was_asked(2, (struct reservation){ .kind = VCPU_IO, .percent = 25, .period = 60 });
	answer = ADMISSION_E_LOAD;
	CHECK_EQ(admit_change(&core[1], &other, &refusal), THREAD_E_LOAD);
	CHECK_EQ(changed, 1);
	CHECK(fitted == &asked[1]);
	answer = ADMISSION_OK;
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.vcpu_count, 5); /* it counts again */
}

/* ---- Blocking --------------------------------------------------------------------------------------------------------- */

/* It counts for the one that is asked for, and for as long as that is there. */
static void blocking_stays(void)
{
	const struct admit_request other = { .name = "second", .kind = VCPU_MAIN, .budget = 7, .period = 50 };
	struct admit_request waits = new_main;
	struct admit_refusal refusal;

	waits.blocking = 8;
	CHECK_EQ(try(&waits, &refusal, 1), THREAD_OK);
	was_asked(1, (struct reservation){ .budget = 5, .period = 20, .blocking = 8 });
	was_asked(2, (struct reservation){ .budget = 2, .period = 40 });
	CHECK_EQ(made_blocking, 8);
	core[1].blocking = 9;
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	was_asked(1, (struct reservation){ .budget = 5, .period = 20 });
	was_asked(2, (struct reservation){ .budget = 2, .period = 40, .blocking = 9 });
	CHECK_EQ(admit_change(&core[1], &other, &refusal), THREAD_OK);
	was_asked(1, (struct reservation){ .budget = 7, .period = 50, .blocking = 9 });
	core[1].blocking = 0;
}

/* ---- Top halves ------------------------------------------------------------------------------------------------------- */

static struct admit_request serving(uint64_t distance, uint64_t cost)
{
	struct admit_request request = new_io;

	request.line = (struct top_half){ .distance = distance, .cost = cost };
	return request;
}

/* A line counts with the VCPU that serves it, and not without. */
static void top_halves_count(void)
{
	const struct admit_request calm = serving(100, 4), storm = serving(50, 6);
	struct admit_refusal refusal;

	CHECK_EQ(try(&calm, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.vcpu_count, 5);
	CHECK_EQ(set.top_half_count, 2);
	answer = ADMISSION_E_LOAD;
	CHECK_EQ(try(&storm, &refusal, 0), THREAD_E_LOAD);
	CHECK_EQ(set.top_half_count, 3);
	CHECK_EQ(refusal.fits, answer_fit);
	answer = ADMISSION_E_COST;
	CHECK_EQ(try(&storm, &refusal, 0), THREAD_E_INVALID);
	answer = ADMISSION_OK;
	of_make = THREAD_E_FULL;
	CHECK_EQ(try(&storm, &refusal, 0), THREAD_E_FULL);
	of_make = THREAD_OK;
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK); /* without those that were refused */
	CHECK_EQ(set.top_half_count, 2);
	was_asked(1, (struct reservation){ .budget = 5, .period = 20 }); /* top halves block nobody: admission.c counts them */
	CHECK_EQ(try(&storm, &refusal, 1), THREAD_OK);
	CHECK_EQ(asked_top_halves[0].distance, BEAT);
	CHECK_EQ(asked_top_halves[1].distance, 100);
	CHECK_EQ(asked_top_halves[1].cost, 4);
	CHECK_EQ(asked_top_halves[2].distance, 50);
	CHECK_EQ(asked_top_halves[2].cost, 6);
}

/* Lines lead to the first core. */
static void other_cores_have_none(void)
{
	struct admit_refusal refusal;

	fake_cpu.slot = 1;
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.top_half_count, 0);
	was_asked(1, (struct reservation){ .budget = 5, .period = 20 });
	fake_cpu.slot = 0;
}

static void many_top_halves(void)
{
	const struct admit_request one = serving(1000, 1);
	struct admit_refusal refusal;

	for (unsigned n = 2; n < LINES; n++)
		CHECK_EQ(try(&one, &refusal, 1), THREAD_OK);
	CHECK_EQ(try(&one, &refusal, 0), THREAD_E_FULL);
	CHECK_EQ(tests, 0);
	CHECK_EQ(set.top_half_count, 1 + LINES);
	CHECK_EQ(try(&new_io, &refusal, 1), THREAD_OK); /* it serves none that is limited */
}

/* ---- Doorbells ---------------------------------------------------------------------------------------------------------- */

static void has_doorbell(uint32_t kind, uint64_t own_ns, uint64_t other_ns)
{
	page.grants[page.grant_count++] = (struct bh_grant){ .kind = kind, .line = 64, .gpa = own_ns, .size = other_ns };
}

/* As often as the other end may ring, before lines, on the first core; without a VCPU that anybody makes for them. */
static void doorbells_count(void)
{
	struct admit_refusal refusal;

	has_doorbell(BH_GRANT_DOORBELL, 0, RUNG_NS);
	has_doorbell(BH_GRANT_CHANNEL, 6, 7);
	has_doorbell(BH_GRANT_DOORBELL, 0, 3 * RUNG_NS);
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.top_half_count, 1 + 2 + LINES);
	CHECK_EQ(asked_top_halves[0].distance, BEAT);
	CHECK_EQ(asked_top_halves[1].distance, 2 * RUNG_NS);
	CHECK_EQ(asked_top_halves[1].cost, 2 * BH_VCPU_TOP_HALF_NS);
	CHECK_EQ(asked_top_halves[2].distance, 6 * RUNG_NS);
	CHECK_EQ(asked_top_halves[2].cost, 2 * BH_VCPU_TOP_HALF_NS);
	page.top_half_ns = 2000;
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.top_half_count, 1 + 2 + LINES); /* they are counted anew each time */
	CHECK_EQ(asked_top_halves[2].cost, 4000);
	page.top_half_ns = 0;
	fake_cpu.slot = 1;
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.top_half_count, 0);
	fake_cpu.slot = 0;
	page.grant_count = 0;
}

/* A ring that came too soon is made again by a timer, on whatever core its thread is: before all others, as often as this end may ring. */
static void rings_again_count(void)
{
	struct admit_refusal refusal;

	has_doorbell(BH_GRANT_DOORBELL, 5 * RUNG_NS, 0); /* it rings, and is not rung */
	has_doorbell(BH_GRANT_CHANNEL, 6, 7);
	has_doorbell(BH_GRANT_DOORBELL, 7 * RUNG_NS, RUNG_NS);
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.top_half_count, 2 + 1 + 1 + LINES);
	CHECK_EQ(asked_top_halves[0].distance, 10 * RUNG_NS);
	CHECK_EQ(asked_top_halves[0].cost, 2 * BH_VCPU_TOP_HALF_NS);
	CHECK_EQ(asked_top_halves[1].distance, 14 * RUNG_NS);
	CHECK_EQ(asked_top_halves[2].distance, BEAT);
	CHECK_EQ(asked_top_halves[3].distance, 2 * RUNG_NS);
	fake_cpu.slot = 1;
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.top_half_count, 2);
	CHECK_EQ(asked_top_halves[1].distance, 14 * RUNG_NS);
	fake_cpu.slot = 0;
	page.grant_count = 0;
}

/* A line that is refused or comes anew is where the last doorbell ends. */
static void lines_after_doorbells(void)
{
	const struct admit_request storm = serving(50, 6);
	struct admit_refusal refusal;

	has_doorbell(BH_GRANT_DOORBELL, 9, RUNG_NS);
	answer = ADMISSION_E_LOAD;
	CHECK_EQ(try(&storm, &refusal, 0), THREAD_E_LOAD);
	CHECK_EQ(set.top_half_count, 4);
	CHECK_EQ(asked_top_halves[2].distance, 2 * RUNG_NS);
	CHECK_EQ(asked_top_halves[3].distance, 50);
	CHECK_EQ(asked_top_halves[3].cost, 6);
	answer = ADMISSION_OK;
	page.grant_count = 0;
}

static void many_doorbells(void)
{
	struct admit_refusal refusal;

	for (unsigned n = 0; n < DOORBELLS + 1; n++)
		has_doorbell(BH_GRANT_DOORBELL, 0, (n + 1) * RUNG_NS);
	CHECK_EQ(try(&new_main, &refusal, 1), THREAD_OK);
	CHECK_EQ(set.top_half_count, 1 + DOORBELLS + LINES);
	CHECK_EQ(asked_top_halves[DOORBELLS].distance, 2 * DOORBELLS * RUNG_NS);
}

int main(void)
{
	clock_init(HZ);
	sets_in_order();
	costs_of_the_platform();
	refused_with_numbers();
	refused_as_nonsense();
	failures_of_others();
	one_at_a_time();
	full();
	changes();
	blocking_stays();
	lines_after_doorbells();
	top_halves_count();
	other_cores_have_none();
	many_top_halves();
	doorbells_count();
	rings_again_count();
	many_doorbells();
	CHECK_EQ(slept, 1); /* nobody kept others out */
	return 0;
}
