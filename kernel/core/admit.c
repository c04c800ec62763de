/* SPDX-License-Identifier: Apache-2.0 */
/* Asks admission.h about the VCPUs of a core, as they are and as they would be (admit.h). */
#include "kernel/core/admit.h"

#include <stdatomic.h>
#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/heartbeat.h"

enum { LINES = 8, DOORBELLS = 16 /* BH_MAX_CHANNELS */, PATIENCE_NS = 100000 };

/* One thread of one core at a time asks. */
static atomic_flag asking = ATOMIC_FLAG_INIT;
static struct reservation all[ADMISSION_MOST_VCPUS];
static const char *names[ADMISSION_MOST_VCPUS];
/* Of rings that are made again, on any core; then those of the first: the heartbeat's, doorbells', lines'. */
static struct top_half top_halves[DOORBELLS + 1 + DOORBELLS + LINES];
static unsigned count, again_count, rung_count, line_count;
static const struct thread_vcpu *leaving; /* one that is not counted */

/* Another one asks for as long as its analysis takes: that is slept through, as it may be on this core. */
static enum thread_result begin(void)
{
	while (atomic_flag_test_and_set_explicit(&asking, memory_order_acquire))
		if (thread_sleep_until(arch_counter() + clock_from_ns(PATIENCE_NS)) != THREAD_OK)
			return THREAD_E_HOLDS;
	return THREAD_OK;
}

static void end(void)
{
	atomic_flag_clear_explicit(&asking, memory_order_release);
}

static void note(const struct thread_vcpu *on)
{
	const struct vcpu *vcpu = &on->vcpu;
	struct reservation *one = &all[count];

	if (count == ADMISSION_MOST_VCPUS || on == leaving)
		return;
	*one = (struct reservation){ .kind = vcpu->kind, .period = vcpu->order, .blocking = on->blocking };
	if (vcpu->kind == VCPU_MAIN)
		one->budget = vcpu->main.budget;
	else
		one->percent = vcpu->io.percent;
	names[count++] = on->name;
}

/* After those with the same period, as the scheduler will. */
static struct reservation *add(const struct admit_request *asked)
{
	unsigned at = count++;

	for (; at && all[at - 1].period > asked->period; at--) {
		all[at] = all[at - 1];
		names[at] = names[at - 1];
	}
	all[at] = (struct reservation){
		.kind = asked->kind,
		.percent = asked->percent,
		.budget = asked->budget,
		.period = asked->period,
		.blocking = asked->blocking,
	};
	names[at] = asked->name;
	return &all[at];
}

static void note_top_half(unsigned n, uint64_t distance)
{
	top_halves[n] = (struct top_half){ .distance = distance, .cost = clock_from_ns(admit_top_half_ns()) };
}

/* Of all doorbells the times between two rings: by this end, whose timer makes one that came too soon again, or of it. Returns how many. */
static unsigned note_rings(unsigned at, bool by_this_end)
{
	unsigned noted = 0;

	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS && noted < DOORBELLS; n++) {
		const struct bh_grant *grant = &info->grants[n];
		const uint64_t gap = by_this_end ? grant->gpa : grant->size;

		if (grant->kind == BH_GRANT_DOORBELL && gap)
			note_top_half(at + noted++, clock_from_ns(gap));
	}
	return noted;
}

static void note_doorbells(void)
{
	again_count = note_rings(0, true);
	rung_count = note_rings(again_count + 1, false);
}

/* Also where the heartbeat has been stopped: it may begin again. Lines follow those, whose number is always the same. */
static struct admission_set set_of_all(void)
{
	note_top_half(again_count, heartbeat_distance());
	return (struct admission_set){
		.vcpus = all,
		.vcpu_count = count,
		.top_halves = top_halves,
		.top_half_count = again_count + (cpu_slot() == 0 ? 1 + rung_count + line_count : 0),
		.switch_cost = clock_from_ns(admit_switch_ns()),
		.edf = thread_is_by_deadline(),
	};
}

/* Codes of admission.h that `which` is a top half's with, or nobody's. */
static bool is_about_a_vcpu(enum admission_result result)
{
	return result != ADMISSION_E_DISTANCE && result != ADMISSION_E_COST && result != ADMISSION_E_COUNT;
}

/* By deadline, where it is the sum. */
static bool is_everybodys(const struct admission_set *set, const struct admit_refusal *refusal)
{
	return set->edf && refusal->result == ADMISSION_E_LOAD && !refusal->report.deadline;
}

static enum thread_result ask(struct reservation *new, struct admit_refusal *refusal)
{
	const struct admission_set set = set_of_all();

	refusal->result = admission_test(&set, &refusal->report);
	if (refusal->result == ADMISSION_OK)
		return THREAD_OK;
	refusal->who = is_about_a_vcpu(refusal->result) && !is_everybodys(&set, refusal) ? names[refusal->report.which] : NULL;
	if (refusal->result != ADMISSION_E_LOAD && refusal->result != ADMISSION_E_UNDECIDED)
		return THREAD_E_INVALID;
	refusal->fits = admission_fit(&set, new);
	return THREAD_E_LOAD;
}

static void note_all(void)
{
	count = 0;
	note_doorbells();
	thread_each_vcpu(note);
}

static enum thread_result make(struct thread_vcpu *on, const struct admit_request *asked)
{
	enum thread_result result;

	if (asked->kind == VCPU_MAIN)
		result = thread_make_vcpu(on, asked->name, asked->budget, asked->period);
	else
		result = thread_make_io_vcpu(on, asked->name, asked->percent, asked->period);
	on->blocking = asked->blocking;
	return result;
}

/* The line counts before the VCPU that serves it does, and only together with that. */
static enum thread_result ask_and_make(struct thread_vcpu *on, const struct admit_request *asked, struct admit_refusal *refusal)
{
	const unsigned lines = line_count;
	enum thread_result result;

	if (count == ADMISSION_MOST_VCPUS || (asked->line.cost && lines == LINES))
		return THREAD_E_FULL;
	if (asked->line.cost)
		top_halves[again_count + 1 + rung_count + line_count++] = asked->line;
	result = ask(add(asked), refusal);
	if (result == THREAD_OK)
		result = make(on, asked);
	if (result != THREAD_OK)
		line_count = lines;
	return result;
}

enum thread_result admit_vcpu(struct thread_vcpu *on, const struct admit_request *asked, struct admit_refusal *refusal)
{
	enum thread_result result = begin();

	*refusal = (struct admit_refusal){ .result = ADMISSION_OK };
	if (result != THREAD_OK)
		return result;
	note_all();
	result = ask_and_make(on, asked, refusal);
	end();
	return result;
}

enum thread_result admit_change(struct thread_vcpu *on, const struct admit_request *asked, struct admit_refusal *refusal)
{
	enum thread_result result = begin();
	struct admit_request other = *asked;

	*refusal = (struct admit_refusal){ .result = ADMISSION_OK };
	if (result != THREAD_OK)
		return result;
	leaving = on;
	note_all();
	leaving = NULL;
	other.blocking = on->blocking;
	result = ask(add(&other), refusal);
	if (result == THREAD_OK)
		result = thread_change_vcpu(on, asked->budget, asked->period);
	end();
	return result;
}
