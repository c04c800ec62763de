/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sandbox kernel makes of an information page on the host: its vcpus.c, admit.c and admission.c over its scheduler, and no thread
 * runs. A core's kernel starts once, in a library loaded anew: kernel/core keeps what it has made.
 */
#include <stddef.h>
#include <stdio.h>

#include "fake_cpu.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/frames.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/info.h"
#include "kernel/core/stacks.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/trace.h"
#include "kernel/core/vcpus.h"

const struct bh_info *info;
struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];

static struct {
	struct sched sched;
	struct vcpu *by_rank[THREAD_VCPUS];
	uint64_t words[4 * THREAD_VCPUS];
	struct thread_vcpu main;
} cores[BH_MAX_SANDBOX_CORES], *core;
static bool edf;
static const char *first_said;

uint64_t arch_counter(void)
{
	return 0;
}

uint64_t heartbeat_distance(void)
{
	return clock_from_ns(1000000000 / HEARTBEAT_HZ);
}

void trace_program(uint32_t row, const uint64_t *run) {}

void trace_publish(uint64_t clock_hz) {}

uint64_t clock_machine_hz(void)
{
	return 0;
}

void stacks_give(uintptr_t stack) {}

uintptr_t stacks_take(void)
{
	return 1;
}

uint64_t frames_take_run(uint64_t count, uint64_t alignment, unsigned owner)
{
	static _Alignas(16) unsigned char frames[BH_MAX_SANDBOX_CORES][12 * FRAME_BYTES];

	return count <= 12 ? (uintptr_t)frames[cpu_slot()] : 0;
}

void console_say(const char *format, ...)
{
	if (!first_said)
		first_said = format;
}

bool console_has_line(uint32_t line)
{
	return true;
}

void console_limit(uint64_t distance) {}

const struct program *program_find(const char *name)
{
	static const struct program any = { "any", NULL, false };

	return &any;
}

void program_report(const struct program_run *run, const char *name) {}

enum thread_condition thread_state(const struct thread *thread)
{
	return THREAD_SLEEPS;
}

enum thread_result thread_make(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level, uintptr_t stack,
			       void (*entry)(void *argument), void *argument)
{
	return THREAD_OK;
}

enum thread_result thread_make_vcpu(struct thread_vcpu *on, const char *name, uint64_t budget, uint64_t period)
{
	on->name = name;
	return (enum thread_result)sched_add_main(&core->sched, &on->vcpu, budget, period, SPORADIC_MOST_ENTRIES, 0);
}

enum thread_result thread_make_io_vcpu(struct thread_vcpu *on, const char *name, uint32_t percent, uint64_t period)
{
	on->name = name;
	return (enum thread_result)sched_add_io(&core->sched, &on->vcpu, percent, period, 0);
}

enum thread_result thread_change_vcpu(struct thread_vcpu *on, uint64_t budget, uint64_t period)
{
	return THREAD_E_INVALID;
}

void thread_each_vcpu(void (*say)(const struct thread_vcpu *on))
{
	for (unsigned rank = 0; rank < core->sched.count; rank++)
		say((const struct thread_vcpu *)core->by_rank[rank]);
}

enum thread_result thread_sleep_until(uint64_t at)
{
	return THREAD_E_HOLDS;
}

void thread_schedule_by_deadline(void)
{
	edf = true;
}

bool thread_is_by_deadline(void)
{
	return edf;
}

enum thread_result thread_begin(void)
{
	if (core->sched.by_rank)
		return THREAD_OK;
	sched_init(&core->sched, core->words, core->by_rank, THREAD_VCPUS, 0);
	if (edf)
		sched_by_deadline(&core->sched);
	return thread_make_vcpu(&core->main, "main", clock_from_ns(BH_VCPU_MAIN_BUDGET_NS), clock_from_ns(BH_VCPU_MAIN_PERIOD_NS));
}

/* Returns how many VCPUs core `slot` has made of `page`, the main program's not among them, with a clock of `hz`. */
unsigned started(const struct bh_info *page, unsigned slot, uint64_t hz);
unsigned started(const struct bh_info *page, unsigned slot, uint64_t hz)
{
	info = page;
	fake_cpu.slot = slot;
	core = &cores[slot];
	clock_init(hz);
	vcpus_start();
	return core->sched.count ? core->sched.count - 1 : 0;
}

/* What it said first, as it is before numbers are in it, or NULL. */
const char *said(void);
const char *said(void)
{
	return first_said;
}
