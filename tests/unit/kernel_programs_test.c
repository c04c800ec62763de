/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.programs. Programs that are compiled into the sandbox kernel: a loop in scenes where others keep it from its periods, and where it
 * gets another period; echo from the first character to Ctrl-D; and those that never end. kernel/core/programs.c
 */
#include "kernel/core/programs.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/time.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/channel_programs.h"
#include "kernel/core/console.h"
#include "kernel/core/text.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/tlb_walk.h"
#include "thread_scene.h"

enum { TEXT = 400, FIRST_PERIOD = 10, SECOND_PERIOD = 20 };

static struct program_run run;

void channel_source(void *given) {}

void channel_sink(void *given) {}

void channel_relay(void *given) {}

static void run_loop(void)
{
	run = (struct program_run){ .period = FIRST_PERIOD };
	program_find("loop")->run(&run);
	CHECK(!"the loop ends");
}

static void sleep_until(uint64_t at)
{
	CHECK_EQ(thread_sleep_until(START + at), THREAD_OK);
}

/* ---- What they say ---------------------------------------------------------------------------------------------------- */

static char said[TEXT], echoed[TEXT];
static char *writes; /* one of them */

static void put(char c)
{
	CHECK(strlen(writes) < TEXT - 1);
	writes[strlen(writes)] = c;
}

void console_say(const char *format, ...)
{
	va_list arguments;

	writes = said;
	va_start(arguments, format);
	text_format(put, format, arguments);
	va_end(arguments);
	put('\n');
}

void console_echo(const char *format, ...)
{
	va_list arguments;

	writes = echoed;
	va_start(arguments, format);
	text_format(put, format, arguments);
	va_end(arguments);
}

/* ---- Finding ---------------------------------------------------------------------------------------------------------------- */

void tlb_walk(void *given)
{
	((struct program_run *)given)->rounds = 17;
}

static void check_found(void)
{
	static const char *const names[] = { "echo", "loop", "hog", "findprimes", "tlbwalk" };
	static const char *const others[] = { "", "loo", "loops", "Hog", "main", "tlbwalk " };

	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		const struct program *program = program_find(names[n]);

		check_context.subject = names[n];
		CHECK(program && strcmp(program->name, names[n]) == 0);
		CHECK_EQ(program->first_core_only, strcmp(names[n], "echo") == 0);
	}
	for (unsigned n = 0; n < sizeof(others) / sizeof(others[0]); n++)
		CHECK(!program_find(others[n]));
	program_find("tlbwalk")->run(&run);
	CHECK_EQ(run.rounds, 17);
}

/* ---- The loop --------------------------------------------------------------------------------------------------------------- */

static void expect(uint64_t rounds, uint64_t missed, uint64_t late_max)
{
	CHECK_EQ(run.rounds, rounds);
	CHECK_EQ(run.missed, missed);
	CHECK_EQ(run.late_max, late_max);
}

/* Keeps it from running from 18 to 22, and from 38 to 63: it begins those of 20 and 60 late, that of 40 when it is over, and that of 50
 * never. */
static void disturb(void)
{
	sleep_until(18);
	expect(1, 0, 0);
	work(4);
	sleep_until(38);
	expect(3, 0, 2);
	work(25);
	sleep_until(69);
	expect(5, 2, 23);
}

/* From 70 on its periods begin at 90, 110 and so on; here from 91 to 165 it does not run. */
static void change_and_disturb(void)
{
	disturb();
	run.period = SECOND_PERIOD;
	sleep_until(89);
	expect(5, 2, 23);
	sleep_until(91);
	expect(6, 2, 23);
	work(74);
	sleep_until(169);
	expect(8, 4, 55);
	run.period = FIRST_PERIOD;
	sleep_until(191);
	expect(10, 4, 55);
	fake_stop();
}

/* It is late when it finds another period, 4 ticks after 10 and 9 after 34: from 14 and from 43 on it has another one. */
static void change_while_late(void)
{
	sleep_until(5);
	run.period = SECOND_PERIOD;
	work(9);
	sleep_until(15);
	expect(0, 0, 4);
	run.period = FIRST_PERIOD;
	sleep_until(33);
	work(10);
	sleep_until(44);
	expect(0, 0, 9);
	fake_stop();
}

