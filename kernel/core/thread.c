/* SPDX-License-Identifier: Apache-2.0 */
/* Switches between the threads of a core, as its scheduler decides (thread.h). */
#include "kernel/core/thread.h"

#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/frames.h"
#include "kernel/core/idle.h"
#include "kernel/core/stacks.h"
#include "kernel/core/sync.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/thread_slice.h"
#include "kernel/core/trace_sched.h"
#include "thread_state.h"

/* Touched by its core alone, with interrupts disabled. */
struct thread_core {
	struct sched sched;
	struct thread *running;
	bool decide;     /* the scheduler has to be asked */
	bool has_slices; /* one of its VCPUs has one */
	struct slice slice;
	bool in_interrupt;  /* and will be when it ends */
	uint64_t entered;   /* when it began */
	struct vcpu *cause; /* whose timeout it was for */
	struct thread main, idle;
	struct thread gone; /* for who ran, and is not gone on with */
	struct thread_vcpu main_vcpu;
	bool (*due)(void); /* what the main program waits for */
	bool called;       /* thread_wake_main: it waits no longer */
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

/* With slices every switch asks. */
static __attribute__((cold, noinline)) uint64_t until_by_slice(struct thread_core *core)
{
	core->decide = true;
	return slice_decide(&core->slice, &core->sched);
}

INLINE void go_on(struct thread_core *core)
{
	struct vcpu *vcpu = core->sched.running;

	if (core->decide) {
		core->decide = false;
		vcpu = sched_decide(&core->sched, arch_counter());
		trace_decided(&core->sched);
		timer_limit(core->has_slices ? until_by_slice(core) : core->sched.until);
	}
	go_on_with(core, vcpu ? who_runs((struct thread_vcpu *)vcpu) : &core->idle);
}

void thread_reschedule(void)
{
	struct thread_core *core = this_core();

	if (!core->in_interrupt)
		go_on(core);
}

/* What an interrupt wakes was awake when that began: its owner may owe the time since. */
static uint64_t time_now(const struct thread_core *core)
{
	return core->in_interrupt ? core->entered : arch_counter();
}

static void make_ready(struct thread_core *core, struct thread *thread)
{
	bool first = !thread->on->levels;

	thread->ready = true;
	append(thread->on, thread);
	if (first) {
		sched_ready(&core->sched, &thread->on->vcpu, time_now(core));
		trace_ready(&thread->on->vcpu);
		core->decide = true;
	}
}

static void make_idle(struct thread_core *core, struct thread *thread)
{
	thread->ready = false;
	drop(thread->on, thread);
	if (!thread->on->levels) {
		sched_idle(&core->sched, &thread->on->vcpu, time_now(core));
		trace_note(BH_TRACE_SLEEP, thread->on->row, 0, 0);
		core->decide = true;
	}
}

void thread_yield(void)
{
	bool enabled = cpu_interrupts_disable();
	struct thread_core *core = this_core();
	struct thread_vcpu *on = (struct thread_vcpu *)core->sched.running; /* whose turn it is, also in another's place */
	struct thread **first = &on->first[__builtin_ctz(on->levels)];

	*first = (*first)->next;
	go_on(core);
	cpu_interrupts_restore(enabled);
}

/* ---- Interrupts ----------------------------------------------------------------------------------------------------- */

/* Who ran into the end of his budget pays for the interrupt that came of it, but not for another's timer. */
static bool is_excepted(const struct thread_core *core)
{
	return !sched_is_spent(&core->sched, core->entered) || (core->cause && core->cause != core->sched.running);
}

/* Whoever another timer of the same interrupt was for has paid up to now. */
static __attribute__((cold, noinline)) void settle(struct thread_core *core)
{
	uint64_t now = arch_counter();

	if (is_excepted(core))
		trace_except(&core->sched, core->entered, now, core->cause);
	core->entered = now;
}

static void pay(struct thread_core *core, struct vcpu *vcpu)
{
	if (core->cause && core->cause != vcpu)
		settle(core);
	core->cause = vcpu;
}

/* NULL: that of whoever runs, or of nobody. */
static struct vcpu *whose_time_is_up(const struct thread_core *core, uint64_t now)
{
	if (core->slice.pays)
		return core->slice.pays;
	if (core->sched.next > now || sched_is_spent(&core->sched, core->entered))
		return NULL;
	return sched_replenished(&core->sched, now);
}

void thread_time_is_up(uint64_t now)
{
	struct thread_core *core = this_core();
	struct vcpu *pays = whose_time_is_up(core, now);

	core->decide = true;
	if (pays)
		pay(core, pays);
}

void thread_pays_for_interrupt(const struct thread *thread)
{
	pay(this_core(), &thread->on->vcpu);
}

/*
 * The interrupt is charged to the VCPU whose timer or replenishment it was for. If it came at the end of the running VCPU's budget, and for
 * nobody else, to that one. Otherwise to nobody. The running VCPU may then run for longer than the timer is set for: that costs one early
 * interrupt, not a setting of the timer for every interrupt.
 */
static void account(struct thread_core *core)
{
	if (!core->sched.running && !core->cause)
		return;
	if (is_excepted(core))
		trace_except(&core->sched, core->entered, arch_counter(), core->cause);
}

void thread_interrupt(void (*serve)(struct cpu_frame *frame, uint32_t vector), struct cpu_frame *frame, uint32_t vector)
{
	struct thread_core *core = this_core();

	core->in_interrupt = true;
	core->entered = arch_counter();
	core->cause = NULL;
	serve(frame, vector);
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

	if (!vcpu)
		return UINT64_MAX;
	return (vcpu->kind == VCPU_MAIN ? vcpu->main.period : vcpu->io.period) * THREAD_LEVELS + thread->level;
}

/* Where a VCPU gets ready the timer is set anyway. */
INLINE void forget_timeout(struct thread *thread)
{
	if (thread->on->levels)
		timer_cancel(&thread->timeout);
	else
		timer_take_out(&thread->timeout);
}

void thread_wake(struct thread *thread)
{
	if (thread->waits_in) {
		heap_take_out(thread->waits_in, &thread->wait);
		thread->waits_in = NULL;
	}
	if (thread->timeout.waits)
		forget_timeout(thread);
	if (!thread->ready)
		make_ready(this_core(), thread);
}

static void time_out(struct timer_event *event, struct cpu_frame *frame)
{
	struct thread *thread = (struct thread *)((char *)event - offsetof(struct thread, timeout));

	thread->timed_out = true;
	pay(this_core(), &thread->on->vcpu);
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

	if (!thread_is_held_to_run(self) && at > arch_counter())
		thread_wait(NULL, at);
	cpu_interrupts_restore(enabled);
	return thread_is_held_to_run(self) ? THREAD_E_HOLDS : THREAD_OK;
}

void thread_wait_until(bool (*due)(void))
{
	bool enabled = cpu_interrupts_disable();

	while (!due() && !this_core()->called) {
		if (thread_is_held_to_run(thread_running())) { /* others have it run in their places, so it has to stay ready */
			idle_sleep();
			continue;
		}
		this_core()->due = due;
		thread_wait(NULL, TIMER_NEVER);
	}
	this_core()->called = false;
	cpu_interrupts_restore(enabled);
}

void thread_wake_main(void)
{
	struct thread_core *core = this_core();

	core->called = true;
	if (!core->due)
		return;
	core->due = NULL;
	thread_wake(&core->main);
}

/* ---- Making ----------------------------------------------------------------------------------------------------------- */

static void begin(void (*entry)(void *argument), void *argument)
{
	cpu_interrupts_enable();
	entry(argument);
	thread_end();
}

static void idle(void *argument)
{
	cpu_interrupts_disable();
	for (;;)
		idle_sleep();
}

/* What cpu_switch would have left below `at`, of who begins there. */
static uintptr_t prepare(uintptr_t at, void (*begins)(void (*entry)(void *argument), void *argument), void (*entry)(void *argument),
			 void *argument)
{
	struct thread_state *state = (struct thread_state *)at - 1;

	state->start = (uintptr_t)thread_start;
	state->begin = (uintptr_t)begins;
	state->entry = (uintptr_t)entry;
	state->argument = (uintptr_t)argument;
	return (uintptr_t)state;
}

/* Who has no VCPU cannot wait but behind others. Field by field: a structure would be cleared byte by byte, and most of it needs not be. */
static void init(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level, uintptr_t stack)
{
	thread->on = on;
	thread->behind = NULL;
	thread->level = level;
	thread->ran = 0;
	thread->ready = false;
	thread->waits_in = NULL;
	thread->timeout.waits = false;
	thread->timeout.fire = time_out;
	thread->name = name;
	thread->stack = stack;
	thread->fate = THREAD_ALIVE;
	thread->wish = THREAD_GO_ON;
	thread->held = on ? NULL : &sync_no_vcpu;
	thread->serves = NULL;
	thread->watched = NULL;
	thread->at_end = NULL;
}

enum thread_result thread_make(struct thread *thread, struct thread_vcpu *on, const char *name, unsigned level, uintptr_t stack,
			       void (*entry)(void *argument), void *argument)
{
	bool enabled;

	if (level >= THREAD_LEVELS || !entry)
		return THREAD_E_INVALID;
	if (!stack)
		return THREAD_E_NOMEM;
	init(thread, on, name, level, stack);
	thread->entry = entry;
	thread->argument = argument;
	thread->sp = prepare(stack, begin, entry, argument);
	enabled = cpu_interrupts_disable();
	if (on) {
		make_ready(this_core(), thread);
		thread_reschedule();
	}
	cpu_interrupts_restore(enabled);
	return THREAD_OK;
}

static bool by_deadline;

void thread_schedule_by_deadline(void)
{
	by_deadline = true;
}

bool thread_is_by_deadline(void)
{
	return by_deadline;
}

static enum thread_result begin_core(struct thread_core *core)
{
	enum thread_result result;

