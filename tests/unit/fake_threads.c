/* SPDX-License-Identifier: Apache-2.0 */
/* A core of the host (fake_threads.h). */
#include "fake_threads.h"

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <string.h>
#include <ucontext.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/stacks.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_move.h"
#include "kernel/core/timer.h"
#include "thread_state.h"

#if __has_feature(address_sanitizer)
#define BEFORE_SWITCH(bottom, bytes) __sanitizer_start_switch_fiber(NULL, bottom, bytes)
#define AFTER_SWITCH(bottom, bytes)  __sanitizer_finish_switch_fiber(NULL, bottom, bytes)
#else
#define BEFORE_SWITCH(bottom, bytes) (void)(bytes)
#define AFTER_SWITCH(bottom, bytes)
#endif

enum { STACK_BYTES = 128 << 10, CORE_BYTES = 16 << 10 };

static struct bh_info page;
const struct bh_info *info = &page;

struct fake_core fake_core;
const char thread_start[1];

/* A context that is left for good would keep its copy of a stack. */
const char *__asan_default_options(void)
{
	return "detect_stack_use_after_return=0";
}

/* ---- Contexts ------------------------------------------------------------------------------------------------------- */

struct saved {
	struct thread_state state; /* first: that is what a thread's `sp` points at. `start` is 0 */
	ucontext_t context;
};

static _Alignas(4096) char stacks[FAKE_STACKS][STACK_BYTES];
static struct core {
	uintptr_t sp; /* while another one goes on; 0: it has not begun */
	uint64_t timer_at;
	unsigned ipis;
	bool ipi;
} cores[FAKE_CORES];
static uintptr_t boss;                /* who called fake_run */
static const void *boss_stack = NULL; /* and where it runs, as the sanitizer says */
static size_t boss_stack_bytes;
static struct thread_state fresh; /* of who runs for the first time */

struct room {
	const void *bottom;
	size_t bytes;
};

static struct room room_of(uintptr_t at)
{
	uintptr_t offset = at - (uintptr_t)stacks, emergency = cpu_emergency_stack() - FAKE_EMERGENCY_BYTES;

	if (offset < sizeof(stacks))
		return (struct room){ stacks[offset / STACK_BYTES], STACK_BYTES };
	if (at - emergency < FAKE_EMERGENCY_BYTES)
		return (struct room){ (const void *)emergency, FAKE_EMERGENCY_BYTES };
	return (struct room){ boss_stack, boss_stack_bytes };
}

static void after_switch(void)
{
	const void *bottom = NULL;
	size_t bytes = 0;

	AFTER_SWITCH(&bottom, &bytes);
	if (!boss_stack && bottom) {
		boss_stack = bottom;
		boss_stack_bytes = bytes;
	}
}

static void enter(void)
{
	void (*begin)(void (*entry)(void *argument), void *argument) = (void *)fresh.begin;

	after_switch();
	begin((void *)fresh.entry, (void *)fresh.argument);
	CHECK(!"a thread returns");
}

static const ucontext_t *context_at(uintptr_t sp)
{
	static ucontext_t first;
	const struct thread_state *state = (const struct thread_state *)sp;

	if (state->start != (uintptr_t)thread_start)
		return &((const struct saved *)sp)->context;
	fresh = *state;
	getcontext(&first);
	first.uc_stack.ss_sp = (void *)(uintptr_t)room_of(sp).bottom;
	first.uc_stack.ss_size = sp - (uintptr_t)room_of(sp).bottom;
	first.uc_link = NULL;
	makecontext(&first, enter, 0);
	return &first;
}

void cpu_switch(uintptr_t *from, uintptr_t to)
{
	struct saved self = { 0 };
	const struct room room = room_of(to);

	CHECK(!fake_cpu.enabled);
	*from = (uintptr_t)&self;
	BEFORE_SWITCH(room.bottom, room.bytes);
	swapcontext(&self.context, context_at(to));
	after_switch();
	CHECK(!fake_cpu.enabled);
}

/* ---- What the kernel takes ------------------------------------------------------------------------------------------ */

