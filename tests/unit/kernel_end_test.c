/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. How threads end, on a core of the host, scene by scene: what was wished of a thread is done once, whose fault ends a
 * thread and whose does not, and what is said of faults when there were more than are kept. kernel/core/thread_end.c
 */
#include "kernel/core/thread_end.h"

#include <stdarg.h>
#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/sync.h"
#include "kernel/core/text.h"
#include "thread_scene.h"

static struct thread *nth(unsigned n)
{
	return &actors[n].thread;
}

/* ---- Wishes --------------------------------------------------------------------------------------------------------------- */

static struct mutex mutex;

/* Whoever is told while it holds the mutex does what it was told when it unlocks. */
static void hold_for_2(void)
{
	CHECK_EQ(mutex_lock(&mutex), THREAD_OK);
	work(2);
	CHECK_EQ(mutex_unlock(&mutex), THREAD_OK);
	work(1);
}

static void restart(void)
{
	CHECK_EQ(thread_restart(nth(0)), THREAD_OK);
}

static void stop(void)
{
	CHECK_EQ(thread_stop(nth(0)), THREAD_OK);
}

static void look_whether_stopped(void)
{
	CHECK(thread_state(nth(0)) == THREAD_IS_STOPPED && !mutex.holder.thread);
	restart();
}

/* In its next life it unlocks, too, and goes on. */
static void test_wishes(void)
{
	scene_begin("a thread that holds a mutex begins again, once", scene_two(90, 100));
	memset(&mutex, 0, sizeof(mutex));
	scene_actor('a', &low, 0, 0, hold_for_2);
	scene_actor('h', &high, 0, 1, restart);
	scene_expect("aaaaa...");
	scene_begin("a thread that holds a mutex is stopped, once", scene_two(90, 100));
	memset(&mutex, 0, sizeof(mutex));
	scene_actor('a', &low, 0, 0, hold_for_2);
	scene_actor('h', &high, 0, 1, stop);
	scene_actor('l', &high, 0, 4, look_whether_stopped);
	scene_expect("aa..aaa...");
}

/* ---- Whose fault ends a thread -------------------------------------------------------------------------------------------- */

static unsigned asked;

/* A handler runs in place of a thread, which has not done what it does. */
static void ask_in_handler(void)
{
	CHECK(thread_running() == nth(0));
	CHECK(!thread_can_end());
	asked++;
}

static void ask_in_thread(void)
{
	bool enabled = cpu_interrupts_disable();

	CHECK(thread_can_end());
	asked++;
	cpu_interrupts_restore(enabled);
	fake_interrupt_at(START + 1, ask_in_handler);
	work(2);
}

static void ask_in_main(void)
{
	bool enabled = cpu_interrupts_disable();

	CHECK(!thread_can_end());
	asked++;
	cpu_interrupts_restore(enabled);
}

static void test_who_ends(void)
{
	check_context.subject = "before there are threads";
	CHECK(!thread_can_end());
	scene_begin("threads alone can end", scene_two(90, 100));
	scene_prepare(ask_in_main);
	scene_actor('a', &high, 0, 0, ask_in_thread);
	scene_expect("aa.");
	CHECK_EQ(asked, 3);
}

/* ---- What is said of faults ----------------------------------------------------------------------------------------------- */

enum { TEXT = 1000, MANY = 11, KEPT = 8 };

static char said[TEXT];
static unsigned faulted;

static void put(char c)
{
	CHECK(strlen(said) < TEXT - 1);
	said[strlen(said)] = c;
}

void console_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_format(put, format, arguments);
	va_end(arguments);
	put('\n');
}

static void fault(void)
{
	static struct fault one = { .name = "trial", .of_thread = true };

	one.pc = 0x100 + faulted++;
	work(1);
	cpu_interrupts_disable();
	thread_end_by_fault(&one);
}

static void fault_again(unsigned count)
{
	while (count--) {
		CHECK(thread_state(nth(0)) == THREAD_HAS_ENDED);
		restart();
	}
}

static void fault_many_times(void)
{
	fault_again(MANY - 1);
	CHECK(!*said);
	CHECK_EQ(thread_sleep_until(START + 20), THREAD_OK);
	fault_again(1);
}

static bool never(void)
{
	return false;
}

/* Each is said once, and of those that are not kept how many they were. */
static void report(void)
{
	static const char *const first = "faults of threads: 3 more\n"
					 "thread a on vcpu high: trial pc 0x103 addr 0x0 at 104 us\n"
					 "thread a on vcpu high: trial pc 0x104 addr 0x0 at 105 us\n"
					 "thread a on vcpu high: trial pc 0x105 addr 0x0 at 106 us\n"
					 "thread a on vcpu high: trial pc 0x106 addr 0x0 at 107 us\n"
					 "thread a on vcpu high: trial pc 0x107 addr 0x0 at 108 us\n"
					 "thread a on vcpu high: trial pc 0x108 addr 0x0 at 109 us\n"
					 "thread a on vcpu high: trial pc 0x109 addr 0x0 at 110 us\n"
					 "thread a on vcpu high: trial pc 0x10a addr 0x0 at 111 us\n";

	thread_wait_until(never);
	CHECK_EQ(thread_faults(), MANY);
	thread_report_faults();
	CHECK(strcmp(said, first) == 0);
	thread_report_faults();
	CHECK(strcmp(said, first) == 0);
	thread_wait_until(never);
	memset(said, 0, sizeof(said));
	thread_report_faults();
	CHECK(strcmp(said, "thread a on vcpu high: trial pc 0x10b addr 0x0 at 121 us\n") == 0);
	fake_stop();
}

static void test_reports(void)
{
	scene_begin("more faults than are kept", scene_two(90, 100));
	scene_prepare(report);
	scene_actor('a', &high, 0, 0, fault);
	scene_actor('l', &low, 0, 0, fault_many_times);
	scene_play(100);
	CHECK_EQ(thread_faults(), MANY + 1);
}

int main(void)
{
	test_who_ends();
	test_wishes();
	test_reports();
	return 0;
}
