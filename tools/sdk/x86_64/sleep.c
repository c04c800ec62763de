/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleep until a time (bulkhead.h), by the local APIC's timer, one-shot: SDM vol. 3A, 11.5.4 "APIC Timer"; in x2APIC mode, 11.12 "Extended
 * xAPIC (x2APIC)". HLT ends with an interrupt that is taken, so there is a handler, which does nothing but end it, for all vectors above
 * exceptions. An exception still finds no gate, and so ends the sandbox with its crash record.
 */
#include <stdbool.h>

#include "bulkhead.h"

enum { GATES = 256, FIRST_INTERRUPT = 32, SELECTOR_CODE = 0x10 /* docs/guest.md */, INTERRUPT_GATE = 0x8e, VECTOR_TIMER = 0xd0 };
enum {
	MSR_X2APIC_TPR = 0x808,
	MSR_X2APIC_EOI = 0x80b,
	MSR_X2APIC_SIVR = 0x80f,
	MSR_X2APIC_LVT_TIMER = 0x832,
	MSR_X2APIC_INITIAL_COUNT = 0x838,
	MSR_X2APIC_DIVIDE = 0x83e,
};
enum { SIVR_ENABLE = 1 << 8, VECTOR_SPURIOUS = 0xff, DIVIDE_BY_1 = 0xb };
enum { PACE_COUNTS = 1 << 16, MOST_TICKS = 1 << 30 };
static const uint32_t most_counts = UINT32_MAX;

/* APM vol. 2, 4.8.4 "Gate Descriptors": of 64-bit mode */
struct gate {
	uint16_t offset_low, selector;
	uint8_t stack, type;
	uint16_t offset_middle;
	uint32_t offset_high, zero;
};
_Static_assert(sizeof(struct gate) == 16, "in memory");
struct __attribute__((packed)) table_register {
	uint16_t limit;
	uint64_t base;
};
struct interrupt_frame;

static struct gate gates[GATES];
static bool expired;  /* end_timer writes it, on this core */
static uint64_t pace; /* ticks of the TSC in PACE_COUNTS of the timer, or a little more; 0: not known */

static void write_msr(uint32_t number, uint32_t value)
{
	__asm__ volatile("wrmsr" ::"c"(number), "a"(value), "d"(0) : "memory");
}

__attribute__((interrupt)) static void end_interrupt(struct interrupt_frame *frame)
{
	(void)frame;
	write_msr(MSR_X2APIC_EOI, 0);
}

__attribute__((interrupt)) static void end_timer(struct interrupt_frame *frame)
{
	(void)frame;
	__atomic_store_n(&expired, true, __ATOMIC_RELAXED);
	write_msr(MSR_X2APIC_EOI, 0);
}

static void set_gate(uint32_t vector, void (*handler)(struct interrupt_frame *frame))
{
	const uint64_t offset = (uintptr_t)handler;

	gates[vector] = (struct gate){ .offset_low = (uint16_t)offset,
				       .selector = SELECTOR_CODE,
				       .type = INTERRUPT_GATE,
				       .offset_middle = (uint16_t)(offset >> 16),
				       .offset_high = (uint32_t)(offset >> 32) };
}

static void load_gates(void)
{
	const struct table_register idtr = { .limit = sizeof(gates) - 1, .base = (uintptr_t)gates };

	for (uint32_t n = FIRST_INTERRUPT; n < GATES; n++)
		set_gate(n, end_interrupt);
	set_gate(VECTOR_TIMER, end_timer);
	__asm__ volatile("lidt %0" ::"m"(idtr) : "memory");
}

/* An earlier timer's interrupt, if it is on its way. */
static void drop_timer(void)
{
	write_msr(MSR_X2APIC_INITIAL_COUNT, 0);
	__asm__ volatile("sti\n\tnop\n\tcli" ::: "memory");
	__atomic_store_n(&expired, false, __ATOMIC_RELAXED);
}

/*
 * Sleeps for so many counts, or until another interrupt. The timer has a clock of its own: how fast it is against the TSC each sleep shows,
 * and the shortest one best, as what a sleep takes besides its counts is never less than nothing. Until then sleeps are begun too short,
 * and are gone on with.
 */
static void sleep_counts(uint32_t counts)
{
	uint64_t begin, found;

	drop_timer();
	begin = bulkhead_clock();
	write_msr(MSR_X2APIC_INITIAL_COUNT, counts);
	bulkhead_sleep();
	found = (bulkhead_clock() - begin) * PACE_COUNTS / counts + 1;
	if (__atomic_load_n(&expired, __ATOMIC_RELAXED) && (!pace || found < pace))
		pace = found;
}

static void start(void)
{
	static bool started;

	if (started)
		return;
	started = true;
	load_gates();
	write_msr(MSR_X2APIC_TPR, 0);
	write_msr(MSR_X2APIC_SIVR, SIVR_ENABLE | VECTOR_SPURIOUS);
	write_msr(MSR_X2APIC_DIVIDE, DIVIDE_BY_1);
	write_msr(MSR_X2APIC_LVT_TIMER, VECTOR_TIMER);
	while (!pace)
		sleep_counts(PACE_COUNTS);
}

/* At least one: with 0 the timer does not run. */
static uint32_t counts_in(uint64_t ticks)
{
	const uint64_t counts = (ticks < MOST_TICKS ? ticks : MOST_TICKS) * PACE_COUNTS / pace + 1;

	return counts < most_counts ? (uint32_t)counts : most_counts;
}

/* One that is woken early sleeps again. */
void bulkhead_sleep_until(const struct bh_info *info, uint64_t ticks)
{
	(void)info;
	start();
	for (uint64_t now = bulkhead_clock(); (int64_t)(now - ticks) < 0; now = bulkhead_clock())
		sleep_counts(counts_in(ticks - now));
	drop_timer();
}
