/* SPDX-License-Identifier: Apache-2.0 */
/* Ends threads, has them begin again, and tells of those that faulted (thread_end.h). */
#include "kernel/core/thread_end.h"

#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/lock.h"
#include "kernel/core/stacks.h"
#include "kernel/core/sync.h"

/* Bytes at the far end of a stack that no handler reaches: frame.h. */
enum { UNUSED_BYTES = 512, NOTES = 8 };

/* ---- Being bound ---------------------------------------------------------------------------------------------------- */

static bool serves_a_call(const struct thread *thread)
{
	return thread->serves && thread->serves->server.thread == thread && thread->serves->received;
}

static bool is_bound(const struct thread *thread)
{
	return mutex_is_held_by(thread) || thread->behind || serves_a_call(thread);
}

/* ---- Ending ----------------------------------------------------------------------------------------------------------- */

static bool runs_on_stack_of(const struct thread *thread)
{
	return thread->stack - (uintptr_t)__builtin_frame_address(0) < THREAD_STACK_BYTES;
}

/* Nobody waits for it any more, and it waits for nobody. */
static void settle(struct thread *thread)
{
	if (thread->watched)
		periodic_unwatch(thread->watched);
	mutex_abandon_all(thread);
	if (thread->serves && thread->serves->server.thread == thread && thread->fate != THREAD_ALIVE)
		port_fail_all(thread->serves);
	if (thread->at_end)
		thread->at_end();
	thread->at_end = NULL;
	thread_detach(thread);
	thread->wish = THREAD_GO_ON;
}

static void end(struct thread *thread, enum thread_fate fate)
{
	thread->fate = fate;
	settle(thread);
	stacks_give(thread->stack);
	thread->stack = 0;
}

/* A handler may run on the very stack. */
static void begin_again(struct thread *thread)
{
	settle(thread);
	thread_attach(thread, runs_on_stack_of(thread) ? thread->stack - THREAD_STACK_BYTES + UNUSED_BYTES : thread->stack);
}

static void carry_out(struct thread *thread, enum thread_wish wish)
{
	if (wish == THREAD_STOP)
		end(thread, THREAD_STOPPED);
	else
		begin_again(thread);
}

/* ---- On the emergency stack: the running thread's own is left ----------------------------------------------------------- */

static void leave_for_good(void *thread)
{
	end(thread, THREAD_ENDED);
	cpu_serve_lost_interrupt();
	thread_leave();
}

static void leave_as_wished(void *argument)
{
	struct thread *thread = argument;

	carry_out(thread, thread->wish);
	thread_leave();
}

_Noreturn void thread_end(void)
{
	cpu_interrupts_disable();
	cpu_go_on_at(cpu_emergency_stack(), leave_for_good, thread_running());
}

void thread_fulfil_wish(void)
{
	struct thread *self = thread_running();

	if (!is_bound(self))
		cpu_go_on_at(cpu_emergency_stack(), leave_as_wished, self);
}

void thread_at_end(void (*give_back)(void))
{
	thread_running()->at_end = give_back;
}

/* ---- On demand ---------------------------------------------------------------------------------------------------------- */

static bool can_be_told(const struct thread *thread)
{
	return thread && thread_begun() && thread_is_made(thread) && (thread_in_handler() || thread != thread_running());
}

static enum thread_result revive(struct thread *thread)
{
	thread->stack = thread_in_handler() ? stacks_take_kept() : stacks_take();
	if (!thread->stack)
		return THREAD_E_NOMEM;
	thread->fate = THREAD_ALIVE;
	thread_attach(thread, thread->stack);
	return THREAD_OK;
}

static enum thread_result tell(struct thread *thread, enum thread_wish wish)
{
	if (!can_be_told(thread))
		return THREAD_E_INVALID;
	if (thread->fate != THREAD_ALIVE)
		return wish == THREAD_STOP ? THREAD_E_ENDED : revive(thread);
	if (is_bound(thread))
		thread->wish = wish;
	else
		carry_out(thread, wish);
	return THREAD_OK;
}

static enum thread_result demand(struct thread *thread, enum thread_wish wish)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_result result = tell(thread, wish);

	if (result == THREAD_OK)
		thread_reschedule();
	cpu_interrupts_restore(enabled);
	return result;
}

enum thread_result thread_stop(struct thread *thread)
{
	return demand(thread, THREAD_STOP);
}

enum thread_result thread_restart(struct thread *thread)
{
	return demand(thread, THREAD_RESTART);
}

static enum thread_condition condition(const struct thread *thread)
{
	if (thread->fate != THREAD_ALIVE)
		return thread->fate == THREAD_ENDED ? THREAD_HAS_ENDED : THREAD_IS_STOPPED;
	if (thread == thread_running())
		return THREAD_RUNS;
	if (!thread->behind && thread->ready)
		return THREAD_IS_READY;
	return thread->timeout.waits && !thread->waits_in ? THREAD_SLEEPS : THREAD_WAITS;
}

enum thread_condition thread_state(const struct thread *thread)
{
	bool enabled = cpu_interrupts_disable();
	enum thread_condition found = condition(thread);

	cpu_interrupts_restore(enabled);
	return found;
}

/* ---- Faults ------------------------------------------------------------------------------------------------------------- */

struct note {
	const char *thread, *vcpu, *kind;
	uint64_t pc, address, time;
};
static struct lock lock;
static struct note notes[NOTES];
static uint64_t noted, said;

static void note(const struct thread *thread, const struct fault *fault)
{
	bool enabled = lock_take(&lock);

	notes[noted++ % NOTES] = (struct note){
		.thread = thread->name,
		.vcpu = thread->on ? thread->on->name : "none",
		.kind = stacks_is_hole(fault->address) ? "stack overrun" : fault->name,
		.pc = fault->pc,
		.address = fault->address,
		.time = arch_counter(),
	};
	lock_give(&lock, enabled);
}

bool thread_can_end(void)
{
	return thread_begun() && !thread_in_handler() && thread_is_made(thread_running());
}

static void leave_after_fault(void *fault)
{
	note(thread_running(), fault);
	thread_wake_main();
	leave_for_good(thread_running());
}

_Noreturn void thread_end_by_fault(const struct fault *fault)
{
	cpu_go_on_at(cpu_emergency_stack(), leave_after_fault, (void *)(uintptr_t)fault);
}

uint64_t thread_faults(void)
{
	return __atomic_load_n(&noted, __ATOMIC_RELAXED);
}

/* Returns whether there was one. */
static bool take_note(struct note *one, uint64_t *lost)
{
	bool enabled = lock_take(&lock), found = said < noted;

	*lost = noted - said > NOTES ? noted - said - NOTES : 0;
	said += *lost;
	if (found)
		*one = notes[said++ % NOTES];
	lock_give(&lock, enabled);
	return found;
}

void thread_report_faults(void)
{
	struct note one;
	uint64_t lost;

	while (take_note(&one, &lost)) {
		if (lost)
			console_say("faults of threads: %ju more", lost);
		console_say("thread %s on vcpu %s: %s pc 0x%jx addr 0x%jx at %ju us", one.thread, one.vcpu, one.kind, one.pc, one.address,
			    clock_to_ns(one.time) / 1000);
	}
}