static void check_late_changes(void)
{
	scene_begin("a loop that is late for another period", (struct plan){ .high = { 190, 200 }, .low = { 900, 1000 } });
	scene_actor('h', &high, 0, 0, change_while_late);
	scene_actor('l', &low, 0, 0, run_loop);
	scene_play(1000);
	CHECK_EQ(run.late_max, 9);
}

static void check_loop(void)
{
	scene_begin("a loop", (struct plan){ .high = { 190, 200 }, .low = { 900, 1000 } });
	scene_actor('h', &high, 0, 0, change_and_disturb);
	scene_actor('l', &low, 0, 0, run_loop);
	scene_play(1000);
	CHECK_EQ(run.rounds, 10);
	program_report(&run, "loop");
	run.round_least = 3;
	run.round_most = 4;
	run.notes[0].what = "found";
	run.notes[0].count = 7;
	program_report(&run, "walk");
	CHECK(strcmp(said, "loop: 10 rounds, 4 missed, latest 55000 ns\n"
			   "loop: done 55000 ns after a period began, at most\n"
			   "walk: 10 rounds, 4 missed, latest 55000 ns\n"
			   "walk: done 55000 ns after a period began, at most\n"
			   "walk: found 7\n"
			   "walk: a round takes 3 to 4 ticks\n") == 0);
}

/* ---- Echo ------------------------------------------------------------------------------------------------------------------- */

static const char *typed;
static void (*reader)(void);

bool console_get(char *c)
{
	if (!*typed)
		return false;
	*c = *typed++;
	return true;
}

void console_redirect_input(void (*tell)(void))
{
	reader = tell;
}

static void run_echo(void)
{
	program_find("echo")->run(&run);
}

static void type(const char *text)
{
	typed = text;
	reader();
}

static void type_ab(void)
{
	type("ab");
}

static void type_end(void)
{
	type("c\004d");
}

static void watch_echo(void)
{
	CHECK(strcmp(echoed, "x") == 0); /* which came before it began */
	fake_interrupt_at(START + 2, type_ab);
	sleep_until(4);
	CHECK(strcmp(echoed, "xab") == 0 && reader);
	CHECK(thread_state(&actors[0].thread) == THREAD_WAITS);
	fake_interrupt_at(START + 5, type_end);
	sleep_until(6);
	CHECK(strcmp(echoed, "xabc") == 0 && !reader);
	CHECK(strcmp(typed, "d") == 0); /* the command line's */
	CHECK(thread_state(&actors[0].thread) == THREAD_HAS_ENDED);
	CHECK_EQ(run.rounds, 4);
	fake_stop();
}

static void stop_echo(void)
{
	CHECK(reader);
	CHECK_EQ(thread_stop(&actors[0].thread), THREAD_OK);
	CHECK(!reader);
	fake_stop();
}

static void check_echo(void)
{
	run = (struct program_run){ 0 };
	scene_begin("echo", scene_two(90, 100));
	typed = "x";
	scene_actor('e', &high, 0, 0, run_echo);
	scene_actor('w', &low, 0, 1, watch_echo);
	scene_play(100);
	CHECK_EQ(run.rounds, 4);
	scene_begin("echo is stopped", scene_two(90, 100));
	scene_actor('e', &high, 0, 0, run_echo);
	scene_actor('s', &low, 0, 1, stop_echo);
	typed = "";
	scene_play(100);
	CHECK(!reader);
}

/* ---- Those that never end: a signal has them left -------------------------------------------------------------------------- */

enum { LEFT_AFTER_US = 5000, MANY = 100 };
static sigjmp_buf left;

static void leave(int number)
{
	siglongjmp(left, number);
}

static void check_endless(const char *name)
{
	const struct itimerval soon = { .it_value.tv_usec = LEFT_AFTER_US };

	check_context.subject = name;
	run = (struct program_run){ 0 };
	CHECK(signal(SIGVTALRM, leave) != SIG_ERR);
	if (!sigsetjmp(left, 1)) {
		CHECK_EQ(setitimer(ITIMER_VIRTUAL, &soon, NULL), 0);
		program_find(name)->run(&run);
		CHECK(!"it returns");
	}
	CHECK(run.rounds > MANY && !run.missed && !run.late_max && !run.round_most);
}

int main(void)
{
	check_found();
	check_loop();
	check_late_changes();
	check_echo();
	check_endless("hog");
	check_endless("findprimes");
	return 0;
}
