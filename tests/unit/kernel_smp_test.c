/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.programs. The sandbox's other cores as the first one starts, orders, asks and stops them, and what runs on them. Another core runs
 * while the first one waits, or where a test says so, from its entry on until it sleeps; what it does then with an order that it finds is
 * what it does after its sleep. kernel/core/smp.c
 */
#include "kernel/core/smp.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "check.h"
#include "fake_cpu.h"
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

enum { CORES = 3, BEYOND = 3, STACK_BYTES = 16384 };
enum { TICK = 1000000, PATIENCE = 100000000, LOOK = 1000, MOST_LOOKS = 1000000, MOST_COMMANDS = 10 };

static struct bh_info page = { .core_count = CORES };
const struct bh_info *info = &page;
struct thread_core *thread_cores[BH_MAX_SANDBOX_CORES];

/* ---- The machine -------------------------------------------------------------------------------------------------------- */

static struct other {
	void (*entry)(void); /* NULL: it is off */
	bool interrupted, deaf;
	unsigned starts, waits, left_user, left_space;
	uintptr_t stack_top;
	struct timer_event *tick;
} others[BH_MAX_SANDBOX_CORES];
static bool refuses, no_frames;
static unsigned frames_taken, expected, taken_in, vcpus_started, looks;
static uint64_t now;
static void (*serve)(struct cpu_frame *frame);
static jmp_buf asleep;
static char ran[2 * COMMAND_WORD_BYTES];
static unsigned said;

static void run_other(unsigned slot)
{
	struct other *other = &others[slot];

	if (!other->entry || !other->interrupted || other->deaf)
		return;
	other->interrupted = false;
	fake_cpu.slot = slot;
	fake_cpu.enabled = false;
	if (smp_ask(slot).on)
		serve(NULL);
	if (!setjmp(asleep))
		other->entry();
	fake_cpu.slot = 0;
	fake_cpu.enabled = true;
}

static void sleep_on(void)
{
	longjmp(asleep, 1);
}

bool cpu_start_core(unsigned slot, void *stack_top, void (*entry)(void))
{
	CHECK_EQ(expected, slot);
	expected = 0;
	others[slot].starts++;
	others[slot].stack_top = (uintptr_t)stack_top;
	if (refuses)
		return false;
	others[slot].entry = entry;
	others[slot].interrupted = true;
	return true;
}

/* Another core's instructions one by one, as the host's processor traps them: between any two the first one may ask. */
static unsigned steps;

static void step(int number)
{
	unsigned slot = fake_cpu.slot;

	fake_cpu.slot = 0;
	CHECK(!smp_run(slot, "late") && !smp_stop(slot)); /* who leaves takes no orders */
	fake_cpu.slot = slot;
	steps++;
}

static void step_by_step(bool on)
{
#ifdef __x86_64__
	const unsigned long long trap = 1 << 8, flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | trap : flags & ~trap);
#endif
}

void cpu_stop_core(void)
{
	struct other *self = &others[cpu_slot()];

	step_by_step(false);
	CHECK(!fake_cpu.enabled && !self->tick && self->left_user == 1 && self->left_space == 1);
	self->left_user = self->left_space = 0;
	self->entry = NULL;
	longjmp(asleep, 1);
}

void irq_attach_ipi(void (*handler)(struct cpu_frame *frame))
{
	serve = handler;
}

void irq_send_ipi(unsigned slot)
{
	CHECK(others[slot].entry);
	others[slot].interrupted = true;
}

uint64_t arch_counter(void)
{
	return now += LOOK;
}

void arch_relax(void)
{
	CHECK(looks++ < MOST_LOOKS); /* it does not wait for ever */
	for (unsigned slot = 1; slot < CORES; slot++)
		run_other(slot);
}

uint64_t frames_take_run(uint64_t count, uint64_t alignment, unsigned owner)
{
	CHECK_EQ(count * FRAME_BYTES, STACK_BYTES);
	CHECK_EQ(owner, FRAME_STACK);
	return no_frames ? 0 : (uint64_t)STACK_BYTES * ++frames_taken;
}