uintptr_t stacks_take(void)
{
	char *stack = stacks[fake_core.stacks_taken];

	if (!fake_core.stacks)
		return 0;
	CHECK(fake_core.stacks_taken < FAKE_STACKS);
	fake_core.stacks--;
	fake_core.stacks_taken++;
	ASAN_UNPOISON_MEMORY_REGION(stack, STACK_BYTES); /* of calls that never returned */
	return (uintptr_t)stack + STACK_BYTES;
}

uint64_t frames_take_run(uint64_t count, uint64_t alignment, unsigned owner)
{
	static _Alignas(4096) char all[FAKE_CORES][CORE_BYTES];
	char *core = all[cpu_slot()];

	CHECK(count * FRAME_BYTES <= CORE_BYTES);
	CHECK_EQ(owner, FRAME_PROGRAM);
	if (fake_core.frames < count)
		return 0;
	fake_core.frames -= count;
	fake_core.frames_taken += count;
	memset(core, 0, CORE_BYTES);
	return (uintptr_t)core;
}

bool frames_give(uint64_t address, uint64_t count, unsigned owner)
{
	CHECK(fake_core.frames_taken >= count);
	fake_core.frames += count;
	fake_core.frames_taken -= count;
	return true;
}

const struct bh_stats *info_statistics(void)
{
	static struct bh_stats none;

	return &none;
}

/* ---- Time ------------------------------------------------------------------------------------------------------------- */

static void (*expired)(struct cpu_frame *frame);
static struct {
	uint64_t at;
	void (*handle)(void); /* NULL: none */
} devices[FAKE_DEVICES];

uint64_t arch_counter(void)
{
	return fake_core.now;
}

void timer_hw_init(void (*handler)(struct cpu_frame *frame))
{
	expired = handler;
}

void timer_hw_init_core(void) {}

void timer_hw_set(uint64_t deadline)
{
	CHECK(!fake_cpu.enabled);
	fake_core.timer_at = deadline;
}

void timer_hw_clear(void)
{
	CHECK(!fake_cpu.enabled);
	fake_core.timer_at = TIMER_NEVER;
}

void fake_interrupt_at(uint64_t time, void (*handle)(void))
{
	for (unsigned n = 0; n < FAKE_DEVICES; n++)
		if (!devices[n].handle) {
			devices[n].at = time;
			devices[n].handle = handle;
			return;
		}
	CHECK(!"no room for a device");
}

static void pass(char who)
{
	uint64_t at = fake_core.now - fake_core.log_from;

	if (fake_core.now == fake_core.end)
		fake_stop();
	if (fake_core.now >= fake_core.log_from && at < FAKE_LOG - 1)
		fake_core.log[at] = who;
	fake_core.now++;
}

static void take_time(uint64_t ticks)
{
	for (; ticks; ticks--)
		pass('^');
}

/* ---- Interrupts ----------------------------------------------------------------------------------------------------- */

static bool timer_is_due(void)
{
	return fake_core.timer_at <= fake_core.now;
}

static unsigned device_that_is_due(void)
{
	unsigned n = 0;

	while (n < FAKE_DEVICES && !(cpu_slot() == 0 && devices[n].handle && devices[n].at <= fake_core.now))
		n++;
	return n;
}

static bool is_due(void)
{
	return timer_is_due() || device_that_is_due() < FAKE_DEVICES || cores[cpu_slot()].ipi;
}

static void call(void (*hook)(void))
{
	if (hook)
		hook();
}

static void handle(unsigned device)
{
	if (device < FAKE_DEVICES) {
		void (*its)(void) = devices[device].handle;

		devices[device].handle = NULL;
		its();
	} else if (cores[cpu_slot()].ipi) {
		cores[cpu_slot()].ipi = false;
		thread_take_in();
	} else {
		fake_core.timer_at = TIMER_NEVER; /* one shot */
		call(fake_core.expiring);
		expired(NULL);
	}
}

