/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VCPU scheduler of one core: which VCPU runs now, and until when at the latest. A VCPU is a reservation, a budget in each period, on
 * behalf of threads, of which this file knows only whether one is ready. Main VCPUs are sporadic servers (sporadic.h), I/O VCPUs are PIBS
 * servers (pibs.h). Those with budget run in the foreground, by rank: the shorter its period the lower its rank, and the first made comes
 * first. Where none has budget, ready VCPUs run in the background, by rank, for nothing. A core can be told to run those with budget by
 * deadline instead (EDF): what a VCPU may use from some time on is to be used within a period.
 *
 *            sched_ready          sched_idle
 *   (idle) --------------> ready ------------> (idle)        after either, and at core->until: sched_decide
 *
 * Pure: the caller says what time it is and sets the timer, so that the same file runs on the host against a simulated clock. Everything of
 * a core is called on that core, or while it is halted, with interrupts disabled, and with times that never go back. The cost of every call
 * that happens in steady state grows with the logarithm of the number of VCPUs at most.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/sched/bits.h"
#include "kernel/sched/deadlines.h"
#include "kernel/sched/pibs.h"
#include "kernel/sched/ranks.h"
#include "kernel/sched/sporadic.h"

#define SCHED_NEVER RANKS_NEVER

enum vcpu_kind { VCPU_MAIN, VCPU_IO };

struct vcpu {
	enum vcpu_kind kind;
	bool ready;           /* one of its threads is */
	bool foreground_only; /* it does not run without budget */
	unsigned rank;
	uint64_t order; /* the period that it was added with */
	union {
		struct sporadic main;
		struct pibs io;
	};
	struct turn turn;    /* by deadline */
	uint64_t owed;       /* ticks that it caused while it did not run with budget, and that are charged with its next ones */
	uint64_t given;      /* ticks that it was charged, with budget */
	uint64_t background; /* and without */
};

struct sched {
	struct vcpu *running;       /* NULL: nobody */
	bool foreground;            /* the one that runs is charged for it */
	uint64_t since;             /* the time from then on is yet to be charged; all before is, or was excepted */
	uint64_t until;             /* decide anew then, if nothing happens before; SCHED_NEVER: nothing will */
	uint64_t next;              /* when a VCPU ahead of the running one, by deadline any other, may next run with budget */
	uint64_t settled;           /* no VCPU but `changed` begins with another budget before then: thread_vcpu.c's */
	const struct vcpu *changed; /* NULL: several were */
	unsigned count;             /* VCPUs */
	bool by_deadline;           /* with budget they run by deadline, not by rank */
	bool elsewhere;             /* whoever is ready does not stand in `foregrounds`: by deadline, or alone */
	struct vcpu *alone;         /* a Main VCPU, the only one that is ready, on a core by rank, which stands nowhere below; or NULL */
	struct ranks foregrounds;
	struct deadlines deadlines;
	struct bits backgrounds; /* ranks of those that may run without budget */
	struct vcpu **by_rank;
};

enum sched_result {
	SCHED_OK = 0,
	SCHED_E_INVALID = -1, /* period 0 or too long, budget 0, above the period or below the least */
	SCHED_E_FULL = -2,    /* no rank is left */
};

/*
 * A core without VCPUs. `words` has 4 * leaves words and `by_rank` has room for `leaves` pointers, for as many VCPUs. Requires: `leaves` is
 * a power of two, at most BITS_MOST.
 */
void sched_init(struct sched *core, uint64_t *words, struct vcpu **by_rank, unsigned leaves, uint64_t now);

/* VCPUs with budget run by deadline. Requires: the core has none yet. */
void sched_by_deadline(struct sched *core);

/*
 * Adds a VCPU, which is not ready. The ranks of those with longer periods move up by one.
 * Returns SCHED_OK, SCHED_E_INVALID or SCHED_E_FULL. On failure the core has the VCPUs that it had. It does not ask whether
 * all of them can be given their budgets: that is admission.h's question.
 */
__attribute__((warn_unused_result)) enum sched_result sched_add_main(struct sched *core, struct vcpu *vcpu, uint64_t budget,
								     uint64_t period, unsigned entries, uint64_t now);

/*
 * Likewise an I/O VCPU; by deadline it is refused, as nobody has derived what could then be promised. Its rank is that of `period`, the
 * shortest of those it may serve; for one with a longer period it has the budget of `period`, more often: with more at once it would take
 * from those between (docs/admission.md).
 */
__attribute__((warn_unused_result)) enum sched_result sched_add_io(struct sched *core, struct vcpu *vcpu, uint32_t percent, uint64_t period,
								   uint64_t now);

/* Removes a VCPU. Requires: it is not ready. */
void sched_remove(struct sched *core, struct vcpu *vcpu);

/*
 * A thread of the VCPU is ready, and none was. An I/O VCPU then goes by its own period, or by that of the VCPU on whose behalf it is ready,
 * of which nothing in the kernel tells it yet.
 */
void sched_ready(struct sched *core, struct vcpu *vcpu, uint64_t now);
void sched_ready_for(struct sched *core, struct vcpu *vcpu, uint64_t period, uint64_t now);

/* None of its threads is ready any more. */
void sched_idle(struct sched *core, struct vcpu *vcpu, uint64_t now);

/*
 * An interrupt was served in [from, to). VCPU `owes` caused it, and is charged for it later; NULL: nobody is. If `owes` runs with budget
 * the interval stays part of its running time. What was charged of the interval before stays charged. Moves core->until. Requires: `to` is
 * now.
 */
void sched_except(struct sched *core, uint64_t from, uint64_t to, struct vcpu *owes);

/* Whether at `now` the running VCPU has used up what it has. */
bool sched_is_spent(const struct sched *core, uint64_t now);

/*
 * Returns whose replenishment has come by `now`, for which the one that runs is interrupted; the first of several. NULL: nobody's.
 * Requires: core->next is not after `now`.
 */
struct vcpu *sched_replenished(const struct sched *core, uint64_t now);

/* sched_decide has these two cases, and nobody else calls them. Require: nobody runs; somebody does. */
struct vcpu *sched_begin(struct sched *core, uint64_t now);
struct vcpu *sched_go_on(struct sched *core, uint64_t now);

/*
 * Charges the one that runs, and decides. Returns core->running, the VCPU that runs from now on, or NULL, and sets core->until.
 */
static inline struct vcpu *sched_decide(struct sched *core, uint64_t now)
{
	return core->running ? sched_go_on(core, now) : sched_begin(core, now);
}
