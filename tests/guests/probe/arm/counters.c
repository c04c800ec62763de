/* SPDX-License-Identifier: Apache-2.0 */
/* Performance monitors: ARM ARM D13 "The Performance Monitors Extension"; ARMv7 ARM C12. The registers of both have these names: pmu.h. */
#include "counters.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "kernel/core/cpu.h"
#include "kernel/core/irq.h"
#include "pmu.h"
#include "probe/user.h"

enum { OVERFLOW_INTID = 23, POLLS = 1000000 }; /* BSA, "PPI assignments" */
/* "PMCR": N is how many event counters there are for who reads. */
enum { PMCR_E = 1 << 0, PMCR_D = 1 << 3, PMCR_X = 1 << 4, PMCR_DP = 1 << 5, PMCR_N_SHIFT = 11 };
enum { EVENT_SW_INCR = 0x00, EVENT_CPU_CYCLES = 0x11, TYPE_NSH = 1 << 27 /* at EL2, too */ };
enum { CYCLE_COUNTER = 31, FIRST = 1 << 0, LEFT = 0x5ec2, USERENR_ALL = 0xf };

static void select(uint32_t counter)
{
	PMU_WRITE(PMSELR, counter);
	arch_isb();
}

static uint32_t number_of_counters(void)
{
	return PMU_READ(PMCR) >> PMCR_N_SHIFT & 31;
}

/* Counter 0, selected, counts `type` from `value`, alone. */
static void begin(uint32_t type, uint32_t value)
{
	PMU_WRITE(PMCNTENCLR, UINT32_MAX);
	select(0);
	PMU_WRITE(PMXEVTYPER, type);
	PMU_WRITE(PMXEVCNTR, value);
	PMU_WRITE(PMCNTENSET, FIRST);
	PMU_WRITE(PMCR, PMCR_E);
	arch_isb();
}

static uint32_t read_counter(void)
{
	arch_isb();
	return (uint32_t)PMU_READ(PMXEVCNTR);
}

static void increment(void)
{
	PMU_WRITE(PMSWINC, FIRST);
	arch_isb();
}

uint64_t counters_count(uint64_t a, uint64_t b)
{
	begin(EVENT_SW_INCR, 0);
	for (uint64_t n = 0; n < a; n++)
		increment();
	return read_counter();
}

static _Atomic uint32_t arrivals;

static void note_overflow(struct cpu_frame *frame)
{
	pmu_clear_overflow(pmu_overflowed());
	arch_isb();
	atomic_fetch_add_explicit(&arrivals, 1, memory_order_relaxed);
}

static void await(uint32_t count)
{
	for (unsigned polls = 0; polls < POLLS && atomic_load_explicit(&arrivals, memory_order_relaxed) < count; polls++)
		arch_relax();
}

uint64_t counters_overflow(uint64_t a, uint64_t b)
{
	atomic_store_explicit(&arrivals, 0, memory_order_relaxed);
	irq_attach_local(OVERFLOW_INTID, note_overflow);
	pmu_let_interrupt(FIRST);
	for (uint32_t n = 0; n < a && atomic_load_explicit(&arrivals, memory_order_relaxed) == n; n++) {
		begin(EVENT_SW_INCR, UINT32_MAX);
		increment();
		await(n + 1);
	}
	return atomic_load_explicit(&arrivals, memory_order_relaxed);
}

static uint32_t least_call(uint32_t filter, uint64_t calls)
{
	uint32_t least = UINT32_MAX;

	begin(EVENT_CPU_CYCLES | filter, 0);
	for (uint64_t n = 0; n < calls; n++) {
		uint32_t start = read_counter(), taken;

		cpu_call_monitor(BH_CALL_VERSION, 0, 0, 0);
		taken = read_counter() - start;
		if (taken < least)
			least = taken;
	}
	return least;
}

uint64_t counters_below(uint64_t a, uint64_t b)
{
	uint32_t without = least_call(0, a);

	return least_call(TYPE_NSH, a) - without;
}

uint64_t counters_leave(uint64_t a, uint64_t b)
{
	for (uint32_t n = 0; n < number_of_counters(); n++) {
		select(n);
		PMU_WRITE(PMXEVTYPER, EVENT_CPU_CYCLES | TYPE_NSH);
		PMU_WRITE(PMXEVCNTR, LEFT);
	}
	select(CYCLE_COUNTER);
	PMU_WRITE(PMXEVTYPER, TYPE_NSH);
	select(1);
	PMU_WRITE(PMCCNTR, LEFT);
	PMU_WRITE(PMUSERENR, USERENR_ALL);
	PMU_WRITE(PMOVSSET, UINT32_MAX);
	pmu_let_interrupt(UINT32_MAX);
	PMU_WRITE(PMCNTENSET, UINT32_MAX);
	PMU_WRITE(PMCR, PMCR_E | PMCR_D | PMCR_X | PMCR_DP);
	arch_isb();
	return 0;
}

uint64_t counters_left(uint64_t a, uint64_t b)
{
	uint64_t left = PMU_READ(PMSELR) | PMU_READ(PMUSERENR) | PMU_READ(PMCNTENSET) | PMU_READ(PMCCNTR) | pmu_interrupting() |
			pmu_overflowed() | (PMU_READ(PMCR) & (PMCR_E | PMCR_D | PMCR_X | PMCR_DP));

	select(CYCLE_COUNTER);
	left |= PMU_READ(PMXEVTYPER);
	for (uint32_t n = 0; n < number_of_counters(); n++) {
		select(n);
		left |= PMU_READ(PMXEVTYPER) | PMU_READ(PMXEVCNTR);
	}
	return left;
}

void user_open_counters(void)
{
	PMU_WRITE(PMUSERENR, USERENR_ALL);
	arch_isb();
}
