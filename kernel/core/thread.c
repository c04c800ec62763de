/* SPDX-License-Identifier: Apache-2.0 */
/* Switches between the threads of a core, as its scheduler decides (thread.h). */
#include "kernel/core/thread.h"

#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/frames.h"
#include "kernel/core/idle.h"
#include "kernel/core/stacks.h"
#include "kernel/core/trace_sched.h"
#include "thread_state.h"

/* The main program's VCPU: where nobody else runs it has all the time there is. */
#define MAIN_BUDGET_NS 20000000ULL
#define MAIN_PERIOD_NS 100000000ULL

/* Touched by its core alone, with interrupts disabled. */
struct thread_core {
	struct sched sched;
	struct thread *running;
	bool decide;        /* the scheduler has to be asked */
	bool in_interrupt;  /* and will be when it ends */
	uint64_t entered;   /* when it began */
	struct vcpu *cause; /* whose timeout it was for */
	struct thread main, idle;
	struct thread_vcpu main_vcpu;
	bool (*due)(void); /* what the main program waits for */
	struct vcpu *by_rank[THREAD_VCPUS];
	uint64_t words[4 * THREAD_VCPUS];
};
struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];
enum { CORE_FRAMES = (sizeof(struct thread_core) + FRAME_BYTES - 1) / FRAME_BYTES };

static struct thread_core *this_core(void)
{
	return thread_cores[cpu_slot()];
}

struct thread *thread_running(void)
{
	return this_core()->running;
}

/* ---- Ready threads of a VCPU ---------------------------------------------------------------------------------------- */

/* The first ready thread of a VCPU, or who has to run in its place. */
static struct thread *who_runs(const struct thread_vcpu *on)
{
	struct thread *thread = on->first[__builtin_ctz(on->levels)];

	while (thread->behind)
		thread = thread->behind->thread;
	return thread;
}

static void append(struct thread_vcpu *on, struct thread *thread)
{
	struct thread **first = &on->first[thread->level];

	if (on->levels >> thread->level & 1) {
		thread->next = *first;
		thread->prev = (*first)->prev;
		thread->prev->next = thread->next->prev = thread;
		return;
	}
	*first = thread->next = thread->prev = thread;
	on->levels |= 1U << thread->level;
}

static void drop(struct thread_vcpu *on, struct thread *thread)
{
	struct thread **first = &on->first[thread->level];

	if (thread->next == thread) {
		on->levels &= ~(1U << thread->level);
		return;
	}
	thread->prev->next = thread->next;
	thread->next->prev = thread->prev;
	if (*first == thread)
		*first = thread->next;
}

/* Everything that switches ends here: a call less for each. */
#define INLINE static inline __attribute__((always_inline))

/* ---- Switch ------------------------------------------------------------------------------------------------------- */

INLINE void go_on_with(struct thread_core *core, struct thread *next)
{
	struct thread *before = core->running;

	if (next == before)
		return;
	core->running = next;
	trace_thread(next->name, next);
	cpu_switch(&before->sp, next->sp);
}

INLINE void go_on(struct thread_core *core)
{
	struct vcpu *vcpu = core->sched.running;

	if (core->decide) {
		core->decide = false;
		vcpu = sched_decide(&core->sched, arch_counter());
		trace_decided(&core->sched);
		timer_limit(core->sched.until);
	}
	go_on_with(core, vcpu ? who_runs((struct thread_vcpu *)vcpu) : &core->idle);
}

void thread_reschedule(void)
{
	struct thread_core *core = this_core();

	if (!core->in_interrupt)
		go_on(core);
}

static void make_ready(struct thread_core *core, struct thread *thread)
{
	bool first = !thread->on->levels;

	thread->ready = true;
	append(thread->on, thread);
	if (first) {
		sched_ready(&core->sched, &thread->on->vcpu, arch_counter());
		trace_note(BH_TRACE_READY, thread->on->row, 0, 0);
		core->decide = true;
	}
}

static void make_idle(struct thread_core *core, struct thread *thread)
{
	thread->ready = false;
	drop(thread->on, thread);
	if (!thread->on->levels) {
		sched_idle(&core->sched, &thread->on->vcpu, arch_counter());
		trace_note(BH_TRACE_SLEEP, thread->on->row, 0, 0);
		core->decide = true;
	}
}

void thread_yield(void)
{
	bool enabled = cpu_interrupts_disable();
	struct thread_core *core = this_core();
	struct thread *self = core->running;

	if (self->on && self->on->first[self->level] == self)
		self->on->first[self->level] = self->next;
	go_on(core);
	cpu_interrupts_restore(enabled);
}

/* ---- Interrupts ----------------------------------------------------------------------------------------------------- */

void thread_time_is_up(void)
{
	this_core()->decide = true;
}

void thread_enter_interrupt(void)
{
	struct thread_core *core = this_core();

	core->in_interrupt = true;
	core->entered = arch_counter();
	core->cause = NULL;
}

/*
 * The time it took is that of who set the timer, or nobody's; that of who ran into the end of his budget, his. The one that runs may then
 * run for longer than the timer is set for: that costs one early interrupt, not a setting of the timer for every one.
 */
static void account(struct thread_core *core)
{
	if (sched_is_spent(&core->sched, core->entered))
		return;
	trace_except(&core->sched, core->entered, arch_counter(), core->cause);
}

void thread_leave_interrupt(void)
{
	struct thread_core *core = this_core();

	if (core->due && core->due()) {
		core->due = NULL;
		thread_wake(&core->main);
	}
	core->in_interrupt = false;
	account(core);
	go_on(core);
}

/* ---- Waiting -------------------------------------------------------------------------------------------------------- */

