/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission of VCPUs at run time: a VCPU is made if all VCPUs of its core can then be given what they are promised, and not otherwise
 * (kernel/sched/admission.h). The main program's VCPU counts, and so do the top halves of lines whose rate is limited, on the first core.
 */
#pragma once
#include <stdint.h>

#include "kernel/core/thread.h"
#include "kernel/sched/admission.h"

/* What a VCPU asks for, in ticks. */
struct admit_request {
	const char *name; /* stays the caller's */
	enum vcpu_kind kind;
	uint32_t percent; /* I/O */
	uint64_t budget;  /* Main */
	uint64_t period;
	struct top_half line; /* that it serves, and whose rate is limited; its top half costs 0: none */
};

/* Why a VCPU was not made. */
struct admit_refusal {
	enum admission_result result; /* ADMISSION_OK: it was made, or the core has no rank left */
	struct admission_report report;
	const char *who; /* misses: of report.which */
	uint64_t fits;   /* the largest budget, or percentage, with which all would be admitted; 0: none */
};

/*
 * Makes the VCPU on this core. From then on its line may interrupt that often, and once more at any time. Requires: thread_begin. T
 * Returns THREAD_OK; THREAD_E_LOAD or THREAD_E_INVALID, with *refusal; THREAD_E_FULL. On failure nothing has changed.
 */
enum thread_result admit_vcpu(struct thread_vcpu *on, const struct admit_request *asked, struct admit_refusal *refusal)
	__attribute__((warn_unused_result));

/*
 * Gives the Main VCPU other parameters, if all of its core can then be given what they are promised. Returns as admit_vcpu; on failure it
 * has what it had. T
 */
enum thread_result admit_change(struct thread_vcpu *on, const struct admit_request *asked, struct admit_refusal *refusal)
	__attribute__((warn_unused_result));