	sched_init(&core->sched, core->words, core->by_rank, THREAD_VCPUS, arch_counter());
	if (by_deadline)
		sched_by_deadline(&core->sched);
	init(&core->idle, NULL, "idle", 0, stacks_take());
	if (!core->idle.stack)
		return THREAD_E_NOMEM;
	core->idle.sp = prepare(core->idle.stack, begin, idle, NULL);
	init(&core->main, &core->main_vcpu, "main", 0, 0);
	core->running = &core->main;
	thread_cores[cpu_slot()] = core;
	trace_core(&core->sched.since);
	result = thread_make_vcpu(&core->main_vcpu, "main", clock_from_ns(BH_VCPU_MAIN_BUDGET_NS), clock_from_ns(BH_VCPU_MAIN_PERIOD_NS));
	if (result != THREAD_OK) {
		thread_cores[cpu_slot()] = NULL;
		trace_core(NULL);
		stacks_give(core->idle.stack);
	}
	return result;
}

enum thread_result thread_begin(void)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = THREAD_OK;
	struct thread_core *core;

	if (!thread_begun()) {
		core = (struct thread_core *)(uintptr_t)frames_take_run(CORE_FRAMES, 1, FRAME_PROGRAM);
		result = core ? begin_core(core) : THREAD_E_NOMEM;
		if (core && result != THREAD_OK)
			frames_give((uintptr_t)core, CORE_FRAMES, FRAME_PROGRAM);
		if (result == THREAD_OK) {
			make_ready(core, &core->main);
			go_on(core);
		}
	}
	cpu_interrupts_restore(enabled);
	return result;
}

