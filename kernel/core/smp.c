/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, stops and asks the sandbox's other cores, and is what runs on them (smp.h). */
#include "kernel/core/smp.h"

#include <stdatomic.h>
#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/command.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/space.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_move.h"
#include "kernel/core/timer.h"
#include "kernel/core/user.h"
#include "kernel/core/vcpus.h"

enum { STACK_BYTES = 16384, TICK_NS = 1000000, PATIENCE_NS = 100000000 };
enum state { OFF, BETWEEN, ON }; /* between: it comes or goes, and takes no orders */
enum order { NONE, COMMAND, STOP };

/* Written by the core itself, but for what the first core orders: `order` (the core clears it when it has carried it out), `word`. */
static struct core {
	_Atomic enum state state;
	_Atomic enum order order;
	_Atomic uint64_t ticks;
	_Atomic uint64_t ipis;
	struct timer_event tick;
	char word[COMMAND_WORD_BYTES];
} cores[BH_MAX_SANDBOX_CORES];

static uint64_t stacks[BH_MAX_SANDBOX_CORES]; /* frames of a core that has been started once */

unsigned smp_count(void)
{
	return info->core_count < BH_MAX_SANDBOX_CORES ? info->core_count : BH_MAX_SANDBOX_CORES;
}

static bool is_on(unsigned slot)
{
	return atomic_load_explicit(&cores[slot].state, memory_order_acquire) == ON;
}

uint64_t smp_patience(uint64_t ns)
{
	uint64_t told = console_log() ? __atomic_load_n(&console_log()->gate, __ATOMIC_ACQUIRE) : 0;

	return clock_from_ns(told ? told : ns);
}

/* ---- On every core ----------------------------------------------------------------------------------------------- */

static void serve_ipi(struct cpu_frame *frame)
{
	thread_take_in();
	atomic_fetch_add_explicit(&cores[cpu_slot()].ipis, 1, memory_order_release);
}

/* A core that has VCPUs is tickless: what interrupts it is known to admission (admit.h). */
static void tick(struct timer_event *event, struct cpu_frame *frame)
{
	atomic_fetch_add_explicit(&cores[cpu_slot()].ticks, 1, memory_order_relaxed);
	if (!thread_begun())
		timer_add(event, event->deadline + clock_from_ns(TICK_NS));
}

/* ---- On the others ------------------------------------------------------------------------------------------------ */

static _Noreturn void leave(struct core *self)
{
	cpu_interrupts_disable();
	timer_cancel(&self->tick);
	user_leave_core();
	space_leave_core();
	atomic_store_explicit(&self->state, BETWEEN, memory_order_relaxed);
	atomic_store_explicit(&self->order, NONE, memory_order_release);
	atomic_store_explicit(&self->state, OFF, memory_order_release);
	cpu_stop_core();
}

static enum order order_of(struct core *self)
{
	return atomic_load_explicit(&self->order, memory_order_acquire);
}

static bool is_ordered(void)
{
	return order_of(&cores[cpu_slot()]) != NONE;
}

/* Asked with interrupts disabled: an order's interrupt cannot slip between the question and the sleep. */
static void sleep_until_ordered(void)
{
	cpu_interrupts_disable();
	while (!is_ordered())
		if (thread_begun())
			thread_wait_until(is_ordered);
		else
			cpu_sleep();
	cpu_interrupts_enable();
}

static void live(void)
{
	struct core *self = &cores[cpu_slot()];

	irq_init_core();
	timer_init_core();
	self->tick.fire = tick;
	atomic_store_explicit(&self->state, ON, memory_order_release);
	vcpus_start();
	if (!thread_begun())
		timer_add(&self->tick, arch_counter() + clock_from_ns(TICK_NS));
	for (;;) {
		sleep_until_ordered();
		if (order_of(self) == STOP && !thread_begun())
			leave(self);
		if (order_of(self) == COMMAND)
			command_run_arguments(self->word);
		if (thread_begun())
			timer_cancel(&self->tick);
		atomic_store_explicit(&self->order, NONE, memory_order_release);
	}
}

