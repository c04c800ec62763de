/* SPDX-License-Identifier: Apache-2.0 */
/* A periodic loop, a hog, and a search for primes (programs.h). */
#include "kernel/core/programs.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/sync.h"
#include "kernel/core/text.h"

static void note(uint64_t *field, uint64_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELAXED);
}

/* What a controller does in a round. */
enum { WORK_ROUNDS = 2000 };
static void work(void)
{
	static volatile uint64_t state = 1;

	for (unsigned n = 0; n < WORK_ROUNDS; n++)
		state = state * 3 + n;
}

/* loop: begins a round in each of its VCPU's periods, and notes how late it was at most. */
static void loop(void *given)
{
	struct program_run *run = given;
	struct periodic periodic;

	periodic_begin(&periodic, run->period);
	while (periodic_wait(&periodic) == THREAD_OK) {
		uint64_t late = arch_counter() - (periodic.next - periodic.period);

		if (late > run->late_max)
			note(&run->late_max, late);
		note(&run->missed, periodic.missed);
		work();
		note(&run->rounds, run->rounds + 1);
	}
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
	for (uint32_t divisor = 2; divisor * divisor <= number; divisor++)
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

static const struct program programs[] = {
	{ "loop", loop },
	{ "hog", hog },
	{ "findprimes", find_primes },
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
	console_say("%s: %ju rounds, %ju missed, latest %ju ns", name, __atomic_load_n(&run->rounds, __ATOMIC_RELAXED),
		    __atomic_load_n(&run->missed, __ATOMIC_RELAXED), clock_to_ns(__atomic_load_n(&run->late_max, __ATOMIC_RELAXED)));
}
