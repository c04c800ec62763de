/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual timer: Arm ARM, chapter D12 and, for AArch32, G6 "The Generic Timer". Its line is level: off or in the future. */
#include "timer_hw.h"

#include <stdatomic.h>

#include "generic_timer.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/irq.h"
#include "kernel/core/timer.h"

enum {
	VIRTUAL_TIMER_INTID = 27, /* BSA, "PPI assignments": EL1 virtual timer */
	CNTV_CTL_ENABLE = 1,
};

static void (*timer_handler)(struct cpu_frame *frame);
static void (*expiry_handler)(struct cpu_frame *frame); /* timer_handler, or measured_expiry */
static _Atomic bool measured;

uint64_t clock_machine_hz(void)
{
	return generic_timer_hz();
}

static void timer_interrupt(struct cpu_frame *frame)
{
	expiry_handler(frame);
}

void timer_hw_init(void (*handler)(struct cpu_frame *frame))
{
	timer_handler = handler;
	expiry_handler = handler;
	irq_attach_local(VIRTUAL_TIMER_INTID, timer_interrupt);
}

void timer_hw_init_core(void) {} /* off, as PSCI leaves it */

void timer_hw_set(uint64_t deadline)
{
	generic_timer_compare(deadline);
	generic_timer_control(CNTV_CTL_ENABLE);
	arch_isb();
}

void timer_hw_clear(void)
{
	generic_timer_control(0);
	arch_isb(); /* the line has dropped before the controller hears of the end */
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static void measured_expiry(struct cpu_frame *frame)
{
	timer_hw_clear();
	atomic_store_explicit(&measured, true, memory_order_relaxed);
}

void timer_hw_measure_begin(void)
{
	expiry_handler = measured_expiry;
}

static bool expired(void)
{
	return atomic_load_explicit(&measured, memory_order_relaxed);
}

/* Sets the timer, interrupts disabled; for when. */
static uint64_t set_measured(uint64_t ticks)
{
	uint64_t deadline = arch_counter() + ticks;

	atomic_store_explicit(&measured, false, memory_order_relaxed);
	cpu_interrupts_disable();
	timer_hw_set(deadline);
	return deadline;
}

uint64_t timer_hw_measure_during(uint64_t ticks, void (*meanwhile)(void))
{
	uint64_t deadline = set_measured(ticks);

	cpu_interrupts_enable();
	while (!expired())
		meanwhile();
	return timer_hw_arrival - deadline;
}

uint64_t timer_hw_measure(uint64_t ticks, bool asleep)
{
	uint64_t deadline = set_measured(ticks);

	while (asleep && !expired())
		cpu_sleep();
	cpu_interrupts_enable();
	while (!expired())
		;
	return timer_hw_arrival - deadline;
}

void timer_hw_measure_end(void)
{
	expiry_handler = timer_handler;
}
