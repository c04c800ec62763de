/* SPDX-License-Identifier: Apache-2.0 */
/* The processor and the stacks of kernel/core/thread_end.c, for the core of fake_threads.h. Who leaves its context never returns. */
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <stdlib.h>
#include <ucontext.h>

#include "check.h"
#include "fake_cpu.h"
#include "fake_threads.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/core/stacks.h"
#include "kernel/core/thread.h"

#if __has_feature(address_sanitizer)
#define BEFORE_SWITCH(bottom, bytes) __sanitizer_start_switch_fiber(NULL, bottom, bytes)
#define AFTER_SWITCH()               __sanitizer_finish_switch_fiber(NULL, NULL, NULL)
#else
#define BEFORE_SWITCH(bottom, bytes) (void)(bytes)
#define AFTER_SWITCH()
#endif

enum { BYTES = FAKE_EMERGENCY_BYTES, KEPT = 64 };

static _Alignas(4096) char emergency[BYTES];
static struct {
	void (*function)(void *argument);
	void *argument;
} next;
static uintptr_t kept[KEPT];

static void go_on(void)
{
	AFTER_SWITCH();
	next.function(next.argument);
	CHECK(!"it returns");
}

_Noreturn void cpu_go_on_at(uintptr_t stack, void (*function)(void *argument), void *argument)
{
	static ucontext_t context;
	char *bottom = (char *)stack - BYTES;

	CHECK(!fake_cpu.enabled);
	next.function = function;
	next.argument = argument;
	ASAN_UNPOISON_MEMORY_REGION(bottom, BYTES); /* of calls that never returned */
	getcontext(&context);
	context.uc_stack.ss_sp = bottom;
	context.uc_stack.ss_size = BYTES;
	context.uc_link = NULL;
	makecontext(&context, go_on, 0);
	BEFORE_SWITCH(bottom, BYTES);
	setcontext(&context);
	abort();
}

uintptr_t cpu_emergency_stack(void)
{
	return (uintptr_t)emergency + BYTES;
}

void cpu_serve_lost_interrupt(void) {}

void stacks_give(uintptr_t stack)
{
	unsigned n = 0;

	while (n < KEPT && kept[n] && kept[n] != stack)
		n++;
	CHECK(n < KEPT);
	kept[n] = stack;
}

uintptr_t stacks_take_kept(void)
{
	for (unsigned n = 0; n < KEPT; n++) {
		uintptr_t stack = kept[n];

		if (stack && stack - (uintptr_t)__builtin_frame_address(0) >= BYTES) {
			kept[n] = 0;
			return stack;
		}
	}
	return 0;
}

bool stacks_is_hole(uint64_t address)
{
	return false;
}

/* There is one core. */
bool lock_take(struct lock *lock)
{
	return cpu_interrupts_disable();
}

void lock_give(struct lock *lock, bool interrupts_enabled)
{
	cpu_interrupts_restore(interrupts_enabled);
}

__attribute__((weak)) void console_say(const char *format, ...) {}