void timer_add(struct timer_event *event, uint64_t deadline)
{
	others[cpu_slot()].tick = event;
	event->deadline = deadline;
}

void timer_cancel(struct timer_event *event)
{
	CHECK(!others[cpu_slot()].tick || others[cpu_slot()].tick == event);
	others[cpu_slot()].tick = NULL;
}

void irq_init_core(void) {}
void timer_init_core(void) {}

void space_expect_core(unsigned slot)
{
	expected = slot;
}

void space_leave_core(void)
{
	others[cpu_slot()].left_space++;
	step_by_step(true);
}

void user_leave_core(void)
{
	others[cpu_slot()].left_user++;
}

void thread_take_in(void)
{
	taken_in++;
}

void thread_wait_until(bool (*due)(void))
{
	CHECK(!due());
	others[cpu_slot()].waits++;
	longjmp(asleep, 1);
}

static bool makes_none;
void vcpus_start(void)
{
	vcpus_started++;
	if (cpu_slot() == 2 && !makes_none)
		thread_cores[2] = (struct thread_core *)&page;
}

/* The core is busy for as long as a command runs. */
void command_run_arguments(const char *arguments)
{
	static unsigned commands;
	unsigned slot = cpu_slot();

	CHECK(commands++ < MOST_COMMANDS);
	fake_cpu.slot = 0;
	CHECK(!smp_run(slot, "another") && !smp_stop(slot));
	fake_cpu.slot = slot;
	CHECK(strlen(arguments) < sizeof(ran));
	strcpy(ran, arguments);
}

static struct bh_log ring;
static bool has_ring;
struct bh_log *console_log(void)
{
	return has_ring ? &ring : NULL;
}

void console_say(const char *format, ...)
{
	said++;
}

/* ---- Starting ------------------------------------------------------------------------------------------------------------ */

static void check_alone(void)
{
	page.core_count = 100;
	CHECK_EQ(smp_count(), BH_MAX_SANDBOX_CORES);
	page.core_count = 1;
	smp_init();
	CHECK(!serve && !others[1].starts && smp_ask(0).on);
	page.core_count = CORES;
}

/* The second one finds no stack. */
static void check_init(void)
{
	no_frames = true;
	smp_init();
	CHECK_EQ(said, CORES - 1);
	CHECK(!others[1].starts && !others[2].starts && !smp_ask(1).on);
	no_frames = false;
	refuses = true;
	CHECK(!smp_start(1));
	CHECK(others[1].starts == 1 && !smp_ask(1).on);
	refuses = false;
	others[1].deaf = true;
	CHECK(!smp_start(1) && !smp_start(1)); /* it takes its time, and is started once */
	CHECK(!smp_ask(1).on);
	others[1].deaf = false;
	run_other(1);
	CHECK(others[1].starts == 2 && smp_ask(1).on && !smp_ask(2).on);
	CHECK_EQ(frames_taken, 1); /* also for later starts */
	CHECK_EQ(others[1].stack_top, 2 * STACK_BYTES);
	CHECK_EQ(vcpus_started, 1);
	CHECK(!smp_start(0) && !smp_start(1) && !smp_start(BEYOND));
	CHECK(!others[0].starts && others[1].starts == 2 && !others[BEYOND].starts);
}

/* ---- Asking ---------------------------------------------------------------------------------------------------------------- */

static void check_interrupts(void)
{
	uint64_t before = smp_ask(1).ipis, start;

	CHECK(!smp_interrupt(0) && !smp_interrupt(2) && !smp_interrupt(BEYOND));
	CHECK(smp_interrupt(1));
	CHECK_EQ(smp_ask(1).ipis, before + 1);
	CHECK(taken_in);
	others[1].deaf = true;
	start = now;
	CHECK(!smp_interrupt(1));
	CHECK(now - start > PATIENCE && now - start < PATIENCE + PATIENCE / 10);
	others[1].deaf = false;
	run_other(1);
	CHECK_EQ(smp_ask(1).ipis, before + 2);
	serve(NULL);
	CHECK_EQ(smp_ask(0).ipis, 1);
}