uint64_t thread_key(const struct thread *thread)
{
	const struct vcpu *vcpu = thread->on ? &thread->on->vcpu : NULL;
	uint64_t period = !vcpu ? 0 : vcpu->kind == VCPU_MAIN ? vcpu->main.period : vcpu->io.period;

	return period * THREAD_LEVELS + thread->level;
}

void thread_wake(struct thread *thread)
{
	if (thread->waits_in) {
		heap_remove(thread->waits_in, &thread->wait);
		thread->waits_in = NULL;
	}
	if (thread->timeout.waits)
		timer_cancel(&thread->timeout);
	if (!thread->ready)
		make_ready(this_core(), thread);
}

static void time_out(struct timer_event *event, struct cpu_frame *frame)
{
	struct thread *thread = (struct thread *)((char *)event - offsetof(struct thread, timeout));

	thread->timed_out = true;
	this_core()->cause = &thread->on->vcpu;
	thread_wake(thread);
}

enum thread_result thread_wait(struct heap *heap, uint64_t deadline)
{
	struct thread_core *core = this_core();
	struct thread *self = core->running;

	if (heap) {
		self->wait.key = thread_key(self);
		self->waits_in = heap;
		heap_add(heap, &self->wait);
	}
	self->timed_out = false;
	if (deadline != TIMER_NEVER)
		timer_add(&self->timeout, deadline);
	make_idle(core, self);
	go_on(core);
	return self->timed_out ? THREAD_E_TIMEOUT : THREAD_OK;
}

enum thread_result thread_sleep_until(uint64_t at)
{
	bool enabled = cpu_interrupts_disable();
	struct thread *self = thread_running();

	if (!self->holds && at > arch_counter())
		thread_wait(NULL, at);
	cpu_interrupts_restore(enabled);
	return self->holds ? THREAD_E_HOLDS : THREAD_OK;
}

void thread_wait_until(bool (*due)(void))
{
	bool enabled = cpu_interrupts_disable();

	while (!due()) {
		this_core()->due = due;
		thread_wait(NULL, TIMER_NEVER);
	}
	cpu_interrupts_restore(enabled);
}

/* ---- Making ----------------------------------------------------------------------------------------------------------- */

static void begin(void (*entry)(void *argument), void *argument)
{
	cpu_interrupts_enable();
	entry(argument);
	cpu_interrupts_disable();
	for (;;) /* nobody wakes it */
		thread_wait(NULL, TIMER_NEVER);
}

static void idle(void *argument)
{
	cpu_interrupts_disable();
	for (;;)
		idle_sleep();
}

/* A stack as cpu_switch would have left it. */
static void prepare(struct thread *thread, void (*entry)(void *argument), void *argument)
{
	struct thread_state *state = (struct thread_state *)thread->stack - 1;

	state->start = (uintptr_t)thread_start;
	state->begin = (uintptr_t)begin;
	state->entry = (uintptr_t)entry;
	state->argument = (uintptr_t)argument;
	thread->sp = (uintptr_t)state;
}

/* Who has no VCPU cannot wait but behind others. Field by field: a structure would be cleared byte by byte, and most of it needs not be. */
static void init(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level, uintptr_t stack)
{
	thread->on = on;
	thread->behind = NULL;
	thread->level = level;
	thread->holds = !on;
	thread->ready = false;
	thread->waits_in = NULL;
	thread->timeout.waits = false;
	thread->timeout.fire = time_out;
	thread->name = name;
	thread->stack = stack;
}

enum thread_result thread_make_vcpu(struct thread_vcpu *on, const char *name, uint64_t budget, uint64_t period)
{
	bool enabled = cpu_interrupts_disable();
	uint64_t now = arch_counter();
	enum sched_result result;

	*on = (struct thread_vcpu){ .name = name, .row = trace_vcpu(name, budget, period), .made = now };
	result = sched_add_main(&this_core()->sched, &on->vcpu, budget, period, SPORADIC_MOST_ENTRIES, now);
	cpu_interrupts_restore(enabled);
	return (enum thread_result)result;
}

enum thread_result thread_make(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level, uintptr_t stack,
			       void (*entry)(void *argument), void *argument)
{
	bool enabled;

	if (level >= THREAD_LEVELS)
		return THREAD_E_INVALID;
	if (!stack)
		return THREAD_E_NOMEM;
	init(thread, on, name, level, stack);
	prepare(thread, entry, argument);
	enabled = cpu_interrupts_disable();
	if (on) {
		make_ready(this_core(), thread);
		thread_reschedule();
	}
	cpu_interrupts_restore(enabled);
	return THREAD_OK;
}

static enum thread_result begin_core(struct thread_core *core)
{
	sched_init(&core->sched, core->words, core->by_rank, THREAD_VCPUS, arch_counter());
	init(&core->idle, NULL, "idle", 0, stacks_take());
	if (!core->idle.stack)
		return THREAD_E_NOMEM;
	prepare(&core->idle, idle, NULL);
	init(&core->main, &core->main_vcpu, "main", 0, 0);
	core->running = &core->main;
	thread_cores[cpu_slot()] = core;
	return thread_make_vcpu(&core->main_vcpu, "main", clock_from_ns(MAIN_BUDGET_NS), clock_from_ns(MAIN_PERIOD_NS));
}

enum thread_result thread_begin(void)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = THREAD_OK;
	struct thread_core *core;

	if (!thread_begun()) {
		core = (struct thread_core *)(uintptr_t)frames_take_run(CORE_FRAMES, 1, FRAME_PROGRAM);
		result = core ? begin_core(core) : THREAD_E_NOMEM;
		if (result == THREAD_OK) {
			make_ready(core, &core->main);
			go_on(core);
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
