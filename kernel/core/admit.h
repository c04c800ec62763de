/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission of VCPUs at run time: a VCPU is made if all VCPUs of its core can then be given what they are promised, and not otherwise
 * (kernel/sched/admission.h). The main program's VCPU counts, and on the first core the heartbeat, and the top halves of lines whose rate
 * is limited.
 */
#pragma once
#include <stdint.h>

#include "kernel/core/info.h"
#include "kernel/core/thread.h"
#include "kernel/sched/admission.h"

/* What a switch takes on this platform at most, and a top half with its masking and unmasking, in ns. */
static inline uint64_t admit_switch_ns(void)
{
	return info->switch_ns ? info->switch_ns : BH_VCPU_SWITCH_NS;
}
static inline uint64_t admit_top_half_ns(void)
{
	return info->top_half_ns ? info->top_half_ns : BH_VCPU_TOP_HALF_NS;
}

/* What a VCPU asks for, in ticks. */
struct admit_request {
	const char *name; /* stays the caller's */
	enum vcpu_kind kind;
	uint32_t percent; /* I/O */
	uint64_t budget;  /* Main */
	uint64_t period;
	uint64_t blocking;    /* for how long VCPUs after it may hold what it, or one before it, waits for: docs/admission.md */
	struct top_half line; /* that it serves, and whose rate is limited; its top half costs 0: none */
};

/* Why a VCPU was not made. */
struct admit_refusal {
	enum admission_result result; /* ADMISSION_OK: it was made, or the core has no rank left */
	struct admission_report report;
	const char *who; /* misses, or is wrong: the name of the VCPU that report.which says; NULL: it is a top half, or nobody alone */
	uint64_t fits;   /* the largest budget, or percentage, with which all would be admitted; 0: none */
};

/*
 * Makes the VCPU on this core. From then on its line may interrupt that often, and once more at any time, and its blocking counts whenever
 * another is asked for. Requires: thread_begin. T
 * Returns THREAD_OK; THREAD_E_LOAD or THREAD_E_INVALID, with *refusal; THREAD_E_FULL; THREAD_E_HOLDS: another admission is going on, and
 * the caller holds a mutex or serves, so that it cannot sleep until that is done. On failure nothing has changed.
 */
enum thread_result admit_vcpu(struct thread_vcpu *on, const struct admit_request *asked, struct admit_refusal *refusal)
	__attribute__((warn_unused_result));

/*
 * Gives the Main VCPU another budget and period, if all of its core can then be given what they are promised; its blocking stays. Returns
 * as admit_vcpu; on failure it has what it had. T
 */
enum thread_result admit_change(struct thread_vcpu *on, const struct admit_request *asked, struct admit_refusal *refusal)
	__attribute__((warn_unused_result));
