/* SPDX-License-Identifier: Apache-2.0 */
/* Switches between the threads of a core, as its scheduler decides (thread.h). */
#include "kernel/core/thread.h"

#include <stddef.h>

#include "abi/guest.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/idle.h"
#include "kernel/core/stacks.h"
#include "thread_state.h"

/* The main program's VCPU: where nobody else runs it has all the time there is. */
#define MAIN_BUDGET_NS 20000000ULL
#define MAIN_PERIOD_NS 100000000ULL

/* Touched by its core alone, with interrupts disabled. */
static struct core {
	struct sched sched;
	struct thread *running;
	bool decide;       /* the scheduler has to be asked */
	bool in_interrupt; /* and will be when it ends */
	struct thread main, idle;
	struct thread_vcpu main_vcpu;
	bool (*due)(void); /* what the main program waits for */
	struct vcpu *by_rank[THREAD_VCPUS];
	uint64_t words[4 * THREAD_VCPUS];
	struct timer_event *timeouts[TIMER_EVENTS];
	uint64_t timeout_words[2 * TIMER_EVENTS];
} *cores[BH_MAX_SANDBOX_CORES];
enum { CORE_FRAMES = (sizeof(struct core) + FRAME_BYTES - 1) / FRAME_BYTES };

static struct core *this_core(void)
{
	return cores[cpu_slot()];
}

bool thread_begun(void)
{
	return this_core() != NULL;
}

struct thread *thread_running(void)
{
	return this_core()->running;
}

/* ---- Ready threads of a VCPU ---------------------------------------------------------------------------------------- */

static struct thread *first_of(const struct thread_vcpu *on)
{
	return on->last[__builtin_ctz(on->levels)]->next;
}

static void append(struct thread_vcpu *on, struct thread *thread)
{
	struct thread **last = &on->last[thread->level];

	if (on->levels >> thread->level & 1) {
		thread->next = (*last)->next;
		(*last)->next = thread;
	} else {
		thread->next = thread;
	}
	*last = thread;
	on->levels |= 1U << thread->level;
}

/* The one that runs is the first of its level. */
static void drop_first(struct thread_vcpu *on, struct thread *thread)
{
	struct thread *last = on->last[thread->level];

	if (last == thread)
		on->levels &= ~(1U << thread->level);
	else
		last->next = thread->next;
}

/* ---- Switch ------------------------------------------------------------------------------------------------------- */

static void go_on_with(struct core *core, struct thread *next)
{
	struct thread *before = core->running;

	if (next == before)
		return;
	core->running = next;
	cpu_switch(&before->sp, next->sp);
}

/* Interrupts disabled. Returns when the caller's thread runs again. */
static void reschedule(struct core *core)
{
	struct vcpu *vcpu = core->sched.running;

	if (core->decide) {
		core->decide = false;
		vcpu = sched_decide(&core->sched, arch_counter());
		timer_limit(core->sched.until);
	}
	go_on_with(core, vcpu ? first_of((struct thread_vcpu *)vcpu) : &core->idle);
}

void thread_block(void)
{
	struct core *core = this_core();
	struct thread *self = core->running;

	self->ready = false;
	drop_first(self->on, self);
	if (!self->on->levels) {
		sched_idle(&core->sched, &self->on->vcpu, arch_counter());
		core->decide = true;
	}
	reschedule(core);
}

static void make_ready(struct core *core, struct thread *thread)
{
	bool first = !thread->on->levels;

	thread->ready = true;
	append(thread->on, thread);
	if (first) {
		sched_ready(&core->sched, &thread->on->vcpu, arch_counter());
		core->decide = true;
	}
}

void thread_wake(struct thread *thread)
{
	bool enabled = cpu_interrupts_disable();
	struct core *core = this_core();

	if (!thread->ready)
		make_ready(core, thread);
	if (!core->in_interrupt)
		reschedule(core);
	cpu_interrupts_restore(enabled);
}

void thread_yield(void)
{
	bool enabled = cpu_interrupts_disable();
	struct core *core = this_core();
	struct thread **last = &core->running->on->last[core->running->level];

	*last = (*last)->next;
	go_on_with(core, first_of(core->running->on));
	cpu_interrupts_restore(enabled);
}

/* ---- Interrupts ----------------------------------------------------------------------------------------------------- */

void thread_time_is_up(void)
{
	this_core()->decide = true;
}

