/* SPDX-License-Identifier: Apache-2.0 */
/* Two programs in user mode, and what they must and must not be able to do. */
#include "probe/user.h"

#include <stdatomic.h>

#include "abi/guest.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/memory.h"
#include "kernel/core/space.h"
#include "kernel/core/text.h"
#include "kernel/core/timer.h"
#include "kernel/core/user.h"
#include "probe/user_page.h"

enum { LOOKS = 10, LOOK_NS = 100000, PROGRAMS = 2, TURNS = 4, STACK_BYTES = 4096 };

#define NOT_CLEARED __attribute__((section(".noinit")))
static _Alignas(BH_PAGE_BYTES) uint8_t text[BH_PAGE_BYTES] NOT_CLEARED;
static _Alignas(BH_PAGE_BYTES) union {
	uint8_t bytes[BH_PAGE_BYTES];
	struct user_page page;
} data NOT_CLEARED;
static _Alignas(16) uint8_t entry_stack[STACK_BYTES] NOT_CLEARED;

/* ---- The program's two pages, one after the other; its stack is the end of the second ---------------------------------- */

/* The last GiB that processes may have. */
static uint64_t text_at(void)
{
	return space_format.end - (1ULL << 30);
}

static uint64_t data_at(void)
{
	return text_at() + sizeof(text);
}

static uint64_t stack_at(void)
{
	return data_at() + sizeof(data);
}

static bool lay_out(void)
{
	static bool mapped;

	for (uint64_t n = 0; user_programs + n < user_programs_end; n++)
		text[n] = user_programs[n];
	memory_publish_code(text, sizeof(text));
	data.page = (struct user_page){ 0 };
	if (mapped)
		return true;
	mapped = space_map(&kernel_space, text_at(), (uintptr_t)text, sizeof(text), SPACE_USER_TEXT) == SPACE_OK &&
		 space_map(&kernel_space, data_at(), (uintptr_t)&data, sizeof(data), SPACE_USER_DATA) == SPACE_OK;
	return mapped;
}

static void prepare_core(void)
{
	static bool prepared[BH_MAX_SANDBOX_CORES];

	if (!prepared[cpu_slot()])
		cpu_user_init();
	prepared[cpu_slot()] = true;
}

/* ---- Running a program: until it faults ------------------------------------------------------------------------------- */

static uint64_t enter(uint64_t program, uint64_t argument)
{
	struct cpu_frame *frame = (struct cpu_frame *)(entry_stack + STACK_BYTES) - 1;

	cpu_interrupts_disable();
	cpu_frame_reset(frame, program, stack_at(), argument);
	cpu_user_enter(frame);
}

/* The name of the fault that ended it. */
static const char *run(const uint8_t *program)
{
	uint64_t nothing;
	bool returned = cpu_attempt(enter, text_at() + (uint64_t)(program - user_programs), data_at(), &nothing);

	cpu_interrupts_enable();
	return returned ? "nothing" : fault_last()->name;
}

/* ---- Kinds -------------------------------------------------------------------------------------------------------------- */

static struct {
	uint64_t looks, user, in_text, on_stack, enabled;
} frames;

static void look(struct timer_event *event, struct cpu_frame *frame)
{
	frames.user += cpu_frame_is_user(frame);
	frames.in_text += cpu_frame_pc(frame) - text_at() < (uint64_t)(user_programs_end - user_programs);
	frames.on_stack += cpu_frame_sp(frame) == stack_at();
	frames.enabled += cpu_frame_interrupts_enabled(frame);
	if (++frames.looks < LOOKS)
		timer_add(event, event->deadline + clock_from_ns(LOOK_NS));
	else
		__atomic_store_n(&data.page.stop, 1, __ATOMIC_RELAXED);
}

static void run_interrupt(void)
{
	static struct timer_event event = { .fire = look };
	const char *end;

	frames.looks = frames.user = frames.in_text = frames.on_stack = frames.enabled = 0;
	timer_add(&event, arch_counter() + clock_from_ns(LOOK_NS));
	end = run(user_spin);
	timer_cancel(&event);
	console_say("user interrupts %ju, in user mode %ju, in its text %ju, on its stack %ju, enabled %ju", frames.looks, frames.user,
		    frames.in_text, frames.on_stack, frames.enabled);
	console_say("user registers differ 0x%jx, answer 0x%jx, ended by %s", data.page.wrong, data.page.answer, end);
}

static void switch_to(struct cpu_user *user)
{
	cpu_interrupts_disable();
	user_switch(user);
	cpu_interrupts_enable();
}

