/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission: can all VCPUs of a core be given what they are promised? Two tests for VCPUs by rank, either of which is enough, and one for
 * VCPUs by deadline (EDF):
 *
 *   the utilization bound     sum of C/T + sum of (2 - U) U <= n (2^(1/n) - 1)        sufficient, and cheap
 *   response-time analysis    the least R = C + B + what comes before it in R, R <= T exact, or sufficient: see `exact` below
 *   processor demand (EDF)    for each deadline t: what has to be done by t <= t       likewise
 *
 * docs/admission.md derives them. tools/bhtool/config/admission.py answers the same for configured VCPUs; each is tested against the other.
 * Pure, and in integers: what is not exact is rounded so that it refuses. Inputs are limited so that no sum here can wrap.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/sched/sched.h"

#define ADMISSION_MOST_TICKS SPORADIC_MOST_TICKS /* of a period, a blocking, a distance */

enum {
	ADMISSION_MOST_VCPUS = 64,
	ADMISSION_MOST_TOP_HALVES = 64,
	ADMISSION_MOST_STEPS = 10000, /* towards one response time, or through the deadlines */
	ADMISSION_PPM = 1000000,
};

struct reservation {
	enum vcpu_kind kind;
	uint32_t percent;  /* I/O: of the core */
	uint64_t budget;   /* Main */
	uint64_t period;   /* I/O: by which it has its rank; its budget is `percent` of that, whomever it serves (sched.h) */
	uint64_t blocking; /* for how long VCPUs after it may hold what it, or one before it, waits for, or delay it otherwise */
};

/* First part of an interrupt's handler. It runs at once, on nobody's budget: once in each `distance`, and once more at any time. */
struct top_half {
	uint64_t distance; /* ticks */
	uint64_t cost;
};

struct admission_set {
	const struct reservation *vcpus; /* by rank; by deadline: in any order */
	const struct top_half *top_halves;
	unsigned vcpu_count, top_half_count;
	uint64_t switch_cost; /* from when a VCPU should stop until another runs, at most: they pay for it. And what a time-out takes */
	bool edf;             /* by deadline */
};

enum admission_result {
	ADMISSION_OK = 0,
	ADMISSION_E_LOAD = -1,      /* somebody misses: the report says who. EDF: or nothing of the core is left, or next to nothing */
	ADMISSION_E_UNDECIDED = -2, /* nobody was seen to miss in ADMISSION_MOST_STEPS */
	ADMISSION_E_EDF_IO = -3,    /* no test is known for I/O VCPUs by deadline */
	ADMISSION_E_COUNT = -4,     /* too many VCPUs or top halves */
	ADMISSION_E_PERIOD = -5,    /* 0, or above ADMISSION_MOST_TICKS */
	ADMISSION_E_BUDGET = -6,    /* 0, or above the period */
	ADMISSION_E_PERCENT = -7,   /* 0, or above 100 */
	ADMISSION_E_SWITCH = -8,    /* the budget is below what a switch costs */
	ADMISSION_E_BLOCKING = -9,  /* above ADMISSION_MOST_TICKS */
	ADMISSION_E_DISTANCE = -10, /* 0, or above ADMISSION_MOST_TICKS */
	ADMISSION_E_COST = -11,     /* 0, or above the distance */
};

struct admission_report {
	bool by_bound;        /* the utilization bound admits, which speaks of Main VCPUs only */
	bool by_response;     /* response-time analysis does */
	bool exact;           /* response-time analysis or processor demand count nothing at more than can happen */
	uint64_t asked_ppm;   /* utilization, with all that counts for the bound */
	uint64_t allowed_ppm; /* and its limit */
	unsigned which;       /* the first VCPU that misses, or after an error the VCPU or top half that is wrong */
	uint64_t response;    /* when it would be done at the earliest. EDF: what has to be done until `deadline` */
	uint64_t deadline;    /* its period. EDF: the deadline that is missed, 0 if it is the sum that is too large */
};

/* n (2^(1/n) - 1) in units of 2^-40, rounded down; 1 for n = 0. Requires: n <= ADMISSION_MOST_VCPUS. */
uint64_t admission_bound(unsigned n);

/*
 * Asks whether all of the set can be promised.
 * Returns ADMISSION_OK; ADMISSION_E_LOAD or ADMISSION_E_UNDECIDED, with all of the report; or what is wrong with the input, with
 * report->which and nothing else.
 */
__attribute__((warn_unused_result)) enum admission_result admission_test(const struct admission_set *set, struct admission_report *report);

/*
 * Computes the response time of the VCPU with this rank: from when it becomes ready, with nobody before it running, until it has had its
 * budget. Requires: admission_test found nothing wrong with the input, rank < vcpu_count, not by deadline.
 * Returns ADMISSION_OK; ADMISSION_E_LOAD: *response is above the period, and it takes that long at least; ADMISSION_E_UNDECIDED, likewise
 * but not above it.
 */
__attribute__((warn_unused_result)) enum admission_result admission_response(const struct admission_set *set, unsigned rank,
									     uint64_t *response);

/*
 * Finds what would fit: the largest budget, or percentage, with which `vcpu` and the others are admitted.
 * Requires: `vcpu` is one of set->vcpus. It is tried with others, and is as it was on return.
 * Returns 0 if there is none.
 */
uint64_t admission_fit(const struct admission_set *set, struct reservation *vcpu);
