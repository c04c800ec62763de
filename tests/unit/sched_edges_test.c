/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler, BH-F4.trace. Edges of the analysis that random sets pass by, each as a set of its own, and of what traces say of
 * budgets. kernel/sched/admission.c, kernel/core/trace_sched.c
 */
#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "kernel/core/thread.h"
#include "kernel/core/trace_sched.h"
#include "kernel/sched/admission.h"

enum { MOST = 16, LEAVES = 4 };

#define MAIN(c, t, b) { .kind = VCPU_MAIN, .budget = (c), .period = (t), .blocking = (b) }
#define IO(p, t, b)   { .kind = VCPU_IO, .percent = (p), .period = (t), .blocking = (b) }

static struct admission_report report;

static enum admission_result ask(const struct reservation *vcpus, unsigned count, uint64_t switch_cost, bool edf)
{
	const struct admission_set set = { .vcpus = vcpus, .vcpu_count = count, .switch_cost = switch_cost, .edf = edf };

	return admission_test(&set, &report);
}

/* ---- By rank ---------------------------------------------------------------------------------------------------------- */

static void test_bound(void)
{
	const struct reservation full[] = { MAIN(10, 10, 0) }, with_io[] = { IO(10, 100, 0), MAIN(20, 100, 0), MAIN(20, 100, 0) };
	const struct reservation blocked_io[] = { IO(10, 10, 20) };

	CHECK_EQ(ask(full, 1, 0, false), ADMISSION_OK);
	CHECK(report.by_bound && report.by_response && report.exact); /* 1 of 1 */
	CHECK_EQ(ask(with_io, 3, 0, false), ADMISSION_OK);
	CHECK_EQ(report.allowed_ppm, 828427); /* of two Main VCPUs */
	CHECK_EQ(ask(blocked_io, 1, 0, false), ADMISSION_OK);
	CHECK(report.by_bound && !report.by_response);
	CHECK_EQ(report.response, 21);
}

static void test_exact(void)
{
	const struct reservation one[] = { MAIN(2, 10, 0) };
	const struct top_half top = { .distance = 5, .cost = 1 };
	const struct admission_set with_top = { .vcpus = one, .vcpu_count = 1, .top_halves = &top, .top_half_count = 1 };

	CHECK_EQ(ask(one, 1, 0, false), ADMISSION_OK);
	CHECK(report.exact);
	CHECK_EQ(ask(one, 1, 1, false), ADMISSION_OK);
	CHECK(!report.exact);
	CHECK_EQ(admission_test(&with_top, &report), ADMISSION_OK);
	CHECK(!report.exact);
}

/* After the longest period, where nobody blocks any more, the once more of a top half counts as before: 15 + 12 + 4. */
static void test_once_more(void)
{
	const struct reservation late[] = { MAIN(5, 10, 0), MAIN(6, 15, 0) };
	const struct top_half rare = { .distance = 100, .cost = 2 };
	const struct admission_set set = { .vcpus = late, .vcpu_count = 2, .top_halves = &rare, .top_half_count = 1, .edf = true };

	CHECK_EQ(admission_test(&set, &report), ADMISSION_E_LOAD);
	CHECK_EQ(report.deadline, 30);
	CHECK_EQ(report.response, 31);
}

static void test_fit(void)
{
	struct reservation io[] = { IO(10, 0, 0) };
	const struct admission_set set = { .vcpus = io, .vcpu_count = 1 };

	CHECK_EQ(admission_fit(&set, &io[0]), 0);
}

/* ---- By deadline ------------------------------------------------------------------------------------------------------ */

