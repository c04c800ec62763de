/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces: what this kernel did and when, in a ring for each core, for `tools/bulkhead trace` (abi/trace.h). Off, a hook costs a load and a
 * branch that is never taken. On, it costs a call and a few stores, and overwrites the oldest record. There is no lock: a core writes its
 * own ring, with interrupts disabled.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/trace.h"

#define TRACE_COLD __attribute__((cold, noinline)) /* is kept out of the way of what runs while tracing is off */

extern bool trace_on;               /* written by trace_switch alone */
extern uint32_t trace_life;         /* how often it was switched */
extern struct bh_trace trace_state; /* the tool finds it by this name */

static inline bool trace_is_on(void)
{
	return __builtin_expect(__atomic_load_n(&trace_on, __ATOMIC_RELAXED), 0);
}

/* Writes a record, of now or of `clock`, which is not before that of the last one. Requires: interrupts disabled. */
TRACE_COLD void trace_write(enum bh_trace_kind kind, uint32_t who, uint64_t a, uint64_t b);
TRACE_COLD void trace_write_at(uint64_t clock, enum bh_trace_kind kind, uint32_t who, uint64_t a, uint64_t b);

/* The hooks. Requires: interrupts disabled. */
static inline void trace_note(enum bh_trace_kind kind, uint32_t who, uint64_t a, uint64_t b)
{
	if (trace_is_on())
		trace_write(kind, who, a, b);
}

/* The thread at `thread` runs from now on. */
static inline void trace_thread(const char *name, const void *thread)
{
	trace_note(BH_TRACE_THREAD, 0, (uintptr_t)thread, (uintptr_t)name);
}

/* An interrupt has ended. Also notes, a thousand times a second at most, which exits there were since. Requires: tracing is on. */
TRACE_COLD void trace_write_irq_end(uint32_t number);

/*
 * Gives a VCPU a row, whether tracing is on or not, for the `who` of records. `name` stays the caller's. Any core. Returns the row, or 0 if
 * there is no room, which stands for nobody.
 */
uint32_t trace_vcpu(const char *name, uint64_t budget, uint64_t period);

/* The VCPU of this row was made at `made`, on this core; what it has had stands at `had`. */
void trace_account(uint32_t row, uint64_t made, const uint64_t *had);
/* What the program on the VCPU of this row tells of itself stands at `run`, as struct bh_trace_run. */
void trace_program(uint32_t row, const uint64_t *run);
/* VCPUs of this core have been charged up to what stands at `charged`. */
void trace_core(const uint64_t *charged);
/* Whoever reads may believe what is there. `clock_hz`: ticks a second. */
void trace_publish(uint64_t clock_hz);

/* The VCPU of this row, 0: of none, has other parameters from now on. Requires: interrupts disabled. */
void trace_change_vcpu(uint32_t row, uint64_t budget, uint64_t period);

/* Gives core `slot` its ring, of as many records as fit: a power of two. Requires: it has none; `bytes` are two records or more. */
void trace_give_ring(unsigned slot, void *memory, uint64_t bytes);
/* Switches tracing of all cores that have a ring on or off. Rings stay, with what they hold. */
void trace_switch(bool on, uint64_t clock_hz);
