/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeps until an interrupt makes something due (idle.h). */
#include "kernel/core/idle.h"

#include <stdatomic.h>
#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/telemetry.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_end.h"

/* The main program's sleep, which the first interrupt of its core ends. */
static struct {
	_Atomic uint64_t from; /* counter; 0: awake */
	_Atomic uint64_t kicks;
} asleep;

/* Only kicks enter the monitor of a sleeping core. */
static uint64_t kicks(void)
{
	const struct bh_core_stats *core = info_statistics()->core;

	return __atomic_load_n(&core->kicks, __ATOMIC_RELAXED) + __atomic_load_n(&core->exits[BH_EXIT_KICK], __ATOMIC_RELAXED);
}

static void begin_sleep(void)
{
	if (cpu_slot())
		return;
	atomic_store_explicit(&asleep.kicks, kicks(), memory_order_relaxed);
	atomic_store_explicit(&asleep.from, arch_counter(), memory_order_relaxed);
}

void idle_end_sleep(void)
{
	if (cpu_slot() == 0)
		atomic_store_explicit(&asleep.from, 0, memory_order_relaxed);
}

bool idle_slept_since(uint64_t moment)
{
	uint64_t from = atomic_load_explicit(&asleep.from, memory_order_relaxed);

	return from && from <= moment && kicks() == atomic_load_explicit(&asleep.kicks, memory_order_relaxed);
}

void idle_sleep(void)
{
	begin_sleep();
	if (cpu_sleep_before_interrupt())
		irq_serve(NULL, 0);
	idle_end_sleep();
}

static void report(void)
{
	heartbeat_report();
	irq_report_strays();
	thread_report_faults();
	telemetry_report();
}

void idle_until(bool (*done)(void))
{
	for (;;) {
		if (cpu_slot() == 0)
			report();
		cpu_interrupts_disable();
		if (done())
			break;
		if (thread_begun())
			thread_wait_until(done);
		else
			idle_sleep();
		cpu_interrupts_enable();
	}
	cpu_interrupts_enable();
}
