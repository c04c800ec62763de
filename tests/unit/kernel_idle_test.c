/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. The main program's sleep: who serves the interrupt that ends it, what a handler is told of it, and what is done between
 * two. kernel/core/idle.c
 */
#include "kernel/core/idle.h"

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/telemetry.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_end.h"

enum { MOMENT = 1000 };

/* ---- Around it ------------------------------------------------------------------------------------------------------------ */

struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];
static struct bh_stats stats;
static struct {
	uint64_t counter;
	bool has_to_serve; /* what ends a sleep is still to be served */
	void (*handler)(void);
	unsigned sleeps, served, reports, waits;
	bool slept; /* as the handler was told */
} now;

uint64_t arch_counter(void)
{
	return now.counter;
}

const struct bh_stats *info_statistics(void)
{
	return &stats;
}

static void handle(void)
{
	now.slept = idle_slept_since(MOMENT);
	if (now.handler)
		now.handler();
}

bool cpu_sleep_before_interrupt(void)
{
	CHECK(!fake_cpu.enabled);
	now.sleeps++;
	if (!now.has_to_serve)
		handle();
	return now.has_to_serve;
}

void irq_serve(struct cpu_frame *frame, uint32_t vector)
{
	CHECK(!fake_cpu.enabled && !frame && vector == 0);
	now.served++;
	handle();
}

static void count_report(void)
{
	CHECK(fake_cpu.enabled);
	CHECK_EQ(fake_cpu.slot, 0);
	now.reports++;
}

void heartbeat_report(void)
{
	count_report();
}

void irq_report_strays(void)
{
	count_report();
}

void thread_report_faults(void)
{
	count_report();
}

void telemetry_report(void)
{
	count_report();
}

void thread_wait_until(bool (*due)(void))
{
	CHECK(!fake_cpu.enabled);
	now.waits++;
}

/* ---- Asleep --------------------------------------------------------------------------------------------------------------- */

/* Sleeps until an interrupt whose handler does this. Returns whether it was told that its core had slept since MOMENT. */
static bool sleeps_with(void (*handler)(void))
{
	now.handler = handler;
	fake_cpu.enabled = false;
	idle_sleep();
	CHECK(!fake_cpu.enabled);
	fake_cpu.enabled = true;
	return now.slept;
}

static void kick(void)
{
	stats.core[0].kicks++;
	CHECK(!idle_slept_since(MOMENT));
}

static void exit_for_kick(void)
{
	stats.core[0].exits[BH_EXIT_KICK]++;
	CHECK(!idle_slept_since(MOMENT));
}

static void serve_another(void)
{
	idle_end_sleep();
	CHECK(!idle_slept_since(MOMENT));
}

static void sleep_on_the_other(void)
{
	fake_cpu.slot = 1;
	now.handler = NULL;
	now.counter++;
	idle_sleep();
	idle_end_sleep();
	fake_cpu.slot = 0;
	CHECK(idle_slept_since(MOMENT));
}

/* With interrupts masked, and as where the machine delivers what ends it. */
static void test_sleeps(bool has_to_serve)
{
	check_context.subject = has_to_serve ? "before its interrupt" : "until its interrupt";
	now.has_to_serve = has_to_serve;
	now.sleeps = now.served = 0;
	now.counter = MOMENT;
	CHECK(sleeps_with(NULL));
	CHECK_EQ(now.sleeps, 1);
	CHECK_EQ(now.served, has_to_serve);
	CHECK(!idle_slept_since(MOMENT)); /* whatever has ended it, and if that was nothing */
	CHECK(sleeps_with(serve_another));
	CHECK(sleeps_with(kick));
	CHECK(sleeps_with(exit_for_kick));
	CHECK(sleeps_with(sleep_on_the_other));
	now.counter = MOMENT + 1;
	CHECK(!sleeps_with(NULL));
	now.counter = MOMENT - 1;
	CHECK(sleeps_with(NULL));
}

/* ---- Until something is done ---------------------------------------------------------------------------------------------- */

static unsigned asked;

static bool third(void)
{
	CHECK(!fake_cpu.enabled);
	return ++asked == 3;
}

static void test_until(void)
{
	static char core;

	check_context.subject = "until it is done";
	now.handler = NULL;
	now.sleeps = now.reports = 0;
	idle_until(third);
	CHECK(fake_cpu.enabled);
	CHECK_EQ(now.sleeps, 2);
	CHECK_EQ(now.reports, 3 * 4);
	CHECK_EQ(now.waits, 0);
	check_context.subject = "with threads";
	asked = now.sleeps = now.reports = 0;
	thread_cores[0] = (struct thread_core *)&core;
	idle_until(third);
	CHECK_EQ(now.waits, 2);
	CHECK_EQ(now.sleeps, 0);
	check_context.subject = "on a further core";
	asked = now.reports = 0;
	fake_cpu.slot = 1;
	idle_until(third);
	CHECK_EQ(now.sleeps, 2);
	CHECK_EQ(now.reports, 0);
	fake_cpu.slot = 0;
}

int main(void)
{
	CHECK(!idle_slept_since(UINT64_MAX));
	test_sleeps(true);
	test_sleeps(false);
	test_until();
	return 0;
}