void thread_enter_interrupt(void)
{
	this_core()->in_interrupt = true;
}

void thread_leave_interrupt(void)
{
	struct core *core = this_core();

	if (core->due && core->due()) {
		core->due = NULL;
		make_ready(core, &core->main);
	}
	core->in_interrupt = false;
	reschedule(core);
}

/* ---- Waiting -------------------------------------------------------------------------------------------------------- */

static void time_out(struct timer_event *event, struct cpu_frame *frame)
{
	thread_wake((struct thread *)((char *)event - offsetof(struct thread, timeout)));
}

void thread_sleep_until(uint64_t at)
{
	bool enabled = cpu_interrupts_disable();
	struct thread *self = thread_running();

	if (at > arch_counter()) {
		timer_add(&self->timeout, at);
		thread_block();
	}
	cpu_interrupts_restore(enabled);
}

void thread_wait_until(bool (*due)(void))
{
	bool enabled = cpu_interrupts_disable();

	while (!due()) {
		this_core()->due = due;
		thread_block();
	}
	cpu_interrupts_restore(enabled);
}

/* ---- Making ----------------------------------------------------------------------------------------------------------- */

static void begin(void (*entry)(void *argument), void *argument)
{
	cpu_interrupts_enable();
	entry(argument);
	cpu_interrupts_disable();
	thread_block(); /* for good: nobody wakes it */
}

static void idle(void *argument)
{
	cpu_interrupts_disable();
	for (;;)
		idle_sleep();
}

static void init(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level)
{
	*thread = (struct thread){ .on = on, .level = level, .timeout = { .fire = time_out }, .name = name };
}

/* A stack as cpu_switch would have left it. */
static bool prepare(struct thread *thread, void (*entry)(void *argument), void *argument)
{
	struct thread_state *state = (struct thread_state *)stacks_take();

	if (!state)
		return false;
	*--state = (struct thread_state){
		.start = (uintptr_t)thread_start,
		.begin = (uintptr_t)begin,
		.entry = (uintptr_t)entry,
		.argument = (uintptr_t)argument,
	};
	thread->sp = (uintptr_t)state;
	return true;
}

enum thread_result thread_make_vcpu(struct thread_vcpu *on, const char *name, uint64_t budget, uint64_t period)
{
	bool enabled = cpu_interrupts_disable();
	uint64_t now = arch_counter();
	enum sched_result result;

	*on = (struct thread_vcpu){ .name = name, .made = now };
	result = sched_add_main(&this_core()->sched, &on->vcpu, budget, period, SPORADIC_MOST_ENTRIES, now);
	cpu_interrupts_restore(enabled);
	return (enum thread_result)result;
}

enum thread_result thread_make(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level,
			       void (*entry)(void *argument), void *argument)
{
	if (level >= THREAD_LEVELS)
		return THREAD_E_INVALID;
	init(thread, on, name, level);
	if (!prepare(thread, entry, argument))
		return THREAD_E_NOMEM;
	thread_wake(thread);
	return THREAD_OK;
}

static enum thread_result begin_core(struct core *core)
{
	sched_init(&core->sched, core->words, core->by_rank, THREAD_VCPUS, arch_counter());
	init(&core->main, &core->main_vcpu, "main", THREAD_LEVELS - 1);
	init(&core->idle, NULL, "idle", 0);
	if (!prepare(&core->idle, idle, NULL))
		return THREAD_E_NOMEM;
	core->running = &core->main;
	timer_make_room(core->timeout_words, core->timeouts);
	cores[cpu_slot()] = core;
	return thread_make_vcpu(&core->main_vcpu, "main", clock_from_ns(MAIN_BUDGET_NS), clock_from_ns(MAIN_PERIOD_NS));
}

enum thread_result thread_begin(void)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = THREAD_OK;
	struct core *core;

	if (!thread_begun()) {
		core = (struct core *)(uintptr_t)frames_take_run(CORE_FRAMES, 1, FRAME_PROGRAM);
		result = core ? begin_core(core) : THREAD_E_NOMEM;
		if (result == THREAD_OK) {
			make_ready(core, &core->main);
			reschedule(core);
		}
	}
	cpu_interrupts_restore(enabled);
	return result;
}

void thread_each_vcpu(void (*say)(const struct thread_vcpu *on))
{
	for (unsigned rank = 0; rank < this_core()->sched.count; rank++)
		say((const struct thread_vcpu *)this_core()->by_rank[rank]);
}