/* ---- On the first core --------------------------------------------------------------------------------------------- */

static bool is_another(unsigned slot)
{
	return slot && slot < smp_count();
}

/* Until what `done` asks of the core has come about, or for so long that it will not. */
static bool await(bool (*done)(const struct core *core, uint64_t what), const struct core *core, uint64_t what)
{
	uint64_t start = arch_counter(), patience = smp_patience(PATIENCE_NS);

	while (!done(core, what))
		if (arch_counter() - start > patience)
			return false;
		else
			arch_relax();
	return true;
}

static bool has_state(const struct core *core, uint64_t state)
{
	return atomic_load_explicit(&core->state, memory_order_acquire) == state;
}

static bool has_ipis(const struct core *core, uint64_t count)
{
	return (int64_t)(atomic_load_explicit(&core->ipis, memory_order_acquire) - count) >= 0;
}

static bool order(unsigned slot, enum order order)
{
	if (!is_another(slot) || !is_on(slot) || order_of(&cores[slot]) != NONE)
		return false;
	atomic_store_explicit(&cores[slot].order, order, memory_order_release);
	irq_send_ipi(slot);
	return true;
}

static bool take_stack(unsigned slot)
{
	if (!stacks[slot])
		stacks[slot] = frames_take_run(STACK_BYTES / FRAME_BYTES, 1, FRAME_STACK);
	return stacks[slot];
}

bool smp_start(unsigned slot)
{
	if (!is_another(slot) || !has_state(&cores[slot], OFF) || !take_stack(slot))
		return false;
	atomic_store_explicit(&cores[slot].state, BETWEEN, memory_order_relaxed);
	space_expect_core(slot);
	if (cpu_start_core(slot, (void *)(uintptr_t)(stacks[slot] + STACK_BYTES), live))
		return await(has_state, &cores[slot], ON);
	atomic_store_explicit(&cores[slot].state, OFF, memory_order_relaxed);
	return false;
}

static bool has_answered(const struct core *core, uint64_t what)
{
	return atomic_load_explicit(&core->order, memory_order_acquire) == what;
}

/* A core with threads stays: its VCPUs are pinned. It says so itself, as it may be making them. */
bool smp_stop(unsigned slot)
{
	return order(slot, STOP) && await(has_answered, &cores[slot], NONE) && !is_on(slot) && await(has_state, &cores[slot], OFF);
}

bool smp_run(unsigned slot, const char *word)
{
	size_t n = 0;

	if (!is_another(slot) || order_of(&cores[slot]) != NONE)
		return false;
	for (; word[n] && n < COMMAND_WORD_BYTES - 1; n++)
		cores[slot].word[n] = word[n];
	cores[slot].word[n] = '\0';
	return order(slot, COMMAND);
}

bool smp_interrupt(unsigned slot)
{
	uint64_t ipis;

	if (!is_another(slot) || !is_on(slot))
		return false;
	ipis = atomic_load_explicit(&cores[slot].ipis, memory_order_relaxed);
	irq_send_ipi(slot);
	return await(has_ipis, &cores[slot], ipis + 1);
}

struct smp_census smp_ask(unsigned slot)
{
	struct core *core = &cores[slot];

	return (struct smp_census){
		.on = is_on(slot),
		.ticks = atomic_load_explicit(&core->ticks, memory_order_relaxed),
		.ipis = atomic_load_explicit(&core->ipis, memory_order_relaxed),
	};
}

void smp_init(void)
{
	atomic_store_explicit(&cores[0].state, ON, memory_order_relaxed);
	if (smp_count() < 2)
		return;
	irq_attach_ipi(serve_ipi);
	for (unsigned slot = 1; slot < smp_count(); slot++)
		if (!smp_start(slot))
			console_say("core %ju did not start", (uint64_t)slot);
}
