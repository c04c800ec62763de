/* SPDX-License-Identifier: Apache-2.0 */
/* A periodic loop, a hog, and a search for primes (programs.h). */
#include "kernel/core/programs.h"

#include <stddef.h>

#include "kernel/core/channel_programs.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/sync.h"
#include "kernel/core/text.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/tlb_walk.h"

static void note(uint64_t *field, uint64_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELAXED);
}

static uint64_t noted(const uint64_t *field)
{
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}

static void raise_to(uint64_t *most, uint64_t value)
{
	if (value > *most)
		note(most, value);
}

/* What a controller does in a round: on all machines it fits twice into the 250 us that realtime.dts promises, or once with a turn of
 * another core of the emulator. */
enum { WORK_ROUNDS = 400 };
static void work(void)
{
	static volatile uint32_t state = 1;

	for (unsigned n = 0; n < WORK_ROUNDS; n++)
		state = state * 3 + n;
}

/* Rounds of one period. Returns true when there is another one. */
static bool loop_with(uint64_t period, struct program_run *run)
{
	uint64_t missed = run->missed;
	struct periodic periodic;

	periodic_begin(&periodic, period);
	while (periodic_wait(&periodic) == THREAD_OK) {
		const uint64_t begins = periodic.next - periodic.period, late = arch_counter() - begins;

		missed += late >= period; /* the one of this round is over */
		raise_to(&run->late_max, late);
		note(&run->missed, missed + periodic.missed);
		if (noted(&run->period) != period)
			return true;
		work();
		raise_to(&run->done_max, arch_counter() - begins);
		note(&run->rounds, run->rounds + 1);
	}
	return false;
}

void program_note_round(struct program_run *run, const struct periodic *periodic)
{
	raise_to(&run->done_max, arch_counter() - (periodic->next - periodic->period));
	note(&run->missed, periodic->missed);
	note(&run->rounds, run->rounds + 1);
}

/* loop: begins a round in each of its VCPU's periods, and notes how late that was at most, and when it was done. */
static void loop(void *given)
{
	struct program_run *run = given;

	while (loop_with(noted(&run->period), run))
		;
}

/* hog: takes all that it is given. */
static void hog(void *given)
{
	struct program_run *run = given;

	for (;;)
		note(&run->rounds, run->rounds + 1);
}

static bool is_prime(uint32_t number)
{
	for (uint32_t divisor = 2; divisor <= number / divisor; divisor++)
		if (number % divisor == 0)
			return false;
	return number > 1;
}

/* findprimes: counts them, one number a round. */
static void find_primes(void *given)
{
	struct program_run *run = given;

	for (uint32_t number = 0;; number++)
		if (is_prime(number))
			note(&run->rounds, run->rounds + 1);
}

enum { END_OF_TRANSMISSION = 4 };
static struct semaphore echo_input = { .most = 1 };

static void echo_hears(void)
{
	semaphore_give(&echo_input);
}

static void leave_input(void)
{
	console_redirect_input(NULL);
}

/* Returns false when it is the end of the transmission. */
static bool echo_all(struct program_run *run)
{
	char c;

	while (console_get(&c)) {
		if (c == END_OF_TRANSMISSION)
			return false;
		console_echo("%c", c);
		note(&run->rounds, run->rounds + 1);
	}
	return true;
}

/* echo: sends back what the UART receives, until Ctrl-D, and then leaves it to the command line. */
static void echo(void *given)
{
	thread_at_end(leave_input);
	console_redirect_input(echo_hears);
	while (echo_all(given) && semaphore_take(&echo_input, TIMER_NEVER) == THREAD_OK)
		;
}

static const struct program programs[] = {
	{ "echo", echo, true },          { "loop", loop, false },
	{ "hog", hog, false },           { "findprimes", find_primes, false },
	{ "tlbwalk", tlb_walk, false },  { "source", channel_source, false },
	{ "sink", channel_sink, false }, { "relay", channel_relay, false },
};

const struct program *program_find(const char *name)
{
	for (const struct program *program = programs; program < programs + sizeof(programs) / sizeof(programs[0]); program++)
		if (text_equal(program->name, name))
			return program;
	return NULL;
}

void program_report(const struct program_run *run, const char *name)
{
	const uint64_t rounds = noted(&run->rounds), missed = noted(&run->missed), late = noted(&run->late_max),
		       done = noted(&run->done_max);

	if (done && !late) /* it does not say */
		console_say("%s: %ju rounds, %ju missed", name, rounds, missed);
	else if (missed || late || done)
		console_say("%s: %ju rounds, %ju missed, latest %ju ns", name, rounds, missed, clock_to_ns(late));
	else
		console_say("%s: %ju rounds", name, rounds);
	if (done)
		console_say("%s: done %ju ns after a period began, at most", name, clock_to_ns(done));
	for (unsigned n = 0; n < PROGRAM_NOTES && run->notes[n].what; n++)
		console_say("%s: %s %ju", name, run->notes[n].what, noted(&run->notes[n].count));
	if (noted(&run->round_most))
		console_say("%s: a round takes %ju to %ju ticks", name, noted(&run->round_least), noted(&run->round_most));
}
