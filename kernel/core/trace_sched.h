/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler's decisions as records of a trace: kernel/sched itself knows nothing of traces. */
#pragma once
#include <stdint.h>

#include "kernel/core/trace.h"
#include "kernel/sched/sched.h"

TRACE_COLD void trace_decision(const struct sched *core);

/* sched_decide has returned: who was charged, and who runs. Requires: every VCPU is that of a struct thread_vcpu. */
static inline void trace_decided(const struct sched *core)
{
	if (trace_is_on())
		trace_decision(core);
}

TRACE_COLD void trace_wake(const struct vcpu *vcpu);

/* sched_ready has returned, of a VCPU that had no ready thread. */
static inline void trace_ready(const struct vcpu *vcpu)
{
	if (trace_is_on())
		trace_wake(vcpu);
}

TRACE_COLD void trace_exception(struct sched *core, uint64_t from, uint64_t to, struct vcpu *owes);

/* sched_except, with a record. */
static inline void trace_except(struct sched *core, uint64_t from, uint64_t to, struct vcpu *owes)
{
	if (trace_is_on())
		trace_exception(core, from, to, owes);
	else
		sched_except(core, from, to, owes);
}