static uint64_t mark(unsigned program, unsigned place)
{
	return 0x5eed0000600d0001ULL + 0x100ULL * program + 0x10000ULL * place;
}

/* At first the registers are as after reset; then as the program itself left them. */
static bool sees_its_own(unsigned turn)
{
	unsigned program = turn % PROGRAMS;
	bool first = turn < PROGRAMS;

	return data.page.seen[0] == (first ? 0 : mark(program, 0)) && data.page.seen[1] == (first ? 0 : mark(program, 1));
}

/* Before its own first x87 instruction a program finds no address of another's. Later ones may be its own. */
static bool sees_anothers_address(unsigned turn)
{
	return turn < PROGRAMS && (uint32_t)(data.page.left - text_at()) < (uint32_t)(user_programs_end - user_programs);
}

static void run_fp(void)
{
	static struct cpu_user programs[PROGRAMS];
	unsigned own = 0, threads = 0, addresses = 0;
	const char *end = "nothing";

	for (unsigned n = 0; n < PROGRAMS; n++) {
		data.page.tls[n] = mark(n, 2);
		cpu_user_reset(&programs[n], data_at() + offsetof(struct user_page, tls) + (uint64_t)n * sizeof(data.page.tls[n]));
	}
	for (unsigned turn = 0; turn < TURNS; turn++) {
		data.page.value[0] = mark(turn % PROGRAMS, 0);
		data.page.value[1] = mark(turn % PROGRAMS, 1);
		switch_to(&programs[turn % PROGRAMS]);
		end = run(user_fp);
		own += sees_its_own(turn);
		addresses += sees_anothers_address(turn);
		threads += data.page.thread == mark(turn % PROGRAMS, 2);
	}
	cpu_interrupts_disable();
	for (unsigned n = 0; n < PROGRAMS; n++)
		user_release(&programs[n]);
	cpu_interrupts_enable();
	console_say("user turns %ju, own registers %ju, own thread pointer %ju, others' addresses %ju, ended by %s", (uint64_t)TURNS,
		    (uint64_t)own, (uint64_t)threads, (uint64_t)addresses, end);
}

static void run_unowned(void)
{
	switch_to(NULL);
	console_say("user without registers ended by %s", run(user_fp));
}

static void peek(const char *what, const void *at)
{
	const char *end;

	data.page.value[0] = (uintptr_t)at;
	end = run(user_peek);
	console_say("user at %s 0x%jx ended by %s at 0x%jx", what, data.page.value[0], end, fault_last()->address);
}

static void run_peek(void)
{
	peek("data", &data);
	peek("text", (const void *)(uintptr_t)run);
	peek("read-only data", user_programs);
}

static void call_monitor(uint32_t function)
{
	data.page.value[0] = function;
	console_say("user hypercall 0x%jx ended by %s", data.page.value[0], run(user_call_monitor));
}

/* Some monitors answer the first before they decode an exit. The second would end this sandbox. */
static void run_hypercall(void)
{
	call_monitor(BH_CALL_VERSION);
	call_monitor(BH_CALL_PARK);
}

static void run_counters(void)
{
	user_open_counters();
	cpu_user_init();
	console_say("user counters on core %ju ended by %s", (uint64_t)cpu_slot(), run(user_count));
}

/* At the address at which user mode executes it. */
static void run_jump(void)
{
	uint64_t at = text_at() + (uint64_t)(user_peek - user_programs), nothing;
	bool returned;

	data.page.value[0] = (uintptr_t)&data;
	returned = cpu_attempt((uint64_t (*)(uint64_t, uint64_t))(uintptr_t)at, data_at(), 0, &nothing);
	console_say("kernel at a program's text ended by %s, there %ju", returned ? "nothing" : fault_last()->name,
		    (uint64_t)(fault_last()->address == at));
}

static const struct kind {
	const char *name;
	void (*run)(void);
} kinds[] = { { "interrupt", run_interrupt }, { "fp", run_fp },
	      { "unowned", run_unowned },     { "peek", run_peek },
	      { "hypercall", run_hypercall }, { "counters", run_counters },
	      { "jump", run_jump },           { NULL, NULL } };

bool user_run(const char *name)
{
	for (const struct kind *kind = kinds; kind->name; kind++)
		if (text_equal(kind->name, name)) {
			prepare_core();
			if (lay_out())
				kind->run();
			else
				console_say("user: out of page tables");
			return true;
		}
	return false;
}