static void check_ticks(void)
{
	struct timer_event *tick = others[1].tick;
	uint64_t before = smp_ask(1).ticks, deadline = tick->deadline;

	fake_cpu.slot = 1;
	tick->fire(tick, NULL);
	CHECK_EQ(smp_ask(1).ticks, before + 1);
	CHECK_EQ(tick->deadline, deadline + TICK);
	thread_cores[1] = (struct thread_core *)&page; /* a command makes VCPUs, and goes on for a while: there is one tick more at most */
	tick->fire(tick, NULL);
	thread_cores[1] = NULL;
	fake_cpu.slot = 0;
	CHECK_EQ(tick->deadline, deadline + TICK);
	CHECK_EQ(smp_ask(1).ticks, before + 2);
}

static void check_patience(void)
{
	CHECK_EQ(smp_patience(500), 500);
	has_ring = true;
	CHECK_EQ(smp_patience(500), 500);
	ring.gate = 700;
	CHECK_EQ(smp_patience(500), 700);
	has_ring = false;
}

/* ---- Ordering -------------------------------------------------------------------------------------------------------------- */

static void expect(const char *word)
{
	run_other(1);
	CHECK(strcmp(ran, word) == 0);
}

static void check_commands(void)
{
	char word[COMMAND_WORD_BYTES + 10];

	CHECK(!smp_run(0, "none") && !smp_run(2, "off") && !smp_run(BEYOND, "nobody"));
	CHECK(smp_run(1, "first"));
	CHECK(!smp_run(1, "second") && !smp_stop(1));
	expect("first");
	memset(word, 'x', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	CHECK(smp_run(1, word));
	word[COMMAND_WORD_BYTES - 1] = '\0';
	expect(word);
	thread_cores[1] = (struct thread_core *)&page; /* not NULL, and nobody looks into it */
	CHECK(others[1].tick);
	CHECK(smp_run(1, "s"));
	expect("s");
	CHECK_EQ(others[1].waits, 1);
	CHECK(!others[1].tick); /* a core that has VCPUs is tickless */
}

static void check_stop(void)
{
	CHECK(!smp_stop(0) && !smp_stop(1) && !smp_stop(2) && !smp_stop(BEYOND)); /* the second one has threads */
	thread_cores[1] = NULL;
	CHECK(!others[1].interrupted && smp_ask(1).on);
	CHECK(signal(SIGTRAP, step) != SIG_ERR);
	CHECK(smp_stop(1));
#ifdef __x86_64__
	CHECK(steps >= 4);
#endif
	CHECK(!smp_ask(1).on && !smp_stop(1) && !smp_interrupt(1));
	CHECK(smp_start(1) && smp_start(2));
	CHECK(smp_ask(1).on && smp_ask(2).on);
	CHECK(others[1].tick && !others[2].tick); /* the third one has VCPUs from its start on */
	thread_cores[2] = NULL;
	CHECK_EQ(frames_taken, 2);
	CHECK_EQ(others[1].stack_top, 2 * STACK_BYTES);
	others[1].deaf = true;
	CHECK(!smp_stop(1) && !smp_stop(2)); /* the third one makes its VCPUs when the order has come */
	CHECK(smp_ask(2).on);
	thread_cores[2] = NULL;
	makes_none = true;
	CHECK(smp_stop(2) && !smp_ask(2).on);
}

int main(void)
{
	fake_cpu.sleep = sleep_on;
	clock_init(1000000000);
	check_alone();
	check_init();
	check_interrupts();
	check_ticks();
	check_patience();
	check_commands();
	check_stop();
	return 0;
}