/* ---- Ending and beginning again (thread_end.c) ----------------------------------------------------------------------- */

bool thread_is_made(const struct thread *thread)
{
	const struct thread_core *core = this_core();

	return thread != &core->main && thread != &core->idle && thread != &core->gone && (!thread->on || thread->on->core == cpu_slot());
}

bool thread_in_handler(void)
{
	return this_core()->in_interrupt;
}

void thread_detach(struct thread *thread)
{
	struct thread_core *core = this_core();

	if (thread->waits_in)
		heap_remove(thread->waits_in, &thread->wait);
	thread->waits_in = NULL;
	timer_cancel(&thread->timeout);
	if (thread->on)
		thread_take_off(thread);
	thread->ready = true;
	if (core->running == thread)
		core->running = &core->gone;
}

static void begin_anew(void *argument)
{
	struct thread *thread = argument;

	begin(thread->entry, thread->argument);
}

/* The first function of a thread whose state does not lie at the end of its stack. */
static void go_to_end(void (*entry)(void *argument), void *thread)
{
	cpu_go_on_at(((struct thread *)thread)->stack, entry, thread);
}

void thread_attach(struct thread *thread, uintptr_t at)
{
	thread->sp = prepare(at, go_to_end, begin_anew, thread);
	thread->ready = false;
	if (thread->on)
		make_ready(this_core(), thread);
}

_Noreturn void thread_leave(void)
{
	go_on(this_core());
	__builtin_unreachable();
}

/* ---- VCPUs (thread_vcpu.c, thread_slice.c) ----------------------------------------------------------------------------- */

struct sched *thread_sched(void)
{
	return &this_core()->sched;
}

void thread_decide_anew(void)
{
	this_core()->decide = true;
}

void thread_renew_slices(void)
{
	struct thread_core *core = this_core();

	core->has_slices = slices_are_set(&core->sched);
	core->slice = (struct slice){ .whose = NULL };
	core->decide = true;
}

/* ---- Moving (thread_move.c) ------------------------------------------------------------------------------------------ */

void thread_take_off(struct thread *thread)
{
	struct thread_core *core = this_core();

	slice_forget(&core->slice, thread);
	if (!thread->ready)
		return;
	make_idle(core, thread);
	thread->ready = true;
}

void thread_put_on(struct thread *thread, struct thread_vcpu *on)
{
	struct thread_core *core = this_core();

	thread->on = on;
	if (core->in_interrupt)
		pay(core, &on->vcpu);
	if (thread->ready)
		make_ready(core, thread);
}

static void part(void (*then)(void *thread), void *thread)
{
	then(thread);
	thread_leave();
}

void thread_part(void (*then)(void *thread))
{
	struct thread_core *core = this_core();
	struct thread *self = core->running;

	core->running = &core->gone;
	cpu_switch(&self->sp, prepare(cpu_emergency_stack(), part, then, self));
}
