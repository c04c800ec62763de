/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local APIC's timer, one-shot: SDM vol. 3A, 11.5.4 "APIC Timer". It counts its own clock, so its pace is measured once
 * against the TSC. (The TSC-deadline mode would need no pace, but not every machine has it.)
 *
 * Whatever is measured goes through vector_measure, which reads the TSC before anything else.
 */
#include "timer_hw.h"

#include <stdbool.h>

#include "descriptors.h"
#include "frame.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/irq.h"
#include "kernel/core/timer.h"

enum { MSR_X2APIC_LVT_TIMER = 0x832, MSR_X2APIC_INITIAL_COUNT = 0x838, MSR_X2APIC_DIVIDE = 0x83e, DIVIDE_BY_1 = 0xb };
enum { PACE_SHORT_COUNTS = 1 << 16, PACE_LONG_COUNTS = 1 << 19, PACE_TRIES = 8, PLACES = 32 };

extern const char vector_measure[], vector_measure_kept[]; /* vectors.S */
uint64_t timer_hw_arrival;

static uint64_t counts_per_tick; /* 32 binary places */

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* vector_measure uses up RAX, RCX and RDX. */
static void wait_in_loop(void)
{
	__asm__ volatile("sti\n"
			 "1:\tcmpq $0, timer_hw_arrival\n\t"
			 "je 1b\n\t"
			 "cli"
			 :
			 :
			 : "rax", "rcx", "rdx", "memory");
}

static void wait_asleep(void)
{
	__asm__ volatile("1:\tsti\n\t"
			 "hlt\n\t"
			 "cli\n\t"
			 "cmpq $0, timer_hw_arrival\n\t"
			 "je 1b"
			 :
			 :
			 : "rax", "rcx", "rdx", "memory");
}

/* Sets the timer, interrupts disabled. Returns the TSC as it was once the timer was set. */
static uint64_t start_counts(uint32_t counts)
{
	timer_hw_arrival = 0;
	cpu_interrupts_disable();
	x86_wrmsr(MSR_X2APIC_INITIAL_COUNT, counts);
	return arch_counter();
}

/* The same, and waits; timer_hw_arrival says until when. */
static uint64_t run_counts(uint32_t counts, bool asleep)
{
	uint64_t start = start_counts(counts);

	if (asleep)
		wait_asleep();
	else
		wait_in_loop();
	cpu_interrupts_enable();
	return start;
}

void timer_hw_measure_begin(void)
{
	descriptors_set_vector(VECTOR_TIMER, vector_measure, false);
}

static uint32_t counts_in(uint64_t ticks)
{
	return (uint32_t)((unsigned __int128)ticks * counts_per_tick >> PLACES);
}

/* Where something comes between setting the timer and reading the TSC, the deadline seems later than it was: never below 0. */
static uint64_t lateness(uint64_t deadline)
{
	return timer_hw_arrival > deadline ? timer_hw_arrival - deadline : 0;
}

uint64_t timer_hw_measure(uint64_t ticks, bool asleep)
{
	return lateness(run_counts(counts_in(ticks), asleep) + ticks);
}

/* Two instructions late. */
uint64_t timer_hw_measure_during(uint64_t ticks, void (*meanwhile)(void))
{
	uint64_t deadline;

	descriptors_set_vector(VECTOR_TIMER, vector_measure_kept, false);
	deadline = start_counts(counts_in(ticks)) + ticks;
	cpu_interrupts_enable();
	while (!__atomic_load_n(&timer_hw_arrival, __ATOMIC_RELAXED))
		meanwhile();
	descriptors_set_vector(VECTOR_TIMER, vector_measure, false);
	return lateness(deadline);
}

void timer_hw_measure_end(void)
{
	descriptors_set_vector(VECTOR_TIMER, vectors[VECTOR_TIMER], false);
}

/* ---- Start: pace ------------------------------------------------------------------------------------------------- */

/* The shortest of some tries: what disturbs one makes it longer, as the start is read before the timer is set. */
static uint64_t shortest_span(uint32_t counts)
{
	uint64_t shortest = UINT64_MAX;

	for (unsigned n = 0; n < PACE_TRIES; n++) {
		uint64_t start = arch_counter();

		run_counts(counts, true);
		if (timer_hw_arrival - start < shortest)
			shortest = timer_hw_arrival - start;
	}
	return shortest;
}

/* What waking up costs is in both spans, and drops out. Long ones first: the short ones are the more easily disturbed. */
static uint64_t measure_pace(void)
{
	uint64_t long_ticks = shortest_span(PACE_LONG_COUNTS);
	uint64_t short_ticks = shortest_span(PACE_SHORT_COUNTS);

	return ((uint64_t)(PACE_LONG_COUNTS - PACE_SHORT_COUNTS) << PLACES) / (long_ticks - short_ticks);
}

void timer_hw_init_core(void)
{
	x86_wrmsr(MSR_X2APIC_LVT_TIMER, VECTOR_TIMER);
	x86_wrmsr(MSR_X2APIC_DIVIDE, DIVIDE_BY_1);
}

void timer_hw_init(void (*handler)(struct cpu_frame *frame))
{
	timer_hw_init_core();
	timer_hw_measure_begin();
	counts_per_tick = measure_pace();
	timer_hw_measure_end();
	irq_attach_local(VECTOR_TIMER, handler);
}

uint64_t clock_machine_hz(void)
{
	return 1000000000; /* nothing tells; what QEMU's -icount makes it */
}

/* ---- One-shot ---------------------------------------------------------------------------------------------------- */

/* Rounded up, and never 0, which would stop the timer. */
static uint32_t counts_of(uint64_t ticks)
{
	unsigned __int128 counts = ((unsigned __int128)ticks * counts_per_tick >> PLACES) + 1;

	return counts > UINT32_MAX ? UINT32_MAX : (uint32_t)counts;
}

void timer_hw_set(uint64_t deadline)
{
	uint64_t now = arch_counter();

	x86_wrmsr(MSR_X2APIC_INITIAL_COUNT, counts_of(deadline > now ? deadline - now : 0));
}

void timer_hw_clear(void)
{
	x86_wrmsr(MSR_X2APIC_INITIAL_COUNT, 0);
}