static void test_deadlines(void)
{
	const struct reservation later[] = { MAIN(4, 10, 0), MAIN(1, 20, 7), MAIN(1, 40, 0) };
	const struct reservation light[] = { MAIN(1, 10, 10), MAIN(1, 30, 0) };
	const struct reservation beyond[] = { MAIN(4, 10, 3), MAIN(8, 15, 0) };
	const struct reservation full[] = { MAIN(10, 10, 0) };

	CHECK_EQ(ask(later, 3, 0, true), ADMISSION_OK);     /* who waits for 7 is not due at 10 */
	CHECK_EQ(ask(light, 2, 0, true), ADMISSION_E_LOAD); /* although 30 is met with 4 */
	CHECK_EQ(report.deadline, 10);
	CHECK_EQ(report.response, 11);
	CHECK_EQ(ask(beyond, 2, 0, true), ADMISSION_E_LOAD); /* although 10 and 15 are met */
	CHECK_EQ(report.deadline, 30);
	CHECK_EQ(report.response, 31);
	CHECK_EQ(ask(full, 1, 1, true), ADMISSION_E_LOAD);
	CHECK_EQ(report.deadline, 0); /* the sum, not a deadline */
}

/* ---- Decisions, and traces of them
 * ----------------------------------------------------------------------------------------------------------- */

static struct sched core;
static uint64_t words[4 * LEAVES];
static struct vcpu *by_rank[LEAVES];
static struct thread_vcpu early, high, low;
static struct bh_trace_record records[MOST];

uint64_t arch_counter(void)
{
	return 0;
}

const struct bh_stats *info_statistics(void)
{
	return NULL;
}

static void decide(uint64_t now)
{
	sched_decide(&core, now);
	trace_decided(&core);
}

static void add(struct thread_vcpu *on, uint64_t budget, uint64_t period)
{
	on->row = trace_vcpu("vcpu", budget, period);
	CHECK_EQ(sched_add_main(&core, &on->vcpu, budget, period, SPORADIC_MOST_ENTRIES, 0), SCHED_OK);
}

static const struct bh_trace_record *last(void)
{
	return &records[trace_state.core[0].head - 1];
}

/* From when on it has something again, and not if it does not want to run by then. */
static void test_replenished(bool by_deadline)
{
	sched_init(&core, words, by_rank, LEAVES, 0);
	if (by_deadline)
		sched_by_deadline(&core);
	add(&high, 2, 10);
	add(&low, 50, 100);
	sched_ready(&core, &high.vcpu, 0);
	sched_ready(&core, &low.vcpu, 0);
	CHECK(sched_decide(&core, 0) == &high.vcpu);
	CHECK(sched_decide(&core, 2) == &low.vcpu);
	CHECK_EQ(core.until, 10);
	add(&early, 1, 5); /* whoever comes after it has another rank now, and is due as before */
	CHECK(sched_replenished(&core, 10) == &high.vcpu);
	sched_idle(&core, &high.vcpu, 10);
	CHECK(!sched_replenished(&core, 10));
}

/* Two pieces of a budget have come, and make its whole together. Of an interrupt, only what had not been charged is excepted. */
static void test_traces(void)
{
	trace_give_ring(0, records, sizeof(records));
	trace_switch(true, 1);
	sched_init(&core, words, by_rank, LEAVES, 0);
	add(&high, 8, 9);
	add(&low, 4, 10);
	sched_ready(&core, &low.vcpu, 0);
	decide(0);
	sched_ready(&core, &high.vcpu, 1);
	decide(1);
	sched_idle(&core, &high.vcpu, 9);
	decide(9);
	sched_ready(&core, &high.vcpu, 10);
	decide(10);
	sched_idle(&core, &high.vcpu, 15);
	decide(15);
	CHECK_EQ(last()->kind, BH_TRACE_VCPU);
	CHECK_EQ(last()->who, low.row);
	CHECK_EQ(last()->a, 4);
	sched_ready(&core, &low.vcpu, 17);
	trace_except(&core, 16, 18, NULL);
	CHECK_EQ(last()->kind, BH_TRACE_EXCEPTED);
	CHECK_EQ(last()->a, 1);
	CHECK_EQ(low.vcpu.given, 4);
}

int main(void)
{
	test_bound();
	test_exact();
	test_once_more();
	test_fit();
	test_deadlines();
	test_replenished(false);
	test_replenished(true);
	test_traces();
	return 0;
}