static void handle_threads_interrupt(struct cpu_frame *frame, uint32_t device)
{
	take_time(fake_core.before);
	handle(device);
	take_time(fake_core.after);
	call(fake_core.leaving);
}

/* As irq_serve does. Another thread may go on from here. */
static void serve(void)
{
	unsigned device = device_that_is_due();

	if (timer_is_due() && !fake_core.timer_last && !cores[cpu_slot()].ipi)
		device = FAKE_DEVICES;
	CHECK(!fake_cpu.enabled);
	if (!thread_begun()) {
		handle(device);
		return;
	}
	call(fake_core.entered);
	thread_interrupt(handle_threads_interrupt, NULL, device);
	CHECK(!fake_cpu.enabled);
}

void fake_settle(void)
{
	CHECK(fake_cpu.enabled);
	while (is_due()) {
		fake_cpu.enabled = false;
		serve();
		fake_cpu.enabled = true;
	}
}

void fake_tick(void)
{
	fake_settle();
	call(fake_core.ticking);
	pass(thread_begun() ? thread_running()->name[0] : '-');
}

static void sleep_until_due(void)
{
	while (!is_due()) {
		call(fake_core.ticking);
		pass('.');
	}
	serve();
}

void idle_sleep(void)
{
	sleep_until_due();
}

void idle_end_sleep(void) {}

/* ---- More than one core ----------------------------------------------------------------------------------------------- */

void irq_send_ipi(unsigned slot)
{
	const struct thread *runs = thread_running();

	CHECK(slot < FAKE_CORES && slot != cpu_slot());
	CHECK(!runs->on || runs->on->core == cpu_slot()); /* nobody is handed over on whose stack this core runs */
	cores[slot].ipis++;
	cores[slot].ipi = true;
	call(fake_core.sent);
}

unsigned fake_ipis(void)
{
	return cores[cpu_slot()].ipis;
}

static void begin_main(void (*entry)(void *argument), void *argument)
{
	fake_cpu.enabled = true;
	((void (*)(void))(uintptr_t)argument)();
	fake_stop();
}

void fake_stop(void)
{
	uintptr_t nobody;

	fake_cpu.enabled = false;
	cpu_switch(&nobody, boss);
	abort();
}

static uintptr_t main_of(void (*program)(void))
{
	struct thread_state *state = (struct thread_state *)stacks_take() - 1;

	*state = (struct thread_state){ .start = (uintptr_t)thread_start, .begin = (uintptr_t)begin_main, .argument = (uintptr_t)program };
	return (uintptr_t)state;
}

void fake_go_to_core(unsigned slot, void (*program)(void))
{
	struct core *from = &cores[cpu_slot()], *to = &cores[slot];

	CHECK(fake_cpu.enabled && from != to);
	fake_cpu.enabled = false;
	from->timer_at = fake_core.timer_at;
	fake_cpu.slot = slot;
	fake_core.timer_at = to->timer_at;
	if (!to->sp) {
		timer_init_core();
		to->sp = main_of(program);
	}
	cpu_switch(&from->sp, to->sp);
	fake_cpu.enabled = true;
	fake_settle();
}

/* ---- A run ------------------------------------------------------------------------------------------------------------ */

void fake_run(void (*program)(void), uint64_t end)
{
	fake_core.now = 0;
	fake_core.end = end;
	fake_core.timer_at = TIMER_NEVER;
	fake_core.stacks_taken = fake_core.frames_taken = 0;
	fake_core.stacks = FAKE_STACKS;
	fake_core.frames = FAKE_CORES * CORE_BYTES / FRAME_BYTES;
	memset(fake_core.log, 0, sizeof(fake_core.log));
	memset(devices, 0, sizeof(devices));
	for (unsigned slot = 0; slot < FAKE_CORES; slot++) {
		thread_cores[slot] = NULL;
		cores[slot] = (struct core){ .timer_at = TIMER_NEVER };
	}
	fake_cpu.enabled = false;
	timer_init();
	cpu_switch(&boss, main_of(program));
	fake_cpu.slot = 0;
	fake_cpu.enabled = true;
}
